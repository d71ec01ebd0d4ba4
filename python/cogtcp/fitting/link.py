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

from cogtcp.fitting.capacity import SPREAD, fit_rates
from cogtcp.fitting.estimate import Estimate, bootstrap, median, quantile, unknown
from cogtcp.fitting.losses import fit_losses
from cogtcp.fitting.silences import Gap, Silences, characterise
from cogtcp.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.fitting.capacity import RateLaw
    from cogtcp.fitting.connections import Connection, Sent
    from cogtcp.fitting.losses import LossLaw

#: Deliveries of a stretch whose rate is looked at, and the width of the bins that rates are counted in.
_WINDOW, _BIN = 8, 0.02
#: Rates this near to the usual one are the link's.
_NEAR = 0.10
#: A stretch has a rate of its own if this share of its bytes comes at it.
_SHARP = 0.5


@dataclass
class LinkFit:
    """What was found of a link.

    Attributes:
        delay: One way, s.
        jitter: Spread of the round-trip time where nothing queues, s.
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
    """

    delay: Estimate
    jitter: Estimate
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


@dataclass(frozen=True, slots=True)
class _Group:
    """Deliveries that were seen at one time."""

    time: float
    size: int


def fit_link(connections: Sequence[Connection]) -> LinkFit:
    """Return what connections over the same link say of it."""
    main = connections[0]
    same = [connection for connection in connections if connection.side == main.side]
    notes = [note for connection in same for note in connection.notes]
    groups = _deliveries(same)
    data = _by_time(same)
    packet_bytes = round(median([sent.size for c in same if not c.probes for sent in c.data] or [1500]))
    if main.probes:
        capacity = unknown("capacity", "bit/s", "probes do not fill the link; the scenario has 10 Mbit/s")
        # From the first to the last: other packets may have begun the capture long before.
        spacing = (main.data[-1].time - main.data[0].time) / max(1, len(main.data) - 1) * 0.5
    else:
        capacity, _ = _capacity(groups, packet_bytes)
        # Two: with delayed ACKs every second packet is answered.
        spacing = 2 * packet_bytes * 8 / capacity.value if capacity.known else 0.01
    base, delay = _delay(same, capacity)
    # The gate passes acknowledgements half of the round-trip time before the sender sees them.
    passages = _passages(same, base)
    passing = _departures(same, capacity.value, base, main)
    gaps = (
        _gaps_at_sender(same, passages, passing, base, spacing)
        if main.side == "sender"
        else _gaps_at_receiver(same, passages, base, spacing)
    )
    silences = characterise(gaps, spacing)
    if silences is not None and silences.mode == "drop" and main.side == "sender":
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
        silences = characterise(gaps, spacing)
    rates: list[tuple[float, float, float]] = []
    rate_law: RateLaw | None = None
    if not main.probes:
        capacity, rates, rate_law = _varying(groups, data, silences, capacity, packet_bytes, base)
    queue = _queue(data, silences, capacity, base, packet_bytes, main)
    loss, run, loss_law = _loss(data, silences, capacity, queue, rates, base, packet_bytes, main)
    first, last = data[0].time, max(group.time for group in groups)
    tcp = [connection for connection in same if not connection.probes]
    highest = sum(max(s.end for s in c.data) - min(s.seq for s in c.data) for c in tcp)
    return LinkFit(
        delay=delay,
        jitter=_jitter(same, base),
        capacity=capacity,
        rates=rates,
        rate_law=rate_law,
        loss_law=loss_law,
        queue=queue,
        loss=loss,
        run=run,
        silences=silences,
        packet_bytes=packet_bytes,
        started=first,
        lasted=last - first,
        goodput=highest * 8 / max(last - first, 1e-9),
        flows=len(tcp),
        notes=notes,
    )


