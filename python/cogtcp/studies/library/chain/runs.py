"""The runs of this study: a scenario for each point under each setting, and what is kept of a run."""

from __future__ import annotations

import bisect
import itertools
import math
import random
import statistics
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario
from cogtcp.studies.quantities import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result
    from cogtcp.studies import Context, Point, Setting

SENDERS_LINKS = ["bottleneck", "access-s1", "access-s2"]
"""All links of the router that senses, towards the senders."""
OWN_RECOVERY = ("newreno", "westwood-tustin", "compound-zhou", "westwood-compound-tustin")
"""The transports of the paper, whose loss recovery its simulator decides."""
WESTWOOD = ("westwood-tustin", "westwood-compound-tustin")
MEAN_CHANNEL_MBPS = 8.0  # stated: [7, 9], [6, 10], [1, 15]
HEADER_BYTES = 40
_VARIANTS = {"at every partial ACK": "slow_but_steady", "at the first": "impatient"}
LENGTH_S, QUICK_LENGTH_S = 120.0, 60.0
STRETCH_S = 15.0
PU_LENGTH_S, QUICK_PU_LENGTH_S = 320.0, 100.0
"""Arrivals are few and their times random: longer."""


def scenario(
    study: Context, setting: Setting, point: Point, seed: int, *, trace_s: float | None = None
) -> Scenario:
    """Make the scenario of one run; with `trace_s`, one to draw: from the start, sampled finely.

    A seed draws the arrivals of PUs, the channels and all that is arbitrary: the phase of the radio, the
    start of flow 2, and the round-trip time within 5 %. The place of the silence in the round trip decides
    whether a packet is lost, so no single phase may decide.
    """
    stream = random.Random(f"chain/{seed}")  # noqa: S311 - a documented draw, no secret
    phase, stagger_s, stretch = stream.random(), stream.random(), stream.uniform(0.95, 1.05)
    data = study.scenario("dumbbell").to_dict()
    run, tcp, bottleneck = data["run"], data["tcp"], data["topology"]["dumbbell"]["bottleneck"]
    (radio,), (flow,) = data["radio"], data["flow"]
    on_s, off_s, pu_s = point.get("on_s", 5.0), point.get("off_s", 0.1), point.get("pu_s")
    length_s = QUICK_LENGTH_S if study.quick else LENGTH_S
    if pu_s is not None:
        length_s = QUICK_PU_LENGTH_S if study.quick else PU_LENGTH_S
    run["duration"] = f"{length_s if trace_s is None else trace_s} s"
    if trace_s is not None:
        run["warmup"], run["sample_interval"] = "0 s", "250 ms"

    width_mbps = point.get("channel_width_mbps")
    rate_mbps = point.get("rate_mbps", setting.rate_mbps) if width_mbps is None else MEAN_CHANNEL_MBPS
    rtt_us = setting.rtt_ms * stretch * 1e3
    # The access links have 5 ms each, four times in a round trip.
    bottleneck["delay"] = f"{round(rtt_us / 2 - 10e3)} us"
    bottleneck["rate"] = f"{rate_mbps} Mbit/s"
    bdp_packets = rate_mbps * setting.rtt_ms * 1e3 / 8 / (setting.segment_bytes + HEADER_BYTES)
    bottleneck["queue"] = f"{max(round(setting.queue_bdp * bdp_packets), 2)} packets"
    tcp |= {
        "min_rto": f"{setting.min_rto_s} s",
        "segment_size": f"{setting.segment_bytes:.0f} B",
        "initial_ssthresh": setting.first_slow_start.removeprefix("at "),
        "delayed_ack": "200 ms" if setting.delayed_ack else "off",
        "newreno_variant": _VARIANTS[setting.newreno_variant],
    }
    if setting.recovery == "NewReno" and point.transport in OWN_RECOVERY:
        tcp["recovery"] = "newreno"
    if setting.at_least_half and point.transport in WESTWOOD:
        tcp["parameters"] = {"at_least_half": True}
    flow["transport"] = point.transport
    flow["stagger"] = f"{round(stagger_s * 1e6)} us"
    radio["silence"] = "hold" if setting.silence == "hold" else "drop"
    if setting.silence == "drop at every link":
        radio["links"] = SENDERS_LINKS
    if point.get("silences") == "hidden":
        radio["silence"] = "hold"
    if width_mbps is not None:
        low, high = MEAN_CHANNEL_MBPS - width_mbps / 2, MEAN_CHANNEL_MBPS + width_mbps / 2
        radio["channel"] = {"range": [f"{low} Mbit/s", f"{high} Mbit/s"]}
    if pu_s is not None:
        del radio["sensing"]
        radio["pu"] = {"interarrival": f"{pu_s} s", "switching": f"{round(off_s * 1e3)} ms"}
    else:
        radio["sensing"] = {
            "off": f"{round(off_s * 1e6)} us",
            "on": f"{round(on_s * 1e6)} us",
            "start": f"{round((2 + phase * (on_s + off_s)) * 1e6)} us",
        }
    if not point.get("radio", True) or point.get("silences") == "none":
        data["radio"] = []
    return Scenario.from_dict(data)


