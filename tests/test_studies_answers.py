"""How an answer is worded, and what decides."""

from __future__ import annotations

import itertools
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from cogtcp.model.statistics import Interval
from cogtcp.showing.figure.model import Dots, Rule, Text, Whiskers
from cogtcp.showing.report.alone import alone
from cogtcp.studies import Setting, Unsaid, answers, causes, joint, kept, list_studies, readings
from cogtcp.studies.picture import Dot, picture, share_of
from cogtcp.studies.space import Space, show
from cogtcp.studies.support import Support, share


def place(holds: int, fails: int, inconclusive: int = 0) -> Support:
    verdicts = ["holds"] * holds + ["fails"] * fails + ["inconclusive"] * inconclusive
    return Support.of(verdicts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (place(72, 0), ("robust",)),
        # All that give a clear result hold: too few for the interval, but no other first word.
        (place(60, 0, 12), ("robust", "depends")),
        (place(71, 0), ("robust", "depends")),
        (place(0, 71), ("fragile", "depends")),
        (place(0, 72), ("fragile",)),
        (place(36, 36), ("depends",)),
        (place(66, 6), ("depends", "robust")),
        (place(0, 0, 16), ("inconclusive",)),
        (None, ("not searched",)),
    ],
)
def test_the_first_word_is_that_of_the_estimate(found: Support | None, words: tuple[str, ...]) -> None:
    assert answers.robust(found) == words


def test_one_setting_more_or_less_does_not_change_the_first_word() -> None:
    for size in range(20, 200):
        for holds in (0, size):
            first = {answers.robust(place(holds, size - holds))[0]}
            assert first == {"robust" if holds else "fragile"}, size


@pytest.mark.parametrize(
    ("held", "of", "word"), [(3, 3, "reproduced"), (2, 3, "in part"), (0, 3, "not reproduced")]
)
def test_reproduced_by_the_statements_that_hold(held: int, of: int, word: str) -> None:
    assert answers.reproduced(held, of) == word


def test_a_claim_of_ours_is_answered_by_its_share() -> None:
    """No paper says at which reading it was seen: that nobody searched one leaves nothing open."""
    ours = answers.Answer("ours", 0, 2, ("fragile", "depends"), ())
    assert ours.text == "holds at under 5 % of the settings"
    numbered = answers.Answer("ours", 0, 2, ("fragile", "depends"), (), holds=2, decided=66)
    assert numbered.text == "holds at 2 of 66 settings"
    assert answers.Answer("ours", 0, 2, ("not searched",), ()).text == "not searched"
    assert answers.counted([ours, ours]) == "2 claims; 2 hold at under 5 %"
    searched = answers.Answer("in part", 1, 2, ("fragile",), ())
    assert answers.counted([searched]) == "0 of 1 claim reproduced, 1 in part; 1 holds at under 5 %"


SILENCE = Unsaid("silence", "drop", "w", choices=("drop", "hold", "refuse"))
RTO = Unsaid("min_rto", 1.0, "w", low=0.1, high=2.0, log=True, label="min RTO", unit="s")
OTHER = Unsaid("other", 0.0, "w", low=0.0, high=1.0)


def design(count: int = 80) -> list[Setting]:
    return Space((SILENCE, RTO, OTHER)).design(count, 3)


def test_a_verdict_says_how_much_holds_and_where() -> None:
    part = answers.Answer("in part", 1, 2, ("fragile",), (), evaluated=6, decided=72)
    assert part.text == (
        "1 of its 2 statements holds at the best of 6 settings; all together at none of 72 settings"
    )
    whole = answers.Answer("reproduced", 2, 2, ("robust",), (), evaluated=6, holds=65, decided=66)
    assert whole.text == "reproduced, holds at 65 of 66 settings"
    none = answers.Answer("not reproduced", 0, 1, ("inconclusive",), (), evaluated=9)
    assert none.text == "not reproduced at the best of 9 settings; no clear result at random settings"


