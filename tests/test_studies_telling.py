"""What the page and the terminal say of a claim: each sentence by hand, and how settings are ordered."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp.model.statistics import Interval
from cogtcp.showing.figure.scale import Scale
from cogtcp.studies import Point, Setting, Statement, Unsaid, drawing, joint, power, stacks, telling
from cogtcp.studies.answers import Answer, Lack, decides_most
from cogtcp.studies.causes import Effect, _splits
from cogtcp.studies.claims import Mechanism, Number
from cogtcp.studies.halves import halves, share_counted
from cogtcp.studies.judging import distance, distance_to_numbers
from cogtcp.studies.readings import Hangs, Nearest, Part, Reading, Turn, within
from cogtcp.studies.space import Space
from cogtcp.studies.statements import Cell
from cogtcp.studies.support import Support
from cogtcp.studies.verdicts import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.verdicts import Verdict

RATE = Unsaid("rate", 1.0, "w", low=1.0, high=9.0, unit="Mbit/s")
SILENCE = Unsaid("silence", "drop", "w", choices=("drop", "hold"), label="what a silence does")
FIXED = Unsaid("length", 5.0, "w")
SPACE = Space((RATE, SILENCE, FIXED))
STUDY: Any = SimpleNamespace(space=SPACE, quantities={"goodput": "goodput [Mbit/s]"})
CONTEXT: Any = SimpleNamespace(study=STUDY, seeds=range(5))


def part(says: str, answer: Verdict = "holds", **given: Any) -> Part:
    told: dict[str, Any] = {"estimate": 0.5, "low": 0.4, "high": math.inf, "slack": 0.1}
    return Part(says, answer, **{**told, **given})


def reading(*parts: Part, **given: Any) -> Reading:
    told: dict[str, Any] = {
        "setting": SPACE.base, "parts": parts, "seeds": (1, 40), "evaluated": 7, "least": 1.0, "numbers": (),
        "nearest": None, "turn": None,
    }  # fmt: skip
    return Reading(**{**told, **given})


def finding(verdict: Verdict = "holds", **given: Any) -> Finding:
    told: dict[str, Any] = {"estimate": 0.5, "low": 0.4, "high": 0.6, "statement": ""}
    return Finding(verdict, **{**told, **given})


def stated(says: str = "so", **given: Any) -> Statement:
    told: dict[str, Any] = {"kind": "ordering", "test": "above", "quantity": "goodput", "than": {"who": "a"}}
    return Statement(says, **{**told, **given})


def place(holds: int, fails: int, inconclusive: int = 0) -> Support:
    verdicts = ["holds"] * holds + ["fails"] * fails + ["inconclusive"] * inconclusive
    return Support.of(verdicts)  # type: ignore[arg-type]


def test_statements_are_counted_in_words() -> None:
    assert telling.counted(["holds", "fails", "holds"]) == "2 hold, 1 fails"
    assert telling.counted(["inconclusive"]) == "1 is inconclusive"
    assert telling.counted(["inconclusive", "fails", "inconclusive", "fails"]) == (
        "2 fail, 2 are inconclusive"
    )


def outcome(*findings: Finding, **given: Any) -> Any:
    row = SimpleNamespace(statements=[stated(f"S{n}.") for n in range(len(findings))], mechanisms=[])
    told = {"row": row, "base": SimpleNamespace(findings=findings), "reading": None}
    return SimpleNamespace(**{**told, **given})


def test_what_fails_is_told_with_what_was_measured() -> None:
    found = outcome(finding(), finding("fails", where="rate 2"), finding("inconclusive", low=math.nan))
    assert telling._fails(STUDY, found) == (
        "Not there: S1 (fails: goodput [Mbit/s], ratio 0.5 [≤ 0.6] at rate 2); "
        "S2 (inconclusive: goodput [Mbit/s], ratio 0.5)."
    )
    assert telling._fails(STUDY, outcome(finding())) == ""
    # Beside a number it is told in the number's unit: 0.5 of 4 Mbit/s.
    found.row.statements[1] = stated("S1.", than=4.0)
    assert "S1 (fails: goodput [Mbit/s] 2 [≤ 2.4] at rate 2)" in telling._fails(STUDY, found)
    assert telling._statements_counted(outcome(finding("fails"))) == "its one statement fails"
    assert telling._statements_counted(found) == "of its 3 statements 1 holds, 1 fails, 1 is inconclusive"


@pytest.mark.parametrize(
    ("test", "answer", "text"),
    [
        ("above", "holds", "0.5 [≥ 0.4]"),
        ("above", "fails", "0.5 [≤ 0.6]"),
        ("below", "holds", "0.5 [≤ 0.6]"),
        ("below", "fails", "0.5 [≥ 0.4]"),
        ("below", "inconclusive", "0.5 [0.4, 0.6]"),
        ("near", "holds", "0.5 [0.4, 0.6]"),
    ],
)
def test_of_an_interval_that_is_kept_the_tested_end_is_shown(test: Any, answer: Any, text: str) -> None:
    assert telling._part_text(stated(test=test), part("S", answer, high=0.6)) == text
    assert telling._part_text(stated(test=test), part("S", answer, low=math.nan, high=math.nan)) == "0.5"


def test_what_must_change_is_told_whole() -> None:
    parts = (part("S", "fails"),)
    # At the joint setting the rate is 5: to have the default of 1 is a change, too.
    there = joint.There(parts, joint.Change({"rate": 1.0, "silence": "hold"}, 1), "")
    assert there.told_change(SPACE) == "rate 1 Mbit/s, what a silence does hold"


def test_the_best_setting_is_told_by_what_differs() -> None:
    def where(setting: Setting, evaluated: int = 7) -> tuple[str, str]:
        return telling._where(CONTEXT, outcome(reading=reading(setting=setting, evaluated=evaluated)))

    base = SPACE.base
    assert telling._where(CONTEXT, outcome()) == ("", "")
    assert where(base) == ("Best of 7 settings: the default values.",) * 2
    assert where(base, 1)[0] == "Best setting: the default values."
    assert where(base.but(rate=2.0)) == (
        "Best of 7 settings: rate 2 Mbit/s.", "Best of 7 settings: 1 value changed, below.",
    )  # fmt: skip
    assert where(base.but(rate=2.0, silence="hold"), 2)[1] == "Best of 2 settings: 2 values changed, below."


def test_a_turn_is_told_where_all_statements_hold() -> None:
    def says(**given: Any) -> str:
        return telling._turn(CONTEXT, outcome(reading=reading(part("a"), part("b"), **given)))

    assert says() == "No single parameter reverses the verdict."
    assert says(turn_known=False) == ""
    assert says(turn=Turn("rate", 1.0, 4.0, 0.4)) == (
        "Changing only rate (1 to 4 Mbit/s) reverses the verdict."
    )
    assert says(turn=Turn("silence", "drop", "hold", 1.0)) == (
        "Changing only what a silence does (drop to hold) reverses the verdict."
    )
    failing = reading(part("a"), part("b", "fails"), turn=Turn("rate", 1.0, 4.0, 0.4))
    assert telling._turn(CONTEXT, outcome(reading=failing)) == telling._turn(CONTEXT, outcome()) == ""


def test_a_miss_has_its_size() -> None:
    short = telling._short
    assert short("inconclusive", -0.5) == "inconclusive"
    assert short("fails", math.nan) == short("fails", 0.0) == "fails"
    assert short("fails", -0.25) == "misses its threshold by 25 %"
    assert short("fails", -0.1) == "misses its threshold by 10 %"
    assert short("fails", -0.0543) == "misses its threshold by 5.4 %"


def test_a_distance_is_a_share_or_a_factor() -> None:
    """exp(0.5) is 1.65: from there on a factor."""
    assert telling._apart(0.123) == "12 %"
    assert telling._apart(0.49) == "49 %"
    assert telling._apart(0.5) == "a factor of 1.6"
    assert telling._apart(math.log(50)) == "a factor of 50"
    assert telling._apart(math.log(101)) == "a factor of over 100"


def test_numbers_near_the_papers_are_counted() -> None:
    numbers = (("a", 1.0, 1.14), ("b", 1.0, 1.16), ("c", 2.0, 1.74), ("d", 2.0, 1.68))
    assert within(numbers) == 2
    nearest = Nearest(SPACE.base, 0.1, numbers)

    def says(**given: Any) -> str:
        return telling.numbers_text(STUDY, reading(**{"nearest": nearest, **given}))

    assert says(nearest=None) == ""
    head = "At the values nearest to the paper's numbers 2 of 4 are within 15 %, the mean distance is 10 %"
    assert says() == says(numbers=numbers) == f"{head}."
    closer = (("a", 1.0, 1.0), ("b", 1.0, 1.0), ("c", 2.0, 2.0), ("d", 2.0, 1.0))
    assert says(numbers=closer) == f"{head}; at the best parameter values 3 are within."
    far = replace(nearest, hangs=Hangs("rate", 4.0, 0.2))
    assert says(nearest=far) == f"{head}. It hangs on rate: at 4 Mbit/s it is 20 %."
    near = replace(nearest, hangs=Hangs("silence", "hold", 0.19))
    assert says(nearest=near) == (
        f"{head}. No single change doubles it (what a silence does: at hold it is 19 %)."
    )


def test_a_cause_is_one_that_was_removed() -> None:
    against = Mechanism("Fails.", stated("The queue is full."))
    row: Any = SimpleNamespace(statements=[stated("Holds."), stated("Fails.")], mechanisms=[against])

    def says(answer: Verdict = "fails", removed: dict[str, Verdict] | None = None, seen: bool = True) -> str:
        parts = part("Holds."), part("Fails.", answer, slack=-0.2)
        why = part("The queue is full.", "holds" if seen else "fails")
        found = reading(*parts, mechanisms=(why,), removed=removed or {})
        return telling.missing_text(STUDY, row, found)

    head, measured = (
        "Fails at the best parameter values: Fails",
        "The queue is full (goodput [Mbit/s], ratio 0.5",
    )
    assert says() == (
        f"{head} (misses its threshold by 20 %; seen there: {measured} [≥ 0.4]); cause not found)."
    )
    assert says(removed={"The queue is full.": "holds"}) == (
        f"{head} (misses its threshold by 20 %, because {measured} [≥ 0.4]); without that it holds)."
    )
    assert "cause not found" in says(removed={"The queue is full.": "fails"})
    assert says(seen=False) == f"{head} (misses its threshold by 20 %)."
    # What is inconclusive is told by the seeds that it lacks, unless something was seen.
    assert says("inconclusive", seen=False) == ""
    assert says("inconclusive").startswith(f"{head} (inconclusive; seen there: ")
    # Against a number it is told in its own unit.
    number = stated(than=4.0)
    assert telling._measured(STUDY, number, part("x")) == "goodput [Mbit/s] 2 [≥ 1.6]"
    assert telling._measured(STUDY, stated(than=0.0), part("x")).startswith("goodput [Mbit/s], ratio 0.5")


def test_what_lacks_seeds_is_told_with_its_place() -> None:
    lacks = [Lack("It grows.", 40.0), Lack("It falls.", 1.0), Lack("It stays.", 20_000.0, settings=3)]
    assert telling.lacking_text(lacks) == (
        'Inconclusive at the best parameter values: "It grows" (about 40 more seeds), "It falls" '
        '(1 more seed). Inconclusive at 3 settings of the design: "It stays" (on its bound: over 10,000 more '
        "seeds)."
    )
    assert telling.lacking_text(lacks[:1], "rate=2").startswith("Inconclusive at rate=2: ")
    assert telling.lacking_text([replace(lacks[2], settings=1)]).startswith("Inconclusive at 1 setting of")
    assert telling.lacking_text([]) == ""
    assert Lack("a", math.nan).text == '"a" (more seeds)'
    assert Lack("a", 10_000.0).text == '"a" (about 10,000 more seeds)'
    assert [lack.brief for lack in (*lacks, Lack("x", math.nan, settings=1))] == [
        'about 40 more seeds: "It grows"', '1 more seed: "It falls"',
        'over 10,000 more seeds at 3 settings: "It stays"', 'more seeds at 1 setting: "x"',
    ]  # fmt: skip


def test_a_share_has_its_interval() -> None:
    """1 of 10, exactly: 0.25 to 44.5 %."""
    assert telling.share_text(place(1, 9)) == "10 % [0, 45]"
    assert telling.share_text(place(1, 9, 2)) == "10 % [0, 45], 2 inconclusive"
    assert telling.share_text(place(0, 0, 4)) == "all 4 inconclusive"
    assert telling.share_apart(place(1, 9)) == "10 %, 95 %: 0 to 45 %"
    assert telling.interval_text(finding(low=-math.inf)) == "0.5 [≤ 0.6]"
    assert (share_counted(place(1, 9)), share_counted(place(0, 0, 4)), share_counted(None)) == (
        "1 of 10", "-", "-",
    )  # fmt: skip


def test_a_verdict_in_two_sentences() -> None:
    cause = Effect("silence", {}, 1.0, 0.5, 0.01, "silence = drop", 0.75, 0.1)
    full = Answer("reproduced", 2, 2, ("robust",), ())
    assert halves(full, place(19, 1)) == (
        "Holds with parameter values that the paper allows.", "They are common: 19 of 20 tried.",
    )  # fmt: skip
    assert halves(replace(full, robust=("fragile",)), place(1, 29))[1] == "They are rare: 1 of 30 tried."
    assert halves(replace(full, robust=("fragile",)), place(0, 9))[1] == (
        "It holds at none of 9 random settings."
    )
    depends = replace(full, robust=("depends",), causes=(cause,))
    assert halves(depends, place(5, 5))[1] == (
        "It holds at 5 of 10 random settings, and at 75 % of those with silence = drop."
    )
    assert (
        halves(replace(full, robust=("depends",)), place(5, 5))[1] == "It holds at 5 of 10 random settings."
    )
    assert halves(full, place(0, 0, 3))[1] == "No clear result at any of 3 random settings."
    assert halves(full, None)[1] == ""

    def first(held: int, of: int, evaluated: int = 8) -> str:
        word: Any = "in part" if held else "not reproduced"
        return halves(Answer(word, held, of, ("fragile",), (), evaluated=evaluated), None)[0]

    assert first(0, 1) == "Does not hold with the best parameter values found. Tried: 8 settings."
    assert first(0, 1, 1) == "Does not hold with the best parameter values found."
    assert first(0, 2) == "None of its 2 statements holds at best. Tried: 8 settings."
    assert first(1, 3) == "1 of its 3 statements holds at best. Tried: 8 settings."
    assert first(2, 3) == "2 of its 3 statements hold at best. Tried: 8 settings."
    assert halves(replace(full, reproduced="ours"), None)[0] == ""
    assert halves(replace(full, reproduced="not searched"), None)[0] == (
        "No parameter values were searched for it."
    )


def test_what_decides_most_decides_most_claims() -> None:
    def answer(**explained: float) -> Answer:
        effects = (Effect(name, {}, 1.0, share, 0.01, name, 1.0, 0.0) for name, share in explained.items())
        return Answer("reproduced", 1, 1, ("depends",), tuple(effects))

    names = {name: name.upper() for name in "abcd"}
    # Two claims before one; of as many, what explains more; then by name.
    found = [answer(a=0.1, b=0.9), answer(a=0.1), answer(d=0.9)]
    assert decides_most(found, names) == "A; B"
    assert decides_most(found, names, 3) == "A; B; D"
    assert decides_most([answer(a=0.3), answer(b=0.4)], names, 1) == "B"


def test_the_splits_of_a_parameter_by_hand() -> None:
    """Three on either side at least; of two halves one; a threshold between values that differ."""
    rule = Unsaid("rule", "a", "w", choices=("a", "b", "c", "d"))
    found = {split.here: (split.members, split.there) for split in _splits(rule, list("abcdabcdabcd"))}
    assert sorted(found) == [
        "rule = a", "rule = a or b", "rule = a or c", "rule = a or d", "rule = b", "rule = c", "rule = d",
    ]  # fmt: skip
    assert found["rule = a or c"] == ((0, 2, 4, 6, 8, 10), "rule = b or d")
    assert list(_splits(rule, list("abab"))) == []
    assert [split.here for split in _splits(rule, list("aaabbb"))] == ["rule = a"]
    rate = Unsaid("rate", 1.0, "w", low=1.0, high=16.0, log=True, unit="s")
    values = [16.0, 1.0, 1.0, 1.0, 4.0, 4.0, 16.0]
    # Between 1 and 4, by the logarithm: 2. Between 4 and 4 there is no threshold.
    assert [(split.here, split.there, split.members) for split in _splits(rate, values)] == [
        ("rate < 2 s", "rate > 2 s", (1, 2, 3)),
    ]
    even = replace(rate, log=False)
    assert [split.here for split in _splits(even, values)] == ["rate < 2.5 s"]
    assert list(_splits(even, values[:5])) == [], "three below would leave two above"


def number(value: float, who: str = "a") -> Number:
    return Number("n", value, "goodput", {"who": who})


def test_the_distance_to_the_paper_by_hand() -> None:
    grid = {Point(who="a"): Cell([{"goodput": 2.0}]), Point(who="b"): Cell([{"goodput": 0.0}])}

    def far(numbers: Sequence[Number], *findings: Finding) -> float:
        claim: Any = SimpleNamespace(numbers=numbers)
        judged: Any = SimpleNamespace(grid=grid, findings=findings)
        assert distance(claim, judged) >= distance_to_numbers(claim, judged)
        return distance(claim, judged)

    assert far([]) == far([], finding()) == 0
    # A half does not hold; the least part for how narrowly, 10 at most for each.
    assert far([], finding(), finding("fails", slack=-0.5)) == pytest.approx(0.5 + 0.005)
    assert far([], finding("inconclusive", slack=0.5)) == pytest.approx(1.0)
    assert far([], finding("fails", slack=-99.0)) == pytest.approx(1.0 + 0.1)
    # ln 2 above and ln 2 below; nothing measured has no logarithm.
    assert far([number(1.0), number(4.0)]) == pytest.approx(math.log(2))
    assert far([number(2.0), number(1.0, "b")]) == pytest.approx(2.5)


def test_a_power_of_ninety_per_cent_is_shared_between_two_tests() -> None:
    """z(0.95) = 1.6449; z(0.9) = 1.2816; with two tests each has (1 + 0.9) / 2: z(0.95) again."""
    above, near = stated(), stated(test="near", margin=0.2)
    assert power._errors(above, 1) == pytest.approx(1.6449 + 1.2816, abs=1e-4)
    assert power._errors(near, 1) == pytest.approx(2 * 1.6449, abs=1e-4)
    # Of two statements each needs the root of 0.9, 0.9487: z = 1.6322.
    assert power._errors(above, 2) == pytest.approx(1.6449 + 1.6322, abs=2e-4)
    assert power._errors(above, 0) == power._errors(above, 1)
    spread = finding(spread=0.2)
    # ((1.6449 + 1.2816) * 0.2 / 0.1)^2 = 34.3, and (3.2897 * 0.2 / 0.2)^2 = 10.8.
    assert (power.seeds_needed(above, spread, 1), power.seeds_needed(near, spread, 1)) == (35, 11)
    assert power.seeds_needed(above, finding(spread=0.0), 1) == 3, "a t-test's least"
    assert power.seeds_needed(above, finding(), 1) is None


def test_more_seeds_may_decide_what_they_can_fail_or_hold() -> None:
    """A clearance of 1 on 4 seeds is 1.6449 on 10.8: with 11 it decides."""
    open_ = [finding("inconclusive", clearance=value) for value in (1.0, 5.0, -1.0, math.nan)]
    assert not power.may_decide(open_[:2], 4, 10)
    assert power.may_decide(open_[:2], 4, 11)
    assert power.may_decide([open_[1], open_[2]], 4, 11), "one that fails is enough"
    assert not power.may_decide([open_[1], open_[2]], 4, 10)
    assert power.may_decide([open_[2], open_[3]], 4, 5)
    assert power.may_decide([finding("fails", clearance=0.0)], 4, 5), "nothing is open"


def there(*answers: Verdict) -> joint.There:
    return joint.There(tuple(part(str(n), answer) for n, answer in enumerate(answers)), None, "")


def test_settings_are_ordered_by_the_claims_that_hold_together() -> None:
    both = joint.Joint(SPACE.base, (1, 2), 3, {"a": there("holds", "holds"), "b": there("holds", "fails")})
    assert both.text == "1 of 2 claims hold together at one setting"
    assert [claim.held for claim in both.claims.values()] == [2, 1]

    def judged(*verdicts: Verdict) -> Any:
        return SimpleNamespace(findings=[finding(verdict) for verdict in verdicts])

    found = [judged("holds", "holds"), judged("holds", "fails", "inconclusive"), judged("fails")]
    assert joint._order(joint._answers(found)) == (1, pytest.approx(1 + 1 / 3))
    assert both.order == (1, 1.5)
    # From 0 to 1 where all hold: ten standard errors say as much as more do.
    assert [joint._nearness(values) for values in ([2.0, 5.0], [10.0], [30.0, 20.0])] == [0.2, 1.0, 1.0]
    assert joint._nearness([3.0, 0.0]) == 0.0
    assert joint._nearness([1.0, -1.0, -3.0]) == pytest.approx(-math.log(2) - math.log(4))


def test_the_design_gives_the_settings_at_which_most_holds() -> None:
    verdicts = {
        "a": {
            "x": ("holds", "fails", "holds", "holds", "fails"),
            "y": ("fails", "fails", "holds", "holds", "fails"),
        },
        "b": {"z": ("holds", "fails", "fails", "holds", "holds")},
    }
    settings = tuple(Setting(rate=float(n)) for n in range(5))
    claims = {name: SimpleNamespace(verdicts=found) for name, found in verdicts.items()}
    design: Any = SimpleNamespace(settings=settings, claims=claims)
    rows: Any = [SimpleNamespace(id=name) for name in ("a", "b", "other")]
    # Claims that hold, then their statements: 1 of 2 and 1.5; 0; 1 and 1; 2; 1 and 1. The best four.
    assert [setting.rate for setting in joint._best(design, rows)] == [3, 0, 2, 4]
    assert joint._best(None, rows) == []


def test_a_claim_that_fails_everywhere_does_not_steer() -> None:
    row: Any = SimpleNamespace(id="a")

    def may(design: dict[str, Any] | None, alone: Any = None, before: joint.There | None = None) -> bool:
        kept = None if design is None else SimpleNamespace(claims={"a": SimpleNamespace(verdicts=design)})
        known = None if before is None else joint.Joint(SPACE.base, (1, 2), 3, {"a": before})
        return joint._may_hold(row, kept, {} if alone is None else {"a": alone}, known)  # type: ignore[arg-type]

    assert may(None)
    # At the second setting neither statement fails.
    assert may({"x": ("fails", "holds"), "y": ("holds", "inconclusive")})
    assert not may({"x": ("fails", "holds"), "y": ("holds", "fails")})
    failing, holding = reading(part("x", "fails")), reading(part("x", "inconclusive"))
    assert not may({"x": ("holds",)}, failing), "its best setting says more than the design"
    assert may({"x": ("fails",)}, holding)
    assert may(None, failing, there("inconclusive"))
    assert not may(None, failing, there("fails"))
    other: Any = SimpleNamespace(claims={})
    assert joint._may_hold(row, other, {}, None)


def test_a_rank_flips_at_one_per_cent_on_either_side() -> None:
    """Differences of 3, 4, 5: 4 less t(0.99, 2) = 6.965 over the root of 3, 4.021, is below zero."""
    base = {"a": [3.0, 4.0, 5.0], "b": [0.0, 0.0, 0.0]}
    turned = {"a": [0.0, 0.0, 0.0], "b": [9.0, 9.1, 9.2]}
    assert stacks._flipped(base, turned) == []
    clear = {"a": [3.1, 4.1, 5.1], "b": base["b"]}
    assert stacks._flipped(clear, turned) == [("a", "b")]
    assert stacks._flipped(clear, clear) == []
    assert stacks._flipped(clear, {"a": [0.0] * 3, "b": [3.0, 4.0, 5.0]}) == []
    assert stacks._shares([1.0, 2.0, 3.0], [2.0, 0.0, 4.0]) == [0.5, 0.0, 0.75]
    assert stacks._four(1.23456) == 1.235
    flips = [["a", "b", "rate", 1], ["a", "b", "rate", 2], ["a", "c", "rate", 1], ["a", "b", "rtt", 1]]
    assert stacks.flips_by_parameter({"flips": flips}) == [("rate", 2), ("rtt", 1)]


def test_the_settings_of_a_comparison_differ_from_the_base_in_one_value() -> None:
    assert [(name, value) for name, value, _ in stacks.settings(STUDY)] == [
        ("rate", 9.0),
        ("silence", "hold"),
    ]
    assert [setting for *_, setting in stacks.settings(STUDY)] == [
        SPACE.base.but(rate=9.0), SPACE.base.but(silence="hold"),
    ]  # fmt: skip


def test_what_stacks_deliver_is_a_table() -> None:
    kept: dict[str, Any] = {
        "base": {"x": [2.0, 1.5, 2.5], "y": [4.0, 3.0, 5.0]}, "quantity": "goodput",
        "kept": {"x": [0.5, 0.4, 0.6], "y": [0.25, 0.2, 0.3]}, "seeds": [1, 6], "base_seeds": [1, 24],
        "flips": [["y", f"x{n}", "rate", 9.0] for n in range(5)] + [["y", "x0", "silence", "hold"]],
    }  # fmt: skip
    delivers, flips = stacks.tables(SimpleNamespace(**vars(STUDY)), kept)  # type: ignore[arg-type]
    assert delivers.rows == [
        ["y", "4 [3, 5]", "100 %", "25 [20, 30] %"], ["x", "2 [1.5, 2.5]", "50 %", "50 [40, 60] %"],
    ]  # fmt: skip
    assert "seeds 1 to 24." in delivers.caption
    assert flips.rows == [
        ["rate [Mbit/s]", "1", "9", "5", "x0 over y; x1 over y; x2 over y; x3 over y; ..."],
        ["what a silence does", "drop", "hold", "1", "x0 over y"],
    ]  # fmt: skip
    assert flips.caption.startswith("Of 66 pairs."), "twelve stacks"
    plain, _ = stacks.tables(SimpleNamespace(**vars(STUDY)), {**kept, "kept": None})  # type: ignore[arg-type]
    assert [len(row) for row in plain.rows] == [3, 3]


def test_the_scale_of_ratios_has_marks_with_room() -> None:
    assert [text for _, text in drawing._ticks(Scale(0.5, 2.0, log=True))] == [
        "0.5×", "0.7×", "1×", "1.4×", "2×",
    ]  # fmt: skip
    # Over more than a factor of 20 those between have no room.
    assert [text for _, text in drawing._ticks(Scale(0.09, 10.0, log=True))] == [
        "0.1×", "0.5×", "1×", "2×", "10×",
    ]  # fmt: skip


def test_printed_numbers_have_a_row_each_and_marks_beside_each_other() -> None:
    shown = [("base", Interval(4.0, 3.0, 5.0, 3)), ("best", Interval(1.0, math.nan, math.nan, 1))]
    drawn = drawing.printed([("n", 2.0, shown), ("m", 1.0, shown[:1])])
    ((panel,),) = drawn.rows
    assert panel.height == 46
    assert [entry.text for entry in drawn.legend] == ["the paper", "base", "best"]
    dots = [mark for mark in panel.marks if type(mark).__name__ == "Dots"]
    assert [(list(dot.x), list(dot.y)) for dot in dots] == [
        ([1.0], [0]), ([2.0], [pytest.approx(-0.1)]), ([0.5], [pytest.approx(0.1)]),
        ([1.0], [1]), ([4.0], [1.0]),
    ]  # fmt: skip
    whiskers = [mark for mark in panel.marks if type(mark).__name__ == "Whiskers"]
    assert [(mark.low, mark.high) for mark in whiskers] == [(1.5, 2.5), (3.0, 5.0)]
