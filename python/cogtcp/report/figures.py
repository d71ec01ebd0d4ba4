"""Figures as data (`cogtcp.figure`) drawn for a page.

>>> from cogtcp.figure import Curve, Surface
>>> from cogtcp.report import figures
>>> goodput = Curve("sack", [1, 2, 5], [3.1, 2.9, 2.2], low=[3.0, 2.7, 2.0], high=[3.2, 3.1, 2.4])
>>> svg = figures.curves([goodput], "Goodput over loss", x_label="Loss, %", y_label="Goodput, Mbit/s")
>>> plane = Surface("sack", [1, 2], [10, 20], [[3.1, 2.9], [3.0, 2.5]])
>>> svg = figures.surfaces([plane], "Goodput", x_label="Loss, %", y_label="Delay, ms", unit="Mbit/s")
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.report import scale, still
from cogtcp.report.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.figure import Curve, Surface

#: Units that curves and planes are wide.
WIDTH = 720.0
#: Opacity of the fullest cell: marks and numbers are legible on it in light and in dark.
DEEPEST = 0.6

_SHAPES = ("circle", "square", "up", "diamond", "down", "plus")
_DASHES = {"line": "", "dashed": "6 4", "dotted": "2 3", "limit": "5 4"}


def curves(
    drawn: Sequence[Curve],
    label: str,
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    y_range: tuple[float, float] | None = None,
    x_names: Sequence[str] = (),
    height: float = 340.0,
) -> str:
    """Return curves as SVG for a page.

    Args:
        drawn: The curves; colours and marks by their order.
        label: Describes the figure to those who cannot see it.
        x_label: What the x axis shows, with its unit.
        y_label: What the y axis shows, with its unit.
        log_x: Whether x is logarithmic; ticks are then at the points.
        log_y: Whether y is logarithmic.
        y_range: What is shown of y; by default from 0 on, to where all but far outliers are.
        x_names: What stands at x = 0, 1, 2, ... where x counts choices.
        height: Of the axes, in units of 720 to a figure's width.
    """
    entries, looks = _looks(drawn)
    width = still.wide(WIDTH)
    sheet = still.Sheet(width, 0, label)
    top = sheet.legend(4, 2, entries, width - 8) + 26
    known = [value for curve in drawn for value in curve.y]
    ends = [value for curve in drawn for value in (*(curve.low or ()), *(curve.high or ()))]
    y, beyond = _y_scale(known, ends, log_y, y_range)
    xs = [value for curve in drawn for value in curve.x]
    x = Scale(-0.5, len(x_names) - 0.5) if x_names else scale.span(xs, log=log_x, margin=0.03)
    # A low panel has fewer ticks, and these may have longer labels.
    labels = [text for count in range(2, 10) for text in scale.labels(y.ticks(count), log=y.log)]
    left = 16 + max(still.text_width(text) for text in labels)
    panel = sheet.panel(left, top, width - left - 22, height, x, y)
    ticks: list[tuple[float, str]] | None = None
    if x_names:
        ticks = list(enumerate(x_names))
    elif log_x:
        ticks = _apart(
            sorted({v for curve in drawn if curve.style in ("points", "joined") for v in curve.x}), x
        )
    panel.axes(x_label, y_label, x_ticks=ticks or None)
    for curve, (color, shape) in zip(drawn, looks, strict=True):
        _curve(panel, curve, color, shape)
    if beyond is not None:
        panel.text(x.high, y.high, f"up to {scale.number(float(f'{beyond:.3g}'))}, beyond the axis",
                   dy=14, dx=-4, anchor="end", color="muted", halo=True)  # fmt: skip
    sheet.height = top + height + 44
    return sheet.svg()


def surfaces(
    panels: Sequence[Surface], label: str, *, x_label: str, y_label: str, unit: str = "", numbers: bool = True
) -> str:
    """Return quantities over a plane as SVG for a page: cells with their numbers, and a colour bar.

    All panels share the colours, so that they can be compared. Cells that are too small hold no numbers.
    """
    known = [value for panel in panels for row in panel.values for value in row if not math.isnan(value)]
    low, high = min([*known, 0.0]), max(known, default=1.0)
    shades = Scale(low, high if high > low else low + 1)
    width = still.wide(WIDTH)
    columns = 1 if len(panels) == 1 or still.on_phone() else 2
    bar = 74.0
    left = 16 + max(still.text_width(_name(value)) for panel in panels for value in panel.y)
    wide = (width - bar - columns * (left + 10)) / columns
    sheet = still.Sheet(width, 0, label)
    top = 0.0
    for first in range(0, len(panels), columns):
        row = panels[first : first + columns]
        high_ = max(24.0 * max(len(surface.y) for surface in row), 110.0)
        for column, surface in enumerate(row):
            at = left + column * (wide + left + 10)
            titled = 22 if surface.name else 0
            if surface.name:
                sheet.text(at, top + 14, surface.name, bold=True)
            _cells(sheet, surface, at, top + titled + 26, wide, high_, shades, x_label, y_label, numbers)
        top += high_ + 26 + 22 * any(surface.name for surface in row) + 46
    color_bar(sheet, width - bar + 14, 48, min(top - 100, 220), shades, unit)
    sheet.height = top
    return sheet.svg()


def color_bar(
    sheet: still.Sheet,
    left: float,
    top: float,
    height: float,
    shades: Scale,
    unit: str,
    deepest: float = DEEPEST,
) -> None:
    """Draw what the shades of `shade` mean, from the faintest below to the deepest above."""
    steps = 48
    part = height / steps
    for step in range(steps):
        opacity = deepest * (1 - (step + 0.5) / steps)
        sheet.raw(
            f'<rect x="{left:.1f}" y="{top + step * part:.2f}" width="12" height="{part:.2f}" '
            f'fill="var(--accent)" opacity="{opacity:.3f}" shape-rendering="crispEdges"/>'
        )
    sheet.raw(
        f'<rect x="{left:.1f}" y="{top:.1f}" width="12" height="{height:.1f}" fill="none" '
        'stroke="var(--muted)" stroke-width=".7"/>'
    )
    ticks = shades.ticks(5)
    for tick, text in zip(ticks, scale.labels(ticks), strict=True):
        y = top + (1 - shades.place(tick)) * height
        sheet.text(left + 17, y, text, size=11.5, color="muted", middle=True)
    if unit:
        sheet.text(left - 2, top - 10, unit, size=11.5, color="muted")


def shade(value: float, shades: Scale, deepest: float = DEEPEST) -> float:
    """Return the opacity of the accent colour that stands for a value."""
    return deepest * min(1.0, max(0.0, shades.place(value)))


def _looks(drawn: Sequence[Curve]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the entries of the legend, and colour and shape of each curve."""
    entries, looks = [], []
    index = 0
    for curve in drawn:
        if curve.style == "limit":
            color, shape = "muted", ""
        elif curve.style == "given":
            color, shape = "ink", "star"
        else:
            color, shape = still.series(index), _SHAPES[index % len(_SHAPES)]
            index += 1
        looks.append((color, shape))
        if curve.name:
            marks = curve.style in ("points", "joined", "given")
            sign = (
                still.sign(shape, color, "" if curve.style == "given" else "hollow")
                if marks
                else still.sign("line", color, _DASHES[curve.style])
            )
            entries.append((sign, curve.name))
    return entries, looks


