"""Captures, read by their headers. `crates/captures` reads; here rows become packets in time order.

Payloads, addresses and names stay in the reader: connections are numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SYN, FIN, RST, ACK = 0x02, 0x01, 0x04, 0x10
#: Rows that are read of all captures together: at some 400 B each in Python they stay within 1 GB.
MOST_ROWS = 1_500_000
#: Packets around a pause whose timestamps are compared: enough that one of them did not wait in a queue.
_AROUND = 200
#: A step back of the capture's clock, s. Packets of two processors are at most some ms out of order.
_BACK_S = 0.05
#: A pause that may be a step of the clock, s: in a shorter one a sender's timer may not have expired.
_PAUSE_S = 3.0
#: Without timestamps, so long a pause of data in flight without a retransmission is a step, s: RTO is at most
#: 120 s in Linux but begins at 1 s (RFC 6298), so several would have been seen.
_IN_FLIGHT_S = 20.0
#: The frequent ticks of timestamps, s (Linux 1 ms; BSD and old Linux 10 ms and 4 ms).
_TICKS = (0.001, 0.004, 0.01)
#: Distance of a measured tick from a frequent one, a share: clocks differ by far less.
_TICK_NEAR = 0.02

#: An end of a connection: its number, and whether the first packet came from it.
Address = tuple[int, bool]


@dataclass(frozen=True, slots=True)
class Packet:
    """A TCP packet.

    Attributes:
        time: Seconds, from the first packet of the capture.
        source: Connection and end.
        target: Connection and other end.
        seq: Sequence number.
        ack: Acknowledgement number.
        flags: Flags of TCP.
        payload: Bytes of payload.
        size: Bytes of IP, headers included.
        sack: SACK blocks.
        tsval: Timestamp, None without.
        tsecr: Its echo.
        mss: MSS option, 0 without.
        window: Window field, unscaled.
        scale: Shift of the window, in a SYN; None without.
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
    window: int = 0
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class Echo:
    """An ICMP echo request or its reply.

    Attributes:
        time: Seconds, from the first packet of the capture.
        source: The host that asks, whoever sent this packet.
        reply: Whether it is the reply.
        key: Identifier and sequence number.
        size: Bytes of IP.
    """

    time: float
    source: Address
    reply: bool
    key: int
    size: int


@dataclass(frozen=True, slots=True)
class Datagram:
    """A UDP datagram.

    Attributes:
        time: Seconds, from the first packet of the capture.
        connection: Number of the connection.
        forward: Whether it goes as the first one of the connection.
        first: First byte of the payload.
        payload: Bytes of payload.
        size: Bytes of IP.
    """

    time: float
    connection: int
    forward: bool
    first: int
    payload: int
    size: int


@dataclass
class Read:
    """What a capture holds.

    Attributes:
        packets: Its TCP packets, in time order.
        echoes: Its ICMP echo requests and replies (ping), likewise.
        datagrams: Its UDP datagrams, likewise.
        notes: What was odd, and what was done about it.
        others: Frames of other kinds, by kind.
        names: Names of its files.
    """

    packets: list[Packet]
    echoes: list[Echo] = field(default_factory=list)
    datagrams: list[Datagram] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)


def is_capture(head: bytes) -> bool:
    """Return whether a file begins as a capture, or is packed with gzip or Zstandard."""
    return _core.is_capture(head)


def frames(path: str | Path) -> Iterator[tuple[int, int, bytes, int]]:
    """Return a capture's frames: time in ns, link type, first bytes, length on the wire."""
    return iter(_core.CaptureFrames(str(path)))


#: Fewer pings alone say nothing of a link; what the reader writes for a window without a scale.
_ECHOES, _NO_SCALE = 30, 255
#: QUIC: bits of a long header, and the least size of an Initial, B (RFC 9000, 17.2 and 14.1).
_LONG_HEADER, _INITIAL = 0xC0, 1200
#: Packets after a pause among which a retransmission would be.
_AFTER = 20
#: Fewer ticks, or stamps, do not show the length of a tick.
_LEAST_TICKS, _LEAST_STAMPS = 20, 10


