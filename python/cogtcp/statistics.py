"""Means with confidence intervals over independent runs (Student's t), no library needed."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its two-sided confidence interval.

    With one value there is no interval: `low` and `high` are NaN. Without a value all three are.
    """

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the interval's length."""
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """Whether the interval exists and does not contain `value`."""
        return value < self.low or value > self.high


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the mean of independent `values` with its t-interval.

    NaN stands for a run that has no such value (no RTT sample, say) and is left out.
    """
    finite = [value for value in values if not math.isnan(value)]
    n = len(finite)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    # A mean of equal values must be that value, or an interval of width zero would miss it by a rounding.
    mean = finite[0] if min(finite) == max(finite) else statistics.fmean(finite)
    if n == 1:
        return Interval(mean, math.nan, math.nan, 1)
    half = t_quantile((1 + confidence) / 2, n - 1) * math.sqrt(statistics.variance(finite) / n)
    return Interval(mean, mean - half, mean + half, n)


def paired_difference(
    values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the mean of `values - baseline`, taken pair by pair, with its t-interval.

    With common random numbers the pairs share what chance does, and the interval of the difference is
    narrower than that of either mean.
    """
    return mean_interval([a - b for a, b in zip(values, baseline, strict=True)], confidence)


@cache
def t_quantile(p: float, degrees: int) -> float:
    """Return the `p`-quantile, p >= 0.5, of Student's t with `degrees` degrees of freedom."""
    if not 0.5 <= p < 1 or degrees < 1:
        raise ValueError(f"no t quantile for p = {p}, {degrees} degrees of freedom")
    low, high = 0.0, 1.0
    while t_distribution(high, degrees) < p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_distribution(middle, degrees) < p:
            low = middle
        else:
            high = middle
    return high


def t_distribution(t: float, degrees: int) -> float:
    """Return P(T <= t), t >= 0, exactly for whole degrees of freedom.

    The finite sums of Abramowitz and Stegun 26.7.3 (odd) and 26.7.4 (even).
    """
    theta = math.atan(t / math.sqrt(degrees))
    cos_squared = math.cos(theta) ** 2
    if degrees % 2:
        term, total = math.cos(theta), 0.0
        for k in range(1, (degrees - 1) // 2 + 1):
            total += term
            term *= cos_squared * 2 * k / (2 * k + 1)
        central = 2 / math.pi * (theta + math.sin(theta) * total)
    else:
        term, total = 1.0, 0.0
        for k in range(1, degrees // 2 + 1):
            total += term
            term *= cos_squared * (2 * k - 1) / (2 * k)
        central = math.sin(theta) * total
    return 0.5 + central / 2
