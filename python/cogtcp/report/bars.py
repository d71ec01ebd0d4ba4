"""Goodput of each transport as bars, and the paired differences beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp.metrics import BY_NAME
from cogtcp.report import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cogtcp.compare import Comparison

_GOODPUT = BY_NAME["goodput_bps"]


def goodput(comparison: Comparison) -> str:
    """Return the figure as SVG."""
    names = [name for name in comparison.transports if comparison.finished(name)]
    paired = len(names) > 1 and names[0] == comparison.transports[0]

    def paint(figure: Figure) -> None:
        ratios = [5, 3] if paired else [1]
        axes: Any = figure.subplots(1, len(ratios), sharey=True, width_ratios=ratios, squeeze=False)[0]
        _bars(axes[0], comparison, names)
        if paired:
            _differences(axes[1], comparison, names)

    label = "Goodput by transport: " + ", ".join(
        f"{name} {_GOODPUT.text(comparison.interval(name, 'goodput_bps').mean, unit=True)}" for name in names
    )
    return theme.draw(0.75 + 0.42 * len(names), label, paint)


def _bars(axes: Any, comparison: Comparison, names: list[str]) -> None:
    scale = _GOODPUT.scale
    highest = 0.0
    for row, name in enumerate(names):
        interval = comparison.interval(name, "goodput_bps")
        values = [outcome.metrics["goodput_bps"] * scale for outcome in comparison.finished(name)]
        axes.barh(row, interval.mean * scale, height=0.6, color=theme.ACCENT, alpha=0.35, linewidth=0)
        if len(values) > 1:
            axes.plot(values, [row] * len(values), "|", color=theme.INK, alpha=0.35, markersize=5)
            _whisker(axes, row, interval.low * scale, interval.mean * scale, interval.high * scale)
        edge = max(
            [interval.mean * scale, *values, *([] if math.isnan(interval.high) else [interval.high * scale])]
        )
        highest = max(highest, edge)
        axes.annotate(
            _GOODPUT.text(interval.mean),
            (edge, row),
            (7, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
        )
    axes.set_xlim(0, highest * 1.15 or 1)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=theme.INK, labelsize=10)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"Goodput, {_GOODPUT.unit}")


def _differences(axes: Any, comparison: Comparison, names: list[str]) -> None:
    scale = _GOODPUT.scale
    axes.axvline(0, color=theme.MUTED, linewidth=0.8)
    for row, name in enumerate(names):
        if name == comparison.transports[0]:
            continue
        interval = comparison.difference(name, "goodput_bps")
        if interval.n > 1:
            _whisker(axes, row, interval.low * scale, interval.mean * scale, interval.high * scale)
        elif interval.n == 1:
            axes.plot(interval.mean * scale, row, "o", color=theme.ACCENT, markersize=5)
    low, high = axes.get_xlim()
    reach = max(abs(low), abs(high))
    axes.set_xlim(-reach, reach)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(f"Difference to {comparison.transports[0]}, seed by seed, {_GOODPUT.unit}")


def _whisker(axes: Any, row: float, low: float, mean: float, high: float) -> None:
    axes.plot([low, high], [row, row], color=theme.ACCENT, linewidth=2.2, solid_capstyle="butt")
    for edge in (low, high):
        axes.plot([edge, edge], [row - 0.13, row + 0.13], color=theme.ACCENT, linewidth=1.6)
    axes.plot(mean, row, "o", color=theme.ACCENT, markersize=5)
