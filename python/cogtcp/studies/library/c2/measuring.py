"""What is kept of a run: shares, queue, timeouts and recoveries."""

from __future__ import annotations

import bisect
import itertools
import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from cogtcp import models
from cogtcp.models import jain_index
from cogtcp.studies.quantities import bits_per_second, seconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result

MEAN_MBPS = 10.5
"""Mean of the channel's rates, uniform in 1 to 20 Mbit/s."""
SETTLE_S = 4.0
"""After a silence: two timeouts, of which the second may outlast it by a second, and slow start."""


@dataclass(frozen=True)
class Channel:
    """The channel towards the CR nodes over time, one value per sampling interval."""

    time_s: list[float]
    rate_bps: list[float]
    throughput_bps: list[float]
    queue_packets: list[float]

    @classmethod
    def of(cls, result: Result) -> Channel:
        """Read it from a run with series."""
        table = result.link_series
        link, direction = (pc.cast(table[name], pa.string()) for name in ("link", "direction"))
        mine = table.filter(pc.and_(pc.equal(link, "bottleneck"), pc.equal(direction, "forward")))
        columns = mine.select(["time_s", "rate_bps", "throughput_bps", "queue_packets"]).to_pydict()
        return cls(**columns)

    @property
    def step_s(self) -> float:
        """The sampling interval."""
        return self.time_s[1] - self.time_s[0]

    def open_periods(self) -> list[tuple[int, int]]:
        """Return index ranges [first, end) of whole sampling intervals between two silences."""
        periods, first = [], None
        for index, rate in enumerate([*self.rate_bps, 0.0]):
            if rate > 0 and first is None:
                first = index
            elif rate == 0 and first is not None:
                periods.append((first, index))
                first = None
        # The sample in which the channel opens covers the end of the silence too.
        return [(first + (first > 0), end) for first, end in periods if end - first > 2]

    def drain_ms(self, wire_bytes: float) -> float:
        """Return how long the queue takes to drain, the mean over the packets that the channel carries."""
        weighted = total = 0.0
        for rate, throughput, queue in zip(
            self.rate_bps, self.throughput_bps, self.queue_packets, strict=True
        ):
            if rate > 0:
                weighted += throughput * queue * wire_bytes * 8e3 / rate
                total += throughput
        return weighted / total if total else 0.0

    def resume_s(self) -> list[float]:
        """Return, for each open period after a silence, the time until half of the rate is carried."""
        delays = []
        for first, end in self.open_periods():
            if first:
                busy = (i for i in range(first, end) if self.throughput_bps[i] >= 0.5 * self.rate_bps[i])
                delays.append((next(busy, end) - first) * self.step_s)
        return delays

    def carried(self, indices: Sequence[int]) -> float:
        """Return what was carried in these samples over what could have been."""
        offered = sum(self.rate_bps[i] for i in indices)
        return sum(self.throughput_bps[i] for i in indices) / offered if offered else 0.0


def measure(result: Result) -> dict[str, Any]:
    """Return shares of the open capacity, queue, and what the silences cost.

    Rates are those in a channel of the mean rate, 10.5 Mbit/s: the share of the capacity that was open, times
    that. What a seed drew for the channels is taken out.
    """
    channel = Channel.of(result)
    flows = [row for row in result.flows.to_pylist() if row["flow"] != "upload"]
    (link,) = [
        row
        for row in result.links.to_pylist()
        if row["link"] == "bottleneck" and row["direction"] == "forward"
    ]
    resumes = channel.resume_s()
    rates = [flow["delivered_bytes"] / link["capacity_bytes"] * MEAN_MBPS for flow in flows]
    return {
        "mbps": sum(rates),
        "flow_mbps": statistics.fmean(rates),
        "first_mbps": rates[0],
        "second_mbps": rates[1] if len(rates) > 1 else None,
        "share": rates[0] / sum(rates) if sum(rates) else None,
        "jain": jain_index(rates) if sum(rates) else None,
        "use": link["utilisation"],
        "fast_use": channel.carried([i for i, rate in enumerate(channel.rate_bps) if rate >= 5e6]),
        "slow_use": channel.carried([i for i, rate in enumerate(channel.rate_bps) if 0 < rate < 5e6]),
        "queue_ms": channel.drain_ms(_wire_bytes(result)),
        "resume_s": statistics.fmean(resumes) if resumes else None,
        "timeouts": sum(flow["rtos"] for flow in flows) / max(len(resumes), 1) / len(flows),
    }


