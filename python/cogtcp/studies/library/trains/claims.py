"""The claims of Singh, Bonnin and Ros (triggers and Freeze-TCP on a train), measured.

Every comparison is between two runs of one seed: the same outages, the same router, the same messages; only
that the clients of one have a connection manager and those of the other ignore the warnings.

Read in this order: `settings` (what is varied), `measuring` (the runs), then the claims by figure, and behind
them (`prediction`, `fairness`, `stack`, `journey`) what the paper did not ask.
"""

from __future__ import annotations

from .advance import best_advance_is_one_rtt
from .conclusions import conclusions
from .fairness import fair_with_the_maxima
from .flows import freeze_pays_at_every_number_of_flows
from .journey import pays_on_a_journey
from .prediction import pays_with_errors
from .sensing import throughput_over_sensing
from .stack import pacing_saves_the_burst, scaling_does_not_matter
from .windows import window_survives_outages, window_survives_sensing

__all__ = [
    "best_advance_is_one_rtt",
    "conclusions",
    "fair_with_the_maxima",
    "freeze_pays_at_every_number_of_flows",
    "pacing_saves_the_burst",
    "pays_on_a_journey",
    "pays_with_errors",
    "scaling_does_not_matter",
    "throughput_over_sensing",
    "window_survives_outages",
    "window_survives_sensing",
]
