"""What the lab shows: runs of some transports, numbers, time lines, what theory says, what changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp import _core, models
from cogtcp.headline import of_capacity
from cogtcp.lab.controls import quantity
from cogtcp.metrics import BY_NAME
from cogtcp.report.series import Series
from cogtcp.report.timeline import Timeline
from cogtcp.result import plain, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.scenario import Scenario

#: In place of a transport: each flow has the one that the scenario gives it.
AS_IT_IS = "as it is"
#: What the page shows beside goodput.
SHOWN = ("goodput_bps", "efficiency", "rtos", "fast_retransmits", "drops", "retransmitted", "rtt_mean_s")


def simulate(
    scenario: Scenario, transports: Sequence[str], seed: int, cancel: _core.Cancel
) -> dict[str, Any]:
    """Return the runs of some transports over one seed, as the page takes them.

    Raises:
        ScenarioError: The scenario cannot be simulated.
        RunError: The runs were cancelled, or failed.
    """
    results = {}
    for name in transports:
        variant = scenario if name == AS_IT_IS else scenario.with_transport(name)
        variant.check()
        results[name] = run(variant, seed, cancel=cancel)
    drawn = {name: Series.of(result) for name, result in results.items()}
    silent = {
        name: sum(s.end - s.start for s in series.silences) / max(series.duration, 1e-9)
        for name, series in drawn.items()
    }
    rows = [
        {
            "name": name,
            "silent": silent[name],
            **{metric: result.metrics[metric] for metric in SHOWN},
            "texts": {metric: BY_NAME[metric].text(result.metrics[metric], single=True) for metric in SHOWN},
        }
        for name, result in results.items()
    ]
    answer: dict[str, Any] = plain(
        {
            "rows": rows,
            "headings": [[BY_NAME[name].title, BY_NAME[name].unit] for name in SHOWN],
            "models": theory(scenario),
            "answer": _answer(rows),
        }
    )
    answer["time"] = {**Timeline.of(drawn).data(), "address": False}
    return answer


def theory(scenario: Scenario) -> list[dict[str, Any]]:
    """Return what closed forms predict for one flow over a path: goodput in bit/s, and whose model it is.

    They know Reno's window over links of constant rate, one of which may fall silent in equal cycles; for
    other scenarios nothing is returned.
    """
    data = scenario.to_dict()
    if len(data["flow"]) != 1 or data["flow"][0]["count"] != 1:
        return []
    path = _path(data)
    numbers = [_numbers(link) for link in path]
    known = [found for found in numbers if found is not None]
    if not known or len(known) < len(path):
        return []
    rate = min(rate for rate, _, _ in known)
    rtt = 2 * math.fsum(delay for _, delay, _ in known)
    loss = 1 - math.prod(1 - loss for _, _, loss in known)
    if rtt <= 0:
        return []
    tcp = {**data["tcp"], **data["flow"][0].get("tcp", {})}
    size = quantity(tcp["segment_size"])[0] or 1000.0
    # Without it RFC 6298's.
    min_rto = quantity(tcp.get("min_rto", "1 s"))[0] or 1.0
    header = 52.0 if tcp.get("timestamps") else 40.0
    found: list[dict[str, Any]] = []
    cycle = _cycle(data, [str(link.get("name", "link")) for link in path])
    if cycle is not None:
        off, on = cycle
        try:
            waits = models.rto_outage_s(off, max(min_rto, rtt))
            model = models.aimd_cycle(bandwidth_bps=rate * 1e6, rtt_s=rtt, t_cc_s=on + off, t_rto_s=waits,
                                      segment_size_bytes=size, header_bytes=header)  # fmt: skip
            found.append({"name": "AIMD over cognitive cycles (Zhou et al.)", "bps": model.throughput_bps})
        except (ValueError, ArithmeticError):
            pass  # cycles too short for the model
    if 0 < loss <= 1:
        law = models.pftk_throughput_bps(size, rtt, max(min_rto, rtt), loss)
        found.append({"name": "loss alone (Padhye et al.)", "bps": min(law, rate * 1e6)})
    return [entry for entry in found if math.isfinite(entry["bps"]) and entry["bps"] > 0]


def _path(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the links of the only flow, of a single hop or a graph that is a chain; nothing for others."""
    ((kind, topology),) = data["topology"].items()
    if kind == "single_hop":
        return [topology["link"]]
    if kind != "graph":
        return []
    at, end = data["flow"][0]["from"], data["flow"][0]["to"]
    left, path = list(topology["links"]), []
    while at != end:
        following = [link for link in left if at in (link["from"], link["to"])]
        if len(following) != 1:
            return []
        (link,) = following
        left.remove(link)
        path.append(link)
        at = link["to"] if link["from"] == at else link["from"]
    return path


