"""Results of others: a symbolic link in them leads no verb to another file, be it to read or to write."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import OutputError, Scenario, UsageError
from cogtcp.cli import main
from cogtcp.cli.kept_pairs import KeptPairs
from cogtcp.model.output import MARKER, OutputFolder, check_links, prepare_folder
from cogtcp.running.sweeping.store import Store
from conftest import SMALL, Command, Done, command_in

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT = SMALL.replace('duration = "20 s"', 'duration = "1 s"')
SWEEP = """
scenario = "base.toml"
seeds = 1
transports = ["sack"]
[[axis]]
path = "topology.single_hop.link.delay"
values = ["1 ms", "2 ms"]
"""
PART = "data/runs/transport=sack/part-0.parquet"
#: What a link stands for, by its name in the folder.
PLACES = {
    "table": "summary.parquet", "part": PART, "page": "report.html", "scenario": "scenario.toml",
    "marker": MARKER, "runs": "runs", "data": "data", "hidden": ".report.html.1-00000000.cogtcp.old",
}  # fmt: skip
#: What makes the folder, if it is no sweep's.
MADE = {
    "run": ("run", "base.toml"),
    "compare": ("compare", "base.toml", "--transport", "sack,newreno", "--seeds", "1"),
    "tune": ("tune", "base.toml", "--trials", "1", "--seeds", "1",
             "--vary", "topology.single_hop.link.delay=1 ms..2 ms"),
    "advise": ("advise", "base.toml", "--budget", "4 runs", "--transport", "sack,newreno"),
    "merge": ("merge", "swept"),
}  # fmt: skip
#: Verbs that read the folder `theirs`; and those that write it, which are refused before they work.
READ = {
    "query": ("query", "theirs", "FROM summary"),
    "results": ("results", "theirs"),
    "merge": ("merge", "theirs", "swept", "--out", "merged"),
    "plot": ("plot", "theirs", "--kind", "line", "--out", "plot.svg"),
    "dry run": ("sweep", "sweep.toml", "--dry-run", "--out", "theirs"),
}
WRITTEN = {
    "sweep": ("sweep", "sweep.toml", "--out", "theirs"),
    **{name: (*words, "--out", "theirs") for name, words in MADE.items()},
    "reproduce": ("reproduce", "chain", "--quick", "--out", "theirs"),
    "validate": ("validate", "1", "--peer", "theory", "--cases", "1", "--runs", "1", "--out", "theirs"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with scenario, sweep, and results of each verb that is quick."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "base.toml").write_text(SHORT)
    (folder / "sweep.toml").write_text(SWEEP)
    command = command_in(folder)
    for name, words in {"swept": ("sweep", "sweep.toml"), **MADE}.items():
        done = command(*words, "--out", name)
        assert done.code == 0, done
    return folder


def _seen(outside: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return when each thing was read and written last, and its content."""
    found = {}
    waiting = [outside]
    while waiting:
        path = waiting.pop()
        status = path.stat()
        is_file = path.is_file()
        found[str(path)] = (status.st_atime_ns, status.st_mtime_ns, path.read_bytes() if is_file else b"")
        waiting += [] if is_file else path.iterdir()
        # Reading it here is no reading.
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return found


def _planted(folder: Path, place: str, outside: Path) -> Path:
    """Move a part of results outside, with a private word in it, and put a link in its place."""
    outside.mkdir()
    link, target = folder / place, outside / f"private{Path(place).suffix}"
    if link.exists():
        shutil.move(link, target)
    else:
        link.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("hunter2")
    for path in (target, *target.rglob("*.parquet")):
        if path.suffix == ".parquet" and path.stat().st_size > 10:
            table = pq.read_table(path)
            pq.write_table(table.append_column("hunter2", pa.array(["hunter2"] * table.num_rows)), path)
    if target.is_dir():
        (target / "a.runs").write_text("hunter2")
    link.symlink_to(target)
    for path in [outside, *outside.rglob("*")]:
        # Last read before it was last written: then even a disk that seldom notes readings notes the next.
        os.utime(path, ns=(10**9, 2 * 10**9))
    return link


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("verb", [*READ, *WRITTEN])
def test_no_verb_follows_a_link(
    made: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    place: str,
) -> None:
    here, outside = tmp_path / "here", tmp_path / "outside"
    here.mkdir()
    for name in ("base.toml", "sweep.toml"):
        shutil.copy(made / name, here)
    shutil.copytree(made / "swept", here / "swept")
    writes = verb in WRITTEN
    shutil.copytree(made / (verb if writes and verb in MADE else "swept"), here / "theirs")
    link = _planted(here / "theirs", PLACES[place], outside)
    before = _seen(outside)
    monkeypatch.chdir(here)
    code = main((WRITTEN if writes else READ)[verb])
    done = Done(code, *capsys.readouterr())
    assert _seen(outside) == before, f"the link was followed: {done}"
    assert link.is_symlink()
    assert done.code == (1 if writes else 2), done
    assert f"{link.relative_to(here)}: is a symbolic link, which could lead to any file; name a" in done.err
    assert len(done.err.splitlines()) == 1, done
    assert "hunter" not in done.out + done.err
    assert not (here / "merged").exists()
    assert not (here / "plot.svg").exists()


