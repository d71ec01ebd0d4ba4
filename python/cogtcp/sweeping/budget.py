"""What a sweep will cost, from a probe: runs, core time, bytes."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import RunError
from cogtcp.output import RUNS
from cogtcp.runner import Journal, Keys, available_processors
from cogtcp.runner.case import make
from cogtcp.runner.journal import line
from cogtcp.runner.progress import duration
from cogtcp.sweeping import dataset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cogtcp.runner import Case
    from cogtcp.sweeping.plan import Plan

# Runs that are made to see what one takes: of the first, the middle and the last points, with every
# transport.
_PROBES = 12
#: Share of a line in the journal that it takes in the data set: measured, docs/scale.md.
PARQUET_SHARE = 0.12


@dataclass(frozen=True)
class Budget:
    """What a sweep will cost.

    Attributes:
        asked: What is asked for, in words.
        runs: How many runs there are.
        finished: How many of them the folder has already.
        probes: How many of them were made to see what one takes.
        seconds_per_run: Mean of those, time of one core.
        slowest_s: The longest of those.
        core_seconds: All runs, time of one core.
        core_seconds_left: Those that are not finished.
        jobs: Runs at a time here.
        journal_bytes: Disk space while they run, for those that are not finished.
        data_bytes: Size of the data set in the end, about.
    """

    asked: str
    runs: int
    finished: int
    probes: int
    seconds_per_run: float
    slowest_s: float
    core_seconds: float
    core_seconds_left: float
    jobs: int
    journal_bytes: int
    data_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as plain data."""
        return asdict(self)

    def describe(self) -> str:
        """Return the budget as people read it."""
        hours, left = self.core_seconds / 3600, duration(self.core_seconds_left / self.jobs)
        finished = ""
        if self.finished:
            finished = f"; {self.finished} are finished, {self.runs - self.finished} to be made"
        return "\n".join(
            [
                self.asked,
                f"one run: {self.seconds_per_run * 1e3:.3g} ms of a core (mean of {self.probes}; longest "
                f"{self.slowest_s * 1e3:.3g} ms)",
                f"all runs: {hours:.3g} core-hours{finished}; here, {self.jobs} at a time: {left}",
                f"disk: {_bytes(self.journal_bytes)} while it runs, about {_bytes(self.data_bytes)} "
                "as a data set",
            ]
        )


def budget(plan: Plan, jobs: int | None = None, folder: Path | None = None) -> Budget:
    """Return what a sweep will cost, after some probe runs. Raises `RunError` if none of these succeeds.

    Args:
        plan: The sweep.
        jobs: Runs at a time; by default one for each processor.
        folder: Where it is to go: runs that are finished there are not made again.
    """
    cases = list(_spread(plan))
    # No key: what a probe makes is thrown away, so that a budget leaves no trace in the folder.
    outcomes = [make("0" * 32, case, _core.Cancel()) for case in cases]
    good = [outcome for outcome in outcomes if not outcome.error]
    if not good:
        raise RunError(f"no probe run succeeded: {outcomes[0].error}")
    mean = sum(outcome.seconds for outcome in good) / len(good)
    size = sum(len(line(outcome)) for outcome in good) / len(good)
    finished = 0 if folder is None else _finished(plan, folder)
    left = plan.total - finished
    return Budget(
        asked=plan.describe(),
        runs=plan.total,
        finished=finished,
        probes=len(good),
        seconds_per_run=mean,
        slowest_s=max(outcome.seconds for outcome in good),
        core_seconds=mean * plan.total,
        core_seconds_left=mean * left,
        jobs=jobs or available_processors(),
        journal_bytes=round(size * left),
        data_bytes=round(size * plan.total * PARQUET_SHARE),
    )


def _spread(plan: Plan) -> Iterator[Case]:
    """Yield some cases of the first seed, from the first point to the last."""
    one = plan.points * len(plan.transports)
    step = max(1, one // _PROBES) | 1  # odd: not always the same transport of two
    return itertools.islice(plan.cases(), 0, one, step)


def _finished(plan: Plan, folder: Path) -> int:
    """Return how many runs of a plan a folder has: nothing in it is changed."""
    data, keys = dataset.known(folder), Keys()
    journal = {outcome.key for outcome in Journal(folder / RUNS).outcomes()}
    # Nothing there: the keys of a million cases need not be worked out.
    if not journal and not dataset.tables(folder):
        return 0
    return sum(key in journal or data.get(key) is not None for key in map(keys.of, plan.cases()))


def _bytes(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"
