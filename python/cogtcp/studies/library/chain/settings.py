"""What is varied: the unsaid settings, the points of the figures, and what a seed draws."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

N, W, C = "newreno", "westwood-tustin", "compound-zhou"
THREE = (N, W, C)
WC = "westwood-compound-tustin"
BEYOND = ("sack", "westwood", "compound", "westwood-compound", "cubic", "bbr")
NAMES = {N: "NewReno", W: "Westwood+", C: "Compound", WC: "Westwood+ and Compound"}

# Margins of the tests, set before the first run of each claim.
MARGIN = 0.15
"""How far apart throughputs may be that "hardly" differ, are "similar", "comparable" or "stable"."""
SHARP = 0.10
"""By how much a throughput changes at least in a "sharp" drop or a "jump"."""
FLAT_END = 0.10
"""By how much a throughput may change that "does not change much" from one point to the next."""
WELL_UNDER = 2 / 3
"""What "a large proportion of bandwidth wasted" leaves at most of the optimal share."""
FEW, MOST = 0.1, 0.5
"""Shares of the silences followed by a timeout: "no timeout", and "timeouts happen"."""
STATED_BEST = (1.2, 2.4)
"""What counts as "about 1.8 Mbit/s": within a third, as nothing is known of how it was averaged."""

OFF_S = (0.05, 0.1, 0.2, 0.4)  # stated
ON_S = (5.0, 10.0, 15.0)  # stated
RANGES_MBPS = ((7, 9), (6, 10), (1, 15))  # stated
PU_S = (5.0, 10.0, 15.0, 20.0)  # stated: 5, 15 and 20
RATES_MBPS = (4.0, 6.0, 8.0, 10.0, 15.0)  # stated: below 10, 10 and 15
VARIED_RATES_MBPS = (4.0, 8.0, 15.0)


@dataclass(frozen=True)
class Setting:
    """What the paper leaves unsaid, at one value each."""

    name: str = "as in the scenario"
    silence: str = "drop"
    links: tuple[str, ...] = ("bottleneck",)
    rtt_ms: float = 170
    rate_mbps: float = 10
    min_rto: str = "1 s"
    segment_bytes: int = 1000
    queue_packets: int = 100
    initial_ssthresh: str = "65535 B"
    delayed_ack: str = "off"
    recovery: str | None = None
    at_least_half: bool = False


BASE = Setting()
RANGE = (
    replace(BASE, name="RTT 160 ms", rtt_ms=160),
    replace(BASE, name="RTT 220 ms", rtt_ms=220),
    replace(BASE, name="536 B at RTT 125 ms", segment_bytes=536, rtt_ms=125),
    replace(BASE, name="1460 B at RTT 210 ms", segment_bytes=1460, rtt_ms=210),
    replace(BASE, name="least RTO 200 ms at RTT 190 ms", min_rto="200 ms", rtt_ms=190),
    replace(BASE, name="queue of 50", queue_packets=50),
    replace(BASE, name="queue of 500", queue_packets=500),
    replace(BASE, name="first slow start without limit", initial_ssthresh="4 MiB"),
    replace(BASE, name="delayed ACKs at RTT 220 ms", delayed_ack="200 ms", rtt_ms=220),
    replace(BASE, name="silence of the access links too", links=("bottleneck", "access-s1", "access-s2")),
    replace(BASE, name="8 Mbit/s", rate_mbps=8),
    replace(BASE, name="15 Mbit/s", rate_mbps=15),
    replace(BASE, name="Westwood+ of the paper's text", at_least_half=True),
    replace(BASE, name="Compound with NewReno recovery", recovery="newreno"),
)
"""In which the sensed NewReno's best is about the stated 1.8 Mbit/s: over these the verdicts must hold."""
SHOWN = (
    replace(BASE, name="hold", silence="hold"),
    replace(BASE, name="hold with least RTO 200 ms", silence="hold", min_rto="200 ms"),
    replace(BASE, name="SACK", recovery="sack"),
    replace(BASE, name="RTT 60 ms", rtt_ms=60),
    replace(BASE, name="RTT 100 ms", rtt_ms=100),
    replace(BASE, name="RTT 300 ms", rtt_ms=300),
)
"""Measured beside them: a silence that keeps packets, a recovery that the paper's simulator lacked, and
round-trip times in which the 1.8 Mbit/s does not come out."""
QUICK = ("RTT 220 ms", "536 B at RTT 125 ms", "hold")


@dataclass(frozen=True)
class Point:
    """What a figure varies."""

    transport: str = N
    rate_mbps: float | None = None
    on_s: float = 5.0
    off_s: float = 0.1
    channel_mbps: tuple[int, int] | None = None
    pu_s: float | None = None
    radio: bool = True


@dataclass(frozen=True)
class Draw:
    """What a seed changes besides the arrivals of PUs and the draws of channels: all that is arbitrary.

    A packet is lost or not by where in the round trip the silence falls, so no single phase may decide.
    """

    phase: float
    stagger_s: float
    stretch: float

    @classmethod
    def of(cls, seed: int) -> Draw:
        """Return the draw of a seed."""
        stream = random.Random(f"chain/{seed}")  # noqa: S311 - a documented draw, no secret
        return cls(stream.random(), stream.random(), stream.uniform(0.95, 1.05))
