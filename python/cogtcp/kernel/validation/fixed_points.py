"""Fixed points of congestion controls, by the equations of their RFCs and papers. Windows are in packets."""

from __future__ import annotations

import math
import random
from functools import cache

from cogtcp.kernel.validation.bisection import bisected

#: Gain of alpha in DCTCP and Prague (RFC 8257 section 3.3, draft-briscoe-iccrg-prague section 2.4.2).
_GAIN = 1 / 16


def scalable_marks(window: float, held: int = 0) -> float:
    """Return the share of packets that a step marks of one DCTCP or Prague flow.

    A cycle has N round trips. One has marked packets only. In each other round trip the window grows by a
    segment, by N - 1 in all. At the first mark it falls by alpha / 2 of itself. alpha has then
    decayed for N - 1 round trips: alpha (1 - (1 - g)^N) = g (1 - g)^(N - 1). The share is 1 / N. Alizadeh et
    al. (SIGCOMM 2010, section 3.3) take alpha as constant, and find sqrt(2 / W).

    Args:
        window: Packets in the network when the queue reaches the step, W.
        held: More round trips of a cycle in which the window does not grow.
    """
    low, high = 1.0, 1e6
    # The longer a cycle is, the more the window grows and the less alpha lets it fall.
    for _ in range(200):
        cycle = math.sqrt(low * high)
        kept = (1 - _GAIN) ** (cycle - 1)
        alpha = _GAIN * kept / (1 - kept * (1 - _GAIN))
        low, high = (low, cycle) if cycle - 1 - held > window * alpha / 2 else (cycle, high)
    return 1 / low


def cubic_window(packets_per_loss: float, rtt_s: float, *, c: float = 0.4, beta: float = 0.7) -> float:
    """Return CUBIC's mean window under one loss in so many packets (RFC 9438 section 5.1, equation 6)."""
    factor = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25
    return float(factor * rtt_s**0.75 * packets_per_loss**0.75)


def compound_rounds(packets_per_loss: float, *, alpha: float = 0.125, k: float = 0.75) -> float:
    """Return how many round trips a cycle of Compound takes under one loss in so many packets.

    From half of the window on, each round sends a window and adds alpha W^k packets, one at least (Tan et al.
    2006, section 3.2). The loss is found a round later, and repaired in another, as in AIMD's saw-tooth.
    """
    low, high = 1.0, packets_per_loss
    for _ in range(100):
        peak = math.sqrt(low * high)
        window, packets, rounds = peak / 2, 1.5 * peak, 2.0
        while window < peak:
            packets, rounds = packets + window, rounds + 1
            window += max(1.0, alpha * window**k)
        # The last round in part, so that the sum rises steadily with the peak.
        over = (window - peak) / max(1.0, alpha * window**k)
        packets, rounds = packets - over * peak, rounds - over
        low, high = (peak, high) if packets < packets_per_loss else (low, peak)
    return rounds


def tfrc_rate_bps(segment_bytes: float, rtt_s: float, loss_event_rate: float) -> float:
    """Return TFRC's rate of payload with t_RTO = 4 R and b = 1 (RFC 5348 section 3.1)."""
    p = loss_event_rate
    timeouts = 4 * rtt_s * 3 * math.sqrt(3 * p / 8) * p * (1 + 32 * p * p)
    return 8 * segment_bytes / (rtt_s * math.sqrt(2 * p / 3) + timeouts)


def westwood_queue(product: float, queue: float) -> float:
    """Return the mean queue that a packet of Westwood+ meets behind a drop-tail queue, in packets.

    A loss sets the window to the path's capacity (Mascolo et al. 2001, section 2). It grows by one packet
    a round trip from the bandwidth-delay product to this and the queue. A round trip with window W has W
    packets, each of which meets W less the product.
    """
    # Integrals of (W - B) W and of W, from B to B + Q.
    waited = queue * queue * (product / 2 + queue / 3)
    return waited / (queue * (product + queue / 2))


def bbr1_utilisation(rtt_s: float) -> float:
    """Return the share of the link that BBR version 1 uses alone.

    Each 10 s ProbeRTT keeps four packets for 200 ms, after the round trip that empties the network
    (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.5).
    """
    return 10 / (10.2 + rtt_s)


def random_loss_window(loss: float, cycles: int = 50_000) -> float:
    """Return the packets that AIMD sends in a round trip where each is lost with the same small probability.

    The mean over drawn cycles. After a loss the window's packets follow until it shows (RFC 5681 section
    3.2). Then come a round trip of fast recovery with half of the window, and growth by one packet a round
    trip. Without these two round trips the mean is 1.31 / sqrt(p) (Ott, Kemperman and Mathis: *The Stationary
    Behavior of Ideal TCP Congestion Avoidance*, 1996).
    """
    stream = random.Random(1)  # noqa: S311 - a documented draw, no secret
    window = 1 / math.sqrt(loss)
    packets = rounds = 0.0
    for _ in range(cycles):
        # cwnd grows at the end of a round trip, half a packet behind a steady growth. Half of an odd window
        # has half a packet that is not sent: a quarter on average.
        half, until = window / 2, stream.expovariate(loss)
        least = max(half - 0.75, 1.0)
        # Growth from the half of the window: least t + t^2 / 2 packets in t round trips.
        grown = math.sqrt(least * least + 2 * max(until - least, 0.0)) - least
        window = half + grown + 1
        packets += until + window - 0.75
        rounds += min(until / least, 1) + grown + 1
    return packets / rounds


def random_loss_for(window: float) -> float:
    """Return the loss at which AIMD sends so many packets in a round trip (`random_loss_window`)."""
    loss = (1.31 / window) ** 2
    for _ in range(4):
        loss *= (random_loss_window(loss, 20_000) / window) ** 2
    return loss


def c2_queue(product: float, rtt_s: float, beta: float, *, t_w: float = 1.0) -> float:
    """Return the queue at which a lone flow of C2 comes to rest, in packets (Algorithm 2 of its paper).

    It begins with a full link and grows by k segments a round trip, k doubling after each T_w, up to a
    round-trip time of (1 + beta) Dp. This shows a round trip later.
    """
    queue, time, shows = 0.0, 0.0, math.inf
    while time < shows:
        round_trip = rtt_s * (1 + queue / product)
        # A hundredth of a round trip at a time.
        queue += 2 ** int(time / t_w) / 100
        time += round_trip / 100
        if queue >= beta * product and shows == math.inf:
            shows = time + round_trip
    return queue


@cache
def paced_delay_s(own_s: float, others_s: float, load: float, packets: int = 20_000) -> float:
    """Return the mean time of a packet at a link, at the pace of one packet in that time.

    Others take `load` of the link by a Poisson process. The work that a packet meets follows from what the
    one before met (Lindley 1952). The pace is found by bisection.

    Args:
        own_s: Transmission time of the packet.
        others_s: Transmission time of a packet of others.
        load: Share of the time that these take.
        packets: How many are followed.
    """

    def takes_longer(pace: float) -> bool:
        stream = random.Random(1)  # noqa: S311 - a documented draw, no secret
        work = total = 0.0
        to_next = stream.expovariate(load / others_s)
        for _ in range(packets):
            total += work + own_s
            work += own_s
            left = pace
            while to_next < left:
                work = max(0.0, work - to_next) + others_s
                left -= to_next
                to_next = stream.expovariate(load / others_s)
            to_next -= left
            work = max(0.0, work - left)
        return total / packets > pace

    return sum(bisected(takes_longer, own_s, own_s + 20 * others_s, halvings=12)) / 2
