"""Arrow tables laid over the columns of a run without a copy.

Truth values are the exception: Arrow packs them in bits.
"""

from __future__ import annotations

from array import array
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cogtcp._arrays import array_of, bits
from cogtcp.model.of_tcp import columns_of_tcp

if TYPE_CHECKING:
    from cogtcp import _core

# Type codes of `array` for the kinds of columns.
_CODES = {"u64": "Q", "i64": "q", "f64": "d", "bool": "B", "text": "I"}
_NUMBERS = {"u64": pa.uint64(), "i64": pa.int64(), "f64": pa.float64()}


def table(source: _core.Table) -> pa.Table:
    """Return one table of a run as Arrow; units and meanings are in the metadata of its fields."""
    _, meaning, rows, columns = source
    arrays = [_array(column, rows) for column in columns]
    fields = [
        pa.field(name, array.type, nullable=False, metadata={"unit": unit, "meaning": text})
        for (name, unit, text, *_), array in zip(columns, arrays, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"meaning": meaning}))


def from_columns(name: str, columns: dict[str, list[Any]]) -> pa.Table:
    """Return a table of a run as `table` does, from lists by column (`Result.columns`)."""
    meaning, described = _schema(name)
    # TCP's columns too, as far as the lists have them.
    described = [*described, *(column for column in columns_of_tcp(name) if column[0] in columns)]
    sources: list[_core.Column] = []
    rows = 0
    for column, kind, unit, text in described:
        values, dictionary = columns[column], None
        rows = len(values)
        if kind != "text" and any(isinstance(value, float) for value in values):
            kind = "f64"  # a count that some rows do not have
        if kind == "text":
            dictionary = list(dict.fromkeys(values))
            codes = {value: code for code, value in enumerate(dictionary)}
            values = [codes[value] for value in values]
        sources.append((column, unit, text, kind, array(_CODES[kind], values), dictionary))  # type: ignore[arg-type]
    return table((name, meaning, rows, sources))


@cache
def _schema(name: str) -> tuple[str, list[tuple[str, str, str, str]]]:
    from cogtcp import _core

    return next((meaning, columns) for table, meaning, columns in _core.columns() if table == name)


def _array(column: _core.Column, rows: int) -> Any:
    name, _, _, kind, values, dictionary = column
    buffers = [None, pa.py_buffer(values)]
    if kind == "text":
        # The codes are unsigned, but far below 2^31, and signed codes are what every Arrow reader takes.
        codes = pa.Array.from_buffers(pa.int32(), rows, buffers)
        return pa.DictionaryArray.from_arrays(codes, array_of(dictionary or [], pa.string()))
    if kind == "bool":
        # `.cast` would do, but it loads pyarrow.compute: a twentieth of a run's processor time.
        packed = bits(np.frombuffer(memoryview(values), dtype=np.uint8, count=rows))
        return pa.Array.from_buffers(pa.bool_(), rows, [None, packed])
    if kind in _NUMBERS:
        return pa.Array.from_buffers(_NUMBERS[kind], rows, buffers)
    raise AssertionError(f"column {name} is of unknown kind {kind}")


def numbers(column: pa.ChunkedArray | pa.Array) -> Any:
    """Return a column of numbers without gaps as a NumPy array on the same memory.

    As `to_numpy`, which loads pandas where that is installed.
    """
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    dtype = {"double": "f8", "float": "f4"}.get(str(whole.type)) or str(whole.type)
    if len(whole) == 0:
        # An array without rows may have no buffer.
        return np.zeros(0, dtype)
    return np.frombuffer(whole.buffers()[1], dtype=dtype)[whole.offset : whole.offset + len(whole)]
