"""Drawing of a study's figures, in the style of all reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp.report import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from cogtcp.studies.exhibits import Curve, Figure

_LINES = {"line": "-", "dashed": "--", "dotted": ":"}
_MARKERS = "os^Dv"


def draw(figure: Figure) -> str:
    """Return a figure as SVG for a report page."""
    return theme.draw(4.2, f"{figure.title}. {figure.caption}", lambda canvas: _paint(canvas, figure))


def _paint(canvas: Canvas, figure: Figure) -> None:
    axes: Any = canvas.subplots()
    markers = 0
    for index, curve in enumerate(figure.curves):
        color = theme.SERIES[index % len(theme.SERIES)]
        if curve.style == "points":
            _points(axes, curve, color, _MARKERS[markers % len(_MARKERS)])
            markers += 1
        else:
            axes.plot(curve.x, curve.y, _LINES[curve.style], color=color, label=curve.name)
    if figure.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if figure.log_x:
        axes.set_xscale("log")
        ticks = sorted({x for curve in figure.curves if curve.style == "points" for x in curve.x})
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.minorticks_off()
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.legend(loc="best")


def _points(axes: Any, curve: Curve, color: str, marker: str) -> None:
    if curve.low is None or curve.high is None:
        axes.plot(curve.x, curve.y, marker, color=color, markersize=5, label=curve.name)
        return
    below = [_length(y - low) for y, low in zip(curve.y, curve.low, strict=True)]
    above = [_length(high - y) for y, high in zip(curve.y, curve.high, strict=True)]
    axes.errorbar(
        curve.x, curve.y, [below, above], fmt=marker, color=color, markersize=5, capsize=3, label=curve.name
    )


def _length(value: float) -> float:
    return 0.0 if math.isnan(value) else max(value, 0.0)
