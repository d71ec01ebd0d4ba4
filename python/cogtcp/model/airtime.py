"""Where the airtime went: the budget of an ad hoc network, where no link has a capacity of its own.

`docs/budget.md` defines the neighbourhood and the states. It is computed from the table `frames`, which a run
has where packets are traced.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cogtcp import _units
from cogtcp.model.budget import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cogtcp.model.result import Result

#: All states, in the order in which bars stack them.
STATES = (
    State("payload", "payload of this hop", "payload", "series-1", 1.0, "█"),
    State("mac", "headers, RTS, CTS and ACK of this hop", "headers and control frames", "series-5", 1.0, "M"),
    State("hops", "the same packets at other hops", "the same packets at other hops", "series-1", 0.55, "▓"),
    State("acks", "TCP's ACKs", "TCP's ACKs", "series-2", 1.0, "a"),
    State("flows", "other flows", "other flows", "series-6", 0.8, "o"),
    State("routing", "routing and ARP", "routing", "series-3", 1.0, "R"),
    State("retry", "failed exchanges", "failed exchanges", "switching", 1.0, "r"),
    State("interference", "interference", "interference", "lost", 1.0, "i"),
    State("silent", "silent", "silence", "sensing", 1.0, "░"),
    State("idle", "no frame: backoff, gaps, nothing to send", "no frame", "series-3", 0.45, "·"),
)
#: A node with less of the flow's data frames than this share of the busiest relay's is no relay of it.
_RELAYS = 0.01
_ROUTING = {"routing", "arp", "channel"}


@dataclass(frozen=True, slots=True)
class Airtime:
    """The airtime around a flow's bottleneck.

    Attributes:
        flow: The flow.
        node: The relay or source whose neighbourhood is the most occupied.
        shares: Share of the span by state; they sum to 1.
    """

    flow: str
    node: str
    shares: dict[str, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on the air, as far as airtime needs it.

    Attributes:
        start: Start of the frame, s.
        end: End of the frame, s.
        transmitter: The sending node.
        receiver: The node addressed; empty: broadcast.
        kind: rts, cts, data or ack.
        channel: The channel.
        flow: Flow of the packet that its exchange carries; empty for none.
        protocol: Protocol of that packet.
        carries: Whether its exchange carries payload.
        payload: Airtime of its payload, s; 0 unless it is a data frame of a flow.
        failed: Why its exchange failed; empty: it succeeded.
    """

    start: float
    end: float
    transmitter: str
    receiver: str
    kind: str
    channel: int
    flow: str
    protocol: str
    carries: bool
    payload: float
    failed: str


class Positions:
    """Where nodes are and on which channel, by the second."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of the table `positions`."""
        self._of: dict[str, list[tuple[float, float, float, int]]] = defaultdict(list)
        for row in rows:
            self._of[row["node"]].append((row["time_s"], row["x_m"], row["y_m"], row["channel"]))
        self._times = {node: [place[0] for place in places] for node, places in self._of.items()}

    def at(self, node: str, time: float) -> tuple[float, float, int]:
        """Return east, north and channel at the last record before `time`."""
        # Before the first record a node is where that says.
        place = max(bisect_right(self._times[node], time) - 1, 0)
        return self._of[node][place][1:]


def of_run(result: Result) -> list[Airtime]:
    """Return the airtime around each flow's bottleneck; empty unless frames on the air are traced."""
    rows = result.rows("frames")
    scenario = result.scenario.to_dict()
    begin = _units.seconds(scenario["run"].get("warmup", "0 s"))
    if not rows or begin >= result.duration_s:
        return []
    sense = _units.metres(scenario.get("phy", {}).get("carrier_sense_range", "550 m"))
    places = Positions(result.rows("positions"))
    frames = exchanges(rows)
    measured = result.duration_s - begin
    quiet = {
        row["radio"]: (row["sensing_s"] + row["switching_s"]) / measured for row in result.rows("radios")
    }
    found = []
    for row in result.rows("flows"):
        span = (max(begin, row["start_s"]), min(result.duration_s, _number(row["stop_s"], math.inf)))
        if span[0] < span[1]:
            found.append(around(row["flow"], frames, places, sense, span, quiet))
    return [each for each in found if each]


def exchanges(rows: Iterable[Mapping[str, Any]]) -> list[Frame]:
    """Return the frames in the order of their starts, each with the packet that its exchange carries.

    RTS and CTS belong to the next data frame between their stations, an ACK to the last one.
    """
    rows = sorted(rows, key=lambda row: row["time_s"])
    carried = [_NOTHING] * len(rows)
    last: dict[tuple[str, str], _Carried] = {}
    for number, row in enumerate(rows):
        if row["frame"] == "data":
            found = _Carried(row["flow"], row["protocol"], row["failed"], row["payload_bytes"] > 0)
            carried[number] = last[row["transmitter"], row["receiver"]] = found
        elif row["frame"] == "ack":
            carried[number] = last.get((row["receiver"], row["transmitter"]), _NOTHING)
    # Backwards: the next data frame is the last one seen.
    coming: dict[tuple[str, str], _Carried] = {}
    for number in range(len(rows) - 1, -1, -1):
        row = rows[number]
        if row["frame"] == "data":
            coming[row["transmitter"], row["receiver"]] = carried[number]
        elif row["frame"] == "rts":
            # Each RTS fails or not by itself.
            found = coming.get((row["transmitter"], row["receiver"]), _NOTHING)
            carried[number] = found._replace(failed=row["failed"])
        elif row["frame"] == "cts":
            carried[number] = coming.get((row["receiver"], row["transmitter"]), _NOTHING)
    return [_frame(row, what) for row, what in zip(rows, carried, strict=True)]


