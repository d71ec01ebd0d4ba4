"""Decisions of races: how often they are wrong on problems with known truth, and what they rest on."""

import importlib.util
import math
import sys
from collections.abc import Mapping, Sequence

import pytest

from cogtcp.deciding.advising.racing import Chances, Left, Race, bounds, schedule, weights
from cogtcp.model.statistics import t_quantile
from conftest import ROOT

SPEC = importlib.util.spec_from_file_location("decisions", ROOT / "benches" / "decisions.py")
assert SPEC is not None
assert SPEC.loader is not None
decisions = importlib.util.module_from_spec(SPEC)
sys.modules["decisions"] = decisions
SPEC.loader.exec_module(decisions)


def raced(rows: Mapping[str, Sequence[float] | str], **options: object) -> Race:
    """Race candidates with given values; the first runs today."""
    race = Race(list(rows), next(iter(rows)), most=min(len(v) for v in rows.values()), **options)  # type: ignore[arg-type]

    def sample(names: Sequence[str], seeds: Sequence[int]) -> dict[str, list[float] | str]:
        return {
            name: values if isinstance(values := rows[name], str) else [values[seed] for seed in seeds]
            for name in names
        }

    race.run(sample)
    return race


def test_decisions_on_two_hundred_drawn_problems_are_right() -> None:
    """If "run" or "keep" were wrong in 5 % of 200 problems, this would fail with a chance of 94 %.

    If they are wrong in 1 %, it fails with a chance of 1.6 % (binomial, more than 5 of 200). The problems are
    the same at every run.
    """
    found = decisions.tally([decisions.problem(number) for number in range(200)])
    assert found["wrong run"] + found["wrong keep"] <= 5
    assert found["wide"] >= 80
    assert found["wide undecided"] <= 0.15 * found["wide"]
    assert found["run"] > 80, "a race that never decides is never wrong"
    assert found["keep"] > 30


def test_errors_at_the_margin_are_as_rare_as_promised() -> None:
    # Two candidates of which the other is better by exactly the margin: each "run" is wrong. 5 % would be
    # 6 of 120; more than 12 then have a chance under 1 %.
    given = [
        decisions.Problem(number, {"today": 10.0, "a": 10.0 * (1 + decisions.MARGIN)}, 0.01, "normal")
        for number in range(120)
    ]
    wrong = sum(decisions.race(each, 200)[0].winner == "a" for each in given)
    assert wrong <= 12


def test_the_chance_of_error_is_divided_and_not_multiplied() -> None:
    for candidates in (2, 3, 12, 200):
        for limits in (0, 1, 3):
            found = Chances.of(candidates, limits, 0.05).among(candidates - 1)
            # Nothing is better than today's: a false "run" of one of K - 1, or a false verdict on a limit.
            all_limits = found.limit * limits * candidates
            assert (candidates - 1) * found.leave + all_limits <= 0.05 + 1e-12
            # Something is: a false "keep", or one of the two comparisons of each of K - 2 others.
            others = (candidates - 2) * (found.leave + found.best)
            assert found.keep + others + all_limits <= 0.05 + 1e-12
    for looks in (1, 2, 5, 11):
        assert math.fsum(weights(looks)) == pytest.approx(1)
    assert schedule(200) == [3, 5, 8, 12, 18, 27, 41, 62, 93, 140, 200]


def test_three_heads() -> None:
    spread = [0.05 * ((7 * n) % 5 - 2) for n in range(20)]
    today = [10 + each for each in spread]
    better = [12 + 2 * each for each in spread]
    worse = [9 - each for each in spread]
    race = raced({"today": today, "better": better, "worse": worse})
    assert (race.head, race.winner) == ("run", "better")
    gain = race.gain("better", "today")
    assert 0.02 < gain.low < gain.mean < gain.high
    assert race.left["worse"].why in ("worse", "no better")
    race = raced({"today": today, "worse": worse, "same": [v * 1.001 for v in today]})
    assert (race.head, race.winner) == ("keep", "today")
    assert race.gain("same", "today").high <= 0.02, "the interval that is shown is the one that decided"
    assert race.left["worse"] == Left("no better", race.left["worse"].at, "today")
    noisy = [10 + 3 * math.sin(n * n) for n in range(20)]
    race = raced({"today": today, "noisy": noisy})
    assert (race.head, race.winner) == ("undecided", None)
    assert set(race.between()) == {"today", "noisy"}
    assert race.seeds_to_decide() > 20


