"""The tests of this study that are no comparison of two points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.studies import verdicts
from cogtcp.studies.space import show
from cogtcp.studies.statements import weakest

if TYPE_CHECKING:
    from cogtcp.studies import Setting, Statement
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Finding


def keeps_more(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that from the longest to the shortest on C2 keeps more than NewReno, at each off.

    Paired by seed; the estimate is C2's share kept over NewReno's.
    """
    offs = sorted({point.off_s for point in grid})
    found = []
    for off_s in offs:
        kept = {}
        for transport in ("c2", "newreno"):
            row = [cell for p, cell in _by_on(grid) if p.off_s == off_s and p.transport == transport]
            kept[transport] = [
                a / b if b else math.nan for a, b in zip(row[0].of("mbps"), row[-1].of("mbps"), strict=True)
            ]
        found.append(
            verdicts.ratio(kept["c2"], kept["newreno"], members=len(offs), where=f"off {show(off_s)} s")
        )
    return weakest(found)


def _by_on(grid: Grid) -> list:  # type: ignore[type-arg]
    return sorted(grid.items(), key=lambda item: float(item[0].on))


def share_of_the_table(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test C2's share of both beside NewReno at 140 and 180 ms against the share in Table I."""
    stated = {140.0: 6.2 / (6.2 + 2.8), 180.0: 6.8 / (6.8 + 1.8)}
    found = []
    for rtt_ms, share in stated.items():
        (cell,) = [cell for p, cell in grid.items() if p.rtt_ms == rtt_ms and p.first == "c2"]
        values = cell.of("share")
        found.append(
            verdicts.near(
                values, [share] * len(values), 0.15, members=len(stated), where=f"{show(rtt_ms)} ms"
            )
        )
    return weakest(found)
