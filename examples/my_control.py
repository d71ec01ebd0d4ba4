"""A congestion control of one's own: AIMD that knows of sensing.

Run it beside Reno's window rules, from the folder of this file:

    cogtcp compare ../scenarios/sensed-link.toml --transport sack,my_control:Patient --seeds 5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cogtcp

if TYPE_CHECKING:
    from cogtcp import AckSample, LinkEvent, TcpState


class Patient(cogtcp.CongestionControl):
    """Reno's growth; a loss event soon after the link was silent halves nothing.

    While a radio senses, its link is silent, and what times out then says nothing about congestion. The
    radio tells the transport when sensing ends; a loss event within `grace` round-trip times of it keeps the
    threshold at what was in flight, so that slow start comes back to the old window.
    """

    def __init__(self, increase: float = 1.0, decrease: float = 0.5, grace: float = 2.0) -> None:
        self.increase = increase  # segments per round trip in congestion avoidance
        self.decrease = decrease  # of what is in flight, after a loss event
        self.grace = grace  # round trips
        self.silent = False
        self.silence_ended = float("-inf")
        self.acked = 0  # bytes acknowledged since cwnd last grew

    def on_link_event(self, now: float, tcp: TcpState, event: LinkEvent) -> None:
        """Remember when the link was last silent."""
        if event.kind in ("sensing_start", "switching_start"):
            self.silent = True
        elif event.kind in ("sensing_end", "handoff"):
            self.silent = False
            self.silence_ended = now

    def ssthresh(self, now: float, tcp: TcpState) -> float:
        """Multiplicative decrease, unless silence explains the loss."""
        excused = self.silent or now - self.silence_ended < self.grace * tcp.srtt
        kept = tcp.flight_size if excused else self.decrease * tcp.flight_size
        return max(kept, 2 * tcp.mss)

    def cong_avoid(self, now: float, tcp: TcpState, ack: AckSample) -> None:
        """Slow start (RFC 5681 equation 2), then so many segments per window acknowledged."""
        if tcp.in_slow_start:
            tcp.cwnd += min(ack.acked, tcp.mss)
            return
        self.acked += ack.acked
        if self.acked >= tcp.cwnd:
            self.acked -= tcp.cwnd
            tcp.cwnd += self.increase * tcp.mss
