"""The study framework: folders, selection, runs that are kept, the result's form. No simulation here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import OutputError, RunError, studies
from cogtcp.running.runner import case as runner_case
from cogtcp.showing.report import svg
from cogtcp.studies.drawing import draw
from study_folders import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STUDY = """
title = "A test"
paper = "Nobody: Nothing"
seeds = 3
quick_seeds = 2

[[claim]]
id = "t-f1"
figure = "Fig. 1"
claim = "It is ten."
paper = "10"
shows = ["a_table"]

[[claim.points]]
x = 1

[[claim.statement]]
says = "The value is ten."
kind = "magnitude"
test = "near"
quantity = "value"
than = 10
margin = 0.1

[[claim.plot]]
id = "f1"
title = "A figure"
x = "x"
quantity = "value"
x_label = "x"
y_label = "y"

[[claim]]
id = "t-f2"
figure = "Fig. 2"
claim = "It grows."
paper = "a curve"
ours = true

[[claim.points]]
x = [1, 2]

[[claim.statement]]
says = "The value grows."
kind = "ordering"
test = "rises"
quantity = "value"
over = "x"

[[unsaid]]
name = "queue"
base = 100
between = [50, 200]
unit = "packets"
why = "not given"
"""

RUNS = """
def scenario(study, setting, point, seed):
    return study.scenario("one").set("run.duration", f"{point.x:.0f} s")


def measure(result):
    return {"value": result}
"""

EXHIBITS = """
from cogtcp.studies import Table


def a_table(study, base):
    return [Table("A table", ["name", "value [s]"], [["<b>", "1"]])]
"""

FIGURE = """
source = "read from text"
caption = "A curve"
[[sentence]]
section = "1"
text = "It says ten."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    study = tmp_path / "studies" / "t"
    (study / "scenarios").mkdir(parents=True)
    (study / "study.toml").write_text(STUDY)
    (study / "figures").mkdir()
    (study / "figures" / "f1.toml").write_text(FIGURE)
    (study / "runs.py").write_text(RUNS)
    (study / "exhibits.py").write_text(EXHIBITS)
    (study / "scenarios" / "one.toml").write_text(SCENARIO)
    monkeypatch.setenv("COGTCP_STUDIES", str(tmp_path / "studies"))
    return study


