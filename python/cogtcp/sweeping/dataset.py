"""The results of a sweep: one Parquet data set, in as few files as will do, the same bytes for the same runs.

    data/runs/transport=sack/part-0.parquet      one row a run: key, axes, seed, error, digest, every metric
    data/flows/transport=sack/part-0.parquet     the rows of all runs in one table of the simulator's

Runs come from journals (`cogtcp.runner`), which are removed once they are in the data set. Whoever made
them, and in which order: rows are sorted by axes, seed and key.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cogtcp import _core, _replace
from cogtcp._errors import OutputError
from cogtcp.metrics import METRICS
from cogtcp.output import _cannot_write
from cogtcp.runner import Journal, Outcome
from cogtcp.runner.journal import only_one, read
from cogtcp.sweeping.plan import AS_IT_IS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATA, RUNS = "data", "runs"
# Rows of a file, and of the part of it that is read at once.
_FILE_ROWS = 1_000_000
_GROUP_ROWS = 100_000
# While the data set is written, which rows were in it: 1, and which are new: 0.
_AGE = "_age"
# Runs that are turned from lines into columns at a time.
_BATCH = 2_000
_KINDS = {"u64": pa.uint64(), "i64": pa.int64(), "f64": pa.float64(), "bool": pa.bool_(), "text": pa.string()}


def tables(folder: Path) -> list[str]:
    """Return the names of the tables of a data set."""
    data = folder / DATA
    return sorted(path.name for path in data.iterdir() if path.is_dir()) if data.is_dir() else []


def load(folder: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return one table of a data set, `transport` in front."""
    parts = []
    for transport, path in _files(folder, name):
        table = pq.read_table(path, columns=None if columns is None else list(columns), partitioning=None)
        parts.append(table.add_column(0, "transport", pa.repeat(pa.scalar(transport), table.num_rows)))
    if not parts:
        return pa.schema([("transport", pa.string()), *_types(name).items()]).empty_table()
    return pa.concat_tables(parts, promote_options="permissive")


@dataclass
class Known:
    """The keys of a data set, eight bytes a run, and its failures."""

    keys: array[int]
    failed: dict[str, Outcome]

    def get(self, key: str, /) -> Outcome | None:
        """Return what is known of a run; its record is not read."""
        wanted = int(key[:16], 16)
        place = bisect_left(self.keys, wanted)
        if place == len(self.keys) or self.keys[place] != wanted:
            return None
        return self.failed.get(key) or Outcome(key, known=True)


def known(folder: Path) -> Known:
    """Return what a data set has."""
    keys: list[int] = []
    failed: dict[str, Outcome] = {}
    for _, path in _files(folder, RUNS):
        for batch in pq.ParquetFile(path).iter_batches(_GROUP_ROWS, columns=["key", "error", "limit_s"]):
            keys += [int(key[:16], 16) for key in batch["key"].to_pylist()]
            bad = batch.filter(pc.is_valid(batch["error"]))
            for row in bad.to_pylist():
                outcome = Outcome(row["key"], error=row["error"], limit_s=row["limit_s"] or 0.0, known=True)
                failed[outcome.key] = outcome
    keys.sort()
    return Known(array("Q", keys), failed)


