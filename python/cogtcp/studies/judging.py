"""From runs to findings: measure the points of a claim under a setting, and test its statements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.running.runner import Case
from cogtcp.studies import code, verdicts
from cogtcp.studies.common_tests import functions_of
from cogtcp.studies.statements import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.space import Point, Setting
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Finding, Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim under one setting: what was measured, and what each statement came to."""

    setting: Setting
    grid: Grid
    findings: tuple[Finding, ...]
    mechanisms: tuple[Finding, ...] = ()
    """What the tests of the claim's mechanisms came to."""

    @property
    def verdict(self) -> Verdict:
        """A claim holds at a setting only if all its statements do; it fails if any of them does."""
        return verdicts.combine([finding.verdict for finding in self.findings])


def judge(study: Context, claims: Sequence[ClaimRow], setting: Setting) -> list[Judged]:
    """Measure the points of all `claims` under a setting, in one go, and test their statements."""
    grids = measure(study, claims, setting)
    functions = functions_of(study.study)
    return [
        Judged(
            setting,
            grid,
            tuple(statement.evaluate(grid, setting, functions) for statement in claim.statements),
            tuple(mechanism.test.evaluate(grid, setting, functions) for mechanism in claim.mechanisms),
        )
        for claim, grid in zip(claims, grids, strict=True)
    ]


def measure(study: Context, claims: Sequence[ClaimRow], setting: Setting) -> list[dict[Point, Cell]]:
    """Measure the points of all `claims` under a setting: a grid for each claim, in order.

    A point that several claims have is measured once.
    """
    scenario = code.function(study.study, "runs", "scenario")
    cases: dict[tuple[str, str, Point], list[Case]] = {}
    for claim in claims:
        reads = code.function(study.study, "runs", claim.measure)
        for point in claim.points:
            if (claim.measure, claim.trace, point) not in cases:
                cases[claim.measure, claim.trace, point] = [
                    Case(scenario(study, setting, point, seed), seed, reads, claim.trace)  # type: ignore[arg-type]
                    for seed in study.seeds
                ]
    # All runs in one call: they are made in parallel.
    records = iter(study.run([case for of_point in cases.values() for case in of_point]))
    cells = {key: Cell([next(records) for _ in of_point]) for key, of_point in cases.items()}
    return [{point: cells[claim.measure, claim.trace, point] for point in claim.points} for claim in claims]


def distance(claim: ClaimRow, judged: Judged) -> float:
    """Return how far a setting is from what the paper shows: 0 is on it.

    The share of the statements that are not shown to hold, plus the mean |ln(measured / paper)| over the
    claim's printed numbers. A small part is added for how narrowly statements fail.
    """
    failing = [finding for finding in judged.findings if finding.verdict != "holds"]
    total = len(failing) / len(judged.findings) if judged.findings else 0.0
    total += 0.01 * sum(min(max(-finding.slack, 0.0), 10.0) for finding in failing)
    return total + distance_to_numbers(claim, judged)


def distance_to_numbers(claim: ClaimRow, judged: Judged) -> float:
    """Return the mean |ln(measured / paper)| over the paper's numbers; 0 where it prints none."""
    errors = []
    for number in claim.numbers:
        measured = number.measured(judged.grid)
        # A quantity of zero has no logarithm: 5 is a factor of some 150.
        errors.append(abs(math.log(measured / number.value)) if measured > 0 else 5.0)
    return sum(errors) / len(errors) if errors else 0.0


def numbers(claim: ClaimRow, grid: Mapping[Point, Cell]) -> list[tuple[str, float, float]]:
    """Return what the paper prints beside what was measured: says, paper, measured."""
    return [(number.says, number.value, number.measured(grid)) for number in claim.numbers]
