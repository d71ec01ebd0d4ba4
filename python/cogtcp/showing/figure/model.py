"""A figure as data: panels of axes and marks in the units of the data, and a legend.

Colours are roles of the pages' style sheet: `ink`, `muted`, `accent`, `alarm`, `series-1`, ... `series-6`.
Sizes are units of which a page is `Drawing.width` wide. Marks are tuples: these load faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cogtcp.showing.figure.scale import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.showing.figure.scale import Scale

#: From where to where, in the units of an axis.
Span: TypeAlias = tuple[float, float]
#: Colours that tell lines apart.
COLORS = 6
#: Marks that tell points apart.
SHAPES = ("circle", "square", "up", "diamond", "down", "plus")
_DASHES = ("", "6 3", "2 3", "8 3 2 3")


def series(index: int) -> str:
    """Return the role of the colour of line `index`, counted from 0."""
    return f"series-{index % COLORS + 1}"


def shape(index: int) -> str:
    """Return the mark of the points of line `index`."""
    return SHAPES[index % len(SHAPES)]


def dash(index: int) -> str:
    """Return the dashes of line `index`: lines of the same colour have different dashes."""
    return _DASHES[index // COLORS % 4]


class Line(NamedTuple):
    """Joined points; a NaN breaks the line. With `steps` a value holds until the next.

    `aside` moves it right, by units.
    """

    x: Sequence[float]
    y: Sequence[float]
    color: str
    width: float = 1.5
    dashes: str = ""
    steps: bool = False
    opacity: float = 1.0
    aside: float = 0.0


class Band(NamedTuple):
    """The area between two lines, as an interval along a line."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    color: str


class Dots(NamedTuple):
    """Marks: one of `SHAPES`, `cross`, `star` or `tick`. A pointer over one shows its title."""

    x: Sequence[float]
    y: Sequence[float]
    color: str
    shape: str = "circle"
    size: float = 4.0
    hollow: bool = False
    opacity: float = 1.0
    titles: Sequence[str] = ()
    aside: float = 0.0


class Whiskers(NamedTuple):
    """Whiskers from `low` to `high` at a value of x, or lying at a value of y. A NaN end draws nothing."""

    at: float
    low: float
    high: float
    color: str
    cap: float = 4.0
    lying: bool = False
    aside: float = 0.0


class Bar(NamedTuple):
    """A rectangle, full or its edge; `text` is written in it where there is room."""

    x: Span
    y: Span
    color: str
    opacity: float = 1.0
    title: str = ""
    text: str = ""
    hollow: bool = False


class Cells(NamedTuple):
    """A quantity over a plane, `values[row of y][column of x]`, as the shades of the figure's colour bar.

    `x` and `y` are the edges of the cells: one more than these. A NaN leaves a cell empty.
    """

    x: Sequence[float]
    y: Sequence[float]
    values: Sequence[Sequence[float]]
    titles: Sequence[Sequence[str]]
    texts: Sequence[Sequence[str]] = ()


class Shape(NamedTuple):
    """A filled area within a closed line."""

    x: Sequence[float]
    y: Sequence[float]
    color: str
    opacity: float = 0.1


class Spans(NamedTuple):
    """Stretches of x, shaded over the whole height, below everything else."""

    spans: Sequence[Span]
    color: str


class Rule(NamedTuple):
    """A line across the panel: level at a value of y, or upright at a value of x."""

    at: float
    color: str = "muted"
    dashes: str = ""
    upright: bool = False


class Strokes(NamedTuple):
    """Short strokes at values of x, at the top."""

    x: Sequence[float]
    color: str


class Text(NamedTuple):
    """A text at a value of x and y, moved right and down by units. It may reach out of the panel."""

    x: float
    y: float
    text: str
    dx: float = 0.0
    dy: float = 0.0
    size: float = 12.5
    color: str = "ink"
    anchor: str = "start"
    middle: bool = False
    bold: bool = False
    halo: bool = False


Mark: TypeAlias = Line | Band | Dots | Whiskers | Bar | Cells | Shape | Spans | Rule | Strokes | Text


@dataclass
class Axis:
    """One axis: its scale, what it shows, in which unit, and (value, text) of its ticks.

    Without `ticks` these are round values; with `bare` they have no texts.
    """

    scale: Scale
    label: str = ""
    unit: str = ""
    ticks: Sequence[tuple[float, str]] | None = None
    grid: bool = True
    bare: bool = False

    def labelled_ticks(self, most: int) -> list[tuple[float, str]]:
        """Return values and texts of the ticks, about `most` where they are round values."""
        found = self.ticks
        if found is None:
            values = self.scale.ticks(most)
            found = list(zip(values, labels(values, log=self.scale.log), strict=True))
        return [(value, "" if self.bare else text) for value, text in found]


@dataclass
class Panel:
    """One pair of axes and what is drawn in it, in the order of drawing.

    Attributes:
        x: The axis across.
        y: The axis upwards.
        height: Of the axes, in units; 0: as long upwards as across, in the units of the data.
        share: Of the row's width.
        title: Above the panel.
        beside: Texts right of the panel, each at a value of y.
        marks: What is drawn.
    """

    x: Axis
    y: Axis
    height: float = 340.0
    share: float = 1.0
    title: str = ""
    beside: Sequence[tuple[float, str]] = ()
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        """Draw further marks over the others."""
        self.marks += marks


class Entry(NamedTuple):
    """An entry of a legend: a `line`, a `block` or a mark of `Dots`, and what it means.

    A `joined` mark has a line too; without a shape there is only the text.
    """

    text: str
    shape: str
    color: str
    dashes: str = ""
    hollow: bool = False
    joined: bool = False
    opacity: float = 1.0


class Shades(NamedTuple):
    """A colour bar: what the faintest and the fullest shade stand for."""

    scale: Scale
    unit: str = ""
    label: str = ""
    deepest: float = 0.6

    def opacity(self, value: float) -> float:
        """Return how full the colour of a value is."""
        return self.deepest * min(1.0, max(0.0, self.scale.place(value)))


@dataclass
class Drawing:
    """A whole figure.

    Attributes:
        label: Describes it to those who cannot see it.
        rows: Panels, from top to bottom and left to right.
        legend: Its entries.
        shades: The colour bar of all `Cells`.
        width: On a page, in units.
        below: Whether the legend is below the panels.
    """

    label: str
    rows: list[list[Panel]]
    legend: Sequence[Entry] = ()
    shades: Shades | None = None
    width: float = 720.0
    below: bool = False
