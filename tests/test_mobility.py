"""Mobility from Python and from the command line."""

import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cogtcp import ScenarioError, UsageError
from cogtcp.data.mobility import Mobility
from conftest import Command


def test_random_waypoint_stays_in_its_area_and_keeps_its_speeds() -> None:
    moves = Mobility.random_waypoint(25, area=(1000, 500), speed=(2.5, 4), pause=3, duration=200, seed=7)
    assert (len(moves), moves.end) == (25, 200)
    for time in (0, 17.25, 200):
        assert all(0 <= x <= 1000 and 0 <= y <= 500 for x, y in moves.positions(time))
    for node in moves.nodes():
        # Between its pauses a node is never slower than 2.5 m/s nor faster than 4.
        moving = 200 - node.paused
        assert 2.5 * moving - 1e-6 <= node.way <= 4 * moving + 1e-6
        assert node.max_speed <= 4 + 1e-6
    assert moves.to_text("csv") == Mobility.random_waypoint(
        25, area=(1000, 500), speed=(2.5, 4), pause=3, duration=200, seed=7
    ).to_text("csv")
    assert moves.to_text("csv") != Mobility.random_waypoint(25, area=(1000, 500), seed=8).to_text("csv")


def test_mean_speed_of_the_stationary_law() -> None:
    """Mean way 521.4 m at ln(1.6)/1.5 s/m is 163.4 s; with 3 s of pause, 521.4 m in 166.4 s: 3.134 m/s."""
    moves = Mobility.random_waypoint(1000, duration=1000, seed=1)
    mean = sum(node.mean_speed for node in moves.nodes()) / 1000
    assert mean == pytest.approx(3.134, rel=0.01)


def test_static_placements() -> None:
    chain = Mobility.static(3, "chain", spacing=150)
    assert chain.positions(5) == [(0, 0), (150, 0), (300, 0)]
    grid = Mobility.static(5, "grid", spacing=10)
    assert grid.positions(0)[3:] == [(0, 10), (10, 10)]
    assert math.isnan(grid.nodes()[0].mean_speed)
    found = chain.connectivity(150, [0.0])[0]
    assert (found.links, found.alone, found.largest) == (2, 0, 1)
    assert found.degree == pytest.approx(4 / 3)
    apart = chain.connectivity(149, [0.0])[0]
    assert (apart.links, apart.alone, apart.largest) == (0, 3, pytest.approx(1 / 3))
    assert len(Mobility.static(0, "uniform")) == 0


