"""ATP beside the law of the delay at its slowest link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation import fixed_points
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Bytes of a packet of others, and what ATP adds to its data.
_OTHERS, _ATP_HEADERS = 1400, 57


class Atp(Family):
    """ATP between Poisson packets of others: the inverse of the mean of waiting and transmission."""

    name = "atp"
    peer = "theory"
    bands: ClassVar = {"packets_per_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw a link, its place on the route and its load by others, whose packets are long."""
        return {
            "rate": three_digits(logarithmic(stream, 2e6, 2e7)),
            "load": round(stream.uniform(0.5, 0.85), 2),
            "segment": stream.randint(60, 200),
            "place": stream.randint(0, 2),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        link = f"{drawn['rate'] / 1e6:g} Mbit/s, {100 * drawn['load']:.0f} % for others"
        return f"{drawn['segment']} B, link {drawn['place'] + 1} of 3 has {link}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the inverse of what the slowest link tells."""
        own = 8 * (drawn["segment"] + _ATP_HEADERS) / drawn["rate"]
        told = fixed_points.paced_delay_s(own, 8 * _OTHERS / drawn["rate"], drawn["load"])
        return {"packets_per_s": 1 / told}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it with means over many packets; the rate follows the route's at once, up and down."""
        settings = {
            "increase_threshold": 0,
            "increase_divisor": 1,
            "smoothing": 0.998,
            "epoch": "200 ms",
        }
        # Ten times what the mean at the receiver remembers. The first packets meet no queue and go out
        # faster than the link carries. They leave a queue that keeps the rate low for a while.
        seconds = max(100.0, 5000 / self.theirs(drawn, seed)["packets_per_s"])
        nodes = ["one", "two", "three", "four"]
        place, rate = drawn["place"], drawn["rate"]
        links = [
            {
                "name": f"link{number}",
                "from": nodes[number],
                "to": nodes[number + 1],
                "rate": f"{rate if number == place else 1e9:.0f} bit/s",
                "delay": "1 ms",
                "queue": "1000000 packets",
            }
            for number in range(3)
        ]
        others = {
            "from": nodes[place],
            "to": nodes[place + 1],
            "size": f"{_OTHERS - 28} B",
            "pattern": {"poisson": f"{drawn['load'] * rate * (_OTHERS - 28) / _OTHERS:.0f} bit/s"},
        }
        data = {
            "name": "atp",
            "run": {"duration": f"{4 * seconds:.6f} s", "warmup": f"{seconds:.6f} s"},
            "tcp": {"segment_size": f"{drawn['segment']} B"},
            "topology": {"graph": {"nodes": nodes, "links": links}},
            "flow": [{"from": "one", "to": "four", "transport": {"atp": settings}}],
            "udp": [others],
        }
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("flows")
        return {"packets_per_s": float(row["goodput_bps"]) / 8 / drawn["segment"]}
