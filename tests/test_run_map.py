"""The map of an ad hoc run: what it reads, its still figure, and where there is none."""

import json
import re
from pathlib import Path

import pytest

from cogtcp import Result, Scenario, UsageError, compare, run
from cogtcp.showing.figure import run_map
from cogtcp.showing.figure.run_map import RunMap
from cogtcp.showing.plot import draw, style
from cogtcp.showing.report import run_report, svg

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


def test_places_routes_and_primary_users(result: Result) -> None:
    drawn = RunMap.of(result)
    assert drawn is not None
    assert list(drawn.nodes) == ["n0", "n1", "n2", "n3"]
    assert list(drawn.times) == sorted(drawn.times)
    assert len(drawn.times) >= 19
    assert all(list(frame) == [(0, 0), (200, 0), (400, 0), (600, 0)] for frame in drawn.places)
    # Three hops of 200 m are the only route: the range is 250 m.
    assert {(route.flow, route.nodes) for route in drawn.routes} == {("far", (0, 1, 2, 3))}
    # A primary user is ON a sixth of the time, and sensing takes a tenth: both channels are used.
    assert {channel for frame in drawn.channels for channel in frame} >= {0, 1}
    found = [(user.number, user.band, user.x, user.y, user.reach) for user in drawn.users]
    assert found == [(1, 1, 0, 0, 250), (2, 2, 1000, 200, 250)]


