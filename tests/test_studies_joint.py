"""The joint setting: one setting for the claims of a paper, and how a study answers at a setting."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import planted
from cogtcp import Scenario, cli, studies
from cogtcp.running.runner import case as runner_case
from cogtcp.studies import StudyError, exploring, folder, guided, joint, quantities, readings
from study_folders import SCENARIO

if TYPE_CHECKING:
    from pathlib import Path

# Of three claims two hold together, at a rate of 4 to 5; the third needs a rate above 8.
STUDY = """
title = "A test"
question = "Which rate is it?"
main = "t-f2"
paper = "Nobody: Nothing"
seeds = 4
quick_seeds = 2

[[claim]]
id = "t-f1a"
figure = "Fig. 1"
claim = "More than eight at two."
paper = "a sentence"
points = [{ x = [1, 2] }]
[[claim.statement]]
says = "More than eight."
kind = "ordering"
test = "above"
quantity = "value"
of = { x = 2 }
than = 8

[[claim]]
id = "t-f1b"
figure = "Fig. 1"
claim = "Less than five at one."
paper = "a sentence"
points = [{ x = [1, 2] }]
[[claim.statement]]
says = "Less than five."
kind = "ordering"
test = "below"
quantity = "value"
of = { x = 1 }
than = 5

[[claim]]
id = "t-f2"
figure = "Fig. 2"
claim = "More than eight at one."
paper = "another sentence"
points = [{ x = [1, 2] }]
statement = [
  { says = "Above eight.", kind = "ordering", test = "above", quantity = "value", of = { x = 1 }, than = 8 },
  { says = "Above one.", kind = "ordering", test = "above", quantity = "value", of = { x = 1 }, than = 1 },
]

[[claim]]
id = "t-x1"
figure = "beyond"
ours = true
claim = "Less than one."
paper = "nothing"
points = [{ x = 1 }]
[[claim.statement]]
says = "Less than one."
kind = "ordering"
test = "below"
quantity = "value"
of = { x = 1 }
than = 1

[[unsaid]]
name = "rate"
base = 1
between = [1, 10]
why = "not given"

[[unsaid]]
name = "idle"
base = "a"
choices = ["a", "b"]
why = "nothing reads it"
"""

RUNS = """
def scenario(study, setting, point, seed):
    scenario = study.scenario("one").set("run.duration", f"{point.x:.0f} s")
    return scenario.set("topology.single_hop.link.delay", f"{setting.rate * 1000:.0f} us")


def measure(result):
    return {"value": result}
"""


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the study; its simulator is duration times delay [ms], and a part of the seed."""
    path = tmp_path / "studies" / "t"
    (path / "scenarios").mkdir(parents=True)
    (path / "study.toml").write_text(STUDY)
    (path / "runs.py").write_text(RUNS)
    (path / "scenarios" / "one.toml").write_text(SCENARIO)
    monkeypatch.setenv("COGTCP_STUDIES", str(tmp_path / "studies"))
    monkeypatch.chdir(tmp_path)

    def run(scenario: Any, seed: int, trace: str, *, cancel: Any) -> float:
        data = scenario.to_dict()
        delay, unit = data["topology"]["single_hop"]["link"]["delay"].split()
        rate = float(delay) / (1000 if unit == "us" else 1)
        return float(data["run"]["duration"].split()[0]) * rate + seed % 10 / 100

    monkeypatch.setattr(runner_case, "run", run)
    return path


@pytest.fixture
def searched() -> joint.Joint:
    studies.search_space("t", only=["t-f1a", "t-f1b", "t-f2"], settings=0, trials=12)
    studies.search_joint("t", trials=30)
    found = joint.read(folder.find("t")[0])
    assert found is not None
    return found


def kept() -> joint.Joint:
    """Return the joint setting that the study's folder has."""
    there = joint.read(folder.find("t")[0])
    assert there is not None
    return there


def test_the_joint_setting_is_where_most_claims_hold(searched: joint.Joint) -> None:
    # Together: 8 < 2 rate and rate < 5, and rate > 8 with the first: two of three either way.
    assert list(searched.claims) == ["t-f1a", "t-f1b", "t-f2"]
    assert searched.held == 2
    assert searched.seeds == (6001, 6040)
    assert searched.claims["t-f1a"].verdict == "holds"
    (failing,) = [name for name, there in searched.claims.items() if there.verdict != "holds"]
    change = searched.claims[failing].change
    assert change is not None
    # What must change for the third is the rate; what nothing reads is not named.
    assert list(change.values) == ["rate"]
    assert (change.values["rate"] > 8) == (failing == "t-f2")
    assert change.held == len(searched.claims[failing].parts)


