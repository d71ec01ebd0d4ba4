"""Statistical tests that turn measurements over seeds into a verdict.

Each test takes one value per seed and returns a `Finding`: `holds`, `fails` or `inconclusive`, the
estimate, its confidence interval and a sentence. Three answers, not two: that a difference could not be
shown is no proof of equality, so a test that lacks seeds says `inconclusive`.

A finding has the interval that was tested: with a one-sided test a bound on one side, with two one-sided
tests an end from each. So no interval contradicts its verdict.

All tests work at the 5 % level. A claim about several points ("at every ...") is tested at each point and
holds only if all hold. This needs no correction for their number (an intersection-union test). One point that
contradicts suffices for `fails`; there the level is divided by the number of points (Bonferroni).
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cogtcp.model.statistics import Interval, mean_interval, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

Verdict = Literal["holds", "fails", "inconclusive"]

LEVEL = 0.05
"""Probability that a test says `holds`, or `fails`, where it is not so."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one test found.

    Attributes:
        verdict: Whether the tested statement holds.
        estimate: The quantity tested, as its mean over the seeds.
        low: Lower end of the tested interval; minus infinity where a one-sided test has none; NaN with one
            seed.
        high: Upper end; infinite where a one-sided test has none.
        statement: Both in words.
        where: The point it belongs to, for a test over several points; else empty.
    """

    verdict: Verdict
    estimate: float
    low: float
    high: float
    statement: str
    where: str = ""
    slack: float = math.inf
    """How far the estimate lies on the right side of the bound, in shares of it; negative: the wrong side."""
    spread: float = math.nan
    """Standard deviation over the seeds of what is tested, on the scale of the estimate."""
    clearance: float = math.nan
    """(effect - bound) / standard error: positive on the side where the statement holds; NaN where a test has
    none."""


def ratio(
    values: Sequence[float],
    baseline: Sequence[float],
    factor: float = 1.0,
    *,
    above: bool = True,
    members: int = 1,
    where: str = "",
) -> Finding:
    """Test that the mean of `values` is above (or below) `factor` times `baseline`'s, paired by seed.

    The estimate is the ratio of the means with the one-sided bound that was tested. The bound is by Fieller's
    theorem, which is the same t-test at every ratio. With a baseline of zero it is the difference, and
    `factor` has no say. `members` is over how many points the statement is made: `fails` needs the level
    divided by it.
    """
    scale = abs(statistics.fmean(baseline)) or 1.0
    bound = factor if any(baseline) else 0.0
    shares = [bound + (a - factor * b) / scale for a, b in zip(values, baseline, strict=True)]
    inner = mean_interval(shares, 1 - 2 * LEVEL)
    against = mean_interval(shares, 1 - 2 * LEVEL / members)
    # Of runs that have both: Fieller's interval needs a baseline above zero.
    positive = sum(b for a, b in zip(values, baseline, strict=True) if not math.isnan(a)) > 0

    def interval(confidence: float) -> Interval:
        return ratio_interval(values, baseline, confidence) if positive else mean_interval(shares, confidence)

    if above:
        verdict: Verdict = (
            "holds" if inner.low > bound else "fails" if against.high < bound else "inconclusive"
        )
    else:
        verdict = "holds" if inner.high < bound else "fails" if against.low > bound else "inconclusive"
    outer = one_sided(interval(1 - 2 * LEVEL), interval(1 - 2 * LEVEL / members), verdict, above=above)
    slack = (outer.mean - bound if above else bound - outer.mean) / (abs(bound) or 1.0)
    clearance = _clearance([value - bound if above else bound - value for value in shares])
    found = _finding(verdict, outer, format_interval(outer), where)
    return replace(found, slack=slack, spread=_spread(shares), clearance=clearance)


def near(
    values: Sequence[float],
    baseline: Sequence[float],
    margin: float,
    factor: float = 1.0,
    *,
    members: int = 1,
    where: str = "",
) -> Finding:
    """Test that the mean of `values` is `factor` times the mean of `baseline` within a relative `margin`.

    Two one-sided t-tests, paired by seed: the mean of `values` is above the lower bound times the mean of the
    baseline, and below the upper bound times that mean. The intervals are Fieller's; see `equivalent`.
    """
    mean = statistics.fmean(baseline)
    if not (mean > 0 and factor > 0 and 0 < margin < 1):
        raise ValueError(f"need a positive baseline and a margin below 1, not {mean}, {factor} and {margin}")
    shares = [factor + (a - factor * b) / mean for a, b in zip(values, baseline, strict=True)]
    inner = ratio_interval(values, baseline, 1 - 2 * LEVEL)
    against = ratio_interval(values, baseline, 1 - LEVEL / members)
    low, high = factor * (1 - margin), factor * (1 + margin)
    verdict: Verdict = "inconclusive"
    if low <= inner.low and inner.high <= high:
        verdict = "holds"
    elif against.high < low or high < against.low:
        verdict = "fails"
    outer = against if verdict == "fails" else inner
    slack = margin - abs(outer.mean / factor - 1)
    clearance = min(
        _clearance([a - low * b for a, b in zip(values, baseline, strict=True)]),
        _clearance([high * b - a for a, b in zip(values, baseline, strict=True)]),
    )
    found = _finding(verdict, outer, format_interval(outer), where)
    return replace(found, slack=slack, spread=_spread(shares), clearance=clearance)


def trend(series: Sequence[Sequence[float]], *, members: int = 1) -> Finding:
    """Test that the mean grows along the points as a whole: `series[point][seed]`, paired by seed.

    Takes for each seed the least-squares slope over the points in their order, as the change from the first
    to the last in shares of the mean of all. A t-test says whether it is above 0. Single steps may go the
    other way.
    """
    if len(series) < 2:
        raise ValueError("a trend needs at least two points")
    scale = abs(statistics.fmean(value for values in series for value in values)) or 1.0
    middle = (len(series) - 1) / 2
    weight = sum((index - middle) ** 2 for index in range(len(series)))
    rises = [
        sum((index - middle) * values[seed] for index, values in enumerate(series))
        / weight
        * (len(series) - 1)
        / scale
        for seed in range(len(series[0]))
    ]
    return ratio(rises, [0.0] * len(rises), members=members)


def equivalent(
    values: Sequence[float], expected: float, margin: float, *, members: int = 1, where: str = ""
) -> Finding:
    """Test that the mean of `values` is `expected` within a relative `margin`: "matches", "close to".

    Two one-sided tests (TOST; Schuirmann 1987): it holds if the 90 % interval of `value / expected` lies
    within `[1 - margin, 1 + margin]`, and fails if the 95 % interval lies outside.
    """
    if not (expected > 0 and 0 < margin < 1):
        raise ValueError(f"need expected > 0 and 0 < margin < 1, not {expected} and {margin}")
    ratios = [value / expected for value in values]
    found = near(ratios, [1.0] * len(ratios), margin, members=members, where=where)
    return replace(found, statement=f"{found.statement} times the expected value")


def increasing(series: Sequence[Sequence[float]], labels: Sequence[str] = (), *, members: int = 1) -> Finding:
    """Test that the mean grows from each point to the next: `series[point][seed]`, paired by seed.

    It holds if every step is shown to be positive, and fails if some step is shown to be negative (Bonferroni
    over the steps). The finding is the least step, in shares of the greatest mean.
    """
    if len(series) < 2:
        raise ValueError("a trend needs at least two points")
    labels = labels or [str(index + 1) for index in range(len(series))]
    scale = max((abs(statistics.fmean(values)) for values in series), default=0.0) or 1.0
    steps, clearances = [], []
    verdicts: list[Verdict] = []
    for before, after, first, second in zip(series, series[1:], labels, labels[1:], strict=False):
        relative = [(b - a) / scale for a, b in zip(before, after, strict=True)]
        rising = mean_interval(relative, 1 - 2 * LEVEL)
        falling = mean_interval(relative, 1 - 2 * LEVEL / (members * (len(series) - 1)))
        verdicts.append("holds" if rising.low > 0 else "fails" if falling.high < 0 else "inconclusive")
        steps.append((one_sided(rising, falling, verdicts[-1], above=True), f"{first} to {second}"))
        clearances.append(_clearance(relative))
    least, where = min(steps, key=lambda step: step[0].mean)
    statement = f"least step, from {where}, {format_interval(least, percent=True)} of the greatest mean"
    found = _finding(combine(verdicts), least, statement, where)
    return replace(found, slack=least.mean, clearance=least_clearance(clearances))


def flat(
    series: Sequence[Sequence[float]], margin: float, labels: Sequence[str] = (), *, members: int = 1
) -> Finding:
    """Test that the mean "hardly changes" over the points: each within `margin` of the mean of all.

    An equivalence test at every point (see `equivalent`), each seed relative to its own mean over the points.
    The finding is the point farthest from the mean.
    """
    if len(series) < 2:
        raise ValueError("flatness needs at least two points")
    labels = labels or [str(index + 1) for index in range(len(series))]
    own = [statistics.fmean(values) for values in zip(*series, strict=True)]
    findings = [
        equivalent(
            [value / mean for value, mean in zip(values, own, strict=True)],
            1.0,
            margin,
            members=members * len(series),
            where=label,
        )
        for values, label in zip(series, labels, strict=True)
    ]
    farthest = max(findings, key=lambda finding: abs(finding.estimate - 1))
    verdict = combine([finding.verdict for finding in findings])
    interval = Interval(farthest.estimate, farthest.low, farthest.high, len(own))
    statement = f"farthest from the mean, at {farthest.where}, {format_interval(interval)} times it"
    clearance = least_clearance([finding.clearance for finding in findings])
    return replace(farthest, verdict=verdict, statement=statement, clearance=clearance)


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of a claim with several parts: `holds` if all do, `fails` if any does."""
    if not verdicts:
        raise ValueError("no verdict to combine")
    if "fails" in verdicts:
        return "fails"
    return "inconclusive" if "inconclusive" in verdicts else "holds"


