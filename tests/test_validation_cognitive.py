"""Closed forms of HARQ, policies, predictors, routing and cognitive transports, by hand."""

from __future__ import annotations

import math

import pytest

from cogtcp.kernel.validation import fixed_points
from cogtcp.kernel.validation.families import harq
from cogtcp.kernel.validation.families.atp import Atp
from cogtcp.kernel.validation.families.cognitive_tcp import C2, Atcp
from cogtcp.kernel.validation.families.cognitive_transports import TfrcCr, TpCrahn
from cogtcp.kernel.validation.families.given_users import GivenErrors, RedrawnUsers, sensings_of
from cogtcp.kernel.validation.families.policies import Occupied, replayed_bps, share_of_time
from cogtcp.kernel.validation.families.predictors import Itinerary, OutageMap, SignalStrength, Warnings
from cogtcp.kernel.validation.families.routes import Flooding, greedy_hops, hops_from, ring_search

#: Four nodes on a line, one aside, and one that none reaches.
MAP = [(0.0, 0.0), (600.0, 0.0), (200.0, 0.0), (400.0, 0.0), (200.0, 200.0), (2000.0, 0.0)]


def test_gains_by_hand() -> None:
    # CQI 1 needs -7 dB, CQI 15 20 dB, and half of the way between two CQIs half of a step.
    assert harq.needed_db(78 * 2 / 1024) == pytest.approx(-7)
    assert harq.needed_db(948 * 6 / 1024) == pytest.approx(20)
    assert harq.needed_db((78 + 120) / 1024) == pytest.approx(-7 + 27 / 14 / 2)
    # 50 % are lost at a little less than 10 %.
    assert 0.1 < harq.needed_db(1.0) - harq.even_db(1.0) < 0.5
    # Two gains of mean 1 are below 1 with probability 1 - 2 / e.
    assert harq.erlang(2, 1.0) == pytest.approx(1 - 2 / math.e)
    # With an MCS for each gain 1 / 2^n are lost after n attempts; steps of 1 dB ask for 11 % less at most.
    for attempts in (1, 2, 3, 4):
        assert 0.7 / 2**attempts < harq.lost_after(attempts, 12) < 1 / 2**attempts


def test_waits_of_harq_by_hand() -> None:
    drawn = {"sinr": 12.0, "coherence": 1, "age": 6, "attempts": 2}
    lost, twice = harq.lost_after(1, 12), harq.lost_after(2, 12)
    # Of those that arrive these had a second attempt 8 ms later; 2 % wait a millisecond for a better block.
    second = (lost - twice) / (1 - twice)
    assert harq.Harq().theirs(drawn, 0)["wait_s"] == pytest.approx(0.008 * second, rel=0.02)


def test_given_users_by_hand() -> None:
    rows = [[0.1, 0.8, 0.2], [0.3, 0.9, 0.1]]
    drawn = {"detector": "table", "rows": rows, "sensing": 0.15}
    assert GivenErrors().theirs(drawn, 0) == {
        "detected": pytest.approx(0.825),
        "false_alarms": pytest.approx(0.175),
    }
    assert GivenErrors().theirs({**drawn, "detector": "fixed"}, 0)["detected"] == pytest.approx(0.8)
    # Sensings from 0, 1.1 and 1.2 s on find the user of 1.15 to 1.25 s twice; the next begins at 1.3 s.
    assert sensings_of([[1.15, 1.25]], 0.1, 1.0, 1.5) == (4, 2)
    # ON for 1 and 3 s, OFF for 2 and 4 s. A sensing of 3 s finds nobody in 0 and 1 s of 10 s.
    measured = {"spans": [[1, 2], [3, 4]], "sensing": 3.0, "model": "empirical"}
    assert RedrawnUsers().theirs(measured, 0) == pytest.approx({"share": 0.4, "detected": 0.9})
    # Exponential: 60 % of the time OFF, and e^-1 of that for 3 s more.
    markov = RedrawnUsers().theirs({**measured, "model": "markov"}, 0)
    assert markov["detected"] == pytest.approx(1 - 0.6 / math.e)


def test_policies_by_hand() -> None:
    # Primary users that change slowly: a sticky radio transmits while its channel is idle.
    slow = Occupied(1000.0, 3000.0)
    assert share_of_time("sticky", 1, slow, 0.1, 0.9) == pytest.approx(0.9 * 0.75 / (0.25 + 0.75), rel=0.1)
    # Without memory from sensing to sensing each is free with probability 1/2.
    fast = Occupied(0.02, 0.02)
    free = 0.5 * math.exp(-0.01 / 0.02)
    expected = free * 1 / (free * 1 + 0.01 + (1 - free) * 0.001)
    for policy in ("round_robin", "random"):
        assert share_of_time(policy, 4, fast, 0.01, 1.0) == pytest.approx(expected, rel=0.1)
    # With two channels there is one other: all policies that move are one.
    user = Occupied(1.0, 2.0)
    shares = [share_of_time(policy, 2, user, 0.05, 0.3) for policy in ("round_robin", "random")]
    assert shares[0] == pytest.approx(shares[1])
    for policy in ("least_busy", "best_rate"):
        found = replayed_bps(policy, [1.0, 1.0], user, 0.05, 0.3, 1.0, 1)
        assert found == pytest.approx(shares[0], rel=0.02)
    # One channel among two is twice as good: with a long memory the best rate is used when it is free.
    assert replayed_bps("best_rate", [3.0, 1.0, 1.0], user, 0.05, 0.3, 0.1, 1) > 1.4


