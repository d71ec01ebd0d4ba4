"""The results of a sweep: one Parquet data set, in as few files as will do, the same bytes for the same runs.

    data/runs/transport=sack/part-0.parquet      one row a run: key, axes, seed, error, digest, every metric
    data/flows/transport=sack/part-0.parquet     the rows of all runs in one table of the simulator's

Runs come from journals (`cogtcp.runner`), which are removed once they are in the data set. The maker and the
order of runs do not matter: rows are sorted by axes, seed and key. Sorting is done piece by piece on disk
(`ordered`), so that memory does not grow with the number of runs.
"""

from __future__ import annotations

import os
import re
import shutil
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cogtcp import _core, _parquet, _replace
from cogtcp._errors import OutputError
from cogtcp.model.output import _cannot_write
from cogtcp.model.results_schema import RENAMED_TABLES
from cogtcp.running.runner import Journal, Outcome
from cogtcp.running.runner.journal import only_one, read, size
from cogtcp.running.sweeping import ordered
from cogtcp.running.sweeping.columns import AGE, RUNS, Columns, all_types, axes_of, order, texts, types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DATA = "data"
_PART = re.compile(r"part-([0-9]{1,9})\.parquet")
# Rows that are looked at at a time.
_SOME = 4_096


def tables(folder: Path) -> list[str]:
    """Return the names of the tables of a data set. Folders of other names are nobody's."""
    data = folder / DATA
    return sorted({path.name for path in data.iterdir() if path.is_dir()} & _known()) if data.is_dir() else []


@cache
def _known() -> frozenset[str]:
    """Return the names that a table may have, also in older versions."""
    old = (name for names in RENAMED_TABLES.values() for name in names)
    return frozenset({RUNS, *(name for name, *_ in _core.columns()), *old})


