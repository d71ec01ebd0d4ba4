import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cogtcp.model.statistics import (
    Interval,
    fisher,
    holm,
    mean_interval,
    mser5,
    p_value,
    paired_difference,
    quantile_interval,
    ratio_interval,
    share_interval,
    t_distribution,
    t_quantile,
)


@pytest.mark.parametrize(
    ("p", "degrees", "expected"),
    # The usual printed table of Student's t.
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 9, 2.262),
        (0.975, 30, 2.042),
        (0.975, 120, 1.980),
        (0.95, 5, 2.015),
        (0.995, 10, 3.169),
    ],
)
def test_quantiles_are_those_of_the_table(p: float, degrees: int, expected: float) -> None:
    assert t_quantile(p, degrees) == pytest.approx(expected, abs=6e-4)


@given(st.integers(1, 300), st.floats(0.5, 0.9999))
def test_quantile_inverts_the_distribution(degrees: int, p: float) -> None:
    assert t_distribution(t_quantile(p, degrees), degrees) == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize(("p", "degrees"), [(0.3, 5), (1.0, 5), (0.975, 0)])
def test_quantiles_that_do_not_exist_are_refused(p: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(p, degrees)


def test_interval_by_hand() -> None:
    # Mean 3, variance 2.5, n 5: 3 +- 2.776 * sqrt(2.5 / 5).
    interval = mean_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.776 * math.sqrt(0.5), abs=1e-3)
    assert interval.n == 5


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    one = mean_interval([4.0])
    assert (one.mean, one.n) == (4.0, 1)
    assert math.isnan(one.low)
    assert not one.excludes(100)
    assert math.isnan(mean_interval([]).mean)


def test_runs_without_a_value_are_left_out() -> None:
    assert mean_interval([math.nan, 2.0, math.nan, 4.0]) == mean_interval([2.0, 4.0])


@given(st.floats(-1e9, 1e9), st.integers(2, 40))
def test_equal_values_have_an_interval_of_width_zero_at_them(value: float, n: int) -> None:
    interval = mean_interval([value] * n)
    assert (interval.low, interval.mean, interval.high) == (value, value, value)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-10, 10)), min_size=2, max_size=30))
def test_pairs_cancel_what_they_share(pairs: list[tuple[float, float]]) -> None:
    shared = [common for common, _ in pairs]
    shifted = [common + own for common, own in pairs]
    interval = paired_difference(shifted, shared)
    assert interval.mean == pytest.approx(
        statistics.fmean([b - a for a, b in zip(shared, shifted, strict=True)])
    )
    assert interval.low <= interval.mean <= interval.high


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    """Of 2000 intervals over 5 normal values, 95 % hold the mean (3 standard errors: +- 1.5 %)."""
    import random

    source = random.Random(1)
    held = sum(not mean_interval([source.gauss(0, 1) for _ in range(5)]).excludes(0) for _ in range(2000))
    assert 0.935 < held / 2000 < 0.965


def test_p_values_are_those_of_scipy() -> None:
    chance = random.Random(5)
    for n in (2, 3, 7, 30):
        one, other = ([chance.gauss(shift, 1) for _ in range(n)] for shift in (0.0, 0.7))
        expected = stats.ttest_rel(one, other).pvalue
        assert p_value([a - b for a, b in zip(one, other, strict=True)]) == pytest.approx(expected, abs=1e-9)
    assert p_value([1.0, 1.0, 1.0]) == 0
    assert p_value([0.0, 0.0]) == 1
    assert math.isnan(p_value([3.0]))


@given(st.integers(1, 2000), st.floats(0.5, 0.9999))
def test_the_distribution_is_that_of_scipy(degrees: int, p: float) -> None:
    t = t_quantile(p, degrees)
    assert t == pytest.approx(stats.t.ppf(p, degrees), rel=1e-7, abs=1e-12)
    assert t_distribution(t, degrees) == pytest.approx(stats.t.cdf(t, degrees), abs=1e-12)


# Millionths: scipy itself loses digits where squares are no normal floats (below 1e-154), or where all but
# the last digits agree.
VALUES = st.integers(-(10**12), 10**12).map(lambda value: value / 1e6)


@given(st.lists(VALUES, min_size=2, max_size=40, unique=True), st.sampled_from([0.9, 0.95, 0.99]))
def test_intervals_of_means_are_those_of_scipy(values: list[float], confidence: float) -> None:
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    found = mean_interval(values, confidence)
    size = max(map(abs, values))
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-7, abs=1e-9 * size)


@given(st.integers(1, 120), st.floats(0.01, 0.99), st.sampled_from([0.9, 0.95, 0.99]))
def test_intervals_of_quantiles_are_those_of_scipy(n: int, q: float, confidence: float) -> None:
    expected = stats.quantile_test(list(range(n)), q=0, p=q).confidence_interval(confidence)
    found = quantile_interval([float(value) for value in range(n)], q, confidence)
    ends = tuple(end if math.isfinite(end) else None for end in (found.low, found.high))
    assert ends == tuple(None if math.isnan(end) else end for end in expected)


