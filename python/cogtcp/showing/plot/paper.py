"""Figures (`cogtcp.showing.figure`) drawn for paper by matplotlib, in the style of all figures for paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import ScaledTranslation

from cogtcp.showing.figure import model
from cogtcp.showing.plot import style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

#: Points of paper that are a unit of a page, for lines and marks, and for texts.
_POINT, _TYPE = 0.7, 0.62
_COLORS = {
    "accent": style.COLORS[0],
    "alarm": "#b03a2e",
    "grid": "#b8b8b8",
    "ink": "black",
    "muted": "#777777",
    "paper": "white",
    **{f"series-{number}": color for number, color in enumerate(style.COLORS, start=1)},
    **style.SILENCES,
}
_MARKERS = {
    **{"circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "plus": "P"},
    **{"cross": "x", "star": "*", "tick": "|"},
}
#: By colour, so that lines differ on paper without colour too.
_SERIES_DASHES: dict[str, Any] = {f"series-{n}": dashes for n, dashes in enumerate(style.DASHES, start=1)}
_SERIES_MARKERS = {f"series-{n}": marker for n, marker in enumerate(style.MARKERS, start=1)}
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def draw(drawing: model.Drawing, width: float = style.COLUMN_IN, height: float | None = None) -> Figure:
    """Return a figure.

    Args:
        drawing: The figure.
        width: In inches, as `height`.
        height: By default two thirds of the width, or what its panels need.
    """
    columns = max(map(len, drawing.rows))
    with style.paper(width, height or _height(drawing, width)) as figure:
        grid: Any = figure.subplots(
            len(drawing.rows),
            columns,
            squeeze=False,
            height_ratios=[max(panel.height for panel in row) or 1 for row in drawing.rows],
            width_ratios=[panel.share for panel in max(drawing.rows, key=len)],
        )
        for every, row in zip(grid, drawing.rows, strict=True):
            for axes, panel in zip(every, row, strict=False):
                _panel(axes, panel, drawing.shades)
            for axes in every[len(row) :]:
                axes.remove()
        figure.align_ylabels()
        if drawing.legend:
            names = [entry.text for entry in drawing.legend]
            handles = [_handle(entry) for entry in drawing.legend]
            figure.legend(handles, names, loc="outside upper center", ncols=_columns(names, width),
                          columnspacing=1.2)  # fmt: skip
    return figure


def _columns(names: Sequence[str], width: float) -> int:
    """Return how many columns of a legend fit into so many inches; matplotlib fills one after the other."""
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        longest = (max(map(len, names[first : first + rows])) for first in range(0, len(names), rows))
        if sum(0.42 + 0.042 * length for length in longest) <= width:
            return columns
    return 1


def _height(drawing: model.Drawing, width: float) -> float | None:
    """Return the inches that panels with a length of their own need; None: two thirds of the width."""
    (first, *_), *others = drawing.rows
    across, up = (axis.scale.high - axis.scale.low for axis in (first.x, first.y))
    if not first.height:
        return width * up / across + 0.7
    if others:
        return 0.35 + 0.85 * len(drawing.rows)
    return 0.6 + 0.3 * abs(up) if first.y.scale.low > first.y.scale.high else None


def _panel(axes: Any, panel: model.Panel, shades: model.Shades | None) -> None:
    axes.grid(visible=panel.x.grid, axis="x")
    axes.grid(visible=panel.y.grid, axis="y")
    for axis, name in ((panel.x, "x"), (panel.y, "y")):
        _axis(axes, axis, name)
    if not panel.height:
        axes.set_aspect("equal")
    axes.set_title(panel.title, loc="left")
    for mark in panel.marks:
        if isinstance(mark, model.Cells):
            assert shades is not None  # noqa: S101 (a figure with cells has a colour bar)
            _cells(axes, mark, shades)
        else:
            _DRAWN[type(mark)](axes, mark)
    for y, text in panel.beside:
        axes.annotate(text, (1, y), (4, 0), axes.get_yaxis_transform(), "offset points", va="center",
                      fontsize=6.5, annotation_clip=False)  # fmt: skip


def _axis(axes: Any, axis: model.Axis, name: str) -> None:
    scale = axis.scale
    if scale.log:
        axes.set(**{f"{name}scale": "log"})
    axes.set(**{f"{name}lim": (scale.low, scale.high)})
    axes.set(**{f"{name}label": f"{axis.label} ({axis.unit})" if axis.label and axis.unit else axis.label})
    ticks = axis.labelled_ticks(6 if name == "x" else 5)
    stride = max(1, math.ceil(len(ticks) / 8)) if name == "x" or scale.low < scale.high else 1
    ticks = ticks[::stride]
    values, texts = [value for value, _ in ticks], [text for _, text in ticks]
    axes.set(**{f"{name}ticks": values, f"{name}ticklabels": texts})
    axes.minorticks_off()


def _handle(entry: model.Entry) -> Any:
    """Return the sign of an entry of the legend."""
    if entry.shape == "block":
        return Patch(facecolor=_COLORS[entry.color], alpha=entry.opacity, linewidth=0)
    if entry.shape in ("line", ""):
        color = _COLORS.get(entry.color, "none")
        return Line2D([], [], color=color, linestyle=_dashes(entry.color, entry.dashes))
    look = _look(model.Dots((), (), entry.color, entry.shape, hollow=entry.hollow))
    line = _dashes(entry.color, "") if entry.joined else "none"
    return Line2D([], [], color=_COLORS[entry.color], **look | {"linestyle": line})


def _dashes(color: str, dashes: str) -> Any:
    """Return the style of a line."""
    if dashes:
        return (0, [float(part) * 0.7 for part in dashes.split()])
    return _SERIES_DASHES.get(color, "-")


def _look(mark: model.Dots) -> dict[str, Any]:
    marker = _MARKERS[mark.shape]
    if mark.shape == "circle" and mark.size > 2:
        marker = _SERIES_MARKERS.get(mark.color, marker)
    face = "white" if mark.hollow else _COLORS[mark.color]
    size = mark.size * (1.8 if mark.shape == "star" else 1.2) * _POINT
    return {"marker": marker, "markersize": size, "markerfacecolor": face, "linestyle": "none"}


def _move(axes: Any, artists: Any, aside: float) -> None:
    """Move artists by units, not by x: the same on every scale."""
    moved = ScaledTranslation(aside * _POINT / 72, 0, axes.figure.dpi_scale_trans)
    for artist in artists if aside else ():
        artist.set_transform(artist.get_transform() + moved)


def _line(axes: Any, mark: model.Line) -> None:
    look = {"linewidth": mark.width * _POINT, "alpha": mark.opacity, "color": _COLORS[mark.color]}
    steps = "steps-post" if mark.steps else "default"
    dashes = _dashes(mark.color, mark.dashes)
    _move(axes, axes.plot(mark.x, mark.y, drawstyle=steps, linestyle=dashes, **look), mark.aside)


def _band(axes: Any, mark: model.Band) -> None:
    axes.fill_between(mark.x, mark.low, mark.high, color=_COLORS[mark.color], alpha=0.16, linewidth=0)


def _dots(axes: Any, mark: model.Dots) -> None:
    color, look = _COLORS[mark.color], _look(mark)
    _move(axes, axes.plot(mark.x, mark.y, color=color, alpha=mark.opacity, **look), mark.aside)


def _whiskers(axes: Any, mark: model.Whiskers) -> None:
    ends, at = ([mark.low, mark.high], [mark.at, mark.at])
    look = {"color": _COLORS[mark.color], "linewidth": 0.9, "markersize": 1.6 * mark.cap * _POINT}
    if mark.lying:
        axes.plot(ends, at, marker="|", **look)
    else:
        _move(axes, axes.plot(at, ends, marker="_", **look), mark.aside)


def _bar(axes: Any, mark: model.Bar) -> None:
    (left, right), (bottom, top) = mark.x, mark.y
    color = _COLORS[mark.color]
    face, edge = ("none", color) if mark.hollow else (color, "none")
    look: Any = {"facecolor": face, "edgecolor": edge, "alpha": mark.opacity, "linewidth": 0.7}
    axes.add_patch(Rectangle((left, bottom), right - left, top - bottom, **look))


def _cells(axes: Any, mark: model.Cells, shades: model.Shades) -> None:
    """Draw cells with their colour bar, and their numbers where there is room."""
    values = np.array(mark.values, dtype=float)
    image = axes.pcolormesh(mark.x, mark.y, values, edgecolors="none")
    axes.figure.colorbar(image, label=f"{shades.label} ({shades.unit})" if shades.label else shades.unit)
    rows, columns = values.shape
    width, height = axes.figure.get_size_inches()
    if mark.texts and columns * 0.3 <= width - 1.3 and rows * 0.13 <= height - 0.5:
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for (row, column), value in np.ndenumerate(values):
            if not math.isnan(value):
                x, y = sum(mark.x[column : column + 2]) / 2, sum(mark.y[row : row + 2]) / 2
                axes.text(x, y, mark.texts[row][column], ha="center", va="center", fontsize=6,
                          color="white" if value < middle else "black")  # fmt: skip


def _shape(axes: Any, mark: model.Shape) -> None:
    axes.fill(mark.x, mark.y, color=_COLORS[mark.color], alpha=mark.opacity, linewidth=0)


def _spans(axes: Any, mark: model.Spans) -> None:
    spans = [(start, end - start) for start, end in mark.spans]
    axes.broken_barh(spans, (0, 1), transform=axes.get_xaxis_transform(), color=_COLORS[mark.color],
                     linewidth=0, zorder=0)  # fmt: skip


def _rule(axes: Any, mark: model.Rule) -> None:
    look = {"color": _COLORS[mark.color], "linewidth": _POINT, "linestyle": _dashes("", mark.dashes)}
    (axes.axvline if mark.upright else axes.axhline)(mark.at, **look)


def _strokes(axes: Any, mark: model.Strokes) -> None:
    axes.vlines(
        mark.x, 0.92, 1, transform=axes.get_xaxis_transform(), color=_COLORS[mark.color], linewidth=0.6
    )


def _text(axes: Any, mark: model.Text) -> None:
    axes.annotate(mark.text, (mark.x, mark.y), (mark.dx * _POINT, -mark.dy * _POINT), "data", "offset points",
                  color=_COLORS[mark.color], fontsize=mark.size * _TYPE, ha=_ANCHORS[mark.anchor],
                  va="center" if mark.middle else "baseline", weight="bold" if mark.bold else "normal",
                  annotation_clip=True)  # fmt: skip


_DRAWN: dict[type, Callable[[Any, Any], None]] = {
    model.Band: _band,
    model.Bar: _bar,
    model.Dots: _dots,
    model.Line: _line,
    model.Rule: _rule,
    model.Shape: _shape,
    model.Spans: _spans,
    model.Strokes: _strokes,
    model.Text: _text,
    model.Whiskers: _whiskers,
}
