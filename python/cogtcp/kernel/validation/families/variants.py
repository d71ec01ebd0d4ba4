"""More dumbbells beside ns-2: Vegas, delayed ACKs, traffic both ways, a link that is down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families import bottleneck
from cogtcp.kernel.validation.families.dumbbell import AGENTS
from cogtcp.kernel.validation.families.family import Family, logarithmic, ns2, three_digits

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: How long a run is, s.
SECONDS = 100
#: Recoveries with delayed ACKs: their sinks.
_DELAYING = {"TCPSink": "TCPSink/DelAck", "TCPSink/Sack1": "TCPSink/Sack1/DelAck"}


class Vegas(Family):
    """Vegas alone or beside itself, over a queue with room."""

    name = "vegas"
    peer = "ns-2"
    bands: ClassVar = {"goodput_bps": 0.05}
    recoveries: ClassVar = ["vegas"]
    is_delaying: ClassVar = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw recovery, rate, delay, queue, window and flows."""
        return {
            "recovery": stream.choice(self.recoveries),
            "rate": three_digits(logarithmic(stream, 5e5, 1e7)),
            "delay": three_digits(stream.uniform(0.005, 0.15)),
            "queue": round(logarithmic(stream, 10, 100)),
            "window": stream.choice([20, 1000]),
            "loss": 0.0,
            "flows": stream.choice([1, 2, 4]),
            "backward": 0,
            "open": 10.0,
            "down": 0.0,
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        path, load = bottleneck.path_in_words(drawn)
        parts = [drawn["recovery"], path, f"window {drawn['window']}", load]
        parts += [f"{drawn['backward']} of them backward"] if drawn["backward"] else []
        parts += [f"down {drawn['down']:g} s after {drawn['open']:g} s"] if drawn["down"] else []
        return ", ".join(parts)

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `variants.tcl`."""
        agent, sink = {**AGENTS, "vegas": ("TCP/Vegas", "TCPSink")}[drawn["recovery"]]
        sink = _DELAYING[sink] if self.is_delaying else sink
        # ns-2's DropTail holds one less than its limit.
        path = (drawn["rate"], drawn["delay"], drawn["queue"] + 1, drawn["window"])
        words = (seed, agent, sink, *path, drawn["open"], drawn["down"], SECONDS)
        forward = drawn["flows"] - drawn["backward"]
        rows = ns2("variants.tcl", *words, forward, *bottleneck.starts(drawn, seed))
        packets = sum(max(int(row[1]), 0) for row in rows if row[:1] == ["flow"])
        return {"goodput_bps": 8000 * packets / SECONDS}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        is_vegas = drawn["recovery"] == "vegas"
        tcp: dict[str, Any] = {
            # ns-2's sinks wait 100 ms.
            "delayed_ack": "100 ms" if self.is_delaying else "off",
            "max_window": f"{drawn['window']} segments",
            "initial_ssthresh": f"{drawn['window']} segments",
            "receive_buffer": "100 MB",
        }
        if is_vegas:
            tcp |= {"segment_size": "1000 B", "min_rto": "200 ms"}
        else:
            tcp["recovery"] = drawn["recovery"]
        data = bottleneck.scenario(drawn, seed, SECONDS, "vegas-ns2" if is_vegas else "ns2", tcp)
        links = data["topology"]["graph"]["links"]
        links[-1]["reverse_queue"] = f"{drawn['queue']} packets"
        for number in range(drawn["flows"] - drawn["backward"], drawn["flows"]):
            flow = data["flow"][number]
            flow["from"], flow["to"] = flow["to"], flow["from"]
        if drawn["down"]:
            sensing = {"on": f"{drawn['open']} s", "off": f"{drawn['down']} s"}
            data["radio"] = [
                {"name": "radio", "links": ["bottleneck"], "silence": "down", "sensing": sensing}
            ]
        return {"goodput_bps": bottleneck.goodput_bps(data, SECONDS)}


class DelayedAck(Vegas):
    """The Reno family with a receiver that acknowledges every second packet, or after 100 ms."""

    name = "delayed-ack"
    recoveries: ClassVar = list(AGENTS)
    is_delaying: ClassVar = True


class TwoWay(Vegas):
    """Flows in both directions: ACKs wait behind data."""

    name = "two-way"
    recoveries: ClassVar = list(AGENTS)

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw how many of them go backward too."""
        drawn = super().draw(stream)
        flows = stream.choice([2, 4])
        return {**drawn, "flows": flows, "backward": stream.randint(1, flows - 1)}


class LinkDown(Vegas):
    """A link that goes down again and again, and destroys what it holds."""

    name = "link-down"
    bands: ClassVar = {"goodput_bps": 0.1}
    recoveries: ClassVar = list(AGENTS)

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the cycle too."""
        cycle = {"open": round(stream.uniform(3.0, 10.0), 1), "down": round(stream.uniform(0.1, 2.0), 1)}
        return {**super().draw(stream), **cycle}