def test_less_is_better_where_it_is() -> None:
    spread = [0.02 * ((7 * n) % 5 - 2) for n in range(20)]
    race = raced({"today": [1 + s for s in spread], "quick": [0.8 - s for s in spread]}, sign=-1)
    assert race.winner == "quick"
    assert race.gain("quick", "today").mean == pytest.approx(0.2, abs=0.02)


def test_who_is_no_threat_waits_and_runs_on_if_the_lead_changes() -> None:
    runs: dict[str, int] = {}
    race = Race(["today", "a", "b", "c"], "today", margin=0.02)
    # a and b are alike and far better than today's; c is as good, but with a spread that needs many seeds.
    true = {"today": 10.0, "a": 20.0, "b": 19.9, "c": 20.0}
    own = {"today": 0.02, "a": 0.02, "b": 0.02, "c": 0.9}

    def sample(names: Sequence[str], seeds: Sequence[int]) -> dict[str, list[float]]:
        for name in names:
            runs[name] = runs.get(name, 0) + len(seeds)
        return {
            name: [true[name] + own[name] * decisions.noise("normal", decisions.random.Random(f"{name}{s}"))
                   for s in seeds]
            for name in names
        }  # fmt: skip

    race.run(sample)
    assert runs["today"] < runs["c"], "once the leader is better than today's, today's need not run"
    assert runs["b"] < runs["c"], "b cannot beat a by the margin: it waits"
    assert race.winner in ("a", "b", "c")


def test_values_that_do_not_vary_in_few_seeds_decide_nothing() -> None:
    # No stall in 5 runs is no evidence against a stall in every tenth run.
    assert bounds([0.0] * 5, 0.01) == (-math.inf, math.inf)
    assert bounds([0.0] * 12, 0.01) == (0.0, 0.0)
    race = raced({"today": [0.0] * 8, "other": [0.0] * 8}, sign=-1)
    assert race.head == "undecided"
    race = raced({"today": [0.0] * 20, "other": [0.0] * 20}, sign=-1)
    assert race.winner == "today"


def test_a_limit_must_be_kept_with_confidence() -> None:
    spread = [0.05 * ((7 * n) % 5 - 2) for n in range(40)]
    values = {"today": [10 + s for s in spread], "fast": [14 - s for s in spread]}

    def judged(verdicts: Mapping[str, str]) -> Race:
        return raced(
            values, limits=1, judge=lambda name, chance: (verdicts[name], "delay" if chance > 0 else "")
        )

    assert judged({"today": "kept", "fast": "kept"}).winner == "fast"
    found = judged({"today": "kept", "fast": "broken"})
    assert found.winner == "today"
    assert found.left["fast"].why == "breaks"
    found = judged({"today": "kept", "fast": "unclear"})
    assert found.head == "undecided", "better, but perhaps beyond the limit"
    assert found.between() == ["today", "fast"]
    # What breaks the limit is left for whatever keeps it, slower or not.
    found = judged({"today": "broken", "fast": "kept"})
    assert (found.head, found.winner) == ("run", "fast")
    assert judged({"today": "broken", "fast": "broken"}).head == "nothing"


def test_a_failed_run_ends_a_candidate() -> None:
    today = [10 + 0.01 * ((7 * n) % 5) for n in range(20)]
    assert raced({"today": today, "other": "broke"}).winner == "today"
    race = Race(["today", "other"], "today")
    race.settle({"today": [1.0], "other": [1.01]})
    assert race.winner == "today", "within the margin"
    race = Race(["today", "other"], "today")
    race.settle({"today": [1.0], "other": [1.03]})
    assert (race.head, race.winner) == ("run", "other")


def test_the_chance_of_error_by_hand() -> None:
    """Of 5 %: a fifth for limits, if there are some; of the rest 0.2, 0.4 and 0.4 among three and more."""
    assert Chances.of(2, 0, 0.05) == Chances(0.05, 0.05, 0.05, 0.0)
    assert Chances.of(3, 0, 0.05) == Chances(
        pytest.approx(0.01), pytest.approx(0.02), pytest.approx(0.02), 0.0
    )
    four = Chances.of(4, 2, 0.05)
    assert (four.keep, four.leave, four.best) == pytest.approx((0.008, 0.016, 0.016))
    assert four.limit == pytest.approx(0.01 / 8)
    # Three that may win: three against today's, two against each other.
    among = four.among(3)
    assert (among.keep, among.leave, among.best) == pytest.approx((0.008, 0.016 / 3, 0.008))
    assert four.among(1).best == four.among(0).best == four.best
    assert weights(1) == [1.0]
    assert weights(2) == pytest.approx([0.2 / 0.35, 0.15 / 0.35])
    assert weights(4) == pytest.approx([0.2, 0.15, 0.325, 0.325])
    assert [schedule(most) for most in (1, 3, 4, 12)] == [[1], [3], [3, 4], [3, 5, 8, 12]]


