"""Radios under a regulation: their time on the air beside alternating renewal theory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.spectrum_users import radio_alone
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

    def cycle_s(self, drawn: Mapping[str, Any]) -> float:
        """Return about how long it takes from one silence to the next."""
        return float(drawn["on"] + drawn["off"])

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the radio over two thousand cycles, in parts of the longest run; its flow sends one packet."""
        seconds = 2000 * self.cycle_s(drawn)
        parts = math.ceil(seconds / _LONGEST)
        radio = {"regulation": self.regulation(drawn)}
        laws = {
            "on": {"exponential": f"{drawn['on']} s"},
            "off": {"exponential": f"{drawn['off']} s"},
            "start": "stationary",
        }
        scenario = Scenario.from_dict(radio_alone(seconds / parts, 1, laws, radio))
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


class QuietPeriods(Family):
    """Sensing in two stages on an idle channel (IEEE 802.22): what the looks take, with false alarms."""

    name = "quiet-periods"
    peer = "theory"
    bands: ClassVar = {"share": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the looks, and how often the first reports what is not there."""
        return {
            "within": three_digits(stream.uniform(0.001, 0.009)),
            "every": three_digits(stream.uniform(0.05, 0.5)),
            "between": 0.01 * stream.randint(1, 5),
            "false": round(stream.uniform(0, 0.5), 2),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        within, every, between = (f"{drawn[key] * 1e3:g} ms" for key in ("within", "every", "between"))
        return f"{within} each {every}, then {between}, P_f {100 * drawn['false']:.0f} %"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Add both looks; a second report leads to another channel with a look, until one seems free."""
        again = drawn["false"] / (1 - drawn["false"])
        silent = drawn["within"] + again * drawn["between"]
        return {"share": silent / (drawn["every"] + again * drawn["between"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over 20,000 looks; the incumbents never come."""
        seconds = 20_000 * drawn["every"]
        times = {key: f"{drawn[key]} s" for key in ("within", "every", "between")}
        radio = {
            "detector": {"fixed": {"detection": 1.0, "false_alarm": drawn["false"]}},
            "switching_delay": "0 s",
            "regulation": {"quiet_periods": times},
        }
        laws = {"on": {"deterministic": "1 s"}, "off": {"deterministic": "1000000 s"}}
        data = radio_alone(seconds, 4, laws, radio)
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("radios")
        return {"share": row["sensing_s"] / seconds}
