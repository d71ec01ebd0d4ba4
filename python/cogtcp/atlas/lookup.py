"""Answers from the atlas: what wins near a point, by how much, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.atlas.space import AXES, FLOWS, place_of
from cogtcp.atlas.survey import TRANSPORTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.atlas.space import Place
    from cogtcp.scenario import Scenario

#: Points of the survey that an answer rests on.
NEAREST = 32
#: How far another law of silences is, and a doubling of the flows, in lengths of an axis.
_LAW, _DOUBLING = 0.1, 0.2
#: Weight of each axis in the distance: what changes the order of transports more counts more.
_WEIGHTS = {
    "silence_rtt": 1.2,
    "period_rtt": 1.2,
    "rtt_s": 0.8,
    "bdp": 1.5,
    "queue_bdp": 2.0,
    "loss": 1.2,
    "rate_range": 0.3,
}
#: Weight of the mean ratio to the best beside the share of points at which a transport is as good.
_MEAN = 0.3
#: Within this of the best a transport is as good.
AS_GOOD = 0.05


@dataclass(frozen=True, slots=True)
class Survey:
    """The atlas in memory.

    Attributes:
        places: The points.
        efficiency: Goodput of each transport over the capacity, by point.
        provenance: Version and number of runs.
    """

    places: tuple[Place, ...]
    efficiency: dict[str, tuple[float, ...]]
    provenance: dict[str, str]


@dataclass(frozen=True, slots=True)
class Guess:
    """What the atlas says of a point.

    Attributes:
        winner: The transport that does best nearby.
        sureness: Weighted share of the nearest points at which it is within 5 % of the best.
        expected: Efficiency of each transport near the point.
        distance: To the nearest point of the survey, in lengths of an axis.
        unlike: In what the scenario differs from the atlas.
        points: How many points of the survey the answer rests on.
    """

    winner: str
    sureness: float
    expected: dict[str, float]
    distance: float
    unlike: tuple[str, ...]
    points: int

    @property
    def text(self) -> str:
        """The guess in a sentence or two."""
        order = sorted(self.expected, key=lambda name: -self.expected[name])
        second = next((name for name in order if name != self.winner), self.winner)
        text = (
            f"Probably {self.winner}: {self.expected[self.winner] * 100:.0f} % of the capacity, "
            f"{second} {self.expected[second] * 100:.0f} %. At {self.sureness * 100:.0f} % of the "
            f"{self.points} nearest points of the atlas {self.winner} is within 5 % of the best."
        )
        if self.unlike:
            text += f" Unlike the atlas: {'; '.join(self.unlike)}."
        return text + " A full race: cogtcp advise without --quick."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "answer": self.text,
            "winner": self.winner,
            "sureness": self.sureness,
            "expected_efficiency": self.expected,
            "distance": self.distance,
            "unlike": list(self.unlike),
            "points": self.points,
        }


@cache
def load() -> Survey:
    """Return the atlas that is shipped.

    Raises:
        UsageError: It is not there.
    """
    import io

    import pyarrow.parquet as pq

    from cogtcp.atlas.space import Place

    file = files("cogtcp.atlas").joinpath("atlas.parquet")
    if not file.is_file():
        raise UsageError("the atlas is not installed; make it with: make atlas")
    names = [axis.name for axis in AXES] + ["law", "silence", "flows"]
    # Less than a quarter of the columns: reading them all takes most of a quick answer's time.
    wanted = [*names, *(f"{name}:efficiency" for name in TRANSPORTS)]
    table = pq.read_table(io.BytesIO(file.read_bytes()), columns=wanted)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    places = tuple(Place(*row) for row in zip(*(columns[name] for name in names), strict=True))
    stored = (table.schema.metadata or {}).items()
    metadata = {key.decode().removeprefix("cogtcp."): value.decode() for key, value in stored}
    return Survey(
        places,
        {name: tuple(columns[f"{name}:efficiency"]) for name in TRANSPORTS},
        metadata,
    )


def guess(scenario: Scenario) -> Guess:
    """Return what the atlas says of a scenario.

    Raises:
        UsageError: The atlas knows nothing like the scenario.
    """
    found = place_of(scenario)
    if isinstance(found, str):
        raise UsageError(f"--quick: the atlas does not cover this scenario: {found}; leave --quick out")
    place, unlike = found
    return guess_at(place, load(), unlike)


def guess_at(place: Place, survey: Survey, unlike: Sequence[str] = ()) -> Guess:
    """Return what a survey says of a point, by its nearest points with the same kind of silence."""
    here = _coordinates(place)
    near = []
    for index, other in enumerate(survey.places):
        if other.silence != place.silence:
            continue
        apart = math.dist(here, _coordinates(other)) + (_LAW if other.law != place.law else 0.0)
        near.append((apart, index))
    near.sort()
    near = near[:NEAREST]
    reach = near[-1][0] or 1.0
    weights = [math.exp(-2 * (apart / reach) ** 2) for apart, _ in near]
    total = math.fsum(weights)
    best = [max(values[index] for values in survey.efficiency.values()) or 1e-9 for _, index in near]
    shares: dict[str, float] = {}
    scores: dict[str, float] = {}
    for name, values in survey.efficiency.items():
        # Ratios to the best of a point, so that a point at which all do badly counts as much.
        ratios = [values[index] / top for (_, index), top in zip(near, best, strict=True)]
        shares[name] = math.fsum(w for w, r in zip(weights, ratios, strict=True) if r >= 1 - AS_GOOD) / total
        scores[name] = (
            shares[name] + _MEAN * math.fsum(map(math.prod, zip(weights, ratios, strict=True))) / total
        )
    winner = max(scores, key=lambda name: scores[name])
    expected = {
        name: math.fsum(w * values[index] for w, (_, index) in zip(weights, near, strict=True)) / total
        for name, values in survey.efficiency.items()
    }
    return Guess(winner, shares[winner], expected, near[0][0], tuple(unlike), len(near))


@cache
def _coordinates(place: Place) -> tuple[float, ...]:
    """Return a point in lengths of axes, weighed."""
    found = [_WEIGHTS[axis.name] * min(max(axis.share(getattr(place, axis.name)), 0.0), 1.0) for axis in AXES]
    return (*found, _DOUBLING * math.log2(max(place.flows, FLOWS[0])))
