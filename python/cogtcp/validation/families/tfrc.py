"""Saturated TFRC over one bottleneck beside ns-2: loss by chance, or by the queue."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.result import run
from cogtcp.scenario import Scenario
from cogtcp.validation.families.family import Family, logarithmic, ns2, three_digits

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How long a run is, s.
SECONDS = 200
#: Bytes of a packet on the wire for 1000 of data: IPv4, UDP and TFRC have 53 here, and ns-2 is told so.
_WIRE = 1053


class Tfrc(Family):
    """One, two or four TFRC flows over a link that loses by chance or by its queue."""

    name = "tfrc"
    peer = "ns-2"
    bands: ClassVar = {"goodput_bps": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rate, delay, queue, loss and flows."""
        return {
            "rate": three_digits(logarithmic(stream, 1e6, 1e7)),
            "delay": three_digits(stream.uniform(0.01, 0.1)),
            "queue": round(logarithmic(stream, 10, 100)),
            "loss": stream.choice([0.0, 0.003, 0.01, 0.03]),
            "flows": stream.choice([1, 2, 4]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        flows = "1 flow" if drawn["flows"] == 1 else f"{drawn['flows']} flows"
        return (
            f"{drawn['rate'] / 1e6:g} Mbit/s, {drawn['delay'] * 1e3:g} ms, queue {drawn['queue']}, "
            f"loss {drawn['loss']:.1%}, {flows}"
        )

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `tfrc.tcl`."""
        path = (drawn["rate"], drawn["delay"], drawn["queue"] + 1, drawn["loss"])
        rows = ns2("tfrc.tcl", seed, *path, SECONDS, *_starts(drawn, seed))
        received = sum(int(row[1]) for row in rows if row[:1] == ["flow"])
        return {"goodput_bps": 8000 * received / _WIRE / SECONDS}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        table = run(Scenario.from_dict(_scenario(drawn, seed)), trace="summary").flows
        return {"goodput_bps": 8 * sum(table.column("delivered_bytes").to_pylist()) / SECONDS}


def _starts(drawn: Mapping[str, Any], seed: int) -> list[float]:
    """Draw when the flows start, alike on both sides."""
    stream = random.Random(f"starts/{seed}")  # noqa: S311 - a documented draw, no secret
    return [round(stream.uniform(0.0, 2.0), 3) for _ in range(drawn["flows"])]


def _scenario(drawn: Mapping[str, Any], seed: int) -> dict[str, Any]:
    starts = _starts(drawn, seed)
    access = {"to": "r1", "rate": "100 Mbit/s", "delay": "1 ms", "queue": "10000 packets"}
    senders = [f"s{number}" for number in range(len(starts))]
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
    links = [
        *({"name": f"a{number}", "from": name, **access} for number, name in enumerate(senders)),
        bottleneck,
    ]
    return {
        "name": "drawn",
        "run": {"duration": f"{SECONDS} s", "seed": seed},
        "tcp": {"segment_size": "1000 B"},
        "topology": {"graph": {"nodes": [*senders, "r1", "k1"], "links": links}},
        "flow": [
            {"from": name, "to": "k1", "transport": "tfrc", "start": f"{start} s"}
            for name, start in zip(senders, starts, strict=True)
        ],
    }
