"""The map of an ad hoc run: where nodes are, on which channel, and which ways the flows' packets take.

In the page a script plays it (`static/map.js`); where none runs the still figure stands for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.report import still
from cogtcp.report.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from cogtcp.result import Result

_WIDTH, _MAP = 960.0, 620.0
#: More nodes, or more moments, cannot be told apart.
_MOST_NODES, _MOST_MOMENTS, _MOST_USERS = 200, 600, 200
#: A primary user that reaches farther, m, is everywhere.
_FARTHEST = 1e7


@dataclass(frozen=True, slots=True)
class Way:
    """From `start` on a flow's data went over these nodes."""

    start: float
    flow: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PrimaryUser:
    """A primary user, and how far it reaches."""

    number: int
    band: int
    x: float
    y: float
    reach: float

    def title(self) -> str:
        """Return what is shown where the pointer is."""
        return f"primary user {self.number}, band {self.band}"


@dataclass(frozen=True, slots=True)
class RunMap:
    """What happened where.

    Attributes:
        name: The scenario's name.
        nodes: Names of the nodes.
        times: Moments, s.
        places: By moment, the place of each node in m.
        channels: By moment, the channel of each node; -1: its radio is silent.
        ways: Ways of the flows' data, by time.
        users: Primary users, wherever the scenario puts or the seed scatters them.
    """

    name: str
    nodes: Sequence[str]
    times: Sequence[float]
    places: Sequence[Sequence[tuple[float, float]]]
    channels: Sequence[Sequence[int]]
    ways: Sequence[Way]
    users: Sequence[PrimaryUser]

    @classmethod
    def of(cls, result: Result) -> RunMap | None:
        """Read the map of a run; None where there is none: no ad hoc network, or no time series."""
        tables = result.tables()
        if "places" not in tables or tables["places"].num_rows == 0:
            return None
        rows = tables["places"].to_pydict()
        nodes = list(dict.fromkeys(rows["node"]))[:_MOST_NODES]
        index = {name: number for number, name in enumerate(nodes)}
        moments: dict[float, dict[int, tuple[float, float, int]]] = {}
        columns = (rows[name] for name in ("time_s", "node", "x_m", "y_m", "channel", "silent"))
        for time, node, x, y, channel, silent in zip(*columns, strict=True):
            if node in index:
                moments.setdefault(time, {})[index[node]] = (x, y, -1 if silent else int(channel))
        every = math.ceil(len(moments) / _MOST_MOMENTS)
        times = sorted(time for time, there in moments.items() if len(there) == len(nodes))[::every]
        frames = [[moments[time][number] for number in range(len(nodes))] for time in times]
        return cls(
            result.scenario.name,
            nodes,
            times,
            [[(x, y) for x, y, _ in frame] for frame in frames],
            [[channel for *_, channel in frame] for frame in frames],
            _ways(tables["routes"].to_pydict(), index),
            _users(tables),
        )

    def data(self) -> dict[str, Any]:
        """Return what the script plays; places in whole metres."""
        flows = list(dict.fromkeys(way.flow for way in self.ways))
        return {
            "nodes": self.nodes,
            "times": [round(time, 3) for time in self.times],
            "places": [[round(value) for place in frame for value in place] for frame in self.places],
            "channels": self.channels,
            "flows": flows,
            "ways": [[round(way.start, 3), flows.index(way.flow), list(way.nodes)] for way in self.ways],
            "users": [[round(user.x), round(user.y), round(user.reach), user.title()] for user in self.users],
            "bounds": self._bounds(),
        }

    def figure(self) -> str:
        """Return the still figure: where nodes began and went, and the ways that were used longest."""
        sheet = still.Sheet(_WIDTH, 0, f"Map of {self.name}")
        flows = list(dict.fromkeys(way.flow for way in self.ways))
        entries = [
            (still.sign("circle", "ink"), "a node at the start"),
            (still.sign("line", "grid"), "where it went"),
            *([(still.sign("line", "alarm", "3 3"), "how far a primary user reaches")] if self.users else []),
            *(
                (still.sign("line", still.series(i), still.dash(i)), f"{flow}: the way used longest")
                for i, flow in enumerate(flows[: 2 * still.COLORS])
            ),
        ]
        top = sheet.legend(60, 2, entries, _WIDTH - 60) + 26
        left, bottom, side = self._bounds()
        panel = sheet.panel(60, top, _MAP, _MAP, Scale(left, left + side), Scale(bottom, bottom + side))
        panel.axes("East, m", "North, m")
        for user in self.users:
            steps = [2 * math.pi * step / 72 for step in range(73)]
            xs = [user.x + user.reach * math.cos(angle) for angle in steps]
            ys = [user.y + user.reach * math.sin(angle) for angle in steps]
            panel.line(xs, ys, color="alarm", dashes="3 3")
            panel.points([user.x], [user.y], color="alarm", size=4, titles=[user.title()])
        for node in range(len(self.nodes)):
            path = [frame[node] for frame in self.places]
            panel.line([x for x, _ in path], [y for _, y in path], color="grid", width=1)
        for number, flow in enumerate(flows):
            if way := self._longest(flow):
                places = [self.places[self._moment(way.start)][node] for node in way.nodes]
                panel.line(
                    [x for x, _ in places], [y for _, y in places],
                    color=still.series(number), width=2.2, dashes=still.dash(number),
                )  # fmt: skip
        for node, (x, y) in enumerate(self.places[0]):
            panel.points([x], [y], color="ink", size=4, titles=[self.nodes[node]])
            if len(self.nodes) <= 60:
                panel.text(x, y, self.nodes[node], dx=6, dy=-5, size=10.5, halo=True)
        sheet.height = top + _MAP + 46
        return sheet.svg()

    def _longest(self, flow: str) -> Way | None:
        """Return the way of a flow that stood for the longest time."""
        ways = [way for way in self.ways if way.flow == flow]
        ends = [way.start for way in ways[1:]] + [self.times[-1]]
        spans = [end - way.start for way, end in zip(ways, ends, strict=True)]
        return ways[spans.index(max(spans))] if ways else None

    def _moment(self, time: float) -> int:
        return max((number for number, at in enumerate(self.times) if at <= time), default=0)

    def _bounds(self) -> tuple[float, float, float]:
        """Return west, south, and the side of the square that is shown."""
        xs = [x for frame in self.places for x, _ in frame]
        ys = [y for frame in self.places for _, y in frame]
        side = max(max(xs) - min(xs), max(ys) - min(ys), 1.0) * 1.06
        return (max(xs) + min(xs) - side) / 2, (max(ys) + min(ys) - side) / 2, side


def _ways(rows: Mapping[str, Sequence[Any]], index: Mapping[str, int]) -> list[Way]:
    found = []
    columns = (rows[name] for name in ("time_s", "flow", "stream", "route"))
    for time, flow, stream, route in zip(*columns, strict=True):
        nodes = route.split(" ")
        if stream != "acknowledgements" and all(node in index for node in nodes):
            found.append(Way(time, flow, tuple(index[node] for node in nodes)))
    return sorted(found, key=lambda way: way.start)


def _users(tables: Mapping[str, pa.Table]) -> list[PrimaryUser]:
    """Return the primary users that do not reach everywhere; of very many the first."""
    if "primary_users" not in tables:
        return []
    rows = tables["primary_users"].slice(0, _MOST_USERS).to_pydict()
    columns = (rows[name] for name in ("user", "band", "x_m", "y_m", "range_m"))
    users = (PrimaryUser(*row) for row in zip(*columns, strict=True))
    return [user for user in users if user.reach < _FARTHEST]
