"""The runs of this study: a scenario for each point under each setting."""

from __future__ import annotations

import json
import random
import statistics
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario
from cogtcp.studies.streams import data_streams, mean_hops

if TYPE_CHECKING:
    from cogtcp import Result
    from cogtcp.studies import Context, Point, Setting

NODES = 25
CHANNELS = 5
NOBODY_SENSES = "one channel, primary users that nobody senses"
ROUTING: dict[str, Any] = {
    "AODV, one radio": {"aodv": {"profile": "ns2"}},
    "AODV, three radios": {"aodv": {"profile": "ns2"}},
    "SEARCH, one radio": {"search": {"channels": CHANNELS}},
    # As released but for the link-layer feedback, without which a route that is gone is used to its end.
    "CR-AODV, three radios": {
        "cr_aodv": {"aodv": {"link_feedback": True}, "choose_channel": False, "channels": CHANNELS}
    },
    "SEARCH, three radios": {"search": {"channels": CHANNELS}},
}


def scenario(study: Context, setting: Setting, point: Point, seed: int) -> Scenario:
    """Make the scenario of one run. The seed draws movement, flows, primary users and backoffs."""
    data: dict[str, Any] = json.loads(json.dumps(study.scenario("network").to_dict()))
    is_on, without = point.model == "on", point.get("without", "nothing")
    node = setting.node if is_on else "AODV, one radio"
    if "after_handoff" in point:
        # SEARCH has reactions of its own: the claim is about AODV.
        node = node.replace("SEARCH", "AODV")
    data["run"]["duration"] = "60 s" if study.quick else "200 s"
    data["routing"] = dict(ROUTING[node])
    data["topology"]["ad_hoc"]["radios"] = "single" if node.endswith("one radio") else "three"
    data["mac"]["rate"] = f"{setting.rate_mbps:g} Mbit/s"
    data["tcp"] |= {
        "min_rto": f"{round(setting.min_rto_s * 1e3)} ms",
        "max_window": f"{setting.window:g} segments",
    }
    spectrum = data["spectrum"]
    spectrum["channels"] = {"alternating": {"rate": f"{setting.rate_mbps:g} Mbit/s", "m": 0.2}}
    spectrum["pu"]["exponential"] |= {
        "alpha": 1 / setting.mean_s,
        "beta": 1 / setting.mean_s,
        "count": round(setting.primary_users),
        "reach": {"range": f"{setting.pu_range_m:.0f} m"},
    }
    data["cr"] |= {
        "detector": {"map": {"snr": f"{setting.snr_db:g} dB", "bandwidth": "1 MHz"}},
        "sensing": setting.sensing,
        "while_neighbour_senses": setting.while_neighbour_senses,
        "channel_knowledge": setting.channel_knowledge,
    }
    _reconfigure(data["routing"], point.get("after_handoff", "nothing"))
    if not is_on:
        del data["cr"]
        if setting.model_off == NOBODY_SENSES:
            spectrum["channels"] = {"uniform": f"{setting.rate_mbps:g} Mbit/s"}
        else:
            del data["spectrum"]
    if without == "primary users":
        spectrum["pu"] = "none"
    elif without == "silences":
        # No errors either: a detector would have many in so short a time, at the base 1 % in 0.2 s.
        data["cr"] |= {"sensing_time": "1 ms", "detector": "perfect"}
    elif without == "searches":
        # An oracle, ten times a second.
        data["routing"], data["topology"]["ad_hoc"]["location_interval"] = "static", "100 ms"
    stream = random.Random(f"mswim09-f9/{seed}")  # noqa: S311 - a documented draw, no secret
    ends = stream.sample(range(NODES), 2 * 8)
    data["flow"] = [
        {
            "from": f"n{ends[2 * number]}",
            "to": f"n{ends[2 * number + 1]}",
            "transport": point.get("transport", "newreno"),
            "start": f"{1000 + 100 * number} ms",
        }
        for number in range(round(point.flows))
    ]
    if without == "other flows":
        data["flow"] = [data["flow"][seed % len(data["flow"])]]
    return Scenario.from_dict(data)


def _reconfigure(routing: dict[str, Any], after_handoff: str) -> None:
    """Set how AODV reacts to a handoff. CR-AODV says hellos by itself."""
    if after_handoff == "nothing":
        return
    reaction = {"at_handoff": after_handoff.removeprefix("a ")}
    if "aodv" in routing:
        routing["aodv"] = routing["aodv"] | reaction
    elif after_handoff == "a search" and "cr_aodv" in routing:
        below = routing["cr_aodv"]["aodv"] | reaction
        routing["cr_aodv"] = routing["cr_aodv"] | {"aodv": below}


def measure(result: Result) -> dict[str, Any]:
    """Keep the totals of a run, over all its flows."""
    flows = result.flows.to_pylist()
    span_s = result.duration_s
    data = data_streams(result)
    (routing,) = result.table("routing").to_pylist()
    nodes = result.table("nodes").to_pylist()
    radios = result.radios.to_pylist()
    return {
        "goodput_kbps": sum(flow["goodput_bps"] for flow in flows) / 1e3,
        "per_flow_kbps": statistics.fmean(flow["goodput_bps"] for flow in flows) / 1e3,
        "rtos_per_s": sum(flow["rtos"] for flow in flows) / span_s,
        "hops": mean_hops(data),
        "route_losses_per_min": 60 * routing["route_losses"] / span_s,
        "interfered": sum(node["attempts_interfered"] for node in nodes)
        / max(sum(node["attempts"] for node in nodes), 1),
        "handoffs_per_min": 60 * statistics.fmean([radio["handoffs"] for radio in radios] or [0]) / span_s,
    }
