"""A comparison in numbers: bars, boxes, distributions, and delay against throughput."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.model.metrics import BY_NAME, find
from cogtcp.showing.figure import compared
from cogtcp.showing.plot import paper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from cogtcp.model.metrics import Metric


def values_of(runs: Any, metric: Metric) -> dict[str, list[float]]:
    """Return a metric of every finished run, by transport, from the table `Comparison.runs`."""
    found: dict[str, list[float]] = {}
    for transport, value in _finished(runs, metric):
        found.setdefault(transport, []).append(value)
    if not found:
        raise UsageError(f"no run has a value of {metric.name}; name another metric")
    return found


def label(metric: Metric) -> str:
    """Return what an axis of a metric is called."""
    return with_unit(metric.title, metric.unit)


def with_unit(title: str, unit: str) -> str:
    """Return the label of an axis: `Goodput (Mbit/s)`."""
    return f"{title} ({unit})" if unit else title


def bars(runs: Any, metric: str = "goodput_bps", **size: Any) -> Figure:
    """Return the mean of each transport with its 95 % interval (Student's t).

    Args:
        runs: The table `Comparison.runs`.
        metric: Its name, see `cogtcp.metrics.METRICS`.
        size: `width` and `height` in inches; the height is by default by the number of transports.
    """
    what = find(metric)
    return paper.draw(compared.bars(values_of(runs, what), what), **size)


def box(runs: Any, metric: str = "goodput_bps", **size: Any) -> Figure:
    """Return the spread over the seeds: median, quartiles, whiskers to 1.5 times their distance (Tukey 1977).

    The arguments are as for `bars`.
    """
    what = find(metric)
    return paper.draw(compared.box(values_of(runs, what), what), **size)


def cdf(samples: Mapping[str, Sequence[float]], label: str, **size: Any) -> Figure:
    """Return empirical distribution functions: which share of the values is at most x.

    Args:
        samples: The values of each line, by name; NaN is no value.
        label: What the x axis shows, with its unit.
        size: `width` and `height` in inches.
    """
    if all(math.isnan(value) for values in samples.values() for value in values):
        raise UsageError("no values to draw")
    return paper.draw(compared.cdf(samples, label), **size)


def cdf_over_seeds(runs: Any, metric: str, **size: Any) -> Figure:
    """Return the distribution of a metric over the seeds from the table `Comparison.runs`."""
    what = find(metric)
    scaled = {name: [v * what.scale for v in values] for name, values in values_of(runs, what).items()}
    return cdf(scaled, label(what), **size)


def delay_throughput(runs: Any, delay: str = "queuing_delay_mean_s", **size: Any) -> Figure:
    """Return throughput over delay: a point for each run, the mean and an ellipse of one standard deviation.

    The form of Winstein and Balakrishnan 2013 ("TCP ex Machina", fig. 4): delay grows to the left, so that up
    and to the right is better. The ellipse shows the covariance over the seeds.

    Args:
        runs: The table `Comparison.runs`.
        delay: The metric of the x axis: a delay or an RTT.
        size: `width` and `height` in inches.
    """
    across, up = find(delay), BY_NAME["goodput_bps"]
    points: dict[str, list[tuple[float, float]]] = {}
    for transport, x, y in _finished(runs, across, up):
        points.setdefault(transport, []).append((x, y))
    if not points:
        raise UsageError(f"no run has both a goodput and a value of {across.name}; name another delay")
    return paper.draw(compared.trade(points, across, up), **size)


def _finished(runs: Any, *metrics: Metric) -> list[tuple[Any, ...]]:
    """Return the transport and the values of each run that has all of them."""
    for metric in metrics:
        pick(metric.name, runs.column_names, "metric of these runs")
    columns = [runs.column(name).to_pylist() for name in ("transport", *(m.name for m in metrics), "error")]
    return [
        row[:-1]
        for row in zip(*columns, strict=True)
        if row[-1] is None and not any(value is None or math.isnan(value) for value in row[1:-1])
    ]
