"""Figures as data: curves with intervals, and quantities over a plane.

Pages draw them as SVG (`cogtcp.report.figures`), papers with matplotlib (`cogtcp.plot.plane`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cogtcp.statistics import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Style: TypeAlias = Literal["points", "joined", "line", "dashed", "dotted", "limit", "given"]
#: Two places and a value: of one run.
Row: TypeAlias = "tuple[Any, Any, float]"


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of a figure, with an interval at each point where `low` and `high` are given.

    Styles: `points` with intervals as whiskers; `joined`, the same with a line. `line`, `dashed` and `dotted`
    have no marks. `limit` is a faint line to compare with; `given` shows others' numbers as stars. A series
    without a name is not in the legend.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    style: Style = "points"

    @classmethod
    def over_seeds(
        cls, name: str, x: Sequence[float], series: Iterable[Sequence[float]], style: Style = "points"
    ) -> Curve:
        """Return the means and 95 % intervals of `series[point][seed]`."""
        found = [mean_interval(values) for values in series]
        return cls(name, x, [i.mean for i in found], [i.low for i in found], [i.high for i in found], style)


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
