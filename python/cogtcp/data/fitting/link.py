"""What a TCP transfer says of its link: delay, capacity, queue, loss and silences.

A capture at the sender tells when each packet was sent and when its acknowledgement came; one at the
receiver, when each packet arrived. The link is one bottleneck with half of the round-trip time each way, as
in the scenario that comes of it.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cogtcp.data.fitting.backlog import deliveries
from cogtcp.data.fitting.capacity import SPREAD, RateLaw, fit_rates
from cogtcp.data.fitting.connections import LEAST_PACKETS
from cogtcp.data.fitting.estimate import Estimate, bootstrap, median, quantile, unknown
from cogtcp.data.fitting.limits import limited
from cogtcp.data.fitting.losses import LEAST_RUNS, fit_losses
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown
from cogtcp.data.fitting.rate import NEAR, RateFit, late_ones, measure
from cogtcp.data.fitting.silences import LEAST_RUN, LEAST_TIMED, Gap, Silences, characterise, tested
from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.connections import Connection, Sent
    from cogtcp.data.fitting.limits import Limit
    from cogtcp.data.fitting.losses import LossLaw

#: Share of the bytes that waited from which on the link, not the sender, set the pace.
_BACKLOG = 0.3
#: Resolution of timestamps at a receiver, s (Linux: one tick in a millisecond).
_TICK_S = 0.001
#: Where only a lower bound of the capacity is known, the scenario has so many times that: enough that the
#: flow stays limited as it was.
ABOVE = 4.0
#: A gap is at least so many usual distances of deliveries, and so long, s: timers of a host are late by 4 ms
#: (a kernel with 250 Hz).
_THRESHOLD, _LEAST_GAP_S = 4, 0.004
#: Half of the interval of a round-trip time, s: hosts, and relays on the way, each answer within 0.3 ms.
_DELAY_FLOOR_S = 0.0006
#: Bytes of a SYN with its usual options.
_SYN_BYTES = 60
#: A packet of less than this share of a full one shows the delay without transmission.
_SMALL = 0.3
#: Round-trip times so near to the least one show the floor, a share; so many visits of it are no chance.
_DELAY_NEAR, _FLOOR_VISITS = 0.02, 10
#: Share of the stretches at one rate from which on no law of rates is looked for.
_STEADY = 0.85
#: What the scenario has where the data show nothing: delay one way, s; rate, bit/s; packet, B.
_DELAY_S, _DEFAULT, _PACKET = 0.025, 10e6, 1500
#: Quantiles that stand for the longest wait and the longest queue: a stray packet is not it.
_TOP, _LONGEST = 0.98, 0.995
#: Round-trip times vary if nine of ten are not within this of the least: a floor was visited, not a plateau.
_VARIES = 1.1
#: A packet that would wait for more than this share of the longest wait found the queue full.
_FULL_WAIT = 0.95
#: Usual ticks of timestamps, s (Linux, older kernels, BSD); the measured tick is one of them within a share;
#: and fewer stamps do not show it.
_TICKS, _TICK_NEAR, _STAMPS = (0.001, 0.004, 0.01), 0.02, 10
#: Slow changes of a rate: steps of at least so long, s, and at most so many in a capture.
_STEP_S, _STEPS = 1.0, 30
#: A probe is missed if the next one comes after more than so many intervals.
_MISSED = 1.3
#: A sender that begins again by its timer is silent for so many round-trip times, and s (half of Linux's
#: least timeout): shorter gaps are recovery.
_TIMEOUT, _TIMEOUT_S = 1.5, 0.1
#: Jitter below this is a host's, s; and a share of the round-trip time.
_JITTER_S, _JITTER_SHARE = 0.001, 0.02
#: Losses at a queue of this share of the longest are those of a full queue; shorter queues than so many
#: packets are bursts; so many losses show a length.
_FULL, _LEAST_QUEUE, _FULL_LOSSES = 0.6, 4, 3
#: A packet that met at most so many others in front of the link met no queue; chance would have lost so many
#: of them; losses are told from those of the queue if this share of the packets met less than half of it.
_EMPTY, _EXPECTED, _LOW_SHARE = 2, 3.0, 0.1
#: Critical value of the test of Kolmogorov and Smirnov at 1 %, in standard units: losses of another law than
#: the packets' own are not the link's.
_SAME_QUEUES = 1.63
#: Spread of the queue's lengths at losses beyond which a queue has no fixed length, as with CoDel or RED.
_AQM_SPREAD = 0.35


@dataclass
class LinkFit:
    """What was found of a link.

    Attributes:
        delay: One way, s.
        jitter: Spread of the round-trip time where nothing queues, s; None where there is none.
        capacity: Rate, bit/s.
        rates: Rate of each stretch between silences, where it varies: (start, end, bit/s).
        queue: In packets.
        loss: Beside queue and silences, a share.
        run: Mean run of such losses, packets.
        silences: The silences, if there are some.
        packet_bytes: Usual size of a data packet.
        started: When data began to flow, s.
        lasted: For how long, s.
        goodput: New payload per second, bit/s.
        flows: How many connections there were.
        rate_law: Law of the rates, where they vary.
        loss_law: Law of the losses, with enough of them.
        notes: What was odd.
        side: End at which the capture was taken.
        evidence: What tells the end.
        limit: What limited the transfer.
        rate_fit: Deliveries and their rates.
        base: Round-trip time without queue, s.
        loss_share: Share of losses for the scenario: the estimate, or half of its bound.
        hidden_s: A silence up to this length cannot be seen, s.
        met: Of each packet outside silences: when it was sent, s; packets in front of the link; whether it
            was lost. Empty where the capture does not show them.
    """

    delay: Estimate
    jitter: Estimate | None
    capacity: Estimate
    queue: Estimate
    loss: Estimate
    run: Estimate
    silences: Silences | None
    packet_bytes: int
    started: float
    lasted: float
    goodput: float
    flows: int
    rates: list[tuple[float, float, float]] = field(default_factory=list)
    rate_law: RateLaw | None = None
    loss_law: LossLaw | None = None
    notes: list[str] = field(default_factory=list)
    side: str = "sender"
    evidence: str = ""
    limit: Limit | None = None
    rate_fit: RateFit | None = None
    base: float = math.nan
    loss_share: float = 0.0
    hidden_s: float = math.nan
    met: list[tuple[float, int, bool]] = field(default_factory=list)


def fit_link(connections: Sequence[Connection]) -> LinkFit:
    """Return the fit of a link from its connections."""
    main = connections[0]
    same = [connection for connection in connections if connection.side == main.side]
    notes = [note for connection in same for note in connection.notes]
    data = _by_time(same)
    packet_bytes = _packet_bytes(same)
    least = _least_round_trip(same)
    lateness = _waits(same) if main.side == "receiver" else None
    found = _rate(same, main, least, lateness, packet_bytes)
    capacity = Estimate.of("capacity", found.capacity, _instead_of_rate(found))
    base, delay = _delay(same, found)
    limit = limited(main, backlog=found.backlog >= _BACKLOG, base=base if delay.known else math.nan)
    if main.probes:
        # From the first to the last: other packets may have begun the capture long before.
        spacing = (main.data[-1].time - main.data[0].time) / max(1, len(main.data) - 1) * 0.5
    else:
        # Two: with delayed ACKs every second packet is answered.
        spacing = 2 * packet_bytes * 8 / (found.rate if found.trace else found.low_rate)
        if found.batches is not None:
            spacing = max(spacing, found.batches.most)
    # The gate passes acknowledgements half of the round-trip time before the sender sees them.
    passages = _passages(same, base)
    rate = found.rate if main.probes or isinstance(found.capacity, Measured) else math.inf
    passing = _departures(same, rate if math.isfinite(rate) else 0.0, base, main)
    gaps = (
        _gaps_at_sender(same, passages, passing, base, spacing)
        if main.side == "sender"
        else _gaps_at_receiver(same, passages, base, spacing, saturated=found.backlog >= _BACKLOG)
    )
    if not main.probes and (found.backlog < _BACKLOG or limit.by in ("window", "application")):
        # A sender that does not fill the link pauses once in each round trip.
        gaps = [gap for gap in gaps if gap.most > base or gap.probes]
    silences = tested(characterise(gaps, spacing), gaps, data, base, spacing)
    if silences is not None and silences.mode == "drop" and main.side == "sender" and len(silences.gaps) > 1:
        # Where nothing is held acknowledgements come at once: data that arrived bound a silence too. A late
        # answer stands for one that the silence lost: it says nothing of when the data passed.
        late = max(2 * spacing, _PROMPT)
        answered = [
            passing.real[id(sent)]
            for sent in data
            if sent.fresh and passing.real[id(sent)] - passing.expected[id(sent)] < late
        ]
        passages = sorted([*passages, *answered])
        gaps = _gaps_at_sender(same, passages, passing, base, spacing)
        silences = tested(characterise(gaps, spacing), gaps, data, base, spacing)
    rates: list[tuple[float, float, float]] = []
    rate_law: RateLaw | None = None
    timed = silences is not None and len(silences.gaps) >= LEAST_TIMED
    if isinstance(found.capacity, Measured):
        capacity, rates, rate_law = _varying(found, silences, capacity, base)
    # A law of slow changes says more than a trace; where there is none, the trace.
    if found.trace and not timed and (rate_law is None or rate_law.name == "trace"):
        capacity = Estimate.of("capacity", found.capacity)
        rates, rate_law = found.trace, RateLaw("trace", tuple(each for _, _, each in found.trace))
    counts = _counts(data, base) if main.side == "sender" and not (main.probes or main.quic) else {}
    hidden = _hidden(passages, silences, max(_THRESHOLD * spacing, _LEAST_GAP_S))
    silent = _silent(data, silences, passing, base)
    if found.batches is not None:
        counts = {}
    queue = _queue(data, silent, capacity, counts, base, packet_bytes, main)
    loss, run, loss_law = _loss(data, silent, counts, queue, base, main)
    first = data[0].time
    last = max((each.time for each in found.deliveries), default=data[-1].time)
    tcp = [connection for connection in same if not connection.probes]
    highest = sum(max(s.end for s in c.data) - min(s.seq for s in c.data) for c in tcp)
    return LinkFit(
        delay=delay,
        jitter=_jitter(same, base, found.backlog, limit),
        capacity=capacity,
        rates=rates,
        rate_law=rate_law,
        loss_law=loss_law,
        loss_share=_share_of(loss),
        queue=queue,
        loss=loss,
        run=run,
        silences=silences,
        hidden_s=hidden,
        packet_bytes=packet_bytes,
        started=first,
        lasted=last - first,
        goodput=highest * 8 / max(last - first, 1e-9),
        flows=len(tcp),
        notes=notes,
        side=main.side,
        evidence=main.evidence,
        limit=limit,
        rate_fit=found,
        base=base,
        met=[(sent.time, counts[id(sent)], sent.lost) for sent in data if counts and id(sent) not in silent],
    )


def _share_of(loss: Estimate) -> float:
    """Return the share of losses that the scenario has; where only a bound is known, half of it."""
    if loss.known:
        return loss.value
    if loss.bound is not None and loss.bound.at_most is not None and "queue may have dropped" in loss.how:
        return loss.bound.at_most / 2
    return 0.0


def _by_chance(
    data: Sequence[Sent], silent: set[int], counts: dict[int, int], most: float, until: float
) -> bool:
    """Return whether losses met the same queues as other packets did, as losses of the link do.

    Two-sample test of Kolmogorov and Smirnov (1 %). CoDel and its like drop where packets wait.
    """
    seen = [sent for sent in data if id(sent) not in silent and counts[id(sent)] < most and sent.time < until]
    # Of a run of losses the first alone: what follows may be one event. A lost packet does not count itself.
    lost = sorted(
        counts[id(sent)] + 1
        for before, sent in itertools.pairwise([None, *seen])
        if sent is not None and sent.lost and not (before is not None and before.lost)
    )
    kept = sorted(counts[id(sent)] for sent in seen if not sent.lost)
    if len(lost) < LEAST_RUNS or not kept:
        return True
    apart = max(
        abs(bisect.bisect_right(lost, value) / len(lost) - bisect.bisect_right(kept, value) / len(kept))
        for value in {*lost, *kept}
    )
    return apart * math.sqrt(len(lost) * len(kept) / (len(lost) + len(kept))) < _SAME_QUEUES


def _packet_bytes(connections: Sequence[Connection]) -> int:
    sizes = [sent.size for connection in connections if not connection.probes for sent in connection.data]
    return round(median(sizes or [_PACKET]))


def _least_round_trip(connections: Sequence[Connection]) -> float:
    """Return the least round-trip time of any packet, transmission included; NaN without one."""
    found = [c.handshake_s for c in connections if not math.isnan(c.handshake_s)]
    for connection in connections:
        if connection.side == "sender":
            found += [sent.answered - sent.time for sent in connection.data if sent.fresh]
        else:
            found += [wait for wait, _ in connection.returns]
    return min((each for each in found if each > 0), default=math.nan)


def _rate(
    same: Sequence[Connection],
    main: Connection,
    least: float,
    lateness: dict[int, float] | None,
    packet_bytes: int,
) -> RateFit:
    if main.probes:
        return RateFit(Unknown("probes do not fill the link"), _DEFAULT, _DEFAULT, 0.0)
    if main.quic and main.side == "sender":
        lasted = max(main.data[-1].time - main.data[0].time, _TICK_S)
        sent = sum(each.size for each in main.data) * 8 / lasted
        return RateFit(Unknown("the sender's end of QUIC does not show what arrived"), sent, sent, 0.0)
    # Probes take their part of the link.
    tcp = [c for c in same if not c.probes or (c.same_clock and main.same_clock)]
    base = least if main.side == "sender" else 0.0
    found = deliveries(tcp, base if not math.isnan(base) else 0.0, lateness)
    times = sorted(sent.answered for c in tcp for sent in c.data if not sent.lost)
    tick = 0.0 if main.side == "sender" else _TICK_S
    timed = not math.isnan(least) if main.side == "sender" else lateness is not None
    return measure(found, times, least, packet_bytes, tick=tick, timed=timed)


def _instead_of_rate(found: RateFit) -> str:
    if isinstance(found.capacity, Unknown):
        return "the scenario has 10 Mbit/s"
    return f"the scenario has {ABOVE:g} times that"


def _delay(connections: Sequence[Connection], found: RateFit) -> tuple[float, Estimate]:
    """Return the round-trip time without queue and transmission, and the delay one way."""
    measured = isinstance(found.capacity, Measured)
    # Round-trip times with the bytes that went there and back.
    samples: list[tuple[float, int, int]] = []
    opened = False
    for connection in connections:
        if connection.handshake_s > 0:
            bytes_ = connection.handshake_bytes // 2
            samples.append((connection.handshake_s, bytes_, bytes_))
            opened = opened or connection.opened or not connection.quic
        if connection.side == "sender":
            samples += [
                (sent.answered - sent.time, sent.size, connection.ack_bytes)
                for sent in connection.data
                if sent.fresh and sent.answered > sent.time
            ]
        else:
            samples += [(wait, size, connection.ack_bytes) for wait, size in connection.returns if wait > 0]
    if not samples:
        what = (
            "one direction was captured" if connections[0].one_way else "no packet has an answer of its own"
        )
        return 2 * _DELAY_S, unknown("delay", "s", f"{what}; the scenario has 25 ms")
    trips = [trip for trip, _, _ in samples]
    rate = found.rate if measured else math.inf
    base, unsure = _floor(samples, rate, _packet_bytes(connections))
    if found.trace:
        # Which rate the quickest packet met, there and back, is unknown.
        unsure += sum(min(samples)[1:]) * 8 / found.low_rate
    floor = min(trips)
    near = [value for value in trips if value < floor * (1 + _DELAY_NEAR) + _DELAY_FLOOR_S]
    half = _DELAY_FLOOR_S
    if found.batches is not None:
        # Each direction may have waited for a batch.
        half += found.batches.spacing
    if not measured:
        # What packets of unknown transmission time took of it, at the least rate that is sure.
        quickest = min(samples)
        size = sum(quickest[1:]) if connections[0].quic else max(quickest[1], _SYN_BYTES)
        unsure = size * 8 / found.rate
    probes = all(connection.probes for connection in connections)
    often = len(near) >= _FLOOR_VISITS and quantile(trips, 0.9) > _VARIES * base
    if connections[0].quic and not opened:
        how = "half of both legs of the QUIC handshake; a host's cryptography may be in them"
        return base, Estimate.of(
            "delay", Bounded("s", how, at_most=base / 2), f"the scenario has {base * 500:.3g} ms"
        )
    if connections[0].side == "receiver" and not opened and found.backlog < _BACKLOG:
        how = (
            f"half of the least time from an acknowledgement to its data, of {len(trips)}; a sender that has "
            "nothing to send answers late"
        )
        bound = Bounded("s", how, at_most=base / 2 + half / 2)
        return base, Estimate.of("delay", bound, f"the scenario has {base * 500:.3g} ms")
    if not (opened or often or probes or found.backlog < _BACKLOG):
        how = (
            f"half of the least round-trip time of {len(trips)} packets; the capture begins in the middle, "
            "and a queue may have stood all the time"
        )
        bound = Bounded("s", how, at_most=base / 2)
        return base, Estimate.of("delay", bound, f"the scenario has {base * 500:.3g} ms")
    if not opened and connections[0].side == "receiver":
        unsure += _TICK_S
    how = (
        f"half of the least round-trip time of {len(trips)} packets"
        f"{', minus the transmission time' if measured else ''}; both directions are assumed equal"
    )
    low = max(0.0, base - half - unsure)
    high = base + half + (unsure if measured else 0.0)
    return base, Estimate.of("delay", Measured(base / 2, low / 2, high / 2, "s", how))


def _floor(samples: Sequence[tuple[float, int, int]], rate: float, packet_bytes: int) -> tuple[float, float]:
    """Return the round-trip time without queue and transmission, and how far it is unsure, s.

    A line needs its transmission time for each packet; a shaper with tokens left sends a packet at once. A
    small packet and a full one that both met no queue tell the two apart. Whether the way back has the same
    rate is unknown: half of its transmission time counts.
    """
    trip = min(samples)[0]
    line, back = min((each - (there + back / 2) * 8 / rate, back) for each, there, back in samples)
    unsure = back / 2 * 8 / rate
    if math.isinf(rate) or line <= 0:
        return trip, 0.0
    small = min((each for each in samples if each[1] <= _SMALL * packet_bytes), default=None)
    full = min((each for each in samples if each[1] > _SMALL * packet_bytes), default=None)
    if small is None or full is None:
        # Between the two.
        return (line + trip) / 2, (trip - line) / 2 + unsure
    longer, transmission = full[0] - small[0], (full[1] - small[1]) * 8 / rate
    return (line, unsure) if longer > transmission / 2 else (trip, 0.0)


def _jitter(connections: Sequence[Connection], base: float, backlog: float, limit: Limit) -> Estimate | None:
    """Return the spread of round-trip times where nothing queues; None where there is none."""
    if connections[0].side != "sender" or not (connections[0].probes or limit.by == "application"):
        return None
    if backlog > _BACKLOG:
        return None
    found = sorted(sent.answered - sent.time for c in connections for sent in c.data if sent.fresh)
    if len(found) < LEAST_PACKETS:
        return None
    value = quantile(found, 0.75) - quantile(found, 0.25)
    if value < max(_JITTER_S, _JITTER_SHARE * base):
        return None
    low, high = bootstrap(found, lambda some: quantile(some, 0.75) - quantile(some, 0.25))
    how = "spread of the middle half of the round-trip times while nothing queued; scenarios have no jitter"
    return Estimate("jitter", value, min(low, value), max(high, value), "s", how)


def _passages(connections: Sequence[Connection], base: float) -> list[float]:
    """Return when something passed the gate: acknowledgements of a sender, data of a receiver."""
    if connections[0].side == "sender":
        return sorted(time - base / 2 for connection in connections for time in connection.answers)
    return sorted(sent.time - base / 2 for connection in connections for sent in connection.data)


@dataclass
class _Passing:
    """When packets left the link.

    Attributes:
        expected: By the queue in front of each, as if the link were never silent.
        real: By its answer where there is one, else as expected.
        probes: Which packets are probes.
    """

    expected: dict[int, float] = field(default_factory=dict)
    real: dict[int, float] = field(default_factory=dict)
    probes: set[int] = field(default_factory=set)


def _departures(connections: Sequence[Connection], rate: float, base: float, main: Connection) -> _Passing:
    """Return when each packet left the link, or would have."""
    after = base + main.ack_bytes * 8 / rate if rate > 0 else base
    found = _Passing(probes={id(sent) for c in connections if c.probes for sent in c.data})
    data = _by_time(connections)
    # Longer than packets ever wait nothing is in the queue: what finds it full is not.
    longest = quantile([sent.answered - sent.time - after for sent in data if sent.fresh], _TOP)
    last = -math.inf
    for sent in data:
        expected = max(sent.time, last) + (sent.size * 8 / rate if rate > 0 else 0.0)
        found.expected[id(sent)] = found.real[id(sent)] = expected
        if sent.fresh:
            found.real[id(sent)] = last = max(sent.answered - after, sent.time)
        else:
            # What is lost in a silence or on the way was in the queue before.
            last = (
                expected
                if not sent.lost or expected - sent.time <= _FULL_WAIT * longest
                else max(last, sent.time)
            )
    return found


def _by_time(connections: Sequence[Connection]) -> list[Sent]:
    return sorted(
        (sent for connection in connections for sent in connection.data), key=lambda sent: sent.time
    )


#: Packets that wanted to pass first in a gap: their fate tells what the silence does.
_FIRST = 5
#: A packet was held if it left the link later than expected by this share of the gap.
_HELD = 0.4
#: The least timeout of Linux, s; gaps of so many timeouts have several in them (1 + 2 of back-off).
_RTO_S, _TIMERS = 0.2, 3.0
#: Packets, sent before the middle of a gap, that left only after it.
_WAITING = 2
#: An answer is prompt if it is at most so late, s, or two packets.
_PROMPT = 0.004


def _gaps_at_sender(
    connections: Sequence[Connection],
    passages: Sequence[float],
    passing: _Passing,
    base: float,
    spacing: float,
) -> list[Gap]:
    """Return the gaps in which packets were lost, or were held."""
    threshold = max(_THRESHOLD * spacing, _LEAST_GAP_S)
    every = [c.data[-1].time - c.data[0].time for c in connections if c.probes]
    if every:
        count = sum(len(c.data) for c in connections if c.probes)
        threshold = max(threshold, _MISSED * every[0] / count)
    by_time = _by_time(connections)
    sent_at = [sent.time for sent in by_time]
    due = sorted(
        (passing.expected[id(sent)], number, sent) for number, sent in enumerate(_by_time(connections))
    )
    times = [time for time, _, _ in due]
    found = []
    late = late_ones(passages)
    for number, (before, after) in enumerate(itertools.pairwise(passages), start=1):
        if after - before <= threshold or number not in late:
            continue
        here = due[bisect.bisect_right(times, before) : bisect.bisect_left(times, after)]
        waiting = [(time, sent) for time, _, sent in here]
        # A probe is sent whatever the link does: where there are probes, only their fate shows losses in a
        # silence. Where the gate holds, probes may stand in a queue behind the packets that tell.
        probing = [(time, sent) for time, sent in waiting if id(sent) in passing.probes]
        first = (probing or waiting)[:_FIRST]
        lost = [time for time, sent in waiting if sent.lost]
        if not first:
            continue
        # The first packets of a gap may be lost and later ones held: a radio hears late of an incumbent.
        within = by_time[
            bisect.bisect_right(sent_at, before + base) : bisect.bisect_left(
                sent_at, after - _HELD * (after - before)
            )
        ]
        if any(not sent.lost and sent.answered - base / 2 >= after - spacing for sent in within):
            found.append(Gap(before, after, True))
            continue
        if 2 * sum(sent.lost for _, sent in first) > len(first) and (probing or not every):
            if len(lost) > 1 or every:
                unanswered = sum(sent.lost for _, sent in probing)
                found.append(Gap(before, after, False, lost[0], lost[-1], len(lost), unanswered))
            continue
        # Where packets are held the answer that would have passed next passes at the end: its packet left the
        # link half of the round-trip time earlier.
        caught = due[
            bisect.bisect_right(times, before - base / 2 - 3 * spacing) : bisect.bisect_left(times, after)
        ]
        held = max((passing.real[id(sent)] - time for time, _, sent in caught if sent.fresh), default=0.0)
        if held <= _HELD * (after - before):
            continue
        # A single packet may have waited for a delayed acknowledgement.
        last_sent = bisect.bisect_right(sent_at, (before + after) / 2)
        behind = by_time[max(0, last_sent - 4 * _WAITING) : last_sent]
        if not every and sum(passing.real[id(s)] >= after - spacing for s in behind) < _WAITING:
            continue
        # Data that waited too are answered half of the round-trip time later: the same silence once more.
        last = found[-1] if found else None
        if last and last.held and before - last.end < base / 2 and after - before < base / 2 + 3 * spacing:
            continue
        found.append(Gap(before, after, True))
    return found


def _gaps_at_receiver(
    connections: Sequence[Connection],
    passages: Sequence[float],
    base: float,
    spacing: float,
    *,
    saturated: bool,
) -> list[Gap]:
    """Return the gaps that something waited in, told by what came after: a hole, or packets that are late.

    Without a hole only the length of a gap tells that packets were lost, and only if the sender had data to
    send (`saturated`): else the application paused.
    """
    threshold = max(_THRESHOLD * spacing, _LEAST_GAP_S)
    data = _by_time(connections)
    waits = _waits(connections)
    found = []
    highest = 0
    late = late_ones([sent.time for sent in data])
    for index, (before, after) in enumerate(itertools.pairwise(data)):
        highest = max(highest, before.end)
        gap = after.time - before.time
        if gap <= threshold or index + 1 not in late:
            continue
        start, end = passages[index], passages[index + 1]
        # A sender that starts again by its timer leaves no hole: then only the length of the gap tells.
        filled = after.seq > highest or (saturated and gap > _TIMEOUT * base + _TIMEOUT_S)
        if waits is not None:
            held = waits.get(id(after), 0.0) > waits.get(id(before), 0.0) + _HELD * gap
        else:
            # Without timestamps a sender's pause looks like a silence that holds.
            held = False
        if held:
            found.append(Gap(start, end, True))
        elif filled:
            # After so long the sender's timer has expired more than once: retransmissions were lost too. Each
            # waits twice as long as the one before, so the last of them fell into the first half.
            timer = _RTO_S + 2 * base
            several = gap > _TIMERS * timer
            last = start + max(0.0, (gap - timer) / 2) if several else start
            found.append(Gap(start, end, False, start, last, LEAST_RUN if several else 1))
    return found


def _waits(connections: Sequence[Connection]) -> dict[int, float] | None:
    """Return how late each packet came after its sender stamped it, beside the quickest; None without stamps.

    The clock of timestamps (RFC 7323) runs at a rate of its own, usually one tick in a millisecond.
    """
    found: dict[int, float] = {}
    for connection in connections:
        stamped = [sent for sent in connection.data if sent.stamp is not None]
        if len(stamped) < _STAMPS or stamped[-1].stamp == stamped[0].stamp:
            # One connection without stamps is enough: all must be judged alike.
            return None
        first, last = stamped[0], stamped[-1]
        ticks = ((last.stamp or 0) - (first.stamp or 0)) % (1 << 32)
        tick = (last.time - first.time) / ticks
        for usual in _TICKS:
            if abs(tick / usual - 1) < _TICK_NEAR:
                tick = usual
        late = {
            id(sent): sent.time
            - first.time
            - (((sent.stamp or 0) - (first.stamp or 0) + (1 << 31)) % (1 << 32) - (1 << 31)) * tick
            for sent in stamped
        }
        # The two clocks have no common zero: only differences to the quickest packet tell.
        least = min(late.values())
        found |= {key: value - least for key, value in late.items()}
    return found


def _varying(
    found: RateFit, silences: Silences | None, capacity: Estimate, base: float
) -> tuple[Estimate, list[tuple[float, float, float]], RateLaw | None]:
    """Return capacity, its rates over time where it varies slowly, and their law.

    A rate holds for a stretch between silences, or for a second.
    """
    if found.constant >= _STEADY:
        return capacity, [], None
    stretches = found.stretches
    first, last = found.deliveries[0].time, found.deliveries[-1].time
    cuts = [first, last]
    if silences is not None and len(silences.gaps) >= LEAST_TIMED:
        shift = base / 2  # from the gate to who captured
        cuts[1:1] = [gap.end + shift for gap in silences.gaps]
    else:
        width = max(_STEP_S, (last - first) / _STEPS)
        cuts[1:1] = [first + width * n for n in range(1, int((last - first) / width))]
    cuts.sort()
    starts = [each.start for each in stretches]
    rates, seen = [], 0
    for start, end in itertools.pairwise(cuts):
        part = stretches[bisect.bisect_left(starts, start) : bisect.bisect_left(starts, end)]
        part = [each for each in part if each.end <= end]
        if end > start and any(start <= each.time < end for each in found.deliveries):
            seen += 1
        # Three that agree: a median of fewer is no rate of its own.
        usual = median([each.rate for each in part])
        if sum(abs(each.rate / usual - 1) <= NEAR for each in part) >= max(3, len(part) / 2):
            rates.append((start, end, usual))
    values = [rate for _, _, rate in rates]
    # A rate that most stretches do not show is no law of the link.
    if len(values) < max(4, seen / 2):
        return capacity, [], None
    middle = median(values)
    law = fit_rates(values)[0]
    # One stretch with an odd rate is no law of its own.
    spread = (quantile(values, 0.8) - quantile(values, 0.2)) / middle
    if law.name == "constant" or (law.name in ("trace", "markov") and spread <= SPREAD):
        return capacity, [], None
    low, high = bootstrap(values)
    how = (
        f"varies: {min(values) * 1e-6:.3g} to {max(values) * 1e-6:.3g} Mbit/s over {len(values)} stretches "
        f"({law.describe()}); this is the median"
    )
    return Estimate("capacity", middle, min(low, middle), max(high, middle), "bit/s", how), rates, law


def _counts(data: Sequence[Sent], base: float) -> dict[int, int]:
    """Return how many packets were in front of the link, itself included, when each was sent.

    A packet has left the link when its answer is less than the round-trip time without queue away. This needs
    no rate.
    """
    left = sorted(sent.answered - base for sent in data if not sent.lost)
    found: dict[int, int] = {}
    entered = 0
    for sent in data:
        entered += not sent.lost
        found[id(sent)] = max(0, entered - bisect.bisect_right(left, sent.time))
    return found


def _hidden(passages: Sequence[float], silences: Silences | None, threshold: float) -> float:
    """Return the longest silence that may be hidden, s: the shortest that shows, or the longest other gap."""
    gaps = [after - before for before, after in itertools.pairwise(passages)]
    return max(threshold, max(gaps, default=0.0)) if silences is None else threshold


def _silent(data: Sequence[Sent], silences: Silences | None, passing: _Passing, base: float) -> set[int]:
    """Return the packets whose fate a silence may have decided: on their way, or in the queue."""
    if silences is None:
        return set()
    return {
        id(sent)
        for sent in data
        if silences.covers(sent.time - base / 2, max(sent.time, passing.expected[id(sent)]) + base)
    }


def _queue(
    data: Sequence[Sent],
    silent: set[int],
    capacity: Estimate,
    counts: dict[int, int],
    base: float,
    packet_bytes: int,
    main: Connection,
) -> Estimate:
    """Return the length of the queue: the packets in front of the link just before a loss."""
    name, unit = "queue", "packets"
    bdp = max(2, round(capacity.value * base / 8 / packet_bytes)) if capacity.known else 100
    instead = (
        f"the scenario has one BDP, {bdp} packets" if capacity.known else f"the scenario has {bdp} packets"
    )
    if not counts:
        why = "batches hide it" if main.side == "sender" else "a capture at the receiver does not show it"
        return unknown(name, unit, f"{why}; {instead}")
    seen: list[int] = []
    at_loss: list[int] = []
    for sent in data:
        if id(sent) in silent:
            continue
        (at_loss if sent.lost else seen).append(counts[id(sent)])
    top = quantile(seen, _LONGEST) if seen else math.nan
    full = [count for count in at_loss if count > _FULL * top and count > _LEAST_QUEUE]
    if len(full) < _FULL_LOSSES or not seen:
        if not seen or top <= _LEAST_QUEUE:
            return unknown(name, unit, f"nothing queued; {instead}")
        bound = Bounded(unit, "no loss at a full queue was seen", at_least=max(1.0, top - _burst(data)))
        return Estimate.of(name, bound, f"the scenario has {max(bdp, round(top))} packets")
    # A burst of losses goes on while the queue drains: a queue has the length at which losses begin.
    starts = _starts(data, counts, silent, base, _FULL * top)
    full = starts if len(starts) >= _FULL_LOSSES else full
    spread = (quantile(full, 0.9) - quantile(full, 0.1)) / median(full)
    if spread > _AQM_SPREAD:
        how = (
            f"{len(full)} losses at queues of {quantile(full, 0.1):.0f} to {quantile(full, 0.9):.0f} "
            "packets: it has no fixed length"
        )
        return Estimate.of(
            name,
            Bounded(unit, how, at_least=max(1.0, quantile(seen, 0.5) - _burst(data))),
            f"the scenario has {round(top)} packets",
        )
    # The packet that the link is sending is in none of its queues.
    full = [max(1, count - 1) for count in full]
    value = float(median(full))
    low, high = bootstrap(full)
    # A delayed acknowledgement hides one packet or two.
    how = f"packets in front of the link just before {len(full)} losses"
    return Estimate(name, max(1.0, value), max(1.0, min(low, value) - 2), max(high, value) + 2, unit, how)


def _burst(data: Sequence[Sent]) -> float:
    """Return how many packets a host sends, or acknowledges, at one time: the error of a count."""
    sent: dict[float, int] = {}
    answered: dict[float, int] = {}
    for each in data:
        sent[each.time] = sent.get(each.time, 0) + 1
        if not each.lost:
            answered[each.answered] = answered.get(each.answered, 0) + 1
    return float(quantile(list(sent.values()), 0.95) + quantile(list(answered.values()) or [0], 0.95))


def _starts(
    data: Sequence[Sent], counts: dict[int, int], silent: set[int], base: float, least: float
) -> list[int]:
    """Return the packets in front of the link at the first loss of each burst, a round trip apart."""
    found, last = [], -math.inf
    for sent in data:
        if not sent.lost:
            continue
        first = sent.time > last + base and id(sent) not in silent
        if first and counts[id(sent)] > max(least, _LEAST_QUEUE):
            found.append(counts[id(sent)])
        last = sent.time
    return found


def _loss(
    data: Sequence[Sent],
    silent: set[int],
    counts: dict[int, int],
    queue: Estimate,
    base: float,
    main: Connection,
) -> tuple[Estimate, Estimate, LossLaw | None]:
    """Return the chance of losses that neither queue nor silence explains, their mean run, and their law."""
    if main.quic:
        how = "QUIC is encrypted: losses are not visible; the scenario has none"
        return unknown("loss", "share", how), unknown("loss run", "packets", how), None
    if main.side != "sender":
        resent = sum(sent.resent for sent in data)
        how = f"a receiver does not show the cause of a loss ({resent} packets came late or again)"
        where = "; the scenario has none"
        if not resent:
            high = share_interval(0, max(1, len(data)))[1]
            bound = Bounded("share", f"no packet of {len(data)} came late or again", at_most=high)
            return (
                Estimate.of("loss", bound, "the scenario has none"),
                unknown("loss run", "packets", how),
                None,
            )
        return unknown("loss", "share", how + where), unknown("loss run", "packets", how), None
    top = quantile(list(counts.values()), _TOP) if counts else 0.0
    aqm = queue.bound is not None and "no fixed length" in queue.how
    # A queue that never held more than some packets lost none.
    limit = (queue.value if queue.known else top) if top > _LEAST_QUEUE else math.inf
    stretches: list[list[bool]] = [[]]
    last = data[-1].time
    lost_all = 0
    for sent in data:
        if id(sent) in silent:
            if stretches[-1]:
                stretches.append([])
            continue
        lost_all += sent.lost
        # Only packets that found the queue less than half full: a full queue's losses are none of the link's.
        if counts and counts[id(sent)] >= 0.5 * limit:
            continue
        # What was sent in the last round trips may still have been answered after the capture.
        stretches[-1].append(sent.lost and sent.time < last - 2 * base)
    sent_count = sum(map(len, stretches))
    lost_count = sum(map(sum, stretches))
    if sent_count < LEAST_PACKETS or not counts:
        share = lost_all / max(1, len(data))
        bound = Bounded(
            "share", f"{lost_all} of {len(data)} packets lost; queue and link are not told apart",
            at_most=share_interval(lost_all, len(data))[1],
        )  # fmt: skip
        return (
            Estimate.of("loss", bound, "the scenario has none"),
            unknown("loss run", "packets", "not known"),
            None,
        )
    # Wilson's interval; runs are the independent events.
    runs = sum(
        lost and not before for each in stretches for before, lost in itertools.pairwise([False, *each])
    )
    share = lost_count / max(1, sent_count)
    low, high = share_interval(runs, max(1, sent_count))
    scale = lost_count / runs if runs else 1.0
    where = "outside silences, " if silent else ""
    how = f"{lost_count} of {sent_count} packets lost {where}while the queue was less than half full"
    loss = Estimate("loss", share, min(low * scale, share), max(min(1.0, high * scale), share), "share", how)
    most = loss.high
    if aqm and lost_count:
        # Such a queue loses packets while it is short: they are not told from the link's.
        bound = Bounded("share", f"{how}; the queue may have dropped some of them", at_most=most)
        loss = Estimate.of("loss", bound, f"the scenario has {most * 50:.3g} %")
    empty = [sent for sent in data if id(sent) not in silent and counts[id(sent)] <= _EMPTY]
    none = len(empty) * share >= _EXPECTED and not any(sent.lost for sent in empty)
    if none:
        # Chance would have hit some of them: CoDel and its like drop while packets wait.
        bound = Bounded(
            "share", f"{how}; none of the {len(empty)} that met no queue: the queue may have dropped them",
            at_most=most,
        )  # fmt: skip
        loss = Estimate.of("loss", bound, f"the scenario has {most * 50:.3g} %")
    elif loss.known and not _by_chance(data, silent, counts, 0.5 * limit, last - 2 * base):
        bound = Bounded(
            "share", f"{how}; chance would hit other packets: the queue may have dropped some", at_most=most
        )
        loss = Estimate.of("loss", bound, f"the scenario has {most * 50:.3g} %")
    elif lost_count and (runs < LEAST_RUNS or sent_count < _LOW_SHARE * len(data)) and loss.known:
        bound = Bounded(
            "share", f"{how}, in {runs} runs: too few to tell chance from a full queue", at_most=most
        )
        loss = Estimate.of("loss", bound, "the scenario has none")
    law = fit_losses(stretches)
    if law is None:
        return loss, unknown("loss run", "packets", "too few losses; assumed independent"), None
    if law.name == "bernoulli":
        how = f"losses are independent (Bernoulli; Gilbert-Elliott has {abs(law.gain):.1f} more AIC)"
    else:
        how = (
            f"losses come in runs (Gilbert-Elliott: {law.into * 100:.3g} % into the state that loses, "
            f"{law.back * 100:.3g} % back; {law.gain:.1f} less AIC than Bernoulli)"
        )
    return loss, Estimate("loss run", law.run, law.low, law.high, "packets", how), law
