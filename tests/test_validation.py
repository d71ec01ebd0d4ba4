"""`cogtcp validate`: what a seed draws, what is said of it, and what peers that are here say."""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import Scenario, run
from cogtcp._errors import UsageError
from cogtcp.data.mobility import Mobility
from cogtcp.kernel.validation import Case, Line, Validation, closed_forms, validate
from cogtcp.kernel.validation.families import FAMILIES, grids, movement, why_absent
from cogtcp.kernel.validation.families.closed_forms import Queue
from cogtcp.kernel.validation.families.dumbbell import _scenario
from cogtcp.kernel.validation.families.grids import Grid
from cogtcp.kernel.validation.families.kernel import Kernel
from cogtcp.kernel.validation.families.lte_users import Ns3LteTcp, Ns3LteUplink, Ns3LteUsers, piro_mcs
from cogtcp.kernel.validation.families.stations import Stations, saturated_scenario
from cogtcp.kernel.validation.outcome import summary, summary_cells
from cogtcp.kernel.validation.running import draw, drawn_cases, seeds_of
from cogtcp.model.statistics import Interval
from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

BY_NAME = {family.name: family for family in FAMILIES}


def test_a_seed_draws_the_same_cases_whatever_else_runs() -> None:
    every = dict.fromkeys(case.told for _, case in drawn_cases(5, cases=4))
    alone = [case.told for _, case in drawn_cases(5, cases=4, families=["string"])]
    assert set(alone) <= set(every)
    assert alone == [case.told for _, case in drawn_cases(5, cases=9, families=["string"])][:4]
    assert alone != [case.told for _, case in drawn_cases(6, cases=4, families=["string"])]


def test_cases_meet_chance_of_their_own() -> None:
    first, second = (draw(5, BY_NAME["queue"], number) for number in (1, 2))
    assert seeds_of(5, first, 3) == seeds_of(5, first, 9)[:3]
    assert not set(seeds_of(5, first, 9)) & set(seeds_of(5, second, 9))
    assert not set(seeds_of(5, first, 9)) & set(seeds_of(6, first, 9))


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_drawn_is_told_and_plain_data(name: str) -> None:
    family = BY_NAME[name]
    for number in range(1, 30):
        case = draw(3, family, number)
        assert json.loads(json.dumps(dict(case.drawn))) == dict(case.drawn)
        assert case.told == family.told(case.drawn)
        assert "|" not in case.told


def test_what_is_drawn_of_links_is_a_scenario() -> None:
    for number in range(1, 40):
        for name in ("dumbbell", "cycles"):
            Scenario.from_dict(_scenario(draw(3, BY_NAME[name], number).drawn, 1)).check()
        two_way = draw(3, BY_NAME["two-way"], number).drawn
        assert 1 <= two_way["backward"] < two_way["flows"]
        case = draw(3, BY_NAME["kernel"], number)
        Scenario.from_dict(Kernel().scenario(case.drawn, 1)).check()


def test_users_of_a_cell_are_a_scenario_in_either_direction() -> None:
    for number in range(1, 20):
        for family in (Ns3LteUsers(), Ns3LteUplink(), Ns3LteTcp()):
            drawn = draw(3, family, number).drawn
            data = family.scenario(drawn, 1)
            Scenario.from_dict(data).check()
            loads = data["flow"] if family.name == "ns3-lte-tcp" else data["udp"]
            assert len(loads) == drawn["users"]
            assert {load["to"] == "server" for load in loads} == {drawn.get("way") == "up"}


@pytest.mark.parametrize(("sinr", "mcs", "bits"), [(3.0, 3, 5736), (15.6, 19, 39232), (24.0, 28, 75376)])
def test_ns3_is_told_the_mcs_of_this_cell(sinr: float, mcs: int, bits: int) -> None:
    """A lone user has 100 resource blocks in each ms; of 1430 bytes 1400 are payload, and few fail."""
    assert piro_mcs(sinr) == mcs
    drawn = {"sinr": sinr, "users": 1, "rlc": "um", "errors": "piro", "way": "up"}
    goodput = Ns3LteUplink().ours(drawn, 1)["goodput_bps"]
    assert 0.9 < goodput / (1000 * bits * 1400 / 1430) < 1.005


