"""The map of an ad hoc run: what it reads, its still figure, and where there is none."""

import json
import re

import pytest

from cogtcp import Result, Scenario, run
from cogtcp.report import run_report
from cogtcp.report.run_map import RunMap

SCENARIO = """
name = "map"
routing = "aodv"
[run]
duration = "20 s"
seed = 1
[area]
width = "700 m"
height = "500 m"
[topology.ad_hoc]
nodes = 4
placement = { chain = "200 m" }
[mac]
profile = "ns2"
[spectrum]
bands = 2
channels = { uniform = "2 Mbit/s" }
[spectrum.pu.exponential]
alpha = 1.0
beta = 0.2
positions = [["0 m", "0 m"], ["1 km", "200 m"]]
reach = { range = "250 m" }
[cr]
sensing_time = "100 ms"
transmission_time = "1 s"
detector = "perfect"
[[flow]]
name = "far"
from = "n0"
to = "n3"
transport = "newreno"
"""


@pytest.fixture(scope="module")
def result() -> Result:
    return run(Scenario.from_toml(SCENARIO))


def test_places_ways_and_primary_users(result: Result) -> None:
    drawn = RunMap.of(result)
    assert drawn is not None
    assert list(drawn.nodes) == ["n0", "n1", "n2", "n3"]
    assert list(drawn.times) == sorted(drawn.times)
    assert len(drawn.times) >= 19
    assert all(list(frame) == [(0, 0), (200, 0), (400, 0), (600, 0)] for frame in drawn.places)
    # Three hops of 200 m are the only way: the range is 250 m.
    assert {(way.flow, way.nodes) for way in drawn.ways} == {("far", (0, 1, 2, 3))}
    # A primary user is ON a sixth of the time, and sensing takes a tenth: both channels are used.
    assert {channel for frame in drawn.channels for channel in frame} >= {0, 1}
    assert [(user.x, user.y, user.reach) for user in drawn.users] == [(0, 0, 250), (1000, 200, 250)]


def test_the_page_plays_it_and_shows_it_still(result: Result) -> None:
    page = run_report(result)
    found = re.search(r'<div class="map">.*?<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found.group(1))
    assert data["nodes"] == ["n0", "n1", "n2", "n3"]
    assert data["ways"][0][1:] == [0, [0, 1, 2, 3]]
    assert len(data["places"]) == len(data["channels"]) == len(data["times"])
    assert 'aria-label="Map of map"' in page
    assert "far: the way used longest" in page


def test_no_map_without_an_area_or_without_series(result: Result) -> None:
    assert RunMap.of(run(Scenario.from_toml(SCENARIO), trace="summary")) is None
    wired = Scenario.from_file("scenarios/sensed-link.toml").set("run.duration", "2 s")
    assert RunMap.of(run(wired)) is None


def test_users_that_are_scattered_are_not_drawn(result: Result) -> None:
    scattered = SCENARIO.replace(
        'positions = [["0 m", "0 m"], ["1 km", "200 m"]]', "count = 2\nscattered = true"
    )
    drawn = RunMap.of(run(Scenario.from_toml(scattered).set("run.duration", "2 s")))
    assert drawn is not None
    assert drawn.users == []
