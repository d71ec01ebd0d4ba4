"""The runs behind the claims: a scenario for each point, and what is kept of its run."""

from __future__ import annotations

import bisect
import itertools
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario
from cogtcp.studies import Case, Context

from .settings import BASE, QUICK, RANGE, SHOWN, THREE, WC, Draw, Point, Setting, W

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp import Result


@dataclass(frozen=True)
class Cell:
    """One point under one setting: what `measure` kept, one record per seed."""

    records: Sequence[Mapping[str, Any]]

    def of(self, key: str) -> list[float]:
        """Return a quantity, one value per seed."""
        return [record[key] for record in self.records]

    def mean(self, key: str) -> float:
        """Return its mean over the seeds that have it; NaN if none has."""
        values = [record[key] for record in self.records if record[key] is not None]
        return statistics.fmean(values) if values else math.nan

    def pooled(self, part: str, whole: str) -> float:
        """Return the share of a count in another over all seeds; NaN if the other is zero."""
        total = sum(self.of(whole))
        return sum(self.of(part)) / total if total else math.nan

    @property
    def goodput(self) -> list[float]:
        """Goodput of flow 1 in Mbit/s, one value per seed."""
        return self.of("goodput_mbps")


Grid = dict[Point, Cell]


def settings(study: Context) -> list[Setting]:
    """Return the settings to run: all, or a few if it is to be quick."""
    every = (BASE, *RANGE, *SHOWN)
    return [setting for setting in every if not study.quick or setting is BASE or setting.name in QUICK]


def run(study: Context, wanted: Mapping[Setting, Sequence[Point]]) -> dict[Setting, Grid]:
    """Make the runs of all settings and points, over the study's seeds."""
    keys = [(setting, point) for setting, points in wanted.items() for point in dict.fromkeys(points)]
    cases = [
        Case(scenario(study, setting, point, seed), seed, measure, "full")
        for setting, point in keys
        for seed in study.seeds
    ]
    records = iter(study.run(cases))
    grids: dict[Setting, Grid] = {setting: {} for setting in wanted}
    for setting, point in keys:
        grids[setting][point] = Cell([next(records) for _ in study.seeds])
    return grids


def scenario(
    study: Context, setting: Setting, point: Point, seed: int, *, trace_s: float | None = None
) -> Scenario:
    """Make the scenario of one run; with `trace_s`, one to draw: from the start, sampled finely."""
    draw = Draw.of(seed)
    data = study.scenario("dumbbell").to_dict()
    run, tcp, bottleneck = data["run"], data["tcp"], data["topology"]["dumbbell"]["bottleneck"]
    (radio,), (flow,) = data["radio"], data["flow"]
    length_s = 60.0 if study.quick else 120.0
    if point.pu_s is not None:
        # Arrivals are few and their times random: longer.
        length_s = 100.0 if study.quick else 320.0
    run["duration"] = f"{length_s if trace_s is None else trace_s} s"
    if trace_s is not None:
        run["warmup"], run["sample_interval"] = "0 s", "250 ms"
    rtt_us = setting.rtt_ms * draw.stretch * 1e3
    # The access links have 5 ms each, four times in a round trip.
    bottleneck["delay"] = f"{round(rtt_us / 2 - 10e3)} us"
    bottleneck["rate"] = f"{point.rate_mbps or setting.rate_mbps} Mbit/s"
    bottleneck["queue"] = f"{setting.queue_packets} packets"
    tcp |= {
        "min_rto": setting.min_rto,
        "segment_size": f"{setting.segment_bytes} B",
        "initial_ssthresh": setting.initial_ssthresh,
        "delayed_ack": setting.delayed_ack,
    }
    if setting.recovery is not None and point.transport in (*THREE, WC):
        tcp["recovery"] = setting.recovery
    if setting.at_least_half and point.transport in (W, WC):
        tcp["parameters"] = {"at_least_half": True}
    flow["transport"] = point.transport
    flow["stagger"] = f"{round(draw.stagger_s * 1e6)} us"
    radio["silence"] = setting.silence
    radio["links"] = list(setting.links)
    if point.channel_mbps is not None:
        low, high = point.channel_mbps
        radio["channel"] = {"range": [f"{low} Mbit/s", f"{high} Mbit/s"]}
        # Until the first sensing: the mean.
        bottleneck["rate"] = f"{(low + high) / 2} Mbit/s"
    if point.pu_s is not None:
        del radio["sensing"]
        radio["pu"] = {"interarrival": f"{point.pu_s} s", "switching": f"{round(point.off_s * 1e3)} ms"}
    else:
        cycle_s = point.on_s + point.off_s
        radio["sensing"] = {
            "off": f"{round(point.off_s * 1e6)} us",
            "on": f"{round(point.on_s * 1e6)} us",
            "start": f"{round((2 + draw.phase * cycle_s) * 1e6)} us",
        }
    if not point.radio:
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


def traces(study: Context, points: Sequence[Point], until_s: float = 60.0) -> list[dict[str, Any]]:
    """Return one run of each point to draw, of the first seed at the base."""
    seed = study.seeds[0]
    return study.run(
        [
            Case(scenario(study, BASE, point, seed, trace_s=until_s), seed, measure_trace, "series")
            for point in points
        ]
    )


def seconds(text: str) -> float:
    """Return the duration that a scenario's canonical form holds, in seconds."""
    number, unit = text.split()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}[unit]
