"""Figures of a sweep: over one axis, or over the plane of two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.model.metrics import find
from cogtcp.running.sweeping.axes import read
from cogtcp.showing import figure
from cogtcp.showing.plot import compared, paper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from cogtcp.showing.figure import Row


class Column(NamedTuple):
    """An axis of a sweep: the unit of its column, and what figures call it."""

    unit: str
    title: str


#: Axes of a sweep, by name.
Axes = dict[str, Column]


def line(
    runs: Any,
    axes: Axes,
    x: str | None = None,
    hue: str = "transport",
    metric: str = "goodput_bps",
    where: Mapping[str, Any] | None = None,
    **options: Any,
) -> Figure:
    """Return the means of a metric over an axis with their 95 % intervals, one line for each hue.

    Args:
        runs: The table `Sweep.runs`.
        axes: The axes, by name.
        x: The axis; by default the first that `where` leaves.
        hue: What tells lines apart: `transport` or another axis.
        metric: Its name, see `cogtcp.metrics.METRICS`.
        where: Values of the other axes, and of `transport`: a mean over them would hide them. Numbers are in
            the column's base unit; texts may have a unit, as in `"500 ms"` and `"0.1 %"`.
        options: `log_x`; `width` and `height` in inches.
    """
    x = pick(x if x is not None else _first(axes, {hue}, where), axes, "axis of this sweep")
    pick(hue, [*axes, "transport"], "axis of this sweep")
    what = find(metric)
    rows = _rows(runs, axes, (x, hue), what.name, what.scale, where or {})
    return lines(rows, x_label=_axis(x, axes), y_label=compared.label(what), **options)


def heatmap(
    runs: Any,
    axes: Axes,
    x: str | None = None,
    y: str | None = None,
    metric: str = "goodput_bps",
    where: Mapping[str, Any] | None = None,
    **options: Any,
) -> Figure:
    """Return the means of a metric over the plane of two axes.

    `line` has the same arguments; `x` and `y` are by default the first two axes that `where` leaves.
    """
    x = pick(x if x is not None else _first(axes, {y}, where), axes, "axis of this sweep")
    y = pick(y if y is not None else _first(axes, {x}, where), axes, "axis of this sweep")
    what = find(metric)
    rows = _rows(runs, axes, (x, y), what.name, what.scale, where or {})
    return plane(rows, x_label=_axis(x, axes), y_label=_axis(y, axes), label=compared.label(what), **options)


def lines(rows: Sequence[Row], *, x_label: str, y_label: str, log_x: bool = False, **size: Any) -> Figure:
    """Return means with their 95 % intervals over x, one line for each hue.

    Args:
        rows: (x, hue, value) of each run: those of one x and hue are its seeds. x is a number or a text.
        x_label: What x is, with its unit.
        y_label: What the values are, with their unit.
        log_x: Whether x is logarithmic.
        size: `width` and `height` in inches.
    """
    curves, names = figure.over(rows)
    drawn = figure.curves(curves, "", x_label=x_label, y_label=y_label, log_x=log_x, x_names=names)
    return paper.draw(drawn, **size)


def plane(rows: Sequence[Row], *, x_label: str, y_label: str, label: str, **size: Any) -> Figure:
    """Return means over a plane as cells of equal size with a colour bar.

    Args:
        rows: (x, y, value) of each run: those of one place are its seeds. x and y are numbers or texts.
        x_label: What x is, with its unit.
        y_label: What y is, with its unit.
        label: What the values are, with their unit: the colour bar's.
        size: `width` and `height` in inches.
    """
    drawn = figure.plane(rows)
    if len(drawn.x) * len(drawn.y) < 2:
        raise UsageError("a heat map needs a plane: results over two parameters, at more than one point")
    return paper.draw(figure.surfaces([drawn], "", x_label=x_label, y_label=y_label, unit=label), **size)


def _first(axes: Axes, taken: set[str | None], where: Mapping[str, Any] | None) -> str:
    """Return the first axis that is not taken; one at which `where` holds a value comes last."""
    free = sorted((name for name in axes if name not in taken), key=lambda name: name in (where or {}))
    if not free:
        raise UsageError("the sweep has no further axis to draw over; name others")
    return free[0]


def _rows(
    runs: Any, axes: Axes, by: tuple[str, str], metric: str, factor: float, where: Mapping[str, Any]
) -> Sequence[Row]:
    """Return (first, second, value) of each finished run; raise where something else varies too."""
    for name in where:
        pick(name, [*axes, "transport"], "axis of this sweep")
    names = [*axes, "transport"]
    pick(metric, runs.column_names, "metric of these runs")
    columns = {name: runs.column(name).to_pylist() for name in (*names, "error", metric)}
    chosen = [index for index, error in enumerate(columns["error"]) if error is None]
    for name, value in where.items():
        wanted = read(value, axes[name].unit) if isinstance(value, str) and name in axes else value
        kept = [index for index in chosen if _same(columns[name][index], wanted)]
        if not kept:
            there = ", ".join(str(found) for found in dict.fromkeys(columns[name][index] for index in chosen))
            raise UsageError(f"no finished run has {name} {value}; there are: {there or 'none'}")
        chosen = kept
    if not chosen:
        raise UsageError("no run was finished")
    for name in names:
        found = list(dict.fromkeys(columns[name][index] for index in chosen))
        if name not in by and len(found) > 1:
            shown = ", ".join(map(str, found[:5]))
            raise UsageError(
                f"{name} varies too ({shown}{', ...' if len(found) > 5 else ''}); choose one: "
                f"where={{{name!r}: {found[0]!r}}}, on the command line --where {name}={found[0]}"
            )
    return [
        (columns[by[0]][i], columns[by[1]][i], columns[metric][i] * factor)
        for i in chosen
        if columns[metric][i] is not None and not math.isnan(columns[metric][i])
    ]


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, float) and isinstance(wanted, int | float):
        return math.isclose(found, wanted, rel_tol=1e-9)
    return bool(found == wanted)


def _axis(name: str, axes: Axes) -> str:
    unit, title = axes.get(name, Column("", name))
    return compared.with_unit(title, unit)
