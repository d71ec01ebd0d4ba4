"""Figures of claims: those that a study describes, those that nobody describes, and the paper's numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from cogtcp.studies import plots
from cogtcp.studies.claims import Number, read_claim
from cogtcp.studies.drawing import draw, printed
from cogtcp.studies.exhibits import Curve, Figure
from cogtcp.studies.judging import Judged
from cogtcp.studies.outcome import _values
from cogtcp.studies.readings import Turn
from cogtcp.studies.space import Point, Setting, Unsaid
from cogtcp.studies.statements import Cell

STATEMENT = {
    "says": "It is more.",
    "kind": "ordering",
    "test": "above",
    "quantity": "rate_mbps",
    "than": 1,
}


def measured(row: Any, quantity: str = "rate_mbps") -> dict[Point, Cell]:
    return {point: Cell([{quantity: 1.0}]) for point in row.points}


def claim(points: list[dict[str, Any]], **more: Any) -> Any:
    return read_claim(
        {
            "id": "t-f1",
            "figure": "section 4",
            "claim": "It is more.",
            "paper": "more",
            "points": points,
            "statement": [STATEMENT],
            **more,
        }
    )


@pytest.mark.parametrize(
    ("points", "x", "lines", "log"),
    [
        # Numbers before words, whichever has more values; the others name the curves.
        ([{"transport": ["a", "b", "c"], "off_s": [0.1, 0.2]}], "off_s", ("transport",), False),
        ([{"transport": ["a", "b"], "net": "x"}], "transport", (), False),
        ([{"t_s": [0.02, 0.1, 1]}], "t_s", (), True),
        # Only an axis that all points have.
        ([{"transport": ["a", "b"], "rate": 1}, {"transport": ["a", "b"], "width": 2}], "transport",
         ("rate", "width"), False),
    ],
)  # fmt: skip
def test_the_axes_of_a_figure_that_nobody_described(
    points: list[dict[str, Any]], x: str, lines: tuple[str, ...], log: bool
) -> None:
    row = claim(points)
    plot = plots.automatic(row, {"rate_mbps": "goodput"}, measured(row))
    assert plot is not None
    assert (plot.x, plot.lines, plot.log_x) == (x, lines, log)
    assert (plot.title, plot.y_label) == ("Section 4: goodput", "goodput [Mbit/s]")


def test_no_figure_where_nothing_varies_or_too_much() -> None:
    one = claim([{"rate": 1}])
    assert plots.automatic(one, {}, measured(one)) is None
    many = claim([{"off_s": [1, 2], "transport": ["a", "b", "c", "d"], "net": ["x", "y"]}])
    assert plots.automatic(many, {}, measured(many)) is None


def test_where_no_statement_names_a_quantity_the_first_of_the_study_is_drawn() -> None:
    row = claim([{"rate": [1, 2]}])
    plot = plots.automatic(row, {"other": "another", "use": "use of the link"}, measured(row, "use"))
    assert plot is not None
    assert (plot.quantity, plot.y_label) == ("use", "use of the link")
    assert plots.automatic(row, {}, measured(row, "use")) is None


class _Study:
    """Stands for a context: figures that nobody described ask it for the place alone."""

    at, place = "base", "the default values"


def test_words_stand_side_by_side_and_the_papers_number_among_them() -> None:
    row = claim(
        [{"transport": ["b", "a"], "off_s": 1}],
        number=[
            {"says": "a", "value": 7.0, "quantity": "rate_mbps", "at": {"transport": "a"}},
            # Of another quantity: not in this figure.
            {"says": "a", "value": 9.0, "quantity": "delay_ms", "at": {"transport": "a"}},
        ],
    )
    grid = {
        Point(transport=name, off_s=1.0): Cell([{"rate_mbps": value - 1}, {"rate_mbps": value + 1}])
        for name, value in (("b", 4.0), ("a", 6.0))
    }
    plot = plots.automatic(row, {}, grid)
    assert plot is not None
    figure = plots.redraw(_Study(), row, plot, Judged(Setting(), grid, ()), None)  # type: ignore[arg-type]
    assert list(figure.x_names) == ["b", "a"]
    ours, given = figure.curves
    assert (ours.name, list(ours.x), list(ours.y)) == ("default values", [0.0, 1.0], [4.0, 6.0])
    assert ours.low is not None
    assert ours.low[0] < 4.0
    assert (given.name, list(given.x), list(given.y), given.style) == ("the paper", [1.0], [7.0], "given")


@pytest.mark.parametrize(("axis", "values"), [("rate", [1, 2]), ("net", ["x", "y"])])
def test_the_best_reading_has_the_colours_of_the_base(axis: str, values: list[Any]) -> None:
    row = claim([{axis: values, "transport": ["a", "b"]}])
    plot = plots.automatic(row, {}, measured(row))
    assert plot is not None
    plot = replace(plot, x=axis, lines="transport")
    here, there = (Judged(Setting(queue=queue), measured(row), ()) for queue in (1, 2))
    figure = plots.redraw(_Study(), row, plot, here, there)  # type: ignore[arg-type]
    assert [(curve.name, curve.partner) for curve in figure.curves] == [
        ("a", ""), ("b", ""), ("best values", "a"), ("best values", "b"),
    ]  # fmt: skip
    drawing = draw(figure)
    # One entry for all of the best reading; lines and marks have the colours of the base.
    assert [entry.text for entry in drawing.legend] == ["a", "b", "best values"]
    colors = [mark.color for mark in drawing.rows[0][0].marks if type(mark).__name__ in ("Dots", "Line")]
    assert colors == ["series-1", "series-2"] * 2
    # The base alone, where that is the best reading.
    (a, b) = plots.redraw(_Study(), row, plot, here, here).curves  # type: ignore[arg-type]
    assert (a.name, b.name) == ("a", "b")


def test_lines_of_several_axes_are_named_in_words_with_units() -> None:
    points = [{"transport": ["a", "b"], "rate_mbps": 15}, {"transport": ["a", "b"], "t_s": 0.2}]
    row = claim([*points, {"transport": ["a", "b"]}])
    plot = plots.automatic(row, {}, measured(row))
    assert plot is not None
    names = list(dict.fromkeys(plots._name(plot, point) for point in row.points))
    # `t_s` is a symbol, not a t in seconds.
    assert names == ["rate 15 Mbit/s", "t_s 0.2", "no rate"]


def test_a_printed_number_has_the_interval_of_what_was_measured() -> None:
    grid = {
        Point(net="x"): Cell([{"v": 9.0}, {"v": 11.0}]),
        Point(net="y"): Cell([{"v": 4.0}, {"v": 6.0}]),
    }
    plain = Number("x", 10.0, "v", {"net": "x"}).interval(grid)
    # Two values, one degree of freedom: 12.706 times the standard error of 1.
    assert (plain.mean, plain.low, plain.high) == pytest.approx((10, 10 - 12.706, 10 + 12.706), abs=1e-3)
    ratio = Number("x over y", 2.0, "v", {"net": "x"}, than={"net": "y"}).interval(grid)
    assert ratio.mean == 2.0
    # The baseline's own interval reaches zero: the ratio has no upper bound, and none below zero.
    assert (0 <= ratio.low < 2, ratio.high) == (True, math.inf)
    nothing = Number("nowhere", 1.0, "v", {"net": "z"}).interval(grid)
    assert math.isnan(nothing.mean)
    drawing = printed([("x", 10.0, [("base", plain)]), ("ratio", 2.0, [("base", ratio)])])
    titles = [title for mark in drawing.rows[0][0].marks for title in getattr(mark, "titles", ())]
    assert "x, base: 10 (-2.706 to 22.71)" in titles
    assert any("to ∞)" in title for title in titles)


def test_values_along_a_parameter_are_on_both_sides_of_the_turn() -> None:
    range_ = Unsaid("rtt", 100, "w", low=50, high=300)
    assert _values(range_, None) == [50.0, 175.0, 300.0]
    assert _values(range_, Turn("rtt", 170.0, 131.0, 0.2)) == [50.0, 131.0, 170.0]
    choices = Unsaid("node", "a", "w", choices=("a", "b", "c", "d", "e"))
    assert _values(choices, Turn("node", "e", "b", 1.0)) == ["a", "b", "c", "e"]
    assert _values(choices, None) == ["a", "b", "c", "d"]


def test_small_multiples_have_one_axis() -> None:
    def figure(y: list[float], high: list[float]) -> Figure:
        curve = Curve("a", [1, 2], y, [value - 0.5 for value in y], high)
        return Figure("f", "t", "x", "y", [curve], "words", paper=["words"])

    # 100 is over three times the greatest value: such an interval goes beyond the axis.
    both = plots.multiples([figure([1, 2], [2, 3]), figure([3, 4], [5, 100])], ["one", "two"])
    assert [(item.title, item.caption, list(item.paper)) for item in both] == [
        ("one", "", []),
        ("two", "", []),
    ]
    assert {item.y_range for item in both} == {(0.0, 1.06 * 5)}
    (below,) = plots.multiples([figure([-1, 2], [0, 3])], ["one"])
    assert below.y_range == (-1.5, 1.06 * 3)
    (log,) = plots.multiples([replace(figure([1, 2], [2, 3]), log_y=True)], ["one"])
    assert log.y_range is None
    assert plots.multiples([], ["one", "two"]) == []


def test_marks_that_are_moved_aside_have_room_at_the_ends() -> None:
    def left(names: str) -> float:
        curves = [Curve(name, [1, 2], [5, 5], [4, 4], [6, 6]) for name in names]
        return draw(Figure("f", "t", "x", "y", curves, "")).rows[0][0].x.scale.low

    # On a panel of 330 units the outer two of four marks are moved by 7.5 units, and are 4 wide.
    assert (1 - left("abcd")) / (2 - 1 + 2 * (1 - left("abcd"))) * 330 > 7.5 + 4
    assert left("a") > left("abcd")
