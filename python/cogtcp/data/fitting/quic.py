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
    side, evidence, handshake = _handshake(group, sends_first=way)
    at = 0
    sent = []
    for each in data:
        sent.append(Sent(each.time, at, at + each.payload, each.size, False, None, each.time, False))
        at += each.payload
    notes = ["QUIC is encrypted: losses, queue and silences are not visible, and rates are lower bounds"]
    spin = _spin(data if side == "receiver" else answers)
    if spin is not None and math.isnan(handshake):
        handshake = spin
        evidence += f"; the spin bit turns after {spin * 1000:.1f} ms at least"
    # Arrivals are known at the receiver only; at the sender times of sending stand for them, as bounds.
    return Connection(
        side,
        sent,
        [each.time for each in answers],
        handshake,
        evidence=evidence,
        opened=not math.isnan(handshake),
        mss=max(each.payload for each in data),
        notes=notes,
        one_way=not answers,
        quic=True,
    )


def _handshake(group: list[Datagram], *, sends_first: bool) -> tuple[Side, str, float]:
    """Return the end, its evidence, and the round-trip time to the far end; NaN without a handshake."""
    first = group[0]
    if not is_quic(first):
        return "receiver", "receiver, assumed: the capture has no QUIC handshake", math.nan
    second = next((each for each in group if each.forward != first.forward and each.first & _LONG), None)
    third = next(
        (
            each
            for each in group
            if second is not None and each.forward == first.forward and each.time > second.time
        ),
        None,
    )
    if second is None or third is None:
        return "receiver", "receiver, assumed: the QUIC handshake has no answer", math.nan
    one, two = second.time - first.time, third.time - second.time
    near, far = sorted((one, two))
    if near > _NEAR_LEG * far:
        far = near + far
    opener_near = one > two
    opener_sends = sends_first == first.forward
    side: Side = "sender" if opener_near == opener_sends else "receiver"
    return (
        side,
        f"{side}: Initial answered after {one * 1000:.1f} ms, the answer after {two * 1000:.1f} ms",
        far,
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
    if len(turns) < LEAST_PACKETS // 5:
        return None
    return min(after - before for before, after in itertools.pairwise(turns))
