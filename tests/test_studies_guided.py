"""The guided search: what claims share, and statements about the numbers that a paper prints."""

from __future__ import annotations

import html
import json
import math
import random
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import Scenario, cli, studies
from cogtcp.running.runner import case as runner_case
from cogtcp.studies import (
    Setting,
    StudyError,
    answers,
    folder,
    guided,
    kept,
    power,
    readings,
    search,
    telling,
    verdicts,
)
from cogtcp.studies.judging import Judged
from study_folders import SCENARIO

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """
title = "A test"
paper = "Nobody: Nothing"
seeds = 4
quick_seeds = 2

[search]
confirm = 13

[[claim]]
id = "t-f1"
figure = "Fig. 1"
claim = "One of the points."
paper = "a sentence"

[[claim.points]]
x = 2

[[claim.statement]]
says = "More than three."
kind = "ordering"
test = "above"
quantity = "value"
than = 3

[[claim]]
id = "t-n1"
figure = "Table 1"
claim = "Both numbers come out."
paper = "5 and 10"
number = [
  { says = "first", value = 5, quantity = "value", at = { x = 1 } },
  { says = "second", value = 10, quantity = "value", at = { x = 2 } },
  { says = "second over first", value = 2, quantity = "value", at = { x = 2 }, than = { x = 1 } },
]

[[claim.points]]
x = [1, 2]

[[claim.statement]]
says = "Each number is within 10 %."
kind = "magnitude"
test = "numbers"
quantity = "value"
margin = 0.1

[[claim.statement]]
says = "That at two is within 10 %."
kind = "magnitude"
test = "numbers"
quantity = "value"
where = { x = 2 }
margin = 0.1

[[unsaid]]
name = "rate"
base = 1
between = [1, 10]
why = "not given"
"""

RUNS = """
def scenario(study, setting, point, seed):
    # The rate is the queue, so that it changes the scenario and the simulator below can read it.
    scenario = study.scenario("one").set("run.duration", f"{point.x:.0f} s")
    return scenario.set("topology.single_hop.link.delay", f"{setting.rate * 1000:.0f} us")


def measure(result):
    return {"value": result}
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "studies" / "t"
    (path / "scenarios").mkdir(parents=True)
    (path / "study.toml").write_text(STUDY)
    (path / "runs.py").write_text(RUNS)
    (path / "scenarios" / "one.toml").write_text(SCENARIO)
    monkeypatch.setenv("COGTCP_STUDIES", str(tmp_path / "studies"))
    return path


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, int]]:
    """Replace the simulator by duration times delay [ms], and a thousandth of the seed's last digit."""
    made: list[tuple[float, float, int]] = []

    def run(scenario: Any, seed: int, trace: str, *, cancel: Any) -> float:
        data = scenario.to_dict()
        x = float(data["run"]["duration"].split()[0])
        delay, unit = data["topology"]["single_hop"]["link"]["delay"].split()
        rate = float(delay) / (1000 if unit == "us" else 1)
        made.append((x, rate, seed))
        return x * rate + seed % 10 / 1000

    monkeypatch.setattr(runner_case, "run", run)
    return made


def test_numbers_of_the_paper_are_a_statement(study: Path, simulated: list[Any]) -> None:
    (claim,) = studies.reproduce("t", only="t-n1", at="rate=5").claims
    assert claim.outcome is not None
    # 5 and 10, a ratio of 2: all three; at two the one number whose point says so, and the ratio there.
    assert [finding.verdict for finding in claim.outcome.base.findings] == ["holds", "holds"]
    assert [len(statement.numbers) for statement in claim.row.statements] == [3, 2]
    (low,) = studies.reproduce("t", only="t-n1", at="rate=4").claims
    assert low.outcome is not None
    # 4 of 5 and 8 of 10 are 20 % short, the second by a hair more; the ratio alone would hold.
    first, second = low.outcome.base.findings
    assert (first.verdict, first.where, second.verdict, second.where) == (
        "fails",
        "second",
        "fails",
        "second",
    )
    assert first.slack == pytest.approx(0.1 - 0.2, abs=0.002)


def test_a_statement_about_no_number_is_refused(study: Path) -> None:
    (study / "study.toml").write_text(STUDY.replace("where = { x = 2 }", "where = { x = 3 }"))
    with pytest.raises(StudyError, match="matches the statement"):
        studies.find("t")


def test_claims_share_what_was_measured_at_their_points(study: Path, simulated: list[Any]) -> None:
    # No setting has more than a thousand at x = 2: the search of t-f1 goes on to its end.
    (study / "study.toml").write_text(STUDY.replace("than = 3\n", "than = 1000\n"))
    studies.search_space("t", only="t-f1", settings=0, trials=9)
    assert studies.readings.read(folder.find("t")[0])["t-f1"].evaluated == 9
    simulated.clear()
    studies.search_space("t", settings=0, trials=9)
    kept = studies.readings.read(folder.find("t")[0])
    assert kept["t-n1"].held == 2
    # t-n1 comes first, as it has more points. t-f1 judges its settings too, besides nine proposals, of which
    # the base is one that t-n1 has had.
    assert kept["t-f1"].evaluated == kept["t-n1"].evaluated + 8


