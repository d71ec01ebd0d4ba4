"""How many seeds a claim needs, so that it does not fail by chance; how many more, where there were too few.

A claim holds only if all its tests hold. This needs no correction of the level (an intersection-union test),
but every test must find a true effect. With k tests, each with a power of 0.9, a true claim would be missed
with a probability of up to 1 - 0.9^k. So each test gets the power 0.9^(1/k).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from cogtcp.studies.verdicts import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.statements import Statement
    from cogtcp.studies.verdicts import Finding

POWER = 0.9
"""Probability that a claim whose tested effects are of the margin's size is found to hold."""
EFFECT = 0.1
"""The effect that an ordering is to find, in shares of what is compared: it has no margin of its own."""
LEAST = 3
"""Seeds that a t-test needs to say anything."""


def seeds_needed(statement: Statement, finding: Finding, tests: int) -> int | None:
    """Return how many seeds a statement needs in a claim of so many tests; None where the spread is unknown.

    The normal approximation n = ((z_level + z_power) s / effect)^2, with the standard deviation s over the
    seeds of a pilot. For an equivalence the power is shared between its two one-sided tests.
    """
    if math.isnan(finding.spread):
        return None
    effect = EFFECT if math.isnan(statement.margin) else statement.margin
    needed = (_errors(statement, tests) * finding.spread / effect) ** 2
    return max(LEAST, math.ceil(needed))


def more_seeds(statement: Statement, clearance: float, seeds: int, tests: int) -> float:
    """Return how many seeds more an inconclusive statement needs, if its effect and spread are those seen.

    Its clearance, (effect - bound) / standard error, grows with the root of the seeds; it must reach the
    quantiles of the level and of the power together. Infinite where the effect lies on the bound; NaN
    where its test has no clearance.
    """
    if math.isnan(clearance):
        return math.nan
    if clearance == 0:
        return math.inf
    needed = seeds * (_errors(statement, tests) / abs(clearance)) ** 2
    return float(max(math.ceil(needed) - seeds, 1))


def may_decide(findings: Sequence[Finding], seeds: int, most: int) -> bool:
    """Whether so many seeds at most can decide a claim, if its effects and spreads are those seen.

    A statement fails by its effect alone. The claim holds only if all that is inconclusive comes to hold.
    """
    level = NormalDist().inv_cdf(1 - LEVEL)
    scale = math.sqrt(most / seeds)
    seen = [finding.clearance * scale for finding in findings if finding.verdict == "inconclusive"]
    if any(math.isnan(value) for value in seen):
        return True
    return any(value <= -level for value in seen) or all(value >= level for value in seen)


def _errors(statement: Statement, tests: int) -> float:
    """Return how many standard errors an effect must have, so that it is found with the power wanted."""
    each = POWER ** (1 / max(tests, 1))
    # Each of the two tests may err by half.
    if statement.test in ("near", "flat", "numbers"):
        each = (1 + each) / 2
    normal = NormalDist()
    return normal.inv_cdf(1 - LEVEL) + normal.inv_cdf(each)
