"""The tables of a comparison as its folder holds them.

Made without Arrow: to load it takes as much processor time as five runs of a short scenario.
"""

from __future__ import annotations

from array import array
from itertools import compress
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp.model.of_tcp import FORMATS, OF_TCP, columns_of_tcp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cogtcp._core import ParquetColumn
    from cogtcp.running.compare import Outcome

#: Columns and number of rows of a file, and what the table is about.
File = tuple[int, list["ParquetColumn"], str]


def of_lists(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, str]) -> File:
    """Return a table of lists by column, None for null. Columns whose kind is not named are texts."""
    rows = max(map(len, columns.values()), default=0)
    return rows, [_nullable(name, kinds.get(name, "plain"), values) for name, values in columns.items()], ""


def of_runs(name: str, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, File]]:
    """Yield the files that have the table `name` of the runs: the table, and what TCP adds to its rows."""
    done = [outcome for outcome in outcomes if not outcome.error]
    counts = [outcome.count(name) for outcome in done]
    rows = sum(counts)
    if not done:
        yield name, (0, [], "")
        return
    each_row = [outcome for outcome, count in zip(done, counts, strict=True) for _ in range(count)]
    transports = [outcome.transport for outcome in each_row]
    seeds = [outcome.seed for outcome in each_row]
    meaning, described = next((text, columns) for table, text, columns in _core.columns() if table == name)

    def column(described: tuple[str, str, str, str], kept: Sequence[bool] | None = None) -> ParquetColumn:
        title, kind, unit, text = described
        parts = [outcome.columns[name].get(title) for outcome in done]
        values = [
            value for part, count in zip(parts, counts, strict=True) for value in part or [None] * count
        ]
        if kind != "text" and any(isinstance(value, float) for value in values):
            kind = "f64"  # a count that some rows do not have
        if kept is not None:
            values = list(compress(values, kept))
        about = [("unit", unit), ("meaning", text)]
        if kind == "text":
            return title, kind, *_coded(values), about, None
        return title, kind, array(FORMATS[kind], values), None, about, None

    def named(kept: Sequence[bool] | None = None) -> list[ParquetColumn]:
        return [
            _nullable(title, kind, values if kept is None else list(compress(values, kept)))
            for title, kind, values in (("transport", "plain", transports), ("seed", "i64", seeds))
        ]

    own = [column(each) for each in described if each[0] != "transport"]
    yield name, (rows, [*named(), *own], meaning)
    added = [
        each for each in columns_of_tcp(name) if any(each[0] in outcome.columns[name] for outcome in done)
    ]
    if not added:
        return
    of_tcp, key = OF_TCP[name]
    # Empty where another transport has no congestion control.
    kept = [
        bool(text)
        for outcome, count in zip(done, counts, strict=True)
        for text in outcome.columns[name].get(added[0][0]) or [""] * count
    ]
    if any(kept):
        of_key = next(each for each in described if each[0] == key)
        columns = [*named(kept), *(column(each, kept) for each in (of_key, *added))]
        yield of_tcp, (sum(kept), columns, meaning)


def _nullable(name: str, kind: str, values: Sequence[Any]) -> ParquetColumn:
    known = bytes(value is not None for value in values)
    nulls = (None,) if all(known) else (known,)
    if kind == "plain":
        return name, kind, *_coded(["" if value is None else value for value in values]), [], nulls
    return (
        name,
        kind,
        array(FORMATS[kind], [0 if value is None else value for value in values]),
        None,
        [],
        nulls,
    )


def _coded(texts: Sequence[str]) -> tuple[array[int], list[str]]:
    """Return texts as codes into a dictionary."""
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return array("I", [codes[text] for text in texts]), list(codes)
