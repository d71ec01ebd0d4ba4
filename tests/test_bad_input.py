"""Bad input: one clear message, the right exit code, and nothing written."""

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogtcp import Scenario, ScenarioError
from cogtcp.cli import main
from conftest import SMALL, Command, files

LINK = "topology.single_hop.link"

GRAPH = (
    SMALL[: SMALL.index("[topology")]
    + """\
[topology.graph]
nodes = ["a", "b", "c"]
links = [{ name = "one", from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms", queue = "10 packets" }]

[[flow]]
from = "a"
to = "c"
transport = "newreno"
traffic = "saturated"
"""
)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (f"{LINK}.rate=-3 Mbit/s", ["rate", "negative", "10 Mbit/s"]),
        (f"{LINK}.rate=0 bit/s", ["rate"]),
        (f"{LINK}.rate=1e30 Mbit/s", ["rate", "too large"]),
        (f"{LINK}.rate=fast", ["rate", "fast", "10 Mbit/s"]),
        (f"{LINK}.rate=10", ["rate", "unit"]),
        (f"{LINK}.delay=-1 ms", ["delay", "negative"]),
        (f"{LINK}.loss=130 %", ["loss"]),
        (f"{LINK}.queue=none", ["queue", "100 packets"]),
        (f"{LINK}.colour=red", ["colour", "rate"]),
        ("run.duration=0 s", ["run.duration", "zero"]),
        ("run.duration=999999999 s", ["run.duration"]),
        ("run.sample_interval=0 s", ["sample_interval"]),
        ("run.warmup=30 s", ["warmup"]),
        ("run.seed=-1", ["run.seed", "9223372036854775807"]),
        ("run.seed=9223372036854775808", ["run.seed", "9223372036854775807"]),
        ("flow.0.transport=newreon", ["newreon", "newreno"]),
        ("flow.0.to=nowhere", ["nowhere", "receiver"]),
        ("flow.0.to=sender", ["sender"]),
        ('radio.0.links=["lnk"]', ["lnk", "link"]),
        ("radio.0.sensing.off=0 s", ["sensing.off"]),
        ("radio.0.silence=ignore", ["silence", "hold", "drop", "refuse"]),
        ("flow=[]", ["flow"]),
        ("nothing.at.all=1", ["nothing"]),
    ],
)
def test_wrong_fields(command: Command, small: Path, tmp_path: Path, change: str, says: list[str]) -> None:
    done = command("run", small, "--set", change)
    assert (done.code, done.out) == (2, "")
    first, *_ = done.err.splitlines()  # one line for each fault, the first that of the field
    assert first.startswith(f"cogtcp: {small}")
    assert all(word in first for word in says), first
    assert "Traceback" not in done.err
    assert files(tmp_path) == ["small.toml"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"name = ", "not TOML"),
        (b"[run\n", ":1:"),
        (b"hello", "not TOML"),
        (b"x = 1", "unknown"),
        (GRAPH.encode(), "no path leads from"),
        (SMALL.replace("5 Mbit/s", "5 Mbit").encode(), ":9:"),
        (b"x = " + b"[" * 100_000, "TOML"),
        (b"#" * 5_000_000, "larger than 4 MB"),
    ],
    ids=[
        "empty",
        "blank",
        "binary",
        "half",
        "syntax",
        "text",
        "other",
        "disconnected",
        "unit",
        "nested",
        "huge",
    ],
)
def test_wrong_files(command: Command, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "bad.toml").write_bytes(content)
    for verb in (["check"], ["run"], ["compare", "--transport", "sack"]):
        done = command(*verb, "bad.toml")
        assert (done.code, done.out) == (2, ""), done
        assert done.err.startswith("cogtcp: bad.toml")
        assert says in done.err
        assert "Traceback" not in done.err
    assert files(tmp_path) == ["bad.toml"]


def test_the_line_is_shown_with_carets_under_what_is_wrong(command: Command, tmp_path: Path) -> None:
    text = SMALL.replace('"5 Mbit/s", delay', '"5 Mbits", delay').replace("silence =", "silense =")
    (tmp_path / "bad.toml").write_text(text)
    done = command("check", "bad.toml")
    number = next(i for i, line in enumerate(text.splitlines(), 1) if "Mbits" in line)
    line = text.splitlines()[number - 1]
    margin = " " * len(str(number))
    message, *excerpt = done.err.splitlines()
    assert message.startswith(f"cogtcp: bad.toml:{number}:{line.index(chr(34)) + 1}: ")
    under = " " * line.index('"') + "^" * len('"5 Mbits"')
    assert excerpt == [f"{margin} |", f"{number} | {line}", f"{margin} | {under}"]
    # For machines nothing is drawn.
    described = command("check", "bad.toml", "--json").json()["error"]
    assert (described["line"], described["column"]) == (number, line.index('"') + 1)
    assert "^" not in described["message"] + described["remedy"]


def test_every_fault_has_its_line(tmp_path: Path) -> None:
    text = SMALL.replace('to = "receiver"', 'to = "nobody"').replace('links = ["link"]', 'links = ["lnk"]')
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text).check()
    error = caught.value
    faults = [error, *error.more]
    assert len(faults) == 2
    said = error.explain().splitlines()
    assert len(said) == 2 * 4
    for i, fault in enumerate(faults):
        assert said[4 * i] == str(error).splitlines()[i]
        assert said[4 * i + 2].endswith(text.splitlines()[fault.line - 1])
    # A traceback shows it too; what is set on the command line has no line.
    assert error.__notes__ == [error.excerpt]
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(SMALL).set("run.duration", "5 parsecs")
    assert caught.value.excerpt.splitlines()[1] == 'set | run.duration = "5 parsecs"'


