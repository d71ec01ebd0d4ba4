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
    markers = iter(_MARKERS * len(figure.curves))
    colors = iter(theme.SERIES * len(figure.curves))
    drawn = [
        (curve.name, _limit(axes, curve))
        if curve.style == "limit"
        else (curve.name, _points(axes, curve, next(colors), next(markers)))
        if curve.style == "points"
        else (curve.name, axes.plot(curve.x, curve.y, _LINES[curve.style], color=next(colors))[0])
        for curve in figure.curves
    ]
    _scales(axes, figure)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    named = [(handle, name) for name, handle in drawn if name]
    axes.legend([handle for handle, _ in named], [name for _, name in named], loc="best")


def _scales(axes: Any, figure: Figure) -> None:
    if figure.log_y:
        axes.set_yscale("log")
    elif figure.y_range is None:
        axes.set_ylim(bottom=0)
    if figure.y_range is not None:
        axes.set_ylim(figure.y_range)
    if figure.log_x:
        axes.set_xscale("log")
        ticks = sorted({x for curve in figure.curves if curve.style == "points" for x in curve.x})
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.minorticks_off()


def _limit(axes: Any, curve: Curve) -> Any:
    return axes.plot(curve.x, curve.y, "--", color=theme.MUTED, linewidth=0.9)[0]


def _points(axes: Any, curve: Curve, color: str, marker: str) -> Any:
    # Hollow, so that points in one place can all be seen.
    style: dict[str, Any] = {"color": color, "markersize": 6, "fillstyle": "none", "markeredgewidth": 1.4}
    if curve.low is None or curve.high is None:
        return axes.plot(curve.x, curve.y, marker, **style)[0]
    below = [_length(y - low) for y, low in zip(curve.y, curve.low, strict=True)]
    above = [_length(high - y) for y, high in zip(curve.y, curve.high, strict=True)]
    return axes.errorbar(curve.x, curve.y, [below, above], fmt=marker, capsize=3, **style)


def _length(value: float) -> float:
    return 0.0 if math.isnan(value) else max(value, 0.0)
