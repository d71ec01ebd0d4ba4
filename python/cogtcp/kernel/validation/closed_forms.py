"""Closed forms for comparison with cases, beside the models of `cogtcp.models`."""

from __future__ import annotations

import math

from cogtcp.kernel.validation.bisection import bisected

#: 802.11 DSSS at 1 Mbit/s: SIFS, DIFS, slot, EIFS, preamble with PLCP header, delay to all who hear; s.
_SIFS, _DIFS, _SLOT, _EIFS, _PREAMBLE, _DELAY = 10e-6, 50e-6, 20e-6, 364e-6, 192e-6, 1e-6
_RTS, _CTS, _ACK, _HEADER = 20, 14, 14, 28
_WINDOW, _DOUBLINGS = 32, 5


def md1_wait_s(rate_bps: float, packet_bytes: float, load: float) -> float:
    """Return the mean wait in an M/D/1 queue: rho S / (2 (1 - rho)), by Pollaczek and Khinchine."""
    return load * 8 * packet_bytes / rate_bps / (2 * (1 - load))


def sawtooth_goodput_bps(segment_bytes: float, rtt_s: float, packets_per_loss: int) -> float:
    """Return the goodput of AIMD that loses each `packets_per_loss`-th packet, in whole rounds.

    A cycle sends W/2, W/2 + 1, ... W packets, one window a round trip (Mathis et al. 1997, the derivation of
    equation 1). It sends W/2 in the round trip of fast recovery, in which the window does not grow (RFC 5681
    section 3.2). Together these are 3/8 W^2 + 5/4 W packets in W/2 + 2 round trips.
    """
    window = (math.sqrt(1.25**2 + 1.5 * packets_per_loss) - 1.25) / 0.75
    return 8 * segment_bytes * packets_per_loss / (rtt_s * (window / 2 + 2))


def bianchi_packets_per_second(stations: int, packet_bytes: int, *, rts: bool) -> float:
    """Return the saturation throughput of a cell (Bianchi, JSAC 18(3), 2000, equations 7 to 13).

    A collision costs its longest frame and EIFS, and stations that heard it resume then.
    """

    def frame(size: int) -> float:
        return _PREAMBLE + 8 * size * 1e-6

    data = frame(packet_bytes + _HEADER)
    success = data + _SIFS + frame(_ACK) + _DIFS + 2 * _DELAY
    success += frame(_RTS) + frame(_CTS) + 2 * _SIFS + 2 * _DELAY if rts else 0
    collision = (frame(_RTS) if rts else data) + _DELAY + _EIFS

    def tau(collides: float) -> float:
        doubled = sum((2 * collides) ** stage for stage in range(_DOUBLINGS))
        return 2 / (1 + _WINDOW + collides * _WINDOW * doubled)

    def collides_more(chance: float) -> bool:
        return 1 - (1 - tau(chance)) ** (stations - 1) > chance

    # The likelier collisions are, the less stations send, and the less they collide: one chance fits.
    sends = tau(bisected(collides_more, 0.0, 1.0, halvings=100)[0])
    some = 1 - (1 - sends) ** stations
    one = stations * sends * (1 - sends) ** (stations - 1)
    return one / ((1 - some) * _SLOT + one * success + (some - one) * collision)