def test_both_causes_are_found_with_their_threshold() -> None:
    settings = design()
    verdicts = ["holds" if s.silence == "drop" and s.min_rto < 0.5 else "fails" for s in settings]
    first, second = causes.causes([SILENCE, RTO, OTHER], settings, verdicts)  # type: ignore[arg-type]
    assert {first.parameter, second.parameter} == {"silence", "min_rto"}
    text = answers.Answer("reproduced", 2, 2, ("depends",), (first, second)).text
    assert "silence = drop" in text
    # The gap in the design around 0.5 s, to two digits.
    bound = next(c.condition for c in (first, second) if c.parameter == "min_rto")
    assert 0.4 < float(bound.split()[3]) < 0.6
    assert (second.inside, ", 100 % of those with " in text) == (1.0, True)


def test_thresholds_that_read_alike_are_two_splits() -> None:
    """Of 60 rates, the first 30 within 1.000 to 1.029: every cut there reads "rate < 1" to two digits."""
    rate = Unsaid("rate", 1.0, "w", low=1.0, high=2.0)
    values = [1 + index / 1000 for index in range(30)] + [1.5 + index / 1000 for index in range(30)]
    settings = [
        Setting({"rate": value, "silence": ("drop", "hold")[index % 2]}) for index, value in enumerate(values)
    ]
    # Below 1.010 it holds if the silence drops; above it never does.
    verdicts = ["holds" if s.rate < 1.0095 and s.silence == "drop" else "fails" for s in settings]
    found = causes.causes([rate, SILENCE], settings, verdicts)  # type: ignore[arg-type]
    (first, second) = found
    assert first.parameter == "rate"
    # The second is looked for among the settings of the first's better side, and of no other of its name.
    assert first.members == tuple(range(len(first.members)))
    assert (second.condition, second.inside, second.outside) == ("silence = drop", 1.0, 0.0)


def test_chance_is_no_cause() -> None:
    found = 0
    for seed in range(20):
        stream = random.Random(seed)
        verdicts = [stream.choice(["holds", "fails"]) for _ in range(60)]
        found += bool(causes.causes([SILENCE, RTO, OTHER], design(60), verdicts))  # type: ignore[arg-type]
    # 5 % of them, and room for chance: P(more than 4 of 20) < 0.3 %.
    assert found <= 4


def test_settings_without_a_clear_result_do_not_count() -> None:
    settings = design()
    verdicts = ["inconclusive" if s.silence == "hold" else "holds" for s in settings]
    assert causes.causes([SILENCE, RTO], settings, verdicts) == []  # type: ignore[arg-type]
    (effect,) = causes.effects([SILENCE], settings, verdicts)  # type: ignore[arg-type]
    assert effect.explained == 0.0


def test_the_words_are_defined_and_used() -> None:
    text = " ".join(answers.WORDS)
    for word in (
        "reproduced",
        "in part",
        "not reproduced",
        "common",
        "rare",
        "inconclusive",
    ):
        assert word in text
    for gone in ("fragile", "depends", "robust", "unclear", "somewhere", "undecided", "differs"):
        assert gone not in text + " ".join(answers.WORDS.values())


def test_no_surface_has_a_word_that_answers_nothing() -> None:
    """Pages that are kept, each study's own texts, and all that the code of studies may print."""
    root = Path(__file__).resolve().parents[1]
    surfaces = [
        root / "README.md",
        *(root / "docs" / f"{name}.md" for name in ("verdicts", "findings", "adding-a-study")),
    ]
    library = root / "python" / "cogtcp" / "studies"
    surfaces += [path for kind in ("md", "toml", "py", "json") for path in library.rglob(f"*.{kind}")]
    assert len(surfaces) > 60
    found = [
        f"{path.relative_to(root)}: {word[0]}"
        for path in surfaces
        for word in re.finditer(
            r"\b(unclear|somewhere|undecided|differs)\b", path.read_text("utf-8"), re.IGNORECASE
        )
    ]
    assert found == []


