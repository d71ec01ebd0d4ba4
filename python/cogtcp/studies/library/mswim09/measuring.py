"""What is kept of a run: totals, where its time went, and timeouts by cause, slot by slot."""

from __future__ import annotations

import bisect
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.studies.quantities import size_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result

NEAR_S = 1.0
"""Time after an event that counts as "in proximity"."""


def measure(result: Result) -> dict[str, Any]:
    """Keep the totals of a run, and where its time went."""
    (flow,) = result.flows.to_pylist()
    forward, backward = sorted(result.links.to_pylist(), key=lambda link: link["direction"])
    radios = result.radios.to_pylist()
    span_s = flow["measured_s"]
    # Both radios of a link whose ends sense apart are on the sender's or the receiver's channel: their mean.
    exposed_s = statistics.fmean(
        radio["pu_airtime_s"] * (radio["pu_exposed_share"] or 0.0) for radio in radios
    )
    errors = {key: statistics.fmean(radio[key] for radio in radios) for key in _SENSING}
    return {
        "goodput_kbps": flow["goodput_bps"] / 1e3,
        "efficiency": flow["efficiency"],
        **{key: flow[key] for key in ("rtos", "spurious_rtos")},
        "rtos_per_min": 60 * flow["rtos"] / span_s,
        # Copies of what was not lost.
        "needless_kbps": max(flow["retransmitted_segments"] - flow["drops"], 0) * 8 / span_s,
        "rtt_ms": _ms(flow["rtt_mean_s"]),
        "rtt_p50_ms": _ms(flow["rtt_p50_s"]),
        "rtt_p95_ms": _ms(flow["rtt_p95_s"]),
        "spread_ms": _ms(flow["rtt_p95_s"]) - _ms(flow["rtt_p50_s"]),
        "dropped": sum(
            link[f"drops_{cause}"]
            for link in (forward, backward)
            for cause in ("queue", "retry", "interference")
        ),
        "interfered": forward["drops_interference"] + backward["drops_interference"],
        "retried": forward["drops_retry"] + backward["drops_retry"],
        "silent": forward["silence_s"] / span_s,
        "exposed": exposed_s / span_s,
        "clean": 1 - (forward["silence_s"] + exposed_s) / span_s,
        **errors,
    }


_SENSING = ("sensings", "missed_detections", "false_alarms", "handoffs")


def _ms(value: float | None) -> float:
    return math.nan if value is None else value * 1e3


CAUSES = ("interference", "silence", "both", "other")


@dataclass(frozen=True)
class Slot:
    """One transmission between two sensings: when, and at what rate."""

    start: float
    end: float
    rate_bps: float


@dataclass(frozen=True)
class Timeline:
    """What happened in a run, by kind."""

    slots: Sequence[Slot]
    destroyed: Sequence[float]
    """When a PU destroyed a frame."""
    timeouts: Sequence[float]
    spurious: set[float]
    """Timeouts before which nothing had been lost; of several that one ACK shows to be so, the last."""
    drops: Sequence[tuple[float, str]]

    @classmethod
    def of(cls, result: Result) -> Timeline:
        """Read the events of a run."""
        columns = result.events.select(["time_s", "kind", "entity", "detail", "value"]).to_pydict()
        # Where the ends sense apart: the receiver's radio, without which nothing arrives.
        radio = sorted(result.radios.column("radio").to_pylist())[0]
        rate = _first_rate(result)
        opened: float | None = None
        slots: list[Slot] = []
        destroyed: list[float] = []
        timeouts: list[float] = []
        spurious: set[float] = set()
        drops: list[tuple[float, str]] = []
        handoffs: list[tuple[float, float]] = [(-1.0, rate)]
        for time, kind, entity, detail, value in zip(*columns.values(), strict=True):
            if kind == "interference":
                destroyed.append(time)
            elif kind == "rto":
                timeouts.append(time)
            elif kind == "spurious_rto" and timeouts:
                spurious.add(timeouts[-1])
            elif kind == "drop":
                drops.append((time, detail))
            elif entity != radio:
                continue
            elif kind == "handoff":
                handoffs.append((time, value))
            elif kind == "sensing_end" and detail in {"clear", "missed"}:
                opened = time
            elif kind == "sensing_start" and opened is not None:
                last = bisect.bisect_right(handoffs, (opened + 1e-9, math.inf)) - 1
                slots.append(Slot(opened, time, handoffs[last][1]))
                opened = None
        return cls(slots, destroyed, timeouts, spurious, drops)

    def between(self, times: Sequence[float], start: float, end: float) -> int:
        """Count the times within a span."""
        return bisect.bisect_right(times, end) - bisect.bisect_left(times, start)

    def cause(self, timeout: float) -> str:
        """Return what a timeout is due to: "interference" by a PU, "silence", "both", or "other".

        Where a packet was lost, what lost the last one. Where nothing was, the silences that delayed the ACK,
        and a PU as well if it destroyed a frame within the second before.
        """
        if timeout in self.spurious:
            return "both" if self.between(self.destroyed, timeout - NEAR_S, timeout) else "silence"
        last = bisect.bisect_right(self.drops, (timeout, "~")) - 1
        if last < 0:
            return "other"
        return {"interference": "interference", "retry": "silence"}.get(self.drops[last][1], "other")


def _first_rate(result: Result) -> float:
    """Return the rate of channel 0, on which the radio begins, in bit/s."""
    series = result.link_series.select(["direction", "rate_bps"]).to_pydict()
    rates = zip(series["direction"], series["rate_bps"], strict=True)
    return next((rate for direction, rate in rates if direction == "forward" and rate > 0), 0.0)