def read(path: str | Path) -> Read:
    """Read one capture; see `read_all`."""
    (found,) = read_all([path])
    return found


def read_all(paths: Sequence[str | Path], most: int = MOST_ROWS) -> list[Read]:
    """Read captures. Two files with one direction each of a connection become one.

    A file that is cut off is read up to there. If the clock of a capture steps, later times are shifted. Each
    is noted.

    Raises:
        UsageError: A file is no capture, cannot be read, or has nothing to fit.
    """
    files = [Path(path) for path in paths]
    try:
        rows = _core.read_captures([str(file) for file in files], most)
    except OSError as error:
        raise UsageError(
            f"{error.filename}: cannot be read: {error.strerror or error}; name a capture"
        ) from None
    except ValueError as error:
        raise UsageError(f"{', '.join(map(str, files))}: {error}") from None
    columns = {name: views(rows[name]) for name in ("packets", "echoes", "datagrams")}
    found = []
    for group in _together(len(files), columns["packets"]):
        found.append(_read(group, files, rows, columns))
    return found


#: Codes of the columns' values in Python's buffer protocol.
_CODES = {"time": "q", "forward": "?", "stamped": "?", "reply": "?"}


def views(columns: dict[str, Any]) -> dict[str, memoryview[int]]:
    """Return the values of columns that the reader of captures gave."""
    # The code is data here: no overload of `cast` knows its type.
    cast: Any = memoryview.cast
    return {
        name: cast(memoryview(column).cast("B"), _CODES.get(name, "I")) for name, column in columns.items()
    }


def _together(files: int, packets: dict[str, memoryview[int]]) -> list[list[int]]:
    """Return which files belong together: those that hold one direction each of the same connection."""
    if files == 1:
        return [[0]]
    ways: dict[tuple[int, int], set[bool]] = {}
    for file, connection, forward in zip(
        packets["file"], packets["connection"], packets["forward"], strict=True
    ):
        ways.setdefault((file, connection), set()).add(bool(forward))
    groups = [[file] for file in range(files)]
    by_connection: dict[int, list[int]] = {}
    for file, connection in ways:
        by_connection.setdefault(connection, []).append(file)
    for connection, owners in by_connection.items():
        if len(owners) == 2 and all(len(ways[file, connection]) == 1 for file in owners):
            one, other = owners
            if ways[one, connection] != ways[other, connection]:
                first = next(group for group in groups if one in group)
                second = next(group for group in groups if other in group)
                if first is not second:
                    first += second
                    groups.remove(second)
    return groups


def _read(group: list[int], files: list[Path], rows: dict[str, Any], columns: dict[str, Any]) -> Read:
    names = [files[number].name for number in group]
    where = ", ".join(str(files[number]) for number in group)
    ours = set(group)
    origin = min(
        (
            time
            for kind in columns.values()
            for time, file in zip(kind["time"], kind["file"], strict=True)
            if file in ours
        ),
        default=0,
    )
    found = Read([], names=names, others=dict(rows["others"]))
    _notes(found, group, rows)
    # In the order of the files, which the clock may not have.
    heard = [*_packets(columns["packets"], ours, origin), *_echoes(columns["echoes"], ours, origin)]
    heard.sort(key=lambda pair: pair[0])
    in_order = [each for _, each in heard]
    packets = [each for each in in_order if isinstance(each, Packet)]
    echoes = [each for each in in_order if isinstance(each, Echo)]
    found.datagrams = list(_datagrams(columns["datagrams"], ours, origin))
    if not packets and len(echoes) < _ECHOES and not any(map(is_quic, found.datagrams)):
        kinds = found.others | ({"UDP": len(found.datagrams)} if found.datagrams else {})
        said = ", ".join(f"{count} of {kind}" for kind, count in kinds.items()) or "no packets"
        cut = f" ({found.notes[0]})" if found.notes else ""
        raise UsageError(f"{where}: no TCP, but {said}{cut}; capture a TCP transfer")
    # All together: a step of the clock between two packets moves the pings behind it too.
    in_time = _in_time(in_order, found, merged=len(group) > 1) if in_order else []
    # Where the clock was set back, the earliest time is none of the first packet.
    if in_time and in_time[0].time > 0 and not found.datagrams:
        first = in_time[0].time
        in_time = [replace(each, time=each.time - first) for each in in_time]
    found.packets = [each for each in in_time if isinstance(each, Packet)]
    found.echoes = [each for each in in_time if isinstance(each, Echo)]
    found.datagrams.sort(key=lambda each: each.time)
    return found


