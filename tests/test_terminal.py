"""Tables on the terminal: nothing is left out of them, whatever the width of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cogtcp
from cogtcp import Scenario
from cogtcp.cli import show, terminal

if TYPE_CHECKING:
    import pytest

HEADINGS = ["Transport", "Goodput\nMbit/s", "vs newreno", *(f"Column {number}" for number in range(8))]
ROWS = [
    ["newreno", "2.90 ± 0.20", "", *("1.5",) * 8],
    ["sack", "10.1 ± 1.5", "+7.2 ± 1.1", *("12.5",) * 8],
    ["cubic", "10.500", "-", *("–",) * 8],
]


def test_columns_without_room_follow_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "_WIDTH_OF_FILES", 60)
    show.print_table("Title", HEADINGS, ROWS, left=1)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 60
    assert out.count("Title") == 1
    for number in range(8):
        assert f"Column {number}" in out
    blocks = out.count("Transport")
    assert blocks == out.count("sack") == 3, "each block has the names"
    assert out.count("12.5") == 8


def test_columns_with_room_are_one_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "_WIDTH_OF_FILES", 150)
    show.print_table("Title", HEADINGS, ROWS, left=1)
    assert capsys.readouterr().out.count("Transport") == 1


def test_plus_minus_signs_stand_one_below_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_table("Title", HEADINGS[:2], [row[:2] for row in ROWS], left=1)
    lines = capsys.readouterr().out.splitlines()
    assert len({line.index("±") for line in lines if "±" in line}) == 1
    # A value without an interval ends where the others' means do.
    (alone,) = [line for line in lines if line.lstrip().startswith("cubic")]
    (other,) = [line for line in lines if "10.1" in line]
    assert alone.index("10.500") + len("10.500") == other.index("10.1") + len("10.1")


def test_a_comparison_shows_all_its_columns_at_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = Scenario.shipped("sensed-link").set("run.duration", "2 s").set("run.warmup", "0 s")
    compared = cogtcp.compare(scenario, ["newreno", "sack"], seeds=2)
    monkeypatch.setattr(terminal, "_WIDTH_OF_FILES", 80)
    show.comparison(compared)
    out = capsys.readouterr().out
    assert all(heading in out for heading in ("RTT", "Drops", "retransmits", "Efficiency"))