def measure_windows(result: Result) -> dict[str, Any]:
    """Keep what Figures 4 and 8 are about, from the events of a run."""
    timeline = Timeline.of(result)
    span_s = result.duration_s
    causes = [timeline.cause(timeout) for timeout in timeline.timeouts]
    after_hit: list[bool] = []
    after_other: list[bool] = []
    for slot in timeline.slots:
        first = bisect.bisect_left(timeline.destroyed, slot.start)
        hit = first < len(timeline.destroyed) and timeline.destroyed[first] < slot.end
        since = timeline.destroyed[first] if hit else slot.start
        followed = timeline.between(timeline.timeouts, since, since + NEAR_S) > 0
        (after_hit if hit else after_other).append(followed)
    shares = {cause: _share([c == cause for c in causes]) for cause in CAUSES}
    return {
        **measure(result),
        "rtos_per_min": 60 * len(causes) / span_s,
        "spurious": _share([timeout in timeline.spurious for timeout in timeline.timeouts]),
        **{f"by_{cause}": share for cause, share in shares.items()},
        "by_pu": _sum(shares["interference"], shares["both"]),
        "by_a_silence": _sum(shares["silence"], shares["both"]),
        "hit": len(after_hit) / max(len(timeline.slots), 1),
        "after_hit": _share(after_hit),
        "after_other": _share(after_other),
        **_bandwidth(result, timeline),
    }


def _bandwidth(result: Result, timeline: Timeline) -> dict[str, Any]:
    """Return how the window goes with the rate of the channel, slot by slot, and when timeouts come."""
    series = result.flow_series.select(["time_s", "cwnd_segments"]).to_pydict()
    times, cwnd = series["time_s"], series["cwnd_segments"]
    slots, windows = [], []
    for slot in timeline.slots:
        inside = cwnd[bisect.bisect_right(times, slot.start) : bisect.bisect_right(times, slot.end)]
        if inside:
            slots.append(slot)
            windows.append(statistics.fmean(inside))
    middle = (min((s.rate_bps for s in slots), default=0) + max((s.rate_bps for s in slots), default=0)) / 2
    fast = [w for s, w in zip(slots, windows, strict=True) if s.rate_bps > middle]
    slow = [w for s, w in zip(slots, windows, strict=True) if s.rate_bps <= middle]
    counts: dict[str, list[int]] = {kind: [] for kind in ("fall", "rise", "slow", "fast")}
    for before, slot, after in zip(slots, slots[1:], slots[2:], strict=False):
        change = slot.rate_bps - before.rate_bps
        stays = "fast" if slot.rate_bps > middle else "slow"
        kind = "fall" if change < 0 else "rise" if change > 0 else stays
        counts[kind].append(timeline.between(timeline.timeouts, slot.start, after.start))
    not_fall = counts["rise"] + counts["slow"] + counts["fast"]
    return {
        "correlation": _correlation([slot.rate_bps for slot in slots], windows),
        "cwnd_fast": _mean(fast),
        "cwnd_slow": _mean(slow),
        **{f"rtos_{kind}": _mean(found) for kind, found in counts.items()},
        "rtos_not_fall": _mean(not_fall),
        "share_on_fall": sum(counts["fall"]) / max(sum(counts["fall"]) + sum(not_fall), 1),
        "slots_fall": len(counts["fall"]) / max(len(counts["fall"]) + len(not_fall), 1),
    }


def measure_opportunities(result: Result) -> dict[str, Any]:
    """Return in what share of the rises of the rate the window stays below half of what is then supported.

    An opportunity begins with a slot of a higher rate than the one before, and lasts until the rate changes.
    The channel supports its rate times the flow's mean RTT.
    """
    timeline = Timeline.of(result)
    (flow,) = result.flows.to_pylist()
    segment_bits = 8 * size_bytes(result.scenario.to_dict()["tcp"]["segment_size"])
    series = result.flow_series.select(["time_s", "cwnd_segments"]).to_pydict()
    times, cwnd = series["time_s"], series["cwnd_segments"]
    lost: list[bool] = []
    slots = timeline.slots
    for index in range(1, len(slots)):
        if slots[index].rate_bps <= slots[index - 1].rate_bps:
            continue
        last = index
        while last + 1 < len(slots) and slots[last + 1].rate_bps == slots[index].rate_bps:
            last += 1
        half = slots[index].rate_bps * (flow["rtt_mean_s"] or 0.0) / segment_bits / 2
        inside = cwnd[
            bisect.bisect_right(times, slots[index].start) : bisect.bisect_right(times, slots[last].end)
        ]
        if inside:
            lost.append(max(inside) < half)
    return {"lost_before_half": _share(lost)}


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return statistics.correlation(x, y)


def trace(result: Result) -> dict[str, Any]:
    """Return window, smoothed RTT and the channel's rate over time, to draw."""
    flow = result.flow_series.select(["time_s", "cwnd_segments", "srtt_s"]).to_pydict()
    link = result.link_series.select(["time_s", "direction", "rate_bps"]).to_pydict()
    rate = _first_rate(result)
    rates: dict[float, float] = {}
    for time, direction, value in zip(*link.values(), strict=True):
        if direction == "forward":
            # In a silence the rate is 0: the channel is the last one.
            rate = value or rate
            rates[time] = rate
    rows = [
        (time, cwnd, None if math.isnan(srtt_s) else srtt_s * 1e3, rates.get(time, rate) / 8e4)
        for time, cwnd, srtt_s in zip(*flow.values(), strict=True)
        if time <= DRAWN_S
    ]
    return dict(
        zip(("time_s", "cwnd", "srtt_ms", "packets"), map(list, zip(*rows, strict=True)), strict=True)
    )


DRAWN_S = 40.0
"""How much of a run the figures over time show."""