def is_quic(datagram: Datagram) -> bool:
    """Return whether a datagram begins as QUIC's handshake: long header and fixed bit (RFC 9000, 17.2)."""
    return datagram.first & _LONG_HEADER == _LONG_HEADER and datagram.payload >= _INITIAL


def _notes(found: Read, group: list[int], rows: dict[str, Any]) -> None:
    copies, count = sum(rows["copies"][n] for n in group), sum(rows["frames"][n] for n in group)
    if copies:
        found.notes.append(
            f"{copies} of {count} frames are copies that the capture made (same bytes within 1 ms): each "
            "frame counts once"
        )
    for number in group:
        cut = rows["cut"][number]
        if cut is not None:
            found.notes.append(f"the file is cut off after {cut} bytes: read up to there")
        if rows["full"][number]:
            found.notes.append(f"the file is large: its first {rows['frames'][number] - 1} frames were read")


def _packets(
    rows: dict[str, memoryview[int]], files: set[int], origin: int
) -> Iterator[tuple[int, Packet | Echo]]:
    sacks: dict[int, list[tuple[int, int]]] = {}
    for row, low, high in zip(rows["sack_row"], rows["sack_low"], rows["sack_high"], strict=True):
        sacks.setdefault(row, []).append((low, high))
    names = (
        "time", "order", "file", "connection", "forward", "seq", "ack", "flags", "payload", "size", "stamped",
        "tsval", "tsecr", "mss", "window", "scale",
    )  # fmt: skip
    for row, (
        time, order, file, connection, forward, seq, ack, flags, payload, size, stamped, tsval, tsecr, mss,
        window, scale,
    ) in enumerate(zip(*(rows[name] for name in names), strict=True)):  # fmt: skip
        if file in files:
            yield order, Packet(
                (time - origin) / 1e9, (connection, forward), (connection, not forward), seq, ack, flags,
                payload, size, tuple(sacks.get(row, ())), tsval if stamped else None,
                tsecr if stamped else None, mss, window, None if scale == _NO_SCALE else scale,
            )  # fmt: skip


def _echoes(
    rows: dict[str, memoryview[int]], files: set[int], origin: int
) -> Iterator[tuple[int, Packet | Echo]]:
    names = ("time", "order", "file", "connection", "forward", "reply", "key", "size")
    for time, order, file, connection, forward, reply, key, size in zip(
        *(rows[n] for n in names), strict=True
    ):
        if file in files:
            yield order, Echo((time - origin) / 1e9, (connection, forward), reply, key, size)


def _datagrams(rows: dict[str, memoryview[int]], files: set[int], origin: int) -> Iterator[Datagram]:
    names = ("time", "file", "connection", "forward", "first", "payload", "size")
    for time, file, connection, forward, first, payload, size in zip(*(rows[n] for n in names), strict=True):
        if file in files:
            yield Datagram((time - origin) / 1e9, connection, forward, first, payload, size)


