"""What the tests share: a small scenario, and the command line as a process of its own."""

from __future__ import annotations

import functools
import inspect
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import settings

from cogtcp import Scenario, studies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cogtcp.studies import StudyResult

ROOT = Path(__file__).resolve().parents[1]

# The same tree is tested with the same examples everywhere; `make fuzz` draws new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("COGTCP_EXAMPLES", "fixed"))

# A shell starts what it puts into the background with SIGINT ignored, which Python and its children keep:
# tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests cost: processor time, also of their children. A busy machine disturbs it less than wall time.
_COSTS = "cogtcp/seconds"
#: A test that cost more than so many seconds is left out of a quick run.
_DEAR = 2.0
_costs = pytest.StashKey[dict[str, float]]()
_deadline = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "end after so many seconds, without tests that were dear the last time"
    parser.addoption("--quick", type=float, metavar="SECONDS", help=words)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_costs] = {}
    if (seconds := config.getoption("--quick")) is not None:
        config.stash[_deadline] = time.monotonic() + seconds


# `make test` has two workers (pytest-xdist). A file's tests stay together, as they share what it sets up.
#: Begun first: what runs on the kernel takes the time that it takes, the others are long.
FIRST = (
    "test_emulation",
    "test_kernel",
    "test_packaging",
    "test_virtual",
    "test_recipes",
    "test_pages_browser",
    "test_sweep",
)
#: Files on the real clock. One worker has them all, so that they do not keep each other from being in time.
CLOCKED = ("test_emulation", "test_kernel")


