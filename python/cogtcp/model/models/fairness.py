"""Fairness of an allocation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp import _core

if TYPE_CHECKING:
    from collections.abc import Iterable


def jain_index(allocations: Iterable[float]) -> float:
    """Jain's fairness index ``(sum x)^2 / (n sum x^2)``: 1 for equal shares, ``1/n`` when one takes all.

    Jain, Chiu, Hawe: "A Quantitative Measure of Fairness", DEC-TR-301 (1984). The unit of the allocations
    cancels.

    Raises ``ValueError`` for an empty or negative allocation, and where all are zero (0/0: nothing was shared
    out).
    """
    values = [float(value) for value in allocations]
    if not values:
        raise ValueError("Jain's index needs at least one allocation")
    if any(value < 0 or not math.isfinite(value) for value in values):
        raise ValueError("allocations must be finite and not negative")
    largest = max(values)
    if largest == 0:
        raise ValueError("Jain's index is undefined where every allocation is zero")
    # Dividing by the largest keeps the squares of very small and very large values in range.
    return _core.jain_fairness([value / largest for value in values])
