"""SQL over results of somebody else: names in them are data, and the database reaches no other file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import Scenario, UsageError
from cogtcp.model.output import MARKER
from cogtcp.running.sweeping.query import connect, query
from conftest import SMALL, Command, files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: What a name would do if it reached SQL as code: write a file into the current folder.
COPY = "COPY (SELECT 'import os' AS a) TO 'evil.py' (HEADER false)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return results of somebody else."""
    found = tmp_path / "theirs"
    found.mkdir()
    marker = {"tool": "cogtcp", "version": "0.2.0", "schema": 3, "kind": "run"}
    (found / MARKER).write_text(json.dumps(marker))
    pq.write_table(pa.table({"transport": ["sack"], "goodput_bps": [1.0]}), found / "flows.parquet")
    monkeypatch.chdir(tmp_path)
    return found


def _table(folder: Path, name: str, columns: dict[str, list[int]] | None = None) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns or {"a": [1]}), path)


PLACES: dict[str, Callable[[Path, str], None]] = {
    "file": lambda folder, name: _table(folder, f"{name}.parquet"),
    "table": lambda folder, name: _table(folder, f"data/{name}/transport=sack/part-0.parquet"),
    "transport": lambda folder, name: _table(folder, f"data/flows/transport={name}/part-0.parquet"),
    "part": lambda folder, name: _table(folder, f"data/flows/transport=sack/part-{name}.parquet"),
    "column": lambda folder, name: _table(folder, "other.parquet", {name: [1]}),
    # Columns of TCP among those of all transports, as cogtcp 0.2 wrote them, and one more.
    "column beside TCP's": lambda folder, name: _table(
        folder, "flows.parquet", {"flow": [1], "retransmitted_segments": [1], name: [1]}
    ),
}


@pytest.mark.parametrize("quote", ['"', "'", '""', "') ", '" AS SELECT 1'])
@pytest.mark.parametrize("place", PLACES)
def test_a_name_is_data(folder: Path, tmp_path: Path, place: str, quote: str) -> None:
    name = f"x{quote}; {COPY}; --".replace("/", "_")
    PLACES[place](folder, name)
    before = files(tmp_path)
    query(folder, "SELECT 1")
    assert files(tmp_path) == before


def test_the_same_on_the_command_line(command: Command, folder: Path, tmp_path: Path) -> None:
    _table(folder, f'x" AS SELECT 1; {COPY}; --.parquet')
    before = files(tmp_path)
    done = command("query", "theirs", "SELECT transport FROM flows", "--csv")
    assert done.code == 0, done
    assert "sack" in done.out
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{other}')",
        "SELECT * FROM read_csv('{other}')",
        "FROM '{other}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('{beside}')",
        "COPY flows TO '{new}'",
        "COPY (SELECT 1) TO '{new}' (FORMAT parquet)",
        "EXPORT DATABASE '{new}'",
        "ATTACH '{new}'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET allowed_paths = ['{other}']",
        "RESET lock_configuration",
    ],
)
def test_no_other_file_is_read_or_written(folder: Path, tmp_path: Path, sql: str) -> None:
    (tmp_path / "secret.csv").write_text("secret\n1\n")
    _table(tmp_path, "secret.parquet")
    before = files(tmp_path)
    places = {
        "other": tmp_path / "secret.csv", "beside": tmp_path / "secret.parquet", "folder": tmp_path,
        "new": tmp_path / "new",
    }  # fmt: skip
    with pytest.raises(UsageError) as caught:
        query(folder, sql.format(**places))
    assert "1\n" not in str(caught.value)
    assert files(tmp_path) == before


def test_no_variable_of_the_process_is_a_table(folder: Path) -> None:
    secret = pa.table({"a": [1]})
    assert secret.num_rows
    with pytest.raises(UsageError, match="secret"):
        query(folder, "SELECT * FROM secret")
    connection = connect(folder)
    with pytest.raises(Exception, match="secret"):
        connection.sql("SELECT * FROM secret")


def test_names_of_folders_are_no_patterns(tmp_path: Path) -> None:
    """Brackets and stars in the name of the folder are part of the name."""
    scenario = Scenario.from_toml(SMALL).set("run.duration", "1 s")
    for name in ("a[1]*?", "it's", 'a"b', "a=b"):
        out = tmp_path / name / "swept"
        cogtcp.sweep(scenario, transports=["sack"], seeds=2, out=out)
        assert query(out, "SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 2}], name
