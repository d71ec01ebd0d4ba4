"""The study manet: its draws, and what the choice of a topology explains."""

import math
import random

import pytest

from cogtcp.studies import code, folder
from cogtcp.studies.space import Setting

STUDY, _ = folder.find("manet")
explained = code.function(STUDY, "exhibits", "explained")
topology = code.function(STUDY, "runs", "topology")


def test_share_between_groups_by_hand() -> None:
    # Means 2, 4, 6: between 2 * (4 + 0 + 4) / 2 = 8; within 6 * 0.25 / 3 = 0.5; (8 - 0.5) / 2 = 3.75.
    groups = [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]
    assert explained(groups) == pytest.approx(3.75 / (3.75 + 0.5))
    assert explained([[1.0, 3.0], [1.0, 3.0]]) == 0
    assert explained([[1.0], [2.0]]) is None


def test_share_between_groups_of_different_sizes() -> None:
    """A variance of 4 between and 1 within: 0.8, but for the error of 2,000 groups, half of one value."""
    stream = random.Random(1)
    groups = []
    for number in range(2000):
        place = stream.gauss(0, 2)
        groups.append([place + stream.gauss(0, 1) for _ in range(1 + number % 2)])
    assert explained(groups) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("layout", ["a network that hangs together", "any ends that can reach each other"])
def test_every_flow_has_a_way(layout: str) -> None:
    assert layout in next(unsaid.choices for unsaid in STUDY.unsaid if unsaid.name == "layout")
    for number in range(30):
        places, pairs = topology(number, 250.0, layout)
        assert len({a for a, _ in pairs}) == 5
        assert all(0 <= x <= 1000 and 0 <= y <= 1000 for x, y in places)
        for start, goal in pairs:
            reached = {start}
            for _ in places:
                reached |= {
                    b for b in range(10) if any(math.dist(places[a], places[b]) <= 250 for a in reached)
                }
            assert goal in reached
            assert layout != "a network that hangs together" or len(reached) == 10


def test_thirty_topologies_or_more() -> None:
    assert isinstance(STUDY.space.base, Setting)
    rest = code.load(STUDY, "runs")
    assert rest is not None
    assert STUDY.seeds >= rest.TOPOLOGIES >= 30
