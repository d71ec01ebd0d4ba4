"""Series with no more points than a page should carry, and none of their peaks lost.

All series of a page share one grid of time, so that they can be drawn over each other and read at one place.
If the grid is as fine as the samples, a cell holds one value. Otherwise it holds the least and the greatest
of its samples, in their order.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# No NumPy: to load it takes a quarter of the processor time of a run with its page.


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal cells of time.

    Attributes:
        start: Where the first cell begins, in seconds.
        width: How long a cell is, in seconds.
        cells: How many there are.
        pairs: Whether a cell holds a least and a greatest value, or the one sample in it.
    """

    start: float
    width: float
    cells: int
    pairs: bool

    @classmethod
    def over(cls, series: Sequence[Sequence[float]], *, most: int, end: float) -> Grid:
        """Return a grid for series sampled at these times, with at most `most` values for each.

        Series sampled at one regular interval keep every sample if `most` allows it.
        """
        longest = max(series, key=len, default=())
        if len(longest) == 0:
            return cls(0.0, end or 1.0, 1, pairs=False)
        first = min(times[0] for times in series if len(times))
        last = max(times[-1] for times in series if len(times))
        # Rounded: samples are taken at integer nanoseconds, and binary fractions of a second are not.
        step = round(_median_step(longest), 9) if len(longest) > 1 else (end - first) or 1.0
        cells = round((last - first) / step) + 1 if step > 0 else most + 1
        if cells <= most and all(_fits(times, first, step) for times in series):
            return cls(first - step / 2, step, cells, pairs=False)
        cells = max(1, most // 2)
        return cls(first, _round_up((last - first) / cells) or 1.0, cells, pairs=True)

    def times(self) -> array[float]:
        """Return the times of the values: where samples were, or two places within each cell."""
        start, width = self.start, self.width
        if not self.pairs:
            return array("d", [start + width * (cell + 0.5) for cell in range(self.cells)])
        return array("d", [start + width * (half / 2 + 0.25) for half in range(2 * self.cells)])

    def reduce(self, times: Sequence[float], values: Sequence[float]) -> array[float]:
        """Return the values on this grid; NaN where nothing was sampled."""
        start, width, last = self.start, self.width, self.cells - 1
        # A place at an edge, but for rounding, belongs to the cell that it begins.
        places = [int((time - start) / width + 1e-9) for time in times]
        result = array("d", [math.nan]) * (2 * self.cells if self.pairs else self.cells)
        if not self.pairs:
            for place, value in zip(places, values, strict=True):
                if value == value:
                    result[min(max(place, 0), last)] = value
            return result
        cell, low, high, rising = -1, 0.0, 0.0, True
        for place, value in zip(places, values, strict=True):
            if value != value:
                continue
            place = min(max(place, 0), last)
            if place != cell:
                cell, low, high, rising = place, value, value, True
            elif value < low:
                low, rising = value, False
            elif value > high:
                high, rising = value, True
            else:
                continue
            # In the order in which they came: a line that falls is drawn falling.
            result[2 * cell], result[2 * cell + 1] = (low, high) if rising else (high, low)
        return result

    def describe(self) -> str:
        """Say how fine the grid is."""
        if self.pairs:
            return f"least and greatest value of every {duration(self.width)}"
        return f"every sample, one each {duration(self.width)}"


def thin_marks(x: Sequence[float], span: tuple[float, float], bins: int = 500) -> array[float]:
    """Return the marks to draw, at most one in each of `bins` equal stretches of the span."""
    kept = array("d")
    before = -1
    for value in x:
        if span[0] <= value <= span[1]:
            place = int((value - span[0]) / (span[1] - span[0]) * bins)
            if place != before:
                kept.append(value)
            before = place
    return kept


def duration(seconds: float) -> str:
    """Write a length of time in the unit that suits it."""
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= length * (1 - 1e-9):
            return f"{float(f'{seconds / length:.4g}'):g} {unit}"
    return f"{float(f'{seconds * 1e9:.4g}'):g} ns"


def _median_step(times: Sequence[float]) -> float:
    """Return the median of the steps between times; `statistics.median` would be slow to load."""
    steps = sorted(after - before for before, after in pairwise(times))
    half = len(steps) // 2
    return steps[half] if len(steps) % 2 else (steps[half - 1] + steps[half]) / 2


def _fits(times: Sequence[float], first: float, step: float) -> bool:
    """Whether every sample lies in a cell of its own, in the middle of it."""
    before = -math.inf
    for time in times:
        place = (time - first) / step
        near = round(place)
        if abs(place - near) >= 0.01 or near <= before:
            return False
        before = near
    return True


def _round_up(width: float) -> float:
    """Return a length with two digits that is no shorter."""
    if width <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(width)) - 1)
    return float(f"{math.ceil(width / unit - 1e-9) * unit:.12g}")
