"""What data say of a quantity: measured with an interval, bounded from one side, or unknown for a reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Confidence of every interval, %.
CONFIDENCE = 95


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with its 95 % interval.

    Attributes:
        value: The estimate.
        low: Low end of the interval.
        high: High end of the interval.
        unit: Unit of the three: `s`, `bit/s`, `share`, `packets`, `B` or empty.
        how: Evidence and method, as one phrase.

    Raises:
        ValueError: The three are not finite, or the value lies outside its interval.
    """

    value: float
    low: float
    high: float
    unit: str
    how: str

    def __post_init__(self) -> None:
        """Refuse an interval without its value."""
        # A rounding error is no contradiction.
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        if not self.low - slack <= self.value <= self.high + slack or not math.isfinite(self.high - self.low):
            raise ValueError(f"{self.value} is not within {self.low} to {self.high}")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A bound from one side, or from both without a best value.

    Attributes:
        unit: Unit of the bounds.
        how: Evidence and method, as one phrase.
        at_least: Lower bound; None without.
        at_most: Upper bound; None without.

    Raises:
        ValueError: There is no bound, or the two contradict each other.
    """

    unit: str
    how: str
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        """Refuse a bound that says nothing."""
        if self.at_least is None and self.at_most is None:
            raise ValueError("a bound needs at_least or at_most")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at least {self.at_least} contradicts at most {self.at_most}")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A quantity that the data do not show.

    Attributes:
        reason: What was checked, as one phrase.
    """

    reason: str


Quantity = Measured | Bounded | Unknown


def describe(quantity: Quantity) -> str:
    """Return the value with its interval, the bound, or `unknown`, in readable units."""
    if isinstance(quantity, Unknown):
        return "unknown"
    if isinstance(quantity, Measured):
        scale, unit = shown(quantity.unit, quantity.value)
        text = f"{quantity.value * scale:.4g} {unit}".strip()
        # The lower end of a share of zero is a rounding error of its law.
        low = 0.0 if abs(quantity.low) < 1e-9 * abs(quantity.high) else quantity.low
        return f"{text} ({CONFIDENCE} %: {low * scale:.4g} to {quantity.high * scale:.4g})"
    largest = quantity.at_most if quantity.at_most is not None else quantity.at_least
    assert largest is not None  # noqa: S101
    scale, unit = shown(quantity.unit, largest)
    parts = []
    if quantity.at_least is not None:
        parts.append(f"at least {quantity.at_least * scale:.4g} {unit}".strip())
    if quantity.at_most is not None:
        parts.append(f"at most {quantity.at_most * scale:.4g} {unit}".strip())
    return ", ".join(parts)


#: From this rate on, bit/s, Mbit/s is the readable unit.
_MEGABIT = 1e5


def shown(unit: str, value: float) -> tuple[float, str]:
    """Return the factor to a readable unit for a value, and that unit."""
    if unit == "s":
        return (1e3, "ms") if abs(value) < 1 else (1.0, "s")
    if unit == "bit/s":
        return (1e-6, "Mbit/s") if abs(value) >= _MEGABIT else (1e-3, "kbit/s")
    if unit == "share":
        return 100.0, "%"
    return 1.0, unit


def text(unit: str, value: float) -> str:
    """Return a value in a readable unit."""
    scale, name = shown(unit, value)
    return f"{value * scale:.3g} {name}".strip()
