"""The file format pcapng (draft-ietf-opsawg-pcapng): blocks of a capture file, little-endian.

A file has one section with its interfaces, the names of its addresses, and an enhanced packet block a packet.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Link type of packets that begin with their IP header (LINKTYPE_RAW).
RAW_IP = 101
#: Link type of IEEE 802.11 frames behind a radiotap header (LINKTYPE_IEEE802_11_RADIOTAP).
RADIOTAP = 127

_SECTION_HEADER = 0x0A0D0D0A
_INTERFACE = 1
_NAME_RESOLUTION = 4
_ENHANCED_PACKET = 6

_BYTE_ORDER_MAGIC = 0x1A2B3C4D
_UNKNOWN_LENGTH = 0xFFFF_FFFF_FFFF_FFFF

# Codes of options: those of all blocks, then those of one.
_COMMENT = 1
_SHB_USER_APPLICATION = 4
_IF_NAME = 2
_IF_DESCRIPTION = 3
_IF_TIMESTAMP_RESOLUTION = 9
_EPB_FLAGS = 2

_INBOUND = 1
_OUTBOUND = 2


def section_header(application: str, comment: str) -> bytes:
    """Return the block that begins a file: who wrote it, and what it is."""
    fixed = struct.pack("<IHHQ", _BYTE_ORDER_MAGIC, 1, 0, _UNKNOWN_LENGTH)
    options = [(_COMMENT, _text(comment)), (_SHB_USER_APPLICATION, _text(application))]
    return _block(_SECTION_HEADER, fixed + _options(options))


def interface(name: str, description: str, snap_length: int, link_type: int = RAW_IP) -> bytes:
    """Return the block of an interface that captures packets of a link type with times in nanoseconds."""
    fixed = struct.pack("<HHI", link_type, 0, snap_length)
    options = [
        (_IF_NAME, _text(name)),
        (_IF_DESCRIPTION, _text(description)),
        (_IF_TIMESTAMP_RESOLUTION, b"\x09"),
    ]
    return _block(_INTERFACE, fixed + _options(options))


def names(addresses: Mapping[bytes, str]) -> bytes:
    """Return the block that names IPv4 addresses."""
    records = b"".join(
        _padded(struct.pack("<HH", 1, 4 + len(text) + 1), address + text + b"\0")
        for address, name in addresses.items()
        # A zero byte ends a name in this block.
        for text in [_text(name).replace(b"\0", b"?")]
    )
    return _block(_NAME_RESOLUTION, records + struct.pack("<HH", 0, 0))


def packet(
    time_ns: int,
    data: bytes,
    length: int,
    *,
    outgoing: bool | None = None,
    interface: int = 0,
    comments: Iterable[str] = (),
) -> bytes:
    """Return the block of a packet of which `data` was captured of `length` bytes.

    `outgoing` None: the capturing host neither sent the packet nor was its destination.
    """
    fixed = struct.pack("<IIIII", interface, time_ns >> 32, time_ns & 0xFFFF_FFFF, len(data), length)
    options = [(_COMMENT, _text(comment)) for comment in comments]
    if outgoing is not None:
        options.append((_EPB_FLAGS, struct.pack("<I", _OUTBOUND if outgoing else _INBOUND)))
    return _block(_ENHANCED_PACKET, _padded(fixed, data) + _options(options))


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    # The length stands at both ends, so that a file can be read backwards.
    return struct.pack("<I", kind) + length + body + length


def _options(options: Iterable[tuple[int, bytes]]) -> bytes:
    written = b"".join(_padded(struct.pack("<HH", code, len(value)), value) for code, value in options)
    return written + struct.pack("<HH", 0, 0)


def _text(text: str) -> bytes:
    """Return a text as an option may have it: at most 65,535 bytes of UTF-8."""
    # Cut in bytes, which may split a character: what is left of it goes.
    return text.encode(errors="replace")[:65_000].decode(errors="ignore").encode()


def _padded(head: bytes, value: bytes) -> bytes:
    return head + value + bytes(-len(value) % 4)
