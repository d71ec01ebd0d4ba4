"""From the packets of a run to the bytes of a capture."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.model.capture import air, headers, pcapng, section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.model.capture.point import Point
    from cogtcp.model.result import Result

#: What tells a packet from others of its link direction. Not the ECN bits: the queue may set them on the way.
_IDENTITY = (
    "stream", "protocol", "flags", "seq", "payload_bytes", "ack", "window",
    "sack", "tsval", "tsecr", "experimental",
)  # fmt: skip

#: What is read of a packet to know what becomes of it, and to write it.
_FATES = ("link", "time_s", "event", "cause", "refused", "direction", *_IDENTITY)
_WRITTEN = (
    *_FATES, "from", "to", "flow", "ttl", "ecn", "mss", "sack_permitted", "window_scale", "wire_bytes",
)  # fmt: skip


def blocks(result: Result, point: Point) -> Iterator[bytes]:
    """Return a capture, piece by piece: what a node sends and receives on a link, or what goes over the air.

    Args:
        result: A run of which the packets were recorded.
        point: Where the packets are captured.

    Raises:
        UsageError: No packets were recorded.
    """
    if point.is_air:
        return air.blocks(result)
    if not any(True for _ in result.each("packets", ["link"])):
        raise UsageError('this result has no packets to capture; run the scenario with trace="packets"')
    return _blocks(result, point)


def _blocks(result: Result, point: Point) -> Iterator[bytes]:
    addresses = _addresses(result)
    flows = section.flows(result, addresses)
    payloads = dict(result.each("payloads", ["packet", "bytes"]))
    yield section.header(result)
    yield pcapng.interface(
        f"{point.link} at {point.node}",
        "simulated; headers only, checksums assume a payload of zeros",
        headers.LONGEST_DATAGRAM if payloads else headers.LONGEST,
    )
    yield pcapng.names({address: name for name, address in addresses.items()})
    deaths = _deaths(result, point)
    for number, row in _rows(result, point, _WRITTEN):
        outgoing = row["direction"] == point.outgoing
        # The node sees a packet that it sends when this enters the queue, or is refused; others on arrival.
        if row["event"] != ("queued" if outgoing else "received") and not (outgoing and row["refused"]):
            continue
        comments = [deaths[number]] if number in deaths else []
        data = headers.build({**row, "bytes": payloads.get(number, "")}, addresses, flows)
        # The double in the table tells nanoseconds apart for the first 48 days.
        time_ns = round(row["time_s"] * 1e9)
        yield pcapng.packet(time_ns, data, row["wire_bytes"], outgoing=outgoing, comments=comments)


def _deaths(result: Result, point: Point) -> dict[int, str]:
    """Return why packets that the node saw are dropped: by the number of the row in which it sees them."""
    deaths: dict[int, str] = {}
    under_way: dict[tuple[Any, ...], deque[int]] = defaultdict(deque)
    for number, row in _rows(result, point, _FATES):
        outgoing = row["direction"] == point.outgoing
        # Packets of a stream with the same headers leave a link direction in the order in which they came.
        waiting = under_way[tuple(_comparable(row[name]) for name in _IDENTITY)] if outgoing else None
        if row["event"] == "queued":
            if waiting is not None:
                waiting.append(number)
        elif row["event"] == "received":
            if waiting is not None:
                waiting.popleft()
        elif row["refused"]:
            deaths[number] = _death(row)
        # Packets that come towards the node and are lost on the way are never seen there.
        elif waiting:
            deaths[waiting.popleft()] = _death(row)
    return deaths


def _death(row: headers.Row) -> str:
    return f"dropped at {row['time_s']:.9f} s: {row['cause']}"


def _comparable(value: Any) -> Any:
    """Return a value, or None for not-a-number, which is not equal to itself."""
    return value if value == value else None


def _rows(result: Result, point: Point, columns: tuple[str, ...]) -> Iterator[tuple[int, headers.Row]]:
    """Return the numbers of the rows about a link, and what they say."""
    for number, values in enumerate(result.each("packets", columns)):
        if values[0] == point.link:
            yield number, dict(zip(columns, values, strict=True))


def _addresses(result: Result) -> dict[str, bytes]:
    """Return the addresses of the nodes by name: in the order of the scenario."""
    # From the dictionary of the column, which has all nodes in order, whether or not packets were sent by
    # them.
    *_, columns = result._sources["packets"]
    nodes = next(column for column in columns if column[0] == "from")[5] or []
    return {name: headers.address(number) for number, name in enumerate(nodes)}
