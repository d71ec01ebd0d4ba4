"""Where runs are made. A launcher takes cases as it has room for them and yields their outcomes.

`Local` is this process; `cogtcp.runner.on_ray` has another. A third (Dask, Slurm) is a file like it.
"""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Protocol

from cogtcp import _core
from cogtcp.running.runner.case import Outcome, make

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from cogtcp.running.runner.case import Case

# How often the main thread looks up from waiting, for Ctrl-C and time limits.
_WAKE_S = 0.1
# What is asked to stop gets so long to do it, by each of the ways there are.
_GRACE_S = 1.0
# Outcomes that nobody has taken yet. More of them, and no further run is begun.
_AHEAD = 256


class Launcher(Protocol):
    """Makes runs somewhere."""

    def ready(self, package: str) -> AbstractContextManager[None]:
        """Stay connected for several launches, and carry the code of a loaded package to where runs are made.

        Args:
            package: A package that is not installed there, by its name in `sys.modules`: a study's.
        """
        ...

    def launch(
        self, cases: Iterator[tuple[str, Case]], keep: Callable[[Outcome], None], time_limit: float | None
    ) -> Generator[Outcome, None, None]:
        """Make runs and yield their outcomes as they come, in any order, each case's once.

        Closing the iterator stops what is under way.

        Args:
            cases: Cases with their keys, drawn on only as there is room.
            keep: Called with each outcome at once, so that what is finished stays whatever happens to the
                rest.
            time_limit: Seconds after which a run is given up, as a failure.

        Returns:
            A generator of outcomes, in order of completion.
        """
        ...


def available_processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Worker:
    """A thread that makes runs, and what it is at."""

    thread: Thread
    cancel: _core.Cancel = field(default_factory=_core.Cancel)
    key: str = ""
    label: tuple[object, ...] = ()
    started: float = 0.0
    asked: int = 0  # how often the run was asked to end: it took too long
    abandoned: bool = False


class Local:
    """Makes runs on threads of this process: the engine lets go of Python's lock while it simulates.

    A run over its time limit is cancelled. If a congestion control in Python does not return, an exception is
    raised in it. If that fails too (it waits in C), its thread is abandoned and replaced.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = max(1, jobs or available_processors())

    def ready(self, package: str) -> AbstractContextManager[None]:
        """Do nothing: runs are made where the code is."""
        return nullcontext()

    def launch(
        self, cases: Iterator[tuple[str, Case]], keep: Callable[[Outcome], None], time_limit: float | None
    ) -> Generator[Outcome, None, None]:
        """Make runs, see `Launcher`.

        Args:
            cases: Cases with their keys.
            keep: Called with each outcome at once.
            time_limit: Seconds after which a run has failed.

        Returns:
            A generator of outcomes, in order of completion.
        """
        # Ctrl-C may strike the main thread at any instruction. So it never holds a lock that a worker needs:
        # the one below is for workers only, and the operations of a SimpleQueue are atomic.
        done: SimpleQueue[Outcome | BaseException | None] = SimpleQueue()
        turn = Lock()
        stopping = _core.Cancel()
        workers: list[_Worker] = []

        def work(worker: _Worker) -> None:
            error: BaseException | None = None
            try:
                while not (stopping.cancelled or worker.abandoned):
                    # A generator takes one caller at a time.
                    with turn:
                        case = next(cases, None)
                    if case is None:
                        break
                    outcome = self._one(worker, stopping, *case, time_limit)
                    # A thread that was given up has been replaced, and its run counted as failed: a late
                    # outcome is discarded.
                    if outcome is not None and not worker.abandoned:
                        keep(outcome)
                        done.put(outcome)
                    # Whoever takes the outcomes may be slower than the runs: memory is not to grow with the
                    # difference.
                    while done.qsize() > _AHEAD and not stopping.cancelled:
                        time.sleep(_WAKE_S / 10)
            except BaseException as raised:  # raised in the main thread
                error = raised
            if not worker.abandoned:
                done.put(error)

        def hire() -> None:
            # A daemon: a thread that hangs in C must not keep the process from ending.
            worker = _Worker(Thread(target=lambda: work(worker), daemon=True))
            workers.append(worker)
            worker.thread.start()

        at_work = self.jobs
        try:
            for _ in range(self.jobs):
                hire()
            while at_work:
                try:
                    outcome = done.get(timeout=_WAKE_S)
                except Empty:
                    outcome = None
                    if time_limit is None:
                        continue
                else:
                    if isinstance(outcome, BaseException):
                        raise outcome
                    if outcome is None:
                        at_work -= 1
                        continue
                    yield outcome
                if time_limit is not None:
                    for lost in _watch(workers, time_limit):
                        keep(lost)
                        yield lost
                        hire()
        finally:
            # First for all, then for each run: no worker begins another meanwhile.
            stopping.cancel()
            for worker in workers:
                worker.cancel.cancel()
            for worker in workers:
                # Ctrl-C may come before a thread was started: it cannot be joined.
                if worker.thread.ident is not None and not worker.abandoned:
                    worker.thread.join()

    def _one(
        self, worker: _Worker, stopping: _core.Cancel, key: str, case: Case, time_limit: float | None
    ) -> Outcome | None:
        """Make one run; None if it was interrupted, or given up by `_watch`."""
        # The key last: `_watch` looks only at workers that have one, and must find all the rest as it is now.
        worker.cancel, worker.asked = _core.Cancel(), 0
        worker.started, worker.label, worker.key = time.monotonic(), case.label, key
        if stopping.cancelled:
            return None
        try:
            outcome = make(key, case, worker.cancel)
        except _TimeLimitError:
            outcome = Outcome(key, error="interrupted", label=case.label)
        worker.key = ""
        # The stop may have caused the error: the run is not kept, and is made next time.
        if stopping.cancelled and outcome.error:
            return None
        # A run that finished in spite of being asked to end is a good run.
        if worker.asked and outcome.error and time_limit is not None:
            return _too_long(outcome, time_limit)
        return outcome


class _TimeLimitError(BaseException):
    """Raised in a thread whose run takes too long. No `Exception`, so that no hook catches it by habit."""


def _too_long(outcome: Outcome, time_limit: float) -> Outcome:
    return replace(outcome, error=f"took longer than the time limit of {time_limit:g} s", limit_s=time_limit)


def _watch(workers: list[_Worker], time_limit: float) -> list[Outcome]:
    """Ask runs that take too long to end, ever more firmly; return runs whose threads had to be abandoned."""
    lost = []
    now = time.monotonic()
    for worker in workers:
        key = worker.key
        over = now - worker.started - time_limit
        if not key or worker.abandoned or over < worker.asked * _GRACE_S:
            continue
        worker.asked += 1
        if worker.asked == 1:
            worker.cancel.cancel()
        elif worker.asked == 2:
            ident = ctypes.c_ulong(worker.thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_TimeLimitError))
        # The exception is seen only between two instructions of Python: it gets some seconds, then the thread
        # is given up.
        elif worker.asked > 4:
            worker.abandoned = True
            outcome = Outcome(key, seconds=now - worker.started, label=worker.label)
            lost.append(_too_long(outcome, time_limit))
    return lost
