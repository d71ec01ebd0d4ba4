"""Folders of results are written whole or not at all."""

import json
from pathlib import Path

import pytest

from cogtcp import OutputError
from cogtcp.output import MARKER, OutputFolder, is_ours, write_file
from conftest import files


def write(target: Path, text: str, *, force: bool = False) -> None:
    with OutputFolder(target, force=force) as folder:
        folder.write_text("a.txt", text)


def test_results_and_their_marker_are_in_place_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "out", "one")
    assert files(tmp_path) == ["deep", "deep/out", "deep/out/a.txt", f"deep/out/{MARKER}"]
    assert json.loads((tmp_path / "deep/out" / MARKER).read_text())["files"] == ["a.txt", MARKER]


def test_earlier_results_are_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with OutputFolder(target) as folder:
        folder.write_text("gone.txt", "")
    write(target, "two")
    assert files(tmp_path) == ["out", "out/a.txt", f"out/{MARKER}"]


def test_an_error_leaves_the_earlier_results_and_no_trace(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write(target, "one")
    before = files(tmp_path)

    def fail_halfway() -> None:
        with OutputFolder(target) as folder:
            folder.write_text("b.txt", "half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert files(tmp_path) == before
    assert (target / "a.txt").read_text() == "one"


def test_an_error_leaves_no_folder_that_was_made_for_the_results(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), OutputFolder(tmp_path / "new" / "out"):
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
        with pytest.raises(OutputError, match="the one you are in"):
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
    with OutputFolder(target) as slow:
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