def measure(result: Result) -> dict[str, Any]:
    """Return what is kept of a run, of flow 1: totals, real-time throughput, and what follows a silence."""
    data = result.scenario.to_dict()
    warmup_s = seconds(data["run"]["warmup"])
    (flow,) = [row for row in result.flows.to_pylist() if row["flow"] == "f1"]
    (link,) = [
        row
        for row in result.links.to_pylist()
        if row["link"] == "bottleneck" and row["direction"] == "forward"
    ]
    series = result.flow_series.to_pydict()
    samples = [
        (rate / 1e6, window)
        for time_s, name, rate, window in zip(
            series["time_s"], series["flow"], series["goodput_bps"], series["cwnd_segments"], strict=True
        )
        if name == "f1" and time_s > warmup_s + 0.5
    ]
    windows = [
        (time_s, window)
        for time_s, name, window in zip(
            series["time_s"], series["flow"], series["cwnd_segments"], strict=True
        )
        if name == "f1"
    ]
    rates = [rate for rate, _ in samples]
    fives = [statistics.fmean(rates[i : i + 5]) for i in range(0, len(rates) - 4, 5)]
    share_bps = link["channel_bytes"] * 8 / flow["measured_s"] / 2
    return {
        "goodput_mbps": flow["goodput_bps"] / 1e6,
        "share": flow["goodput_bps"] / share_bps,
        "best_mbps": max(rates),
        "worst_mbps": min(rates),
        "best_5s_mbps": max(fives),
        "worst_5s_mbps": min(fives),
        "cwnd": statistics.fmean(window for _, window in samples),
        "cwnd_most": max(window for _, window in samples),
        "above_38": statistics.fmean(window > 38 for _, window in samples),
        **_silences(result, warmup_s, windows),
    }


