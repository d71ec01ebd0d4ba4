"""One run over time: windows, round-trip time, queue and goodput, under the radio's silences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cogtcp.report import theme
from cogtcp.report.thin import thin, thin_marks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from cogtcp.result import Result

#: More lines than this cannot be told apart.
MOST_FLOWS = 4

# A silence that starts or ends with one of these events.
_STARTS = {"sensing_start": "sensing", "switching_start": "switching", "signal_lost": "lost"}
_ENDS = {"sensing_end", "switching_end", "handoff", "signal_back"}

# Room for the labels, as shares of the figure.
_MARGINS = {"left": 0.07, "right": 0.995, "top": 0.99, "bottom": 0.08, "hspace": 0.16}

Span = tuple[float, float]


@dataclass(frozen=True)
class Silence:
    """A stretch of time in which a radio does not transmit."""

    start: float
    end: float
    kind: str  # "sensing", "switching" or "lost"


@dataclass
class Series:
    """What is drawn of a run, as arrays."""

    duration: float
    flows: dict[str, dict[str, Any]]
    hidden_flows: int
    link: str
    link_series: dict[str, Any]
    silences: list[Silence]
    rtos: dict[str, Any]
    fast_retransmits: dict[str, Any]
    drops: Any

    @classmethod
    def of(cls, result: Result) -> Series:
        """Take from a run what is drawn of it."""
        names = result.flows.column("flow").to_pylist()
        shown = names[:MOST_FLOWS]
        link = _busiest_bottleneck(result)
        events = result.events.to_pydict()
        times, kinds = np.array(events["time_s"]), np.array(events["kind"], dtype=object)
        entities, details = np.array(events["entity"], dtype=object), events["detail"]

        def of_flows(kind: str) -> dict[str, Any]:
            return {name: times[(kinds == kind) & (entities == name)] for name in shown}

        return cls(
            duration=result.duration_s,
            flows={name: _columns(result.flow_series, "flow", name) for name in shown},
            hidden_flows=len(names) - len(shown),
            link=link,
            link_series=_columns(result.link_series, "link", link, direction="forward"),
            silences=silences(times, kinds, details, entities, result.duration_s),
            rtos=of_flows("rto"),
            fast_retransmits=of_flows("fast_retransmit"),
            drops=times[(kinds == "drop") & (entities == link)],
        )

    def exceeds_rate(self) -> bool:
        """Whether a flow was handed data faster than the link ever carried it."""
        fastest = np.nanmax(self.link_series["rate_bps"], initial=0)
        return any(np.any(columns["goodput_bps"] > 1.1 * fastest) for columns in self.flows.values())

    def zoom(self) -> Span | None:
        """Return a span around the first two silences, or else the first loss; None where neither is."""
        ends = [0.0, *(silence.end for silence in self.silences)]
        starts = [
            silence.start
            for silence, before in zip(self.silences, ends, strict=False)
            if silence.start > before
        ]
        if starts:
            gap = starts[1] - starts[0] if len(starts) > 1 else self.duration / 8
            span = (starts[0] - 0.5 * gap, starts[0] + 1.5 * gap)
        else:
            losses = [
                times[0] for times in (*self.rtos.values(), *self.fast_retransmits.values()) if len(times)
            ]
            if not losses:
                return None
            span = (min(losses) - self.duration / 20, min(losses) + self.duration / 10)
        span = (max(0.0, span[0]), min(self.duration, span[1]))
        return span if span[1] - span[0] < 0.6 * self.duration else None


def silences(
    times: Iterable[float],
    kinds: Iterable[str],
    details: Iterable[str],
    radios: Iterable[str],
    end: float,
) -> list[Silence]:
    """Return the stretches in which some radio was silent, from the events of each."""
    found = []
    phases: dict[str, tuple[float, str]] = {}
    for time, kind, detail, radio in zip(times, kinds, details, radios, strict=True):
        entered = _STARTS.get(kind, "")
        if not entered and kind in _ENDS:
            entered = detail if detail in _STARTS.values() else "transmitting"
        if not entered:
            continue
        if radio in phases:
            found.append(Silence(phases[radio][0], time, phases[radio][1]))
        if entered == "transmitting":
            phases.pop(radio, None)
        else:
            phases[radio] = (time, entered)
    found += [Silence(start, end, kind) for start, kind in phases.values()]
    return _apart(found)


def _apart(silences: list[Silence]) -> list[Silence]:
    """Return silences of several radios one after the other: where they overlap, the first is meant."""
    apart: list[Silence] = []
    until = 0.0
    for silence in sorted(silences, key=lambda silence: silence.start):
        start = max(silence.start, until)
        if start < silence.end:
            apart.append(Silence(start, silence.end, silence.kind))
            until = silence.end
    return apart


@dataclass(frozen=True)
class Limits:
    """The highest value of each panel: the same for all runs that are compared."""

    cwnd: float
    rtt: float
    queue: float
    rate: float

    @classmethod
    def of(cls, runs: Iterable[Series]) -> Limits:
        """Return limits that hold all runs."""
        runs = list(runs)
        flows = [columns for run in runs for columns in run.flows.values()]

        def highest(values: Iterable[Any]) -> float:
            peaks = [float(np.nanmax(v)) for v in values if len(v) and not np.isnan(v).all()]
            return max(peaks, default=0.0) * 1.08 or 1.0

        return cls(
            cwnd=highest(columns["cwnd_segments"] for columns in flows),
            rtt=highest(columns["srtt_s"] for columns in flows) * 1e3,
            queue=highest(run.link_series["queue_packets"] for run in runs),
            # Not the highest goodput: when a hole is filled, all that waited behind it is delivered at once.
            rate=highest(run.link_series["rate_bps"] for run in runs) * 1e-6 * 1.1,
        )


def timeline(series: Series, limits: Limits, span: Span, label: str) -> str:
    """Return the figure of one stretch of a run as SVG."""

    def paint(figure: Figure) -> None:
        axes: Any = figure.subplots(4, 1, sharex=True, height_ratios=[3, 2, 2, 2], gridspec_kw=_MARGINS)
        _windows(axes[0], series, limits, span)
        _lines(axes[1], series, span, "srtt_s", 1e3)
        axes[1].set(ylabel="RTT, ms", ylim=(0, limits.rtt))
        _queue(axes[2], series, limits, span)
        _goodput(axes[3], series, limits, span)
        for panel in axes:
            panel.set_xlim(span)
            panel.yaxis.set_label_coords(-0.055, 0.5)
            panel.locator_params(axis="y", nbins=4)
            _shade(panel, series, span)
        axes[-1].set_xlabel("Simulated time, s")

    return theme.draw(6.0, label, paint, arrange=False)


def _windows(axes: Any, series: Series, limits: Limits, span: Span) -> None:
    _lines(axes, series, span, "cwnd_segments", 1, drawstyle="steps-post")
    if len(series.flows) == 1:  # with more, their thresholds would cover the windows
        _lines(
            axes,
            series,
            span,
            "ssthresh_segments",
            1,
            drawstyle="steps-post",
            dashes=(4, 2),
            color=theme.MUTED,
        )
    _marks(axes, series.rtos, span, marker="v", color=theme.ALARM, height=0.97)
    _marks(axes, series.fast_retransmits, span, marker="o", color=theme.SERIES[1], height=0.89)
    axes.set(ylabel="cwnd, segments", ylim=(0, limits.cwnd * 1.15))


def _queue(axes: Any, series: Series, limits: Limits, span: Span) -> None:
    columns = series.link_series
    _line(axes, columns["time_s"], columns["queue_packets"], span, color=theme.SERIES[0])
    drops = thin_marks(series.drops, span)
    axes.vlines(drops, 0.93, 1, color=theme.ALARM, linewidth=0.9, transform=axes.get_xaxis_transform())
    axes.set(ylabel="queue, packets", ylim=(0, limits.queue * 1.1))


def _goodput(axes: Any, series: Series, limits: Limits, span: Span) -> None:
    columns = series.link_series
    rate = np.where(columns["rate_bps"] > 0, columns["rate_bps"], np.nan)
    _line(axes, columns["time_s"], rate * 1e-6, span, color=theme.MUTED, linewidth=0.9, dashes=(1, 1.5))
    _lines(axes, series, span, "goodput_bps", 1e-6)
    axes.set(ylabel="goodput, Mbit/s", ylim=(0, limits.rate))


def _lines(axes: Any, series: Series, span: Span, column: str, scale: float, **style: Any) -> None:
    for color, columns in zip(theme.SERIES, series.flows.values(), strict=False):
        _line(axes, columns["time_s"], columns[column] * scale, span, **{"color": color, **style})


def _line(axes: Any, x: Any, y: Any, span: Span, **style: Any) -> None:
    # One point beyond either end, so that the line reaches the edge.
    first = max(0, int(np.searchsorted(x, span[0])) - 1)
    last = int(np.searchsorted(x, span[1], side="right")) + 1
    if last > first + 1:
        axes.plot(*thin(x[first:last], y[first:last]), **style)


def _marks(axes: Any, times: dict[str, Any], span: Span, *, marker: str, color: str, height: float) -> None:
    for x in times.values():
        seen = thin_marks(x, span, bins=250)
        if len(seen):
            heights = np.full(len(seen), height)
            axes.plot(
                seen, heights, marker, color=color, markersize=4.5, transform=axes.get_xaxis_transform()
            )


def _shade(axes: Any, series: Series, span: Span) -> None:
    for kind, color in (("sensing", theme.SENSING), ("switching", theme.SWITCHING), ("lost", theme.LOST)):
        ranges = [
            (silence.start, silence.end - silence.start)
            for silence in series.silences
            if silence.kind == kind and silence.end > span[0] and silence.start < span[1]
        ]
        if ranges:
            axes.broken_barh(
                ranges,
                (0, 1),
                transform=axes.get_xaxis_transform(),
                color=color,
                alpha=0.55,
                linewidth=0,
                zorder=0,
            )


def _columns(table: Any, key: str, name: str, **equal: str) -> dict[str, Any]:
    import pyarrow.compute as pc

    mask = pc.equal(table.column(key).cast("string"), name)
    for column, value in equal.items():
        mask = pc.and_(mask, pc.equal(table.column(column).cast("string"), value))
    chosen = table.filter(mask)
    return {
        column: chosen.column(column).to_numpy()
        for column in chosen.column_names
        if column not in (key, *equal)
    }


def _busiest_bottleneck(result: Result) -> str:
    names = result.flows.column("bottleneck").to_pylist()
    return str(max(dict.fromkeys(names), key=names.count))
