"""The statistical tests behind the verdicts: tabulated quantiles, hand-computed intervals, error rates."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp.model.statistics import Interval, mean_interval, ratio_interval, t_quantile
from cogtcp.studies import verdicts

# Values to ten digits: for 1 and 2 degrees of freedom from the closed forms tan(pi (p - 1/2)) and
# (2p - 1) sqrt(2 / (1 - (2p - 1)^2)), the others from published tables (to their three digits).
CLOSED_FORMS = [
    (0.95, 1, math.tan(math.pi * 0.45)),
    (0.975, 1, math.tan(math.pi * 0.475)),
    (0.995, 1, math.tan(math.pi * 0.495)),
    (0.95, 2, 0.9 * math.sqrt(2 / (1 - 0.81))),
    (0.975, 2, 0.95 * math.sqrt(2 / (1 - 0.9025))),
]
TABLE = [
    (0.95, 4, 2.132),
    (0.975, 3, 3.182),
    (0.975, 4, 2.776),
    (0.975, 9, 2.262),
    (0.975, 19, 2.093),
    (0.975, 29, 2.045),
    (0.995, 9, 3.250),
    (0.975, 120, 1.980),
]


@pytest.mark.parametrize(("p", "degrees", "expected"), CLOSED_FORMS)
def test_t_quantiles_equal_their_closed_forms(p: float, degrees: int, expected: float) -> None:
    assert t_quantile(p, degrees) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("p", "degrees", "expected"), TABLE)
def test_t_quantiles_equal_published_tables(p: float, degrees: int, expected: float) -> None:
    assert t_quantile(p, degrees) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("degrees", [3, 4, 9, 30])
def test_t_quantiles_equal_a_numerical_integral_of_the_density(degrees: int) -> None:
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(
        math.pi * degrees
    )

    def density(t: float) -> float:
        return constant * (1 + t * t / degrees) ** (-(degrees + 1) / 2)

    end = t_quantile(0.975, degrees)
    steps = 2000
    width = end / steps
    simpson = density(0) + density(end)
    simpson += sum((4 if index % 2 else 2) * density(index * width) for index in range(1, steps))
    assert simpson * width / 3 == pytest.approx(0.475, abs=1e-9)


def test_interval_by_hand() -> None:
    # 1, 2, 3: mean 2, standard error 1/sqrt 3, t(0.975, 2) = 4.302653: 2 +- 2.484138.
    interval = mean_interval([1, 2, 3])
    assert (interval.low, interval.high) == pytest.approx((2 - 2.4841377, 2 + 2.4841377), abs=1e-6)


def test_equivalence_holds_differs_or_is_unclear() -> None:
    assert verdicts.equivalent([99, 100, 101], 100, 0.15).verdict == "holds"
    assert verdicts.equivalent([129, 130, 131], 100, 0.15).verdict == "fails"
    assert verdicts.equivalent([60, 61, 62], 100, 0.15).verdict == "fails"
    assert verdicts.equivalent([80, 100, 120], 100, 0.15).verdict == "inconclusive"
    # Clearly not 100, yet its interval reaches over the border of 115.
    assert verdicts.equivalent([114, 115, 116], 100, 0.15).verdict == "inconclusive"


def test_equivalence_is_a_statement_about_the_margin_not_about_zero_difference() -> None:
    """Values that differ significantly from the expected one, but by less than the margin, are equivalent."""
    finding = verdicts.equivalent([109.9, 110, 110.1], 100, 0.15)
    assert finding.verdict == "holds"
    assert finding.low > 1


def test_one_seed_decides_nothing() -> None:
    assert verdicts.equivalent([100], 100, 0.15).verdict == "inconclusive"
    assert verdicts.ratio([2], [1]).verdict == "inconclusive"
    assert verdicts.increasing([[1], [2]]).verdict == "inconclusive"
    assert verdicts.flat([[1], [1]], 0.1).verdict == "inconclusive"
    assert "one seed" in verdicts.equivalent([100], 100, 0.15).statement


def test_deterministic_values_have_an_interval_of_width_zero() -> None:
    finding = verdicts.equivalent([90, 90, 90], 100, 0.15)
    assert (finding.verdict, finding.low, finding.high) == ("holds", 0.9, 0.9)


def test_ratio_uses_the_pairs() -> None:
    values, baseline = [10.1, 20.1, 30.1], [10.0, 20.0, 30.0]
    assert verdicts.ratio(values, baseline).verdict == "holds"
    assert verdicts.ratio(baseline, values).verdict == "fails"
    # Against the mean instead, the spread would hide it.
    assert verdicts.ratio(values, [20.0] * 3).verdict == "inconclusive"


def test_a_ratio_of_what_is_never_negative_is_not_negative() -> None:
    # Queuing delays of 10 ms against one long and several short ones.
    finding = verdicts.ratio([10, 11, 9, 10], [1, 2, 1, 100], above=False)
    assert finding.low > 0
    assert finding.high == math.inf
    assert finding.statement.endswith("[≥ 0.118]")
    # No window falls against some: a ratio of zero, and not 2.78e-17 +- the spread of the baseline.
    none = verdicts.ratio([0.0] * 4, [0.3, 0.4, 0.2, 0.3], above=False)
    assert (none.verdict, none.estimate, none.low, none.high) == ("holds", 0.0, 0.0, 0.0)
    near = verdicts.near([10, 11, 9, 10], [1, 2, 1, 100], 0.5, 0.25)
    assert near.low > 0


def test_the_verdict_of_a_ratio_is_what_its_interval_says() -> None:
    source = random.Random(7)
    for _ in range(300):
        baseline = [math.exp(source.gauss(0, 0.5)) for _ in range(6)]
        values = [1.5 * b * math.exp(source.gauss(0, 0.3)) for b in baseline]
        found = verdicts.ratio(values, baseline)
        interval = ratio_interval(values, baseline, 1 - 2 * verdicts.LEVEL)
        said = "holds" if interval.low > 1 else "fails" if interval.high < 1 else "inconclusive"
        assert found.verdict == said


def test_increasing_looks_at_every_step() -> None:
    up = [[1, 1.1], [2, 2.1], [3, 3.1]]
    assert verdicts.increasing(up).verdict == "holds"
    dip = [[1, 1.1], [3, 3.1], [2, 2.1], [4, 4.1]]
    finding = verdicts.increasing(dip, ["a", "b", "c", "d"])
    assert (finding.verdict, finding.where) == ("fails", "b to c")
    # A step from 3.05 to 2.05 is -1, of a greatest mean of 4.05.
    assert finding.estimate == pytest.approx(-1 / 4.05)
    plateau = [[1, 1.2], [1.1, 1.1], [2, 2.1]]
    assert verdicts.increasing(plateau).verdict == "inconclusive"


def test_flat_tests_every_point_against_the_mean() -> None:
    assert verdicts.flat([[10, 11], [10.1, 11.1], [9.9, 10.9]], 0.05).verdict == "holds"
    finding = verdicts.flat([[10, 11], [10.1, 11.1], [20, 22]], 0.05, ["a", "b", "c"])
    assert (finding.verdict, finding.where) == ("fails", "c")


def test_combination() -> None:
    assert verdicts.combine(["holds", "holds"]) == "holds"
    assert verdicts.combine(["holds", "inconclusive"]) == "inconclusive"
    assert verdicts.combine(["inconclusive", "fails"]) == "fails"
    with pytest.raises(ValueError, match="no verdict"):
        verdicts.combine([])


def test_intervals_as_text() -> None:
    interval = Interval(0.12345, 0.1, 0.1567, 4)
    assert verdicts.format_interval(interval) == "0.123 [0.1, 0.157]"
    assert verdicts.format_interval(interval, percent=True) == "12.3 % [10, 15.7]"
    alone = Interval(0.5, math.nan, math.nan, 1)
    assert verdicts.format_interval(alone, percent=True) == "50 % (one seed, no interval)"
    # 1, 2, 3: 2 +- 4.302653 / sqrt 3 = 2 +- 2.484, see above.
    assert verdicts.mean_text([1, 2, 3]) == "2 [-0.484, 4.48]"


def test_equivalence_errs_at_its_level() -> None:
    """At the border of the margin the test may say "holds" in 5 % of the cases, not more."""
    stream = random.Random(7)
    trials = 2000
    holds = sum(
        verdicts.equivalent([stream.gauss(115, 3) for _ in range(10)], 100, 0.15).verdict == "holds"
        for _ in range(trials)
    )
    # 5 % +- four standard deviations of a binomial count.
    assert abs(holds / trials - 0.05) < 4 * math.sqrt(0.05 * 0.95 / trials)


@given(
    st.lists(st.floats(min_value=50, max_value=150), min_size=2, max_size=12),
    st.floats(min_value=1e-3, max_value=1e3),
)
def test_verdicts_ignore_the_unit(values: list[float], unit: float) -> None:
    finding = verdicts.equivalent(values, 100, 0.15)
    scaled = verdicts.equivalent([unit * value for value in values], unit * 100, 0.15)
    assert scaled.estimate == pytest.approx(finding.estimate)
    if all(abs(end - border) > 1e-6 for end in (finding.low, finding.high) for border in (0.85, 1.15)):
        assert {scaled.verdict, finding.verdict} != {"holds", "fails"}


def test_slack_spread_and_clearance_by_hand() -> None:
    """Ratios 1.1, 1.2, 1.3 to a bound of 1: 0.2 above, deviation 0.1, standard error 0.1 / sqrt 3."""
    found = verdicts.ratio([1.1, 1.2, 1.3], [1.0] * 3)
    assert found.estimate == pytest.approx(1.2)
    assert (found.slack, found.spread) == pytest.approx((0.2, 0.1))
    assert found.clearance == pytest.approx(0.2 / (0.1 / math.sqrt(3)))
    # One-sided at 5 %: t(0.95, 2) = 2.919986.
    assert found.low == pytest.approx(1.2 - 2.919986 * 0.1 / math.sqrt(3), abs=1e-6)
    below = verdicts.ratio([1.1, 1.2, 1.3], [1.0] * 3, above=False)
    assert (below.verdict, below.slack, below.clearance) == (
        "fails",
        pytest.approx(-0.2),
        -found.clearance,
    )
    # Against half of the baseline the bound is 0.5, and the slack a share of it.
    half = verdicts.ratio([1.1, 1.2, 1.3], [2.0] * 3, 0.5)
    assert (half.estimate, half.slack) == pytest.approx((0.6, 0.2))
    # A baseline of zero: the difference, and the factor has no say.
    zero = verdicts.ratio([1.1, 1.2, 1.3], [0.0] * 3, 7.0)
    assert (zero.verdict, zero.estimate, zero.slack) == ("holds", pytest.approx(1.2), pytest.approx(1.2))


def test_a_claim_over_several_points_fails_at_its_share_of_the_level() -> None:
    """0.8, 0.9, 1.0 against 1: t = -0.1 / (0.1 / sqrt 3) = -1.73 with two degrees of freedom."""
    # t(0.95, 2) = 2.92 and t(0.98, 2) = 4.85: -3.46 is beyond the first alone.
    values = [0.7, 0.8, 0.9]
    assert verdicts.ratio(values, [1.0] * 3).verdict == "fails"
    assert verdicts.ratio(values, [1.0] * 3, members=3).verdict == "inconclusive"
    assert verdicts.ratio([0.8, 0.9, 1.0], [1.0] * 3).verdict == "inconclusive"
    assert verdicts.ratio([1.1, 1.2, 1.3], [1.0] * 3, members=3).verdict == "holds", "holds needs no share"


def test_near_by_hand() -> None:
    """1.1, 1.2, 1.3 of a baseline of 1, within 25 % of it: 0.05 left; bounds at 0.75 and 1.25."""
    found = verdicts.near([1.1, 1.2, 1.3], [1.0] * 3, 0.25)
    assert (found.verdict, found.slack) == ("inconclusive", pytest.approx(0.05))
    error = 0.1 / math.sqrt(3)
    assert found.clearance == pytest.approx(0.05 / error)
    found = verdicts.near([2.39, 2.4, 2.41], [1.0] * 3, 0.25, 2.0)
    assert (found.verdict, found.slack) == ("holds", pytest.approx(0.05))
    assert found.clearance == pytest.approx(0.1 / (0.01 / math.sqrt(3)))
    for baseline, margin, factor in (([0.0] * 3, 0.1, 1.0), ([1.0] * 3, 0.0, 1.0), ([1.0] * 3, 1.0, 1.0),
                                     ([1.0] * 3, 0.1, 0.0)):  # fmt: skip
        with pytest.raises(ValueError, match="need a positive baseline"):
            verdicts.near([1.0] * 3, baseline, margin, factor)
    with pytest.raises(ValueError, match="need expected > 0"):
        verdicts.equivalent([1.0, 1.0], 0.0, 0.1)


def test_a_trend_is_the_change_from_first_to_last_in_shares_of_the_mean() -> None:
    """Means 1, 2, 3 rise by 2, of a mean of 2; a dip within does not matter."""
    assert verdicts.trend([[1, 1.2], [2, 2.2], [3, 3.2]]).estimate == pytest.approx(2 / 2.1)
    # Slopes of 1, 3, 2, 4 by least squares: (-1.5 - 1.5 + 1 + 6) / 5 = 0.8 a step, 2.4 over three, of 2.5.
    found = verdicts.trend([[1, 1], [3, 3], [2, 2], [4, 4]])
    assert (found.verdict, found.estimate) == ("holds", pytest.approx(2.4 / 2.5))
    assert verdicts.trend([[4, 4], [2, 2], [3, 3], [1, 1]]).verdict == "fails"
    assert verdicts.trend([[1, 1], [2, 2]]).estimate == pytest.approx(1 / 1.5)
    for test in (verdicts.trend, verdicts.increasing):
        with pytest.raises(ValueError, match="at least two points"):
            test([[1, 2]])
    with pytest.raises(ValueError, match="at least two points"):
        verdicts.flat([[1, 2]], 0.1)


def test_steps_have_names_and_clearances() -> None:
    """Steps of 1 and 2 of a greatest mean of 4: the least is 0.25; both are the same at each seed."""
    found = verdicts.increasing([[1, 1], [2, 2], [4, 4]])
    assert (found.where, found.estimate, found.slack) == ("1 to 2", 0.25, 0.25)
    assert found.clearance == math.inf
    assert found.statement.startswith("least step, from 1 to 2, 25 % ")
    # Steps of 1, 2, 3: mean 2, standard error 1 / sqrt 3, in shares of 6.
    found = verdicts.increasing([[4, 4, 4], [5, 6, 7]])
    assert (found.estimate, found.clearance) == pytest.approx((2 / 6, 2 * math.sqrt(3)))
    flat = verdicts.flat([[10, 10, 10], [11, 11, 11], [9, 9, 9.0]], 0.2)
    assert flat.estimate == pytest.approx(1.1)
    assert (flat.verdict, flat.where) == ("holds", "2")


def test_ends_of_one_sided_tests() -> None:
    inner, against = Interval(2.0, 1.0, 3.0, 5), Interval(2.0, 0.5, 3.5, 5)
    shown = {
        (verdict, above): (found.low, found.high)
        for verdict in ("holds", "fails", "inconclusive")
        for above in (True, False)
        for found in [verdicts.one_sided(inner, against, verdict, above=above)]
    }
    assert shown == {
        ("holds", True): (1.0, math.inf), ("holds", False): (-math.inf, 3.0),
        ("fails", True): (-math.inf, 3.5), ("fails", False): (0.5, math.inf),
        ("inconclusive", True): (1.0, 3.5), ("inconclusive", False): (0.5, 3.0),
    }  # fmt: skip
    still = Interval(2.0, 2.0, 2.0, 5)
    assert verdicts.one_sided(still, still, "holds", above=True) == still
    assert verdicts.ends_text(1.2345, math.inf) == "[≥ 1.23]"
    assert verdicts.ends_text(-math.inf, 1.2345) == "[≤ 1.23]"
    assert verdicts.ends_text(-math.inf, math.inf) == "[-∞, ∞]"


def test_the_least_clearance_is_unknown_if_one_is() -> None:
    assert verdicts.least_clearance([3.0, 1.0, 2.0]) == 1.0
    assert math.isnan(verdicts.least_clearance([3.0, math.nan]))
    assert verdicts.ratio([2.0, 2.0], [1.0, 1.0]).clearance == math.inf
    assert verdicts.ratio([1.0, 1.0], [2.0, 2.0]).clearance == -math.inf
    assert verdicts.ratio([1.0, 1.0], [1.0, 1.0]).clearance == 0
    assert math.isnan(verdicts.ratio([1.0], [1.0]).clearance)
    assert math.isnan(verdicts.ratio([1.0], [1.0]).spread)
