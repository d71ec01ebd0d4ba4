"""Ad hoc routing alone: routes on drawn maps, and what it takes AODV to find one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, three_digits
from cogtcp.kernel.validation.families.stations import area, shifted
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from cogtcp.kernel.validation.families.stations import Places
    from cogtcp.model.result import Result

#: Range of a radio, m.
_RANGE = 250.0
#: Half-angle of SEARCH's focus region.
_FOCUS = math.radians(45)


def neighbours(places: Places) -> list[list[int]]:
    """Return the nodes within range of each node."""
    count = range(len(places))
    return [
        [other for other in count if other != node and math.dist(places[node], places[other]) <= _RANGE]
        for node in count
    ]


def hops_from(places: Places, source: int, end: int | None = None) -> dict[int, int]:
    """Return the hops to each node that can be reached, by breadth-first search; `end` passes nothing on."""
    near, hops, queue = neighbours(places), {source: 0}, [source]
    for node in queue:
        for other in near[node] if node != end else ():
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops


def greedy_hops(places: Places, source: int, destination: int) -> int | None:
    """Return the hops of greedy forwarding in SEARCH's focus region; None: a node has no next hop.

    The next hop is the neighbour nearest to the destination, if it is nearer than the node itself and within
    the half-angle (Chowdhury and Di Felice 2009).
    """
    near, node, hops = neighbours(places), source, 0
    goal = places[destination]

    def bearing(place: tuple[float, float]) -> float:
        return math.atan2(place[1] - places[node][1], place[0] - places[node][0])

    while node != destination:
        ahead = [
            other
            for other in near[node]
            if math.dist(places[other], goal) < math.dist(places[node], goal)
            and abs(math.remainder(bearing(places[other]) - bearing(goal), math.tau)) <= _FOCUS
        ]
        if not ahead:
            return None
        node = min(ahead, key=lambda other: math.dist(places[other], goal))
        hops += 1
    return hops


def ring_search(
    hops: int, start: int, increment: int, threshold: int, traversal_s: float
) -> tuple[int, float]:
    """Return the requests sent on a line of nodes, and the time of the rings that do not reach its end.

    RFC 3561 section 6.4: a ring of t hops waits for 2 NODE_TRAVERSAL_TIME (t + TIMEOUT_BUFFER), with a
    TIMEOUT_BUFFER of 2. Above the threshold the request goes through the whole network.
    """
    requests, waited, ring = 0, 0.0, start
    while ring < hops and ring <= threshold:
        # The source and each node but the last of the ring.
        requests += ring
        waited += 2 * traversal_s * (ring + 2)
        ring += increment
    return requests + hops, waited


class _OnMap(Family):
    """Nodes at drawn places; the first sends to the second."""

    peer = "theory"
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw places, again where no route leads from the first node to the second."""
        while True:
            side = stream.randint(500, 1500)
            places = [
                [stream.randint(0, side), stream.randint(0, side)] for _ in range(stream.randint(10, 50))
            ]
            if 1 in hops_from(_pairs(places), 0):
                return {"side": side, "places": places}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{drawn['protocol']}, {len(drawn['places'])} nodes on {drawn['side']} m x {drawn['side']} m"


