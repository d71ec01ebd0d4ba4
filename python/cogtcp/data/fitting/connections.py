"""Connections of a capture: which end it was taken at, and the fate of every data packet."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cogtcp.data.fitting.packets import ACK, FIN, RST, SYN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.packets import Address, Echo, Packet

Side = Literal["sender", "receiver"]

_WRAP = 1 << 32
#: A transfer that says less than this of a link.
LEAST_PACKETS = 30
#: Segments above this were merged by the host before the capture saw them, B: the largest common MTU.
_LARGEST = 9000
#: One leg of a handshake is that of the near host if it takes at most this share of the other: a host
#: answers within some ms, and a capture in the middle of a path sees two legs of like size.
_NEAR_LEG = 0.25
#: Payload of a full segment over Ethernet with timestamps, B: where the data do not show it.
_MSS = 1448
#: A payload above this many segments was merged by a host: one segment more or less is the size's error.
_MERGED = 1.5
#: Acknowledgements after a packet that are searched for its own: a lost packet must not search all the rest.
_LOOKED = 200
#: An answer belongs to a copy that is older than this share of the least round-trip time so far, which may
#: be a little above the true one.
_LEAST_TRIP = 0.9
#: The largest scale of a window (RFC 7323, 2.3).
_MOST_SCALE = 14
#: Bytes of IP and TCP beside the payload, with timestamps: a merged packet came as segments.
_HEADERS = 52
#: Bytes of the timestamps option in each segment.
_STAMP_BYTES = 12
#: A host answers an echo request within this time, s: no link between capture and host.
_AT_ONCE_S = 1e-4
#: A SYN repeated within this time is a copy of the capture, s: a host's timer takes a second (RFC 6298).
_COPY_S = 0.001
#: Fewer samples of a wait say nothing of the end.
_LEAST_WAITS = 5


@dataclass(slots=True)
class Sent:
    """One data packet as its sender sent it, or as its receiver got it.

    Attributes:
        time: When the capture saw it, s.
        seq: First byte, unwrapped.
        end: After the last byte.
        size: Bytes of IP.
        resent: Whether these bytes were sent before.
        stamp: The sender's timestamp.
        answered: When the sender's end saw that it had arrived; NaN if it never did.
        fresh: Whether the answer was about this packet at once, so that it tells a round-trip time.
    """

    time: float
    seq: int
    end: int
    size: int
    resent: bool = False
    stamp: int | None = None
    answered: float = math.nan
    fresh: bool = False

    @property
    def lost(self) -> bool:
        """Whether nothing says that it arrived."""
        return math.isnan(self.answered)


@dataclass
class Connection:
    """The data of one connection in the direction that carried more.

    Attributes:
        side: At which end the capture was taken.
        data: Data packets in the order of time.
        answers: Times of acknowledgements.
        handshake_s: Round-trip time of the handshake to the far end; NaN without.
        handshake_bytes: Bytes of its two packets.
        evidence: What tells at which end the capture was taken.
        opened: Whether the capture has the connection's beginning.
        windows: The receiver's window after each acknowledgement: time, bytes; empty if its scale is unknown.
        others: Packets of other kinds that arrived over the same link, at a receiver: time, bytes.
        returns: Round-trip times that a receiver's timestamps show: s, bytes of the data that came back.
        unseen: Acknowledgements of data that the capture does not have: frames that it dropped.
        ack_bytes: Usual size of an acknowledgement.
        mss: Payload of a full segment.
        notes: What is missing or was changed.
        one_way: Whether only one direction was captured.
        probes: Whether these are echo requests and no TCP.
        same_clock: Whether it comes from a capture, and shares its clock with the others in it.
        quic: Whether it is QUIC: handshake, spin bit and sizes only.
    """

    side: Side
    data: list[Sent]
    answers: list[float]
    handshake_s: float = math.nan
    handshake_bytes: int = 0
    evidence: str = ""
    opened: bool = False
    windows: list[tuple[float, int]] = field(default_factory=list)
    returns: list[tuple[float, int]] = field(default_factory=list)
    others: list[tuple[float, int]] = field(default_factory=list)
    unseen: int = 0
    ack_bytes: int = 52
    mss: int = 1448
    notes: list[str] = field(default_factory=list)
    one_way: bool = False
    probes: bool = False
    same_clock: bool = False
    quic: bool = False

    def until(self, time: float) -> Connection | None:
        """Return the connection as it was known at a time; None if too little was sent by then."""
        data = [
            sent
            for sent in self.data
            # What was under way then is neither lost nor answered: it is left out.
            if sent.time <= time and (sent.answered <= time or (sent.lost and sent.time < time - 1))
        ]
        if len(data) < LEAST_PACKETS:
            return None
        return replace(self, data=data, answers=[answer for answer in self.answers if answer <= time])

    @property
    def packets(self) -> int:
        """How many data packets there are."""
        return len(self.data)


def connections(packets: Sequence[Packet], side: Side | None = None) -> list[Connection]:
    """Return the connections with data enough to say something, the largest first.

    Args:
        packets: TCP packets, in time order.
        side: End at which the capture was taken, if it is known.
    """
    groups: dict[tuple[Address, Address], list[Packet]] = {}
    for packet in packets:
        # One key for both directions.
        key = min((packet.source, packet.target), (packet.target, packet.source))
        groups.setdefault(key, []).append(packet)
    found = []
    for group in groups.values():
        bytes_of: dict[Address, int] = {}
        for packet in group:
            bytes_of[packet.source] = bytes_of.get(packet.source, 0) + packet.payload
        # The end that sent more payload: the other direction has acknowledgements.
        sender = max(bytes_of, key=lambda address: bytes_of[address])
        data = [packet for packet in group if packet.source == sender]
        answers = [packet for packet in group if packet.source != sender]
        if sum(packet.payload > 0 for packet in data) >= LEAST_PACKETS:
            found.append(_connection(data, answers, side))
    found.sort(key=lambda connection: -connection.packets)
    return found


def arrivals(echoes: Sequence[Echo]) -> list[tuple[float, int]]:
    """Return the echo requests that came over the link: those answered at once, at the capture's end.

    They take their part of the link's rate.
    """
    asked: dict[tuple[Address, int], Echo] = {}
    found, waits = [], []
    for echo in echoes:
        if not echo.reply:
            asked[echo.source, echo.key] = echo
            found.append((echo.time, echo.size))
        elif (request := asked.get((echo.source, echo.key))) is not None:
            waits.append(echo.time - request.time)
    return found if waits and max(waits) < _AT_ONCE_S else []


def probes(echoes: Sequence[Echo]) -> list[Connection]:
    """Return the echo requests of who asks most, with their replies, as a connection of small packets."""
    by_asker: dict[Address, list[Echo]] = {}
    for echo in echoes:
        by_asker.setdefault(echo.source, []).append(echo)
    if not by_asker:
        return []
    ours = max(by_asker.values(), key=len)
    replies: dict[int, float] = {}
    for echo in ours:
        if echo.reply:
            replies.setdefault(echo.key, echo.time)
    data, asked = [], set()
    for echo in ours:
        if not echo.reply and echo.key not in asked:
            asked.add(echo.key)
            came = replies.get(echo.key, math.nan)
            # Ping's sequence numbers wrap at 2^16: an earlier reply belongs to an earlier request.
            came = came if came >= echo.time else math.nan
            data.append(Sent(echo.time, 0, 0, echo.size, False, None, came, not math.isnan(came)))
    if len(data) < LEAST_PACKETS:
        return []
    waits = [sent.answered - sent.time for sent in data if not sent.lost]
    if not waits or max(waits) < _AT_ONCE_S:
        return []  # taken where the replies come from
    answers = sorted(sent.answered for sent in data if not sent.lost)
    return [Connection("sender", data, answers, ack_bytes=data[0].size, mss=0, probes=True)]


def _connection(data: list[Packet], answers: list[Packet], known: Side | None) -> Connection:
    notes: list[str] = []
    sizes: dict[int, int] = {}
    for packet in data:
        if 0 < packet.payload <= _LARGEST:
            sizes[packet.payload] = sizes.get(packet.payload, 0) + 1
    # The size that carries the most bytes: small segments may be more in number.
    mss = max(sizes, key=lambda size: sizes[size] * size) if sizes else _MSS
    announced = [packet.mss for packet in (*data, *answers) if packet.mss]
    if announced:
        # A capture behind the host's offload sees larger segments than the wire. Timestamps take their part
        # of a segment (RFC 7323, 3.2).
        stamped = any(packet.tsval is not None and packet.payload for packet in data)
        mss = min(mss, min(announced) - (_STAMP_BYTES if stamped else 0))
    merged = [packet for packet in data if packet.payload > _MERGED * mss]
    if merged:
        most = max(packet.payload for packet in merged) / 1000
        notes.append(
            f"{len(merged)} packets were merged by the host (up to {most:.0f} kB, GRO or TSO): each counts "
            f"as segments of {mss} B at the same time"
        )
    pure = [packet.size for packet in answers if packet.payload == 0 and not packet.flags & SYN]
    legs = _legs(data, answers)
    side, evidence = _side(data, answers, legs) if known is None else (known, "as given")
    result = Connection(
        side=side,
        evidence=evidence,
        opened=any(packet.flags & SYN for packet in data),
        windows=_windows(data, answers),
        returns=[(wait, min(size, mss + _HEADERS)) for wait, size in _returns(data, answers)],
        unseen=_unseen(data, answers),
        data=_data(data, mss),
        answers=[packet.time for packet in answers if packet.flags & ACK and not packet.flags & SYN],
        ack_bytes=sorted(pure)[len(pure) // 2] if pure else 52,
        mss=mss,
        notes=notes,
        one_way=not answers,
    )
    if result.unseen:
        notes.append(
            f"the capture lost frames: {result.unseen} acknowledgements are of data that it does not have"
        )
    if legs is not None:
        _handshake(result, legs)
    if result.one_way:
        notes.append(
            "only one direction was captured: it is assumed to be the receiver's end, and delay stays unknown"
        )
    elif result.side == "sender":
        _answer(result.data, answers, next(packet.seq for packet in data if packet.payload))
        # What was under way when the capture ended is neither lost nor answered.
        heard = max((sent.time for sent in result.data if not sent.lost), default=math.inf)
        result.data = [sent for sent in result.data if sent.time <= heard]
    if result.side == "receiver":
        for sent in result.data:
            sent.answered = sent.time
        _mark_holes(result)
    return result


def _side(data: list[Packet], answers: list[Packet], legs: _Legs | None) -> tuple[Side, str]:
    """Return at which end a capture was taken, and the evidence."""
    if not answers:
        return "receiver", "receiver, assumed: only one direction was captured"
    if legs is not None:
        near, far = sorted((legs.second_s, legs.third_s))
        if near <= _NEAR_LEG * far:
            # The leg to the far end takes long: the opener is near if its SYN was answered late.
            opener_near = legs.second_s > legs.third_s
            side: Side = "sender" if opener_near == legs.opener_sends else "receiver"
            return side, (
                f"{side}: SYN-ACK after {legs.second_s * 1000:.1f} ms, its ACK after "
                f"{legs.third_s * 1000:.1f} ms"
            )
    mine, theirs, stamped = _waits_of_both(data, answers)
    side = "sender" if mine >= theirs else "receiver"
    what = "by timestamps" if stamped else "by the least waits"
    if math.isinf(mine) and math.isinf(theirs):
        return side, f"{side}, assumed: no acknowledgement belongs to a packet"
    return side, (
        f"{side}, {what}: data are acknowledged after {mine * 1000:.1f} ms at least, acknowledgements bring "
        f"data after {theirs * 1000:.1f} ms"
    )


def _waits_of_both(data: list[Packet], answers: list[Packet]) -> tuple[float, float, bool]:
    """Return the least wait from data to its ACK, from an ACK to its data, and whether timestamps tell it."""
    mine = theirs = math.inf
    times = [packet.time for packet in answers]
    for packet in data:
        if packet.payload == 0:
            continue
        after = bisect.bisect_left(times, packet.time)
        end = (packet.seq + packet.payload) % _WRAP
        # Bounded, so that a long capture with a lost packet is not searched to its end for each.
        for answer in answers[after : after + _LOOKED]:
            if (answer.ack - end) % _WRAP < _WRAP // 2:
                mine = min(mine, answer.time - packet.time)
                break
    echoed = _returns(data, answers)
    if len(echoed) >= _LEAST_WAITS:
        return mine, min(wait for wait, _ in echoed), True
    for packet in data:
        before = bisect.bisect_right(times, packet.time) - 1
        if before >= 0 and packet.payload:
            theirs = min(theirs, packet.time - times[before])
    return mine, theirs, False


def _returns(data: list[Packet], answers: list[Packet]) -> list[tuple[float, int]]:
    """Return the time from each new timestamp to the first data that echo it, with their bytes."""
    sent: dict[int, float] = {}
    for answer in answers:
        if answer.tsval is not None:
            sent.setdefault(answer.tsval, answer.time)
    found = []
    for packet in data:
        if packet.payload and packet.tsecr in sent:
            # Once: later data echo an old timestamp late.
            begun = sent.pop(packet.tsecr)
            if packet.time >= begun:
                found.append((packet.time - begun, packet.size))
    return found


def _data(packets: list[Packet], mss: int) -> list[Sent]:
    """Return data packets with unwrapped numbers; merged ones are split."""
    result: list[Sent] = []
    base: int | None = None
    highest = 0
    # What was sent before lies below the highest byte, but for holes that the capture itself has.
    for packet in packets:
        if packet.payload == 0:
            continue
        if base is None:
            base = packet.seq
        # Unwrapped by the nearest to what was seen last: a transfer of more than 4 GiB goes round.
        seq = highest + _signed(packet.seq - base - highest)
        header = packet.size - packet.payload
        at = seq
        while at < seq + packet.payload:
            end = (
                min(at + mss, seq + packet.payload)
                if packet.payload > _MERGED * mss
                else seq + packet.payload
            )
            result.append(Sent(packet.time, at, end, end - at + header, end <= highest, packet.tsval))
            highest = max(highest, end)
            at = end
    return result


def _signed(difference: int) -> int:
    return (difference + _WRAP // 2) % _WRAP - _WRAP // 2


def _answer(data: list[Sent], answers: list[Packet], base: int) -> None:
    """Find when each packet was answered: by the first cumulative or selective ACK that can be."""
    if not data:
        return
    # `base` is the number of byte 0 of `data` on the wire.
    open_: list[Sent] = []  # sent and not yet answered, in the order of sending
    following = 0
    acked = 0
    best = math.inf
    copied: dict[int, list[Sent]] = {}
    untold: list[tuple[Sent, float]] = []
    tells_duplicates = False
    for answer in answers:
        if not answer.flags & ACK or answer.flags & SYN:
            continue
        while following < len(data) and data[following].time <= answer.time:
            open_.append(data[following])
            following += 1
        ack = acked + _signed(answer.ack - base - acked)
        blocks = [
            (acked + _signed(low - base - acked), acked + _signed(high - base - acked))
            for low, high in answer.sack
        ]
        tells_duplicates = tells_duplicates or any(high <= ack for _, high in blocks)
        news = ack > acked or blocks
        edge, acked = acked, max(acked, ack)
        if not news:
            continue
        covered: list[Sent] = []
        rest: list[Sent] = []
        for sent in open_:
            inside = sent.end <= acked or any(low <= sent.seq and sent.end <= high for low, high in blocks)
            (covered if inside else rest).append(sent)
        if not covered:
            _duplicates(copied, blocks, acked, answer.time, best)
            continue
        # Of copies of the same bytes the one that can have arrived: the latest that is older than the least
        # round-trip time.
        copies: dict[int, list[Sent]] = {}
        for sent in covered:
            copies.setdefault(sent.seq, []).append(sent)
        first_came = False
        for group in sorted(copies.values(), key=lambda group: group[0].seq):
            able = [sent for sent in group if answer.time - sent.time >= _LEAST_TRIP * best] or group[:1]
            chosen = able[-1] if math.isfinite(best) else group[0]
            # The echoed stamp is that of the packet at the edge (RFC 7323, 4.3). Where its first copy came,
            # so did those of its neighbours; a retransmission there says nothing of theirs.
            at_edge = group[0].seq <= edge < group[0].end
            earlier = _echoed(able, answer) if at_edge or first_came else None
            if earlier is not None and earlier is not chosen:
                first_came = True
                # The first copy was not lost. Whether the later ones arrive, duplicates in SACK blocks tell.
                copied.setdefault(chosen.seq, []).extend(group[group.index(earlier) + 1 :])
                untold.append((able[-1], answer.time))
                chosen = earlier
            chosen.answered = answer.time
            # Karn's rule: for bytes that were sent twice it is unknown which copy was acknowledged.
            if len(group) == 1 and not chosen.resent:
                best = min(best, max(answer.time - chosen.time, 1e-6))
        # The others may have waited for it: a delayed or cumulative ACK tells the time of the last one only.
        newest = covered[-1]
        newest.fresh = not newest.lost and len(copies[newest.seq]) == 1 and not newest.resent
        open_ = rest
        _duplicates(copied, blocks, acked, answer.time, best)
    if not tells_duplicates:
        # A receiver without DSACK: the last copy may have brought the acknowledgement.
        for sent, time in untold:
            if sent.lost:
                sent.answered = time


def _duplicates(
    copied: dict[int, list[Sent]], blocks: Sequence[tuple[int, int]], acked: int, time: float, best: float
) -> None:
    """Mark copies that arrived as duplicates: blocks below the acknowledgement (DSACK, RFC 2883)."""
    for low, high in blocks:
        for seq in [seq for seq in copied if low <= seq < high <= acked]:
            able = [sent for sent in copied[seq] if sent.lost and time - sent.time >= _LEAST_TRIP * best]
            if able:
                able[-1].answered = time
            if not any(sent.lost for sent in copied[seq]):
                del copied[seq]


def _echoed(copies: Sequence[Sent], answer: Packet) -> Sent | None:
    """Return the copy that the echoed timestamp tells (RFC 3522, Eifel); None if it tells nothing.

    A receiver echoes the stamp of what filled its hole: a copy with a later stamp cannot have.
    """
    if answer.tsecr is None or len(copies) < 2:
        return None
    able = [sent for sent in copies if sent.stamp is not None and _signed(answer.tsecr - sent.stamp) >= 0]
    return able[-1] if able else None


def _mark_holes(connection: Connection) -> None:
    """Mark retransmissions at a receiver: bytes that come after later ones fill a hole that a loss left."""
    highest = 0
    for sent in connection.data:
        if sent.seq < highest:
            sent.resent = True
        highest = max(highest, sent.end)


@dataclass(frozen=True, slots=True)
class _Legs:
    """A handshake: from SYN to SYN-ACK, from SYN-ACK to ACK, s; and bytes of the three packets."""

    second_s: float
    third_s: float
    sizes: tuple[int, int, int]
    opener_sends: bool


def _legs(data: list[Packet], answers: list[Packet]) -> _Legs | None:
    """Return the legs of the handshake; None without a whole one."""
    opening = _without_copies(
        sorted((packet for packet in (*data, *answers) if packet.flags & SYN), key=lambda packet: packet.time)
    )
    first = [packet for packet in opening if not packet.flags & ACK]
    second = [packet for packet in opening if packet.flags & ACK]
    if not first or len(second) != 1:
        return None
    answer = second[0]
    if len(first) > 1:
        # A repeated SYN: the timestamp tells which was answered.
        first = [packet for packet in first if packet.tsval is not None and packet.tsval == answer.tsecr]
        if len({packet.tsval for packet in first}) != 1 or len(first) != 1:
            return None
    syn = first[0]
    third = min(
        (
            packet
            for packet in (*data, *answers)
            if packet.source == syn.source
            and not packet.flags & SYN
            and packet.time >= answer.time
            and (packet.ack - answer.seq) % _WRAP == 1
        ),
        key=lambda packet: packet.time,
        default=None,
    )
    if third is None or answer.time < syn.time:
        return None
    return _Legs(
        answer.time - syn.time,
        third.time - answer.time,
        (syn.size, answer.size, third.size),
        syn.source == data[0].source,
    )


def _without_copies(packets: list[Packet]) -> list[Packet]:
    """Leave out copies that a capture made of packets without an IP identification (RFC 6864, 4.1)."""
    found: list[Packet] = []
    for packet in packets:
        if not any(
            packet.time - each.time <= _COPY_S and replace(packet, time=each.time) == each for each in found
        ):
            found.append(packet)
    return found


def _handshake(result: Connection, legs: _Legs) -> None:
    """Note the round-trip time of the handshake to the far end."""
    near, far = sorted((legs.second_s, legs.third_s))
    if near > _NEAR_LEG * far:
        # In the middle of the path: both legs together.
        result.handshake_s, result.handshake_bytes = near + far, sum(legs.sizes) - legs.sizes[1]
        result.notes.append(
            f"the capture was taken between the ends: {legs.second_s * 1000:.1f} ms to one and "
            f"{legs.third_s * 1000:.1f} ms to the other"
        )
        return
    result.handshake_s = far
    places = (0, 1) if legs.second_s > legs.third_s else (1, 2)
    result.handshake_bytes = sum(legs.sizes[place] for place in places)


def _windows(data: list[Packet], answers: list[Packet]) -> list[tuple[float, int]]:
    """Return the window after each acknowledgement; none if the scale is unknown (RFC 7323, 2.2)."""
    ours = [packet for packet in answers if packet.flags & SYN]
    theirs = [packet for packet in data if packet.flags & SYN]
    if not ours or not theirs:
        return []
    scale = 0
    if ours[0].scale is not None and theirs[0].scale is not None:
        scale = min(ours[0].scale, _MOST_SCALE)
    return [
        (packet.time, packet.window << scale)
        for packet in answers
        if packet.flags & ACK and not packet.flags & SYN
    ]


def _unseen(data: list[Packet], answers: list[Packet]) -> int:
    """Return how many acknowledgements are of data that the capture has not seen: by then, or never."""
    if not data or not answers:
        return 0
    base = next((packet.seq for packet in data if packet.payload), data[0].seq)
    highest = count = 0
    following = 0
    for answer in answers:
        if not answer.flags & ACK or answer.flags & (SYN | RST):
            continue
        while following < len(data) and data[following].time <= answer.time:
            packet = data[following]
            # A FIN takes a number too.
            end = highest + _signed(packet.seq + packet.payload + bool(packet.flags & FIN) - base - highest)
            highest = max(highest, end)
            following += 1
        if following and _signed(answer.ack - base - highest) > 1:
            count += 1
            # Each hole counts once.
            highest += _signed(answer.ack - base - highest)
    return max(count, _holes(data, answers, base))


def _holes(data: list[Packet], answers: list[Packet], base: int) -> int:
    """Return how many stretches of acknowledged data are in no frame."""
    acked, spans, highest = 0, [], 0
    for answer in answers:
        if answer.flags & ACK and not answer.flags & (SYN | RST):
            acked = max(acked, acked + _signed(answer.ack - base - acked))
    for packet in data:
        if packet.payload:
            seq = highest + _signed(packet.seq - base - highest)
            spans.append((seq, seq + packet.payload))
            highest = max(highest, seq + packet.payload)
    spans.sort()
    covered = count = 0
    for low, high in spans:
        count += covered < low < acked
        covered = max(covered, high)
    return count
