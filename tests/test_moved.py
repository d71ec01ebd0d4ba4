"""Modules by their old names: the same objects, with a warning unless the documentation shows the name."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import cogtcp
from cogtcp import _moved

PACKAGE = Path(cogtcp.__file__).parent


def run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that has loaded nothing yet."""
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_old_name_is_the_same_module_and_warns_unless_it_stays() -> None:
    code = (
        "import importlib, sys, warnings\n"
        "from cogtcp import _moved\n"
        "for old, new in _moved.MOVED.items():\n"
        "    with warnings.catch_warnings(record=True) as said:\n"
        "        warnings.simplefilter('always')\n"
        "        module = importlib.import_module(f'cogtcp.{old}')\n"
        "    assert module is sys.modules[f'cogtcp.{new}'], old\n"
        "    assert module.__name__ == module.__spec__.name == f'cogtcp.{new}', old\n"
        "    ours = [str(w.message) for w in said if w.category is DeprecationWarning]\n"
        "    stays = old in _moved.PUBLIC\n"
        "    assert ours == ([] if stays else [f'cogtcp.{old} is now cogtcp.{new}']), (old, ours)\n"
        "print(len(_moved.MOVED))\n"
    )
    done = run(code)
    assert done.stdout.strip() == str(len(_moved.MOVED)), done.stderr


def test_every_part_of_a_room_has_its_old_name() -> None:
    rooms = {new.split(".")[0] for new in _moved.MOVED.values()}
    there = {
        f"{room}.{path.stem}"
        for room in rooms
        for path in (PACKAGE / room).iterdir()
        if path.stem not in ("__init__", "__pycache__")
    }
    assert set(_moved.MOVED.values()) == there


def test_the_names_that_stay_have_stubs() -> None:
    stubs = {path.stem: path.read_text() for path in PACKAGE.glob("*.pyi") if path.stem != "_core"}
    assert stubs == {name: f"from cogtcp.{_moved.MOVED[name]} import *\n" for name in _moved.PUBLIC}


def test_a_module_below_an_old_name_is_loaded_once() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        old = _fresh("cogtcp.report.tables")
    assert "cogtcp.report.tables is now cogtcp.showing.report.tables" in [str(w.message) for w in said]
    assert old is importlib.import_module("cogtcp.showing.report.tables")


def test_the_warning_names_the_line_that_imports() -> None:
    for statement in ("import cogtcp.report", "from cogtcp.report import page", "from cogtcp import report"):
        done = run(statement)  # shown by default, as it is code of `__main__`
        assert done.returncode == 0
        said = "<string>:1: DeprecationWarning: cogtcp.report is now cogtcp.showing.report"
        assert done.stderr.splitlines()[0] == said, statement


def test_the_function_compare_keeps_its_name() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module = _fresh("cogtcp.compare")
    assert module is importlib.import_module("cogtcp.running.compare")
    assert cogtcp.compare is module.compare


def test_a_pickle_with_an_old_name_is_read() -> None:
    text = pickle.dumps(cogtcp.Interval(1.0, 0.5, 1.5, 3))
    old = text.replace(b"\x16cogtcp.model.statistics"[1:], b"cogtcp.statistics")
    assert old != text
    # The length of the name stands before it.
    at = old.index(b"cogtcp.statistics")
    old = old[: at - 1] + bytes([len("cogtcp.statistics")]) + old[at:]
    old = b"\x80\x04" + old[2 + 9 :]  # without the frame, which says how long all is
    assert pickle.loads(old) == cogtcp.Interval(1.0, 0.5, 1.5, 3)


def test_python_m_finds_an_old_name(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "always::DeprecationWarning", "-m", "cogtcp._kernel_program"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cogtcp._kernel_program is now cogtcp.kernel._kernel_program" in done.stderr


def test_other_names_are_not_there() -> None:
    assert _moved.place("cogtcp.nonsense") is None
    assert _moved.place("os.path") is None
    for name in ("cogtcp.nonsense", "cogtcp.fitting.nonsense"):
        with pytest.raises(ModuleNotFoundError, match="nonsense"):
            importlib.import_module(name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = cogtcp.nonsense


def _fresh(name: str) -> object:
    """Import as for the first time."""
    sys.modules.pop(name, None)
    return importlib.import_module(name)
