"""Parquet files of results, which anybody may have written or a disk may have damaged."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cogtcp._errors import CogtcpError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from cogtcp import _core


#: How results are written. Pages have checksums: damage that still decompresses is noticed, too.
WRITTEN: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}

#: A longer table is written by Arrow, whose files are then smaller. Loading Arrow takes longer than these do.
MOST_ROWS = 65_536

# In a file's foot, which has no checksum of its own.
_SEAL = b"cogtcp.columns"


def sealed(schema: pa.Schema) -> pa.Schema:
    """Return a schema with a checksum of its columns, so that damage to their names is noticed."""
    return schema.with_metadata({**(schema.metadata or {}), _SEAL: _checksum(schema)})


def is_sealed(schema: pa.Schema) -> bool:
    """Return whether the columns of a file are those that were written; true for files without a checksum."""
    return bool((schema.metadata or {}).get(_SEAL, _checksum(schema)) == _checksum(schema))


def _checksum(schema: pa.Schema) -> bytes:
    columns = "\0".join(f"{field.name} {field.type}" for field in schema)
    return b"%08x" % zlib.crc32(columns.encode())


def columns_of(source: _core.Table) -> tuple[int, list[_core.ParquetColumn], str]:
    """Return rows, columns and meaning of a table of a run, for a file with the schema of Arrow's table."""
    _, meaning, rows, columns = source
    described: list[_core.ParquetColumn] = [
        (name, kind, values, dictionary, [("unit", unit), ("meaning", text)], None)
        for name, unit, text, kind, values, dictionary in columns
    ]
    return rows, described, meaning


class DamagedError(UsageError):
    """A file of results is missing, damaged, or holds something else than it should."""


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Report what goes wrong with one file of results as the error of that file."""
    import pyarrow as pa

    try:
        yield
    # Arrow reports damage also as `OSError` without a number, and texts that are no UTF-8 as `ValueError`.
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        if isinstance(error, DamagedError):
            raise
        raise damaged(path, getattr(error, "strerror", None) or error) from None


def damaged(path: Path, reason: object) -> DamagedError:
    """Return the error of a damaged file."""
    first = " ".join(str(reason).split())
    return DamagedError(f"{path}: cannot be read: {first[:200]}; make the results again")


@contextmanager
def of_folders(*folders: Path) -> Iterator[None]:
    """Report what goes wrong with results that hold something else than they should, as one clear error.

    Names of files, values in JSON and columns may be anything: somebody else wrote them.
    """
    import pyarrow as pa

    try:
        yield
    except CogtcpError:
        raise
    except (pa.ArrowException, ArithmeticError, AttributeError, LookupError, OSError, RecursionError,
            TypeError, ValueError) as error:  # fmt: skip
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise UsageError(
            f"{', '.join(map(str, folders))}: holds results that cannot be read ({what}); make them again"
        ) from error


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file; raise `DamagedError` for what goes wrong while it is open."""
    import pyarrow.parquet as pq

    with guarded(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file


def table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a file's rows. Raises `DamagedError`."""
    with opened(path) as file:
        found = file.read(columns=None if columns is None else list(columns))
        found.validate(full=True)
    missing = [name for name in columns or () if name not in found.column_names]
    if missing:
        raise damaged(path, f"it has no column {missing[0]!r}")
    return found


def schema(path: Path) -> pa.Schema:
    """Return a file's columns. Raises `DamagedError`."""
    with opened(path) as file:
        return file.schema_arrow


def metadata(path: Path) -> Any:
    """Return what the foot of a file says. Raises `DamagedError`."""
    with opened(path) as file:
        return file.metadata
