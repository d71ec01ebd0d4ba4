"""What a study shows besides its verdicts: figures and tables as data, drawn by the report page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.showing.figure import Curve, Style, Surface

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Curve", "Figure", "Style", "Surface", "Table"]


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
    x_names: Sequence[str] = ()
    """What stands at x = 0, 1, 2, ... where x counts choices."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: sensitivity to what the paper leaves unsaid, a breakdown of a difference."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
