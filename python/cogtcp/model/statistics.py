"""Means with confidence intervals over independent runs, and tests; `crates/statistics` computes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp._core import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Interval",
    "Spread",
    "enough",
    "fisher",
    "holm",
    "mean_interval",
    "mser5",
    "p_value",
    "paired_difference",
    "quantile_interval",
    "ratio_interval",
    "share_interval",
    "t_distribution",
    "t_quantile",
]


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
    return Interval(*_core.mean_interval(values, confidence))


def paired_difference(
    values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the mean of `values - baseline`, taken pair by pair, with its t-interval.

    With common random numbers the pairs share their chance, and the interval of the difference is narrower
    than either mean's.
    """
    return Interval(*_core.paired_difference(values, baseline, confidence))


def ratio_interval(values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return mean(values) / mean(baseline), paired, with its interval by Fieller's theorem.

    The interval holds every ratio r at which a paired t-test does not reject
    mean(values) = r * mean(baseline) (Fieller 1954). It is not symmetric. An end is infinite where the
    baseline's own interval reaches zero: the ratio then has no bound there. Where no value is negative,
    neither is a ratio: the interval begins at zero or above. Pairs with NaN are left out.

    Raises:
        ValueError: The mean of the baseline is not positive.
    """
    return Interval(*_core.ratio_interval(values, baseline, confidence))


def t_quantile(p: float, degrees: int) -> float:
    """Return the `p`-quantile, p >= 0.5, of Student's t with `degrees` degrees of freedom."""
    return _core.t_quantile(p, degrees)


def t_distribution(t: float, degrees: int) -> float:
    """Return P(T <= t), t >= 0, exactly for whole degrees of freedom.

    The finite sums of Abramowitz and Stegun 26.7.3 (odd) and 26.7.4 (even).
    """
    return _core.t_distribution(t, degrees)


def p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired t-test that differences have mean zero.

    NaN with less than two of them. Differences that are all equal leave no doubt: 0, or 1 if they are zero.
    """
    return _core.p_value(differences)


def holm(p_values: Sequence[float], confidence: float = 0.95) -> list[bool]:
    """Return which hypotheses Holm's step-down procedure rejects, so that all rejections hold at once.

    The chance of any false rejection is at most 1 - confidence, whatever the dependence (Holm 1979).
    Bonferroni's bound holds too, but rejects less. NaN is never rejected, and counts for nothing.
    """
    return _core.holm(p_values, confidence)


def quantile_interval(values: Sequence[float], q: float, confidence: float = 0.95) -> Interval:
    """Return the `q`-quantile of independent values with an interval that assumes nothing about their law.

    Its ends are the i-th and the j-th smallest value of the sample. They enclose the quantile with the
    probability that i to j - 1 of n trials succeed, each with probability q (Conover, Practical Nonparametric
    Statistics, section 3.2). The tails are cut off equally. An end for which the sample is too small is
    infinite. NaN is left out.
    """
    return Interval(*_core.quantile_interval(values, q, confidence))


def share_interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of which `count` of `total` were seen (Wilson 1927).

    The whole range where nothing was seen.
    """
    if not total:
        return 0.0, 1.0
    z, share = 1.96, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p-value of Fisher's exact test of two shares, each given as (seen, not seen)."""
    seen, drawn = first[0] + second[0], sum(first)
    total = drawn + sum(second)

    def chance(count: int) -> float:
        return math.comb(seen, count) * math.comb(total - seen, drawn - count) / math.comb(total, drawn)

    here = chance(first[0])
    possible = range(max(0, drawn - (total - seen)), min(seen, drawn) + 1)
    # Outcomes that are equally likely count as such, whatever the last digit.
    return min(1.0, math.fsum(p for p in map(chance, possible) if p <= here * (1 + 1e-9)))


def mser5(series: Sequence[float]) -> int:
    """Return how many values at the beginning of a series are warm-up, by MSER-5.

    The values are averaged in batches of five. The cut, at most half of the batches, makes the standard error
    of the mean of the rest the smallest (White 1997; White, Cobb and Spratt 2000). A cut in the second half,
    or a result of half the length, means that the series is too short.
    """
    return _core.mser5(series)


def enough(interval: Interval, precision: float) -> bool:
    """Whether half the interval is at most `precision` of the mean: the sequential rule of `--precision`.

    Stopping when it is so makes the interval a little too narrow on average. Chow and Robbins (1965) show
    that this vanishes as the precision grows; Law and Kelton advise at least ten values first.
    """
    return interval.n >= 2 and interval.half_width <= precision * abs(interval.mean)
