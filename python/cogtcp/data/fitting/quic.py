"""QUIC in captures: its handshake, spin bit and sizes give delay and rates; losses and queues stay encrypted.

RFC 9000 (headers), RFC 9312 (what a network sees of QUIC).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from cogtcp.data.fitting.connections import LEAST_PACKETS, Connection, Sent, Side
from cogtcp.data.fitting.packets import is_quic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.packets import Datagram

#: A leg of the handshake at most this share of the other is that of the near host; see `connections`.
_NEAR_LEG = 0.25
#: Fewer turns of the spin bit show no least time.
_TURNS = 6
_LONG, _SPIN = 0x80, 0x20


def connections(datagrams: Sequence[Datagram]) -> list[Connection]:
    """Return QUIC connections with data enough to say something, the largest first."""
    groups: dict[int, list[Datagram]] = {}
    for datagram in datagrams:
        groups.setdefault(datagram.connection, []).append(datagram)
    found = []
    for group in groups.values():
        # A handshake, or its end: without one UDP of any kind looks alike.
        if any(map(is_quic, group)):
            connection = _connection(group)
            if connection is not None:
                found.append(connection)
    found.sort(key=lambda connection: -connection.packets)
    return found


def _connection(group: list[Datagram]) -> Connection | None:
    size = {way: sum(each.size for each in group if each.forward == way) for way in (True, False)}
    way = size[True] >= size[False]
    data = [each for each in group if each.forward == way]
    answers = [each for each in group if each.forward != way]
    if len(data) < LEAST_PACKETS:
        return None
    side, evidence, handshake, bytes_, sure = _handshake(group, sends_first=way)
    at = 0
    sent = []
    for each in data:
        sent.append(Sent(each.time, at, at + each.payload, each.size, False, None, each.time, False))
        at += each.payload
    notes = ["QUIC is encrypted: losses, queue and silences are not visible"]
    spin = _spin(data if side == "receiver" else answers)
    if spin is not None and math.isnan(handshake):
        handshake, bytes_, sure = spin, 0, True
        evidence += f"; the spin bit turns after {spin * 1000:.1f} ms at least"
    # Arrivals are known at the receiver only; at the sender these are times of sending.
    return Connection(
        side,
        sent,
        [each.time for each in answers],
        handshake,
        bytes_,
        evidence=evidence,
        opened=sure,
        mss=max(each.payload for each in data),
        notes=notes,
        one_way=not answers,
        quic=True,
    )


def _handshake(group: list[Datagram], *, sends_first: bool) -> tuple[Side, str, float, int, bool]:
    """Return the end, its evidence, the round-trip time to the far end, its bytes, and whether it is sure.

    The time is NaN without a handshake. Where both legs take long, the path or a host's cryptography does:
    their sum is then a bound.
    """
    first = group[0]
    if not is_quic(first):
        return "receiver", "receiver, assumed: the capture has no QUIC handshake", math.nan, 0, False
    answered = next(
        (n for n, each in enumerate(group) if each.forward != first.forward and each.first & _LONG), None
    )
    if answered is None:
        return "receiver", "receiver, assumed: the QUIC handshake has no answer", math.nan, 0, False
    second = group[answered]
    # By order: a host that needs no time to answer has the same time.
    third = next((each for each in group[answered + 1 :] if each.forward == first.forward), None)
    if third is None:
        return "receiver", "receiver, assumed: the QUIC handshake has no end", math.nan, 0, False
    one, two = second.time - first.time, third.time - second.time
    near, far = sorted((one, two))
    sure = near <= _NEAR_LEG * far
    opener_sends = sends_first == first.forward
    side: Side = "sender" if (one > two) == opener_sends else "receiver"
    return (
        side,
        f"{side}{'' if sure else ', assumed'}: Initial answered after {one * 1000:.1f} ms, the answer after "
        f"{two * 1000:.1f} ms",
        far if sure else near + far,
        # Both ways of the far leg.
        (first.size if one > two else third.size) + second.size,
        sure,
    )


def _spin(datagrams: Sequence[Datagram]) -> float | None:
    """Return the least time between two turns of the spin bit, s (RFC 9312); None if it does not turn."""
    turns, last = [], None
    for each in datagrams:
        if each.first & _LONG:
            continue
        bit = bool(each.first & _SPIN)
        if last is not None and bit != last:
            turns.append(each.time)
        last = bit
    if len(turns) < _TURNS:
        return None
    return min(after - before for before, after in itertools.pairwise(turns))
