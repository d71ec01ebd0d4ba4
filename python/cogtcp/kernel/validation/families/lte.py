"""One user of an LTE cell beside ns-3's LTE module: UDP and TCP over its downlink."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, three_digits
from cogtcp.kernel.validation.families.ns3 import run_ns3
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Measured s, after the warm-up.
SECONDS, WARM_UP = 5, 2
#: Payload of a packet in bytes.
PAYLOAD = 1400

#: The cell: topology and radio, without the run and the traffic.
CELL = "ns3/cell.toml"


class Ns3Lte(Family):
    """A download by UDP or TCP."""

    name = "ns3-lte"
    peer = "ns-3"
    bands: ClassVar = {"goodput_bps": 0.05, "delay_s": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw UDP, beyond the rate of the cell too, or TCP with a window in segments."""
        protocol = stream.choice(["udp", "tcp"])
        share = stream.random()
        # Even: the last segment of an odd window waits for the timer of delayed ACKs.
        return {
            "protocol": protocol,
            "rate": three_digits(1e6 * 150**share),
            "window": 2 * round(10 * 17**share),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        if drawn["protocol"] == "udp":
            return f"UDP at {drawn['rate'] / 1e6:g} Mbit/s"
        return f"TCP with a window of {drawn['window']} segments"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run ns-3."""
        amount = drawn["rate"] if drawn["protocol"] == "udp" else PAYLOAD * drawn["window"]
        rows = run_ns3("cell-ns3", seed, SECONDS, drawn["protocol"], amount, PAYLOAD, "um")
        found = {row[0]: float(row[1]) for row in rows}
        return {"goodput_bps": found["rate"], "delay_s": found["delay"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        cell = resources.files("cogtcp.kernel.validation").joinpath(CELL).read_text(encoding="utf-8")
        span = (
            f'schema = 1\nname = "lte"\n[run]\nduration = "{WARM_UP + SECONDS} s"\nwarmup = "{WARM_UP} s"\n'
        )
        ends = 'from = "server"\nto = "user"\nstart = "500 ms"\n'
        if drawn["protocol"] == "udp":
            # A scenario has a flow: this one comes when all is over.
            late = f'[[flow]]\nfrom = "server"\nto = "user"\nstart = "{WARM_UP + SECONDS - 0.001} s"\n'
            source = f'[[udp]]\n{ends}pattern = {{ constant = "{drawn["rate"]} bit/s" }}\n'
            more = f'{late}transport = "newreno"\n{source}size = "{PAYLOAD} B"\n'
            (row,) = run(Scenario.from_toml(span + cell + more), seed, "summary").rows("datagrams")
            return {"goodput_bps": row["goodput_bps"], "delay_s": row["delay_mean_s"]}
        more = (
            f'[[flow]]\n{ends}transport = "newreno"\n'
            f'[tcp]\nmax_window = "{drawn["window"]} segments"\nsegment_size = "{PAYLOAD} B"\n'
        )
        (row,) = run(Scenario.from_toml(span + cell + more), seed, "summary").rows("flows")
        return {"goodput_bps": row["goodput_bps"], "delay_s": row["rtt_mean_s"]}
