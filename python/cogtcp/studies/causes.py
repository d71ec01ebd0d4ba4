"""What decides whether a claim holds: the one or two parameters that explain most, with their thresholds.

Over the settings of the random design that give a clear result, each parameter is tried as a split in two. A
split is a threshold of a range, or a grouping of the choices. The parameter's split explains most of the
variance. Shuffling the results over the settings tests for chance. The value p is the share of shuffles in
which the best split of *any* parameter explains as much (max-T, Westfall and Young 1993). That corrects for
the number of parameters and thresholds at once. Parameters that cannot touch the claim are not tried. If the
claim holds at less than 95 % of the better part, a second parameter is sought there in the same way.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from cogtcp.studies.space import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cogtcp.studies.space import Setting, Unsaid
    from cogtcp.studies.verdicts import Verdict

LEVEL = 0.05
"""Level at which a parameter counts as one that decides."""
SHUFFLES = 400
"""Shuffles behind a p-value."""
SMALLEST = 3
"""Settings on either side of a split, at least."""
ENOUGH = 0.95
"""Share of the better part at which no second cause is looked for."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one parameter does to a claim.

    Attributes:
        parameter: Its name.
        shares: In how much of the space the claim holds at each of its levels, in order.
        effect: The greatest of these less the least.
        explained: Share of the variance that its best split explains.
        p: Probability that the best split of any parameter explains as much by chance.
        condition: The better side of that split, as in "min RTO < 0.5 s".
        inside: Share of the settings on that side at which the claim holds.
        outside: Share of the other settings at which the claim holds.
        members: The settings on the better side, by their place among those with a clear result.
    """

    parameter: str
    shares: dict[str, float]
    effect: float
    explained: float
    p: float
    condition: str
    inside: float
    outside: float
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Split:
    """A parameter cut in two: the settings on one side, and both sides in words."""

    members: tuple[int, ...]
    here: str
    there: str


def effects(
    parameters: Sequence[Unsaid], settings: Sequence[Setting], verdicts: Sequence[Verdict]
) -> list[Effect]:
    """Return what each parameter does to a claim, the one that explains most first.

    The shuffles' random stream is their own, so the same input gives the same p-values.
    """
    known = [
        (setting, verdict == "holds")
        for setting, verdict in zip(settings, verdicts, strict=True)
        if verdict != "inconclusive"
    ]
    held = [value for _, value in known]
    splits = {p.name: list(_splits(p, [setting[p.name] for setting, _ in known])) for p in parameters}
    chance = _chance(list(splits.values()), held)
    found = []
    for parameter in parameters:
        best, explained = None, 0.0
        for split in splits[parameter.name]:
            value = _explained(split, held)
            if value > explained:
                best, explained = split, value
        levels = [parameter.level(setting[parameter.name]) for setting, _ in known]
        shares = _by_level(parameter, levels, held)
        # One more on both sides: the data themselves are one of the shuffles, and p is never zero.
        p = (1 + sum(value >= explained - 1e-12 for value in chance)) / (1 + len(chance)) if best else 1.0
        better = ("", math.nan, math.nan, ()) if best is None else _sides(best, held)
        found.append(Effect(parameter.name, shares, _range(shares), explained, p, *better))
    # By name among equals, so that the outcome does not hang on the order of the parameters.
    return sorted(found, key=lambda effect: (-effect.explained, effect.parameter))


def causes(
    parameters: Sequence[Unsaid], settings: Sequence[Setting], verdicts: Sequence[Verdict]
) -> list[Effect]:
    """Return the one or two parameters that decide; empty where none does.

    The second belongs to the better side of the first.
    """
    found: list[Effect] = []
    known = [pair for pair in zip(settings, verdicts, strict=True) if pair[1] != "inconclusive"]
    left = list(parameters)
    while len(found) < 2 and left and known:
        (best, *_) = effects(left, *zip(*known, strict=True))
        if best.p > LEVEL:
            break
        found.append(best)
        if best.inside >= ENOUGH:
            break
        # By its members: two thresholds that round to the same words are two splits.
        known = [known[index] for index in best.members]
        left = [parameter for parameter in left if parameter.name != best.parameter]
    return found


def _splits(parameter: Unsaid, values: Sequence[object]) -> Iterator[_Split]:
    name, unit = parameter.label or parameter.name.replace("_", " "), parameter.unit
    if parameter.choices:
        present = [choice for choice in parameter.choices if choice in values]
        for size in range(1, len(present) // 2 + 1):
            for group in itertools.combinations(present, size):
                others = [choice for choice in present if choice not in group]
                # Of two halves each is the other's rest: one of them is enough.
                if 2 * size == len(present) and present[0] not in group:
                    continue
                members = tuple(index for index, value in enumerate(values) if value in group)
                if SMALLEST <= len(members) <= len(values) - SMALLEST:
                    yield _Split(members, _among(name, unit, group), _among(name, unit, others))
        return
    order = sorted(range(len(values)), key=lambda index: float(values[index]))  # type: ignore[arg-type]
    numbers = [float(values[index]) for index in order]  # type: ignore[arg-type]
    for cut in range(SMALLEST, len(order) - SMALLEST + 1):
        low, high = numbers[cut - 1], numbers[cut]
        # Equal values cannot be told apart by a threshold.
        if low == high:
            continue
        middle = math.sqrt(low * high) if parameter.log else (low + high) / 2
        bound = f"{show(_two_digits(middle))} {unit}".rstrip()
        yield _Split(tuple(order[:cut]), f"{name} < {bound}", f"{name} > {bound}")


def _among(name: str, unit: str, values: Sequence[object]) -> str:
    return f"{name} = {' or '.join(show(value) for value in values)} {unit}".rstrip()  # type: ignore[arg-type]


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _explained(split: _Split, held: Sequence[bool]) -> float:
    """Return the share of the variance between the two sides."""
    inside = sum(held[index] for index in split.members)
    return _between(len(split.members), inside, sum(held), len(held))


def _between(count: int, inside: int, total: int, n: int) -> float:
    """Return the variance share between `count` of `n` settings, where `inside` hold, and the rest."""
    if not 0 < total < n:
        return 0.0
    mean = total / n
    between = (
        count * (inside / count - mean) ** 2 + (n - count) * ((total - inside) / (n - count) - mean) ** 2
    )
    return between / (n * mean * (1 - mean))


def _chance(splits: Sequence[Sequence[_Split]], held: Sequence[bool]) -> list[float]:
    """Return the most that any split explains, for each shuffle."""
    n, total = len(held), sum(held)
    if not 0 < total < n:
        return []
    stream = random.Random("causes")  # noqa: S311 - statistics, not secrets
    # Sets of settings as the bits of an integer: thousands of shuffles meet hundreds of splits.
    shuffled = ["1" if value else "0" for value in held]
    every = [
        (len(split.members), sum(1 << (n - 1 - index) for index in split.members))
        for of_one in splits
        for split in of_one
    ]
    # Only how many hold on a side counts: a few hundred values for many thousands of calls.
    explained = cache(partial(_between, total=total, n=n))
    found = []
    for _ in range(SHUFFLES):
        stream.shuffle(shuffled)
        holds = int("".join(shuffled), 2)
        found.append(
            max((explained(count, (bits & holds).bit_count()) for count, bits in every), default=0.0)
        )
    return found


def _sides(split: _Split, held: Sequence[bool]) -> tuple[str, float, float, tuple[int, ...]]:
    """Return the better side in words, both shares, and its members."""
    inside = sum(held[index] for index in split.members)
    here = inside / len(split.members)
    there = (sum(held) - inside) / (len(held) - len(split.members))
    if here >= there:
        return split.here, here, there, split.members
    ours = set(split.members)
    others = tuple(index for index in range(len(held)) if index not in ours)
    return split.there, there, here, others


def _by_level(parameter: Unsaid, levels: Sequence[str], held: Sequence[bool]) -> dict[str, float]:
    total, count = Counter(levels), Counter(level for level, holds in zip(levels, held, strict=True) if holds)
    return {level: count[level] / total[level] for level in parameter.levels() if total[level]}


def _range(shares: dict[str, float]) -> float:
    return max(shares.values()) - min(shares.values()) if shares else 0.0
