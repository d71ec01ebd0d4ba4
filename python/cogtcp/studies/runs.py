"""The runs behind a study: in parallel, each kept on disk as soon as it is finished.

A finished run is never run again: its measurements lie in a file named after everything that decides them,
which is the scenario, the seed, the function that measures, the study's code and the compiled core.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import RunError
from cogtcp._parallel import for_each
from cogtcp.compare import available_processors
from cogtcp.output import write_file
from cogtcp.result import Result, Trace, run
from cogtcp.runner import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cogtcp.scenario import Scenario

    Measure = Callable[[Result], dict[str, Any]]
    Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One run to be made.

    Attributes:
        scenario: What to simulate.
        seed: The seed.
        measure: Returns plain data (what JSON can hold) from the run's result; only that is kept.
        trace: How much of the run `measure` needs.
    """

    scenario: Scenario
    seed: int
    measure: Measure
    trace: Trace = "summary"

    def key(self) -> str:
        """Return what identifies the case's measurements."""
        parts = [
            identity.of_scenario(self.scenario),
            str(self.seed),
            self.trace,
            identity.of_function(self.measure),
            identity.engine(),
        ]
        return identity.digest(*parts)


class Runner:
    """Makes runs, `jobs` at a time, and remembers them in `folder` (None: nowhere).

    A run that fails takes all down with it; with `keep_going` its measurements are its `error` alone, which
    is not remembered.
    """

    def __init__(
        self, folder: Path | None, jobs: int | None, progress: Progress | None, *, keep_going: bool = False
    ) -> None:
        self._folder = folder
        self._keep_going = keep_going
        self._jobs = max(1, jobs or available_processors())
        self._progress = progress
        self._done = 0
        self._total = 0

    def run(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Return the measurements of `cases`, in their order."""
        keys = [case.key() for case in cases]
        known: dict[str, dict[str, Any]] = {}
        missing: dict[str, Case] = {}
        for key, case in zip(keys, cases, strict=True):
            record = self._recall(key)
            if record is None:
                missing[key] = case
            else:
                known[key] = record
        self._total += len(known) + len(missing)
        self._advance(len(known))
        cancel = _core.Cancel()

        def make(task: tuple[str, Case]) -> dict[str, Any]:
            return self._make(*task, cancel)

        def collect(task: tuple[str, Case], record: dict[str, Any]) -> None:
            known[task[0]] = record
            self._advance(1)

        for_each(list(missing.items()), make, collect, jobs=self._jobs, cancel=cancel)
        return [known[key] for key in keys]

    def _advance(self, runs: int) -> None:
        self._done += runs
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _recall(self, key: str) -> dict[str, Any] | None:
        if self._folder is None:
            return None
        try:
            record = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def _make(self, key: str, case: Case, cancel: _core.Cancel) -> dict[str, Any]:
        try:
            record = _measure(case, cancel)
        except RunError as error:
            if not self._keep_going:
                raise
            return {"error": str(error)}
        # Here, not where results are collected: what is finished stays, whatever happens to the others.
        if self._folder is not None:
            write_file(self._folder / f"{key}.json", json.dumps(record))
        return record


def _measure(case: Case, cancel: _core.Cancel) -> dict[str, Any]:
    try:
        result = run(case.scenario, case.seed, case.trace, cancel=cancel)
    except RunError as error:
        raise RunError(f"{case.scenario.name}, seed {case.seed}: {error}") from error
    # Through JSON, so that a measurement reads the same when it is new and when it is recalled.
    record: dict[str, Any] = json.loads(json.dumps(case.measure(result)))
    return record
