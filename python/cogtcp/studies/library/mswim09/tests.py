"""The tests of this study that are no comparison of two points."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.statistics import paired_difference
from cogtcp.studies import verdicts
from cogtcp.studies.statements import weakest
from cogtcp.studies.verdicts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cogtcp.studies import Cell, Point, Setting, Statement
    from cogtcp.studies.statements import Grid

STATED_T_S, STATED_T_P = 0.2, 1.0
ABOUT = 2.0
"""A t_s is "about" another if it is within this factor of it."""
AS_GOOD = 0.95
GOODPUT = "goodput_kbps"


def interior(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that no point that is not shown to be worse than the best lies on the edge of the grid.

    It fails if all of them do. The estimate is the share of them that are inside.
    """
    axes = [sorted({float(point[axis]) for point in grid}) for axis in ("t_s", "t_p")]

    def inside(point: Point) -> bool:
        return all(
            axis[0] < float(point[name]) < axis[-1] for axis, name in zip(axes, ("t_s", "t_p"), strict=True)
        )

    return _of_the_best(grid, inside)


def stated_is_best(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that the stated t_s and T_p deliver 95 % of the best of the grid or more, paired by seed.

    The best setting of each seed is chosen on all other seeds, so that chance does not flatter it.
    """
    (stated,) = [cell for p, cell in grid.items() if (p.t_s, p.t_p) == (STATED_T_S, STATED_T_P)]
    best = []
    for seed in range(len(stated.records)):
        others = {
            point: sum(value for index, value in enumerate(cell.of(GOODPUT)) if index != seed)
            for point, cell in grid.items()
        }
        best.append(grid[max(others, key=lambda point: others[point])].of(GOODPUT)[seed])
    return verdicts.ratio(stated.of(GOODPUT), best, AS_GOOD)


def best_at_the_threshold(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test for each transport that every t_s not shown to be worse than the best is about 0.2 s."""
    found = []
    for transport in dict.fromkeys(point.transport for point in grid):
        mine = {point: cell for point, cell in grid.items() if point.transport == transport}
        best = max(mine, key=lambda point: mine[point].mean(GOODPUT))
        found.append(replace(_of_the_best(mine, _about), estimate=best.t_s, where=str(transport)))
    return weakest(found)


def time_costs_more(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test at each t_s that the time of sensing costs more than its errors, paired by seed.

    Time: goodput with instant, error-free sensing less goodput with error-free sensing of t_s. Errors: the
    latter less goodput with the setting's detector. The estimate is their difference as a share of the first
    goodput.
    """
    (instant,) = [cell.of(GOODPUT) for point, cell in grid.items() if point.t_s < 0.01]
    times = sorted({float(point.t_s) for point in grid if point.t_s >= 0.01})
    found = []
    for t_s in times:
        perfect, real = (
            next(cell.of(GOODPUT) for p, cell in grid.items() if p.t_s == t_s and p.perfect == kind)
            for kind in (True, False)
        )
        scale = statistics.fmean(instant)
        excess = [(a - 2 * b + c) / scale for a, b, c in zip(instant, perfect, real, strict=True)]
        found.append(verdicts.ratio(excess, [0.0] * len(excess), members=len(times), where=f"t_s {t_s:g} s"))
    return weakest(found)


def _in_the_running(grid: Grid) -> Sequence[Point]:
    """Return the points not shown to be below the best (paired by seed, 5 % over all, Bonferroni)."""
    top = max(grid, key=lambda point: grid[point].mean(GOODPUT))
    level = 1 - 2 * verdicts.LEVEL / max(len(grid) - 1, 1)

    def worse(cell: Cell) -> bool:
        return paired_difference(grid[top].of(GOODPUT), cell.of(GOODPUT), level).low > 0

    return [point for point, cell in grid.items() if point is top or not worse(cell)]


def _about(point: Point) -> bool:
    t_s = float(point.t_s)
    return max(t_s / STATED_T_S, STATED_T_S / t_s) <= ABOUT + 1e-9


def _of_the_best(grid: Grid, wanted: Callable[[Point], bool]) -> Finding:
    """Return a finding of how many of the best points are wanted: all (holds), none (fails), or some.

    Its clearance and spread are those between the best point and the nearest one of the other kind; the
    clearance is positive if the best is wanted.
    """
    found = [wanted(point) for point in _in_the_running(grid)]
    share = sum(found) / len(found)
    verdict: verdicts.Verdict = "holds" if share == 1 else "fails" if share == 0 else "inconclusive"
    top = max(grid, key=lambda point: grid[point].mean(GOODPUT))
    apart = [
        verdicts.ratio(grid[top].of(GOODPUT), cell.of(GOODPUT))
        for point, cell in grid.items()
        if wanted(point) != wanted(top)
    ]
    nearest = min(apart, key=lambda other: other.clearance, default=None)
    finding = Finding(verdict, share, math.nan, math.nan, f"{share:.0%}", slack=share - 1)
    if nearest is None:
        return finding
    clearance = math.copysign(nearest.clearance, 1 if wanted(top) else -1)
    return replace(finding, spread=nearest.spread, clearance=clearance)
