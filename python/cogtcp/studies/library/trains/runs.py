"""The runs of this study: a scenario for each point under each setting."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from .measuring import measure, measure_windows

if TYPE_CHECKING:
    from cogtcp import Scenario
    from cogtcp.studies import Context, Point, Setting

__all__ = ["measure", "measure_windows", "scenario"]

CLIENTS = 10  # stated: "The default number of mobile clients is 10 unless specified"
UNLIMITED = 100_000
"""Packets: a window that never is the limit."""
PREDICTORS: dict[str, Any] = {
    "oracle": "oracle",
    "map": {"outage_map": {"journeys": 20, "position_error": "10 m"}},
    "signal": {"signal_strength": {}},
}
AIMD = ("newreno", "sack")
STACKS: dict[str, dict[str, Any]] = {
    "NewReno": {},
    "SACK": {"transport": "sack"},
    "CUBIC": {"transport": "cubic"},
    "CUBIC with F-RTO": {"transport": "cubic", "tcp": {"f_rto": "sack"}},
    "a Linux host of today": {
        "transport": "linux-cubic",
        "tcp": {
            "min_rto": "200 ms",
            "delayed_ack": "linux",
            "window_tuning": True,
            "clock_granularity": "1 ms",
            "initial_window": "10 segments",
        },
    },
    "BBR": {"transport": "bbr"},
    "DelAck, d = 2": {"tcp": {"delayed_ack": "100 ms", "ack_every": "2 segments"}},
    "DelAck, d = 4": {"tcp": {"delayed_ack": "100 ms", "ack_every": "4 segments"}},
    "TCP-ADA": {"tcp": {"delayed_ack": "adaptive"}},
    "ATCP, with ICMP and ECN": {"transport": "atcp", "helped": True},
    "ATCP, without": {"transport": "atcp"},
    "SaTCP-like": {"transport": "satcp"},
}
"""What freezing is compared with, by name. All but NewReno has no cap on its window."""


def scenario(study: Context, setting: Setting, point: Point, seed: int) -> Scenario:
    """Make the scenario of one run. A seed draws the outages, when sensing begins and flows start.

    Both points of a comparison have the same outages, router and messages; without managers clients ignore
    the warnings.
    """
    manager = point.get("manager", True)
    if "predictor" in point:
        return _journey(study, setting, point.predictor, manager)
    stream = random.Random(f"trains/{seed}")  # noqa: S311 - a documented draw, no secret
    start_s, stagger_ms = 10 + 2 * stream.random(), stream.uniform(10, 100)
    stack = STACKS[point.get("stack", "NewReno")]
    clients, helped = round(point.get("clients", CLIENTS)), stack.get("helped", False)
    transport = stack.get("transport", "newreno")
    flow = {
        "name": "download*",
        "count": clients,
        "from": "source*",
        "to": "client*",
        "transport": transport,
        "stagger": f"{stagger_ms:.3f} ms",
    }
    if point.get("direction") == "up":
        flow |= {"name": "upload*", "from": "client*", "to": "source*"}
    if transport in AIMD:  # as ns-2 grows and halves
        flow["tcp"] = {"parameters": {"byte_counting": False, "whole_segments": True}}
    changed = (
        study.scenario("train")
        .set("topology.graph", _network(setting, clients, point.get("spread_ms", 0.0), marks=helped))
        .set("flow", [flow])
        .set("radio.0.silence", setting.silence)
        .set("train.connection_manager", manager)
        .set("train.tu_advance", point.get("tu_advance", 1.0))
        .set("train.td_advance", point.get("td_share", setting.td_advance))
        .set("train.rtt", setting.rtt)
        .set("train.trigger_loss", point.get("trigger_loss", 0.0))
        .set("train.buffer", manager or setting.plain_acks == "held")
    )
    for key, value in (_tcp(setting, point) | stack.get("tcp", {})).items():
        changed = changed.set(f"tcp.{key}", value)
    if helped and setting.silence != "hold":
        changed = changed.set("radio.0.unreachable", True)
    if "sensing_s" in point:
        sensing = {"off": _ms(1000 * point.sensing_s), "on": "2 s", "start": _ms(1000 * start_s)}
        changed = changed.set("radio.0.sensing", sensing)
    if "error_ms" in point:
        changed = changed.set("train.prediction", {"itinerary": {"error": _ms(point.error_ms)}})
    return changed.set("run.duration", "110 s") if study.quick else changed


def _tcp(setting: Setting, point: Point) -> dict[str, Any]:
    window = setting.window if point.get("stack", "NewReno") == "NewReno" else UNLIMITED
    tcp: dict[str, Any] = {
        "min_rto": _ms(1000 * setting.min_rto_s),
        "clock_granularity": _ms(setting.clock_ms),
        "max_window": f"{window:.0f} segments",
        # ns-2's ssthresh starts at its window_.
        "initial_ssthresh": f"{min(window, 4000):.0f} kB",
    }
    buffer = point.get("receive_buffer", "4 MiB")
    if buffer != "4 MiB":
        tcp |= {"receive_buffer": buffer, "window_scaling": buffer != "65535 B"}
    if point.get("paced", False):
        tcp["paced_resume"] = True
    return tcp


def _journey(study: Context, setting: Setting, predictor: str, manager: bool) -> Scenario:
    """Return the journey along a line, with outages of its own."""
    changed = (
        study.scenario("journey")
        .set("train.prediction", PREDICTORS[predictor])
        .set("train.connection_manager", manager)
        .set("tcp.min_rto", _ms(1000 * setting.min_rto_s))
        .set("radio.0.silence", setting.silence)
    )
    return changed.set("run.duration", "620 s") if study.quick else changed


def _network(setting: Setting, clients: int, spread_ms: float, *, marks: bool) -> dict[str, Any]:
    """Return the graph of so many sources and clients around the radio's link."""
    numbers = range(1, clients + 1)
    wires = [f"source{k}" for k in numbers]
    ends = [f"client{k}" for k in numbers]
    fast = {"rate": "100 Mbit/s", "queue": "1000 packets"}
    radio: dict[str, Any] = {
        "name": "radio",
        "from": "node-b",
        "to": "router",
        "rate": "2 Mbit/s",
        "delay": "30 ms",
        "queue": f"{setting.queue:.0f} packets",
    }
    if marks:
        radio["mark"] = "20 packets"
    links = [
        radio,
        *(
            {**fast, "name": f"wire{k}", "from": name, "to": "node-b", "delay": _ms(50 + spread_ms * (k - 1))}
            for k, name in zip(numbers, wires, strict=True)
        ),
        *(
            {**fast, "name": f"lan{k}", "from": "router", "to": name, "delay": "10 ms"}
            for k, name in zip(numbers, ends, strict=True)
        ),
    ]
    return {"nodes": ["node-b", "router", *wires, *ends], "links": links}


def _ms(value: float) -> str:
    return f"{value:.3f} ms"