def _deliveries(connections: Sequence[Connection]) -> list[_Group]:
    """Return what arrived, by the time at which the capture could know it."""
    sizes: dict[float, int] = {}
    for connection in connections:
        for sent in connection.data:
            if not sent.lost:
                sizes[sent.answered] = sizes.get(sent.answered, 0) + sent.size
    return [_Group(time, sizes[time]) for time in sorted(sizes)]


def _capacity(groups: Sequence[_Group], packet_bytes: int) -> tuple[Estimate, float]:
    """Return the rate at which most bytes arrived back to back, and the share of the bytes that did."""
    name, unit = "capacity", "bit/s"
    windows = [
        (index, sum(group.size for group in groups[index + 1 : index + _WINDOW + 1]) * 8 / span)
        for index in range(len(groups) - _WINDOW)
        if (span := groups[index + _WINDOW].time - groups[index].time) > 0
    ]
    if len(windows) < 3:
        return unknown(name, unit, "too few packets; the scenario has 10 Mbit/s"), 0.0
    weights: dict[int, float] = {}
    for index, rate in windows:
        # Bins of the logarithm: equally wide in relation to the rate.
        place = math.floor(math.log(rate) / _BIN)
        weights[place] = weights.get(place, 0.0) + groups[index + 1].size
    # With its neighbours: the edge of a bin may cut the peak in two.
    top = max(weights, key=lambda b: sum(weights.get(b + step, 0.0) for step in (-1, 0, 1)))
    mode = math.exp((top + 0.5) * _BIN)
    slopes = _runs(groups, windows, mode)
    share = math.fsum(w for b, w in weights.items() if abs(math.exp((b + 0.5) * _BIN) / mode - 1) <= _NEAR)
    share /= math.fsum(weights.values())
    if not slopes:
        slopes = [(mode, 1.0)]
    value = _weighted_median(slopes)
    low, high = bootstrap([rate for rate, _ in slopes])
    if math.isnan(low):
        low, high = 0.97 * value, 1.03 * value
    # The value is weighted by bytes and the bootstrap is not: the interval must hold it all the same.
    low, high = min(low, value), max(high, value)
    how = f"the most frequent rate between successive packets ({share * 100:.0f} % of the bytes within 10 %)"
    return Estimate(name, value, low, high, unit, how), share


def _runs(
    groups: Sequence[_Group], windows: Sequence[tuple[int, float]], mode: float
) -> list[tuple[float, float]]:
    """Return rate and bytes of the stretches in which packets arrive at about the usual rate."""
    found: list[tuple[float, float]] = []
    begin: int | None = None
    last = -2
    # A last window far off ends the run that is open.
    for index, rate in [*windows, (len(groups) + 9, math.inf)]:
        near = abs(rate / mode - 1) <= _NEAR
        if begin is not None and (not near or index != last + 1):
            first, end = begin, last + _WINDOW
            size = sum(group.size for group in groups[first + 1 : end + 1])
            span = groups[end].time - groups[first].time
            if span > 0 and end - first >= 2 * _WINDOW:
                found.append((size * 8 / span, float(size)))
            begin = None
        if near:
            begin = index if begin is None else begin
            last = index
    return found


def _weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    ordered = sorted(pairs)
    half, seen = math.fsum(weight for _, weight in ordered) / 2, 0.0
    for value, weight in ordered:
        seen += weight
        if seen >= half:
            return value
    return ordered[-1][0]


