"""What is kept of a run."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from cogtcp.studies.quantities import size_bytes
from cogtcp.studies.streams import data_streams, mean_hops

if TYPE_CHECKING:
    from cogtcp import Result

DELIVERY = ". Delivery ratio: "
"""What stands before the definition of the delivery ratio, in a scenario's description."""


def measure(result: Result) -> dict[str, Any]:
    """Keep the totals of a run, over all its flows."""
    flows = result.flows.to_pylist()
    span_s = result.duration_s
    data = data_streams(result)
    (routing,) = result.table("routing").to_pylist()
    nodes = result.table("nodes").to_pylist()
    sent = sum(flow["sent_segments"] for flow in flows)
    arrived = sum(row["delivered_packets"] for row in data)
    dropped = sum(flow["drops"] for flow in flows)
    attempts = sum(node["attempts"] for node in nodes)
    scenario = result.scenario.to_dict()
    # In order and without copies: the last hole of a run keeps back what arrived after it.
    first = sum(flow["delivered_bytes"] for flow in flows) / size_bytes(scenario["tcp"]["segment_size"])
    offered = sent - sum(flow["retransmitted_segments"] for flow in flows)
    delivered, of = {
        "all arrivals, of all packets sent": (arrived, sent),
        "first arrivals, of all packets sent": (first, sent),
        "first arrivals, of all packets but retransmissions": (first, offered),
    }[scenario["description"].split(DELIVERY)[1]]
    return {
        "goodput_kbps": sum(flow["goodput_bps"] for flow in flows) / 1e3,
        "per_flow_kbps": statistics.fmean(flow["goodput_bps"] for flow in flows) / 1e3,
        "pdr": 100 * delivered / of if of else 0.0,
        "lost": dropped / (arrived + dropped) if arrived + dropped else 1.0,
        "hops": mean_hops(data),
        "route_losses_per_min": 60 * routing["route_losses"] / span_s,
        "rtos_per_min": 60 * sum(flow["rtos"] for flow in flows) / span_s,
        "drops_mac": sum(row["drops_mac"] for row in data) / max(sent, 1),
        "interfered": sum(node["attempts_interfered"] for node in nodes) / max(attempts, 1),
    }
