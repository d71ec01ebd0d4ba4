"""A quantity over one parameter or two: sweeps, and the grids of searches."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.transforms import ScaledTranslation

from cogtcp import statistics
from cogtcp._errors import UsageError
from cogtcp.plot import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from cogtcp.statistics import Interval

Row = tuple[Any, Any, float]
#: How far apart lines are drawn whose intervals would cover each other.
_DODGE_PT = 3.5


def line(
    rows: Sequence[Row],
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return means with their 95 % intervals over x, one line for each hue.

    Args:
        rows: (x, hue, value) of each run: those of one x and hue are its seeds. x is a number or a text.
        x_label: What x is, with its unit.
        y_label: What the values are, with their unit.
        log_x: Whether x is logarithmic.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    places = _places([x for x, _, _ in rows])
    hues = list(dict.fromkeys(hue for _, hue, _ in rows))
    with style.paper(width, height) as figure:
        axes: Any = figure.subplots()
        lines = {hue: _means([(x, value) for x, h, value in rows if h == hue]) for hue in hues}
        aside = _DODGE_PT if _overlap(list(lines.values())) else 0.0
        for index, (hue, found) in enumerate(lines.items()):
            xs = [places.get(x, x) for x in found]
            means = [interval.mean for interval in found.values()]
            errors = [[m - i.low for m, i in zip(means, found.values(), strict=True)],
                      [i.high - m for m, i in zip(means, found.values(), strict=True)]]  # fmt: skip
            look = {"linestyle": style.DASHES[index % 7], "marker": style.MARKERS[index % 7]}
            drawn = axes.errorbar(
                xs, means, np.nan_to_num(errors), capsize=2, color=style.COLORS[index % 7],
                label=str(hue), **look,
            )  # fmt: skip
            # Beside each other by points of paper, not by x: the same on every scale.
            shift = aside * (index - (len(lines) - 1) / 2) / 72
            moved = ScaledTranslation(shift, 0, figure.dpi_scale_trans)
            for artist in drawn.get_children():
                artist.set_transform(artist.get_transform() + moved)
        if places:
            axes.set_xticks(list(places.values()), list(places))
        elif log_x:
            axes.set_xscale("log")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        style.legend(axes, len(hues), always=True)
    return figure


def heatmap(
    rows: Sequence[Row],
    *,
    x_label: str,
    y_label: str,
    label: str,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return means over a plane as cells of equal size with a colour bar.

    Args:
        rows: (x, y, value) of each run: those of one place are its seeds. x and y are numbers or texts.
        x_label: What x is, with its unit.
        y_label: What y is, with its unit.
        label: What the values are, with their unit: the colour bar's.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    xs, ys = (
        (_ordered(values) for values in zip(*((x, y) for x, y, _ in rows), strict=True)) if rows else ([], [])
    )
    if len(xs) * len(ys) < 2:
        raise UsageError("a heat map needs a plane: results over two parameters, at more than one point")
    means = {place: i.mean for place, i in _means([((x, y), value) for x, y, value in rows]).items()}
    cells = np.array([[means.get((x, y), math.nan) for x in xs] for y in ys])
    with style.paper(width, height) as figure:
        axes: Any = figure.subplots()
        image = axes.imshow(cells, origin="lower", aspect="auto")
        axes.grid(visible=False)
        for axis, values in ((axes.xaxis, xs), (axes.yaxis, ys)):
            stride = max(1, math.ceil(len(values) / 8))
            axis.set_ticks(range(0, len(values), stride), [_text(value) for value in values[::stride]])
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        figure.colorbar(image, label=label)
        # Numbers where they find room.
        if len(xs) * 0.3 <= width - 1.3 and len(ys) * 0.13 <= (height or width * 0.66) - 0.5:
            middle = (np.nanmin(cells) + np.nanmax(cells)) / 2
            for (row, column), value in np.ndenumerate(cells):
                if not math.isnan(value):
                    ink = "white" if value < middle else "black"
                    axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=6, color=ink)
    return figure


def _overlap(lines: Sequence[dict[Any, Interval]]) -> bool:
    """Whether two lines have intervals that overlap at the same x."""
    for one, other in itertools.combinations(lines, 2):
        for x in one.keys() & other.keys():
            a, b = one[x], other[x]
            if a.high > a.low and b.high > b.low and a.low <= b.high and b.low <= a.high:
                return True
    return False


def _means(pairs: Sequence[tuple[Any, float]]) -> dict[Any, Interval]:
    found: dict[Any, list[float]] = {}
    for key, value in pairs:
        if value is not None and not math.isnan(value):
            found.setdefault(key, []).append(value)
    return {key: statistics.mean_interval(values) for key, values in found.items()}


def _places(values: Sequence[Any]) -> dict[Any, int]:
    """Return where texts stand on an axis; nothing for numbers, which stand where they are."""
    if all(isinstance(value, int | float) for value in values):
        return {}
    return {value: index for index, value in enumerate(dict.fromkeys(values))}


def _ordered(values: Sequence[Any]) -> list[Any]:
    once = list(dict.fromkeys(values))
    return sorted(once) if all(isinstance(value, int | float) for value in once) else once


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
