"""A comparison in numbers: bars, boxes, and delay against throughput."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Ellipse

from cogtcp import statistics
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.metrics import BY_NAME
from cogtcp.plot import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cogtcp.metrics import Metric


def values_of(runs: Any, metric: Metric) -> dict[str, list[float]]:
    """Return a metric of every finished run in people's units, by transport, from the table `runs`."""
    found: dict[str, list[float]] = {}
    columns = [runs.column(name).to_pylist() for name in ("transport", "error", metric.name)]
    for transport, error, value in zip(*columns, strict=True):
        kept = found.setdefault(transport, [])
        if error is None and value is not None and not math.isnan(value):
            kept.append(value * metric.scale)
    if not any(found.values()):
        raise UsageError(f"no run has a value of {metric.name}; name another metric")
    return found


def label(metric: Metric) -> str:
    """Return what an axis of a metric is called."""
    return with_unit(metric.title, metric.unit)


def with_unit(title: str, unit: str) -> str:
    """Return the label of an axis: `Goodput (Mbit/s)`."""
    return f"{title} ({unit})" if unit else title


def bars(
    runs: Any,
    metric: str = "goodput_bps",
    *,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return the mean of each transport with its 95 % interval (Student's t).

    Args:
        runs: The table `Comparison.runs`.
        metric: Its name, see `cogtcp.metrics.METRICS`.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    what = BY_NAME[pick(metric, BY_NAME, "metric")]
    found = values_of(runs, what)
    with style.paper(width, height) as figure:
        axes: Any = figure.subplots()
        for index, (name, values) in enumerate(found.items()):
            interval = statistics.mean_interval(values)
            error = (
                None
                if math.isnan(interval.low)
                else [[interval.mean - interval.low], [interval.high - interval.mean]]
            )
            axes.bar(
                index,
                interval.mean,
                0.65,
                yerr=error,
                capsize=3,
                color=style.COLORS[index % 7],
                alpha=0.75,
                edgecolor="black",
                linewidth=0.6,
                hatch=style.HATCHES[index % 7],
                error_kw={"elinewidth": 0.9, "capthick": 0.9},
                label=name,
            )
        _names(axes, list(found))
        axes.set_ylabel(label(what))
        axes.grid(visible=False, axis="x")
    return figure


def box(
    runs: Any,
    metric: str = "goodput_bps",
    *,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return the spread over the seeds: median, quartiles, whiskers to 1.5 times their distance (Tukey 1977).

    The arguments are as for `bars`.
    """
    what = BY_NAME[pick(metric, BY_NAME, "metric")]
    found = values_of(runs, what)
    with style.paper(width, height) as figure:
        axes: Any = figure.subplots()
        drawn = axes.boxplot(
            list(found.values()), positions=range(len(found)), widths=0.55, patch_artist=True,
            medianprops={"color": "black", "linewidth": 1.1}, flierprops={"marker": ".", "markersize": 3},
            boxprops={"linewidth": 0.6}, whiskerprops={"linewidth": 0.6}, capprops={"linewidth": 0.6},
        )  # fmt: skip
        for index, patch in enumerate(drawn["boxes"]):
            patch.set(facecolor=style.COLORS[index % 7], alpha=0.6)
        _names(axes, list(found))
        axes.set_ylabel(label(what))
        axes.grid(visible=False, axis="x")
    return figure


def delay_throughput(
    runs: Any,
    delay: str = "queuing_delay_mean_s",
    *,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return throughput over delay: a point for each run, the mean and an ellipse of one standard deviation.

    The form of Winstein and Balakrishnan 2013 ("TCP ex Machina", fig. 4): delay grows to the left, so that up
    and to the right is better. The ellipse shows the covariance over the seeds.

    Args:
        runs: The table `Comparison.runs`.
        delay: The metric of the x axis: a delay or an RTT.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    across, up = BY_NAME[pick(delay, BY_NAME, "metric")], BY_NAME["goodput_bps"]
    columns = [runs.column(name).to_pylist() for name in ("transport", "error", across.name, up.name)]
    points: dict[str, list[tuple[float, float]]] = {}
    for transport, error, x, y in zip(*columns, strict=True):
        if error is None and None not in (x, y) and not math.isnan(x + y):
            points.setdefault(transport, []).append((x * across.scale, y * up.scale))
    if not points:
        raise UsageError(f"no run has both a goodput and a value of {across.name}; name another delay")
    with style.paper(width, height) as figure:
        axes: Any = figure.subplots()
        for index, (name, found) in enumerate(points.items()):
            cloud = np.array(found)
            color = style.COLORS[index % 7]
            axes.plot(*cloud.T, ".", color=color, markersize=2.5, alpha=0.5)
            axes.plot(*cloud.mean(axis=0), style.MARKERS[index % 7], color=color, label=name, markersize=5)
            if len(cloud) > 2:
                _ellipse(axes, cloud, color)
        axes.invert_xaxis()
        axes.set_ylim(bottom=0)
        axes.set_xlabel(label(across))
        axes.set_ylabel(label(up))
        style.legend(axes, len(points))
    return figure


def _ellipse(axes: Any, cloud: Any, color: str) -> None:
    scales, directions = np.linalg.eigh(np.cov(cloud.T))
    angle = math.degrees(math.atan2(directions[1, 1], directions[0, 1]))
    long, short = (2 * math.sqrt(max(0.0, float(scale))) for scale in (scales[1], scales[0]))
    axes.add_patch(
        Ellipse(
            tuple(cloud.mean(axis=0)), long, short, angle=angle, facecolor=color, edgecolor=color, alpha=0.2
        )
    )


def _names(axes: Any, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names)
    crowded = (
        sum(len(name) for name in names) * 0.075 + 0.12 * len(names) > axes.figure.get_size_inches()[0] - 0.6
    )
    if crowded:
        axes.tick_params(axis="x", labelrotation=35)
        for text in axes.get_xticklabels():
            text.set_horizontalalignment("right")
            text.set_rotation_mode("anchor")
