"""Congestion controls alone on a link, beside what their RFCs and papers say they do there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation import fixed_points
from cogtcp.kernel.validation.families import one_flow
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PACKET, PAYLOAD, Link

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping


class _Alone(one_flow.Alone):
    """A link of 2 to 100 Mbit/s and 10 to 200 ms."""

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rate and round-trip time."""
        return {
            "rate": three_digits(logarithmic(stream, 2e6, 1e8)),
            "rtt": three_digits(logarithmic(stream, 0.01, 0.2)),
        }

    def measured(self, transport: str, link: Link, **span: Any) -> dict[str, float]:
        """Run a transport over a link and return what is compared."""
        result = one_flow.saturated(transport, link, **span)
        found = {"utilisation": one_flow.utilisation(result, link), "wait_s": one_flow.waited_s(result)}
        return {name: found[name] for name in self.bands}


class Ledbat(_Alone):
    """LEDBAT alone holds its target of 100 ms in the queue (RFC 6817 section 2.4.2)."""

    name = "ledbat"
    bands: ClassVar = {"utilisation": 0.05, "wait_s": 0.05}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return a full link and the target."""
        return {"utilisation": 1.0, "wait_s": 0.1}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it until the distance to the target has fallen to 1 %."""
        link = Link(drawn["rate"], drawn["rtt"])
        # The delay grows by (1 - delay / target) packets a round trip: the constant is the target in packets.
        constant = 0.1 * drawn["rate"] / 8 / PACKET * (drawn["rtt"] + 0.1)
        return self.measured("ledbat", link, warm_up=20 + 5 * constant, measured=30)


