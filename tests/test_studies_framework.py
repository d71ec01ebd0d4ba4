"""The study framework: folders, selection, runs that are kept, the result's form. No simulation here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import OutputError, RunError, studies
from cogtcp.runner import case as runner_case
from cogtcp.studies.drawing import draw

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

[[claim]]
id = "t-f2"
figure = "Fig. 2"
claim = "It grows."
paper = "a curve"

[[unsaid]]
name = "queue"
base = "100 packets"
range = "verdict: 50 packets"
why = "not given"
"""

CLAIMS = """
from cogtcp.studies import Case, Context, Curve, Figure, Measured, Table, claim, verdicts


@claim("t-f1")
def ten(study: Context) -> Measured:
    scenario = study.scenario("one")
    records = study.run([Case(scenario, seed, measure) for seed in study.seeds])
    finding = verdicts.equivalent([record["value"] for record in records], 10, 0.1)
    curve = Curve("points", [1], [10], [9], [11])
    figure = Figure("f1", "A figure", "x", "y", [curve], "what", ["It says ten."])
    table = Table("A table", ["name", "value [s]"], [["<b>", "1"]])
    ci = (finding.low, finding.high)
    return Measured(finding.verdict, finding.statement, ci, "TOST", "why", [figure], [table])


@claim("t-f2")
def grows(study: Context) -> Measured:
    finding = verdicts.increasing([[1.0] * len(study.seeds), [2.0] * len(study.seeds)])
    return Measured(finding.verdict, finding.statement, (finding.low, finding.high), "trend", "so", [])


def measure(result):
    return {"value": result}
"""

SCENARIO = """
name = "one"
[run]
duration = "1 s"
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "10 ms" }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    study = tmp_path / "studies" / "t"
    (study / "scenarios").mkdir(parents=True)
    (study / "study.toml").write_text(STUDY)
    (study / "claims.py").write_text(CLAIMS)
    (study / "scenarios" / "one.toml").write_text(SCENARIO)
    monkeypatch.setenv("COGTCP_STUDIES", str(tmp_path / "studies"))
    return study


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace the simulator: a run's result is 10 plus a hundredth of its seed. Returns the seeds run."""
    seeds: list[int] = []

    def run(scenario: Any, seed: int, trace: str, *, cancel: Any) -> float:
        seeds.append(seed)
        return 10 + seed / 100

    monkeypatch.setattr(runner_case, "run", run)
    return seeds


def test_result_has_exactly_the_documented_form(folder: Path, simulated: list[int]) -> None:
    result = studies.reproduce("t")
    document = json.loads(result.to_json())
    assert list(document) == ["study", "claims"]
    assert document["study"] == "t"
    keys = ["id", "figure", "claim", "paper", "measured", "ci", "verdict", "test", "why"]
    assert [list(claim) for claim in document["claims"]] == [keys, keys]
    first, second = document["claims"]
    assert (first["id"], first["verdict"]) == ("t-f1", "holds")
    # Values 10.01, 10.02, 10.03: mean ratio 1.002.
    assert first["ci"][0] < 1.002 < first["ci"][1]
    assert (second["id"], second["verdict"], second["ci"]) == ("t-f2", "holds", [0.5, 0.5])


def test_a_verdict_is_that_of_its_settings() -> None:
    def measured(verdict: Any, **settings: Any) -> studies.Measured:
        return studies.Measured(verdict, "m", None, "t", "w", settings=settings)

    found = measured("unclear", base="differs", long="holds", short="differs")
    assert found.base == "differs"
    assert found.over_settings == ("base: differs; of 3 settings 1 hold, 2 differ")
    assert measured("holds").over_settings == ""
    assert measured("holds").base == "holds"
    with pytest.raises(ValueError, match="not that of the settings"):
        measured("holds", base="holds", long="unclear")


def test_one_seed_has_no_interval_and_decides_nothing(folder: Path, simulated: list[int]) -> None:
    (claim,) = json.loads(studies.reproduce("t", only="t-f1", seeds=1).to_json())["claims"]
    assert (claim["ci"], claim["verdict"]) == (None, "unclear")


def test_seeds_and_quick(folder: Path, simulated: list[int]) -> None:
    assert studies.reproduce("t", only="t-f1").seeds == (1, 2, 3)
    assert studies.reproduce("t", only="t-f1", quick=True).seeds == (1, 2)
    assert studies.reproduce("t", only="t-f1", quick=True, seeds=4).seeds == (1, 2, 3, 4)


