"""Arrow arrays of Python values, made without pandas.

`pa.array` loads pandas where that is installed: 0.3 s of processor time.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

# Type codes of `array`.
_CODES = {
    pa.float64(): "d",
    pa.float32(): "f",
    pa.uint64(): "Q",
    pa.int64(): "q",
    pa.int32(): "i",
    pa.int8(): "b",
}


def array_of(values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    """Return values as Arrow; None is null.

    Args:
        values: Texts, truth values or numbers.
        kind: Type of the array.
    """
    known = list(values)
    gaps = np.fromiter((value is None for value in known), bool, len(known))
    valid = bits(~gaps) if gaps.any() else None
    if kind == pa.string():
        encoded = [b"" if value is None else value.encode() for value in known]
        # Arrow's texts of this type lie one behind the other: 32-bit offsets say where each begins.
        offsets = array("i", accumulate(map(len, encoded), initial=0))
        data = pa.py_buffer(b"".join(encoded))
        return pa.StringArray.from_buffers(len(known), pa.py_buffer(offsets), data, valid)
    if kind == pa.bool_():
        buffer = bits(np.fromiter((bool(value) for value in known), bool, len(known)))
    else:
        # A null needs a placeholder.
        numbers = [0 if value is None else value for value in known]
        buffer = pa.py_buffer(array(_CODES[kind], numbers))
    return pa.Array.from_buffers(kind, len(known), [valid, buffer])


def bits(values: Any) -> pa.Buffer:
    """Return truth values as Arrow packs them."""
    return pa.py_buffer(np.packbits(values, bitorder="little"))
