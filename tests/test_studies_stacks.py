"""Stacks of today in a study: what is put into a scenario, and when a rank is turned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import runner, studies
from cogtcp.cli import main
from cogtcp.studies import Context, StudyError, code, stacks
from test_studies_statements import RUNS, STUDY

if TYPE_CHECKING:
    from pathlib import Path

    from cogtcp import Scenario

COMPARED = """
[stacks]
point = { rate = 2 }
quantity = "goodput"

[[claim]]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "studies" / "t"
    made.mkdir(parents=True)
    (made / "study.toml").write_text(STUDY.replace("[[claim]]", COMPARED, 1))
    (made / "runs.py").write_text(RUNS)
    (made / "README.md").write_text("# t")
    monkeypatch.setenv("COGTCP_STUDIES", str(made.parent))
    return made


def scenario_of(name: str) -> Scenario:
    """Return the scenario that stacks are put into, at the base of a shipped study."""
    study, _ = studies.find(name)
    assert study.stacks is not None
    make = code.function(study, "runs", "scenario")
    context = Context(study, (1,), quick=True, _runner=runner.Runner())
    made: Scenario = make(context, study.space.base, studies.Point(study.stacks.point), 1)
    return made


@pytest.mark.parametrize("name", ["c2", "chain", "manet", "mswim09", "trains"])
def test_each_stack_makes_a_sound_scenario_of_each_study(name: str) -> None:
    base = scenario_of(name)
    for stack, (transport, on_papers_host) in stacks.STACKS.items():
        dressed = stacks.dress(base, stack)
        dressed.check()
        data = dressed.to_dict()
        assert {flow["transport"] for flow in data["flow"]} == {transport}
        # The host's timers are the paper's, or the preset's.
        assert ("min_rto" in data["tcp"]) == on_papers_host, stack
        assert data["tcp"]["segment_size"] == base.to_dict()["tcp"]["segment_size"]


def test_an_interruption_says_how_to_go_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(studies, "compare_stacks", interrupt)
    assert main(["reproduce", "t", "--stacks", "--out", str(tmp_path / "out")]) == 130
    said = f"cogtcp: interrupted; {tmp_path / 'out'} keeps the finished runs: repeat the command to go on\n"
    assert capsys.readouterr().err == said


def test_ranks_are_kept_and_shown(folder: Path) -> None:
    path = studies.compare_stacks("t", seeds=3)
    assert path == folder / "stacks.json"
    kept = json.loads(path.read_text())
    assert list(kept["base"]) == list(stacks.STACKS)
    # What a stack delivers at the base has four times the seeds; ranks are compared on the same.
    assert (kept["seeds"], kept["base_seeds"]) == ([7001, 7003], [7001, 7012])
    # One parameter with one other choice.
    assert [(name, value) for name, value, _ in kept["changed"]] == [("silence", "mostly closed")]
    assert all(found < kept["base"][stack][0] for stack, found in kept["changed"][0][2].items())
    text = path.read_text()
    studies.compare_stacks("t", seeds=3)
    assert path.read_text() == text
    page = studies.reproduce("t").report()
    assert "Stacks of today at the default values" in page


def test_a_rank_flips_only_where_both_ranks_are_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair of stacks: above at the base, below where the silence is long; or one of both unclear."""
    rates = {"open": {"newreno": 2.0, "cubic": 1.0}, "closed": {"newreno": 1.0, "cubic": 2.0}}
    noise = [0.0]

    def measured(context: Context, setting: Any, point: Any) -> dict[str, list[float]]:
        found = rates["open" if setting.silence == "open" else "closed"]
        signs = (-1, 1, -1, 1)
        return {name: [rate + sign * noise[0] * rate for sign in signs] for name, rate in found.items()}

    monkeypatch.setattr(stacks, "_measure", measured)
    study, _ = studies.find("t")
    context = Context(study, (1, 2, 3, 4), quick=False, _runner=runner.Runner())
    monkeypatch.setattr(stacks, "_summary", lambda values: list(values[:3]))
    assert stacks.compare(context)["flips"] == [["newreno", "cubic", "silence", "mostly closed"]]
    noise[0] = 0.9
    assert stacks.compare(context)["flips"] == []


def test_a_study_without_stacks_says_so(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY)
    with pytest.raises(StudyError, match=r"t has no \[stacks\]"):
        studies.compare_stacks("t")
