"""Writes the tables and the figure of docs/quic-and-tcp.md: what silences cost TCP and QUIC, from packets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cogtcp
from cogtcp import Scenario
from cogtcp.model.statistics import mean_interval

if TYPE_CHECKING:
    from cogtcp import Result

ROOT = Path(__file__).resolve().parent.parent
PAGE, PICTURE = ROOT / "docs" / "quic-and-tcp.md", ROOT / "docs" / "images" / "quic-silence.svg"
#: Transports with one congestion control, NewReno, under two recoveries; then quinn's NewReno.
TRANSPORTS = {"sack": "TCP SACK", "quic-newreno": "QUIC", "quic-quinn-newreno": "QUIC, quinn's NewReno"}
#: The silence that the page explains, and how long one looks, in seconds.
SILENCE, UNTIL = (10.1, 10.2), 12.4
#: Lengths of silences, and the transport and further changes of each column.
SILENCES = ("100 ms", "300 ms", "1 s", "3 s")
COMPARED: dict[str, tuple[str, dict[str, str]]] = {
    "SACK": ("sack", {}),
    "SACK, minimum RTO 200 ms": ("sack", {"tcp.min_rto": "200 ms"}),
    "QUIC": ("quic-newreno", {}),
    "QUIC, quinn's NewReno": ("quic-quinn-newreno", {}),
}


def simulate(transport: str) -> Result:
    """Return a run of `sensed-link` without random loss, so that all losses are the silence's."""
    scenario = Scenario.from_file(ROOT / "scenarios" / "sensed-link.toml").set("run.duration", "12.5 s")
    scenario = scenario.set("topology.single_hop.link.loss", "0 %").set("flow.0.transport", transport)
    return cogtcp.run(scenario, 1, "packets")


def data(result: Result) -> list[dict[str, Any]]:
    """Return the data packets that the sender handed to the link, in order, each with its fate."""
    return [
        row
        for row in result.rows("packets")
        if row["source"] == "sender" and row["payload_bytes"] > 100 and row["time_s"] > 9.8
    ]


def story(result: Result) -> dict[str, str]:
    """Return what the silence did to a transport, by row of the table."""
    rows = data(result)
    sent = [row["time_s"] for row in rows if row["event"] == "queued"]
    lost = [row["time_s"] for row in rows if row["event"] == "dropped" and row["time_s"] < UNTIL]
    before = max(time for time in sent if time < SILENCE[1])
    first = min(time for time in sent if time > SILENCE[1])
    events = [row for row in result.rows("events") if first <= row["time_s"] + 1e-9 and row["time_s"] < UNTIL]
    timeout = next(row for row in events if row["kind"] in ("rto", "timeout"))
    reduced = timeout if timeout["kind"] == "rto" else next(row for row in events if row["kind"] == "loss")
    again = [time for time in sent if first < time <= first + 1]
    return {
        "packets lost": str(len(lost)),
        "last packet before the end of the silence": f"{before:.3f} s",
        "timer expires": f"{timeout['time_s']:.3f} s ({'RTO' if timeout['kind'] == 'rto' else 'PTO'})",
        "window after the reduction, in packets": f"{reduced['value']:.0f}, at {reduced['time_s']:.3f} s",
        "packets sent in the second after the timer": str(len(again)),
    }


def table(stories: dict[str, dict[str, str]]) -> str:
    """Return the table in Markdown."""
    lines = ["| | " + " | ".join(TRANSPORTS.values()) + " |", "|---" * (1 + len(TRANSPORTS)) + "|"]
    lines += [
        "| " + " | ".join([row, *(stories[transport][row] for transport in TRANSPORTS)]) + " |"
        for row in next(iter(stories.values()))
    ]
    return "\n".join(lines)


def goodputs() -> str:
    """Return the table of goodput by length of the silence, in Markdown: means of ten seeds in Mbit/s."""
    lines = ["| silence every 5 s | " + " | ".join(COMPARED) + " |", "|---" * (1 + len(COMPARED)) + "|"]
    for silence in SILENCES:
        cells = []
        for transport, changes in COMPARED.values():
            scenario = Scenario.from_file(ROOT / "scenarios" / "sensed-link.toml")
            scenario = scenario.set("flow.0.transport", transport).set("radio.0.sensing.off", silence)
            for field, value in changes.items():
                scenario = scenario.set(field, value)
            found = [
                cogtcp.run(scenario, seed).rows("flows")[0]["goodput_bps"] / 1e6 for seed in range(1, 11)
            ]
            goodput = mean_interval(found)
            cells.append(f"{goodput.mean:.2f} ({goodput.low:.2f} to {goodput.high:.2f})")
        lines.append(f"| {silence} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(text: str, place: str, made: str) -> str:
    """Return the page with the table `made` in its place."""
    begin, end = f"<!-- {place} -->", f"<!-- end of {place} -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    return f"{head}{begin}\n\n{made}\n\n{end}{tail}"


def draw(results: dict[str, Result]) -> None:
    """Draw the data packets of each transport by the time at which they are sent: red where lost."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "cogtcp"
    figure, axes = plt.subplots(len(results), 1, figsize=(7, 5), sharex=True, layout="constrained")
    for axis, (transport, result) in zip(axes, results.items(), strict=True):
        rows = [row for row in data(result) if 9.9 < row["time_s"] < UNTIL]
        for event, colour, label in (("queued", "#4477aa", "sent"), ("dropped", "#cc3311", "lost")):
            times = [row["time_s"] for row in rows if row["event"] == event]
            # One dot for five packets: the file stays small.
            axis.plot(times[::5], range(0, len(times), 5), ".", color=colour, markersize=2, label=label)
        axis.axvspan(*SILENCE, color="#dddddd")
        axis.set_title(TRANSPORTS[transport], fontsize=9, loc="left")
        axis.set_ylabel("packets")
    axes[0].legend(fontsize=8, loc="upper left")
    axes[-1].set_xlabel("time in s; grey: the silence")
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Run, and write page and figure; `--print` shows the first table alone."""
    results = {transport: simulate(transport) for transport in TRANSPORTS}
    made = table({transport: story(result) for transport, result in results.items()})
    if "--print" in sys.argv:
        print(made)
        return
    text = page(PAGE.read_text(), "one silence", made)
    PAGE.write_text(page(text, "goodput", goodputs()))
    draw(results)


if __name__ == "__main__":
    main()