def test_no_relay_of_a_string_empties_its_queue_when_the_mac_gives_up() -> None:
    """No peer's script has routing, which would."""
    family = BY_NAME["string"]
    assert isinstance(family, Stations)
    ends = family.places({"hops": 5, "spacing": 200.0, "rts": "on"})
    mac = {"profile": "ns2", "arp": {"protocol": "none"}}
    rows = run(Scenario.from_dict(saturated_scenario(*ends, "on", 3, mac)), 3, "summary").rows("drops")
    assert {row["layer"] for row in rows} == {"queue", "mac"}
    assert {row["cause"] for row in rows if row["layer"] == "queue"} == {"queue_full"}


# What is said.


def line(low: float, high: float, band: float = 0.05, family: str = "dumbbell", **drawn: Any) -> Line:
    case = Case(family, 1, {"recovery": "reno", "loss": 0.0, **drawn}, "a case")
    one = Interval(1.0, 1.0, 1.0, 3)
    return Line(case, "ns-2", "goodput_bps", one, one, Interval((low + high) / 2, low, high, 3), band)


def test_verdicts() -> None:
    """By the 95 % interval of the ratio and the band, here 0.95 to 1.05."""
    assert line(0.951, 1.049).verdict == "within"
    assert line(0.94, 1.0).verdict == "unclear"
    assert line(1.0, 1.06).verdict == "unclear"
    assert line(0.9, 1.1).verdict == "unclear"
    assert line(1.051, 1.1).verdict == "beyond"
    assert line(0.8, 0.949).verdict == "beyond"


def test_causes_stand_beside_what_they_explain() -> None:
    assert line(0.97, 1.03, recovery="sack").causes == []
    # SACK's alone, and silences of 1 s and more after at most 2.5 s, are those of departures.toml.
    assert line(0.9, 0.94, recovery="sack").causes == ["ns2-sack-pipe"]
    assert line(0.9, 0.94).causes == []
    for opened, silent, causes in [(2.5, 1.0, 1), (2.6, 1.0, 0), (2.5, 0.9, 0)]:
        case = {"family": "cycles", "open": opened, "silent": silent}
        assert line(1.2, 1.4, **case).causes == ["ns2-hardly-anything-delivered"] * causes, case
    # A mean within the band needs no cause, and a departure explains no more than was measured of it.
    assert line(0.93, 0.99, recovery="sack").causes == []
    assert line(0.5, 0.6, recovery="sack").causes == []
    assert line(1.06, 1.08, recovery="sack").causes == ["ns2-sack-pipe"]


def test_families_are_summed_up() -> None:
    result = Validation(
        1, [line(0.97, 1.03), line(0.95, 0.97), line(0.9, 0.94, recovery="sack"), line(0.9, 0.94)]
    )
    (row,) = summary(result)
    assert (row.family, row.peer, row.cases) == ("dumbbell", "ns-2", 4)
    # Ratios of 1, 0.96, 0.92 and 0.92.
    assert (row.median, row.least, row.greatest) == pytest.approx((0.94, 0.92, 1.0))
    assert (row.within_3, row.within_5, row.beyond, row.unexplained) == (0.25, 0.5, 2, 1)
    assert summary_cells(row) == [
        *("dumbbell", "ns-2", "Goodput", "4", "0.940", "0.920 to 1.000", "25 %", "50 %", "2", "1")
    ]
    # Within a wide band, 8 % off: a cause is looked for all the same.
    wide = [line(0.9, 0.94, 0.25, recovery="sack"), line(0.9, 0.94, 0.25), line(0.951, 0.97, 0.25)]
    (row,) = summary(Validation(1, wide))
    assert (row.beyond, row.unexplained) == (0, 1)
    assert [bool(each.causes) for each in wide] == [True, False, False]


def test_every_model_names_its_families() -> None:
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in (ROOT / "docs/models.md").read_text("utf-8").splitlines()
        if row.startswith("|")
    ][2:]
    named = {row[1]: set(re.findall(r"`([\w-]+)`", row[3])) for row in rows}
    # The simulator and its budget are no models of anything that a peer has.
    assert {row[3] for row in rows if not named[row[1]]} == {"none: each run checks its sums"}
    assert sum(not families for families in named.values()) == 2
    # Each family judges some model.
    assert set.union(*named.values()) == {family.name for family in FAMILIES}


