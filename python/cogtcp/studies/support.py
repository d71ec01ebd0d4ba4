"""In how much of the space of what a paper leaves unsaid a statement holds, or a whole claim.

Every statement of a claim is tested at each setting of a joint design. An inconclusive setting counts neither
for nor against; the share is over the settings that give a clear result.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp._core import binomial_distribution as _binomial
from cogtcp.model.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Support:
    """In how much of the space a statement, or a whole claim, holds.

    Attributes:
        holds: Settings at which it holds.
        fails: Settings at which it does not.
        inconclusive: Settings at which the test could not tell.
        share: `holds` of `holds` and `fails`, with its exact 95 % interval; NaN where there are none.
    """

    holds: int
    fails: int
    inconclusive: int
    share: Interval

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Support:
        """Count verdicts, one for each setting of the design."""
        count = Counter(verdicts)
        holds, fails = count["holds"], count["fails"]
        return cls(holds, fails, count["inconclusive"], share(holds, holds + fails))


def share(holds: int, decided: int, confidence: float = 0.95) -> Interval:
    """Return a share with its exact interval (Clopper and Pearson 1934)."""
    if decided == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    tail = (1 - confidence) / 2
    low = 0.0 if holds == 0 else _solve(lambda p: 1 - _binomial(holds - 1, decided, p), tail)
    high = 1.0 if holds == decided else _solve(lambda p: 1 - _binomial(holds, decided, p), 1 - tail)
    return Interval(holds / decided, low, high, decided)


def _solve(rising: object, target: float) -> float:
    """Return where a function that rises from 0 to 1 reaches `target`, by bisection."""
    low, high = 0.0, 1.0
    # Halved sixty times the interval is below what a double tells apart.
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < target:  # type: ignore[operator]
            low = middle
        else:
            high = middle
    return (low + high) / 2
