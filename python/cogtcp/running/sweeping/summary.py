"""Means with intervals over the points of a sweep, worked out while its rows are read one after the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from cogtcp.model.statistics import t_quantile
from cogtcp.running.sweeping import dataset
from cogtcp.running.sweeping.columns import RUNS, metrics_of
from cogtcp.running.sweeping.ordered import ascending, sort

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

# Of a metric at a point while its rows are read: number, mean, sum of squared deviations, smallest, largest.
_PARTS = ("n", "mean", "m2", "min", "max")


def of_folder(folder: Path) -> Iterator[pa.Table]:
    """Yield the summary of a folder's data set, see `summarise`."""
    axes = dataset.axes(folder)
    there = dataset.with_values(folder)
    metrics = metrics_of(there)
    kinds = {name: pa.float64() if number else pa.string() for name, number in axes.items()}
    columns = [*axes, "error", *metrics]
    for transport in dataset.transports(folder):
        yield from summarise(transport, dataset.batches(folder, RUNS, transport, columns), kinds, metrics)


def of_table(runs: pa.Table, axes: Sequence[str]) -> pa.Table:
    """Return the summary of runs in memory."""
    metrics = [name for name in metrics_of(runs.column_names) if runs[name].null_count < runs.num_rows]
    kinds = {name: runs.schema.field(name).type for name in axes}
    parts = []
    for transport in sorted(set(runs["transport"].to_pylist())):
        own = sort(runs.filter(pc.equal(runs["transport"], transport)), ascending([*axes, "seed"]))
        parts += list(summarise(transport, [own], kinds, metrics))
    return pa.concat_tables(parts) if parts else pa.table({})


def schema(axes: dict[str, pa.DataType], metrics: Sequence[str]) -> pa.Schema:
    """Return the columns of a summary."""
    fields = [("transport", pa.string()), *axes.items()]
    for name in metrics:
        fields += [(name, pa.float64()), (f"{name}_low", pa.float64()), (f"{name}_high", pa.float64())]
        fields.append((f"{name}_n", pa.int64()))
    return pa.schema(fields)


def summarise(
    transport: str, runs: Iterable[pa.Table], axes: dict[str, pa.DataType], metrics: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield a row for each point of one transport: of each metric mean, 95 % t-interval, number of seeds.

    Args:
        transport: The transport.
        runs: Its runs, sorted by the axes.
        axes: The columns of the axes, and of which type they are.
        metrics: The columns of the metrics.
    """
    held: dict[str, Any] | None = None
    for table in runs:
        good = table.filter(pc.is_null(table["error"]))
        if not good.num_rows:
            continue
        parts = _parts(good, axes, metrics)
        first = parts.slice(0, 1).to_pylist()[0]
        if held is not None and all(held[name] == first[name] for name in axes):
            first = _together(held, first, metrics)
        elif held is not None:
            yield _finished(transport, pa.Table.from_pylist([held], parts.schema), axes, metrics)
        if parts.num_rows == 1:
            held = first
            continue
        # The last point may go on in the next table.
        yield _finished(transport, pa.Table.from_pylist([first], parts.schema), axes, metrics)
        if parts.num_rows > 2:
            yield _finished(transport, parts.slice(1, parts.num_rows - 2), axes, metrics)
        held = parts.slice(parts.num_rows - 1).to_pylist()[0]
    if held is not None:
        fields = [(f"{name}_{part}", pa.float64()) for name in metrics for part in _PARTS]
        parts = pa.Table.from_pylist([held], pa.schema([*axes.items(), *fields]))
        yield _finished(transport, parts, axes, metrics)


def _parts(runs: pa.Table, axes: dict[str, pa.DataType], metrics: Sequence[str]) -> pa.Table:
    """Return a row for each point, in order, with values that can be combined with other rows."""
    for name, kind in axes.items():
        if name not in runs.column_names:
            runs = runs.append_column(name, pa.nulls(runs.num_rows, kind))
    # A sweep without axes has one point: grouping needs a column.
    by = ["_all", *axes]
    runs = runs.append_column("_all", pa.repeat(pa.scalar(0), runs.num_rows))
    wanted: list[Any] = []
    for name in metrics:
        if name not in runs.column_names:
            runs = runs.append_column(name, pa.nulls(runs.num_rows, pa.float64()))
        wanted += [(name, "count"), (name, "mean"), (name, "variance"), (name, "min"), (name, "max")]
    # One thread, so that sums are made in the same order. Arrow leaves groups in an order of its own, and the
    # last point must be the last: it may go on in the next table.
    found = sort(runs.group_by(by, use_threads=False).aggregate(wanted), ascending(by))
    columns = [found[name].cast(kind) for name, kind in axes.items()]
    names = list(axes)
    for name in metrics:
        n, low, high = (found[f"{name}_{part}"].cast(pa.float64()) for part in ("count", "min", "max"))
        # A mean of equal values must be that value: an interval of width zero says that nothing varies.
        equal = pc.equal(low, high)
        columns += [n, pc.if_else(equal, low, found[f"{name}_mean"])]
        # Arrow's variance divides by n: times n it is the sum of squares, which parts can be combined with.
        columns += [pc.if_else(equal, 0.0, pc.multiply(found[f"{name}_variance"], n)), low, high]
        names += [f"{name}_{part}" for part in _PARTS]
    return pa.table(columns, names)


def _together(one: dict[str, Any], two: dict[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """Return what two parts of the rows of a point come to (Chan, Golub and LeVeque 1983, eq. 2.1)."""
    found = dict(one)
    for name in metrics:
        a, b = ({part: values[f"{name}_{part}"] for part in _PARTS} for values in (one, two))
        if not a["n"] or not b["n"]:
            best = a if a["n"] else b
            found |= {f"{name}_{part}": value for part, value in best.items()}
            continue
        n, gap = a["n"] + b["n"], b["mean"] - a["mean"]
        found[f"{name}_n"] = n
        found[f"{name}_mean"] = a["mean"] + gap * b["n"] / n
        found[f"{name}_m2"] = a["m2"] + b["m2"] + gap * gap * a["n"] * b["n"] / n
        found[f"{name}_min"], found[f"{name}_max"] = min(a["min"], b["min"]), max(a["max"], b["max"])
    return found


def _finished(
    transport: str, parts: pa.Table, axes: dict[str, pa.DataType], metrics: Sequence[str]
) -> pa.Table:
    columns: list[Any] = [pa.repeat(pa.scalar(transport), parts.num_rows)]
    columns += [parts[name] for name in axes]
    for name in metrics:
        n, mean, m2 = (parts[f"{name}_{part}"] for part in ("n", "mean", "m2"))
        numbers = zip(n.to_pylist(), m2.to_pylist(), strict=True)
        halves = pa.array([_half(int(count), squares) for count, squares in numbers], pa.float64())
        columns += [mean, pc.subtract(mean, halves), pc.add(mean, halves), n.cast(pa.int64())]
    return pa.Table.from_arrays([_whole(column) for column in columns], schema=schema(axes, metrics))


def _half(n: int, squares: float) -> float | None:
    return None if n < 2 else t_quantile(0.975, n - 1) * math.sqrt(squares / (n - 1) / n)


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