def format_interval(interval: Interval, *, percent: bool = False) -> str:
    """Return `mean [low, high]` with three significant digits; without an interval, say so."""
    scale, unit = (100.0, " %") if percent else (1.0, "")
    mean = f"{interval.mean * scale:.3g}"
    if math.isnan(interval.low):
        return f"{mean}{unit} (one seed, no interval)"
    return f"{mean}{unit} {ends_text(interval.low * scale, interval.high * scale)}"


def one_sided(inner: Interval, against: Interval, verdict: Verdict, *, above: bool) -> Interval:
    """Return the bound that a one-sided test compared: both where it could reach no verdict.

    Args:
        inner: The interval whose nearer end shows that a statement holds.
        against: The interval whose farther end shows that it fails.
        verdict: What the test came to.
        above: Whether the statement is that the value is above its bound.
    """
    low, high = (inner.low, against.high) if above else (against.low, inner.high)
    # A value that does not vary is its own bound on both sides.
    if low == high or math.isnan(low):
        return Interval(inner.mean, low, high, inner.n)
    if verdict != "inconclusive":
        low, high = (low, math.inf) if above == (verdict == "holds") else (-math.inf, high)
    return Interval(inner.mean, low, high, inner.n)


def tested_ends(test: str, verdict: Verdict, low: float, high: float) -> tuple[float, float]:
    """Return the ends of an interval that a statement's test compared; the other end is without bound.

    An interval that was stored with both ends is two-sided: the end that stays lies farther out than the
    bound that was tested.
    """
    if test not in ("above", "below") or verdict == "inconclusive" or not low < high:
        return low, high
    return (low, math.inf) if (test == "above") == (verdict == "holds") else (-math.inf, high)