def test_the_same_search_gives_the_same_bytes(searched: joint.Joint, study: Path) -> None:
    before = (study / "joint.json").read_bytes()
    (study / "joint.json").unlink()
    studies.search_joint("t", trials=30)
    assert (study / "joint.json").read_bytes() == before
    # Without trials a setting is measured, the kept one or another.
    studies.search_joint("t", trials=0)
    again = joint.read(folder.find("t")[0])
    assert again is not None
    assert (again.setting, again.claims) == (searched.setting, searched.claims)
    studies.search_joint("t", trials=0, at="rate=9.5")
    other = joint.read(folder.find("t")[0])
    assert other is not None
    assert other.setting["rate"] == 9.5


def test_a_search_that_finds_no_better_setting_keeps_the_earlier_one(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies.search_joint("t", trials=0, at="rate=4.5")
    before = kept()
    assert before.held == 2
    # On its few seeds the search takes for the best what is worse on all of the fresh ones.
    found = [before.setting.but(rate=7.0)]
    monkeypatch.setattr(joint, "_searched", lambda *_: (found, 5))
    lines: list[str] = []
    studies.search_joint("t", trials=5, progress=lines.append)
    after = kept()
    assert lines[-1] == "joint: the kept setting stays, 2 of 3 claims"
    assert (after.setting, after.held, after.evaluated) == (before.setting, 2, before.evaluated + 5)
    found[:] = [before.setting.but(rate=4.7)]
    studies.search_joint("t", trials=5)
    same = kept()
    assert same.setting["rate"] == 4.7


def test_the_best_settings_are_judged_on_more_seeds_before_one_is_confirmed(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = folder.find("t")[0].space.base
    # At 4.97 the second claim holds on the first three seeds of the search, and not on twelve.
    best = [base.but(rate=4.97), base.but(rate=6.0), base.but(rate=4.5)]
    monkeypatch.setattr(joint, "_searched", lambda *_: (best, 3))
    monkeypatch.setattr(joint, "CANDIDATES", 1)
    lines: list[str] = []
    studies.search_joint("t", trials=3, progress=lines.append)
    after = kept()
    assert (after.setting["rate"], after.evaluated) == (4.5, 3)
    assert lines[:3] == [
        "joint: 1.0 claims expected at the best 1 of 3, on 12 seeds",
        "joint: 1.0 claims expected at the best 2 of 3, on 12 seeds",
        "joint: 2.0 claims expected at the best 3 of 3, on 12 seeds",
    ]


def test_a_search_can_start_from_several_settings(study: Path) -> None:
    studies.search_joint("t", trials=0, at="rate=4.5")
    lines: list[str] = []
    studies.search_joint("t", trials=1, at="rate=9.5; rate=9.6", progress=lines.append)
    assert [line for line in lines if line.startswith("joint: setting")][:3] == [
        "joint: setting 1, 2 of 3 claims",
        "joint: setting 2, 2 of 3 claims",
        "joint: setting 3, 2 of 3 claims",
    ]
    after = kept()
    # The kept one was counted before; a move may have been made besides.
    assert after.evaluated >= 4
    with pytest.raises(StudyError, match="can be"):
        studies.search_joint("t", trials=1, at="rate=9.5; rate=96")


def test_the_settings_at_which_a_claim_was_judged_are_counted(searched: joint.Joint) -> None:
    found = folder.find("t")[0]
    tried = {name: there.tried for name, there in searched.claims.items()}
    # A move is given up before all claims are judged: none was judged at more settings than were looked at.
    assert all(1 < count <= searched.evaluated for count in tried.values())
    assert min(tried.values()) < searched.evaluated
    own, both = readings.read(found), joint.with_readings(found)
    assert {name: both[name].evaluated for name in tried} == {
        name: own[name].evaluated + tried[name] for name in tried
    }
    # More of the same search adds to it.
    studies.search_joint("t", trials=5)
    more = joint.read(found)
    assert more is not None
    assert all(more.claims[name].tried > tried[name] for name in tried)


def test_a_changed_claim_drops_the_joint_setting(searched: joint.Joint, study: Path) -> None:
    (study / "study.toml").write_text(STUDY.replace("than = 5\n", "than = 6\n"))
    assert joint.read(folder.find("t")[0]) is None
    with pytest.raises(StudyError, match="cogtcp reproduce t --search --joint"):
        studies.reproduce("t", at="joint")


def test_a_claim_is_judged_again_only_where_what_touches_it_changes(study: Path) -> None:
    from cogtcp.running.runner import Runner
    from cogtcp.studies.context import Context

    found = folder.find("t")[0]
    bench = joint.Bench(Context(found, (), False, Runner()), [row for row in found.claims if not row.ours])
    base = found.space.base
    bench.score(base)
    bench.score(base.but(idle="b"))
    assert bench.judged == 1
    bench.score(base.but(rate=2.0))
    assert bench.judged == 2


def test_a_move_is_given_up_where_its_claim_comes_no_nearer(study: Path) -> None:
    from cogtcp.running.runner import Runner
    from cogtcp.studies.context import Context

    found = folder.find("t")[0]
    rows = {row.id: row for row in found.claims if not row.ours}
    bench = joint.Bench(Context(found, (), False, Runner()), list(rows.values()))

    def may(here: float, moved: float, claim: str) -> bool:
        at = found.space.base.but
        return bench.may_replace(at(rate=here), at(rate=moved), rows[claim])

    # At 6 the first claim holds. For the second, below 5, 7 is farther: nothing else is judged.
    assert not may(6.0, 7.0, "t-f1b")
    assert {key[0] for key in bench._known if key[1] == (7.0,)} == {"t-f1b"}
    # For the third, above 8, it is nearer, and nothing is lost.
    assert may(6.0, 7.0, "t-f2")
    # From 4.5, where two hold, 6 is nearer to the third and loses the second.
    assert not may(4.5, 6.0, "t-f2")


def test_a_claim_that_fails_wherever_it_was_tried_does_not_steer(study: Path) -> None:
    impossible = STUDY.replace("Less than five at one.", "Less than none.").replace(
        "than = 5\n", "than = 0\n"
    )
    (study / "study.toml").write_text(impossible)
    studies.search_space("t", only="t-f1b", settings=0, trials=4)
    lines: list[str] = []
    studies.search_joint("t", trials=8, progress=lines.append)
    # Two claims steer; the third is judged on the fresh seeds all the same.
    assert all(line.endswith("of 2 claims") for line in lines if line.startswith("joint: setting"))
    found = joint.read(folder.find("t")[0])
    assert found is not None
    assert found.held == 2
    assert found.claims["t-f1b"].verdict == "fails"


def test_it_is_shown_first(searched: joint.Joint, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "t"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[1] == "2 of 3 claims hold together at one setting: cogtcp reproduce t --joint"
    page = studies.reproduce("t").report()
    first = page[page.index("<h1>") : page.index("<h2>")]
    assert "Which rate is it?" in first
    assert "another sentence" in first
    assert (
        f"2 of 3 claims hold together at one setting (40 fresh seeds): rate {searched.setting['rate']:.3g}"
        in first
    )
    main = first[first.index("Ours, at the joint setting") : first.index("</figure>")]
    assert ">ours<" in main
    assert "default values" not in main
    assert "holds if changed" in first
    assert cli.main(["reproduce", "t", "--joint"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[1] == "At the joint setting, 2 of 3 claims of the paper hold."
    assert cli.main(["reproduce", "t-f1a", "--scenario", "--joint"]) == 0
    scenario = Scenario.from_toml(capsys.readouterr().out)
    delay = scenario.to_dict()["topology"]["single_hop"]["link"]["delay"]
    assert quantities.seconds(delay) == pytest.approx(searched.setting["rate"] / 1000)


def test_a_setting_that_is_named_is_answered_for(capsys: pytest.CaptureFixture[str]) -> None:
    studies.search_space("t", only="t-f2", settings=0, trials=12)
    assert cli.main(["reproduce", "t-f2", "--at", "rate=2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "At rate=2, 0 of 1 claims of the paper hold."
    row = lines.index(next(line for line in lines if line.startswith("t-f2: ")))
    assert lines[row + 1] == "  At rate=2, of its 2 statements 1 holds, 1 fails."
    # What fails there, whole, and nothing of another setting.
    assert lines[row + 2].startswith("  Not there: Above eight (fails: ")
    assert "Best reading" not in "\n".join(lines)


def test_a_page_names_the_setting_that_was_asked_for(searched: joint.Joint) -> None:
    assert searched.held
    for at, place in (("rate=2", "rate=2"), ("joint", "joint setting"), ("base", "default values")):
        found = studies.reproduce("t", at=at, quick=True)
        page = found.report()
        claims = page[page.index("<h2>") :]
        for heading in (r"<th[^>]*>{}", r"Points: at (?:the )?{}, mean"):
            assert re.search(heading.format(place), claims), at
            assert bool(re.search(heading.format("default values"), claims)) == (at == "base"), at
        told = found.to_dict()
        assert (told["at"], told["seeds"], told["quick"]) == (at, list(found.seeds), True)


def test_a_quick_run_says_so(searched: joint.Joint, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "t", "--joint", "--quick"]) == 0
    heads = capsys.readouterr().out.splitlines()[1:4]
    assert heads[1] == f"In full, {searched.confirmed}."
    assert heads[2].startswith("A quick run (")


def test_the_table_fits_and_a_file_has_whole_lines(capsys: pytest.CaptureFixture[str], study: Path) -> None:
    long = "A claim that is long: " + "word " * 60
    (study / "study.toml").write_text(STUDY.replace("Less than five at one.", long.strip()))
    assert cli.main(["reproduce", "t"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "The table answers for the default values." in lines
    assert "Paper: Nobody: Nothing." in lines
    head = next(index for index, line in enumerate(lines) if line.startswith("in the paper"))
    table = lines[head : lines.index("", head)]
    assert max(len(line.rstrip()) for line in table) <= 100
    assert re.split("  +", table[0].rstrip())[:4] == ["in the paper", "claim", "holds?", "share"]
    # A reader has a figure of the paper, and looks for its row.
    rows = [re.split("  +", line.rstrip())[:2] for line in table[1:] if line[0] != " "]
    assert rows == [["Fig. 1", "t-f1a"], ["Fig. 1", "t-f1b"], ["Fig. 2", "t-f2"], ["beyond", "t-x1"]]
    assert " ".join(" ".join(line.split()) for line in table).count("word") == 60
    assert not any("…" in line for line in lines)


def test_a_figure_names_its_claims() -> None:
    found = studies.reproduce("t", only="t-f1", quick=True)
    assert [claim.row.id for claim in found.claims] == ["t-f1a", "t-f1b"]
    assert [claim.row.id for claim in studies.reproduce("t-f1", quick=True).claims] == ["t-f1a", "t-f1b"]
    assert [row.id for row in folder.chosen(folder.find("t")[0], ["t-f2"])] == ["t-f2"]
    with pytest.raises(StudyError, match="no claim"):
        studies.reproduce("t", only="t-f")


def test_a_quick_run_draws_the_best_values_too() -> None:
    studies.search_space("t", only="t-f2", settings=0, trials=12)
    (claim,) = studies.reproduce("t-f2", quick=True).claims
    assert claim.outcome is not None
    assert claim.outcome.best is not None
    assert claim.outcome.best.setting == readings.read(folder.find("t")[0])["t-f2"].setting
    assert "best values" in {curve.name for curve in claim.outcome.figures[0].curves}


def test_the_search_finds_planted_corners() -> None:
    # Twenty corners of at most 0.5 % of the space; 45 of fifty: python tests/planted.py.
    corners = range(20)
    assert all(planted.planted(number).share <= 0.005 for number in corners)
    found = [planted.found_in(exploring.explored, guided.objective, number, 300) for number in corners]
    assert sum(count is not None for count in found) >= 18, found


def test_json_of_the_cli_names_the_file(capsys: pytest.CaptureFixture[str], study: Path) -> None:
    studies.search_space("t", only="t-f2", settings=0, trials=4)
    assert cli.main(["reproduce", "t", "--search", "--joint", "--trials", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"joint": str(study / "joint.json")}
    assert cli.main(["reproduce", "t", "--joint", "--at", "rate=2"]) == 2
