"""Figures of a comparison: bars with differences, boxes, distributions, and delay against throughput."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.model.statistics import mean_interval
from cogtcp.showing.figure import model, scale
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cogtcp.model import statistics
    from cogtcp.model.metrics import Metric

#: Units that a row of a figure by name is high.
ROW = 34.0
_WIDTH = 760.0


def bars(
    values: Mapping[str, Sequence[float]],
    metric: Metric,
    differences: Mapping[str, statistics.Interval] | None = None,
) -> model.Drawing:
    """Return the mean of each name as a bar with its 95 % interval (Student's t), runs as strokes.

    Args:
        values: Of each run, by name, in the metric's unit.
        metric: What they are.
        differences: Intervals of the paired differences to the first name, drawn beside the bars.
    """
    names = list(values)
    intervals = [mean_interval(found) for found in values.values()]
    texts = [metric.with_half_width(interval) for interval in intervals]
    said = ", ".join(f"{n} {metric.text(i.mean, unit=True)}" for n, i in zip(names, intervals, strict=True))
    singles = [[value * metric.scale for value in found] for found in values.values()]
    ends = _finite([*(v for found in singles for v in found), *(i.high * metric.scale for i in intervals)])
    low, high = min([0.0, *ends]), max([0.0, *ends])
    panel = model.Panel(
        model.Axis(Scale(low, high * 1.02 or 1.0), metric.title, metric.unit), rows(names), ROW * len(names)
    )
    panel.beside = list(enumerate(texts))
    for row, (name, interval, text) in enumerate(zip(names, intervals, texts, strict=True)):
        mean = interval.mean * metric.scale
        if not math.isnan(mean):
            title = f"{name}: {text} {metric.unit}".strip()
            panel.add(model.Bar((0, mean), (row - 0.32, row + 0.32), "accent", 0.35, title))
        if len(singles[row]) > 1:
            panel.add(model.Dots(singles[row], [row] * len(singles[row]), "ink", "tick", opacity=0.4))
            panel.add(*_mean(row, interval.low * metric.scale, mean, interval.high * metric.scale))
    drawing = model.Drawing(f"{metric.title} by transport: {said}", [[panel]], width=_WIDTH)
    if differences is not None:
        label = f"Difference to {names[0]}"
        known = [differences.get(name) for name in names]
        scaled = [None if i is None else (i.low * metric.scale, i.mean * metric.scale, i.high * metric.scale)
                  for i in known]  # fmt: skip
        beside = ["" if i is None else metric.with_half_width(i, sign=True) for i in known]
        panel.share, right = 0.6, around_zero(names, scaled, beside, label, metric.unit)
        right.share, right.y.bare = 0.4, True
        drawing.rows[0].append(right)
    return drawing


def around_zero(
    names: Sequence[str],
    intervals: Sequence[tuple[float, float, float] | None],
    texts: Sequence[str],
    label: str,
    unit: str,
    *,
    least: float = 0.0,
) -> model.Panel:
    """Return a panel of differences: (low, mean, high) by name, with 0 in the middle.

    A difference far from all others is an arrow at the edge and does not set the axis. It reaches `least`.
    """
    reach = max(reach_of([each for each in intervals if each is not None]), least)
    axis = model.Axis(Scale(-reach, reach), label, unit)
    panel = model.Panel(axis, rows(names), ROW * len(names), beside=list(enumerate(texts)))
    panel.add(model.Rule(0, upright=True))
    for row, each in enumerate(intervals):
        if each is None or not math.isfinite(each[1]):
            continue
        if abs(each[1]) > reach:
            arrow = "▸" if each[1] > 0 else "◂"
            panel.add(model.Text(math.copysign(reach * 0.97, each[1]), row, arrow, size=16, color="alarm",
                           anchor="middle", middle=True))  # fmt: skip
        else:
            panel.add(*_mean(row, *each))
    return panel


def rows(names: Iterable[str]) -> model.Axis:
    """Return the axis upwards of a figure with a row for each name, from the top."""
    ticks = list(enumerate(names))
    return model.Axis(Scale(len(ticks) - 0.5, -0.5), ticks=ticks, grid=False)


def reach_of(intervals: Sequence[tuple[float, float, float]]) -> float:
    """Return how far an axis around 0 reaches for (low, mean, high): one that is far off is left outside."""
    reaches = sorted(max(map(abs, _finite(interval)), default=0.0) for interval in intervals)
    if not reaches or reaches[-1] == 0:
        return 1.0
    reach = reaches[-1]
    if len(reaches) > 1 and reaches[-2] > 0 and reach > 4 * reaches[-2]:
        # Only where the mean itself is far off: a wide interval alone is news.
        mean = max(abs(interval[1]) for interval in intervals if math.isfinite(interval[1]))
        if mean > 4 * reaches[-2]:
            reach = reaches[-2]
    return reach * 1.12


def box(values: Mapping[str, Sequence[float]], metric: Metric) -> model.Drawing:
    """Return the spread of runs: median, quartiles, whiskers to 1.5 times their distance (Tukey 1977)."""
    scaled = [sorted(value * metric.scale for value in found) for found in values.values()]
    across = scale.span([value for found in scaled for value in found])
    panel = model.Panel(model.Axis(across, metric.title, metric.unit), rows(values), ROW * len(values))
    for row, found in enumerate(scaled):
        if not found:
            continue
        from statistics import quantiles  # slow to load, and only some figures have boxes

        first, median, third = quantiles(found, method="inclusive") if len(found) > 1 else found * 3
        room = 1.5 * (third - first)
        within = [value for value in found if first - room <= value <= third + room]
        apart = [value for value in found if value not in within]
        panel.add(
            model.Whiskers(row, within[0], within[-1], "ink", 5, lying=True),
            model.Bar((first, third), (row - 0.27, row + 0.27), "paper"),
            model.Bar((first, third), (row - 0.27, row + 0.27), model.series(row), 0.6),
            model.Line([median, median], [row - 0.27, row + 0.27], "ink", 2),
            model.Dots(apart, [row] * len(apart), "ink", size=2),
        )
    return model.Drawing(f"Spread of {metric.title} over the seeds", [[panel]], width=_WIDTH)


def cdf(samples: Mapping[str, Sequence[float]], label: str) -> model.Drawing:
    """Return empirical distribution functions: which share of the values is at most x.

    Args:
        samples: The values of each line, by name; NaN is no value.
        label: What the x axis shows, with its unit.
    """
    known = {name: sorted(v for v in values if not math.isnan(v)) for name, values in samples.items()}
    known = {name: values for name, values in known.items() if values}
    across = scale.span([value for values in known.values() for value in values])
    panel = model.Panel(model.Axis(across, label), model.Axis(Scale(0, 1.02), "Share of the values"))
    for index, values in enumerate(known.values()):
        shares = [number / len(values) for number in range(len(values) + 1)]
        panel.add(
            model.Line(
                [values[0], *values], shares, model.series(index), dashes=model.dash(index), steps=True
            )
        )
    legend = [
        model.Entry(name, "line", model.series(i), model.dash(i))
        for i, name in enumerate(known)
        if len(samples) > 1
    ]
    return model.Drawing(f"Distribution of {label}", [[panel]], legend)


def trade(runs: Mapping[str, Sequence[tuple[float, float]]], delay: Metric, goodput: Metric) -> model.Drawing:
    """Return throughput over delay: a point for each run, the mean and an ellipse of one standard deviation.

    The form of Winstein and Balakrishnan 2013 ("TCP ex Machina", fig. 4): delay grows to the left, so that up
    and to the right is better. The ellipse shows the covariance over the seeds.

    Args:
        runs: Delay and goodput of each run, by name, in the metrics' units.
        delay: The metric of the x axis: a delay or an RTT.
        goodput: The metric of the y axis.
    """
    clouds = [[(x * delay.scale, y * goodput.scale) for x, y in found] for found in runs.values()]
    ellipses = [_ellipse(cloud) for cloud in clouds]
    every = [point for cloud in [*clouds, *ellipses] for point in cloud]
    across = scale.span([x for x, _ in every]).flipped()
    up = Scale(0, max(y for _, y in every) * 1.06 or 1.0)
    panel = model.Panel(
        model.Axis(across, delay.title, delay.unit), model.Axis(up, goodput.title, goodput.unit)
    )
    for index, (name, cloud) in enumerate(zip(runs, clouds, strict=True)):
        (xs, ys), color = zip(*cloud, strict=True), model.series(index)
        outline = ellipses[index]
        panel.add(model.Shape([x for x, _ in outline], [y for _, y in outline], color, 0.2))
        panel.add(model.Dots(xs, ys, color, "circle", 1.8, opacity=0.5))
        interval = mean_interval(ys)
        title = f"{name}: {sum(xs) / len(xs):.4g}, {interval.mean:.4g}"
        panel.add(
            model.Dots([sum(xs) / len(xs)], [interval.mean], color, model.shape(index), 5, titles=[title])
        )
    legend = [model.Entry(name, model.shape(index), model.series(index)) for index, name in enumerate(runs)]
    return model.Drawing(f"{goodput.title} against {delay.title}", [[panel]], legend)


def _ellipse(cloud: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return points of the ellipse of one standard deviation around the mean; none for one or two values."""
    n = len(cloud)
    if n < 3:
        return []
    mean = [sum(point[side] for point in cloud) / n for side in (0, 1)]
    xx, xy, yy = (
        sum((p[a] - mean[a]) * (p[b] - mean[b]) for p in cloud) / (n - 1) for a, b in ((0, 0), (0, 1), (1, 1))
    )
    # The Cholesky factor of the covariance maps the unit circle onto the ellipse.
    across = math.sqrt(xx)
    along = xy / across if across else 0.0
    upright = math.sqrt(max(0.0, yy - along * along))
    turns = [2 * math.pi * step / 36 for step in range(36)]
    return [
        (mean[0] + across * math.cos(t), mean[1] + along * math.cos(t) + upright * math.sin(t)) for t in turns
    ]


def _mean(row: float, low: float, mean: float, high: float) -> tuple[model.Whiskers, model.Dots]:
    return model.Whiskers(row, low, high, "accent", lying=True), model.Dots([mean], [row], "accent", size=3.5)


def _finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]
