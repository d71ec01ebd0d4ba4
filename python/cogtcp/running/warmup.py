"""How long a scenario takes to forget how it began: the time to leave out of its numbers (`run.warmup`)."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError
from cogtcp.model.result import run
from cogtcp.model.statistics import mser5

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.model.scenario import Scenario


def suggest(scenario: Scenario, transports: Sequence[str | None] = (None,), seeds: int = 5) -> float:
    """Return a warm-up in seconds, by MSER-5 over the goodput of some runs.

    The goodput of all flows is averaged over the seeds at each sampling instant, from the scenario's start
    on; MSER-5 (White, Cobb and Spratt 2000) says where its transient ends. The longest of all transports
    counts, so that they are compared over the same time. A cycle of the radio that is longer than the run
    cannot be seen so.

    Args:
        scenario: What is simulated; its own warm-up is set aside.
        transports: The transports that will be compared; None: those of the scenario.
        seeds: How many seeds, counted up from the scenario's own.

    Raises:
        UsageError: The run is too short: the best cut is in its second half.
    """
    whole = scenario.set("run.warmup", "0 s")
    longest = 0.0
    for transport in transports:
        variant = whole if transport is None else whole.with_transport(transport)
        series: dict[float, list[float]] = defaultdict(list)
        for seed in range(scenario.seed, scenario.seed + seeds):
            totals: dict[float, float] = defaultdict(float)
            columns = run(variant, seed, "series").columns("flow_series")
            for time, goodput in zip(columns["time_s"], columns["goodput_bps"], strict=True):
                totals[time] += goodput
            for time, total in totals.items():
                series[time].append(total)
        times = sorted(series)
        means = [statistics.fmean(series[time]) for time in times]
        cut = mser5(means)
        # MSER-5 compares batches of five: with fewer than four of them it says nothing.
        if len(means) < 20 or cut >= len(means) // 2:
            raise UsageError(
                f"warm-up: the runs of {scenario.name} are too short to find the end of their warm-up; "
                "make them longer, or give a warm-up"
            )
        longest = max(longest, times[cut] if cut else 0.0)
    return longest