def test_p_values_by_hand() -> None:
    # Mean 0: t = 0, and P(|T| >= 0) = 1.
    assert p_value([-1.0, 1.0]) == 1
    # Mean 2, variance 2, n 2: t = 2 / sqrt(2 / 2) = 2. With one degree of freedom (Cauchy)
    # P(T <= 2) = 1/2 + atan(2) / pi = 0.852416, and p = 2 (1 - 0.852416) = 0.295167.
    assert p_value([1.0, 3.0]) == pytest.approx(0.295167, abs=1e-6)


def test_holm_rejects_step_by_step() -> None:
    # Holm 1979: 0.01 <= 0.05/4, 0.02 > 0.05/3 stops there, though 0.02 alone is below 0.05.
    assert holm([0.02, 0.01, 0.04, 0.03]) == [False, True, False, False]
    assert holm([0.01, 0.016, 0.024, 0.049]) == [True, True, True, True]
    assert holm([math.nan, 0.04]) == [False, True]
    assert holm([]) == []


def test_holm_makes_few_false_claims() -> None:
    chance = random.Random(9)
    wrong = sum(
        any(holm([p_value([chance.gauss(0, 1) for _ in range(8)]) for _ in range(10)])) for _ in range(400)
    )
    assert wrong <= 33, "5 % of 400 families, and two standard errors and a half"
    naive = sum(
        min(p_value([chance.gauss(0, 1) for _ in range(8)]) for _ in range(10)) < 0.05 for _ in range(100)
    )
    assert naive > 25, "each by itself at 95 % is wrong in 40 of 100 families"


def test_intervals_of_quantiles_are_those_of_the_binomial_law() -> None:
    # Conover, Practical Nonparametric Statistics: 16 values, the median between the 4th and the 13th, 97.9 %.
    interval = quantile_interval(list(range(1, 17)), 0.5)
    assert (interval.mean, interval.low, interval.high) == (8.5, 4, 13)
    assert quantile_interval([1.0, 2.0], 0.95).high == math.inf
    assert math.isnan(quantile_interval([], 0.5).mean)
    chance = random.Random(2)
    inside = 0
    for _ in range(400):
        found = quantile_interval([chance.expovariate(1) for _ in range(60)], 0.9)
        inside += found.low <= -math.log(0.1) <= found.high
    assert inside >= 372, "95 % of 400, less two standard errors"


def test_ends_of_quantile_intervals_by_hand() -> None:
    # Two values, q = 0.99: P(B < 2) = 1 - 0.99^2 = 0.0199 <= 0.025, so the greater is low enough; no value is
    # high enough, for P(B < 2) < 0.975. The estimate lies at 0.99 of the way from the first to the second.
    interval = quantile_interval([1.0, 2.0], 0.99)
    assert (interval.low, interval.high) == (2.0, math.inf)
    assert interval.mean == pytest.approx(1.99)
    # The mirror image, q = 0.01: P(B < 1) = 0.99^2 = 0.9801 >= 0.975, so the smaller is high enough.
    mirrored = quantile_interval([1.0, 2.0], 0.01)
    assert (mirrored.low, mirrored.high) == (-math.inf, 1.0)


def test_mser5_finds_where_a_transient_ends() -> None:
    chance = random.Random(3)
    steady = [chance.gauss(10, 1) for _ in range(500)]
    assert mser5(steady) <= 100
    late = [10 - 10 * math.exp(-i / 20) + chance.gauss(0, 0.3) for i in range(500)]
    assert 50 <= mser5(late) <= 150
    assert mser5([1.0] * 4) == 0
    assert mser5([0.0] * 40 + [1.0] * 400) == 40


def test_mser5_by_hand() -> None:
    # Three batches, 9, 1 and 1. All: sum of squares about the mean 128/3, over 9: 4.7. Without the first: 0.
    assert mser5([9.0] * 5 + [1.0] * 10) == 5
    # Five equal batches: every cut leaves an error of 0, and the least of them is taken.
    assert mser5([1.0] * 25) == 0
    # Four values more fill no batch.
    assert mser5([9.0] * 5 + [1.0] * 14) == 5


def test_mser5_is_not_drowned_by_a_transient() -> None:
    # Batches 1e12, 1e12, 3, 1, 1, 1, 1, 1. From the fourth on nothing varies: 15 values are cut. From the
    # third on the sum of squares is 14 - 8^2/6 = 10/3, which is nothing beside the rounding of 6e24.
    assert mser5([1e12] * 10 + [3.0] * 5 + [1.0] * 25) == 15


