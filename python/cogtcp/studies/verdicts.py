"""Statistical tests that turn measurements over seeds into a verdict.

Each test takes one value per seed and answers with a `Finding`: `holds`, `differs` or `unclear`, the
estimate, its 95 % confidence interval and a sentence. Three answers, not two: that a difference could not be
shown is no proof of equality, so a test that lacks seeds says `unclear`.

All tests work at the 5 % level. A claim about several points ("at every ...") is tested at each of them and
holds only where all hold, which needs no correction for their number (an intersection-union test); one point
that contradicts is enough for `differs`, and there the level is divided by the number of points (Bonferroni).
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cogtcp.statistics import Interval, mean_interval, paired_difference, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Verdict = Literal["holds", "differs", "unclear"]

LEVEL = 0.05
"""Probability that a test says `holds`, or `differs`, where it is not so."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one test found.

    Attributes:
        verdict: Whether the tested statement holds.
        estimate: The quantity tested, as its mean over the seeds.
        low: Lower end of its 95 % confidence interval; NaN with one seed.
        high: Upper end.
        statement: Both in words.
        where: The point it belongs to, for a test over several points; else empty.
    """

    verdict: Verdict
    estimate: float
    low: float
    high: float
    statement: str
    where: str = ""


def equivalent(values: Sequence[float], expected: float, margin: float, *, where: str = "") -> Finding:
    """Test that the mean of `values` is `expected` within a relative `margin`: "matches", "close to".

    Two one-sided tests (TOST; Schuirmann 1987): it holds if the 90 % interval of `value / expected` lies
    within `[1 - margin, 1 + margin]`, and differs if the 95 % interval lies outside.
    """
    if not (expected > 0 and 0 < margin < 1):
        raise ValueError(f"need expected > 0 and 0 < margin < 1, not {expected} and {margin}")
    ratios = [value / expected for value in values]
    inner = mean_interval(ratios, 1 - 2 * LEVEL)
    outer = mean_interval(ratios, 1 - LEVEL)
    low, high = 1 - margin, 1 + margin
    verdict: Verdict = "unclear"
    if low <= inner.low and inner.high <= high:
        verdict = "holds"
    elif outer.high < low or high < outer.low:
        verdict = "differs"
    return _finding(verdict, outer, f"{format_interval(outer)} times the expected value", where)


def greater(
    values: Sequence[float], baseline: Sequence[float], *, paired: bool = True, where: str = ""
) -> Finding:
    """Test that the mean of `values` is above that of `baseline`.

    Paired by default: runs of one seed share what chance does, so their difference is what varies least. The
    estimate is the mean difference. It holds if the one-sided 95 % bound lies above 0, and differs if that of
    the opposite direction lies below.
    """
    difference = paired_difference if paired else welch_difference
    inner = difference(values, baseline, 1 - 2 * LEVEL)
    outer = difference(values, baseline, 1 - LEVEL)
    verdict: Verdict = "holds" if inner.low > 0 else "differs" if inner.high < 0 else "unclear"
    return _finding(verdict, outer, f"difference {format_interval(outer)}", where)


def increasing(series: Sequence[Sequence[float]], labels: Sequence[str] = ()) -> Finding:
    """Test that the mean grows from each point to the next: `series[point][seed]`, paired by seed.

    It holds if every step is shown to be positive, and differs if some step is shown to be negative
    (Bonferroni over the steps). The finding is that of the least step, in shares of the greatest mean.
    """
    if len(series) < 2:
        raise ValueError("a trend needs at least two points")
    labels = labels or [str(index + 1) for index in range(len(series))]
    scale = max((abs(statistics.fmean(values)) for values in series), default=0.0) or 1.0
    steps = []
    verdicts: list[Verdict] = []
    for before, after, first, second in zip(series, series[1:], labels, labels[1:], strict=False):
        relative = [(b - a) / scale for a, b in zip(before, after, strict=True)]
        rising = mean_interval(relative, 1 - 2 * LEVEL)
        falling = mean_interval(relative, 1 - 2 * LEVEL / (len(series) - 1))
        verdicts.append("holds" if rising.low > 0 else "differs" if falling.high < 0 else "unclear")
        steps.append((mean_interval(relative, 1 - LEVEL), f"{first} to {second}"))
    least, where = min(steps, key=lambda step: step[0].mean)
    statement = f"least step, from {where}, {format_interval(least, percent=True)} of the greatest mean"
    return _finding(combine(verdicts), least, statement, where)


def flat(series: Sequence[Sequence[float]], margin: float, labels: Sequence[str] = ()) -> Finding:
    """Test that the mean "hardly changes" over the points: each within `margin` of the mean of all.

    An equivalence test at every point (see `equivalent`), each seed relative to its own mean over the points.
    The finding is that of the point farthest from the mean.
    """
    if len(series) < 2:
        raise ValueError("flatness needs at least two points")
    labels = labels or [str(index + 1) for index in range(len(series))]
    own = [statistics.fmean(values) for values in zip(*series, strict=True)]
    findings = [
        equivalent([value / mean for value, mean in zip(values, own, strict=True)], 1.0, margin, where=label)
        for values, label in zip(series, labels, strict=True)
    ]
    farthest = max(findings, key=lambda finding: abs(finding.estimate - 1))
    verdict = combine([finding.verdict for finding in findings])
    interval = Interval(farthest.estimate, farthest.low, farthest.high, len(own))
    statement = f"farthest from the mean, at {farthest.where}, {format_interval(interval)} times it"
    return _finding(verdict, interval, statement, farthest.where)


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of a claim with several parts: `holds` if all do, `differs` if any does."""
    if not verdicts:
        raise ValueError("no verdict to combine")
    if "differs" in verdicts:
        return "differs"
    return "unclear" if "unclear" in verdicts else "holds"


