"""Series with no more points than can be seen, and none of their extremes lost."""

from __future__ import annotations

from typing import Any

import numpy as np


def thin(x: Any, y: Any, bins: int = 500) -> tuple[Any, Any]:
    """Return the points to draw: of each of `bins` equal stretches of x the first, least, greatest, last.

    A line through them covers the same pixels as one through all. NaN, which breaks a line, is kept where a
    whole stretch has nothing else.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) <= 4 * bins:
        return x, y
    place = np.minimum(((x - x[0]) / (x[-1] - x[0]) * bins).astype(int), bins - 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    keep: set[int] = set()
    for start, stop in zip(starts, [*starts[1:], len(x)], strict=True):
        part = y[start:stop]
        keep.update((int(start), int(stop) - 1))
        if not np.isnan(part).all():
            keep.update((int(start + np.nanargmin(part)), int(start + np.nanargmax(part))))
    chosen = sorted(keep)
    return x[chosen], y[chosen]


def thin_marks(x: Any, span: tuple[float, float], bins: int = 500) -> Any:
    """Return the marks to draw, at most one in each of `bins` equal stretches of the span."""
    x = np.asarray(x, dtype=float)
    x = x[(x >= span[0]) & (x <= span[1])]
    if len(x) == 0:
        return x
    place = ((x - span[0]) / (span[1] - span[0]) * bins).astype(int)
    return x[np.flatnonzero(np.diff(place, prepend=-1))]
