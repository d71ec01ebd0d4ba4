"""A journey of a train: level and speed on the way, under its outages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cogtcp import provenance
from cogtcp.journey import summarise
from cogtcp.report import page, scale, still
from cogtcp.report.reduce import Grid
from cogtcp.report.scale import Scale
from cogtcp.report.series import Events, Series, Silence
from cogtcp.report.tables import Table
from cogtcp.report.timeline import Line as Line_
from cogtcp.report.timeline import Plot, Timeline, Track

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.journey import Line, Travel

_COLORS = {"coverage": "lost", "tunnel": "lost", "handover": "switching", "border": "switching"}
_WIDTH = 960.0
_SIGNS = (
    (still.sign("line", "accent"), "level"),
    (still.sign("line", "muted", "4 3"), "threshold"),
    (still.sign("block", "lost"), "no coverage, tunnel"),
    (still.sign("block", "switching"), "handover, border"),
)


def journey_figure(line: Line, travel: Travel) -> str:
    """Return the figure as SVG."""
    sheet = still.Sheet(_WIDTH, 500, f"Level and speed on {line.name}, seed {travel.seed}")
    top = sheet.legend(50, 2, _SIGNS, _WIDTH) + 26
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


def journey_page(line: Line, travel: Travel, several: Sequence[Travel], command: str) -> str:
    """Return the page of one journey: level and speed that zoom, its stops, and the outages of several."""
    silent = sum(t.silent / t.duration for t in several) / len(several)
    stops = [
        [call.station.name, f"{call.station.at / 1000:g}", f"{call.arrival:.0f}",
         f"{call.departure:.0f}" if math.isfinite(call.departure) else "",
         "" if call.station.stops else "passes"]
        for call in travel.calls
    ]  # fmt: skip
    causes = [
        [p.cause, f"{p.per_journey:.1f}", f"{p.mean:.2f}", f"{p.longest:.2f}"]
        for p in summarise(list(several))
    ]
    return page.render(
        "figure.html.j2",
        title=line.name,
        description=line.description,
        answer=f"{line.length / 1000:g} km in {travel.duration / 60:.1f} min; without signal for "
        f"{silent * 100:.1f} % of the time, over {len(several)} journeys.",
        time=_over_time(line, travel),
        figures=[],
        tables=[
            (
                "Stations",
                Table([("Station", ""), ("At", "km"), ("Arrival", "s"), ("Departure", "s"), ("", "")], stops),
            ),
            (
                f"Outages of {len(several)} journeys",
                Table([("Cause", ""), ("A journey", ""), ("Mean", "s"), ("Longest", "s")], causes),
            ),
        ],
        origin=[
            ("Command", command),
            ("Seed", str(travel.seed)),
            ("cogtcp", provenance.version()),
            ("Written", page.date()),
        ],
    )


def _over_time(line: Line, travel: Travel) -> dict[str, Any]:
    """Return time lines of level and speed under the outages, as the templates take them."""
    times = np.asarray(travel.times, dtype=float)
    grid = Grid.over([times], most=20_000, end=float(times[-1]))
    level = grid.reduce(times, travel.levels)
    threshold = np.full(len(grid.times()), line.threshold)
    speed = grid.reduce(times, [speed * 3.6 for speed in travel.speeds])
    happened = sorted(
        [(call.arrival, "arrival", call.station.name) for call in travel.calls if call.station.stops]
        + [(o.start, "outage", o.cause) for o in travel.outages]
    )
    kinds, entities = (sorted({event[column] for event in happened}) for column in (1, 2))
    events = Events(
        time=np.array([event[0] for event in happened]),
        value=np.full(len(happened), math.nan),
        codes={
            "kind": np.array([kinds.index(str(event[1])) for event in happened], dtype=int),
            "entity": np.array([entities.index(str(event[2])) for event in happened], dtype=int),
            "flow": np.zeros(len(happened), dtype=int),
            "detail": np.zeros(len(happened), dtype=int),
        },
        names={
            "kind": [str(k) for k in kinds],
            "entity": [str(e) for e in entities],
            "flow": [""],
            "detail": [""],
        },
    )
    end = float(times[-1])
    silences = [Silence(o.start, min(o.end, end), _COLORS[o.cause]) for o in travel.outages if o.start < end]
    series = Series(end, {}, 0, "", {}, silences, events)
    timeline = Timeline({"": series}, [Line_("", 0, "", "accent", "")], [], grid, end, [0])
    timeline.plots = [
        Plot(
            "Level, dBm",
            4,
            1,
            [Track(0, 0, level, "accent"), Track(0, 0, threshold, "muted", "4 3", name="threshold")],
        ),
        Plot("Speed, km/h", 2, 1, [Track(0, 0, speed, "ink")]),
    ]
    return {
        "data": timeline.data(),
        "whole": journey_figure(line, travel),
        "zoom": "",
        "key": _key(),
        "cut_off": False,
    }


def _key() -> list[dict[str, str]]:
    return [{"svg": sign, "text": text} for sign, text in _SIGNS]
