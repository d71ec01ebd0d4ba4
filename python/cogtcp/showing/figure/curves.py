"""Curves with intervals, and quantities over a plane: what most figures are made of."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cogtcp.model.statistics import mean_interval
from cogtcp.showing.figure import scale
from cogtcp.showing.figure.model import (
    Axis,
    Band,
    Bar,
    Cells,
    Dots,
    Drawing,
    Entry,
    Line,
    Panel,
    Shades,
    Text,
    Whiskers,
    series,
    shape,
)
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DASHES = {"line": "", "dashed": "6 4", "dotted": "2 3", "limit": "5 4"}
#: How far apart curves are drawn whose intervals would cover each other.
_ASIDE = 5.0

Style: TypeAlias = Literal["points", "joined", "line", "dashed", "dotted", "limit", "given"]
#: Two places and a value: of one run.
Row: TypeAlias = "tuple[Any, Any, float]"


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of a figure, with an interval at each point where `low` and `high` are given.

    Styles: `points` with intervals as whiskers; `joined`, the same with a line. `line`, `dashed` and `dotted`
    have no marks. `limit` is a faint line to compare with; `given` shows others' numbers as stars. A series
    without a name is not in the legend. One with a `partner`, the name of a curve before it, has its colour,
    and its marks filled; in the legend all of one name are one entry.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    style: Style = "points"
    partner: str = ""

    @classmethod
    def over_seeds(
        cls,
        name: str,
        x: Sequence[float],
        series: Iterable[Sequence[float]],
        style: Style = "points",
        partner: str = "",
    ) -> Curve:
        """Return the means and 95 % intervals of `series[point][seed]`."""
        found = [mean_interval(values) for values in series]
        low, high = [i.low for i in found], [i.high for i in found]
        return cls(name, x, [i.mean for i in found], low, high, style, partner)


@dataclass(frozen=True, slots=True)
class Surface:
    """One panel of a figure: a quantity over two axes, `values[row of y][column of x]`, each point one cell.

    Cells are equally wide and high, whatever the steps of the axes; the axes may be texts. NaN leaves a cell
    empty. `mark` frames the cell of one (x, y).
    """

    name: str
    x: Sequence[float | str]
    y: Sequence[float | str]
    values: Sequence[Sequence[float]]
    mark: tuple[float | str, float | str] | None = None


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
    falling_x: bool = False,
) -> Drawing:
    """Return the figure of curves.

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
        falling_x: Whether x grows to the left.
    """
    known = [value for curve in drawn for value in curve.y]
    ends = [value for curve in drawn for value in (*(curve.low or ()), *(curve.high or ()))]
    y, beyond = _y_scale(known, ends, log_y, y_range)
    xs = [value for curve in drawn for value in curve.x]
    asides = _asides(drawn)
    # Room for what is moved aside at either end.
    margin = 0.05 if any(asides) else 0.03
    x = Scale(-0.5, len(x_names) - 0.5) if x_names else scale.span(xs, log=log_x, margin=margin)
    ticks: list[tuple[float, str]] | None = None
    if x_names:
        ticks = list(enumerate(x_names))
    elif log_x:
        points = {value for curve in drawn if curve.style in ("points", "joined") for value in curve.x}
        ticks = [(value, scale.number(value)) for value in sorted(points)] or None
    panel = Panel(Axis(x.flipped() if falling_x else x, x_label, ticks=ticks), Axis(y, y_label), height)
    legend: list[Entry] = []
    looks: dict[str, tuple[str, str]] = {}
    index = 0
    for curve, aside in zip(drawn, asides, strict=True):
        color, mark = looks.get(curve.partner) or {"limit": ("muted", ""), "given": ("ink", "star")}.get(
            curve.style, (series(index), shape(index))
        )
        if not curve.partner and curve.style not in ("limit", "given"):
            looks[curve.name] = color, mark
            index += 1
        _draw(panel, curve, color, mark, aside)
        entry = _entry(curve, color, mark)
        if entry is not None and entry not in legend:
            legend.append(entry)
    if beyond is not None:
        panel.add(scale_note(panel.x.scale.high, y.high, beyond))
    return Drawing(label, [[panel]], legend)


def _entry(curve: Curve, color: str, mark: str) -> Entry | None:
    """Return a curve's entry in the legend; None without a name. Curves with partners have one in common."""
    if not curve.name:
        return None
    if curve.partner:
        color, mark = "muted", shape(0)
    if curve.style in _DASHES:
        return Entry(curve.name, "line", color, _DASHES[curve.style])
    is_filled = curve.style == "given" or bool(curve.partner)
    return Entry(curve.name, mark, color, hollow=not is_filled, joined=curve.style == "joined")


def scale_note(x: float, y: float, beyond: float) -> Text:
    """Return the note at the upper right end of a panel that values reach beyond its axis."""
    text = f"up to {scale.number(float(f'{beyond:.3g}'))}, beyond the axis"
    return Text(x, y, text, dy=13, dx=-4, anchor="end", color="muted", size=11.5, halo=True)


def _asides(drawn: Sequence[Curve]) -> list[float]:
    """Return how far each curve is moved, so that intervals at the same x do not cover each other."""
    moved = [curve for curve in drawn if curve.style in ("points", "joined")]
    spans = [
        {x: (low, high) for x, low, high in zip(curve.x, curve.low or (), curve.high or (), strict=False)}
        for curve in moved
    ]
    overlap = any(
        one[x][0] <= other[x][1] and other[x][0] <= one[x][1] and one[x][0] < one[x][1]
        for one, other in itertools.combinations(spans, 2)
        for x in one.keys() & other.keys()
    )
    middle = (len(moved) - 1) / 2
    return [_ASIDE * (moved.index(curve) - middle) if overlap and curve in moved else 0.0 for curve in drawn]


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


