"""Prague and DCTCP alone over a queue that marks from a step on, beside their fixed points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families import one_flow
from cogtcp.kernel.validation.families.family import logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PACKET, PAYLOAD, Link
from cogtcp.kernel.validation.fixed_points import scalable_marks

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Windows in packets up to which a case reaches its fixed point: a larger window grows for minutes, by a
#: packet a round trip.
_MOST_WINDOW = 1200
#: Prague's virtual round-trip time in s: below it growth and decrease do not happen once a round trip.
_VIRTUAL = 0.025


class Prague(one_flow.Alone):
    """Prague alone over DualPI2: the link is full."""

    name = "prague"
    bands: ClassVar = {"utilisation": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rate and round-trip time from the whole range; again where the window is too large."""
        while True:
            rate = three_digits(logarithmic(stream, 5e6, 1e9))
            rtt = three_digits(logarithmic(stream, 0.002, 0.2))
            if Link(rate, rtt).product <= _MOST_WINDOW:
                return {"rate": rate, "rtt": rtt}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Say what L4S promises: a full link (RFC 9330 section 3)."""
        return {"utilisation": 1.0}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over a step of 1 ms, or of two packets (RFC 9332 appendix A.1)."""
        link, step = _over_dualpi2(drawn)
        window = link.product + step * drawn["rate"] / 8 / PACKET
        return _measured("prague", link, window)


class PragueMarks(Prague):
    """Prague with a round-trip time above the virtual one: the share of marks too."""

    name = "prague-marks"
    bands: ClassVar = {"utilisation": 0.05, "marked": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw a window of 40 packets or more, and a round-trip time of 25 to 200 ms."""
        rtt = three_digits(logarithmic(stream, _VIRTUAL, 0.2))
        window = logarithmic(stream, 40, _MOST_WINDOW)
        return {"rate": three_digits(window * 8 * PACKET / rtt), "rtt": rtt}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Solve for the fixed point."""
        link, step = _over_dualpi2(drawn)
        window = link.product + step * drawn["rate"] / 8 / PACKET
        return {"utilisation": 1.0, "marked": scalable_marks(window)}


class Dctcp(one_flow.Alone):
    """DCTCP alone over a queue that marks from a threshold on: the share of marks, and a full link."""

    name = "dctcp"
    bands: ClassVar = {"utilisation": 0.05, "marked": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw windows of 40 packets or more, and thresholds above a seventh of the product.

        Below, the queue runs empty (Alizadeh et al. 2010, equation 13).
        """
        rtt = three_digits(logarithmic(stream, 0.0002, 0.02))
        window = logarithmic(stream, 40, _MOST_WINDOW / 2)
        threshold = round(window * stream.uniform(0.2, 1)) + 2
        return {"rate": three_digits(window * 8 * PACKET / rtt), "rtt": rtt, "threshold": threshold}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{super().told(drawn)}, marks from {drawn['threshold']} packets on"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Solve for the fixed point.

        More than `threshold` wait before a marked packet, and one is being sent. Linux's window does not grow
        in the round trip after a reduction (`tcp_cong_control`), nor does the next one show growth yet.
        """
        window = Link(drawn["rate"], drawn["rtt"]).product + drawn["threshold"] + 2
        return {"utilisation": 1.0, "marked": scalable_marks(window, held=1)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it over RED whose average is the queue itself."""
        step = float(drawn["threshold"])
        red = {
            "min_threshold": step,
            "max_threshold": step + 0.5,
            "max_probability": 1.0,
            "weight": 1.0,
            # Marks up to twice the threshold; without it such packets are dropped.
            "gentle": True,
            "limit": 100_000,
        }
        link = Link(drawn["rate"], drawn["rtt"], {"red": red})
        # Segments leave one by one: bursts of an offload make waves in the queue, whose crests alone are
        # marked.
        # Slow start ends before RED drops, at twice the threshold.
        start = f"{round(link.product + step / 2)} segments"
        tcp = {"congestion": "dctcp", "recovery": "sack", "ecn": "accurate", "initial_ssthresh": start}
        return _measured("newreno", link, link.product + step, least_rtt=0.0, tcp=tcp)


class PragueGrowth(one_flow.Alone):
    """Prague before the link is full: a segment a round trip."""

    name = "prague-growth"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw rates and round-trip times whose windows are too large for `prague`."""
        while True:
            rate = three_digits(logarithmic(stream, 1e8, 1e9))
            rtt = three_digits(logarithmic(stream, _VIRTUAL, 0.2))
            if Link(rate, rtt).product > _MOST_WINDOW:
                return {"rate": rate, "rtt": rtt}

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the growth of goodput over 50 round trips: 50 segments a round trip."""
        return {"goodput_bps": 50 * 8 * PAYLOAD / drawn["rtt"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Measure one round of 50 round trips, and the next."""
        link, rtt = _over_dualpi2(drawn)[0], drawn["rtt"]
        first, second = (
            one_flow.saturated("prague", link, warm_up=rounds * rtt, measured=50 * rtt) for rounds in (40, 90)
        )
        return {"goodput_bps": one_flow.goodput_bps(second) - one_flow.goodput_bps(first)}


def _over_dualpi2(drawn: Mapping[str, Any]) -> tuple[Link, float]:
    step = max(0.001, 2 * 8 * PACKET / drawn["rate"])
    return Link(drawn["rate"], drawn["rtt"], {"dualpi2": {"step": f"{step * 1e9:.0f} ns"}}), step


def _measured(
    transport: str,
    link: Link,
    window: float,
    *,
    least_rtt: float = _VIRTUAL,
    tcp: Mapping[str, Any] | None = None,
) -> dict[str, float]:
    """Return the measures after the window has grown from half of it, and over some cycles."""
    rtt = max(link.rtt, least_rtt) + (window - link.product) * 8 * PACKET / link.rate
    # alpha and the window settle; then ten cycles or more.
    warm_up = min(5, 400 * rtt) + 0.75 * window * rtt
    measured = min(max(10, 200 * rtt), 800 * rtt)
    result = one_flow.saturated(transport, link, warm_up=warm_up, measured=measured, tcp=tcp)
    row = one_flow.forward(result)
    return {
        "utilisation": one_flow.utilisation(result, link),
        "marked": row["marked_packets"] / row["delivered_packets"],
    }
