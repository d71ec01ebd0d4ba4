"""QUIC's timers beside schedules that follow from RFC 9002 by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Granularity of timers and the peer's max_ack_delay, s (RFC 9002 section 6.1.2, RFC 9000 section 18.2).
_GRANULARITY, _ACK_DELAY = 0.001, 0.025


class QuicTimers(Family):
    """The tail of a transfer is lost, with its probes; or the packet before the last is."""

    name = "quic-timers"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.01}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the round-trip time, and which packets are lost."""
        return {
            "rtt": three_digits(logarithmic(stream, 0.01, 0.3)),
            "lost": stream.choice(["last", "last", "before"]),
            "probes": stream.randint(0, 5),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        rtt = f"RTT {drawn['rtt'] * 1e3:g} ms"
        if drawn["lost"] == "before":
            return f"{rtt}, the packet before the last is lost"
        return f"{rtt}, the last packet and {drawn['probes']} pairs of probes are lost"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return when a packet gets through after the last one.

        The packet before the last is lost 9/8 round-trip times after it left (section 6.1.2). Probes leave
        one PTO after the last packet, and then after two, four and so on (section 6.2.1). All samples are
        alike: RTTVAR is nothing.
        """
        rtt = drawn["rtt"]
        if drawn["lost"] == "before":
            return {"wait_s": 9 / 8 * rtt}
        timeout = rtt + _GRANULARITY + _ACK_DELAY
        return {"wait_s": timeout * (2 ** (drawn["probes"] + 1) - 1)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Find the last packet with data, and lose it in a second run."""
        times, sizes = _sent(drawn["rtt"], [])
        # Later packets acknowledge, or close.
        last = max(number for number, size in enumerate(sizes) if size > 100)
        if drawn["lost"] == "before":
            again, _ = _sent(drawn["rtt"], [last])
            # Numbers of packets on a link count from 1.
            return {"wait_s": again[last + 1] - times[last - 1]}
        lost = range(last + 1, last + 2 + 2 * drawn["probes"])
        again, _ = _sent(drawn["rtt"], list(lost))
        return {"wait_s": again[lost[-1]] - times[last]}


def _sent(rtt: float, drops: list[int]) -> tuple[list[float], list[int]]:
    """Return when packets left the sender, s, and their sizes in bytes: 200 kB in one stream."""
    data = {
        "name": "quic-timers",
        "run": {"duration": f"{20 + 150 * rtt:.3f} s"},
        "topology": {
            "single_hop": {
                "link": {
                    "rate": "1 Gbit/s",
                    "delay": f"{rtt / 2 * 1e3:g} ms",
                    "queue": "10000 packets",
                    "drops": drops,
                }
            }
        },
        "flow": [
            {
                "from": "sender",
                "to": "receiver",
                "transport": "quic-quinn-newreno",
                "traffic": {"size": "200 kB"},
            }
        ],
    }
    rows = run(Scenario.from_dict(data), 1, "packets").rows("packets")
    sent = [row for row in rows if row["direction"] == "forward" and row["event"] == "queued"]
    return [row["time_s"] for row in sent], [row["wire_bytes"] for row in sent]
