"""The journey of a train along the line of a map file, without a transport over it.

>>> line = cogtcp.journey.Line.from_file("scenarios/maps/kelmere-line.toml")
>>> travel = line.travel(seed=1)
>>> [(outage.start, outage.end, outage.cause) for outage in travel.outages]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp._files import read_text
from cogtcp.model.result import check_seed

if TYPE_CHECKING:
    from pathlib import Path

CAUSES = ("coverage", "tunnel", "handover", "border")


@dataclass(frozen=True)
class Station:
    """A station: where it is, in m, and whether the train stops there."""

    name: str
    at: float
    stops: bool


@dataclass(frozen=True)
class Call:
    """When the train comes to a station and goes on, in s; it does not go on from the last."""

    station: Station
    arrival: float
    departure: float


@dataclass(frozen=True)
class Outage:
    """A time without link: in s, why, and where it began, in m."""

    start: float
    end: float
    cause: str
    at: float

    @property
    def duration(self) -> float:
        """Its length in s; infinite if it lasts to the end."""
        return self.end - self.start


@dataclass(frozen=True)
class Travel:
    """One journey.

    Attributes:
        seed: Its seed.
        calls: When the train is at which station.
        times: Instants at which the radio measures, s.
        positions: Where the train is then, m.
        speeds: How fast it goes, m/s.
        levels: Level of the serving or else the loudest base station, dBm; NaN where none is near.
        serving: Number of the serving base station from 0; -1: none.
        outages: When the link is gone.
    """

    seed: int
    calls: list[Call]
    times: list[float]
    positions: list[float]
    speeds: list[float]
    levels: list[float]
    serving: list[int]
    outages: list[Outage]

    @property
    def duration(self) -> float:
        """From the departure to the arrival at the last station, s."""
        return self.calls[-1].arrival

    @property
    def silent(self) -> float:
        """Time without link on the way, s."""
        return sum(min(o.end, self.duration) - o.start for o in self.outages if o.start < self.duration)


class Line:
    """The line of a map file (docs/trains.md has the format). Immutable."""

    def __init__(self, core: _core.Journey) -> None:
        self._core = core
        self.name = core.name
        self.description = core.description
        self.stations = [Station(*station) for station in core.stations]
        #: Base stations: name and place in m.
        self.base_stations = core.base_stations
        #: Tunnels: name, beginning and end in m.
        self.tunnels = core.tunnels
        #: Borders of networks, m.
        self.borders = core.borders
        #: Level below which there is no link, dBm.
        self.threshold = core.threshold

    @classmethod
    def from_file(cls, path: str | Path) -> Line:
        """Read a map file.

        Raises:
            ScenarioError: It cannot be read or is no map, with file, line and reason.
        """
        return cls.from_text(read_text(path, "a map file"), str(path))

    @classmethod
    def from_text(cls, text: str, name: str = "map") -> Line:
        """Read the text of a map file; `name` is what errors call it.

        Args:
            text: The TOML of a map.
            name: Name of the text in errors.

        Returns:
            The line.

        Raises:
            ScenarioError: No valid map: line and reason.
        """
        return cls(_core.Journey.read(text, name))

    @property
    def length(self) -> float:
        """From the first station to the last, m."""
        return self.stations[-1].at - self.stations[0].at

    def travel(self, seed: int = 1, radio: str = "cr") -> Travel:
        """Return the journey of the radio called `radio` in a scenario of this seed, with the start at 0.

        Args:
            seed: Seed of the scenario.
            radio: Name of the radio.

        Returns:
            The journey.
        """
        check_seed(seed)
        calls, samples, outages = self._core.travel(seed, radio)
        made = [Call(station, *call) for station, call in zip(self.stations, calls, strict=True)]
        return Travel(seed, made, *samples, outages=[Outage(*outage) for outage in outages])


@dataclass(frozen=True)
class Summary:
    """Outages of one cause over some journeys: how many on each, their mean and greatest length in s."""

    cause: str
    per_journey: float
    mean: float
    longest: float


def summarise(travels: list[Travel]) -> list[Summary]:
    """Return the outages of some journeys by cause."""
    summaries = []
    for cause in CAUSES:
        # An outage that lasts to the end has no length.
        spans = [o.duration for t in travels for o in t.outages if o.cause == cause and math.isfinite(o.end)]
        if spans:
            mean = sum(spans) / len(spans)
            summaries.append(Summary(cause, len(spans) / len(travels), mean, max(spans)))
    return summaries
