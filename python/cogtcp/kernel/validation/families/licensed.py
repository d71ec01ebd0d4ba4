"""Radios under a regulation, and over satellites: their time on the air beside alternating renewal theory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

_MINUTE = 60.0
#: What the FCC asks of DFS: channel availability check time and non-occupancy period, s.
_CHECK, _NON_OCCUPANCY = 60.0, 1800.0
#: The longest run, s.
_LONGEST = 1e6


class _Regulated(Family):
    """A lone channel with an incumbent of exponential OFF times: the share of the time on the air."""

    peer = "theory"
    bands: ClassVar = {"share": 0.05}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        rules = ", ".join(f"{name} {value:g} s" for name, value in drawn.items() if name not in ("on", "off"))
        return f"ON {drawn['on']:g} s, OFF {drawn['off']:g} s; {rules}"

    def regulation(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Return the radio's `regulation`."""
        raise NotImplementedError

    def incumbents(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Return the laws of the incumbent."""
        return {"on": {"exponential": f"{drawn['on']} s"}, "off": {"exponential": f"{drawn['off']} s"}}

    def cycle_s(self, drawn: Mapping[str, Any]) -> float:
        """Return about how long it takes from one silence to the next."""
        return float(drawn["on"] + drawn["off"])

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the radio over two thousand cycles, in parts of the longest run; its flow sends one packet."""
        seconds = 2000 * self.cycle_s(drawn)
        parts = math.ceil(seconds / _LONGEST)
        link = {"rate": "1 Mbit/s", "delay": "1 ms", "queue": "50 packets"}
        once = {"from": "sender", "to": "receiver", "transport": "newreno", "traffic": {"size": "1 kB"}}
        radio = {"access": "none", "regulation": self.regulation(drawn)}
        data = {
            "name": "regulated",
            "run": {"duration": f"{seconds / parts:.6f} s", "sample_interval": "1 h"},
            "topology": {"single_hop": {"link": link}},
            "spectrum": {
                "bands": 1,
                "channels": {"uniform": "1 Mbit/s"},
                "pu": {"laws": {**self.incumbents(drawn), "start": "stationary"}},
            },
            "radio": [{"name": "cr", "links": ["link"], "cr": radio}],
            "flow": [once],
        }
        scenario = Scenario.from_dict(data)
        on_air = 0.0
        for part in range(parts):
            (row,) = run(scenario, seed * parts + part, "summary").rows("radios")
            on_air += row["transmitting_s"]
        return {"share": on_air / seconds}


class Cbrs(_Regulated):
    """CBRS: the SAS suspends the grant at heartbeats in the radar's time (WINNF-TS-0016 section 8.6).

    A heartbeat interval is silent if the radar was there at its beginning. `stop` seconds of the first of
    several are on the air.
    """

    name = "cbrs"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the radar's means, the heartbeat, and how long a device takes to stop."""
        heartbeat = stream.randint(10, 120)
        return {
            "on": three_digits(logarithmic(stream, 30, 1200)),
            "off": three_digits(logarithmic(stream, 60, 3600)),
            "heartbeat": heartbeat,
            "stop": three_digits(stream.uniform(0.1, min(heartbeat / 2, 60))),
        }

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Sample the radar's two states at the heartbeats."""
        on = drawn["on"] / (drawn["on"] + drawn["off"])
        changed = 1 - math.exp(-drawn["heartbeat"] * (1 / drawn["on"] + 1 / drawn["off"]))
        begins = (1 - on) * on * changed / drawn["heartbeat"]
        return {"share": 1 - on + drawn["stop"] * begins}

    def regulation(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Let answers come at once, and the right to transmit outlast a heartbeat."""
        times = {key: f"{drawn[key]} s" for key in ("heartbeat", "stop")}
        return {"cbrs": {**times, "transmit": "240 s", "answer": "1 ms", "dpa": "suspend"}}


class Dfs(_Regulated):
    """DFS on one channel: after a radar the non-occupancy period, then checks until one finds no radar."""

    name = "dfs"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the radar's means and the times of the device."""
        return {
            "on": three_digits(logarithmic(stream, 1, 30)),
            "off": three_digits(logarithmic(stream, 300, 10_000)),
            "check": three_digits(logarithmic(stream, _CHECK, 600)),
            "period": three_digits(logarithmic(stream, _NON_OCCUPANCY, 4 * _NON_OCCUPANCY)),
        }

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Divide the time to the next radar by the mean cycle.

        After the non-occupancy period the radar is stationary. A check succeeds if the channel is free and
        stays so. It ends with a radar, at once where that is there already, and another period follows.
        """
        off, check, period = drawn["off"], drawn["check"], drawn["period"]
        free = off / (drawn["on"] + off)
        lasts = math.exp(-check / off)
        succeeds = free * lasts
        listened = free * (off - (off + check) * lasts)
        silent = period + check + (listened + (1 - succeeds) * period) / succeeds
        return {"share": off / (off + silent)}

    def cycle_s(self, drawn: Mapping[str, Any]) -> float:
        """Add the non-occupancy period."""
        return super().cycle_s(drawn) + float(drawn["period"])

    def regulation(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Let the device detect a radar at once."""
        return {
            "dfs": {
                "availability_check": f"{drawn['check']} s",
                "non_occupancy": f"{drawn['period']} s",
                "closing": "0 s",
                "channel_move": "0 s",
            }
        }


class Tvws(_Regulated):
    """TV white space: the data base knows an incumbent ahead, and the device is silent a little before."""

    name = "tvws"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the incumbent's means and the lead."""
        return {
            "on": three_digits(logarithmic(stream, 5 * _MINUTE, 120 * _MINUTE)),
            "off": three_digits(logarithmic(stream, 10 * _MINUTE, 240 * _MINUTE)),
            "lead": three_digits(logarithmic(stream, 0.1, 300)),
        }

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Take the lead, or as much of it as fits, from each OFF time."""
        used = drawn["off"] * math.exp(-drawn["lead"] / drawn["off"])
        return {"share": used / (drawn["on"] + drawn["off"])}

    def regulation(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Let incumbents be registered two checks ahead."""
        return {"tvws": {"lead": f"{drawn['lead']} s", "check": "1 h", "notice": "2 h", "answer": "1 ms"}}


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
