"""What one ACK costs in a congestion control written in Python, in a whole simulation.

The same run with the built-in Reno window rules and with the same rules in Python: the packets are the same,
so the difference in processor time, per ACK, is the cost of going to Python and back. Run by `make bench`.
"""

from __future__ import annotations

import time

import cogtcp

SCENARIO = """
name = "python-control"

[run]
duration = "60 s"

[topology.single_hop]
link = { rate = "20 Mbit/s", delay = "20 ms", queue = "100 packets", loss = "0.01 %" }

[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = "sack"
tcp = { delayed_ack = "off" }
"""


class Reno(cogtcp.CongestionControl):
    """RFC 5681 with byte counting, as the built-in transport `sack` has it: one hook per ACK."""

    def __init__(self) -> None:
        self.acked = 0

    def ssthresh(self, now: float, tcp: cogtcp.TcpState) -> float:
        """Half of what is in flight (equation 4)."""
        self.acked = 0
        return max(tcp.flight_size // 2, 2 * tcp.mss)

    def cong_avoid(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        """Slow start (equation 2), then a segment per window."""
        if tcp.in_slow_start:
            tcp.cwnd += min(ack.acked, tcp.mss)
            return
        self.acked += ack.acked
        if self.acked >= tcp.cwnd:
            self.acked -= tcp.cwnd
            tcp.cwnd += tcp.mss


class Hooked(Reno):
    """The same with a second hook per ACK, which does nothing."""

    def pkts_acked(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        """Do nothing."""


def main() -> None:
    """Print the table."""
    scenario = cogtcp.Scenario.from_toml(SCENARIO)
    best: dict[str, float] = {}
    acks = 0
    for transport in ("sack", "__main__:Reno", "__main__:Hooked"):
        for _ in range(3):
            begun = time.process_time()
            result = cogtcp.run(scenario.with_transport(transport, allow_python=True), trace="summary")
            best[transport] = min(best.get(transport, float("inf")), time.process_time() - begun)
        acks = result.flows.column("sent_segments")[0].as_py()  # each is acknowledged
    print(f"{'control':<24} {'run, ms':>8} {'us/ACK more than Rust':>22}")
    for transport, seconds in best.items():
        more = (seconds - best["sack"]) / acks * 1e6
        print(f"{transport:<24} {seconds * 1e3:>8.0f} {more:>22.2f}")


if __name__ == "__main__":
    main()
