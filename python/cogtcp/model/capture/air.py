"""From the frames of an ad hoc network to the bytes of a capture: IEEE 802.11 behind a radiotap header.

The capture is a sniffer's that hears every frame on every channel, with one interface for each channel.
Section numbers refer to IEEE Std 802.11-2007.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError
from cogtcp.model.capture import headers, pcapng, section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cogtcp.model.result import Result

_COLUMNS = (
    "time_s", "channel", "frame", "transmitter", "transmitter_radio", "receiver", "receiver_radio",
    "rate_bps", "reserves_s", "sequence", "retry", "failed", "protocol", "message", "octets", "stream",
    "flow", "from", "to", "ttl", "ecn", "flags", "seq", "payload_bytes", "ack", "window", "sack",
    "sack_permitted", "mss", "window_scale", "tsval", "tsecr", "experimental", "wire_bytes",
)  # fmt: skip

#: Frame control of each frame (7.1.3.1): type and subtype. To and from DS are 0, as in every ad hoc network.
_CONTROL = {"rts": 0xB4, "cts": 0xC4, "ack": 0xD4, "data": 0x08}
_RETRY = 0x08
_EVERYBODY = b"\xff" * 6
#: One network for all, with a locally administered address (7.1.3.3.3).
_BSSID = b"\x02cogtc"
#: The duration field holds so many microseconds (7.1.3.2).
_LONGEST_DURATION = 32_767

#: Logical link control with a subnetwork access protocol header (RFC 1042), before the type of what follows.
_LLC = b"\xaa\xaa\x03\0\0\0"
_TYPE_IP, _TYPE_ARP = 0x0800, 0x0806

#: RFC 3561 section 1; and the last port that can be registered, for messages that are in no RFC.
_AODV, _OTHERS = 654, 49_151
_ANYBODY = b"\xff" * 4

#: Radiotap: flags and rate are there. Without the flag for it no checksum ends the frame.
_FLAGS_AND_RATE, _FLAGS = 0b110, 0b010
_RATE_UNIT = 500_000


def blocks(result: Result) -> Iterator[bytes]:
    """Return the capture of the frames of a run, piece by piece.

    Args:
        result: A run of an ad hoc network of which the packets were recorded.

    Raises:
        UsageError: No frames were recorded.
    """
    channels = sorted({channel for (channel,) in result.each("frames", ["channel"])})
    if not channels:
        raise UsageError('this result has no frames to capture; run the scenario with trace="packets"')
    return _blocks(result, channels)


def _blocks(result: Result, channels: list[int]) -> Iterator[bytes]:
    names = [row["node"] for row in result.rows("nodes")]
    numbers = {name: number for number, name in enumerate(names)}
    addresses = {name: headers.address(number) for name, number in numbers.items()}
    flows = section.flows(result, addresses)
    yield section.header(result)
    for channel in channels:
        yield pcapng.interface(
            f"channel {channel}",
            "simulated; each frame at its beginning; headers only, no frame check sequence",
            10 + 24 + 8 + headers.LONGEST,
            pcapng.RADIOTAP,
        )
    yield pcapng.names({address: name for name, address in addresses.items()})
    for values in result.each("frames", _COLUMNS):
        row = dict(zip(_COLUMNS, values, strict=True))
        head = _radiotap(row["rate_bps"]) + _mac(row, numbers)
        body, length = _body(row, numbers, addresses, flows)
        comments = [f"the exchange failed: {row['failed']}"] if row["failed"] else []
        if row["protocol"] == "channel":
            comments.append("announcement of a channel, content not included")
        elif row["protocol"] == "routing" and not row["octets"]:
            comments.append(f"{row['message']} of routing, content not included")
        yield pcapng.packet(
            round(row["time_s"] * 1e9),
            head + body,
            len(head) + length,
            interface=channels.index(row["channel"]),
            comments=comments,
        )


def mac_address(node: int, radio: int) -> bytes:
    """Return the address of a radio of node number `node`: locally administered, ends as the IP address."""
    return struct.pack(">BBI", 2, radio, node + 1)


def _radiotap(rate_bps: float) -> bytes:
    """Return a radiotap header; a rate is in it where its byte of 500 kbit/s can say it."""
    units = rate_bps / _RATE_UNIT
    if units.is_integer() and 1 <= units <= 255:
        return struct.pack("<BBHIBB", 0, 0, 10, _FLAGS_AND_RATE, 0, int(units))
    return struct.pack("<BBHIB", 0, 0, 9, _FLAGS, 0)


def _mac(row: headers.Row, numbers: Mapping[str, int]) -> bytes:
    """Return the header of a frame (7.2.1, 7.2.2)."""
    receiver = _EVERYBODY
    if row["receiver"]:
        receiver = mac_address(numbers[row["receiver"]], row["receiver_radio"])
    transmitter = mac_address(numbers[row["transmitter"]], row["transmitter_radio"])
    # Nanoseconds first: the double may lie a hair above a whole microsecond, which would be rounded up.
    duration = min(math.ceil(round(row["reserves_s"] * 1e9) / 1000), _LONGEST_DURATION)
    kind = row["frame"]
    flags = _RETRY if row["retry"] else 0
    first = struct.pack("<BBH", _CONTROL[kind], flags, duration) + receiver
    if kind in ("cts", "ack"):
        return first
    if kind == "rts":
        return first + transmitter
    # Sequence numbers have 12 bits; the 4 below are the number of the fragment (7.1.3.4).
    return first + transmitter + _BSSID + struct.pack("<H", row["sequence"] % 4096 << 4)


def _body(
    row: headers.Row,
    numbers: Mapping[str, int],
    addresses: Mapping[str, bytes],
    flows: Mapping[str, headers.Quoted],
) -> tuple[bytes, int]:
    """Return what is captured of a frame behind its MAC header, and how long that is."""
    kind = row["protocol"]
    if not kind:
        return b"", 0
    if kind == "arp":
        whole = _LLC + struct.pack(">H", _TYPE_ARP) + _arp(row, numbers, addresses)
        return whole, len(whole)
    head = _LLC + struct.pack(">H", _TYPE_IP)
    if kind in ("tcp", "udp", "icmp"):
        return head + headers.build(row, addresses, flows), len(head) + row["wire_bytes"]
    source, target = addresses[row["from"]], addresses.get(row["to"], _ANYBODY)
    octets = bytes.fromhex(row["octets"])
    if octets:
        content = headers.datagram((_AODV, _AODV), octets, source, target)
        # What ns-2 takes a message for is another length: no UDP header, and a time stamp.
        length = 20 + len(content)
    else:
        # Its content is not written: no RFC says how it looks.
        length = row["wire_bytes"]
        # A checksum over the whole length, and then the header alone: 28 bytes are IPv4's and UDP's.
        content = headers.datagram((_OTHERS, _OTHERS), bytes(length - 28), source, target)[:8]
    whole = head + headers.ipv4(length, row["ttl"], 0, headers.UDP, source, target) + content
    return whole, len(head) + length


def _arp(row: headers.Row, numbers: Mapping[str, int], addresses: Mapping[str, bytes]) -> bytes:
    """Return a message of RFC 826 for Ethernet and IPv4."""
    is_reply = row["message"] == "reply"
    sender = mac_address(numbers[row["from"]], row["transmitter_radio"])
    asked = mac_address(numbers[row["to"]], row["receiver_radio"]) if is_reply else bytes(6)
    head = struct.pack(">HHBBH", 1, _TYPE_IP, 6, 4, 2 if is_reply else 1)
    return head + sender + addresses[row["from"]] + asked + addresses[row["to"]]
