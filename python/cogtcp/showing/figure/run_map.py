"""The map of an ad hoc run: where nodes are, on which channel, and the routes of the flows' packets.

In the page a script plays it (`report/static/map.js`). Without a script, and on paper, the figure is still.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._units import LENGTH
from cogtcp.showing.figure.model import Axis, Bar, Dots, Drawing, Entry, Line, Panel, Shape, Text, series
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.model.result import Result
    from cogtcp.showing.plot.saved import Saved

_WIDTH, _MAP = 960.0, 620.0
#: More nodes, users or moments cannot be told apart. What is left out is said under the map.
_MOST_NODES, _MOST_MOMENTS, _MOST_USERS = 200, 600, 200
#: If primary users come and go more often, when is left out: they are then drawn as if always OFF.
_MOST_CHANGES = 20_000
#: A primary user that reaches farther, m, is everywhere.
_FARTHEST = 1e7
#: Streams that are a flow's own route; acknowledgements and requests go back.
_FLOW_STREAMS = ("data", "datagrams")


@dataclass(frozen=True, slots=True)
class FlowRoute:
    """From `start` on a flow's data went over these nodes; over none: over a route that is left out."""

    start: float
    flow: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PrimaryUser:
    """A primary user, how far it reaches, and from when to when it was ON (s)."""

    number: int
    band: int
    x: float
    y: float
    reach: float
    on: Sequence[tuple[float, float]] = ()

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
        flows: Names of the flows with the names of their ends, whether or not anything arrived.
        routes: Routes of the flows' data, by time.
        users: Primary users, wherever the scenario puts or the seed scatters them.
        area: Width and height of the scenario's area in m; its corner is at (0, 0).
        left_out: What the map does not show of the run, a sentence each.
    """

    name: str
    nodes: Sequence[str]
    times: Sequence[float]
    places: Sequence[Sequence[tuple[float, float]]]
    channels: Sequence[Sequence[int]]
    flows: Mapping[str, tuple[str, str]]
    routes: Sequence[FlowRoute]
    users: Sequence[PrimaryUser]
    area: tuple[float, float] | None
    left_out: Sequence[str] = ()

    @classmethod
    def of(cls, result: Result | Saved) -> RunMap | None:
        """Read the map of a run; None where there is none: no ad hoc network, or no time series."""
        if result.count("positions") == 0:
            return None
        rows = result.columns("positions")
        flows, routes = _flows(result.columns("streams")), result.columns("routes")
        everybody = list(dict.fromkeys(rows["node"]))
        nodes = _shown(everybody, flows, routes)
        index = {name: number for number, name in enumerate(nodes)}
        moments: dict[float, dict[int, tuple[float, float, int]]] = {}
        columns = (rows[name] for name in ("time_s", "node", "x_m", "y_m", "channel", "silent"))
        for time, node, x, y, channel, silent in zip(*columns, strict=True):
            if node in index:
                moments.setdefault(time, {})[index[node]] = (x, y, -1 if silent else int(channel))
        changes = _changes(result) if result.count("primary_users") else 0
        every = math.ceil(len(moments) / _MOST_MOMENTS)
        times = sorted(time for time, there in moments.items() if len(there) == len(nodes))[::every]
        frames = [[moments[time][number] for number in range(len(nodes))] for time in times]
        return cls(
            result.scenario.name,
            nodes,
            times,
            [[(x, y) for x, y, _ in frame] for frame in frames],
            [[channel for *_, channel in frame] for frame in frames],
            flows,
            _routes(routes, index),
            _users(result, times[-1], changes),
            _area(result.scenario.to_dict().get("area")),
            _left_out(result, len(everybody), changes),
        )

    def data(self) -> dict[str, Any]:
        """Return what the script plays; places in whole metres."""
        flows = list(self.flows)
        return {
            "nodes": self.nodes,
            "times": [round(time, 3) for time in self.times],
            "begin": self.moment(self.routes[0].start, after=True) if self.routes else 0,
            "places": [[round(value) for place in frame for value in place] for frame in self.places],
            "channels": self.channels,
            "flows": [[name, *ends] for name, ends in self.flows.items()],
            "routes": [[round(it.start, 3), flows.index(it.flow), list(it.nodes)] for it in self.routes],
            "users": [
                [
                    round(user.x), round(user.y), round(user.reach), user.title(), user.number,
                    [round(time, 3) for span in user.on for time in span],
                ]
                for user in self.users
            ],
            "bounds": self.bounds(),
            "area": self.area,
        }  # fmt: skip

    def figure(self, at: float | None = None) -> Drawing:
        """Return the figure at a time in s: by default the first at which the most flows have a route."""
        moment = self.fullest() if at is None else self.moment(at)
        time, places, channels = self.times[moment], self.places[moment], self.channels[moment]
        left, bottom, wide, high = self.bounds()
        panel = Panel(
            Axis(Scale(left, left + wide), f"East, m; at {time:g} s of {self.times[-1]:g} s"),
            Axis(Scale(bottom, bottom + high), "North, m"),
            height=0,
        )
        for user in self.users:
            turns = [2 * math.pi * step / 48 for step in range(49)]
            xs = [user.x + user.reach * math.cos(turn) for turn in turns]
            ys = [user.y + user.reach * math.sin(turn) for turn in turns]
            if any(start <= time < end for start, end in user.on):
                panel.add(Shape(xs, ys, "alarm"))
            panel.add(Line(xs, ys, "alarm", 1, "3 3", opacity=0.7))
            panel.add(Dots([user.x], [user.y], "alarm", "cross", titles=[user.title()]))
            shown = left <= user.x <= left + wide and bottom <= user.y <= bottom + high
            if shown and len(self.users) <= 40:
                panel.add(Text(user.x, user.y, f"PU {user.number}", 6, 13, 10, "alarm", halo=True))
        if self.area:
            panel.add(Bar((0, self.area[0]), (0, self.area[1]), "muted", hollow=True))
        for node in range(len(self.nodes)):
            path = [frame[node] for frame in self.places[moment:]]
            panel.add(Line([x for x, _ in path], [y for _, y in path], "grid", 1))
        for number, route in self.routes_at(time).items():
            if not route.nodes:
                continue
            spots = [places[node] for node in route.nodes]
            # Routes that share hops lie beside each other.
            aside = (number - (len(self.flows) - 1) / 2) * 2.5 * max(wide, high) / _MAP
            xs, ys = [x + aside for x, _ in spots], [y + aside for _, y in spots]
            panel.add(Line(xs, ys, "ink", 1.8, _dashes(number), opacity=0.75))
            hop = max(range(len(xs) - 1), key=lambda i: math.dist(spots[i], spots[i + 1]), default=0)
            # Names of flows that share their longest hop stand one after the other on it.
            share = 0.3 + 0.4 * (number / (len(self.flows) - 1) if len(self.flows) > 1 else 0.5)
            x, y = (line[hop] + (line[hop + 1] - line[hop]) * share for line in (xs, ys))
            panel.add(Text(x, y, route.flow, size=11, halo=True, bold=True, anchor="middle", middle=True))
        for node, (x, y) in enumerate(places):
            title, silent = self.nodes[node], channels[node] < 0
            color = "ink" if silent else series(channels[node])
            panel.add(Dots([x], [y], color, size=5, hollow=silent, titles=[title]))
            if len(self.nodes) <= 60:
                panel.add(Text(x, y, title, 7, -6, 10.5, halo=True))
        return Drawing(f"Map of {self.name} at {time:g} s", [[panel]], self._legend(moment), width=_WIDTH)

    def _legend(self, moment: int) -> list[Entry]:
        time = self.times[moment]
        seen = sorted({channel for channel in self.channels[moment] if channel >= 0})
        silent = any(channel < 0 for channel in self.channels[moment])
        several = silent or len(seen) > 1
        signs = [
            Entry(f"listens on channel {channel}" if several else "node", "circle", series(channel))
            for channel in seen
        ]
        if silent:
            signs.append(Entry("silent: senses or switches", "circle", "ink", hollow=True))
        if any(frame != self.places[moment] for frame in self.places[moment:]):
            signs.append(Entry("where nodes go from here", "line", "grid"))
        if self.area:
            signs.append(Entry(f"the area, {self.area[0]:g} x {self.area[1]:g} m", "line", "muted"))
        if self.users:
            signs.append(Entry("how far a primary user reaches when it is ON", "line", "alarm", "3 3"))
        at = self.routes_at(time)
        for number, (flow, (source, destination)) in enumerate(self.flows.items()):
            words = f"{flow}: {source} to {destination}, {self.state(at.get(number))}"
            signs.append(Entry(words, "line", "ink", _dashes(number)))
        return signs

    def routes_at(self, time: float) -> dict[int, FlowRoute]:
        """Return the route that each flow's last packet came, by the flow's number, at `time`."""
        numbers = {flow: number for number, flow in enumerate(self.flows)}
        return {numbers[route.flow]: route for route in self.routes if route.start <= time}

    @staticmethod
    def state(route: FlowRoute | None) -> str:
        """Return in words what became of a flow's last packet."""
        if route is None:
            return "nothing has arrived"
        hops = len(route.nodes) - 1
        return "its route is not shown" if hops < 0 else "1 hop" if hops == 1 else f"{hops} hops"

    def fullest(self) -> int:
        """Return the first moment at which the most flows have a route."""
        first: dict[str, float] = {}
        for route in self.routes:
            first.setdefault(route.flow, route.start)
        return self.moment(max(first.values()), after=True) if first else 0

    def moment(self, time: float, *, after: bool = False) -> int:
        """Return the last moment up to `time`, or the first from then on."""
        if after:
            return next((i for i, at in enumerate(self.times) if at >= time), len(self.times) - 1)
        return max((i for i, at in enumerate(self.times) if at <= time), default=0)

    def bounds(self) -> tuple[float, float, float, float]:
        """Return west, south, width and height of what is shown: the area and every place, with a margin."""
        corners = [] if self.area is None else [(0.0, 0.0), self.area]
        places = [place for frame in self.places for place in frame] + corners
        left, right = min(x for x, _ in places), max(x for x, _ in places)
        bottom, top = min(y for _, y in places), max(y for _, y in places)
        margin = 0.05 * max(right - left, top - bottom, 1.0)
        # A line of nodes gets a strip that their names fit into.
        least = 0.3 * max(right - left, top - bottom, 1.0)
        wide, high = max(right - left, least) + 2 * margin, max(top - bottom, least) + 2 * margin
        return (left + right - wide) / 2, (bottom + top - high) / 2, wide, high