def test_formats_agree() -> None:
    moves = Mobility.random_waypoint(4, duration=100, seed=3)
    exact = Mobility.from_text(moves.to_text("csv"), "csv")
    assert exact.paths == moves.paths
    close = Mobility.from_text(moves.to_text("setdest"), "setdest")
    for time in (0, 33.3, 99.9):
        for (x, y), (a, b) in zip(moves.positions(time), close.positions(time), strict=True):
            assert (x, y) == pytest.approx((a, b), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"nodes": -1}, "nodes is -1"),
        ({"nodes": 1, "pause": (5, -1)}, "pause is -1"),
        ({"nodes": 1, "duration": math.inf}, "duration is inf"),
        ({"nodes": 1, "start": "later"}, "take stationary, naive"),
        ({"nodes": 1, "seed": -1}, "seed"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Mobility.random_waypoint(**arguments)  # type: ignore[arg-type]


def test_what_the_core_refuses_is_an_error_too() -> None:
    with pytest.raises(ScenarioError, match="speeds from 0 to 4"):
        Mobility.random_waypoint(1, speed=(0, 4))
    with pytest.raises(ScenarioError, match="at most 10000000"):
        Mobility.random_waypoint(100_000, duration=1e6)


def test_generate_and_show(command: Command, tmp_path: Path) -> None:
    made = command("mobility", "generate", "moves.tcl", "--nodes", 8, "--seed", 5, "--duration", "1 min")
    assert (made.code, made.err) == (0, "")
    assert "8 nodes, 60 s" in made.out
    assert (tmp_path / "moves.tcl").read_text().count("set X_") == 8
    shown = command("mobility", "show", "moves.tcl", "--range", 250, "--plot", "moves.svg")
    assert (shown.code, shown.err) == (0, "")
    for words in ("moves.tcl: 8 nodes", "Places at 0 s", "Within 250 m", "neighbours a node"):
        assert words in shown.out
    assert ElementTree.fromstring((tmp_path / "moves.svg").read_text()).tag.endswith("svg")  # noqa: S314
    again = command("mobility", "show", "moves.tcl", "--plot", "moves.svg")
    assert again.code == 1
    assert "--force" in again.err
    refused = command("mobility", "generate", "moves.tcl")
    assert refused.code == 1
    assert "--force" in refused.err


def test_generate_to_standard_output_and_as_csv(command: Command, tmp_path: Path) -> None:
    printed = command(
        "mobility", "generate", "-", "--placement", "chain", "--nodes", 2, "--spacing", "0.2 km"
    )
    assert "$node_(1) set X_ 200\n" in printed.out
    made = command(
        "mobility", "generate", "m.csv", "--nodes", 3, "--pause", "0,5", "--start", "naive", "--json"
    )
    assert made.json() == {"file": "m.csv", "format": "csv", "nodes": 3, "end_s": 200.0}
    assert (tmp_path / "m.csv").read_text().startswith("node,time,x,y\n0,0,")


def test_show_as_json(command: Command) -> None:
    command("mobility", "generate", "m.csv", "--nodes", 3, "--speed", "7.2 km/h")
    described = command("mobility", "show", "m.csv", "--json", "--range", 5000).json()
    assert (described["nodes"], len(described["each"]), described["range_m"]) == (3, 3, 5000)
    assert described["connectivity"] == {"neighbors": 2.0, "alone": 0.0, "largest": 1.0}
    # 7.2 km/h are 2 m/s, the least and the greatest speed.
    assert all(node["max_speed_mps"] == pytest.approx(2, abs=1e-6) for node in described["each"])
    assert command("mobility", "show", "m.csv", "--json").json()["connectivity"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("generate", "m.tcl", "--speed", "1,2,3"), "the least and the greatest"),
        (("generate", "m.tcl", "--speed", "0"), "speeds from 0 to 0 m/s"),
        (("generate", "m.tcl", "--area", "1000"), "--area 1000x1000"),
        (("generate", "m.tcl", "--spacing", "5"), "only with --placement"),
        (("generate", "m.tcl", "--placement", "grid", "--speed", "5"), "nodes do not move"),
        (("generate", "m.tcl", "--placement", "chain", "--columns", "5"), "not with --placement chain"),
        (("generate", "-", "--json"), "name a file"),
        (("show", "none.tcl"), "none.tcl"),
        (("show", "bad.tcl"), "bad.tcl:2: "),
        (("show", "bad.csv"), "bad.csv:1: "),
        (("show", "good.csv", "--plot", "x.png"), "name it x.svg"),
        (("show", "good.csv", "--window", "5,1"), "the earlier first"),
        (("show", "good.csv", "--range", "-5"), "range is -5"),
    ],
)
def test_bad_input_is_refused(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "bad.tcl").write_text("$node_(0) set X_ 1\n$node_(0) put Y_ 1\n")
    (tmp_path / "bad.csv").write_text("who,when,x,y\n")
    (tmp_path / "good.csv").write_text("node,time,x,y\n0,0,1,1\n0,10,9,1\n")
    refused = command("mobility", *arguments)
    assert refused.code == 2, refused.out
    assert words in refused.err
    assert "Traceback" not in refused.err


def test_nodes_that_stand_on_one_point(command: Command, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("node,time,x,y\n0,0,5,5\n1,0,5,5\n")
    shown = command("mobility", "show", "m.csv", "--range", 0, "--plot", "m.svg")
    assert shown.code == 0
    assert "*" in shown.out
    assert "1.00 neighbours a node" in shown.out
