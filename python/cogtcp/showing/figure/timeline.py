"""One run, or several over each other, over time: windows, round-trip time, queue and goodput.

`Timeline.of` makes the data that the page's script draws (see `report/static/page.js`), and the still figures
that stand in their place where no script runs, and on paper.
"""

from __future__ import annotations

import base64
import math
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp.showing.figure import model, scale
from cogtcp.showing.figure.curves import scale_note
from cogtcp.showing.figure.model import Axis, Dots, Drawing, Entry, Panel, Spans, Strokes, dash, series
from cogtcp.showing.figure.reduce import Grid, duration, thin_marks
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.showing.figure.series import Columns, Series, Silence, Span

# What a page carries at most: numbers of series, events, silences. Together about 1.5 MB.
_MOST_VALUES = 220_000
_MOST_OF_ONE = 20_000
_MOST_EVENTS = 10_000
_MOST_SILENCES = 12_000

#: More lines than this are not shown at first; one flow of each run is.
_MOST_AT_FIRST = 6

_WIDTH = 960.0
#: Kinds of silences, with what legends call them.
KINDS = {"sensing": "sensing", "switching": "switching", "lost": "no signal"}
#: Events of flows that are marked: shape, colour, share of the height, name.
_MARKS = {
    "rto": ("down", "alarm", 0.97, "RTO"),
    "fast_retransmit": ("circle", "series-2", 0.88, "fast retransmit"),
    "timeout": ("down", "alarm", 0.97, "timeout"),
    "loss": ("circle", "series-2", 0.88, "loss event"),
}
_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 4")


@dataclass(frozen=True, slots=True)
class Line:
    """What the reader can show and hide: one flow of one run."""

    name: str
    run: int
    flow: str
    color: str
    dashes: str


@dataclass(slots=True)
class Track:
    """One series in one panel, on the grid of the page."""

    line: int  # -1: belongs to the run, and is shown as long as its run is
    run: int
    values: array[float]
    color: str
    dashes: str = ""
    steps: bool = False
    name: str = ""


@dataclass(slots=True)
class Plot:
    """One panel: what it is called, what it shows, and where its axis ends at most."""

    name: str
    title: str
    unit: str
    height: float
    digits: int
    tracks: list[Track] = field(default_factory=list)
    #: The end of the axis, if it is known; else it follows what is seen, save for values that explode.
    limit: float | None = None
    marks: tuple[str, ...] = ()  # events that are marked in it


