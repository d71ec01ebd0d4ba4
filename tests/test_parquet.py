"""Parquet files that are written without Arrow: every reader sees what Arrow's own table of the run says."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp import Scenario, _core, _parquet, run
from cogtcp.model import _arrow

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["sensed-link", "adhoc-cr", "bonded", "train-journey"])
def test_files_of_a_run_say_what_its_tables_say(tmp_path: Path, name: str) -> None:
    result = run(Scenario.shipped(name).set("run.duration", "5 s").set("run.warmup", "0 s"))
    result.save(tmp_path / "out")
    for table, source in result._sources.items():
        if table == "packets":
            continue
        expected = _arrow.table(source)
        found = _parquet.table(tmp_path / "out" / f"{table}.parquet")
        assert found.schema.metadata[b"meaning"] == expected.schema.metadata[b"meaning"]
        fields = zip(found.schema, expected.schema, strict=True)
        assert all(one.equals(other, check_metadata=True) for one, other in fields), table
        assert repr(found.to_pydict()) == repr(expected.to_pydict()), table


def written(path: Path, rows: int, columns: list[Any]) -> Path:
    path.write_bytes(_core.parquet_file(rows, columns, [("key", "value")]))
    return path


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
#: Of 300 texts and more a code takes more than a byte.
MANY = [f"text {number}" for number in range(700)]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(),
            TEXTS | st.sampled_from(MANY), st.none() | TEXTS, st.none() | st.floats(allow_nan=False),
        ),
        max_size=100,
    )
)  # fmt: skip
def test_every_value_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    path = tmp_path_factory.mktemp("files") / "all.parquet"
    counts, numbers, floats, truths, texts, gaps, holes = ([row[i] for row in rows] for i in range(7))
    names = [*dict.fromkeys([*texts, *MANY])]
    plain = [*dict.fromkeys(text for text in gaps if text is not None)]
    columns = [
        ("counts", "u64", array("Q", counts), None, [], None),
        ("numbers", "i64", array("q", numbers), None, [("unit", "s")], None),
        ("floats", "f64", array("d", floats), None, [], None),
        ("truths", "bool", bytes(truths), None, [], None),
        ("texts", "text", array("I", map(names.index, texts)), names, [], None),
        (
            "gaps", "plain", array("I", [plain.index(each) if each is not None else 0 for each in gaps]),
            plain, [],
            (bytes(each is not None for each in gaps),),
        ),
        (
            "holes", "f64", array("d", [each or 0.0 for each in holes]), None, [],
            (bytes(each is not None for each in holes),),
        ),
    ]  # fmt: skip
    found = pq.read_table(written(path, len(rows), columns))
    expected = dict(
        zip(found.column_names, (counts, numbers, floats, truths, texts, gaps, holes), strict=True)
    )
    assert repr(found.to_pydict()) == repr(
        {**expected, "holes": [None if h is None else h or 0.0 for h in holes]}
    )
    assert found.schema.field("texts").type == pa.dictionary(pa.int32(), pa.string())
    assert found.schema.field("gaps").type == pa.string()
    assert [field.nullable for field in found.schema] == [False] * 5 + [True] * 2
    assert found.schema.field("numbers").metadata == {b"unit": b"s"}
    assert found.schema.metadata == {b"key": b"value"}


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1000])
def test_duckdb_and_polars_read_the_same(tmp_path: Path, rows: int) -> None:
    values = {
        "count": [2**64 - 1 - row for row in range(rows)],
        "float": [row / 3 for row in range(rows)],
        "truth": [row % 3 == 0 for row in range(rows)],
        "text": [MANY[row % 700] for row in range(rows)],
        "one": ["same"] * rows,
        "hole": [None if row % 5 == 0 else float(row) for row in range(rows)],
    }
    columns = [
        ("count", "u64", array("Q", values["count"]), None, [], None),
        ("float", "f64", array("d", values["float"]), None, [], None),
        ("truth", "bool", bytes(values["truth"]), None, [], None),
        ("text", "text", array("I", [row % 700 for row in range(rows)]), MANY, [], None),
        ("one", "text", array("I", [0] * rows), ["same"], [], None),
        (
            "hole", "f64", array("d", [each or math.pi for each in values["hole"]]), None, [],
            (bytes(each is not None for each in values["hole"]),),
        ),
    ]  # fmt: skip
    path = written(tmp_path / "some.parquet", rows, columns)
    assert polars.read_parquet(path).to_dict(as_series=False) == values
    found = duckdb.read_parquet(str(path)).fetchall()
    assert found == [*zip(*values.values(), strict=True)]


def test_damage_of_a_page_is_noticed(tmp_path: Path) -> None:
    numbers = array("d", [number / 7 for number in range(200)])
    path = written(tmp_path / "some.parquet", 200, [("float", "f64", numbers, None, [], None)])
    whole = path.read_bytes()
    for place in range(60, 400, 20):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(_parquet.DamagedError):
            _parquet.table(path)


def test_a_column_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes has 8"):
        _core.parquet_file(2, [("float", "f64", array("d", [1.0]), None, [], None)], [])