def _silences(result: Result, warmup_s: float, windows: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return what follows a silence: shares of the silences, means over them, and some counts.

    `windows`: the window of flow 1 by time.
    """
    columns = result.events.select(["time_s", "kind", "flow", "detail", "entity"]).to_pydict()
    events = list(zip(*columns.values(), strict=True))
    starts = [
        time_s
        for time_s, kind, *_ in events
        if kind in {"sensing_start", "switching_start"} and time_s >= warmup_s
    ]
    own = [
        (time_s, kind, f"{detail} ACK" if entity.endswith("/reverse") else detail)
        for time_s, kind, flow, detail, entity in events
        if flow == "f1"
    ]
    times = [time_s for time_s, _, _ in own]
    hit = only_acks = timed_out = data_timed_out = acks_timed_out = saved = holes = overflowed = 0
    lost, taken, outages, recovering = [], [], [], []
    # The last silence has no whole cycle.
    for start, end in itertools.pairwise(starts):
        cycle = own[bisect.bisect_left(times, start) : bisect.bisect_left(times, end)]
        drops = sum(detail == "silence" for _, _, detail in cycle)
        ack_drops = sum(detail == "silence ACK" for _, _, detail in cycle)
        timeouts = [time_s for time_s, kind, _ in cycle if kind == "rto"]
        repairs = [time_s for time_s, kind, _ in cycle if kind == "fast_retransmit"]
        hit += drops + ack_drops > 0
        only_acks += drops == 0 < ack_drops
        timed_out += bool(timeouts)
        data_timed_out += drops > 0 and bool(timeouts)
        acks_timed_out += drops == 0 < ack_drops and bool(timeouts)
        if drops + ack_drops > 0:
            window = windows[max(bisect.bisect_right(windows, (start, math.inf)) - 1, 0)][1]
            taken.append((drops + ack_drops) / window)
        saved += bool(repairs) and not timeouts
        lost.append(drops)
        holes += bool(repairs) and bool(timeouts) and repairs[0] < timeouts[-1]
        if timeouts:
            outages.append(timeouts[-1] - start)
            overflowed += any(detail == "queue" and time_s < timeouts[-1] for time_s, _, detail in cycle)
        recovering.append(_recovering(cycle, end))
    cycles = len(lost)
    return {
        "quiet_15s": _quiet(own, warmup_s, result.duration_s),
        "silences": cycles,
        "met_acks": only_acks,
        "met_acks_timed_out": acks_timed_out,
        "met_data": hit - only_acks,
        "met_data_timed_out": data_timed_out,
        "taken": statistics.fmean(taken) if taken else None,
        "hit": hit / cycles if cycles else None,
        "only_acks": only_acks / cycles if cycles else None,
        "timed_out": timed_out / cycles if cycles else None,
        "saved": saved / cycles if cycles else None,
        "holes": holes / cycles if cycles else None,
        "overflowed": overflowed / timed_out if timed_out else None,
        "lost": statistics.fmean(lost) if lost else None,
        "outage_s": statistics.fmean(outages) if outages else None,
        "recovering_s": statistics.fmean(recovering) if recovering else None,
    }


def _quiet(own: Sequence[tuple[float, str, str]], start: float, end: float) -> float:
    """Return the share of stretches of 15 s, as the paper's from 45 to 60 s, without repair and timeout.

    Three duplicate ACKs show as a fast retransmission; fewer change nothing in a trace of the window.
    """
    noisy = {
        int((time_s - start) // STRETCH_S)
        for time_s, kind, _ in own
        if kind in {"fast_retransmit", "rto"} and time_s >= start
    }
    count = int((end - start) // STRETCH_S)
    return 1 - sum(stretch < count for stretch in noisy) / count


def _recovering(cycle: Sequence[tuple[float, str, str]], end: float) -> float:
    """Time of a cycle spent in fast recovery."""
    total, since = 0.0, None
    for time_s, kind, _ in cycle:
        if kind == "fast_retransmit" and since is None:
            since = time_s
        elif kind in {"recovery_exit", "rto"} and since is not None:
            total, since = total + time_s - since, None
    return total if since is None else total + end - since


def measure_trace(result: Result) -> dict[str, Any]:
    """Return flow 1 over time, and half of the channel's rate."""
    series = result.flow_series.to_pydict()
    rows = [
        (time_s, window, rate / 1e6)
        for time_s, name, window, rate in zip(
            series["time_s"], series["flow"], series["cwnd_segments"], series["goodput_bps"], strict=True
        )
        if name == "f1"
    ]
    links = result.link_series.to_pydict()
    share = [
        rate / 2e6
        for name, direction, rate in zip(links["link"], links["direction"], links["rate_bps"], strict=True)
        if name == "bottleneck" and direction == "forward"
    ]
    return {
        "time_s": [row[0] for row in rows],
        "cwnd": [row[1] for row in rows],
        "mbps": [row[2] for row in rows],
        "share": share,
    }