@dataclass
class Timeline:
    """The time lines of a page."""

    runs: dict[str, Series]
    lines: list[Line]
    plots: list[Plot]
    grid: Grid
    end: float
    shown: list[int]  # the lines that are shown at first

    @classmethod
    def of(cls, runs: Mapping[str, Series]) -> Timeline:
        """Lay runs over each other; the names tell them apart, and are not shown where there is only one."""
        everything = list(runs.values())
        end = max((run.duration for run in everything), default=1.0)
        lines = _lines(runs)
        times = [
            columns["time_s"]
            for run in everything
            for columns in (*run.flows.values(), *([run.link_series] if run.has_link else []))
        ]
        # cwnd, RTT and goodput of each line; queue and rate of each run; ssthresh where it does not clutter.
        count = 3 * len(lines) + 2 * len(everything) + len(lines)
        grid = Grid.over(times, most=min(_MOST_OF_ONE, _MOST_VALUES // max(1, count)), end=end)
        shown = list(range(len(lines)))
        if len(lines) > _MOST_AT_FIRST:
            first = {line.run: index for index, line in reversed(list(enumerate(lines)))}
            shown = sorted(first.values()) if len(everything) > 1 else shown[:_MOST_AT_FIRST]
        timeline = cls(dict(runs), lines, [], grid, end, shown)
        timeline.plots = timeline._plots()
        return timeline

    def _plots(self) -> list[Plot]:
        runs = list(self.runs.values())
        fastest = max((run.fastest() for run in runs), default=0.0)
        windows = Plot("cwnd", "cwnd", "segments", 3, 1, marks=("rto", "spurious_rto", "fast_retransmit"))
        # A transport has a window, or a rate that it allows itself, or both.
        rates = Plot("rate", "Allowed rate", "Mbit/s", 3, 3, marks=("timeout", "loss"))
        rtt = Plot("rtt", "RTT", "ms", 2, 1)
        queue = Plot("queue", "Queue", "packets", 2, 1, marks=("drop",))
        # Not as high as the highest goodput: when a hole is filled, all that waited is delivered at once.
        goodput = Plot("goodput", "Goodput", "Mbit/s", 2, 3, limit=fastest * 1.1e-6 or None)
        for index, line in enumerate(self.lines):
            columns = runs[line.run].flows[line.flow]

            def track(
                column: str,
                factor: float = 1.0,
                columns: Columns = columns,
                line: Line = line,
                index: int = index,
                **more: Any,
            ) -> Track:
                values = self.grid.reduce(columns["time_s"], [value * factor for value in columns[column]])
                return Track(index, line.run, values, line.color, line.dashes, **more)

            windows.tracks.append(track("cwnd_segments", steps=True))
            rates.tracks.append(track("allowed_rate_bps", 1e-6))
            rtt.tracks.append(track("srtt_s", 1e3))
            goodput.tracks.append(track("goodput_bps", 1e-6))
        if len(self.lines) == 1:  # with more, thresholds would cover the windows
            columns = runs[0].flows[self.lines[0].flow]
            threshold = self.grid.reduce(columns["time_s"], columns["ssthresh_segments"])
            windows.tracks.append(Track(-1, 0, threshold, "muted", "5 3", steps=True, name="ssthresh"))
        for number, (name, run) in enumerate(self.runs.items()):
            if not run.has_link:
                continue
            columns = run.link_series
            first = next((line for line in self.lines if line.run == number), None)
            color = first.color if first and (len(runs) > 1 or len(run.flows) == 1) else "ink"
            packets = self.grid.reduce(columns["time_s"], columns["queue_packets"])
            queue.tracks.append(Track(-1, number, packets, color, name=name if len(runs) > 1 else run.link))
            carried = [rate * 1e-6 if rate > 0 else math.nan for rate in columns["rate_bps"]]
            rate = self.grid.reduce(columns["time_s"], carried)
            # Common random numbers: mostly the channels, and so the rates, are the same for all.
            if not any(_equal(rate, t.values) for t in goodput.tracks if t.line < 0):
                named = f"rate of {run.link}" + (f", {name}" if number else "")
                goodput.tracks.append(Track(-1, number, rate, "muted", "2 3", name=named))
        for plot in (windows, rates):
            plot.tracks = [track for track in plot.tracks if not all(map(math.isnan, track.values))]
        # A run without samples shows an empty panel of windows.
        kept = [plot for plot in (windows, rates) if plot.tracks] or [windows]
        return [*kept, rtt, *([queue] if queue.tracks else []), goodput]

    def data(self) -> dict[str, Any]:
        """Return what the page's script needs, as JSON knows it."""
        runs = list(self.runs.values())
        first = runs[0]
        silent, merged = _some_silences(first.silences)
        same = all(run.silences == first.silences for run in runs)
        events, listed, total = self._events()
        zoom = next((span for run in runs if (span := run.zoom())), None)
        return {
            "end": self.end,
            "grid": asdict(self.grid),
            "grain": self.grid.describe(),
            "zoom": list(zoom) if zoom else None,
            "lines": [{**asdict(line), "dashes": _numbers(line.dashes)} for line in self.lines],
            "shown": self.shown,
            "runs": list(self.runs),
            "plots": [
                {
                    "title": f"{plot.title}, {plot.unit}",
                    "unit": plot.unit,
                    "height": plot.height,
                    "digits": plot.digits,
                    "limit": plot.limit,
                    "marks": plot.marks,
                    "tracks": [
                        {
                            "line": track.line,
                            "run": track.run,
                            "color": track.color,
                            "dashes": _numbers(track.dashes),
                            "steps": track.steps,
                            "name": track.name,
                            "values": _packed(track.values),
                        }
                        for track in plot.tracks
                    ],
                }
                for plot in self.plots
            ],
            # Microseconds: how long after the last one ended, how long it lasts, of which kind.
            "silences": silent,
            "merged": duration(merged) if merged else "",
            "silencesOf": "" if same else next(iter(self.runs)),
            "events": events,
            "listed": listed,
            "total": total,
            "link": [run.link for run in runs],
        }

    def _events(self) -> tuple[dict[str, Any], int, int]:
        """Return the events of all runs by column, how many these are, and how many there were."""
        rows: list[tuple[float, str, int, str, str, float]] = []
        total = 0
        counts = [Counter(run.events.codes["kind"]) for run in self.runs.values()]
        most = _quota(counts, _MOST_EVENTS)
        for number, (run, count) in enumerate(zip(self.runs.values(), counts, strict=True)):
            events = run.events
            total += len(events.time)
            seen: Counter[int] = Counter()
            for i, code in enumerate(events.codes["kind"]):
                at, n = seen[code], count[code]
                seen[code] += 1
                # Evenly chosen: the event of a kind at which a part of its quota begins.
                if n <= most or at * most // n != (at - 1) * most // n:
                    kind, entity, detail = (
                        events.names[c][events.codes[c][i]] for c in ("kind", "entity", "detail")
                    )
                    rows.append((events.time[i], kind, number, entity, detail, events.value[i]))
        rows.sort(key=lambda row: row[0])
        kinds, entities, details = (sorted({row[column] for row in rows}) for column in (1, 3, 4))
        index = [{text: i for i, text in enumerate(texts)} for texts in (kinds, entities, details)]
        micro = [round(row[0] * 1e6) for row in rows]
        return (
            {
                "kinds": kinds,
                "entities": entities,
                "details": details,
                "time": [now - before for now, before in zip(micro, [0, *micro], strict=False)],
                "kind": [index[0][row[1]] for row in rows],
                "run": [row[2] for row in rows] if len(self.runs) > 1 else [],
                "entity": [index[1][row[3]] for row in rows],
                "detail": [index[2][row[4]] for row in rows],
                "value": [None if math.isnan(row[5]) else float(f"{row[5]:.5g}") for row in rows],
            },
            len(rows),
            total,
        )

    def figure(
        self, span: Span | None = None, panels: Sequence[str] = (), *, legend: bool = False
    ) -> Drawing:
        """Return a figure that needs no script.

        Args:
            span: From when to when, in s; by default all.
            panels: Short names of the panels that are shown; by default all.
            legend: Whether the figure has its legend in it; a page has it beside.
        """
        start, end = span or (0.0, self.end)
        shown = [plot for plot in self.plots if not panels or plot.name in panels]
        of = ", ".join(name for name in self.runs if name)
        label = f"{', '.join(plot.title for plot in shown)} over time{f': {of}' if of else ''}"
        if span:
            label += f", {start:g} s to {end:g} s"
        times = self.grid.times()
        first = max(0, bisect_left(times, start) - 2)
        last = bisect_right(times, end) + 2
        rows = [[self._panel(plot, (start, end), slice(first, last))] for plot in shown]
        for (panel,) in rows[:-1]:
            panel.x.label, panel.x.bare = "", True
        return Drawing(label, rows, self.key() if legend else (), width=_WIDTH)

    def _panel(self, plot: Plot, span: Span, cut: slice) -> Panel:
        runs = {self.lines[i].run for i in self.shown}
        seen = [t for t in plot.tracks if (t.line in self.shown if t.line >= 0 else t.run in runs)]
        times = self.grid.times()[cut]
        values = [track.values[cut] for track in seen]
        limit, beyond = plot.limit, None
        if limit is None:
            limit, beyond = scale.robust_limit([value for part in values for value in part if value == value])
        y = Scale(0, limit * (1.18 if plot.marks else 1.06))
        ticks = [tick for tick in y.ticks(4) if tick <= limit * 1.03]
        up = Axis(y, plot.title, plot.unit, list(zip(ticks, scale.labels(ticks), strict=True)))
        panel = Panel(Axis(Scale(*span), "Simulated time", "s"), up, 46.0 * plot.height)
        silences = next(iter(self.runs.values())).silences
        panel.add(*(Spans([(s.start, s.end) for s in silences if s.kind == kind], kind) for kind in KINDS))
        for track, part in zip(seen, values, strict=True):
            fine = Grid.over([times], most=1400, end=span[1])
            x, part = (fine.times(), fine.reduce(times, part)) if len(times) > 1400 else (times, part)
            panel.add(model.Line(x, part, track.color, 1.3, track.dashes, track.steps))
        self._marks(panel, plot, span)
        if beyond is not None:
            panel.add(scale_note(span[1], y.high, beyond))
        return panel

    def _marks(self, panel: Panel, plot: Plot, span: Span) -> None:
        runs = list(self.runs.values())
        for index in self.shown:
            line = self.lines[index]
            for kind, (shape, color, place, _) in _MARKS.items():
                if kind in plot.marks:
                    at = thin_marks(runs[line.run].events.where(kind=kind, entity=line.flow), span, bins=250)
                    # Of several lines each marks its own in its colour; of one they stand out.
                    own = line.color if len(self.lines) > 1 else color
                    panel.add(Dots(at, [panel.y.scale.high * place] * len(at), own, shape, 3.2))
        if "drop" in plot.marks:
            for run in runs:
                panel.add(Strokes(thin_marks(run.events.where(kind="drop", entity=run.link), span), "alarm"))

    def key(self) -> list[Entry]:
        """Return the signs of the figures with what they mean."""
        runs = list(self.runs.values())
        several = len(self.lines) != 1
        key = [
            Entry(self.lines[i].name or "the flow", "line", self.lines[i].color, self.lines[i].dashes)
            for i in self.shown
        ]
        if any(track.name == "ssthresh" for plot in self.plots for track in plot.tracks):
            key.append(Entry("ssthresh", "line", "muted", "5 3"))
        hidden = len(self.lines) - len(self.shown)
        if hidden:
            key.append(Entry(f"and {hidden} more, shown on request where scripts run", "", ""))
        left_out = max((run.hidden_flows for run in runs), default=0)
        if left_out:
            key.append(Entry(f"and {left_out} more flows, not drawn", "", ""))
        if link := next((run.link for run in runs if run.has_link), ""):
            key.append(Entry(f"rate of {link} while it is open", "line", "muted", "2 3"))
        whose = ", in the colour of its line" if several else ""
        for kind, (shape, color, _, text) in _MARKS.items():
            if any(len(run.events.where(kind=kind)) for run in runs):
                key.append(Entry(f"{text}{whose}", shape, "muted" if several else color))
        if any(len(run.events.where(kind="drop", entity=run.link)) for run in runs):
            key.append(Entry(f"drop at {runs[0].link}", "tick", "alarm"))
        kinds = {silence.kind for run in runs for silence in run.silences}
        key += [Entry(name, "block", kind, opacity=0.6) for kind, name in KINDS.items() if kind in kinds]
        return key


def _lines(runs: Mapping[str, Series]) -> list[Line]:
    lines = []
    for number, (name, run) in enumerate(runs.items()):
        for index, flow in enumerate(run.flows):
            if len(runs) > 1:
                alone = len(run.flows) == 1
                text = name if alone else f"{name} · {flow}"
                dashes = _DASHES[(index + number // model.COLORS) % len(_DASHES)]
                lines.append(Line(text, number, flow, series(number), dashes))
            else:
                lines.append(Line(flow, number, flow, series(index), dash(index)))
    return lines


def _packed(values: Sequence[float]) -> str:
    """Return 32-bit floats, least byte first, as base64."""
    floats = array("f", values)
    if sys.byteorder == "big":
        floats.byteswap()
    return base64.b64encode(floats).decode("ascii")


def _equal(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two series are the same, NaN for NaN."""
    return len(one) == len(other) and all(
        a == b or (a != a and b != b) for a, b in zip(one, other, strict=True)
    )


def _numbers(dashes: str) -> list[float]:
    return [float(part) for part in dashes.split()]


def _some_silences(silences: Sequence[Silence]) -> tuple[list[int], float]:
    """Return silences as numbers, and the gap up to which they were put together to be few enough."""
    gap = 0.0
    chosen = [(s.start, s.end, s.kind) for s in silences]
    while len(chosen) > _MOST_SILENCES:
        gap = 2 * gap if gap else max((s.end for s in silences), default=1.0) / _MOST_SILENCES
        merged: list[tuple[float, float, str]] = []
        for start, end, kind in chosen:
            if merged and merged[-1][2] == kind and start - merged[-1][1] < gap:
                merged[-1] = (merged[-1][0], end, kind)
            else:
                merged.append((start, end, kind))
        if gap > chosen[-1][1]:
            merged = merged[:_MOST_SILENCES]
        chosen = merged
    numbers: list[int] = []
    before = 0
    for start, end, kind in chosen:
        first, last = round(start * 1e6), round(end * 1e6)
        numbers += [first - before, last - first, list(KINDS).index(kind)]
        before = last
    return numbers, gap


def _quota(counts: Sequence[Counter[int]], most: int) -> int:
    """Return how many events of a kind each run lists, so that all together are no more than `most`."""
    quota = most
    while quota > 1 and sum(min(each, quota) for count in counts for each in count.values()) > most:
        quota = max(1, int(quota * 0.8))
    return quota
