"""Where a condition stops to hold, by bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def bisected(
    holds: Callable[[float], bool], low: float, high: float, *, halvings: int = 60
) -> tuple[float, float]:
    """Return the ends of the span in which a condition stops to hold.

    Args:
        holds: The condition; it holds up to some value, and not beyond.
        low: A value at which it holds.
        high: A value at which it does not.
        halvings: How often the span is halved.
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high
