import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp.statistics import mean_interval, paired_difference, t_distribution, t_quantile


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
