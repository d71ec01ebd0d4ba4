"""Deliveries, and the proof that something waited in front of the link while they came.

A packet waited if it was sent before the packet in front of it had left the link. Only then does the time
between the two deliveries tell the link's rate; otherwise it tells the sender's.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.data.fitting.estimate import median, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.connections import Connection, Sent

#: What a wait must exceed the time since the delivery before, s: captures and timers of hosts are as exact.
MARGIN_S = 0.0005
#: Deliveries of a stretch whose rate is looked at: enough that the timing error of its two ends is small.
WINDOW = 8
#: Fewer stretches with backlog do not show a rate.
LEAST_WINDOWS = 4
#: Stretches in a block of the bootstrap: errors of neighbours go together, as in a burst or a busy period.
_BLOCK = 4
#: Draws of a bootstrap.
_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Delivery:
    """What arrived at one time.

    Attributes:
        time: When the capture could know it, s.
        size: Bytes of IP.
        wait: Longest wait of its packets in front of the link, s; NaN if unknown.
        sent: When the newest of its packets was sent, s, on the capture's clock; NaN if unknown.
    """

    time: float
    size: int
    wait: float = math.nan
    sent: float = math.nan


@dataclass(frozen=True, slots=True)
class Stretch:
    """Successive deliveries with a rate.

    Attributes:
        start: Time of the delivery before the first, s.
        end: Time of the last, s.
        size: Bytes.
    """

    start: float
    end: float
    size: int

    @property
    def rate(self) -> float:
        """Rate, bit/s."""
        return self.size * 8 / max(self.end - self.start, 1e-9)


def deliveries(
    connections: Sequence[Connection], base: float, lateness: dict[int, float] | None
) -> list[Delivery]:
    """Return what arrived, in time order.

    Args:
        connections: Connections over the same link, captured at the same end.
        base: Round-trip time without queue, s.
        lateness: At a receiver, how late each packet came by its sender's timestamps; None without.
    """
    found: dict[float, list[Sent]] = {}
    for connection in connections:
        for sent in connection.data:
            if not sent.lost:
                found.setdefault(sent.answered, []).append(sent)
    sender = connections[0].side == "sender"
    result = []
    for time in sorted(found):
        group = found[time]
        wait = math.nan
        if sender:
            waits = [time - sent.time - base for sent in group if sent.fresh]
            wait = max(waits) if waits else math.nan
        elif lateness is not None:
            wait = max(lateness.get(id(sent), math.nan) for sent in group)
        newest = time - wait - base if not math.isnan(wait) else math.nan
        result.append(Delivery(time, sum(sent.size for sent in group), wait, newest))
    if not sender:
        # Nothing tells their waits, but the link carried them.
        result += [Delivery(time, size) for connection in connections for time, size in connection.others]
        result.sort(key=lambda each: each.time)
    return result


def queued(found: Sequence[Delivery], tick: float = 0.0) -> list[bool]:
    """Return for each delivery whether its packet was sent before the one in front had left the link.

    Args:
        found: Deliveries, in time order.
        tick: Resolution of the waits, s.
    """
    result = [False] if found else []
    silent = 0
    for before, after in itertools.pairwise(found):
        # An acknowledgement without news of a single packet says nothing: it neither proves nor refutes.
        wait = after.wait
        if math.isnan(wait):
            silent += 1
            result.append(result[-1] and silent <= _WITHOUT_NEWS)
            continue
        silent = 0
        result.append(wait > after.time - before.time + MARGIN_S + tick)
    return result


def windows(found: Sequence[Delivery], waited: Sequence[bool], count: int = WINDOW) -> list[Stretch]:
    """Return disjoint stretches of `count` deliveries of which each waited for the one before."""
    result = []
    start = 0
    while start + count < len(found):
        broken = next((k for k in range(start + 1, start + count + 1) if not waited[k]), None)
        if broken is not None:
            start = broken
            continue
        size = sum(each.size for each in found[start + 1 : start + count + 1])
        if found[start + count].time > found[start].time:
            result.append(Stretch(found[start].time, found[start + count].time, size))
        start += count
    return result


def block_bootstrap(stretches: Sequence[Stretch]) -> tuple[float, float]:
    """Return the 95 % interval of the rate of all bytes over all time, by blocks of neighbours."""
    blocks = [stretches[n : n + _BLOCK] for n in range(0, len(stretches), _BLOCK)]
    if len(blocks) < 3:
        rates = sorted(each.rate for each in stretches)
        return (rates[0], rates[-1]) if rates else (math.nan, math.nan)
    sums = [
        (math.fsum(each.size for each in block) * 8, math.fsum(each.end - each.start for each in block))
        for block in blocks
    ]
    # The same draws for the same number: a fit gives the same file every time.
    chance = random.Random(len(sums))  # noqa: S311 (no secret)
    found = []
    for _ in range(_DRAWS):
        drawn = chance.choices(sums, k=len(sums))
        found.append(math.fsum(size for size, _ in drawn) / math.fsum(time for _, time in drawn))
    found.sort()
    return found[int(0.025 * _DRAWS)], found[min(_DRAWS - 1, int(0.975 * _DRAWS))]


#: Successive acknowledgements without news of a single packet, as in recovery, between two with.
_WITHOUT_NEWS = 2
#: How late a host may be with a packet that then comes in a burst, s: a tick of a kernel with 250 Hz.
_LATE_S = 0.004
#: Deliveries at one time, or nearly so, s: within an interrupt or a burst of a receiver.
_TOGETHER_S = 0.0003
#: Batches: at least this many, of so many deliveries, over a share of all.
_LEAST_BATCHES, _BATCH_SIZE, _BATCH_SHARE = 6, 3, 0.7
#: At a receiver two at one time are a batch: a link sends one after the other. At a sender two are one
#: delayed acknowledgement.
_PAIR = 2
#: Batches come apart by so many packets at least: pairs by two, with the error of their ends.
_APART = 1.9
#: Batches come apart by less than this share of the round-trip time; a sender's bursts come once in each.
_BATCH_ROUND = 0.6


@dataclass(frozen=True, slots=True)
class Batches:
    """Arrivals in batches: interrupts, A-MPDU, uplink grants.

    Attributes:
        spacing: Median time between batches, s.
        most: 99 % quantile of the time between them, s.
        size: Median number of packets in one.
    """

    spacing: float
    most: float
    size: float


def batches(times: Sequence[float], base: float, packet_s: float, *, receiver: bool) -> Batches | None:
    """Return how arrivals come in batches; None if they do not.

    Args:
        times: Arrival of each packet, s, in order.
        base: Round-trip time without queue, s.
        packet_s: Mean time between packets, s; packets that are as near as `_TOGETHER_S` by themselves are no
            batch.
        receiver: Whether the times are those of data at their receiver.
    """
    least = _PAIR if receiver else _BATCH_SIZE
    if len(times) < _LEAST_BATCHES * _BATCH_SIZE or packet_s <= 2 * _TOGETHER_S:
        return None
    starts, sizes = [times[0]], [1]
    for before, after in itertools.pairwise(times):
        if after - before <= _TOGETHER_S:
            sizes[-1] += 1
        else:
            starts.append(after)
            sizes.append(1)
    inside = sum(size for size in sizes if size >= least)
    spacings = [after - before for before, after in itertools.pairwise(starts)]
    if len(starts) < _LEAST_BATCHES or inside < _BATCH_SHARE * len(times):
        return None
    spacing = median(spacings)
    if spacing > _BATCH_ROUND * base or spacing < _APART * packet_s:
        return None
    return Batches(spacing, quantile(spacings, 0.99), median(sizes))


def at_least(found: Sequence[Delivery], span: float, packet_bytes: int) -> float:
    """Return the most that was delivered within a span, as a rate, bit/s: what the link surely carries.

    The first packet of a span may have arrived just before it, and one batch may belong to the span before.
    """
    best = 0.0
    first = 0
    total = 0
    # Packets of a span may have been held up before it, by a host or a batch.
    span_ = span + _LATE_S
    for last, each in enumerate(found):
        total += each.size
        while found[first].time < each.time - span:
            total -= found[first].size
            first += 1
        if last > first:
            size = total - found[first].size
            best = max(best, max(0, size - packet_bytes) * 8 / span_)
    return best
