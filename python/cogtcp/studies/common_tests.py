"""Tests of statements that several studies name: `test = "function"`, `function = "..."` in `study.toml`.

A study's own are in its `tests.py`, and come first.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from cogtcp.studies import code, verdicts
from cogtcp.studies.errors import StudyError
from cogtcp.studies.support import share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies.folder import Study
    from cogtcp.studies.space import Setting
    from cogtcp.studies.statements import Grid, Statement, TestFunction
    from cogtcp.studies.verdicts import Finding


def above_on_average(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that the mean over the points of `of` is above that over the points of `than`, paired by seed.

    Raises:
        StudyError: `than` is no point, or no measured point is one of `of` or of `than`.
    """
    return verdicts.ratio(*_both(statement, grid))


def _both(statement: Statement, grid: Grid) -> tuple[list[float], list[float]]:
    """Return `_means` at `of` and at `than`."""
    if not isinstance(statement.than, dict):
        raise StudyError(f'"{statement.says}": `than` must be a point, as in {{ transport = "reno" }}')
    return _means(statement, grid, statement.of), _means(statement, grid, statement.than)


def _distances(values: Sequence[float]) -> list[float]:
    middle = statistics.median(values)
    return [abs(value - middle) for value in values]


def _means(statement: Statement, grid: Grid, wanted: Mapping[str, Any]) -> list[float]:
    """Return the mean of the quantity over the points that match, for each seed."""
    cells = [cell.of(statement.quantity) for point, cell in grid.items() if point.matches(wanted)]
    if not cells:
        raise StudyError(f'"{statement.says}": no measured point is {dict(wanted)}')
    return [statistics.fmean(seed) for seed in zip(*cells, strict=True)]


def deviates_more(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that the quantity at `of` deviates more over the seeds than that at `than`.

    Distances from the median of each (Brown and Forsythe 1974), paired by seed, as a ratio of their means.
    """
    first, second = _both(statement, grid)
    return verdicts.ratio(_distances(first), _distances(second))


def order_in_most_runs(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test in which share of single runs an order appears: in more than half of them.

    A paper that shows one run shows what a run shows. `options.above` lists pairs of points; the
    first has more in that run. The estimate is the share of the runs, with its exact binomial interval.

    Raises:
        StudyError: No measured point is one of the pairs.
    """
    return _order(statement, grid, often=True)


def order_in_few_runs(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test in which share of single runs an order appears: in fewer than half of them.

    Where a part of an order does, so does the whole. As `order_in_most_runs` otherwise.

    Raises:
        StudyError: No measured point is one of the pairs.
    """
    return _order(statement, grid, often=False)


def _order(statement: Statement, grid: Grid, *, often: bool) -> Finding:
    pairs = [[_means(statement, grid, point) for point in pair] for pair in statement.options["above"]]
    shown = [
        all(more[seed] > less[seed] for more, less in pairs)  # a tie is no order
        for seed in range(len(pairs[0][0]))
    ]
    # The verdict is one-sided on either side: each end at 95 %.
    inner = share(sum(shown), len(shown), 1 - 2 * verdicts.LEVEL)
    above, below = inner.low > 0.5, inner.high < 0.5
    wanted, unwanted = (above, below) if often else (below, above)
    verdict: verdicts.Verdict = "holds" if wanted else "fails" if unwanted else "inconclusive"
    outer = verdicts.one_sided(inner, inner, verdict, above=often)
    error = 0.5 / math.sqrt(len(shown))
    sign = 1 if often else -1
    return verdicts.Finding(
        verdict,
        outer.mean,
        outer.low,
        outer.high,
        verdicts.format_interval(outer, percent=True),
        slack=sign * (outer.mean / 0.5 - 1),
        clearance=sign * (outer.mean - 0.5) / error,
    )


COMMON = {
    "above_on_average": above_on_average,
    "deviates_more": deviates_more,
    "order_in_most_runs": order_in_most_runs,
    "order_in_few_runs": order_in_few_runs,
}


def functions_of(study: Study) -> Mapping[str, TestFunction]:
    """Return the functions that statements of a study can name, by name."""
    return {**COMMON, **code.functions(study, "tests")}
