"""The one runner: what is kept, what is made again, and what happens when runs or disks fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cogtcp import OutputError, Result, RunError, Scenario
from cogtcp.running.runner import Case, Journal, Keys, Outcome, Progress, Runner, journal
from cogtcp.running.runner.progress import duration
from cogtcp.running.sweeping import dataset
from conftest import SMALL

CONTROLS = """
import time

class Base:
    def ssthresh(self, now, tcp):
        return max(tcp.flight_size // 2, 2 * tcp.mss)

    def cong_avoid(self, now, tcp, ack):
        pass

class Raises(Base):
    def cong_avoid(self, now, tcp, ack):
        raise ValueError("no idea")

class Spins(Base):
    def cong_avoid(self, now, tcp, ack):
        while True:
            pass

class Sleeps(Base):
    def cong_avoid(self, now, tcp, ack):
        time.sleep(30)
"""


def goodput(result: Result) -> dict[str, Any]:
    return {"goodput_bps": result.metrics["goodput_bps"], "seed": result.seed}


def scaled(factor: int, result: Result) -> dict[str, Any]:
    return {"goodput_bps": factor * result.metrics["goodput_bps"]}


@pytest.fixture
def controls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"controls_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(CONTROLS)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def kept(folder: Path) -> list[str]:
    return [outcome.key for outcome in Journal(folder).outcomes()]


def cases(scenario: Scenario, seeds: int) -> list[Case]:
    return [Case(scenario, seed, goodput) for seed in range(1, seeds + 1)]


def test_records_come_in_order_and_only_what_is_missing_is_made(scenario: Scenario, tmp_path: Path) -> None:
    runner = Runner(tmp_path / "runs")
    records = runner.run(cases(scenario, 6))
    assert [record["seed"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert runner.progress.made == 6
    more = Runner(tmp_path / "runs", jobs=1)
    assert more.run(cases(scenario, 8))[:6] == records
    assert (more.progress.made, more.progress.known) == (2, 6)
    assert len(kept(tmp_path / "runs")) == 8
    assert Runner(None).run(cases(scenario, 6)) == records


def test_the_key_holds_all_that_decides_the_record(scenario: Scenario) -> None:
    case = Case(scenario, 1, goodput)
    others = [
        Case(scenario, 2, goodput),
        Case(scenario, 1, goodput, "full"),
        Case(scenario, 1, goodput, transport="sack"),
        Case(scenario, 1, goodput, changes=(("run.duration", "5 s"),)),
        Case(scenario, 1, goodput, changes=(("run.duration", "6 s"),)),
        Case(scenario.set("run.duration", "5 s"), 1, goodput),
        Case(scenario, 1, partial(scaled, 2)),
        Case(scenario, 1, partial(scaled, 3)),
    ]
    keys = Keys()
    assert len({keys.of(each) for each in [case, *others]}) == 9
    assert keys.of(case) == case.key() == Keys().of(Case(Scenario.from_toml(scenario.to_toml()), 1, goodput))


def test_changes_and_transport_are_applied(scenario: Scenario) -> None:
    case = Case(scenario, 1, goodput, transport="sack", changes=(("run.duration", "5 s"),))
    same = scenario.set("run.duration", "5 s").with_transport("sack")
    assert Runner().run([case]) == Runner().run([Case(same, 1, goodput)])


def test_equal_cases_are_made_once(scenario: Scenario) -> None:
    runner = Runner()
    one, two = runner.run([Case(scenario, 1, goodput), Case(scenario, 1, goodput)])
    assert one == two
    assert (runner.progress.made, runner.progress.done) == (1, 2)


def test_a_control_that_raises_is_a_recorded_failure_and_the_rest_goes_on(
    scenario: Scenario, controls: str, tmp_path: Path
) -> None:
    scenario = scenario.allowing([f"{controls}:Raises"])
    asked = [Case(scenario, 1, goodput, transport=name) for name in (f"{controls}:Raises", "sack")]
    bad, good = Runner(tmp_path / "runs").outcomes(asked)
    assert "ValueError: no idea" in bad.error
    assert good.record["seed"] == 1
    runner = Runner(tmp_path / "runs")
    assert [outcome.error for outcome in runner.outcomes(asked)] == [bad.error, ""]
    assert (runner.progress.made, runner.progress.known, runner.progress.failed) == (0, 2, 1)
    again = Runner(tmp_path / "runs", retry=True)
    again.outcomes(asked)
    assert again.progress.made == 1
    with pytest.raises(RunError, match="no idea"):
        Runner(tmp_path / "runs").run(asked)


@pytest.mark.parametrize("name", ["Spins", "Sleeps"])
def test_a_control_that_never_returns_is_given_up(
    scenario: Scenario, controls: str, tmp_path: Path, name: str
) -> None:
    scenario = scenario.allowing([f"{controls}:{name}"])
    asked = [Case(scenario, 1, goodput, transport=f"{controls}:{name}"), *cases(scenario, 3)]
    started = time.monotonic()
    outcomes = Runner(tmp_path / "runs", jobs=1, time_limit=1).outcomes(asked)
    assert time.monotonic() - started < 25
    assert "time limit of 1 s" in outcomes[0].error
    assert [outcome.error for outcome in outcomes[1:]] == ["", "", ""]


def test_a_simulation_over_its_time_is_stopped_and_made_again_with_more(
    scenario: Scenario, tmp_path: Path
) -> None:
    long = [Case(scenario.set("run.duration", "20000 s"), 1, goodput)]
    (outcome,) = Runner(tmp_path / "runs", time_limit=0.2).outcomes(long)
    assert "time limit of 0.2 s" in outcome.error
    same = Runner(tmp_path / "runs", time_limit=0.2)
    same.outcomes(long)
    assert same.progress.known == 1
    (outcome,) = Runner(tmp_path / "runs").outcomes(long)
    assert not outcome.error


def test_a_scenario_that_cannot_be_simulated_is_an_outcome(scenario: Scenario) -> None:
    bad = Case(scenario, 1, goodput, changes=(("topology.single_hop.link.rate", "0 bit/s"),))
    worse = Case(scenario, 1, goodput, changes=(("no.such", "1"),))
    first, second, good = Runner().outcomes([bad, worse, Case(scenario, 1, goodput)])
    assert "rate" in first.error
    assert 'unknown key "no"' in second.error
    assert not good.error


def test_a_defect_of_the_measure_is_raised_and_nothing_runs_on(scenario: Scenario) -> None:
    with pytest.raises(KeyError, match="nothing"):
        Runner().outcomes([Case(scenario, seed, broken) for seed in range(50)])


def broken(result: Result) -> dict[str, Any]:
    return {"value": result.metrics["nothing"]}


def test_a_long_stream_neither_grows_nor_recalls(scenario: Scenario, tmp_path: Path) -> None:
    drawn = 0

    def many() -> Any:
        nonlocal drawn
        for seed in range(2000):
            drawn += 1
            yield Case(scenario.set("run.duration", "10 ms"), seed, goodput)

    runner = Runner(tmp_path / "runs", jobs=2)
    stream = runner.stream(many(), 2000, recall=False)
    next(stream)
    assert drawn <= 1024, "cases are drawn as there is room"
    assert sum(1 for _ in stream) == 1999
    stream.close()
    again = Runner(tmp_path / "runs")
    assert list(again.stream(many(), 2000, recall=False)) == []
    assert again.progress.known == 2000


def test_torn_and_damaged_lines_are_not_taken(scenario: Scenario, tmp_path: Path) -> None:
    Runner(tmp_path / "runs").run(cases(scenario, 3))
    (path,) = Journal(tmp_path / "runs").files()
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second.replace(b"goodput", b"badput_") + third[:-20])
    assert len(kept(tmp_path / "runs")) == 1
    runner = Runner(tmp_path / "runs")
    runner.run(cases(scenario, 3))
    assert runner.progress.made == 2


def test_many_files_are_brought_together(tmp_path: Path) -> None:
    for number in range(12):
        with Journal(tmp_path) as journal:
            journal.append(Outcome(f"{number:032x}", "{}"))
            journal.append(Outcome("f" * 32, "{}"))
    with Journal(tmp_path) as journal:
        assert len(journal.files()) <= 9
        journal.append(Outcome("0" * 32, "{}"))
        assert Journal(tmp_path).busy() is True
    assert len(set(kept(tmp_path))) == 13


def test_a_file_that_its_process_removes_meanwhile_is_no_error(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = journal._is_written

    def removed(path: Path) -> bool:
        found = real(path)
        if path.exists() and path.stat().st_size == 0:
            path.unlink()  # its process ends just now, and had made nothing
        return found

    monkeypatch.setattr(journal, "_is_written", removed)
    (tmp_path / "runs").mkdir()
    for number in range(9):
        (tmp_path / "runs" / f"1-{number:08x}.runs").write_text("")
    assert len(Runner(tmp_path / "runs").run(cases(scenario, 2))) == 2
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "1-00000001.runs").write_text("")
    assert dataset.compact(tmp_path, Journal(tmp_path / "empty"), []) == 0


WORKER = """
import sys
sys.path.insert(0, {tests!r})
from cogtcp import Scenario
from cogtcp.running.runner import Runner
from test_runner import cases
scenario = Scenario.from_file({scenario!r})
runner = Runner({folder!r}, jobs=2)
print("begun", flush=True)
runner.run(cases(scenario, {seeds}))
print(runner.progress.made)
"""


def worker(small: Path, folder: Path, seeds: int) -> subprocess.Popen[str]:
    program = WORKER.format(
        tests=str(Path(__file__).parent), scenario=str(small), folder=str(folder), seeds=seeds
    )
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def test_what_a_kill_at_any_moment_leaves_is_whole(small: Path, scenario: Scenario, tmp_path: Path) -> None:
    seeds, folder = 3000, tmp_path / "runs"
    for attempt in range(4):
        process = worker(small, folder, seeds)
        assert process.stdout is not None
        process.stdout.readline()
        before, deadline = len(kept(folder)), time.monotonic() + 60
        while len(kept(folder)) <= before and time.monotonic() < deadline:
            time.sleep(0.003 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        found = kept(folder)
        assert len(found) == len(set(found)), "none doubled"
    assert 0 < len(kept(folder)) < seeds
    some = cases(scenario, 40)
    assert Runner(folder).run(some) == Runner(None).run(some)


def test_two_processes_on_one_folder_share_the_work(small: Path, tmp_path: Path) -> None:
    seeds = 200
    small.write_text(small.read_text().replace('"20 s"', '"1000 s"'))
    both = [worker(small, tmp_path / "runs", seeds) for _ in range(2)]
    made = [int(process.communicate(timeout=300)[0].split()[-1]) for process in both]
    assert len(set(kept(tmp_path / "runs"))) == seeds
    assert sum(made) < 1.7 * seeds, "most runs are made by one of them"


def test_a_full_disk_is_reported_and_what_is_kept_is_whole(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, room = os.write, 700

    def write(descriptor: int, data: bytes) -> int:
        nonlocal room
        written = real(descriptor, data[:room])
        room -= written
        return written

    monkeypatch.setattr("cogtcp.running.runner.journal.os.write", write)
    with pytest.raises(OutputError, match=r"No space left.*finished runs are not repeated"):
        Runner(tmp_path / "runs").run(cases(scenario, 20))
    monkeypatch.undo()
    few = len(kept(tmp_path / "runs"))
    assert 0 < few < 20
    runner = Runner(tmp_path / "runs")
    runner.run(cases(scenario, 20))
    assert runner.progress.known == few


def test_a_folder_that_cannot_be_written_is_one_message(scenario: Scenario, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be saved"):
        Runner(tmp_path / "file" / "runs").run(cases(scenario, 1))


def test_progress_says_rate_and_rest() -> None:
    seen: list[Progress] = []

    class Listener:
        def update(self, counts: Progress) -> None:
            seen.append(counts)

    scenario = Scenario.from_toml(SMALL)
    Runner(progress=Listener()).run(cases(scenario, 3))
    assert [counts.done for counts in seen] == [0, 1, 2, 3, 3]
    assert "3 of 3 runs" in seen[-1].describe()
    half = Progress(total=100, made=10, known=40, failed=2, started=time.monotonic() - 5)
    assert half.describe() == "50 of 100 runs, 2 per second, 25 s left, 40 cached, 2 failed"
    assert [duration(s) for s in (3, 200, 7500, 360000)] == ["3 s", "3 min 20 s", "2 h 5 min", "4 d 4 h"]


def test_off_a_terminal_a_line_now_and_then_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cogtcp.cli import progress

    with progress.shown() as listener:
        listener.update(Progress(total=10, made=1))
        assert capsys.readouterr().err == "", "not before ten seconds are over"
        monkeypatch.setattr(progress, "_LINE_S", 0.0)
        listener.update(Progress(total=10, made=4, known=2, failed=1, started=time.monotonic() - 2))
    assert capsys.readouterr().err == "cogtcp: 6 of 10 runs, 2 per second, 2 s left, 2 cached, 1 failed\n"
