"""Writes a capture's headers as pcap with nanoseconds: small files for tests and examples."""

from __future__ import annotations

import struct
from pathlib import Path

#: Bytes kept of a frame: Ethernet, IPv6 and TCP with all options.
MOST = 114


def slim(source: str | Path, target: str | Path, most: int = MOST) -> None:
    """Write the first bytes of each frame of a pcap or pcapng file as pcap."""
    from cogtcp.data.fitting.packets import frames

    with Path(target).open("wb") as stream:
        written = False
        for time, link, data, length in frames(source):
            if not written:
                stream.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, most, link))
                written = True
            kept = data[:most]
            stream.write(struct.pack("<IIII", *divmod(time, 1_000_000_000), len(kept), length) + kept)
