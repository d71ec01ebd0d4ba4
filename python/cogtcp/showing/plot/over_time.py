"""One run, or several, over time, and the map of an ad hoc run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.showing.figure.run_map import RunMap
from cogtcp.showing.figure.series import Series
from cogtcp.showing.figure.timeline import Timeline
from cogtcp.showing.plot import paper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from cogtcp.model.result import Result
    from cogtcp.showing.plot.saved import Saved

#: Panels of a timeline.
PANELS = ("cwnd", "rate", "rtt", "queue", "goodput")


def timeline(
    runs: Mapping[str, Any],
    *,
    span: tuple[float, float] | None = None,
    panels: Sequence[str] = PANELS,
    **size: Any,
) -> Figure:
    """Return windows, allowed rates, RTT, queue and goodput over time, silences shaded.

    Args:
        runs: Results by name; lines are named by the name, the flow, or both, as tells them apart.
        span: From when to when, in seconds; by default all.
        panels: Which of `PANELS`, as far as the runs have them.
        size: `width` and `height` in inches.
    """
    chosen = [pick(name, PANELS, "panel") for name in panels]
    series = {name: Series.of(result) for name, result in runs.items()}
    if not any(len(columns["time_s"]) for run in series.values() for columns in run.flows.values()):
        raise UsageError('the run kept no series; simulate it with trace "series" or "full"')
    if span is not None:
        if not 0 <= span[0] < span[1]:
            raise UsageError(f"span {span[0]:g} to {span[1]:g}: write two times in s, the first smaller")
        series = {name: run.within(span) for name, run in series.items()}
    return paper.draw(Timeline.of(series).figure(span, chosen, legend=True), **size)


def area_map(result: Result | Saved, *, at: float | None = None, **size: Any) -> Figure:
    """Return the map of a run at a moment: nodes, their channels, routes of the flows' data, primary users.

    A line is the path of a flow's last packet that had arrived. The circle of a primary user is its range,
    filled while it is ON.

    Args:
        result: A run of an ad hoc network whose time series were recorded.
        at: When, in s: the last moment that was recorded by then. By default the first at which the most
            flows have a route.
        size: `width` and `height` in inches; the height is by default what the area needs.

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
    return paper.draw(shown.figure(at), **size)