def measure_convergence(result: Result) -> dict[str, Any]:
    """Return shares, use of the channel and recoveries of the run with flows that join and leave."""
    channel = Channel.of(result)
    step = channel.step_s
    spans = {
        flow["name"]: (seconds(flow.get("start", "0 s")), seconds(flow.get("stop", "1000000 s")))
        for flow in result.scenario.to_dict()["flow"]
    }
    goodput = _by_sample(result, step)
    joins = sorted(start for start, _ in spans.values() if start > 0)
    leaves = sorted(stop for _, stop in spans.values() if stop < 1e5)

    def fairness(first: int, end: int) -> list[float]:
        there = [
            name for name, (start, stop) in spans.items() if start <= first * step and stop >= end * step
        ]
        if len(there) < 2 or end - first < 10:
            return []
        shares = [sum(goodput[name].get(i, 0.0) for i in range(first, end)) for name in there]
        return [jain_index(shares)] if sum(shares) > 0 else []

    settled: list[float] = []
    joined: list[float] = []
    recovery: list[float] = []
    quiet: list[int] = []
    for first, end in channel.open_periods():
        changes = [t for t in (*joins, *leaves) if first * step < t < end * step]
        begin = first + round((SETTLE_S if first else 2.0) / step)
        if not changes:
            settled += fairness(begin, end)
            quiet += range(begin, end)
        for change in changes:
            at = round(change / step)
            if change in joins:
                joined += fairness(at + round(1 / step), end)
            else:
                full = (
                    i
                    for i in range(at, end - 1)
                    if min(channel.carried([i]), channel.carried([i + 1])) >= 0.9
                )
                recovery.append((next(full, end) - at) * step)
    resumes = channel.resume_s()
    return {
        "use": channel.carried([i for i, rate in enumerate(channel.rate_bps) if rate > 0]),
        "settled_use": channel.carried(quiet),
        "settled_jain": statistics.fmean(settled) if settled else None,
        "joined_jain": statistics.fmean(joined) if joined else None,
        "recovery_s": statistics.fmean(recovery) if recovery else None,
        "resume_s": statistics.fmean(resumes) if resumes else None,
        "queue_ms": channel.drain_ms(_wire_bytes(result)),
    }


def trace_convergence(result: Result) -> dict[str, Any]:
    """Return capacity and rates over time, means over half a second, to draw."""
    channel, count = Channel.of(result), 5
    goodput = _by_sample(result, channel.step_s)

    def coarse(values: Sequence[float]) -> list[float]:
        return [statistics.fmean(values[i : i + count]) / 1e6 for i in range(0, len(values), count)]

    return {
        "time_s": channel.time_s[::count],
        "capacity": coarse(channel.rate_bps),
        "together": coarse(channel.throughput_bps),
        **{
            name: coarse([goodput[name].get(i, 0.0) for i in range(len(channel.time_s))])
            for name in sorted(goodput)
        },
    }


def measure_probe(result: Result) -> dict[str, Any]:
    """Return the least of the flows' first estimates of the bandwidth, over what the radio carries."""
    series = result.table("control_series").to_pydict()
    first: dict[str, float] = {}
    for flow, variable, value in zip(series["flow"], series["variable"], series["value"], strict=True):
        if variable == "bandwidth_bps" and value == value:
            first.setdefault(flow, value)
    data = result.scenario.to_dict()
    (radio,) = [link for link in data["topology"]["graph"]["links"] if link["name"] == "radio"]
    segment = size_bytes(data["tcp"]["segment_size"])
    carried_bps = bits_per_second(radio["rate"]) * segment / _wire_bytes(result)
    return {
        "estimates": len(first),
        "least_estimate": min(first.values()) / carried_bps if len(first) == len(data["flow"]) else None,
    }


