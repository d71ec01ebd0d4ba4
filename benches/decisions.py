"""How often `cogtcp advise` decides wrongly, or not at all: races over problems with known truth.

    .venv/bin/python benches/decisions.py --problems 2000

Each problem draws its number of candidates, their true values, the spread and the law of the noise. A quarter
of the problems have candidates exactly at the margin, where an error is most likely. Prints errors, undecided
problems and runs of a race, by law.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.deciding.advising.racing import Race
from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: The default budget of `advise`, 60 s, in runs of 50 ms on two processors.
RUNS = 2400
MARGIN = 0.02
LAWS = ("normal", "exponential", "mirrored", "log-normal")


@dataclass(frozen=True)
class Problem:
    """Candidates with known means.

    Attributes:
        number: Number of the problem: its seed.
        true: True mean of each candidate; the first runs today.
        own: Spread of each candidate's own noise, as a share of its mean.
        law: Law of the noise.
    """

    number: int
    true: dict[str, float]
    own: float
    law: str

    @property
    def today(self) -> str:
        """The candidate that runs today."""
        return next(iter(self.true))

    @property
    def gap(self) -> float:
        """By how much the best other candidate is better than today's, as a share."""
        rest = [mean for name, mean in self.true.items() if name != self.today]
        return max(rest) / self.true[self.today] - 1

    def value(self, name: str, seed: int) -> float:
        """Return the result of one run: all candidates share a part of the noise of their seed."""
        shared = noise(self.law, random.Random(f"{self.number} {seed}"))  # noqa: S311
        own = noise(self.law, random.Random(f"{self.number} {seed} {name}"))  # noqa: S311
        return self.true[name] * max(0.0, 1 + 0.1 * shared + self.own * own)

    def verdict(self, answer: str | None) -> str:
        """Return `right`, `wrong run`, `wrong keep` or `undecided`."""
        if answer is None:
            return "undecided"
        best, bar = max(self.true.values()), self.true[self.today] * (1 + MARGIN)
        if answer == self.today:
            return "right" if best <= bar * (1 + 1e-9) else "wrong keep"
        mean = self.true[answer]
        good = mean > bar * (1 + 1e-9) and best <= mean * (1 + MARGIN) * (1 + 1e-9)
        return "right" if good else "wrong run"


def noise(law: str, of: random.Random) -> float:
    """Return a draw with mean 0 and spread 1."""
    if law == "normal":
        return of.gauss(0, 1)
    if law == "log-normal":
        return (math.exp(of.gauss(0, 1)) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e)
    draw = of.expovariate(1) - 1
    return draw if law == "exponential" else -draw


def problem(number: int, laws: Sequence[str] = LAWS) -> Problem:
    """Draw a problem."""
    of = random.Random(f"problem {number}")  # noqa: S311
    count = of.choice((2, 3, 5, 8, 12))
    kind = of.choice(("keep", "run", "run", "edge"))
    gaps = [of.choice((0.0, -of.uniform(0, 0.05), -of.uniform(0, 0.6))) for _ in range(count - 1)]
    if kind == "run":
        gaps[0] = of.choice((0.045, 0.06, 0.1, 0.3))
        if count > 2:
            gaps[1] = gaps[0] - of.choice((0.0, 0.01, 0.03, 0.1))
    elif kind == "edge":
        gaps = [of.choice((MARGIN, MARGIN, gap)) for gap in gaps]
    true = {"today": 10.0} | {f"c{n}": 10 * (1 + gap) for n, gap in enumerate(gaps)}
    return Problem(number, true, of.choice((0.005, 0.01, 0.02, 0.05)), laws[number % len(laws)])


def race(given: Problem, runs: int = RUNS) -> tuple[Race, int]:
    """Race a problem's candidates within a number of runs; return the race and the runs it took."""
    made = 0

    def sample(names: Sequence[str], seeds: Sequence[int]) -> Mapping[str, Sequence[float] | str]:
        nonlocal made
        made += len(names) * len(seeds)
        return {name: [given.value(name, seed) for seed in seeds] for name in names}

    found = Race(list(given.true), given.today, margin=MARGIN)
    found.run(sample, enough=lambda: made >= runs)
    return found, made


def tally(problems: Sequence[Problem], runs: int = RUNS) -> dict[str, float]:
    """Return counts of verdicts, of statements, and of undecided problems with a gap over two margins."""
    counts = dict.fromkeys(
        ("problems", "run", "keep", "wrong run", "wrong keep", "undecided", "wide", "wide undecided", "runs"),
        0.0,
    )
    for given in problems:
        found, made = race(given, runs)
        verdict = given.verdict(found.winner)
        counts["problems"] += 1
        counts["runs"] += made
        if verdict != "right":
            counts[verdict] += 1
        if found.winner is not None:
            counts[found.head] += 1
        if given.gap > 2 * MARGIN:
            counts["wide"] += 1
            counts["wide undecided"] += verdict == "undecided"
    return counts


def main(say: Callable[[str], None] = print) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    args = parser.parse_args()
    say("law         problems   run wrong   keep wrong   undecided  if gap > 2 margins   runs  wrong, 95 %")
    for law in LAWS:
        numbers = range(args.first, args.first + args.problems // len(LAWS))
        found = tally([problem(number, [law]) for number in numbers])
        count = found["problems"]
        low, high = share_interval(int(found["wrong run"] + found["wrong keep"]), int(count))
        say(
            f"{law:11} {count:8.0f} {found['run']:5.0f} {found['wrong run']:5.0f} {found['keep']:6.0f} "
            f"{found['wrong keep']:5.0f} {found['undecided']:11.0f} {found['wide undecided']:10.0f} of "
            f"{found['wide']:.0f} {found['runs'] / count:14.0f}  {low * 100:.1f} to {high * 100:.1f} %"
        )


if __name__ == "__main__":
    main()
