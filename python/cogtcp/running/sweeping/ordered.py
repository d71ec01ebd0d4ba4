"""Tables that may be larger than memory, brought into one order: sorted pieces on disk that are merged.

Whatever the number of rows, some pieces of some thousand rows each are in memory at a time. More pieces than
can be merged at once are merged in several rounds.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cogtcp import _parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

# Rows of a piece that are in memory at a time, and pieces that are merged at once.
_ROWS = 512
_FAN = 8
# Rows of a Parquet file, and of the part of it that is read at once.
FILE_ROWS = 1_000_000
GROUP_ROWS = 5_000
# While pieces are merged, which of them a row is of.
_SOURCE = "_source"

Order = list[tuple[str, str]]


def ascending(columns: Iterable[str]) -> Order:
    """Return the order by some columns, nothing after everything."""
    return [(column, "ascending") for column in columns]


def sort(table: pa.Table, order: Order) -> pa.Table:
    """Return the rows in an order."""
    return table.take(pc.sort_indices(table, sort_keys=order))


def write_piece(path: Path, tables: Iterable[pa.Table]) -> Path:
    """Write sorted rows to a file from which they can be read some at a time."""
    writer = None
    try:
        for table in tables:
            if writer is None:
                options = pa.ipc.IpcWriteOptions(compression="lz4")
                writer = pa.ipc.new_file(str(path), table.schema, options=options)
            writer.write_table(table.combine_chunks(), max_chunksize=_ROWS)
    finally:
        if writer is not None:
            writer.close()
    return path


def read_piece(path: Path) -> Iterator[pa.Table]:
    """Yield the rows of a piece, and remove it once they are read."""
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file)
        for number in range(reader.num_record_batches):
            yield pa.Table.from_batches([reader.get_batch(number)])
    path.unlink()


def fewer(
    pieces: Sequence[Path], order: Order, conform: Callable[[pa.Table], pa.Table], name: Callable[[], Path]
) -> list[Path]:
    """Merge pieces until there are so few that they can be merged at once; `name` names new files."""
    left = list(pieces)
    while len(left) > _FAN:
        some, left = left[:_FAN], left[_FAN:]
        left.append(write_piece(name(), merged([map(conform, read_piece(path)) for path in some], order)))
    return left


def merged(sources: Sequence[Iterator[pa.Table]], order: Order) -> Iterator[pa.Table]:
    """Yield the rows of sorted sources, of one schema, in order."""
    waiting: pa.Table | None = None
    alive = dict(enumerate(sources))
    rows = dict.fromkeys(alive, 0)  # of each, those that wait
    while True:
        parts = [] if waiting is None else [waiting]
        # A source is read on only when few of its rows wait: each holds some hundred rows at a time.
        for number in [number for number in alive if rows[number] < _ROWS]:
            table = next((part for part in alive[number] if part.num_rows), None)
            if table is None:
                del alive[number]
            else:
                mark = pa.repeat(pa.scalar(number, pa.int32()), table.num_rows)
                parts.append(table.append_column(_SOURCE, mark))
        if not parts:
            return
        waiting = pa.concat_tables(parts)
        if len(parts) > 1:
            waiting = sort(waiting, order)
        # What comes before the last row of every source that has more to come will not be preceded by any.
        place = pa.table({"source": waiting[_SOURCE], "at": pa.array(range(waiting.num_rows), pa.int32())})
        found = place.group_by("source", use_threads=False).aggregate([("at", "max"), ("at", "count")])
        ends = {row["source"]: row["at_max"] for row in found.to_pylist()}
        some = min((ends[number] + 1 for number in alive), default=waiting.num_rows)
        yield waiting.slice(0, some).drop_columns([_SOURCE])
        waiting = waiting.slice(some).combine_chunks()
        left = pc.value_counts(waiting[_SOURCE]).to_pylist()
        rows = dict.fromkeys(alive, 0) | {count["values"]: count["counts"] for count in left}
        if waiting.num_rows == 0:
            waiting = None


def whole_groups(tables: Iterable[pa.Table], same: Sequence[str]) -> Iterator[pa.Table]:
    """Yield sorted rows, in tables that end where one of the columns `same` changes."""
    held: pa.Table | None = None
    for table in tables:
        rows = table if held is None else pa.concat_tables([held, table])
        if rows.num_rows == 0:
            continue
        changes = pc.indices_nonzero(differ(rows, same))
        start = changes[-1].as_py() + 1 if len(changes) else 0
        if start:
            yield rows.slice(0, start).combine_chunks()
        held = rows.slice(start).combine_chunks()
    if held is not None:
        yield held


def differ(table: pa.Table, same: Sequence[str]) -> pa.Array:
    """Return for each row but the last whether the next one differs in a column; nothing equals nothing."""
    rows = table.num_rows
    found = pa.repeat(pa.scalar(False), max(0, rows - 1))  # of a type, also where there are none
    for column in same:
        values = table[column].combine_chunks()
        here, there = values.slice(0, rows - 1), values.slice(1)
        found = pc.or_(found, pc.fill_null(pc.not_equal(here, there), False))
        # Comparing with nothing gives nothing in Arrow: both nothing is equal, one alone differs.
        found = pc.or_(found, pc.xor(pc.is_null(here), pc.is_null(there)))
    return found


def once(table: pa.Table, same: Sequence[str], then: Order) -> pa.Table:
    """Return rows sorted by the columns `same`, and `then`; the last of those that are alike in `same`."""
    table = sort(table, [*ascending(same), *then]).combine_chunks()
    if table.num_rows < 2:
        return table
    # The last row has no next one: it is always kept.
    return table.filter(pa.concat_arrays([differ(table, same), pa.array([True])]))


def write_files(folder: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write rows as Parquet files of a folder: the same bytes in whatever portions they come."""
    folder.mkdir(parents=True)
    groups = _portions(tables, schema)
    for number in itertools.count():
        some = list(itertools.islice(groups, 1))
        if not some and number:
            return
        path = folder / f"part-{number}.parquet"
        with pq.ParquetWriter(path, _parquet.sealed(schema), **_parquet.WRITTEN) as writer:
            for group in itertools.chain(some, itertools.islice(groups, FILE_ROWS // GROUP_ROWS - 1)):
                writer.write_table(group, row_group_size=GROUP_ROWS)
        with path.open("rb") as stream:  # a full disk may only show when the data are really written
            os.fsync(stream.fileno())


def _portions(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield rows by as many as a group of a file has."""
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        start = 0
        while start < table.num_rows:
            # Groups of one size, whatever the portions: a file's bytes do not depend on how rows arrived.
            part = table.slice(start, GROUP_ROWS - rows).select(schema.names).cast(schema)
            start += part.num_rows
            rows += part.num_rows
            waiting.append(part)
            if rows == GROUP_ROWS:
                group, waiting, rows = pa.concat_tables(waiting).combine_chunks(), [], 0
                yield group
    if rows:
        yield pa.concat_tables(waiting).combine_chunks()
