"""Captures: the packets on a link as Wireshark, tcpdump and tshark read them.

`point.py` chooses the place; `crates/captures` makes the bytes, of a link or of the air of an ad hoc network.
`qlog.py` writes QUIC's own log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp.model import provenance
from cogtcp.model.capture.point import Point, file_name, find_point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.model.result import Result

__all__ = ["Point", "blocks", "file_name", "find_point"]


def blocks(result: Result, point: Point) -> Iterator[bytes]:
    """Return a capture, piece by piece: what a node sends and receives on a link, or what goes over the air.

    Args:
        result: A run of which the packets were recorded.
        point: Where the packets are captured.

    Raises:
        UsageError: No packets were recorded.
    """
    about = (
        f"scenario {result.scenario.name} ({result.scenario.hash}), seed {result.seed}, "
        f"digest {result.digest}"
    )
    place = (point.link, point.node, point.outgoing)
    pieces = _core.write_capture(result._core, (f"cogtcp {provenance.version()}", about), place)
    if pieces is None:
        what = "frames" if point.is_air else "packets"
        raise UsageError(f'this result has no {what} to capture; run the scenario with trace="packets"')
    return pieces
