"""What the lab shows: runs of some transports, numbers, time lines, what theory says, what changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp import _core, models
from cogtcp.headline import of_capacity
from cogtcp.lab.controls import controls_of
from cogtcp.metrics import BY_NAME
from cogtcp.report.series import Series
from cogtcp.report.timeline import Timeline
from cogtcp.result import plain, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.scenario import Scenario

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
        variant = scenario.with_transport(name)
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
    """Return what closed forms predict for one flow over one link: goodput in bit/s, and whose model it is.

    They know Reno's window over a link of constant rate; for other scenarios nothing is returned.
    """
    data = scenario.to_dict()
    (kind,) = data["topology"]
    if kind != "single_hop" or len(data["flow"]) != 1 or data["flow"][0]["count"] != 1:
        return []
    values = {path: control.value for path, control in controls_of(scenario).items()}
    link = "topology.single_hop.link"
    rate, delay = values.get(f"{link}.rate"), values.get(f"{link}.delay")
    loss = values.get(f"{link}.loss", 0.0)
    if (
        not isinstance(rate, float)
        or not isinstance(delay, float)
        or not isinstance(loss, float)
        or delay <= 0
    ):
        return []
    rtt, size = 2 * delay, 1000.0
    found: list[dict[str, Any]] = []
    off, on = values.get("radio.0.sensing.off"), values.get("radio.0.sensing.on")
    if isinstance(off, float) and isinstance(on, float) and data["radio"][0]["silence"] == "drop":
        try:
            waits = models.rto_outage_s(off, max(1.0, rtt))
            cycle = models.aimd_cycle(bandwidth_bps=rate * 1e6, rtt_s=rtt, t_cc_s=on + off, t_rto_s=waits,
                                      segment_size_bytes=size)  # fmt: skip
            found.append({"name": "AIMD over cognitive cycles (Zhou et al.)", "bps": cycle.throughput_bps})
        except (ValueError, ArithmeticError):
            pass  # cycles too short for the model
    if 0 < loss <= 1:
        law = models.pftk_throughput_bps(size, rtt, max(1.0, rtt), loss)
        found.append({"name": "loss alone (Padhye et al.)", "bps": min(law, rate * 1e6)})
    return [entry for entry in found if math.isfinite(entry["bps"]) and entry["bps"] > 0]


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
    text = f"{best['name']} delivers {goodput}{of_capacity(best['efficiency'])}"
    if len(ranked) > 1 and best["goodput_bps"] > 0:
        gaps = [
            f"{row['name']} {100 * (1 - row['goodput_bps'] / best['goodput_bps']):.0f} %"
            for row in ranked[1:]
        ]
        text += f"; less: {', '.join(gaps)}"
    return f"{text}. One seed says nothing about chance."
