"""The test of this study that is no comparison of two points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.studies import verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.studies import Setting, Statement
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Finding


def more_lost_in_queues(statement: Statement, grid: Grid, setting: Setting) -> Finding:
    """Test that a greater share of packets is lost outside of the MAC at `of` than at `than`.

    All losses except the MAC's, which gave the packet up: the queues' and, few, routing's. Paired by seed.
    """
    assert isinstance(statement.than, dict)  # noqa: S101 - study.toml has it
    return verdicts.ratio(_lost(grid, statement.of), _lost(grid, statement.than))


def _lost(grid: Grid, wanted: Mapping[str, Any]) -> list[float]:
    (cell,) = [cell for point, cell in grid.items() if point.matches(wanted)]
    return [lost - by_mac for lost, by_mac in zip(cell.of("lost"), cell.of("drops_mac"), strict=True)]
