"""The survey behind the atlas: every transport at every point, a survey that goes on where it stopped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp.deciding.atlas.space import AXES, point
from cogtcp.deciding.atlas.transports import SURVEYED
from cogtcp.model import budget
from cogtcp.running.runner import Case, Runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from cogtcp.deciding.atlas.space import SurveyPoint
    from cogtcp.model.result import Result
    from cogtcp.running.runner import Launcher, Outcome

#: How long after a silence the control that hears the radio ignores losses, in round-trip times: what its
#: page advises where a radio senses often. The default, 0.5 s, would ignore nearly every loss of most points.
EXTENSION_RTT = 2
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
        yield from cases_at(index, point(index), SURVEYED)


def cases_at(index: int, place: SurveyPoint, transports: Iterable[str]) -> Iterator[Case]:
    """Yield the runs of some transports at a point; `index` decides their seeds."""
    scenario = place.scenario()
    for transport in transports:
        here = scenario
        if transport == "satcp":
            extension = {"extension": round(EXTENSION_RTT * place.rtt_s, 9)}
            here = scenario.with_transport(transport).set("flow.0.tcp", {"parameters": extension})
        for seed in range(SEEDS):
            # Seeds differ from point to point: what chance does is not the same over the whole atlas.
            yield Case(
                here,
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
    total = points * len(SURVEYED) * SEEDS
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
    from cogtcp.running.runner import Journal

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


def merged(new: pa.Table, shipped: pa.Table) -> pa.Table:
    """Return an atlas surveyed again in slices: points missing from the new survey keep their shipped row.

    A shipped row may lack transports that have come since: its values are null.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # Dictionaries of two tables differ: texts are joined, and encoded again.
    def plain(table: pa.Table) -> pa.Table:
        for name in ("law", "silence"):
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).cast(pa.string()))
        return table.replace_schema_metadata(None)

    kept = shipped.filter(pc.invert(pc.is_in(shipped.column("point"), value_set=new.column("point"))))
    both = pa.concat_tables([plain(new), plain(kept)], promote_options="default").sort_by("point")
    for name in ("law", "silence"):
        place = both.column_names.index(name)
        both = both.set_column(place, name, both.column(name).dictionary_encode())
    return both


def runs_of(table: pa.Table) -> int:
    """Return how many runs stand behind an atlas."""
    columns = [table.column(name) for name in table.column_names if name.endswith(":efficiency")]
    return SEEDS * sum(int(len(column) - column.null_count) for column in columns)


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
