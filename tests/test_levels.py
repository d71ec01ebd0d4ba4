"""At which level the tests of verdicts work: 5 %, one-sided: an interval of 90 % tells, not one of 95 %."""

import math
import statistics

import pytest

from cogtcp.model.statistics import t_quantile
from cogtcp.studies import verdicts

N = 10


def values(mean: float, of_half_width: float) -> list[float]:
    """Return values whose mean lies so many half widths of the 90 % interval above 1."""
    spread = [(-1) ** i * (1 + i // 2 / 10) for i in range(N)]
    spread = [s - statistics.fmean(spread) for s in spread]
    error = math.sqrt(statistics.variance(spread) / N)
    scale = (mean - 1) / (t_quantile(0.95, N - 1) * error * of_half_width)
    return [mean + scale * s for s in spread]


ONE = [1.0] * N
# The 95 % interval is so much wider than that of 90 %.
WIDER = t_quantile(0.975, N - 1) / t_quantile(0.95, N - 1)


@pytest.mark.parametrize(("half_widths", "verdict"), [(1.02, "holds"), (0.98, "inconclusive")])
def test_a_ratio_is_tested_one_sided_at_5_percent(half_widths: float, verdict: str) -> None:
    assert WIDER > 1.02, "between the two intervals the levels differ"
    assert verdicts.ratio(values(1.1, half_widths), ONE).verdict == verdict
    # The other way round the same values contradict, at the same level.
    contradicted = {"holds": "fails", "inconclusive": "inconclusive"}[verdict]
    assert verdicts.ratio(values(1.1, half_widths), ONE, above=False).verdict == contradicted


def test_contradiction_at_several_points_takes_more() -> None:
    """Bonferroni: of five points one contradicts at 1 %."""
    at_5 = values(1.1, 1.02)
    assert verdicts.ratio(at_5, ONE, above=False, members=5).verdict == "inconclusive"
    stricter = t_quantile(0.99, N - 1) / t_quantile(0.95, N - 1)
    assert verdicts.ratio(values(1.1, 1.02 * stricter), ONE, above=False, members=5).verdict == "fails"
    assert verdicts.ratio(values(1.1, 0.98 * stricter), ONE, above=False, members=5).verdict == "inconclusive"


def test_the_bounds_that_are_told_are_those_that_were_tested() -> None:
    """Inconclusive: neither one-sided test rejects, so both bounds are shown."""
    found = verdicts.ratio(values(1.1, 1.0), ONE)
    assert found.estimate == pytest.approx(1.1)
    assert found.low == pytest.approx(1.1 - 0.1)
    assert found.high == pytest.approx(1.1 + 0.1)
    holds = verdicts.ratio(values(1.1, 1.02), ONE)
    assert holds.high == math.inf
    assert found.slack == pytest.approx(0.1)


@pytest.mark.parametrize(("half_widths", "verdict"), [(1.02, "holds"), (0.98, "inconclusive")])
def test_nearness_is_two_one_sided_tests_at_5_percent(half_widths: float, verdict: str) -> None:
    """The mean is 1.1, the margin 20 %: the upper end of the 90 % interval is 1.2 at one half width."""
    assert verdicts.near(values(1.1, half_widths), ONE, 0.2).verdict == verdict


@pytest.mark.parametrize(("half_widths", "verdict"), [(1.02, "fails"), (0.98, "inconclusive")])
def test_nearness_is_contradicted_two_sided_at_5_percent(half_widths: float, verdict: str) -> None:
    """The mean is 1.2, the margin 10 %: the lower end of the 95 % interval is 1.1 at one half width."""
    far = [1 + 2 * (value - 1) for value in values(1.1, WIDER * half_widths)]
    # Twice as far from 1, and twice as wide: put its mean back to where half of that reaches.
    assert statistics.fmean(far) == pytest.approx(1.2)
    narrower = [1.2 + (value - 1.2) / 2 for value in far]
    assert verdicts.near(narrower, ONE, 0.1).verdict == verdict
