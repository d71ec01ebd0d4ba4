"""Sweeps and comparisons on Linux in virtual time: each run is what a single run is, and is made once."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError, UsageError
from cogtcp.kernel.emulation import emulate
from cogtcp.kernel.emulation.virtual import kernels
from cogtcp.runner import Case, Runner
from cogtcp.running.runner.plane import plane_of
from cogtcp.running.sweeping.plan import record
from conftest import PATIENCE, command_line
from kernel_needs import soon
from test_virtual import in_virtual_time, text

if TYPE_CHECKING:
    from conftest import Command

SWEEP = """\
scenario = "scenario.toml"
transports = {transports}
seeds = 2
keep = ["flows"]

[[axis]]
path = "topology.single_hop.link.rate"
values = ["4 Mbit/s", "8 Mbit/s"]
name = "rate"
"""


def sweep_file(folder: Path, duration: str = "1 s", transports: str = '["linux-cubic", "linux-bbr"]') -> Path:
    (folder / "scenario.toml").write_text(text(duration=duration))
    (folder / "sweep.toml").write_text(SWEEP.format(transports=transports))
    return folder / "sweep.toml"


@in_virtual_time
def test_a_sweeps_runs_are_the_single_runs_whatever_the_jobs(tmp_path: Path, command: Command) -> None:
    sweep_file(tmp_path)
    done = command("sweep", "sweep.toml", "--plane", "virtual", "--jobs", 2, "--out", "two", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["runs"] == {"asked": 8, "made": 8, "cached": 0, "failed": 0}
    assert document["plane"] == f"virtual:{kernels.used()}"
    assert command("sweep", "sweep.toml", "--plane", "virtual", "--jobs", 1, "--out", "one").code == 0
    two, one = (
        {
            file.relative_to(tmp_path / name): file.read_bytes()
            for file in (tmp_path / name).rglob("*.parquet")
        }
        for name in ("two", "one")
    )
    assert len(two) >= 4
    assert {file for file in two if two[file] != one.get(file)} == set()
    # One of them by itself, from another folder.
    scenario = Scenario.from_file(tmp_path / "scenario.toml").with_transport("linux-bbr")
    alone = emulate(scenario.set("topology.single_hop.link.rate", "4 Mbit/s"), 2, virtual=True)
    question = (
        "SELECT digest, goodput_bps FROM runs WHERE transport = 'linux-bbr' AND seed = 2 AND rate = 4000000"
    )
    rows = json.loads(command("query", "two", question, "--json").out)["rows"]
    assert rows == [{"digest": alone.digest, "goodput_bps": alone.metrics["goodput_bps"]}]


@in_virtual_time
def test_an_interrupted_sweep_leaves_no_guest_and_goes_on(tmp_path: Path, command: Command) -> None:
    sweep_file(tmp_path, duration="3 s")
    options = ("sweep", "sweep.toml", "--plane", "virtual", "--jobs", 2, "--out", "out")
    process = subprocess.Popen(
        command_line(*options), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )

    def finished() -> int:
        return sum(len(file.read_bytes().splitlines()) for file in (tmp_path / "out/runs").glob("[!.]*"))

    try:
        assert soon(lambda: finished() > 1 and guests_of(process.pid)), list(tmp_path.rglob("*"))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "repeat the command to go on in out" in said
    assert guests_of(process.pid) == []
    done = command(*options, "--json")
    assert done.code == 0, done.err
    runs = json.loads(done.out)["runs"]
    assert runs["cached"] >= 2
    assert runs["made"] + runs["cached"] == 8
    assert runs["failed"] == 0


def guests_of(parent: int) -> list[int]:
    """Return the guards of guests that a process started."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                line = (process / "cmdline").read_bytes()
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if b"emulation/virtual/guard.py" in line and int(fields[1]) == parent:
                found.append(int(process.name))
    return found


@in_virtual_time
def test_python_sweeps_and_compares_in_virtual_time() -> None:
    scenario = Scenario.from_toml(text(duration="1 s"))
    found = cogtcp.sweep(
        scenario, {"radio.0.sensing.on": ["500 ms"]}, transports=["linux-reno"], seeds=[3], plane="virtual"
    )
    comparison = cogtcp.compare(scenario, ["linux-reno", "linux-bbr"], seeds=[3], plane="virtual")
    alone = emulate(scenario.with_transport("linux-reno"), 3, virtual=True)
    assert comparison.runs["digest"][0].as_py() == alone.digest
    assert found.runs["digest"][0].as_py() != alone.digest
    name = f"virtual:{kernels.used()}"
    assert found.provenance["plane"] == comparison.provenance["plane"] == name
    # The simulator's folder and key are others.
    measure = record
    cases = [Case(scenario, 3, measure, plane=plane) for plane in (None, plane_of("virtual"))]
    assert cases[0].key() != cases[1].key()
    plane = plane_of(name)
    assert plane is not None
    assert pickle.loads(pickle.dumps(plane)) == plane  # as Ray sends it


@in_virtual_time
def test_a_run_over_its_time_limit_ends_its_guest() -> None:
    scenario = Scenario.from_toml(text(duration="600 s"))
    runner = Runner(jobs=1, time_limit=1.0)
    (outcome,) = runner.outcomes([Case(scenario, 1, metrics, plane=plane_of("virtual"))])
    assert "time limit" in outcome.error
    assert soon(lambda: guests_of(os.getpid()) == [])


def metrics(result: cogtcp.Result) -> dict[str, float]:
    return result.metrics


@in_virtual_time
def test_what_cannot_run_there_is_said_before_the_first_run(tmp_path: Path, command: Command) -> None:
    sweep_file(tmp_path, transports='["linux-reno", "c2"]')
    done = command("sweep", "sweep.toml", "--plane", "virtual")
    assert (done.code, list(tmp_path.glob("results"))) == (2, [])
    assert "c2 in the kernel is a BPF program" in done.err
    sweep_file(tmp_path)
    assert command("sweep", "sweep.toml", "--dry-run", "--out", "out").code == 0
    assert command("sweep", "sweep.toml", "--out", "out").code == 0
    done = command("sweep", "sweep.toml", "--plane", "virtual", "--out", "out")
    assert (done.code, "other plane" in done.err) == (1, True), done.err


def test_planes_that_do_not_exist_are_refused(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path / "none"))
    sweep_file(tmp_path)
    compare = ("compare", "scenario.toml", "--transport", "linux-reno")
    for verb in (("sweep", "sweep.toml"), compare):
        for plane, code, said in (
            ("virtual", 1, "make kernel"),
            ("virtuel", 2, "did you mean 'virtual'"),
            ("kernel", 2, "--plane virtual"),
        ):
            done = command(*verb, "--plane", plane)
            assert (done.code, said in done.err) == (code, True), done.err
    assert not (tmp_path / "results").exists()
    with pytest.raises(UsageError, match="only virtual has names"):
        plane_of("sim:linux-6.12")


def test_a_case_on_a_plane_is_made_there() -> None:
    class Refusing:
        name, identity = "elsewhere", ("x",)

        def check(self, scenario: Scenario) -> None: ...

        def run(self, scenario: Scenario, seed: int, cancel: object) -> cogtcp.Result:
            raise ScenarioError(f"seed {seed} was asked for")

    scenario = Scenario.from_toml(text(duration="1 s"))
    (outcome,) = Runner().outcomes([Case(scenario, 7, metrics, plane=Refusing())])
    assert outcome.error == "seed 7 was asked for"