def test_settings_are_shared_only_where_the_runs_have_all_that_is_needed(study: Path) -> None:
    one, both = studies.find("t")[0].claims
    settings = [studies.find("t")[0].space.base]
    pool = guided.Pool()
    pool.add(one, settings)
    assert (pool.of(one), pool.of(both)) == (settings, [])
    assert pool.of(replace(one, trace="full")) == []
    assert pool.of(replace(one, measure="measure_more")) == []


def test_a_study_bounds_the_seeds_of_a_confirmation(study: Path, simulated: list[Any]) -> None:
    # At the base the effect is as large as its spread: that asks for many more than thirteen seeds.
    (study / "study.toml").write_text(STUDY.replace("than = 3\n", "than = 2.003\n"))
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    assert studies.readings.read(folder.find("t")[0])["t-f1"].seeds == (5001, 5013)


def test_more_seeds_by_hand() -> None:
    (statement,) = studies.find("chain")[0].claims[0].statements[:1]
    # One test: z(0.95) + z(0.9) = 1.6449 + 1.2816 = 2.9264. Half of it on 12 seeds: four times the seeds.
    assert power.more_seeds(statement, 1.4633, 12, 1) == 36
    assert power.more_seeds(statement, -1.4633, 12, 1) == 36
    # Two tests: each with a power of 0.9^(1/2) = 0.9487, z = 1.6322: 3.2771.
    assert power.more_seeds(statement, 1.6386, 12, 2) == 36
    assert power.more_seeds(statement, 5.0, 12, 1) == 1
    assert math.isinf(power.more_seeds(statement, 0.0, 12, 1))
    assert math.isnan(power.more_seeds(statement, math.nan, 12, 1))


def test_more_seeds_is_enough(study: Path, simulated: list[Any]) -> None:
    """The number is that of the seeds at which a normal effect of that size is found nine times in ten."""
    (statement,) = studies.find("t")[0].claims[0].statements
    clearance, first, found = 1.2, 10, 0
    total = first + int(power.more_seeds(statement, clearance, first, 1))
    effect = clearance / math.sqrt(first)
    for seed in range(400):
        stream = random.Random(seed)
        values = [10 + effect + stream.gauss(0, 1) for _ in range(total)]
        found += verdicts.ratio(values, [10.0] * total).verdict == "holds"
    assert 0.85 < found / 400 < 0.95


