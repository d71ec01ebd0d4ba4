"""Seeds until the intervals are as narrow as asked: the sequential rule of `--precision`.

From ten seeds on, after every round: half the 95 % t-interval of the mean goodput is compared with the
requested share. A point at which any transport is above it gets half as many seeds again, with every
transport, so that pairs stay whole. It ends when no such point is left, or at the bound. Repeated looks make
intervals a little too narrow (Chow and Robbins 1965). With ten seeds at least and a precision of 5 %, they
cover some 93 to 95 %.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cogtcp.model.statistics import Interval, enough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.running.runner import Case
    from cogtcp.running.sweeping.plan import Plan
    from cogtcp.running.sweeping.result import Sweep

_LEAST = 10


def next_round(sweep: Sweep, precision: float, most: int) -> tuple[Plan, Iterator[Case], int] | None:
    """Return the plan with more seeds, the cases to be made of it, and their number; None if it is enough."""
    plan = sweep.plan
    have = len(plan.seeds)
    count = min(most, max(_LEAST, math.ceil(1.5 * have)) if have >= _LEAST else _LEAST)
    if count <= have:
        return None
    columns = [*sweep.axes, *(f"goodput_bps{end}" for end in ("", "_low", "_high", "_n"))]
    wide = {
        tuple(place)
        for part in sweep.summaries()
        for *place, mean, low, high, n in zip(
            *(column.to_pylist() for column in sweep.own(part).select(columns).columns), strict=True
        )
        # An interval from few seeds may be narrow by chance: none is believed before the tenth.
        if have < _LEAST or mean is None or low is None or not enough(Interval(mean, low, high, n), precision)
    }
    if not wide:
        return None
    first = max(plan.seeds) + 1
    fresh = tuple(range(first, first + count - have))
    # Only the new seeds are run; the result covers all seeds.
    more = replace(plan, seeds=fresh)
    longer = replace(plan, seeds=(*plan.seeds, *fresh))
    return longer, _only(more, wide), len(wide) * len(plan.transports) * len(fresh)


def _only(plan: Plan, points: set[tuple[Any, ...]]) -> Iterator[Case]:
    for case in plan.cases():
        if tuple(case.label[2].values()) in points:  # type: ignore[attr-defined]
            yield case
