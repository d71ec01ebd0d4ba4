"""Cases with a closed form: a queue, AIMD's sawtooth, TCP under random loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.closed_forms import md1_wait_s, sawtooth_goodput_bps
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.models import pftk_throughput_bps
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

_SEGMENT = 1000


class Queue(Family):
    """Packets of one length that come by a Poisson process to a link: M/D/1."""

    name = "queue"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.05}
    packets: ClassVar = 400_000

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rate, packet and load."""
        return {
            "rate": three_digits(logarithmic(stream, 1e6, 1e8)),
            "packet": stream.randint(100, 1500),
            "load": round(stream.uniform(0.2, 0.9), 2),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{drawn['packet']} B at {drawn['rate'] / 1e6:g} Mbit/s, load {100 * drawn['load']:.0f} %"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the formula."""
        return {"wait_s": md1_wait_s(drawn["rate"], drawn["packet"], drawn["load"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Take transmission and propagation from the mean delay."""
        packet, delay = drawn["packet"], 0.001
        service = 8 * packet / drawn["rate"]
        duration = self.packets * service / drawn["load"]
        # Rates count the payload.
        payload_rate = drawn["load"] * drawn["rate"] * (packet - 28) / packet
        data = {
            "name": "queue",
            "run": {"duration": f"{duration:.6f} s", "seed": seed},
            "topology": {
                "graph": {
                    "nodes": ["sender", "receiver", "end"],
                    "links": [
                        {
                            "name": "queue",
                            "from": "sender",
                            "to": "receiver",
                            "rate": f"{drawn['rate']:.0f} bit/s",
                            "delay": "1 ms",
                            # M/D/1 refuses no packet.
                            "queue": "1000000 packets",
                        },
                        {
                            "name": "apart",
                            "from": "receiver",
                            "to": "end",
                            "rate": "1 Mbit/s",
                            "delay": "1 ms",
                            "queue": "100 packets",
                        },
                    ],
                }
            },
            # A scenario has a flow; this one uses another link.
            "flow": [{"from": "receiver", "to": "end", "transport": "newreno", "traffic": {"size": "1 kB"}}],
            "udp": [
                {
                    "from": "sender",
                    "to": "receiver",
                    "size": f"{packet - 28} B",
                    "pattern": {"poisson": f"{payload_rate:.0f} bit/s"},
                }
            ],
        }
        table = run(Scenario.from_dict(data), seed=seed, trace="summary").table("datagrams")
        return {"wait_s": table.column("delay_mean_s").to_pylist()[0] - service - delay}


class Sawtooth(Family):
    """One flow of AIMD that loses each n-th packet."""

    name = "sawtooth"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw how many packets there are to a loss, and the delay."""
        return {
            "packets_per_loss": round(logarithmic(stream, 200, 5000)),
            "delay": three_digits(stream.uniform(0.01, 0.1)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"1 loss in {drawn['packets_per_loss']} packets, {drawn['delay'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the formula."""
        return {"goodput_bps": sawtooth_goodput_bps(_SEGMENT, 2 * drawn["delay"], drawn["packets_per_loss"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number; the first losses end slow start and are not measured."""
        every = drawn["packets_per_loss"]
        losses = 60
        # Handshake and slow start come before.
        drops = [200 + every * number for number in range(losses)]
        goodput = sawtooth_goodput_bps(_SEGMENT, 2 * drawn["delay"], every)
        # Two cycles to spare, so that the drops do not run out before the end.
        duration = (losses - 2) * every * 8 * _SEGMENT / goodput
        data = _one_flow(drawn["delay"], duration, seed, "sack", {"drops": drops})
        return {"goodput_bps": _goodput(data, seed)}


class Loss(Family):
    """One flow of Reno, the subject of the formula, over a link that loses by chance (Padhye and others)."""

    name = "loss"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw loss and delay."""
        return {
            "loss": three_digits(logarithmic(stream, 0.001, 0.03)),
            "delay": three_digits(stream.uniform(0.01, 0.1)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"Reno, loss {drawn['loss'] * 100:g} %, {drawn['delay'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the formula, with the least RTO."""
        rtt = 2 * drawn["delay"]
        # The formula counts what is sent, lost packets included.
        return {"goodput_bps": pftk_throughput_bps(_SEGMENT, rtt, 1.0, drawn["loss"]) * (1 - drawn["loss"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it."""
        link = {"loss": f"{drawn['loss'] * 100:g} %", "reverse_loss": "0 %"}
        data = _one_flow(drawn["delay"], 600, seed, "reno", link)
        # The formula's Reno is that of 1998: three duplicate ACKs or a timeout (RFC 3042 came later).
        data["tcp"]["limited_transmit"] = False
        return {"goodput_bps": _goodput(data, seed)}


def _one_flow(
    delay: float, duration: float, seed: int, transport: str, link: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a flow whose round-trip time is the link's alone: its rate and queue never limit."""
    return {
        "name": "formula",
        "run": {"duration": f"{duration:.3f} s", "warmup": f"{duration / 10:.3f} s", "seed": seed},
        "tcp": {"delayed_ack": "off", "segment_size": f"{_SEGMENT} B", "receive_buffer": "100 MB"},
        "topology": {
            "single_hop": {
                "link": {
                    "rate": "1 Gbit/s",
                    "delay": f"{delay * 1e3:g} ms",
                    "queue": "100000 packets",
                    **link,
                }
            }
        },
        "flow": [{"from": "sender", "to": "receiver", "transport": transport}],
    }


def _goodput(data: dict[str, Any], seed: int) -> float:
    table = run(Scenario.from_dict(data), seed=seed, trace="summary").flows
    return float(table.column("goodput_bps").to_pylist()[0])
