"""Address resolution in ad hoc networks, beside exchanges that are counted and added by hand."""

from __future__ import annotations

import itertools
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from cogtcp.model.result import Result

_SECONDS = 400
#: When sources begin, s.
_START = 1.0
#: Payload of a datagram, bytes, and its bits.
_PAYLOAD = 100
_BITS = 8 * _PAYLOAD


def resolutions(hops: int, packets: Sequence[tuple[float, bool]], lifetime: float, learns: str) -> int:
    """Return how many requests are sent on a line of nodes, each of which is answered (RFC 826).

    Args:
        hops: Of each packet.
        packets: Times in ascending order, s, and whether the packet goes from the last node to the first.
        lifetime: How long an address is good, s.
        learns: From whom: `merge` (RFC 826: who is asked; others renew what they know), `all` who hear a
            request, or `replies` alone.
    """
    good_until: dict[tuple[int, int], float] = {}
    requests = 0
    for now, is_back in packets:
        path = range(hops, -1, -1) if is_back else range(hops + 1)
        for node, to in itertools.pairwise(path):
            if good_until.get((node, to), 0.0) > now:
                continue
            requests += 1
            good_until[node, to] = now + lifetime
            for other in (node - 1, node + 1):
                is_known = good_until.get((other, node), 0.0) > now
                if learns == "all" or (learns == "merge" and (other == to or is_known)):
                    good_until[other, node] = now + lifetime
    return requests


