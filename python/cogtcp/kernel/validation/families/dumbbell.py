"""Saturated TCP over one bottleneck beside ns-2: the Reno family, queues, loss, a link that falls silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families import bottleneck
from cogtcp.kernel.validation.families.family import Family, logarithmic, ns2, three_digits

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: ns-2's agent and its sink, by our recovery.
AGENTS = {
    "tahoe": ("TCP", "TCPSink"),
    "reno": ("TCP/Reno", "TCPSink"),
    "newreno": ("TCP/Newreno", "TCPSink"),
    "sack": ("TCP/Sack1", "TCPSink/Sack1"),
}
#: How long a run is, s.
SECONDS = 100


class Dumbbell(Family):
    """One, two or four flows over a link that loses by chance or by its queue."""

    name = "dumbbell"
    peer = "ns-2"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw recovery, rate, delay, queue, window, loss and flows."""
        return {
            "recovery": stream.choice(list(AGENTS)),
            "rate": three_digits(logarithmic(stream, 5e5, 1e7)),
            "delay": three_digits(stream.uniform(0.005, 0.15)),
            "queue": round(logarithmic(stream, 5, 100)),
            "window": stream.choice([20, 1000]),
            "loss": stream.choice([0.0, 0.001, 0.003, 0.01, 0.03]),
            "flows": stream.choice([1, 2, 4]),
            "open": 10.0,
            "silent": 0.0,
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        silence = f", silent {drawn['silent']:g} s after {drawn['open']:g} s" if drawn["silent"] else ""
        path, load = bottleneck.path_in_words(drawn)
        return f"{drawn['recovery']}, {path}, window {drawn['window']}, {load}{silence}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `drawn.tcl`."""
        agent, sink = AGENTS[drawn["recovery"]]
        # ns-2's DropTail drops the packet that would reach its limit (`drop-tail.cc`): it holds one less.
        path = (drawn["rate"], drawn["delay"], drawn["queue"] + 1, drawn["window"], drawn["loss"])
        words = (seed, agent, sink, *path, drawn["open"], drawn["silent"], SECONDS)
        rows = ns2("drawn.tcl", *words, *bottleneck.starts(drawn, seed))
        # `ack_` is the number of the last packet acknowledged: the SYN is packet 0, and before it is -1.
        packets = sum(max(int(row[1]), 0) for row in rows if row[:1] == ["flow"])
        return {"goodput_bps": 8000 * packets / SECONDS}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here, by the host preset `ns2`."""
        return {"goodput_bps": bottleneck.goodput_bps(_scenario(drawn, seed), SECONDS)}


class Cycles(Dumbbell):
    """A dumbbell over a link that falls silent again and again, as a sensing radio's."""

    name = "cycles"
    bands: ClassVar = {"goodput_bps": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the cycle too."""
        silence = {"open": round(stream.uniform(1.0, 10.0), 1), "silent": round(stream.uniform(0.1, 2.0), 1)}
        return {**super().draw(stream), **silence}


def _scenario(drawn: Mapping[str, Any], seed: int) -> dict[str, Any]:
    tcp = {
        "recovery": drawn["recovery"],
        "delayed_ack": "off",
        "max_window": f"{drawn['window']} segments",
        "initial_ssthresh": f"{drawn['window']} segments",
        "receive_buffer": "100 MB",
    }
    data = bottleneck.scenario(drawn, seed, SECONDS, "ns2", tcp)
    if drawn["silent"]:
        sensing = {"on": f"{drawn['open']} s", "off": f"{drawn['silent']} s"}
        data["radio"] = [{"name": "radio", "links": ["bottleneck"], "silence": "drop", "sensing": sensing}]
    return data
