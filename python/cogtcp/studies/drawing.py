"""Drawing of a study's figures, in the style of all reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.report import figures, still
from cogtcp.report.scale import Scale, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.exhibits import Figure

_SMALL_HEIGHT = 120.0
_LOOKS = (("series-1", "circle"), ("series-2", "square"), ("series-3", "up"))


def draw(figure: Figure, height: float = 340.0) -> str:
    """Return a figure as SVG for a report page."""
    label = f"{figure.title}. {figure.caption}"
    if figure.surfaces:
        return figures.surfaces(figure.surfaces, label, x_label=figure.x_label, y_label=figure.y_label)
    return figures.curves(
        figure.curves,
        label,
        x_label=figure.x_label,
        y_label=figure.y_label,
        log_x=figure.log_x,
        log_y=figure.log_y,
        y_range=figure.y_range,
        height=height,
    )


def small(figure: Figure) -> str:
    """Return a figure half a page wide."""
    with still.narrow():
        return draw(figure, _SMALL_HEIGHT)


def printed(rows: Sequence[tuple[str, float, Sequence[tuple[str, float]]]]) -> str:
    """Return numbers of a paper as SVG: a row each, what was measured over what the paper prints.

    Args:
        rows: What the number says, the paper's value, and what was measured with the name of the place.
    """
    places = list(dict.fromkeys(name for _, _, found in rows for name, _ in found))
    looks = dict(
        zip(places, (("series-1", "circle"), ("series-2", "square"), ("series-3", "up")), strict=False)
    )
    width = still.wide(720.0)
    sheet = still.Sheet(width, 0, "The paper's numbers, and ours over them")
    entries = [(still.sign("star", "ink"), "the paper")]
    entries += [(still.sign(shape, color, "hollow"), name) for name, (color, shape) in looks.items()]
    top = sheet.legend(4, 2, entries, width - 8) + 8
    ratios = [value / paper for _, paper, found in rows for _, value in found if value > 0]
    x = span([1.0, *ratios], log=True, margin=0.06)
    left = min(16 + max(still.text_width(says) for says, _, _ in rows), 0.5 * width)
    height = 20.0 * len(rows) + 6
    panel = sheet.panel(left, top, width - left - 22, height, x, Scale(0, height))
    marks = [(height - 13 - 20.0 * index, says) for index, (says, _, _) in enumerate(rows)]
    panel.axes("ours / the paper's", x_ticks=_ticks(x), y_ticks=marks, grid="x")
    panel.upright(1.0)
    for (y, _), (says, paper, found) in zip(marks, rows, strict=True):
        panel.points([1.0], [y], color="ink", shape="star", size=6, titles=[f"{says}: {paper:.4g}"])
        for name, value in found:
            color, shape = looks[name]
            titles = [f"{says}, {name}: {value:.4g}"]
            panel.points(
                [max(value / paper, 1e-9)], [y], color=color, shape=shape, hollow=True, titles=titles
            )
    sheet.height = top + height + 44
    return sheet.svg()


def _ticks(x: Scale) -> list[tuple[float, str]]:
    known = [0.01, 0.1, 0.2, 0.5, 0.7, 1.0, 1.4, 2.0, 5.0, 10.0, 100.0]
    wide = math.log(x.high / x.low) > math.log(20)
    return [
        (value, f"{value:g}×")
        for value in known
        if x.low <= value <= x.high and not (wide and value in (0.7, 1.4, 0.2, 5.0))
    ]
