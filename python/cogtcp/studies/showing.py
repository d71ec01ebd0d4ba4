"""A claim to be looked at: the scenario in which it is to be seen, as its study makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.running.runner import Runner
from cogtcp.studies import code
from cogtcp.studies.context import Context

if TYPE_CHECKING:
    from cogtcp.model.scenario import Scenario
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.folder import Study
    from cogtcp.studies.space import Setting, Value


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a claim is shown.

    Attributes:
        scenario: That of its first point, under a setting of the study, in its quick version.
        transports: Those that its points compare, in their order.
        varies: What else its points vary: each axis with its values.
    """

    scenario: Scenario
    transports: tuple[str, ...]
    varies: dict[str, tuple[Value, ...]]


def show(study: Study, claim: ClaimRow, setting: Setting | None = None) -> Shown:
    """Return the scenario of a claim that is made of points, with what the points vary.

    Args:
        study: The study.
        claim: Its claim.
        setting: What is taken for what the paper leaves unsaid; by default the base of the study.
    """
    axes: dict[str, list[Value]] = {}
    for point in claim.points:
        for name, value in point.items():
            if value not in axes.setdefault(name, []):
                axes[name].append(value)
    transports = tuple(str(name) for name in axes.pop("transport", ()))
    seed = 1
    make = code.function(study, "runs", "scenario")
    context = Context(study, (seed,), quick=True, _runner=Runner())
    return Shown(
        make(context, study.space.base if setting is None else setting, claim.points[0], seed),
        transports,
        {name: tuple(values) for name, values in axes.items() if len(values) > 1},
    )


def claim_presets(claim: str) -> tuple[str, str]:
    """Return the names of the lab's presets that show a claim: at the base, and at its best reading."""
    return f"see {claim} happen", f"see {claim} at its best values"
