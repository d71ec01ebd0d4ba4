"""Copa by the rules of crates/transport/src/congestion/copa.rs, but with what its closed form presumes.

The closed form knows the round-trip time of an empty queue, and that v is 1. `peer_rules.py` gives the first.
v doubles only after four round trips in one direction, as in mvfst. There is no competitive mode.
"""

from __future__ import annotations

from collections import deque

import cogtcp

#: Round trips in one direction after which v doubles: three in the paper.
_SAME_DIRECTION = 4


class Copa(cogtcp.CongestionControl):
    """Copa that knows its base round-trip time, `base` in s."""

    def __init__(self, delta: float, base: float) -> None:
        self.packets, self.base = 1 / delta, base
        # Times and round-trip times of the last srtt / 2, those that no later one is below.
        self.recent: deque[tuple[float, float]] = deque()
        self.slow_start, self.upwards = True, True
        self.velocity, self.same = 1.0, 0
        self.looked_at, self.looked_cwnd = 0.0, 0
        self.fraction = 0.0

    def owns_cwnd(self) -> bool:
        """Leave cwnd alone at a loss."""
        return True

    def ssthresh(self, now: float, tcp: cogtcp.TcpState) -> float:
        """Keep it: Copa has no threshold."""
        return max(tcp.ssthresh, 2 * tcp.mss)

    def cong_avoid(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        """Do nothing: `cong_control` sets the window."""

    def _turn(self, now: float, tcp: cogtcp.TcpState, *, upwards: bool) -> None:
        self.upwards, self.velocity, self.same = upwards, 1.0, 0
        self.looked_at, self.looked_cwnd = now, tcp.cwnd

    def _look(self, now: float, tcp: cogtcp.TcpState) -> None:
        if now - self.looked_at < tcp.srtt:
            return
        upwards = tcp.cwnd > self.looked_cwnd
        if upwards != self.upwards:
            self._turn(now, tcp, upwards=upwards)
            return
        self.same += 1
        if self.same >= _SAME_DIRECTION:
            self.velocity *= 2
        self.looked_at, self.looked_cwnd = now, tcp.cwnd

    def cong_control(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> bool:
        """Set window and pacing rate (section 2.1)."""
        if ack.rtt is not None:
            while self.recent and self.recent[-1][1] >= ack.rtt:
                self.recent.pop()
            self.recent.append((now, ack.rtt))
            while self.recent[0][0] < now - tcp.srtt / 2:
                self.recent.popleft()
        if not self.recent:
            return True
        standing = self.recent[0][1]
        if ack.delivered > 0:
            self._set_window(now, tcp, ack.delivered, standing)
        tcp.pacing_rate = 16 * tcp.cwnd / standing
        return True

    def _set_window(self, now: float, tcp: cogtcp.TcpState, delivered: int, standing: float) -> None:
        cwnd = tcp.cwnd + self.fraction
        upwards = cwnd * max(standing - self.base, 0.0) <= tcp.mss * self.packets * standing
        if self.slow_start:
            if upwards:
                tcp.cwnd += min(delivered, tcp.cwnd)
                return
            self.slow_start = False
            self._turn(now, tcp, upwards=False)
        self._look(now, tcp)
        if upwards != self.upwards and self.velocity > 1:
            self._turn(now, tcp, upwards=upwards)
        self.velocity = min(self.velocity, max(cwnd / tcp.mss / self.packets, 1.0))
        step = self.velocity * self.packets * tcp.mss * min(delivered / cwnd, 1.0)
        exact = max(cwnd + (step if upwards else -step), 2 * tcp.mss)
        tcp.cwnd = int(exact)
        self.fraction = exact - tcp.cwnd
