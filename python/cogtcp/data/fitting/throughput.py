"""What a test of iperf3 says of a link: what it carried, and whether it could have carried more.

A rate that arrived is a lower bound of the capacity. It is the capacity only if a queue stood in front of the
link: round-trip times well above their floor, or datagrams lost at a steady rate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.data.fitting.estimate import bootstrap, median
from cogtcp.data.fitting.quantity import Bounded, Measured, Quantity, Unknown
from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.iperf3 import Transfer

#: A sender that keeps to a rate is limited by it if it reached this share of it.
_KEPT = 0.9
#: A queue stands if the median of the round-trip times is this many times their floor: a loss-based sender in
#: front of a queue of half a bandwidth-delay product stays between 1 and 1.5 times.
_STANDS = 1.25
#: A queue stands if the greatest is so many times the floor, where the log has no others: a start may have
#: filled the queue once.
_ONCE = 1.5
#: And so many packets must have waited: schedulers and delayed ACKs alone delay few.
_WAITING = 10
#: Bytes in flight, as a share of the receive window, from which on the window limits.
_WINDOW = 0.85
#: A link that loses this share of its packets by itself carries no TCP to speak of: the sender was faster
#: than the link, and a queue lost the rest.
_OVERLOAD = 0.2
#: A queue of constant rate lost the datagrams if what arrives varies by less than this share of what
#: independent losses would cause. With 4 intervals (chi-square, 3 degrees of freedom) independent losses pass
#: it in 1 of 65 cases.
_STEADY = 0.05
_INTERVALS = 4


def capacity(test: Transfer, floor: float = math.nan) -> Quantity:
    """Return the capacity of the link in the direction of a test, headers included.

    Args:
        test: One direction.
        floor: Round-trip time without queue from elsewhere, s, such as of pings; NaN without.
    """
    mean = sum(test.rates) / len(test.rates) if test.rates else math.nan
    got = test.received
    if math.isnan(got):
        if not test.arrived:
            if test.udp or math.isnan(mean):
                return Unknown("the log has only what was sent, not what arrived")
            return Bounded(
                "bit/s",
                "what the sender wrote; the log has no total of the receiver, and the first second fills "
                "the send buffer",
                at_least=_later(test) * test.scale,
            )
        got = mean
    carried = got * test.scale
    what = f"{got * 1e-6:.4g} Mbit/s of payload arrived, headers of {test.headers} B added"
    if test.udp:
        return _of_datagrams(test, carried, what)
    kept = test.limit and got >= _KEPT * test.limit
    if kept:
        return Bounded("bit/s", f"{what}; the sender was told to keep to this rate", at_least=carried)
    rtts = [*test.rtts, floor, test.idle_rtt]
    least = min((rtt for rtt in rtts if not math.isnan(rtt)), default=math.nan)
    usual = median(test.rtts) if len(test.rtts) > 2 else max(test.rtts, default=math.nan)
    if limited_by_window(test):
        how = f"{what}; the receive window of {test.window / 1000:.4g} kB limits the transfer"
        return Bounded("bit/s", how, at_least=carried)
    if math.isnan(least) or not test.rtts:
        return Bounded(
            "bit/s", f"{what}; the log has no round-trip times that show a queue", at_least=carried
        )
    most = max(test.rtts, default=least)
    seen = f"round-trip times of {least * 1e3:.3g} to {most * 1e3:.3g} ms"
    stands = usual >= (_STANDS if len(test.rtts) > 2 else _ONCE) * least
    if not stands or (usual - least) * carried / 8 < _WAITING * (test.payload + test.headers):
        return Bounded("bit/s", f"{what}; {seen} show no queue", at_least=carried)
    how = f"{what}; {seen} show a queue"
    return Measured(carried, carried, max(carried, _most(test) * test.scale), "bit/s", how)


def limited_by_window(test: Transfer) -> bool:
    """Return whether the receive window kept a TCP sender from sending more."""
    if test.udp or math.isnan(test.window) or not test.rtts or math.isnan(test.received):
        return False
    return test.received * median(test.rtts) / 8 > _WINDOW * test.window


def _later(test: Transfer) -> float:
    """Return the mean rate after the first interval, in which a sender fills its buffer."""
    later = test.rates[1:] if not test.arrived and len(test.rates) > 1 else test.rates
    return sum(later) / len(later)


def _most(test: Transfer) -> float:
    """Return the upper end of the 95 % interval of the mean rate, without the first interval."""
    later = test.rates[1:]
    if len(later) < 3:
        # Two intervals have no spread: the link may have carried what the fastest shows.
        return max(later, default=test.received)
    return bootstrap(later, lambda some: sum(some) / len(some))[1]


def _of_datagrams(test: Transfer, carried: float, what: str) -> Quantity:
    if not test.lost:
        return Bounded("bit/s", f"{what}; no datagram was lost, so no queue was full", at_least=carried)
    share = f"{test.lost} of {test.packets} datagrams were lost"
    varies = len(test.counts) > _INTERVALS and not steady(test.counts)
    if not varies and not steady(test.counts) and test.lost > _OVERLOAD * test.packets:
        # The receiver's clock runs until the last datagram has left the queue, the sender's ends before.
        high = carried * test.span / test.sent_span if test.sent_span else max(test.rates) * test.scale
        how = f"{what}; {share}: the sender was faster than the link"
        return Measured(carried, carried, max(high, carried), "bit/s", how)
    if not steady(test.counts):
        if varies:
            reason = "and their number varies from interval to interval as independent losses do"
        else:
            reason = "at a full queue or on the way (5 s or more of iperf3 -R or --get-server-output tell)"
        return Bounded("bit/s", f"{what}; {share}, {reason}", at_least=carried)
    arrived = [(sent - lost) for lost, sent in test.counts[1:]]
    # The bytes of a datagram on the link, and how long an interval is.
    scale = (test.payload + test.headers) * 8 / test.second
    value = sum(arrived) / len(arrived) * scale
    low, high = (each * scale for each in bootstrap(arrived, lambda some: sum(some) / len(some)))
    how = f"{what}; {share}, and in each interval as many arrived: a full queue"
    return Measured(value, min(low, carried, value), max(high, carried, value), "bit/s", how)


def steady(counts: Sequence[tuple[int, int]]) -> bool:
    """Return whether as many datagrams arrived in each interval as a queue of constant rate lets pass.

    Independent losses of a share p of n datagrams would vary by n p (1 - p). The first interval fills the
    queue.
    """
    later = [(lost, sent) for lost, sent in counts[1:] if sent]
    if len(later) < _INTERVALS:
        return False
    arrived = [sent - lost for lost, sent in later]
    mean = sum(arrived) / len(arrived)
    spread = sum((each - mean) ** 2 for each in arrived) / (len(arrived) - 1)
    lost, sent = sum(each for each, _ in later), sum(each for _, each in later)
    chance = lost / sent
    return spread < _STEADY * sent / len(later) * chance * (1 - chance)


def loss(test: Transfer) -> Quantity:
    """Return the share of packets that the link loses, apart from a full queue."""
    if not test.udp:
        return Unknown("iperf3 reports retransmissions of TCP, not which packets a queue lost")
    if not test.packets:
        return Unknown("the log has no numbers of datagrams")
    if steady(test.counts):
        return Unknown("the losses of a full queue hide others")
    low, high = share_interval(test.lost, test.packets)
    what = f"{test.lost} of {test.packets} datagrams were lost"
    if not test.lost:
        return Measured(0.0, 0.0, high, "share", what)
    return Bounded("share", f"{what}, by the link or by a full queue", at_most=max(high, low))


def delay(tests: Sequence[Transfer]) -> Quantity:
    """Return the delay one way: bounded, since iperf3 samples smoothed round-trip times."""
    idle = [test.idle_rtt for test in tests if not math.isnan(test.idle_rtt)]
    if idle:
        how = "half of the round-trip time of a handshake; both directions are assumed equal"
        return Bounded("s", how, at_most=min(idle) / 2)
    rtts = [rtt for test in tests for rtt in test.rtts]
    if not rtts:
        return Unknown("the iperf3 log has no round-trip times (UDP, or the receiver's log)")
    how = "half of the least round-trip time, which the kernel smooths and a queue raises"
    return Bounded("s", how, at_most=min(rtts) / 2)
