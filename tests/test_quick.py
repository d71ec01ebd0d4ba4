"""What `make quick` chooses, and how a run of tests ends in time."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import ROOT, TooBusy, _play
from quick import crates, python_tests


def test_what_a_change_touches_comes_first() -> None:
    tests = {
        "tests/test_a.py": "from cogtcp.capture import Point",
        "tests/test_b.py": "",
        "tests/test_c.py": "from cogtcp import run",
    }
    files = ["python/cogtcp/capture/points.py", "tests/test_c.py", "README.md"]
    assert python_tests(files, tests) == ["tests/test_c.py", "tests/test_a.py", "tests/test_b.py"]
    assert python_tests(["python/cogtcp/__init__.py"], tests)[0] == "tests/test_b.py"


def test_crates_are_those_with_a_changed_rust_file() -> None:
    files = ["crates/link/src/link.rs", "crates/link/Cargo.toml", "crates/gone/src/lib.rs", "bpf/c2.h"]
    assert crates(files) == ["link"]


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(folder), str(folder), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_quick_run_leaves_out_what_took_long_and_ends_in_time(tmp_path: Path) -> None:
    """The first run notes what tests cost, and names the dearest."""
    (tmp_path / "test_some.py").write_text(
        "import time\n"
        "def test_dear():\n    until = time.process_time() + 2.2\n"
        "    while time.process_time() < until: pass\n"
        "def test_cheap(): pass\n"
        "def test_waits(): time.sleep(1.5)\n"
        "def test_last(): pass\n"
    )
    first = pytest_in(tmp_path)
    assert first.returncode == 0, first.stdout
    assert "4 passed" in first.stdout
    named = [line for line in first.stdout.splitlines() if line.lstrip().startswith("2.") and " s  " in line]
    assert len(named) == 1, first.stdout
    assert "test_dear" in named[0]
    quick = pytest_in(tmp_path, "--quick", "1")
    assert "2 passed, 1 deselected" in quick.stdout, quick.stdout
    assert "time is over" in quick.stdout


@pytest.mark.parametrize(
    ("outcomes", "runs", "ends"),
    [
        ([TooBusy("late"), None], 2, None),
        ([TooBusy("late")] * 5, 3, TooBusy),
        ([AssertionError("wrong"), None], 1, AssertionError),
        ([TooBusy("late"), AssertionError("wrong"), None], 2, AssertionError),
    ],
)
def test_a_test_whose_run_was_late_is_run_again_and_one_that_fails_is_not(
    tmp_path: Path, outcomes: list[Exception | None], runs: int, ends: type[Exception] | None
) -> None:
    folders: list[Path] = []

    def body(tmp_path: Path) -> None:
        folders.append(tmp_path)
        if (outcome := outcomes[len(folders) - 1]) is not None:
            raise outcome

    item: Any = SimpleNamespace(function=SimpleNamespace(body=body))
    with pytest.raises(ends) if ends else nullcontext():
        _play(item, tmp_path)
    assert len({*folders}) == len(folders) == runs, "each in a folder of its own"
