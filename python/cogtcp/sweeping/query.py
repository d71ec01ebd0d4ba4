"""SQL over finished results, by DuckDB (the extra `query`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp.of_tcp import OF_TCP, columns_of_tcp
from cogtcp.results_schema import renamed, renamed_table, version_of
from cogtcp.sweeping import dataset
from cogtcp.sweeping.folders import manifest

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def connect(folder: Path) -> Any:
    """Return a DuckDB connection with a view for each table of a folder.

    Raises:
        UsageError: The folder has no results, or DuckDB is not installed.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise UsageError(
            "query needs DuckDB, which is not installed; install it with: pip install 'cogtcp[query]'"
        ) from None
    version = version_of(manifest(folder), folder)
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    for name in dataset.tables(folder):
        pattern = _text(str(folder.resolve() / dataset.DATA / name / "*" / "*.parquet"))
        # No guessing of types: a transport called `1` stays a text. Files of sweeps with more axes have more
        # columns.
        options = "hive_partitioning = true, union_by_name = true, hive_types_autocast = false"
        view = renamed_table(name, version)
        connection.execute(f'CREATE VIEW "{view}" AS FROM read_parquet({pattern}, {options})')
    for path in sorted(folder.glob("*.parquet")):
        if path.stem not in dataset.tables(folder):
            pattern = _text(str(path.resolve()))
            view = renamed_table(path.stem, version)
            names = renamed(view, pq.read_schema(path).names, version)
            columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
            connection.execute(f'CREATE VIEW "{view}" ({columns}) AS FROM read_parquet({pattern})')
    _add_of_tcp(connection)
    return connection


def _add_of_tcp(connection: Any) -> None:
    """Add TCP's tables if their columns are in the tables of all transports: data sets, folders of 0.2."""
    known = {name for (name,) in connection.execute("SELECT view_name FROM duckdb_views()").fetchall()}
    for name, (other, key) in OF_TCP.items():
        if name not in known or other in known:
            continue
        there = [row[0] for row in connection.execute(f'DESCRIBE "{name}"').fetchall()]
        added = [column for column, *_ in columns_of_tcp(name) if column in there]
        if added:
            own = {column for table, _, columns in _core.columns() if table == name for column, *_ in columns}
            # Axes and seed go along: they belong to neither table's own columns.
            front = [column for column in there if column == key or column not in {*own, *added}]
            columns = ", ".join(f'"{column}"' for column in [*front, *added])
            has = f'"{added[0]}" IS NOT NULL'
            connection.execute(f'CREATE VIEW "{other}" AS FROM "{name}" SELECT {columns} WHERE {has}')


def query(folder: Path, sql: str) -> pa.Table:
    """Return the answer to a question in SQL as an Arrow table.

    Raises:
        UsageError: The question makes no sense to DuckDB, or as for `connect`.
    """
    connection = connect(folder)
    import duckdb

    try:
        found: pa.Table = connection.sql(sql).to_arrow_table()
    except duckdb.Error as error:
        views = [
            row[0]
            for row in connection.execute(
                "SELECT view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        ]
        raise UsageError(f"{error}\nThe tables: {', '.join(sorted(views))}") from None
    finally:
        connection.close()
    return found


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
