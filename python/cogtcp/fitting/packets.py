"""Captures, read by their headers: pcap and pcapng, Ethernet, raw IP, Linux cooked, loopback; IPv4 and IPv6.

Formats: pcap (draft-ietf-opsawg-pcap), pcapng (draft-ietf-opsawg-pcapng). Payloads are not looked at.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Link types of which the header's length is known: Ethernet, raw IP (three numbers), Linux cooked, loopback.
_ETHERNET, _RAW, _COOKED, _COOKED2, _NULL, _LOOP = 1, (12, 14, 101, 228, 229), 113, 276, 0, 108
_IPV4, _IPV6, _VLAN = 0x0800, 0x86DD, (0x8100, 0x88A8)
_TCP, _UDP, _ICMP, _ICMP6 = 6, 17, 1, 58
#: Extension headers of IPv6 that may stand before TCP.
_EXTENSIONS = {0, 43, 60}
SYN, FIN, RST, ACK = 0x02, 0x01, 0x04, 0x10

Address = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Packet:
    """A TCP packet.

    Attributes:
        time: Seconds, from the first packet of the file.
        source: Address and port.
        target: Address and port.
        seq: Sequence number.
        ack: Acknowledgement number.
        flags: Flags of TCP.
        payload: Bytes of payload.
        size: Bytes of IP, headers included.
        sack: SACK blocks.
        tsval: Timestamp, None without.
        tsecr: Its echo.
        mss: MSS option, 0 without.
    """

    time: float
    source: Address
    target: Address
    seq: int
    ack: int
    flags: int
    payload: int
    size: int
    sack: tuple[tuple[int, int], ...] = ()
    tsval: int | None = None
    tsecr: int | None = None
    mss: int = 0


@dataclass(frozen=True, slots=True)
class Echo:
    """An ICMP echo request or its reply.

    Attributes:
        time: Seconds, from the first packet of the file.
        source: Address of who asks, whoever sent this packet.
        reply: Whether it is the reply.
        key: Identifier and sequence number.
        size: Bytes of IP.
    """

    time: float
    source: bytes
    reply: bool
    key: int
    size: int


@dataclass
class Read:
    """What a capture holds.

    Attributes:
        packets: Its TCP packets, in the order of time.
        echoes: Its ICMP echo requests and replies (ping), likewise.
        notes: What was odd, and what was done about it.
        others: Packets that are not TCP, by kind.
    """

    packets: list[Packet]
    echoes: list[Echo] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)


def is_capture(head: bytes) -> bool:
    """Return whether a file begins as a capture."""
    return head[:4] in _MAGIC or head[:4] == b"\x0a\x0d\x0d\x0a"


# Magic numbers of pcap: byte order, and units of the fraction of a second.
_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1e-6),
    b"\xa1\xb2\xc3\xd4": (">", 1e-6),
    b"\x4d\x3c\xb2\xa1": ("<", 1e-9),
    b"\xa1\xb2\x3c\x4d": (">", 1e-9),
}


def read(path: str | Path) -> Read:
    """Read the TCP packets of a capture.

    A file that is cut off is read up to there, which `notes` tells. So is a clock that steps back or far
    forward: later times are shifted.

    Raises:
        UsageError: It is no capture, cannot be read, or has no TCP in it.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}; name a capture") from None
    found = Read([])
    if content[:4] in _MAGIC:
        frames = _pcap(content, found)
    elif content[:4] == b"\x0a\x0d\x0d\x0a":
        frames = _pcapng(content, found)
    else:
        raise UsageError(f"{file}: is not a capture; name a pcap or pcapng file")
    heard: list[Packet | Echo] = []
    first: int | None = None
    for nanoseconds, link, data, length in frames:
        first = nanoseconds if first is None else first
        before = len(found.echoes)
        packet = _packet((nanoseconds - first) / 1e9, link, data, length, found)
        heard += found.echoes[before:] if packet is None else [packet]
    if len(found.echoes) == len(heard) < 30:
        kinds = ", ".join(f"{count} of {kind}" for kind, count in found.others.items()) or "no packets"
        cut = f" ({found.notes[0]})" if found.notes else ""
        raise UsageError(f"{file}: no TCP, but {kinds}{cut}; capture a TCP transfer")
    # All together: a step of the clock between two packets moves the pings behind it too.
    in_time = _in_time(heard, found)
    found.packets = [each for each in in_time if isinstance(each, Packet)]
    found.echoes = [each for each in in_time if isinstance(each, Echo)]
    return found


