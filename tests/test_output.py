"""Folders of results are written whole or not at all."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogtcp import OutputError, _replace
from cogtcp.model.output import MARKER, OutputFolder, is_ours, prepare_folder, write_file, write_pieces
from conftest import files

JOB = {"verb": "run", "scenario": "a", "seeds": [1]}


def write(target: Path, text: str, *, force: bool = False, job: dict[str, Any] | None = None) -> None:
    with OutputFolder(target, job=job or JOB, force=force) as folder:
        folder.write_text("a.txt", text)


def test_results_and_their_marker_are_in_place_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "out", "one")
    assert files(tmp_path) == ["deep", "deep/out", "deep/out/a.txt", f"deep/out/{MARKER}"]
    assert json.loads((tmp_path / "deep/out" / MARKER).read_text())["files"] == ["a.txt", MARKER]


def test_earlier_results_are_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with OutputFolder(target, job=JOB) as folder:
        folder.write_text("gone.txt", "")
    write(target, "two")
    assert files(tmp_path) == ["out", "out/a.txt", f"out/{MARKER}"]


def test_an_error_leaves_the_earlier_results_and_no_trace(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "one")
    before = files(tmp_path)

    def fail_halfway() -> None:
        with OutputFolder(target, job=JOB) as folder:
            folder.write_text("b.txt", "half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert files(tmp_path) == before
    assert (target / "a.txt").read_text() == "one"


def test_an_error_leaves_no_folder_that_was_made_for_the_results(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), OutputFolder(tmp_path / "new" / "out", job=JOB):
        raise ZeroDivisionError
    assert files(tmp_path) == []


def test_a_folder_of_others_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"did not write.*--force"):
        write(target, "one")
    assert files(tmp_path) == ["thesis", "thesis/chapter.tex"]


def test_force_replaces_it_and_keeps_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    for content in ("first", "second"):
        target.mkdir(exist_ok=True)
        (target / "chapter.tex").write_text(content)
        write(target, "results", force=True)
    assert is_ours(target)
    assert (tmp_path / "thesis.old-1" / "chapter.tex").read_text() == "first"
    assert (tmp_path / "thesis.old-2" / "chapter.tex").read_text() == "second"


def test_results_with_a_file_of_others_in_them_are_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "one")
    (target / "notes.md").write_text("what I think of it")
    with pytest.raises(OutputError, match="did not write"):
        write(target, "two")
    assert (target / "a.txt").read_text() == "one"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", "one")
    assert is_ours(tmp_path / "out")


def test_the_folder_one_is_in_cannot_be_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for target in (Path(), Path(".."), tmp_path):
        with pytest.raises(OutputError, match="cannot be the current one"):
            write(target, "one", force=True)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        write(tmp_path / "out", "one", force=True)
    with pytest.raises(OutputError, match=r"cannot be written"):
        write(tmp_path / "out" / "deeper", "one")


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", "one")
    assert (tmp_path / "link").is_symlink()
    assert is_ours(tmp_path / "real")


def test_when_another_writes_at_the_same_time_the_last_one_stays(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with OutputFolder(target, job=JOB) as slow:
        slow.write_text("a.txt", "slow")
        write(target, "quick")
    assert (target / "a.txt").read_text() == "slow"
    assert files(tmp_path) == ["out", "out/a.txt", f"out/{MARKER}"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_file(target, "one")
    with pytest.raises(UnicodeEncodeError):
        write_file(target, "half \ud800")
    assert (files(tmp_path), target.read_text()) == (["report.html"], "one")
    with pytest.raises(OutputError, match="cannot be written"):
        write_file(tmp_path / "nowhere" / "report.html", "one")


@pytest.mark.parametrize(
    "other", [{**JOB, "scenario": "b"}, {**JOB, "seeds": [2]}, {**JOB, "verb": "compare"}], ids=str
)
def test_results_of_another_job_are_not_replaced(tmp_path: Path, other: dict[str, Any]) -> None:
    target = tmp_path / "out"
    write(target, "dear", job=other)
    with pytest.raises(OutputError, match=r"holds results of .*--force"):
        write(target, "new")
    assert (target / "a.txt").read_text() == "dear"
    write(target, "new", force=True)
    assert (target / "a.txt").read_text() == "new"
    assert (tmp_path / "out.old-1" / "a.txt").read_text() == "dear"
    write(target, "renewed", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.old-1"], "the same job is renewed"


def test_results_of_an_older_version_are_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "old")
    manifest = json.loads((target / MARKER).read_text())
    del manifest["job"]
    (target / MARKER).write_text(json.dumps(manifest))
    with pytest.raises(OutputError, match="older version"):
        write(target, "new")


def test_a_folder_that_grows_is_of_one_job_too(tmp_path: Path) -> None:
    job = {"verb": "tune", "scenario": "a"}
    folder = prepare_folder(tmp_path / "out", job, ["report.html", "runs"], keep="runs")
    (folder / "report.html").write_text("dear")
    prepare_folder(folder, job, ["report.html", "runs"], keep="runs")
    with pytest.raises(OutputError, match=r"another `tune` \(other scenario\)"):
        prepare_folder(folder, {**job, "scenario": "b"}, ["report.html", "runs"], keep="runs")
    prepare_folder(folder, {**job, "scenario": "b"}, ["report.html", "runs"], keep="runs", force=True)
    assert (tmp_path / "out.old-1" / "report.html").read_text() == "dear"
    assert not (folder / "report.html").exists()


def test_two_results_that_exchange_places_are_never_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    write(target, "one")
    seen = []
    if _replace._renameat2() is None:
        pytest.skip("this system cannot exchange two folders")
    monkeypatch.setattr(Path, "rename", lambda self, to: seen.append((self, to)))
    write(target, "two")
    assert seen == [], "one exchange, and no moment without a target"
    assert (target / "a.txt").read_text() == "two"


def test_without_an_exchange_a_target_that_a_kill_took_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    write(target, "one")
    program = f"""
