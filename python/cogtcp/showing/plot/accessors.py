"""What stands behind `Result.plot`, `Comparison.plot` and `Tuning.plot`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.model.metrics import find
from cogtcp.running.sweeping.axes import column_name, title
from cogtcp.showing.plot import compared, over_time, swept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from cogtcp.deciding.tuning.result import Tuning
    from cogtcp.model.result import Result
    from cogtcp.running.compare import Comparison
    from cogtcp.running.sweeping.result import Sweep

#: Series of flows of which a distribution can be drawn: column, factor, axis.
SAMPLES = {
    "rtt": ("srtt_s", 1e3, "RTT (ms)"),
    "goodput": ("goodput_bps", 1e-6, "Goodput (Mbit/s)"),
    "cwnd": ("cwnd_segments", 1.0, "cwnd (segments)"),
}


class RunPlots:
    """Figures of one run: every method takes `width` and `height` in inches, returns a matplotlib Figure."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def timeline(self, **options: Any) -> Figure:
        """Return windows, RTT, queue and goodput over time; options as of `cogtcp.plot.timeline`."""
        return over_time.timeline({"": self._result}, **options)

    def cdf(self, what: str = "rtt", **options: Any) -> Figure:
        """Return the distribution of `rtt`, `goodput` or `cwnd` over the sampling instants, by flow."""
        return compared.cdf(*samples_of(self._result, what), **options)

    def map(self, **options: Any) -> Figure:
        """Return where the nodes of an ad hoc network are at a moment: see `cogtcp.plot.area_map`."""
        return over_time.area_map(self._result, **options)


class ComparisonPlots:
    """Figures of a comparison. Every method takes `width` and `height` in inches."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def bars(self, metric: str = "goodput_bps", **options: Any) -> Figure:
        """Return the mean of each transport with its 95 % interval."""
        return compared.bars(self._comparison.runs, metric, **options)

    def box(self, metric: str = "goodput_bps", **options: Any) -> Figure:
        """Return the spread of a metric over the seeds."""
        return compared.box(self._comparison.runs, metric, **options)

    def cdf(self, metric: str = "goodput_bps", **options: Any) -> Figure:
        """Return the distribution of a metric over the seeds."""
        return compared.cdf_over_seeds(self._comparison.runs, metric, **options)

    def delay_throughput(self, delay: str = "queuing_delay_mean_s", **options: Any) -> Figure:
        """Return throughput over delay, up and to the right being better."""
        return compared.delay_throughput(self._comparison.runs, delay, **options)

    def timeline(self, **options: Any) -> Figure:
        """Return the runs of the first seed over time, one over the other."""
        return over_time.timeline(self._comparison.shown, **options)


class TuningPlots:
    """Figures of a search. Every method takes `width` and `height` in inches."""

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning

    def heatmap(self, **options: Any) -> Figure:
        """Return the objective over the grid of two parameters (`cogtcp.tune(..., grid=[10, 10])`)."""
        varied = {parameter.path: parameter.describe() for parameter in self._tuning.parameters}
        return heatmap_of_trials(self._tuning.summary, self._tuning.objective.metric.name, varied, **options)


class SweepPlots:
    """Figures of a sweep. Every method takes `width` and `height` in inches."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def line(self, x: str | None = None, hue: str = "transport", **options: Any) -> Figure:
        """Return a metric over an axis, one line for each hue; options as of `cogtcp.plot.swept.line`."""
        return swept.line(self._sweep.runs, self._axes, x, hue, **options)

    def heatmap(self, x: str | None = None, y: str | None = None, **options: Any) -> Figure:
        """Return a metric over two axes; options as of `cogtcp.plot.swept.heatmap`."""
        return swept.heatmap(self._sweep.runs, self._axes, x, y, **options)

    @property
    def _axes(self) -> swept.Axes:
        return {axis.name: swept.Column(axis.unit, axis.title) for axis in self._sweep.plan.axes}


def samples_of(result: Any, what: str) -> tuple[dict[str, list[float]], str]:
    """Return the samples of each flow and what they are."""
    column, factor, label = SAMPLES[pick(what, SAMPLES, "series")]
    codes, names = result.texts("flow_series", "flow")
    found: dict[str, list[float]] = {}
    for code, value in zip(codes, result.numbers("flow_series", column), strict=True):
        found.setdefault(names[code], []).append(value * factor)
    if not found:
        raise UsageError('the run kept no series; simulate it with trace "series" or "full"')
    return found, label


def heatmap_of_trials(summary: Any, metric: str, varied: Mapping[str, str], **options: Any) -> Figure:
    """Return the grid of a search from its table of trials and what was varied (`0.01 to 1 s`, by path)."""
    what = find(metric)
    numbers = [name for name in summary.column_names if name.endswith(", number")]
    rows = [row for row in summary.to_pylist() if row["part"] == "grid" and not row["error"]]
    if len(numbers) != 2 or not rows:
        raise UsageError("a heat map needs the grid of a search over two ranges; search with --grid 10x10")
    x, y = numbers
    return swept.plane(
        [(row[x], row[y], math.nan if row["mean"] is None else row["mean"] * what.scale) for row in rows],
        x_label=_axis(x.removesuffix(", number"), varied),
        y_label=_axis(y.removesuffix(", number"), varied),
        label=compared.label(what),
        **options,
    )


def _axis(path: str, varied: Mapping[str, str]) -> str:
    """Return the last key of a path with its unit."""
    unit = re.match(r"\S+ to \S+ ([^\s,]+)", varied.get(path, ""))
    return compared.with_unit(title(path, column_name(path)), unit[1] if unit else "")