class Arp(Family):
    """Sparse packets on a line of nodes, one way or both, whose addresses are good for a while."""

    name = "arp"
    peer = "theory"
    bands: ClassVar = {"requests": 0.05, "wait_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw line, packets and MAC, how long an address is good, and from whom it is learned.

        Again where an address becomes old within 20 ms of a packet: such a packet meets it by chance.
        """
        while True:
            rate = round(logarithmic(stream, 800, 4000))
            gap = _BITS / rate
            drawn: dict[str, Any] = {
                "hops": stream.randint(1, 4),
                # Bit/s of payload: a packet each 0.2 to 1 s.
                "rates": [rate] * stream.randint(1, 2),
                # Those back come in between: a collision of requests costs the second until the next.
                "later": round(gap * stream.uniform(0.2, 0.8), 3),
                "lifetime": three_digits(gap * stream.uniform(0.3, 4)),
                "learns": stream.choice(["merge", "all", "replies"]),
                "rate": stream.choice([1e6, 2e6, 5.5e6, 11e6]),
                "cw_min": stream.choice([15, 31, 63]),
                "slot": stream.choice([9e-6, 2e-5]),
            }
            apart = (0.0, drawn["later"], -drawn["later"])
            if all(abs(math.remainder(drawn["lifetime"] - it, gap)) > 0.02 for it in apart):
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        gap = f"{_BITS / drawn['rates'][0]:.3g} s"
        back = f", back {drawn['later'] * 1e3:g} ms later" if len(drawn["rates"]) > 1 else ""
        window = f"CW {drawn['cw_min']} slots of {drawn['slot'] * 1e6:g} us"
        arp = f"good for {drawn['lifetime']:g} s, {drawn['learns']}"
        hops = "1 hop" if drawn["hops"] == 1 else f"{drawn['hops']} hops"
        return f"{hops} at {drawn['rate'] / 1e6:g} Mbit/s, {window}; packets each {gap}{back}; {arp}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Count the exchanges, and add the spans of one (IEEE 802.11).

        The request goes as soon as the data would have gone. The reply waits for DIFS. The data waits for
        DIFS and the backoff that follows the request.
        """
        packets = sorted(
            (_START + number * _BITS / rate + which * drawn["later"], bool(which))
            for which, rate in enumerate(drawn["rates"])
            for number in range(round((_SECONDS - _START) * rate / _BITS))
        )
        sifs, preamble, flight, octets = 1e-5, 192e-6, 1e-6, 8 * (28 + 28)
        difs = sifs + 2 * drawn["slot"]
        request = preamble + octets / 1e6 + flight
        reply = difs + preamble + octets / drawn["rate"] + flight
        answer = sifs + preamble + 8 * 14 / 1e6
        return {
            "requests": float(resolutions(drawn["hops"], packets, drawn["lifetime"], drawn["learns"])),
            "wait_s": request + reply + answer + difs + drawn["cw_min"] / 2 * drawn["slot"],
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Subtract the delays with known addresses."""
        mac = {
            "rate": f"{drawn['rate']:.0f} bit/s",
            "cw_min": drawn["cw_min"],
            "slot": f"{drawn['slot'] * 1e6:g} us",
        }
        arp = {"protocol": "rfc826", "lifetime": f"{drawn['lifetime']} s", "learns": drawn["learns"]}
        places = [(200.0 * number, 0.0) for number in range(drawn["hops"] + 1)]
        asked, known = (
            _line(
                {**mac, "arp": it},
                {"placement": _placed(places)},
                len(places),
                drawn["rates"],
                seed,
                drawn["later"],
            )
            for it in (arp, {"protocol": "none"})
        )
        requests = asked.rows("routing")[0]["arp"] / 2
        return {"requests": requests, "wait_s": (_waited(asked) - _waited(known)) / requests}


class ArpUnanswered(Family):
    """Packets for a neighbour that has gone: requests, and packets that find no room to wait."""

    name = "arp-unanswered"
    peer = "theory"
    bands: ClassVar = {"requests": 0.03, "dropped": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the settings; an interval of 0 s lets each packet ask, as in ns-2."""
        while True:
            drawn = {
                "rates": [round(logarithmic(stream, _BITS, 20 * _BITS))],
                "requests": stream.randint(1, 5),
                "interval": stream.choice([0.0, three_digits(stream.uniform(0.2, 2))]),
                "held": stream.randint(0, 4),
                "drops": stream.choice(["oldest", "newest"]),
                "dead": stream.choice([0.0, three_digits(stream.uniform(1, 20))]),
            }
            if self.theirs(drawn, 0)["dropped"] > 0.01:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        asks = f"each {drawn['interval']:g} s" if drawn["interval"] else "by each packet"
        dead = f"dead for {drawn['dead']:g} s"
        waits = f"{drawn['held']} wait ({drawn['drops']} dropped)"
        gap = _BITS / drawn["rates"][0]
        return f"a packet each {gap:.3g} s; {drawn['requests']} requests {asks}; {waits}, {dead}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Count from packet to packet: a search holds what there is room for, and ends with what it holds."""
        gap = _BITS / drawn["rates"][0]
        packets = [_START + number * gap for number in range(round((_SECONDS - _START) / gap))]
        requests = full = asked = 0
        search_ends = dead_until = first = 0.0
        held: int | None = None
        for now in packets:
            if held is not None and drawn["interval"] and now >= search_ends:
                held, dead_until = None, search_ends + drawn["dead"]
            if now < dead_until:
                continue
            if held is None:
                held, asked, first = 0, 0, now
                search_ends = first + drawn["requests"] * drawn["interval"]
            if not drawn["interval"] and asked == drawn["requests"]:
                # The packet that asks in vain is lost with those that wait.
                held = None
                continue
            asked += 1
            full += held == drawn["held"]
            held = min(held + 1, drawn["held"])
            if not drawn["interval"]:
                requests += 1
            elif asked == 1:
                # All of a search, as far as the run lasts.
                times = (first + number * drawn["interval"] for number in range(drawn["requests"]))
                requests += sum(time < _SECONDS for time in times)
        return {"requests": float(requests), "dropped": full / len(packets)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Let the neighbour leave before the first packet; static routing does not look again."""
        arp = {
            "protocol": "rfc826",
            "requests": drawn["requests"],
            "retry_interval": f"{drawn['interval']} s",
            "held_packets": drawn["held"],
            "drops": drawn["drops"],
            "dead_time": f"{drawn['dead']} s",
            # Routing keeps the route.
            "breaks_link": False,
        }
        with tempfile.TemporaryDirectory() as folder:
            moves = Path(folder) / "moves.tcl"
            moves.write_text(_LEAVING, "utf-8")
            nodes = {"mobility": {"trace": str(moves)}, "location_interval": "100000 s"}
            result = _line({"rate": "1 Mbit/s", "arp": arp}, nodes, 2, drawn["rates"], seed)
        (source,) = result.rows("datagrams")
        full = sum(row["packets"] for row in result.rows("drops") if row["cause"] == "arp_full")
        return {
            "requests": float(result.rows("routing")[0]["arp"]),
            "dropped": full / source["sent_packets"],
        }


#: Node 1 leaves the range of node 0.
_LEAVING = "\n".join(
    [f"$node_({node}) set {axis}_ {200.0 * node * (axis == 'X')}" for node in (0, 1) for axis in "XYZ"]
    + ['$ns_ at 0.1 "$node_(1) setdest 1000.0 0.0 10000.0"\n']
)


def _placed(places: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {"positions": [[f"{x} m", f"{y} m"] for x, y in places]}


def _waited(result: Result) -> float:
    rows = result.rows("datagrams")
    return float(sum(row["received_packets"] * row["delay_mean_s"] for row in rows))


def _line(
    mac: Mapping[str, Any],
    nodes: Mapping[str, Any],
    count: int,
    rates: Sequence[int],
    seed: int,
    later: float = 0.0,
) -> Result:
    """Run datagrams from the first node to the last, and with a second rate back, so much later."""
    ends = [("n0", f"n{count - 1}"), (f"n{count - 1}", "n0")]
    data = {
        "name": "addresses",
        "routing": "static",
        "run": {"duration": f"{_SECONDS} s"},
        "topology": {"ad_hoc": {"nodes": count, **nodes}},
        "area": {"width": "1000 m", "height": "1000 m"},
        "mac": {"basic_rate": "1 Mbit/s", "rts_threshold": "3 kB", **mac},
        "phy": {"range": "250 m", "carrier_sense_range": "550 m"},
        "udp": [
            {
                "from": begin,
                "to": end,
                "size": f"{_PAYLOAD} B",
                "pattern": {"constant": f"{rate} bit/s"},
                "start": f"{_START + start:.3f} s",
            }
            for (begin, end), rate, start in zip(ends, rates, (0.0, later), strict=False)
        ],
    }
    return run(Scenario.from_dict(data), seed, "summary")
