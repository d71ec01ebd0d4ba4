"""Claims as data: points, statements, the space of the unsaid, and where a statement holds."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import cli, studies
from cogtcp.studies import Cell, Point, Setting, Space, Statement, StudyError, Unsaid, kept, power
from cogtcp.studies.causes import effects
from cogtcp.studies.claims import cross_product, read_claim, read_unsaid
from cogtcp.studies.common_tests import COMMON
from cogtcp.studies.statements import weakest
from cogtcp.studies.support import Support, share

if TYPE_CHECKING:
    from pathlib import Path

    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Verdict

HERE = Setting()


def grid(**means: float) -> Grid:
    """Return a grid over `x`: at each point ten seeds around the mean, a hundredth apart."""
    return {
        Point(x=float(name[1:]), who="a"): Cell([{"rate": mean + 0.01 * (seed % 3)} for seed in range(10)])
        for name, mean in means.items()
    }


def stated(**fields: Any) -> Statement:
    statement = Statement(says="so", kind="ordering", quantity="rate", **fields)
    statement.check()
    return statement


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"test": "above", "of": {"x": 2.0}, "than": {"x": 1.0}}, "holds"),
        ({"test": "above", "of": {"x": 1.0}, "than": {"x": 2.0}}, "fails"),
        ({"test": "above", "of": {"x": 2.0}, "than": {"x": 1.0}, "factor": 2.5}, "fails"),
        ({"test": "below", "of": {"x": 1.0}, "than": 1.5}, "holds"),
        ({"test": "near", "of": {"x": 2.0}, "than": {"x": 1.0}, "factor": 2.0, "margin": 0.1}, "holds"),
        ({"test": "near", "of": {"x": 2.0}, "than": 1.0, "margin": 0.2}, "fails"),
        ({"test": "flat", "over": "x", "margin": 0.1}, "fails"),
        ({"test": "rises", "over": "x"}, "holds"),
        ({"test": "falls", "over": "x"}, "fails"),
        ({"test": "rises", "over": "x", "every_step": True}, "fails"),
        ({"test": "rises", "over": "x", "every_step": True, "where": {"x": [1.0, 2.0]}}, "holds"),
    ],
)
def test_statement(fields: dict[str, Any], verdict: str) -> None:
    # Not quite parallel, so that differences vary with the seed.
    measured = grid(x1=1.0, x2=2.0, x3=1.9)
    assert stated(**fields).evaluate(measured, HERE).verdict == verdict


def test_a_trend_is_reported_in_its_own_direction() -> None:
    finding = stated(test="falls", over="x").evaluate(grid(x1=3.0, x2=2.0, x3=1.0), HERE)
    # Least squares: from 3 to 1 around a mean of 2 (and a hundredth).
    assert finding.verdict == "holds"
    assert finding.estimate == pytest.approx(-1.0, abs=0.01)
    assert finding.low <= finding.estimate <= finding.high


def test_a_statement_must_hold_at_each_point() -> None:
    cells = {
        Point(x=x, who=who): Cell([{"rate": rate + 0.01 * (seed % 3)} for seed in range(10)])
        for who, low, high in (("a", 1.0, 2.0), ("b", 1.0, 0.9))
        for x, rate in ((1.0, low), (2.0, high))
    }
    both = stated(test="above", of={"x": 2.0}, than={"x": 1.0}, each=("who",))
    finding = both.evaluate(cells, HERE)
    assert (finding.verdict, finding.where) == ("fails", "b")
    only = stated(test="above", of={"x": 2.0}, than={"x": 1.0}, each=("who",), where={"who": "a"})
    assert only.evaluate(cells, HERE).verdict == "holds"


def test_more_points_make_it_harder_to_differ() -> None:
    """One point that contradicts is found among many by chance: the level is divided by their number."""
    noisy = [{"rate": value} for value in (0.93, 1.0, 0.92, 0.96, 0.97)]
    one = {Point(x=0.0, who="a"): Cell(noisy)}
    alone = stated(test="above", than=1.0, each=("who",))
    assert alone.evaluate(one, HERE).verdict == "fails"
    good = Cell([{"rate": 2.0 + 0.01 * seed} for seed in range(5)])
    many = {**one, **{Point(x=0.0, who=str(who)): good for who in range(20)}}
    assert alone.evaluate(many, HERE).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": "above"}, "needs `than`"),
        ({"test": "near", "than": 1.0}, "needs `margin`"),
        ({"test": "flat", "margin": 0.1}, "needs `over`"),
        ({"test": "bigger"}, "`test` must be one of"),
        ({"test": "function"}, "needs `function`"),
    ],
)
def test_incomplete_statement_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stated(**fields)


def test_above_on_average_is_about_the_mean_and_not_about_each_point() -> None:
    measured = grid(x1=1.0, x2=5.0) | {
        Point(x=x, who="b"): Cell([{"rate": 2.0 + 0.01 * (seed % 3)} for seed in range(10)])
        for x in (1.0, 2.0)
    }

    def found(of: str, than: str) -> Verdict:
        named = stated(test="function", function="above_on_average", of={"who": of}, than={"who": than})
        return named.evaluate(measured, HERE, COMMON).verdict

    assert (found("a", "b"), found("b", "a")) == ("holds", "fails")
    with pytest.raises(StudyError, match="no measured point is"):
        found("a", "c")


def test_points_that_are_not_there_are_named() -> None:
    with pytest.raises(StudyError, match="0 points match x 7"):
        stated(test="above", of={"x": 7.0}, than=1.0).evaluate(grid(x1=1.0), HERE)
    with pytest.raises(StudyError, match="no measured point matches who b"):
        stated(test="above", of={"x": 1.0}, than=1.0, where={"who": "b"}).evaluate(grid(x1=1.0), HERE)


def test_the_weakest_decides() -> None:
    near = stated(test="near", of={"x": 1.0}, than=1.0, margin=0.2).evaluate(grid(x1=1.0), HERE)
    tight = stated(test="near", of={"x": 1.0}, than=1.0, margin=0.2).evaluate(grid(x1=1.1), HERE)
    assert weakest([near, tight]).estimate == tight.estimate
    assert weakest([near, tight]).verdict == "holds"


@pytest.mark.parametrize(
    ("fields", "used"),
    [
        # Both sides of a ratio.
        ({"test": "above", "of": {"x": 2.0}, "than": {"x": 1.0}}, {1.0, 2.0}),
        # A number has no point.
        ({"test": "below", "of": {"x": 1.0}, "than": 1.5}, {1.0}),
        ({"test": "above", "of": {"x": 2.0}, "than": {"x": 1.0}, "where": {"who": "b"}}, set()),
        ({"test": "rises", "over": "x"}, {1.0, 2.0, 3.0}),
        ({"test": "rises", "over": "x", "where": {"x": [1.0, 2.0]}}, {1.0, 2.0}),
        ({"test": "rises", "over": "x", "each": ("side",)}, set()),
    ],
)
def test_points_that_a_statement_uses(fields: dict[str, Any], used: set[float]) -> None:
    assert {point.x for point in grid(x1=1.0, x2=2.0, x3=3.0) if stated(**fields).uses(point)} == used


def test_points_are_a_cross_product() -> None:
    points = cross_product({"transport": ["newreno", "sack"], "off_s": [1, 2], "on_s": 5})
    assert len(points) == 4
    assert points[1] == Point(transport="newreno", off_s=2.0, on_s=5.0)
    assert points[0].but(off_s=2.0) == points[1]
    with pytest.raises(AttributeError, match="no value named 'of_s'; there are: off_s, on_s, transport"):
        _ = points[0].of_s


SPACE = Space(
    (
        Unsaid("queue", 1.0, "so", low=0.5, high=2.0, log=True),
        Unsaid("silence", "drop", "so", choices=("drop", "hold")),
        Unsaid("length", "100 s", "so"),
    )
)


def test_design_fills_the_space() -> None:
    design = SPACE.design(50, seed=1)
    assert design == SPACE.design(50, seed=1)
    assert design != SPACE.design(50, seed=2)
    assert sum(setting.silence == "drop" for setting in design) == 25
    assert {setting.length for setting in design} == {"100 s"}
    # One value in each fiftieth of the logarithm of the range; three digits may move one over an edge.
    parts = sorted(int(math.log(setting.queue / 0.5) / math.log(4) * 50) for setting in design)
    assert sum(part != want for part, want in zip(parts, range(50), strict=True)) <= 3


def test_classes_of_a_range_are_its_thirds() -> None:
    even = Unsaid("delay", 1.0, "so", low=0.0, high=9.0)
    assert even.levels() == ["0 to 3", "3 to 6", "6 to 9"]
    assert [even.level(value) for value in (0.0, 2.9, 3.1, 9.0)] == [even.levels()[k] for k in (0, 0, 1, 2)]
    assert SPACE.unsaid[1].levels() == ["drop", "hold"]


def test_share_by_hand() -> None:
    # All of n: the lower bound is 0.025^(1/n); 72 is the least n with 0.95.
    assert share(72, 72).low == pytest.approx(0.025 ** (1 / 72))
    assert Support.of([*["holds"] * 8, *["inconclusive"] * 2]).share.mean == 1.0


def test_effects_find_what_decides() -> None:
    design = SPACE.design(80, seed=1)
    verdicts: list[Verdict] = ["holds" if setting.silence == "drop" else "fails" for setting in design]
    first, second = effects(SPACE.varied, design, verdicts)
    assert (first.parameter, first.effect) == ("silence", 1.0)
    assert first.p < 0.01 < second.p
    assert first.shares == {"drop": 1.0, "hold": 0.0}


def runs_of(**values: list[float]) -> Grid:
    """Return a grid over `who`, one value per seed."""
    return {Point(who=name): Cell([{"rate": value} for value in of]) for name, of in values.items()}


@pytest.mark.parametrize(
    ("runs", "verdict", "share_"),
    [(20, "holds", 1.0), (0, "fails", 0.0), (10, "inconclusive", 0.5), (3, "fails", 0.15)],
)
def test_the_order_of_a_single_run(runs: int, verdict: str, share_: float) -> None:
    """Of 20 runs so many show a above b and b above c: the exact binomial interval decides."""
    of = [3.0] * runs + [1.0] * (20 - runs)
    there = runs_of(a=of, b=[2.0] * 20, c=[1.5] * 20)
    statement = stated(
        test="function",
        function="order_in_most_runs",
        options={"above": [[{"who": "a"}, {"who": "b"}], [{"who": "b"}, {"who": "c"}]]},
    )
    finding = statement.evaluate(there, HERE, COMMON)
    assert (finding.verdict, finding.estimate) == (verdict, share_)
    tested = share(runs, 20, 0.9)
    # One-sided either way: the end that was tested, or both where neither decides.
    assert finding.low == (-math.inf if verdict == "fails" else tested.low)
    assert finding.high == (math.inf if verdict == "holds" else tested.high)
    # That it appears in few is the opposite, on the same interval.
    few = replace(statement, function="order_in_few_runs").evaluate(there, HERE, COMMON)
    opposite = {"holds": "fails", "fails": "holds", "inconclusive": "inconclusive"}[verdict]
    assert (few.verdict, few.estimate, few.low, few.high) == (opposite, share_, finding.low, finding.high)
    assert (few.slack, few.clearance) == (-finding.slack, -finding.clearance)


def test_deviation_is_tested_around_the_median() -> None:
    stream = random.Random(5)
    narrow = [10 + stream.gauss(0, 0.1) for _ in range(30)]
    wide = [30 + stream.gauss(0, 2) for _ in range(30)]
    for of, than, verdict in (("wide", "narrow", "holds"), ("narrow", "wide", "fails")):
        statement = stated(test="function", function="deviates_more", of={"who": of}, than={"who": than})
        assert statement.evaluate(runs_of(narrow=narrow, wide=wide), HERE, COMMON).verdict == verdict


def test_seeds_needed_by_hand() -> None:
    statement = stated(test="above", of={"x": 1.0}, than=1.0)
    finding = statement.evaluate({Point(x=1.0): Cell([{"rate": r} for r in (1.0, 1.2, 1.4)])}, HERE)
    # s = 0.2, effect 0.1, z 1.645 and 1.282: (2.926 * 2)^2 = 34.3.
    assert power.seeds_needed(statement, finding, 1) == 35
    more = power.seeds_needed(statement, finding, 10)
    assert more is not None
    assert more > 35


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"points": [{"x": 1}], "statement": [{"says": "so"}]}, "a statement needs `kind`, `test`"),
        (
            {
                "statement": [
                    {"says": "so", "kind": "ordering", "test": "rises", "quantity": "q", "over": "x"}
                ]
            },
            r"needs \[\[claim.statement\]\] and \[\[claim.points\]\]",
        ),
        ({"points": [{"x": 1}], "statements": []}, "unknown key `statements`"),
    ],
)
def test_wrong_claims_are_explained(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_claim({"id": "a", "figure": "b", "claim": "c", "paper": "d", **row})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"base": 1, "choices": [2, 3]}, "is not among its choices"),
        ({"base": 1, "between": [2, 3]}, "is not within `between`"),
        ({"base": 0, "between": [0, 3], "log": True}, "needs a range above 0"),
    ],
)
def test_wrong_unsaid_is_explained(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_unsaid({"name": "n", "why": "w", **row})


STUDY = """
title = "A test"
paper = "Nobody: Nothing"
seeds = 3
quick_seeds = 2
search = { settings = 80, seeds = 3 }

