"""Figures that follow the page: SVG whose colours are CSS variables, legible in light and in dark.

Matplotlib knows no variables, so each role has a stand-in colour that the finished SVG exchanges for its
variable. The variables are defined in the page's style sheet, twice: for light and for dark.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

#: Width of the page's column in inches of the SVG (72 units an inch).
WIDTH = 10.0

INK = "#010101"
MUTED = "#020202"
GRID = "#030303"
PAPER = "#040404"
ACCENT = "#050505"
SENSING = "#060606"
SWITCHING = "#070707"
LOST = "#090909"
ALARM = "#080808"
#: Okabe and Ito's colours, told apart with every common colour vision.
SERIES = ("#0a0a01", "#0a0a02", "#0a0a03", "#0a0a04", "#0a0a05", "#0a0a06")

_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    ACCENT: "var(--accent)",
    SENSING: "var(--sensing)",
    SWITCHING: "var(--switching)",
    LOST: "var(--lost)",
    ALARM: "var(--alarm)",
    **{color: f"var(--series-{number})" for number, color in enumerate(SERIES, start=1)},
}

_STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.4,
    "path.simplify": False,  # series are thinned before, honestly
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": GRID,
    "xtick.labelcolor": MUTED,
    "xtick.labelsize": 9,
    "ytick.color": GRID,
    "ytick.labelcolor": MUTED,
    "ytick.labelsize": 9,
}


def draw(
    height: float, label: str, paint: Callable[[Figure], None], *, width: float = WIDTH, arrange: bool = True
) -> str:
    """Let `paint` fill a figure and return it as SVG for the page.

    Args:
        height: In inches, as `width`.
        label: Describes the figure to those who cannot see it.
        paint: Adds axes to the figure and draws on them.
        width: By default that of the page's column.
        arrange: Find room for labels; a `paint` that leaves room itself is done in half the time.
    """
    style: Any = {**_STYLE, "svg.hashsalt": label}
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained" if arrange else None)
        paint(figure)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return _for_page(stream.getvalue(), label)


def _for_page(svg: str, label: str) -> str:
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view  # noqa: S101 (every SVG of Matplotlib has one)
    svg = svg[svg.index("<defs>") :]
    svg = re.sub(
        r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL
    )  # in the page's style sheet
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r' id="[A-Za-z]\w*_\d+"', "", svg
    )  # of groups: nothing refers to them, and pages have many figures
    svg = re.sub(r'="[^"]*"', lambda value: re.sub(r"-?\d+\.\d{3,}", _short, value[0]), svg)
    svg = re.sub(r"(font: [^;\"]*?px) [^;\"]*", r"\1 var(--font)", svg)
    svg = svg.replace("xlink:href", "href")
    for color, variable in _VARIABLES.items():
        svg = svg.replace(color, variable)
    return re.sub(r"\n\s*", "\n", f'<svg role="img" aria-label="{escape(label)}" {view[0]}>\n{svg}')


def _short(match: re.Match[str]) -> str:
    """Round to a hundredth of a point, which is less than any screen shows."""
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