class Copa(_Alone):
    """Copa alone: its queue moves between 0 and 2.5 / delta packets (Arun and Balakrishnan 2018)."""

    name = "copa"
    bands: ClassVar = {"utilisation": 0.05, "wait_s": 0.15}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw delta too, again where the queue would be longer than the product: round trips then vary."""
        while True:
            drawn = {**super().draw(stream), "delta": three_digits(logarithmic(stream, 0.05, 0.5))}
            if 2.5 / drawn["delta"] <= Link(drawn["rate"], drawn["rtt"]).product:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{super().told(drawn)}, delta {drawn['delta']:g}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return a full link and the mean of that queue (section 3 of the paper)."""
        return {"utilisation": 1.0, "wait_s": 1.25 / drawn["delta"] * 8 * PACKET / drawn["rate"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over a hundred oscillations of five round trips and more."""
        link = Link(drawn["rate"], drawn["rtt"])
        tcp = {"parameters": {"delta": drawn["delta"], "competitive": False}}
        return self.measured("copa", link, warm_up=20, measured=max(20, 500 * drawn["rtt"]), tcp=tcp)


class LedbatPlusPlus(_Alone):
    """LEDBAT++ alone uses nine tenths of the link or more (draft section 4.4)."""

    name = "ledbat-plus-plus"
    bands: ClassVar = {"utilisation": 0.055}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the middle between nine tenths and the whole."""
        return {"utilisation": 0.95}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over many slowdowns."""
        link = Link(drawn["rate"], drawn["rtt"])
        return self.measured("ledbat-plus-plus", link, warm_up=100, measured=300)


class Bbr(_Alone):
    """BBR version 1 alone: the link is full but for ProbeRTT."""

    name = "bbr1"
    bands: ClassVar = {"utilisation": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw a link whose product is 40 packets or more: below, whole packets decide."""
        while True:
            drawn = super().draw(stream)
            if Link(drawn["rate"], drawn["rtt"]).product >= 40:
                return drawn

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the share without ProbeRTT."""
        return {"utilisation": fixed_points.bbr1_utilisation(drawn["rtt"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over four periods of ProbeRTT."""
        link = Link(drawn["rate"], drawn["rtt"])
        return self.measured("bbr1", link, warm_up=25, measured=4 * (10.2 + drawn["rtt"]))


class Bbr3(Bbr):
    """BBR version 3 alone: paced 1 % below the rate, ProbeRTT at half of the product each 5 s."""

    name = "bbr"
    bands: ClassVar = {"utilisation": 0.05}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return what the margin and ProbeRTT leave (draft-ietf-ccwg-bbr sections 2.4 and 5.3.4)."""
        lost = 0.5 * (0.2 + drawn["rtt"])
        return {"utilisation": 0.99 * (1 - lost / (5.2 + drawn["rtt"]))}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it."""
        link = Link(drawn["rate"], drawn["rtt"])
        return self.measured("bbr", link, warm_up=20, measured=60)


class Westwood(_Alone):
    """Westwood+ alone behind drop-tail: a loss empties the queue and no more."""

    name = "westwood"
    bands: ClassVar = {"utilisation": 0.03, "wait_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw a queue of a fifth to two products too."""
        while True:
            drawn = super().draw(stream)
            product = Link(drawn["rate"], drawn["rtt"]).product
            queue = round(product * logarithmic(stream, 0.2, 2))
            if 10 <= queue <= 400:
                return {**drawn, "queue": queue}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{super().told(drawn)}, queue {drawn['queue']}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the mean queue of the saw-tooth."""
        queue = fixed_points.westwood_queue(Link(drawn["rate"], drawn["rtt"]).product, drawn["queue"])
        return {"utilisation": 1.0, "wait_s": queue * 8 * PACKET / drawn["rate"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over ten cycles."""
        link = Link(drawn["rate"], drawn["rtt"], f"{drawn['queue']} packets")
        cycle = drawn["queue"] * (drawn["rtt"] + drawn["queue"] * 8 * PACKET / drawn["rate"] / 2)
        warm_up = 20 + 3 * cycle + link.product * drawn["rtt"]
        return self.measured(self.name, link, warm_up=warm_up, measured=10 * cycle)


class WestwoodCompound(Westwood):
    """Westwood+ with Compound's growth: the link stays full, however the window grows."""

    name = "westwood-compound"
    bands: ClassVar = {"utilisation": 0.03}


class _LosesEach(one_flow.Alone):
    """A flow that loses each n-th packet."""

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"1 loss in {drawn['packets_per_loss']} packets, RTT {drawn['rtt'] * 1e3:g} ms"


class Cubic(_LosesEach):
    """CUBIC that loses each n-th packet, beside its response function (RFC 9438 section 5.1)."""

    name = "cubic"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw losses and round-trip times at which CUBIC's window is twice Reno's or more."""
        while True:
            every = round(logarithmic(stream, 3000, 60_000))
            rtt = three_digits(logarithmic(stream, 0.05, 0.3))
            if fixed_points.cubic_window(every, rtt) > 2 * (1.5 * every) ** 0.5:
                return {"packets_per_loss": every, "rtt": rtt}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate equation 6."""
        window = fixed_points.cubic_window(drawn["packets_per_loss"], drawn["rtt"])
        return {"goodput_bps": 8 * PAYLOAD * window / drawn["rtt"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number, from the fixed point on.

        The first loss comes at the window of the fixed point: at its plateau the cubic is flat, so that the
        window returns from elsewhere only after very many cycles. The equation has no fast convergence.
        """
        every, rtt = drawn["packets_per_loss"], drawn["rtt"]
        window = fixed_points.cubic_window(every, rtt) * 4 / 3.7
        cycle = every / fixed_points.cubic_window(every, rtt) * rtt
        drops = [int(window) + every * number for number in range(60)]
        link = Link(1e11, rtt, more={"drops": drops})
        tcp = {"parameters": {"fast_convergence": False}}
        result = one_flow.saturated("cubic", link, warm_up=4 * cycle, measured=20 * cycle, tcp=tcp)
        return {"goodput_bps": one_flow.goodput_bps(result)}


class Compound(_LosesEach):
    """Compound that loses each n-th packet, beside the sum of its rounds (Tan et al. 2006, section 3)."""

    name = "compound"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw losses at which the window stays above the low window, where the delay window works."""
        return {
            "packets_per_loss": round(logarithmic(stream, 2500, 60_000)),
            "rtt": three_digits(logarithmic(stream, 0.02, 0.3)),
        }

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the payload of a cycle over its rounds."""
        every, rtt = drawn["packets_per_loss"], drawn["rtt"]
        return {"goodput_bps": 8 * PAYLOAD * every / fixed_points.compound_rounds(every) / rtt}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number, after the slow start."""
        every, rtt = drawn["packets_per_loss"], drawn["rtt"]
        cycle = fixed_points.compound_rounds(every) * rtt
        drops = [200 + every * number for number in range(60)]
        link = Link(1e11, rtt, more={"drops": drops})
        result = one_flow.saturated("compound", link, warm_up=15 * cycle, measured=30 * cycle)
        return {"goodput_bps": one_flow.goodput_bps(result)}


class TfrcEquation(_LosesEach):
    """TFRC that loses each n-th packet, beside its throughput equation (RFC 5348 section 3.1)."""

    name = "tfrc-equation"
    bands: ClassVar = {"goodput_bps": 0.03}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw losses, each an event of its own, and the round-trip time."""
        return {
            "packets_per_loss": round(logarithmic(stream, 60, 5000)),
            "rtt": three_digits(logarithmic(stream, 0.02, 0.3)),
        }

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the equation, less what is lost."""
        share = 1 / drawn["packets_per_loss"]
        return {"goodput_bps": fixed_points.tfrc_rate_bps(PAYLOAD, drawn["rtt"], share) * (1 - share)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number."""
        every, rtt = drawn["packets_per_loss"], drawn["rtt"]
        cycle = every * 8 * PAYLOAD / fixed_points.tfrc_rate_bps(PAYLOAD, rtt, 1 / every)
        drops = [200 + every * number for number in range(100)]
        link = Link(1e9, rtt, more={"drops": drops})
        result = one_flow.saturated("tfrc", link, warm_up=20 * cycle, measured=40 * cycle)
        return {"goodput_bps": one_flow.goodput_bps(result)}


class RandomLoss(Family):
    """SACK where each packet is lost with the same probability, beside AIMD's rounds under chance."""

    name = "random-loss"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw loss, small enough for no timeout, and round-trip time."""
        return {
            "loss": three_digits(logarithmic(stream, 1e-4, 6e-4)),
            "rtt": three_digits(logarithmic(stream, 0.02, 0.2)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"loss {drawn['loss'] * 100:g} %, RTT {drawn['rtt'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the law."""
        window = fixed_points.random_loss_window(drawn["loss"])
        return {"goodput_bps": 8 * PAYLOAD * window / drawn["rtt"] * (1 - drawn["loss"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over 500 losses and more."""
        loss, rtt = drawn["loss"], drawn["rtt"]
        cycle = rtt / loss / fixed_points.random_loss_window(loss)
        link = Link(1e11, rtt, more={"loss": f"{loss * 100:g} %", "reverse_loss": "0 %"})
        result = one_flow.saturated(
            "sack", link, warm_up=20 * cycle, measured=max(500, 5e6 * loss) * cycle, seed=seed
        )
        return {"goodput_bps": one_flow.goodput_bps(result)}
