"""What is wanted: more or less of a metric, and limits that other metrics must keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cogtcp._errors import UsageError
from cogtcp.model.metrics import find
from cogtcp.running.space import UNITS

if TYPE_CHECKING:
    from cogtcp.model.metrics import Metric
    from cogtcp.model.scenario import Scenario
    from cogtcp.model.statistics import Interval

_CONSTRAINT = re.compile(r"\s*([\w.-]+)\s*(<=|>=)\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*(\S.*?)?\s*")

Kept = Literal["kept", "broken", "unclear"]


@dataclass(frozen=True, slots=True)
class Objective:
    """What is to be as large or as small as possible.

    Attributes:
        metric: Which number of a run.
        sign: 1 to have more of it, -1 to have less.
    """

    metric: Metric
    sign: int

    def better(self, one: float, other: float) -> bool:
        """Whether `one` is nearer to what is wanted than `other`."""
        return self.sign * one > self.sign * other


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit that the mean of a metric must keep.

    Attributes:
        metric: Which number of a run.
        sign: 1 for at most the limit, -1 for at least.
        limit: The limit, in the metric's base unit.
    """

    metric: Metric
    sign: int
    limit: float

    def excess(self, mean: float) -> float:
        """Return by how much a mean breaks the limit, as a share of it; not above zero where it keeps it."""
        # A limit of zero has no share: the excess itself stands for it.
        return self.sign * (mean - self.limit) / (abs(self.limit) or 1.0)

    def judge(self, interval: Interval) -> Kept:
        """Return whether the limit is kept beyond chance, broken beyond chance, or neither."""
        # Ends that are not known, as with one seed, are on neither side.
        if self.excess(interval.low) <= 0 and self.excess(interval.high) <= 0:
            return "kept"
        if self.excess(interval.low) > 0 and self.excess(interval.high) > 0:
            return "broken"
        return "unclear"

    def describe(self) -> str:
        """Return the constraint as people read it."""
        sign = "at most" if self.sign > 0 else "at least"
        return f"{self.metric.title} {sign} {self.metric.text(self.limit, unit=True)}"


def objective(text: str, scenario: Scenario | None = None) -> Objective:
    """Read `METRIC`, `max:METRIC` or `min:METRIC`; a scenario must offer the metric."""
    way, separator, name = text.rpartition(":")
    metric = find(name, scenario, where=f"objective {text}")
    if separator and way.strip() not in ("max", "min"):
        raise UsageError(f"objective {text}: write max:{name} or min:{name}")
    if not separator and metric.better == 0:
        raise UsageError(f"objective {text}: unknown direction; write max:{name} or min:{name}")
    return Objective(metric, {"max": 1, "min": -1}.get(way.strip(), metric.better))


def constraint(text: str, scenario: Scenario | None = None) -> Constraint:
    """Read `METRIC<=VALUE` or `METRIC>=VALUE`; a scenario must offer the metric."""
    match = _CONSTRAINT.fullmatch(text)
    if match is None:
        raise UsageError(
            f'constraint {text}: write METRIC<=VALUE or METRIC>=VALUE, as in "pu_interference<=5%" or '
            '"rtt_p95<=300 ms"'
        )
    metric = find(match[1], scenario, where=f"constraint {text}")
    try:
        number = float(match[3])
    except ValueError:
        raise UsageError(f"constraint {text}: {match[3]} is not a number") from None
    return Constraint(metric, 1 if match[2] == "<=" else -1, number * _size(metric, match[4] or "", text))


def _size(metric: Metric, unit: str, text: str) -> float:
    """Return the size of a unit in the metric's base unit."""
    if metric.unit == "%":
        if unit in ("%", ""):
            return 0.01 if unit else 1.0
    elif metric.unit in UNITS:
        if unit in UNITS and UNITS[unit][0] == UNITS[metric.unit][0]:
            return UNITS[unit][1]
    elif unit in (metric.unit, ""):
        return 1.0
    what = f'unknown unit "{unit}" for it' if unit else "it has no unit"
    raise UsageError(
        f"constraint {text}: {what}; {metric.name} is read in {metric.unit or 'bare numbers'}"
        + (f', as in "{metric.name}<=5 {metric.unit}"' if metric.unit else "")
    )
