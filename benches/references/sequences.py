"""Sequences of data packets as they enter a bottleneck, and how closely two of them agree."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True)
class Sent:
    """One data packet at the entrance of the bottleneck: when, and its number from 1 in units of segments."""

    time: float
    number: int


@dataclass(frozen=True)
class Agreement:
    """How closely our packets follow a reference's."""

    #: Packets of the reference that were compared.
    compared: int
    #: Share of them that ours has too, in the same order (longest matching blocks).
    share: float
    #: Packets before the first that differs.
    prefix: int
    #: The first that differs: time of the reference's, its number, ours. None where all agree.
    first: tuple[float, int, int] | None
    #: Greatest difference of the times of packets before it, with the connections' starts put on each other.
    time_difference: float
    #: Packets, and how many of them had been sent before: the reference's and ours.
    sent: tuple[int, int]
    retransmitted: tuple[int, int]


def compare(reference: list[Sent], ours: list[Sent], until: float) -> Agreement:
    """Compare up to `until`, in the reference's time; ours is moved so that both send packet 1 at once."""
    if not reference or not ours:
        raise ValueError("nothing to compare")
    shift = reference[0].time - ours[0].time
    theirs = [packet for packet in reference if packet.time <= until]
    mine = [Sent(packet.time + shift, packet.number) for packet in ours]
    numbers, own = [packet.number for packet in theirs], [packet.number for packet in mine]
    prefix = 0
    while prefix < min(len(numbers), len(own)) and numbers[prefix] == own[prefix]:
        prefix += 1
    off = max((abs(a.time - b.time) for a, b in zip(theirs[:prefix], mine, strict=False)), default=0.0)
    # What ours sent by then, and so many packets more that a small lag hides nothing.
    tail = [n for packet, n in zip(mine, own, strict=True) if packet.time <= until][: len(numbers) + 50]
    tail = tail if len(tail) >= len(numbers) else own[: len(numbers)]
    blocks = SequenceMatcher(None, numbers, tail, autojunk=False).get_matching_blocks()
    share = sum(block.size for block in blocks) / len(numbers)
    first = None
    if prefix < len(numbers):
        first = (theirs[prefix].time, numbers[prefix], own[prefix] if prefix < len(own) else 0)
    mine_until = [packet for packet in mine if packet.time <= until]
    return Agreement(
        len(numbers),
        1.0 if first is None else share,
        prefix,
        first,
        off,
        (len(theirs), len(mine_until)),
        (retransmitted(theirs), retransmitted(mine_until)),
    )


def retransmitted(packets: list[Sent]) -> int:
    """How many of the packets do not go beyond what was sent before."""
    highest, count = 0, 0
    for packet in packets:
        count += packet.number <= highest
        highest = max(highest, packet.number)
    return count
