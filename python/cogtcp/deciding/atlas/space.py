"""The space of the atlas: one link whose spectrum comes and goes, in coordinates that have no unit.

A point is a bottleneck with one radio and some flows. Times are in round-trip times, the queue in
bandwidth-delay products: what a point shows holds for every link with the same coordinates. The round-trip
time itself is a coordinate too, since retransmission timeouts have a least value in seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cogtcp.model.scenario import Scenario
from cogtcp.running.space import quantity

if TYPE_CHECKING:
    from typing import Any

Law: TypeAlias = Literal["periodic", "pu", "on-off"]
Silence: TypeAlias = Literal["hold", "drop"]

#: Laws of silences: fixed silence and period (sensing); fixed silence, exponential gaps (primary users that
#: arrive at random, with a handoff); both exponential (a channel that is lost and found).
LAWS: tuple[Law, ...] = get_args(Law)
SILENCES: tuple[Silence, ...] = get_args(Silence)
FLOWS = (1, 2, 4, 8)
SEGMENT = 1460
#: Bytes of IP, TCP and timestamps beside a segment's payload on the link.
_HEADERS = 52
#: Packets that a run may carry, and how long it lasts.
_PACKETS, _SHORTEST_S, _LONGEST_S = 40_000, 15.0, 240.0
#: A run has so many silences, if it may be so long, and so many round-trip times.
_CYCLES, _TRIPS = 12, 150


@dataclass(frozen=True, slots=True)
class Axis:
    """A continuous coordinate.

    Attributes:
        name: Its name.
        low: Its least value.
        high: Its greatest.
        title: What people read.
        meaning: What it is, in a sentence.
    """

    name: str
    low: float
    high: float
    title: str
    meaning: str

    def at(self, share: float) -> float:
        """Return the value at this share of the way, in logarithms."""
        return float(self.low * (self.high / self.low) ** share)

    def share(self, value: float) -> float:
        """Return how far along the axis a value is; below 0 or above 1 outside of it."""
        return math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)


#: The continuous coordinates, all logarithmic.
AXES = (
    Axis("silence_rtt", 0.1, 30.0, "Silence / RTT", "Mean length of a silence over the round-trip time."),
    Axis("period_rtt", 5.0, 1000.0, "Period / RTT", "Mean time from one silence to the next, over the RTT."),
    Axis("rtt_s", 0.01, 0.4, "RTT, s", "Round-trip time without queues."),
    Axis("bdp", 4.0, 400.0, "BDP, packets", "Rate times round-trip time, in packets of about 1,500 bytes."),
    Axis("queue_bdp", 0.1, 4.0, "Queue / BDP", "Queue in bandwidth-delay products."),
    Axis("loss", 1e-6, 1e-2, "Loss", "Probability of a packet loss outside queue and silences."),
    Axis("rate_range", 1.0, 10.0, "Rate range", "Highest over lowest rate, drawn again after each silence."),
)  # fmt: skip
AXIS = {axis.name: axis for axis in AXES}
#: Losses below this, and rate ranges below that, are none.
NO_LOSS, NO_RANGE = 1e-5, 1.2
#: A silence is at most this share of the period.
MOST_SILENT = 0.5
#: The longest period, in s and in packets that the link could carry in it: a run has three at least.
MOST_PERIOD_S, MOST_PERIOD_PACKETS = 60.0, 60_000.0


@dataclass(frozen=True, slots=True)
class SurveyPoint:
    """A point of the atlas: the coordinates of `AXES`, and three that are no numbers."""

    silence_rtt: float
    period_rtt: float
    rtt_s: float
    bdp: float
    queue_bdp: float
    loss: float
    rate_range: float
    law: Law
    silence: Silence
    flows: int

    @property
    def rate_bps(self) -> float:
        """The rate of the link, bit/s; with a rate range the mean."""
        return self.bdp * (SEGMENT + _HEADERS) * 8 / self.rtt_s

    @property
    def duration_s(self) -> float:
        """How long a run lasts."""
        wanted = max(_CYCLES * self.period_rtt * self.rtt_s, _TRIPS * self.rtt_s, _SHORTEST_S)
        afford = _PACKETS * (SEGMENT + _HEADERS) * 8 / self.rate_bps
        # Three periods in any case, even of a link that carries more packets in them.
        return min(max(min(wanted, afford), 3 * self.period_rtt * self.rtt_s), _LONGEST_S)

    def scenario(self) -> Scenario:
        """Return the scenario of the point."""
        silent = self.silence_rtt * self.rtt_s
        still_open = (self.period_rtt - self.silence_rtt) * self.rtt_s
        off: Any = _s(silent)
        on: Any = _s(still_open)
        if self.law != "periodic":
            on = {"exponential": on}
        if self.law == "on-off":
            off = {"exponential": off}
        packets = max(2, round(self.queue_bdp * self.bdp))
        radio: dict[str, Any] = {
            "name": "radio",
            "links": ["link"],
            "silence": self.silence,
            "sensing": {"off": off, "on": on},
        }
        if self.rate_range >= NO_RANGE:
            # Uniform rates with the mean and the ratio that are asked for.
            low = 2 * self.rate_bps / (1 + self.rate_range)
            radio["channel"] = {"range": [_bps(low), _bps(low * self.rate_range)]}
        duration = self.duration_s
        data = {
            "name": "atlas",
            "run": {
                "duration": _s(duration),
                "warmup": _s(duration / 5),
                "sample_interval": _s(duration / 10),
            },
            "tcp": {"segment_size": f"{SEGMENT} B"},
            "topology": {
                "single_hop": {
                    "link": {
                        "rate": _bps(self.rate_bps),
                        "delay": _s(self.rtt_s / 2),
                        "queue": f"{packets} packets",
                        "loss": self.loss if self.loss >= NO_LOSS else 0.0,
                    }
                }
            },
            "radio": [radio],
            "flow": [
                {
                    "from": "sender",
                    "to": "receiver",
                    "transport": "sack",
                    "count": self.flows,
                    "start_jitter": _s(self.rtt_s),
                }
            ],
        }
        return Scenario.from_dict(data)


def _s(seconds: float) -> str:
    return f"{max(1, round(seconds * 1e9))} ns"


def _bps(rate: float) -> str:
    return f"{max(1, round(rate))} bit/s"


def _step(dimensions: int) -> list[float]:
    """Return the step of an additive recurrence whose points fill a cube evenly.

    Powers of the inverse of the root of x^(d+1) = x + 1, the generalised golden ratio (Roberts 2018, "The
    unreasonable effectiveness of quasirandom sequences"). Any first n points fill the cube, so that a survey
    grows without moving the earlier points.
    """
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (dimensions + 1))
    return [root ** -(k + 1) for k in range(dimensions)]


_STEP = _step(len(AXES) + 3)


def point(index: int) -> SurveyPoint:
    """Return a point of the survey, by number from 0."""
    shares = [(0.5 + (index + 1) * step) % 1 for step in _STEP]
    values = {axis.name: axis.at(share) for axis, share in zip(AXES, shares, strict=False)}
    # A period is at most a minute, and so many packets: what is beyond is folded back onto the edge.
    values["period_rtt"] = min(
        values["period_rtt"], MOST_PERIOD_S / values["rtt_s"], MOST_PERIOD_PACKETS / values["bdp"]
    )
    values["period_rtt"] = max(values["period_rtt"], AXIS["period_rtt"].low)
    # So is a silence longer than half of the period.
    values["silence_rtt"] = min(values["silence_rtt"], MOST_SILENT * values["period_rtt"])
    law, silence, flows = shares[len(AXES) :]
    return SurveyPoint(
        **values,
        law=LAWS[int(law * len(LAWS))],
        silence=SILENCES[int(silence * len(SILENCES))],
        flows=FLOWS[int(flows * len(FLOWS))],
    )


def place_of(scenario: Scenario) -> tuple[SurveyPoint, list[str]] | str:
    """Return the point of the atlas nearest to a scenario, and what is unlike it; or why there is none."""
    data = scenario.to_dict()
    topology = data["topology"]
    radios = data.get("radio", [])
    if "single_hop" in topology:
        link, delay = topology["single_hop"]["link"], 0.0
    elif "dumbbell" in topology:
        link = topology["dumbbell"]["bottleneck"]
        delay = 2 * _number(topology["dumbbell"]["access"]["delay"])
    else:
        return "the atlas covers a single link or a dumbbell"
    if len(radios) != 1:
        return "the atlas covers one radio"
    radio, unlike = radios[0], []
    sensing, users = radio.get("sensing"), radio.get("pu")
    if "cr" in radio or "journey" in radio or not (sensing or users):
        return "the atlas covers radios that are cycles (sensing, pu)"
    if "trace" in link:
        return "the atlas covers links with a rate and no trace"
    rtt = 2 * (delay + _number(link["delay"]))
    rate = _number(link["rate"])
    channel = radio.get("channel")
    spread = 1.0
    if isinstance(channel, dict):
        rates = [_number(each) for each in next(iter(channel.values())) if not isinstance(each, dict)]
        if rates:
            rate, spread = (min(rates) + max(rates)) / 2, max(rates) / max(min(rates), 1.0)
    flows = sum(int(flow.get("count", 1)) for flow in data.get("flow", []))
    if sensing:
        silent, gap = _mean(sensing["off"]), _mean(sensing["on"])
        law: Law = "periodic"
        if isinstance(sensing["on"], dict):
            law = "on-off" if isinstance(sensing["off"], dict) else "pu"
        if users:
            unlike.append("sensing and primary users together: the atlas knows sensing alone")
    else:
        silent, gap, law = _number(users["switching"]), _mean(users["interarrival"]), "pu"
    silence = radio.get("silence", "hold")
    if silence not in SILENCES:
        unlike.append(f'silence = "{silence}": taken for "drop"')
        silence = "drop"
    packets = rate * rtt / ((SEGMENT + _HEADERS) * 8)
    queue, size = str(link.get("queue", "100 packets")), quantity(link.get("queue", "100 packets"))
    if size is None:
        unlike.append(f'queue = "{queue}": taken for drop-tail of one bandwidth-delay product')
        waiting = packets
    else:
        segment = quantity(data.get("tcp", {}).get("segment_size", "1460 B")) or (1460.0, "B")
        # In packets of the atlas, as the bandwidth-delay product is: the scenario's may be smaller.
        per_unit = segment[0] + _HEADERS if size[1] == "packets" else 1.0
        waiting = size[0] * per_unit / (SEGMENT + _HEADERS)
    found = SurveyPoint(
        silence_rtt=silent / rtt,
        period_rtt=(silent + gap) / rtt,
        rtt_s=rtt,
        bdp=packets,
        queue_bdp=waiting / packets,
        # A logarithmic axis has no zero: no loss stands at its low end.
        loss=max(float(link.get("loss", 0.0)), AXIS["loss"].low),
        rate_range=max(1.0, spread),
        law=law,
        silence="hold" if silence == "hold" else "drop",
        # The nearest by ratio.
        flows=min(FLOWS, key=lambda n: abs(math.log(n / max(flows, 1)))),
    )
    for axis in AXES:
        share = axis.share(getattr(found, axis.name))
        if not -0.05 <= share <= 1.05:
            unlike.append(
                f"{axis.title} {getattr(found, axis.name):.3g}: outside {axis.low:g} to {axis.high:g}"
            )
    return found, unlike


def _number(value: Any) -> float:
    return (quantity(value) or (math.nan, ""))[0]


def _mean(value: Any) -> float:
    """Return the mean of a duration that may have a law."""
    if isinstance(value, dict):
        ((_, inside),) = value.items()
        return sum(map(_number, inside)) / len(inside) if isinstance(inside, list) else _number(inside)
    return _number(value)