def measure_cycle(result: Result) -> dict[str, Any]:
    """Return goodput beside the model's, and per cycle the timeouts and the window that they met.

    The model's T_rto has no value in the paper. It is not fitted: it is the silence and the dead time after
    it, which the least RTO of the scenario gives.
    """
    data = result.scenario.to_dict()
    (flow,) = result.flows.to_pylist()
    (radio,) = [
        row for row in result.links.to_pylist() if row["link"] == "radio" and row["direction"] == "forward"
    ]
    warmup_s, duration_s = (seconds(data["run"][key]) for key in ("warmup", "duration"))
    sensing = data["radio"][0]["sensing"]
    off_s, cycle_s = seconds(sensing["off"]), seconds(sensing["off"]) + seconds(sensing["on"])
    model = {
        name: models.aimd_cycle(
            bandwidth_bps=15e6,
            rtt_s=0.15,
            t_cc_s=cycle_s,
            t_rto_s=models.rto_outage_s(off_s, max(seconds(data["tcp"]["min_rto"]), 0.15)),
            segment_size_bytes=size_bytes(data["tcp"]["segment_size"]),
            header_bytes=52 if data["tcp"]["timestamps"] else 40,
            **options,
        )
        for name, options in _MODELS.items()
    }
    columns = result.events.select(["time_s", "kind"]).to_pydict()
    events = list(zip(columns["time_s"], columns["kind"], strict=True))
    # Both ends fall on the start of a silence: the first counts, the last does not.
    silences = [
        t for t, kind in events if kind == "sensing_start" and warmup_s - 1e-3 < t < duration_s - 1e-3
    ]
    timeouts = [t for t, kind in events if kind == "rto"]
    series = result.flow_series.select(["time_s", "cwnd_segments"]).to_pydict()
    outages, windows = [], []
    for start, end in itertools.pairwise([*silences, float("inf")]):
        own = timeouts[bisect.bisect_left(timeouts, start) : bisect.bisect_left(timeouts, end)]
        if own:
            outages.append(own[-1] - start)
            # The window that the first timeout met: the last sample before it.
            windows.append(series["cwnd_segments"][bisect.bisect_left(series["time_s"], own[0]) - 1])
    cycles = len(silences)
    return {
        "mbps": flow["goodput_bps"] / 1e6,
        **{name: flow["goodput_bps"] / found.throughput_bps for name, found in model.items()},
        "model_mbps": model["ratio"].throughput_bps / 1e6,
        "expected_window": model["ratio_exact"].converged_cwnd,
        "window": statistics.fmean(windows) if windows else None,
        "t_rto_s": statistics.fmean(outages) if outages else None,
        "timeouts": flow["rtos"] / cycles,
        "queue_drops": radio["drops_queue"] / cycles,
        "rtt_ms": flow["rtt_mean_s"] * 1e3,
    }


_MODELS: dict[str, dict[str, Any]] = {
    "ratio": {},
    "ratio_exact": {"solution": "exact"},
    "ratio_delivered": {"solution": "exact", "lost_last_round": True},
}
"""As printed; with dW from equation (2), not from (3); without the window that the silence takes."""


def _wire_bytes(result: Result) -> float:
    tcp = result.scenario.to_dict()["tcp"]
    return size_bytes(tcp["segment_size"]) + (52 if tcp.get("timestamps", True) else 40)


def _by_sample(result: Result, step_s: float) -> dict[str, dict[int, float]]:
    series = result.flow_series.select(["time_s", "flow", "goodput_bps"]).to_pydict()
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for time, flow, value in zip(*(series[key] for key in ("time_s", "flow", "goodput_bps")), strict=True):
        found[flow][round(time / step_s) - 1] = value
    return found
