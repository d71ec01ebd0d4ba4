"""What an objective charges nothing for: there a search finds the end of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.scenario import Scenario
    from cogtcp.tuning.goal import Constraint, Objective
    from cogtcp.tuning.space import Parameter

_LIMIT = '--constraint "pu_interference<=5%"'
#: Fields of [radio.cr] that trade the protection of primary users for time on the air.
_PROTECTION = {"sensing_time", "transmission_time", "detector", "start", "jitter"}


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
        match parameter.place:
            case ("radio", _, "sensing", *_):
                notes.append(
                    f"{parameter.path}: less sensing costs nothing. A cycle does not see primary "
                    "users, so never sensing is best. [radio.cr] senses them, and "
                    f"{_LIMIT} protects them"
                )
            case ("radio", _, "cr", field, *_) if field in _PROTECTION:
                if has_users and not counts_protection:
                    notes.append(
                        f"{parameter.path}: {objective.metric.name} does not charge for interference to "
                        f"primary users; {_LIMIT} limits it"
                    )
    return notes
