"""Saturated 802.11 stations beside ns-2 and Bianchi's model: cells, hidden and exposed terminals, strings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.closed_forms import bianchi_packets_per_second
from cogtcp.kernel.validation.families.family import Family, ns2, three_digits
from cogtcp.kernel.validation.families.ns3 import run_ns3
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    Places = Sequence[tuple[float, float]]
    Paths = Sequence[tuple[int, ...]]

#: Measured s, after the warm-up.
SECONDS, WARM_UP = 30, 10
#: Bytes of a packet with the headers of IP and UDP.
PACKET = 1000


class Stations(Family):
    """Stations at places in m, and the paths of packets between them."""

    peer = "ns-2"
    bands: ClassVar = {"packets_per_s": 0.05}
    script: ClassVar[str] = "adhoc.tcl"
    profile: ClassVar[str] = "ns2"

    def places(self, drawn: Mapping[str, Any]) -> tuple[Places, Paths]:
        """Return where stations stand, and each path: source, relays, receiver."""
        raise NotImplementedError

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run ns-2."""
        lists = [
            " ".join(f"{{{' '.join(map(str, entry))}}}" for entry in entries)
            for entries in self.places(drawn)
        ]
        rows = ns2(self.script, seed, SECONDS, drawn["rts"], PACKET, *lists)
        return {"packets_per_s": sum(int(row[1]) for row in rows if row[:1] == ["packets"]) / SECONDS}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here under the peer's profile."""
        mac = {"profile": self.profile, "arp": {"protocol": "none"}}
        return saturated(*self.places(drawn), drawn["rts"], seed, mac)