def test_predictors_by_hand() -> None:
    record = {"error": 0.5, "missed": 0.2, "false_interval": 1e12, "on": 30.0, "off": 2.0}
    found = Itinerary().theirs(record, 0)
    assert found["missed"] == pytest.approx(0.2)
    assert found["error_s"] == pytest.approx(0.5 * 1.6449, rel=1e-4)
    # One in 98 s and 2 s is 0.32 for each outage; with 1 - exp(-0.1) one stands in for a missed outage.
    found = Itinerary().theirs({**record, "false_interval": 98.0}, 0)
    assert found["ratio"] == pytest.approx(0.32 - 0.2 * 0.09516, rel=1e-3)
    # 10 m of record and 10 m of position at 20 m/s.
    drawn = {"speed": 20.0, "position_error": 10.0, "journeys": 1, "ahead": 5.0}
    assert OutageMap().theirs(drawn, 0)["error_s"] == pytest.approx(math.sqrt(2) / 2)
    # 6.02 dB above the threshold at half of the distance; the last half takes 100 s.
    level = {"speed": 50.0, "reach": 10_000, "exponent": 2.0, "margin": 6.0206, "horizon": 1.0, "step": 1e-9}
    assert SignalStrength().theirs(level, 0)["wait_s"] == pytest.approx(100, rel=1e-4)
    # Without a margin an adapted filter predicts the outage one horizon ahead.
    adapted = {**level, "margin": 0.0, "step": 1.0}
    assert SignalStrength().theirs(adapted, 0)["wait_s"] == pytest.approx(1, rel=0.02)
    assert Warnings().theirs({"tu_advance": 2.0, "rtt": 0.1}, 0)["wait_s"] == pytest.approx(0.2)


def test_routes_by_hand() -> None:
    assert hops_from(MAP, 0) == {0: 0, 2: 1, 3: 2, 4: 2, 1: 3}
    assert greedy_hops(MAP, 0, 1) == 3
    # Node 4 reaches only node 2: 200 m to its right, at a right angle to the destination.
    assert greedy_hops(MAP, 4, 5) is None
    # The source and nodes 2, 3 and 4 send the request; the destination does not.
    assert Flooding().theirs({"places": MAP}, 0)["requests"] == 4
    # Five hops: rings of 1 and 3 are too short, and take 2 x 40 ms x (3 + 5). The ring of 5 has five senders.
    requests, waited = ring_search(5, 1, 2, 7, 0.04)
    assert requests == 1 + 3 + 5
    assert waited == pytest.approx(0.64)
    # Beyond the threshold the request goes through the whole network.
    assert ring_search(10, 1, 2, 3, 0.04)[0] == 1 + 3 + 10


def test_cognitive_tcp_by_hand() -> None:
    # 10 s: within the first second k is 1, and ten round trips add ten packets.
    assert fixed_points.c2_queue(1000, 0.1, 0.005) == pytest.approx(5 + 1, rel=0.05)
    # From 1 s on 2 a round trip: 50 packets are reached at 4 a round trip.
    assert fixed_points.c2_queue(1000, 0.1, 0.05) == pytest.approx(50 + 4, rel=0.02)
    # A product of 1001 packets, a third of it, and 12 round trips with 3 more each.
    drawn = {"rate": 12e7, "rtt": 0.1, "flows": 3, "beta": 0.05}
    window = 1001 / 3 + 3 * 12
    assert C2().theirs(drawn, 0)["goodput_bps"] == pytest.approx(8 * 1460 * window / 0.1001, rel=1e-6)
    # 1000 packets in ten windows and the round trip of a repair, each 1 % longer by transmission.
    kept = {"window": 100, "packets_per_loss": 1000, "rtt": 0.1}
    expected = 8 * 1460 * 1000 / (11.03 * 0.1 * (1 + 1 / 102))
    assert Atcp().theirs(kept, 0)["goodput_bps"] == pytest.approx(expected)


def test_reports_of_nodes_by_hand() -> None:
    # A packet that takes no time, rarely: the wait of M/D/1, 0.5 S / (2 (1 - 0.5)).
    assert fixed_points.paced_delay_s(1e-9, 0.001, 0.5) == pytest.approx(0.0005, rel=0.1)
    # Alone it takes its transmission time.
    assert fixed_points.paced_delay_s(0.001, 0.001, 1e-9) == pytest.approx(0.001, rel=0.05)
    slow = {"rate": 2e6, "load": 0.5, "segment": 100}
    # 157 B of 2 Mbit/s and half of a packet of others: 3.4 ms and more.
    assert 200 < Atp().theirs(slow, 0)["packets_per_s"] < 1 / 0.0034
    change = {"packets_per_loss": 1000, "rtt": 0.1, "window": 1200, "utilisation": 0.5}
    assert TpCrahn().theirs(change, 0)["ratio"] == pytest.approx(0.51)
    pause = TfrcCr().theirs({"packets_per_loss": 100, "rtt": 0.1, "on": 5.0, "wait": 3.0}, 0)
    assert pause["packets_per_s"] == pytest.approx(10)
    assert pause["wait_s"] == pytest.approx(3.15)
