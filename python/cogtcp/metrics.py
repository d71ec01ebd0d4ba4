"""What a run comes to in single numbers: columns of its tables, brought together over its flows or radios."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cogtcp.result import Result
    from cogtcp.statistics import Interval

Rows = list[dict[str, Any]]

_COUNTS = {
    "rtos",
    "spurious_rtos",
    "fast_retransmits",
    "drops",
    "pu_collisions",
    "missed_detections",
    "false_alarms",
    "handoffs",
}

#: From here on times are read in seconds and not in milliseconds, s.
LEAST_IN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a run.

    Attributes:
        name: Its key in tables and JSON; base units.
        title: What people read.
        unit: Unit in which people read it.
        scale: Factor from base units to that unit.
        digits: Decimal places that people are shown.
        better: 1 where more is better, -1 where less is, 0 where neither is.
        meaning: What it says, in a sentence.
        of: Computes it from the rows of the run's flows, or of its radios.
        radio: Whether it is one of radios.
        any_radio: Whether it is one of all radios, and not only of those whose primary users are simulated.
    """

    name: str
    title: str
    unit: str
    scale: float
    digits: int
    better: int
    meaning: str
    of: Callable[[Rows], float]
    radio: bool = False
    any_radio: bool = False

    @property
    def counts(self) -> bool:
        """Whether the value of a single run is a whole number."""
        return self.name in _COUNTS

    def for_size(self, values: Iterable[float]) -> Metric:
        """Return the metric in s instead of ms where one of `values` (base units) is 10 s or more."""
        greatest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        if self.unit != "ms" or greatest < LEAST_IN_SECONDS:
            return self
        return replace(self, unit="s", scale=1.0, digits=2)

    def text(self, value: float, *, unit: bool = False, single: bool = False) -> str:
        """Return the value as people read it; `single` if it is one run's and no mean.

        Args:
            value: The value in base units.
            unit: Whether to append the unit.
            single: Whether the value is from one run, not a mean.

        Returns:
            The text.
        """
        if math.isnan(value):
            return "–"
        digits = 0 if single and self.counts else self.digits
        number = f"{value * self.scale:,.{digits}f}"
        if float(number.replace(",", "")) == 0:
            number = number.lstrip("-")  # no "-0.00"
        return f"{number} {self.unit}" if unit and self.unit else number

    def with_half_width(self, interval: Interval, *, sign: bool = False) -> str:
        """Return `mean ± half the interval` with no digit that the interval does not support.

        Args:
            interval: Mean and bounds in base units.
            sign: Whether to write the plus sign.

        Returns:
            The text.
        """
        mean = interval.mean * self.scale
        if math.isnan(interval.low) or (interval.low == interval.high and not sign):
            text = self.text(interval.mean)  # nothing varies with the seed, and tables say so
        else:
            text = plus_minus(mean, interval.half_width * self.scale, self.digits)
        return f"+{text}" if sign and mean > 0 else text

    def with_ends(self, interval: Interval) -> str:
        """Return a value with the ends of its interval, `12.3 (10.1 to 15.2)`; – is an unknown end."""
        text = self.text(interval.mean)
        if math.isnan(interval.mean) or interval.low == interval.high:
            return text
        low, high = (
            self.text(end if math.isfinite(end) else math.nan) for end in (interval.low, interval.high)
        )
        return f"{text} ({low} to {high})"


def quantile_name(q: float) -> str:
    """Return what a quantile is called: `median`, `95 % quantile`."""
    return "median" if q == 0.5 else f"{100 * q:g} % quantile"


def plus_minus(value: float, half: float, digits: int = 3) -> str:
    """Return `1.00 ± 0.15`: the half width with two significant digits, the value to the same place.

    A half width of 0 leaves the value its `digits`, and has none.

    >>> plus_minus(1.0004, 0.1513)
    '1.00 ± 0.15'

    Args:
        value: The value.
        half: Half of the interval, in the value's unit.
        digits: Significant digits if `half` is 0.

    Returns:
        The text.
    """
    if math.isnan(value) or math.isnan(half):
        return "–"
    places = digits
    if half:
        # The two digits of 9.96 are those of 10, and not of 9.9.
        rounded = float(f"{half:.1e}")
        places = min(12, max(0, 1 - math.floor(math.log10(rounded))))
    text = f"{value:,.{places}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")  # no "-0.00"
    return f"{text} ± {half:,.{places}f}" if half else f"{text} ± 0"


#: A space as wide as a digit, which browsers keep.
PAD = "\N{FIGURE SPACE}"


def aligned(cells: Sequence[str], pad: str = PAD) -> list[str]:
    """Return the cells of a column set flush right with each `±` below the other.

    Half widths of a column need not have the same number of digits. `pad` fills what a shorter one leaves.

    Args:
        cells: The texts of one column.
        pad: The character that fills gaps.

    Returns:
        The padded cells.
    """
    cells = [cell.rstrip(pad + PAD) for cell in cells]  # they may have been set before
    halves = [len(cell.partition(" ± ")[2]) for cell in cells]
    widest = max(halves, default=0)
    if not widest:
        return cells
    # A value without an interval stands where the others have theirs.
    return [
        cell if cell in ("", "–") else cell + pad * (widest - half if half else widest + len(" ± "))
        for cell, half in zip(cells, halves, strict=True)
    ]


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
    return statistics.fmean(finite) if finite else math.nan


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

#: Whose quantiles are shown where there is no room for all.
QUANTILES_OF = ("goodput_bps", "queuing_delay_mean_s", "rtt_p95_s")

BY_NAME = {metric.name: metric for metric in METRICS}


def measure(result: Result) -> dict[str, float]:
    """Return every metric of a run, in base units; NaN where the run has no such value."""
    return measure_rows(result.rows("flows"), result.rows("radios"))


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