def test_the_page_plays_it_and_shows_it_still(result: Result) -> None:
    page = run_report(result)
    found = re.search(r'<div class="map">.*?<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found.group(1))
    assert data["nodes"] == ["n0", "n1", "n2", "n3"]
    assert data["routes"][0][1:] == [0, [0, 1, 2, 3]]
    assert len(data["places"]) == len(data["channels"]) == len(data["times"])
    assert data["flows"] == [["far", "n0", "n3"]]
    # It begins where the first packet has arrived, not at 0 s, where nothing is to be seen.
    first = data["routes"][0][0]
    assert 0 < data["times"][data["begin"] - 1] < first <= data["times"][data["begin"]]
    assert (data["area"], data["bounds"]) == ([700, 500], [-35, -35, 770, 570])
    assert 'aria-label="Map of map at ' in page
    assert "the area, 700 x 500 m" in page
    assert "far: n0 to n3, 3 hops" in page


def test_primary_users_are_on_when_the_events_say_so(result: Result) -> None:
    drawn = RunMap.of(result)
    assert drawn is not None
    events = result.events.to_pydict()
    changes = [
        (time, kind)
        for time, kind, entity in zip(events["time_s"], events["kind"], events["entity"], strict=True)
        if entity == "pu1" and kind in ("pu_on", "pu_off")
    ]
    assert len(changes) >= 6
    played = drawn.data()["users"][0][5]
    assert played[: len(changes)] == [round(time, 3) for time, _ in changes]
    assert len(played) % 2 == 0
    spent = sum(until - since for since, until in drawn.users[0].on)
    assert spent == pytest.approx(result.primary_users.to_pydict()["on_s"][0], abs=1e-6)


def test_the_figure_for_paper_shows_the_moment_asked_for(result: Result, tmp_path: Path) -> None:
    """Nodes stand where they are, under their channels' signs; routes go over them; saved or not, alike."""
    result.save(tmp_path / "run")
    drawn = RunMap.of(result)
    assert drawn is not None
    moment = drawn.fullest() + 1
    saved = draw(tmp_path / "run", "map", at=drawn.times[moment] + 0.5)
    for figure in (result.plot.map(at=drawn.times[moment] + 0.5), saved):
        assert "far: n0 to n3, 3 hops" in [text.get_text() for text in figure.legends[0].get_texts()]
        lines = [list(zip(*line.get_data(), strict=True)) for line in figure.axes[0].get_lines()]
        assert [(0, 0), (200, 0), (400, 0), (600, 0)] in lines
        nodes = [line for line in figure.axes[0].get_lines() if line.get_linestyle() == "None"]
        nodes = nodes[-len(drawn.nodes) :]
        colors = {channel: style.COLORS[channel] for channel in (0, 1)} | {-1: "white"}
        places = zip(drawn.places[moment], drawn.channels[moment], strict=True)
        assert [(line.get_data(), line.get_markerfacecolor()) for line in nodes] == [
            (([x], [y]), colors[channel]) for (x, y), channel in places
        ]
        time = drawn.times[moment]
        filled = [patch for patch in figure.axes[0].patches if patch.get_facecolor()[3] > 0]
        assert len(filled) == sum(any(a <= time < b for a, b in user.on) for user in drawn.users)
        assert f"{time:g} s" in figure.axes[0].get_xlabel()


def test_a_map_that_cannot_be_drawn_is_refused(result: Result) -> None:
    with pytest.raises(UsageError, match="at 21: write a time of the run, 0 to "):
        result.plot.map(at=21)
    with pytest.raises(UsageError, match="the run has no map"):
        run(Scenario.from_toml(SCENARIO), trace="summary").plot.map()


def test_the_still_figure_shows_one_moment(result: Result) -> None:
    """Nodes and routes are those of one time: a route begins and ends at its nodes."""
    drawn = RunMap.of(result)
    assert drawn is not None
    moment = drawn.moment(drawn.routes[0].start, after=True)
    assert f"Map of map at {drawn.times[moment]:g} s" in svg.draw(drawn.figure())
    assert {number: route.nodes for number, route in drawn.routes_at(drawn.times[moment]).items()} == {
        0: (0, 1, 2, 3)
    }
    assert drawn.routes_at(0) == {}


def test_flows_to_which_nothing_came_are_named() -> None:
    """Nobody is in reach of the last node: no route, and the map says so."""
    alone = Scenario.from_toml(SCENARIO.replace('chain = "200 m"', 'chain = "400 m"'))
    drawn = RunMap.of(run(alone.set("run.duration", "3 s")))
    assert drawn is not None
    assert (drawn.flows, drawn.routes, drawn.data()["begin"]) == ({"far": ("n0", "n3")}, [], 0)
    assert "far: n0 to n3, nothing has arrived" in svg.draw(drawn.figure())
    # Nodes out of the area are shown too: the last stands at 1200 m, the area ends at 700 m.
    west, _, wide, _ = drawn.bounds()
    assert west < 0 < 1200 < west + wide


def test_no_map_without_an_area_or_without_series(result: Result) -> None:
    assert RunMap.of(run(Scenario.from_toml(SCENARIO), trace="summary")) is None
    wired = Scenario.from_file("scenarios/sensed-link.toml").set("run.duration", "2 s")
    assert RunMap.of(run(wired)) is None


def test_users_that_are_scattered_are_drawn_where_they_are(result: Result) -> None:
    scattered = Scenario.from_toml(
        SCENARIO.replace('positions = [["0 m", "0 m"], ["1 km", "200 m"]]', "count = 3\nscattered = true")
    ).set("run.duration", "2 s")
    first, again, other = (run(scattered, seed=seed) for seed in (1, 1, 2))
    rows = first.primary_users.to_pydict()
    assert rows["user"] == [1, 2, 3]
    assert all(0 <= x <= 700 and 0 <= y <= 500 for x, y in zip(rows["x_m"], rows["y_m"], strict=True))
    assert len(set(rows["x_m"])) == 3
    assert rows["range_m"] == [250.0] * 3
    assert all(0 <= on <= 2 for on in rows["on_s"])
    assert first.primary_users.equals(again.primary_users)
    assert not first.primary_users.equals(other.primary_users)
    drawn = RunMap.of(first)
    assert drawn is not None
    assert [(user.x, user.y) for user in drawn.users] == list(zip(rows["x_m"], rows["y_m"], strict=True))
    titles = ["primary user 1, band 1", "primary user 2, band 2", "primary user 3, band 1"]
    assert [user[3] for user in drawn.data()["users"]] == titles
    figure = svg.draw(drawn.figure())
    assert all(figure.count(title) == 1 for title in titles)


def test_a_user_with_a_power_reaches_as_far_as_it_is_sensed() -> None:
    def reaches(power: str) -> list[float]:
        loud = SCENARIO.replace('reach = { range = "250 m" }', f'reach = {{ power = "{power}" }}')
        drawn = RunMap.of(run(Scenario.from_toml(loud).set("run.duration", "2 s")))
        assert drawn is not None
        return [user.reach for user in drawn.users]

    # By the inverse square of equation 2: a hundred times the power, ten times as far.
    near, far = reaches("1 mW"), reaches("100 mW")
    assert far == pytest.approx([10 * reach for reach in near], rel=1e-9)
    assert 100 < far[0] < 1000


def test_requests_do_not_turn_a_flow_round() -> None:
    """They go back to the server, by the routes of acknowledgements."""
    asks = SCENARIO + 'traffic = { requests = { response = { fixed = "20 kB" } } }\n'
    result = run(Scenario.from_toml(asks))
    assert {"data", "requests"} <= set(result.table("routes")["stream"].to_pylist())
    drawn = RunMap.of(result)
    assert drawn is not None
    assert drawn.flows == {"far": ("n0", "n3")}
    assert {route.nodes for route in drawn.routes} == {(0, 1, 2, 3)}


def test_one_hop_and_nobody_moves() -> None:
    near = SCENARIO.replace('to = "n3"', 'to = "n1"')
    drawn = RunMap.of(run(Scenario.from_toml(near)))
    assert drawn is not None
    figure = svg.draw(drawn.figure())
    assert "far: n0 to n1, 1 hop<" in figure
    assert "where nodes go from here" not in figure
    moving = SCENARIO.replace(
        'placement = { chain = "200 m" }',
        'mobility = { random_waypoint = { speed = ["4 m/s", "5 m/s"], pause = ["1 s", "1 s"] } }',
    )
    drawn = RunMap.of(run(Scenario.from_toml(moving)))
    assert drawn is not None
    assert "where nodes go from here" in svg.draw(drawn.figure())


def test_what_is_too_much_is_left_out_and_said(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends of flows go first; a flow whose route has a node left out is not said to have got nothing."""
    assert "are shown" not in run_report(result)
    monkeypatch.setattr(run_map, "_MOST_NODES", 3)
    monkeypatch.setattr(run_map, "_MOST_USERS", 1)
    monkeypatch.setattr(run_map, "_MOST_CHANGES", 5)
    drawn = RunMap.of(result)
    assert drawn is not None
    assert list(drawn.nodes) == ["n0", "n1", "n3"]
    assert [user.on for user in drawn.users] == [()]
    assert {route.nodes for route in drawn.routes} == {()}
    assert "far: n0 to n3, its route is not shown" in svg.draw(drawn.figure())
    page = run_report(result)
    for words in (
        "Of 4 nodes 3 are shown: ends of flows, then nodes on their paths, then the first.",
        "Of 2 primary users the first 1 are shown.",
        "Primary users come and go more than 5 times: when they are ON is not shown.",
    ):
        assert words in page


def test_no_primary_users_no_table() -> None:
    nobody = SCENARIO[: SCENARIO.index("[spectrum]")] + SCENARIO[SCENARIO.index("[[flow]]") :]
    result = run(Scenario.from_toml(nobody).set("run.duration", "2 s"))
    assert "primary_users" not in result.tables()
    drawn = RunMap.of(result)
    assert drawn is not None
    assert drawn.users == []


@pytest.mark.parametrize("nodes", [1, 3])
def test_nodes_without_flows_have_a_page(nodes: int) -> None:
    scenario = Scenario.from_toml(
        SCENARIO[: SCENARIO.index("[[flow]]")].replace("nodes = 4", f"nodes = {nodes}")
    ).set("routing", {"aodv": {"hello": True, "hello_always": True}})
    quiet = run(scenario)
    (routing,) = quiet.table("routing").to_pylist()
    # A hello a second from each, on both channels.
    assert routing["overhead_packets"] == pytest.approx(2 * 20 * nodes, abs=2 * nodes)
    said = f"sent {routing['overhead_packets']} packets of routing, {routing['overhead_bytes'] / 1e3:.1f} kB"
    page = run_report(quiet)
    assert said in " ".join(page.split())
    assert '<div class="map">' in page
    assert said in quiet._repr_html_()
    with pytest.raises(UsageError, match=r"map has no flow.*add \[\[flow\]\]"):
        compare(scenario, ["reno"])
