"""Sources without feedback beside the means of their laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.spectrum_users import survival
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: How many sources of one kind a case has, for a narrow mean.
_SOURCES = 20
#: Of Pareto spans: of a finite variance, or means would not settle in a run.
_SHAPE = 2.5


class UdpSources(Family):
    """Poisson and ON/OFF sources: what they send on average."""

    name = "udp-sources"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the pattern, its rate and its spans."""
        return {
            "pattern": stream.choice(["poisson", "on_off"]),
            "law": stream.choice(["exponential", "pareto"]),
            "rate": three_digits(logarithmic(stream, 5e4, 1e6)),
            "on": three_digits(logarithmic(stream, 0.1, 2)),
            "off": three_digits(logarithmic(stream, 0.1, 2)),
            "size": stream.randint(100, 1400),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        spans = f", {drawn['law']} {drawn['on']:g} s of {drawn['on'] + drawn['off']:g} s"
        is_on_off = drawn["pattern"] == "on_off"
        return f"{drawn['pattern']}, {drawn['rate'] / 1e6:g} Mbit/s{spans if is_on_off else ''}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the rate, or the packets of an ON time over a cycle.

        An ON time begins with a packet: it has one more for each interval that it outlasts.
        """
        if drawn["pattern"] == "poisson":
            return {"goodput_bps": _SOURCES * drawn["rate"]}
        interval = 8 * drawn["size"] / drawn["rate"]
        # Up to a hundred mean times: of the laws' tails nothing that counts is left.
        intervals = range(1 + round(100 * drawn["on"] / interval))
        packets = sum(survival(drawn["law"], drawn["on"], _SHAPE, k * interval) for k in intervals)
        return {"goodput_bps": _SOURCES * 8 * drawn["size"] * packets / (drawn["on"] + drawn["off"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run them over a link that loses nothing, after as long a time as the first span is felt."""
        spans = {side: self.law(drawn, side) for side in ("on", "off")}
        rate = f"{drawn['rate']:.0f} bit/s"
        pattern = {"on_off": {"rate": rate, **spans}} if drawn["pattern"] == "on_off" else {"poisson": rate}
        seconds = 300 * (drawn["on"] + drawn["off"])
        ends = {"from": "sender", "to": "receiver"}
        link = {"rate": "1 Gbit/s", "delay": "1 ms", "queue": "100000 packets"}
        data = {
            "name": "udp-sources",
            "run": {"duration": f"{1.1 * seconds:.6f} s", "warmup": f"{0.1 * seconds:.6f} s"},
            "topology": {"single_hop": {"link": link}},
            # A scenario has a flow.
            "flow": [{**ends, "transport": "newreno", "traffic": {"size": "1 kB"}}],
            "udp": [{**ends, "count": _SOURCES, "size": f"{drawn['size']} B", "pattern": pattern}],
        }
        rows = run(Scenario.from_dict(data), seed, "summary").rows("datagrams")
        return {"goodput_bps": sum(row["goodput_bps"] for row in rows)}

    def law(self, drawn: Mapping[str, Any], side: str) -> dict[str, Any]:
        """Return the law of a span."""
        mean = f"{drawn[side]} s"
        return (
            {"pareto": {"mean": mean, "shape": _SHAPE}} if drawn["law"] == "pareto" else {"exponential": mean}
        )