def test_the_answer_counts_what_nobody_explains() -> None:
    result = Validation(
        1, [line(0.97, 1.03), line(0.9, 0.94, recovery="sack"), line(0.9, 0.94), line(0.91, 1.0)]
    )
    assert result.answer == (
        "1 of 4 numbers lie within their bands, 2 beyond, 1 unclear (more runs needed). "
        "1 differs without a known cause."
    )
    assert [each.case.drawn["recovery"] for each in result.unexplained] == ["reno"]
    assert Validation(1).answer == "Nothing was compared."


# Closed forms, by hand.


def test_md1_by_hand() -> None:
    """1000 B at 8 Mbit/s take 1 ms; at half load 0.5 x 1 ms / (2 x 0.5) = 0.5 ms."""
    assert closed_forms.md1_wait_s(8e6, 1000, 0.5) == pytest.approx(0.5e-3)


def test_the_sawtooth_by_hand() -> None:
    """W = 20: 10 + ... + 20 = 165 packets, and 10 in recovery: 175 in 12 round trips of 100 ms."""
    assert closed_forms.sawtooth_goodput_bps(1000, 0.1, 175) == pytest.approx(8000 * 175 / 1.2)


def test_bianchi_by_hand() -> None:
    """One station without RTS: 15.5 slots of 20 us, then 8416 + 10 + 304 + 50 + 2 us."""
    assert closed_forms.bianchi_packets_per_second(1, 1000, rts=False) == pytest.approx(1e6 / (310 + 8782))


# Against peers.


def test_against_theory() -> None:
    families = ["queue", "sawtooth", "loss", "bianchi"]
    result = validate(11, cases=2, runs=3, families=families)
    assert {each.case.family for each in result.lines} == set(families)
    assert (len(result.lines), result.absent, result.failed) == (8, {}, [])
    for each in result.lines:
        assert each.verdict != "beyond" or each.causes, (each.case.told, each.ratio)
    assert [each for each in result.lines if each.case.family == "bianchi" and each.verdict != "within"] == []


