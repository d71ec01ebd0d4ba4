"""Finished runs as columns: what a journal has, by table and transport, in sorted pieces on disk."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cogtcp import _core
from cogtcp.model.metrics import METRICS
from cogtcp.model.of_tcp import columns_of_tcp
from cogtcp.running.sweeping.ordered import Order, ascending, sort, write_piece
from cogtcp.running.sweeping.plan import AS_IT_IS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cogtcp.running.runner import Outcome

RUNS = "runs"
#: While the data set is written, which rows were in it: 1, and which are new: 0.
AGE = "_age"
# Rows of all tables that are held as Python's objects.
_MOST_ROWS = 2_000
_KINDS = {"u64": pa.uint64(), "i64": pa.int64(), "f64": pa.float64(), "bool": pa.bool_(), "text": pa.string()}


def types(name: str) -> dict[str, pa.DataType]:
    """Return the columns of a table besides its axes, in their order."""
    first = {"seed": pa.int64(), "key": pa.string()}
    if name == RUNS:
        numbers = {metric.name: pa.float64() for metric in METRICS}
        return {**first, "error": pa.string(), "limit_s": pa.float64(), "digest": pa.string(), **numbers}
    columns = next(columns for table, _, columns in _core.columns() if table == name)
    kinds = {column: _KINDS[kind] for column, kind, *_ in (*columns, *columns_of_tcp(name))}
    # The column `transport` of a sweep says what was set; a flow's own, as a fixed one's, may be another.
    if "transport" in kinds:
        kinds = {
            "flow_transport" if column == "transport" else column: kind for column, kind in kinds.items()
        }
    return {**first, "row": pa.int32(), **kinds}


def all_types(name: str, there: Iterable[str]) -> dict[str, pa.DataType]:
    """Return `types` of a table, and of the metrics of subjects that are there."""
    return {**types(name), **{column: pa.float64() for column in sorted(there) if "." in column}}


def axes_of(name: str, columns: Iterable[str]) -> list[str]:
    """Return which of the columns of a table are axes, by name."""
    # An axis is an identifier: a name with a dot is a metric of a subject.
    return sorted(c for c in set(columns) - types(name).keys() - {AGE} if "." not in c)


def order(name: str, axes: Iterable[str]) -> Order:
    """Return the order in which rows are brought together; of those that are one, the best comes last.

    Of two records with one key that which did not fail, then that which was made last.
    """
    then: Order = [("error", "descending")] if name == RUNS else [("row", "ascending")]
    return [*ascending([*axes, "seed", "key"]), *then, (AGE, "descending")]


def metrics_of(columns: Iterable[str]) -> list[str]:
    """Return which columns of the table of runs are metrics: of the run, then of subjects."""
    there = list(columns)
    known = [metric.name for metric in METRICS if metric.name in there]
    return [*known, *sorted(name for name in there if "." in name)]


def _kind(column: str, kinds: dict[str, pa.DataType]) -> pa.DataType | None:
    return pa.float64() if "." in column else kinds.get(column)


class Columns:
    """Runs as columns. A piece is written whenever there are some thousand rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pieces: dict[tuple[str, str], list[Path]] = {}
        self._rows: dict[tuple[str, str], dict[str, list[Any]]] = {}
        self._waiting = 0
        self._named = 0
        self.count = 0
        folder.mkdir()

    def add(self, outcome: Outcome) -> None:
        """Add a run; what is no run of a sweep is left out."""
        if len(outcome.label) < 2:
            return
        given, seed, values = outcome.label[0], outcome.label[1], outcome.label[2]
        transport = AS_IT_IS if given is None else str(given)
        place = {**values, "seed": seed, "key": outcome.key}  # type: ignore[dict-item]
        record = {} if outcome.error else outcome.record
        metrics = record.get("metrics", {})
        self._append(
            (RUNS, transport),
            {
                **place,
                "error": outcome.error or None,
                "limit_s": outcome.limit_s or None,
                "digest": record.get("digest"),
                **{metric.name: _finite(metrics.get(metric.name)) for metric in METRICS},
                **{name: _finite(value) for name, value in metrics.items() if "." in name},
            },
        )
        for name, columns in record.get("tables", {}).items():
            names = ["flow_transport" if column == "transport" else column for column in columns]
            for number, row in enumerate(zip(*columns.values(), strict=True)):
                self._append(
                    (name, transport), {**place, "row": number, **dict(zip(names, row, strict=True))}
                )
        self.count += 1
        if self._waiting >= _MOST_ROWS:
            self.flush()

    def _append(self, place: tuple[str, str], row: dict[str, Any]) -> None:
        columns = self._rows.setdefault(place, {})
        length = len(next(iter(columns.values()))) if columns else 0
        for name in row.keys() - columns.keys():
            columns[name] = [None] * length
        for name, values in columns.items():
            values.append(row.get(name))
        if length == 0:
            self._rows[place] = {name: columns[name] for name in row}
        self._waiting += 1

    def flush(self) -> None:
        """Write what is held."""
        for (name, transport), columns in self._rows.items():
            kinds = types(name)
            arrays = {column: _arrow(values, _kind(column, kinds)) for column, values in columns.items()}
            table = pa.table(arrays)
            table = table.append_column(AGE, pa.repeat(pa.scalar(0, pa.int8()), table.num_rows))
            sorted_ = sort(table, order(name, axes_of(name, arrays)))
            self._pieces.setdefault((name, transport), []).append(write_piece(self.new_name(), [sorted_]))
        self._rows = {}
        self._waiting = 0

    def new_name(self) -> Path:
        """Return the path of a piece that does not exist yet."""
        self._named += 1
        return self._folder / f"{self._named}.arrow"

    def transports(self, name: str) -> set[str]:
        """Return the transports that have rows in a table."""
        return {transport for table, transport in self._pieces if table == name}

    def pieces(self, name: str, transport: str | None = None) -> list[Path]:
        """Return the pieces of a table, of one transport or of all."""
        return [
            path
            for (table, own), paths in self._pieces.items()
            if table == name and transport in (None, own)
            for path in paths
        ]


def _arrow(values: list[Any], kind: pa.DataType | None) -> pa.Array:
    if kind is not None:
        return pa.array(values, kind)
    if all(isinstance(value, float | int) or value is None for value in values):
        return pa.array(values, pa.float64())
    return texts(values)


def texts(values: Iterable[Any]) -> pa.Array:
    """Return the values of an axis that are not all numbers."""
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _finite(value: float | None) -> float | None:
    """Return a number as SQL has it: nothing in place of "no value"."""
    return None if value is None or math.isnan(value) else value