def _draw(panel: Panel, curve: Curve, color: str, mark: str, aside: float) -> None:
    x, y, low, high = curve.x, curve.y, curve.low, curve.high
    if curve.style == "given":
        panel.add(Dots(x, y, color, mark, 6, titles=[f"{curve.name}: {_name(value)}" for value in y]))
        return
    if curve.style in _DASHES:
        if low is not None and high is not None:
            panel.add(Band(x, low, high, color))
        panel.add(Line(x, y, color, 1.0 if curve.style == "limit" else 1.6, _DASHES[curve.style]))
        return
    if curve.style == "joined":
        panel.add(Line(x, y, color, 1.2, opacity=0.7, aside=aside))
    titles = []
    for index, (at, value) in enumerate(zip(x, y, strict=True)):
        name = f"{curve.partner}, {curve.name}" if curve.partner else curve.name
        titles.append(f"{name}: {_name(at)}, {_rounded(value, 4)}")
        if low is not None and high is not None and not math.isnan(low[index]):
            panel.add(Whiskers(at, low[index], high[index], color, aside=aside))
            titles[-1] += f" ({_rounded(low[index], 4)} to {_rounded(high[index], 4)})"
    # Hollow, so that points in one place can all be seen.
    panel.add(Dots(x, y, color, mark, hollow=not curve.partner, titles=titles, aside=aside))


def surfaces(
    panels: Sequence[Surface],
    label: str,
    *,
    x_label: str,
    y_label: str,
    unit: str = "",
    numbers: bool = True,
    what: str = "",
) -> Drawing:
    """Return the figure of quantities over a plane: cells with their numbers, and a colour bar.

    All panels share the colours, so that they can be compared. Cells that are too small hold no numbers.

    Args:
        panels: The quantities.
        label: Describes the figure to those who cannot see it.
        x_label: What the x axis shows, with its unit.
        y_label: What the y axis shows, with its unit.
        unit: Of the values.
        numbers: Whether cells hold numbers.
        what: What the values are.
    """
    known = [value for panel in panels for row in panel.values for value in row if not math.isnan(value)]
    low, high = min([*known, 0.0]), max(known, default=1.0)
    shades = Shades(Scale(low, high if high > low else low + 1), unit, what)
    columns = 1 if len(panels) == 1 else 2
    drawn = [_plane(surface, x_label, y_label, numbers) for surface in panels]
    rows = [drawn[first : first + columns] for first in range(0, len(drawn), columns)]
    return Drawing(label, rows, shades=shades)


def _plane(surface: Surface, x_label: str, y_label: str, numbers: bool) -> Panel:
    x, y = (
        Axis(
            Scale(-0.5, len(values) - 0.5),
            label,
            ticks=[(i, _name(v)) for i, v in enumerate(values)],
            grid=False,
        )
        for values, label in ((surface.x, x_label), (surface.y, y_label))
    )
    texts = [[_rounded(value, 3) for value in row] for row in surface.values]
    titles = [
        [f"{_name(at)}, {_name(up)}: {text}" for at, text in zip(surface.x, row, strict=True)]
        for up, row in zip(surface.y, texts, strict=True)
    ]
    panel = Panel(x, y, max(24.0 * len(surface.y), 110.0), title=surface.name)
    across, up = ([i - 0.5 for i in range(len(values) + 1)] for values in (surface.x, surface.y))
    panel.add(Cells(across, up, surface.values, titles, texts if numbers else ()))
    if surface.mark is not None and surface.mark[0] in surface.x and surface.mark[1] in surface.y:
        column, row = list(surface.x).index(surface.mark[0]), list(surface.y).index(surface.mark[1])
        panel.add(Bar((column - 0.49, column + 0.49), (row - 0.48, row + 0.48), "ink", hollow=True))
    return panel


def over(rows: Sequence[Row]) -> tuple[list[Curve], list[str]]:
    """Return a curve of means with 95 % intervals for each hue.

    Args:
        rows: (x, hue, value) of each run: those of one x and hue are its seeds. x is a number or a text.

    Returns:
        The curves, and what stands at x = 0, 1, 2, ... where x is a text.
    """
    names = [] if _numbers([x for x, _, _ in rows]) else list(dict.fromkeys(x for x, _, _ in rows))
    curves = []
    for hue in dict.fromkeys(hue for _, hue, _ in rows):
        seeds = _by_place((x, value) for x, h, value in rows if h == hue)
        at = [names.index(x) if names else x for x in seeds]
        curves.append(Curve.over_seeds(str(hue), at, seeds.values(), "joined"))
    return curves, names


def plane(rows: Sequence[Row], name: str = "") -> Surface:
    """Return the means over a plane from (x, y, value) of each run; x and y are numbers or texts."""
    seeds = _by_place(((x, y), value) for x, y, value in rows)
    xs, ys = (_ordered([row[side] for row in rows]) for side in (0, 1))
    means = {place: mean_interval(values).mean for place, values in seeds.items()}
    return Surface(name, xs, ys, [[means.get((x, y), math.nan) for x in xs] for y in ys])


def _by_place(pairs: Iterable[tuple[Any, float]]) -> dict[Any, list[float]]:
    found: dict[Any, list[float]] = {}
    for place, value in pairs:
        if value is not None and not math.isnan(value):
            found.setdefault(place, []).append(value)
    return found


def _numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _ordered(values: Sequence[Any]) -> list[Any]:
    once = list(dict.fromkeys(values))
    return sorted(once) if _numbers(once) else once


def _rounded(value: float, digits: int) -> str:
    return _name(float(f"{value:.{digits}g}"))


def _name(value: float | str) -> str:
    return value if isinstance(value, str) else scale.number(value)
