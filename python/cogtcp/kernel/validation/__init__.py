"""cogtcp judged by others: cases that a seed draws, run here and in the peers that are installed.

Peers are ns-2, ns-3, this machine's Linux kernel, and closed forms. docs/validation.md says how each case is
compared with its peer; `departures` lists the differences whose causes are known.
"""

from __future__ import annotations

from cogtcp.kernel.validation.departures import Departure, departures
from cogtcp.kernel.validation.outcome import Case, Line, Validation
from cogtcp.kernel.validation.running import validate

__all__ = ["Case", "Departure", "Line", "Validation", "departures", "validate"]