def test_where_seeds_do_not_suffice_the_answer_says_how_many_more(
    study: Path, simulated: list[Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # At the base 2.0025 on average over four seeds, 2.001 to 2.004: the bound of 2.002 is within the noise.
    (study / "study.toml").write_text(STUDY.replace("than = 3\n", "than = 2.002\n"))
    monkeypatch.chdir(study)
    result = studies.reproduce("t", only="t-f1")
    (claim,) = result.claims
    spread = statistics.stdev([0.001, 0.002, 0.003, 0.004])
    wanted = math.ceil((2.9264 * spread / 0.0005) ** 2) - 4
    (lack,) = claim.to_dict()["answer"]["seeds_do_not_suffice"]
    assert (lack["statement"], lack["settings"]) == ("More than three.", 0)
    assert lack["more_seeds"] == wanted
    text = f'"More than three" (about {float(f"{wanted:.2g}"):.0f} more seeds)'
    assert f"Inconclusive at the default values: {text}." in claim.told.why
    assert html.escape(text, quote=False) in html.unescape(result.report())
    assert cli.main(["reproduce", "t-f1"]) == 0
    brief = f'Needs about {float(f"{wanted:.2g}"):.0f} more seeds: "More than three".'
    assert brief in capsys.readouterr().out


def test_the_design_names_the_statement_that_most_settings_lack() -> None:
    few = search.Found(
        {"a": ("holds", "inconclusive", "inconclusive"), "b": ("fails", "inconclusive", "holds")},
        (0.0, 0.0, 0.0),
        (),
        {"a": 30.0, "b": 5.0},
    )
    # At the first setting b fails, which decides; at the two others a lacks seeds, at one of them b too.
    assert few.lack() == answers.Lack("a", 30.0, 2)
    text = 'Inconclusive at 2 settings of the design: "a" (about 30 more seeds).'
    assert telling.lacking_text([answers.Lack("a", 30.0, 2)]) == text
    assert answers.Lack("a.", math.inf).text == '"a" (on its bound: over 10,000 more seeds)'
    assert answers.Lack("a.", math.nan).text == '"a" (more seeds)'
    several = [answers.Lack("a", 1.0), answers.Lack("b", 1234.0), answers.Lack("c", 30.0, 1)]
    assert telling.lacking_text(several) == (
        'Inconclusive at the best parameter values: "a" (1 more seed), "b" (about 1,200 more seeds). '
        'Inconclusive at 1 setting of the design: "c" (about 30 more seeds).'
    )
    assert search.Found({"a": ("holds",)}, (0.0,), ()).lack() is None


def test_a_search_keeps_the_seeds_that_its_settings_lack(study: Path, simulated: list[Any]) -> None:
    # All rates are 1 to three digits. Seeds 101 to 108 give 2.001 to 2.008, 2.0045 on average.
    text = STUDY.replace("than = 3\n", "than = 2.0035\n").replace("between = [1, 10]", "between = [1, 1.001]")
    (study / "study.toml").write_text(text)
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    data = json.loads((study / "search.json").read_text())["claims"]["t-f1"]
    assert data["statements"] == {"More than three.": "iii"}
    spread = statistics.stdev(range(1, 9)) / 1000
    wanted = math.ceil((2.92641 * spread / 0.001) ** 2) - 8
    assert data["more_seeds"] == {"More than three.": wanted}
    answer = kept.answers_of(folder.find("t")[0])["t-f1"].answer
    assert answer.lacking == (answers.Lack("More than three.", wanted, 3),)


def test_a_study_names_the_seeds_of_the_second_look(study: Path, simulated: list[Any]) -> None:
    """Where a claim is inconclusive; one that fails by another statement has four times the seeds there.

    At 8 seeds the effect is 1.15 standard errors, at 20 1.8: more than the level's quantile.
    """
    near = STUDY.replace("than = 3\n", "than = 2.0035\n").replace("between = [1, 10]", "between = [1, 1.001]")
    near = near.replace("confirm = 13", "second_look = 20")
    (study / "study.toml").write_text(near)
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    assert {seed for _, _, seed in simulated} == set(range(101, 121))
    assert json.loads((study / "search.json").read_text())["claims"]["t-f1"]["second_look"] == 20
    other = '[[claim]]\nid = "t-n1"'
    fails = '[[claim.statement]]\nsays = "Four."\nkind = "ordering"\ntest = "above"\nquantity = "value"\n'
    (study / "study.toml").write_text(near.replace(other, f"{fails}than = 4\n\n{other}"))
    simulated.clear()
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    assert {seed for _, _, seed in simulated} == set(range(101, 109))


def _near(bound: float, most: int) -> str:
    """Return a study whose claim is near its bound at each setting: all rates are 1 to three digits."""
    text = STUDY.replace("than = 3\n", f"than = {bound}\n").replace(
        "between = [1, 10]", "between = [1, 1.001]"
    )
    return text.replace("confirm = 13", f"second_look = {most}")


@pytest.mark.parametrize(
    ("bound", "most", "last", "found"),
    # Seeds 101 to 108 give 2.0045 on average, with a standard error of 0.00087; 101 to 132 2.0043.
    [(2.003, 8, 8, "iii"), (2.003, 32, 32, "hhh"), (2.0045, 32, 8, "iii"), (1.0, 32, 2, "hhh")],
    ids=["the seeds end", "decided by the third look", "no seeds would decide", "decided at once"],
)
def test_looks_go_on_until_a_setting_is_decided(
    study: Path, simulated: list[Any], bound: float, most: int, last: int, found: str
) -> None:
    (study / "study.toml").write_text(_near(bound, most))
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    assert {seed for _, _, seed in simulated} == set(range(101, 101 + last))
    data = json.loads((study / "search.json").read_text())["claims"]["t-f1"]
    assert (data["statements"], data["second_look"]) == ({"More than three.": found}, most)


def test_a_kept_design_goes_on_where_it_was_inconclusive(study: Path, simulated: list[Any]) -> None:
    """As if it had been made with that many seeds at once; a design that has them stays as it is."""
    path = study / "search.json"
    (study / "study.toml").write_text(_near(2.003, 8))
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    assert json.loads(path.read_text())["claims"]["t-f1"]["statements"] == {"More than three.": "iii"}
    (study / "study.toml").write_text(_near(2.003, 32))
    simulated.clear()
    studies.search_space("t", only="t-f1", settings=0, trials=0)
    assert {seed for _, _, seed in simulated} == set(range(101, 133))
    gone_on = json.loads(path.read_text())
    simulated.clear()
    studies.search_space("t", only="t-f1", settings=0, trials=0)
    assert simulated == []
    path.unlink()
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    assert json.loads(path.read_text()) == gone_on


def test_a_kept_design_without_seeds_that_lack_gets_them(study: Path, simulated: list[Any]) -> None:
    """Of a sample of its settings, which have the seeds of the second look: nothing else of it changes."""
    text = STUDY.replace("than = 3\n", "than = 2.0035\n").replace("between = [1, 10]", "between = [1, 1.001]")
    (study / "study.toml").write_text(text)
    studies.search_space("t", only="t-f1", settings=3, seeds=2, trials=0)
    path = study / "search.json"
    before = json.loads(path.read_text())
    data = json.loads(path.read_text())
    data["claims"]["t-f1"]["more_seeds"] = {}
    path.write_text(json.dumps(data))
    simulated.clear()
    studies.search_space("t", only="t-f1", settings=0, trials=0)
    assert {seed for _, _, seed in simulated} == set(range(101, 109))
    assert json.loads(path.read_text()) == before


def test_a_setting_that_is_named_is_measured_on_fresh_seeds(study: Path, simulated: list[Any]) -> None:
    """It becomes the reading if no fewer statements hold there."""
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    found = folder.find("t")[0]
    base = studies.readings.read(found)["t-f1"]
    assert (base.setting, base.held) == (found.space.base, 0)
    simulated.clear()
    studies.search_space("t", only="t-f1", settings=0, trials=0, seeds=14, at="rate=7.5")
    fresh = {(rate, seed) for _, rate, seed in simulated if seed > 5000}
    assert fresh == {(7.5, seed) for seed in range(5001, 5015)}
    named = studies.readings.read(found)["t-f1"]
    assert (named.setting, named.seeds, named.held) == (found.space.parsed("rate=7.5"), (5001, 5014), 1)
    # What turns it over is looked for where it newly holds: three is reached at 1.5.
    assert named.turn is not None
    assert named.turn.there < 1.5
    studies.search_space("t", only="t-f1", settings=0, trials=0, seeds=14, at="rate=1.1")
    assert studies.readings.read(found)["t-f1"] == named


def test_a_search_starts_from_the_readings_that_the_study_names(study: Path, simulated: list[Any]) -> None:
    (study / "study.toml").write_text(
        STUDY.replace("confirm = 13", 'starts = ["rate=7.5"]').replace("than = 3\n", "than = 1000\n")
    )
    studies.search_space("t", only="t-f1", settings=0, trials=2)
    assert {rate for _, rate, seed in simulated if seed < 5001} == {1.0, 7.5}


def test_a_search_goes_on_from_the_kept_reading(study: Path, simulated: list[Any]) -> None:
    studies.search_space("t", only="t-n1", settings=0, trials=12)
    before = studies.readings.read(folder.find("t")[0])["t-n1"]
    assert before.held == 2
    simulated.clear()
    studies.search_space("t", only="t-n1", settings=0, trials=2)
    after = studies.readings.read(folder.find("t")[0])["t-n1"]
    assert (after.setting, after.held) == (before.setting, 2)
    assert after.evaluated == before.evaluated > 2


def test_a_reading_is_printed_as_a_scenario(
    study: Path, simulated: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    studies.search_space("t", only="t-n1", settings=0, trials=12)
    (reading,) = studies.readings.read(folder.find("t")[0]).values()
    simulated.clear()
    assert cli.main(["reproduce", "t-n1", "--at", "best", "--scenario"]) == 0
    printed = Scenario.from_toml(capsys.readouterr().out)
    delay = printed.to_dict()["topology"]["single_hop"]["link"]["delay"]
    assert delay == f"{reading.setting.rate:g} ms"
    assert not simulated
    assert cli.main(["reproduce", "t", "--scenario"]) == 2
    assert "one claim" in capsys.readouterr().err
    assert cli.main(["reproduce", "t-f1", "--at", "best", "--scenario"]) == 2
    assert "no reading of t-f1 is saved" in capsys.readouterr().err


def test_numbers_that_the_best_reading_has_are_told_where_they_are_more() -> None:
    nearest = readings.Nearest(Setting({}), 0.25, (("a", 10.0, 7.5), ("b", 1.0, 1.1)))
    reading = readings.Reading(
        Setting({}), (), (1, 2), 1, 0.0, (("a", 10.0, 9.2), ("b", 1.0, 1.1)), nearest, None
    )
    assert telling.numbers_text(folder.find("c2")[0], reading) == (
        "At the values nearest to the paper's numbers 1 of 2 are within 15 %, the mean distance is 25 %; "
        "at the best parameter values 2 are within."
    )


def test_a_claim_that_the_design_has_not_judged_starts_from_the_best_of_the_claims_within_it(
    study: Path, simulated: list[Any]
) -> None:
    studies.search_space("t", only="t-f1", settings=12, trials=0)
    found = folder.find("t")[0]
    one, both = found.claims
    design = search.read(found)
    assert design is not None
    # The point of t-f1 is one of t-n1, not the other way round.
    assert design.best(found, both, 3) == design.best(found, one, 3) != []
    alone = replace(design, claims={"t-n1": design.claims["t-f1"]})
    assert alone.best(found, one, 3) == []


EXTRA = """
[[unsaid]]
name = "extra"
base = 1
between = [1, 2]
why = "nothing reads it"
"""


def test_a_design_serves_the_claims_that_no_changed_parameter_touches(
    study: Path, simulated: list[Any]
) -> None:
    studies.search_space("t", settings=6, seeds=2, trials=0)
    before = json.loads((study / "search.json").read_text())["claims"]
    assert list(before) == ["t-f1", "t-n1"]
    # A parameter more, which touches no claim: searching one claim keeps what is known of the other.
    (study / "study.toml").write_text(STUDY + EXTRA)
    with pytest.raises(StudyError, match="made for other parameters"):
        search.read(studies.find("t")[0])
    studies.search_space("t", only="t-f1", settings=6, seeds=2, trials=0)
    assert json.loads((study / "search.json").read_text())["claims"] == before
    # Its bounds change: no claim is lost.
    (study / "study.toml").write_text(STUDY + EXTRA.replace("[1, 2]", "[1, 3]"))
    known = search.read(studies.find("t")[0])
    assert known is not None
    assert list(known.claims) == ["t-f1", "t-n1"]
    # Those of the rate grow: the design's values are still possible, and the design says which they were.
    (study / "study.toml").write_text(STUDY.replace("[1, 10]", "[1, 20]") + EXTRA)
    found = studies.find("t")[0]
    known = search.read(found)
    assert known is not None
    assert list(known.claims) == ["t-f1", "t-n1"]
    ((parameter, values),) = [item for item in known.narrower(found) if item[0].name == "rate"]
    low, high = (float(end) for end in values.split(" to "))
    assert 1 <= low < high <= 10
    assert parameter.name == "rate"
    # One claim is judged at the settings of the kept design, as the other one is.
    studies.search_space("t", only="t-f1", settings=6, seeds=2, trials=0)
    assert json.loads((study / "search.json").read_text())["claims"] == before
    # They shrink: both claims are lost, as it touches both.
    (study / "study.toml").write_text(STUDY.replace("[1, 10]", "[1, 5]") + EXTRA)
    known = search.read(studies.find("t")[0])
    assert known is not None
    assert not known.claims
    studies.search_space("t", only="t-f1", settings=6, seeds=2, trials=0)
    assert list(json.loads((study / "search.json").read_text())["claims"]) == ["t-f1"]


def test_a_statement_more_is_judged_where_no_other_fails(study: Path, simulated: list[Any]) -> None:
    eight = STUDY.replace("than = 3\n", "than = 8\n")
    (study / "study.toml").write_text(eight)
    studies.search_space("t", only="t-f1", settings=6, seeds=2, trials=0)
    (before,) = json.loads((study / "search.json").read_text())["claims"]["t-f1"]["statements"].values()
    assert 0 < before.count("f") < 6
    more = '''says = "Less than twelve."
kind = "ordering"
test = "below"
quantity = "value"
than = 12

[[claim]]
id = "t-n1"'''
    (study / "study.toml").write_text(eight.replace('[[claim]]\nid = "t-n1"', f"[[claim.statement]]\n{more}"))
    known = search.read(studies.find("t")[0])
    assert known is not None
    # At some settings the new statement may decide: the claim is unknown.
    assert "t-f1" not in known.claims
    simulated.clear()
    studies.search_space("t", only="t-f1", settings=6, seeds=2, trials=0)
    known = search.read(studies.find("t")[0])
    assert known is not None
    found = known.claims["t-f1"]
    assert len({rate for _, rate, _ in simulated}) == 6 - before.count("f")
    verdicts = dict(zip(("old", "new"), found.verdicts.values(), strict=True))
    wanted = ["holds" if 2 * setting["rate"] < 12 else "fails" for setting in known.settings]
    judged = [index for index, letter in enumerate(before) if letter != "f"]
    assert [verdicts["new"][index] for index in judged] == [wanted[index] for index in judged]
    # Where it was not judged, it is not counted.
    place = found.place("Less than twelve.")
    assert (place.holds + place.fails, place.inconclusive) == (len(judged), 0)


MECHANISM = """
[[claim.mechanism]]
against = "More than three."
says = "the second number is not above 2.5"
test = "below"
quantity = "value"
than = 2.5

[[claim.mechanism]]
against = "More than three."
says = "the second number is not above 1"
test = "below"
quantity = "value"
than = 1

[[claim]]
id = "t-n1"
"""


def test_a_statement_that_fails_is_told_with_its_margin_and_why(
    study: Path, simulated: list[Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(study)
    # Of 1 to 1.1 the most at x = 2 is 2.2: three is out of reach.
    text = STUDY.replace("[1, 10]", "[1, 1.1]").replace('\n[[claim]]\nid = "t-n1"\n', MECHANISM)
    (study / "study.toml").write_text(text)
    studies.search_space("t", only="t-f1", settings=0, trials=4)
    (claim,) = studies.reproduce("t", only="t-f1").claims
    count = studies.readings.read(folder.find("t")[0])["t-f1"].evaluated
    assert claim.verdict == f"not reproduced at the best of {count} settings; random settings not tried"
    best = claim.to_dict()["best"]
    assert [(item["says"], item["verdict"]) for item in best["mechanisms"]] == [
        ("the second number is not above 2.5", "holds"),
        ("the second number is not above 1", "fails"),
    ]
    # In the unit of what is measured, and only the reason that is shown.
    reached = 2.5 * best["mechanisms"][0]["estimate"]
    short = 100 * (1 - reached / 3)
    why = f"the second number is not above 2.5 (value {reached:.3g} "
    # It was seen, not removed: no cause.
    assert f"misses its threshold by {short:.2g} %; seen there: {why}" in claim.told.reading
    assert "cause not found" in claim.told.reading
    assert "because" not in claim.told.reading
    assert "above 1 " not in claim.told.reading
    # The model changes; the kept reading is measured on its seeds again, without a search.
    kept_before = studies.readings.read(folder.find("t")[0])["t-f1"]
    simulated.clear()
    (study / "runs.py").write_text(RUNS.replace('"value": result', '"value": result + 10'))
    studies.search_space("t", only="t-f1", settings=0, trials=0)
    after = studies.readings.read(folder.find("t")[0])["t-f1"]
    # Besides, as it holds now, what turns it over is looked for on the seeds of the search.
    fresh = {seed for _, _, seed in simulated if seed > 5000}
    assert fresh == set(range(after.seeds[0], after.seeds[1] + 1))
    assert (after.setting, after.seeds, after.evaluated) == (
        kept_before.setting,
        kept_before.seeds,
        kept_before.evaluated,
    )
    assert [part.answer for part in after.parts] == ["holds"]
    # Or on more seeds than the search gave it.
    studies.search_space("t", only="t-f1", settings=0, trials=0, seeds=20)
    assert studies.readings.read(folder.find("t")[0])["t-f1"].seeds == (5001, 5020)
    assert [part.answer for part in after.mechanisms] == ["fails", "fails"]


@pytest.mark.parametrize(("rate", "is_cause"), [(5, True), (1.2, False)])
def test_a_cause_is_one_that_was_removed(
    study: Path, simulated: list[Any], rate: float, is_cause: bool
) -> None:
    removed = MECHANISM.replace("than = 2.5\n", f"than = 2.5\nwithout = {{ rate = {rate} }}\n")
    (study / "study.toml").write_text(STUDY.replace('\n[[claim]]\nid = "t-n1"\n', removed))
    # One setting, the base: 2 at x = 2, short of three. With a rate of 5 it is 10, with 1.2 it is 2.4.
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    kept_reading = studies.readings.read(folder.find("t")[0])["t-f1"]
    assert kept_reading.removed == {"the second number is not above 2.5": "holds" if is_cause else "fails"}
    (claim,) = studies.reproduce("t", only="t-f1").claims
    assert ("because the second number" in claim.told.reading) is is_cause
    assert ("without that it holds" in claim.told.reading) is is_cause
    assert ("cause not found" in claim.told.reading) is not is_cause


def test_a_statement_that_names_its_estimate_is_told_by_it(study: Path, simulated: list[Any]) -> None:
    function = 'test = "function"\nfunction = "order_in_most_runs"\n[claim.statement.options]\n'
    pairs = (
        'above = [[{ x = 2 }, { x = 2 }]]\nestimate = "share of the runs"\nrule = "over half of the runs"\n'
    )
    test = 'test = "above"\nquantity = "value"\nthan = 3\n'
    assert test in STUDY
    text = STUDY.replace(test, f'quantity = "value"\n{function}{pairs}').replace(
        "confirm = 13", "confirm = 12"
    )
    (study / "study.toml").write_text(text)
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    (claim,) = studies.reproduce("t", only="t-f1").claims
    assert (
        "Fails at the best parameter values: More than three (share of the runs 0 [≤ 0.221])."
        in claim.told.reading
    )


def test_a_kept_reason_is_told_by_its_name(study: Path, simulated: list[Any]) -> None:
    """A mechanism that came after the search has not been measured, and takes no other's place."""
    text = STUDY.replace("[1, 10]", "[1, 1.1]").replace('\n[[claim]]\nid = "t-n1"\n', MECHANISM)
    (study / "study.toml").write_text(text)
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    first = MECHANISM.index("[[claim.mechanism]]")
    newer = MECHANISM[first:].split("[[claim.mechanism]]")[1].replace("2.5", "2.7")
    (study / "study.toml").write_text(
        text.replace("[[claim.mechanism]]", f"[[claim.mechanism]]{newer}[[claim.mechanism]]", 1)
    )
    (claim,) = studies.reproduce("t", only="t-f1").claims
    (kept, _) = claim.to_dict()["best"]["mechanisms"]
    # The share of its own bound, 2.5.
    assert f"not above 2.5 (value {2.5 * kept['estimate']:.3g} " in claim.told.reading
    assert "not above 2.7" not in claim.told.reading


def test_a_mechanism_is_against_a_statement_of_its_claim(study: Path) -> None:
    other = MECHANISM.replace('against = "More than three."', 'against = "More than four."')
    (study / "study.toml").write_text(STUDY.replace('\n[[claim]]\nid = "t-n1"\n', other))
    with pytest.raises(StudyError, match="is not a statement of its claim"):
        studies.find("t")
    # They are stored by what they say.
    twice = MECHANISM.replace("not above 1", "not above 2.5")
    (study / "study.toml").write_text(STUDY.replace('\n[[claim]]\nid = "t-n1"\n', twice))
    with pytest.raises(StudyError, match="two mechanisms of a claim say the same"):
        studies.find("t")


def test_settings_are_confirmed_in_the_order_of_how_nearly_their_statements_hold(study: Path) -> None:
    (claim, _) = studies.find("t")[0].claims
    base = studies.find("t")[0].space.base

    def trial(*clearances: float) -> guided.Trial:
        return guided.Trial(base, Judged(base, {}, ()), clearances, 3)

    # One clear and one far from it; both by a hair on the wrong side of the bound: 3 - 3 and -0.5 - 0.5.
    clear, thin = trial(8.0, -9.0), trial(-0.5, -0.5)
    # Three clear and one that fails by little or by much; all on the right side by a hair.
    little, much, all_hold = trial(9.0, 9.0, 2.0, -0.6), trial(9.0, 9.0, 9.0, -7.0), trial(0.1, 0.1, 0.1, 0.1)

    def ranked(trials: list[guided.Trial]) -> list[guided.Trial]:
        return sorted(trials, key=lambda item: guided._promise(claim, item), reverse=True)

    assert ranked([thin, clear]) == [clear, thin]
    assert ranked([much, little, all_hold]) == [all_hold, little, much]


def test_the_setting_nearest_to_the_numbers_can_be_run(study: Path, simulated: list[Any]) -> None:
    # More than 1000 is nowhere; 5 and 10 are had at a rate of 5, to within what nine proposals find.
    both = STUDY.replace("margin = 0.1\n", "margin = 0.0001\n")
    (study / "study.toml").write_text(both)
    studies.search_space("t", only="t-n1", settings=0, trials=9)
    reading = studies.readings.read(folder.find("t")[0])["t-n1"]
    assert reading.nearest is not None
    (there,) = studies.reproduce("t", only="t-n1", at="nearest").claims
    assert there.outcome is not None
    assert there.outcome.base.setting == reading.nearest.setting
    assert there.told.measured.startswith("At the setting nearest to the printed numbers, ")
    # Of three numbers the ratio is always 2; the other two are within 15 % or not together.
    within = sum(abs(measured / paper - 1) <= 0.15 for _, paper, measured in reading.nearest.numbers)
    assert within in (1, 3)
    assert f"At the values nearest to the paper's numbers {within} of 3 are within 15 %" in there.told.reading
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    with pytest.raises(StudyError, match="prints no number for t-f1"):
        studies.reproduce("t", only="t-f1", at="nearest")


def test_a_search_goes_on_from_the_kept_nearest_setting(study: Path, simulated: list[Any]) -> None:
    both = STUDY.replace("margin = 0.1\n", "margin = 0.0001\n")
    (study / "study.toml").write_text(both)
    studies.search_space("t", only="t-n1", settings=0, trials=9)
    before = studies.readings.read(folder.find("t")[0])["t-n1"].nearest
    # A single trial is the base, which is farther away.
    studies.search_space("t", only="t-n1", settings=0, trials=1)
    after = studies.readings.read(folder.find("t")[0])["t-n1"].nearest
    assert before is not None
    assert before.setting != folder.find("t")[0].space.base
    assert after == before


def test_a_setting_that_is_not_near_says_what_it_hangs_on(study: Path, simulated: list[Any]) -> None:
    """No rate has both numbers: the nearest setting lies between them."""
    far = STUDY.replace("value = 10,", "value = 20,")
    idle = '[[unsaid]]\nname = "offset"\nbase = 0\nbetween = [0, 1]\nwhy = "not given"\n'
    (study / "study.toml").write_text(far + idle)
    studies.search_space("t", only="t-n1", settings=0, trials=9)
    found = folder.find("t")[0]
    nearest = readings.read(found)["t-n1"].nearest
    assert nearest is not None
    assert nearest.hangs is not None
    # A rate of 1 has 1 and 2 for 5 and 20, one of 10 has 10 and 20: the former is farther from both.
    assert (nearest.hangs.parameter, nearest.hangs.there) == ("rate", 1.0)
    at_one = (math.log(5) + math.log(10) + 0) / 3
    assert nearest.hangs.distance == pytest.approx(at_one, abs=0.01)
    (claim,) = studies.reproduce("t", only="t-n1").claims
    assert "the mean distance is 23 %. It hangs on rate: at 1 it is a factor of 3.7." in claim.told.reading
    assert claim.to_dict()["best"]["nearest_numbers"]["hangs_on"]["parameter"] == "rate"
    # A reading kept before it was looked for gets it when it is measured again.
    path = study / "readings.json"
    data = json.loads(path.read_text())
    del data["claims"]["t-n1"]["nearest"]["hangs"]
    path.write_text(json.dumps(data))
    studies.search_space("t", only="t-n1", settings=0, trials=0)
    after = readings.read(found)["t-n1"].nearest
    assert after == nearest


def test_lines_of_the_terminal_begin_with_what_must_not_be_cut(study: Path, simulated: list[Any]) -> None:
    (study / "study.toml").write_text(STUDY.replace("[1, 10]", "[1, 1.1]").replace("than = 3", "than = 30"))
    studies.search_space("t", only="t-f1", settings=0, trials=1)
    (claim,) = studies.reproduce("t", only="t-f1").claims
    where, rest = claim.told.lines
    assert where == "Best setting: the default values."
    # 2 of 30.
    assert rest == "Misses its threshold by 93 %: More than three."
    lack = answers.Lack("It grows.", 284.0, 12)
    assert lack.brief == 'about 280 more seeds at 12 settings: "It grows"'
    assert answers.Lack("It grows.", 1.0).brief == '1 more seed: "It grows"'
    assert answers.Lack("It grows.", math.inf, 1).brief == 'over 10,000 more seeds at 1 setting: "It grows"'
    assert answers.Lack("It grows.", math.nan).brief == 'more seeds: "It grows"'


def test_a_change_that_takes_the_numbers_hardly_farther_is_said_to_be_none() -> None:
    found = folder.find("c2")[0]
    nearest = readings.Nearest(Setting({}), 0.25, (("a", 10.0, 7.8),), readings.Hangs("rtt_ms", 180.0, 0.49))
    reading = readings.Reading(Setting({}), (), (1, 2), 1, 0.0, (), nearest, None)
    assert telling.numbers_text(found, reading).endswith(
        "25 %. No single change doubles it (round-trip time of Fig. 4: at 180 ms it is 49 %)."
    )
    far = replace(reading, nearest=replace(nearest, hangs=readings.Hangs("rtt_ms", 180.0, 0.5)))
    assert "It hangs on round-trip time of Fig. 4: at 180 ms it is a factor of 1.6." in telling.numbers_text(
        found, far
    )


def test_few_seeds_do_not_decide_what_the_numbers_hang_on(study: Path, simulated: list[Any]) -> None:
    """A parameter that few seeds make look worst is measured on more, beside the next ones."""
    idle = '[[unsaid]]\nname = "lucky"\nbase = 0\nbetween = [0, 1]\nwhy = "not given"\n'
    (study / "study.toml").write_text(STUDY.replace("value = 10,", "value = 20,") + idle)
    # It spoils the three seeds on which changes are tried first, and no other.
    spoilt = 'f"{(setting.rate if setting.lucky < 1 or not 2001 <= seed <= 2003 else 0.01) * 1000:.0f} us"'
    queue = '.set("topology.single_hop.link.queue", f"{100 + setting.lucky:.0f} packets")'
    spoilt = RUNS.replace('f"{setting.rate * 1000:.0f} us")', f"{spoilt}){queue}")
    (study / "runs.py").write_text(spoilt)
    studies.search_space("t", only="t-n1", settings=0, trials=9)
    nearest = readings.read(folder.find("t")[0])["t-n1"].nearest
    assert nearest is not None
    assert nearest.hangs is not None
    assert nearest.hangs.parameter == "rate"


def test_where_all_numbers_are_near_nothing_is_looked_for(study: Path, simulated: list[Any]) -> None:
    studies.search_space("t", only="t-n1", settings=0, trials=40)
    nearest = readings.read(folder.find("t")[0])["t-n1"].nearest
    assert nearest is not None
    assert (nearest.within, nearest.hangs) == (3, None)
