"""The tests of this study that are no comparison of two points."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from cogtcp.studies import verdicts

if TYPE_CHECKING:
    from cogtcp.studies import Setting, Statement
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Finding


def above_on_average(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that the mean over the points of `of` is above that over the points of `than`, paired by seed."""
    first, second = (
        [
            statistics.fmean(seed)
            for seed in zip(
                *(cell.of(statement.quantity) for point, cell in grid.items() if point.matches(wanted)),
                strict=True,
            )
        ]
        for wanted in (statement.of, statement.than)
        if isinstance(wanted, dict)
    )
    return verdicts.ratio(first, second)
