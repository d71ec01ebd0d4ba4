"""A plugin of pytest that notes which mutants each test reaches.

What a shared fixture reaches counts for all tests after it.
"""

import ctypes
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cogtcp_mutant
import pytest

import cogtcp._core

_core = ctypes.CDLL(cogtcp._core.__file__)
_note = Path(os.environ["COGTCP_MUTANTS_REACHED"])
_tests: dict[str, tuple[float, set[int], bool]] = {}
_shared: set[int] = set()


def _take() -> set[int]:
    """Return what was reached since the last call."""
    found = {int(line) for line in _note.read_text().split()} if _note.exists() else set()
    _note.unlink(missing_ok=True)
    cogtcp_mutant.reached.clear()
    _core.cogtcp_mutants_forget()
    return found


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Count what modules reach when they are imported for every test."""
    result = yield
    _shared.update(_take())
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[Any]:
    """Count what a shared fixture reaches for every test."""
    if fixturedef.scope == "function":
        return (yield)
    before = _take()
    result = yield
    found = _take()
    _shared.update(found)
    _own.update(before | found)
    return result


_own: set[int] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Note seconds and mutants of a test."""
    _take()
    _own.clear()
    start = time.monotonic()
    result = yield
    passed = item.nodeid in _tests and _tests[item.nodeid][2]
    _tests[item.nodeid] = (time.monotonic() - start, _own | _take(), passed)
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note whether a test passed."""
    if report.when == "call":
        _tests[report.nodeid] = (0.0, set(), report.passed)


def pytest_sessionfinish() -> None:
    """Write what was noted."""
    told = {
        name: [seconds, sorted(found | _shared), passed] for name, (seconds, found, passed) in _tests.items()
    }
    Path(os.environ["COGTCP_MUTANTS_TOLD"]).write_text(json.dumps(told))
