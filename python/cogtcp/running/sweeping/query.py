"""SQL over finished results, by DuckDB (the extra `query`).

Results may be somebody else's: names of files, folders and columns are hostile input. Each goes into SQL
through `_name` or `_text`. The database can read the results' own files and nothing else of the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp import _core, _parquet
from cogtcp._errors import UsageError
from cogtcp.model.of_tcp import OF_TCP, columns_of_tcp
from cogtcp.model.results_schema import renamed, renamed_table, version_of
from cogtcp.running.sweeping import dataset
from cogtcp.running.sweeping.folders import manifest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa


def connect(folder: Path) -> Any:
    """Return a DuckDB connection with a view for each table of a folder.

    It has no access to other files, and cannot be given any: its configuration is locked.

    Raises:
        UsageError: The folder has no results, one of its files is damaged, or DuckDB is not installed.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise UsageError(
            "query needs DuckDB, which is not installed; install it with: pip install 'cogtcp[query]'"
        ) from None
    version = version_of(manifest(folder), folder)
    # The folder may be a link; nothing below it is one.
    real = folder.resolve()
    views: dict[str, tuple[list[str], str]] = {}
    files: list[str] = []
    for name in dataset.tables(real):
        paths = [path for _, path in dataset.files(real, name)]
        for path in paths:
            _parquet.schema(path)
        # No guessing of types: a transport called `1` stays a text. Files of sweeps with more axes have more
        # columns.
        options = "hive_partitioning = true, union_by_name = true, hive_types_autocast = false"
        if paths:
            views[renamed_table(name, version)] = ([], f"read_parquet({_list(paths)}, {options})")
        files += map(str, paths)
    for path in sorted(real.glob("*.parquet")):
        if path.stem not in dataset.tables(real):
            view = renamed_table(path.stem, version)
            names = renamed(view, _parquet.schema(path).names, version)
            views[view] = (names, f"read_parquet({_list([path])})")
            files.append(str(path))
    connection = duckdb.connect()
    try:
        connection.execute("SET enable_progress_bar = false")
        # Else a name in SQL that is no table would be looked for among this process's variables.
        connection.execute("SET python_enable_replacements = false")
        connection.execute(f"SET allowed_paths = {_list(files)}")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        for view, (names, source) in views.items():
            columns = f"({', '.join(map(_name, names))})" if names else ""
            connection.execute(f"CREATE VIEW {_name(view)} {columns} AS FROM {source}")
        _add_of_tcp(connection)
    except duckdb.Error as error:
        connection.close()
        raise UsageError(f"{folder}: its tables cannot be read: {error}") from None
    return connection


def _add_of_tcp(connection: Any) -> None:
    """Add TCP's tables if their columns are in the tables of all transports: data sets, folders of 0.2."""
    known = {name for (name,) in connection.execute("SELECT view_name FROM duckdb_views()").fetchall()}
    for name, (other, key) in OF_TCP.items():
        if name not in known or other in known:
            continue
        there = [row[0] for row in connection.execute(f"DESCRIBE {_name(name)}").fetchall()]
        added = [column for column, *_ in columns_of_tcp(name) if column in there]
        if added:
            own = {column for table, _, columns in _core.columns() if table == name for column, *_ in columns}
            # Axes and seed go along: they belong to neither table's own columns.
            front = [column for column in there if column == key or column not in {*own, *added}]
            columns = ", ".join(map(_name, [*front, *added]))
            has = f"{_name(added[0])} IS NOT NULL"
            connection.execute(
                f"CREATE VIEW {_name(other)} AS FROM {_name(name)} SELECT {columns} WHERE {has}"
            )


def query(folder: Path, sql: str) -> pa.Table:
    """Return the answer to a question in SQL as an Arrow table.

    Raises:
        UsageError: The question makes no sense to DuckDB, or as for `connect`.
    """
    connection = connect(folder)
    import duckdb

    try:
        relation = connection.sql(sql)
        if relation is None:
            raise UsageError("this statement has no rows to show; write a SELECT")
        found: pa.Table = relation.to_arrow_table()
    except duckdb.PermissionException as error:
        raise UsageError(
            f"{error}\n`cogtcp query` reads the results in {folder} alone; for other files use DuckDB itself"
        ) from None
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


def _list(values: Iterable[object]) -> str:
    """Return texts as a list in SQL."""
    return f"[{', '.join(_text(str(value)) for value in values)}]"


def _text(value: str) -> str:
    """Return a text as a literal in SQL."""
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    """Return a name of a table or column as an identifier in SQL."""
    return '"' + value.replace('"', '""') + '"'
