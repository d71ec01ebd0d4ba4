"""Laws of a capacity over time: constant, steps, a Markov chain of levels, or the measured rates themselves.

Each law has normal errors of the logarithm of the rate around its levels. The least BIC wins: AIC would take
noise for steps. A law that leaves more than `SPREAD` unexplained explains nothing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Relative spread around the levels that a law may leave, and the least that a measurement has.
SPREAD, _NOISE = 0.08, 0.01
#: Most levels of a Markov chain, and most steps: a rate that changes more often comes back to its levels.
_LEVELS, _STEPS = 4, 4


@dataclass(frozen=True, slots=True)
class RateLaw:
    """A law of the capacity over time.

    Attributes:
        name: `constant`, `steps`, `markov` or `trace`.
        levels: Rates, bit/s: of each step in the order of time, or of each state, the lowest first.
        starts: First stretch of each step, by number; for `steps` only.
        moves: Probability of each next state, one row per state; for `markov` only.
        spread: Relative spread that is left.
        bic: Bayesian information criterion; less is better.
    """

    name: str
    levels: tuple[float, ...]
    starts: tuple[int, ...] = ()
    moves: tuple[tuple[float, ...], ...] = ()
    spread: float = 0.0
    bic: float = math.inf

    def describe(self) -> str:
        """Return the law as people read it."""
        rates = ", ".join(f"{level * 1e-6:.3g}" for level in self.levels)
        if self.name == "steps":
            steps = len(self.levels) - 1
            return f"{steps} step{'s' if steps > 1 else ''} between {rates} Mbit/s"
        if self.name == "markov":
            stays = ", ".join(f"{row[state] * 100:.0f} %" for state, row in enumerate(self.moves))
            return f"Markov chain of {rates} Mbit/s, which stays at the next stretch with {stays}"
        if self.name == "trace":
            return "no law explains it: the measured rates themselves"
        return f"constant, {rates} Mbit/s"


def fit_rates(rates: Sequence[float]) -> list[RateLaw]:
    """Return the laws of rates of equal stretches, the best first; the last resort is `trace`.

    Args:
        rates: Rate of each stretch, bit/s, in the order of time.
    """
    logs = [math.log(rate) for rate in rates]
    found = [law for law in (_constant(logs), _steps(logs), _markov(logs)) if law is not None]
    found.sort(key=lambda law: law.bic)
    itself = RateLaw("trace", tuple(rates), spread=0.0)
    return [itself, *found] if found[0].spread > SPREAD else [*found, itself]


def _scored(
    logs: Sequence[float], fitted: Sequence[float], parameters: int, extra: float = 0.0
) -> tuple[float, float]:
    """Return the spread around fitted values, and the BIC with a logarithm of likelihood to add."""
    n = len(logs)
    variance = math.fsum((x - y) ** 2 for x, y in zip(logs, fitted, strict=True)) / n
    spread = math.sqrt(variance)
    # No law gets credit for fitting better than rates can be measured.
    floor = max(variance, _NOISE**2)
    likelihood = -n / 2 * (math.log(2 * math.pi * floor) + variance / floor) + extra
    return spread, parameters * math.log(n) - 2 * likelihood


def _constant(logs: Sequence[float]) -> RateLaw:
    mean = math.fsum(logs) / len(logs)
    spread, bic = _scored(logs, [mean] * len(logs), 2)
    return RateLaw("constant", (math.exp(mean),), spread=spread, bic=bic)


def _cost(logs: Sequence[float]) -> list[list[float]]:
    """Return the squared error of each stretch of values [i, j) around its mean, as a triangle."""
    n = len(logs)
    found = [[0.0] * (n + 1) for _ in range(n + 1)]
    for first in range(n):
        total = squares = 0.0
        for end in range(first + 1, n + 1):
            total += logs[end - 1]
            squares += logs[end - 1] ** 2
            # The difference of two sums may come out a little below zero.
            found[first][end] = max(0.0, squares - total * total / (end - first))
    return found


def _cut(logs: Sequence[float], parts: int) -> list[list[int]]:
    """Return for 1, 2, ... `parts` the beginnings of the stretches with the least squared error.

    Optimal partition by dynamic programming (Bellman 1961; Jackson and others 2005).
    """
    n = len(logs)
    cost = _cost(logs)
    best = [cost[0][end] for end in range(n + 1)]
    back: list[list[int]] = []
    found = [[0]]
    for _ in range(2, parts + 1):
        row, where = [math.inf] * (n + 1), [0] * (n + 1)
        for end in range(1, n + 1):
            for start in range(1, end):
                value = best[start] + cost[start][end]
                if value < row[end]:
                    row[end], where[end] = value, start
        back.append(where)
        best = row
        cuts, end = [], n
        for wheres in reversed(back):
            end = wheres[end]
            cuts.append(end)
        found.append([0, *reversed(cuts)])
    return found


def _levels(values: Sequence[float], starts: Sequence[int]) -> list[float]:
    ends = [*starts[1:], len(values)]
    return [
        math.fsum(values[start:end]) / (end - start)
        for start, end in zip(starts, ends, strict=True)
        if end > start
    ]


def _apart(levels: Sequence[float]) -> bool:
    """Whether neighbours differ by more than the measurement error."""
    return all(abs(after - before) > SPREAD for before, after in itertools.pairwise(levels))


def _steps(logs: Sequence[float]) -> RateLaw | None:
    best: RateLaw | None = None
    # Two values a step at least: a step of one value would be noise.
    for starts in _cut(logs, min(_STEPS + 1, len(logs) // 2))[1:]:
        if len(set(starts)) < len(starts):
            continue
        levels = _levels(logs, starts)
        if not _apart(levels):
            continue
        ends = [*starts[1:], len(logs)]
        fitted = [level for level, a, b in zip(levels, starts, ends, strict=True) for _ in range(b - a)]
        # A level and a place for each step, the first level, and the spread.
        spread, bic = _scored(logs, fitted, 2 * len(starts))
        if best is None or bic < best.bic:
            rates = tuple(math.exp(level) for level in levels)
            best = RateLaw("steps", rates, tuple(starts), spread=spread, bic=bic)
    return best


def _markov(logs: Sequence[float]) -> RateLaw | None:
    """Return the chain of levels: sorted values cut into groups, and the moves between the groups."""
    best: RateLaw | None = None
    ordered = sorted(logs)
    for starts in _cut(ordered, min(_LEVELS, len(logs) // 4))[1:]:
        levels = _levels(ordered, starts)
        if len(levels) < len(starts) or not _apart(levels):
            continue
        states = [min(range(len(levels)), key=lambda k: abs(x - levels[k])) for x in logs]
        counts = [[0] * len(levels) for _ in levels]
        for before, after in itertools.pairwise(states):
            counts[before][after] += 1
        moves = tuple(
            # A state that nothing follows, as at the end of the data: any may come next.
            tuple(count / total for count in row) if (total := sum(row)) else (1 / len(row),) * len(row)
            for row in counts
        )
        chain = math.fsum(
            count * math.log(moves[a][b])
            for a, row in enumerate(counts)
            for b, count in enumerate(row)
            if count
        )
        # Levels, moves and the spread; the first state is as likely as any.
        parameters = len(levels) * len(levels) + 1
        extra = chain - math.log(len(levels))
        spread, bic = _scored(logs, [levels[state] for state in states], parameters, extra)
        if best is None or bic < best.bic:
            rates = tuple(math.exp(level) for level in levels)
            best = RateLaw("markov", rates, moves=moves, spread=spread, bic=bic)
    return best
