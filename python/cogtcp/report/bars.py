"""Goodput of each transport as bars, and the paired differences beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.metrics import BY_NAME
from cogtcp.report import scale, still
from cogtcp.report.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.compare import Comparison
    from cogtcp.metrics import Metric
    from cogtcp.statistics import Interval

_ROW = 34.0
_WIDTH = 760.0


def goodput(comparison: Comparison) -> str:
    """Return the figure as SVG."""
    return bars(comparison, BY_NAME["goodput_bps"])


def bars(comparison: Comparison, metric: Metric) -> str:
    """Return the means of a metric by transport, and the differences to the first, as SVG."""
    names = [name for name in comparison.transports if comparison.finished(name)]
    paired = len(names) > 1 and names[0] == comparison.transports[0]
    intervals = {name: comparison.interval(name, metric.name) for name in names}
    said = ", ".join(
        f"{name} {metric.text(interval.mean, unit=True)}" for name, interval in intervals.items()
    )
    height = _ROW * len(names)
    width = still.wide(_WIDTH)
    # On a phone the differences stand below.
    below = paired and still.on_phone()
    sheet = still.Sheet(width, (height + 74) * (2 if below else 1), f"{metric.title} by transport: {said}")
    left = 14 + max((still.text_width(name) for name in names), default=0)
    texts = [metric.with_half_width(interval) for interval in intervals.values()]
    beside = 20 + max((still.text_width(text, 12) for text in texts), default=0)
    unit = f", {metric.unit}" if metric.unit else ""
    share = 0.60 if paired and not below else 1.0
    wide = (width - left) * share - beside - 8
    singles = {
        name: [outcome.metrics[metric.name] * metric.scale for outcome in comparison.finished(name)]
        for name in names
    }
    ends = [value for values in singles.values() for value in values]
    ends += [i.high * metric.scale for i in intervals.values()]
    low, high = min([0.0, *_finite(ends)]), max([0.0, *_finite(ends)])
    x, y = Scale(low, high * 1.02 or 1.0), Scale(len(names) - 0.5, -0.5)
    panel = sheet.panel(left, 26, wide, height, x, y)
    ticks = x.ticks(max(2, int(wide / 56)))
    x_ticks = list(zip(ticks, scale.labels(ticks), strict=True))
    panel.axes(f"{metric.title}{unit}", x_ticks=x_ticks, y_ticks=list(enumerate(names)), grid="x")
    for row, (name, text) in enumerate(zip(names, texts, strict=True)):
        interval = intervals[name]
        title = f"{name}: {text} {metric.unit}".strip()
        if not math.isnan(interval.mean):
            ends_ = (0, interval.mean * metric.scale)
            panel.bar(ends_, (row - 0.32, row + 0.32), color="accent", opacity=0.35, title=title)
        if len(singles[name]) > 1:
            panel.points(
                singles[name], [row] * len(singles[name]), color="ink", shape="tick", size=4, opacity=0.4
            )
            _interval(panel, row, interval, metric.scale)
        panel.text(x.high, row, text, dx=8, size=12, middle=True)
    if paired:
        at = left + wide + beside + 22
        differences = [
            None if row == 0 else comparison.difference(name, metric.name) for row, name in enumerate(names)
        ]
        label = f"Difference to {names[0]}{unit}"
        room = (left, height + 100, width - left, height) if below else (at, 26, width - at, height)
        _differences(sheet, room, differences, metric, label, names if below else ())
    return sheet.svg()


def _differences(
    sheet: still.Sheet,
    room: tuple[float, float, float, float],
    intervals: Sequence[Interval | None],
    metric: Metric,
    label: str,
    names: Sequence[str] = (),
) -> None:
    """Draw differences with their intervals. One far from all others is marked, and does not set the axis."""
    left, top, width, height = room
    texts = ["" if i is None else metric.with_half_width(i, sign=True) for i in intervals]
    beside = 20 + max(still.text_width(text, 12) for text in texts)
    known = [interval for interval in intervals if interval is not None]
    reach = reach_of([(i.low * metric.scale, i.mean * metric.scale, i.high * metric.scale) for i in known])
    panel = sheet.panel(
        left, top, width - beside, height, Scale(-reach, reach), Scale(len(intervals) - 0.5, -0.5)
    )
    ticks = Scale(-reach, reach).ticks(max(3, int((width - beside) / 44)))
    panel.axes(
        label,
        x_ticks=list(zip(ticks, scale.labels(ticks), strict=True)),
        y_ticks=list(enumerate(names)),
        grid="x",
    )
    panel.upright(0)
    for row, (interval, text) in enumerate(zip(intervals, texts, strict=True)):
        if interval is None:
            continue
        mean = interval.mean * metric.scale
        if abs(mean) > reach:
            # Beyond the axis: an arrow at its end; the number stands beside it.
            edge = math.copysign(reach * 0.97, mean)
            panel.text(
                edge, row, "▸" if mean > 0 else "◂", anchor="middle", middle=True, color="alarm", size=16
            )
        elif interval.n > 1:
            _interval(panel, row, interval, metric.scale)
        elif interval.n == 1:
            panel.points([mean], [row], color="accent")
        panel.text(reach, row, text, dx=8, size=12, middle=True)


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


def _interval(panel: still.Panel, row: float, interval: Interval, factor: float) -> None:
    panel.interval_across(row, interval.low * factor, interval.high * factor, color="accent")
    panel.points([interval.mean * factor], [row], color="accent", size=3.5)


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]
