"""A journey of a train: level and speed on the way, under its outages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.report import scale, still
from cogtcp.report.scale import Scale

if TYPE_CHECKING:
    from cogtcp.journey import Line, Travel

_COLORS = {"coverage": "lost", "tunnel": "lost", "handover": "switching", "border": "switching"}
_WIDTH = 960.0


def journey_figure(line: Line, travel: Travel) -> str:
    """Return the figure as SVG."""
    sheet = still.Sheet(_WIDTH, 500, f"Level and speed on {line.name}, seed {travel.seed}")
    entries = [
        (still.sign("line", "accent"), "level"),
        (still.sign("line", "muted", "4 3"), "threshold"),
        (still.sign("block", "lost"), "no coverage, tunnel"),
        (still.sign("block", "switching"), "handover, border"),
    ]
    top = sheet.legend(50, 2, entries, _WIDTH) + 26
    times = Scale(0, travel.times[-1] or 1.0)
    levels = scale.span([*travel.levels, line.threshold])
    speeds = [speed * 3.6 for speed in travel.speeds]
    level = sheet.panel(54, top, _WIDTH - 72, 270, times, levels)
    ticks = times.ticks(9)
    level.axes("", "Level, dBm", x_ticks=[(tick, "") for tick in ticks])
    speed = sheet.panel(
        54, top + 308, _WIDTH - 72, 90, times, Scale(0, max(speeds, default=1.0) * 1.06 or 1.0)
    )
    speed.axes("Time, s", "Speed, km/h")
    for panel in (level, speed):
        for color in ("lost", "switching"):
            spans = [
                (o.start, min(o.end, travel.times[-1])) for o in travel.outages if _COLORS[o.cause] == color
            ]
            panel.bands(spans, color=color)
    level.line(travel.times, travel.levels, color="accent", width=1)
    level.across(line.threshold)
    speed.line(travel.times, speeds, color="ink", width=1.2)
    for row, call in enumerate(call for call in travel.calls if call.station.stops):
        at_end = times.place(call.arrival) > 0.85
        level.upright(call.arrival, dashes="1 3")
        dx, anchor = (-4, "end") if at_end else (4, "start")
        dy = 14 + 15 * (row % 3)
        name = call.station.name
        level.text(call.arrival, levels.high, name, dx=dx, dy=dy, anchor=anchor, size=11.5, halo=True)
    sheet.height = top + 308 + 90 + 46
    return sheet.svg()
