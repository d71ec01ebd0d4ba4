"""Closed-form models: what theory says before anything is simulated.

Pure functions of floats in SI units, with the unit in every name (``rtt_s``, ``bandwidth_bps``,
``segment_size_bytes``). Nothing here knows the simulator. `crates/statistics` computes them; the pages say
what they mean and where they depart from their papers.

- :mod:`cogtcp.models.aimd`: TCP's AIMD over cognitive cycles (Zhou et al., "Towards Fast Flow Convergence in
  Cognitive Radio Cellular Networks", section III, equations 1 to 7).
- :mod:`cogtcp.models.loss`: TCP over a channel that loses packets at a fixed rate (Mathis et al. 1997, Padhye
  et al. 1998).
- :mod:`cogtcp.models.fairness`: Jain's index.
- :mod:`cogtcp.models.sensing`: the airtime that a sensing radio can use, after Liang et al. 2008.
"""

from cogtcp.model.models.aimd import (
    AimdCycle,
    Regime,
    aimd_cycle,
    aimd_cycle_as_printed,
    available_rounds,
    bdp_packets,
    classify_regime,
    cwnd_after_cycles,
    cwnd_sequence,
    delta_w_approximate,
    delta_w_bounds,
    delta_w_exact,
    next_cwnd,
    packets_per_cycle,
    rto_outage_s,
    throughput_as_printed,
)
from cogtcp.model.models.fairness import jain_index
from cogtcp.model.models.loss import mathis_throughput_bps, pftk_throughput_bps
from cogtcp.model.models.sensing import usable_airtime

__all__ = [
    "AimdCycle",
    "Regime",
    "aimd_cycle",
    "aimd_cycle_as_printed",
    "available_rounds",
    "bdp_packets",
    "classify_regime",
    "cwnd_after_cycles",
    "cwnd_sequence",
    "delta_w_approximate",
    "delta_w_bounds",
    "delta_w_exact",
    "jain_index",
    "mathis_throughput_bps",
    "next_cwnd",
    "packets_per_cycle",
    "pftk_throughput_bps",
    "rto_outage_s",
    "throughput_as_printed",
    "usable_airtime",
]
