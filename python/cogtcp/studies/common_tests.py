"""Tests of statements that several studies name: `test = "function"`, `function = "..."` in `study.toml`.

A study's own are in its `tests.py`, and come first.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from cogtcp.studies import code, verdicts
from cogtcp.studies.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.studies.folder import Study
    from cogtcp.studies.space import Setting
    from cogtcp.studies.statements import Grid, Statement, TestFunction
    from cogtcp.studies.verdicts import Finding


def above_on_average(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that the mean over the points of `of` is above that over the points of `than`, paired by seed.

    Raises:
        StudyError: `than` is no point, or no measured point is one of `of` or of `than`.
    """
    if not isinstance(statement.than, dict):
        raise StudyError(f'"{statement.says}": `than` must be a point, as in {{ transport = "reno" }}')
    first, second = (_means(statement, grid, wanted) for wanted in (statement.of, statement.than))
    return verdicts.ratio(first, second)


def _means(statement: Statement, grid: Grid, wanted: Mapping[str, Any]) -> list[float]:
    """Return the mean of the quantity over the points that match, for each seed."""
    cells = [cell.of(statement.quantity) for point, cell in grid.items() if point.matches(wanted)]
    if not cells:
        raise StudyError(f'"{statement.says}": no measured point is {dict(wanted)}')
    return [statistics.fmean(seed) for seed in zip(*cells, strict=True)]


COMMON = {"above_on_average": above_on_average}


def functions_of(study: Study) -> Mapping[str, TestFunction]:
    """Return the functions that statements of a study can name, by name."""
    return {**COMMON, **code.functions(study, "tests")}
