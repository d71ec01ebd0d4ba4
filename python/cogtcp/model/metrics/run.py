"""Metrics of a whole run: columns of its tables, brought together over its flows or radios."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp.model.metrics.metric import Metric, Rows, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _sum(column: str) -> Callable[[Rows], float]:
    return lambda rows: math.fsum(row[column] for row in rows)


def _sum_of_tcp(column: str) -> Callable[[Rows], float]:
    """Return the sum over TCP's rows, which have the column; NaN: no row has it."""

    def total(rows: Rows) -> float:
        values = [row.get(column, math.nan) for row in rows]
        found = [value for value in values if value is not None and not math.isnan(value)]
        return math.fsum(found) if found or not rows else math.nan

    return total


def _mean(column: str) -> Callable[[Rows], float]:
    return lambda rows: _mean_of(row[column] for row in rows)


def _mean_of(values: Iterable[float]) -> float:
    finite = [value for value in values if not math.isnan(value)]
    return mean(finite) if finite else math.nan


def _retransmitted(rows: Rows) -> float:
    sent = sum(row["sent_segments"] for row in rows)
    return sum(row["retransmitted_segments"] for row in rows) / sent if sent else math.nan


def _efficiency(column: str) -> Callable[[Rows], float]:
    """Flows that share a bottleneck or a cell share its capacity: efficiencies add up. Then the mean."""

    def efficiency(rows: Rows) -> float:
        shares: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in rows:
            # Results of before this column have no cells.
            medium = row.get("medium") or row["bottleneck"]
            shares[medium, row["bottleneck_direction"]].append(row[column])
        return _mean_of(math.fsum(values) for values in shares.values())

    return efficiency


#: The numbers of a run, in the order in which they are shown.
METRICS = (
    Metric(
        "goodput_bps", "Goodput", "Mbit/s", 1e-6, 3, 1,
        "Payload handed to the receiving applications in order and once, per second, all flows together.",
        _sum("goodput_bps"),
    ),
    Metric(
        "efficiency", "Efficiency", "%", 100, 1, 1,
        "Delivered payload over the available capacity of the bottleneck (Di Felice et al. 2009, eq. 4).",
        _efficiency("efficiency"),
    ),
    Metric(
        "fairness", "Fairness", "", 1, 3, 1,
        "Jain's index of the flows' goodputs: 1 when all are equal.",
        lambda rows: _core.jain_fairness([row["goodput_bps"] for row in rows]),
    ),
    Metric(
        "delivery_ratio", "Delivery ratio", "%", 100, 2, 1,
        "Data packets that arrived over those that arrived or were dropped, mean over flows.",
        _mean("delivery_ratio"),
    ),
    Metric(
        "rtos", "RTOs", "", 1, 1, -1,
        "Retransmission timeouts, all TCP flows together.",
        _sum_of_tcp("rtos"),
    ),
    Metric(
        "spurious_rtos", "Spurious RTOs", "", 1, 1, -1,
        "Timeouts without a loss, all TCP flows together.",
        _sum_of_tcp("spurious_rtos"),
    ),
    Metric(
        "fast_retransmits", "Fast retransmits", "", 1, 1, 0,
        "Losses detected by duplicate acknowledgements, all TCP flows together.",
        _sum_of_tcp("fast_retransmits"),
    ),
    Metric(
        "drops", "Drops", "packets", 1, 1, -1,
        "Data packets dropped, all causes and flows together.",
        _sum("drops"),
    ),
    Metric(
        "retransmitted", "Retransmitted", "%", 100, 2, -1,
        "Share of sent data segments that are retransmissions.",
        _retransmitted,
    ),
    Metric(
        "rtt_mean_s", "RTT, mean", "ms", 1000, 1, -1,
        "Mean round-trip time that the senders sampled, mean over flows.",
        _mean("rtt_mean_s"),
    ),
    Metric(
        "rtt_p95_s", "RTT, 95th percentile", "ms", 1000, 1, -1,
        "95th percentile of the round-trip time, mean over flows.",
        _mean("rtt_p95_s"),
    ),
    Metric(
        "queuing_delay_mean_s", "Queuing delay, mean", "ms", 1000, 1, -1,
        "Mean time a delivered data packet waited in queues, silences included, mean over flows.",
        _mean("queuing_delay_mean_s"),
    ),
    Metric(
        "completion_s", "Completion", "s", 1, 2, -1,
        "Time from start to the last byte's delivery, mean over the fixed-size flows that finished.",
        _mean("completion_s"),
    ),
    Metric(
        "pu_interfered_share", "PU time interfered", "%", 100, 2, -1,
        "Share of the primary users' airtime with a frame on the air on their channel, mean over radios.",
        _mean("pu_interfered_share"), radio=True,
    ),
    Metric(
        "pu_exposed_share", "PU time exposed", "%", 100, 2, -1,
        "Share of the primary users' airtime in which a radio was open on their channel, mean over radios.",
        _mean("pu_exposed_share"), radio=True,
    ),
    Metric(
        "pu_collisions", "PU collisions", "", 1, 1, -1,
        "ON periods of primary users that were interfered with, all radios together.",
        _sum("pu_collisions"), radio=True,
    ),
    Metric(
        "vacate_mean_s", "Time to vacate", "ms", 1000, 1, -1,
        "Mean time until a radio left the channel of an active primary user, mean over radios.",
        _mean("vacate_mean_s"), radio=True,
    ),
    Metric(
        "missed_detections", "Missed detections", "", 1, 1, -1,
        "Sensings that missed a primary user, all radios together.",
        _sum("missed_detections"), radio=True,
    ),
    Metric(
        "false_alarms", "False alarms", "", 1, 1, -1,
        "Sensings that reported an absent primary user, all radios together.",
        _sum("false_alarms"), radio=True,
    ),
    Metric(
        "handoffs", "Handoffs", "", 1, 1, 0,
        "Changes of channel, all radios together.",
        _sum("handoffs"), radio=True, any_radio=True,
    ),
)  # fmt: skip

#: Metrics whose quantiles are shown where there is no room for all.
QUANTILES_OF = ("goodput_bps", "queuing_delay_mean_s", "rtt_p95_s")

BY_NAME = {metric.name: metric for metric in METRICS}


def measure_rows(rows: Rows, radios: Rows | None = None) -> dict[str, float]:
    """Return every metric of the rows of some flows, and of some radios.

    Args:
        rows: Rows of the table `flows`, by column.
        radios: Rows of the table `radios`, by column.

    Returns:
        Values in base units by name; NaN where a metric has none.
    """
    meeting = [row for row in radios or () if not math.isnan(row["pu_airtime_s"])]

    def value(metric: Metric) -> float:
        if metric.radio:
            rows_of = radios if metric.any_radio else meeting
            return metric.of(rows_of) if rows_of else math.nan
        return metric.of(rows)

    return {metric.name: value(metric) for metric in METRICS}
