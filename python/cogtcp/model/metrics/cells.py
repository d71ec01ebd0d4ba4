"""The two shares of a flow in a cell: of its user's rate alone, and of the rate beside the other users.

Both follow from the budget of the user's link, which divides its time by use and cause of waiting. A packet
waits in the slots of the other direction (`pattern_s`) and while blocks are other users' (`users_s`):

    W       time in which a packet is sent or waits for a slot or block
    D       share of slots of the data's direction: 1 - pattern_s / W
    alone   delivered_s / ((measured_s - silent_s) D)
    beside  delivered_s / ((measured_s - silent_s) D - users_s)

Times count at the rate that the user's SINR allows, so a distant user's rate alone is its own and not the
cell's highest, over which `efficiency` is taken.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogtcp.model.metrics.metric import Rows

#: States of the budget in which a packet is sent, or waits for a slot or a block.
_BUSY = (
    *("delivered_s", "headers_s", "duplicate_s", "lost_s", "other_s", "interference_s"),
    *("pattern_s", "grant_s", "harq_s", "users_s", "handover_s"),
)


def with_cell_shares(flows: Rows, budget: Rows) -> Rows:
    """Return the rows of flows with `share_alone` and `share_beside_others`; NaN: no cell serves the flow.

    Args:
        flows: Rows of the table `flows`.
        budget: Rows of the table `budget`.

    Returns:
        Copies of the rows, with both shares, 0 to 1.
    """
    by_link = {(row["link"], row["direction"]): row for row in budget}
    goodput: dict[tuple[str, str], float] = defaultdict(float)
    for row in flows:
        goodput[_link(row)] += row["goodput_bps"]
    found = []
    for row in flows:
        times = by_link.get(_link(row))
        alone = beside = math.nan
        if times is not None and row.get("medium", "") not in ("", row["bottleneck"]):
            alone, beside = _shares(times)
            # Flows of one user divide what the user gets.
            part = row["goodput_bps"] / goodput[_link(row)] if goodput[_link(row)] else 0.0
            alone, beside = part * alone, part * beside
        found.append({**row, "share_alone": alone, "share_beside_others": beside})
    return found


def _link(row: dict[str, Any]) -> tuple[str, str]:
    return row["bottleneck"], row["bottleneck_direction"]


def _shares(times: dict[str, Any]) -> tuple[float, float]:
    busy = math.fsum(times[state] for state in _BUSY)
    if not busy > times["pattern_s"]:
        return math.nan, math.nan
    of_direction = 1 - times["pattern_s"] / busy
    alone = (times["measured_s"] - times["silent_s"]) * of_direction
    beside = alone - times["users_s"]
    return _ratio(times["delivered_s"], alone), _ratio(times["delivered_s"], beside)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
