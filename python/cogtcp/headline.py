"""The answer of a comparison in a sentence or two, computed from its numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.metrics import BY_NAME

if TYPE_CHECKING:
    from cogtcp.compare import Comparison
    from cogtcp.result import Result
    from cogtcp.statistics import Interval

_GOODPUT = BY_NAME["goodput_bps"]


def of_run(result: Result) -> str:
    """Return what a run delivered."""
    names = sorted(set(result.flows.column("transport").to_pylist()))
    flows = result.flows.num_rows
    subject = join(names) + (f" ({flows} flows)" if flows > 1 else "")
    verb = "deliver" if len(names) > 1 else "delivers"
    goodput, efficiency = result.metrics["goodput_bps"], result.metrics["efficiency"]
    return f"{subject} {verb} {_GOODPUT.text(goodput, unit=True)}{_share(efficiency)}."


def of_comparison(comparison: Comparison) -> str:
    """Return which transport delivers most, how sure that is, and by how much the others fall behind."""
    ranked = [
        name
        for name in comparison.transports
        if not math.isnan(comparison.interval(name, "goodput_bps").mean)
    ]
    if not ranked:
        return "No run was finished."
    ranked.sort(key=lambda name: -comparison.interval(name, "goodput_bps").mean)
    best, others = ranked[0], ranked[1:]
    goodput = comparison.interval(best, "goodput_bps")
    share = _share(comparison.interval(best, "efficiency").mean)
    sentence = f"{best} delivers {_with_interval(goodput)}{share}"
    if not others:
        return f"{sentence}, over {_seeds(goodput.n)}."
    even = [name for name in others if not comparison.difference(name, "goodput_bps", best).excludes(0)]
    behind = [name for name in others if name not in even]
    if goodput.n < 2:
        gaps = [f"{name} {_gap(comparison, name, best)}" for name in others]
        return f"{sentence}; against that, {join(gaps)}. One seed says nothing about chance."
    parts = []
    if behind:
        parts.append(
            "behind it come " + join([f"{name} ({_gap(comparison, name, best)})" for name in behind])
        )
    if even:
        parts.append(f"{join(even)} cannot be told from it")
    return f"{sentence}; {'; '.join(parts)}, over {_seeds(goodput.n)} in pairs (95 % confidence)."


def join(names: list[str]) -> str:
    """Return `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _seeds(n: int) -> str:
    return f"{n} seed{'s' if n != 1 else ''}"


def _share(efficiency: float) -> str:
    return "" if math.isnan(efficiency) else f", {efficiency:.0%} of what the link could carry"


def _with_interval(interval: Interval) -> str:
    text = _GOODPUT.text(interval.mean, unit=True)
    if math.isnan(interval.low):
        return text
    if interval.low == interval.high:
        return f"{text} with every seed"
    return f"{text} (95 % interval {_GOODPUT.text(interval.low)} to {_GOODPUT.text(interval.high)})"


def _gap(comparison: Comparison, name: str, best: str) -> str:
    difference = comparison.difference(name, "goodput_bps", best).mean
    return f"{difference / comparison.interval(best, 'goodput_bps').mean:+.1%}".replace("-", "−")