def compact(folder: Path, journal: Journal, keep: Sequence[str]) -> int:
    """Move finished runs from journals that nobody writes into the data set; return how many were moved.

    A kill on the way leaves the data set as it was, and the journals; or the new one, and journals whose
    runs it has already.

    Raises:
        OutputError: The data set cannot be written.
    """
    journal.close()
    real = Path(os.path.realpath(folder / DATA))
    try:
        with only_one(journal.folder, wait=True) as alone:
            if not alone:
                return 0
            _replace.clear_up(real)
            files = journal.idle()
            if not any(path.stat().st_size for path in files):
                return 0
            new = _replace.staging(real)
            new.mkdir()
            lock = _replace.lock(new)
            try:
                moved = _write(folder, new, files, keep)
                if not _replace.put(new, real):
                    raise OutputError(f"{real}: another process writes here; repeat the command")
            finally:
                shutil.rmtree(new, ignore_errors=True)
                if lock is not None:
                    os.close(lock)
            for path in files:
                path.unlink(missing_ok=True)
            journal.forget(files)
            return moved
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _write(folder: Path, new: Path, files: Sequence[Path], keep: Sequence[str]) -> int:
    fresh = _Columns(new / ".parts")
    for path in files:
        for outcome in read(path):
            fresh.add(outcome)
    fresh.flush()
    kept: dict[str, pa.Array] = {}
    for name in [RUNS, *sorted({*tables(folder), *keep} - {RUNS})]:
        old: dict[str, list[pa.Table]] = {}
        for transport, path in _files(folder, name):
            old.setdefault(transport, []).append(pq.read_table(path, partitioning=None))
        for transport in sorted({*old, *fresh.transports(name)}):
            parts = [_aged(part, 1) for part in old.get(transport, [])]
            parts += [_aged(part, 0) for part in fresh.parts(name, transport)]
            table = _sorted(name, pa.concat_tables(parts, promote_options="permissive"))
            if name == RUNS:
                kept[transport] = table["key"].combine_chunks()
            else:
                table = table.filter(pc.is_in(table["key"], value_set=kept[transport]))
            _write_table(new / name / _segment(transport), table)
    shutil.rmtree(new / ".parts", ignore_errors=True)
    return fresh.count


def write_sorted(folder: Path, name: str, transport: str, table: pa.Table) -> None:
    """Write the rows of one transport into one table of the data set of a new folder."""
    _write_table(folder / DATA / name / _segment(transport), _sorted(name, table))


def _segment(transport: str) -> str:
    return f"transport={quote(transport, safe='')}"


def _write_table(folder: Path, table: pa.Table) -> None:
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, max(1, table.num_rows), _FILE_ROWS)):
        path = folder / f"part-{number}.parquet"
        part = table.slice(start, _FILE_ROWS)
        pq.write_table(part, path, compression="zstd", row_group_size=_GROUP_ROWS)
        with path.open("rb") as stream:  # a full disk may only show when the data are really written
            os.fsync(stream.fileno())


def _aged(table: pa.Table, age: int) -> pa.Table:
    return table.append_column(_AGE, pa.repeat(pa.scalar(age, pa.int8()), table.num_rows))


def _sorted(name: str, table: pa.Table) -> pa.Table:
    """Return rows in their one order, each run once.

    Of two records with one key that which did not fail; of two runs of one point, transport and seed that
    which was made last: what decides a run has changed since the other, a control's code or the version.
    """
    fixed = _types(name)
    names = set(table.column_names)
    axes = sorted(names - fixed.keys() - {_AGE})
    place = [*axes, "seed"]
    table = table.select([*axes, *(column for column in fixed if column in names), *(names & {_AGE})])
    if name != RUNS:
        return _once(table, [*place, "key", "row"], []).drop_columns(names & {_AGE})
    table = _once(
        table, [*place, "key"], [("error", "descending")]
    )  # nulls come last, and the last one stays
    if _AGE in names:
        table = _once(table, place, [(_AGE, "descending")]).drop_columns([_AGE])
    return table


def _once(table: pa.Table, same: Sequence[str], then: Sequence[tuple[str, str]]) -> pa.Table:
    """Return rows sorted by the columns `same`, and `then`; the last of those that are alike in `same`."""
    order = [*((column, "ascending") for column in same), *then]
    table = table.take(pc.sort_indices(table, sort_keys=order)).combine_chunks()
    rows = table.num_rows
    if rows < 2:
        return table
    differ = pa.array([False] * (rows - 1))
    for column in same:
        values = table[column].combine_chunks()
        here, there = values.slice(0, rows - 1), values.slice(1)
        differ = pc.or_(differ, pc.fill_null(pc.not_equal(here, there), False))
        differ = pc.or_(differ, pc.xor(pc.is_null(here), pc.is_null(there)))
    return table.filter(pa.concat_arrays([differ, pa.array([True])]))


