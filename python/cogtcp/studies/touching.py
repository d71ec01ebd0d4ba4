"""Which parameters can change a claim at all: those that change a scenario of its points.

The others cannot decide the claim: searches leave them at the base, and tests of what decides do not count
them among the comparisons made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.studies import code

if TYPE_CHECKING:
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.space import Setting, Unsaid, Value

CORNERS, CORNERS_SEED = 4, 7
"""Settings besides the base at which each parameter is moved: some count only together with others."""


def touching(study: Context, claim: ClaimRow) -> list[Unsaid]:
    """Return the parameters that change a scenario of the claim, in the study's order."""
    make = code.function(study.study, "runs", "scenario")
    space = study.study.space
    found: dict[str, Unsaid] = {}

    def scenarios(setting: Setting) -> list[Any]:
        return [make(study, setting, point, 1).to_dict() for point in claim.points]

    for corner in (space.base, *space.design(CORNERS, CORNERS_SEED)):
        there = scenarios(corner)
        for parameter in space.varied:
            if parameter.name not in found and any(
                scenarios(corner.but(**{parameter.name: value})) != there
                for value in _ends(parameter)
                if value != corner[parameter.name]
            ):
                found[parameter.name] = parameter
    return [parameter for parameter in space.varied if parameter.name in found]


def _ends(parameter: Unsaid) -> list[Value]:
    return list(parameter.choices) if parameter.choices else [parameter.at(0.0), parameter.at(1.0)]
