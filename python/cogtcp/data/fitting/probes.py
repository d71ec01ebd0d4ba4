"""Round-trip probes of a log: when each request was sent, and when its reply came, if one did."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

#: Where the times of requests come from: a stamp on each line, the length of the run in the summary, or an
#: assumption.
Timing = Literal["stamped", "summary", "assumed"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One request.

    Attributes:
        time: When it was sent, s.
        rtt: Its round-trip time, s; NaN without a reply.
    """

    time: float
    rtt: float = math.nan

    @property
    def lost(self) -> bool:
        """Whether no reply came."""
        return math.isnan(self.rtt)


@dataclass
class Probes:
    """The requests of a log, in the order in which they were sent.

    Attributes:
        requests: Every request, answered or not.
        interval: Usual time from one request to the next, s.
        step: Smallest difference between two round-trip times that the log can show, s.
        timing: Where the times of requests come from.
        lost_up: Requests that the far end did not see; None if the log does not say.
        lost_down: Requests whose reply was lost; None if the log does not say.
        notes: What is odd in the log.
    """

    requests: list[Probe]
    interval: float
    step: float
    timing: Timing = "stamped"
    lost_up: int | None = None
    lost_down: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Number of requests without a reply."""
        return sum(probe.lost for probe in self.requests)

    @property
    def rtts(self) -> list[float]:
        """Round-trip times of the answered requests, s."""
        return [probe.rtt for probe in self.requests if not probe.lost]


@dataclass(frozen=True, slots=True)
class Counts:
    """A summary alone, without a line for each request.

    Attributes:
        sent: Requests.
        received: Replies.
        least_rtt: Least round-trip time, s; NaN without.
        step: Smallest difference between two round-trip times that the log can show, s.
    """

    sent: int
    received: int
    least_rtt: float
    step: float
