"""Estimates: a value, its interval, and how it was found."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.data.fitting.quantity import Bounded, Measured, Quantity, Unknown, describe, shown

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
        bound: The bound, where the data tell only that.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str
    how: str
    known: bool = True
    bound: Bounded | None = None

    @classmethod
    def of(cls, name: str, quantity: Quantity, instead: str = "") -> Estimate:
        """Return the estimate of a quantity; `instead` says what the scenario has in place of an unknown."""
        if isinstance(quantity, Measured):
            return cls(name, quantity.value, quantity.low, quantity.high, quantity.unit, quantity.how)
        tail = f"; {instead}" if instead else ""
        if isinstance(quantity, Bounded):
            how = quantity.how + tail
            return cls(name, math.nan, math.nan, math.nan, quantity.unit, how, known=False, bound=quantity)
        return cls(name, math.nan, math.nan, math.nan, "", quantity.reason + tail, known=False)

    @property
    def quantity(self) -> Quantity:
        """The estimate as measured, bounded or unknown."""
        if self.bound is not None:
            return self.bound
        if not self.known:
            return Unknown(self.how)
        if math.isfinite(self.low + self.high):
            return Measured(self.value, self.low, self.high, self.unit, self.how)
        return Measured(self.value, self.value, self.value, self.unit, self.how)

    def describe(self) -> str:
        """Return the value with its interval, the bound, or `unknown`."""
        if self.bound is not None:
            return describe(self.bound)
        if not self.known:
            return "unknown"
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
            "kind": type(self.quantity).__name__.lower(),
            "at_least": self.bound.at_least if self.bound is not None else None,
            "at_most": self.bound.at_most if self.bound is not None else None,
        }


def unknown(name: str, unit: str, how: str) -> Estimate:
    """Return an estimate that the data do not give."""
    return Estimate(name, math.nan, math.nan, math.nan, unit, how, known=False)


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