def over_range(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of a claim that was tested at several values of what the paper leaves unsaid.

    `holds`, or `differs`, if it came out so at every value. Anything else depends on what the paper does not
    say, or could not be decided: `unclear`.
    """
    if not verdicts:
        raise ValueError("no verdict to combine")
    first = verdicts[0]
    return first if all(verdict == first for verdict in verdicts) else "unclear"


def welch_difference(
    values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the difference of the means of two independent samples with Welch's interval."""
    n, m = len(values), len(baseline)
    if n == 0 or m == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = statistics.fmean(values) - statistics.fmean(baseline)
    if min(n, m) < 2:
        return Interval(mean, math.nan, math.nan, min(n, m))
    first, second = statistics.variance(values) / n, statistics.variance(baseline) / m
    if first + second == 0:
        return Interval(mean, mean, mean, min(n, m))
    degrees = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (m - 1))
    # Rounding the degrees down widens the interval: the exact quantile is for whole numbers.
    half = t_quantile((1 + confidence) / 2, max(int(degrees), 1)) * math.sqrt(first + second)
    return Interval(mean, mean - half, mean + half, min(n, m))


def bootstrap_interval(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float],
    *,
    confidence: float = 0.95,
    resamples: int = 4000,
    seed: int = 1,
) -> Interval:
    """Return `statistic(values)` with its percentile bootstrap interval: for medians, ratios and the like.

    The same values give the same interval: the resampling has its own stream of random numbers.
    """
    n = len(values)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    estimate = statistic(values)
    if n == 1:
        return Interval(estimate, math.nan, math.nan, 1)
    stream = random.Random(f"bootstrap/{seed}")  # noqa: S311 - statistics, not secrets
    drawn = sorted(statistic(stream.choices(values, k=n)) for _ in range(resamples))
    tail = (1 - confidence) / 2
    return Interval(estimate, _quantile(drawn, tail), _quantile(drawn, 1 - tail), n)


def format_interval(interval: Interval, *, percent: bool = False) -> str:
    """Return `mean [low, high]` with three significant digits; without an interval, say so."""
    scale, unit = (100.0, " %") if percent else (1.0, "")
    mean = f"{interval.mean * scale:.3g}"
    if math.isnan(interval.low):
        return f"{mean}{unit} (one seed, no interval)"
    return f"{mean}{unit} [{interval.low * scale:.3g}, {interval.high * scale:.3g}]"


def mean_text(values: Sequence[float]) -> str:
    """Return the mean of one value per seed with its 95 % interval, as `format_interval` does."""
    return format_interval(mean_interval(values))


def _finding(verdict: Verdict, interval: Interval, statement: str, where: str) -> Finding:
    return Finding(verdict, interval.mean, interval.low, interval.high, statement, where)


def _quantile(ordered: Sequence[float], p: float) -> float:
    position = p * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
