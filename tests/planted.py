"""Planted solutions: claims with a known corner of a synthetic space in which all their statements hold.

A space has the size of a shipped study's: fifteen parameters, five of them choices. A claim has eight
statements, as ours do: each a smooth function of a few parameters, with noise in standard errors. Corners are
at most 0.5 % of the space. `python tests/planted.py` prints the share of corners that a search finds.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cogtcp.studies.space import Setting, Space, Unsaid

CHOICES = (2, 2, 2, 3, 3)
RANGES = 10
STATEMENTS = 8
MOST = 0.005
"""Share of the space that a corner has at most."""
Score = Callable[[Setting], float]
Explore = Callable[[Setting, Sequence[Unsaid], Sequence[Setting], int, Score, int], Iterator[Setting]]


def space() -> Space:
    """Return the synthetic space."""
    choices = [
        Unsaid(f"choice{i}", "v0", "synthetic", choices=tuple(f"v{k}" for k in range(count)))
        for i, count in enumerate(CHOICES)
    ]
    ranges = [Unsaid(f"range{i}", 0.5, "synthetic", low=0.0, high=1.0) for i in range(RANGES)]
    return Space((*choices, *ranges))


@dataclass(frozen=True)
class Claim:
    """A claim with a planted corner.

    Attributes:
        number: Which one.
        choices: The choices that the corner needs.
        windows: The middle and half width of each range that it needs.
        groups: For each statement the parameters that it depends on.
    """

    number: int
    choices: dict[str, str]
    windows: dict[str, tuple[float, float]]
    groups: tuple[tuple[str, ...], ...]

    @property
    def share(self) -> float:
        """The share of the space that the corner has."""
        choices = math.prod(1 / CHOICES[int(name[-1])] for name in self.choices)
        return choices * math.prod(2 * half for _, half in self.windows.values())

    def effects(self, setting: Setting) -> list[float]:
        """Return how far each statement is on the right side of its bound: 1 in the middle of the corner."""
        found = []
        for group in self.groups:
            worst = 1.0
            for name in group:
                if name in self.choices:
                    worst = min(worst, 1.0 if setting[name] == self.choices[name] else -2.0)
                else:
                    middle, half = self.windows[name]
                    worst = min(worst, 1.0 - abs(setting[name] - middle) / half)
            # Beyond its bound an effect levels off, as ratios do.
            found.append(worst if worst > 0 else 3 * math.tanh(worst / 3))
        return found

    def clearances(self, setting: Setting, seeds: int = 12) -> list[float]:
        """Return (effect - bound) / standard error, with the noise of so many seeds."""
        key = f"{self.number}/{sorted(setting.items())}"
        stream = random.Random(zlib.crc32(key.encode()))
        return [6 * effect + stream.gauss(0, math.sqrt(12 / seeds)) for effect in self.effects(setting)]

    def holds(self, setting: Setting) -> bool:
        """Whether a setting is in the corner."""
        return min(self.effects(setting)) > 0


def planted(number: int) -> Claim:
    """Return the claim of a number: two or three choices and two to four ranges make its corner."""
    stream = random.Random(f"planted/{number}")
    while True:
        names = stream.sample(range(len(CHOICES)), stream.choice((2, 3)))
        choices = {f"choice{i}": f"v{stream.randrange(CHOICES[i])}" for i in names}
        windows = {}
        for i in stream.sample(range(RANGES), stream.choice((2, 3, 4))):
            half = stream.uniform(0.06, 0.25)
            windows[f"range{i}"] = (stream.uniform(half, 1 - half), half)
        needed = [*choices, *windows]
        groups = [tuple(stream.sample(needed, min(2, len(needed)))) for _ in range(STATEMENTS)]
        claim = Claim(number, choices, windows, tuple(groups))
        covers = set(itertools.chain(*groups)) == set(needed)
        if covers and MOST / 20 <= claim.share <= MOST and not claim.holds(space().base):
            return claim


def score(claim: Claim, setting: Setting, rule: Callable[[Sequence[float]], float]) -> float:
    """Return what the search maximises: by clearances that few seeds give, more where there is hope."""
    for seeds in (3, 6, 12):
        found = claim.clearances(setting, seeds)
        if min(found) * math.sqrt(seeds / 12) < -2:
            break
    return rule(found)


def found_in(
    explore: Explore, rule: Callable[[Sequence[float]], float], number: int, trials: int, design: int = 72
) -> int | None:
    """Return after how many settings a search has the corner of a claim; None where it has not.

    It starts as ours do: from the base and from the best settings of a random design, not counted.
    """
    there, claim = space(), planted(number)
    known = there.design(design, 1)
    starts = [there.base, *sorted(known, key=lambda s: -score(claim, s, rule))[:4]]
    proposals = explore(there.base, there.varied, starts, trials, lambda s: score(claim, s, rule), number)
    for count, setting in enumerate(proposals, 1):
        if claim.holds(setting):
            return count
    return None


def main() -> None:
    """Print the share of corners that are found."""
    from cogtcp.studies.exploring import explored
    from cogtcp.studies.guided import objective

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corners", type=int, default=50)
    parser.add_argument("--trials", type=int, default=300)
    args = parser.parse_args()
    found = [found_in(explored, objective, number, args.trials) for number in range(args.corners)]
    counts = sorted(count for count in found if count is not None)
    print(f"{len(counts)} of {args.corners} corners in {args.trials} settings; counts {counts}")


if __name__ == "__main__":
    main()
