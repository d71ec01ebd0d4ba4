"""Estimates: a value, its interval, and how it was found."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.fitting import quantity
from cogtcp.fitting.quantity import Bounded, Measured, Quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Draws of a bootstrap.
_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the data say of one parameter.

    Attributes:
        name: The parameter.
        value: The estimate; NaN where the data cannot tell.
        low: Low end of the 95 % interval; NaN without.
        high: High end.
        unit: Unit of the three.
        how: How it was found, or why the data cannot tell, and what stands in the scenario instead.
        known: Whether the data tell it.
        bound: The bound, where the data tell no more; `value` is its end.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str
    how: str
    known: bool = True
    bound: Bounded | None = None

    def describe(self) -> str:
        """Return the value with its interval as people read it."""
        if not self.known:
            return "unknown"
        if self.bound is not None:
            return quantity.describe(self.bound)
        scale, unit = shown(self.unit, self.value)
        text = f"{self.value * scale:.4g} {unit}".strip()
        if math.isfinite(self.low) and math.isfinite(self.high):
            # The lower bound of a share of zero is a rounding error of its law.
            low = 0.0 if abs(self.low) < 1e-9 * abs(self.high) else self.low
            text += f" ({low * scale:.4g} to {self.high * scale:.4g})"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "how": self.how,
            "known": self.known,
            "kind": "unknown" if not self.known else "measured" if self.bound is None else "bounded",
        }


def unknown(name: str, unit: str, how: str) -> Estimate:
    """Return an estimate that the data do not give."""
    return Estimate(name, math.nan, math.nan, math.nan, unit, how, known=False)


def of(name: str, unit: str, found: Quantity, otherwise: str = "") -> Estimate:
    """Return the estimate of a quantity.

    Args:
        name: The parameter.
        unit: Its unit.
        found: What the data say.
        otherwise: What stands in the scenario if they say nothing.
    """
    if isinstance(found, Measured):
        return Estimate(name, found.value, found.low, found.high, found.unit, found.how)
    if isinstance(found, Bounded):
        low = math.nan if found.at_least is None else found.at_least
        high = math.nan if found.at_most is None else found.at_most
        value = high if math.isnan(low) else low
        return Estimate(name, value, low, high, found.unit, found.how, bound=found)
    return unknown(name, unit, f"{found.reason}; {otherwise}" if otherwise else found.reason)


def shown(unit: str, value: float) -> tuple[float, str]:
    """Return the factor to the unit in which people read a value, and that unit."""
    if unit == "s":
        return (1e3, "ms") if abs(value) < 1 else (1.0, "s")
    if unit == "bit/s":
        return (1e-6, "Mbit/s") if abs(value) >= 1e5 else (1e-3, "kbit/s")
    if unit == "share":
        return 100.0, "%"
    return 1.0, unit


def median(values: Sequence[float]) -> float:
    """Return the median; NaN without values."""
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        return math.nan
    return ordered[count // 2] if count % 2 else (ordered[count // 2 - 1] + ordered[count // 2]) / 2


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile, the nearest value of the sample; NaN without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan


def bootstrap(
    values: Sequence[float], of: Callable[[Sequence[float]], float] = median, draws: int = _DRAWS
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic by the bootstrap; NaN with less than three values.

    The draws are the same for the same number of values: a fit gives the same file every time.
    """
    if len(values) < 3:
        return math.nan, math.nan
    chance = random.Random(len(values))  # noqa: S311 (no secret)
    found = sorted(of(chance.choices(values, k=len(values))) for _ in range(draws))
    return found[int(0.025 * draws)], found[min(draws - 1, int(0.975 * draws))]
