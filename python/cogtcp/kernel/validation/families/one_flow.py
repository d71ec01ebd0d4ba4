"""One saturated flow over one link, for cases with a closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.validation.families.family import Family
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.model.result import Result

#: Bytes of payload and of a whole packet.
PAYLOAD, PACKET = 1460, 1500


@dataclass(frozen=True)
class Link:
    """A link as a seed draws it: rate in bit/s, round-trip time in s, the scenario's queue and other keys."""

    rate: float
    rtt: float
    queue: Any = "1000000 packets"
    more: Mapping[str, Any] | None = None

    @property
    def product(self) -> float:
        """Bandwidth-delay product in packets."""
        return self.rate * self.rtt / 8 / PACKET


def saturated(
    transport: str,
    link: Link,
    *,
    warm_up: float,
    measured: float,
    seed: int = 1,
    tcp: Mapping[str, Any] | None = None,
    radio: Mapping[str, Any] | None = None,
    train: Mapping[str, Any] | None = None,
) -> Result:
    """Run one flow that always has data; each segment is acknowledged, and no receive window limits.

    Args:
        transport: Its transport.
        link: Its link.
        warm_up: Seconds before the measured span.
        measured: Seconds of the measured span.
        seed: Of the run.
        tcp: More of the scenario's `[tcp]`.
        radio: The radio of the link, if it has one.
        train: Its mobile router, if it has one.
    """
    data: dict[str, Any] = {
        "name": "one-flow",
        "run": {"duration": f"{warm_up + measured:.6f} s", "warmup": f"{warm_up:.6f} s"},
        "tcp": {
            "delayed_ack": "off",
            "segment_size": f"{PAYLOAD} B",
            "receive_buffer": "1 GiB",
            **(tcp or {}),
        },
        "topology": {
            "single_hop": {
                "link": {
                    "rate": f"{link.rate:.0f} bit/s",
                    "delay": f"{link.rtt / 2 * 1e3:g} ms",
                    "queue": link.queue,
                    **(link.more or {}),
                }
            }
        },
        "flow": [{"from": "sender", "to": "receiver", "transport": transport}],
    }
    if radio:
        data["radio"] = [{"name": "radio", "links": ["link"], **radio}]
    if train:
        data["train"] = dict(train)
    return run(Scenario.from_dict(data), seed, "summary")


def goodput_bps(result: Result) -> float:
    """Return the goodput of the flow, in bit/s."""
    return float(result.rows("flows")[0]["goodput_bps"])


def utilisation(result: Result, link: Link) -> float:
    """Return the flow's goodput over the payload that the link can carry."""
    return goodput_bps(result) / link.rate * PACKET / PAYLOAD


def forward(result: Result) -> Mapping[str, Any]:
    """Return the row of the link's data direction."""
    return next(row for row in result.rows("links") if row["direction"] == "forward")


def waited_s(result: Result) -> float:
    """Return the mean time that a data packet of the flow waited in queues, s."""
    return float(result.rows("flows")[0]["queuing_delay_mean_s"])


def in_words(drawn: Mapping[str, Any]) -> str:
    """Return rate and round-trip time in words."""
    return f"{drawn['rate'] / 1e6:g} Mbit/s, RTT {drawn['rtt'] * 1e3:g} ms"


class Alone(Family):
    """One flow over one link of drawn rate and round-trip time, beside theory; nothing in it is random."""

    peer = "theory"
    is_random = False

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return in_words(drawn)