def test_what_is_inconclusive_says_how_many_seeds_it_lacks() -> None:
    lacking = [
        (name, lack)
        for study in list_studies()
        for name, known in kept.answers_of(study).items()
        for lack in known.answer.lacking
    ]
    assert len(lacking) > 20
    assert [(name, lack.says) for name, lack in lacking if math.isnan(lack.more)] == []


def test_every_claim_has_a_dot_with_or_without_a_share() -> None:
    answer = answers.Answer("reproduced", 1, 1, ("fragile",), ())
    judged, other = Dot("t-f1", "t", answer, share_of(place(1, 9))), Dot("t-f2", "t", answer, None)
    both, one = (alone(picture(dots, named=True)) for dots in ([judged, other], [judged]))
    assert "not judged" in both
    assert "not judged" not in one
    assert all(f"<title>{name}: {answer.text}</title>" in both for name in ("t-f1", "t-f2"))
    # Settings without a clear result give no share.
    assert share_of(place(0, 0, 4)) is None
    assert share_of(None) is None


def dot(claim: str, group: str, share: float | None, word: str = "reproduced") -> Dot:
    found = None if share is None else Interval(share, max(0.0, share - 0.1), min(1.0, share + 0.1), 20)
    return Dot(claim, group, answers.Answer(word, 1, 1, ("fragile",), ()), found)  # type: ignore[arg-type]


def test_claims_stand_in_the_lane_of_their_answer_and_beside_each_other() -> None:
    drawn = picture(
        [dot("a", "s", 0.5), dot("b", "s", 0.5), dot("c", "s", 0.9), dot("d", "t", 0.1, "in part")]
    )
    (upper,), (lower,) = drawn.rows
    assert [lane for panel in (upper, lower) for _, lane in panel.y.ticks] == ["all", "some"]
    assert [entry.text for entry in drawn.legend] == ["s", "t"]
    marks = [mark for mark in upper.marks if isinstance(mark, Dots)]
    places = {mark.titles[0].partition(":")[0]: (mark.x[0], mark.y[0]) for mark in marks}
    # Two at one place are stacked; the third has room beside the first.
    assert [x for x, _ in places.values()] == [0.5, 0.5, 0.9]
    assert places["a"][1] - places["b"][1] == 17
    assert places["c"][1] == places["a"][1]
    assert not any(isinstance(mark, Whiskers | Text) for mark in upper.marks)
    assert [mark.at for mark in upper.marks if isinstance(mark, Rule)] == [answers.FRAGILE, answers.ROBUST]
    assert not picture([dot("a", "s", 0.5), dot("b", "s", 0.6)]).legend, "one study needs no legend"


def test_a_named_claim_has_a_row_its_interval_and_its_name_where_there_is_room() -> None:
    ((panel,),) = picture([dot("a", "s", 0.59), dot("b", "s", 0.6), dot("c", "s", None)], named=True).rows
    whiskers = [mark for mark in panel.marks if isinstance(mark, Whiskers)]
    assert [(mark.low, mark.high) for mark in whiskers] == [
        pytest.approx((0.49, 0.69)),
        pytest.approx((0.5, 0.7)),
    ]
    texts = [mark for mark in panel.marks if isinstance(mark, Text)]
    assert [(text.text, text.anchor, text.dx) for text in texts] == [
        ("a", "start", 8), ("b", "end", -8), ("c", "end", -8),
    ]  # fmt: skip
    assert [text.x for text in texts] == pytest.approx([0.69, 0.5, 1.12])
    rows = [mark.y[0] for mark in panel.marks if isinstance(mark, Dots)]
    assert [before - after for before, after in itertools.pairwise(rows)] == [17, 17]
    assert panel.height == 3 * 17 + 10