def _dashes(number: int) -> str:
    """Return the dashes of a flow's route. All are in one colour: colours tell channels apart."""
    return ("", "6 3", "2 3", "8 3 2 3")[number % 4]


def _area(section: Mapping[str, str] | None) -> tuple[float, float] | None:
    if section is None:
        return None
    parts = [section[side].split() for side in ("width", "height")]
    width, height = (float(value) * LENGTH[unit] for value, unit in parts)
    return width, height


def _flows(rows: Mapping[str, Sequence[Any]]) -> dict[str, tuple[str, str]]:
    columns = (rows[name] for name in ("flow", "stream", "from", "to"))
    return {
        flow: (source, destination)
        for flow, stream, source, destination in zip(*columns, strict=True)
        if stream in _FLOW_STREAMS
    }


def _routes(rows: Mapping[str, Sequence[Any]], index: Mapping[str, int]) -> list[FlowRoute]:
    found = []
    columns = (rows[name] for name in ("time_s", "flow", "stream", "route"))
    for time, flow, stream, route in zip(*columns, strict=True):
        nodes = route.split(" ")
        if stream in _FLOW_STREAMS:
            shown = all(node in index for node in nodes)
            found.append(FlowRoute(time, flow, tuple(index[node] for node in nodes) if shown else ()))
    return sorted(found, key=lambda found: found.start)


