"""Curves and planes (`cogtcp.figure`) drawn for paper."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.transforms import ScaledTranslation

from cogtcp import figure
from cogtcp._errors import UsageError
from cogtcp.plot import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from cogtcp.figure import Curve, Row, Surface

#: How far apart lines are drawn whose intervals would cover each other.
_DODGE_PT = 3.5


def line(rows: Sequence[Row], **options: Any) -> Figure:
    """Return means with their 95 % intervals over x, one line for each hue.

    Args:
        rows: (x, hue, value) of each run: those of one x and hue are its seeds. x is a number or a text.
        options: As of `curves`, without `x_names`.
    """
    drawn, names = figure.over(rows)
    return curves(drawn, x_names=names, **options)


def heatmap(rows: Sequence[Row], **options: Any) -> Figure:
    """Return means over a plane as cells of equal size with a colour bar.

    Args:
        rows: (x, y, value) of each run: those of one place are its seeds. x and y are numbers or texts.
        options: As of `surface`.
    """
    return surface(figure.plane(rows), **options)


def curves(
    drawn: Sequence[Curve],
    *,
    x_label: str,
    y_label: str,
    x_names: Sequence[str] = (),
    log_x: bool = False,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return curves with their intervals.

    Args:
        drawn: The curves.
        x_label: What x is, with its unit.
        y_label: What the values are, with their unit.
        x_names: What stands at x = 0, 1, 2, ... where x counts choices.
        log_x: Whether x is logarithmic.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    with style.paper(width, height) as paper:
        axes: Any = paper.subplots()
        aside = _DODGE_PT if _overlap(drawn) else 0.0
        for index, curve in enumerate(drawn):
            means, low, high = (np.asarray(ends or curve.y) for ends in (curve.y, curve.low, curve.high))
            look = {"linestyle": style.DASHES[index % 7], "marker": style.MARKERS[index % 7]}
            bars = axes.errorbar(
                curve.x, means, np.nan_to_num([means - low, high - means]), capsize=2,
                color=style.COLORS[index % 7], label=curve.name, **look,
            )  # fmt: skip
            # Beside each other by points of paper, not by x: the same on every scale.
            shift = aside * (index - (len(drawn) - 1) / 2) / 72
            moved = ScaledTranslation(shift, 0, paper.dpi_scale_trans)
            for artist in bars.get_children():
                artist.set_transform(artist.get_transform() + moved)
        if x_names:
            axes.set_xticks(range(len(x_names)), x_names)
        elif log_x:
            axes.set_xscale("log")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        style.legend(axes, len(drawn), always=True)
    return paper


def surface(
    drawn: Surface,
    *,
    x_label: str,
    y_label: str,
    label: str,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return a quantity over a plane as cells of equal size with a colour bar.

    Args:
        drawn: The quantity.
        x_label: What x is, with its unit.
        y_label: What y is, with its unit.
        label: What the values are, with their unit: the colour bar's.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    xs, ys = drawn.x, drawn.y
    if len(xs) * len(ys) < 2:
        raise UsageError("a heat map needs a plane: results over two parameters, at more than one point")
    cells = np.array(drawn.values)
    with style.paper(width, height) as paper:
        axes: Any = paper.subplots()
        image = axes.imshow(cells, origin="lower", aspect="auto")
        axes.grid(visible=False)
        for axis, values in ((axes.xaxis, xs), (axes.yaxis, ys)):
            stride = max(1, math.ceil(len(values) / 8))
            axis.set_ticks(range(0, len(values), stride), [_text(value) for value in values[::stride]])
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        paper.colorbar(image, label=label)
        # Numbers where they find room.
        if len(xs) * 0.3 <= width - 1.3 and len(ys) * 0.13 <= (height or width * 0.66) - 0.5:
            middle = (np.nanmin(cells) + np.nanmax(cells)) / 2
            for (row, column), value in np.ndenumerate(cells):
                if not math.isnan(value):
                    ink = "white" if value < middle else "black"
                    axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=6, color=ink)
    return paper


def _overlap(curves: Sequence[Curve]) -> bool:
    """Whether two curves have intervals that overlap at the same x."""
    spans = [
        {x: (low, high) for x, low, high in zip(curve.x, curve.low or (), curve.high or (), strict=False)}
        for curve in curves
    ]
    for one, other in itertools.combinations(spans, 2):
        for x in one.keys() & other.keys():
            (a, b), (c, d) = one[x], other[x]
            if b > a and d > c and a <= d and c <= b:
                return True
    return False


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
