"""One run, or several, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cogtcp._errors import UsageError
from cogtcp.plot import style
from cogtcp.report.reduce import Grid
from cogtcp.report.scale import robust_limit
from cogtcp.report.series import Series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

#: Panels by name: what a series is called in its table, a factor, the axis.
PANELS = {
    "cwnd": ("cwnd_segments", 1.0, "cwnd (segments)"),
    "rtt": ("srtt_s", 1e3, "RTT (ms)"),
    "queue": ("queue_packets", 1.0, "Queue (packets)"),
    "goodput": ("goodput_bps", 1e-6, "Goodput (Mbit/s)"),
}
_MOST = 3000


def timeline(
    runs: Mapping[str, Any],
    *,
    span: tuple[float, float] | None = None,
    panels: tuple[str, ...] = ("cwnd", "rtt", "queue", "goodput"),
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return windows, RTT, queue and goodput over time, silences shaded.

    Args:
        runs: Results by name; lines are named by the name, the flow, or both, as tells them apart.
        span: From when to when, in seconds; by default all.
        panels: Which of `cwnd`, `rtt`, `queue`, `goodput`, from top to bottom.
        width: In inches.
        height: In inches; by default by the number of panels.
    """
    from cogtcp._names import pick

    chosen = [pick(name, PANELS, "panel") for name in panels]
    series = {name: Series.of(result) for name, result in runs.items()}
    if not any(run.has_link for run in series.values()):
        # An ad hoc network: its flows have series, and no link has a queue.
        chosen = [name for name in chosen if name != "queue"]
    if not any(len(columns["time_s"]) for run in series.values() for columns in run.flows.values()):
        raise UsageError('the run kept no series; simulate it with trace "series" or "full"')
    end = max(run.duration for run in series.values())
    start, stop = span or (0.0, end)
    if not 0 <= start < stop:
        raise UsageError(f"span {start:g} to {stop:g}: write two times in s, the first smaller")
    with style.paper(width, height or 0.35 + 0.85 * len(chosen)) as figure:
        grid: Any = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
        for axes, name in zip(grid, chosen, strict=True):
            _panel(axes, name, series, (start, stop))
        grid[-1].set_xlim(start, stop)
        grid[-1].set_xlabel("Simulated time (s)")
        figure.align_ylabels()
        known: dict[str, Any] = {}
        for axes in grid:
            for handle, said in zip(*axes.get_legend_handles_labels(), strict=True):
                known.setdefault(said, handle)
        if len(known) > 1:
            columns = min(len(known), max(2, int(width / 0.8)))
            figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=columns)
    return figure


def _panel(axes: Any, name: str, series: Mapping[str, Series], span: tuple[float, float]) -> None:
    column, factor, label = PANELS[name]
    seen: list[float] = []
    index = 0
    for run_name, run in series.items():
        if name == "queue":
            found = {run_name: run.link_series}
        else:
            found = {" ".join(part for part in (run_name, flow) if part): c for flow, c in run.flows.items()}
            if len(run.flows) == 1 and run_name:
                found = {run_name: next(iter(run.flows.values()))}
        for line_name, columns in found.items():
            x, y = _cut(columns["time_s"], columns[column] * factor, span)
            seen += [float(value) for value in y[~np.isnan(y)]]
            steps = "steps-post" if name == "cwnd" else "default"
            axes.plot(x, y, linestyle=style.DASHES[index % 7], color=style.COLORS[index % 7],
                      drawstyle=steps, label=line_name)  # fmt: skip
            index += 1
    run = next(iter(series.values()))
    if name == "goodput" and run.has_link:
        rate = run.link_series["rate_bps"] * 1e-6
        x, y = _cut(run.link_series["time_s"], np.where(rate > 0, rate, np.nan), span)
        axes.plot(x, y, color="#777777", linewidth=0.7, linestyle=":", label="rate of the open link")
        limit = float(np.nanmax(y, initial=0)) * 1.1
    else:
        limit = robust_limit(seen)[0] * 1.08
    axes.set_ylim(0, limit or 1)
    axes.set_ylabel(label)
    for kind, color in style.SILENCES.items():
        spans = [(s.start, s.end - s.start) for s in run.silences if s.kind == kind and s.end > span[0]]
        spans = [(a, length) for a, length in spans if a < span[1]]
        if spans:
            axes.broken_barh(
                spans, (0, 1), transform=axes.get_xaxis_transform(), color=color, linewidth=0, zorder=0,
                label=kind,
            )  # fmt: skip


def _cut(times: Any, values: Any, span: tuple[float, float]) -> tuple[Any, Any]:
    """Return a stretch of a series, reduced without losing peaks."""
    inside = slice(
        max(0, int(np.searchsorted(times, span[0])) - 1),
        int(np.searchsorted(times, span[1], side="right")) + 1,
    )
    times, values = np.asarray(times)[inside], np.asarray(values, dtype=float)[inside]
    if len(times) <= _MOST:
        return times, values
    grid = Grid.over([times], most=_MOST, end=span[1])
    return grid.times(), grid.reduce(times, values)