class _Columns:
    """Runs as columns, by table and transport; on disk, so that memory does not grow with their number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: dict[tuple[str, str], list[Path]] = {}
        self._rows: dict[tuple[str, str], dict[str, list[Any]]] = {}
        self._waiting = 0
        self.count = 0

    def add(self, outcome: Outcome) -> None:
        if len(outcome.label) < 2:
            return  # no run of a sweep
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
            },
        )
        for name, columns in record.get("tables", {}).items():
            names = ["flow_transport" if column == "transport" else column for column in columns]
            for number, row in enumerate(zip(*columns.values(), strict=True)):
                self._append(
                    (name, transport), {**place, "row": number, **dict(zip(names, row, strict=True))}
                )
        self.count += 1
        self._waiting += 1
        if self._waiting >= _BATCH:
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

    def flush(self) -> None:
        for (name, transport), columns in self._rows.items():
            types = _types(name)
            arrays = {column: _arrow(values, types.get(column)) for column, values in columns.items()}
            files = self._parts.setdefault((name, transport), [])
            self._folder.mkdir(exist_ok=True)
            files.append(self._folder / f"{name}-{len(self._parts)}-{len(files)}.parquet")
            pq.write_table(pa.table(arrays), files[-1], compression="zstd")
        self._rows = {}
        self._waiting = 0

    def transports(self, name: str) -> set[str]:
        return {transport for table, transport in self._parts if table == name}

    def parts(self, name: str, transport: str) -> list[pa.Table]:
        return [pq.read_table(path, partitioning=None) for path in self._parts.get((name, transport), [])]


def _types(name: str) -> dict[str, pa.DataType]:
    """Return the columns of a table besides its axes, in their order."""
    types = {"seed": pa.int64(), "key": pa.string()}
    if name == RUNS:
        numbers = {metric.name: pa.float64() for metric in METRICS}
        return {**types, "error": pa.string(), "limit_s": pa.float64(), "digest": pa.string(), **numbers}
    columns = next(columns for table, _, columns in _core.columns() if table == name)
    kinds = {column: _KINDS[kind] for column, kind, *_ in columns}
    if "transport" in kinds:
        kinds = {
            "flow_transport" if column == "transport" else column: kind for column, kind in kinds.items()
        }
    return {**types, "row": pa.int32(), **kinds}


def _arrow(values: list[Any], kind: pa.DataType | None) -> pa.Array:
    if kind is not None:
        return pa.array(values, kind)
    if all(isinstance(value, float | int) or value is None for value in values):
        return pa.array(values, pa.float64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _finite(value: float | None) -> float | None:
    """Return a number as SQL has it: nothing in place of "no value"."""
    return None if value is None or math.isnan(value) else value


def _files(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    root = folder / DATA / name
    for part in sorted(root.glob("transport=*/part-*.parquet")):
        yield unquote(part.parent.name.partition("=")[2]), part


def describe(folder: Path) -> dict[str, Any]:
    """Return what a data set has: rows and bytes by table, files, failures."""
    found: dict[str, Any] = {"tables": {}, "files": 0, "bytes": 0}
    for name in tables(folder):
        rows = 0
        for _, path in _files(folder, name):
            rows += pq.read_metadata(path).num_rows
            found["files"] += 1
            found["bytes"] += path.stat().st_size
        found["tables"][name] = rows
    with contextlib.suppress(KeyError):
        runs = load(folder, RUNS, ["error"])
        found["failed"] = runs.num_rows - runs["error"].null_count
    found["transports"] = sorted({transport for transport, _ in _files(folder, RUNS)})
    return found
