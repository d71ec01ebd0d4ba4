"""Saturated TCP over one bottleneck beside ns-2: the Reno family, queues, loss, a link that falls silent."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.result import run
from cogtcp.scenario import Scenario
from cogtcp.validation.families.family import Family, logarithmic, ns2, three_digits

if TYPE_CHECKING:
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
        flows = "1 flow" if drawn["flows"] == 1 else f"{drawn['flows']} flows"
        return (
            f"{drawn['recovery']}, {drawn['rate'] / 1e6:g} Mbit/s, {drawn['delay'] * 1e3:g} ms, queue "
            f"{drawn['queue']}, window {drawn['window']}, loss {drawn['loss']:.1%}, {flows}{silence}"
        )

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `drawn.tcl`."""
        agent, sink = AGENTS[drawn["recovery"]]
        path = (drawn["rate"], drawn["delay"], drawn["queue"] + 1, drawn["window"], drawn["loss"])
        words = (seed, agent, sink, *path, drawn["open"], drawn["silent"], SECONDS)
        rows = ns2("drawn.tcl", *words, *_starts(drawn, seed))
        packets = sum(max(int(row[1]), 0) for row in rows if row[:1] == ["flow"])
        return {"goodput_bps": 8000 * packets / SECONDS}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here, by the host preset `ns2`."""
        table = run(Scenario.from_dict(_scenario(drawn, seed)), trace="summary").flows
        return {"goodput_bps": 8 * sum(table.column("delivered_bytes").to_pylist()) / SECONDS}


class Cycles(Dumbbell):
    """The same over a link that falls silent for some time again and again, as a sensing radio's."""

    name = "cycles"
    bands: ClassVar = {"goodput_bps": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the cycle too."""
        silence = {"open": round(stream.uniform(1.0, 10.0), 1), "silent": round(stream.uniform(0.1, 2.0), 1)}
        return {**super().draw(stream), **silence}


def _starts(drawn: Mapping[str, Any], seed: int) -> list[float]:
    """Draw when the flows start, alike on both sides."""
    stream = random.Random(f"starts/{seed}")  # noqa: S311 - a documented draw, no secret
    return [round(stream.uniform(0.0, 2.0), 3) for _ in range(drawn["flows"])]


def _scenario(drawn: Mapping[str, Any], seed: int) -> dict[str, Any]:
    starts = _starts(drawn, seed)
    access = [
        {
            "name": f"a{number}",
            "from": f"s{number}",
            "to": "r1",
            "rate": "100 Mbit/s",
            "delay": "1 ms",
            "queue": "10000 packets",
        }
        for number in range(len(starts))
    ]
    bottleneck = {
        "name": "bottleneck",
        "from": "r1",
        "to": "k1",
        "rate": f"{drawn['rate']:.0f} bit/s",
        "delay": f"{drawn['delay'] * 1e3:g} ms",
        "queue": f"{drawn['queue']} packets",
        "reverse_queue": "10000 packets",
        "loss": f"{drawn['loss'] * 100:g} %",
        "reverse_loss": "0 %",
    }
    data: dict[str, Any] = {
        "name": "drawn",
        "run": {"duration": f"{SECONDS} s", "seed": seed},
        "tcp": {
            "recovery": drawn["recovery"],
            "delayed_ack": "off",
            "max_window": f"{drawn['window']} segments",
            "initial_ssthresh": f"{drawn['window']} segments",
            "receive_buffer": "100 MB",
        },
        "topology": {
            "graph": {
                "nodes": [*(f"s{number}" for number in range(len(starts))), "r1", "k1"],
                "links": [*access, bottleneck],
            }
        },
        "flow": [
            {"from": f"s{number}", "to": "k1", "transport": "ns2", "start": f"{start} s"}
            for number, start in enumerate(starts)
        ],
    }
    if drawn["silent"]:
        sensing = {"on": f"{drawn['open']} s", "off": f"{drawn['silent']} s"}
        data["radio"] = [{"name": "radio", "links": ["bottleneck"], "silence": "drop", "sensing": sensing}]
    return data
