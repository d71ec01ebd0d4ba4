"""Arrow tables laid over the columns of a run without a copy.

Truth values are the exception: Arrow packs them in bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from cogtcp import _core

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


def _array(column: _core.Column, rows: int) -> Any:
    name, _, _, kind, values, dictionary = column
    buffers = [None, pa.py_buffer(values)]
    if kind == "text":
        # The codes are unsigned, but far below 2^31, and signed codes are what every Arrow reader takes.
        codes = pa.Array.from_buffers(pa.int32(), rows, buffers)
        return pa.DictionaryArray.from_arrays(codes, pa.array(dictionary, pa.string()))
    if kind == "bool":
        return pa.Array.from_buffers(pa.uint8(), rows, buffers).cast(pa.bool_())
    if kind in _NUMBERS:
        return pa.Array.from_buffers(_NUMBERS[kind], rows, buffers)
    raise AssertionError(f"column {name} is of unknown kind {kind}")
