"""Runs of many flows: what is shown of them is bounded, what is kept is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from cogtcp.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FLOWS = 1200


def test_the_terminal_and_the_marker_take_no_thousands_of_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many = ["flow.0.count", "topology.dumbbell.pairs"]
    sets = [f"{path}={FLOWS}" for path in many] + ['run.duration="200 ms"']
    assert (
        main(
            [
                "run",
                "dumbbell-bench",
                *(part for each in sets for part in ("--set", each)),
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert f"{FLOWS - 100:,} more rows are in the results." in printed
    assert len(printed.splitlines()) < 250
    marker = json.loads((tmp_path / "out/cogtcp.json").read_text())
    assert marker["only_in_files"] == ["flows.parquet", "links.parquet"]
    assert "flows" not in marker
    assert marker["metrics"]["goodput_bps"] > 0
    assert pq.read_table(tmp_path / "out/flows.parquet").num_rows == FLOWS  # type: ignore[no-untyped-call]
