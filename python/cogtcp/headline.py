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
    subject = f"{flows} flows of {join(names)} deliver" if flows > 1 else f"{names[0]} delivers"
    goodput, efficiency = result.metrics["goodput_bps"], result.metrics["efficiency"]
    return f"{subject} {_GOODPUT.text(goodput, unit=True)}{_share(efficiency)}."


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
    if goodput.n < 2:
        return f"{sentence}; {_less(comparison, others, best)}. One seed says nothing about chance."
    even = [name for name in others if not comparison.difference(name, "goodput_bps", best).excludes(0)]
    behind = [name for name in others if name not in even]
    parts = [_less(comparison, behind, best)] if behind else []
    if even:
        parts.append(f"{join(even)} cannot be told from it")
    return f"{sentence}; {'; '.join(parts)} (95 % confidence, {_seeds(goodput.n)} in pairs)."


def join(names: list[str]) -> str:
    """Return `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _seeds(n: int) -> str:
    return f"{n} seed{'s' if n != 1 else ''}"


def _share(efficiency: float) -> str:
    return "" if math.isnan(efficiency) else f", {efficiency * 100:.0f} % of what the link could carry"


def _with_interval(interval: Interval) -> str:
    text = _GOODPUT.text(interval.mean, unit=True)
    if math.isnan(interval.low):
        return text
    if interval.low == interval.high:
        return f"{text} with every seed"
    return f"{text} (95 % interval {_GOODPUT.text(interval.low)} to {_GOODPUT.text(interval.high)})"


def _less(comparison: Comparison, names: list[str], best: str) -> str:
    highest = comparison.interval(best, "goodput_bps").mean
    gaps = [-comparison.difference(name, "goodput_bps", best).mean / highest for name in names]
    first, *more = [f"{name} {gap * 100:.1f} %" for name, gap in zip(names, gaps, strict=True)]
    return join([first.replace(" ", " delivers ", 1) + " less", *more])
