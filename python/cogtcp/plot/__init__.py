"""Figures for paper, by matplotlib: PDF, SVG or PNG, as wide as a column of a two-column paper.

`Result.plot`, `Comparison.plot`, `Sweep.plot` and `Tuning.plot` return matplotlib Figures; `cogtcp plot DIR`
draws them from saved results. Pages draw their own figures, without matplotlib: see `cogtcp.report`.
"""

from cogtcp.plot.accessors import ComparisonPlots, RunPlots, SweepPlots, TuningPlots
from cogtcp.plot.area import area_map
from cogtcp.plot.compared import bars, box, delay_throughput
from cogtcp.plot.distribution import cdf
from cogtcp.plot.over_time import timeline
from cogtcp.plot.plane import heatmap, line
from cogtcp.plot.saved import KINDS, draw
from cogtcp.plot.style import COLUMN_IN, PAGE_IN, save

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