def test_a_shipped_scenario_is_named_in_errors_as_the_user_named_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "cbrs", "--set", "radio.1.silence=5"]) == 2
    assert capsys.readouterr().err.startswith("cogtcp: cbrs: radio.1.silence: radio has no element")
    assert main(["run", "cbrs", "--set", "flow.0.to=nobody", "--set", 'radio.0.links=["lnk"]']) == 2
    said = capsys.readouterr().err
    assert said.count("\ncbrs") + said.startswith("cogtcp: cbrs: ") == 2
    assert "scenarios/" not in said


def test_files_that_cannot_be_read(command: Command, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    for name, says in (
        ("none.toml", "no such file"),
        ("folder.toml", "is a folder"),
        ("loop.toml", "cannot be read"),
    ):
        done = command("run", name)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"cogtcp: {name}: ")
        assert says in done.err
    assert "cogtcp new" in command("run", "none.toml").err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_file_without_permission(command: Command, small: Path) -> None:
    small.chmod(0)
    assert "cannot be read: Permission denied" in command("run", small).err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "small.toml", "--seed", "-1"], "seed -1 is out of range"),
        (["run", "small.toml", "--seed", str(2**63)], "9223372036854775807"),
        (["run", "small.toml", "--seed", "x"], "--seed x: write a whole number"),
        (["rnu", "small.toml"], "unknown verb 'rnu'; did you mean 'run'? all verbs: cogtcp --help"),
        (
            ["emulate", "--device", "tum"],
            "--device tum: unknown value; did you mean 'tun'? known: any, tun, veth",
        ),
        (["run", "small.toml", "--set", "run.duration"], "PATH=VALUE"),
        (["run"], "FILE"),
        (["compare", "small.toml"], "--transport"),
        (["compare", "small.toml", "--transport", ","], "at least one transport"),
        (["compare", "small.toml", "--transport", "sack,sack"], "named twice"),
        (["compare", "small.toml", "--transport", "sack,vegsa"], "did you mean 'vegas'?"),
        (["compare", "small.toml", "--transport", "sack", "--seeds", "0"], "at least 1"),
        (["compare", "small.toml", "--transport", "sack", "--jobs", "-2"], "at least 1"),
        (["compare", "small.toml", "--transport", "sack", "--seed", str(2**63 - 2)], "out of range"),
        (["rnu", "small.toml"], "'rnu'"),
    ],
)
def test_wrong_arguments(
    command: Command, small: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    done = command(*arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err
    assert files(tmp_path) == ["small.toml"]


def test_errors_in_json(command: Command, small: Path) -> None:
    done = command("check", small, "--json", "--set", f"{LINK}.rate=-3 Mbit/s")
    error = done.json()["error"]
    assert done.code == 2
    assert (error["file"], error["field"]) == (str(small), f"{LINK}.rate")
    assert error["remedy"]
    # The message, and below it what was set with carets.
    assert done.err.count("\n") == 4
    assert "out of range" in command("run", small, "--json", "--seed", "-1").json()["error"]["message"]


@pytest.mark.parametrize("out", ["small.toml", "small.toml/deeper", "/proc/nowhere", ".", ".."])
@pytest.mark.parametrize("verb", [["run"], ["compare", "--transport", "sack", "--seeds", "1"]])
def test_folders_that_cannot_be_written(
    command: Command, small: Path, tmp_path: Path, verb: list[str], out: str
) -> None:
    done = command(*verb, small, "--out", out)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"cogtcp: {out}: ")
    assert done.err.count("\n") == 1
    assert files(tmp_path) == ["small.toml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_folder_without_permission(command: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    done = command("run", small, "--out", "locked/out")
    assert done.code == 1
    assert "Permission denied" in done.err


@pytest.mark.parametrize("verb", [["run"], ["compare", "--transport", "sack", "--seeds", "1"]])
@pytest.mark.parametrize("limit", [0, 100, 3_000, 30_000])
def test_no_room_for_a_file(
    command: Command, small: Path, tmp_path: Path, verb: list[str], limit: int
) -> None:
    def allow_only_small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = command(*verb, small, "--out", "out", preexec_fn=allow_only_small_files)
    assert done.code == 1, done
    # The finished runs of a comparison are the first that find no room.
    said = r"^cogtcp: out\S*: (results cannot be written|finished runs cannot be saved): "
    assert re.search(said, done.err)
    assert "free some space" in done.err
    assert "Traceback" not in done.err
    if verb[0] == "run":
        assert files(tmp_path) == ["small.toml"]
    # With room it goes on; a comparison from the runs that it has kept.
    assert command(*verb, small, "--out", "out").code == 0
    assert (tmp_path / "out" / "report.html").read_text().rstrip().endswith("</html>")
    assert not list(tmp_path.glob("**/*.tmp"))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)  # noqa: S607


def test_a_full_disk(command: Command, small: Path, tiny_disk: Path) -> None:
    done = command("run", small, "--out", tiny_disk / "out")
    assert done.code == 1
    assert "No space left on device; free some space, or name a folder on another disk" in done.err
    assert files(tiny_disk) == []
