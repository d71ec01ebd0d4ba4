"""Where the nodes of an ad hoc network are, without a network over them (docs/mobility.md).

>>> moves = cogtcp.mobility.Mobility.random_waypoint(25, area=(1000, 1000), speed=(2.5, 4), pause=3)
>>> moves.positions(12.5)[0]
>>> moves.to_text("setdest")
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp._files import read_text
from cogtcp.model.result import check_seed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Format: TypeAlias = Literal["setdest", "csv"]
Start: TypeAlias = Literal["stationary", "naive"]
Placement: TypeAlias = Literal["grid", "chain", "uniform"]

MOST_NODES = 100_000


@dataclass(frozen=True)
class Node:
    """What a node does from 0 to the end.

    Attributes:
        number: Its number, from 0.
        begin: Where it is at 0, m.
        end: Where it is at the end, m.
        way: How far it goes, m.
        paused: How long it stands still, s.
        mean_speed: Distance over time, m/s; NaN if there is no time.
        max_speed: Its greatest speed, m/s.
    """

    number: int
    begin: tuple[float, float]
    end: tuple[float, float]
    way: float
    paused: float
    mean_speed: float
    max_speed: float


@dataclass(frozen=True)
class Connectivity:
    """Who reaches whom at an instant.

    Attributes:
        time: When, s.
        links: Pairs of nodes within range of each other.
        degree: Mean number of neighbours.
        alone: Nodes without a neighbour.
        largest: Share of the nodes that are in the largest connected part.
    """

    time: float
    links: int
    degree: float
    alone: int
    largest: float


class Mobility:
    """The paths of nodes: straight lines at constant speed between corners. Immutable."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Mobility) -> None:
        self._core = core

    @classmethod
    def from_file(cls, path: str | Path, format: Format | None = None) -> Mobility:
        """Read a file in the format of ns-2's setdest, or a CSV. Without `format`, its content tells which.

        Args:
            path: The file.
            format: Format of the text; by default its content decides.

        Returns:
            The movement.

        Raises:
            ScenarioError: No valid file: line and reason.
        """
        text = read_text(path, "a file of setdest or a CSV")
        return cls.from_text(text, format or _guess(text), file=str(path))

    @classmethod
    def from_text(cls, text: str, format: Format, *, file: str = "<text>") -> Mobility:
        """Read paths from a text; `file` is what errors call it.

        Args:
            text: The paths.
            format: Format of the text.
            file: Name of the text in errors.

        Returns:
            The movement.

        Raises:
            ScenarioError: No valid paths: line and reason.
        """
        return cls(_core.Mobility.read(text, file, _known(format)))

    @classmethod
    def random_waypoint(
        cls,
        nodes: int,
        *,
        area: tuple[float, float] = (1000.0, 1000.0),
        speed: tuple[float, float] = (2.5, 4.0),
        pause: float | tuple[float, float] = 3.0,
        start: Start = "stationary",
        duration: float = 200.0,
        seed: int = 1,
    ) -> Mobility:
        """Draw random waypoint; area, speeds and pause of MSWiM 2009 are the defaults.

        Args:
            nodes: Number of nodes.
            area: Width and height, m.
            speed: Least and greatest speed, m/s; each trip draws one between them.
            pause: Pause after each trip, s, or the shortest and the longest.
            start: `stationary`, or `naive` as ns-2's setdest begins.
            duration: How long, s.
            seed: Seed of all draws.

        Returns:
            The movement.

        Raises:
            UsageError: A value makes no sense.
        """
        _count(nodes)
        check_seed(seed)
        pauses = (pause, pause) if isinstance(pause, int | float) else pause
        _not_negative(width=area[0], height=area[1], pause=min(pauses), longest_pause=max(pauses))
        _not_negative(duration=duration)
        if start not in get_args(Start):
            raise UsageError(f"start is {start!r}; take {', '.join(get_args(Start))}")
        stationary = start == "stationary"
        return cls(_core.Mobility.random_waypoint(nodes, area, speed, pauses, stationary, duration, seed))

    @classmethod
    def static(
        cls,
        nodes: int,
        placement: Placement,
        *,
        area: tuple[float, float] = (1000.0, 1000.0),
        columns: int | None = None,
        spacing: float = 200.0,
        seed: int = 1,
    ) -> Mobility:
        """Place nodes that stand still.

        Args:
            nodes: Number of nodes.
            placement: `grid` and `chain`, from (0, 0) on, or `uniform` over the area.
            area: Width and height, m, of `uniform`.
            columns: Nodes in a row of the grid; about as many as rows without it.
            spacing: Distance of neighbours in a grid or chain, m.
            seed: Seed of `uniform`.

        Returns:
            The movement.

        Raises:
            UsageError: A value makes no sense.
        """
        _count(nodes)
        check_seed(seed)
        _not_negative(width=area[0], height=area[1], spacing=spacing)
        if placement not in get_args(Placement):
            raise UsageError(f"placement is {placement!r}; take {', '.join(get_args(Placement))}")
        columns = max(math.ceil(math.sqrt(nodes)), 1) if columns is None else columns
        if columns < 1:
            raise UsageError(f"columns is {columns}; it must be at least 1")
        return cls(_core.Mobility.place(placement, nodes, area, columns, spacing, seed))

    def to_text(self, format: Format) -> str:
        """Return the paths in a format. A CSV is exact, setdest to about 1 ns."""
        return self._core.write(_known(format))

    def __len__(self) -> int:
        return self._core.nodes

    @property
    def end(self) -> float:
        """The end, s: as generated, or when the last node comes to its last place."""
        return self._core.end

    @property
    def paths(self) -> list[list[tuple[float, float, float]]]:
        """The corners of every node's trajectory: time in s, x and y in m."""
        return self._core.paths

    def positions(self, time: float) -> list[tuple[float, float]]:
        """Return where every node is at a time in s, in m."""
        _not_negative(time=time)
        return self._core.positions(time)

    def nodes(self) -> list[Node]:
        """Return what every node does from 0 to the end."""
        rows = zip(
            self._core.positions(0.0), self._core.positions(self.end), self._core.stats(self.end), strict=True
        )
        return [
            Node(number, begin, end, way, paused, way / self.end if self.end > 0 else math.nan, fastest)
            for number, (begin, end, (way, paused, fastest)) in enumerate(rows)
        ]

    def connectivity(self, range: float, times: Sequence[float]) -> list[Connectivity]:
        """Return who reaches whom at these times in s, if nodes within `range` m of each other do.

        Args:
            range: Reach of a node, m.
            times: Times, s.

        Returns:
            One entry per time.
        """
        _not_negative(range=range, **{f"times[{i}]": time for i, time in enumerate(times)})
        nodes = max(len(self), 1)
        found = self._core.connectivity(range, list(times))
        return [
            Connectivity(time, links, 2 * links / nodes, alone, largest / nodes)
            for time, (links, alone, largest) in zip(times, found, strict=True)
        ]


def _guess(text: str) -> Format:
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    # setdest writes Tcl: `$node_(0) set X_ 12.5`.
    return "setdest" if first.startswith("$") else "csv"


def _known(format: Format) -> Format:
    if format not in get_args(Format):
        raise UsageError(f"unknown format {format!r}; take {', '.join(get_args(Format))}")
    return format


def _count(nodes: int) -> None:
    if not 0 <= nodes <= MOST_NODES:
        raise UsageError(f"nodes is {nodes}; it must be a whole number, 0 to {MOST_NODES}")


def _not_negative(**values: float) -> None:
    for name, value in values.items():
        if not (value >= 0 and math.isfinite(value)):
            raise UsageError(f"{name} is {value:g}; it must be a number from 0")
