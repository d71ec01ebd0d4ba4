"""Figures as files of their own: the SVG of a page with the page's colours in it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from cogtcp.report import theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure


def draw(height: float, label: str, paint: Callable[[Figure], None]) -> str:
    """Let `paint` fill a figure and return it as the text of an SVG file, in the colours of a light page."""
    svg = theme.draw(height, label, paint)
    css = files("cogtcp.report").joinpath("templates/page.css").read_text(encoding="utf-8")
    light = css[: css.index("@media")]
    values = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", light))
    svg = re.sub(r"var\((--[\w-]+)\)", lambda name: values[name[1]].replace('"', "'"), svg)
    background = f'<rect width="100%" height="100%" fill="{values["--paper"]}"/>'
    head, body = svg.split(">", 1)
    return f'{head} xmlns="http://www.w3.org/2000/svg">{background}{body}\n'
