"""Saturated TFRC over one bottleneck beside ns-2: loss by chance, or by the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families import bottleneck
from cogtcp.kernel.validation.families.family import Family, logarithmic, ns2, three_digits

if TYPE_CHECKING:
    import random
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
        return ", ".join(bottleneck.path_in_words(drawn))

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `tfrc.tcl`."""
        # One more, as ns-2's DropTail holds one less than its limit.
        path = (drawn["rate"], drawn["delay"], drawn["queue"] + 1, drawn["loss"])
        rows = ns2("tfrc.tcl", seed, *path, SECONDS, *bottleneck.starts(drawn, seed))
        received = sum(int(row[1]) for row in rows if row[:1] == ["flow"])
        return {"goodput_bps": 8000 * received / _WIRE / SECONDS}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        data = bottleneck.scenario(drawn, seed, SECONDS, "tfrc", {"segment_size": "1000 B"})
        return {"goodput_bps": bottleneck.goodput_bps(data, SECONDS)}
