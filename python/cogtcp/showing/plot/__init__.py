"""Figures for paper, by matplotlib: PDF, SVG or PNG, as wide as a column of a two-column paper.

`Result.plot`, `Comparison.plot`, `Sweep.plot` and `Tuning.plot` return matplotlib Figures; `cogtcp plot DIR`
draws them from saved results. Pages draw the same figures without matplotlib: see `cogtcp.showing.figure`.
"""

from cogtcp.showing.plot.accessors import ComparisonPlots, RunPlots, SweepPlots, TuningPlots
from cogtcp.showing.plot.compared import bars, box, cdf, delay_throughput
from cogtcp.showing.plot.over_time import area_map, timeline
from cogtcp.showing.plot.saved import KINDS, draw
from cogtcp.showing.plot.style import COLUMN_IN, PAGE_IN, save
from cogtcp.showing.plot.swept import lines as line
from cogtcp.showing.plot.swept import plane as heatmap

__all__ = [
    "COLUMN_IN",
    "KINDS",
    "PAGE_IN",
    "ComparisonPlots",
    "RunPlots",
    "SweepPlots",
    "TuningPlots",
    "area_map",
    "bars",
    "box",
    "cdf",
    "delay_throughput",
    "draw",
    "heatmap",
    "line",
    "save",
    "timeline",
]
