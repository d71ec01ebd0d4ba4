"""Closed forms of DRX, handovers, ARP and the released code's primary users, by hand."""

from __future__ import annotations

import random

import pytest

from cogtcp._spans import merged
from cogtcp.kernel.validation.families.addresses import ArpUnanswered, resolutions
from cogtcp.kernel.validation.families.mobile_users import a3_moves, drx_wait, handover_waits
from cogtcp.kernel.validation.families.released import ReleasedFrames, replayed


def test_drx_by_hand() -> None:
    timers = {"cycle": 100, "on": 10, "inactivity": 20, "short": 0, "short_cycles": 0}
    # One in the on-duration, one after the inactivity timer, which runs from 6 to 25.
    assert drx_wait([5], timers) == 0
    assert drx_wait([5, 25], timers) == 0
    assert drx_wait([5, 26], timers) == (100 - 26) / 2
    # Each grant restarts the timer: 26 to 45.
    assert drx_wait([5, 25, 45, 66], timers) == (100 - 66) / 4
    # The short cycle is used for 40 subframes from 26 on: on-durations begin at 40 and 60.
    short = {**timers, "short": 20, "short_cycles": 2}
    assert drx_wait([5, 30], short) == 10 / 2
    assert drx_wait([5, 55], short) == 5 / 2
    assert drx_wait([5, 69], short) == 0
    assert drx_wait([5, 70], short) == 30 / 2
    # The short cycle is not used before the timer expires: no on-duration begins at 20.
    assert drx_wait([5, 26], short) == 14 / 2


def test_waits_of_handovers_by_hand() -> None:
    # At half of the rate 1, 2, 3 slots are behind, and then 2, 1, 0.
    ones = [1] * 20
    assert handover_waits([5], 3, ones, 2, forwarded=True) == (1 + 2 + 3 + 2 + 1, 0)
    # One slot's packets are lost, and do not wait.
    assert handover_waits([5], 3, ones, 2, forwarded=False) == (0 + 1 + 2 + 1, 1)
    # The queue of the first move is not empty at the second: 3, 2, 3, 4, 5, 4, 3, 2, 1.
    assert handover_waits([5, 9], 3, ones, 2, forwarded=True) == (
        1 + 2 + 3 + 2 + 3 + 4 + 5 + 4 + 3 + 2 + 1,
        0,
    )
    # 0 to 10 dB in 10 s: 3 dB better at 3 s, and for 1 s at 4 s. Back at 26 s: -3 dB from 25 s on.
    points = [(0.0, 0.0), (10.0, 10.0), (20.0, 2.0), (40.0, -18.0)]
    assert a3_moves(points, 3, 1, 0.05) == pytest.approx([4, 26], abs=1e-6)
    # It begins at the better station, and stays if the other is better for too short.
    assert a3_moves([(0.0, 5.0), (10.0, -5.0), (12.0, 5.0)], 4, 2, 0.05) == []
    # Nothing is measured during the interruption.
    steep = [(0.0, -10.0), (1.0, 10.0), (2.0, -10.0), (9.0, -10.0)]
    assert a3_moves(steep, 0, 0, 3) == pytest.approx([0.5, 3.5], abs=1e-6)


def test_addresses_by_hand() -> None:
    # Good for 2.5 s: packets at 0, 3 and 6 s ask, on each of two hops.
    packets = [(float(second), False) for second in range(8)]
    assert resolutions(1, packets, 2.5, "merge") == 3
    assert resolutions(2, packets, 2.5, "replies") == 6
    # Who is asked has learned who asks: the packet back needs no request, unless replies alone teach.
    both = [(0.0, False), (1.0, True)]
    assert [resolutions(1, both, 2.5, learns) for learns in ("merge", "all", "replies")] == [1, 1, 2]
    # Node 1 asks for node 2. Node 0 hears it: it knows node 1 from the packet before.
    # Node 2 has learned it as well. Of the packet back only node 1 needs node 0, and does not know it with
    # replies alone.
    assert [resolutions(2, both, 2.5, learns) for learns in ("merge", "all", "replies")] == [2, 2, 4]


def test_searches_in_vain_by_hand() -> None:
    # A packet each second from 1 s on, 399 in all. Three requests 2.5 s apart: a search takes 7.5 s and
    # begins each 8 s. Of the 8 packets 2 wait at its end.
    steady = {"rates": [800], "requests": 3, "interval": 2.5, "held": 2, "drops": "oldest", "dead": 0.0}
    found = ArpUnanswered().theirs(steady, 0)
    # 49 searches end by 393 s; the next has its three requests, and 7 packets, by 400 s.
    assert found == {"requests": 150, "dropped": pytest.approx((49 * 6 + 5) / 399)}
    # 3.5 s of death: 11 s, and of 12 packets 4 are lost without a search.
    found = ArpUnanswered().theirs({**steady, "dead": 3.6}, 0)
    assert found == {"requests": pytest.approx(100, abs=2), "dropped": pytest.approx(6 / 12, rel=0.02)}
    # Each packet asks; the third finds two requests in vain.
    found = ArpUnanswered().theirs({**steady, "requests": 2, "interval": 0.0, "held": 1}, 0)
    assert found == {"requests": 266, "dropped": pytest.approx(133 / 399)}


def test_released_users_by_hand() -> None:
    assert merged([(5.0, 6.0), (1.0, 3.0), (2.0, 4.0)]) == [(1.0, 4.0), (5.0, 6.0)]
    # Nobody: a sensing of 1 s before each 9 s of transmission.
    assert replayed([[]], 1, 9, 100, random.Random(1)) == (10, 0, 90)
    # Somebody always on two of two channels: nine sensings in ten report.
    always = [[(0.0, 1e9)]] * 2
    sensings, reports, _ = replayed(always, 0.1, 1, 10_000, random.Random(1))
    assert reports / sensings == pytest.approx(0.9, rel=0.01)
    # The second channel is free: the radio goes there and stays.
    sensings, reports, transmitted = replayed([[(0.0, 1e9)], []], 0.1, 1, 1e5, random.Random(1))
    assert reports <= 1
    assert transmitted / 1e5 == pytest.approx(1 / 1.1, rel=1e-3)
    frames = {"is_heard": True, "error_rate": 0.2, "rts": True}
    assert ReleasedFrames().theirs(frames, 0)["share"] == pytest.approx(0.0064)
