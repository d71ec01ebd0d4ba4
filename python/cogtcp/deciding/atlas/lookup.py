"""Answers from the atlas: what wins near a point, by how much, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.deciding.atlas.space import AXES, FLOWS, place_of
from cogtcp.deciding.atlas.transports import CANDIDATES, SURVEYED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow.parquet as pq

    from cogtcp.deciding.atlas.space import SurveyPoint
    from cogtcp.model.scenario import Scenario

#: Points of the survey that an answer rests on.
NEAREST = 32
#: Points for a transport that was surveyed at few of them.
NEAREST_OF_FEW = 24
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
        efficiency: Goodput of each transport that may be chosen over the capacity, by point; NaN where it
            was not measured.
        provenance: Version and number of runs.
    """

    places: tuple[SurveyPoint, ...]
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
    """Return the atlas that is shipped, with the transports that may be chosen.

    Raises:
        UsageError: It is not there.
    """
    from cogtcp.deciding.atlas.space import SurveyPoint

    names = [axis.name for axis in AXES] + ["law", "silence", "flows"]
    columns, metadata = read([*names, *(f"{name}:efficiency" for name in CANDIDATES)])
    places = tuple(SurveyPoint(*row) for row in zip(*(columns[name] for name in names), strict=True))
    return Survey(places, {name: tuple(columns[f"{name}:efficiency"]) for name in CANDIDATES}, metadata)


def efficiencies() -> dict[str, list[float]]:
    """Return the efficiency of every transport of the survey, by point. Raises `UsageError`."""
    chosen = load().efficiency
    others, _ = read([f"{name}:efficiency" for name in SURVEYED if name not in chosen])
    return {name: list(chosen[name] if name in chosen else others[f"{name}:efficiency"]) for name in SURVEYED}


def read(wanted: Sequence[str]) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Return columns of the shipped atlas, and its metadata.

    A quick answer needs a quarter of the columns: reading them all would take most of its time.

    Raises:
        UsageError: The atlas is not there.
    """
    table = _file().read(columns=list(wanted))
    stored = (table.schema.metadata or {}).items()
    metadata = {key.decode().removeprefix("cogtcp."): value.decode() for key, value in stored}
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    for name in wanted:
        if ":" in name:
            columns[name] = [math.nan if value is None else value for value in columns[name]]
    return columns, metadata


@cache
def _file() -> pq.ParquetFile:
    """Return the atlas, opened once: columns are read when they are asked for."""
    import io

    import pyarrow.parquet as pq

    file = files("cogtcp.deciding.atlas").joinpath("atlas.parquet")
    if not file.is_file():
        raise UsageError("the atlas is not installed; make it with: make atlas")
    return pq.ParquetFile(io.BytesIO(file.read_bytes()))


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


def guess_at(place: SurveyPoint, survey: Survey, unlike: Sequence[str] = ()) -> Guess:
    """Return what a survey says of a point, by its nearest points with the same kind of silence."""
    here = _coordinates(place)
    near = []
    for index, other in enumerate(survey.places):
        if other.silence != place.silence:
            continue
        apart = math.dist(here, _coordinates(other)) + (_LAW if other.law != place.law else 0.0)
        near.append((apart, index))
    near.sort()
    partly = {
        name
        for name, values in survey.efficiency.items()
        if any(math.isnan(values[index]) for _, index in near[:NEAREST])
    }
    around = _Near(near[:NEAREST], survey)
    common = [name for name in survey.efficiency if name not in partly]
    shares = {name: around.share(name, common) for name in common}
    scores = {name: shares[name] + _MEAN * around.ratio(name, common) for name in common}
    winner = max(scores, key=lambda name: scores[name])
    expected = {name: around.mean(name) for name in common}
    sureness = shares[winner]
    # A transport that was surveyed at fewer points is compared with the winner at the nearest of them.
    best_ratio, challenged = 1.0, winner
    for name in sorted(partly):
        values = survey.efficiency[name]
        has = _Near([each for each in near if not math.isnan(values[each[1]])][:NEAREST_OF_FEW], survey)
        ratio = has.against(name, challenged)
        expected[name] = expected[challenged] * ratio
        if ratio > best_ratio:
            best_ratio, winner, sureness = ratio, name, has.share(name, list(survey.efficiency))
        elif winner == challenged:
            # What may be better makes the answer less sure.
            sureness = min(sureness, has.share(winner, list(survey.efficiency)))
    return Guess(winner, sureness, expected, near[0][0], tuple(unlike), min(len(near), NEAREST))


class _Near:
    """The nearest points, with weights that fall with the distance."""

    def __init__(self, near: Sequence[tuple[float, int]], survey: Survey) -> None:
        reach = near[-1][0] or 1.0
        weights = [math.exp(-2 * (apart / reach) ** 2) for apart, _ in near]
        total = math.fsum(weights)
        self._near = [(weight / total, index) for weight, (_, index) in zip(weights, near, strict=True)]
        self._values = survey.efficiency

    def mean(self, name: str) -> float:
        return math.fsum(weight * self._values[name][index] for weight, index in self._near)

    def ratios(self, name: str, among: Sequence[str]) -> list[tuple[float, float]]:
        """Weights, and ratios to the best: a point at which all do badly counts as much as others."""
        found = []
        for weight, index in self._near:
            known = [v for n in among if not math.isnan(v := self._values[n][index])]
            found.append((weight, self._values[name][index] / (max(known) or 1e-9)))
        return found

    def share(self, name: str, among: Sequence[str]) -> float:
        """Return the share of the points at which a transport is as good as the best."""
        return math.fsum(weight for weight, ratio in self.ratios(name, among) if ratio >= 1 - AS_GOOD)

    def ratio(self, name: str, among: Sequence[str]) -> float:
        return math.fsum(weight * ratio for weight, ratio in self.ratios(name, among))

    def against(self, name: str, other: str) -> float:
        """Return the mean ratio of two transports, each at most a factor of 2."""
        mine, theirs = self._values[name], self._values[other]
        return math.fsum(
            # Bounded: a point at which one of them delivers nearly nothing is not to outweigh all others.
            weight * min(2.0, max(0.5, mine[index] / max(theirs[index], 1e-9)))
            for weight, index in self._near
        )


@cache
def _coordinates(place: SurveyPoint) -> tuple[float, ...]:
    """Return a point in lengths of axes, weighed."""
    found = [_WEIGHTS[axis.name] * min(max(axis.share(getattr(place, axis.name)), 0.0), 1.0) for axis in AXES]
    return (*found, _DOUBLING * math.log2(max(place.flows, FLOWS[0])))
