"""The runs of this study: a scenario for each point under each setting."""

from __future__ import annotations

import functools
import json
import math
import random
from typing import TYPE_CHECKING, Any, TypeAlias

from cogtcp import Scenario

from .measuring import DELIVERY, measure

if TYPE_CHECKING:
    from cogtcp.studies import Context, Point, Setting

__all__ = ["measure", "scenario"]

NODES, SIDE_M, MOST_FLOWS = 10, 1000.0, 5
TOPOLOGIES = 30
"""Seeds that leave the same rest share places and flows: where they differ, it is not the topology."""
ANY_ENDS = "any ends that can reach each other"
Topology: TypeAlias = "tuple[tuple[tuple[float, float], ...], tuple[tuple[int, int], ...]]"
SPEEDS = {"walking, 1 to 2 m/s": ("1 m/s", "2 m/s"), "driving, 5 to 20 m/s": ("5 m/s", "20 m/s")}
RTS_FOR_ALL, NO_RTS = "0 B", "10 kB"
"""A threshold above each packet's size: no RTS."""
MAC: dict[str, dict[str, str]] = {
    "ns-2's, RTS for all": {"profile": "ns2", "rts_threshold": RTS_FOR_ALL},
    "ns-2's, no RTS": {"profile": "ns2", "rts_threshold": NO_RTS},
    "the standard's, RTS for all": {"profile": "standard", "rts_threshold": RTS_FOR_ALL},
    "ns-3's, no RTS": {"profile": "ns3", "rts_threshold": NO_RTS},
}
ROUTED_AGAIN = "routed again"
VEGAS = {"ns-2's": "vegas-ns2", "Linux's, with SACK": "vegas"}


def scenario(study: Context, setting: Setting, point: Point, seed: int) -> Scenario:
    """Make the scenario of one run. Seeds share thirty topologies, but no PUs, backoffs or movement."""
    data: dict[str, Any] = json.loads(json.dumps(study.scenario(point.net).to_dict()))
    # `measure` reads the definition there: it has the scenario, not the setting.
    data["description"] += DELIVERY + setting.delivery
    data["run"]["duration"] = "60 s" if study.quick else "200 s"
    data["mac"] |= MAC[setting.mac] | {"rate": f"{setting.rate_mbps:g} Mbit/s"}
    data["phy"] = {
        "range": f"{setting.range_m:.0f} m",
        # As far beyond it as in ns-2.
        "carrier_sense_range": f"{2.2 * setting.range_m:.0f} m",
    }
    data["tcp"] |= {
        "segment_size": f"{setting.packet_bytes:g} B",
        "max_window": f"{setting.window:g} segments",
        "initial_ssthresh": f"{20 * setting.packet_bytes:g} B",
    }
    places, pairs = topology(seed % TOPOLOGIES, setting.range_m, setting.layout)
    adhoc = data["topology"]["ad_hoc"]
    if setting.link_failure == ROUTED_AGAIN:
        adhoc["on_link_failure"] = "reroute"
    if setting.mobility == "none":
        adhoc["placement"] = {"positions": [[f"{x:.1f} m", f"{y:.1f} m"] for x, y in places]}
    else:
        speed = list(SPEEDS[setting.mobility])
        adhoc["mobility"] = {"random_waypoint": {"speed": speed, "pause": ["0 s", "3 s"]}}
    if point.net == "crahn":
        adhoc["radios"] = "single" if setting.node == "one" else "three"
        _spectrum(data, setting)
    transport = VEGAS[setting.vegas] if point.transport == "vegas" else point.transport
    data["flow"] = [
        {"from": f"n{a}", "to": f"n{b}", "transport": transport, "start": f"{1000 + 100 * number} ms"}
        for number, (a, b) in enumerate(pairs[: round(point.flows)])
    ]
    return Scenario.from_dict(data)


def _spectrum(data: dict[str, Any], setting: Setting) -> None:
    cr, spectrum = data["cr"], data["spectrum"]
    on_s = setting.busy * setting.activity_s
    spectrum["channels"] = {"uniform": f"{setting.rate_mbps:g} Mbit/s"}
    spectrum["pu"]["exponential"] |= {
        "alpha": round(1 / on_s, 6),
        "beta": round(1 / (setting.activity_s - on_s), 6),
    }
    cr |= {
        "sensing_time": f"{round(setting.sensing_ms * 1e3)} us",
        "transmission_time": f"{round(setting.transmission_s * 1e6)} us",
        "sensing": setting.sensing,
        "detector": (
            {"fixed": {"detection": 1 - setting.errors, "false_alarm": setting.errors}}
            if setting.errors
            else "perfect"
        ),
    }


@functools.cache
def topology(number: int, range_m: float, layout: str) -> Topology:
    """Draw where nodes stand and who sends to whom: ends can reach each other, over relays or not.

    The paper's networks deliver more than 99 % of what is sent, so its flows had a way. Of fewer flows, the
    first.
    """
    stream = random.Random(f"manet/{number}")  # noqa: S311 - a documented draw, no secret
    while True:
        places = tuple((stream.uniform(0, SIDE_M), stream.uniform(0, SIDE_M)) for _ in range(NODES))
        group = _groups(places, range_m)
        joined = [(a, b) for a in range(NODES) for b in range(NODES) if a != b and group[a] == group[b]]
        # Every flow has a sender of its own.
        if len({a for a, _ in joined}) >= MOST_FLOWS and (layout == ANY_ENDS or len(set(group)) == 1):
            break
    pairs: list[tuple[int, int]] = []
    while len(pairs) < MOST_FLOWS:
        senders = {a for a, _ in pairs}
        pairs.append(stream.choice([pair for pair in joined if pair[0] not in senders]))
    return places, tuple(pairs)


def _groups(places: tuple[tuple[float, float], ...], range_m: float) -> list[int]:
    """Return for each node the number of its group: those that can reach each other."""
    group = list(range(len(places)))
    for a, first in enumerate(places):
        for b, second in enumerate(places[:a]):
            if math.dist(first, second) <= range_m:
                old, new = group[a], group[b]
                group = [new if number == old else number for number in group]
    return group
