"""The record of every packet of an emulation, as captures for Wireshark and as logs in mahimahi's format."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp.model import provenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.kernel.emulation.result import Emulation
    from cogtcp.model.capture import Point

# `crates/emulator/src/journal.rs` describes the records.
_HEAD = struct.Struct("<QQIBBHII")
OFFERED, ARRIVED, DROPPED, REFUSED, CAPACITY = range(5)
_CAUSES = ("queue", "loss", "silence", "retry", "interference", "early")


@dataclass(frozen=True, slots=True)
class Record:
    """What happened to a packet.

    Attributes:
        time_ns: When, since the start of the run.
        came_ns: When it came from the kernel that sent it; with `place` no other packet has the same.
        place: Its place in the emulator.
        step: `OFFERED` to a link, `ARRIVED` at its far end, `DROPPED`, `REFUSED` (not taken by the queue); or
            `CAPACITY`: no packet, `size` is what the direction could carry since the last such record.
        link_direction: The direction of a link: its row in the table `links`.
        cause: Why it was dropped.
        size: Bytes.
        data: Its bytes, where they were captured.
    """

    time_ns: int
    came_ns: int
    place: int
    step: int
    link_direction: int
    cause: str
    size: int
    data: bytes


def read(file: str | Path) -> Iterator[Record]:
    """Read a record of packets, in the order in which things happened to them."""
    with Path(file).open("rb") as stream:
        while len(head := stream.read(_HEAD.size)) == _HEAD.size:
            time_ns, came_ns, place, step, cause, link_direction, size, captured = _HEAD.unpack(head)
            data = stream.read(captured)
            yield Record(time_ns, came_ns, place, step, link_direction, _CAUSES[cause], size, data)


_OTHER = {"forward": "reverse", "reverse": "forward"}


def _link_direction(result: Emulation, link: str, direction: str) -> int:
    """Return the number of a direction of a link."""
    rows = result.rows("links")
    return next(
        number for number, row in enumerate(rows) if (row["link"], row["direction"]) == (link, direction)
    )


def capture(file: str | Path, result: Emulation, point: Point) -> Iterator[bytes]:
    """Return the capture of what a node sends and receives on the link, as pcapng, piece by piece.

    Real packets with their payload. One that is dropped after the node sent it has a comment that says why.
    """
    out, back = (
        _link_direction(result, point.link, direction)
        for direction in (point.outgoing, _OTHER[point.outgoing])
    )
    # A first reading for the fates: a capture has the comment at the packet, before the drop is known.
    lost = {
        (record.came_ns, record.place): record
        for record in read(file)
        if record.step in (DROPPED, REFUSED) and record.link_direction == out
    }
    about = (
        f"scenario {result.scenario.name} ({result.scenario.hash}), seed {result.seed}; emulated: "
        f"{result.about_plane}"
    )
    interface = (f"{point.link} at {point.node}", "real packets of a Linux kernel")
    yield _core.capture_head((f"cogtcp {provenance.version()}", about), interface, 65_535)
    for record in read(file):
        outgoing = record.link_direction == out
        if (record.link_direction, record.step) not in ((out, OFFERED), (back, ARRIVED)):
            continue
        end = lost.get((record.came_ns, record.place)) if outgoing else None
        comments = (
            [f"dropped after {(end.time_ns - record.time_ns) / 1e6:.3f} ms: {end.cause}"] if end else []
        )
        yield _core.capture_packet(record.time_ns, record.data, record.size, outgoing, comments)


def mahimahi_log(
    file: str | Path, result: Emulation, link: str, direction: str, *, command: str | None = None
) -> Iterator[bytes]:
    """Return the log of a direction as `mm-link` of mahimahi writes it, line by line.

    `mm-throughput-graph` and `mm-delay-graph` read the log. Times are in milliseconds. Lines are `t + size`
    (a packet arrived at the link) and `t - size delay` (the packet reached the far end; delay is its time on
    the link, propagation included). Further lines are `t # size` (bytes that the link could have carried) and
    `t d packets size` (dropped).
    """
    row, came = _link_direction(result, link, direction), {}
    yield (
        f"# mahimahi mm-link ({'uplink' if direction == 'forward' else 'downlink'}) [{link}]\n"
        f"# command line: {command or 'cogtcp emulate'}\n"
        f"# queue: {link}\n"
        "# init timestamp: 0\n"
        "# base timestamp: 0\n"
    ).encode()
    for record in read(file):
        if record.link_direction != row:
            continue
        at, packet = record.time_ns // 1_000_000, (record.came_ns, record.place)
        if record.step == OFFERED:
            came[packet] = record.time_ns
            yield b"%d + %d\n" % (at, record.size)
        elif record.step == ARRIVED:
            yield b"%d - %d %d\n" % (at, record.size, (record.time_ns - came.pop(packet)) // 1_000_000)
        elif record.step == CAPACITY:
            yield b"%d # %d\n" % (at, record.size)
        else:
            yield b"%d d 1 %d\n" % (at, record.size)
