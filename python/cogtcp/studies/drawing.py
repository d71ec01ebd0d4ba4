"""Drawing of a study's figures, in the style of all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.report import figures

if TYPE_CHECKING:
    from cogtcp.studies.exhibits import Figure


def draw(figure: Figure) -> str:
    """Return a figure as SVG for a report page."""
    label = f"{figure.title}. {figure.caption}"
    if figure.surfaces:
        return figures.surfaces(figure.surfaces, label, x_label=figure.x_label, y_label=figure.y_label)
    return figures.curves(
        figure.curves,
        label,
        x_label=figure.x_label,
        y_label=figure.y_label,
        log_x=figure.log_x,
        log_y=figure.log_y,
        y_range=figure.y_range,
    )
