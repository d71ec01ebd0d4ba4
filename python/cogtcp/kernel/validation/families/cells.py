"""Cells beside theory: NR's peak rates, equal shares of resources, proportional fair under fading."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

#: Payload of a datagram and bytes of its packet.
_PAYLOAD, _PACKET = 1400, 1428
#: Resource blocks of a carrier by technology and MHz (TS 38.101-1 table 5.3.2-1).
_BLOCKS = {
    "nr_15khz": {5: 25, 10: 52, 15: 79, 20: 106, 25: 133, 30: 160, 40: 216, 50: 270},
    "nr_30khz": {10: 24, 15: 38, 20: 51, 30: 78, 40: 106, 50: 133, 60: 162, 80: 217, 100: 273},
}
#: Shares of the overhead in both directions (TS 38.306 section 4.1.2, FR1).
_OVERHEAD = {"down": 0.14, "up": 0.08}


def nr_peak_bps(technology: str, megahertz: int, layers: int, direction: str) -> float:
    """Return the peak rate with 64-QAM at a code rate of 948/1024 (TS 38.306 section 4.1.2)."""
    slots_per_ms = 2 if technology == "nr_30khz" else 1
    elements = 12 * _BLOCKS[technology][megahertz] * 14 * slots_per_ms * 1000
    return layers * 6 * 948 / 1024 * elements * (1 - _OVERHEAD[direction])


class NrPeak(Family):
    """A lone NR user at the highest MCS."""

    name = "nr-peak"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw subcarriers, bandwidth, layers and direction; an uplink has one layer."""
        technology = stream.choice(list(_BLOCKS))
        direction = stream.choice(["down", "up"])
        return {
            "technology": technology,
            "megahertz": stream.choice(list(_BLOCKS[technology])),
            "layers": stream.choice([1, 2, 4]) if direction == "down" else 1,
            "direction": direction,
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        layers = f"{drawn['layers']} layer{'s' if drawn['layers'] > 1 else ''}"
        return f"{drawn['technology']}, {drawn['megahertz']} MHz, {layers}, {drawn['direction']}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the formula."""
        ends = (drawn["technology"], drawn["megahertz"], drawn["layers"], drawn["direction"])
        return {"goodput_bps": nr_peak_bps(*ends) * _PAYLOAD / _PACKET}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Offer more than the peak. The formula's overhead of the uplink leaves no room for PUCCH."""
        cell = {
            "technology": drawn["technology"],
            "bandwidth": f"{drawn['megahertz']} MHz",
            "layers": drawn["layers"],
            "sinr": "60 dB",
            "control_blocks": 0,
        }
        offered = 1.2 * self.theirs(drawn, seed)["goodput_bps"]
        (goodput,) = _goodputs(cell, 1, offered, 1.0, is_up=drawn["direction"] == "up")
        return {"goodput_bps": goodput}


class RoundRobin(Family):
    """Saturated LTE users each get an equal share of the resources, at the rate of their SINR."""

    name = "round-robin"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.05, "ratio": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw two to eight users."""
        users = stream.randint(2, 8)
        return {"sinrs": [stream.randint(-2, 25) for _ in range(users)]}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"users at {' '.join(f'{sinr}' for sinr in drawn['sinrs'])} dB"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Divide the rates of lone users."""
        sinrs: Sequence[int] = drawn["sinrs"]
        return {"goodput_bps": sum(map(_alone_bps, sinrs)) / len(sinrs), "ratio": 1.0}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the sum, and the worst user's goodput over what it should have."""
        sinrs: Sequence[int] = drawn["sinrs"]
        cell = {**_CELL, "sinrs": [f"{sinr} dB" for sinr in sinrs]}
        goodputs = _goodputs(cell, len(sinrs), 4e7 * len(sinrs), 4.0)
        worst = min(
            goodput / _alone_bps(sinr) * len(sinrs) for goodput, sinr in zip(goodputs, sinrs, strict=True)
        )
        return {"goodput_bps": sum(goodputs), "ratio": worst}


class Fading(Family):
    """Round robin and proportional fair under Rayleigh fading, beside the mean over the law of the gains."""

    name = "fading"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw scheduler, users, mean SINR and coherence."""
        return {
            "scheduler": stream.choice(["round_robin", "proportional_fair"]),
            "users": stream.randint(2, 12),
            "sinr": stream.randint(0, 15),
            "coherence": round(logarithmic(stream, 0.05, 0.2), 3),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        name = drawn["scheduler"].replace("_", " ")
        return (
            f"{name}, {drawn['users']} users at {drawn['sinr']} dB, blocks of {drawn['coherence'] * 1e3:g} ms"
        )

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Average the rate over a gain, or over the greatest of so many, which proportional fair chooses.

        Users have one mean, so that the greatest gain over its mean is the greatest gain (Viswanath, Tse and
        Laroia 2002, section II). Round robin leaves out users whose gain is too small for any rate.
        """
        users = drawn["users"]
        is_fair = drawn["scheduler"] == "round_robin"
        chosen_among = 1 if is_fair else users
        steps, total, silent = 400, 0.0, 0
        for step in range(steps):
            # The gain below which the greatest lies with this probability.
            share = ((step + 0.5) / steps) ** (1 / chosen_among)
            gain = -math.log1p(-share)
            rate = _interpolated_bps(drawn["sinr"] + 10 * math.log10(gain))
            total += rate
            silent += not rate
        outage = silent / steps
        chance = (1 - outage**users) / (1 - outage) if is_fair else 1.0
        return {"goodput_bps": total / steps * chance}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run 600 blocks.

        Reports are of the block itself, as an older one may be of another gain. The mean rates of
        proportional fair are over many blocks: over a few, its choice follows what a user just had.
        """
        cell = {
            **_CELL,
            "sinr": f"{drawn['sinr']} dB",
            "scheduler": drawn["scheduler"],
            "coherence": f"{drawn['coherence'] * 1e3:g} ms",
            "report_age": "1 ms",
            "mean_slots": 100_000,
        }
        users = drawn["users"]
        goodputs = _goodputs(cell, users, 8e7, 600 * drawn["coherence"], seed)
        return {"goodput_bps": sum(goodputs)}


_CELL = {"bandwidth": "10 MHz", "layers": 1, "rlc": "unacknowledged"}


@cache
def _alone_bps(sinr: int) -> float:
    """Return the goodput of a lone LTE user whose SINR is constant, bit/s."""
    (goodput,) = _goodputs({**_CELL, "sinr": f"{sinr} dB"}, 1, 4.5e7, 1.0)
    return goodput


def _interpolated_bps(sinr: float) -> float:
    """Return the same between whole decibels; below -12 dB nothing gets through, above 30 dB no more does."""
    if sinr < -12:
        return 0.0
    low = math.floor(min(sinr, 30))
    return _alone_bps(low) + (min(sinr, 30) - low) * (_alone_bps(low + 1) - _alone_bps(low))


def _goodputs(
    cell: Mapping[str, Any],
    users: int,
    offered_bps: float,
    seconds: float,
    seed: int = 1,
    *,
    is_up: bool = False,
) -> list[float]:
    """Run saturated datagrams in a cell; return each user's goodput, bit/s."""
    names = [f"user-{number}" for number in range(users)]
    rate = {"constant": f"{offered_bps / users:.0f} bit/s"}
    udp = [
        {
            "from": name if is_up else "server",
            "to": "server" if is_up else name,
            "size": f"{_PAYLOAD} B",
            "pattern": rate,
        }
        for name in names
    ]
    data = one_cell(cell, names, seconds + 0.5, udp)
    data["run"]["warmup"] = "500 ms"
    rows = run(Scenario.from_dict(data), seed, "summary").rows("datagrams")
    return [float(row["goodput_bps"]) for row in rows]


def one_cell(
    cell: Mapping[str, Any],
    users: Sequence[str],
    seconds: float,
    udp: Sequence[Mapping[str, Any]],
    *,
    queue: str = "5000 packets",
) -> dict[str, Any]:
    """Return the scenario of a server, a base station and its users.

    Args:
        cell: The settings of the cell.
        users: Their names; the link to `NAME` is `air-NAME`.
        seconds: Of the run.
        udp: The datagrams.
        queue: Of each link to a user.
    """
    wire = {"name": "wire", "from": "server", "to": "base", "rate": "100 Gbit/s", "delay": "1 us"}
    air = {"from": "base", "rate": "10 Mbit/s", "delay": "1 us", "queue": queue}
    links = [
        {**wire, "queue": "100000 packets"},
        *({"name": f"air-{name}", "to": name, **air} for name in users),
    ]
    radio = {
        "access": "scheduled",
        "detector": "perfect",
        "sensing_time": "1 us",
        "transmission_time": "1000 s",
        "cell": dict(cell),
    }
    return {
        "name": "cell",
        "run": {"duration": f"{seconds} s"},
        "topology": {"graph": {"nodes": ["server", "base", *users], "links": links}},
        "spectrum": {"channels": {"uniform": "100 Mbit/s"}, "pu": "none"},
        "radio": [{"name": "cell", "links": [f"air-{name}" for name in users], "cr": radio}],
        # A scenario has a flow: this one comes when all is over.
        "flow": [{"from": "server", "to": users[0], "transport": "newreno", "start": f"{seconds - 0.001} s"}],
        "udp": list(udp),
    }
