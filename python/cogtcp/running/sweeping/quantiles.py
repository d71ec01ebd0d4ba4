"""Quantiles over the seeds of every point of a sweep, with intervals, where they are asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from cogtcp.model.statistics import quantile_interval
from cogtcp.running.sweeping import dataset
from cogtcp.running.sweeping.columns import RUNS, metrics_of
from cogtcp.running.sweeping.ordered import differ, whole_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# Rows that are handed on at a time.
_ROWS = 4_096


def of_folder(folder: Path, quantiles: Sequence[float]) -> Iterator[pa.Table]:
    """Yield a row for each transport, point, metric and quantile: the value, its 95 % interval, the seeds.

    The intervals assume nothing about how the values are spread (`cogtcp.statistics.quantile_interval`); an
    end that so few seeds do not give is nothing. The seeds of one point are in memory at a time.
    """
    axes = dataset.axes(folder)
    there = dataset.with_values(folder)
    metrics = metrics_of(there)
    schema = pa.schema(
        [
            ("transport", pa.string()),
            *((name, pa.float64() if number else pa.string()) for name, number in axes.items()),
            ("metric", pa.string()),
            ("quantile", pa.float64()),
            *((name, pa.float64()) for name in ("value", "low", "high")),
            ("n", pa.int64()),
        ]
    )
    # First, so that the file has its columns even if nothing follows.
    yield schema.empty_table()
    rows: list[dict[str, Any]] = []
    for transport in dataset.transports(folder):
        parts = dataset.batches(folder, RUNS, transport, [*axes, "error", *metrics])
        good = (part.filter(pc.is_null(part["error"])) for part in parts)
        for table in whole_groups(good, list(axes)):
            for place, group in _points(table, list(axes)):
                for name in metrics:
                    values = group[name].drop_null().to_pylist() if name in group.column_names else []
                    for q in quantiles if values else ():
                        found = quantile_interval(values, q)
                        low, high = map(_finite, (found.low, found.high))
                        row = {"transport": transport, **place, "metric": name, "quantile": q}
                        rows.append({**row, "value": found.mean, "low": low, "high": high, "n": found.n})
                if len(rows) >= _ROWS:
                    yield pa.Table.from_pylist(rows, schema)
                    rows = []
    if rows:
        yield pa.Table.from_pylist(rows, schema)


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _points(table: pa.Table, axes: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """Yield the rows of each point of sorted rows."""
    start = 0
    there = [name for name in axes if name in table.column_names]
    ends = pc.indices_nonzero(differ(table, there)).to_pylist() if table.num_rows > 1 else []
    for end in [*(place + 1 for place in ends), table.num_rows]:
        group = table.slice(start, end - start)
        yield group.slice(0, 1).select(there).to_pylist()[0] if there else {}, group
        start = end
