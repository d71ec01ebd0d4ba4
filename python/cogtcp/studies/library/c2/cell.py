"""The cell of Fig. 1 under the paper's radio: settings the paper leaves open, and what is kept of a run."""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from cogtcp import Scenario
from cogtcp.models import jain_index
from cogtcp.statistics import mean_interval
from cogtcp.studies import Table, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp import Result
    from cogtcp.studies import Context
    from cogtcp.studies.verdicts import Finding, Verdict

LOWEST_BPS, HIGHEST_BPS = 1_000_000, 20_000_000
"""The channel's rate is uniform between them (section V-A)."""

WIRE_BYTES = 1052
"""A data packet on the channel: 1000 bytes, headers and timestamps."""

ACK_BYTES = 52
"""An ACK on the channel."""

ACCESS_MS = 10


@dataclass(frozen=True)
class Setting:
    """What the paper leaves unsaid, at one value each."""

    name: str = "as in the scenario"
    silence: str = "drop"
    min_rto: str = "1 s"
    queue: str = "100 packets"
    rtt_ms: int = 100
    recovery: str = "newreno"

    def apply(self, scenario: Scenario, seed: int) -> Scenario:
        """Return the scenario under this setting, its first rate drawn for the seed like all later ones."""
        stream = random.Random(f"c2-first-rate/{seed}")  # noqa: S311 - a documented draw, no secret
        delay_us = self.rtt_ms * 500 - 2 * ACCESS_MS * 1000
        return (
            scenario.set("radio.0.silence", self.silence)
            .set("tcp.min_rto", self.min_rto)
            .set("tcp.recovery", self.recovery)
            .set("topology.dumbbell.bottleneck.queue", self.queue)
            .set("topology.dumbbell.bottleneck.delay", f"{delay_us} us")
            .set("topology.dumbbell.bottleneck.rate", f"{stream.randint(LOWEST_BPS, HIGHEST_BPS)} bit/s")
        )


BASE = Setting()

SILENCES = (replace(BASE, name="silence: hold", silence="hold"),)

COMMON_RANGE = (
    *SILENCES,
    replace(BASE, name="least RTO 200 ms", min_rto="200 ms"),
    replace(BASE, name="queue of 50 packets", queue="50 packets"),
    replace(BASE, name="queue of 250 packets", queue="250 packets"),
    replace(BASE, name="SACK", recovery="sack"),
)
"""What sections IV and V leave open, RTT apart."""


@dataclass(frozen=True)
class Part:
    """One testable statement of a claim."""

    name: str
    finding: Finding


@dataclass(frozen=True)
class Outcome:
    """All statements of a claim under one setting."""

    setting: str
    parts: Sequence[Part]

    @property
    def verdict(self) -> Verdict:
        """Whether all of them hold."""
        return verdicts.combine([part.finding.verdict for part in self.parts])