def _y_scale(
    known: Sequence[float], ends: Sequence[float], log: bool, given: tuple[float, float] | None
) -> tuple[Scale, float | None]:
    """Return the axis, and the greatest value if that is left outside."""
    if given is not None:
        return Scale(*given, log=log), None
    finite = [value for value in (*known, *ends) if math.isfinite(value)]
    if log or any(value < 0 for value in finite):
        return scale.span(finite, zero=not log, log=log, margin=0.05), None
    limit, beyond = scale.robust_limit(known)
    if beyond is None:
        # An interval as wide as ten values does not press the values flat either.
        limit = max([limit, *(end for end in ends if math.isfinite(end) and end <= 3 * limit)])
    return Scale(0, limit * 1.06), beyond


def _curve(panel: still.Panel, curve: Curve, color: str, shape: str) -> None:
    low, high = curve.low, curve.high
    if curve.style == "given":
        titles = [f"{curve.name}: {_name(y)}" for y in curve.y]
        panel.points(curve.x, curve.y, color=color, shape=shape, size=6, titles=titles)
        return
    if curve.style in ("points", "joined"):
        if curve.style == "joined":
            panel.line(curve.x, curve.y, color=color, width=1.2, opacity=0.7)
        titles = []
        for index, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
            text = f"{curve.name}: {_name(x)}, {_name(float(f'{y:.4g}'))}"
            if low is not None and high is not None:
                panel.interval(x, low[index], high[index], color=color)
                if not math.isnan(low[index]):
                    text += f" ({_name(float(f'{low[index]:.4g}'))} to {_name(float(f'{high[index]:.4g}'))})"
            titles.append(text)
        # Hollow, so that points in one place can all be seen.
        panel.points(curve.x, curve.y, color=color, shape=shape, hollow=True, titles=titles)
        return
    if low is not None and high is not None:
        panel.area(curve.x, low, high, color=color)
    faint = 1.0 if curve.style == "limit" else 1.6
    panel.line(curve.x, curve.y, color=color, width=faint, dashes=_DASHES[curve.style])


