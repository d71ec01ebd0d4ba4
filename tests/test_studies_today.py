"""A figure on Linux of today: which senders run where, what is kept, and when it is dropped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import cli, runner, studies
from cogtcp._errors import RunError
from cogtcp.kernel.emulation import preferred_clock
from cogtcp.studies import Context, StudyError, today
from test_studies_statements import RUNS, STUDY

if TYPE_CHECKING:
    from pathlib import Path

TODAY = """
[today]
says = "Fig. 1"
points = [{ rate = [1, 2] }]
quantities = ["goodput"]
beside = ["newreno"]
duration = "1 s"

[[claim]]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "studies" / "t"
    made.mkdir(parents=True)
    (made / "study.toml").write_text(STUDY.replace("[[claim]]", TODAY, 1))
    # The paper's host: what Linux's senders must not have.
    host = '[tcp]\nmin_rto = "300 ms"\n[topology.single_hop]'
    (made / "runs.py").write_text(RUNS.replace("[topology.single_hop]", host))
    (made / "README.md").write_text("# t")
    monkeypatch.setenv("COGTCP_STUDIES", str(made.parent))
    return made


@pytest.fixture
def joint(folder: Path) -> Path:
    return studies.search_joint("t", trials=0, at="silence=mostly closed")


@dataclass(frozen=True)
class StandIn:
    """The simulator in the kernel's place."""

    seen: list[Any] = field(default_factory=list, compare=False)
    fails: bool = False
    name: str = "virtual:none"
    identity: tuple[str, ...] = ("stand-in",)

    def check(self, scenario: Any) -> None:
        """Take every scenario."""

    def run(self, scenario: Any, seed: int, cancel: Any) -> Any:
        """Note what is run."""
        if self.fails:
            raise RunError("no evidence: packets were late")
        self.seen.append((scenario.to_dict(), seed))
        return cogtcp.run(scenario, seed=seed)


def compared(on: StandIn | None = None, folder: Path | None = None) -> today.Today:
    """Compare with a stand-in."""
    study, _ = studies.find("t")
    context = Context(study, (8001, 8002), quick=False, _runner=runner.Runner(folder))
    return today.compare(context, on or StandIn(), lambda line: None)


def test_linux_runs_on_its_own_host_at_the_joint_setting(joint: Path) -> None:
    on = StandIn()
    found, seen = compared(on), on.seen
    # Two points, three senders, two seeds.
    assert len(seen) == 12
    assert {data["flow"][0]["transport"] for data, _ in seen} == set(today.LINUX.values())
    assert {seed for _, seed in seen} == {8001, 8002}
    for data, _ in seen:
        assert data["run"]["duration"] == "1 s"
        # The joint setting's silences, and none of the paper's host settings.
        assert data["radio"][0]["sensing"]["off"] == "900 ms"
        assert set(data.get("tcp", {})) <= {"segment_size"}
    planes = [(cell.sender, cell.plane) for cell in found.cells if cell.point.rate == 2]
    linux = [(sender, plane) for sender in today.LINUX for plane in (today.SIMULATOR, today.KERNEL)]
    assert planes == [("newreno", today.SIMULATOR), *linux]
    # The stand-in for the kernel is the simulator: the same values.
    for sender in today.LINUX:
        simulated = found.values(sender, "goodput", today.SIMULATOR, rate=2)
        assert simulated == found.values(sender, "goodput", rate=2)
        assert simulated != found.values(sender, "goodput", rate=1)


def test_it_is_kept_shown_and_dropped_with_the_joint_setting(joint: Path, folder: Path) -> None:
    study, _ = studies.find("t")
    found = compared()
    today.keep(study, found, "1")
    assert today.read(study) == found
    assert "Fig. 1 on Linux" in studies.reproduce("t", quick=True).report()
    studies.search_joint("t", trials=0, at="silence=open")
    assert today.read(study) is None
    assert "Fig. 1 on Linux" not in studies.reproduce("t", quick=True).report()


def test_what_is_missing_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        StudyError, match="t has no joint setting; search: cogtcp reproduce t --search --joint"
    ):
        compared()
    (folder / "study.toml").write_text(STUDY)
    assert cli.main(["reproduce", "t", "--stacks", "--joint"]) == 2
    assert r"t has no [today] in its study.toml" in capsys.readouterr().err
    assert cli.main(["reproduce", "t", "--stacks", "--joint", "--ray", "auto"]) == 2
    assert "leave --search and --ray out" in capsys.readouterr().err
    (folder / "study.toml").write_text(STUDY.replace("[[claim]]", TODAY.replace('"goodput"', ""), 1))
    with pytest.raises(StudyError, match="needs `points` and `quantities`"):
        studies.find("t")


def test_a_run_that_is_no_evidence_is_an_error(joint: Path) -> None:
    with pytest.raises(RunError, match="t, seed 8001: no evidence: packets were late"):
        compared(StandIn(fails=True))


def test_finished_runs_of_the_kernel_are_not_made_again(joint: Path, tmp_path: Path) -> None:
    first = compared(StandIn(), tmp_path / "runs")
    again = StandIn()
    assert compared(again, tmp_path / "runs") == first
    assert again.seen == []


@pytest.mark.skipif(not preferred_clock(), reason="needs a kernel for virtual time: make kernel")
def test_a_kernel_runs_it(
    joint: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "study.toml").write_text(
        (folder / "study.toml").read_text().replace("rate = [1, 2] }]\nq", "rate = 1 }]\nq")
    )
    command = [
        "reproduce",
        "t",
        "--stacks",
        "--joint",
        "--seeds",
        "1",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    assert cli.main(command) == 0
    assert json.loads(capsys.readouterr().out) == {"today": str(folder / "today.json")}
    found = today.read(studies.find("t")[0])
    assert found is not None
    assert found.kernel.startswith("6.")
    assert 0 < found.mean("Linux's CUBIC", "goodput", rate=1).mean < 1
