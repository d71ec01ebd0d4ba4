"""Files of others that are damaged, or hold something else: one clear error each, and a sweep goes on."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import CogtcpError, OutputError, Result, Scenario, UsageError
from cogtcp.cli import main
from cogtcp.model.output import MARKER, KeptFolder, prepare_folder
from cogtcp.running.runner import Case, Runner
from cogtcp.running.sweeping import dataset, plan
from cogtcp.running.sweeping.store import Store
from conftest import PATIENCE, SMALL, Command, command_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHORT = Scenario.from_toml(SMALL).set("run.duration", "1 s")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with results of each kind."""
    folder = tmp_path_factory.mktemp("results")
    cogtcp.run(SHORT, 1).save(folder / "run")
    cogtcp.compare(SHORT, ["sack", "reno"], seeds=2).save(folder / "compare")
    _swept(folder / "sweep")
    return folder


def _swept(out: Path) -> cogtcp.Sweep:
    vary = {"topology.single_hop.link.delay": ["10 ms", "30 ms"]}
    return cogtcp.sweep(SHORT, vary, transports=["sack", "reno"], seeds=2, out=out, quantiles=[0.5])


#: What reads each kind of folder.
READERS: dict[str, list[list[str]]] = {
    "run": [
        ["results", "{}"],
        ["query", "{}", "SELECT * FROM flows"],
        ["merge", "{}", "{}", "--out", "merged", "--force"],
        ["plot", "{}", "--kind", "timeline", "--out", "plot.svg", "--force"],
        ["plot", "{}", "--kind", "cdf", "--out", "plot.svg", "--force"],
    ],
    "compare": [
        ["results", "{}"],
        ["query", "{}", "SELECT * FROM runs"],
        ["merge", "{}", "{}", "--out", "merged", "--force"],
        ["plot", "{}", "--kind", "bars", "--out", "plot.svg", "--force"],
        ["plot", "{}", "--kind", "delay-throughput", "--out", "plot.svg", "--force"],
    ],
    "sweep": [
        ["results", "{}"],
        ["query", "{}", "SELECT * FROM runs"],
        ["query", "{}", "SELECT * FROM flows"],
        ["merge", "{}", "{}", "--out", "merged", "--force"],
        ["plot", "{}", "--kind", "line", "--out", "plot.svg", "--force"],
    ],
}
DAMAGES: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("nothing of the kind"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "bytes in the middle": lambda path: _flip(path, 0.2, 0.6),
    "bytes at the end": lambda path: _flip(path, 0.7, 0.99),
    "folder": lambda path: (path.unlink(), path.mkdir()),  # type: ignore[dict-item,func-returns-value]
    "gone": lambda path: path.unlink(),
    "nested": lambda path: path.write_text("[" * 100_000),
}
OTHERS: dict[str, Callable[[Path], None]] = {
    **DAMAGES,
    "other columns": lambda path: pq.write_table(pa.table({"a": [1]}), path),
    "other types": lambda path: _retyped(path),
    "nothing in it": lambda path: pq.write_table(pa.table({}), path),
}


