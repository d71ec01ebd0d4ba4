"""Drawing of a study's figures, in the style of all reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.patches import Rectangle

from cogtcp.report import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from cogtcp.studies.exhibits import Curve, Figure, Surface

_LINES = {"line": "-", "dashed": "--", "dotted": ":"}
_MARKERS = "os^Dv"
_COLUMNS = 2  # of panels
_DEEPEST = 0.6  # opacity of the fullest cell: ink is legible on it in light and in dark


def draw(figure: Figure) -> str:
    """Return a figure as SVG for a report page."""
    label = f"{figure.title}. {figure.caption}"
    if figure.surfaces:
        rows = math.ceil(len(figure.surfaces) / _COLUMNS)
        most = max(len(surface.y) for surface in figure.surfaces)
        height = rows * (0.9 + 0.24 * max(most, 4))
        return theme.draw(height, label, lambda canvas: _panels(canvas, figure, rows))
    return theme.draw(4.2, label, lambda canvas: _paint(canvas, figure))


def _panels(canvas: Canvas, figure: Figure, rows: int) -> None:
    every: Any = canvas.subplots(rows, _COLUMNS, squeeze=False)
    for index, axes in enumerate(every.flat):
        if index >= len(figure.surfaces):
            axes.set_visible(False)
            continue
        surface = figure.surfaces[index]
        _cells(axes, surface)
        axes.set_title(surface.name, loc="left", fontsize=9)
        axes.set_xlabel(figure.x_label)
        if index % _COLUMNS == 0:
            axes.set_ylabel(figure.y_label)


def _cells(axes: Any, surface: Surface) -> None:
    known = [value for row in surface.values for value in row if not math.isnan(value)]
    greatest = max(known, default=0.0)
    for row, values in enumerate(surface.values):
        for column, value in enumerate(values):
            if math.isnan(value):
                continue
            shade = _DEEPEST * max(value, 0.0) / greatest if greatest > 0 else 0.0
            _cell(axes, column, row, facecolor=theme.ACCENT, alpha=shade, linewidth=0)
            weight = "bold" if value == greatest else "normal"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=8, fontweight=weight)
    if surface.mark is not None and surface.mark[0] in surface.x and surface.mark[1] in surface.y:
        column, row = list(surface.x).index(surface.mark[0]), list(surface.y).index(surface.mark[1])
        _cell(axes, column, row, fill=False, edgecolor=theme.INK, linewidth=1.6)
    axes.set_xlim(-0.5, len(surface.x) - 0.5)
    axes.set_ylim(-0.5, len(surface.y) - 0.5)
    axes.set_xticks(range(len(surface.x)), [f"{x:g}" for x in surface.x])
    axes.set_yticks(range(len(surface.y)), [f"{y:g}" for y in surface.y])
    axes.grid(visible=False)


def _cell(axes: Any, column: int, row: int, **style: Any) -> None:
    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **style))


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