class Routes(_OnMap):
    """Static shortest paths beside breadth-first search, SEARCH without primary users beside greedy steps."""

    name = "routes"
    bands: ClassVar = {"hops": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the protocol too, and places at which two hops or more of greedy steps lead to the end."""
        protocol = stream.choice(["static", "search"])
        while True:
            drawn = {"protocol": protocol, **super().draw(stream)}
            if self.theirs(drawn, 0)["hops"] > 1:
                return drawn

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Count the hops."""
        places = _pairs(drawn["places"])
        hops = hops_from(places, 0)[1] if drawn["protocol"] == "static" else greedy_hops(places, 0, 1)
        return {"hops": float(hops or 0)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Send packets, each after the one before has arrived."""
        result = _packets(_pairs(drawn["places"]), 1, drawn["protocol"], seed)
        return {"hops": result.rows("streams")[0]["hops_mean"]}


class Flooding(_OnMap):
    """One search of AODV through the whole network: each node it reaches sends the request on once."""

    name = "flooding"
    is_random = True
    bands: ClassVar = {"requests": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the protocol too."""
        return {"protocol": stream.choice(["aodv", "cr_aodv"]), **super().draw(stream)}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Count the nodes that a path leads to without the destination (RFC 3561 section 6.5)."""
        return {"requests": len(hops_from(_pairs(drawn["places"]), 0, end=1)) - 1.0}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Search once; only the destination replies. Long random waits keep broadcasts from colliding."""
        aodv = {
            "profile": "rfc",
            "ttl_start": 35,
            "destination_only": True,
            "jitter": "100 ms",
            # No second request within the run.
            "node_traversal_time": "1 s",
        }
        result = _packets(_pairs(drawn["places"]), 1, _aodv(drawn["protocol"], aodv), seed)
        return {"requests": result.rows("routing")[0]["requests"]}


class RingSearch(Family):
    """AODV's search in growing rings on a line of nodes: requests and time (RFC 3561 section 6.4)."""

    name = "ring-search"
    peer = "theory"
    bands: ClassVar = {"requests": 0.03, "wait_s": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the line, the rings and the time of a hop, again where the first ring reaches the end."""
        while True:
            drawn: dict[str, Any] = {
                "protocol": stream.choice(["aodv", "cr_aodv"]),
                "hops": stream.randint(2, 14),
                "start": stream.randint(1, 3),
                "increment": stream.randint(1, 3),
                "threshold": stream.randint(3, 9),
                "traversal": three_digits(stream.uniform(0.04, 0.3)),
            }
            if drawn["start"] < drawn["hops"]:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        rings = f"rings of {drawn['start']} hops, {drawn['increment']} more, up to {drawn['threshold']}"
        return f"{drawn['protocol']}, {drawn['hops']} hops, {rings}; {drawn['traversal'] * 1e3:g} ms a hop"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Sum over the rings."""
        rings = (drawn["start"], drawn["increment"], drawn["threshold"])
        requests, waited = ring_search(drawn["hops"], *rings, drawn["traversal"])
        return {"requests": float(requests), "wait_s": waited}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Search once; the time on the air of the last ring is measured on a search without others."""
        places = [(200.0 * number, 0.0) for number in range(drawn["hops"] + 1)]
        # On a line nobody forwards beside another.
        common = {
            "profile": "rfc",
            "jitter": "0 s",
            "node_traversal_time": f"{drawn['traversal']} s",
            "ttl_threshold": drawn["threshold"],
            "ttl_increment": drawn["increment"],
        }

        def search(start: int) -> dict[str, Any]:
            routing = _aodv(drawn["protocol"], {**common, "ttl_start": start})
            return _packets(places, drawn["hops"], routing, seed).rows("routing")[0]

        rings, alone = search(drawn["start"]), search(30)
        took = rings["discovery_max_s"] - alone["discovery_max_s"]
        return {"requests": rings["requests"], "wait_s": took}


def _aodv(protocol: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"aodv": dict(settings)} if protocol == "aodv" else {"cr_aodv": {"aodv": dict(settings)}}


def _pairs(places: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in places]


def _packets(places: Places, destination: int, routing: Any, seed: int) -> Result:
    """Send a packet each 100 ms from the first node to another, after beacons have made neighbours known."""
    ends = {"from": "n0", "to": f"n{destination}"}
    data = {
        "name": "routes",
        "routing": routing,
        "run": {"duration": "30 s"},
        "topology": {
            "ad_hoc": {
                "nodes": len(places),
                "placement": {"positions": [[f"{x} m", f"{y} m"] for x, y in shifted(places)]},
            }
        },
        "area": area(places),
        "mac": {"rate": "1 Mbit/s", "basic_rate": "1 Mbit/s"},
        "phy": {"range": f"{_RANGE} m", "carrier_sense_range": "550 m"},
        "udp": [{**ends, "size": "100 B", "pattern": {"constant": "8 kbit/s"}, "start": "5 s"}],
    }
    return run(Scenario.from_dict(data), seed, "summary")
