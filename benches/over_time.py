"""How far apart a quantity is on two runs over time, not just on average."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cogtcp.model.result import Result

#: Times between the points that are compared, s.
STEP_S = 0.1


def resampled(
    result: Result, flow: str, column: str = "cwnd_segments", step_s: float = STEP_S
) -> dict[int, float]:
    """Return a column of a flow's series at the multiples of `step_s`, by their numbers.

    At each it is what the latest sample says. Before the first sample that has a value, which is when the
    connection stands, there is none.
    """
    rows = [row for row in result.flow_series.to_pylist() if row["flow"] == flow]
    rows = [row for row in rows if row[column] is not None and not math.isnan(row[column])]
    points: dict[int, float] = {}
    for number, row in enumerate(rows):
        # A sample counts from its time to the next one's; the last for a step.
        until = rows[number + 1]["time_s"] if number + 1 < len(rows) else row["time_s"] + step_s
        begin, end = (math.ceil(time_s / step_s - 1e-6) for time_s in (row["time_s"], until))
        points.update(dict.fromkeys(range(begin, end), float(row[column])))
    return points


def total(series: Iterable[dict[int, float]]) -> dict[int, float]:
    """Return the sum of series; one that has no value at a point adds nothing there."""
    every: dict[int, float] = {}
    for each in series:
        for point, value in each.items():
            every[point] = every.get(point, 0.0) + value
    return every


def difference(one: dict[int, float], other: dict[int, float]) -> float:
    """Return the mean distance of two series over the mean of the second, where both have a value.

    Not a number if they have no point in common.
    """
    common = one.keys() & other.keys()
    scale = sum(other[point] for point in common)
    if not scale:
        return math.nan
    return sum(abs(one[point] - other[point]) for point in common) / scale
