"""Every study that comes with cogtcp is complete, its scenarios sound; the first is measured, in short."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cogtcp import Scenario, models, run, runner, studies
from cogtcp.studies import code, folder, joint
from cogtcp.studies.common_tests import functions_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import QuickStudy

STUDIES = studies.list_studies()


def test_the_studies_are_there() -> None:
    assert "c2" in [study.name for study in STUDIES]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_study_is_complete(study: studies.Study) -> None:
    tests = functions_of(study)
    for row in study.claims:
        code.function(study, "runs", row.measure)
        for name in row.shows:
            code.function(study, "exhibits", name)
        assert {statement.function for statement in row.statements} - {""} <= set(tests), row.id
        for plot in row.plots:
            assert row.ours or study.sentences(plot.id)
    assert study.space.varied, "what does the paper leave unsaid?"
    assert (study.folder / "README.md").read_text().startswith("# ")
    for path in (study.folder / "scenarios").glob("*.toml"):
        Scenario.from_file(path).check()
    for path in (study.folder / "figures").glob("*.toml"):
        assert study.published(path.stem)["source"]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_setting_of_the_space_makes_sound_scenarios(study: studies.Study) -> None:
    build = code.function(study, "runs", "scenario")
    context = studies.Context(study=study, seeds=(1,), quick=False, _runner=runner.Runner(None, 1, None))
    points = {point for row in study.claims for point in row.points}
    # Four settings of a design have each choice of up to four, and each quarter of each range.
    for setting in study.space.design(4, seed=1):
        for point in points:
            build(context, setting, point, 1).check()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_statement_is_tested_by_the_points_that_it_uses(study: studies.Study) -> None:
    """On made-up measurements, with all points of the claim and with these alone: the same finding."""
    stream, fewer = random.Random(study.name), 0
    base, functions = study.space.base, functions_of(study)
    for row in study.claims:
        names = {name for s in row.statements for name in (s.quantity, s.than_quantity)}
        names |= {number.quantity for s in row.statements for number in s.numbers}
        grid = {
            point: studies.Cell([{name: stream.uniform(1, 2) for name in sorted(names)} for _ in range(5)])
            for point in row.points
        }
        for statement in row.statements:
            used = {point: cell for point, cell in grid.items() if statement.uses(point)}
            fewer += len(used) < len(grid)
            if statement.test == "function":
                assert used == grid
                continue
            # Representations: where there is no clearance it is NaN, which equals nothing.
            found = [repr(statement.evaluate(some, base, functions)) for some in (used, grid)]
            assert found[0] == found[1], f"{row.id}: {statement.says}"
    assert fewer


def test_list_of_the_command_line() -> None:
    command = [sys.executable, "-m", "cogtcp", "reproduce", "--list", "--json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [study["study"] for study in listed["studies"]] == [study.name for study in STUDIES]


def test_c2_one_cycle_by_hand() -> None:
    """One run of the c2 scenario against the model, without the study's machinery."""
    (study,) = [study for study in STUDIES if study.name == "c2"]
    scenario = Scenario.from_file(study.folder / "scenarios" / "cycle.toml")
    # Cycles of 6 s from t = 5 s: twelve to converge, ten to measure.
    scenario = (
        scenario.set("run.duration", "137 s").set("run.warmup", "77 s").set("radio.0.sensing.on", "5500 ms")
    )
    (flow,) = run(scenario, seed=1, trace="summary").flows.to_pylist()
    # R = 5/0.15 = 33.3, dW = 33.3 - 5.06 = 28.3; 27.3 + 1.5 * 28.3^2 = 1226 packets in 6 s: 1.63 Mb/s.
    expected = models.aimd_cycle(
        bandwidth_bps=15e6, rtt_s=0.15, t_cc_s=6, t_rto_s=1, segment_size_bytes=1000, header_bytes=52
    )
    assert expected.throughput_bps == pytest.approx(1.63e6, rel=0.01)
    assert flow["goodput_bps"] == pytest.approx(expected.throughput_bps, rel=0.15)
    # One timeout a cycle, and no loss but that.
    assert (flow["rtos"], flow["fast_retransmits"]) == (10, 0)


def test_c2_quick(quick_study: QuickStudy, tmp_path: Path) -> None:
    """The quick version: complete, the same from the runs that were kept, and its mechanism as it must be."""
    result, folder = quick_study("c2")
    outcomes = {claim.row.id: claim.outcome for claim in result.claims}
    assert list(outcomes) == [row.id for row in result.study.claims]
    base = {name: outcome.base.grid for name, outcome in outcomes.items() if outcome is not None}
    for point, cell in base["c2-f3"].items():
        assert 0.8 < cell.mean("ratio") < 1.2, point
        # One timeout a cycle, whose T_rto is what the model was given: the silence and the dead time.
        assert cell.mean("timeouts") == pytest.approx(1, abs=0.1)
        assert cell.mean("t_rto_s") == pytest.approx(1, abs=0.1)
    (convergence,) = base["c2-f4a"].values()
    assert convergence.mean("settled_use") > 0.9
    # C2 reads the base RTT of the slow channel as saturation, NewReno does not.
    slow = {point.transport: cell.mean("slow_use") for point, cell in base["c2-x4"].items()}
    assert slow["c2"] < slow["newreno"]
    page = (folder / "report.html").read_text()
    assert "matches closely with our analytical results" in page
    kept = shutil.copytree(folder, tmp_path / "out")
    again = studies.reproduce("c2-f3", quick=True, seeds=2, out=kept)
    assert again.claims[0].to_dict() == result.claims[0].to_dict()


@pytest.mark.parametrize(
    "study", [study for study in STUDIES if joint.read(study)], ids=lambda study: study.name
)
def test_the_joint_setting_is_shipped_as_a_scenario(study: studies.Study) -> None:
    head, text = (study.folder / "scenarios" / "joint.toml").read_text("utf-8").split("\n", 1)
    assert head == f"# The joint setting of {study.name}: `cogtcp reproduce {study.main} --joint --scenario`."
    (row,) = folder.chosen(study, [study.main])
    assert text == studies.scenario_at(study, row, "joint").to_toml()