def _flip(path: Path, low: float, high: float) -> None:
    content = bytearray(path.read_bytes())
    draw = random.Random(str(path.name))
    for _ in range(20):
        content[int(draw.uniform(low, high) * len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


def _retyped(path: Path) -> None:
    table = pq.read_table(path)
    columns = {
        name: pa.array([f"?{number}" for number in range(table.num_rows)]) for name in table.column_names
    }
    pq.write_table(pa.table(columns), path)


def _run(arguments: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    return code, said.getvalue()


@pytest.mark.parametrize("kind", READERS)
def test_damaged_results_give_one_clear_error(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [
        path.relative_to(results / kind) for path in sorted((results / kind).rglob("*")) if path.is_file()
    ]
    names = [name for name in names if name.suffix in (".parquet", ".json", ".toml")]
    assert len(names) >= 5
    refused = turn = 0
    for name in names:
        for what, damage in (OTHERS if name.suffix == ".parquet" else DAMAGES).items():
            shutil.rmtree("theirs", ignore_errors=True)
            shutil.copytree(results / kind, "theirs")
            damage(tmp_path / "theirs" / name)
            # Each file and each damage meets one verb, and each verb many of them.
            turn += 1
            for verb in [READERS[kind][turn % len(READERS[kind])]]:
                arguments = [part.format("theirs") for part in verb]
                try:
                    code, said = _run(arguments)
                except Exception as error:
                    raise AssertionError(f"{name} {what}: {arguments}: {error!r}") from error
                told = f"{name} {what}: {arguments}: {code} {said}"
                assert code in (0, 1, 2), told
                assert "standard output" not in said, told
                if code:
                    refused += 1
                    assert said.startswith("cogtcp: "), told
                    # Tables that can be read, of something else, are what a figure finds nothing in.
                    assert "theirs" in said or what in ("other types", "other columns", "nothing in it"), told
    assert refused > 20


@pytest.mark.parametrize("what", OTHERS)
def test_a_resumed_sweep_makes_what_is_damaged_again(results: Path, tmp_path: Path, what: str) -> None:
    whole = results / "sweep"
    names = sorted(path.relative_to(whole) for path in (whole / "data").rglob("*.parquet"))
    assert len(names) == 4  # two tables, two transports
    for name in names:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        shutil.copytree(whole, tmp_path / "out")
        OTHERS[what](tmp_path / "out" / name)
        found = _swept(tmp_path / "out")
        assert not found.failures
        if what == "gone" and "flows" in str(name):
            continue  # nobody can tell it from a table without rows
        # Of the eight runs those of the other transport are as they were.
        assert found.progress.made == 4, (name, what)
        if what not in ("gone", "folder"):
            assert [path.name for path in found.damaged] == ["part-0.parquet"]
        for other in names:
            assert (tmp_path / "out" / other).read_bytes() == (whole / other).read_bytes(), other


def test_damage_that_still_decompresses_is_noticed(tmp_path: Path) -> None:
    """One bit in the values of a column: the page has a checksum."""
    _swept(tmp_path / "out")
    path = tmp_path / "out/data/runs/transport=sack/part-0.parquet"
    noticed = 0
    whole = path.read_bytes()
    for place in range(len(whole) // 10, len(whole) // 2, 97):
        content = bytearray(whole)
        content[place] ^= 4
        path.write_bytes(content)
        # Either it is noticed, or the bit is of no meaning: it never gives another value.
        if not dataset._is_whole("runs", path):
            noticed += 1
        else:
            got = pq.read_table(path)
            path.write_bytes(whole)
            assert got.equals(pq.read_table(path)), place
    assert noticed > 10


BAD = [
    1, -1, 1.5, True, "", "x", "nan", [], {}, [[]], [{}], [1], [1.5, "x"], {"a": 1}, {"": []},
    {"path": 1}, [{"path": 1, "values": 1}], 10**30, [None.__class__.__name__, {"a": []}],
]  # fmt: skip
KEYS = [
    "scenario", "set", "transports", "seeds", "first_seed", "sampling", "samples", "axis", "point", "keep",
    "time_limit", "warmup", "axis.0.path", "axis.0.values", "axis.0.range", "axis.0.steps", "axis.0.name",
]  # fmt: skip


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


@pytest.mark.parametrize("key", KEYS)
def test_a_sweep_file_of_any_shape_gives_one_clear_error(tmp_path: Path, key: str) -> None:
    (tmp_path / "base.toml").write_text(SMALL.replace('duration = "20 s"', 'duration = "1 s"'))
    file = tmp_path / "sweep.toml"
    for value in BAD:
        said: dict[str, Any] = {
            "scenario": "base.toml", "seeds": 1, "axis": [{"path": "run.seed", "values": [1]}]
        }  # fmt: skip
        if key.startswith("axis.0."):
            said["axis"][0][key.rpartition(".")[2]] = value
        else:
            said[key] = value
        file.write_text("\n".join(f"{name} = {_toml(part)}" for name, part in said.items()))
        with contextlib.suppress(CogtcpError):
            plan.read(file)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 1000, "a." * 3000 + "b = 1", "a = " + "{a=" * 1000, "x = 1" + "0" * 9000]
)
@pytest.mark.parametrize("name", ["sweep.toml", "base.ranges.toml"])
def test_deep_nesting_is_no_traceback(command: Command, tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "base.toml").write_text(SMALL)
    (tmp_path / name).write_text(text)
    verb = ["sweep", "sweep.toml"] if name == "sweep.toml" else ["advise", "base.toml"]
    done = command(*verb)
    assert done.code == 2, done
    assert "Traceback" not in done.err
    assert name in done.err


def test_a_transport_that_is_no_text(command: Command, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SMALL)
    for value in ("3", "true", "{ quic = {} }", '["sack"]', '{ path = "x" }'):
        for warmup in ("", 'warmup = "mser5"\n'):
            (tmp_path / "sweep.toml").write_text(f'scenario = "base.toml"\n{warmup}transports = [{value}]\n')
            done = command("sweep", "sweep.toml")
            assert done.code == 2, done
            assert "Traceback" not in done.err
            assert "is not a transport" in done.err


@pytest.mark.parametrize("change", [shutil.rmtree, lambda path: path.rename(path.with_name("elsewhere"))])
def test_removing_the_folder_of_a_running_sweep_is_an_error(
    tmp_path: Path, change: Callable[[Path], Any]
) -> None:
    (tmp_path / "base.toml").write_text(SMALL)
    (tmp_path / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 4000\ntransports = ["sack"]\n')
    out = tmp_path / "out"
    process = subprocess.Popen(
        command_line("sweep", "sweep.toml", "--out", out, "--jobs", 1),
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _wait(lambda: any(path.stat().st_size for path in out.glob("runs/*.runs")))
        change(out)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 1, said
    assert "was removed or moved" in said
    assert not out.exists(), "it is not made again"


@pytest.mark.parametrize(
    "words",
    [
        ("advise", "--transport", "sack,reno", "--budget", "10min"),
        ("tune", "--vary", "topology.single_hop.link.delay=5ms..50ms", "--trials", "400"),
        ("compare", "--transport", "sack,reno", "--seeds", "3000"),
    ],
)
def test_removing_the_folder_of_what_runs_is_an_error_soon(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "base.toml").write_text(SMALL)
    out = tmp_path / "out"
    process = subprocess.Popen(
        command_line(*words, "base.toml", "--jobs", 1, "--out", out),
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _wait(lambda: any(path.stat().st_size for path in out.glob("runs/[!.]*")))
        shutil.rmtree(out, ignore_errors=True)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 1, said
    (error,) = [line for line in said.splitlines() if "removed or moved" in line]
    assert error.startswith("cogtcp: ")
    assert "Traceback" not in said
    assert not [path for path in out.glob("*") if path.is_file()], "half of an answer is none"


def _goodput(result: Result) -> dict[str, Any]:
    return {"goodput_bps": result.metrics["goodput_bps"]}


def test_of_a_folder_of_which_the_finished_runs_alone_are_left_nothing_more_is_made(tmp_path: Path) -> None:
    """What is begun in a folder while it is removed keeps the folder there: then its marker is missing."""
    prepare_folder(tmp_path / "out", {"verb": "tune"}, ["runs"], keep="runs")
    runner = Runner(tmp_path / "out/runs", 1)
    assert not runner.outcomes([Case(SHORT, 1, _goodput)])[0].error
    (tmp_path / "out" / MARKER).unlink()
    with pytest.raises(OutputError, match="out: was removed or moved"):
        runner.outcomes([Case(SHORT, 2, _goodput)])
    assert runner.progress.made == 1


def test_results_are_not_written_where_their_folder_was_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for write in (
        lambda folder: folder.write_text("scenario.toml", ""),
        lambda folder: folder.write_table("runs", pa.table({"a": [1]}), {}),
        lambda folder: folder.describe({}),
    ):
        with KeptFolder(out, ["runs.parquet"], job={"verb": "compare"}) as folder:
            shutil.rmtree(out)
            with pytest.raises(OutputError, match="out: was removed or moved"):
                write(folder)
        assert not out.exists(), "it is not made again"


def test_a_folder_that_goes_after_the_last_run_is_an_error(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def progress(done: int, total: int) -> None:
        if done == total:
            shutil.rmtree(out, ignore_errors=True)

    with pytest.raises(OutputError, match="was removed or moved"):
        cogtcp.sweep(SHORT, transports=["sack"], seeds=2, out=out, progress=progress, jobs=1)


def _wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if until():
                return
        time.sleep(0.02)
    raise AssertionError("it did not begin")


def _marker(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MARKER).read_text())
    return found


def _listed(folder: Path) -> None:
    assert sorted(_marker(folder)["files"]) == sorted(path.name for path in folder.iterdir())
    assert "unfinished" not in _marker(folder)


def test_the_marker_lists_what_is_there(command: Command, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SMALL.replace('duration = "20 s"', 'duration = "1 s"'))
    (tmp_path / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 2\ntransports = ["sack"]\n')
    delay = "topology.single_hop.link.delay=1 ms..2 ms"
    for verb in (
        ["run", "base.toml"],
        ["compare", "base.toml", "--transport", "sack", "--seeds", "2"],
        ["sweep", "sweep.toml"],
        ["sweep", "sweep.toml", "--quantiles", "50"],
        ["sweep", "sweep.toml"],
        ["tune", "base.toml", "--vary", delay, "--trials", "2", "--seeds", "1", "--fresh-seeds", "2"],
        ["advise", "base.toml", "--budget", "4 runs", "--transport", "sack,reno"],
    ):
        done = command(*verb, "--out", verb[0])
        assert done.code == 0, done
        _listed(tmp_path / verb[0])
    assert "quantiles.parquet" not in _marker(tmp_path / "sweep")["files"]


def test_a_folder_that_is_being_written_says_so(command: Command, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SMALL)
    (tmp_path / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 4000\ntransports = ["sack"]\n')
    out = tmp_path / "out"
    process = subprocess.Popen(
        command_line("sweep", "sweep.toml", "--out", out, "--jobs", 1),
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _wait(lambda: any(path.stat().st_size for path in out.glob("runs/*.runs")))
    marker = _marker(out)
    assert marker["unfinished"] is True
    assert set(marker["files"]) <= {path.name for path in out.iterdir()}
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = command("results", out)
    assert done.code == 0, done
    assert "unfinished" in done.out
    # What is missing of a finished folder is named.
    assert command("sweep", "sweep.toml", "--seeds", 2, "--out", out).code == 0
    _listed(out)
    (out / "summary.parquet").unlink()
    assert "missing: summary.parquet" in command("results", out).out


OTHER_FILES = [
    "data/../../owned",
    "/etc/owned",
    "data/runs/transport=sack/../../../../owned.parquet",
    "../o",
    3,
]


@pytest.mark.parametrize("name", OTHER_FILES)
def test_a_store_names_no_other_files(tmp_path: Path, name: object) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (tmp_path / "owned").write_text("mine")
    (store / MARKER).write_text(json.dumps({"tool": "cogtcp", "schema": 4, "stored": [name]}))
    (tmp_path / "swept").mkdir()
    with pytest.raises(UsageError, match="is no file of a sweep"):
        Store(str(store)).pull(tmp_path / "swept")
    with pytest.raises(UsageError, match="is no file of a sweep"):
        Store(str(store)).push(tmp_path / "swept")
    assert (tmp_path / "owned").read_text() == "mine"
    (store / MARKER).write_text("[" * 100_000)
    with pytest.raises(UsageError, match="is damaged"):
        Store(str(store)).pull(tmp_path / "swept")
