"""A metric: one number of a run, its unit, its better direction, and how people read it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cogtcp.model.statistics import Interval

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
    "stalls",
    "switches",
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
        of: Computes it from the rows of the run's flows or radios, or of the subject.
        radio: Whether it is one of radios.
        any_radio: Whether it is one of all radios, and not only of those whose primary users are simulated.
        table: The table whose rows `of` takes.
        subject: The flow, UDP stream or application whose metric it is; empty: the whole run.
        noticed: Whether the users of an application notice it.
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
    table: str = "flows"
    subject: str = ""
    noticed: bool = False

    def of_subject(self, subject: str) -> Metric:
        """Return the metric for a subject: `call.delay_p95`, `call: delay, 95th percentile`."""
        return replace(self, name=f"{subject}.{self.name}", title=f"{subject}: {self.title}", subject=subject)

    def marked(self) -> Metric:
        """Return the metric as one that users notice."""
        return replace(self, noticed=True)

    @property
    def counts(self) -> bool:
        """Whether the value of a single run is a whole number."""
        return self.name.rpartition(".")[2] in _COUNTS

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


def mean(values: Sequence[float]) -> float:
    """Return the mean, as exact as `statistics.fmean`, which is slow to load."""
    return math.fsum(values) / len(values)