import os, signal
from pathlib import Path
from cogtcp import _replace
from cogtcp.model.output import OutputFolder
_replace._renameat2 = lambda: None
real = Path.rename
def rename(self, to):
    done = real(self, to)
    if Path(to).suffix == ".old":
        os.kill(os.getpid(), signal.SIGKILL)
    return done
Path.rename = rename
with OutputFolder({str(target)!r}, job={JOB!r}) as folder:
    folder.write_text("a.txt", "two")
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists(), "killed between the two renames"
    monkeypatch.setattr(_replace, "_renameat2", lambda: None)
    with OutputFolder(target, job=JOB) as folder:
        assert (target / "a.txt").read_text() == "one", "put back before anything else is done"
        folder.write_text("a.txt", "three")
    assert (target / "a.txt").read_text() == "three"
    assert files(tmp_path) == ["out", "out/a.txt", f"out/{MARKER}"]


KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from cogtcp.model.output import OutputFolder, write_pieces
def pieces():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)
target = Path(sys.argv[1])
if target.suffix:
    write_pieces(target, pieces())
with OutputFolder(target, job={"verb": "test", "seeds": [1]}) as folder:
    folder.write_pieces("half.parquet", pieces())
"""


def killed_while_writing(target: Path) -> None:
    """Let a process begin to write a file or folder, and kill it."""
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, target], check=False)
    assert killed.returncode == -signal.SIGKILL


def test_what_kills_left_is_cleared_away_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    target, file = tmp_path / "out", tmp_path / "report.html"
    for _ in range(2):
        killed_while_writing(target)
    killed_while_writing(file)
    assert len(list(tmp_path.glob(".report.html.*.tmp"))) == 1, "left this very moment"
    with OutputFolder(target, job=JOB) as slow:
        slow.write_text("a.txt", "slow")
        assert [path.name for path in tmp_path.glob(".out.*")] == [slow.path.name]
        write(target, "quick")
        assert slow.path.exists(), "a live writer keeps its folder"

    def pieces() -> Iterator[bytes]:
        yield b"slow"
        (own,) = tmp_path.glob(".report.html.*")
        write_file(file, "quick")
        _replace.clear_up_in(tmp_path)
        assert own.exists(), "a live writer keeps its file"

    write_pieces(file, pieces())
    assert file.read_text() == "slow"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "report.html"]


def test_what_was_left_under_the_number_of_a_process_that_lives_is_cleared_away(tmp_path: Path) -> None:
    # Numbers come again: that there is such a process does not say that it is the one that wrote.
    (tmp_path / f".a.txt.{os.getpid()}-00000001.cogtcp.tmp").write_text("half")
    (tmp_path / f".out.{os.getpid()}-00000001.cogtcp.tmp").mkdir()
    (tmp_path / f".b.txt.{os.getpid()}-00000001.cogtcp.tmp").write_text("half")
    (tmp_path / ".c.txt.tmp").write_text("somebody else's")
    write_file(tmp_path / "a.txt", "whole")
    write(tmp_path / "out", "whole")
    names = [".b.txt", ".c.txt.tmp", "a.txt", "out"]
    assert [path.name.partition(f".{os.getpid()}")[0] for path in sorted(tmp_path.iterdir())] == names
    _replace.clear_up_in(tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == names[1:]


def test_what_is_taken_for_left_before_it_is_locked_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, begun = _replace._hold, []

    def looked_at(descriptor: int, path: Path) -> bool:
        begun.append(path.name)
        if len(begun) % 2:
            _replace.clear_up_in(tmp_path)  # another process looks just now
        return real(descriptor, path)

    monkeypatch.setattr(_replace, "_hold", looked_at)
    write_file(tmp_path / "a.txt", "whole")
    write(tmp_path / "out", "whole")
    assert len(set(begun)) == 4
    assert files(tmp_path) == ["a.txt", "out", "out/a.txt", f"out/{MARKER}"]


def test_without_locks_what_was_left_goes_when_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    assert _replace.fcntl is not None
    monkeypatch.setattr(_replace.fcntl, "flock", no_locks)
    killed_while_writing(tmp_path / "a.txt")
    own = tmp_path / f".a.txt.{os.getpid()}-00000001.cogtcp.tmp"
    own.write_text("half")
    write_file(tmp_path / "a.txt", "whole")
    assert len(list(tmp_path.iterdir())) == 3, "who wrote it may be on another machine"
    for path in tmp_path.glob(".*"):
        os.utime(path, (1, 1))
    write_file(tmp_path / "a.txt", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [own.name, "a.txt"]