def test_the_id_of_a_claim_names_its_study(folder: Path, simulated: list[int]) -> None:
    result = studies.reproduce("t-f2")
    assert (result.study.name, [claim.row.id for claim in result.claims]) == ("t", ["t-f2"])
    assert simulated == []


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
    (folder / "claims.py").write_text(CLAIMS.replace('{"value": result}', '{"value": 2 * result}'))
    result = studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    assert len(simulated) == 6
    assert result.claims[0].result.verdict == "differs"


def test_damaged_record_is_run_again(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    path = next((tmp_path / "out" / "runs").iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0].replace(b"value", b"vain."), *lines[1:]]))
    studies.reproduce("t", only="t-f1", out=tmp_path / "out")
    assert len(simulated) == 4


def test_failed_run_makes_its_claim_unclear_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any, **__: Any) -> float:
        raise RunError("out of luck")

    monkeypatch.setattr(runner_case, "run", run)
    first, second = studies.reproduce("t").claims
    assert first.result.verdict == "unclear"
    assert "one, seed" in first.result.why
    assert "out of luck" in first.result.why
    assert second.result.verdict == "holds"


def test_progress_counts_recalled_and_new_runs(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    studies.reproduce("t", seeds=2, out=tmp_path / "out", progress=lambda *counts: seen.append(counts))
    seen.clear()
    studies.reproduce("t", seeds=3, out=tmp_path / "out", progress=lambda *counts: seen.append(counts))
    assert seen[0] == (2, 3)
    assert seen[-1] == (3, 3)


def test_output_folder_is_written_and_recognised(folder: Path, simulated: list[int], tmp_path: Path) -> None:
    from cogtcp.output import is_ours

    out = tmp_path / "deep" / "out"
    result = studies.reproduce("t", out=out, command="cogtcp reproduce t")
    assert (out / "claims.json").read_text() == result.to_json()
    page = (out / "report.html").read_text()
    for text in ("It says ten.", "cogtcp reproduce t", "&lt;b&gt;", "A figure", "queue", "TOST", "<svg"):
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
        (lambda text: text.replace("t-f2", "t-f3"), "no test for t-f3"),
    ],
)
def test_wrong_study_folder_is_explained(folder: Path, change: Callable[[str], str], message: str) -> None:
    (folder / "study.toml").write_text(change(STUDY))
    with pytest.raises(studies.StudyError, match=message):
        studies.reproduce("t")


def test_test_without_a_claim_is_refused(folder: Path) -> None:
    (folder / "claims.py").write_text(CLAIMS + '\n\n@claim("t-f9")\ndef stray(study):\n    return None\n')
    with pytest.raises(studies.StudyError, match="t-f9 has a test but"):
        studies.reproduce("t")


def test_named_folder_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COGTCP_STUDIES", str(tmp_path / "nowhere"))
    with pytest.raises(studies.StudyError, match="COGTCP_STUDIES"):
        studies.list_studies()


def test_claims_may_lie_in_several_files(folder: Path, simulated: list[int]) -> None:
    text = (folder / "claims.py").read_text()
    head, tail = text.split('@claim("t-f2")')
    (folder / "trend.py").write_text(text.split('@claim("t-f1")')[0] + '@claim("t-f2")' + tail)
    (folder / "claims.py").write_text(head + "\nfrom .trend import grows, measure\n")
    assert [claim.row.id for claim in studies.reproduce("t").claims] == ["t-f1", "t-f2"]
    # A changed file is read anew.
    (folder / "trend.py").write_text((folder / "trend.py").read_text().replace("[2.0]", "[-1.0]"))
    assert studies.reproduce("t-f2").claims[0].result.verdict == "differs"


def test_surface_is_drawn_cell_by_cell() -> None:
    surface = studies.Surface(
        "panel", (0.1, 0.2), (1.0, 2.0), ((10, 20), (30, float("nan"))), mark=(0.2, 1.0)
    )
    figure = studies.Figure("f", "A surface", "x", "y", [], "what", surfaces=[surface])
    svg = draw(figure)
    assert [text for text in ("10", "20", "30", "panel", "0.1", "2") if f">{text}<" not in svg] == []
    assert ">nan<" not in svg
    # Shades are shares of the greatest, the mark is a frame.
    assert svg.count("<title>") == 3
    assert 'opacity="0.6"' in svg
    assert svg.count('stroke="var(--ink)"') == 1
