"""QUIC's timers and persistent congestion beside schedules that follow from RFC 9002 by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from cogtcp.model.result import Result

#: Granularity of timers and the peer's max_ack_delay, s (RFC 9002 section 6.1.2, RFC 9000 section 18.2).
_GRANULARITY, _ACK_DELAY = 0.001, 0.025
#: UDP payload of a full packet, bytes; the initial window has ten of them (RFC 9002 section 7.2).
_DATAGRAM = 1472
#: What an application at a rate writes at once, bytes, and its two packets: a full one and a small one.
_WRITTEN, _WRITE = 1444, 1512


class QuicTimers(Family):
    """The tail of a transfer is lost, with its probes; or the packet before the last is."""

    name = "quic-timers"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.01}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the round-trip time, and which packets are lost."""
        return {
            "rtt": three_digits(logarithmic(stream, 0.01, 0.3)),
            "lost": stream.choice(["last", "last", "before"]),
            "probes": stream.randint(0, 5),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        rtt = f"RTT {drawn['rtt'] * 1e3:g} ms"
        if drawn["lost"] == "before":
            return f"{rtt}, the packet before the last is lost"
        return f"{rtt}, the last packet and {drawn['probes']} pairs of probes are lost"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return when a packet gets through after the last one.

        The packet before the last is lost 9/8 round-trip times after it left (section 6.1.2). Probes leave
        one PTO after the last packet, and then after two, four and so on (section 6.2.1). All samples are
        alike: RTTVAR is nothing.
        """
        rtt = drawn["rtt"]
        if drawn["lost"] == "before":
            return {"wait_s": 9 / 8 * rtt}
        return {"wait_s": _pto(rtt) * (2 ** (drawn["probes"] + 1) - 1)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Find the last packet with data, and lose it in a second run."""
        times, sizes = _sent(drawn["rtt"], [])
        # Later packets acknowledge, or close.
        last = max(number for number, size in enumerate(sizes) if size > 100)
        if drawn["lost"] == "before":
            again, _ = _sent(drawn["rtt"], [last])
            # Numbers of packets on a link count from 1.
            return {"wait_s": again[last + 1] - times[last - 1]}
        lost = range(last + 1, last + 2 + 2 * drawn["probes"])
        again, _ = _sent(drawn["rtt"], list(lost))
        return {"wait_s": again[lost[-1]] - times[last]}


class QuicOutage(Family):
    """The window after an outage that loses writes, or a write and its probes."""

    name = "quic-outage"
    peer = "theory"
    bands: ClassVar = {"cwnd": 0.01}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the round-trip time, and what is lost.

        Writes are closer than a probe timeout, so that no probe leaves, and far enough apart to be lost by
        time. All fit into the initial window.
        """
        # As often persistent congestion as not, in lengths of the limit.
        least, most = stream.choice([(0.7, 0.99), (1.01, 1.4)])
        while True:
            rtt = three_digits(logarithmic(stream, 0.01, 0.3))
            if stream.random() < 0.3:
                return {"rtt": rtt, "spacing": three_digits(20 * _pto(rtt)), "probes": stream.choice([1, 3])}
            writes = stream.randint(3, 8)
            spacing = three_digits(logarithmic(stream, least, most) * 3 * _pto(rtt) / (writes - 1))
            room = 10 * _DATAGRAM / _WRITE - writes - math.ceil(rtt / spacing)
            if 0.16 * rtt < spacing < 0.95 * _pto(rtt) and room >= 1:
                return {"rtt": rtt, "spacing": spacing, "writes": writes}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        if "probes" in drawn:
            lost = f"a write and {drawn['probes']} pairs of probes"
        else:
            lost = f"{drawn['writes']} writes {drawn['spacing'] * 1e3:g} ms apart"
        return f"RTT {drawn['rtt'] * 1e3:g} ms, {lost} are lost"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the window in datagrams after the loss.

        Two where the lost packets span more than three probe timeouts (section 7.6), else five (section
        7.3.2). It was ten all along, as the application does not fill it (section 7.8). Probes leave one,
        three and seven probe timeouts after the write.
        """
        if "probes" in drawn:
            span = (2 ** drawn["probes"] - 1) * _pto(drawn["rtt"])
        else:
            span = (drawn["writes"] - 1) * drawn["spacing"]
        return {"cwnd": 2.0 if span > 3 * _pto(drawn["rtt"]) else 5.0}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Find the packets of a write that comes late in a run, and lose them in a second run."""
        full = [number for number, size in enumerate(_sizes(_written(drawn, []))) if size > _DATAGRAM]
        # Ninety samples leave nothing of the handshake's RTTVAR. Numbers of packets on a link count from 1.
        first = full[90] + 1
        count = 2 + 2 * drawn.get("probes", drawn.get("writes", 0) - 1)
        events = _written(drawn, list(range(first, first + count))).rows("events")
        segments = next(row["value"] for row in events if row["kind"] == "loss")
        return {"cwnd": segments * _WRITTEN / _DATAGRAM}


def _pto(rtt: float) -> float:
    """Return the probe timeout where all samples are alike, s (RFC 9002 section 6.2.1)."""
    return rtt + _GRANULARITY + _ACK_DELAY


def _written(drawn: Mapping[str, Any], drops: list[int]) -> Result:
    traffic = {"rate": f"{8 * _WRITTEN / drawn['spacing']:.0f} bit/s"}
    return _run(drawn["rtt"], drops, duration=120 * drawn["spacing"], traffic=traffic)


def _sent(rtt: float, drops: list[int]) -> tuple[list[float], list[int]]:
    """Return when packets left the sender, s, and their sizes in bytes: 200 kB in one stream."""
    result = _run(rtt, drops, duration=20 + 150 * rtt, traffic={"size": "200 kB"})
    return [row["time_s"] for row in _queued(result)], _sizes(result)


def _sizes(result: Result) -> list[int]:
    return [row["wire_bytes"] for row in _queued(result)]


def _queued(result: Result) -> list[Mapping[str, Any]]:
    return [
        row for row in result.rows("packets") if row["direction"] == "forward" and row["event"] == "queued"
    ]


def _run(rtt: float, drops: list[int], *, duration: float, traffic: Mapping[str, str]) -> Result:
    data = {
        "name": "quic-timers",
        "run": {"duration": f"{duration:.3f} s"},
        "topology": {
            "single_hop": {
                "link": {
                    "rate": "1 Gbit/s",
                    "delay": f"{rtt / 2 * 1e3:g} ms",
                    "queue": "10000 packets",
                    "drops": drops,
                }
            }
        },
        "flow": [{"from": "sender", "to": "receiver", "transport": "quic-quinn-newreno", "traffic": traffic}],
    }
    return run(Scenario.from_dict(data), 1, "packets")
