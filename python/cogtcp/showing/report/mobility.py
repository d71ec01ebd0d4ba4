"""The paths of nodes on a map, and how many neighbours they have over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.showing.figure import scale
from cogtcp.showing.figure.model import Axis, Dots, Drawing, Entry, Line, Panel, Text, series
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.mobility import Connectivity, Mobility

#: Places along a path between two times: more cannot be told apart.
_STEPS = 400
_MOST_NODES = 200


def mobility_figure(
    moves: Mobility, start: float, end: float, name: str, contacts: Sequence[Connectivity] = ()
) -> Drawing:
    """Return the paths from `start` to `end` (s), north upwards, neighbours over time below."""
    count = min(len(moves), _MOST_NODES)
    more = f"; {len(moves) - count} more nodes are not drawn" if len(moves) > count else ""
    legend = [
        Entry(f"at {start:g} s", "circle", "ink"),
        Entry(f"the way to {end:g} s{more}", "line", "accent"),
    ]
    steps = _STEPS if end > start else 0
    times = [start + (end - start) * step / max(steps, 1) for step in range(steps + 1)]
    frames = [moves.positions(time)[:count] for time in times]
    xs, ys = ([place[side] for frame in frames for place in frame] or [0.0, 1.0] for side in (0, 1))
    half = max(max(xs) - min(xs), max(ys) - min(ys), 1.0) * 0.53
    # A metre is as long to the east as to the north.
    x, y = (Scale(middle - half, middle + half) for middle in ((min(v) + max(v)) / 2 for v in (xs, ys)))
    panel = Panel(Axis(x, "East, m"), Axis(y, "North, m"), height=0)
    for node in range(count):
        path = [frame[node] for frame in frames]
        if len(path) > 1:
            panel.add(Line([x for x, _ in path], [y for _, y in path], series(node), 1, opacity=0.8))
        panel.add(Dots([path[0][0]], [path[0][1]], series(node), titles=[f"node {node} at {start:g} s"]))
        if count <= 60:
            panel.add(Text(*path[0], str(node), 6, -5, 10.5, halo=True))
    drawing = Drawing(f"Paths of the nodes of {name}", [[panel]], legend, width=960)
    if len(contacts) > 1:
        degrees = [contact.degree for contact in contacts]
        across = Axis(Scale(contacts[0].time, contacts[-1].time), "Time, s")
        below = Panel(across, Axis(scale.span(degrees, zero=True), "Neighbours, mean of all nodes"), 110)
        below.add(Line([contact.time for contact in contacts], degrees, "accent"))
        drawing.rows.append([below])
    return drawing
