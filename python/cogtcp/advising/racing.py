"""Races: which of some candidates is best, with few runs and a bound on the chance of error.

Every candidate that is still in the race is measured with the same seeds (common random numbers). At each
look the paired differences of all pairs are tested. Who is worse than another beyond chance leaves the
race. The race ends when nobody left can beat the leader by more than the margin.

All tests of a race hold together with the race's confidence: Bonferroni over ordered pairs and over looks.
Look k weighs 6 / (pi k)^2; the weights sum to one over any number of looks. The guarantee is as good as the
t-tests behind it: with few seeds and very skewed results it is approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from cogtcp.statistics import Interval, mean_interval, paired_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: One value of each candidate for each of some seeds; a text says why a candidate has none.
Sample: TypeAlias = "Callable[[Sequence[str], Sequence[int]], Mapping[str, Sequence[float] | str]]"
Why: TypeAlias = Literal["worse", "failed", "breaks"]

#: Seeds before the first look. A t-test over fewer says little about values that are not normal.
FIRST_LOOK = 5
_GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class Left:
    """Why a candidate left the race.

    Attributes:
        why: `worse` than `by` beyond chance, `failed`, or `breaks` a constraint beyond chance.
        at: Number of seeds at that look.
        by: Who beat it, or the error, or the constraint.
    """

    why: Why
    at: int
    by: str


@dataclass
class Race:
    """A race and its state.

    Attributes:
        names: The candidates.
        sign: 1 where more is better, -1 where less is.
        margin: What a win must exceed to matter: a share of the leader's mean, or an absolute amount where
            `additive`.
        additive: Whether the margin is an amount and no share.
        confidence: With which all statements of the race hold together.
        values: The values of each candidate, by seed.
        left: Who left the race, and why.
        looks: How often was looked.
        ended: Whether nobody left can beat the leader by more than the margin.
        over: Whose means break a constraint, within chance: they lead only if all do.
    """

    names: Sequence[str]
    sign: int = 1
    margin: float = 0.02
    additive: bool = False
    confidence: float = 0.95
    values: dict[str, list[float]] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    looks: int = 0
    ended: bool = False
    over: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.values = {name: [] for name in self.names}

    @property
    def alive(self) -> list[str]:
        """Who is still in the race."""
        return [name for name in self.names if name not in self.left]

    @property
    def seeds(self) -> int:
        """How many seeds those in the race were measured with."""
        return max((len(self.values[name]) for name in self.alive), default=0)

    def mean(self, name: str) -> float:
        """Return the mean of a candidate; NaN without a value."""
        return mean_interval(self.values[name]).mean

    def ranked(self) -> list[str]:
        """Return those in the race, the best mean first, then those who left, the last to go first."""
        here = sorted(self.alive, key=lambda name: (name in self.over, -self.sign * self.mean(name)))
        gone = [name for name in self.names if name in self.left and self.left[name].why == "worse"]
        gone.sort(key=lambda name: (-self.left[name].at, -self.sign * self.mean(name)))
        return here + gone

    @property
    def leader(self) -> str | None:
        """Who has the best mean of those in the race."""
        return next(iter(self.ranked()), None) if self.alive else None

    def difference(self, one: str, other: str, confidence: float = 0.95) -> Interval:
        """Return by how much `one` is better than `other`, over the seeds of both."""
        # A candidate that left has fewer seeds: the first seeds, which both have, are paired.
        common = min(len(self.values[one]), len(self.values[other]))
        found = paired_difference(self.values[one][:common], self.values[other][:common], confidence)
        if self.sign > 0:
            return found
        return Interval(-found.mean, -found.high, -found.low, found.n)

    def run(
        self,
        sample: Sample,
        *,
        most: int,
        enough: Callable[[], bool] = lambda: False,
        at_look: Callable[[float], Mapping[str, str]] | None = None,
        batch: int = 1,
    ) -> None:
        """Race until it is decided, `most` seeds are used up, or `enough` says so.

        Args:
            sample: Measures candidates over seeds, given by number from 0.
            most: The most seeds.
            enough: Asked between batches: whether time is up.
            at_look: Called at each look with the chance of error of one test; returns who leaves besides, and
                the constraint that it breaks.
            batch: Seeds that are measured at a time.
        """
        while not self.ended and self.alive:
            wanted = min(most, self._next_look())
            while self.seeds < wanted and self.alive:
                some = range(self.seeds, min(wanted, self.seeds + batch))
                found = sample(self.alive, some)
                for name in self.alive:
                    got = found[name]
                    if isinstance(got, str):
                        self.left[name] = Left("failed", some.start, got)
                    else:
                        self.values[name].extend(got)
                if enough():
                    break
            self.look(at_look)
            if self.seeds >= most or enough():
                return

    def look(self, at_look: Callable[[float], Mapping[str, str]] | None = None) -> None:
        """Test all pairs once, and let the losers go."""
        self.looks += 1
        chance = self.chance
        for name, constraint in (at_look(chance) if at_look else {}).items():
            if name in self.alive:
                self.left[name] = Left("breaks", self.seeds, constraint)
        present = self.alive
        for name in present:
            for rival in present:
                # Also a rival that goes at this look may beat: the test is of the pair, not of who stays.
                if name != rival and self._worse(name, rival, chance):
                    self.left[name] = Left("worse", self.seeds, rival)
                    break
        leader = self.leader
        self.ended = leader is not None and all(
            self._no_better(name, leader, chance) for name in self.alive if name != leader
        )

    @property
    def chance(self) -> float:
        """The chance of error of one test at the present look."""
        pairs = max(1, 2 * len(self.names) * (len(self.names) - 1))
        look = max(1, self.looks)
        return (1 - self.confidence) * 6 / (math.pi * look) ** 2 / pairs

    def _next_look(self) -> int:
        return FIRST_LOOK if self.seeds < FIRST_LOOK else math.ceil(self.seeds * _GROWTH)

    def _worse(self, one: str, other: str, chance: float) -> bool:
        found = self.difference(one, other, 1 - 2 * chance)
        return found.n >= FIRST_LOOK and found.high < 0

    def _no_better(self, one: str, leader: str, chance: float) -> bool:
        """Whether `one` does not beat the leader by more than the margin, beyond chance."""
        ours, theirs = self.values[one], self.values[leader]
        if min(len(ours), len(theirs)) < FIRST_LOOK:
            return False
        # By the difference to the leader's values with the margin on them: its mean is uncertain too.
        if self.additive:
            goal = [value + self.sign * self.margin for value in theirs]
        else:
            goal = [value * (1 + self.sign * self.margin) for value in theirs]
        found = paired_difference(ours, goal, 1 - 2 * chance)
        end = found.high if self.sign > 0 else -found.low
        return end <= 0
