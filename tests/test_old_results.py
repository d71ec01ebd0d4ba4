"""Folders and scenarios of other versions: 0.1 and 0.2 are read, a newer cogtcp refused clearly."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import Scenario, UsageError, _core
from cogtcp.cli import main
from cogtcp.model import results_schema
from cogtcp.running.sweeping.folders import manifest
from cogtcp.showing.plot.saved import Saved

OLD = Path(__file__).parent / "data" / "results-0.1"


def test_the_tables_of_version_0_1_have_the_names_of_today() -> None:
    saved = Saved(OLD / "run")
    assert (saved.kind, saved.version) == ("run", 1)
    assert saved.table("flows").column("flow").to_pylist() == ["download1", "upload"]
    predictions = saved.table("predictions")
    today = {name for name, _, _, _ in _columns("predictions")}
    assert set(predictions.column_names) <= today
    assert any(value is not None for value in predictions.column("predicted_start_s").to_pylist())
    # Everything else that 0.1 wrote and that is named today still bears its name.
    assert {"time_s", "goodput_bps"} <= set(saved.table("flow_series").column_names)


def _columns(table: str) -> list[tuple[str, str, str, str]]:
    return next(columns for name, _, columns in _core.columns() if name == table)


def test_the_verbs_read_version_0_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", str(OLD / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == "0.1.0"
    assert main(["plot", str(OLD / "run"), "--kind", "timeline", "--out", str(tmp_path / "t.svg")]) == 0
    assert main(["plot", str(OLD / "compare"), "--kind", "bars", "--out", str(tmp_path / "b.svg")]) == 0
    capsys.readouterr()
    merged = tmp_path / "merged"
    assert main(["merge", str(OLD / "compare"), str(OLD / "run"), "--out", str(merged)]) == 0
    assert manifest(merged)["schema"] == results_schema.RESULTS_SCHEMA


def test_questions_use_the_names_of_today() -> None:
    pytest.importorskip("duckdb")
    from cogtcp.running.sweeping.query import query

    found = query(OLD / "run", "SELECT count(predicted_start_s) AS n FROM predictions")
    assert found.column("n").to_pylist()[0] > 0


def test_the_tables_of_version_3_have_the_names_of_today(tmp_path: Path) -> None:
    folder = _newer(tmp_path, schema=3)
    ways = pa.table({"flow": ["f1"], "stream": ["data"], "path_changes": [2]})
    pq.write_table(ways, folder / "ways.parquet")
    assert Saved(folder).table("streams").column("rerouted_packets").to_pylist() == [2]
    assert Saved(folder).count("streams") == 1
    assert Saved(folder).count("positions") == 0
    pytest.importorskip("duckdb")
    from cogtcp.running.sweeping.query import query

    assert query(folder, "SELECT rerouted_packets AS n FROM streams").column("n").to_pylist() == [2]


def test_a_scenario_of_version_0_1_runs_and_is_brought_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    text = "# my own words\n" + (OLD / "compare" / "scenario.toml").read_text()
    file.write_bytes(text.replace("\n", "\r\n").encode())
    assert main(["check", str(file)]) == 0
    capsys.readouterr()
    assert main(["check", "--migrate", str(file)]) == 0
    assert "schema = 1" in capsys.readouterr().out
    assert file.read_bytes() == text.replace("\n", "\r\n").encode()  # only shown
    assert main(["check", "--migrate", "--in-place", str(file)]) == 0
    new = file.read_bytes().decode()
    assert new.startswith("# my own words\r\nschema = 1\r\n")
    assert new.replace("schema = 1\r\n", "") == text.replace("\n", "\r\n")
    assert "brought up to date" in capsys.readouterr().out
    assert main(["check", "--migrate", "--in-place", str(file)]) == 0
    assert "was up to date" in capsys.readouterr().out
    assert main(["check", "--in-place", str(file)]) == 2


OLD_SCENARIOS = sorted((Path(__file__).parent / "data" / "scenarios-0.2").glob("*.toml"))
SHIPPED = Path(cogtcp.__file__).parent / "scenarios"


@pytest.mark.parametrize("old", OLD_SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_of_version_0_2_is_brought_up_to_date_and_says_the_same(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("maps", "released", "traces"):
        (tmp_path / folder).symlink_to(SHIPPED / folder)
    before = tmp_path / "before.toml"
    before.write_bytes(old.read_bytes())
    after = tmp_path / "after.toml"
    after.write_bytes(old.read_bytes())
    assert main(["check", "--migrate", "--in-place", str(after)]) == 0
    asked = [str(warning) for warning in Scenario.from_file(before).warnings() if "access" in str(warning)]
    # Only the MAC of a CR user is asked for, and the migrated file names today's default.
    assert bool(asked) is (old.stem in ("cr-as-released", "cr-single-hop", "cr-users"))
    assert Scenario.from_file(after).warnings() == []
    assert Scenario.from_file(after).hash == Scenario.from_file(before).hash
    lines = before.read_text().splitlines()
    added = [line for line in after.read_text().splitlines() if line not in lines]
    assert set(added) <= {"schema = 1", 'access = "dcf"'}
    assert bool(asked) is ('access = "dcf"' in added)
    capsys.readouterr()


def _newer(tmp_path: Path, **marker: Any) -> Path:
    folder = tmp_path / "newer"
    shutil.copytree(OLD / "run", folder)
    found = json.loads((folder / "cogtcp.json").read_text())
    (folder / "cogtcp.json").write_text(json.dumps({**found, **marker}))
    return folder


def test_what_a_newer_cogtcp_wrote_is_refused(tmp_path: Path) -> None:
    folder = _newer(tmp_path, schema=99, version="7.0")
    for read in (Saved, manifest):
        with pytest.raises(UsageError, match=r"newer cogtcp \(7\.0\).*schema 99.*update cogtcp"):
            read(folder)


def test_a_version_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no version of results"):
        manifest(_newer(tmp_path, schema="old"))