def test_a_wrong_model_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits that are a fifth too long are beyond 5 %, and nothing is known that explains them."""
    ours = Queue.ours
    monkeypatch.setattr(Queue, "packets", 100_000)
    monkeypatch.setattr(
        Queue, "ours", lambda self, drawn, seed: {"wait_s": 1.2 * ours(self, drawn, seed)["wait_s"]}
    )
    result = validate(11, cases=1, runs=4, families=["queue"])
    assert [(each.verdict, each.causes) for each in result.lines] == [("beyond", [])]
    assert result.unexplained == result.lines


def test_against_ns2() -> None:
    if reason := why_absent("ns-2"):
        pytest.skip(reason)
    result = validate(11, cases=1, runs=3, families=["dumbbell", "two-way", "cell", "string", "grid"])
    assert len(result.lines) == 5, result.failed
    for each in result.lines:
        # Three runs: the interval of a ratio is wide, its middle is not.
        assert each.theirs.mean > 0
        assert abs(each.ratio.mean - 1) < 0.1, (each.case.told, each.ratio)


def test_against_ns3() -> None:
    if reason := why_absent("ns-3"):
        pytest.skip(reason)
    (only,) = validate(11, cases=1, runs=3, families=["ns3-cell"]).lines
    assert abs(only.ratio.mean - 1) < 0.05, (only.case.told, only.ratio)
    rate, delay = validate(11, cases=1, runs=1, families=["ns3-lte"]).lines
    assert abs(rate.ratio.mean - 1) < 0.05, (rate.case.told, rate.ratio)
    assert abs(delay.ratio.mean - 1) < 0.1, (delay.case.told, delay.ratio)
    for each in validate(11, cases=1, runs=1, families=["ns3-lte-uplink"]).lines:
        assert abs(each.ratio.mean - 1) < 0.07, (each.case.told, each.ratio)


def test_peers_that_are_not_here_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Another program with this name.
    other = tmp_path / "ns"
    other.write_text("#!/bin/sh\necho another\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    result = validate(1, cases=1, runs=1, families=["dumbbell", "sawtooth"])
    assert "apt install ns2" in result.absent["ns-2"]
    assert [each.peer for each in result.lines] == ["theory"]


def test_a_peer_that_gives_nothing_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Queue, "theirs", lambda *_: {"wait_s": 0.0})
    monkeypatch.setattr(Queue, "ours", lambda *_: {"wait_s": 1.0})
    result = validate(1, cases=1, runs=2, families=["queue"])
    assert (result.lines, result.failed) == ([], ["queue 1: wait_s is 0 in theory, and not here"])
    monkeypatch.setattr(Queue, "ours", lambda *_: {"wait_s": 0.0})
    (only,) = validate(1, cases=1, runs=2, families=["queue"]).lines
    assert (only.verdict, only.ratio.mean) == ("within", 1.0)


def test_wrong_names_are_told() -> None:
    with pytest.raises(UsageError, match=r"unknown family of cases 'cel'.*'cell'"):
        validate(1, families=["cel"])
    with pytest.raises(UsageError, match=r"unknown peer 'ns2'.*'ns-2'"):
        validate(1, peers=["ns2"])


# The verb.


def test_the_verb(command: Command, tmp_path: Path) -> None:
    listed = command("validate", "5", "--list", "--cases", "2", "--json")
    cases = json.loads(listed.out)["cases"]
    assert len(cases) == 2 * len(FAMILIES)
    assert cases[0]["drawn"] == dict(draw(5, FAMILIES[0], 1).drawn)
    out = tmp_path / "out"
    words = ["--family", "sawtooth", "--cases", "1", "--runs", "2", "--out", str(out)]
    done = command("validate", "5", *words, "--json")
    told = json.loads(done.out)
    assert done.code == 0
    assert told["lines"][0]["drawn"] == dict(draw(5, BY_NAME["sawtooth"], 1).drawn)
    assert math.isclose(told["lines"][0]["ratio"]["mean"], 1, abs_tol=0.05)
    saved = json.loads((out / "validation.json").read_text())
    assert saved["lines"] == told["lines"]
    shown = command("validate", "5", *words, "--force")
    assert (shown.code, "numbers lie within their bands" in shown.out) == (0, True)
    assert "| sawtooth 1 |" in (out / "validation.md").read_text()
    assert command("validate", "5", "--family", "nothing").code == 2


def test_draws_stay_in_their_ranges() -> None:
    stream = random.Random(1)
    for _ in range(500):
        hidden = BY_NAME["hidden"].draw(stream)["places"]
        # Each receiver senses the other's sender (550 m), the senders do not; it receives its own (250 m).
        assert hidden[2] - hidden[0] > 550
        assert max(hidden[2] - hidden[1], hidden[3] - hidden[0]) < 550
        assert max(hidden[1], hidden[2] - hidden[3]) < 250
        exposed = BY_NAME["exposed"].draw(stream)["places"]
        assert exposed[2] - exposed[0] <= 550


def test_nodes_are_no_faster_than_told(tmp_path: Path) -> None:
    cases = [draw(seed, BY_NAME["movement"], 1).drawn for seed in range(60)]
    slowest = min(cases, key=lambda drawn: drawn["speed"])
    file = tmp_path / "movement.tcl"
    file.write_text(movement._movement(slowest))
    moves = Mobility.from_file(file)
    assert max(node.max_speed for node in moves.nodes()) <= slowest["speed"] + 1e-6


def test_a_line_of_a_grid_goes_from_neighbour_to_neighbour() -> None:
    places, paths = Grid().places({"side": 3, "spacing": 200.0, "lines": [1, 3], "rts": "on"})
    assert [[places[stop] for stop in path] for path in paths] == [
        [(0, 200), (200, 200), (400, 200)],
        [(0, 0), (0, 200), (0, 400)],
    ]
    stream = random.Random(1)
    for _ in range(200):
        drawn = Grid().draw(stream)
        # Only neighbours decode each other.
        assert drawn["spacing"] < 250 < drawn["spacing"] * math.sqrt(2)
        assert all(len(set(path)) == drawn["side"] for path in Grid().places(drawn)[1])


def test_a_grid_stands(tmp_path: Path) -> None:
    file = tmp_path / "grid.tcl"
    file.write_text(grids._setdest({"side": 2, "spacing": 210.0}))
    moves = Mobility.from_file(file)
    assert moves.positions(0) == moves.positions(50) == [(0, 0), (210, 0), (0, 210), (210, 210)]
