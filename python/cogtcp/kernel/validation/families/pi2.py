"""SACK flows through DualPI2's classic queue, beside the fixed point of its controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PACKET, PAYLOAD, forward, in_words
from cogtcp.kernel.validation.fixed_points import random_loss_for
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: DualPI2's target, s (RFC 9332 appendix A.1).
_TARGET = 0.015


class DualPi2(Family):
    """The classic queue waits for the target, and drops what makes the flows fill the link."""

    name = "dualpi2"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.1, "dropped": 0.15}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw flows whose windows are 12 to 50 packets: the queue then does not run empty."""
        flows, rtt = stream.randint(2, 20), three_digits(logarithmic(stream, 0.01, 0.06))
        window = logarithmic(stream, 12, 50)
        rate = flows * window * 8 * PACKET / (rtt + _TARGET)
        return {"flows": flows, "rate": three_digits(rate), "rtt": rtt, "ecn": stream.choice(["on", "off"])}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{drawn['flows']} flows, {in_words(drawn)}, ECN {drawn['ecn']}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the target, and the share of drops at which the flows fill the link."""
        window = drawn["rate"] * (drawn["rtt"] + _TARGET) / 8 / PACKET / drawn["flows"]
        return {"wait_s": _TARGET, "dropped": random_loss_for(window)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it; marks count as drops."""
        link = {
            "rate": f"{drawn['rate']:.0f} bit/s",
            "delay": f"{drawn['rtt'] / 2 * 1e3:g} ms",
            "queue": "dualpi2",
        }
        flow = {"from": "sender", "to": "receiver", "transport": "sack", "start_jitter": "5 s"}
        data = {
            "name": "dualpi2",
            "run": {"duration": "80 s", "warmup": "20 s"},
            "tcp": {
                "delayed_ack": "off",
                "segment_size": f"{PAYLOAD} B",
                "receive_buffer": "100 MB",
                "ecn": drawn["ecn"] == "on",
            },
            "topology": {"single_hop": {"link": link}},
            "flow": [flow] * drawn["flows"],
        }
        row = forward(run(Scenario.from_dict(data), seed, "summary"))
        signals = row["drops_early"] + row["marked_packets"]
        waiting = row["queue_mean_packets"] * 8 * PACKET / drawn["rate"]
        return {"wait_s": waiting, "dropped": signals / row["delivered_packets"]}
