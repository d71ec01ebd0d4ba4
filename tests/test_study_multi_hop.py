"""The study mswim09-multi-hop: its own test, by hand."""

import math
from dataclasses import dataclass
from typing import Any

import pytest

from cogtcp.studies import code, folder

STUDY, _ = folder.find("mswim09-multi-hop")
difference_grows = code.function(STUDY, "tests", "difference_grows")


@dataclass(frozen=True)
class Point:
    model: str
    flows: float


@dataclass(frozen=True)
class Cell:
    values: list[float]

    def of(self, quantity: str) -> list[float]:
        assert quantity == "goodput_kbps"
        return self.values


@dataclass(frozen=True)
class Statement:
    quantity: str = "goodput_kbps"


def grown(off: dict[int, list[float]], on: dict[int, list[float]]) -> Any:
    grid = {Point("off", flows): Cell(values) for flows, values in off.items()}
    grid |= {Point("on", flows): Cell(values) for flows, values in on.items()}
    return difference_grows(Statement(), grid, None)


def test_growth_of_the_difference_by_hand() -> None:
    """Differences 100, 110, 90 at 2 flows and 180, 210, 210 at 8: growth 0.2, 0.25, 0.3 of 400."""
    off = {2: [300.0, 310.0, 290.0], 4: [0.0] * 3, 8: [380.0, 410.0, 410.0]}
    on = {2: [200.0] * 3, 4: [9e9] * 3, 8: [200.0] * 3}
    finding = grown(off, on)
    # One-sided, by Student's t of two degrees of freedom: 2.9200 times 0.05 / sqrt(3).
    assert finding.estimate == pytest.approx(0.25)
    assert finding.low == pytest.approx(0.16571, abs=1e-5)
    assert finding.high == math.inf
    assert finding.verdict == "holds"


def test_a_difference_that_shrinks_differs_and_one_that_stays_is_unclear() -> None:
    off = {2: [400.0, 395.0, 405.0], 8: [300.0, 310.0, 290.0]}
    shrinks = grown(off, {2: [200.0] * 3, 8: [200.0] * 3})
    # 100 - 200, 110 - 195, 90 - 205, of 300.
    assert shrinks.estimate == pytest.approx(-1 / 3)
    assert shrinks.verdict == "fails"
    stays = grown(off, {2: [300.0] * 3, 8: [200.0] * 3})
    assert stays.estimate == pytest.approx(0)
    assert stays.verdict == "inconclusive"