def ends_text(low: float, high: float) -> str:
    """Return `[low, high]` with three significant digits, `≥ low` or `≤ high` where there is one end."""
    if math.isinf(high) and not math.isinf(low):
        return f"[≥ {low:.3g}]"
    if math.isinf(low) and not math.isinf(high):
        return f"[≤ {high:.3g}]"
    return f"[{low:.3g}, {high:.3g}]".replace("inf", "∞")


def mean_text(values: Sequence[float]) -> str:
    """Return the mean of one value per seed with its 95 % interval, as `format_interval` does."""
    return format_interval(mean_interval(values))


def least_clearance(clearances: Sequence[float]) -> float:
    """Return the least; NaN if any is NaN, for then the whole is not known either."""
    return math.nan if any(math.isnan(value) for value in clearances) else min(clearances)


def _clearance(excess: Sequence[float]) -> float:
    """Return the mean over its standard error; infinite where all seeds agree, NaN with one seed."""
    known = [value for value in excess if not math.isnan(value)]
    if len(known) < 2:
        return math.nan
    mean, error = statistics.fmean(known), statistics.stdev(known) / math.sqrt(len(known))
    if error == 0:
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / error


def _finding(verdict: Verdict, interval: Interval, statement: str, where: str) -> Finding:
    return Finding(verdict, interval.mean, interval.low, interval.high, statement, where)


def _spread(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.stdev(known) if len(known) > 1 else math.nan
