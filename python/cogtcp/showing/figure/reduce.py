"""Series with no more points than a page should carry, and none of their peaks lost.

All series of a page share one grid of time, so that they can be drawn over each other and read at one place.
If the grid is as fine as the samples, a cell holds one value. Otherwise it holds the least and the greatest
of its samples, in their order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np


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
    def over(cls, series: list[Any], *, most: int, end: float) -> Grid:
        """Return a grid for series sampled at these times, with at most `most` values for each.

        Series sampled at one regular interval keep every sample if `most` allows it.
        """
        longest = max(series, key=len, default=np.zeros(0))
        if len(longest) == 0:
            return cls(0.0, end or 1.0, 1, pairs=False)
        first = min(float(times[0]) for times in series if len(times))
        last = max(float(times[-1]) for times in series if len(times))
        # Rounded: samples are taken at integer nanoseconds, and binary fractions of a second are not.
        # `np.median` would do, but it loads masked arrays.
        step = round(median(np.diff(longest).tolist()), 9) if len(longest) > 1 else (end - first) or 1.0
        cells = round((last - first) / step) + 1 if step > 0 else most + 1
        if cells <= most and all(_fits(times, first, step) for times in series):
            return cls(first - step / 2, step, cells, pairs=False)
        cells = max(1, most // 2)
        return cls(first, _round_up((last - first) / cells) or 1.0, cells, pairs=True)

    def times(self) -> Any:
        """Return the times of the values: where samples were, or two places within each cell."""
        if not self.pairs:
            return self.start + self.width * (np.arange(self.cells) + 0.5)
        return self.start + self.width * (np.arange(2 * self.cells) / 2 + 0.25)

    def reduce(self, times: Any, values: Any) -> Any:
        """Return the values on this grid; NaN where nothing was sampled."""
        times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
        known = ~np.isnan(values)
        # A place at an edge, but for rounding, belongs to the cell that it begins.
        cell = np.clip(((times - self.start) / self.width + 1e-9).astype(int), 0, self.cells - 1)[known]
        values = values[known]
        if not self.pairs:
            result = np.full(self.cells, np.nan)
            result[cell] = values
            return result
        result = np.full(2 * self.cells, np.nan)
        if len(values) == 0:
            return result
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        filled = cell[starts]
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        # In the order in which they came: a line that falls is drawn falling.
        lengths = np.diff([*starts, len(values)])
        index = np.arange(len(values))
        at = [
            np.minimum.reduceat(np.where(values == np.repeat(end, lengths), index, len(values)), starts)
            for end in (low, high)
        ]
        rising = at[0] <= at[1]
        result[2 * filled] = np.where(rising, low, high)
        result[2 * filled + 1] = np.where(rising, high, low)
        return result

    def describe(self) -> str:
        """Say how fine the grid is."""
        if self.pairs:
            return f"least and greatest value of every {duration(self.width)}"
        return f"every sample, one each {duration(self.width)}"


def thin_marks(x: Any, span: tuple[float, float], bins: int = 500) -> Any:
    """Return the marks to draw, at most one in each of `bins` equal stretches of the span."""
    x = np.asarray(x, dtype=float)
    x = x[(x >= span[0]) & (x <= span[1])]
    if len(x) == 0:
        return x
    place = ((x - span[0]) / (span[1] - span[0]) * bins).astype(int)
    return x[np.flatnonzero(np.diff(place, prepend=-1))]


def duration(seconds: float) -> str:
    """Write a length of time in the unit that suits it."""
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= length * (1 - 1e-9):
            return f"{float(f'{seconds / length:.4g}'):g} {unit}"
    return f"{float(f'{seconds * 1e9:.4g}'):g} ns"


def _fits(times: Any, first: float, step: float) -> bool:
    """Whether every sample lies in a cell of its own, in the middle of it."""
    places = (np.asarray(times) - first) / step
    near = np.round(places)
    return bool(np.all(np.abs(places - near) < 0.01)) and bool(np.all(np.diff(near) > 0))


def _round_up(width: float) -> float:
    """Return a length with two digits that is no shorter."""
    if width <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(width)) - 1)
    return float(f"{math.ceil(width / unit - 1e-9) * unit:.12g}")
