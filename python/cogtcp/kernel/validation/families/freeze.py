"""Freeze-TCP beside the time that its link is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PACKET, PAYLOAD, Link, goodput_bps, saturated

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Bytes of an ACK.
_ACK = 40
#: Outages before the measured span, and in it.
_BEFORE, _MEASURED = 3, 20


class Freeze(Family):
    """A saturated download, warned of each outage by the oracle (Goff and others 2000)."""

    name = "freeze"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the path, a receive window without a queue, the warning's lead and the outages."""
        drawn = {
            "rate": three_digits(logarithmic(stream, 1e6, 5e7)),
            "rtt": three_digits(logarithmic(stream, 0.02, 0.3)),
            "on": three_digits(logarithmic(stream, 5, 30)),
            "off": three_digits(logarithmic(stream, 0.2, 10)),
            "tu_advance": round(stream.uniform(1.2, 3), 1),
        }
        product = Link(drawn["rate"], drawn["rtt"]).product
        return {**drawn, "window": round(stream.uniform(0.2, 1) * product) + 1}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        path = f"{drawn['rate'] / 1e6:g} Mbit/s, RTT {drawn['rtt'] * 1e3:g} ms, window {drawn['window']}"
        outages = f"outages of {drawn['off']:g} s after each {drawn['on']:g} s"
        return f"{path}; {outages}, TU_advance {drawn['tu_advance']:g} RTT"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the windows that the source sends in a cycle, over its time.

        The source sends from half a round trip after the outage's end. It has a zero window half a round trip
        after the client is told, TU_advance ahead of the next outage. Meanwhile it sends a window each round
        trip, of the path and of a packet. Nothing is lost, and the window is at once what it was.
        """
        packets_per_s = drawn["rate"] / 8 / PACKET
        rtt = drawn["rtt"] + (1 + _ACK / PACKET) / packets_per_s
        rounds, left = divmod(drawn["on"] - drawn["tu_advance"] * rtt, rtt)
        packets = rounds * drawn["window"] + min(drawn["window"], left * packets_per_s)
        return {"goodput_bps": packets * PAYLOAD * 8 / (drawn["on"] + drawn["off"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it."""
        cycle = drawn["on"] + drawn["off"]
        result = saturated(
            "sack",
            Link(drawn["rate"], drawn["rtt"]),
            warm_up=_BEFORE * cycle,
            measured=_MEASURED * cycle,
            # The paper's source resumes with its window, however long the outage is.
            tcp={"receive_buffer": f"{drawn['window'] * PAYLOAD} B", "restart_after_idle": False},
            radio={"silence": "drop", "sensing": {"on": f"{drawn['on']} s", "off": f"{drawn['off']} s"}},
            train={"router": "receiver", "radio": "radio", "tu_advance": drawn["tu_advance"]},
        )
        return {"goodput_bps": goodput_bps(result)}
