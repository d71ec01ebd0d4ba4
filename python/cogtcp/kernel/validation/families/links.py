"""Links whose medium, satellites or recorded rate decide what they carry, beside sums by hand."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.railway import railway
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping


class CrPair(Family):
    """A CR user that always has a packet for its peer: what the DCF takes for each (IEEE 802.11)."""

    name = "cr-pair"
    peer = "theory"
    bands: ClassVar = {"packets_per_s": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rate, packet, contention window, and RTS or not."""
        return {
            "rate": stream.choice([1e6, 2e6, 5.5e6, 11e6]),
            "payload": stream.randint(100, 1400),
            "cw_min": stream.choice([15, 31, 63]),
            "slot": stream.choice([9e-6, 2e-5]),
            "rts": stream.random() < 0.5,
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        window = f"CW {drawn['cw_min']} slots of {drawn['slot'] * 1e6:g} us"
        rts = "RTS" if drawn["rts"] else "no RTS"
        return f"{drawn['payload']} B at {drawn['rate'] / 1e6:g} Mbit/s, {window}, {rts}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Add DIFS, the mean backoff, the frames and SIFS; UDP and IP have 28 B, and the MAC has 28 B."""
        sifs, preamble, flight = 1e-5, 192e-6, 1e-6
        basic = min(1e6, drawn["rate"])
        answer = sifs + preamble + 8 * 14 / basic + flight
        data = preamble + 8 * (drawn["payload"] + 56) / drawn["rate"] + flight
        rts = preamble + 8 * 20 / basic + flight + answer + sifs if drawn["rts"] else 0.0
        difs = sifs + 2 * drawn["slot"]
        return {"packets_per_s": 1 / (difs + drawn["cw_min"] / 2 * drawn["slot"] + rts + data + answer)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Offer twice as much; the radio senses for a thousandth of the time, and finds no incumbent."""
        rate = self.theirs(drawn, seed)["packets_per_s"]
        seconds = 20_000 / rate
        ends = {"from": "sender", "to": "receiver"}
        mac = {
            "cw_min": drawn["cw_min"],
            "slot": f"{drawn['slot'] * 1e6:g} us",
            "rts_threshold": "0 B" if drawn["rts"] else "3 kB",
        }
        radio = {
            "access": "dcf",
            "detector": "perfect",
            "sensing_time": "1 ms",
            "transmission_time": "1 s",
            "mac": mac,
        }
        laws = {"on": {"deterministic": "1 s"}, "off": {"deterministic": "1000000 s"}}
        link = {"rate": f"{drawn['rate']:.0f} bit/s", "delay": "1 us", "queue": "100 packets"}
        data = {
            "name": "cr-pair",
            "run": {"duration": f"{seconds:.6f} s"},
            "topology": {"single_hop": {"link": link}},
            "spectrum": {"bands": 1, "channels": {"uniform": link["rate"]}, "pu": {"laws": laws}},
            "radio": [{"name": "cr", "links": ["link"], "cr": radio}],
            "flow": [{**ends, "transport": "newreno", "traffic": {"size": "1 kB"}}],
            "udp": [
                {
                    **ends,
                    "size": f"{drawn['payload']} B",
                    "pattern": {"constant": f"{2 * rate * 8 * drawn['payload']:.0f} bit/s"},
                }
            ],
        }
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("datagrams")
        return {"packets_per_s": row["received_packets"] / seconds}


class Journey(Family):
    """A train that passes a tunnel and a gap between two base stations: how long its radio has no signal."""

    name = "journey"
    peer = "theory"
    bands: ClassVar = {"share": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the speed, the tunnel and what decides the reach of a base station, 11 to 19 km."""
        return {
            "speed": round(stream.uniform(10, 90), 1),
            "tunnel": round(stream.uniform(200, 4000)),
            "exponent": round(stream.uniform(2, 4), 1),
            "reach": three_digits(stream.uniform(11_000, 19_000)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        stations = f"base stations 40 km apart that reach {drawn['reach'] / 1e3:g} km"
        return f"{drawn['speed']:g} m/s, a tunnel of {drawn['tunnel']} m, {stations}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Divide both by the line of 60 km, at one speed."""
        return {"share": (drawn["tunnel"] + 40_000 - 2 * drawn["reach"]) / 60_000}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Travel; a level of 0 dBm is the threshold."""
        path_loss = 60 - 10 * drawn["exponent"] * math.log10(drawn["reach"] / 1e3)
        seconds = 60_000 / drawn["speed"]
        line = railway(
            speed=drawn["speed"],
            length=60_000,
            base_stations=[(10_000, 60), (50_000, 60)],
            tunnels=[(2000, 2000 + drawn["tunnel"])],
            path_loss=path_loss,
            exponent=drawn["exponent"],
            interval_ms=100,
        )
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "line.toml"
            place.write_text(line, "utf-8")
            link = {"rate": "1 Mbit/s", "delay": "1 ms", "queue": "50 packets"}
            once = {"from": "sender", "to": "receiver", "transport": "newreno", "traffic": {"size": "1 kB"}}
            data = {
                "name": "journey",
                "run": {"duration": f"{seconds:.6f} s"},
                "topology": {"single_hop": {"link": link}},
                "radio": [{"name": "train", "links": ["link"], "journey": {"map": str(place)}}],
                "flow": [once],
            }
            (row,) = run(Scenario.from_dict(data), seed, "summary").rows("radios")
        return {"share": row["lost_s"] / seconds}


class Leo(Family):
    """A link over satellites: the packets that handoffs destroy, and the mean delay of the others."""

    name = "leo"
    peer = "theory"
    bands: ClassVar = {"dropped": 0.05, "delay_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw period, outage, delays, and the edges with more delay."""
        outage = three_digits(logarithmic(stream, 0.05, 0.5))
        least = three_digits(stream.uniform(0.005, 0.03))
        return {
            "period": three_digits(stream.uniform(5, 30)),
            "outage": outage,
            "least": least,
            # Within an outage a delay may fall by as much, and no packet would overtake another.
            "most": three_digits(least + stream.uniform(0.2, 1) * min(outage, 0.1)),
            "spike": three_digits(stream.uniform(0, 0.04)),
            "first": three_digits(outage + stream.uniform(0, 1)),
            "last": three_digits(stream.uniform(0.05, 1)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        delays = f"{drawn['least'] * 1e3:g} to {drawn['most'] * 1e3:g} ms"
        edges = f"{drawn['spike'] * 1e3:g} ms more for {drawn['first']:g} and {drawn['last']:g} s"
        return f"outage {drawn['outage'] * 1e3:g} ms each {drawn['period']:g} s, {delays}, {edges}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Average over a period.

        A packet that would overtake where the delay falls arrives with the one before: half of the fall
        more, for as long as the fall.
        """
        open_s = drawn["period"] - drawn["outage"]
        edges = drawn["spike"] * (drawn["first"] - drawn["outage"] + drawn["last"])
        more = (edges + drawn["spike"] ** 2 / 2) / open_s
        return {
            "dropped": drawn["outage"] / drawn["period"],
            "delay_s": (drawn["least"] + drawn["most"]) / 2 + more,
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Send small packets at random over 400 satellites; a packet takes 8 us to leave."""
        seconds = 400 * drawn["period"]
        link = {"rate": "100 Mbit/s", "delay": "1 ms", "queue": "1000 packets"}
        ends = {"from": "sender", "to": "receiver"}
        times = {key: f"{drawn[key]} s" for key in ("period", "outage", "spike")}
        leo = {
            **times,
            "delay": [f"{drawn['least']} s", f"{drawn['most']} s"],
            "first_edge": f"{drawn['first']} s",
            "last_edge": f"{drawn['last']} s",
        }
        data = {
            "name": "leo",
            "run": {"duration": f"{seconds:.6f} s"},
            "topology": {"single_hop": {"link": link}},
            "radio": [{"name": "satellite", "links": ["link"], "silence": "drop", "leo": leo}],
            # A scenario has a flow.
            "flow": [{**ends, "transport": "newreno", "traffic": {"size": "1 kB"}}],
            "udp": [{**ends, "size": "72 B", "pattern": {"poisson": "115 kbit/s"}}],
        }
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("datagrams")
        return {"dropped": row["loss_ratio"], "delay_s": row["delay_mean_s"]}


class LinkTrace(Family):
    """A link whose rate follows a recorded one: what a source that fills it delivers."""

    name = "link-trace"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rates, each for a span, some of them zero."""
        count = stream.randint(2, 8)
        return {
            "spans": [three_digits(logarithmic(stream, 0.05, 3)) for _ in range(count)],
            "rates": [
                0.0 if stream.random() < 0.2 else three_digits(logarithmic(stream, 1e6, 3e7))
                for _ in range(count - 1)
            ]
            + [1e7],
            "size": stream.randint(200, 1400),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        pairs = zip(drawn["rates"], drawn["spans"], strict=True)
        return f"{', '.join(f'{rate / 1e6:g} for {span:g} s' for rate, span in pairs)} (Mbit/s)"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the mean rate, less the headers."""
        carried = sum(rate * span for rate, span in zip(drawn["rates"], drawn["spans"], strict=True))
        share = drawn["size"] / (drawn["size"] + 28)
        return {"goodput_bps": carried / sum(drawn["spans"]) * share}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Offer more than the highest rate, over twenty periods of the trace."""
        period = sum(drawn["spans"])
        lines, time = ["time_s,rate_bps"], 0.0
        for rate, span in zip(drawn["rates"], drawn["spans"], strict=True):
            lines.append(f"{time:.9f},{rate:.0f}")
            time += span
        lines.append(f"{time:.9f},0")
        ends = {"from": "sender", "to": "receiver"}
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.csv"
            trace.write_text("\n".join(lines) + "\n", "utf-8")
            link = {"rate": "30 Mbit/s", "trace": str(trace), "delay": "1 ms", "queue": "100 packets"}
            data = {
                "name": "link-trace",
                # The trace begins with the run; after the warm-up the queue is full.
                "run": {"duration": f"{22 * period:.6f} s", "warmup": f"{2 * period:.6f} s"},
                "topology": {"single_hop": {"link": link}},
                "flow": [{**ends, "transport": "newreno", "traffic": {"size": "1 kB"}}],
                "udp": [{**ends, "size": f"{drawn['size']} B", "pattern": {"poisson": "40 Mbit/s"}}],
            }
            (row,) = run(Scenario.from_dict(data), seed, "summary").rows("datagrams")
        return {"goodput_bps": row["goodput_bps"]}
