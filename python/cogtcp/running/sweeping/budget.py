"""What a sweep will cost, from a probe: runs, core time, bytes."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import RunError, ScenarioError
from cogtcp.model.output import RUNS, check_links
from cogtcp.running.runner import Journal, Keys, available_processors
from cogtcp.running.runner.case import make
from cogtcp.running.runner.journal import line
from cogtcp.running.runner.progress import duration
from cogtcp.running.space import quantity
from cogtcp.running.sweeping import dataset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cogtcp.running.runner import Case, Outcome
    from cogtcp.running.sweeping.plan import Plan

#: Seconds for all probes: in the simulator, and on another plane, where each run has to start it.
PROBE_S, _PLANE_PROBE_S = 1.0, 30.0
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
        simulated_share: Share of a run's time that a probe simulated: less than 1 where a whole run takes
            longer than `PROBE_S`; costs are extrapolated from it.
        seconds_per_run: Mean time of one core. It and all that follows from it are None if no probe ended.
        slowest_s: The longest of the probes.
        core_seconds: All runs, time of one core.
        core_seconds_left: Those that are not finished.
        jobs: Runs at a time here.
        journal_bytes: Disk space while they run, for those that are not finished.
        data_bytes: Size of the data set in the end, about.
        probe_s: Seconds that all probes had.
    """

    asked: str
    runs: int
    finished: int
    probes: int
    simulated_share: float
    seconds_per_run: float | None
    slowest_s: float | None
    core_seconds: float | None
    core_seconds_left: float | None
    jobs: int
    journal_bytes: int | None
    data_bytes: int | None
    probe_s: float = PROBE_S

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as plain data."""
        return asdict(self)

    def describe(self) -> str:
        """Return the budget as people read it."""
        if self.seconds_per_run is None or self.slowest_s is None or self.core_seconds is None:
            return (
                f"{self.asked}\none run: longer than {self.probe_s:g} s, and a part of it too; its cost is "
                "unknown"
            )
        if self.core_seconds_left is None or self.journal_bytes is None or self.data_bytes is None:
            raise AssertionError("they are known together")
        hours, left = self.core_seconds / 3600, duration(self.core_seconds_left / self.jobs)
        finished = ""
        if self.finished:
            finished = f"; {self.finished} are finished, {self.runs - self.finished} to be made"
        return "\n".join(
            [
                self.asked,
                *self._extrapolated(),
                f"one run: {self.seconds_per_run * 1e3:.3g} ms of a core (mean of {self.probes}; longest "
                f"{self.slowest_s * 1e3:.3g} ms)",
                f"all runs: {hours:.3g} core-hours{finished}; here, {self.jobs} at a time: {left}",
                f"disk: {_bytes(self.journal_bytes)} while it runs, about {_bytes(self.data_bytes)} "
                "as a data set",
            ]
        )

    def _extrapolated(self) -> list[str]:
        if self.simulated_share == 1:
            return []
        return [
            f"a run takes longer than {self.probe_s:g} s: estimated from {self.simulated_share:.2%} of "
            "its time"
        ]


def budget(plan: Plan, jobs: int | None = None, folder: Path | None = None) -> Budget:
    """Return what a sweep will cost, after probe runs of a second. Raises `RunError` if all of them fail.

    Args:
        plan: The sweep.
        jobs: Runs at a time; by default one for each processor.
        folder: Where it is to go: runs that are finished there are not made again.
    """
    limit = PROBE_S if plan.plane is None else _PLANE_PROBE_S
    good, share = _probes(plan, limit)
    mean = slowest = size = None
    if good:
        mean = sum(outcome.seconds for outcome in good) / len(good) / share
        slowest = max(outcome.seconds for outcome in good) / share
        # Rows of flows and links are one a run; of series and events a longer run has more.
        grows = any(name == "events" or name.endswith("_series") for name in plan.keep)
        size = sum(len(line(outcome)) for outcome in good) / len(good) / (share if grows else 1)
    finished = 0 if folder is None else _finished(plan, folder)
    left = plan.total - finished
    return Budget(
        asked=plan.describe(),
        runs=plan.total,
        finished=finished,
        probes=len(good),
        simulated_share=share,
        seconds_per_run=mean,
        slowest_s=slowest,
        core_seconds=None if mean is None else mean * plan.total,
        core_seconds_left=None if mean is None else mean * left,
        jobs=jobs or available_processors(),
        journal_bytes=None if size is None else round(size * left),
        data_bytes=None if size is None else round(size * plan.total * PARQUET_SHARE),
        probe_s=limit,
    )


def _probes(plan: Plan, limit: float) -> tuple[list[Outcome], float]:
    """Make some runs within a limit of time; return them, and the share of their time that was simulated.

    Where not one run ends in this time, a beginning of the first is simulated, the longest that does.
    On another plane the start of a run costs more than such a beginning, and nothing is extrapolated.

    Raises:
        RunError: All of them failed.
    """
    deadline = time.monotonic() + limit
    good: list[Outcome] = []
    failed = ""
    for case in _spread(plan):
        # Half of the time is for shorter runs, if the first does not end.
        outcome = _within(case, deadline - time.monotonic() - (0 if good else limit / 2))
        if outcome is None:
            break
        if outcome.error:
            failed = failed or outcome.error
        else:
            good.append(outcome)
        if time.monotonic() > deadline:
            break
    if good:
        return good, 1.0
    if failed:
        raise RunError(f"no probe run succeeded: {failed}")
    share, found = 1.0, None
    first = next(_spread(plan))
    for step in (65_536, 4096, 512, 64, 8) if plan.plane is None else ():
        short = _shortened(first, 1 / step)
        outcome = None if short is None else _within(short, deadline - time.monotonic())
        if outcome is None and short is not None:
            break
        if outcome is not None and not outcome.error:
            share, found = 1 / step, outcome
    return ([found] if found else []), share


def _within(case: Case, seconds: float) -> Outcome | None:
    """Make a run; None if it takes longer. A run cannot be ended while the network is built."""
    cancel = _core.Cancel()
    timer = threading.Timer(max(seconds, 0), cancel.cancel)
    timer.start()
    try:
        # No key: what a probe makes is thrown away, so that a budget leaves no trace in the folder.
        outcome = make("0" * 32, case, cancel)
    finally:
        timer.cancel()
    return None if cancel.cancelled and outcome.error else outcome


def _shortened(case: Case, share: float) -> Case | None:
    """Return a run over a share of its time, without warm-up; None if the scenario has no such run."""
    try:
        scenario = case.prepared()
        whole = quantity(scenario.to_dict()["run"]["duration"])
        if whole is None:
            return None
        scenario = scenario.set("run.warmup", "0 s").set("run.duration", f"{whole[0] * share:.9f} s")
        scenario.check()
    except ScenarioError:
        return None
    return replace(case, scenario=scenario, transport=None, changes=())


def _spread(plan: Plan) -> Iterator[Case]:
    """Yield some cases of the first seed, from the first point to the last."""
    one = plan.points * len(plan.transports)
    step = max(1, one // _PROBES) | 1  # odd: not always the same transport of two
    return itertools.islice(plan.cases(), 0, one, step)


def _finished(plan: Plan, folder: Path) -> int:
    """Return how many runs of a plan a folder has: nothing in it is changed."""
    check_links(folder)
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
