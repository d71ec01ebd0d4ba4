"""A journey of a train: level and speed on the way, under its outages."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Any

from cogtcp.data.journey import summarise
from cogtcp.showing.figure import model, scale
from cogtcp.showing.figure.model import Axis, Drawing, Entry, Panel, Rule, Spans, Text
from cogtcp.showing.figure.reduce import Grid
from cogtcp.showing.figure.scale import Scale
from cogtcp.showing.figure.series import Events, Series, Silence
from cogtcp.showing.figure.timeline import Line as Line_
from cogtcp.showing.figure.timeline import Plot, Timeline, Track
from cogtcp.showing.report import page
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.journey import Line, Travel

_COLORS = {"coverage": "lost", "tunnel": "lost", "handover": "switching", "border": "switching"}
_SIGNS = (
    Entry("level", "line", "accent"),
    Entry("threshold", "line", "muted", "4 3"),
    Entry("no coverage, tunnel", "block", "lost", opacity=0.6),
    Entry("handover, border", "block", "switching", opacity=0.6),
)


def journey_figure(line: Line, travel: Travel) -> Drawing:
    """Return the figure."""
    times = Scale(0, travel.times[-1] or 1.0)
    levels = scale.span([*travel.levels, line.threshold])
    speeds = [speed * 3.6 for speed in travel.speeds]
    fastest = Scale(0, max(speeds, default=1.0) * 1.06 or 1.0)
    level = Panel(Axis(times, bare=True), Axis(levels, "Level", "dBm"), 270)
    speed = Panel(Axis(times, "Time", "s"), Axis(fastest, "Speed", "km/h"), 90)
    for color in ("lost", "switching"):
        spans = [(o.start, min(o.end, travel.times[-1])) for o in travel.outages if _COLORS[o.cause] == color]
        level.add(Spans(spans, color))
        speed.add(Spans(spans, color))
    level.add(model.Line(travel.times, travel.levels, "accent", 1), Rule(line.threshold, dashes="4 3"))
    speed.add(model.Line(travel.times, speeds, "ink", 1.2))
    for row, call in enumerate(call for call in travel.calls if call.station.stops):
        dx, anchor = (-4, "end") if times.place(call.arrival) > 0.85 else (4, "start")
        level.add(Rule(call.arrival, dashes="1 3", upright=True))
        level.add(Text(call.arrival, levels.high, call.station.name, dx, 14 + 15 * (row % 3), 11.5,
                       anchor=anchor, halo=True))  # fmt: skip
    label = f"Level and speed on {line.name}, seed {travel.seed}"
    return Drawing(label, [[level], [speed]], _SIGNS, width=960)


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
        origin=page.origin(command, Seed=str(travel.seed)),
    )


def _over_time(line: Line, travel: Travel) -> dict[str, Any]:
    """Return time lines of level and speed under the outages, as the templates take them."""
    times = array("d", travel.times)
    grid = Grid.over([times], most=20_000, end=times[-1])
    level = grid.reduce(times, travel.levels)
    threshold = array("d", [line.threshold]) * len(grid.times())
    speed = grid.reduce(times, [speed * 3.6 for speed in travel.speeds])
    happened = sorted(
        [(call.arrival, "arrival", call.station.name) for call in travel.calls if call.station.stops]
        + [(o.start, "outage", o.cause) for o in travel.outages]
    )
    kinds, entities = (sorted({event[column] for event in happened}) for column in (1, 2))
    events = Events(
        time=[event[0] for event in happened],
        value=[math.nan] * len(happened),
        codes={
            "kind": [kinds.index(str(event[1])) for event in happened],
            "entity": [entities.index(str(event[2])) for event in happened],
            "flow": [0] * len(happened),
            "detail": [0] * len(happened),
        },
        names={
            "kind": [str(k) for k in kinds],
            "entity": [str(e) for e in entities],
            "flow": [""],
            "detail": [""],
        },
    )
    end = times[-1]
    silences = [Silence(o.start, min(o.end, end), _COLORS[o.cause]) for o in travel.outages if o.start < end]
    series = Series(end, {}, 0, "", {}, silences, events)
    timeline = Timeline({"": series}, [Line_("", 0, "", "accent", "")], [], grid, end, [0])
    timeline.plots = [
        Plot(
            "level",
            "Level",
            "dBm",
            4,
            1,
            [Track(0, 0, level, "accent"), Track(0, 0, threshold, "muted", "4 3", name="threshold")],
        ),
        Plot("speed", "Speed", "km/h", 2, 1, [Track(0, 0, speed, "ink")]),
    ]
    return {
        "data": timeline.data(),
        "whole": journey_figure(line, travel),
        "zoom": None,
        "key": _SIGNS,
        "cut_off": False,
    }
