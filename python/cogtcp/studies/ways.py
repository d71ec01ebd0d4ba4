"""What the table `ways` of an ad hoc run says of the flows' data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result


def data_ways(result: Result) -> list[dict[str, Any]]:
    """Return the rows of the flows' data, without their acknowledgements."""
    return [way for way in result.table("ways").to_pylist() if way["stream"] == "data"]


def mean_hops(ways: Sequence[dict[str, Any]]) -> float:
    """Return the mean hops of a delivered packet; 0 if none was."""
    arrived = [way for way in ways if way["delivered_packets"]]
    hops = sum(way["hops_mean"] * way["delivered_packets"] for way in arrived)
    return float(hops / max(sum(way["delivered_packets"] for way in arrived), 1))
