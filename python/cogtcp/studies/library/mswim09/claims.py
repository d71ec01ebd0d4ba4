"""The single-hop claims of Di Felice, Chowdhury and Bononi (MSWiM 2009), measured.

Read in this order: `settings` (what is varied), `measuring` and `tracing` (the runs), `theory` (what the
radio alone would allow), `testing` (from runs to a verdict), then the claims by figure.
"""

from __future__ import annotations

from .activity import regions_of_activity
from .collapse import window_collapses
from .conclusions import conclusions
from .dominance import time_dominates
from .heterogeneity import efficiency_falls
from .spread import rtt_varies_more
from .surface import one_optimum
from .tracking import window_does_not_track
from .variants import order_of_the_variants, rises_and_falls

__all__ = [
    "conclusions",
    "efficiency_falls",
    "one_optimum",
    "order_of_the_variants",
    "regions_of_activity",
    "rises_and_falls",
    "rtt_varies_more",
    "time_dominates",
    "window_collapses",
    "window_does_not_track",
]
