"""The map of an ad hoc run at one moment: where nodes are, on which channel, and the routes of the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.plot import style
from cogtcp.report.run_map import RunMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from cogtcp.plot.saved import Saved
    from cogtcp.report.run_map import PrimaryUser
    from cogtcp.result import Result

_ALARM, _MUTED = "#b03a2e", "#777777"
#: Names of more nodes or users would cover each other.
_MOST_NAMES = 60


def area_map(
    result: Result | Saved,
    *,
    at: float | None = None,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return the map of a run at a moment: nodes, their channels, routes of the flows' data, primary users.

    A line is the path of a flow's last packet that had arrived. The circle of a primary user is its range,
    filled while it is ON.

    Args:
        result: A run of an ad hoc network whose time series were recorded.
        at: When, in s: the last moment that was recorded by then. By default the first at which the most
            flows have a route.
        width: In inches.
        height: In inches; by default what the area needs.

    Raises:
        UsageError: The run has no map, or `at` lies outside of it.
    """
    shown = RunMap.of(result)
    if shown is None:
        raise UsageError(
            'the run has no map; simulate an ad hoc network, and with trace "series", "full" or "packets"'
        )
    if at is not None and not shown.times[0] <= at <= shown.times[-1]:
        raise UsageError(f"at {at:g}: write a time of the run, {shown.times[0]:g} to {shown.times[-1]:g} s")
    moment = shown.fullest() if at is None else shown.moment(at)
    west, south, wide, high = shown.bounds()
    with style.paper(width, height or width * high / wide + 0.7) as figure:
        axes: Any = figure.subplots()
        axes.set_aspect("equal")
        axes.set_xlim(west, west + wide)
        axes.set_ylim(south, south + high)
        axes.grid(visible=False)
        axes.set_xlabel(f"East, m; at {shown.times[moment]:g} s")
        axes.set_ylabel("North, m")
        if shown.area:
            axes.plot(*_rectangle(*shown.area), color=_MUTED, linewidth=0.6)
        _users(axes, shown.users, shown.times[moment])
        _routes(axes, shown, moment)
        _nodes(axes, shown, moment)
        handles, names = axes.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=max(2, int(width / 1.1)))
    return figure


def _rectangle(width: float, height: float) -> tuple[Sequence[float], Sequence[float]]:
    return (0, width, width, 0, 0), (0, 0, height, height, 0)


def _users(axes: Any, users: Sequence[PrimaryUser], time: float) -> None:
    from matplotlib.patches import Circle

    for number, user in enumerate(users):
        is_on = any(start <= time < end for start, end in user.on)
        axes.add_patch(Circle((user.x, user.y), user.reach, facecolor=_ALARM if is_on else "none", alpha=0.1,
                              edgecolor="none"))  # fmt: skip
        axes.add_patch(Circle((user.x, user.y), user.reach, facecolor="none", edgecolor=_ALARM,
                              linewidth=0.5, linestyle=":", alpha=0.8))  # fmt: skip
        label = "primary user, its reach" if number == 0 else None
        axes.plot([user.x], [user.y], "x", color=_ALARM, linestyle="none", label=label)


def _routes(axes: Any, shown: RunMap, moment: int) -> None:
    places, routes = shown.places[moment], shown.routes_at(shown.times[moment])
    for number, (flow, (source, destination)) in enumerate(shown.flows.items()):
        route = routes.get(number)
        spots = [places[node] for node in route.nodes] if route else []
        # Routes that share hops lie beside each other.
        aside = (number - (len(shown.flows) - 1) / 2) * shown.bounds()[2] / 250
        axes.plot(
            [x + aside for x, _ in spots],
            [y + aside for _, y in spots],
            color="black",
            linewidth=0.9,
            linestyle=style.DASHES[number % len(style.DASHES)],
            label=f"{flow}: {source} to {destination}, {shown.state(route)}",
        )


def _nodes(axes: Any, shown: RunMap, moment: int) -> None:
    places, channels = shown.places[moment], shown.channels[moment]
    several = len(set(channels)) > 1
    for channel in sorted(set(channels)):
        there = [place for place, its in zip(places, channels, strict=True) if its == channel]
        silent = channel < 0
        color = "black" if silent else style.COLORS[channel % (len(style.COLORS) - 1)]
        name = "silent: senses or switches" if silent else f"channel {channel}" if several else "node"
        axes.plot(
            [x for x, _ in there],
            [y for _, y in there],
            style.MARKERS[max(channel, 0) % len(style.MARKERS)],
            color=color,
            markerfacecolor="white" if silent else color,
            label=name,
        )
    if len(places) <= _MOST_NAMES:
        for name, (x, y) in zip(shown.nodes, places, strict=True):
            if math.isfinite(x) and math.isfinite(y):
                axes.annotate(name, (x, y), xytext=(2.5, 2.5), textcoords="offset points", fontsize=5.5)
