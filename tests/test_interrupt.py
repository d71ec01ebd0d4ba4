"""Signals, and several commands at once."""

import math
import os
import pty
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cogtcp.model.output import is_ours
from conftest import PATIENCE, command_line, files


def start(tmp_path: Path, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line(*args), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_work(tmp_path: Path) -> None:
    """Wait until the folder in the making is there, or that of finished runs: then it simulates."""
    deadline = time.monotonic() + PATIENCE
    while not list(tmp_path.glob(".out.*.tmp")) and not (tmp_path / "out" / "runs").exists():
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.02)
    time.sleep(0.2)


def processor_time(pid: int) -> float:
    """Return the processor time of a running process in seconds; infinite if it cannot be read."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return math.inf
    # The name of the program, in parentheses, may hold spaces.
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("verb", [["run"], ["compare", "--transport", "sack,newreno", "--seeds", "3"]])
def test_a_signal_stops_at_once_and_leaves_nothing(
    small: Path, tmp_path: Path, verb: list[str], number: int, code: int
) -> None:
    process = start(tmp_path, *verb, small, "--out", "out", "--set", "run.duration=500000 s")
    wait_for_work(tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (code, "")
    assert "Traceback" not in err
    assert files(tmp_path) == ["small.toml"]


def test_ctrl_c_in_a_comparison_writes_what_is_finished(small: Path, tmp_path: Path) -> None:
    # A terminal for standard error, so that there is progress to wait for.
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(
            "compare", small, "--transport", "newreno,sack", "--seeds", 5000, "--out", "out", "--json"
        ),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    seen = ""
    while not re.search(r"\b[1-9]\d*/10000", seen):
        seen += os.read(ours, 1024).decode()
    process.send_signal(signal.SIGINT)
    document, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    os.close(ours)
    assert '"interrupted": true' in document
    rows = pq.read_table(tmp_path / "out" / "runs.parquet")
    assert 1 <= rows.num_rows < 10000
    assert rows.column("error").null_count == rows.num_rows, "an interrupted run is no failed run"
    assert is_ours(tmp_path / "out")
    assert files(tmp_path)[:1] == ["out"]


def test_two_at_once_do_not_clash(small: Path, tmp_path: Path) -> None:
    both = [
        start(tmp_path, "compare", small, "--transport", "sack,reno", "--seeds", "2", "--out", "out")
        for _ in range(2)
    ]
    for process in both:
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, "")
    assert is_ours(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "small.toml"]
    assert pq.read_table(tmp_path / "out" / "runs.parquet").num_rows == 4


def test_ctrl_c_stops_the_writing_of_results(small: Path, tmp_path: Path) -> None:
    """Of a run with many events, whose tables and page take longer than the simulation."""
    settings = ["radio.0.sensing.off=1 us", "radio.0.sensing.on=100 us", "run.duration=30 s"]
    changes = [part for setting in settings for part in ("--set", setting)]
    process = start(tmp_path, "run", small, "--out", "out", *changes)
    deadline = time.monotonic() + PATIENCE
    while not list(tmp_path.glob(".out.*.tmp/*.parquet")):
        assert time.monotonic() < deadline, "nothing is written"
        assert process.poll() is None, "it was faster"
        time.sleep(0.005)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = processor_time(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time: load on the machine makes nothing slow.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - used < 2
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert files(tmp_path) == ["small.toml"]
