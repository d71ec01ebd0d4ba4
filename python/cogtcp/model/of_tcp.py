"""Tables of all transports with the columns that TCP alone has beside them.

The simulator keeps what every transport has in `flows` and `packets`, and what TCP adds in `tcp_flows` and
`tcp_segments`. Folders of runs and comparisons hold these tables. `Result.flows`, `Result.packets`,
`Comparison.table` and the data sets of sweeps have the columns side by side, as cogtcp 0.2 had. A row of
another transport has no value there: NaN or an empty text in `flows`, zeros in `packets`.
"""

from __future__ import annotations

import math
from array import array
from functools import cache
from typing import TYPE_CHECKING, Any

from cogtcp import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


#: Tables that TCP adds columns to: the table of these columns, and its column that names the row.
OF_TCP = {"flows": ("tcp_flows", "flow"), "packets": ("tcp_segments", "packet")}

#: Type codes of `array` for the kinds of columns; of texts there are codes.
FORMATS = {"u64": "Q", "i64": "q", "f64": "d", "bool": "B", "text": "I"}


@cache
def columns_of_tcp(name: str) -> tuple[tuple[str, str, str, str], ...]:
    """Return the columns that TCP adds to the table `name`, as the core describes them."""
    if name not in OF_TCP:
        return ()
    other, key = OF_TCP[name]
    described = next(columns for table, _, columns in _core.columns() if table == other)
    return tuple(column for column in described if column[0] != key)


def beside(source: _core.Table, of_tcp: _core.Table) -> _core.Table:
    """Return a table of the core with the columns that TCP adds to its rows."""
    name, meaning, rows, columns = source
    _, key = OF_TCP[name]
    _, _, some, added = of_tcp
    found = [column for column in added if column[0] != key]
    # Where every row is one of TCP, both tables have the same rows in the same order.
    if some < rows:
        place = _places(source, of_tcp)
        found = [_spread(column, some, rows, place, gaps=name == "flows") for column in found]
    return name, meaning, rows, [*columns, *found]


def _places(source: _core.Table, of_tcp: _core.Table) -> Sequence[int]:
    """Return the number of the row that each row of TCP belongs to."""
    name, _, rows, columns = source
    _, key = OF_TCP[name]
    _, _, some, added = of_tcp
    *_, kind, values, dictionary = next(column for column in added if column[0] == key)
    keys = numbers(kind, values, some)
    if dictionary is None:
        return keys
    *_, all_values, names = next(column for column in columns if column[0] == key)
    # Each table has a dictionary of its own: only the texts compare, not their codes.
    row_of = {(names or [])[code]: row for row, code in enumerate(numbers("text", all_values, rows))}
    return [row_of[dictionary[code]] for code in keys]


def _spread(column: _core.Column, some: int, rows: int, place: Sequence[int], *, gaps: bool) -> _core.Column:
    """Return a column of TCP's rows as one of all rows; with `gaps` a count may be NaN."""
    name, unit, text, kind, values, dictionary = column
    own = numbers(kind, values, some)
    fill: float = 0
    if kind == "text":
        dictionary = list(dictionary or [])
        if "" not in dictionary:
            dictionary.append("")
        fill = dictionary.index("")
    elif kind == "f64" or (gaps and kind in ("u64", "i64")):
        # A whole number has no value for "none": a count becomes a float, which has NaN.
        kind, fill = "f64", math.nan
    spread = array(FORMATS[kind], [fill]) * rows
    for row, value in zip(place, own, strict=True):
        spread[row] = value
    return name, unit, text, kind, spread.tobytes(), dictionary  # type: ignore[return-value]


def numbers(kind: str, values: Any, rows: int) -> memoryview[Any]:
    """Return a column's values or codes, on its memory."""
    code = "?" if kind == "bool" else FORMATS[kind]
    # A column without rows has no memory to be seen.
    return memoryview(values if rows else b"").cast("B").cast(code)  # type: ignore[call-overload,no-any-return]


def joined(name: str, table: pa.Table, of_tcp: pa.Table | None) -> pa.Table:
    """Return the table `name` of a folder with TCP's columns; rows of others have nulls there."""
    import pyarrow as pa

    from cogtcp._arrays import array_of

    if of_tcp is None or name not in OF_TCP:
        return table
    _, key = OF_TCP[name]
    keys = of_tcp.column(key).to_pylist()
    row_of = {value: row for row, value in enumerate(keys)}
    # `packet` of a segment is the number of a row: `packets` has no such column.
    wanted = range(table.num_rows) if name == "packets" else table.column(key).to_pylist()
    places = array_of([row_of.get(value) for value in wanted], pa.int64())
    taken = of_tcp.drop_columns([key]).take(places)
    for field, column in zip(taken.schema, taken.columns, strict=True):
        table = table.append_column(field.with_nullable(column.null_count > 0), column)
    return table


def separated(name: str, table: pa.Table) -> tuple[pa.Table, pa.Table | None]:
    """Return a table without TCP's columns, and TCP's columns of its TCP rows; None: no TCP rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from cogtcp._arrays import array_of

    added = [column for column, *_ in columns_of_tcp(name) if column in table.column_names]
    own = table.drop_columns(added)
    if not added:
        return own, None
    *_, key = OF_TCP[name]
    front = [column for column in ("transport", "seed", key) if column in table.column_names]
    # The text is empty where another transport has no congestion control.
    empty = array_of([""], pa.string())[0]
    texts = pc.fill_null(table.column(added[0]).cast("string"), empty)
    rows = table.select([*front, *added]).filter(pc.not_equal(texts, empty))
    return own, rows if rows.num_rows else None
