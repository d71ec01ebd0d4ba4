"""What the table `streams` of an ad hoc run says of the flows' data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result


def data_streams(result: Result) -> list[dict[str, Any]]:
    """Return the rows of the flows' data, without their acknowledgements."""
    return [row for row in result.table("streams").to_pylist() if row["stream"] == "data"]


def mean_hops(streams: Sequence[dict[str, Any]]) -> float:
    """Return the mean hops of a delivered packet; 0 if none was."""
    arrived = [row for row in streams if row["delivered_packets"]]
    hops = sum(row["hops_mean"] * row["delivered_packets"] for row in arrived)
    return float(hops / max(sum(row["delivered_packets"] for row in arrived), 1))
