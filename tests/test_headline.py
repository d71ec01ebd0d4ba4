"""The answer of a comparison and of a search in a sentence or two: each branch by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from cogtcp.model import budget, headline
from cogtcp.model.metrics import BY_NAME
from cogtcp.model.metrics.metric import aligned, quantile_name
from cogtcp.model.metrics.run import _efficiency, _mean, _retransmitted, _sum_of_tcp
from cogtcp.model.statistics import Interval, enough

NAN = math.nan


class Compared:
    """Stands for a comparison: goodput and efficiency of each transport, and which differences are shown."""

    def __init__(self, goodput: dict[str, float], better: str = "", n: int = 3, random: bool = True) -> None:
        self.transports = tuple(goodput)
        self.nothing_random = not random
        self._goodput, self._better, self._n = goodput, better, n

    def interval(self, name: str, metric: str) -> Interval:
        value = self._goodput[name] if metric == "goodput_bps" else self._goodput[name] / 10e6
        if self._n < 2 or math.isnan(value):
            return Interval(value, NAN, NAN, self._n)
        half = 0.1 * value if not self.nothing_random else 0.0
        return Interval(value, value - half, value + half, self._n)

    def difference(self, name: str, metric: str, than: str) -> Interval:
        apart = self._goodput[name] - self._goodput[than]
        return Interval(apart, apart, apart, self._n)

    def is_better(self, best: str, name: str) -> bool:
        return name in self._better.split()


def said(*given: Any, **more: Any) -> str:
    return headline._ranking(Compared(*given, **more), None)  # type: ignore[arg-type]


def test_the_fastest_is_named_with_what_is_shown_against_the_others() -> None:
    three = {"a": 4e6, "b": 8e6, "c": 6e6}
    head = "b is fastest: 8.000 Mbit/s (95 %: 7.200 to 8.800), 80 % of the link."
    assert said(three, "a c") == f"{head} c is 25.0 % slower and a 50.0 %. (Paired, 3 seeds, Holm, 95 %.)"
    assert said(three, "a") == (
        f"{head} a is 50.0 % slower. c is not significantly different. (Paired, 3 seeds, Holm, 95 %.)"
    )
    assert "c and a are not significantly different." in said(three)
    assert said({"b": 8e6}) == f"{head.replace('is fastest:', 'delivers')} (3 seeds.)"
    assert said({"b": 8e6}, n=2).endswith("(2 seeds.)")


def test_without_chance_or_with_one_seed_nothing_is_shown() -> None:
    two = {"a": 4e6, "b": 8e6}
    assert said(two, n=1) == (
        "b is fastest: 8.000 Mbit/s, 80 % of the link. a is 50.0 % slower. One seed: no confidence interval."
    )
    assert said({"b": 8e6}, n=1) == "b delivers 8.000 Mbit/s, 80 % of the link. (1 seed.)"
    assert said(two, random=False) == (
        "b is fastest: 8.000 Mbit/s with every seed, 80 % of the link. a is 50.0 % slower. "
        "Nothing in this scenario is random: all seeds give the same run."
    )
    assert said({"a": NAN}) == "No run was finished."
    assert said({"a": 0.0, "b": 0.0}) == "No transport delivers anything."
    assert said({"a": 0.0}, n=1).startswith("a delivers 0.000 Mbit/s")
    assert "a" not in said({"a": NAN, "b": 8e6}).split()


def test_a_share_of_the_link_above_all_of_it_is_explained() -> None:
    assert headline.of_capacity(NAN) == ""
    assert headline.of_capacity(0.256) == ", 26 % of the link"
    assert headline.of_capacity(1.0) == ", 100 % of the link"
    assert headline.of_capacity(1.001, "x") == "; above 100 % of x: includes data sent during warm-up"
    assert headline._of_shared(("fast", 0.5), 0.9) == (
        ", 50 % of the shared link fast", "The flows' narrowest links'",
    )  # fmt: skip
    assert headline._of_shared(None, 0.9) == (", 90 % of the link", "The link's")


def test_names_are_joined_and_acronyms_keep_their_capitals() -> None:
    assert [headline.join(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
    assert headline._name(BY_NAME["goodput_bps"]) == "goodput"
    rtt: Any = SimpleNamespace(title="RTT, mean")
    assert headline._name(rtt) == "RTT, mean"
    assert (headline._seeds(1), headline._seeds(2), headline._fresh(1)) == (
        "1 seed",
        "2 seeds",
        "1 fresh seed",
    )


def final(name: str, *values: float) -> Any:
    return SimpleNamespace(name=name, evaluation=SimpleNamespace(values=lambda _: list(values)))


def test_a_gain_is_claimed_where_its_interval_has_ends() -> None:
    """Of 1 in each: 1.1, 1.2 and 1.3 are 20 % more, with t(0.975, 2) = 4.3027 and 0.1 over the root of 3."""

    def gain(winner: Any, *others: Any) -> str:
        tuning: Any = SimpleNamespace(
            finalists=[winner, *others], winner=winner, confidence=0.95,
            objective=SimpleNamespace(metric=BY_NAME["goodput_bps"]),
            interval=lambda each: Interval(each.evaluation.values(None)[0], 0.0, 0.0, 3),
        )  # fmt: skip
        return headline._gain(tuning)

    base = final("trial 3, as it is", 1.0, 1.0, 1.0)
    assert gain(final("w", 1.1, 1.2, 1.3), base) == ", 20 % more than the scenario as it is (-5 to 45 %)"
    assert gain(final("w", 0.7, 0.8, 0.9), base) == ", 20 % less than the scenario as it is (-5 to 45 %)"
    assert gain(final("w", 0.79, 0.8, 0.81), base) == ", 20 % less than the scenario as it is (18 to 22 %)"
    assert gain(base) == gain(final("w", 1.1, 1.2, 1.3)) == ""
    assert gain(final("w", 1.1, 1.2, 1.3), final("as it is", 0.0, 0.0, 0.0)) == "", "a share of nothing"
    assert gain(final("w", 1.1, 1.2), final("as it is", 0.1, 9.0)) == "", "no upper end"
    assert gain(final("w", 1.1), final("as it is", 1.0)) == ""
    assert gain(final("w", 1.1, 1.2, 1.3), final("as it was", 1.0, 1.0, 1.0)) == ""


def test_cells_stand_with_their_signs_below_each_other() -> None:
    cells = aligned(["1.00 ± 0.15", "10 ± 1", "7", "–", ""], pad=".")
    assert cells == ["1.00 ± 0.15", "10 ± 1...", "7.......", "–", ""]
    assert aligned(cells, pad=".") == cells, "again"
    assert aligned(["1", "22"]) == ["1", "22"]
    assert aligned([]) == []
    assert (quantile_name(0.5), quantile_name(0.95), quantile_name(0.999)) == (
        "median", "95 % quantile", "99.9 % quantile",
    )  # fmt: skip


def test_an_interval_has_its_ends_behind_it() -> None:
    ends = BY_NAME["goodput_bps"].with_ends
    assert ends(Interval(2e6, 1e6, 3e6, 3)) == "2.000 (1.000 to 3.000)"
    assert ends(Interval(2e6, 1e6, math.inf, 3)) == "2.000 (1.000 to –)"
    assert ends(Interval(2e6, 2e6, 2e6, 3)) == "2.000"
    assert ends(Interval(NAN, NAN, NAN, 0)) == "–"


def test_a_result_is_precise_enough_from_two_values_on() -> None:
    assert enough(Interval(-2.0, -2.5, -1.5, 2), 0.25)
    assert not enough(Interval(-2.0, -2.6, -1.4, 2), 0.25)
    assert not enough(Interval(2.0, 2.0, 2.0, 1), 0.25)


def test_numbers_of_a_run_by_hand() -> None:
    rows = [
        {"bottleneck": "l", "bottleneck_direction": "forward", "e": 0.3, "x": 1.0},
        {"bottleneck": "l", "bottleneck_direction": "forward", "e": 0.4, "x": NAN},
        {"bottleneck": "l", "bottleneck_direction": "reverse", "e": 0.1, "x": None},
        {"bottleneck": "m", "bottleneck_direction": "forward", "e": 0.2, "medium": "cell"},
        {"bottleneck": "n", "bottleneck_direction": "forward", "e": 0.3, "medium": "cell"},
    ]  # fmt: skip
    # Shares of one link, or of one cell, add up: 0.7, 0.1 and 0.5.
    assert _efficiency("e")(rows) == pytest.approx(1.3 / 3)
    assert _sum_of_tcp("x")(rows) == 1.0
    assert math.isnan(_sum_of_tcp("x")(rows[1:3]))
    assert _sum_of_tcp("x")([]) == 0
    assert _mean("x")([{"x": 1.0}, {"x": NAN}, {"x": 4.0}]) == 2.5
    assert math.isnan(_mean("x")([{"x": NAN}]))
    sent = [
        {"sent_segments": 30, "retransmitted_segments": 2},
        {"sent_segments": 10, "retransmitted_segments": 0},
    ]
    assert _retransmitted(sent) == 0.05
    assert math.isnan(_retransmitted([{"sent_segments": 0, "retransmitted_segments": 0}]))


def test_a_link_that_all_flows_cross_bounds_their_sum() -> None:
    """Two flows with an access of 100 each over a link of 150, of which 120 were delivered."""
    flows: dict[str, list[Any]] = {
        "bottleneck": ["a", "b"], "bottleneck_direction": ["forward"] * 2, "delivered_bytes": [70, 50],
    }  # fmt: skip

    def shared(capacity: float, efficiency: float, **changed: list[Any]) -> tuple[str, float] | None:
        links = {
            "link": ["a", "b", "all"], "direction": ["forward"] * 3, "capacity_bytes": [100, 100, capacity],
            "efficiency": [0.7, 0.5, efficiency],
        }  # fmt: skip
        return budget.shared_link({**flows, **changed}, links)

    assert shared(150, 0.8) == ("all", 0.8)
    assert shared(200, 0.6) is None, "as much as the narrowest links together"
    assert shared(199, 120 / 199) == ("all", pytest.approx(120 / 199))
    assert shared(150, 0.7) is None, "others cross it"
    assert shared(0, 0.0) is None
    assert shared(150, 0.8, bottleneck=["a", "a"]) is None
    assert shared(150, 0.8, delivered_bytes=[0, 0]) is None
    assert shared(150, 0.8, bottleneck=["a", ""], bottleneck_direction=["forward", ""]) is None


def test_the_largest_shares_of_time_are_told() -> None:
    told = {state.name: 0.0 for state in budget.STATES}
    told |= {"delivered": 0.4, "silent": 0.3, "lost": 0.1, "timeout": 0.09, "mac": 0.08, "retry": 0.03}
    assert budget.told(told) == (
        "40 % delivered, 30 % silence, 10 % lost in transit, 9 % waiting for timeouts, 8 % 802.11 overhead"
    )
    assert budget.told(told | {"silent": 0.0, "mac": 0.005, "retry": 0.0049}) == (
        "40 % delivered, 10 % lost in transit, 9 % waiting for timeouts, 0 % 802.11 overhead"
    )
    # A link that was measured for longer weighs more.
    rows = [
        {state.column: 0.0 for state in budget.STATES} | {"delivered_s": spent, "measured_s": measured}
        for spent, measured in ((1.0, 1.0), (0.0, 3.0))
    ]
    assert budget.shares(rows)["delivered"] == 0.25
    assert budget.shares([]) == budget.shares([rows[0] | {"measured_s": 0.0}]) == {}
