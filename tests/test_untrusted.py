"""A scenario from somebody else can only fail: it runs no code, and reads no file without an end."""

import os
import pickle
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError
from cogtcp.runner import identity
from conftest import PATIENCE, ROOT, SMALL, Command, command_line

EVIL = "from pathlib import Path\nPath('owned').touch()\nfrom my_control import Patient as E\n"
NAMED = {
    "transport": SMALL.replace('transport = "newreno"', 'transport = "evil:E"'),
    "flow": SMALL + 'tcp = { congestion = "evil:E" }\n',
    "all": SMALL.replace("[topology", '[tcp]\ncongestion = "evil:E"\n\n[topology', 1),
}


@pytest.fixture
def owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that the module of the control writes when it is imported."""
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "my_control.py").write_text((ROOT / "examples/my_control.py").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "owned"


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        *((["check"], text) for text in NAMED.values()),
        (["run"], NAMED["transport"]),
        (["compare", "--transport", "sack,reno", "--seeds", "1"], NAMED["transport"]),
        (["tune"], NAMED["flow"]),
    ],
)
def test_a_scenario_runs_no_code(
    command: Command, tmp_path: Path, owned: Path, verb: list[str], text: str
) -> None:
    (tmp_path / "theirs.toml").write_text(text)
    done = command(*verb, "theirs.toml", "--set", "run.duration=1 s")
    assert done.code == 2
    assert 'congestion: "evil:E"' in done.err or 'transport: "evil:E"' in done.err
    assert "--allow-python" in done.err
    assert not owned.exists()


def test_whoever_trusts_it_may_run_it(command: Command, tmp_path: Path, owned: Path) -> None:
    (tmp_path / "theirs.toml").write_text(NAMED["transport"])
    (tmp_path / "ours.toml").write_text(SMALL)
    for trusted in (
        ["theirs.toml", "--allow-python"],
        ["theirs.toml", "--set", "flow.0.transport=my_control:Patient"],
        ["ours.toml", "--set", "flow.0.transport=evil:E"],
    ):
        owned.unlink(missing_ok=True)
        done = command("check", *trusted)
        assert done.code == 0, done
        assert owned.exists() is ("my_control" not in trusted[-1])


def test_the_same_in_python(tmp_path: Path, owned: Path) -> None:
    file = tmp_path / "theirs.toml"
    file.write_text(NAMED["transport"])
    theirs = Scenario.from_file(file)
    assert theirs.python_controls == ["evil:E"]
    for scenario in (
        theirs,
        Scenario.from_toml(NAMED["transport"]),
        Scenario.from_dict(theirs.to_dict()),
        theirs.set("run.duration", "1 s"),
        theirs.set("flow.0.name", "other").set("run.seed", 3),
        pickle.loads(pickle.dumps(theirs)),
    ):
        for use in (Scenario.check, cogtcp.run):
            with pytest.raises(ScenarioError, match="allow_python=True") as caught:
                use(scenario)
            assert caught.value.field == "flow.0.transport"
        identity.of_scenario(scenario)  # of a finished run, which may be asked for before
    assert not owned.exists()
    for scenario in (
        Scenario.from_file(file, allow_python=True).set("run.duration", "1 s"),
        Scenario.from_toml(SMALL).with_transport("evil:E"),
        Scenario.from_dict(theirs.to_dict(), allow_python=True),
        theirs.with_transport("evil:E").with_transport("my_control:Patient"),
    ):
        pickle.loads(pickle.dumps(scenario)).check()
    assert owned.exists()


def test_a_module_here_does_not_stand_in_for_another(command: Command, small: Path, owned: Path) -> None:
    """The current folder is looked at for controls that are named, and for nothing else."""
    (small.parent / "git.py").write_text(EVIL)
    program = "import sys; sys.argv = ['cogtcp', 'check', 'small.toml']; from cogtcp.cli import main; main()"
    program += "; import importlib.util; print(importlib.util.find_spec('evil'))"
    done = subprocess.run(
        [*command_line()[:1], "-P", "-c", program],
        cwd=small.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "None"


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


@pytest.mark.parametrize("verb", [["check"], ["run"]])
def test_ctrl_c_stops_the_reading_of_files(tmp_path: Path, verb: list[str]) -> None:
    log = tmp_path / "long.log"
    with log.open("w") as stream:
        stream.write("<1, 0, 0, 1, 0.2>\n")
        stream.writelines(f"<1, {2 * i}, {2 * i + 1}>\n" for i in range(4_000_000))
    theirs = naming("spectrum.pu.pu_log", log, tmp_path)
    started = time.monotonic()
    assert subprocess.run(command_line("check", theirs), check=False, capture_output=True).returncode == 0
    whole = time.monotonic() - started
    process = subprocess.Popen(command_line(*verb, theirs), stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    time.sleep(0.4 * whole)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert time.monotonic() - sent < max(0.35 * whole, 1)


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