[[claim]]
id = "t-f1"
figure = "Fig. 1"
claim = "It grows with the rate."
paper = "a curve"

[[claim.points]]
rate = [1, 2]

[[claim.statement]]
says = "It grows."
kind = "ordering"
test = "rises"
quantity = "goodput"
over = "rate"

[[claim.statement]]
says = "It has all of the rate."
kind = "magnitude"
test = "near"
quantity = "share"
than = 1.0
margin = 0.3
each = ["rate"]

[[claim.number]]
says = "goodput at 1 [Mbit/s]"
value = 0.9
quantity = "goodput"
at = { rate = 1 }

[[unsaid]]
name = "silence"
base = "open"
choices = ["open", "mostly closed"]
why = "not given"
"""

RUNS = '''
from cogtcp import Scenario

TEXT = """
name = "t"
[run]
duration = "2 s"
[topology.single_hop]
link = { rate = "RATE Mbit/s", delay = "PHASE ms", queue = "100 packets" }
[[radio]]
name = "r"
links = ["link"]
sensing = { off = "OFF ms", on = "100 ms", start = "10 ms" }
[[flow]]
name = "f"
from = "sender"
to = "receiver"
transport = "newreno"
"""

def scenario(study, setting, point, seed):
    off = "1" if setting.silence == "open" else "900"
    text = TEXT.replace("RATE", str(point.rate)).replace("OFF", off).replace("PHASE", str(2 + seed % 7))
    return Scenario.from_toml(text)

def measure(result):
    (flow,) = result.flows.to_pylist()
    rate = float(result.scenario.to_dict()["topology"]["single_hop"]["link"]["rate"].split()[0])
    mbps = flow["goodput_bps"] / 1e6
    return {"goodput": mbps, "share": mbps / rate}
'''


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "studies" / "t"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY)
    (folder / "runs.py").write_text(RUNS)
    (folder / "README.md").write_text("# t")
    monkeypatch.setenv("COGTCP_STUDIES", str(folder.parent))
    return folder


def test_a_study_of_ones_own_is_answered(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/adding-a-study.md says that a `study.toml` gets: every step, on a study of a test's own."""
    unsearched = studies.reproduce("t")
    assert "has not been searched yet" in unsearched.report()
    before = unsearched.claims[0].to_dict()
    # All statements hold at the base, so there is a reading; of the space nothing is known.
    assert before["verdict"] == "reproduced, random settings not tried"
    assert before["answer"]["robust"] == ["not searched"]
    design, found = studies.search_space("t", trials=6)
    assert (design, found) == (study / "search.json", study / "readings.json")
    kept = json.loads(design.read_text())
    assert len(kept["settings"]) == 80
    # The unit of nothing is fixed, and what touches the claim is known.
    assert kept["claims"]["t-f1"]["touches"] == ["silence"]
    result = studies.reproduce("t")
    page = result.report()
    for text in (
        "1 of 1 claim reproduced; 1 holds at 5 to 95 %",
        "Where it holds",
        "What decides",
        "The best parameter values",
        "<h4>Along silence</h4>",
        # A figure that nobody described: the first statement's quantity, with the paper's number.
        "Fig. 1: goodput.",
        "<title>the paper: 0.9</title>",
    ):
        assert text in page
    # Along what decides, each statement at each value: all hold where the radio is open.
    along = result.claims[0].told.along
    assert along is not None
    assert along.header == ["statement", "open", "mostly closed"]
    assert [[text.split()[-1] for text in row[1:]] for row in along.rows] == [
        ["holds", "holds"],
        ["holds", "fails"],
    ]
    assert along.caption == "All else as at the default values; 3 seeds."
    assert "has not been searched yet" not in page
    # The picture and the verdict come before everything else; statements are folded away.
    told = "Holds with parameter values that the paper allows. It holds at 40 of 80 random settings, and at"
    verdict = page.index(f'<span class="verdict">{told} 100 % of those with silence = open.')
    assert page.index("Each claim: statements that hold") < verdict < page.index("<details>")
    assert page.index("<details>") < page.index("Statement by statement")
    after = result.claims[0].to_dict()
    assert after["verdict"] == "reproduced, holds at 40 of 80 settings, 100 % of those with silence = open"
    assert after["share"]["holds"] == 40
    (cause,) = after["answer"]["depends_on"]
    assert (cause["parameter"], cause["share_there"], cause["share_elsewhere"]) == ("silence", 1.0, 0.0)
    best = after["best"]
    assert best["setting"]["silence"] == "open"
    assert [part["verdict"] for part in best["statements"]] == ["holds", "holds"]
    # Confirmed on seeds that neither the design, nor the guided search, nor this reproduction has.
    assert best["seeds"][0] > 2100
    assert best["turns_over"] == {"parameter": "silence", "from": "open", "to": "mostly closed"}
    (number,) = best["nearest_numbers"]["numbers"]
    assert number["measured"] == pytest.approx(0.9, rel=0.15)
    # The same search gives the same bytes.
    texts = [path.read_text() for path in (design, found)]
    assert studies.search_space("t", trials=6) == [design, found]
    assert [path.read_text() for path in (design, found)] == texts
    # The best reading can be run alone.
    (there,) = studies.reproduce("t", only="t-f1", at="best").claims
    assert there.outcome is not None
    assert there.outcome.base.setting.silence == "open"
    assert "At the best parameter values, of its 2 statements 2 hold." in there.told.measured
    # At most five lines a claim; the table fits into 100 columns.
    assert cli.main(["reproduce", "t", "--at", "best", "--out", str(study / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("t-f1: "))
    assert len([line for line in lines[start:] if line.strip() and not line.startswith("report:")]) <= 5
    head = next(index for index, line in enumerate(lines) if line.startswith("in the paper"))
    assert max(len(line.rstrip()) for line in lines[head:start]) <= 100


def test_a_sample_measured_anew_shows_that_a_model_has_changed(study: Path) -> None:
    studies.search_space("t", settings=8, trials=1)
    assert kept.changed(studies.find("t")[0], 3) == []
    # The open radio is closed now: what held at the reading, and at its settings of the design, fails.
    (study / "runs.py").write_text(RUNS.replace('off = "1" if', 'off = "900" if'))
    changed = kept.changed(studies.find("t")[0], 3)
    assert any("of the design it no longer holds" in line for line in changed)
    assert any(
        'at its best parameter values "It has all of the rate." no longer holds' in line for line in changed
    )


def test_fresh_settings_that_contradict_the_kept_share_are_told(study: Path) -> None:
    studies.search_space("t", settings=24, trials=0)
    assert kept.changed(studies.find("t")[0], 24) == []
    # At other settings than the kept ones, and on other seeds, the claim fails.
    (study / "runs.py").write_text(RUNS.replace('off = "1" if', 'off = "1" if seed < 9000 and'))
    changed = kept.changed(studies.find("t")[0], 24)
    assert changed == ["t-f1: holds at 0 and fails at 24 fresh settings; in the saved design at 12 and 12"]


def test_a_setting_can_be_named(study: Path) -> None:
    (claim,) = studies.reproduce("t", at="silence=mostly closed").claims
    assert claim.outcome is not None
    assert claim.outcome.base.setting.silence == "mostly closed"
    assert claim.told.measured.startswith("At silence=mostly closed, ")
    space, both = studies.find("t")[0].space, Unsaid("mac", "a, b", "w", choices=("a, b", "c"))
    with_comma = Space((*space.unsaid, both))
    assert with_comma.parsed("silence=open,mac=a, b") == with_comma.base
    with pytest.raises(StudyError, match="`silence` can be open, mostly closed, not 'shut'"):
        studies.reproduce("t", at="silence=shut")
    with pytest.raises(StudyError, match="no parameter 'silent'; did you mean 'silence'"):
        studies.reproduce("t", at="silent=open")


def test_at_best_needs_a_reading(study: Path) -> None:
    for at in ("best", "nearest"):
        with pytest.raises(
            StudyError, match="no reading of t-f1 is saved; search with: cogtcp reproduce t-f1 --search"
        ):
            studies.reproduce("t", at=at)


def test_a_claim_with_other_statements_is_not_searched(study: Path) -> None:
    studies.search_space("t", settings=8, trials=2)
    (study / "study.toml").write_text(STUDY.replace("It grows.", "It grows a lot."))
    (claim,) = studies.reproduce("t").claims
    assert claim.outcome is not None
    assert (claim.outcome.reading, claim.outcome.place) == (None, None)
    assert claim.verdict == "reproduced, random settings not tried"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("margin = 0.3", "margin = 0.2"),
        ("rate = [1, 2]", "rate = [1, 2, 3]"),
        ('each = ["rate"]\n', "where = { rate = 1 }\n"),
    ],
)
def test_a_claim_whose_test_has_changed_is_not_searched(study: Path, old: str, new: str) -> None:
    """Its statements say the same as before; stored results are of the test of before."""
    studies.search_space("t", settings=8, trials=2)
    # What is not tested may change.
    (study / "study.toml").write_text(STUDY.replace("a curve", "another curve"))
    (known,) = kept.answers_of(studies.find("t")[0]).values()
    assert (known.reading is not None, known.place is not None) == (True, True)
    assert old in STUDY
    (study / "study.toml").write_text(STUDY.replace(old, new, 1))
    (known,) = kept.answers_of(studies.find("t")[0]).values()
    assert (known.reading, known.place) == (None, None)