def test_a_bound_needs_three_values_that_vary_or_twelve() -> None:
    assert bounds([1.0, 2.0], 0.025) == (-math.inf, math.inf)
    # 1, 2, 3: 2 -+ t(0.975, 2) / sqrt 3; a value that is missing is left out.
    low, high = bounds([1.0, 2.0, math.nan, 3.0], 0.025)
    assert (low, high) == pytest.approx((2 - 2.4841377, 2 + 2.4841377), abs=1e-6)
    assert bounds([5.0] * 11, 0.01) == (-math.inf, math.inf)
    assert bounds([5.0] * 11 + [math.nan], 0.01) == (-math.inf, math.inf)


def settled(sign: int = 1, margin: float = 0.1, additive: bool = False, **values: float | str) -> Race:
    race = Race(list(values), "today", sign=sign, margin=margin, additive=additive)
    race.settle({name: each if isinstance(each, str) else [each] for name, each in values.items()})
    return race


def test_without_chance_the_better_one_by_more_than_the_margin_wins() -> None:
    assert settled(today=10.0, other=11.0).winner == "today", "by the margin and no more"
    assert settled(today=10.0, other=11.01).winner == "other"
    assert settled(-1, today=10.0, other=9.0).winner == "today"
    assert settled(-1, today=10.0, other=8.99).winner == "other"
    assert settled(1, 0.5, True, today=10.0, other=10.5).winner == "today"
    assert settled(1, 0.5, True, today=10.0, other=10.6).winner == "other"
    assert settled(-1, 0.5, True, today=10.0, other=9.4).winner == "other"
    race = settled(today=10.0, best=20.0, next=15.0, equal=20.0, broken="why")
    assert race.winner in ("best", "equal")
    assert race.left["next"] == Left("worse", 1, race.winner)
    assert race.left["broken"] == Left("failed", 1, "why")
    assert "equal" not in race.left
    kept = settled(today=10.0, next=10.5)
    assert kept.left["next"] == Left("no better", 1, "today")
    assert kept.gain("next", "today").mean == pytest.approx(0.05)
    assert settled(-1, today=10.0, quick=8.0).gain("quick", "today").mean == pytest.approx(0.2)
    assert settled(today="a", other="b").head == "nothing"


def test_ranks_are_by_the_mean_over_the_same_seeds() -> None:
    race = Race(["today", "a", "b", "c", "d"], "today")
    race.values = {"today": [1.0, 1.0], "a": [3.0, 1.0], "b": [2.5], "c": [9.0], "d": [8.0]}
    race.left = {"c": Left("failed", 0, "why"), "d": Left("worse", 1, "a")}
    # b has the first seed alone, at which today's has 1 and a has 3: b is 1.5 above today's there, a 1.0.
    assert race.ranked() == ["b", "a", "today", "d"]
    race.sign = -1
    assert race.ranked() == ["today", "a", "b", "d"]
    assert (race.seeds, race.runs, race.leader) == (2, 7, "today")
    race.kept["today"] = "unclear"
    assert race.ranked() == ["a", "b", "today", "d"]
    race.winner = "b"
    assert race.ranked()[0] == "b"


def test_the_seeds_that_decide_are_those_at_which_the_test_would_pass() -> None:
    """Differences of 0, 1, 2, 3 and no margin: mean 1.5, variance 5 / 3."""
    race = Race(["today", "other"], "today", margin=0.0, additive=True, most=12, confidence=0.9)
    race.values = {"today": [10.0] * 4, "other": [10.0, 11.0, 12.0, 13.0]}
    race.looks = 1
    chance = 0.1 * weights(4)[0]
    found = race.seeds_to_decide()
    spread = math.sqrt(5 / 3)
    passes = [n for n in range(4, 13) if t_quantile(1 - chance, n - 1) * spread / math.sqrt(n) < 1.5]
    assert found == passes[0]
    assert found > 4
    race.values["other"] = [9.0, 10.0, 11.0, 10.0]
    assert race.seeds_to_decide() == math.inf, "alike: no number of seeds up to the most decides"
