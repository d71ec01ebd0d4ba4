"""The runs of this study: a scenario for each point under each setting.

A point's `run` is `cycle` (Fig. 3), `probe` (section IV-A), `convergence` (Fig. 4a), `alone` (Fig. 4b),
`grid` (Fig. 4c) or `pair` (Table I and beside others). Ours are `wrong-n`, `return-path` and `handoff`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario

from .measuring import measure, measure_convergence, measure_cycle, measure_probe

if TYPE_CHECKING:
    from cogtcp.studies import Context, Point, Setting

__all__ = ["measure", "measure_convergence", "measure_cycle", "measure_probe", "scenario"]

LOWEST_BPS, HIGHEST_BPS = 1_000_000, 20_000_000  # stated: the channel's rate is uniform between them
CYCLE_BPS, CYCLE_RTT_MS = 15e6, 150.0  # stated: the caption of Fig. 3
SILENCE_S = 2.0  # stated for Fig. 4a
READINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "as printed": ("c2", {}),
    "growth by N - 1": ("c2", {"compete": "n-1"}),
    "the author's code": ("c2-author", {}),
}
"""Which C2: section IV-A counts N without the flow itself, so growth by "N" may mean our N - 1."""
SETTLE_CYCLES, CYCLES, QUICK_CYCLES = 10, 15, 6
"""Every cycle halves the distance of the window to its limit (equation 1): ten leave a thousandth."""
FLOWS = 4


def scenario(study: Context, setting: Setting, point: Point, seed: int) -> Scenario:
    """Make the scenario of one run. A seed draws the channels, phases, and who is first."""
    make = {"cycle": _cycle, "probe": _probe}.get(point.run, _cell)
    data = make(study, setting, point, seed)
    data["tcp"] |= {
        "segment_size": f"{setting.segment_bytes:.0f} B",
        "timestamps": bool(setting.timestamps),
        "initial_ssthresh": setting.first_slow_start.removeprefix("at "),
        "newreno_variant": "slow_but_steady" if setting.timer == "at every partial ACK" else "impatient",
    }
    return Scenario.from_dict(data)


def _cycle(study: Context, setting: Setting, point: Point, seed: int) -> dict[str, Any]:
    """One flow over a constant cycle: whole cycles only, after those that the window needs to converge."""
    stream = random.Random(f"c2-f3/{seed}")  # noqa: S311 - a documented draw, no secret
    phase, stretch = stream.random(), stream.uniform(0.95, 1.05)
    data = study.scenario("cycle").to_dict()
    off_us, cycle_us = round(setting.sensing_s * 1e6), round(point.cycle_s * stretch * 1e6)
    start_us = round(5e6 + phase * cycle_us)
    warmup_us = start_us + SETTLE_CYCLES * cycle_us
    count = QUICK_CYCLES if study.quick else CYCLES
    data["run"] |= {"duration": f"{warmup_us + count * cycle_us} us", "warmup": f"{warmup_us} us"}
    data["radio"][0]["sensing"] = {
        "off": f"{off_us} us",
        "on": f"{cycle_us - off_us} us",
        "start": f"{start_us} us",
    }
    data["tcp"]["min_rto"] = f"{round((setting.sensing_s + setting.cycle_dead_s) * 1e6)} us"
    wire, radio = sorted(data["topology"]["graph"]["links"], key=lambda link: str(link["name"]), reverse=True)
    one_way_us = CYCLE_RTT_MS * 500
    wire["delay"] = f"{round((1 - setting.radio_share) * one_way_us)} us"
    radio["delay"] = f"{round(setting.radio_share * one_way_us)} us"
    radio["queue"] = _queue(setting, CYCLE_BPS, CYCLE_RTT_MS)
    return data


def _probe(study: Context, setting: Setting, point: Point, seed: int) -> dict[str, Any]:
    """C2 flows of several hosts over one wire, which begin within the time of one packet on the radio link.

    "We assume L senders send the first packet simultaneously" (IV-A): the seed draws who is how much later.
    """
    stream = random.Random(f"c2-probe/{seed}")  # noqa: S311 - a documented draw, no secret
    data = study.scenario("cycle").to_dict()
    senders = round(point.senders)
    wire_bps = CYCLE_BPS * point.senders * point.wire_per_sender
    one_way_us = CYCLE_RTT_MS * 500
    fast = {"rate": f"{wire_bps:.0f} bit/s", "queue": "1000 packets"}
    names = [f"s{number}" for number in range(senders)]
    data["topology"]["graph"] = {
        "nodes": [*names, "router", "base-station", "cr-node"],
        "links": [
            *(
                {"name": f"to-{name}", "from": name, "to": "router", "delay": "1 ms", **fast}
                for name in names
            ),
            {
                "name": "wire",
                "from": "router",
                "to": "base-station",
                "delay": f"{round((1 - setting.radio_share) * one_way_us) - 1000} us",
                **fast,
            },
            {
                "name": "radio",
                "from": "base-station",
                "to": "cr-node",
                "rate": f"{CYCLE_BPS:.0f} bit/s",
                "delay": f"{round(setting.radio_share * one_way_us)} us",
                "queue": _queue(setting, CYCLE_BPS, CYCLE_RTT_MS),
            },
        ],
    }
    data["radio"] = []
    data["run"] |= {"duration": "1 s", "warmup": "0 s", "sample_interval": "10 ms"}
    packet_us = 8e6 * setting.segment_bytes / CYCLE_BPS
    data["flow"] = [
        {"name": name, "from": name, "to": "cr-node", "start": f"{stream.uniform(0, packet_us):.0f} us"}
        for name in names
    ]
    for flow in data["flow"]:
        _use(flow, "c2", setting)
    return data


def _cell(study: Context, setting: Setting, point: Point, seed: int) -> dict[str, Any]:
    """Flows over the channel that all CR nodes share."""
    stream = random.Random(f"c2-first-rate/{seed}")  # noqa: S311 - a documented draw, no secret
    data = study.scenario("convergence" if point.run == "convergence" else "cell").to_dict()
    dumbbell, (radio,), tcp = data["topology"]["dumbbell"], data["radio"], data["tcp"]
    radio["silence"] = setting.silence
    tcp["min_rto"] = f"{round(setting.min_rto_s * 1e6)} us"
    rtt_ms = point.get("rtt_ms", setting.rtt_ms)
    first_bps: float = stream.randint(LOWEST_BPS, HIGHEST_BPS)
    greatest_bps: float = HIGHEST_BPS
    if point.run == "convergence":
        for flow in data["flow"]:
            _use(flow, "c2", setting)
    else:
        data["run"]["duration"] = "100 s" if study.quick else "200 s"
        on_s, off_s, dwell_s = setting.on_s, setting.off_s, setting.dwell_s
        if point.run == "alone":
            on_s, off_s, dwell_s = setting.on_4b_s, setting.off_4b_s, setting.dwell_4b_s
        elif _is_of_table(point):
            dwell_s = setting.dwell_t1_s
        radio["dwell"] = _ms(dwell_s)
        if point.run == "grid":
            on_s, off_s = setting.shortest_on_s * point.on, point.off_s
        radio["sensing"] = {"on": _ms(on_s), "off": _ms(off_s)}
        kinds: list[tuple[str, dict[str, Any]]] = [(point.get("transport", "c2"), {})]
        if point.run == "grid":
            kinds *= 2
        elif point.run == "alone":
            kinds *= round(setting.flows)
        elif point.run == "pair":
            kinds = [(point.first, {}), (point.second, {})]
            radio["sensing"] = _random_times(setting, point)
        elif point.run == "wrong-n":
            kinds = [_told(point, number) for number in range(FLOWS)]
        data["flow"] = [_flow(kind, number, setting) for number, kind in enumerate(kinds, 1)]
        if point.run == "pair" and seed % 2:  # who comes first is not what is asked
            data["flow"][0]["start"], data["flow"][1]["start"] = "500 ms", "0 s"
        if point.run == "return-path":
            _return_path(data, point.path)
        if point.run == "handoff":
            first_bps = greatest_bps = 10e6
            radio |= {"silence": "hold", "channel": {"set": ["1 Mbit/s", "10 Mbit/s"]}, "dwell": "0 s"}
            radio["sensing"] = {"off": "50 ms", "on": "29950 ms"}
            data["run"]["duration"] = "150 s" if study.quick else "300 s"
        dumbbell["pairs"] = max(len(data["flow"]), 1)
    dumbbell["access"]["delay"] = f"{round((1 - setting.radio_share) * rtt_ms * 250)} us"
    dumbbell["bottleneck"] |= {
        "rate": f"{first_bps:.0f} bit/s",
        "delay": f"{round(setting.radio_share * rtt_ms * 500)} us",
        "queue": _queue(setting, greatest_bps, rtt_ms),
    }
    return data


def _queue(setting: Setting, rate_bps: float, rtt_ms: float) -> str:
    wire_bytes = setting.segment_bytes + (52 if setting.timestamps else 40)
    return f"{max(round(setting.queue_bdp * rate_bps * rtt_ms / 8e3 / wire_bytes), 2)} packets"


def _is_of_table(point: Point) -> bool:
    """Whether a run is one of Table I, which varies the round-trip time; the other pairs are ours."""
    return point.run == "pair" and "rtt_ms" in point


def _random_times(setting: Setting, point: Point) -> dict[str, Any]:
    """Return the "random On-Off duration" of Table I: uniform around the mean (by a half), or exponential."""
    means = {"on": 8.0, "off": SILENCE_S}  # Fig. 4a's
    if _is_of_table(point):
        means = {"on": setting.on_t1_s, "off": setting.off_t1_s}
    if setting.law == "exponential":
        return {name: {"exponential": _ms(mean_s)} for name, mean_s in means.items()}
    return {name: {"uniform": [_ms(mean_s / 2), _ms(1.5 * mean_s)]} for name, mean_s in means.items()}


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1e3)} ms"


def _told(point: Point, number: int) -> tuple[str, dict[str, Any]]:
    """Return a C2 flow that is told the right number of flows, or a wrong one."""
    wrong = point.who == "all" or (point.who == "one" and number == 1)
    return "c2", {"n_source": "parameter", "flows": point.n if wrong else float(FLOWS)}


def _flow(kind: tuple[str, dict[str, Any]], number: int, setting: Setting) -> dict[str, Any]:
    transport, parameters = kind
    flow = {
        "name": f"flow-{number}",
        "from": f"s{number}",
        "to": f"d{number}",
        "start": f"{500 * (number - 1)} ms",
    }
    _use(flow, transport, setting, parameters)
    return flow


def _use(
    flow: dict[str, Any], transport: str, setting: Setting, parameters: dict[str, Any] | None = None
) -> None:
    """Give a flow its transport: C2 as the setting reads it, BBR with SACK, which it needs."""
    mine = dict(parameters or {})
    if transport == "c2":
        transport, more = READINGS[setting.reading]
        mine |= more
    tcp: dict[str, Any] = {"parameters": mine} if mine else {}
    if transport == "bbr":
        tcp["recovery"] = "sack"
    flow["transport"] = transport
    if tcp:
        flow["tcp"] = tcp


def _return_path(data: dict[str, Any], path: str) -> None:
    if path in ("delayed ACKs", "both"):
        data["tcp"]["delayed_ack"] = "200 ms"
    if path in ("an upload", "both"):
        upload = {
            "name": "upload",
            "from": "d2",
            "to": "s2",
            "transport": "cubic",
            "tcp": {"recovery": "sack"},
        }
        data["flow"].append(upload)
