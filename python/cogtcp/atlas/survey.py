"""The survey behind the atlas: every transport at every point, a survey that goes on where it stopped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp import budget
from cogtcp.atlas.space import AXES, point
from cogtcp.runner import Case, Runner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from cogtcp.result import Result
    from cogtcp.runner import Launcher, Outcome

#: The transports of the survey: those that `advise` races.
TRANSPORTS = (
    "newreno", "sack", "linux-reno", "cubic-hystart", "linux-cubic", "vegas", "westwood", "compound", "c2",
    "bbr", "linux-bbr",
)  # fmt: skip
#: Seeds at each point.
SEEDS = 2
#: States of the budget that the atlas keeps.
STATES = ("silent", "timeout", "growing", "lost", "duplicate")


def record(result: Result) -> dict[str, Any]:
    """Return what the atlas keeps of a run."""
    shares = budget.of_run(result)
    metrics = result.metrics
    return {
        "efficiency": metrics["efficiency"],
        "rtt_s": metrics["rtt_mean_s"],
        **{name: shares.get(name, math.nan) for name in STATES},
    }


def cases(first: int, count: int) -> Iterator[Case]:
    """Yield the runs of some points, point by point."""
    for index in range(first, first + count):
        scenario = point(index).scenario()
        for transport in TRANSPORTS:
            for seed in range(SEEDS):
                # Seeds differ from point to point: what chance does is not the same over the whole atlas.
                yield Case(
                    scenario,
                    1 + index * SEEDS + seed,
                    record,
                    transport=transport,
                    label=(index, transport, seed),
                )


def survey(
    points: int,
    folder: str | Path,
    *,
    jobs: int | None = None,
    progress: Any = None,
    launcher: Launcher | None = None,
) -> bool:
    """Make the runs of the first `points` points; return whether all are finished.

    Finished runs are kept in `folder`: the same call goes on from there, one with more points too. Ctrl-C
    ends it between two runs.
    """
    runner = Runner(folder, jobs, progress, launcher=launcher)
    known = _known(folder)
    total = points * len(TRANSPORTS) * SEEDS
    stream = runner.stream(cases(0, points), total, known=known, recall=False)
    try:
        for _ in stream:
            pass
    except KeyboardInterrupt:
        return False
    finally:
        stream.close()
    return True


def _known(folder: str | Path) -> dict[str, Outcome]:
    from cogtcp.runner import Journal

    with Journal(folder) as journal:
        return {outcome.key: outcome for outcome in journal.news()}


def collect(points: int, folder: str | Path) -> pa.Table:
    """Return the atlas of the points that are finished: a row for each, a column for each transport's value.

    Nothing is simulated. Points with a run missing or failed are left out.
    """
    import pyarrow as pa

    # By what cases say of themselves: another version of the package has other keys for the same runs.
    known = {tuple(outcome.label): outcome for outcome in _known(folder).values()}
    rows: list[dict[str, Any]] = []
    for index in range(points):
        found: dict[str, list[dict[str, Any]]] = {}
        complete = True
        for case in cases(index, 1):
            outcome = known.get(case.label)
            if outcome is None or outcome.error:
                complete = False
                break
            found.setdefault(str(case.transport), []).append(outcome.record)
        if complete:
            rows.append(_row(index, found))
    columns: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if name == "point":
            columns[name] = pa.array(values, pa.int32())
        elif name in ("law", "silence"):
            columns[name] = pa.array(values, pa.string()).dictionary_encode()
        elif name == "flows":
            columns[name] = pa.array(values, pa.int8())
        else:
            columns[name] = pa.array(values, pa.float32())
    return pa.table(columns)


def _row(index: int, found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    place = point(index)
    row: dict[str, Any] = {"point": index}
    row |= {axis.name: getattr(place, axis.name) for axis in AXES}
    row |= {"law": place.law, "silence": place.silence, "flows": place.flows}
    for transport, records in found.items():
        efficiency = [float(each["efficiency"]) for each in records]
        row[f"{transport}:efficiency"] = _mean(efficiency)
        row[f"{transport}:spread"] = max(efficiency) - min(efficiency)
        row[f"{transport}:rtt_ratio"] = _mean([float(each["rtt_s"]) for each in records]) / place.rtt_s
        for name in STATES:
            row[f"{transport}:{name}"] = _mean([float(each[name]) for each in records])
    return row


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
