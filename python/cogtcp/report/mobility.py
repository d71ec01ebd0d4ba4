"""The paths of nodes on a map, and how many neighbours they have over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.report import scale, still
from cogtcp.report.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.mobility import Connectivity, Mobility

_WIDTH = 960.0
_MAP = 620.0
#: Places along a path between two times: more cannot be told apart.
_STEPS = 400
_MOST_NODES = 200


def mobility_figure(
    moves: Mobility, start: float, end: float, name: str, contacts: Sequence[Connectivity] = ()
) -> str:
    """Return the paths from `start` to `end` (s) as SVG, north upwards, neighbours over time below."""
    sheet = still.Sheet(_WIDTH, 0, f"Paths of the nodes of {name}")
    drawn = min(len(moves), _MOST_NODES)
    more = f"; {len(moves) - drawn} more nodes are not drawn" if len(moves) > drawn else ""
    entries = [
        (still.sign("circle", "ink"), f"at {start:g} s"),
        (still.sign("line", "accent"), f"the way to {end:g} s{more}"),
    ]
    top = sheet.legend(60, 2, entries, _WIDTH) + 26
    steps = _STEPS if end > start else 0
    times = [start + (end - start) * step / max(steps, 1) for step in range(steps + 1)]
    frames = [moves.positions(time)[:drawn] for time in times]
    xs, ys = _square([x for frame in frames for x, _ in frame], [y for frame in frames for _, y in frame])
    panel = sheet.panel(60, top, _MAP, _MAP, xs, ys)
    panel.axes("East, m", "North, m")
    for node in range(drawn):
        color = still.series(node)
        path = [frame[node] for frame in frames]
        if len(path) > 1:
            panel.line([x for x, _ in path], [y for _, y in path], color=color, width=1, opacity=0.8)
        panel.points([path[0][0]], [path[0][1]], color=color, size=4, titles=[f"node {node} at {start:g} s"])
        if drawn <= 60:
            panel.text(*path[0], str(node), dx=6, dy=-5, size=10.5, halo=True)
    sheet.height = top + _MAP + 46
    if len(contacts) > 1:
        degrees = [contact.degree for contact in contacts]
        below = sheet.panel(
            60, sheet.height + 20, _WIDTH - 80, 110,
            Scale(contacts[0].time, contacts[-1].time), scale.span(degrees, zero=True),
        )  # fmt: skip
        below.axes("Time, s", "Neighbours, mean of all nodes")
        below.line([contact.time for contact in contacts], degrees, color="accent")
        sheet.height += 20 + 110 + 46
    return sheet.svg()


def _square(xs: Sequence[float], ys: Sequence[float]) -> tuple[Scale, Scale]:
    """Return scales on which a metre is as long to the east as to the north."""
    low_x, high_x = min(xs, default=0.0), max(xs, default=1.0)
    low_y, high_y = min(ys, default=0.0), max(ys, default=1.0)
    half = max(high_x - low_x, high_y - low_y, 1.0) * 0.53
    x, y = (low_x + high_x) / 2, (low_y + high_y) / 2
    return Scale(x - half, x + half), Scale(y - half, y + half)
