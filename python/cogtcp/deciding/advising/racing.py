"""Races: whether to leave the transport of today, for which other one, with few runs and a bound on errors.

All candidates still in the race run with the same seeds (common random numbers). After 3, 5, 8, 12, ... seeds
paired t-tests ask three things:

- is a candidate better than today's by more than the margin? Then it may win.
- is it no better than today's by more than the margin? Then it leaves. If all leave, today's is kept.
- is it worse than another candidate? Then it leaves. Is it no better than the leader by more than the margin?
  Then it does not keep the leader from winning.

All statements of a race hold together with the race's confidence. Four facts make that cheap.

- A false "keep" needs a false rejection for the best candidate. So each rejection needs no correction for
  their number (intersection-union test, Berger 1982).
- A false winner needs a false comparison with the best candidate or with today's. Only these comparisons
  count, 2 (K - 2), not all K (K - 1) ordered pairs (multiple comparisons with the best, Hsu 1984).
- The looks divide the chance of error (alpha spending, Lan and DeMets 1983; by Bonferroni, so under any
  dependence). The first two looks, at which most candidates run, get more of it.
- Candidates that left share no longer in it: a step-down procedure that decides in both directions (Holm
  1979, Shaffer 1980).

An interval is the intersection of its intervals at all looks: no later look contradicts an earlier one.
The guarantee is as good as the t-tests behind it: with few seeds and very skewed results it is approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from cogtcp.model.statistics import Interval, mean_interval, paired_difference, ratio_interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: One value of each candidate for each of some seeds; a text says why a candidate has none.
Sample: TypeAlias = "Callable[[Sequence[str], Sequence[int]], Mapping[str, Sequence[float] | str]]"
Why: TypeAlias = Literal["worse", "no better", "failed", "breaks"]
Kept: TypeAlias = Literal["kept", "broken", "unclear"]
#: Says whether a candidate keeps its limits, and which it breaks, with a chance of error (0: not random).
Judge: TypeAlias = "Callable[[str, float], tuple[Kept, str]]"
Head: TypeAlias = Literal["run", "keep", "undecided", "nothing"]

#: Seeds before the first look, and growth of the seeds from look to look.
FIRST_LOOK, _GROWTH = 3, 1.5
#: Shares of the chance of error that the first looks spend; the others share the rest equally.
_FIRST = (0.2, 0.15)
#: Seeds before a difference that does not vary counts as known: fewer can all miss an event that is not rare.
STILL = 12
#: Shares of the chance of error: keeping today's wrongly; leaving it wrongly; a winner that is not the best.
_KEEP, _LEAVE, _BEST = 0.2, 0.4, 0.4
#: Share that limits take, if there are limits.
_LIMITS = 0.2


@dataclass(frozen=True, slots=True)
class Left:
    """Why a candidate left the race.

    Attributes:
        why: `worse` than `by`, `no better` than today's by the margin, `failed`, or `breaks` a limit.
        at: Number of seeds at that look.
        by: The better candidate, the error, or the limit.
    """

    why: Why
    at: int
    by: str


@dataclass(frozen=True, slots=True)
class Chances:
    """Chance of error of one test over all looks, by what is tested.

    Attributes:
        keep: A candidate is no better than today's by more than the margin.
        leave: A candidate is better than today's by more than the margin.
        best: A candidate is worse than another, or no better by more than the margin.
        limit: A candidate keeps, or breaks, a limit.
    """

    keep: float
    leave: float
    best: float
    limit: float

    @classmethod
    def of(cls, candidates: int, limits: int, error: float) -> Chances:
        """Divide the chance of error of a race.

        If nothing is better than today's, only a false `leave` is an error. Otherwise a false `keep` of the
        best candidate is, and a false `leave` or `best` of others. `leave` and `best` are for all of them.
        """
        limit = _LIMITS * error / max(1, limits * candidates) if limits else 0.0
        left = error * (1 - _LIMITS) if limits else error
        # Of two candidates, one of the two statements is true: the other has the whole chance.
        if candidates <= 2:
            return cls(left, left, left, limit)
        return cls(_KEEP * left, _LEAVE * left, _BEST * left, limit)

    def among(self, contenders: int) -> Chances:
        """Divide `leave` and `best` among the candidates that may still win, as Holm and Shaffer do."""
        return replace(self, leave=self.leave / max(1, contenders), best=self.best / max(1, contenders - 1))


@dataclass
class Race:
    """A race and its state.

    Attributes:
        names: The candidates.
        today: The candidate that runs today; None if there is none.
        sign: 1 where more is better, -1 where less is.
        margin: Smallest gain that matters: a share, or an absolute amount where `additive`.
        additive: Whether the margin is an amount and no share.
        confidence: With which all statements of the race hold together.
        most: Most seeds; fixes the number of looks.
        limits: Number of limits that `judge` judges.
        judge: Whether a candidate keeps its limits; None without limits.
        values: The values of each candidate, by seed.
        left: Who left the race, and why.
        looks: Number of looks so far.
        better: Candidates shown to be better than today's by more than the margin.
        kept: Candidates by whether they keep the limits.
        winner: The candidate that the race decided for; None while undecided.
    """

    names: Sequence[str]
    today: str | None = None
    sign: int = 1
    margin: float = 0.02
    additive: bool = False
    confidence: float = 0.95
    most: int = 200
    limits: int = 0
    judge: Judge | None = None
    values: dict[str, list[float]] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    looks: int = 0
    better: set[str] = field(default_factory=set)
    kept: dict[str, Kept] = field(default_factory=dict)
    winner: str | None = None
    _no_threat: set[tuple[str, str]] = field(default_factory=set, repr=False)
    _waiting: set[str] = field(default_factory=set, repr=False)
    _ends: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.values = {name: [] for name in self.names}
        self.kept = dict.fromkeys(self.names, "unclear" if self.judge is not None else "kept")
        self._schedule = schedule(self.most)
        self._chances = Chances.of(len(self.names), self.limits, 1 - self.confidence)

    @property
    def alive(self) -> list[str]:
        """Who still runs."""
        return [name for name in self.names if name not in self.left]

    @property
    def contenders(self) -> list[str]:
        """Candidates besides today's that may still win."""
        return [name for name in self.alive if name != self.today]

    @property
    def seeds(self) -> int:
        """How many seeds those in the race were measured with."""
        return max((len(self.values[name]) for name in self.alive), default=0)

    @property
    def runs(self) -> int:
        """How many runs the race took."""
        return sum(len(values) for values in self.values.values())

    @property
    def ended(self) -> bool:
        """Whether the race is decided, or nobody is left."""
        return self.winner is not None or not self.alive

    @property
    def head(self) -> Head:
        """What the race says: run another, keep today's, undecided, or nothing keeps the limits."""
        if self.winner is not None:
            return "keep" if self.winner == self.today else "run"
        return "undecided" if self.alive else "nothing"

    def mean(self, name: str) -> float:
        """Return the mean of a candidate; NaN without a value."""
        return mean_interval(self.values[name]).mean

    def ranked(self) -> list[str]:
        """Return the winner, others in the race by mean, then those who left, the last to go first.

        Candidates that failed or break a limit are left out. So is, behind the others, who may break one.
        """
        longest = max(self.alive, key=lambda name: len(self.values[name]), default="")

        def by_mean(name: str) -> tuple[bool, bool, float]:
            # Over the same seeds as another: who waits has fewer, and seeds differ.
            common = len(self.values[name])
            mean = self.mean(name) - mean_interval(self.values[longest][:common]).mean
            unclear = self.kept[name] == "unclear"
            return name != self.winner, unclear, math.inf if math.isnan(mean) else -self.sign * mean

        here = sorted(self.alive, key=by_mean)
        gone = [n for n in self.names if n in self.left and self.left[n].why in ("worse", "no better")]
        gone.sort(key=lambda name: -self.sign * self.mean(name))
        return here + gone

    @property
    def leader(self) -> str | None:
        """The winner, or who has the best mean of those in the race."""
        return next(iter(self.ranked()), None) if self.alive else None

    def threats(self, leader: str) -> list[str]:
        """Return contenders that may still be better than `leader` by more than the margin."""
        return [n for n in self.contenders if n != leader and (n, leader) not in self._no_threat]

    def may_keep(self) -> bool:
        """Whether keeping today's is still possible."""
        shown = (name for name in self.contenders if name in self.better and self.kept[name] == "kept")
        return self.today in self.alive and not any(shown)

    def between(self) -> list[str]:
        """Return candidates in question while undecided, the best mean first; today's too if it may stay."""
        return [n for n in self.ranked() if n in self.alive and (n != self.today or self.may_keep())]

    def run(
        self,
        sample: Sample,
        *,
        enough: Callable[[], bool] = lambda: False,
        batch: int = 1,
    ) -> None:
        """Race until it is decided, `most` seeds are used up, or `enough` says so.

        Args:
            sample: Measures candidates over seeds, given by number from 0.
            enough: Asked between batches: whether time is up.
            batch: Seeds that are measured at a time.
        """
        while not self.ended and self.looks < len(self._schedule):
            wanted = self._schedule[self.looks]
            while missing := self._missing(wanted, batch):
                for names, some in missing:
                    for name, got in sample(names, some).items():
                        if isinstance(got, str):
                            self.left[name] = Left("failed", some.start, got)
                        else:
                            self.values[name].extend(got)
                if enough():
                    break
            # A look early, as time is up, spends the chance of the look that was due.
            self.look()
            if enough():
                return

    def _missing(self, wanted: int, batch: int) -> list[tuple[list[str], range]]:
        """Return who is to run next, with which seeds."""
        found: dict[range, list[str]] = {}
        for name in self.needed():
            have = len(self.values[name])
            if have < wanted:
                found.setdefault(range(have, min(wanted, have + batch)), []).append(name)
        return [(names, some) for some, names in found.items()]

    def needed(self) -> list[str]:
        """Return whose further runs may decide: not of a contender that cannot beat the leader by the margin.

        A contender that waits runs on, with the seeds that it lacks, if another takes the lead.
        """
        return [name for name in self.alive if name not in self._waiting]

    def _choose_waiting(self) -> None:
        """Choose who waits until the next look: not between looks, where nothing may be tested."""
        leader = self._leading()
        self._waiting = set()
        if leader is None:
            return
        best = self._chance(self._now.best)
        for name in self.contenders:
            if name != leader and self._no_better(name, leader, best):
                self._no_threat.add((name, leader))
        waiting = set(self.contenders) - {leader, *self.threats(leader)}
        # A limit is judged by the candidate's own runs.
        self._waiting = {name for name in waiting if self.kept[name] != "unclear"}
        if leader in self.better and self.today is not None:
            self._waiting.add(self.today)

    def settle(self, found: Mapping[str, Sequence[float] | str]) -> None:
        """Decide a race in which nothing is random: one run of each is all there is to know."""
        self.looks = 1
        for name, got in found.items():
            if isinstance(got, str):
                self.left[name] = Left("failed", 1, got)
            else:
                self.values[name] = list(got)
        self._judge(0.0)
        best = next(iter(self.ranked()), None)
        if best is None:
            return
        today = self.today
        stays = today in self.alive and not self._tested(best, str(today), self.margin)[0] > 0
        self.winner = today if stays else best
        for name in self.alive:
            apart = self._tested(name, str(self.winner), 0.0)[0]
            if name != self.winner and (stays or apart < 0):
                self.left[name] = Left("no better" if stays else "worse", 1, str(self.winner))

    def look(self) -> None:
        """Test what is still in question once, let the losers go, and decide if possible."""
        self.looks += 1
        self._judge(self._chance(self._chances.limit))
        self._against_today()
        best = self._chance(self._now.best)
        present = [name for name in self.ranked() if name in self.alive and name != self.today]
        for name in reversed(present):
            # Also a rival that goes at this look may beat: the test is of the pair, not of who stays.
            for rival in present:
                if name != rival and self.kept[rival] == "kept" and self._worse(name, rival, best):
                    self.left[name] = Left("worse", self.seeds, rival)
                    break
        self._choose_waiting()
        self._decide()
        self._narrow()

    @property
    def _now(self) -> Chances:
        """Chances of one test among the candidates that may still win."""
        return self._chances.among(len(self.contenders))

    def _chance(self, over_all: float) -> float:
        """Return the chance of error of one test at this look."""
        return over_all * weights(len(self._schedule))[max(0, self.looks - 1)]

    def _judge(self, chance: float) -> None:
        if self.judge is None:
            return
        for name in self.alive:
            if self.kept[name] == "unclear":
                self.kept[name], limit = self.judge(name, chance)
                if self.kept[name] == "broken":
                    self.left[name] = Left("breaks", self.seeds, limit)

    def _against_today(self) -> None:
        today = self.today
        if today is None or today in self.left:
            return
        keep = self._chance(self._now.keep)
        for name in self.contenders:
            # While today's may break a limit, a candidate that is no better may still be needed.
            if self.kept[today] == "kept" and name not in self.better and self._no_better(name, today, keep):
                self.left[name] = Left("no better", self.seeds, today)
        leave = self._chance(self._now.leave)
        self.better |= {name for name in self.contenders if self._gains(name, today, leave)}

    def _decide(self) -> None:
        today = self.today
        contenders = self.contenders
        if not contenders:
            if today in self.alive and self.kept[today] == "kept":
                self.winner = today
            return
        leader = self._leading()
        if leader is None or self.threats(leader):
            return
        # What fails, or breaks a limit, is left for whatever does not.
        gone = today is None or (today in self.left and self.left[today].why in ("failed", "breaks"))
        if gone or leader in self.better:
            self.winner = leader

    def _leading(self) -> str | None:
        """Return the contender with the best mean of those that keep the limits."""
        contenders = self.contenders
        return next((n for n in self.ranked() if n in contenders and self.kept[n] == "kept"), None)

    def _tested(self, one: str, other: str, margin: float) -> list[float]:
        """Return by how much `one` is better than `other` plus a margin, over the seeds of both."""
        # Who left has fewer seeds: the first seeds, which both have, are paired.
        pairs = zip(self.values[one], self.values[other], strict=False)
        if self.additive:
            return [self.sign * (x - y) - margin for x, y in pairs]
        return [self.sign * (x - y * (1 + self.sign * margin)) for x, y in pairs]

    def _gains(self, one: str, other: str, chance: float) -> bool:
        """Whether `one` is better than `other` by more than the margin, beyond chance."""
        return bounds(self._tested(one, other, self.margin), chance)[0] > 0

    def _no_better(self, one: str, other: str, chance: float) -> bool:
        """Whether `one` is not better than `other` by more than the margin, beyond chance."""
        return bounds(self._tested(one, other, self.margin), chance)[1] <= 0

    def _worse(self, one: str, other: str, chance: float) -> bool:
        """Whether `one` is worse than `other`, beyond chance."""
        return bounds(self._tested(one, other, 0.0), chance)[1] < 0

    def _narrow(self) -> None:
        """Intersect the intervals that are shown with the intervals of this look."""
        references = [self.today] if self.today in self.alive else []
        leader = self.leader
        references += [leader] if leader is not None and leader != self.today else []
        for reference in references:
            for name in self.names:
                if name != reference and reference is not None and len(self.values[name]) >= FIRST_LOOK:
                    self._gain_now(name, reference)

    def _gain_now(self, one: str, other: str) -> tuple[float, float]:
        """Return the ends of the interval of a gain, narrowed by this look."""
        both = one in self.alive and other in self.alive
        chances = self._now if both else self._chances.among(len(self.names) - 1)
        if other == self.today:
            below, above = chances.leave, chances.keep
        elif one == self.today:
            below, above = chances.keep, chances.leave
        else:
            below = above = chances.best
        low, high = self._ends.get((one, other), (-math.inf, math.inf))
        low = max(low, self._gain(one, other, self._chance(below)).low)
        high = min(high, self._gain(one, other, self._chance(above)).high)
        self._ends[one, other] = low, high
        return low, high

    def gain(self, one: str, other: str) -> Interval:
        """Return by how much `one` is better than `other`, with the interval of the tests that decide.

        A share, or a difference where `additive`. NaN where `other` has nothing. All intervals of a race hold
        together with its confidence.
        """
        now = self._gain(one, other, 0.025)
        if now.n < 2 or math.isnan(now.mean):
            return now
        low, high = self._gain_now(one, other)
        return Interval(now.mean, low, high, now.n)

    def _gain(self, one: str, other: str, chance: float) -> Interval:
        common = min(len(self.values[one]), len(self.values[other]))
        ours, theirs = self.values[one][:common], self.values[other][:common]
        unknown = Interval(math.nan, -math.inf, math.inf, common)
        if not common:
            return unknown
        if self.additive:
            found, less = paired_difference(ours, theirs, 1 - 2 * chance), 0.0
        elif not math.fsum(theirs) > 0:
            return unknown
        elif common == 1:
            share = self.sign * (ours[0] / theirs[0] - 1)
            return Interval(share, share, share, 1)
        else:
            found, less = ratio_interval(ours, theirs, 1 - 2 * chance), 1.0
        ends = sorted(self.sign * (end - less) for end in (found.low, found.high))
        if common < STILL and len({*ours}) == len({*theirs}) == 1:
            ends = [-math.inf, math.inf]
        return Interval(self.sign * (found.mean - less), ends[0], ends[1], found.n)

    def seeds_to_decide(self) -> float:
        """Return how many seeds in all would probably decide; infinite if `most` would not.

        By the present means and spreads: the seeds at which the test that needs most of them would pass.
        """
        if self.ended or self.leader is None:
            return float(self.seeds)
        chances, today = self._now, self.today
        ways = []
        if self.may_keep() and today is not None:
            ways.append([(name, today, chances.keep, -1) for name in self.contenders])
        contender = next((n for n in self.ranked() if n in self.contenders), None)
        if contender is not None:
            tests = [(name, contender, chances.best, -1) for name in self.threats(contender)]
            if today in self.alive and contender not in self.better:
                tests.append((contender, str(today), chances.leave, 1))
            ways.append(tests)
        return min((max(map(self._needed, way), default=float(self.seeds)) for way in ways), default=math.inf)

    def _needed(self, test: tuple[str, str, float, int]) -> float:
        one, other, over_all, side = test
        apart = self._tested(one, other, self.margin)
        if len(apart) < 2:
            return math.inf
        mean = math.fsum(apart) / len(apart)
        spread = math.sqrt(math.fsum((each - mean) ** 2 for each in apart) / (len(apart) - 1))
        if side * mean <= 0:
            return math.inf
        chance = self._chance(over_all)
        for seeds in range(max(FIRST_LOOK, len(apart)), self.most + 1):
            if side * mean > t_quantile(1 - chance, seeds - 1) * spread / math.sqrt(seeds):
                return float(seeds)
        return math.inf


def schedule(most: int) -> list[int]:
    """Return the numbers of seeds at which a race of at most `most` seeds looks."""
    found = [min(FIRST_LOOK, most)]
    while found[-1] < most:
        found.append(min(most, math.ceil(found[-1] * _GROWTH)))
    return found


def weights(looks: int) -> list[float]:
    """Return the share of the chance of error that each of some looks spends."""
    first = list(_FIRST[:looks])
    rest = looks - len(first)
    return first + [(1 - sum(first)) / rest] * rest if rest else [w / sum(first) for w in first]


def bounds(values: Sequence[float], chance: float) -> tuple[float, float]:
    """Return lower and upper confidence bound of a mean, each wrong with `chance`; infinite if unknown."""
    finite = [value for value in values if not math.isnan(value)]
    if len(finite) < FIRST_LOOK:
        return -math.inf, math.inf
    if len(finite) < STILL and all(value == finite[0] for value in finite):
        return -math.inf, math.inf
    found = mean_interval(finite, 1 - 2 * chance)
    return found.low, found.high