def load(folder: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return one table of a data set, `transport` in front."""
    parts = []
    for transport, path in files(folder, name):
        table = _parquet.table(path, columns)
        parts.append(table.add_column(0, "transport", pa.repeat(pa.scalar(transport), table.num_rows)))
    # Readers find the columns also where nothing has been made yet.
    if not parts:
        return pa.schema([("transport", pa.string()), *types(name).items()]).empty_table()
    return pa.concat_tables(parts, promote_options="permissive")


def batches(
    folder: Path, name: str, transport: str, columns: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of one transport in one table of a data set, in order, some at a time."""
    for _, path in files(folder, name, transport):
        with _parquet.opened(path) as file:
            there = None if columns is None else [c for c in columns if c in file.schema_arrow.names]
            # One thread: in the order of the file, and little in memory.
            for batch in file.iter_batches(_SOME, columns=there, use_threads=False):
                yield pa.Table.from_batches([batch])


def transports(folder: Path) -> list[str]:
    """Return the transports of a data set."""
    return sorted({transport for transport, _ in files(folder, RUNS)})


def axes(folder: Path) -> dict[str, bool]:
    """Return the axes of a data set by name, and whether their values are numbers."""
    found: dict[str, bool] = {}
    for _, path in files(folder, RUNS):
        schema = _parquet.schema(path)
        for name in axes_of(RUNS, schema.names):
            found[name] = found.get(name, True) and pa.types.is_floating(schema.field(name).type)
    return dict(sorted(found.items()))


def with_values(folder: Path) -> set[str]:
    """Return the columns of the table of runs in which any run has a value."""
    found: set[str] = set()
    for _, path in files(folder, RUNS):
        # By the statistics in the file's foot: no row is read.
        about = _parquet.metadata(path)
        for group in range(about.num_row_groups):
            part = about.row_group(group)
            for number in range(part.num_columns):
                column = part.column(number)
                known = column.statistics is not None and column.statistics.has_null_count
                if not known or column.statistics.null_count < part.num_rows:
                    found.add(column.path_in_schema)
    return found


def failures(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of runs that failed."""
    for transport in transports(folder):
        for table in batches(folder, RUNS, transport):
            for row in table.filter(pc.is_valid(table["error"])).to_pylist():
                yield {"transport": transport, **row}


@dataclass
class Known:
    """The keys of a data set, eight bytes a run, and its failures."""

    keys: Sequence[int]
    failed: dict[str, Outcome]

    def get(self, key: str, /) -> Outcome | None:
        """Return what is known of a run; its record is not read."""
        # The first 64 of 128 bits: half the memory. Among ten million runs two collide with a chance of 3e-6.
        wanted = int(key[:16], 16)
        place = bisect_left(self.keys, wanted)
        if place == len(self.keys) or self.keys[place] != wanted:
            return None
        return self.failed.get(key) or Outcome(key, known=True)


def known(folder: Path) -> Known:
    """Return what a data set has."""
    keys = array("Q")
    failed: dict[str, Outcome] = {}
    for _, path in files(folder, RUNS):
        with _parquet.opened(path) as file:
            for batch in file.iter_batches(_SOME, columns=["key", "error", "limit_s"], use_threads=False):
                table = pa.Table.from_batches([batch])
                keys.extend(int(key[:16], 16) for key in table["key"].to_pylist())
                for row in table.filter(pc.is_valid(table["error"])).to_pylist():
                    outcome = Outcome(
                        row["key"], error=row["error"], limit_s=row["limit_s"] or 0.0, known=True
                    )
                    failed[outcome.key] = outcome
    # Arrow sorts the numbers where they lie: as Python's objects they would take several times the memory.
    numbers = pa.Array.from_buffers(pa.uint64(), len(keys), [None, pa.py_buffer(keys)])
    in_order = numbers.take(pc.array_sort_indices(numbers))
    return Known(memoryview(in_order.buffers()[1]).cast("B").cast("Q")[: len(keys)], failed)


def repair(folder: Path, journal: Journal) -> list[Path]:
    """Leave damaged files out of a data set, so that their runs are made again; return what was damaged.

    Nobody knows which runs had rows in a damaged file of another table than `runs`. So all runs of its
    transport are made again that have no row in the rest of the table.

    Raises:
        OutputError: The data set cannot be written.
    """
    broken = [path for name in tables(folder) for _, path in files(folder, name) if not _is_whole(name, path)]
    if not broken:
        return []
    real = Path(os.path.realpath(folder / DATA))
    try:
        with only_one(journal.folder, wait=True):
            new, lock = _replace.begin_folder(real)
            try:
                for name in tables(folder):
                    for transport, path in files(folder, name):
                        target = new / name / _segment(transport) / path.name
                        target.parent.mkdir(parents=True, exist_ok=True)
                        if path in broken:
                            continue
                        lost = _tables_of(broken, transport) if name == RUNS else set()
                        if lost:
                            _write_rows(target, _without(folder, path, transport, lost, broken))
                        else:
                            shutil.copy2(path, target)
                if not _replace.put(new, real):
                    raise OutputError(f"{real}: another process writes here; repeat the command")
            finally:
                shutil.rmtree(new, ignore_errors=True)
                if lock is not None:
                    os.close(lock)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return broken


def _is_whole(name: str, path: Path) -> bool:
    """Whether every row of a file can be read, and a run's has its identity."""
    wanted = {"seed": pa.int64(), "key": pa.string()}
    wanted |= {"error": pa.string(), "limit_s": pa.float64()} if name == RUNS else {"row": pa.int32()}
    try:
        with _parquet.opened(path) as file:
            schema = file.schema_arrow
            if not _parquet.is_sealed(schema) or any(schema.field(c).type != k for c, k in wanted.items()):
                return False
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                table.validate(full=True)
                for key in table["key"].to_pylist():
                    int(key[:16], 16)
    except _parquet.DamagedError:
        return False
    return True


def _tables_of(broken: Sequence[Path], transport: str) -> set[str]:
    """Return the tables, besides `runs`, with a damaged file of a transport."""
    return {path.parent.parent.name for path in broken if path.parent.name == _segment(transport)} - {RUNS}


def _without(folder: Path, path: Path, transport: str, lost: set[str], broken: Sequence[Path]) -> pa.Table:
    """Return the runs of a file with rows in what is left of the damaged tables, and those that failed."""
    runs = _parquet.table(path)
    for name in lost:
        there: set[str] = set()
        for _, other in files(folder, name, transport):
            if other not in broken:
                there.update(_parquet.table(other, ["key"])["key"].to_pylist())
        kept = pc.is_in(runs["key"], value_set=pa.array(sorted(there), pa.string()))
        runs = runs.filter(pc.or_(kept, pc.is_valid(runs["error"])))
    return runs


def _write_rows(path: Path, table: pa.Table) -> None:
    with pq.ParquetWriter(path, _parquet.sealed(table.schema), **_parquet.WRITTEN) as writer:
        writer.write_table(table, row_group_size=ordered.GROUP_ROWS)


def compact(folder: Path, journal: Journal, keep: Sequence[str]) -> int:
    """Bring finished runs from the journals into the data set; return how many that were.

    Journals that no process writes are then removed. Finished runs in other processes' journals are copied,
    and found again when these end. A kill on the way leaves the old data set and the journals, or the new one
    and journals of runs that it already has.

    Raises:
        OutputError: The data set cannot be written.
    """
    # So that this process's own journal is taken in, too.
    journal.close()
    real = Path(os.path.realpath(folder / DATA))
    try:
        with only_one(journal.folder, wait=True) as alone:
            if not alone:
                return 0
            _replace.clear_up(real)
            idle, journals = journal.idle(), journal.files()
            moved = 0
            if any(size(path) for path in journals):
                new, lock = _replace.begin_folder(real)
                try:
                    moved = _write(folder, new, journals, keep)
                    if not _replace.put(new, real):
                        raise OutputError(f"{real}: another process writes here; repeat the command")
                finally:
                    shutil.rmtree(new, ignore_errors=True)
                    if lock is not None:
                        os.close(lock)
            # Only now: until the new data set is in its place, the journals are all there is of these runs.
            for path in idle:
                path.unlink(missing_ok=True)
            journal.forget(idle)
            return moved
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _write(folder: Path, new: Path, journals: Sequence[Path], keep: Sequence[str]) -> int:
    parts = new / ".parts"
    fresh = Columns(parts)
    for path in journals:
        for outcome in read(path):
            fresh.add(outcome)
    fresh.flush()
    kinds = _kinds_of_axes(folder, fresh)
    for name in [RUNS, *sorted({*tables(folder), *keep} - {RUNS})]:
        old = {transport for transport, _ in files(folder, name)}
        for transport in sorted(old | fresh.transports(name)):
            _bring_together(folder, new, name, transport, fresh, kinds)
    shutil.rmtree(parts, ignore_errors=True)
    return fresh.count


def _kinds_of_axes(folder: Path, fresh: Columns) -> dict[str, pa.DataType]:
    """Return the type of each axis: numbers only if it has nothing else, with whichever transport."""
    found: dict[str, pa.DataType] = {}
    old = (_parquet.schema(path) for _, path in files(folder, RUNS))
    for schema in (*old, *map(_piece_schema, fresh.pieces(RUNS))):
        for name in axes_of(RUNS, schema.names):
            kind = schema.field(name).type
            # One text among the values makes texts of all.
            found[name] = pa.string() if pa.types.is_string(found.get(name, kind)) else kind
    return dict(sorted(found.items()))


def _bring_together(
    folder: Path, new: Path, name: str, transport: str, fresh: Columns, kinds: dict[str, pa.DataType]
) -> None:
    """Write one transport's rows in one table: old and new, each run once."""
    pieces = fresh.pieces(name, transport)
    before = [path for _, path in files(folder, name, transport)]
    # The new table of runs, written just before: other tables keep the rows of its runs alone.
    runs = [] if name == RUNS else [path for _, path in files(new.parent, RUNS, transport, new.name)]
    schemas = [*map(_piece_schema, pieces), *map(_parquet.schema, before)]
    schema, mixed = _schema(name, schemas, [_parquet.schema(path) for path in runs], kinds)
    names = axes_of(name, schema.names)
    how = order(name, names)

    def conform(table: pa.Table) -> pa.Table:
        return _conformed(table, schema)

    def old() -> Iterator[pa.Table]:
        return (conform(_aged(table, 1)) for table in batches(folder, name, transport))

    sources = [old()]
    if mixed:
        # An axis that had numbers has texts too: those are in another order.
        again = (conform(table) for path in pieces for table in ordered.read_piece(path))
        pieces = [
            ordered.write_piece(fresh.new_name(), [ordered.sort(table, how)])
            for each in (again, old())
            for table in each
        ]
        sources = []
    few = ordered.fewer(pieces, how, conform, fresh.new_name)
    sources += [(conform(table) for table in ordered.read_piece(path)) for path in few]
    if name == RUNS:
        rows = _each_run_once(ordered.merged(sources, how), [*names, "seed"])
    else:
        # A mark in front of each run's rows tells that the run is in the data set: no set of keys is held in
        # memory.
        sources.append(conform(_aged(table, 1)) for table in _marks(runs, names))
        rows = _of_runs(ordered.merged(sources, how), [*names, "seed", "key"])
    ordered.write_files(new / name / _segment(transport), schema.remove(schema.get_field_index(AGE)), rows)


def _each_run_once(tables: Iterable[pa.Table], place: list[str]) -> Iterator[pa.Table]:
    """Yield each run once.

    Of two records with one key, the one without an error stays. Of two runs of one point, transport and seed,
    the later stays: a control's code or the version has changed in between.
    """
    for table in ordered.whole_groups(tables, place):
        one = ordered.once(table, [*place, "key"], [("error", "descending"), (AGE, "descending")])
        yield ordered.once(one, place, [(AGE, "descending"), ("key", "ascending")])


def _marks(runs: Sequence[Path], axes: Sequence[str]) -> Iterator[pa.Table]:
    """Yield for every run a row that precedes its own: `row` is -1."""
    for path in runs:
        with _parquet.opened(path) as file:
            there = [name for name in (*axes, "seed", "key") if name in file.schema_arrow.names]
            for batch in file.iter_batches(_SOME, columns=there, use_threads=False):
                table = pa.Table.from_batches([batch])
                yield table.append_column("row", pa.repeat(pa.scalar(-1, pa.int32()), table.num_rows))


def _of_runs(tables: Iterable[pa.Table], place: list[str]) -> Iterator[pa.Table]:
    """Yield the rows whose run is in the data set, each once."""
    for table in ordered.whole_groups(tables, place):
        mark = pc.equal(table["row"], -1)
        kept = pc.is_in(table["key"], value_set=table["key"].filter(mark).combine_chunks())
        some = table.filter(pc.and_(kept, pc.invert(mark)))
        yield ordered.once(some, [*place, "row"], [(AGE, "descending")])


def _schema(
    name: str, schemas: Sequence[pa.Schema], of_runs: Sequence[pa.Schema], kinds: dict[str, pa.DataType]
) -> tuple[pa.Schema, bool]:
    """Return the columns of a table in several parts, and whether some sort differently."""
    there = {axis for schema in schemas for axis in axes_of(name, schema.names)}
    there |= {axis for schema in of_runs for axis in axes_of(RUNS, schema.names)}
    axes_ = [(axis, kind) for axis, kind in kinds.items() if axis in there]
    mixed = any(
        axis in schema.names and schema.field(axis).type != kind for schema in schemas for axis, kind in axes_
    )
    names = {column for schema in schemas for column in schema.names}
    rest = [(column, kind) for column, kind in all_types(name, names).items() if column in names]
    return pa.schema([*axes_, *rest, (AGE, pa.int8())]), mixed


def _piece_schema(path: Path) -> pa.Schema:
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).schema


def _conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
        elif pa.types.is_string(field.type) and pa.types.is_floating(table[field.name].type):
            columns.append(texts(table[field.name].to_pylist()))
        else:
            columns.append(table[field.name].cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def write_sorted(folder: Path, name: str, transport: str, table: pa.Table) -> None:
    """Write the rows of one transport into one table of the data set of a new folder."""
    names = axes_of(name, table.column_names)
    columns = [*names, *(c for c in all_types(name, table.column_names) if c in table.column_names)]
    rows = ordered.once(table.select(columns), [*names, "seed", "key"], [])
    ordered.write_files(folder / DATA / name / _segment(transport), rows.schema, [rows])


def _segment(transport: str) -> str:
    return f"transport={quote(transport, safe='')}"


def _aged(table: pa.Table, age: int) -> pa.Table:
    return table.append_column(AGE, pa.repeat(pa.scalar(age, pa.int8()), table.num_rows))


def files(
    folder: Path, name: str, transport: str | None = None, data: str = DATA
) -> Iterator[tuple[str, Path]]:
    """Yield transports and files of a table, in the order of their rows."""
    root = folder / data / name
    for part in sorted(root.glob("transport=*") if transport is None else [root / _segment(transport)]):
        # By number: as texts, part-10 would come before part-2.
        numbers = {int(found[1]): path for path in part.glob("*") if (found := _PART.fullmatch(path.name))}
        for _, path in sorted(numbers.items()):
            yield unquote(part.name.partition("=")[2]), path


def describe(folder: Path) -> dict[str, Any]:
    """Return what a data set has: rows and bytes by table, files, failures."""
    found: dict[str, Any] = {"tables": {}, "files": 0, "bytes": 0}
    for name in tables(folder):
        rows = 0
        for _, path in files(folder, name):
            rows += _parquet.metadata(path).num_rows
            found["files"] += 1
            found["bytes"] += path.stat().st_size
        found["tables"][name] = rows
    names = transports(folder)
    found["failed"] = sum(
        table.num_rows - table["error"].null_count
        for name in names
        for table in batches(folder, RUNS, name, ["error"])
    )
    found["transports"] = names
    return found
