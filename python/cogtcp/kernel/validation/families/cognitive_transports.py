"""TP-CRAHN and TFRC-CR beside their rules: under loss, after a change of channel, in a pause."""

from __future__ import annotations

import itertools
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation import closed_forms, fixed_points
from cogtcp.kernel.validation.families import one_flow
from cogtcp.kernel.validation.families.family import logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PAYLOAD, Alone, Link
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from cogtcp.model.result import Result, Trace

#: Round trips that are measured after a change of channel.
_GROWING = 20


class TpCrahn(Alone):
    """TP-CRAHN that loses each n-th packet: NewReno's saw-tooth; and its window after a change of channel."""

    name = "tp-crahn"
    bands: ClassVar = {"goodput_bps": 0.03, "ratio": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw losses, round-trip time, both channels' rates and the share of the product that is taken."""
        while True:
            drawn = {
                "packets_per_loss": round(logarithmic(stream, 200, 5000)),
                "rtt": three_digits(logarithmic(stream, 0.02, 0.2)),
                # Of the product of the new channel: long beside the growth in the rounds that are measured.
                "window": round(logarithmic(stream, 200, 1000)),
                "slower": three_digits(stream.uniform(0.2, 0.9)),
                "is_faster_first": stream.random() < 0.5,
                "utilisation": round(stream.uniform(0.3, 0.9), 2),
            }
            # On the slower channel the window stays below the product: no queue makes the RTT longer.
            if drawn["utilisation"] + 40 / drawn["window"] / drawn["slower"] < 0.95:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        order = "to the slower" if drawn["is_faster_first"] else "to the faster"
        channels = f"channels of {drawn['slower']:g} to 1, {order}"
        losses = f"1 loss in {drawn['packets_per_loss']} packets, RTT {drawn['rtt'] * 1e3:g} ms"
        return f"{losses}; {channels} with {drawn['window']} packets, a {drawn['utilisation']:g}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the saw-tooth; the window is a W' RTT' and grows by a segment a round trip."""
        grown = (2 + _GROWING / 2) / drawn["window"]
        return {
            "goodput_bps": closed_forms.sawtooth_goodput_bps(
                PAYLOAD, drawn["rtt"], drawn["packets_per_loss"]
            ),
            "ratio": min(drawn["utilisation"] + grown, 1),
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number; then, elsewhere, let a primary user take the first channel."""
        every, rtt = drawn["packets_per_loss"], drawn["rtt"]
        cycle = every * 8 * PAYLOAD / self.theirs(drawn, seed)["goodput_bps"]
        drops = [200 + every * number for number in range(60)]
        link = Link(1e9, rtt, more={"drops": drops})
        result = one_flow.saturated("tp-crahn", link, warm_up=10 * cycle, measured=30 * cycle)
        return {"goodput_bps": one_flow.goodput_bps(result), "ratio": self._after_change(drawn, seed)}

    def _after_change(self, drawn: Mapping[str, Any], seed: int) -> float:
        """Return the share of the new channel that is used in the round trips after the change."""
        rtt = drawn["rtt"]
        new = drawn["window"] * 8 * PAYLOAD / rtt
        old = new / drawn["slower"] if drawn["is_faster_first"] else new * drawn["slower"]
        changes = 60 * rtt
        if drawn["is_faster_first"]:
            channels, busy = (old, new), [(1, changes, 1e6)]
        else:
            # A node tells the rate of a channel when it moves there: it comes from the faster one.
            channels, busy = (new, old), [(1, changes / 2, changes - rtt), (2, changes, 1e6)]
        data = _with_channels(
            {"tp-crahn": {"utilisation": drawn["utilisation"]}},
            rtt,
            channels,
            # A lost packet ends slow start: the window then stays below the product of both channels.
            {"drops": [20]},
            warm_up=changes + 3 * rtt,
            measured=_GROWING * rtt,
        )
        (row,) = _run_with_busy(data, busy, seed, "summary").rows("flows")
        return float(row["goodput_bps"] / new)


class TfrcCr(Alone):
    """TFRC-CR: the equation where packets are lost; and a pause for a primary user, its polls and its end."""

    name = "tfrc-cr"
    bands: ClassVar = {"goodput_bps": 0.03, "packets_per_s": 0.05, "wait_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw losses, round-trip time, the primary user's time and the wait after its departure."""
        return {
            "packets_per_loss": round(logarithmic(stream, 60, 1000)),
            "rtt": three_digits(logarithmic(stream, 0.02, 0.1)),
            "on": three_digits(stream.uniform(4, 20)),
            "wait": three_digits(stream.uniform(2.5, 10)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        losses = f"1 loss in {drawn['packets_per_loss']} packets, RTT {drawn['rtt'] * 1e3:g} ms"
        return f"{losses}; a primary user for {drawn['on']:g} s, {drawn['wait']:g} s of wait"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Evaluate the equation of RFC 5348; poll once a round trip; restart after the wait.

        The polls are A + 4 sigma apart, and no queue makes the round-trip time vary. A restart sends one
        packet and, once it is answered, a window (RFC 5348 section 4.2). The window arrives one and a
        half round trips after the wait.
        """
        share = 1 / drawn["packets_per_loss"]
        rate = fixed_points.tfrc_rate_bps(PAYLOAD, drawn["rtt"], share) * (1 - share)
        return {
            "goodput_bps": rate,
            "packets_per_s": 1 / drawn["rtt"],
            "wait_s": drawn["wait"] + 1.5 * drawn["rtt"],
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Lose packets by their number until the primary user comes; watch what arrives after it."""
        every, rtt, wait = drawn["packets_per_loss"], drawn["rtt"], drawn["wait"]
        cycle = every * 8 * PAYLOAD / self.theirs(drawn, seed)["goodput_bps"]
        drops = [200 + every * number for number in range(500)]
        comes = 60 * cycle
        leaves = comes + drawn["on"]
        data = _with_channels(
            {"tfrc-cr": {"wait_after_departure": f"{wait} s"}},
            rtt,
            (1e9,),
            {"drops": drops},
            warm_up=20 * cycle,
            measured=40 * cycle + drawn["on"] + wait + 10 * rtt,
        )
        data["run"]["sample_interval"] = f"{rtt / 10:.9f} s"
        samples = _run_with_busy(data, [(1, comes, leaves)], seed, "series").rows("flow_series")
        packets = [(row["time_s"], row["goodput_bps"] * rtt / 10 / 8 / PAYLOAD) for row in samples]
        # What waited for the primary user to leave arrives within a round trip.
        begins, ends = leaves + 2 * rtt, leaves + wait - rtt
        polls = sum(count for time, count in packets if begins < time <= ends)
        before = sum(count for time, count in packets if 20 * cycle < time <= comes)
        # A second packet within less than half of a round trip: the window.
        arrivals = [time for time, count in packets if time > begins for _ in range(round(count))]
        pairs = (first for first, second in itertools.pairwise(arrivals) if second - first < rtt / 2)
        window = next(pairs, math.inf)
        return {
            "goodput_bps": 8 * PAYLOAD * before / (comes - 20 * cycle),
            "packets_per_s": polls / (ends - begins),
            "wait_s": window - leaves,
        }


def _with_channels(
    transport: Mapping[str, Any],
    rtt: float,
    channels: Sequence[float],
    link: Mapping[str, Any],
    *,
    warm_up: float,
    measured: float,
) -> dict[str, Any]:
    """Return one flow over a radio that senses each millisecond without error."""
    return {
        "name": "channels",
        "run": {"duration": f"{warm_up + measured:.9f} s", "warmup": f"{warm_up:.9f} s"},
        "tcp": {"segment_size": f"{PAYLOAD} B"},
        "topology": {
            "single_hop": {
                "link": {
                    "rate": f"{max(channels):.0f} bit/s",
                    "delay": f"{rtt / 2:.9f} s",
                    "queue": "1000000 packets",
                    **link,
                }
            }
        },
        "spectrum": {
            "bands": len(channels),
            "channels": {"list": [f"{rate:.0f} bit/s" for rate in channels]},
        },
        "radio": [
            {
                "name": "cr",
                "links": ["link"],
                "cr": {
                    "access": "none",
                    "detector": "perfect",
                    "policy": "round_robin" if len(channels) > 1 else "sticky",
                    "sensing_time": "10 us",
                    "transmission_time": "1 ms",
                    "transmit_power": "1000 W",
                },
            }
        ],
        "flow": [{"from": "sender", "to": "receiver", "transport": dict(transport)}],
    }


def _run_with_busy(
    data: dict[str, Any], busy: Sequence[tuple[int, float, float]], seed: int, trace: Trace
) -> Result:
    """Run a scenario in which channels, numbered from 1, have a primary user from one time to another, s."""
    # Loud enough to be sensed, and far too faint to destroy a packet before it is.
    lines = [f"<{number}, 0, 250, {band}, 0.2818>" for number, (band, _, _) in enumerate(busy, 1)]
    lines += [f"<{number}, {begin:.9f}, {end:.9f}>" for number, (_, begin, end) in enumerate(busy, 1)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "users.log"
        log.write_text("\n".join(lines) + "\n", "utf-8")
        spectrum = {**data["spectrum"], "pu": {"pu_log": str(log)}}
        return run(Scenario.from_dict({**data, "spectrum": spectrum}), seed, trace)
