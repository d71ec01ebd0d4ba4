"""A scenario from somebody else can only fail: it reads no file without an end (code: test_python_gate)."""

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cogtcp import Scenario
from conftest import PATIENCE, ROOT, Command, command_line

WITH_FILES = {
    "spectrum.pu.pu_log": "cr-single-hop.toml",
    "spectrum.channels.ch_log": "cr-single-hop.toml",
    "radio.0.journey.map": "train-journey.toml",
}


def naming(field: str, file: Path, tmp_path: Path) -> Path:
    """Write a scenario that names this file."""
    scenario = Scenario.from_file(ROOT / "scenarios" / WITH_FILES[field])
    path, _, key = field.rpartition(".")
    value = {key: str(file)} if path.startswith("spectrum") else str(file)
    named = scenario.set(path if path.startswith("spectrum") else field, value)
    written = tmp_path / "theirs.toml"
    written.write_text(named.to_toml())
    return written


@pytest.mark.parametrize("field", WITH_FILES)
def test_files_that_a_scenario_names_are_files(command: Command, tmp_path: Path, field: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(10**10)
    for file, says in (
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "huge", "is larger than 10"),
        (tmp_path, "folder"),
        (tmp_path / "none", "no such file"),
    ):
        theirs = naming(field, file, tmp_path)

        def with_little_memory() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))

        done = command("check", theirs, preexec_fn=with_little_memory)
        assert done.code == 2, done
        assert field in done.err
        assert f'"{file}"' in done.err
        assert says in done.err
        # The hash names folders of results, and must not read them either.
        assert len(Scenario.from_file(theirs).hash) == 64


def test_the_hash_follows_the_map_of_a_journey(tmp_path: Path) -> None:
    line = tmp_path / "line.toml"
    line.write_text((ROOT / "scenarios/maps/kelmere-line.toml").read_text())
    scenario = Scenario.from_file(naming("radio.0.journey.map", line, tmp_path))
    before = scenario.hash
    line.write_text(line.read_text() + "\n# a word more\n")
    assert scenario.hash != before


def _ended(process: subprocess.Popen[str]) -> tuple[int, float]:
    """Wait for a process; return its exit code and the processor time that it took."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def _has_read(process: subprocess.Popen[str], file: Path) -> bool:
    """Whether a process has read as much as this file has, and so is at work on it; or has ended."""
    if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
        return True
    return int(Path(f"/proc/{process.pid}/io").read_text().split()[1]) > file.stat().st_size


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel does not count what is read")
@pytest.mark.parametrize("verb", [["check"], ["run"]])
def test_ctrl_c_stops_the_reading_of_files(tmp_path: Path, verb: list[str]) -> None:
    """In processor time, as others use the machine; an attempt whose signal came late says nothing."""
    log = tmp_path / "long.log"
    with log.open("w") as stream:
        stream.write("<1, 0, 0, 1, 0.2>\n")
        stream.writelines(f"<1, {2 * i}, {2 * i + 1}>\n" for i in range(4_000_000))
    theirs = naming("spectrum.pu.pu_log", log, tmp_path)
    whole = subprocess.Popen(command_line("check", theirs), stdout=subprocess.DEVNULL, text=True)
    code, most = _ended(whole)
    assert code == 0
    deadline, took = time.monotonic() + PATIENCE, most
    while took > 0.75 * most:
        assert time.monotonic() < deadline, "the file is read to its end each time"
        process = subprocess.Popen(
            command_line(*verb, theirs), stderr=subprocess.PIPE, text=True, cwd=tmp_path
        )
        assert process.stderr is not None
        while not _has_read(process, log):
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGINT)  # `send_signal` would take the processor time of one that ended
        with process.stderr as errors:
            err = errors.read()
        code, took = _ended(process)
        assert "Traceback" not in err
        assert code == 130 or took > 0.75 * most, err


def test_a_scenario_may_come_through_a_pipe(small: Path) -> None:
    done = subprocess.run(
        command_line("check", "/dev/stdin"), input=small.read_bytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "verb", [["check"], ["run"], ["compare", "--transport=sack,reno"], ["pu", "show"], ["journey", "show"]]
)
def test_a_named_pipe_is_refused_at_once(command: Command, tmp_path: Path, verb: list[str]) -> None:
    """Nobody may ever write to it."""
    os.mkfifo(tmp_path / "pipe")
    done = command(*verb, tmp_path / "pipe")
    assert done.code == 2, done
    assert "it is a named pipe; name a" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_scenario_without_an_end_is_refused(command: Command) -> None:
    done = command("check", "/dev/zero")
    assert done.code == 2
    assert "is larger than 4 MB" in done.err
