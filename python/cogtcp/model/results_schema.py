"""The version of folders of results, and what older ones call things.

A folder's marker file has the version of its format: `schema`. A folder without it was written by cogtcp 0.1,
which is version 1. A change that renames a table or a column raises `RESULTS_SCHEMA` and lists the old name
here; added or removed columns need nothing. Version 3 has the columns of TCP in tables of their own, which
`of_tcp` joins and splits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

#: The version that this cogtcp writes.
RESULTS_SCHEMA = 4

#: What each version called tables that have another name since: version, then old name and new.
RENAMED_TABLES: dict[int, dict[str, str]] = {3: {"ways": "streams", "places": "positions"}}

#: What each version called columns that have another name since: version, table of today, old name and new.
RENAMED: dict[int, dict[str, dict[str, str]]] = {
    1: {
        "predictions": {"foretold_start_s": "predicted_start_s", "foretold_end_s": "predicted_end_s"},
    },
    3: {"streams": {"path_changes": "rerouted_packets"}},
}


def version_of(manifest: Mapping[str, Any], folder: str | Path) -> int:
    """Return the version by which a folder was written, from what its marker file says.

    Raises:
        UsageError: A newer cogtcp wrote it.
    """
    version = manifest.get("schema", 1)
    # JSON's `true` is a whole number to Python.
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UsageError(f"{folder}: its cogtcp.json has no version of results (schema = {version!r})")
    if version > RESULTS_SCHEMA:
        by = manifest.get("version", "?")
        raise UsageError(
            f"{folder}: was made by a newer cogtcp ({by}): its results have schema {version}, and this one "
            f"reads up to {RESULTS_SCHEMA}; update cogtcp"
        )
    return version


def renamed_table(name: str, version: int) -> str:
    """Return what the table that `version` called `name` is called today."""
    for step in range(version, RESULTS_SCHEMA):
        name = RENAMED_TABLES.get(step, {}).get(name, name)
    return name


def stored(name: str, version: int) -> str:
    """Return what `version` called the table that is called `name` today."""
    for step in reversed(range(version, RESULTS_SCHEMA)):
        name = {new: old for old, new in RENAMED_TABLES.get(step, {}).items()}.get(name, name)
    return name


def renamed(name: str, columns: list[str], version: int) -> list[str]:
    """Return what the columns of the table `name`, written by `version`, are called today."""
    for step in range(version, RESULTS_SCHEMA):
        new = RENAMED.get(step, {}).get(name, {})
        columns = [new.get(column, column) for column in columns]
    return columns


def modern(name: str, table: pa.Table, version: int) -> pa.Table:
    """Return the table `name`, written by `version`, with the names that its columns have today."""
    if version == RESULTS_SCHEMA:
        return table
    return table.rename_columns(renamed(name, table.column_names, version))