def test_a_reading_is_read_in_the_order_of_the_study(study: Path) -> None:
    studies.search_space("t", settings=0, trials=1)
    path = study / "readings.json"
    data = json.loads(path.read_text())
    parts = data["claims"]["t-f1"]["statements"]
    data["claims"]["t-f1"]["statements"] = dict(reversed(parts.items()))
    path.write_text(json.dumps(data))
    (known,) = kept.answers_of(studies.find("t")[0]).values()
    assert known.reading is not None
    assert [part.says for part in known.reading.parts] == ["It grows.", "It has all of the rate."]


def test_a_search_of_one_claim_leaves_the_others(study: Path) -> None:
    other = STUDY.split("[[claim]]")[1].split("[[unsaid]]")[0].replace("t-f1", "t-f2")
    (study / "study.toml").write_text(STUDY.replace("[[unsaid]]", f"[[claim]]{other}[[unsaid]]"))
    studies.search_space("t", settings=8, trials=0)
    before = json.loads((study / "search.json").read_text())["claims"]
    studies.search_space("t", only="t-f2", settings=8, trials=1)
    assert json.loads((study / "search.json").read_text())["claims"] == before
    assert list(json.loads((study / "readings.json").read_text())["claims"]) == ["t-f2"]


def test_a_function_that_is_missing_is_named(study: Path) -> None:
    (study / "study.toml").write_text(STUDY.replace('test = "rises"', 'test = "function"\nfunction = "odd"'))
    with pytest.raises(StudyError, match=r"no function 'odd' in tests.py"):
        studies.reproduce("t")
