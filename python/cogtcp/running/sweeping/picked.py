"""As many rows of a summary as a page can show: evenly spread where there are more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cogtcp.running.space import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cogtcp.running.sweeping.result import Sweep

# Rows of a page. A map of two axes with 40 values each and two transports is among it.
_MOST = 3_200


def picked(sweep: Sweep) -> tuple[list[dict[str, Any]], int]:
    """Return rows of the summary that a sweep has written, and of how many.

    Of a grid with too many points the values of each axis are thinned, so that what is left is a grid; of
    other points every so many-th is left. Each transport keeps the same.
    """
    total = sum(part.num_rows for part in _own(sweep, [*sweep.axes]))
    everything = _own(sweep, None)
    if total <= _MOST:
        return [row for part in everything for row in part.to_pylist()], total
    rows: list[dict[str, Any]] = []
    if sweep.plan.sampling == "grid":
        values = [[axis.value(text) for text in axis.texts] for axis in sweep.plan.axes]
        kept = dict(zip(sweep.axes, thinned(values, _MOST // len(sweep.transports)), strict=True))
        for part in everything:
            for name, some in kept.items():
                part = part.filter(pc.is_in(part[name], value_set=pa.array(some, part[name].type)))
            rows += part.to_pylist()
        return rows, total
    step, number, transport = math.ceil(total / _MOST), 0, None
    for part in everything:
        for row in part.to_pylist():
            # Counted again for each transport, so that all keep the same points.
            number = 0 if row["transport"] != transport else number + 1
            transport = row["transport"]
            if number % step == 0:
                rows.append(row)
    return rows, total


def by_value(rows: Sequence[dict[str, Any]], axes: Sequence[str]) -> list[dict[str, Any]]:
    """Return rows in the order of transport and of the axes' values; texts with a unit by their quantity.

    >>> [row["queue"] for row in by_value([{"queue": "100 packets"}, {"queue": "9 packets"}], ["queue"])]
    ['9 packets', '100 packets']
    """
    return sorted(rows, key=lambda row: (row.get("transport") or "", *(_place(row[name]) for name in axes)))


def _place(value: Any) -> tuple[int, str, float, str]:
    """Return a key that puts numbers first, then quantities by unit and size, other texts, nothing last."""
    if value is None:
        return 3, "", 0.0, ""
    if isinstance(value, int | float):
        return 0, "", float(value), ""
    known = quantity(value)
    return (2, "", 0.0, str(value)) if known is None else (1, known[1], known[0], str(value))


def _own(sweep: Sweep, columns: Sequence[str] | None) -> Iterator[pa.Table]:
    with pq.ParquetFile(sweep.folder / "summary.parquet") as file:
        names = None if columns is None else list({*columns, "transport", *sweep.axes, *sweep.other_axes})
        for batch in file.iter_batches(1024, columns=names):
            table = pa.Table.from_batches([batch])
            if table.num_columns:
                yield sweep.own(table)


def thinned(values: Sequence[Sequence[Any]], most: int) -> list[list[Any]]:
    """Return values of each axis, ends included, evenly spread, of which there are at most so many points.

    >>> thinned([[1, 2, 3, 4, 5], [1, 2]], 6)
    [[1, 3, 5], [1, 2]]
    """
    bound = max((len(each) for each in values), default=1)
    # All axes are cut to the same bound: the longest loses first.
    while bound > 1 and math.prod(min(len(each), bound) for each in values) > most:
        bound -= 1
    sizes = [min(len(each), bound) for each in values]
    return [
        [each[round(index * (len(each) - 1) / max(1, size - 1))] for index in range(size)]
        for each, size in zip(values, sizes, strict=True)
    ]
