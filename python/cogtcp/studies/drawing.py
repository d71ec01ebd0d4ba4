"""The figures of a study, in the style of all reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.showing.figure import curves, surfaces
from cogtcp.showing.figure.compared import rows
from cogtcp.showing.figure.model import Axis, Dots, Drawing, Entry, Panel, Rule, Whiskers, series, shape
from cogtcp.showing.figure.scale import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.model.statistics import Interval
    from cogtcp.showing.figure.scale import Scale
    from cogtcp.studies.exhibits import Figure

    #: What a number of a paper says, its value, and what was measured for it at each place.
    Printed = tuple[str, float, Sequence[tuple[str, Interval]]]

_SMALL_HEIGHT = 120.0


def draw(figure: Figure, height: float = 340.0) -> Drawing:
    """Return a figure for a page."""
    label = f"{figure.title}. {figure.caption}"
    x_label, y_label = figure.x_label, figure.y_label
    if figure.surfaces:
        return surfaces(figure.surfaces, label, x_label=x_label, y_label=y_label)
    return curves(
        figure.curves,
        label,
        x_label=x_label,
        y_label=y_label,
        log_x=figure.log_x,
        log_y=figure.log_y,
        y_range=figure.y_range,
        x_names=figure.x_names,
        height=height,
    )


def small(figure: Figure) -> Drawing:
    """Return a low figure, for half a page."""
    return draw(figure, _SMALL_HEIGHT)


def printed(numbers: Sequence[Printed]) -> Drawing:
    """Return numbers of a paper: a row each, what was measured over what the paper prints.

    Args:
        numbers: What the number says, the paper's value, and what was measured with the name of the place.
    """
    places = list(dict.fromkeys(name for _, _, found in numbers for name, _ in found))
    looks = {name: (series(index), shape(index)) for index, name in enumerate(places)}
    legend = [Entry("the paper", "star", "ink")]
    legend += [Entry(name, mark, color, hollow=True) for name, (color, mark) in looks.items()]
    ratios = [
        value / paper
        for _, paper, found in numbers
        for _, interval in found
        for value in (interval.mean, interval.low, interval.high)
        if 0 < value < math.inf
    ]
    x = span([1.0, *ratios], log=True, margin=0.06)
    panel = Panel(Axis(x, "ours / the paper's", ticks=_ticks(x)), rows(says for says, *_ in numbers))
    panel.height = 20.0 * len(numbers) + 6
    panel.add(Rule(1.0, upright=True))
    for row, (says, paper, found) in enumerate(numbers):
        panel.add(Dots([1.0], [row], "ink", "star", 6, titles=[f"{says}: {paper:.4g}"]))
        for place, (name, interval) in enumerate(found):
            color, mark = looks[name]
            # Beside each other, as their intervals may cover each other.
            at = row + 0.2 * (place - (len(found) - 1) / 2)
            title = f"{says}, {name}: {interval.mean:.4g}"
            if not math.isnan(interval.low):
                low, high = max(interval.low / paper, x.low), min(interval.high / paper, x.high)
                panel.add(Whiskers(at, low, high, color, 2.5, lying=True))
                title += f" ({interval.low:.4g} to {interval.high:.4g})".replace("inf", "∞")
            panel.add(
                Dots([max(interval.mean / paper, 1e-9)], [at], color, mark, hollow=True, titles=[title])
            )
    return Drawing("The paper's numbers, and ours over them", [[panel]], legend)


def _ticks(x: Scale) -> list[tuple[float, str]]:
    known = [0.01, 0.1, 0.2, 0.5, 0.7, 1.0, 1.4, 2.0, 5.0, 10.0, 100.0]
    wide = math.log(x.high / x.low) > math.log(20)
    return [
        (value, f"{value:g}×")
        for value in known
        if x.low <= value <= x.high and not (wide and value in (0.7, 1.4, 0.2, 5.0))
    ]