def test_ratio_interval_is_fiellers_by_hand() -> None:
    # Top 1, 2, 3; bottom 4, 6, 5: means 2 and 5, variances 1 and 1, covariance 0.5.
    # t(0.975, 2)^2 / 3 = 6.17095. a = 25 - 6.17095 = 18.82905, b = 10 - 3.08548 = 6.91452,
    # c = 4 - 6.17095 = -2.17095. Roots (6.91452 +- sqrt(47.8106 + 40.8769)) / 18.82905: -0.13292, 0.86738.
    # No ratio of these is negative.
    interval = ratio_interval([1, 2, 3], [4, 6, 5])
    assert interval.mean == 0.4
    assert (interval.low, interval.high) == (0.0, pytest.approx(0.86738, abs=1e-5))
    # The same with a negative value, whose ratio may be.
    signed = ratio_interval([-1, 2, 5], [4, 6, 5])
    assert signed.low < 0


@given(
    st.lists(st.tuples(st.floats(-50, 100), st.floats(20, 100)), min_size=3, max_size=12),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_a_ratio_is_in_the_interval_where_the_paired_test_does_not_reject_it(
    pairs: list[tuple[float, float]], confidence: float
) -> None:
    top, bottom = [a for a, _ in pairs], [b for _, b in pairs]
    interval = ratio_interval(top, bottom, confidence)
    scale = statistics.fmean(map(abs, top)) + 1
    least = 0.0 if min(top) >= 0 else -math.inf
    for end, inward in ((interval.low, 1), (interval.high, -1)):
        if math.isinf(end) or end == least or interval.high - interval.low < 1e-4:
            continue
        width = 1e-3 * min(interval.high - interval.low, 1)
        for ratio, inside in ((end + inward * width, True), (end - inward * width, False)):
            difference = mean_interval([a - ratio * b for a, b in pairs], confidence)
            if abs(abs(difference.mean) - difference.half_width) > 1e-9 * scale:
                assert (difference.low <= 0 <= difference.high) is inside


def test_ratio_interval_covers_as_often_as_it_says() -> None:
    # Normal pairs with a ratio of 2, six seeds, where Fieller's is exact.
    # 2,000 draws: 0.95 +- 0.0146 (3 sigma).
    # An interval that takes the baseline's mean for its true one covers 0.69.
    source = random.Random(4)
    hits = 0
    for _ in range(2000):
        bottom = [source.gauss(10, 2) for _ in range(6)]
        top = [source.gauss(20, 2) for _ in range(6)]
        interval = ratio_interval(top, bottom)
        hits += interval.low <= 2 <= interval.high
    assert hits / 2000 == pytest.approx(0.95, abs=0.0146)


def test_ratio_interval_has_no_bound_where_the_baseline_may_be_zero() -> None:
    # Bottom 0, 0, 0, 9: 2.25 +- 7.16.
    interval = ratio_interval([1.0, 1.1, 0.9, 1.0], [0, 0, 0, 9])
    assert interval.mean == pytest.approx(4 / 9)
    assert 0 < interval.low < interval.mean
    assert interval.high == math.inf
    # None in four against one in four: nothing is known of their ratio.
    none = ratio_interval([0, 0, 0, 0], [0, 0, 0, 1])
    assert (none.mean, none.low, none.high) == (0, 0, math.inf)


def test_ratio_interval_of_nothing_varying_has_width_zero() -> None:
    for top, bottom in (([0] * 3, [3, 4, 5]), ([0.3] * 3, [0.1] * 3), ([20, 22, 24], [10, 11, 12])):
        interval = ratio_interval(top, bottom)
        assert interval.low == interval.mean == interval.high
    assert ratio_interval([1, math.nan, 3], [2, 5, 6]).n == 2
    assert math.isnan(ratio_interval([1], [2]).low)
    with pytest.raises(ValueError, match="positive baseline"):
        ratio_interval([1, 2], [0, 0])


@pytest.mark.parametrize(("count", "total"), [(0, 12), (3, 40), (20, 40), (12, 12), (1, 1)])
def test_the_interval_of_a_share_is_wilsons(count: int, total: int) -> None:
    expected = stats.binomtest(count, total).proportion_ci(method="wilson")
    # 1.96 for the quantile 1.95996.
    assert share_interval(count, total) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_the_interval_of_a_share_of_nothing_is_all() -> None:
    assert share_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [((3, 0), (0, 72)), ((0, 3), (70, 2)), ((1, 2), (30, 40)), ((8, 2), (1, 5)), ((0, 0), (3, 4))],
)
def test_fishers_exact_test(first: tuple[int, int], second: tuple[int, int]) -> None:
    expected = stats.fisher_exact([first, second]).pvalue
    assert fisher(first, second) == pytest.approx(expected, rel=1e-9)


def test_an_interval_contains_its_ends() -> None:
    interval = Interval(2.0, 1.0, 3.0, 5)
    assert [interval.excludes(value) for value in (0.9, 1.0, 2.0, 3.0, 3.1)] == [
        True,
        False,
        False,
        False,
        True,
    ]
    assert interval.half_width == 1
    assert not Interval(2.0, math.nan, math.nan, 1).excludes(7.0)