class Cell(Stations):
    """Senders on a circle about their receiver: all hear each other."""

    name = "cell"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw how many stations, and whether they send RTS."""
        return {"stations": stream.randint(1, 20), "rts": stream.choice(["on", "off"])}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{drawn['stations']} stations, RTS {drawn['rts']}"

    def places(self, drawn: Mapping[str, Any]) -> tuple[Places, Paths]:
        """Put them on a circle of 50 m."""
        return circle(drawn["stations"])


class Bianchi(Cell):
    """A cell beside Bianchi's model, under the standard's rules and without end of retries."""

    name = "bianchi"
    peer = "theory"
    bands: ClassVar = {"packets_per_s": 0.03}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the model."""
        return {
            "packets_per_s": bianchi_packets_per_second(drawn["stations"], PACKET, rts=drawn["rts"] == "on")
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the cell."""
        mac = {"short_retry_limit": "infinite", "long_retry_limit": "infinite"}
        return saturated(*self.places(drawn), drawn["rts"], seed, mac)


class Pairs(Stations):
    """Two senders with a receiver each, in a row."""

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        places = " ".join(f"{place:g}" for place in drawn["places"])
        return f"at {places} m (1 to 2, 3 to 4), RTS {drawn['rts']}"

    def places(self, drawn: Mapping[str, Any]) -> tuple[Places, Paths]:
        """Put them in a row."""
        return [(place, 0.0) for place in drawn["places"]], [(0, 1), (2, 3)]


class Hidden(Pairs):
    """The senders do not sense each other (550 m); each receiver senses both."""

    name = "hidden"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the distances of the receivers, and of the senders from each other."""
        first, second = (three_digits(stream.uniform(100, 240)) for _ in range(2))
        apart = three_digits(stream.uniform(570, 640))
        return {"places": [0.0, first, apart, apart - second], "rts": stream.choice(["on", "off"])}


class Exposed(Pairs):
    """The senders sense each other; the receivers stand away from them."""

    name = "exposed"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the distances."""
        first, second = (three_digits(stream.uniform(100, 240)) for _ in range(2))
        apart = three_digits(stream.uniform(150, 500))
        places = [first, 0.0, first + apart, first + apart + second]
        return {"places": places, "rts": stream.choice(["on", "off"])}


class String(Stations):
    """A row of relays; the first always has packets."""

    name = "string"
    script = "strings.tcl"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw hops, their length, and whether stations send RTS."""
        return {
            "hops": stream.randint(1, 6),
            "spacing": three_digits(stream.uniform(190, 245)),
            "rts": stream.choice(["on", "off"]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        hops = "1 hop" if drawn["hops"] == 1 else f"{drawn['hops']} hops"
        return f"{hops} of {drawn['spacing']:g} m, RTS {drawn['rts']}"

    def places(self, drawn: Mapping[str, Any]) -> tuple[Places, Paths]:
        """Put them in a row."""
        hops, spacing = drawn["hops"], drawn["spacing"]
        return [(spacing * place, 0.0) for place in range(hops + 1)], [tuple(range(hops + 1))]


class InNs3(Stations):
    """Beside ns-3 and under the profile `ns3`."""

    peer = "ns-3"
    profile = "ns3"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run ns-3."""
        lists = [";".join(",".join(map(str, entry)) for entry in entries) for entries in self.places(drawn)]
        rows = run_ns3("stations-ns3", seed, SECONDS, drawn["rts"], PACKET, *lists)
        return {"packets_per_s": sum(int(row[1]) for row in rows if row[:1] == ["packets"]) / SECONDS}


class Ns3Cell(InNs3, Cell):
    """A cell."""

    name = "ns3-cell"


class Ns3Hidden(InNs3, Hidden):
    """Hidden terminals."""

    name = "ns3-hidden"


class Ns3Exposed(InNs3, Exposed):
    """Exposed terminals."""

    name = "ns3-exposed"


class Ns3String(InNs3, String):
    """A string."""

    name = "ns3-string"


def circle(stations: int) -> tuple[Places, Paths]:
    """Put a receiver into the middle of a circle of 50 m."""
    angles = [2 * math.pi * number / stations for number in range(stations)]
    around = [(round(50 * math.cos(angle), 3), round(50 * math.sin(angle), 3)) for angle in angles]
    return [(0.0, 0.0), *around], [(number + 1, 0) for number in range(stations)]


def saturated(places: Places, paths: Paths, rts: str, seed: int, mac: Mapping[str, Any]) -> dict[str, float]:
    """Simulate sources that always have packets, at 1 Mbit/s."""
    scenario = Scenario.from_dict(saturated_scenario(places, paths, rts, seed, mac))
    table = run(scenario, seed=seed, trace="summary").table("datagrams")
    return {"packets_per_s": sum(table.column("received_packets").to_pylist()) / SECONDS}


def saturated_scenario(
    places: Places, paths: Paths, rts: str, seed: int, mac: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the scenario of sources that always have packets."""
    # Sources of 2 Mbit/s, as in adhoc.tcl; one that feeds a string, as in strings.tcl, a packet in 4 ms.
    return {
        "name": "stations",
        "routing": "static",
        "run": {"duration": f"{WARM_UP + SECONDS} s", "warmup": f"{WARM_UP} s", "seed": seed},
        "topology": {
            "ad_hoc": {
                "nodes": len(places),
                "placement": {"positions": [[f"{x} m", f"{y} m"] for x, y in shifted(places)]},
                # The scripts of the peers have no routing that empties a queue when the MAC gives up.
                "on_link_failure": "reroute",
            }
        },
        "area": area(places),
        "mac": {
            **mac,
            "rate": "1 Mbit/s",
            "basic_rate": "1 Mbit/s",
            # 3000 B is above every frame.
            "rts_threshold": "0 B" if rts == "on" else "3000 B",
        },
        "phy": {"range": "250 m", "carrier_sense_range": "550 m"},
        "udp": [
            {
                "from": f"n{path[0]}",
                "to": f"n{path[-1]}",
                "size": f"{PACKET - 28} B",
                "pattern": {"constant": "2 Mbit/s"},
                # One after the other, so that each finds its addresses undisturbed.
                "start": f"{0.1 + 0.2 * number:.1f} s",
            }
            for number, path in enumerate(paths)
        ],
    }


def shifted(places: Places) -> list[tuple[float, float]]:
    """Move places so that none is negative."""
    left, low = min(x for x, _ in places), min(y for _, y in places)
    return [(round(x - left, 3), round(y - low, 3)) for x, y in places]


def area(places: Places) -> dict[str, str]:
    """Return an area that holds them."""
    moved = shifted(places)
    width, height = max(x for x, _ in moved), max(y for _, y in moved)
    return {"width": f"{width + 1:.0f} m", "height": f"{height + 1:.0f} m"}
