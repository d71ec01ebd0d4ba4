"""TCP's controls for cognitive radio beside their rules: C2's growth and rest, windows kept under loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation import fixed_points
from cogtcp.kernel.validation.families import one_flow
from cogtcp.kernel.validation.families.family import logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PACKET, PAYLOAD, Alone, Link

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: How long C2's growth is watched, in round trips.
_GROWING = 20


class C2(Alone):
    """TCP C2 alone: its growth from its share of the link on, and the queue at which it comes to rest."""

    name = "c2"
    bands: ClassVar = {"goodput_bps": 0.05, "wait_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the link, N, and beta; windows are long beside a round's growth."""
        while True:
            drawn = {
                "rate": three_digits(logarithmic(stream, 1e7, 3e8)),
                "rtt": three_digits(logarithmic(stream, 0.02, 0.2)),
                "flows": stream.randint(2, 5),
                "beta": round(stream.uniform(0.03, 0.15), 2),
            }
            # In the rounds watched no window reaches the product. Whole packets do not decide the queue.
            product = Link(drawn["rate"], drawn["rtt"]).product
            if 40 * drawn["flows"] ** 2 < product < 3000 and drawn["beta"] * product > 20:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{one_flow.in_words(drawn)}, N {drawn['flows']}, beta {drawn['beta']:g}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Follow Algorithm 2 of the paper.

        Growth begins at BW Dp / N with N segments a round trip. A flow that knows itself alone begins with
        the whole product and comes to rest a round trip after its queue has passed beta Dp.
        """
        link = Link(drawn["rate"], drawn["rtt"])
        product = link.product + 1
        window = product / drawn["flows"] + drawn["flows"] * (2 + _GROWING / 2)
        queue = fixed_points.c2_queue(product, drawn["rtt"], drawn["beta"])
        return {
            "goodput_bps": 8 * PAYLOAD * window / (drawn["rtt"] + 8 * PACKET / link.rate),
            "wait_s": queue * 8 * PACKET / link.rate,
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Measure from two round trips after slow start on; and a lone flow at rest."""
        link, rtt = Link(drawn["rate"], drawn["rtt"]), drawn["rtt"] + 8 * PACKET / drawn["rate"]
        # A round trip of handshake, doubling from one segment on, and half a round trip to the receiver.
        rounds = 3.5 + math.ceil(math.log2(link.product / drawn["flows"]))
        among = {"n_source": "parameter", "flows": drawn["flows"], "beta": drawn["beta"], "t_w": 1000}
        growing = one_flow.saturated(
            "c2", link, warm_up=rounds * rtt, measured=_GROWING * rtt, tcp={"parameters": among}
        )
        # A queue that grows by its own growth is no rival's: no slope leads to competition.
        alone = {"parameters": {"beta": drawn["beta"], "slope_windows": 1000}}
        rest = one_flow.saturated("c2", link, warm_up=60, measured=10, tcp=alone)
        return {"goodput_bps": one_flow.goodput_bps(growing), "wait_s": one_flow.waited_s(rest)}


class Atcp(Alone):
    """ATCP whose losses come one by one: the window stays, and a repair takes a round trip."""

    name = "atcp"
    bands: ClassVar = {"goodput_bps": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the window, the round trips from loss to loss, and the round-trip time."""
        window = round(logarithmic(stream, 10, 1000))
        return {
            "window": window,
            "packets_per_loss": round(window * stream.uniform(4, 40)),
            "rtt": three_digits(logarithmic(stream, 0.02, 0.3)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        losses = f"1 loss in {drawn['packets_per_loss']} packets"
        return f"window {drawn['window']}, {losses}, RTT {drawn['rtt'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Send a whole window in each round trip but the repair's, in which the receiver's window is full.

        The repair begins with the third duplicate ACK. TCP would send half of a window after it.
        """
        every, window = drawn["packets_per_loss"], drawn["window"]
        round_trip = drawn["rtt"] + 8 * PACKET / _spreading_bps(drawn)
        rounds = every / window + 1 + 3 / window
        return {"goodput_bps": 8 * PAYLOAD * every / rounds / round_trip}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number."""
        return self._lossy(drawn)

    def _lossy(
        self,
        drawn: Mapping[str, Any],
        tcp: Mapping[str, Any] | None = None,
        radio: Mapping[str, Any] | None = None,
    ) -> dict[str, float]:
        every, window, rtt = drawn["packets_per_loss"], drawn["window"], drawn["rtt"]
        cycle = (every / window + 1) * rtt
        drops = [4 * window + every * number for number in range(130)]
        result = one_flow.saturated(
            self.name,
            Link(_spreading_bps(drawn), rtt, more={"drops": drops}),
            warm_up=20 * cycle,
            measured=100 * cycle,
            tcp={"max_window": f"{window} segments", **(tcp or {})},
            radio=radio,
        )
        return {"goodput_bps": one_flow.goodput_bps(result)}


def _spreading_bps(drawn: Mapping[str, Any]) -> float:
    """Return a rate hardly above a window in a round trip: its packets are spread over it."""
    return float(1.02 * 8 * PACKET * drawn["window"] / drawn["rtt"])


class Satcp(Atcp):
    """A SaTCP-like CUBIC that goes by a report of an outage: the window stays, as in ATCP."""

    name = "satcp"

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number, after an outage of a millisecond whose report holds to the end."""
        outage = {"sensing": {"off": "1 ms", "on": "1000000 s", "start": "1 ms"}}
        return self._lossy(drawn, {"parameters": {"extension": 3600}}, outage)
