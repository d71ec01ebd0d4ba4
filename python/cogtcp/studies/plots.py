"""The figures of a claim: the paper's, redrawn from its points, and the map of where it holds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cogtcp.studies.claims import Plot
from cogtcp.studies.context import label_of
from cogtcp.studies.exhibits import Curve, Figure, Surface
from cogtcp.studies.space import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies.causes import Effect
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.search import Search
    from cogtcp.studies.space import Point, Unsaid
    from cogtcp.studies.statements import Grid
    from cogtcp.studies.verdicts import Verdict

MOST_LINES = 6
"""Most lines of a figure without a description: readers cannot distinguish more."""
UNITS = {"s": "s", "ms": "ms", "mbps": "Mbit/s", "kbps": "kbit/s", "bps": "bit/s", "bytes": "B", "db": "dB"}
"""Units by how the names of axes and quantities end."""


def redraw(study: Context, row: ClaimRow, plot: Plot, base: Judged, best: Judged | None) -> Figure:
    """Draw a figure of the paper from the points of a claim, at the default and the best values."""
    points = [point for point in row.points if point.matches(plot.where or {}) and plot.x in point]
    words = _words([point[plot.x] for point in points])
    shown = [(base, "points")]
    if best is not None and best.setting != base.setting:
        # Between words there is no line.
        shown.append((best, "points" if words else "dashed"))
    names = list(dict.fromkeys(_name(plot, point) for point in points))
    unnamed = label_of(study.at)
    curves = []
    for judged, style in shown:
        for name in names:
            mine = [point for point in points if _name(plot, point) == name]
            mine.sort(key=lambda point: _at(point[plot.x], words))
            x = [_at(point[plot.x], words) for point in mine]
            series = [judged.grid[point].of(plot.quantity) for point in mine]
            said, partner = (name or unnamed, "") if judged is base else ("best values", name or unnamed)
            curves.append(Curve.over_seeds(said, x, series, style, partner))  # type: ignore[arg-type]
    curves += _given(row, plot, points, words)
    here = "filled: at the best parameter values" if words else "dashed: at the best parameter values"
    return Figure(
        id=plot.id,
        title=plot.title,
        x_label=plot.x_label,
        y_label=plot.y_label,
        curves=curves,
        caption=f"Points: at {study.place}, mean and 95 % interval over the seeds"
        + (f"; {here}." if len(shown) > 1 else "."),
        # A figure without a description is not the paper's.
        paper=study.study.sentences(plot.id) if plot.id and not row.ours else [],
        log_x=plot.log_x,
        log_y=plot.log_y,
        x_names=words,
    )


def alone(study: Context, row: ClaimRow, judged: Judged) -> Figure | None:
    """Draw the first figure of a claim at one setting; None where nothing of it can be drawn."""
    plot = next(iter(row.plots), None) or automatic(row, study.study.quantities, judged.grid)
    if plot is None:
        return None
    drawn = redraw(study, row, plot, judged, None)
    unnamed = label_of(study.at)
    curves = [replace(curve, name="ours") if curve.name == unnamed else curve for curve in drawn.curves]
    stars = " Stars: what the paper prints." if any(curve.style == "given" for curve in drawn.curves) else ""
    return replace(
        drawn, curves=curves, caption=f"{drawn.title}. Mean and 95 % interval over the seeds.{stars}"
    )


def _given(row: ClaimRow, plot: Plot, points: Sequence[Point], words: Sequence[str]) -> list[Curve]:
    """Return the numbers that the paper prints for what a figure draws."""
    found = []
    for number in row.numbers:
        places = {_at(point[plot.x], words) for point in points if point.matches(number.at)}
        if number.quantity == plot.quantity and number.than is None and len(places) == 1:
            found.append((*places, number.value))
    return [Curve("the paper", [x for x, _ in found], [y for _, y in found], style="given")] if found else []


def automatic(row: ClaimRow, quantities: Mapping[str, str], grid: Grid) -> Plot | None:
    """Return the figure of a claim for which none is described: what its first statement speaks of.

    Where no statement names a quantity, it is the first of the study's that was measured.
    Along the axis that all points have, with the most values, numbers first; a line for each combination of
    the other axes. None where nothing varies, or where it needs more than `MOST_LINES` lines.
    """
    measured = next(iter(grid.values())).records[0]
    named = [*(statement.quantity for statement in row.statements), *quantities]
    quantity = next((name for name in named if name in measured), "")
    axes = {axis: list(dict.fromkeys(point.get(axis) for point in row.points)) for axis in _axes(row)}
    varied = [axis for axis, values in axes.items() if len(values) > 1]
    whole = [axis for axis in varied if None not in axes[axis]]
    if not quantity or not whole:
        return None
    x = max(whole, key=lambda axis: (not _words(axes[axis]), len(axes[axis])))
    others = tuple(axis for axis in varied if axis != x)
    said = quantities.get(quantity, _split(quantity)[0])
    plot = Plot(
        id="",
        title=f"{row.figure[:1].upper()}{row.figure[1:]}: {said}",
        x=x,
        quantity=quantity,
        x_label=_with_unit(*_split(x)),
        y_label=_with_unit(said, _split(quantity)[1]),
        lines=others,
        log_x=_spans_decades(axes[x]),
    )
    return plot if len({_name(plot, point) for point in row.points}) <= MOST_LINES else None


def _axes(row: ClaimRow) -> list[str]:
    return list(dict.fromkeys(axis for point in row.points for axis in point))


def _spans_decades(values: Sequence[Any]) -> bool:
    return not _words(values) and min(values) > 0 and max(values) / min(values) >= 20


def _words(values: Sequence[Any]) -> list[str]:
    """Return the values in words if they are no numbers: they are drawn side by side."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return []
    return list(dict.fromkeys(show(value) for value in values))