#: A step back of the clock that is more than packets out of order, and one forward that is no pause.
_BACK_S, _FORWARD_S = 0.05, 300.0


def _in_time(packets: list[Packet | Echo], found: Read) -> list[Packet | Echo]:
    """Return packets in the order of time, with steps of the clock taken out."""
    from dataclasses import replace

    shift, last, steps = 0.0, packets[0].time, 0
    result = []
    for packet in packets:
        time = packet.time + shift
        # Packets of two processors may be a little out of order: a small step back is no step of the clock.
        if time < last - _BACK_S or time > last + _FORWARD_S:
            shift += last - time
            time, steps = last, steps + 1
        last = max(last, time)
        result.append(packet if shift == 0 else replace(packet, time=time))
    if steps:
        times = "once" if steps == 1 else f"{steps} times"
        found.notes.append(f"the clock of the capture steps {times}: later times are shifted")
    result.sort(key=lambda packet: packet.time)
    return result


Frame = tuple[int, int, bytes, int]


def _pcap(content: bytes, found: Read) -> Iterator[Frame]:
    order, unit = _MAGIC[content[:4]]
    if len(content) < 24:
        found.notes.append("the file is cut off within its header")
        return
    (link,) = struct.unpack_from(order + "I", content, 20)
    # The upper four bits of the field describe frame check sequences.
    link &= 0x0FFFFFFF
    scale = round(unit * 1e9)
    at = 24
    while at < len(content):
        if at + 16 > len(content):
            found.notes.append(f"the file is cut off after {at} bytes: read up to there")
            return
        seconds, fraction, captured, length = struct.unpack_from(order + "IIII", content, at)
        at += 16
        # 64 MiB are no packet: the file is damaged here.
        if at + captured > len(content) or captured > 0x4000000:
            found.notes.append(f"the file is cut off after {at} bytes: read up to there")
            return
        # 256 bytes hold the longest headers: payloads are not kept in memory.
        yield seconds * 1_000_000_000 + fraction * scale, link, content[at : at + min(captured, 256)], length
        at += captured


def _pcapng(content: bytes, found: Read) -> Iterator[Frame]:
    order = "<"
    interfaces: list[tuple[int, int, int]] = []  # link type, units of time in a second, seconds of offset
    at = 0
    while at < len(content):
        if at + 12 > len(content):
            found.notes.append(f"the file is cut off after {at} bytes: read up to there")
            return
        (kind,) = struct.unpack_from(order + "I", content, at)
        if kind == 0x0A0D0D0A:
            order = "<" if content[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            # Each section counts its interfaces again.
            interfaces = []
        (size,) = struct.unpack_from(order + "I", content, at + 4)
        if size < 12 or at + size > len(content):
            found.notes.append(f"the file is cut off after {at} bytes: read up to there")
            return
        body = content[at + 8 : at + size - 4]
        if kind == 1 and len(body) >= 8:
            interfaces.append(_interface(order, body))
        elif kind == 6 and len(body) >= 20:
            number, high, low, captured, length = struct.unpack_from(order + "IIIII", body)
            if number < len(interfaces):
                link, units, offset = interfaces[number]
                nanoseconds = ((high << 32) | low) * 1_000_000_000 // units + offset * 1_000_000_000
                yield nanoseconds, link, body[20 : 20 + min(captured, 256)], length
        elif kind == 3 and interfaces:
            found.others["packets without a time"] = found.others.get("packets without a time", 0) + 1
        at += size


def _interface(order: str, body: bytes) -> tuple[int, int, int]:
    (link,) = struct.unpack_from(order + "H", body)
    units, offset, at = 1_000_000, 0, 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4 : at + 4 + size]
        if code == 0:
            break
        if code == 9 and size == 1:  # if_tsresol: a power of ten, or with the high bit of two
            units = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == 14 and size == 8:  # if_tsoffset
            (offset,) = struct.unpack(order + "q", value)
        at += 4 + size + (-size) % 4
    return link, units, offset


def _packet(time: float, link: int, data: bytes, length: int, found: Read) -> Packet | None:
    at, kind = _network(link, data)
    if at < 0:
        return _other(found, f"link type {link}")
    # What the link's header adds is no part of the IP packet.
    length -= at
    try:
        if kind == 4:
            return _ipv4(time, data, at, length, found)
        if kind == 6:
            return _ipv6(time, data, at, length, found)
    except (struct.error, IndexError):
        return _other(found, "packets captured too short")
    return _other(found, "packets that are not IP")


