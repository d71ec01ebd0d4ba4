"""What an objective charges nothing for: there a search finds the end of a range."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.deciding.tuning.goal import Constraint, Objective
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.space import Parameter

_LIMIT = '--constraint "pu_interference<=5%"'
#: Fields of a cycle, and what to say of them.
_CYCLE = r"^radio\.\d+\.sensing\."
_SAID_OF_CYCLE = (
    "less sensing costs nothing. A cycle does not see primary users, so never sensing is best. "
    f"[radio.cr] senses them, and {_LIMIT} protects them"
)
#: Fields of [radio.cr] that trade the protection of primary users for time on the air.
_USER = r"^radio\.\d+\.cr\.(sensing_time|transmission_time|detector|start|jitter)(\.|$)"
_SAID_OF_USER = f"{{objective}} ignores interference to primary users; {_LIMIT} limits it"


def describe(objective: str) -> list[dict[str, Any]]:
    """Return patterns of fields and what to say of them, for a page that varies them for `objective`."""
    return [
        {"pattern": _CYCLE, "needs_users": False, "said": _SAID_OF_CYCLE},
        {"pattern": _USER, "needs_users": True, "said": _SAID_OF_USER.format(objective=objective)},
    ]


def uncharged(
    scenario: Scenario,
    parameters: Sequence[Parameter],
    objective: Objective,
    constraints: Sequence[Constraint],
) -> list[str]:
    """Return a sentence for each varied field whose cost neither the objective nor a constraint counts."""
    data = scenario.to_dict()
    wanted = {objective.metric.name, *(constraint.metric.name for constraint in constraints)}
    counts_protection = any(name.startswith("pu_") for name in wanted)
    has_users = data.get("spectrum", {}).get("pu", "none") != "none"
    notes = []
    for parameter in parameters:
        if re.search(_CYCLE, parameter.path):
            notes.append(f"{parameter.path}: {_SAID_OF_CYCLE}")
        elif re.search(_USER, parameter.path) and has_users and not counts_protection:
            notes.append(f"{parameter.path}: {_SAID_OF_USER.format(objective=objective.metric.name)}")
    return notes
