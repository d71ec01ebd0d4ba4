"""One runner under everything that makes many runs: `compare`, `tune`, `sweep`, the studies, and your own.

>>> from cogtcp.runner import Case, Runner
>>> cases = [Case(scenario, seed, measure) for seed in range(1, 11)]
>>> records = Runner("results/mine/runs").run(cases)

A finished run is never made again: its record lies in the folder under a key that holds all that decides it
(`identity`). Runs are kept as they finish, so whatever ends the process, only what was under way is lost.
`docs/sweeps.md` tells more.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sized
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cogtcp._errors import RunError
from cogtcp.model.output import MARKER, check_marked
from cogtcp.running.runner.case import Case, Keys, Measure, Outcome
from cogtcp.running.runner.journal import Journal
from cogtcp.running.runner.launch import Launcher, Local, available_processors
from cogtcp.running.runner.progress import Progress, listener

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

__all__ = [
    "Case",
    "Journal",
    "Keys",
    "Known",
    "Launcher",
    "Local",
    "Measure",
    "Outcome",
    "Progress",
    "Runner",
    "available_processors",
    "listener",
]

# Cases that are put into another order where two processes are at work.
_CHUNK = 1024
# How often a process looks what others have finished.
_LOOK_S = 0.5


class Runner:
    """Makes runs, several at a time, and remembers them.

    One runner may be asked again and again; its progress counts all that it was asked for. It is for one
    thread.

    Args:
        folder: Where finished runs are kept; None: nowhere. Several processes may use one folder.
        jobs: Runs at a time; by default one for each processor.
        progress: Called with a `Progress` if it has a method `update`; a function is called with two counts,
            finished and all.
        time_limit: Seconds of real time after which a run is given up; it counts as failed.
        retry: Whether to make runs again that failed before. Those that a shorter time limit ended are.
        launcher: Where the runs are made; by default on threads of this process.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        jobs: int | None = None,
        progress: Any = None,
        *,
        time_limit: float | None = None,
        retry: bool = False,
        launcher: Launcher | None = None,
    ) -> None:
        self._folder = folder
        self._launcher = launcher or Local(jobs)
        self._tell: Callable[[Progress], None] | None = listener(progress)
        self._time_limit = time_limit
        self._retry = retry
        self._began = False
        self._is_marked = False
        self.progress = Progress()

    def run(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Return the records of `cases`, in their order.

        Raises:
            RunError: A run failed. What was finished is kept; the rest is not made.
            OutputError: Finished runs cannot be kept.
        """
        return [outcome.record for outcome in self._in_order(cases, stop_at_failure=True)]

    def outcomes(self, cases: Sequence[Case]) -> list[Outcome]:
        """Return the outcomes of `cases`, in their order, failed runs included."""
        return self._in_order(cases, stop_at_failure=False)

    def stream(
        self,
        cases: Iterable[Case],
        total: int | None = None,
        *,
        known: Known | None = None,
        keys: Keys | None = None,
        recall: bool = True,
    ) -> Generator[tuple[Case, Outcome], None, None]:
        """Yield the outcomes of `cases` in order of completion; of several equal cases, one.

        Args:
            cases: What is to be made, drawn on as there is room.
            total: How many there are, for the progress.
            known: What is known of them by key, besides what others add to the folder meanwhile; by default
                the content of the folder.
            keys: What works out the keys, if it is to remember more than this call.
            recall: Whether runs that are known are yielded too. If not, they are only counted, the cases
                must all differ, and memory does not grow with their number.

        Returns:
            A generator of cases and outcomes, in order of completion.
        """
        self.progress.total += total if total is not None else len(cases) if isinstance(cases, Sized) else 0
        if self._folder is None:
            yield from _Stream(self, cases, keys or Keys(), known or {}, None, recall).outcomes()
            return
        # Made once: a folder that is missing later was removed, and what was kept in it. One that is removed
        # while a file is begun in it may stay: then the marker of the results is missing.
        make, self._began = not self._began, True
        results = Path(self._folder).parent
        if make:
            self._is_marked = (results / MARKER).exists()
        elif self._is_marked:
            check_marked(results)
        with Journal(self._folder, make=make) as journal:
            kept = {outcome.key: outcome for outcome in journal.news()} if known is None else known
            yield from _Stream(self, cases, keys or Keys(), kept, journal, recall).outcomes()

    def _in_order(self, cases: Sequence[Case], *, stop_at_failure: bool) -> list[Outcome]:
        keys = Keys()
        wanted = [keys.of(case) for case in cases]
        found: dict[str, Outcome] = {}
        # The stream yields a case that is asked for twice once: the copies count as known, so that the counts
        # add up.
        copies = len(cases) - len(set(wanted))
        stream = self.stream(cases, keys=keys)
        try:
            for case, outcome in stream:
                found[outcome.key] = outcome
                if outcome.error and stop_at_failure:
                    raise RunError(f"{case.describe()}: {outcome.error}")
        finally:
            # Now, not when the garbage collector comes to it: closing stops the runs that are under way.
            stream.close()
        self.progress.known += copies
        if copies:
            self._say()
        return [found[key] for key in wanted]

    def _again(self, outcome: Outcome) -> bool:
        """Whether a run that is known is to be made again."""
        if not outcome.error:
            return False
        if outcome.limit_s and (self._time_limit is None or self._time_limit > outcome.limit_s):
            return True
        return self._retry

    def _say(self) -> None:
        if self._tell is not None:
            # A copy: the listener may keep it, while the runner goes on counting.
            self._tell(replace(self.progress))


class Known(Protocol):
    """Outcomes by key: a dictionary, or what finds them on disk."""

    def get(self, key: str, /) -> Outcome | None:
        """Return what is known of a case."""
        ...


class _Stream:
    """One call of `Runner.stream`."""

    def __init__(
        self,
        runner: Runner,
        cases: Iterable[Case],
        keys: Keys,
        known: Known,
        journal: Journal | None,
        recall: bool,
    ) -> None:
        self._runner = runner
        self._cases = iter(cases)
        self._keys = keys
        self._known = known
        self._journal = journal
        self._recall = recall
        self._seen: set[str] = set()
        self._theirs: dict[str, Outcome] = {}
        self._under_way: dict[str, Case] = {}
        self._ready: list[tuple[Case, Outcome]] = []  # known at the beginning
        self._late: list[tuple[Case, Outcome]] = []  # made by another process meanwhile
        self._looked = time.monotonic()

    def outcomes(self) -> Generator[tuple[Case, Outcome], None, None]:
        """Yield the outcomes of the cases."""
        runner, progress = self._runner, self._runner.progress
        source = self._missing()
        if self._recall:
            # All at once: what is known is yielded before any run, and counted before the first word of
            # progress.
            missing = list(source)
            runner._say()
            yield from self._ready
            source = self._not_theirs(missing)
        else:
            runner._say()
        stream = runner._launcher.launch(source, self._keep, runner._time_limit)
        try:
            for outcome in stream:
                case = self._under_way.pop(outcome.key)
                progress.made += 1
                progress.failed += bool(outcome.error)
                yield case, outcome
                runner._say()
        finally:
            stream.close()
        yield from self._late
        runner._say()

    def _keep(self, outcome: Outcome) -> None:
        if self._journal is not None:
            self._journal.append(outcome)

    def _missing(self) -> Iterator[tuple[str, Case]]:
        """Yield what is to be made. Without `recall` called on the launcher's threads, by one at a time."""
        while chunk := list(islice(self._cases, _CHUNK)):
            if self._journal is not None and not self._recall and self._journal.busy():
                random.shuffle(chunk)  # as in `_not_theirs`
            for case in chunk:
                key = self._keys.of(case)
                if self._recall:
                    if key in self._seen:
                        continue
                    self._seen.add(key)
                else:
                    self._look()
                if not self._is_known(key, case, self._ready):
                    self._under_way[key] = case
                    yield key, case

    def _not_theirs(self, missing: list[tuple[str, Case]]) -> Iterator[tuple[str, Case]]:
        """Yield what no other process has made meanwhile; called like `_missing` without `recall`."""
        if self._journal is not None and missing and self._journal.busy():
            random.shuffle(missing)  # another process begins at the beginning
        for key, case in missing:
            self._look()
            if self._is_known(key, case, self._late):
                del self._under_way[key]
            else:
                yield key, case

    def _is_known(self, key: str, case: Case, ready: list[tuple[Case, Outcome]]) -> bool:
        """Whether a case need not be made; then it is counted."""
        outcome = self._theirs.get(key) or self._known.get(key)
        if outcome is None or case.look is not None or self._runner._again(outcome):
            return False
        self._runner.progress.known += 1
        self._runner.progress.failed += bool(outcome.error)
        if self._recall:
            ready.append((case, outcome))
        return True

    def _look(self) -> None:
        """Look now and then what other processes have finished."""
        if self._journal is not None and time.monotonic() - self._looked > _LOOK_S:
            self._theirs.update((outcome.key, outcome) for outcome in self._journal.news())
            self._looked = time.monotonic()
