"""The tests of this study that are no comparison of two points."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from cogtcp.studies import verdicts
from cogtcp.studies.statements import weakest

if TYPE_CHECKING:
    from cogtcp.studies import Setting, Statement
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Finding


def second_step_less(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that the gain from on 10 to 15 s is below that from 5 to 10 s, for each transport by itself.

    Paired by seed; the estimate is the difference of the gains as a share of the goodput at 5 s.
    """
    transports = list(dict.fromkeys(point.transport for point in grid))
    found = []
    for transport in transports:
        five, ten, fifteen = (
            cell.of("goodput_mbps")
            for _, cell in sorted(
                ((point.on_s, cell) for point, cell in grid.items() if point.transport == transport),
                key=lambda item: item[0],
            )
        )
        mean = statistics.fmean(five)
        bend = [(2 * b - a - c) / mean for a, b, c in zip(five, ten, fifteen, strict=True)]
        found.append(verdicts.ratio(bend, [0.0] * len(bend), members=len(transports), where=transport))
    return weakest(found)