@pytest.mark.parametrize("verb", ["sweep", "run"])
def test_force_puts_it_aside_as_it_is(made: Path, tmp_path: Path, verb: str) -> None:
    command = command_in(tmp_path)
    for name in ("base.toml", "sweep.toml"):
        shutil.copy(made / name, tmp_path)
    shutil.copytree(made / ("run" if verb == "run" else "swept"), tmp_path / "theirs")
    _planted(tmp_path / "theirs", "report.html", tmp_path / "outside")
    before = _seen(tmp_path / "outside")
    done = command(*WRITTEN[verb], "--force")
    assert done.code == 0, done
    assert _seen(tmp_path / "outside") == before
    assert (tmp_path / "theirs.old-1/report.html").is_symlink()
    check_links(tmp_path / "theirs")


@pytest.mark.parametrize("place", ["summary.parquet", PART, MARKER, "data"])
def test_a_store_is_neither_pulled_nor_pushed_through_a_link(made: Path, tmp_path: Path, place: str) -> None:
    def sweep(out: str, seeds: int) -> None:
        scenario = Scenario.from_toml(SHORT)
        cogtcp.sweep(
            scenario, transports=["sack"], seeds=seeds, out=tmp_path / out, store=str(tmp_path / "store")
        )

    sweep("mine", 1)
    _planted(tmp_path / "store", place, tmp_path / "outside")
    before = _seen(tmp_path / "outside")
    for out in ("mine", "another"):  # one brings it there, the other gets it first
        with pytest.raises(UsageError, match="is a symbolic link"):
            sweep(out, 2)
        assert _seen(tmp_path / "outside") == before


def test_the_folder_itself_may_be_a_link(made: Path, tmp_path: Path, command: Command) -> None:
    shutil.copytree(made / "swept", tmp_path / "real")
    shutil.copytree(made / "swept", tmp_path / "swept")
    for name in ("base.toml", "sweep.toml"):
        shutil.copy(made / name, tmp_path)
    (tmp_path / "theirs").symlink_to("real")
    for words in (*READ.values(), WRITTEN["sweep"]):
        done = command(*words)
        assert done.code == 0, done
    assert (tmp_path / "theirs").is_symlink()


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: OutputFolder(folder, job={"verb": "run"}).__enter__(),
        lambda folder: prepare_folder(folder, {"verb": "run"}, ["runs"], keep="runs"),
    ],
)
def test_what_is_no_folder_of_results_is_not_walked(tmp_path: Path, write: Callable[[Path], object]) -> None:
    """It may be a whole disk."""
    (tmp_path / "home/deep").mkdir(parents=True)
    (tmp_path / "home/deep/link").symlink_to("/")
    check_links(tmp_path / "home")
    with pytest.raises(OutputError, match=r"did not write|not results"):
        write(tmp_path / "home")
    with pytest.raises(UsageError, match="is a symbolic link"):
        check_links(tmp_path / "home", whole=True)


def test_pairs_beside_a_folder_are_not_kept_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("hunter2")
    (tmp_path / ".out.pairs.jsonl").symlink_to("private")
    with pytest.raises(OutputError, match="is a symbolic link"):
        KeptPairs(tmp_path / "out", is_kept=True)


def test_a_folder_that_cannot_be_seen_into_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files in a folder of mode 0311 open by their names, links among them."""

    def denied(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    check_links(tmp_path / "none")
    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        check_links(tmp_path)


def test_folders_may_lie_deep(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 100)).mkdir(parents=True)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 60)
    try:
        check_links(tmp_path, whole=True)
    finally:
        sys.setrecursionlimit(before)


def test_a_link_that_a_kill_left_in_a_hidden_folder_is_not_put_back(tmp_path: Path) -> None:
    left = tmp_path / "mine" / ".data.99999-deadbeef.cogtcp.old" / "runs"
    left.mkdir(parents=True)
    (left / "part-0.parquet").symlink_to("/etc/passwd")
    with pytest.raises(OutputError, match="symbolic link"):
        prepare_folder(tmp_path / "mine", {"verb": "sweep"}, ["data", "runs"], keep="runs")


def test_a_store_may_hold_links_beside_the_data_set(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "other").mkdir(parents=True)
    (shared / "other" / "latest").symlink_to("x")
    assert not Store(str(shared)).pull(tmp_path / "mine")
    (shared / "data").mkdir()
    (shared / "data" / "part-0.parquet").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="symbolic link"):
        Store(str(shared)).pull(tmp_path / "mine")
