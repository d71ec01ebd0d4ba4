"""Headers of IPv4, TCP, UDP and ICMP (RFC 791, 9293, 768, 792), as they are on the wire.

Payloads are not simulated, only their lengths. Checksums assume a payload of zeros, and the bytes end with
the headers. Datagrams of QUIC and TFRC have their bytes, up to the zeros at the end. docs/captures.md lists
values that the simulator does not have.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The longest headers that are written: IPv4 without options and the longest TCP header.
LONGEST = 20 + 60
#: The longest IPv4 packet with a datagram, whose payload is captured too.
LONGEST_DATAGRAM = 0xFFFF

_ICMP, _TCP, UDP = 1, 6, 17
_DONT_FRAGMENT = 0x4000
_FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16, "E": 64, "W": 128, "A": 256}
# The range of dynamic ports (RFC 6335), and one that iperf3 made known for bulk data.
_FIRST_DYNAMIC, _DYNAMIC = 49_152, 16_384
_LISTENING = 5201
# RFC 6994: an experimental option (kind 253) begins with the identifier of an experiment, here
# one that is not registered.
_EXPERIMENTAL, _EXPERIMENT = 253, 0xC067
_UNREACHABLE, _HOST = 3, 1
_TIME_TO_LIVE = 64

Row = dict[str, Any]


class Quoted(NamedTuple):
    """The headers that an ICMP message quotes: packets of one stream."""

    stream: int
    source: bytes
    target: bytes


def address(node: int) -> bytes:
    """Return the IPv4 address of node number `node`, from 0: 10.0.0.1 and on (RFC 1918)."""
    return struct.pack(">I", (10 << 24) + node + 1)


def build(row: Row, addresses: Mapping[str, bytes], flows: Mapping[str, Quoted]) -> bytes:
    """Return the headers of a packet.

    Args:
        row: The packet as the table `packets` has it.
        addresses: Those of the nodes, by name.
        flows: The data of the flows, by name.
    """
    source, target = addresses[row["from"]], addresses[row["to"]]
    if row["protocol"] == "tcp":
        number, content = _TCP, _tcp(row, source, target)
    elif row["protocol"] == "icmp":
        number, content = _ICMP, _unreachable(row, flows[row["flow"]])
    else:
        number, content = UDP, _udp(row, source, target)
    return ipv4(row["wire_bytes"], row["ttl"], row["ecn"], number, source, target) + content


def options(row: Row) -> bytes:
    """Return the TCP options of a segment, in whole words as Linux does: SACK-permitted beside timestamps."""
    result = b""
    stamped = not math.isnan(row["tsval"])
    if not math.isnan(row["mss"]):
        result += struct.pack(">BBH", 2, 4, int(row["mss"]))
    if stamped:
        # Two bytes in front of the ten of timestamps: SACK-permitted, or padding (NOP).
        result += b"\x04\x02" if row["sack_permitted"] else b"\x01\x01"
        result += struct.pack(">BBII", 8, 10, int(row["tsval"]), int(row["tsecr"]))
    elif row["sack_permitted"]:
        result += b"\x01\x01\x04\x02"
    if not math.isnan(row["window_scale"]):
        result += struct.pack(">BBBB", 1, 3, 3, int(row["window_scale"]))
    if not math.isnan(row["experimental"]):
        result += struct.pack(">BBHI", _EXPERIMENTAL, 8, _EXPERIMENT, int(row["experimental"]))
    if row["sack"]:
        edges = [int(edge) for block in row["sack"].split(" ") for edge in block.split("-")]
        result += struct.pack(f">BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
    return result


def checksum(data: bytes) -> int:
    """Return the internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ports(stream: int) -> tuple[int, int]:
    """Return the ports of a stream: a sender's is dynamic, its receiver's the one listened on."""
    # Streams come in pairs: data, then acknowledgements.
    flow, back = divmod(stream, 2)
    # More flows than dynamic ports: the next ones go to another listening port.
    listening, dynamic = divmod(flow, _DYNAMIC)
    pair = (_FIRST_DYNAMIC + dynamic, _LISTENING + listening)
    return pair[::-1] if back else pair


def ipv4(length: int, ttl: int, ecn: int, protocol: int, source: bytes, target: bytes) -> bytes:
    """Return the header of an IPv4 packet of `length` bytes, itself included (RFC 791)."""
    # Identification 0: atomic packets need none (RFC 6864).
    # A length that the field cannot hold is 0 there, as where segmentation is offloaded.
    total_length = length if length <= 0xFFFF else 0
    head = struct.pack(">BBHHHBB", 0x45, ecn, total_length, 0, _DONT_FRAGMENT, ttl, protocol)
    total = checksum(head + b"\0\0" + source + target)
    return head + struct.pack(">H", total) + source + target


def _tcp(row: Row, source: bytes, target: bytes) -> bytes:
    added = options(row)
    flags = sum(_FLAGS[flag] for flag in row["flags"])
    length = 20 + len(added)
    # AE (RFC 9768) is the lowest bit of the byte with the length.
    numbers = (row["seq"], row["ack"], length << 10 | flags, row["window"])
    first = struct.pack(">HHIIHH", *ports(row["stream"]), *numbers)
    # The payload counts in the length; its zeros add nothing to the sum.
    pseudo = source + target + struct.pack(">HI", _TCP, length + row["payload_bytes"])
    total = checksum(pseudo + first + b"\0\0\0\0" + added)
    return first + struct.pack(">HH", total, 0) + added


def datagram(ends: tuple[int, int], payload: bytes, source: bytes, target: bytes) -> bytes:
    """Return a UDP datagram between the ports `ends` with its payload (RFC 768)."""
    return _udp_header(ends, 8 + len(payload), payload, source, target) + payload


def _udp(row: Row, source: bytes, target: bytes) -> bytes:
    payload = bytes.fromhex(row.get("bytes", ""))
    # Enough for Wireshark to find a header of QUIC, which it looks for with a sample of 16 bytes behind it.
    payload += bytes(max(0, min(row["payload_bytes"], 64 if payload else 0) - len(payload)))
    return _udp_header(ports(row["stream"]), 8 + row["payload_bytes"], payload, source, target) + payload


def _udp_header(ends: tuple[int, int], length: int, payload: bytes, source: bytes, target: bytes) -> bytes:
    """Return a UDP header; beyond `payload` its payload is zeros."""
    first = struct.pack(">HHH", *ends, length)
    pseudo = source + target + struct.pack(">HH", UDP, length)
    # RFC 768: a sum of zero is sent as all ones.
    total = checksum(pseudo + first + b"\0\0" + payload) or 0xFFFF
    return first + struct.pack(">H", total)


def _unreachable(row: Row, quoted: Quoted) -> bytes:
    """Destination unreachable, with the IP header and the first 8 bytes of what was destroyed (RFC 792)."""
    # Its length is not recorded: one without payload stands for it.
    inner = ipv4(40, _TIME_TO_LIVE, 0, _TCP, quoted.source, quoted.target)
    inner += struct.pack(">HHI", *ports(quoted.stream), row["seq"])
    total = checksum(struct.pack(">BBHI", _UNREACHABLE, _HOST, 0, 0) + inner)
    return struct.pack(">BBHI", _UNREACHABLE, _HOST, total, 0) + inner
