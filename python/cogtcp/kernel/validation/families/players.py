"""Calls that adapt, a video at one bitrate and short downloads, beside what must come of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: XREF of NADA (RFC 8698, figure 3), s.
_XREF = 0.01


def _roomy(rate: float, rtt: float) -> dict[str, str]:
    """Return a link of this rate (bit/s) and round-trip time (s) that loses nothing."""
    return {"rate": f"{rate:.0f} bit/s", "delay": f"{rtt / 2} s", "queue": "1000000 packets"}


class Nada(Family):
    """Calls over NADA at rest: their queue, and their shares of the link (RFC 8698 section 4.3)."""

    name = "nada"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.05, "ratio": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw calls whose equilibrium lies below 40 ms: above 50 ms NADA warps the delay.

        Packets are short beside it: NADA takes the least of the last delays. The mean is higher where packets
        of several calls come together.
        """
        while True:
            drawn: dict[str, Any] = {
                "highest": three_digits(logarithmic(stream, 1e7, 1e8)),
                "rtt": three_digits(logarithmic(stream, 0.01, 0.1)),
                "priorities": [round(stream.uniform(0.5, 2), 1) for _ in range(stream.randint(2, 4))],
                "load": round(stream.uniform(0.2, 0.9), 2),
            }
            signal = self.signal_s(drawn)
            rates = [priority * _XREF / signal for priority in drawn["priorities"]]
            # Above 10 ms of queue NADA does not ramp up.
            if 0.012 < signal < 0.04 and max(rates) < 0.95:
                return drawn

    def signal_s(self, drawn: Mapping[str, Any]) -> float:
        """Return the signal, PRIO XREF RMAX / r for each call, at which the rates fill the link."""
        # Without loss and marks it is the queuing delay. The link carries `load` times RMAX for each call.
        priorities: list[float] = drawn["priorities"]
        load: float = drawn["load"]
        return _XREF * sum(priorities) / (load * len(priorities))

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        priorities = " ".join(f"{priority:g}" for priority in drawn["priorities"])
        link = f"a link of {100 * drawn['load']:.0f} % of it for each call"
        calls = f"RMAX {drawn['highest'] / 1e6:g} Mbit/s, PRIO {priorities}"
        return f"{calls}, {link}, RTT {drawn['rtt'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the delay, and the first call's rate over its share of the priorities."""
        return {"wait_s": self.signal_s(drawn), "ratio": 1.0}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run them for minutes over a link that loses nothing."""
        payload, header = 1200, 44
        highest, priorities = drawn["highest"], drawn["priorities"]
        rate = drawn["load"] * highest * len(priorities) * (payload + header) / payload
        nada = {"min_rate": f"{highest / 50:.0f} bit/s", "max_rate": f"{highest:.0f} bit/s"}
        data = {
            "name": "nada",
            "run": {"duration": "600 s", "warmup": "500 s"},
            "tcp": {"segment_size": f"{payload} B"},
            "topology": {"single_hop": {"link": _roomy(rate, drawn["rtt"])}},
            "flow": [
                {
                    "name": f"call{number}",
                    "from": "sender",
                    "to": "receiver",
                    "transport": {"nada": {**nada, "priority": priority}},
                }
                for number, priority in enumerate(priorities)
            ],
        }
        rows = run(Scenario.from_dict(data), seed, "summary").rows("flows")
        goodputs = [row["goodput_bps"] for row in rows]
        share = goodputs[0] / sum(goodputs) / (priorities[0] / sum(priorities))
        return {"wait_s": rows[0]["queuing_delay_mean_s"], "ratio": share}


class Video(Family):
    """A video whose bitrate the link does not carry: the share of the time in which it stalls."""

    name = "video"
    peer = "theory"
    bands: ClassVar = {"share": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the video and how much of its bitrate the link carries."""
        return {
            "rate": three_digits(logarithmic(stream, 1e6, 2e7)),
            "carried": round(stream.uniform(0.3, 0.95), 2),
            "chunk": three_digits(stream.uniform(1, 6)),
            "startup": three_digits(stream.uniform(2, 10)),
            "rtt": three_digits(logarithmic(stream, 0.005, 0.1)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        chunks = f"chunks of {drawn['chunk']:g} s, plays from {drawn['startup']:g} s on"
        link = f"a link of {100 * drawn['carried']:.0f} % of it, RTT {drawn['rtt'] * 1e3:g} ms"
        return f"{drawn['rate'] / 1e6:g} Mbit/s, {chunks}, {link}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Play what arrives: each chunk takes a round trip to be asked for, and then its time on the link."""
        fetched = drawn["chunk"] / drawn["carried"] + drawn["rtt"]
        return {"share": 1 - drawn["chunk"] / fetched}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over two hundred stalls and more, with a queue that holds its window."""
        payload, packet = 1460, 1500
        rate, startup = drawn["carried"] * drawn["rate"] * packet / payload, drawn["startup"]
        # Twice the product: the link is full. After a chunk sent all at once the sender would be idle for an
        # RTO, and begin the next with slow start (RFC 5681 section 4.1).
        window = 20 + round(2 * rate * drawn["rtt"] / 8 / packet)
        video = {key: f"{drawn[key]} s" for key in ("chunk", "startup")}
        data = {
            "name": "video",
            "run": {
                "duration": f"{2000 * startup:.6f} s",
                "warmup": f"{20 * startup:.6f} s",
            },
            "tcp": {"segment_size": f"{payload} B", "delayed_ack": "off", "max_window": f"{window} segments"},
            "topology": {"single_hop": {"link": _roomy(rate, drawn["rtt"])}},
            "flow": [
                {
                    "from": "sender",
                    "to": "receiver",
                    "transport": "newreno",
                    "traffic": {"video": {"rate": f"{drawn['rate']:.0f} bit/s", "buffer": "60 s", **video}},
                }
            ],
        }
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("videos")
        return {"share": row["stall_share"]}


#: The ladder of a video that adapts: the default, in bit/s.
_LADDER = (230e3, 331e3, 477e3, 688e3, 991e3, 1.427e6, 2.056e6, 2.962e6, 5.027e6, 6e6)


class AdaptiveVideo(Family):
    """A video that adapts by rate to a constant link: the highest bitrate of the ladder within 0.85 of it."""

    name = "adaptive-video"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw link and chunk, again where 0.85 of the link lies within 10 % of a bitrate."""
        while True:
            rate = three_digits(logarithmic(stream, 3e5, 8e6))
            if all(abs(0.85 * rate / bitrate - 1) > 0.1 for bitrate in _LADDER):
                return {"rate": rate, "chunk": three_digits(stream.uniform(1, 6))}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{drawn['rate'] / 1e6:g} Mbit/s, chunks of {drawn['chunk']:g} s"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Take the highest bitrate."""
        return {"goodput_bps": max(bitrate for bitrate in _LADDER if bitrate < 0.85 * drawn["rate"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Play it for 1000 chunks; the first are chosen without knowledge, and left out."""
        payload, packet, chunk = 1460, 1500, drawn["chunk"]
        link = {
            "rate": f"{drawn['rate'] * packet / payload:.0f} bit/s",
            "delay": "1 ms",
            "queue": "100 packets",
        }
        video = {
            "rule": "rate",
            "chunk": f"{chunk} s",
            "startup": f"{2 * chunk} s",
            "buffer": f"{10 * chunk} s",
        }
        data = {
            "name": "adaptive-video",
            "run": {"duration": f"{1000 * chunk:.6f} s", "warmup": f"{100 * chunk:.6f} s"},
            "tcp": {"segment_size": f"{payload} B", "delayed_ack": "off", "max_window": "50 segments"},
            "topology": {"single_hop": {"link": link}},
            "flow": [
                {
                    "from": "sender",
                    "to": "receiver",
                    "transport": "newreno",
                    "traffic": {"adaptive_video": video},
                }
            ],
        }
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("videos")
        return {"goodput_bps": row["bitrate_bps"]}


class Requests(Family):
    """Responses over a new connection each: the handshake and the rounds of slow start, on a fast link."""

    name = "requests"
    peer = "theory"
    bands: ClassVar = {"delay_s": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the sizes of responses and segments, the initial window, and the round-trip time."""
        return {
            "law": stream.choice(["fixed", "exponential"]),
            "mean": round(logarithmic(stream, 2e3, 2e6)),
            "segment": stream.choice([536, 1000, 1460]),
            "initial": stream.randint(2, 10),
            "rtt": three_digits(logarithmic(stream, 0.01, 0.3)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        sizes = f"{drawn['law']}, {drawn['mean'] / 1e3:g} kB, segments of {drawn['segment']} B"
        return f"{sizes}, initial window {drawn['initial']}, RTT {drawn['rtt'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Count a round trip for request and last data, one for the handshake, and further rounds."""
        rounds = 2.0
        for doubled in range(1, 40):
            sent = drawn["initial"] * (2**doubled - 1) * drawn["segment"]
            is_fixed = drawn["law"] == "fixed"
            rounds += float(drawn["mean"] > sent) if is_fixed else math.exp(-sent / drawn["mean"])
        return {"delay_s": rounds * drawn["rtt"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Ask some thousand times, one request after the other."""
        ends = {"from": "sender", "to": "receiver"}
        response = {drawn["law"]: f"{drawn['mean']} B"}
        think = {"think": {"fixed": "0 s"}}
        data = {
            "name": "requests",
            "run": {"duration": f"{10_000 * drawn['rtt']:.6f} s"},
            "tcp": {
                "segment_size": f"{drawn['segment']} B",
                "initial_window": f"{drawn['initial']} segments",
                "receive_buffer": "1 GiB",
                "delayed_ack": "off",
            },
            "topology": {"single_hop": {"link": _roomy(1e11, drawn["rtt"])}},
            "flow": [
                {
                    **ends,
                    "transport": "newreno",
                    "traffic": {"requests": {"response": response, "connection": "new", "pace": think}},
                }
            ],
        }
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("request_flows")
        return {"delay_s": row["completion_mean_s"]}