def _delay(connections: Sequence[Connection], capacity: Estimate) -> tuple[float, Estimate]:
    """Return the round-trip time without queue and transmission, and the delay one way."""
    rate = capacity.value if capacity.known else math.inf
    found: list[float] = []
    for connection in connections:
        if not math.isnan(connection.handshake_s):
            found.append(connection.handshake_s - connection.handshake_bytes * 8 / rate)
        if connection.side == "sender":
            found += [
                sent.answered - sent.time - (sent.size + connection.ack_bytes) * 8 / rate
                for sent in connection.data
                if sent.fresh
            ]
    found = [value for value in found if value > 0]
    if not found:
        how = "the capture has neither a handshake nor acknowledgements; the scenario has 25 ms"
        return 0.05, unknown("delay", "s", how)
    base = min(found)
    near = [value for value in found if value < base * 1.02 + 0.001]
    high = max(near) if len(near) > 1 else base * 1.02
    how = (
        f"half of the least round-trip time of {len(found)} packets, minus the transmission time; both "
        "directions are assumed equal"
    )
    return base, Estimate("delay", base / 2, base / 2 * 0.99, min(high, base * 1.02 + 0.001) / 2, "s", how)


def _jitter(connections: Sequence[Connection], base: float) -> Estimate:
    """Return the spread of round-trip times where nothing queues."""
    if connections[0].side != "sender":
        return unknown("jitter", "s", "a capture at the receiver has no round-trip time of single packets")
    found = sorted(sent.answered - sent.time for c in connections for sent in c.data if sent.fresh)
    lowest = found[: max(3, len(found) // 100)]
    if len(lowest) < 3:
        return unknown("jitter", "s", "too few packets")
    value = lowest[-1] - lowest[0]
    how = "spread of the lowest 1 % of round-trip times; a scenario has no jitter except from queues and MAC"
    return Estimate("jitter", value, 0.0, max(value, 0.02 * base), "s", how)


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
    longest = quantile([sent.answered - sent.time - after for sent in data if sent.fresh], 0.98)
    last = -math.inf
    for sent in data:
        expected = max(sent.time, last) + (sent.size * 8 / rate if rate > 0 else 0.0)
        found.expected[id(sent)] = found.real[id(sent)] = expected
        if sent.fresh:
            found.real[id(sent)] = last = max(sent.answered - after, sent.time)
        else:
            # What is lost in a silence or on the way was in the queue before.
            last = (
                expected if not sent.lost or expected - sent.time <= 0.95 * longest else max(last, sent.time)
            )
    return found


def _by_time(connections: Sequence[Connection]) -> list[Sent]:
    return sorted(
        (sent for connection in connections for sent in connection.data), key=lambda sent: sent.time
    )


#: Packets that wanted to pass first in a gap: their fate tells what the silence does.
_FIRST = 5
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
    threshold = max(4 * spacing, 0.004)
    every = [c.data[-1].time - c.data[0].time for c in connections if c.probes]
    if every:
        count = sum(len(c.data) for c in connections if c.probes)
        threshold = max(threshold, 1.3 * every[0] / count)
    due = sorted(
        (passing.expected[id(sent)], number, sent) for number, sent in enumerate(_by_time(connections))
    )
    times = [time for time, _, _ in due]
    found = []
    for before, after in itertools.pairwise(passages):
        if after - before <= threshold:
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
        late = max((passing.real[id(sent)] - time for time, _, sent in caught if sent.fresh), default=0.0)
        if late <= 0.4 * (after - before):
            continue
        # Data that waited too are answered half of the round-trip time later: the same silence once more.
        last = found[-1] if found else None
        if last and last.held and before - last.end < base / 2 and after - before < base / 2 + 3 * spacing:
            continue
        found.append(Gap(before, after, True))
    return found


def _gaps_at_receiver(
    connections: Sequence[Connection], passages: Sequence[float], base: float, spacing: float
) -> list[Gap]:
    """Return the gaps that something waited in, told by what came after: a hole, or packets that are late."""
    threshold = max(4 * spacing, 0.004)
    data = _by_time(connections)
    waits = _waits(connections)
    found = []
    highest = 0
    for index, (before, after) in enumerate(itertools.pairwise(data)):
        highest = max(highest, before.end)
        gap = after.time - before.time
        if gap <= threshold:
            continue
        start, end = passages[index], passages[index + 1]
        # A sender that starts again by its timer leaves no hole: then only the length of the gap tells.
        filled = after.seq > highest or gap > 1.5 * base + 0.1
        if waits is not None:
            held = waits.get(id(after), 0.0) > waits.get(id(before), 0.0) + 0.4 * gap
        else:
            burst = data[index + 1 : index + 9]
            held = len(burst) > 4 and burst[-1].time - burst[0].time < 0.75 * (len(burst) - 1) * spacing
        if held:
            found.append(Gap(start, end, True))
        elif filled:
            found.append(Gap(start, end, False, start, start, 1))
    return found


def _waits(connections: Sequence[Connection]) -> dict[int, float] | None:
    """Return how late each packet came after its sender stamped it, beside the quickest; None without stamps.

    The clock of timestamps (RFC 7323) runs at a rate of its own, usually one tick in a millisecond.
    """
    found: dict[int, float] = {}
    for connection in connections:
        stamped = [sent for sent in connection.data if sent.stamp is not None]
        if len(stamped) < 10 or stamped[-1].stamp == stamped[0].stamp:
            # One connection without stamps is enough: all must be judged alike.
            return None
        first, last = stamped[0], stamped[-1]
        ticks = ((last.stamp or 0) - (first.stamp or 0)) % (1 << 32)
        tick = (last.time - first.time) / ticks
        for usual in (0.001, 0.004, 0.01):
            if abs(tick / usual - 1) < 0.02:
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
    groups: Sequence[_Group],
    data: Sequence[Sent],
    silences: Silences | None,
    capacity: Estimate,
    packet_bytes: int,
    base: float,
) -> tuple[Estimate, list[tuple[float, float, float]], RateLaw | None]:
    """Return capacity, its rates over time where it varies, and their law.

    A rate holds for a stretch between silences, or for a second.
    """
    if not capacity.known:
        return capacity, [], None
    times = [group.time for group in groups]
    cuts = [times[0], times[-1]]
    if silences is not None and len(silences.gaps) >= 4:
        shift = base / 2  # from the gate to who captured
        cuts[1:1] = [gap.end + shift for gap in silences.gaps]
    else:
        width = max(1.0, (times[-1] - times[0]) / 30)
        cuts[1:1] = [times[0] + width * n for n in range(1, int((times[-1] - times[0]) / width))]
    cuts.sort()
    rates, stretches = [], 0
    least = base + packet_bytes * 8 / capacity.value
    waited = [(sent.answered, sent.answered - sent.time - least) for sent in data if sent.fresh]
    waited.sort()
    when = [time for time, _ in waited]
    for start, end in itertools.pairwise(cuts):
        part = groups[bisect.bisect_left(times, start) : bisect.bisect_left(times, end)]
        if len(part) < 3 * _WINDOW:
            continue
        found, share = _capacity(part, packet_bytes)
        stretches += 1
        # Where a sender did not fill the link packets follow each other at the sender's pace: nothing waits.
        waits = waited[bisect.bisect_left(when, start) : bisect.bisect_left(when, end)]
        full = median([wait for _, wait in waits]) * found.value / 8 > 3 * packet_bytes if waits else False
        if found.known and share >= _SHARP and full:
            rates.append((start, end, found.value))
    values = [rate for _, _, rate in rates]
    # A rate that most stretches do not show is no law of the link.
    if len(values) < max(4, stretches / 2):
        return capacity, [], None
    middle = median(values)
    law = fit_rates(values)[0]
    # One stretch with an odd rate is no law of its own.
    spread = (quantile(values, 0.8) - quantile(values, 0.2)) / middle
    if law.name == "constant" or (law.name == "trace" and spread <= SPREAD):
        return capacity, [], None
    low, high = bootstrap(values)
    how = (
        f"varies: {min(values) * 1e-6:.3g} to {max(values) * 1e-6:.3g} Mbit/s over {len(values)} stretches "
        f"({law.describe()}); this is the median"
    )
    return Estimate("capacity", middle, low, high, "bit/s", how), rates, law


def _queue(
    data: Sequence[Sent],
    silences: Silences | None,
    capacity: Estimate,
    base: float,
    packet_bytes: int,
    main: Connection,
) -> Estimate:
    """Return the length of the queue: the backlog just before a loss."""
    name, unit = "queue", "packets"
    bdp = max(2, round(capacity.value * base / 8 / packet_bytes)) if capacity.known else 100
    if main.side != "sender" or not capacity.known:
        return unknown(
            name, unit, f"a capture at the receiver does not show it; the scenario has one BDP, {bdp} packets"
        )
    after = base + (packet_bytes + main.ack_bytes) * 8 / capacity.value
    waits: list[float] = []
    at_loss: list[float] = []
    before: float = math.nan
    for sent in data:
        if sent.fresh:
            if silences is None or not silences.covers(sent.time - base, sent.answered):
                before = sent.answered - sent.time - after
                waits.append(before)
            else:
                before = math.nan
        elif sent.lost and not math.isnan(before):
            at_loss.append(before)
    top = quantile(waits, 0.995) if waits else math.nan
    full = [wait for wait in at_loss if wait > 0.6 * top and wait * capacity.value / 8 > 2 * packet_bytes]
    packets = capacity.value / 8 / packet_bytes
    if len(full) < 3:
        seen = f"it holds {max(0, round(top * packets))} packets at least" if waits else "nothing shows it"
        return unknown(
            name, unit, f"no loss at a full queue was seen; {seen}; the scenario has one BDP, {bdp} packets"
        )
    # And the packet that is being sent.
    value = median(full) * packets + 1
    low, high = bootstrap(full)
    how = f"the backlog just before {len(full)} losses"
    return Estimate(name, max(1.0, value), low * packets, high * packets + 2, unit, how)


def _loss(
    data: Sequence[Sent],
    silences: Silences | None,
    capacity: Estimate,
    queue: Estimate,
    rates: Sequence[tuple[float, float, float]],
    base: float,
    packet_bytes: int,
    main: Connection,
) -> tuple[Estimate, Estimate, LossLaw | None]:
    """Return the chance of losses that neither queue nor silence explains, their mean run, and their law."""
    if main.side != "sender":
        how = "a capture at the receiver does not show the cause of a loss; the scenario has none"
        return unknown("loss", "share", how), unknown("loss run", "packets", how), None
    # Where the rate varies a full queue waits least at the highest rate.
    fastest = max((rate for _, _, rate in rates), default=capacity.value)
    limit = (
        (queue.value if queue.known else math.inf) * packet_bytes * 8 / fastest
        if capacity.known
        else math.inf
    )
    after = base + (packet_bytes + main.ack_bytes) * 8 / (capacity.value if capacity.known else math.inf)
    stretches: list[list[bool]] = [[]]
    wait = 0.0
    last = data[-1].time
    for sent in data:
        if silences is not None and silences.covers(sent.time - base / 2, sent.time + base + wait):
            if stretches[-1]:
                stretches.append([])
            continue
        if sent.fresh:
            wait = max(0.0, sent.answered - sent.time - after)
        # What was sent in the last round trips may still have been answered after the capture.
        stretches[-1].append(sent.lost and wait < 0.5 * limit and sent.time < last - 2 * base)
    sent_count = sum(map(len, stretches))
    lost_count = sum(map(sum, stretches))
    # Wilson's interval; runs are the independent events.
    runs = sum(
        lost and not before for each in stretches for before, lost in itertools.pairwise([False, *each])
    )
    share = lost_count / max(1, sent_count)
    low, high = share_interval(runs, max(1, sent_count))
    scale = lost_count / runs if runs else 1.0
    how = (
        f"{lost_count} of {sent_count} packets lost outside silences, while the queue was less than half full"
    )
    loss = Estimate("loss", share, low * scale, high * scale, "share", how)
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
