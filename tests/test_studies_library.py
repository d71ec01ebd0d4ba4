"""Every study that comes with cogtcp is complete, its scenarios sound; the first is measured, in short."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cogtcp import Scenario, models, run, studies
from cogtcp.studies import code

if TYPE_CHECKING:
    from pathlib import Path

STUDIES = studies.list_studies()


def test_the_studies_are_there() -> None:
    assert "c2" in [study.name for study in STUDIES]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_study_is_complete(study: studies.Study) -> None:
    module = code.load(study, "claims")
    tests = studies._tests(study, module)  # raises where a claim has no test, or a test no claim
    assert all(row.statements or row.id in tests for row in study.claims)
    for row in study.claims:
        for name in row.shows:
            code.function(study, "exhibits", name)
    assert study.unsaid, "what does the paper leave unsaid?"
    assert (study.folder / "README.md").read_text().startswith("# ")
    for path in (study.folder / "scenarios").glob("*.toml"):
        Scenario.from_file(path).check()
    for path in (study.folder / "figures").glob("*.toml"):
        assert study.published(path.stem)["source"]


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


def test_c2_quick(tmp_path: Path) -> None:
    result = studies.reproduce("c2", only="c2-f3", quick=True, seeds=2, out=tmp_path / "out")
    (claim,) = json.loads(result.to_json())["claims"]
    assert claim["verdict"] in {"holds", "differs", "unclear"}
    low, high = claim["ci"]
    assert 0.8 < low <= high < 1.2
    # Again from the runs that were kept: the same bytes.
    again = studies.reproduce("c2-f3", quick=True, seeds=2, out=tmp_path / "out")
    assert again.to_json() == result.to_json()
    page = (tmp_path / "out" / "report.html").read_text()
    assert "matches closely with our analytical results" in page


def test_c2_section_v_quick(tmp_path: Path) -> None:
    """The claims on C2 itself, in short: complete, and the same from the runs that were kept."""
    (study,) = [study for study in STUDIES if study.name == "c2"]
    names = [row.id for row in study.claims if row.id != "c2-f3"]
    result = studies.reproduce("c2", only=names, quick=True, seeds=2, out=tmp_path / "out")
    found = {claim.row.id: claim.result for claim in result.claims}
    assert list(found) == names
    for name, measured in found.items():
        assert measured.tables, name
        assert measured.facts, name
        assert "nan" not in measured.measured + measured.why, name
    # NewReno needs long open periods more than C2 does; C2 alone fills the channel once it is settled.
    assert found["c2-f4c"].facts["keeps_c2"] > found["c2-f4c"].facts["keeps_newreno"]
    assert found["c2-f4a"].facts["settled"] > 0.9
    # C2 reads the base RTT of the slow channel as saturation, NewReno does not.
    assert found["c2-x4"].facts["slow"] < found["c2-x4"].facts["slow_newreno"]
    again = studies.reproduce("c2", only=names, quick=True, seeds=2, out=tmp_path / "out")
    assert again.to_json() == result.to_json()