def _numbers(link: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """Return rate in Mbit/s, delay in s and loss of a link; None if one of them is no number."""
    (rate, _), (delay, _), (loss, _) = (quantity(link.get(key, 0)) for key in ("rate", "delay", "loss"))
    return None if rate is None or delay is None or loss is None or rate <= 0 else (rate, delay, loss)


def _cycle(data: Mapping[str, Any], links: Sequence[str]) -> tuple[float, float] | None:
    """Return silence and time between silences of the only radio on the path, in s, if they are constant."""
    radios = [radio for radio in data.get("radio", []) if set(radio["links"]) & set(links)]
    if (
        len(radios) != 1
        or radios[0].get("silence") != "drop"
        or not isinstance(radios[0].get("sensing"), dict)
    ):
        return None
    off, on = (quantity(radios[0]["sensing"].get(key))[0] for key in ("off", "on"))
    return None if off is None or on is None else (off, on)


def changed(what: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Say what a change did to a transport, and which of its numbers moved with it.

    Args:
        what: What was changed, as `A silence lasts 0.1 s to 0.3 s`.
        before: The transport's row of the answer before.
        after: Its row now.
    """
    goodput = BY_NAME["goodput_bps"]
    old, new = (float(row["goodput_bps"] or 0.0) for row in (before, after))
    name = after["name"]
    if abs(new - old) < 0.005 * max(old, new, 1.0):
        return f"{what}: {name} delivers as much as before, {goodput.text(new, unit=True)}."
    less = "less" if new < old else "more"
    share = f", {abs(new - old) / old * 100:.0f} % {less}" if old > 0 else ""
    sentence = (
        f"{what}: {name} delivers {goodput.text(new, unit=True)}{share} than before"
        if share
        else (f"{what}: {name} delivers {goodput.text(new, unit=True)}")
    )
    reasons = [text for _, text in sorted(_reasons(before, after), reverse=True)[:2]]
    return f"{sentence}; {' and '.join(reasons)}." if reasons else f"{sentence}."


def _reasons(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[float, str]]:
    """Return the numbers that moved, with how much, as a share."""
    found = []
    for key, text in (
        ("silent", "the link is silent for {1} of the time, not {0}"),
        ("rtos", "it waits for {1} timeouts, not {0}"),
        ("fast_retransmits", "it repairs {1} losses by duplicate ACKs, not {0}"),
        ("drops", "{1} packets are dropped, not {0}"),
        ("rtt_mean_s", "the mean RTT is {1}, not {0}"),
    ):
        old, new = before.get(key), after.get(key)
        if old is None or new is None or old == new:
            continue
        moved = abs(new - old) / max(abs(old), abs(new))
        if moved > 0.03:
            found.append((moved, text.format(_said(key, old), _said(key, new))))
    return found


def _said(key: str, value: float) -> str:
    if key == "silent":
        return f"{value * 100:.2g} %"
    return f"{value * 1000:.0f} ms" if key == "rtt_mean_s" else f"{value:,.0f}"


def _answer(rows: Sequence[Mapping[str, Any]]) -> str:
    ranked = sorted(rows, key=lambda row: -float(row["goodput_bps"]))
    best = ranked[0]
    goodput = BY_NAME["goodput_bps"].text(best["goodput_bps"], unit=True)
    subject = "the flows as they are deliver" if best["name"] == AS_IT_IS else f"{best['name']} delivers"
    text = f"{subject} {goodput}{of_capacity(best['efficiency'])}"
    if len(ranked) > 1 and best["goodput_bps"] > 0:
        gaps = [
            f"{row['name']} {100 * (1 - row['goodput_bps'] / best['goodput_bps']):.0f} %"
            for row in ranked[1:]
        ]
        text += f"; less: {', '.join(gaps)}"
    return f"{text}. One seed says nothing about chance."