class _Carried(NamedTuple):
    flow: str
    protocol: str
    failed: str
    has_payload: bool


_NOTHING = _Carried("", "", "", has_payload=False)


def _frame(row: Mapping[str, Any], what: _Carried) -> Frame:
    is_data = row["frame"] == "data" and what.flow
    return Frame(
        start=row["time_s"],
        end=row["end_s"],
        transmitter=row["transmitter"],
        receiver=row["receiver"],
        kind=row["frame"],
        channel=row["channel"],
        flow=what.flow,
        protocol=what.protocol,
        carries=what.has_payload,
        payload=8 * row["payload_bytes"] / row["rate_bps"] if is_data else 0.0,
        failed=what.failed,
    )


def around(
    flow: str,
    frames: list[Frame],
    places: Positions,
    sense: float,
    span: tuple[float, float],
    silent: Mapping[str, float],
) -> Airtime | None:
    """Return the airtime around the bottleneck of `flow`; None if the flow sent nothing.

    Args:
        flow: The flow.
        frames: All frames in the order of their starts.
        places: Where nodes are.
        sense: The range of carrier sense, m.
        span: Start and end of the measurement, s.
        silent: Share of the time that a node's radio is silent.
    """
    sent: dict[str, float] = defaultdict(float)
    for frame in frames:
        if frame.flow == flow and frame.payload > 0 and span[0] <= frame.start < span[1]:
            sent[frame.transmitter] += frame.payload
    if not sent:
        return None
    least = _RELAYS * max(sent.values())
    relays = [node for node, seconds in sent.items() if seconds >= least]
    each = [Airtime(flow, node, _shares(flow, node, frames, places, sense, span, silent)) for node in relays]
    # The least idle; of equals the one with the first name.
    return min(each, key=lambda it: (it.shares["idle"], it.node))


def _shares(
    flow: str,
    node: str,
    frames: list[Frame],
    places: Positions,
    sense: float,
    span: tuple[float, float],
    silent: Mapping[str, float],
) -> dict[str, float]:
    time = dict.fromkeys((state.name for state in STATES), 0.0)
    heard: dict[tuple[str, int], tuple[bool, int]] = {}
    # Frames that overlap count once, to the one that began first.
    covered = span[0]
    for frame in frames:
        if frame.start >= span[1]:
            break
        from_, until = max(frame.start, covered), min(frame.end, span[1])
        if until <= from_:
            continue
        # Places are recorded by the second: all frames of a node in one second have one distance.
        key = (frame.transmitter, int(frame.start))
        if key not in heard:
            east, north, channel = places.at(node, frame.start)
            far_east, far_north, _ = places.at(frame.transmitter, frame.start)
            heard[key] = (math.hypot(east - far_east, north - far_north) <= sense, channel)
        is_near, channel = heard[key]
        if frame.transmitter != node and not (is_near and frame.channel == channel):
            continue
        covered = until
        spent = until - from_
        state = _state(flow, node, frame)
        if state == "payload":
            share = min(1.0, frame.payload / (frame.end - frame.start))
            time["payload"] += spent * share
            time["mac"] += spent * (1 - share)
        else:
            time[state] += spent
    whole = span[1] - span[0]
    rest = max(whole - math.fsum(time.values()), 0.0)
    # How long a radio was silent is known, not when: frames that were heard meanwhile come first.
    time["silent"] = min(rest, silent.get(node, 0.0) * whole)
    time["idle"] = rest - time["silent"]
    return {name: seconds / whole for name, seconds in time.items()}


def _state(flow: str, node: str, frame: Frame) -> str:
    # The order decides: what a primary user destroys is its doing, whatever the frame carried.
    if frame.failed == "interfered":
        return "interference"
    if frame.protocol in _ROUTING:
        return "routing"
    if frame.flow != flow:
        return "flows"
    if frame.failed:
        return "retry"
    if not frame.carries:
        return "acks"
    # A CTS or ACK belongs to the hop of the frame it answers.
    if (frame.receiver if frame.kind in ("cts", "ack") else frame.transmitter) != node:
        return "hops"
    return "payload" if frame.kind == "data" else "mac"


def _number(value: float, otherwise: float) -> float:
    return otherwise if value is None or math.isnan(value) else value


def told(airtime: Airtime) -> str:
    """Return `f1: around n7 19 % payload, 40 % other flows, 22 % no frame`."""
    large = sorted(STATES[1:], key=lambda state: -airtime.shares[state.name])[:4]
    parts = [f"{airtime.shares[s.name] * 100:.0f} % {s.said}" for s in (STATES[0], *large)]
    return f"{airtime.flow}: around {airtime.node} {', '.join(parts)}"