def _in_time(packets: list[Packet | Echo], found: Read, *, merged: bool) -> list[Packet | Echo]:
    """Return packets in time order, with steps of the clock taken out."""
    if merged:
        packets.sort(key=lambda packet: packet.time)
    steps = dict(_steps(packets))
    if not steps:
        packets.sort(key=lambda packet: packet.time)
        return packets
    shift = 0.0
    result: list[Packet | Echo] = []
    for number, packet in enumerate(packets):
        shift += steps.get(number, 0.0)
        result.append(packet if shift == 0 else replace(packet, time=packet.time + shift))
    times = "once" if len(steps) == 1 else f"{len(steps)} times"
    sizes = ", ".join(f"{-step:+.1f} s" for step in list(steps.values())[:3])
    found.notes.append(f"the clock of the capture steps {times} ({sizes}): later times are shifted")
    result.sort(key=lambda packet: packet.time)
    return result


def _steps(packets: list[Packet | Echo]) -> Iterator[tuple[int, float]]:
    """Return where the clock steps, and what undoes each step, s.

    A step forward looks like a pause. Timestamps tell the two apart: the sender's clock went on in a pause.
    """
    last = packets[0].time
    shift = 0.0
    for number, packet in enumerate(packets):
        time = packet.time + shift
        if time < last - _BACK_S:
            yield number, last - time
            shift += last - time
        elif time > last + _PAUSE_S:
            step = _step(packets, number, time - last)
            if step:
                yield number, -step
                shift -= step
        last = max(last, packet.time + shift)


def _step(packets: list[Packet | Echo], number: int, pause: float) -> float:
    """Return by how much the clock was set forward in a pause; 0 if it was a pause."""
    before = [p for p in packets[max(0, number - _AROUND) : number] if isinstance(p, Packet)]
    after = [p for p in packets[number : number + _AROUND] if isinstance(p, Packet)]
    steps = []
    for source in {packet.source for packet in before}:
        one = [p for p in before if p.source == source and p.tsval is not None]
        two = [p for p in after if p.source == source and p.tsval is not None]
        tick = _tick(one)
        if not two or not tick:
            continue
        # How late packets are by their timestamps; the least late packet waited in no queue.
        first = one[0]
        early = min(_late(first, packet, tick) for packet in one)
        steps.append(min(_late(first, packet, tick) for packet in two) - early)
    if steps:
        # Where packets were held some still waited: the least of both directions.
        step = min(steps)
        return step if step > pause / 2 else 0.0
    # Without timestamps: data in flight, and nothing of it was retransmitted.
    highest: dict[Address, int] = {}
    acked: dict[Address, int] = {}
    for packet in before:
        if packet.payload:
            highest[packet.source] = packet.seq + packet.payload
        if packet.flags & ACK:
            acked[packet.target] = packet.ack
    flying = [source for source in highest if highest[source] != acked.get(source, highest[source])]
    if pause < _IN_FLIGHT_S or not flying or not after:
        return 0.0
    again = any(
        packet.payload and packet.source in flying and packet.seq < highest[packet.source]
        for packet in after[:_AFTER]
    )
    return 0.0 if again else pause


def _late(first: Packet, packet: Packet, tick: float) -> float:
    ticks = ((packet.tsval or 0) - (first.tsval or 0) + (1 << 31)) % (1 << 32) - (1 << 31)
    return packet.time - first.time - ticks * tick


def _tick(packets: Iterable[Packet]) -> float:
    """Return the tick of a host's timestamps, s; 0 if too few packets show it."""
    found = list(packets)
    if len(found) < _LEAST_STAMPS:
        return 0.0
    ticks = ((found[-1].tsval or 0) - (found[0].tsval or 0)) % (1 << 32)
    if ticks < _LEAST_TICKS:
        return 0.0
    tick = (found[-1].time - found[0].time) / ticks
    # Queues change the distance of two packets: a frequent tick is the more likely one.
    return next((usual for usual in _TICKS if abs(tick / usual - 1) < 10 * _TICK_NEAR), tick)
