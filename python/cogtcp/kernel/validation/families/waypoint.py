"""Random waypoint beside its stationary law."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.data.mobility import Mobility
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

_NODES = 300


class Waypoint(Family):
    """How much of the time nodes move, from the first instant on."""

    name = "waypoint"
    peer = "theory"
    bands: ClassVar = {"share": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the area, the speeds and the pause."""
        slowest = three_digits(logarithmic(stream, 0.5, 5))
        return {
            "width": round(logarithmic(stream, 200, 2000)),
            "height": round(logarithmic(stream, 200, 2000)),
            "slowest": slowest,
            "fastest": three_digits(slowest * logarithmic(stream, 1.2, 10)),
            "pause": three_digits(logarithmic(stream, 10, 300)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        speeds = f"{drawn['slowest']:g} to {drawn['fastest']:g} m/s"
        return f"{drawn['width']} x {drawn['height']} m, {speeds}, pause {drawn['pause']:g} s"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the mean trip over itself and the pause.

        A trip takes its length over its speed: the mean of 1 / v is ln(v1 / v0) / (v1 - v0).
        """
        low, high = drawn["slowest"], drawn["fastest"]
        trip = mean_distance(drawn["width"], drawn["height"]) * math.log(high / low) / (high - low)
        return {"share": trip / (trip + drawn["pause"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Measure the spans of written paths over two mean cycles: a start that settles would show."""
        cycle = drawn["pause"] / (1 - self.theirs(drawn, seed)["share"])
        moves = Mobility.random_waypoint(
            _NODES,
            area=(drawn["width"], drawn["height"]),
            speed=(drawn["slowest"], drawn["fastest"]),
            pause=drawn["pause"],
            duration=2 * cycle,
            seed=seed,
        )
        rows = [line.split(",") for line in moves.to_text("csv").splitlines()[1:]]
        spans = itertools.pairwise(rows)
        moving = sum(
            float(after[1]) - float(before[1])
            for before, after in spans
            if before[0] == after[0] and before[2:] != after[2:]
        )
        return {"share": moving / _NODES / moves.end}


def mean_distance(width: float, height: float) -> float:
    """Return the mean distance of two uniform points of a rectangle.

    B. Ghosh, Bulletin of the Calcutta Mathematical Society 43, 1951.
    """
    a, b = width, height
    across = math.hypot(a, b)
    logarithms = b * b / a * math.log((a + across) / b) + a * a / b * math.log((b + across) / a)
    return (a**3 / b**2 + b**3 / a**2 + across * (3 - (a / b) ** 2 - (b / a) ** 2) + 2.5 * logarithms) / 15
