"""Journeys from Python and from the command line."""

import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError
from cogtcp.data.journey import Line, Outage, Summary, Travel, summarise
from conftest import ROOT, Command

MAP = ROOT / "scenarios" / "maps" / "kelmere-line.toml"


def test_a_line_is_what_its_map_says() -> None:
    line = Line.from_file(MAP)
    assert (line.name, line.length, line.threshold) == ("kelmere-line", 62_000, pytest.approx(-95))
    assert [station.name for station in line.stations if not station.stops] == ["Thorn Halt"]
    assert (len(line.tunnels), len(line.base_stations), line.borders) == (3, 8, [55_000])


def test_travel_is_that_of_the_scenario() -> None:
    """The outages that a run of the scenario meets, less its start."""
    scenario = Scenario.from_file(ROOT / "scenarios" / "train-journey.toml").set("run.duration", "620 s")
    result = cogtcp.run(scenario, seed=3, trace="summary")
    met = [row["start_s"] for row in result.predictions.to_pylist() if row["outcome"] != "false"]
    travel = Line.from_file(MAP).travel(3)
    expected = [o.start + 60 for o in travel.outages if o.start + 60 < 620]
    assert met == pytest.approx(expected)
    assert len(met) >= 3
    assert travel.calls[0].departure == 0
    assert math.isinf(travel.calls[-1].departure)
    assert 1800 < travel.duration < 2600
    for call in travel.calls[1:-1]:
        assert (call.departure > call.arrival) == call.station.stops
    assert {part.cause for part in summarise([travel])} <= {"coverage", "tunnel", "handover", "border"}


def test_show_prints_the_line(command: Command, tmp_path: Path) -> None:
    shown = command("journey", "show", MAP, "--seeds", 3, "--plot", "line.svg")
    assert (shown.code, shown.err) == (0, "")
    for words in ("Port Anrich", "passes", "tunnel Long Hill, 1800 m", "border", "coverage", "Outages of 3"):
        assert words in shown.out
    assert ElementTree.fromstring((tmp_path / "line.svg").read_text()).tag.endswith("svg")  # noqa: S314
    again = command("journey", "show", MAP, "--seeds", 3, "--plot", "line.svg")
    assert again.code == 1
    assert "--force" in again.err


def test_show_as_json(command: Command) -> None:
    shown = command("journey", "show", MAP, "--seeds", 2, "--seed", 5, "--json")
    described = shown.json()
    assert (described["seed"], described["journeys"], described["length_m"]) == (5, 2, 62_000)
    assert described["stations"][-1]["departure_s"] is None
    assert {outage["cause"] for outage in described["outages"]} >= {"tunnel", "handover", "border"}


def test_what_is_no_map_is_refused(command: Command, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        Line.from_file(tmp_path / "none.toml")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(MAP.read_text().replace('at = "9 km"', 'at = "90 km"'))
    refused = command("journey", "show", wrong)
    assert refused.code == 2
    line = next(i for i, text in enumerate(wrong.read_text().splitlines(), 1) if text == 'at = "21 km"')
    assert f"wrong.toml:{line}:" in refused.err
    assert "in the order of the journey" in refused.err
    assert command("journey", "show", MAP, "--seeds", 0).code == 2


def test_outages_are_summed_up_by_cause() -> None:
    def travel(*outages: Outage) -> Travel:
        return Travel(1, [], [], [], [], [], [], outages=list(outages))

    both = [
        travel(
            Outage(10.0, 12.0, "tunnel", 1.0),
            Outage(20.0, 26.0, "tunnel", 2.0),
            Outage(30.0, 31.0, "border", 3.0),
        ),
        travel(Outage(10.0, 14.0, "tunnel", 1.0), Outage(50.0, math.inf, "coverage", 9.0)),
    ]
    # Three in two tunnels' journeys: 2, 6 and 4 s. What lasts to the end has no length.
    assert summarise(both) == [Summary("tunnel", 1.5, 4.0, 6.0), Summary("border", 0.5, 1.0, 1.0)]
    assert summarise([travel()]) == []