def _cells(
    sheet: still.Sheet,
    surface: Surface,
    left: float,
    top: float,
    width: float,
    height: float,
    shades: Scale,
    x_label: str,
    y_label: str,
    numbers: bool,
) -> None:
    columns, rows = len(surface.x), len(surface.y)
    panel = sheet.panel(left, top, width, height, Scale(-0.5, columns - 0.5), Scale(-0.5, rows - 0.5))
    stride = max(1, math.ceil(columns * max(still.text_width(_name(x)) + 10 for x in surface.x) / width))
    panel.axes(
        x_label,
        y_label,
        x_ticks=[(i, _name(x)) for i, x in enumerate(surface.x) if i % stride == 0],
        y_ticks=[(i, _name(y)) for i, y in enumerate(surface.y)],
        grid="",
    )
    known = [value for row in surface.values for value in row if not math.isnan(value)]
    greatest = max(known, default=math.nan)
    texts = [[_name(float(f"{value:.3g}")) for value in row] for row in surface.values]
    widest = max((still.text_width(text, 11) for row in texts for text in row), default=0)
    room = widest + 4 < width / columns and height / rows > 12
    for row, values in enumerate(surface.values):
        for column, value in enumerate(values):
            if math.isnan(value):
                continue
            where = f"{_name(surface.x[column])}, {_name(surface.y[row])}: {texts[row][column]}"
            panel.bar((column - 0.5, column + 0.5), (row - 0.5, row + 0.5), color="accent",
                      opacity=shade(value, shades), title=where)  # fmt: skip
            if numbers and room:
                panel.text(column, row, texts[row][column], size=11, anchor="middle", middle=True,
                           bold=value == greatest)  # fmt: skip
    if surface.mark is not None and surface.mark[0] in surface.x and surface.mark[1] in surface.y:
        column, row = list(surface.x).index(surface.mark[0]), list(surface.y).index(surface.mark[1])
        panel.frame((column - 0.49, column + 0.49), (row - 0.48, row + 0.48))


def _apart(values: Sequence[float], x: Scale) -> list[tuple[float, str]]:
    """Return ticks at values, without those whose labels would touch the one before."""
    ticks: list[tuple[float, str]] = []
    until = -math.inf
    for value in values:
        text = scale.number(value)
        half = (still.text_width(text) + 10) / 2
        at = x.place(value) * (still.wide(WIDTH) - 80)
        if at - half >= until:
            ticks.append((value, text))
            until = at + half
    return ticks


def _name(value: float | str) -> str:
    return value if isinstance(value, str) else scale.number(value)
