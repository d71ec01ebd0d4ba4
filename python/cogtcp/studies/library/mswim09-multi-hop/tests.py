"""The test of this study that is no comparison of two points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.studies import verdicts

if TYPE_CHECKING:
    from cogtcp.studies import Setting, Statement
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Finding


def difference_grows(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that what the CRAHN model costs is more at the most flows than at the fewest, paired by seed.

    The estimate is the growth of the difference as a share of the goodput at the most flows with it off.
    """
    cells = {(point.model, point.flows): cell.of(statement.quantity) for point, cell in grid.items()}
    counts = sorted({point.flows for point in grid})
    few, many = (
        [off - on for off, on in zip(cells["off", flows], cells["on", flows], strict=True)]
        for flows in (counts[0], counts[-1])
    )
    scale = sum(cells["off", counts[-1]]) / len(many)
    growth = [(a - b) / scale for a, b in zip(many, few, strict=True)]
    return verdicts.ratio(growth, [0.0] * len(growth))
