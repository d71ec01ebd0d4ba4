"""What is kept of a run: efficiency, losses and timeouts, and what became of the window at each outage."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogtcp import Result

FALLEN = 0.75
"""Below this share of its old value the window has fallen; a single halving counts."""


def measure(result: Result) -> dict[str, Any]:
    """Return what the flows and the train did together."""
    flows = result.flows.to_pylist()
    (train,) = result.trains.to_pylist()
    goodputs = [flow["goodput_bps"] for flow in flows]
    outages = max(1, train["outages"])
    sent = sum(flow["sent_segments"] for flow in flows)
    return {
        "efficiency": sum(result.columns("train_flows")["efficiency_trains"]),
        "useful": sum(flow["efficiency"] for flow in flows),
        "mbps": sum(goodputs) / 1e6,
        "timeouts": sum(flow["rtos"] for flow in flows) / outages,
        "fast": sum(flow["fast_retransmits"] for flow in flows) / outages,
        "retransmitted": sum(flow["retransmitted_segments"] for flow in flows) / max(1, sent),
        "queue_drops": sum(link["drops_queue"] for link in result.links.to_pylist()) / outages,
        "silence_drops": sum(link["drops_silence"] for link in result.links.to_pylist()) / outages,
        "fairness": result.fairness,
        "first_mbps": goodputs[0] / 1e6,
        "last_mbps": goodputs[-1] / 1e6,
        "overhead_bps": train["overhead_bps"],
        "late": train["late_warnings"],
        "missed": train["missed_outages"],
        "false": train["false_predictions"],
        "rtt_tcp_s": train["rtt_tcp_s"],
        "frozen_s": train["frozen_s"],
        "outages": train["outages"],
    }


def measure_windows(result: Result) -> dict[str, Any]:
    """Return what became of cwnd at each outage."""
    series = [(row["time_s"], row["cwnd_segments"]) for row in result.flow_series.to_pylist()]
    events = result.events.to_pylist()
    starts = [event["time_s"] for event in events if event["kind"] == "sensing_start"]
    ends = [event["time_s"] for event in events if event["kind"] == "sensing_end"]
    rtos = [event["time_s"] for event in events if event["kind"] == "rto"]
    dropped = [
        (event["time_s"], event["detail"], event["value"]) for event in events if event["kind"] == "drop"
    ]
    drops = [time for time, cause, _ in dropped if cause == "queue"]
    # Of whole segments: a lost probe is no loss.
    tails = [time for time, cause, size in dropped if cause == "silence" and size > 100]
    ratios, lows, bursts, lost, lapses = [], [], [], [], []
    for start, end in zip(starts, ends, strict=False):
        before = [cwnd for time, cwnd in series if start - 1 < time <= start]
        # The first acknowledgement after the outage takes 80 ms from the train to the source; what duplicate
        # acknowledgements say of losses takes some round trips more.
        after = [cwnd for time, cwnd in series if start < time <= end + 0.2]
        later = [cwnd for time, cwnd in series if start < time <= end + 1.0]
        if start >= 10 and before and after:
            ratios.append(after[-1] / before[-1])
            lows.append(min(later) / before[-1])
            bursts.append(sum(end < time <= end + 1.0 for time in drops))
            # What silence destroys is noted when it would have arrived, 30 ms later.
            lost.append(sum(start < time <= end + 0.05 for time in tails))
            lapses.append(lost[-1] > 0 and lows[-1] < FALLEN)
    return {
        **measure(result),
        "ratio": statistics.median(ratios) if ratios else 1.0,
        "fallen": statistics.fmean(low < FALLEN for low in lows) if lows else 0.0,
        "low": statistics.fmean(lows) if lows else 1.0,
        "burst_drops": statistics.fmean(bursts) if bursts else 0.0,
        "tail_drops": statistics.fmean(lost) if lost else 0.0,
        "tails": statistics.fmean(count > 0 for count in lost) if lost else 0.0,
        "lapses": statistics.fmean(lapses) if lapses else 0.0,
        "timeouts": len(rtos) / max(1, len(starts)),
    }


def trace(result: Result) -> dict[str, Any]:
    """Return the window over the first 100 s, to draw."""
    rows = [row for row in result.flow_series.to_pylist() if row["time_s"] < 100]
    return {"time_s": [row["time_s"] for row in rows], "cwnd": [row["cwnd_segments"] for row in rows]}
