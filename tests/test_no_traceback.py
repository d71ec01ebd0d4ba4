"""Whatever a user does, the command ends with a line and an exit code, not with a traceback."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cogtcp
from cogtcp import Scenario, UsageError
from conftest import PATIENCE, Command, command_line, files

LONG = "a" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "{}.toml"],
        ["pu", "generate", "{}"],
        ["pu", "convert", "pu.log", "{}", "--to", "csv"],
        ["pu", "show", "pu.log", "--plot", "{}.svg"],
        ["sensing", "--plot", "{}.svg"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_files_that_cannot_be_written(
    command: Command, small: Path, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "pu.log").write_text("<1, 0, 0, 1, 0.2>\n<1, 1, 2>\n")
    for where, reason in ((small / "below", "Not a directory"), (LONG, "File name too long")):
        done = command(*(argument.format(where) for argument in arguments))
        assert (done.code, done.out) == (1, ""), done
        assert done.err.startswith("cogtcp: ")
        assert reason in done.err
        assert done.err.count("\n") == 1
    assert files(tmp_path) == ["pu.log", "small.toml"]


@pytest.mark.parametrize("arguments", [["new", "locked/a.toml"], ["pu", "generate", "locked/a"]])
def test_a_read_only_file_system(command: Command, tmp_path: Path, arguments: list[str]) -> None:
    locked, mount = tmp_path / "locked", shutil.which("mount")
    locked.mkdir()
    options = ["-t", "tmpfs", "-o", "ro,size=100k", "tmpfs", str(locked)]
    if os.geteuid() != 0 or mount is None or subprocess.run([mount, *options], check=False).returncode:
        pytest.skip("only root can mount, and not everywhere")
    try:
        done = command(*arguments)
        assert (done.code, done.err.count("\n")) == (1, 1), done
        assert "Read-only file system" in done.err
    finally:
        subprocess.run(["umount", str(locked)], check=True)  # noqa: S607


@pytest.mark.parametrize("arguments", [["check", "small.toml"], ["--help"], ["check", "none.toml", "--json"]])
def test_standard_output_that_is_full_or_closed(small: Path, arguments: list[str]) -> None:
    shell = f'"{sys.executable}" -m cogtcp {" ".join(arguments)}'
    right = 2 if "none.toml" in arguments else 0
    for redirected, code in ((">/dev/full", right or 1), (">&-", right), ("<&- >&- 2>&-", right)):
        done = subprocess.run(
            ["sh", "-c", f"{shell} {redirected}"],  # noqa: S607
            cwd=small.parent,
            capture_output=True,
            text=True,
            check=False,
            # argparse passes over errors at once, but not those of the buffer.
            env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
        )
        assert done.returncode == code, (redirected, done)
        assert "Traceback" not in done.stderr
        if redirected == ">/dev/full" and not right:
            assert done.stderr == "cogtcp: standard output cannot be written: No space left on device\n"


def test_numbers_of_seeds_beyond_reason(command: Command, small: Path, scenario: Scenario) -> None:
    for arguments in (
        ["compare", small, "--transport", "sack", "--seeds", 10**9],
        ["tune", small, "--seeds", 10**9],
        ["tune", small, "--fresh-seeds", 10**9],
        ["reproduce", "c2", "--seeds", 10**9],
    ):
        done = command(*arguments)
        assert done.code == 2, done
        assert f"{10**9}: at most 100000" in done.err
    with pytest.raises(UsageError, match="limit of 100000"):
        cogtcp.compare(scenario, ["sack"], seeds=10**12)


def test_bytes_that_are_not_utf_8(small: Path, tmp_path: Path) -> None:
    strange = os.fsdecode(b"\xff")
    for arguments, says in (
        ([small, "--set", f"name={strange}"], "not UTF-8 text"),
        ([small, "--set", f"{strange}=1"], "not UTF-8 text"),
        ([f"{strange}.toml"], "no such file"),
    ):
        done = subprocess.run(command_line("check", *arguments), capture_output=True, check=False)
        assert done.returncode == 2, done
        assert says.encode() in done.stderr
        assert done.stderr.count(b"\n") == 1
    # As names of files they are in order.
    scenario = tmp_path / f"{strange}.toml"
    shutil.copy(small, scenario)
    done = subprocess.run(
        command_line("run", scenario, "--out", tmp_path / "out"), capture_output=True, check=False
    )
    assert done.returncode == 0, done
    assert r"\xff.toml" in (tmp_path / "out" / "report.html").read_text()


def test_too_little_memory(command: Command, small: Path, tmp_path: Path) -> None:
    def with_little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 * 10**9, 2 * 10**9))

    done = command(
        "run", small, "--set", "run.sample_interval=4 us", "--out", "out", preexec_fn=with_little_memory
    )
    assert "Traceback" not in done.err
    assert (done.code, done.err.splitlines()[-1].split(";")[0]) == (
        1,
        "cogtcp: there is not enough memory",
    ), done
    assert files(tmp_path) == ["small.toml"]


def test_series_without_end_are_refused_before_they_are_made(command: Command, small: Path) -> None:
    done = command("run", small, "--set", "run.sample_interval=2.5 us")
    assert done.code == 2
    assert "24000000 rows" in done.err
    assert "longer run.sample_interval" in done.err


@pytest.mark.parametrize("after", ["cogtcp._start", "argparse", "cogtcp._errors", "cogtcp.cli.arguments"])
def test_ctrl_c_while_it_loads(small: Path, after: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", *command_line("check", small)[1:]],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:  # one for each module, when it is loaded
        lines.append(line)
        if line.rstrip().endswith(f" {after}"):
            break
    process.send_signal(signal.SIGINT)
    with process.stderr:
        lines += process.stderr.readlines()
    assert process.wait(timeout=PATIENCE) in (130, 0), lines  # 0: it was faster
    assert not any("Traceback" in line for line in lines)


def test_names_that_a_comparison_does_not_have(scenario: Scenario) -> None:
    compared = cogtcp.compare(scenario.set("run.duration", "2 s"), ["sack"], seeds=1)
    for wrong, says in (
        (lambda: compared.interval("sac", "goodput_bps"), "unknown transport 'sac'; did you mean 'sack'"),
        (
            lambda: compared.interval("sack", "godput"),
            'unknown metric "godput"; did you mean "goodput"',
        ),
        (lambda: compared.difference("sack", "goodput_bps", "reno"), "unknown transport 'reno'"),
        (lambda: compared.finished("reno"), "unknown transport 'reno'"),
    ):
        with pytest.raises(UsageError, match=says):
            wrong()


class Halves(cogtcp.CongestionControl):
    """A control that a comparison is given as the class itself."""

    def ssthresh(self, now: float, tcp: cogtcp.TcpState) -> float:
        return max(tcp.flight_size // 2, 2 * tcp.mss)

    def cong_avoid(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        tcp.cwnd += min(ack.acked, tcp.mss) if tcp.in_slow_start else tcp.mss * ack.acked // tcp.cwnd


def test_classes_in_place_of_names(scenario: Scenario) -> None:
    sys.modules.setdefault("test_no_traceback", sys.modules[__name__])
    short = scenario.set("run.duration", "2 s")
    compared = cogtcp.compare(short, ["sack", Halves], seeds=1)
    assert compared.transports == ("sack", f"{__name__}:Halves")
    assert compared.interval(Halves, "goodput_bps").mean > 0

    class Local(Halves):
        pass

    with pytest.raises(UsageError, match="defined in a function"):
        cogtcp.compare(short, [Local], seeds=1)
    with pytest.raises(UsageError, match="is not a transport"):
        cogtcp.compare(short, [3], seeds=1)  # type: ignore[list-item]
    with pytest.raises(UsageError, match="in a list"):
        cogtcp.compare(short, Halves, seeds=1)  # type: ignore[arg-type]
