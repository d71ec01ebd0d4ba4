"""Saturated TCP beside ns-3: over RED, CoDel and FQ-CoDel; CUBIC and LEDBAT over drop-tail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families import bottleneck
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.ns3 import run_ns3
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: How long a run is, s; the last two thirds are measured.
SECONDS = 60
#: Payload of a segment; a packet has 52 bytes of headers with timestamps on both sides.
_PAYLOAD, _PACKET = 1448, 1500


class Ns3Aqm(Family):
    """Reno with SACK over a discipline; of ns-3's recovery what would hide the discipline is replaced."""

    name = "ns3-aqm"
    peer = "ns-3"
    bands: ClassVar = {"goodput_bps": 0.1}
    control: ClassVar = "TcpHeldReno"
    transport: ClassVar = "sack"
    disciplines: ClassVar = ["red", "codel", "fq_codel"]

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the discipline, rate, delay and flows."""
        return {
            "discipline": stream.choice(self.disciplines),
            "rate": three_digits(logarithmic(stream, 2e6, 3e7)),
            "delay": three_digits(stream.uniform(0.005, 0.05)),
            "queue": 1000,
            "loss": 0.0,
            "flows": stream.choice([1, 2, 4]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        path, load = bottleneck.path_in_words(drawn)
        return f"{self.transport}, {drawn['discipline']}, {path}, {load}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `dumbbell-ns3`."""
        path = (drawn["rate"], drawn["delay"], drawn["queue"], drawn["flows"])
        starts = (start + 0.1 for start in bottleneck.starts(drawn, seed))
        rows = run_ns3(
            "dumbbell-ns3", seed, self.control, drawn["discipline"], *path_words(path), SECONDS, *starts
        )
        found = {row[0]: float(row[1]) for row in rows}
        return {"goodput_bps": found["rate"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        tcp = {
            "segment_size": f"{_PAYLOAD} B",
            "timestamps": True,
            "delayed_ack": "200 ms",
            "receive_buffer": "32 MB",
            "min_rto": "1 s",
            **self.settings(),
        }
        data = bottleneck.scenario(drawn, seed, SECONDS, self.transport, tcp)
        data["run"]["warmup"] = f"{SECONDS / 3} s"
        links = data["topology"]["graph"]["links"]
        for link in links[:-1]:
            link["rate"] = "1 Gbit/s"
        name = drawn["discipline"]
        links[-1]["queue"] = f"{drawn['queue']} packets" if name == "fifo" else {name: self.table(drawn)}
        for flow in data["flow"]:
            flow["start"] = f"{float(flow['start'].split()[0]) + 0.1:.3f} s"
        result = run(Scenario.from_dict(data), seed, "summary")
        return {"goodput_bps": sum(row["goodput_bps"] for row in result.rows("flows"))}

    def settings(self) -> dict[str, Any]:
        """Return more of the scenario's `[tcp]`."""
        return {"prr": False}

    def table(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Return the discipline's parameters.

        ns-3's device holds a packet that the discipline no longer sees (ns3-packet-in-the-device): here its
        time is in each wait, and the packet is in the queue.
        """
        if drawn["discipline"] == "red":
            # 5 and 15 packets there; 1 / LInterm.
            thresholds = {"min_threshold": 6.0, "max_threshold": 16.0}
            return {
                "limit": drawn["queue"],
                "max_probability": 0.1,
                "ecn": False,
                "ns_rules": True,
                **thresholds,
            }
        target = f"{0.005 + 8 * _PACKET / drawn['rate']:.6f} s"
        # As in Linux (ns3-newton-square-root).
        return {"limit": drawn["queue"], "target": target, "newton": True}


class Ns3Cubic(Ns3Aqm):
    """CUBIC over drop-tail of a half to two products."""

    name = "ns3-cubic"
    bands: ClassVar = {"goodput_bps": 0.05}
    control: ClassVar = "TcpCubic"
    transport: ClassVar = "cubic"
    disciplines: ClassVar = ["fifo"]

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the queue too."""
        drawn = super().draw(stream)
        product = drawn["rate"] * 2 * drawn["delay"] / 8 / _PACKET
        return {**drawn, "queue": max(10, round(product * logarithmic(stream, 0.5, 2)))}

    def settings(self) -> dict[str, Any]:
        """Return the recovery of ns-3's default."""
        return {"prr": True}


class Ns3Ledbat(Ns3Cubic):
    """LEDBAT over a queue with room for its target of 100 ms."""

    name = "ns3-ledbat"
    control: ClassVar = "TcpLedbat"
    transport: ClassVar = "ledbat"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw a queue of 200 ms, for one flow: later ones meet the queue of the first."""
        drawn = super().draw(stream)
        return {**drawn, "queue": max(20, round(0.2 * drawn["rate"] / 8 / _PACKET)), "flows": 1}


def path_words(path: tuple[float, float, int, int]) -> tuple[str, str, int, int]:
    """Return rate, delay, queue and flows as the program takes them."""
    rate, delay, queue, flows = path
    return f"{rate:.0f}", f"{delay:g}", queue, flows
