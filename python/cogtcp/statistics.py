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


def ratio_interval(values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return mean(values) / mean(baseline), paired, with its interval by Fieller's theorem.

    The interval holds every ratio r at which a paired t-test does not reject
    mean(values) = r * mean(baseline) (Fieller 1954). It is not symmetric. An end is infinite where the
    baseline's own interval reaches zero: the ratio then has no bound there. Where no value is negative,
    neither is a ratio: the interval begins at zero or above. Pairs with NaN are left out.

    Raises:
        ValueError: The mean of the baseline is not positive.
    """
    pairs = [(a, b) for a, b in zip(values, baseline, strict=True) if not (math.isnan(a) or math.isnan(b))]
    n = len(pairs)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    top, bottom = [a for a, _ in pairs], [b for _, b in pairs]
    above, below = mean_interval(top).mean, mean_interval(bottom).mean
    if below <= 0:
        raise ValueError(f"a ratio needs a positive baseline, not one whose mean is {below}")
    ratio = above / below
    if n == 1:
        return Interval(ratio, math.nan, math.nan, 1)
    least = 0.0 if min(top) >= 0 and min(bottom) >= 0 else -math.inf
    low, high = _fieller(top, bottom, ratio, t_quantile((1 + confidence) / 2, n - 1) ** 2 / n, least)
    return Interval(ratio, low, high, n)


def _fieller(
    top: Sequence[float], bottom: Sequence[float], ratio: float, weight: float, least: float
) -> tuple[float, float]:
    """Return the ends of the ratios r >= least with mean(top - r bottom)^2 <= weight var(top - r bottom).

    That is a r^2 - 2 b r + c <= 0, an interval where a > 0. Where a <= 0 the ratios between the roots are
    excluded and all others are not: no upper bound.
    """
    a = statistics.fmean(bottom) ** 2 - weight * statistics.variance(bottom)
    b = ratio * statistics.fmean(bottom) ** 2 - weight * statistics.covariance(top, bottom)
    if a > 0 and _residual(top, bottom, ratio) == 0:
        return ratio, ratio  # every pair has this ratio
    # b^2 - a c, written as variances of residuals: the plain form loses half of its digits.
    root = weight * statistics.fmean(bottom) ** 2 * _residual(top, bottom, ratio)
    if (spread := statistics.variance(bottom)) > 0:
        slope = statistics.covariance(top, bottom) / spread
        root -= weight**2 * spread * _residual(top, bottom, slope)
    if a > 0:
        half = math.sqrt(max(0.0, root))
        return max(least, (b - half) / a), (b + half) / a
    if a == 0 or root <= 0:
        return least, math.inf
    first, second = sorted(((b - math.sqrt(root)) / a, (b + math.sqrt(root)) / a))
    return (max(least, second) if first < least else least), math.inf


def _residual(top: Sequence[float], bottom: Sequence[float], ratio: float) -> float:
    return statistics.variance([t - ratio * b for t, b in zip(top, bottom, strict=True)])


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


def p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired t-test that differences have mean zero.

    NaN with less than two of them. Differences that are all equal leave no doubt: 0, or 1 if they are zero.
    """
    finite = [value for value in differences if not math.isnan(value)]
    n = len(finite)
    if n < 2:
        return math.nan
    if min(finite) == max(finite):
        return 1.0 if finite[0] == 0 else 0.0
    return _p_value(n, statistics.fmean(finite), statistics.variance(finite))


def _p_value(n: int, mean: float, variance: float) -> float:
    t = mean / math.sqrt(variance / n)
    return min(1.0, max(0.0, 2 * (1 - t_distribution(abs(t), n - 1))))


class Spread:
    """Number, mean and variance of values that come one after the other (Welford 1962); NaN is left out."""

    __slots__ = ("_squares", "high", "low", "mean", "n")

    def __init__(self) -> None:
        self.n = 0
        self.mean = 0.0
        self.low, self.high = math.inf, -math.inf
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Take a value in."""
        if math.isnan(value):
            return
        self.n += 1
        gap = value - self.mean
        self.mean += gap / self.n
        self._squares += gap * (value - self.mean)
        self.low, self.high = min(self.low, value), max(self.high, value)

    def p_value(self) -> float:
        """Return the p-value of the values as differences, see `p_value`."""
        if self.n < 2:
            return math.nan
        if self.low == self.high or self._squares == 0:
            return 1.0 if self.mean == 0 else 0.0
        return _p_value(self.n, self.mean, self._squares / (self.n - 1))


def holm(p_values: Sequence[float], confidence: float = 0.95) -> list[bool]:
    """Return which hypotheses Holm's step-down procedure rejects, so that all rejections hold at once.

    The chance of any false rejection is at most 1 - confidence, whatever the dependence (Holm 1979).
    Bonferroni's bound holds too, but rejects less. NaN is never rejected, and counts for nothing.
    """
    count = sum(1 for p in p_values if not math.isnan(p))
    rejected = [False] * len(p_values)
    small = (index for index, p in enumerate(p_values) if p <= 1 - confidence)
    for rank, index in enumerate(sorted(small, key=p_values.__getitem__)):
        if p_values[index] > (1 - confidence) / (count - rank):
            break
        rejected[index] = True
    return rejected


def quantile_interval(values: Sequence[float], q: float, confidence: float = 0.95) -> Interval:
    """Return the `q`-quantile of independent values with an interval that assumes nothing about their law.

    Its ends are values of the sample: between the i-th and the j-th smallest lies the quantile with the
    probability that between i and j - 1 of n trials of chance q succeed (Conover, Practical Nonparametric
    Statistics, 3.2). The tails are cut off equally. Where the sample is too small for an end, it is
    infinite. NaN is left out.
    """
    if not 0 < q < 1:
        raise ValueError(f"no quantile {q}; take one between 0 and 1")
    ordered = sorted(value for value in values if not math.isnan(value))
    n = len(ordered)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    place = q * (n - 1)
    below = math.floor(place)
    above = min(below + 1, n - 1)
    estimate = ordered[below] + (place - below) * (ordered[above] - ordered[below])
    tail = (1 - confidence) / 2
    low, high, total = -math.inf, math.inf, 0.0
    for successes in range(n + 1):
        ways = math.lgamma(n + 1) - math.lgamma(successes + 1) - math.lgamma(n - successes + 1)
        chance = math.exp(ways + successes * math.log(q) + (n - successes) * math.log1p(-q))
        # P(B < i) <= tail: the i-th smallest is low enough. P(B >= j) <= tail: the j-th is high enough.
        if total <= tail and successes >= 1:
            low = ordered[successes - 1]
        total += chance
        if total >= 1 - tail and successes < n:
            high = ordered[successes]
            break
    return Interval(estimate, low, high, n)


def mser5(series: Sequence[float]) -> int:
    """Return how many values at the beginning of a series are warm-up, by MSER-5.

    The values are averaged in batches of five; cut off is what makes the standard error of the mean of the
    rest the smallest, half of the batches at most (White 1997; White, Cobb and Spratt 2000). A cut in the
    second half would say that the series is too short, and so does a result of half its length.
    """
    batches = [statistics.fmean(series[start : start + 5]) for start in range(0, len(series) - 4, 5)]
    n = len(batches)
    if n < 2:
        return 0
    best, cut = math.inf, 0
    total = squares = 0.0
    shift = batches[-1]
    for start in range(n - 1, -1, -1):
        value = batches[start] - shift
        total += value
        squares += value * value
        left = n - start
        if start > n // 2 or left < 2:
            continue
        # The sum of squares about the mean, over the square of the number: MSER (White 1997, eq. 3).
        error = max(0.0, squares - total * total / left) / left**2
        if error <= best:
            best, cut = error, start
    return cut * 5


def enough(interval: Interval, precision: float) -> bool:
    """Whether half the interval is at most `precision` of the mean: the sequential rule of `--precision`.

    Stopping when it is so makes the interval a little too narrow on average (Chow and Robbins 1965 show
    that this vanishes as the precision grows; Law and Kelton advise at least ten values first).
    """
    return interval.n >= 2 and interval.half_width <= precision * abs(interval.mean)