def over_range(outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict of a claim: the same under every setting, or it depends on the unsaid."""
    return verdicts.over_range([outcome.verdict for outcome in outcomes])


def settings(outcomes: Sequence[Outcome]) -> dict[str, Verdict]:
    """Return the verdict under each setting, by name; the first is the base."""
    return {outcome.setting: outcome.verdict for outcome in outcomes}


def parts_table(outcomes: Sequence[Outcome], title: str, caption: str) -> Table:
    """Return every statement under every setting, with estimate, interval and verdict."""
    return Table(
        title=title,
        header=["setting", "statement", "estimate [95 %]", "verdict"],
        rows=[
            [
                outcome.setting,
                part.name,
                f"{part.finding.estimate:.3g} [{part.finding.low:.3g}, {part.finding.high:.3g}]",
                part.finding.verdict,
            ]
            for outcome in outcomes
            for part in outcome.parts
        ],
        caption=caption,
    )


def tally(outcomes: Sequence[Outcome]) -> str:
    """Say, statement by statement, under how many settings it holds, and where it does not."""
    sentences = []
    for index, part in enumerate(outcomes[0].parts):
        found = [(outcome.setting, outcome.parts[index].finding) for outcome in outcomes]
        holds = [name for name, finding in found if finding.verdict == "holds"]
        fails = [name for name, finding in found if finding.verdict == "differs"]
        text = f'"{part.name}" holds under {len(holds)} of {len(found)} settings'
        if fails and len(fails) < len(found):
            text += f" and differs under: {', '.join(fails)}"
        elif fails:
            text += " and differs under all"
        sentences.append(text + ".")
    return " ".join(sentences)


def interval(values: Sequence[float], digits: int = 2) -> str:
    """Return mean and 95 % interval as text."""
    found = mean_interval(values)
    return f"{found.mean:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def load(study: Context, name: str) -> Scenario:
    """Return a scenario of the study; in the quick version half as long."""
    scenario = study.scenario(name)
    if study.quick:
        scenario = scenario.set("run.duration", "100 s")
    return scenario


def with_flows(scenario: Scenario, flows: Sequence[tuple[str, Mapping[str, Any]]]) -> Scenario:
    """Return the scenario with these flows: transport and parameters of each; they start 0.5 s apart."""
    data = scenario.to_dict()
    data["topology"]["dumbbell"]["pairs"] = len(flows)
    data["flow"] = [
        {
            "name": f"flow-{number}",
            "from": f"s{number}",
            "to": f"d{number}",
            "transport": transport,
            "start": f"{500 * (number - 1)} ms",
            **({"tcp": {"parameters": dict(parameters)}} if parameters else {}),
        }
        for number, (transport, parameters) in enumerate(flows, 1)
    ]
    return Scenario.from_dict(data)


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

    def open_periods(self) -> list[tuple[int, int]]:
        """Return index ranges [first, end) of whole sampling intervals between two silences."""
        periods, first = [], None
        for index, rate in enumerate(self.rate_bps):
            if rate > 0 and first is None:
                first = index
            elif rate == 0 and first is not None:
                periods.append((first, index))
                first = None
        if first is not None:
            periods.append((first, len(self.rate_bps)))
        # The sample in which the channel opens covers the end of the silence too.
        return [(first + (first > 0), end) for first, end in periods if end - first > 2]

    def drain_ms(self) -> float:
        """Return how long the queue takes to drain, the mean over the packets that the channel carries."""
        weighted = total = 0.0
        for rate, throughput, queue in zip(
            self.rate_bps, self.throughput_bps, self.queue_packets, strict=True
        ):
            if rate > 0:
                weighted += throughput * queue * WIRE_BYTES * 8e3 / rate
                total += throughput
        return weighted / total if total else 0.0

    def resume_s(self) -> list[float]:
        """Return, for each open period after a silence, the time until half of the rate is carried."""
        step = self.time_s[1] - self.time_s[0]
        delays = []
        for first, end in self.open_periods():
            if first == 0:
                continue
            busy = (i for i in range(first, end) if self.throughput_bps[i] >= 0.5 * self.rate_bps[i])
            delays.append((next(busy, end) - first) * step)
        return delays


def totals(result: Result) -> dict[str, Any]:
    """Return what is kept of a run: rates while the channel is open, queue, and what the silences cost."""
    channel = Channel.of(result)
    flows = result.flows.to_pylist()
    (radio,) = result.radios.to_pylist()
    (link,) = [
        row
        for row in result.links.to_pylist()
        if row["link"] == "bottleneck" and row["direction"] == "forward"
    ]
    open_s = radio["transmitting_s"]
    packets = sum(flow["delivered_bytes"] for flow in flows) or 1
    resumes = channel.resume_s()
    rates = [rate for rate in channel.rate_bps if rate > 0]
    fast = [i for i, rate in enumerate(channel.rate_bps) if rate >= 10e6]
    slow = [i for i, rate in enumerate(channel.rate_bps) if 0 < rate < 10e6]
    return {
        "open_mbps": [flow["delivered_bytes"] * 8 / open_s / 1e6 for flow in flows],
        "all_mbps": sum(flow["delivered_bytes"] for flow in flows) * 8 / open_s / 1e6,
        "mean_mbps": sum(flow["goodput_bps"] for flow in flows) / 1e6,
        "capacity_mbps": link["capacity_bytes"] * 8 / open_s / 1e6,
        "mean_rate_mbps": statistics.fmean(rates) / 1e6 if rates else 0.0,
        "utilisation": link["utilisation"],
        "fast_utilisation": _carried(channel, fast),
        "slow_utilisation": _carried(channel, slow),
        "queue_ms": channel.drain_ms(),
        "waited_ms": 1e3
        * sum((flow["queuing_delay_mean_s"] or 0.0) * flow["delivered_bytes"] for flow in flows)
        / packets,
        "resume_s": statistics.fmean(resumes) if resumes else 0.0,
        "rtos": sum(flow["rtos"] for flow in flows),
        "fast_retransmits": sum(flow["fast_retransmits"] for flow in flows),
        "silences": len(resumes),
    }


SHORT_QUEUE = 2
"""Packets: with no more than these waiting, the way to the CR nodes is not saturated."""

ZONES = ("slow start", "starvation", "ideal", "saturation", "competition")
"""What C2's `zone` counts, from 0."""


def state(result: Result) -> dict[str, Any]:
    """Return what the first C2 flow believed while the channel was open; nothing without such a flow."""
    channel = Channel.of(result)
    step = channel.time_s[1] - channel.time_s[0]
    rates = {round(time / step): rate for time, rate in zip(channel.time_s, channel.rate_bps, strict=True)}
    queues = {
        round(time / step): packets
        for time, packets in zip(channel.time_s, channel.queue_packets, strict=True)
    }
    shown: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in result.control_series.to_pylist():
        shown[row["flow"]][row["variable"]][round(row["time_s"] / step)] = row["value"]
    mine = next((variables for variables in shown.values() if "n_estimate" in variables), None)
    if mine is None:
        return {}
    there = [at for at in mine["n"] if rates.get(at, 0) > 0]
    saturated = [at for at in there if ZONES[round(mine["zone"][at])] == "saturation"]
    probed = [mine["bandwidth_bps"][at] / (rates[at] * 1000 / WIRE_BYTES) for at in there]
    stretched = [mine["r_s"][at] / mine["dp_s"][at] for at in there]
    known = [value for value in probed if not math.isnan(value)]
    return {
        "n": statistics.fmean(mine["n"][at] for at in there),
        "probed": statistics.median(known) if known else None,
        "stretched": statistics.fmean(value for value in stretched if not math.isnan(value)),
        "saturated": len(saturated) / len(there),
        "misread": (
            sum(queues[at] <= SHORT_QUEUE for at in saturated) / len(saturated) if saturated else None
        ),
    }


def totals_and_state(result: Result) -> dict[str, Any]:
    """Return what `totals` keeps and what C2 believed."""
    return {**totals(result), **state(result)}


def _carried(channel: Channel, indices: Sequence[int]) -> float:
    offered = sum(channel.rate_bps[i] for i in indices)
    return sum(channel.throughput_bps[i] for i in indices) / offered if offered else 0.0


SETTLE_S = 4.0
"""After a silence: two timeouts, of which the second may outlast it by a second, and slow start."""


def convergence(result: Result) -> dict[str, Any]:
    """Return shares, use of the channel and recoveries of the run with flows that join and leave."""
    channel = Channel.of(result)
    step = channel.time_s[1] - channel.time_s[0]
    data = result.scenario.to_dict()["flow"]
    spans = {
        flow["name"]: (seconds(flow.get("start", "0 s")), seconds(flow.get("stop", "1000000 s")))
        for flow in data
    }
    series = result.flow_series.select(["time_s", "flow", "goodput_bps"]).to_pydict()
    goodput: dict[str, dict[int, float]] = defaultdict(dict)
    for time, flow, value in zip(*(series[key] for key in ("time_s", "flow", "goodput_bps")), strict=True):
        goodput[flow][round(time / step) - 1] = value
    joins = sorted(start for start, _ in spans.values() if start > 0)
    leaves = sorted(stop for _, stop in spans.values() if stop < 1e5)

    def fairness(first: int, end: int) -> float | None:
        begin_s, end_s = first * step, end * step
        there = [name for name, (start, stop) in spans.items() if start <= begin_s and stop >= end_s]
        if len(there) < 2 or end - first < 10:
            return None
        shares = [sum(goodput[name].get(i, 0.0) for i in range(first, end)) for name in there]
        return jain_index(shares) if sum(shares) > 0 else None

    settled, joined, recovery = [], [], []
    settled_bits = settled_offer = 0.0
    for first, end in channel.open_periods():
        changes = [t for t in (*joins, *leaves) if first * step < t < end * step]
        begin = first + round(SETTLE_S / step) if first else first + round(2 / step)
        if not changes:
            share = fairness(begin, end)
            if share is not None:
                settled.append(share)
            settled_bits += sum(channel.throughput_bps[begin:end])
            settled_offer += sum(channel.rate_bps[begin:end])
        for change in changes:
            at = round(change / step)
            if change in joins:
                share = fairness(at + round(1 / step), end)
                if share is not None:
                    joined.append(share)
            else:
                full = (
                    i
                    for i in range(at, end - 1)
                    if min(channel.throughput_bps[k] / channel.rate_bps[k] for k in (i, i + 1)) >= 0.9
                )
                recovery.append((next(full, end) - at) * step)
    resumes = channel.resume_s()
    coarse = 5
    return {
        "utilisation": _carried(channel, [i for i, rate in enumerate(channel.rate_bps) if rate > 0]),
        "settled_utilisation": settled_bits / settled_offer if settled_offer else 0.0,
        "settled_jain": statistics.fmean(settled) if settled else 0.0,
        "joined_jain": statistics.fmean(joined) if joined else 0.0,
        "recovery_s": statistics.fmean(recovery) if recovery else 0.0,
        "resume_s": statistics.fmean(resumes) if resumes else 0.0,
        "queue_ms": channel.drain_ms(),
        "series": {
            "time_s": [channel.time_s[i] for i in range(0, len(channel.time_s), coarse)],
            "rate_mbps": _coarse(channel.rate_bps, coarse),
            "total_mbps": _coarse(channel.throughput_bps, coarse),
            **{
                name: _coarse([goodput[name].get(i, 0.0) for i in range(len(channel.time_s))], coarse)
                for name in sorted(spans)
            },
        },
    }


def _coarse(values: Sequence[float], count: int) -> list[float]:
    return [statistics.fmean(values[i : i + count]) / 1e6 for i in range(0, len(values), count)]


def seconds(text: str) -> float:
    """Return the duration that a scenario's canonical form holds, in seconds."""
    number, unit = text.split()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}[unit]