def _at(value: Any, words: Sequence[str]) -> float:
    return float(words.index(show(value))) if words else float(value)


def _name(plot: Plot, point: Point) -> str:
    """Return the name of the curve to which a point belongs; empty where there is one curve."""
    axes = [plot.lines] if isinstance(plot.lines, str) else plot.lines
    axes = [axis for axis in axes if axis]
    named = ", ".join(_named(axis, point[axis]) for axis in axes if axis in point)
    return named or (f"no {_split(axes[0])[0]}" if axes else "")


def _named(axis: str, value: Any) -> str:
    """Return a value of an axis as a curve's name: what is no word needs the axis beside it."""
    if isinstance(value, str):
        return value
    name, unit = _split(axis)
    return f"{name} {show(value)} {unit}".rstrip()


def _split(name: str) -> tuple[str, str]:
    """Split the name of an axis or quantity into words and unit: `rate_mbps` is a rate in Mbit/s."""
    head, _, end = name.rpartition("_")
    if len(head) == 1:
        return name, ""  # a symbol, such as t_s
    if head and end in UNITS:
        return head.replace("_", " "), UNITS[end]
    return name.replace("_", " "), UNITS.get(name, "") if len(name) > 1 else ""


def _with_unit(words: str, unit: str) -> str:
    return f"{words} [{unit}]" if unit and "[" not in words else words


def where_it_holds(
    varied: Sequence[Unsaid], claim: str, search: Search, causes: Sequence[Effect], effects: Sequence[Effect]
) -> Figure | None:
    """Draw where a claim holds over the two parameters that decide most; None if none does."""
    if not causes:
        return None
    by_name = {parameter.name: parameter for parameter in varied}
    first = [cause.parameter for cause in causes]
    others = [effect.parameter for effect in effects if effect.parameter not in first]
    names = [*first, *others][:2]
    across, up = by_name[names[0]], by_name[names[-1]]
    cells: dict[tuple[str, str], list[Verdict]] = {}
    for setting, found in zip(search.settings, search.claims[claim].claim_verdicts(), strict=True):
        key = (up.level(setting[up.name]), across.level(setting[across.name]))
        cells.setdefault(key, []).append(found)
    values = [[_holds(cells.get((row, column), [])) for column in across.levels()] for row in up.levels()]
    return Figure(
        id=f"{claim}-map",
        title="Where it holds",
        x_label=across.title,
        y_label=up.title,
        curves=[],
        caption="Share of the settings at which the claim holds, among those with a clear result.",
        surfaces=[Surface("", across.levels(), up.levels(), values)],
    )


def multiples(figures: Sequence[Figure], titles: Sequence[str]) -> list[Figure]:
    """Return figures as small multiples: with titles of their own, no more words, and one y axis."""
    curves = [curve for figure in figures for curve in figure.curves]
    values = [value for curve in curves for value in curve.y if math.isfinite(value)]
    ends = [
        end for curve in curves for end in (*(curve.low or ()), *(curve.high or ())) if math.isfinite(end)
    ]
    if not values or figures[0].log_y:
        range_ = None
    else:
        # An interval much wider than the values does not press these flat.
        size = 3 * max(map(abs, values))
        kept = [*values, *(end for end in ends if abs(end) <= size)]
        range_ = (min(0.0, *kept), 1.06 * max(0.0, *kept) or 1.0)
    return [
        replace(figure, title=title, caption="", paper=(), y_range=range_)
        for figure, title in zip(figures, titles, strict=False)
    ]


def _holds(found: Sequence[Verdict]) -> float:
    decided = [verdict for verdict in found if verdict != "inconclusive"]
    return decided.count("holds") / len(decided) if decided else math.nan
