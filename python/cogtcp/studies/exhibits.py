"""What a study shows besides its verdicts: figures and tables as data, drawn by the report page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cogtcp.statistics import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Style: TypeAlias = Literal["points", "line", "dashed", "dotted", "limit"]


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of a figure, with an interval at each point where `low` and `high` are given.

    A `limit` is a line to compare with, drawn faintly; a curve without a name is not in the legend.
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

    Cells are equally wide and high, whatever the steps of the axes. `mark` frames the cell of one (x, y).
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    values: Sequence[Sequence[float]]
    mark: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A redrawn figure beside what the paper says about it: curves, or surfaces in panels."""

    id: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    caption: str
    paper: Sequence[str] = ()
    """What the paper states about the figure, sentence by sentence."""
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[float, float] | None = None
    """What is shown of the y axis; by default from 0 on, to the highest point."""
    surfaces: Sequence[Surface] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: sensitivity to what the paper leaves unsaid, a breakdown of a difference."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
