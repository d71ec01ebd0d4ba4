"""Where a statement holds in the space of what a paper leaves unsaid: everywhere, somewhere or nowhere.

Every statement of a claim is tested at each setting of a joint design. A setting at which the test is
inconclusive counts neither for nor against; the share is that of the settings that decide.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cogtcp._core import binomial_distribution as _binomial
from cogtcp.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.space import Setting, Space, Unsaid
    from cogtcp.studies.verdicts import Verdict

Where = Literal["everywhere", "somewhere", "nowhere", "undecided"]

EVERYWHERE, NOWHERE = 0.95, 0.05
"""Bounds of the share: its lower bound is at least the one, or its upper bound at most the other."""

SHUFFLES = 2000
"""Permutations behind the p-value of a parameter's effect."""


@dataclass(frozen=True, slots=True)
class Place:
    """In how much of the space a statement, or a whole claim, holds.

    Attributes:
        holds: Settings at which it holds.
        differs: Settings at which it does not.
        inconclusive: Settings at which the test could not tell.
        share: `holds` of those that decide, with its 95 % interval; NaN where none decides.
    """

    holds: int
    differs: int
    inconclusive: int
    share: Interval

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Place:
        """Count verdicts, one for each setting of the design."""
        count = Counter(verdicts)
        holds, differs = count["holds"], count["differs"]
        return cls(holds, differs, count["unclear"], share(holds, holds + differs))

    @property
    def where(self) -> Where:
        """The place: `undecided` if no setting decides, or if too few do to tell."""
        if self.share.n == 0:
            return "undecided"
        if self.share.low >= EVERYWHERE:
            return "everywhere"
        if self.share.high <= NOWHERE:
            return "nowhere"
        return "somewhere" if self.holds and self.differs else "undecided"

    @property
    def verdict(self) -> Verdict:
        """`holds` everywhere, `differs` nowhere, `unclear` else."""
        return {"everywhere": "holds", "nowhere": "differs"}.get(self.where, "unclear")  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Effect:
    """What one unsaid parameter does to a claim.

    Attributes:
        parameter: Its name.
        shares: In how much of the space the claim holds at each of its levels, in order.
        effect: The greatest of these less the least.
        p: Probability of an effect as large by chance (permutation test), corrected for the number of
            parameters (Holm).
    """

    parameter: str
    shares: dict[str, float]
    effect: float
    p: float


def share(holds: int, decided: int, confidence: float = 0.95) -> Interval:
    """Return a share with its exact interval (Clopper and Pearson 1934)."""
    if decided == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    tail = (1 - confidence) / 2
    low = 0.0 if holds == 0 else _solve(lambda p: 1 - _binomial(holds - 1, decided, p), tail)
    high = 1.0 if holds == decided else _solve(lambda p: 1 - _binomial(holds, decided, p), 1 - tail)
    return Interval(holds / decided, low, high, decided)


def effects(space: Space, settings: Sequence[Setting], verdicts: Sequence[Verdict]) -> list[Effect]:
    """Return the effect of every unsaid parameter on a claim, the greatest first.

    The classes of a continuous parameter are the thirds of its range. The permutation test shuffles the
    verdicts over the settings; its random stream is its own, so the same input gives the same p-values.
    """
    known = [
        (setting, verdict == "holds")
        for setting, verdict in zip(settings, verdicts, strict=True)
        if verdict != "unclear"
    ]
    if not known:
        return []
    held = [value for _, value in known]
    found = []
    for parameter in space.varied:
        levels = [parameter.level(setting[parameter.name]) for setting, _ in known]
        shares = _by_level(parameter, levels, held)
        found.append((parameter, shares, _range(shares), _chance(parameter, levels, held)))
    found.sort(key=lambda item: (item[3], -item[2], item[0].name))
    corrected, worst = [], 0.0
    for rank, (parameter, shares, effect, p) in enumerate(found):
        worst = max(worst, min(1.0, p * (len(found) - rank)))
        corrected.append(Effect(parameter.name, shares, effect, worst))
    return sorted(corrected, key=lambda item: (item.p > 0.05, -item.effect, item.parameter))


def _by_level(parameter: Unsaid, levels: Sequence[str], held: Sequence[bool]) -> dict[str, float]:
    total, count = Counter(levels), Counter(level for level, holds in zip(levels, held, strict=True) if holds)
    return {level: count[level] / total[level] for level in parameter.levels() if total[level]}


def _range(shares: dict[str, float]) -> float:
    return max(shares.values()) - min(shares.values()) if shares else 0.0


def _between(levels: Sequence[str], held: Sequence[bool]) -> float:
    """Return the sum of squares between the levels: what the permutation test compares."""
    mean = sum(held) / len(held)
    total, count = Counter(levels), Counter(level for level, holds in zip(levels, held, strict=True) if holds)
    return sum(n * (count[level] / n - mean) ** 2 for level, n in total.items())


def _chance(parameter: Unsaid, levels: Sequence[str], held: Sequence[bool]) -> float:
    if len(set(held)) < 2 or len(set(levels)) < 2:
        return 1.0
    seen = _between(levels, held)
    stream = random.Random(f"effect/{parameter.name}")  # noqa: S311 - statistics, not secrets
    shuffled = list(held)
    more = 0
    for _ in range(SHUFFLES):
        stream.shuffle(shuffled)
        more += _between(levels, shuffled) >= seen - 1e-12
    return (more + 1) / (SHUFFLES + 1)


def _solve(rising: object, target: float) -> float:
    """Return where a function that rises from 0 to 1 reaches `target`, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < target:  # type: ignore[operator]
            low = middle
        else:
            high = middle
    return (low + high) / 2
