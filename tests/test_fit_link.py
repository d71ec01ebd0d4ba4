"""Parts of the fit of a link, with values derived by hand: packets, waits, queues, logs."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp.data.fitting import connections as parts
from cogtcp.data.fitting import link, pings, throughput
from cogtcp.data.fitting.backlog import Delivery, Stretch
from cogtcp.data.fitting.capacity import RateLaw, fit_rates
from cogtcp.data.fitting.connections import Connection, Sent
from cogtcp.data.fitting.estimate import Estimate
from cogtcp.data.fitting.iperf3 import Transfer
from cogtcp.data.fitting.losses import fit_losses
from cogtcp.data.fitting.packets import ACK, SYN, Echo, Packet
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown
from cogtcp.data.fitting.silences import Gap, Silences

if TYPE_CHECKING:
    from collections.abc import Sequence

NAN = math.nan
HERE, THERE = (1, True), (1, False)


def data(time: float, seq: int, payload: int = 1000, **given: Any) -> Packet:
    return Packet(time, HERE, THERE, seq, 0, ACK, payload, payload + 52, **given)


def answer(time: float, ack: int, *sack: tuple[int, int], flags: int = ACK, **given: Any) -> Packet:
    return Packet(time, THERE, HERE, 0, ack, flags, 0, 52, sack, **given)


def sent(time: float, seq: int = 0, *, trip: float = NAN, size: int = 1500, **given: Any) -> Sent:
    return Sent(time, seq, seq + 1000, size, answered=time + trip, fresh=not math.isnan(trip), **given)


def test_numbers_of_bytes_wrap() -> None:
    half = 1 << 31
    assert [parts._signed(n) for n in (0, 5, half - 1, half, (1 << 32) - 1)] == [0, 5, half - 1, -half, -1]


def test_data_have_unwrapped_numbers_and_merged_packets_are_split() -> None:
    wrapped = [data(0.0, (1 << 32) - 500), data(0.1, 500), data(0.2, (1 << 32) - 500), data(0.3, 0, 0)]
    found = parts._data(wrapped, 1000)
    assert [(each.seq, each.end, each.resent) for each in found] == [
        (0, 1000, False), (1000, 2000, False), (0, 1000, True),
    ]  # fmt: skip
    # More than one and a half segments were merged: each has headers of its own.
    merged = parts._data([data(0.0, 7, 1500), data(0.1, 1507, 2501)], 1000)
    assert [(each.seq, each.end, each.size) for each in merged] == [
        (0, 1500, 1552), (1500, 2500, 1052), (2500, 3500, 1052), (3500, 4001, 553),
    ]  # fmt: skip
    # What ends at the highest byte, or below, was sent before.
    again = parts._data([data(0.0, 0), data(0.1, 1000), data(0.2, 500), data(0.3, 1001)], 1000)
    assert [each.resent for each in again] == [False, False, True, False]


def answered(some: list[Sent], answers: list[Packet]) -> list[float]:
    parts._answer(some, answers, 0)
    return [each.answered for each in some]


def test_a_packet_is_answered_by_the_first_acknowledgement_that_covers_it() -> None:
    some = [sent(n * 0.01, n * 1000) for n in range(4)]
    found = answered(some, [answer(0.05, 1000), answer(0.06, 1000, (2000, 3000)), answer(0.08, 4000)])
    assert found == [0.05, 0.08, 0.06, 0.08]
    # Of those that one acknowledgement covers the last alone tells a round trip.
    assert [each.fresh for each in some] == [True, False, True, True]
    # An acknowledgement of before the packet, a SYN-ACK, and one without news answer nothing.
    late = [sent(0.1, 0)]
    assert answered(late, [answer(0.09, 1000), answer(0.12, 0)]) == [pytest.approx(NAN, nan_ok=True)]
    assert answered([sent(0.1, 0)], [answer(0.12, 1000, flags=SYN | ACK), answer(0.13, 1000)]) == [0.13]
    # A block has to hold the whole packet.
    assert math.isnan(answered([sent(0.0, 0)], [answer(0.1, 0, (0, 999))])[0])
    assert math.isnan(answered([sent(0.0, 0)], [answer(0.1, 999)])[0])


def test_of_two_copies_the_one_that_can_have_arrived_is_answered() -> None:
    """The least round trip so far is 40 ms: a copy of 35 ms before the answer is too young, of 36 not."""
    for age, first in ((0.035, True), (0.037, False)):
        some = [sent(0.0, 0), sent(0.05, 1000), sent(0.5 - age, 1000)]
        some[2].resent = True
        found = answered(some, [answer(0.04, 1000), answer(0.5, 2000)])
        assert math.isnan(found[2]) is first
        assert math.isnan(found[1]) is not first
        assert not some[1].fresh
        assert not some[2].fresh, "Karn: nobody knows which copy was acknowledged"


def test_windows_need_both_scales() -> None:
    def windows(ours: int | None, theirs: int | None) -> list[tuple[float, int]]:
        opening = [Packet(0.0, HERE, THERE, 0, 0, SYN, 0, 60, scale=ours)]
        answers = [
            answer(0.1, 1, flags=SYN | ACK, scale=theirs, window=9),
            answer(0.2, 1, window=100),
            answer(0.3, 1, flags=0, window=7),
        ]
        return parts._windows(opening, answers)

    assert windows(3, 2) == [(0.2, 400)], "the scale of who acknowledges"
    assert windows(None, 2) == windows(3, None) == [(0.2, 100)], "RFC 7323, 2.2: both or none"
    assert windows(3, 20) == [(0.2, 100 << 14)], "RFC 7323, 2.3"
    assert parts._windows([data(0.0, 0)], [answer(0.2, 1, window=100)]) == []


def test_acknowledgements_of_data_that_nobody_saw_are_counted() -> None:
    some = [data(n * 0.01, n * 1000) for n in (0, 1, 3)]
    whole = [data(n * 0.01, n * 1000) for n in range(4)]
    assert parts._unseen(whole, [answer(0.1, 4000)]) == 0
    # The third is missing: a hole, of acknowledged data.
    assert parts._holes(some, [answer(0.1, 4000)], 0) == parts._unseen(some, [answer(0.1, 4000)]) == 1
    assert parts._holes(some, [answer(0.1, 2000)], 0) == 0, "it may still come"
    # By one byte it may be a FIN's number.
    assert parts._unseen(whole, [answer(0.1, 4001)]) == 0
    assert parts._unseen(whole, [answer(0.1, 4002)]) == 1
    assert parts._unseen(whole, [answer(0.1, 4002), answer(0.2, 4002)]) == 1, "each hole counts once"
    assert parts._unseen(whole, [answer(0.1, 4002), answer(0.2, 6000)]) == 2
    assert parts._unseen(whole, [answer(0.025, 4000)]) == 1, "before they were seen"
    assert parts._unseen(whole, []) == parts._unseen([], [answer(0.1, 1)]) == 0


def test_the_wait_for_new_data_is_told_by_the_first_echo() -> None:
    answers = [answer(0.1, 0, tsval=100), answer(0.2, 0, tsval=200), answer(0.25, 0, tsval=200)]
    some = [
        data(0.05, 0, tsecr=100), data(0.15, 0, tsecr=100), data(0.24, 0, tsecr=200), data(0.3, 0, tsecr=200),
        data(0.3, 0, 0, tsecr=300), data(0.3, 0, tsecr=400),
    ]  # fmt: skip
    # The first packet came before the stamp that it echoes: the clocks of a capture in disorder.
    assert parts._returns(some, answers) == [(pytest.approx(0.04), 1052)]
    mine, theirs, stamped = parts._waits_of_both(some[2:4], answers)
    assert (mine, theirs, stamped) == (math.inf, pytest.approx(0.04), False)
    mine, theirs, stamped = parts._waits_of_both([data(0.0, 0)], [answer(0.06, 999), answer(0.07, 1000)])
    assert (mine, theirs, stamped) == (pytest.approx(0.07), math.inf, False)


def echo(time: float, key: int, *, reply: bool = False, source: tuple[int, bool] = HERE) -> Echo:
    return Echo(time, source, reply, key, 84)


def test_pings_are_answered_at_once_where_they_arrive() -> None:
    asked = [echo(n * 1.0, n) for n in range(40)]

    def pair(wait: float) -> list[Echo]:
        return sorted([*asked, *(echo(n + wait, n, reply=True) for n in range(39))], key=lambda e: e.time)

    assert parts.arrivals(pair(0.9e-4)) == [(n * 1.0, 84) for n in range(40)]
    assert parts.arrivals(pair(1.1e-4)) == [], "they went over a link"
    assert parts.arrivals(asked) == []
    assert parts.probes(pair(0.9e-4)) == []
    (found,) = parts.probes(pair(0.02))
    assert (found.packets, found.ack_bytes, found.probes) == (40, 84, True)
    waits = [each.answered - each.time for each in found.data]
    assert waits[:39] == pytest.approx([0.02] * 39)
    assert found.data[39].lost
    # A reply of before belongs to an earlier request with this number; a repeated request counts once.
    early = [echo(0.0, 7, reply=True), *(echo(1.0 + n, n) for n in range(40)), echo(50.0, 3)]
    early += [echo(60.0, 8, reply=True)]
    (found,) = parts.probes(sorted(early, key=lambda each: each.time))
    assert [each.lost for each in found.data].count(False) == 1
    assert found.packets == 40
    assert parts.probes(pair(0.02)[:50]) == [], "fewer than thirty requests"
    # Of two who ask, the one that asks more.
    other = [echo(n + 0.5, 900 + n, source=THERE) for n in range(5)]
    assert parts.probes([*other, *pair(0.02)])[0].packets == 40


def test_a_handshake_in_the_middle_of_a_path_has_both_legs() -> None:
    def handshake(second: float, third: float) -> tuple[float, int, int]:
        found = Connection("sender", [], [])
        parts._handshake(found, parts._Legs(second, third, (60, 64, 52), opener_sends=True))
        return found.handshake_s, found.handshake_bytes, len(found.notes)

    assert handshake(0.04, 0.01) == (0.04, 124, 0), "a quarter: the near host"
    assert handshake(0.01, 0.04) == (0.04, 116, 0)
    assert handshake(0.04, 0.011) == (pytest.approx(0.051), 112, 1)


def test_the_floor_of_round_trips_with_and_without_transmission() -> None:
    """8 kbit/s: a byte takes 1 ms, and of the way back half of the bytes count. Trip, bytes there, back."""

    def floor(*samples: tuple[float, int, int], rate: float = 8e3) -> Any:
        return pytest.approx(link._floor(samples, rate, 1000))

    # 100 ms less 60 and 20: a line, as the full packet took 940 ms longer.
    assert floor((0.1, 60, 40), (1.04, 1000, 40)) == (0.02, 0.02)
    # A shaper with tokens sends at once: less than half of the 940 ms.
    assert floor((0.7, 60, 40), (1.1, 1000, 40)) == (0.7, 0.0)
    assert floor((0.62, 60, 40), (1.1, 1000, 40)) == (0.08, 0.02)
    # Full packets alone: between the two.
    assert floor((1.1, 1000, 40)) == ((0.08 + 1.1) / 2, 1.02 / 2 + 0.02)
    # Small is up to 0.3 of a full packet.
    assert floor((0.7, 300, 40), (1.1, 1000, 40)) == (0.08, 0.02)
    assert floor((0.7, 301, 40), (1.1, 1000, 40)) == ((0.08 + 0.7) / 2, (0.7 - 0.08) / 2 + 0.02)
    assert floor((0.1, 60, 40), rate=math.inf) == (0.1, 0.0)
    assert floor((0.1, 100, 40)) == (0.1, 0.0), "less than its transmission"


def test_packets_in_front_of_the_link_are_counted() -> None:
    """A round trip of 50 ms: those answered at 100 and 110 ms left at 50 and 60."""
    some = [sent(0.0, trip=0.1), sent(0.01, trip=0.1), sent(0.02), sent(0.055, trip=0.1), sent(0.06)]
    assert [link._counts(some, 0.05)[id(each)] for each in some] == [1, 2, 2, 2, 1]


def test_the_least_round_trip_is_that_of_any_packet() -> None:
    near = Connection("sender", [sent(0.0, trip=0.05), sent(1.0), sent(2.0, trip=0.04)], [])
    far = Connection("receiver", [sent(0.0, trip=0.01)], [], returns=[(0.03, 60), (0.0, 60)])
    opened = Connection("sender", [], [], handshake_s=0.02)
    assert link._least_round_trip([near]) == pytest.approx(0.04)
    assert link._least_round_trip([near, far]) == 0.03
    assert link._least_round_trip([near, far, opened]) == 0.02
    assert math.isnan(link._least_round_trip([Connection("sender", [sent(0.0)], [])]))
    sizes = [Connection("sender", [sent(0.0, size=size) for size in (100, 1500, 1500)], [])]
    sizes.append(Connection("sender", [sent(0.0, size=9)] * 9, [], probes=True))
    assert (link._packet_bytes(sizes), link._packet_bytes(sizes[1:])) == (1500, 1500)


def test_how_late_packets_came_is_told_by_their_stamps() -> None:
    """A packet each 10 ms with a clock of 1 ms: one came 3 ms late. The clock wraps on the way."""
    stamps = [((1 << 32) - 50 + 10 * n) % (1 << 32) for n in range(21)]
    late = [0.003 if n == 10 else 0.0 for n in range(21)]
    some = [sent(5 + n * 0.01 + late[n], stamp=stamps[n]) for n in range(21)]

    def waits(count: int = 21) -> list[float] | None:
        found = link._waits([Connection("receiver", some[:count], [])])
        return None if found is None else [found[id(each)] for each in some[:count]]

    assert waits() == pytest.approx(late, abs=1e-9)
    assert waits(10) is not None
    assert waits(9) is None, "fewer than ten stamps"
    for each in some:
        each.stamp = 7
    assert waits() is None, "a clock that stands"
    # A clock that is 1 % fast is of 1 ms; one of 2.5 ms is no usual one, and is taken as it is.
    for each, n in zip(some, range(21), strict=True):
        each.stamp, each.time = n * 100, n * 0.101
    assert waits() == pytest.approx([0.001 * n for n in range(21)])
    for each, n in zip(some, range(21), strict=True):
        each.stamp, each.time = n * 100, n * 0.25
    assert waits() == pytest.approx([0.0] * 21, abs=1e-9)


def test_a_silence_that_hides_is_as_short_as_the_longest_gap() -> None:
    silences = Silences("drop", 1.0, ())
    assert link._hidden([0.0, 0.1, 0.4], None, 0.2) == pytest.approx(0.3)
    assert link._hidden([0.0, 0.1, 0.2], None, 0.2) == 0.2
    assert link._hidden([], None, 0.2) == link._hidden([0.0, 9.0], silences, 0.2) == 0.2


def test_the_losses_of_a_link_meet_any_queue() -> None:
    """All losses met ten packets, all others one: apart by 1. The root of 5 n / (5 + n) passes 1.63 at 6."""

    def by_chance(kept: int, *, met: int = 9, run: int = 1, most: float = 99.0, until: float = 99.0) -> bool:
        some = []
        for _ in range(5):
            some += [(sent(float(len(some) + k)), met) for k in range(run)]
            some.append((sent(float(len(some)), trip=0.1), 1))
        some += [(sent(50.0 + n, trip=0.1), 1) for n in range(kept - 5)]
        counts = {id(each): count for each, count in some}
        return link._by_chance([each for each, _ in some], set(), counts, most, until)

    assert by_chance(5)
    assert not by_chance(6)
    assert by_chance(5, run=3), "of a run the first alone"
    assert by_chance(6, most=9.0), "losses at longer queues do not count"
    assert not by_chance(6, most=9.5)
    assert by_chance(60, until=8.0), "four losses are too few"
    assert not by_chance(60, until=60.0)
    assert by_chance(6, met=0), "a lost packet does not count itself"


def test_round_trips_spread_where_nothing_queues() -> None:
    """40 to 79 ms, a packet each: the middle half lies between 50 and 70 ms."""
    some = [sent(n * 0.1, trip=0.04 + n * 0.001) for n in range(40)]
    application: Any = SimpleNamespace(by="application")

    def jitter(by: Any = application, base: float = 0.04, backlog: float = 0.0, count: int = 40,
               **given: Any) -> Estimate | None:  # fmt: skip
        main = Connection(**{"side": "sender", "data": some[:count], "answers": [], **given})
        return link._jitter([main], base, backlog, by)

    found = jitter()
    assert found is not None
    assert found.value == pytest.approx(0.02)
    assert found.low <= found.value <= found.high
    window: Any = SimpleNamespace(by="window")
    assert jitter(window) is None
    assert jitter(window, probes=True) is not None
    assert jitter(side="receiver") is None
    assert jitter(backlog=0.31) is None
    assert jitter(backlog=0.3) is not None
    assert (jitter(count=29), jitter(count=30) is None) == (None, False)
    # Below 2 % of the round-trip time it is a host's.
    assert (jitter(base=1.01), jitter(base=0.99) is None) == (None, False)


def test_packets_leave_the_link_one_after_the_other() -> None:
    """8 kbit/s and 100 bytes: 100 ms each; a round trip of 50 ms."""
    some = [sent(0.0, trip=0.15, size=100), sent(0.01, size=100), sent(0.02, trip=0.33, size=100)]
    main = Connection("sender", some, [], ack_bytes=0)
    found = link._departures([main], 8e3, 0.05, main)
    # The second is lost: it was in the queue, or not, as the wait of the others allows.
    assert [found.expected[id(each)] for each in some] == pytest.approx([0.1, 0.2, 0.3])
    assert [found.real[id(each)] for each in some] == pytest.approx([0.1, 0.2, 0.3])
    some[1].time = 0.0
    some[2].answered = 0.12 + 0.02
    found = link._departures([main], 8e3, 0.05, main)
    # Others waited for 100 ms at most: what would wait for 200 found the queue full, and is not in it.
    assert [found.expected[id(each)] for each in some] == pytest.approx([0.1, 0.2, 0.2])
    assert found.real[id(some[2])] == pytest.approx(0.09)
    endless = link._departures([main], 0.0, 0.05, main)
    assert [endless.expected[id(each)] for each in some] == pytest.approx([0.0, 0.1, 0.1])


def test_packets_whose_fate_a_silence_may_decide() -> None:
    silences = Silences("drop", 1.0, (Gap(1.0, 2.0, False),))
    times = [0.85, 0.95, 1.5, 2.04, 2.06]
    some = [sent(time) for time in times]
    passing: Any = SimpleNamespace(expected={id(each): each.time for each in some})
    # Half of the round trip of 100 ms before, and all of it behind.
    found = link._silent(some, silences, passing, 0.1)
    assert [each.time for each in some if id(each) in found] == [0.95, 1.5, 2.04]
    passing.expected[id(some[0])] = 0.91
    assert id(some[0]) in link._silent(some, silences, passing, 0.1), "it waited in the queue"
    assert link._silent(some, None, passing, 0.1) == set()


def varying(rates: Sequence[float], constant: float = 0.5, silences: Silences | None = None) -> Any:
    """Return what is found of rates in Mbit/s, a second each, with ten stretches in each second."""
    stretches = [
        Stretch(n + k / 10, n + k / 10 + 0.09, round(rate * 1e6 / 8 * 0.09))
        for n, rate in enumerate(rates)
        for k in range(10)
    ]
    some = [Delivery(n / 10, 1000) for n in range(10 * len(rates) + 1)]
    found: Any = SimpleNamespace(constant=constant, stretches=stretches, deliveries=some)
    capacity = Estimate("capacity", 1.0, 1.0, 1.0, "bit/s", "")
    estimate, seen, law = link._varying(found, silences, capacity, 0.1)
    assert (estimate is capacity) == (law is None)
    return estimate, seen, law


def test_a_rate_that_changes_slowly_has_a_law() -> None:
    estimate, seen, law = varying([4.0] * 10 + [8.0] * 10)
    assert (law.name, law.starts) == ("steps", (0, 10))
    assert [start for start, _, _ in seen] == pytest.approx(list(range(20)))
    assert [rate for *_, rate in seen] == pytest.approx([4e6] * 10 + [8e6] * 10)
    assert estimate.value == pytest.approx(6e6)
    assert estimate.how.startswith("varies: 4 to 8 Mbit/s over 20 stretches (1 step between 4, 8 Mbit/s)")
    assert varying([4.0] * 10 + [8.0] * 10, constant=0.85)[2] is None, "most stretches have one rate"
    assert varying([4.0] * 20)[2] is None
    assert varying([4.0, 4.0, 8.0])[2] is None, "fewer than four"


def test_a_law_of_rates_is_told_in_words() -> None:
    assert RateLaw("steps", (1e6, 2e6, 3e6)).describe() == "2 steps between 1, 2, 3 Mbit/s"
    assert RateLaw("trace", (1e6, 2e6)).describe() == "no law explains it: the measured rates themselves"
    # Back and forth by a factor of two, more often than five steps can: two levels.
    law = fit_rates([4e6, 8e6] * 10)[0]
    assert (law.name, law.levels) == ("markov", pytest.approx((4e6, 8e6)))
    assert law.moves == ((0.0, 1.0), (1.0, 0.0))
    # No two rates alike: nothing but the rates explains them.
    wild = [1e6 * 1.3**n for n in (0, 7, 3, 9, 1, 8, 2, 6, 4, 5)]
    assert fit_rates(wild)[0].name == "trace"


def test_losses_in_runs_gain_by_a_second_parameter() -> None:
    """From an arrival to a loss in 5 of 15, back in 5 of 15; in all 15 of 30."""
    found = fit_losses([[False, False, False, True, True, True] * 5 + [False]])
    assert found is not None
    assert (found.name, found.into, found.back, found.run, found.runs) == (
        "gilbert-elliott", pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(3.0), 5,
    )  # fmt: skip
    chain = 2 * (5 * math.log(1 / 3) + 10 * math.log(2 / 3))
    assert found.gain == pytest.approx((2 - 2 * 30 * math.log(0.5)) - (4 - 2 * chain))
    # Back in a half, where a third arrives: shorter than chance has them.
    short = fit_losses([[False, True, True] * 6 + [False]])
    assert short is not None
    assert (short.name, short.gain > 0) == ("bernoulli", True)


def transfer(**given: Any) -> Transfer:
    """Return ten seconds of TCP at 9 Mbit/s, whose round trips rise from 40 to 100 ms."""
    told: dict[str, Any] = {
        "udp": False, "received": 9e6, "rates": [9e6] * 10, "payload": 1448, "headers": 52,
        "rtts": [0.04] + [0.1] * 9,
    }  # fmt: skip
    return Transfer(**{**told, **given})


def test_a_queue_stood_if_round_trips_are_well_above_their_floor() -> None:
    carried = 9e6 * 1500 / 1448
    said = throughput.capacity(transfer())
    assert isinstance(said, Measured)
    assert (said.value, said.low, said.high) == pytest.approx((carried,) * 3)
    assert said.how.endswith("headers of 52 B added; round-trip times of 40 to 100 ms show a queue")

    def shows(usual: float, **given: Any) -> bool:
        return isinstance(throughput.capacity(transfer(rtts=[0.04] + [usual] * 9, **given)), Measured)

    # A quarter above the floor; ten packets of 1,500 bytes at 9.32 Mbit/s take 12.9 ms.
    assert shows(0.0530)
    assert not shows(0.0528)
    fast = {"received": 90e6, "rates": [90e6] * 10}
    assert shows(0.0501, **fast)
    assert not shows(0.0499, **fast)
    # Of two the greatest counts, half above the floor.
    assert isinstance(throughput.capacity(transfer(rtts=[0.04, 0.061])), Measured)
    assert isinstance(throughput.capacity(transfer(rtts=[0.04, 0.059])), Bounded)
    # Pings know a lower floor.
    assert isinstance(throughput.capacity(transfer(rtts=[0.1] * 10)), Bounded)
    assert isinstance(throughput.capacity(transfer(rtts=[0.1] * 10), floor=0.04), Measured)
    assert isinstance(throughput.capacity(transfer(rtts=[0.1] * 10, idle_rtt=0.04)), Measured)
    kept = throughput.capacity(transfer(limit=10e6))
    assert isinstance(kept, Bounded), "nine tenths of what the sender was told"
    assert kept.at_least == pytest.approx(carried)
    assert isinstance(throughput.capacity(transfer(limit=10.1e6)), Measured)


def test_a_window_limits_if_it_was_nearly_full() -> None:
    """9 Mbit/s for 100 ms are 112.5 kB."""
    assert throughput.limited_by_window(transfer(window=112_500 / 0.85 - 1))
    assert not throughput.limited_by_window(transfer(window=112_500 / 0.85 + 1))
    assert not throughput.limited_by_window(transfer())
    assert not throughput.limited_by_window(transfer(window=1.0, rtts=[]))
    assert not throughput.limited_by_window(transfer(window=1.0, udp=True))
    assert not throughput.limited_by_window(transfer(window=1.0, received=NAN))


def test_what_a_sender_wrote_counts_from_the_second_interval_on() -> None:
    wrote = throughput.capacity(transfer(received=NAN, rates=[20e6, 8e6, 10e6]))
    assert isinstance(wrote, Bounded)
    assert wrote.at_least == pytest.approx(9e6 * 1500 / 1448)
    once = throughput.capacity(transfer(received=NAN, rates=[20e6]))
    assert isinstance(once, Bounded)
    assert once.at_least == pytest.approx(20e6 * 1500 / 1448)
    # What arrived in the intervals is the mean of all.
    arrived = throughput.capacity(transfer(received=NAN, arrived=True, rates=[6e6, 12e6]))
    assert isinstance(arrived, Measured)
    assert arrived.value == pytest.approx(9e6 * 1500 / 1448)
    assert isinstance(throughput.capacity(transfer(received=NAN, rates=[])), Unknown)
    assert isinstance(throughput.capacity(transfer(received=NAN, udp=True)), Unknown)
    # Two later intervals have no spread: the faster one.
    assert throughput._most(transfer(rates=[1.0, 5.0, 7.0])) == 7.0
    assert throughput._most(transfer(rates=[1.0])) == 9e6


def test_datagrams_of_a_full_queue_arrive_steadily() -> None:
    """Half of 100 were lost: independent losses vary by 25, and a queue by less than 1.25."""
    # Arrivals of 50 and 51 in turn vary by 0.3; of 50 and 53 by 2.7.
    assert throughput.steady([(0, 9)] + [(50 - n % 2, 100) for n in range(6)])
    assert not throughput.steady([(0, 9)] + [(50 - 3 * (n % 2), 100) for n in range(6)])
    # Between: 4 of 8 by two, 8 / 7 = 1.14 and by 2.2, 1.38 as the half is.
    assert throughput.steady([(0, 9)] + [(50 - 2 * (n % 2), 100) for n in range(8)])
    assert not throughput.steady([(0, 9)] + [(50 - 2 * (n % 2), 100) for n in range(4)])
    assert throughput.steady([(0, 9)] + [(50, 100)] * 4)
    assert not throughput.steady([(0, 9)] + [(50, 100)] * 3)
    assert not throughput.steady([(0, 9)] + [(50, 100)] * 3 + [(0, 0)] * 3), "an interval without any"


def test_losses_and_delays_of_a_transfer() -> None:
    assert isinstance(throughput.loss(transfer()), Unknown)
    udp = {"udp": True, "packets": 400, "rates": [9e6] * 4}
    assert isinstance(throughput.loss(transfer(udp=True)), Unknown)
    none = throughput.loss(transfer(**udp))
    assert isinstance(none, Measured)
    # Wilson: z^2 / (n + z^2).
    assert (none.value, none.low, none.high) == (0.0, 0.0, pytest.approx(3.8416 / 403.8416))
    some = throughput.loss(transfer(**udp, lost=4))
    assert isinstance(some, Bounded)
    assert some.at_most == pytest.approx(0.0254, abs=1e-4)
    full = [(0, 9)] + [(50, 100)] * 4
    assert isinstance(throughput.loss(transfer(**udp, lost=200, counts=full)), Unknown)
    said = throughput.capacity(transfer(**udp, lost=200, counts=full))
    assert isinstance(said, Measured)
    assert said.value == pytest.approx(50 * 1500 * 8)

    def delay(*tests: Transfer) -> float | None:
        found = throughput.delay(tests)
        return found.at_most if isinstance(found, Bounded) else None

    assert delay(transfer(), transfer(idle_rtt=0.05)) == 0.025, "a handshake before the smoothed ones"
    assert delay(transfer(), transfer(rtts=[0.03])) == 0.015
    assert delay(transfer(rtts=[])) is None


def test_the_interval_of_requests_is_that_of_replies_far_apart() -> None:
    read = pings._Read()
    # Lines are late by 0.4 s, now and then: pairs half of the log apart.
    stamped = [(n, n * 1.0 + 0.4 * (n % 4 == 3)) for n in range(20)]
    assert pings._interval(stamped, read, 20) == (pytest.approx(1.0, abs=0.03), "stamped")
    assert pings._interval([(0, 5.0), (4, 7.0)], read, 20) == (0.5, "stamped")
    assert pings._interval([(0, 5.0)], read, 20) == (1.0, "assumed")
    assert pings._interval([], pings._Read(lasted=9.5), 20) == (0.5, "summary")
    assert pings._interval([], pings._Read(lasted=9.5), 1) == (1.0, "assumed")
    assert pings._interval([], pings._Read(lasted=0.0), 20) == (1.0, "assumed")


def test_a_clock_that_was_set_is_closed() -> None:
    notes: list[str] = []
    stamped = [(n, 100 + n * 1.0 + (30.0 if n > 4 else 0.0)) for n in range(10) if n != 7]
    assert pings._times(stamped, 1.0, 0, 10, notes, "a") == pytest.approx(list(range(10)))
    assert notes == ["a: the times of requests jump 1 times; the jumps are closed"]
    # Up to five intervals are no jump: nothing was sent meanwhile.
    notes.clear()
    late = [(n, n * 1.0 + (4.9 if n > 4 else 0.0)) for n in range(20)]
    assert pings._times(late, 1.0, 0, 20, notes, "a")[5] == pytest.approx(9.9)
    assert notes == []
    # Stamps of whole seconds are worse than a line.
    coarse = [(n, float(round(n * 0.2))) for n in range(20)]
    assert pings._times(coarse, 0.2, 0, 20, notes, "a") == pytest.approx([n * 0.2 for n in range(20)])
    assert notes == ["a: the times of lines are coarse or late; requests are taken 0.2 s apart"]


def test_times_of_day_go_on_over_midnight() -> None:
    clock = pings._Clock()
    times = [
        clock.split(f"{text} rest")[0] for text in ("23:59:59.5", "00:00:00.5", "00:00:00.25", "01:02:03.0")
    ]
    assert times == pytest.approx([86_399.5, 86_400.5, 86_400.25, 86_400 + 3723])
    assert clock.split("[1700000000.25] rest") == (1_700_000_000.25, "rest")
    assert clock.split("1970-01-02 00:00:01 rest") == (86_401.0, "rest")
    assert math.isnan(clock.split("rest of it")[0])


def test_a_reply_has_its_number_time_and_resolution() -> None:
    assert pings._reply("64 bytes from h: icmp_seq=7 ttl=55 time=12.3 ms") == (
        7, pytest.approx(0.0123), pytest.approx(1e-4),
    )  # fmt: skip
    assert pings._reply("64 bytes from h: icmp_seq=7 ttl=55 time=12 ms") == (7, 0.012, 0.001)
    assert pings._reply("64 bytes from h: icmp_seq=7 ttl=55 zeit=12,34 ms") == (
        7, pytest.approx(0.01234), pytest.approx(1e-5),
    )  # fmt: skip
    assert pings._reply("no answer yet for icmp_seq=7") is None
    assert pings._reply("64 bytes from h: icmp_seq=7 ttl=55") is None