def _shown(
    nodes: Sequence[str], flows: Mapping[str, tuple[str, str]], routes: Mapping[str, Sequence[Any]]
) -> list[str]:
    """Return the nodes that are shown: of very many ends of flows first, then nodes of their routes."""
    if len(nodes) <= _MOST_NODES:
        return list(nodes)
    taken = zip(routes["stream"], routes["route"], strict=True)
    relays = [node for stream, route in taken if stream in _FLOW_STREAMS for node in route.split(" ")]
    ends = [end for pair in flows.values() for end in pair]
    chosen = set(list(dict.fromkeys([*ends, *relays, *nodes]))[:_MOST_NODES])
    return [node for node in nodes if node in chosen]


def _left_out(result: Result | Saved, nodes: int, changes: int) -> list[str]:
    """Return a sentence for each kind of thing that is too many."""
    found = []
    if nodes > _MOST_NODES:
        first = "ends of flows, then nodes on their paths, then the first"
        found.append(f"Of {nodes} nodes {_MOST_NODES} are shown: {first}.")
    users = result.count("primary_users")
    if users > _MOST_USERS:
        found.append(f"Of {users} primary users the first {_MOST_USERS} are shown.")
    if users and changes > _MOST_CHANGES:
        many = f"Primary users come and go more than {_MOST_CHANGES:,} times"
        found.append(f"{many}: when they are ON is not shown.")
    return found


def _changes(result: Result | Saved) -> int:
    codes, names = result.texts("events", "kind")
    return sum(names[code] in ("pu_on", "pu_off") for code in codes)


def _users(result: Result | Saved, end: float, changes: int) -> list[PrimaryUser]:
    """Return the primary users that do not reach everywhere; of very many the first."""
    if not result.count("primary_users"):
        return []
    on = _intervals(result, end) if changes <= _MOST_CHANGES else {}
    rows = result.columns("primary_users")
    columns = (rows[name][:_MOST_USERS] for name in ("user", "band", "x_m", "y_m", "range_m"))
    users = (
        PrimaryUser(number, band, x, y, reach, on.get(f"pu{number}", ()))
        for number, band, x, y, reach in zip(*columns, strict=True)
    )
    return [user for user in users if user.reach < _FARTHEST]


def _intervals(result: Result | Saved, end: float) -> dict[str, list[tuple[float, float]]]:
    """Return from when to when each primary user was ON."""
    found: dict[str, list[tuple[float, float]]] = {}
    since: dict[str, float] = {}
    events = result.columns("events")
    columns = (events[name] for name in ("time_s", "kind", "entity"))
    for time, kind, entity in zip(*columns, strict=True):
        if kind == "pu_on":
            since.setdefault(entity, time)
        elif kind == "pu_off" and entity in since:
            found.setdefault(entity, []).append((since.pop(entity), time))
    for entity, time in since.items():
        found.setdefault(entity, []).append((time, end))
    return found
