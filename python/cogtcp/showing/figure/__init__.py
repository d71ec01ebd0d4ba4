"""Figures as data, each made by one function; pages and papers draw them.

`cogtcp.showing.report.svg` draws a `Drawing` for pages, `cogtcp.plot.paper` with matplotlib.
"""

from cogtcp.showing.figure.curves import Curve, Row, Style, Surface, curves, over, plane, surfaces
from cogtcp.showing.figure.model import Axis, Drawing, Entry, Panel

__all__ = [
    "Axis",
    "Curve",
    "Drawing",
    "Entry",
    "Panel",
    "Row",
    "Style",
    "Surface",
    "curves",
    "over",
    "plane",
    "surfaces",
]