def test_what_a_split_explains_by_hand() -> None:
    """Twelve settings: of six below 3 five hold, of six above 3 one; half of all."""
    queue = Unsaid("queue", 1.0, "s", low=0.0, high=6.0, unit="packets", label="Queue")
    settings = [Setting(queue=0.5 * n + 0.25) for n in range(12)]
    held = [True, True, False, True, True, True, False, False, False, True, False, False]
    verdicts: list[Any] = ["holds" if each else "fails" for each in held]
    (found,) = causes.effects([queue], settings, verdicts)
    # Between: 2 * 6 * (1/3)^2, of 12 * 1/4.
    assert found.explained == pytest.approx((12 / 9) / 3)
    assert found.condition == "Queue < 3 packets"
    assert (found.inside, found.outside) == pytest.approx((5 / 6, 1 / 6))
    assert found.members == (0, 1, 2, 3, 4, 5)
    assert found.effect == pytest.approx(max(found.shares.values()) - min(found.shares.values()))
    # The other way round the other side is the better one.
    turned: list[Any] = ["fails" if each else "holds" for each in held]
    (other,) = causes.effects([queue], settings, turned)
    assert (other.condition, other.members) == ("Queue > 3 packets", (6, 7, 8, 9, 10, 11))
    assert (other.inside, other.outside) == pytest.approx((5 / 6, 1 / 6))
    # What gave no clear result is not counted, and the numbers are among the others.
    (less,) = causes.effects([queue], [Setting(queue=0.1), *settings], ["inconclusive", *verdicts])
    assert less == found
    assert causes.causes([queue], settings, ["holds"] * 12) == []


def test_a_clear_cut_is_no_chance_and_needs_no_second_cause() -> None:
    rule = Unsaid("rule", "a", "s", choices=("a", "b", "c"))
    size = Unsaid("size", 1.0, "s", low=0.0, high=1.0)
    stream = random.Random(1)
    settings = [Setting(rule="abc"[n % 3], size=stream.random()) for n in range(30)]
    verdicts: list[Any] = ["fails" if setting["rule"] == "b" else "holds" for setting in settings]
    first, second = causes.effects([rule, size], settings, verdicts)
    assert (first.parameter, second.parameter) == ("rule", "size")
    assert first.explained == pytest.approx(1.0)
    assert first.p == pytest.approx(1 / 401)
    assert second.p > 0.05
    assert first.condition == "rule = a or c"
    assert first.shares == {"a": 1.0, "b": 0.0, "c": 1.0}
    assert first.effect == 1
    assert [effect.parameter for effect in causes.causes([rule, size], settings, verdicts)] == ["rule"]


def test_the_exact_interval_of_a_share() -> None:
    """Clopper and Pearson: none of ten is at most 1 - 0.025^(1/10); the ends turn over with the share."""
    none, all_, half = (share(n, 10) for n in (0, 10, 5))
    most = 1 - 0.025**0.1
    assert (none.mean, none.low, none.high) == (0.0, 0.0, pytest.approx(most))
    assert (all_.mean, all_.low, all_.high) == (1.0, pytest.approx(1 - most), 1.0)
    assert (half.low, half.high) == pytest.approx((0.1870860, 0.8129140), abs=1e-6)
    assert (half.n, share(0, 0).n) == (10, 0)
    assert all(map(math.isnan, (share(0, 0).mean, share(0, 0).low, share(0, 0).high)))
    counted = place(5, 5, 3)
    assert (counted.holds, counted.fails, counted.inconclusive, counted.share) == (5, 5, 3, half)


def test_a_value_is_shown_without_an_exponent() -> None:
    assert [show(value) for value in (0.1234, 999.4, 999.6, 1000.0, 12345.6, "drop")] == [
        "0.123", "999", "1000", "1000", "12346", "drop",
    ]  # fmt: skip


def test_a_claim_counts_the_settings_of_both_its_searches() -> None:
    """Where the joint setting holds more of a claim: what its own search tried was tried for it, too."""
    study = next(each for each in list_studies() if each.name == "manet")
    together, own, both = joint.read(study), readings.read(study), joint.with_readings(study)
    assert together is not None
    taken = [name for name in both if name in own and both[name].setting == together.setting]
    assert taken
    for name in taken:
        # The joint setting itself was tried; at how many more is counted where it was recorded.
        assert both[name].evaluated == own[name].evaluated + max(together.claims[name].tried, 1)