def _value(scenario: Any, seed: int) -> float:
    """Return ten a second, and a hundredth of the seed."""
    return 10 * float(scenario.to_dict()["run"]["duration"].split()[0]) + seed / 100


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace the simulator by `_value`. Returns the seeds run."""
    seeds: list[int] = []

    def run(scenario: Any, seed: int, trace: str, *, cancel: Any) -> float:
        seeds.append(seed)
        return _value(scenario, seed)

    monkeypatch.setattr(runner_case, "run", run)
    return seeds


def test_result_has_exactly_the_documented_form(folder: Path, simulated: list[int]) -> None:
    result = studies.reproduce("t")
    document = json.loads(result.to_json())
    assert list(document) == ["study", "at", "seeds", "quick", "claims"]
    assert (document["at"], document["seeds"], document["quick"]) == ("base", [1, 2, 3], False)
    assert document["study"] == "t"
    told = ["id", "figure", "claim", "paper", "ours", "verdict", "measured", "why"]
    found = ["answer", "base", "share", "statements", "best"]
    assert [list(claim) for claim in document["claims"]] == [told + found] * 2
    first, second = document["claims"]
    # Nothing was searched. All holds at the base, which is a reading; of the space nothing is known.
    assert (first["id"], first["base"]) == ("t-f1", "holds")
    assert first["verdict"] == "reproduced, random settings not tried"
    # Values 10.01, 10.02, 10.03: mean ratio 1.002.
    (statement,) = first["statements"]
    low, high = statement["base"]["ci"]
    assert low < 1.002 < high
    assert (first["ours"], second["ours"]) == (False, True)
    assert second["statements"][0]["base"]["verdict"] == "holds"
    # Both claims have the point x = 1: its runs are made once.
    assert sorted(simulated) == [1, 1, 2, 2, 3, 3]


def test_one_seed_has_no_interval_and_decides_nothing(folder: Path, simulated: list[int]) -> None:
    (claim,) = json.loads(studies.reproduce("t", only="t-f1", seeds=1).to_json())["claims"]
    assert (claim["statements"][0]["base"]["ci"], claim["base"]) == (None, "inconclusive")


def test_seeds_and_quick(folder: Path, simulated: list[int]) -> None:
    assert studies.reproduce("t", only="t-f1").seeds == (1, 2, 3)
    assert studies.reproduce("t", only="t-f1", quick=True).seeds == (1, 2)
    assert studies.reproduce("t", only="t-f1", quick=True, seeds=4).seeds == (1, 2, 3, 4)


def test_the_id_of_a_claim_names_its_study(folder: Path, simulated: list[int]) -> None:
    result = studies.reproduce("t-f2")
    assert (result.study.name, [claim.row.id for claim in result.claims]) == ("t", ["t-f2"])
    assert sorted(simulated) == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"study": "tt"}, "did you mean 't'"),
        ({"study": "zzz"}, "known: t"),
        ({"study": "t", "only": "t-f9"}, "no claim 't-f9'; did you mean 't-f"),
        ({"study": "t", "seeds": 0}, "at least one seed"),
    ],
)
def test_unknown_names_and_counts_are_refused(folder: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(studies.StudyError, match=message):
        studies.reproduce(**arguments)


def test_finished_runs_are_not_run_again(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    first = studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    assert sorted(simulated) == [1, 2, 3]
    second = studies.reproduce("t", only="t-f1", seeds=4, out=tmp_path / "out")
    assert sorted(simulated) == [1, 2, 3, 4]
    third = studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    assert sorted(simulated) == [1, 2, 3, 4]
    assert third.to_json() == first.to_json() != second.to_json()


def test_interrupted_runs_go_on_where_they_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def run(scenario: Any, seed: int, trace: str, *, cancel: Any) -> float:
        if seed == 3 and len(done) == 2:
            raise KeyboardInterrupt
        done.append(seed)
        return 10.0

    monkeypatch.setattr(runner_case, "run", run)
    with pytest.raises(KeyboardInterrupt):
        studies.reproduce("t", only="t-f1", jobs=1, out=tmp_path / "out")
    assert done == [1, 2]
    assert not (tmp_path / "out" / "claims.json").exists()
    done.append(0)
    studies.reproduce("t", only="t-f1", jobs=1, out=tmp_path / "out")
    assert done == [1, 2, 0, 3]


def test_changed_study_code_runs_anew(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    (folder / "runs.py").write_text(RUNS.replace('{"value": result}', '{"value": 2 * result}'))
    result = studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    assert len(simulated) == 6
    assert _at_base(result) == ["fails"]


def _at_base(result: studies.StudyResult) -> list[str]:
    return [claim.outcome.base.verdict for claim in result.claims if claim.outcome is not None]


def test_damaged_record_is_run_again(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    path = next((tmp_path / "out" / "runs").iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0].replace(b"value", b"vain."), *lines[1:]]))
    studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    assert len(simulated) == 4


def test_failed_run_leaves_its_claim_unmeasured_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(scenario: Any, seed: int, *_: Any, **__: Any) -> float:
        if "2 s" in scenario.to_dict()["run"]["duration"]:
            raise RunError("out of luck")
        return _value(scenario, seed)

    monkeypatch.setattr(runner_case, "run", run)
    result = studies.reproduce("t")
    first, second = result.claims
    assert _at_base(result) == ["holds"]
    assert first.outcome is not None
    assert second.outcome is None
    assert second.verdict == "not measured"
    assert "one, seed" in second.told.why
    assert "out of luck" in second.told.why
    assert "out of luck" in result.report()


def test_progress_counts_recalled_and_new_runs(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    studies.reproduce("t-f1", seeds=2, out=tmp_path / "out", progress=lambda *counts: seen.append(counts))
    seen.clear()
    studies.reproduce("t-f1", seeds=3, out=tmp_path / "out", progress=lambda *counts: seen.append(counts))
    assert seen[0] == (2, 3)
    assert seen[-1] == (3, 3)


def test_output_folder_is_written_and_recognised(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    from cogtcp.model.output import is_ours

    out = tmp_path / "deep" / "out"
    result = studies.reproduce("t", out=out, command="cogtcp reproduce t")
    assert (out / "claims.json").read_text() == result.to_json()
    page = (out / "report.html").read_text()
    for text in (
        "It says ten.",
        "cogtcp reproduce t",
        "&lt;b&gt;",
        "A figure",
        "queue",
        "within 10 % of 10",
        "<svg",
    ):
        assert text in page
    assert "<b>" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert is_ours(out)


def test_foreign_output_folder_is_refused_or_put_aside(
    folder: Path, simulated: list[int], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    with pytest.raises(OutputError, match="--force"):
        studies.reproduce("t", out=out)
    assert simulated == []
    studies.reproduce("t", out=out, force=True)
    assert (tmp_path / "out.old-1" / "thesis.tex").read_text() == "precious"
    assert (out / "claims.json").exists()


def test_output_that_is_a_file_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        studies.reproduce("t", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('title = "A test"', ""), "`title` must be a text"),
        (lambda text: text.replace("seeds = 3", "seeds = 1"), "at least 2"),
        (lambda text: text.replace('figure = "Fig. 1"', 'figur = "Fig. 1"'), "unknown key `figur`"),
        (lambda text: text.replace("t-f2", "t-f1"), "ids that differ"),
        (lambda text: text + "[[", "study.toml"),
        (lambda text: text.replace('says = "The value grows."', ""), "a statement needs `says`"),
        (lambda text: text.replace("[[claim.points]]\nx = [1, 2]", ""), "claim t-f2 needs"),
    ],
)
def test_wrong_study_folder_is_explained(folder: Path, change: Callable[[str], str], message: str) -> None:
    (folder / "study.toml").write_text(change(STUDY))
    with pytest.raises(studies.StudyError, match=message):
        studies.reproduce("t")


def test_missing_functions_are_named(folder: Path) -> None:
    (folder / "runs.py").write_text(RUNS.replace("def measure", "def measured"))
    with pytest.raises(studies.StudyError, match="no function `measure`"):
        studies.reproduce("t")


def test_named_folder_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COGTCP_STUDIES", str(tmp_path / "nowhere"))
    with pytest.raises(studies.StudyError, match="COGTCP_STUDIES"):
        studies.list_studies()


def test_runs_may_lie_in_several_files(folder: Path, simulated: list[int]) -> None:
    head, tail = RUNS.split("def measure")
    (folder / "measuring.py").write_text("def measure" + tail)
    (folder / "runs.py").write_text("from .measuring import measure\n" + head)
    assert _at_base(studies.reproduce("t")) == ["holds", "holds"]
    # A changed file is read again.
    (folder / "measuring.py").write_text("def measure" + tail.replace("result}", "-result}"))
    assert _at_base(studies.reproduce("t-f2")) == ["fails"]


def test_surface_is_drawn_cell_by_cell() -> None:
    surface = studies.Surface(
        "panel", (0.1, 0.2), (1.0, 2.0), ((10, 20), (30, float("nan"))), mark=(0.2, 1.0)
    )
    figure = studies.Figure("f", "A surface", "x", "y", [], "what", surfaces=[surface])
    text = svg.draw(draw(figure))
    assert [said for said in ("10", "20", "30", "panel", "0.1", "2") if f">{said}<" not in text] == []
    assert ">nan<" not in text
    # Shades are shares of the greatest, the mark is a frame.
    assert text.count("<title>") == 3
    assert 'opacity="0.6"' in text
    assert text.count('stroke="var(--ink)"') == 1