def _other(found: Read, kind: str) -> Packet | None:
    found.others[kind] = found.others.get(kind, 0) + 1
    return None


def _network(link: int, data: bytes) -> tuple[int, int]:
    """Return where the network header begins, and its version: -1 for an unknown link, 0 if it is not IP."""
    if link == _ETHERNET:
        at, kind = 14, int.from_bytes(data[12:14], "big")
        while kind in _VLAN:
            kind = int.from_bytes(data[at + 2 : at + 4], "big")
            at += 4
    elif link in _RAW:
        return 0, data[0] >> 4 if data else 0
    elif link == _COOKED:
        at, kind = 16, int.from_bytes(data[14:16], "big")
    elif link == _COOKED2:
        at, kind = 20, int.from_bytes(data[0:2], "big")
    elif link in (_NULL, _LOOP):
        return 4, data[4] >> 4 if len(data) > 4 else 0
    else:
        return -1, 0
    return at, {_IPV4: 4, _IPV6: 6}.get(kind, 0)


def _ipv4(time: float, data: bytes, at: int, length: int, found: Read) -> Packet | None:
    head = (data[at] & 0x0F) * 4
    (total,) = struct.unpack_from(">H", data, at + 2)
    (fragment,) = struct.unpack_from(">H", data, at + 6)
    # Only the first fragment has TCP's header.
    if fragment & 0x1FFF:
        return _other(found, "later fragments")
    # A sender that leaves segmentation to its network card may write 0.
    total = total or length
    if data[at + 9] == _ICMP and data[at + head] in (0, 8):
        (key,) = struct.unpack_from(">I", data, at + head + 4)
        reply = data[at + head] == 0
        asks = data[at + 16 : at + 20] if reply else data[at + 12 : at + 16]
        found.echoes.append(Echo(time, asks, reply, key, total))
        return None
    if data[at + 9] != _TCP:
        return _other(found, "UDP" if data[at + 9] == _UDP else f"IP protocol {data[at + 9]}")
    return _tcp(time, data, at + head, data[at + 12 : at + 16], data[at + 16 : at + 20], total - head, total)


def _ipv6(time: float, data: bytes, at: int, length: int, found: Read) -> Packet | None:
    (total,) = struct.unpack_from(">H", data, at + 4)
    total = (total or length - 40) + 40
    following, head = data[at + 6], at + 40
    while following in _EXTENSIONS:
        following, head = data[head], head + (data[head + 1] + 1) * 8
    if following == _ICMP6 and data[head] in (128, 129):
        (key,) = struct.unpack_from(">I", data, head + 4)
        reply = data[head] == 129
        asks = data[at + 24 : at + 40] if reply else data[at + 8 : at + 24]
        found.echoes.append(Echo(time, asks, reply, key, total))
        return None
    if following != _TCP:
        return _other(found, "UDP" if following == _UDP else f"IP protocol {following}")
    return _tcp(time, data, head, data[at + 8 : at + 24], data[at + 24 : at + 40], total - (head - at), total)


def _tcp(time: float, data: bytes, at: int, source: bytes, target: bytes, length: int, size: int) -> Packet:
    from_port, to_port, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", data, at)
    head = (offset >> 4) * 4
    sack: tuple[tuple[int, int], ...] = ()
    tsval = tsecr = None
    mss, place, end = 0, at + 20, min(at + head, len(data))
    while place < end:
        kind = data[place]
        if kind == 0:
            break
        if kind == 1:
            place += 1
            continue
        if place + 1 >= end or data[place + 1] < 2:
            break
        long = data[place + 1]
        if place + long > end:
            break
        if kind == 5:
            blocks = range(place + 2, place + long - 7, 8)
            sack = tuple(struct.unpack_from(">II", data, block) for block in blocks)
        elif kind == 8 and long == 10:
            tsval, tsecr = struct.unpack_from(">II", data, place + 2)
        elif kind == 2 and long == 4:
            (mss,) = struct.unpack_from(">H", data, place + 2)
        place += long
    return Packet(
        time, (source, from_port), (target, to_port), seq, ack, flags, max(0, length - head), size, sack,
        tsval, tsecr, mss,
    )  # fmt: skip
