"""Axes in numbers: where they end, where their ticks are, and how a tick is written.

An axis should show what is usual. Where one value is far from all others, `robust_limit` leaves it outside
and says so, instead of pressing everything else flat.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: An axis leaves values out that are more than so many times its highest usual value.
_EXPLODES = 8.0
#: The share of the values that count as usual.
_USUAL = 0.995


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to places from 0 to 1; `log` for a logarithmic axis, whose ends must be above 0."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value is: 0 at the lower end, 1 at the upper, beyond outside.

        On an axis without length, as of a run that took no time, all is at the lower end.
        """
        if self.low == self.high:
            return 0.0
        if self.log:
            if value <= 0:
                return -math.inf
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values within the axis, about `most` of them."""
        low, high = sorted((self.low, self.high))
        return _log_ticks(low, high, most) if self.log else _ticks(low, high, most)

    def flipped(self) -> Scale:
        """Return the axis with its greatest value at the lower end."""
        return Scale(self.high, self.low, self.log)


def span(values: Iterable[float], *, zero: bool = False, margin: float = 0.04, log: bool = False) -> Scale:
    """Return an axis that holds all finite values with a margin; from 0 on if `zero` says so."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if log:
        if low == high:
            low, high = low / 2, high * 2
        if not known:
            low, high = 0.1, 1.0
        room = (high / low) ** margin
        return Scale(low / room, high * room, log=True)
    if zero:
        low, high = min(0.0, low), max(0.0, high)
    if low == high:
        low, high = (0.0, 1.0) if low == 0 else sorted((0.0, 2 * low))
    room = margin * (high - low)
    return Scale(low if zero and low == 0 else low - room, high if zero and high == 0 else high + room)


def robust_limit(values: Sequence[float]) -> tuple[float, float | None]:
    """Return where an axis from 0 should end, and the greatest value if that is left outside.

    That is the greatest value unless it is more than eight times what 99.5 % of the values keep to.
    """
    known = sorted(value for value in values if math.isfinite(value))
    if not known or known[-1] <= 0:
        return 1.0, None
    greatest = known[-1]
    # Of few values the second greatest is what the greatest is measured by.
    usual = known[max(0, min(len(known) - 2, math.ceil(_USUAL * len(known)) - 1))]
    if usual > 0 and len(known) > 2 and greatest > _EXPLODES * usual:
        return 1.25 * usual, greatest
    return greatest, None


def number(value: float, step: float | None = None) -> str:
    """Write a tick: as many digits as its step needs, thousands apart, a true minus sign."""
    if value == 0:
        return "0"
    if step is None:
        text = f"{value:.10g}" if 1e-4 <= abs(value) < 1e6 else f"{value:.3g}"
    elif abs(value) >= 1e7 or step < 1e-6:
        text = f"{value:.6g}"
    else:
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        digits += 0 if math.isclose(round(step, digits), step, rel_tol=1e-6) else 1
        text = f"{value:,.{digits}f}"
    return text.replace("-", "−")


def labels(ticks: Sequence[float], *, log: bool = False) -> list[str]:
    """Write the ticks of one axis alike."""
    if log or len(ticks) < 2:
        return [number(tick) for tick in ticks]
    return [number(tick, ticks[1] - ticks[0]) for tick in ticks]


def _ticks(low: float, high: float, most: int) -> list[float]:
    if not high > low:
        return [low]
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    # Multiplied, not added up: 0.1 three times is not 0.3.
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [float(f"{tick:.12g}") for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(ticks) <= most:
            return ticks or [low, high]
    stride = math.ceil(len(ticks) / most)
    return ticks[::stride]