def _rank(item: pytest.Item) -> int:
    name = item.path.name
    return next((rank for rank, start in enumerate(FIRST) if name.startswith(start)), len(FIRST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0].rpartition("/")[2]
            return "the clock" if file.startswith(CLOCKED) else file

    config.option.loadscopereorder = False  # the order is of `_rank`
    return ByFile(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what the tests of a worker cost."""
    node.config.stash[_costs] |= getattr(node, "workeroutput", {}).get("costs", {})


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["costs"] = session.config.stash[_costs]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cache = config.cache
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)
    if _deadline not in config.stash or cache is None:
        return
    known = cache.get(_COSTS, {})
    dear = [item for item in items if known.get(item.nodeid, 0.0) > _DEAR]
    items[:] = [item for item in items if known.get(item.nodeid, 0.0) <= _DEAR]
    config.hook.pytest_deselected(items=dear)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = sum(os.times()[:4])
    result = yield
    item.config.stash[_costs][item.nodeid] = sum(os.times()[:4]) - before
    if time.monotonic() > item.config.stash.get(_deadline, float("inf")):
        item.session.shouldstop = "the time is over; what is left was not run"
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    costs = config.stash[_costs]
    if config.cache is not None:
        config.cache.set(_COSTS, config.cache.get(_COSTS, {}) | {k: round(v, 2) for k, v in costs.items()})
    dearest = [(cost, name) for name, cost in costs.items() if cost > _DEAR]
    if dearest:
        terminalreporter.section(f"most processor time, of {sum(costs.values()):.0f} s")
        for cost, name in sorted(dearest, reverse=True)[:10]:
            terminalreporter.write_line(f"{cost:5.1f} s  {name}")


# Losses, sensing and primary users, so that every kind of event occurs; over in a few milliseconds.
SMALL = """\
name = "small"
description = "A short run with everything in it"

[run]
duration = "20 s"
seed = 7

[topology.single_hop]
link = { rate = "5 Mbit/s", delay = "20 ms", queue = "30 packets", loss = "0.2 %" }

[[radio]]
name = "radio"
links = ["link"]
silence = "drop"
sensing = { off = "200 ms", on = "3 s" }
pu = { interarrival = "6 s", switching = "300 ms" }

[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = "newreno"
traffic = "saturated"
"""


@pytest.fixture
def scenario() -> Scenario:
    return Scenario.from_toml(SMALL)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


#: Seconds after which a command hangs. It is no verdict: beside compilers work takes ten times as long.
PATIENCE = 1200


@dataclass
class Done:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


class QuickStudy(Protocol):
    def __call__(self, name: str) -> tuple[StudyResult, Path]: ...


class Command(Protocol):
    def __call__(self, *args: object, **options: Any) -> Done: ...


def command_line(*args: object) -> list[str]:
    return [sys.executable, "-m", "cogtcp", *map(str, args)]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `cogtcp ARGS` in the test's folder."""
    return command_in(tmp_path)


def command_in(folder: Path) -> Command:
    """Return what runs `cogtcp ARGS` in a folder."""

    def run(*args: object, **options: Any) -> Done:
        done = subprocess.run(
            command_line(*args),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**os.environ, "NO_COLOR": "1"},
            check=False,
            **options,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


def files(folder: Path) -> list[str]:
    """Everything in a folder, hidden entries included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# Tests that wait more than they work run side by side: what runs on the kernel takes the time that it takes.
#: How many run at a time: more would keep each other from being in time.
MOST = 6
#: What it may ask for, beside parameters.
_GIVEN = ("tmp_path", "command")
#: A test that finds the machine too busy is run so often in all before it is skipped.
ATTEMPTS = 3


class TooBusy(pytest.skip.Exception):
    """Where a run on the real clock fell behind by its own measure: a skip, not a failure.

    Such a run says nothing of the code, whatever it shows. The other way round, a test fails only of a run
    that kept up, and says at its bounds why load does not break them, or how seldom chance does.
    """


def side_by_side(body: Callable[..., None]) -> Callable[..., None]:
    """Let a test run beside the others of its module that are marked so.

    All that were chosen begin when the first of them is asked for, each on a thread of its own; its turn
    reports what came of it. It may ask for `tmp_path`, `command` and its parameters, and has the value of no
    other fixture, though they are set up before.
    """

    @functools.wraps(body)
    def test(begun: dict[str, Future[None]], request: pytest.FixtureRequest, **_: object) -> None:
        begun[request.node.nodeid].result()

    asked = inspect.signature(body).parameters
    own = [name for name in asked if name not in _GIVEN]
    kinds = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (*own, "begun", "request")]
    test.__signature__ = inspect.Signature(kinds)  # type: ignore[attr-defined]
    test.body = body  # type: ignore[attr-defined]
    return test


@pytest.fixture(scope="module")
def begun(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[None]]]:
    """Begin what is chosen of a module."""
    # Not on several threads: `pytest.approx` looks at numpy while another may be in the midst of it.
    import pyarrow.parquet  # noqa: F401

    with ThreadPoolExecutor(MOST) as pool:
        yield {
            # The folder is made here: pytest makes its own folder, and numbers in it, for one thread only.
            item.nodeid: pool.submit(_play, item, tmp_path_factory.mktemp("beside"))
            for item in request.session.items
            if isinstance(item, pytest.Function)
            and item.module is request.module
            and hasattr(item.function, "body")
            and not any(mark.args and mark.args[0] for mark in item.iter_markers("skipif"))
        }
        pool.shutdown(cancel_futures=True)


def _play(item: pytest.Function, folder: Path) -> None:
    body: Any = item.function.body
    given: dict[str, Any] = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    asked = inspect.signature(body).parameters
    for attempt in range(1, ATTEMPTS + 1):
        own = folder / str(attempt)
        own.mkdir()
        given |= {"tmp_path": own, "command": command_in(own)}
        try:
            body(**{name: given.get(name) for name in asked})
        except TooBusy:
            if attempt == ATTEMPTS:
                raise
        else:
            break


@pytest.fixture(scope="session")
def quick_study(tmp_path_factory: pytest.TempPathFactory) -> QuickStudy:
    """Reproduce the quick version of a study; all workers share the runs.

    With two seeds, but for the study of which two tests want what the command measures.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def reproduced(name: str) -> tuple[StudyResult, Path]:
        folder = shared / "studies" / name
        seeds = None if name == "mswim09" else 2
        return studies.reproduce(name, quick=True, seeds=seeds, out=folder), folder

    return reproduced


@pytest.fixture(scope="session")
def wasm() -> Path:
    """Return the engine as WebAssembly, of `make web` or of a build for development."""
    folder = ROOT / "target" / "wasm32-unknown-unknown"
    found = [
        path for profile in ("web", "release") if (path := folder / profile / "cogtcp_web.wasm").exists()
    ]
    if not found:
        pytest.skip("needs the engine as WebAssembly: make web")
    return max(found, key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="session")
def bundles() -> dict[str, bytes]:
    """Return by name what `make web` takes from npm for the page: the editor."""
    found = {path.name: path.read_bytes() for path in (ROOT / "target" / "bundles").glob("*.bundle.js")}
    if not found:
        pytest.skip("needs the page's bundles from npm: make bundles")
    return found


@pytest.fixture(scope="session")
def lab_data() -> dict[str, Any]:
    """Return what the page of the lab knows beside the engine."""
    from cogtcp.lab import site

    return site.data()


@pytest.fixture(scope="module", autouse=True)
def _clock(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a module about behaviour (`IN_VIRTUAL_TIME`) in virtual time, where a kernel for it is built.

    A busy machine does not disturb it there. Tests of the real clock are in test_emulation.py.
    """
    with pytest.MonkeyPatch.context() as patch:
        if getattr(request.module, "IN_VIRTUAL_TIME", False) and _has_virtual_kernel():
            patch.setattr(request.module, "emulate", functools.partial(request.module.emulate, virtual=True))
        yield


@functools.cache
def _has_virtual_kernel() -> bool:
    from cogtcp import NoKernelPlaneError, UsageError
    from cogtcp.kernel.emulation.virtual import find

    try:
        find()
    except (NoKernelPlaneError, UsageError):
        return False
    return True
