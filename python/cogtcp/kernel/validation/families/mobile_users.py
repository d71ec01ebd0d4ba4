"""Users of an LTE cell that sleep or move, beside the timers of DRX and the arithmetic of a queue."""

from __future__ import annotations

import bisect
import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.cells import one_cell
from cogtcp.kernel.validation.families.family import Family, logarithmic
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from cogtcp.model.result import Result

#: Of TS 36.331 section 6.3.2 (DRX-Config): cycles, on-durations and inactivity timers, subframes.
_CYCLES = (20, 40, 64, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048)
_SHORT = (10, 16, 20, 32, 40, 64, 80, 128, 160, 256, 320)
_ON = (1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100)
_INACTIVITY = (2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200, 300)
#: A subframe, s.
_SUBFRAME = 0.001
#: Payload of a datagram, bytes: many in a slot.
_PAYLOAD = 200
#: Above 20 dB an LTE user has the highest MCS.
_CELL = {"bandwidth": "10 MHz", "layers": 1, "sinr": "40 dB"}
#: Of a run with DRX, and of one with handovers, s.
_DRX_SECONDS, _SECONDS = 200, 60


def drx_wait(arrivals: Sequence[int], drawn: Mapping[str, Any]) -> float:
    """Return the mean subframes that packets wait for a user that sleeps (TS 36.321 section 5.7).

    The timers run subframe by subframe. The user is active while onDurationTimer or
    drx-InactivityTimer runs. All that waits then is granted. Each grant restarts drx-InactivityTimer, which
    counts the subframes after the grant's (section 3.1). When it expires the short cycle is used until
    drxShortCycleTimer expires, and else the long cycle. An on-duration starts with each cycle that is used.

    Args:
        arrivals: The first subframe that each packet can meet, in ascending order.
        drawn: `cycle`, `on` and `inactivity`, and `short` with `short_cycles` (0: none), in subframes.
    """
    on_ends = short_ends = waited = taken = 0
    inactivity_ends = -1
    now = arrivals[0] - arrivals[0] % drawn["cycle"]
    while taken < len(arrivals):
        if drawn["short"] and now == inactivity_ends:
            short_ends = now + drawn["short_cycles"] * drawn["short"]
        cycle = drawn["short"] if now < short_ends else drawn["cycle"]
        if now % cycle == 0:
            on_ends = now + drawn["on"]
        due = bisect.bisect_right(arrivals, now, taken)
        if due > taken and now < max(on_ends, inactivity_ends):
            waited += sum(now - arrival for arrival in arrivals[taken:due])
            inactivity_ends = now + 1 + drawn["inactivity"]
            taken = due
        now += 1
        if now >= max(on_ends, inactivity_ends + 1):
            # Nothing is granted before the next cycle begins, of this kind or of the other.
            begins = now + -now % cycle
            now = min(begins, short_ends) if now < short_ends else begins
    return waited / len(arrivals)


class Drx(Family):
    """Sparse packets for a user that sleeps: what DRX adds to their delay."""

    name = "drx"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the timers, a short cycle or none, and sources of steady packets, again where few wait."""
        while True:
            cycle = stream.choice(_CYCLES)
            drawn: dict[str, Any] = {
                "cycle": cycle,
                "on": stream.choice([on for on in _ON if on < cycle]),
                "inactivity": stream.choice(_INACTIVITY),
                "short": 0,
                "short_cycles": 0,
                # Bit/s of payloads of 100 B: 50 ms to 3 s from packet to packet.
                "rates": [round(logarithmic(stream, 267, 16_000)) for _ in range(3)],
            }
            short = [it for it in _SHORT if drawn["on"] < it < cycle and cycle % it == 0]
            if short and stream.random() < 0.7:
                drawn |= {"short": stream.choice(short), "short_cycles": stream.randint(1, 16)}
            if self.theirs(drawn, 0)["wait_s"] > 2 * _SUBFRAME:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        short = f" after {drawn['short_cycles']} of {drawn['short']} ms" if drawn["short"] else ""
        timers = f"on {drawn['on']} ms, inactivity {drawn['inactivity']} ms"
        gaps = ", ".join(f"{800 / rate:.3g} s" for rate in drawn["rates"])
        return f"cycles of {drawn['cycle']} ms{short}, {timers}; packets each {gaps}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Count the subframes; a packet takes 3 us to the base station."""
        arrivals = [
            int((number * 800 / rate + 3e-6) / _SUBFRAME) + 1
            for rate in drawn["rates"]
            for number in range(int(_DRX_SECONDS * rate / 800))
        ]
        return {"wait_s": drx_wait(sorted(arrivals), drawn) * _SUBFRAME}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Subtract the delay without DRX."""
        drx: dict[str, Any] = {name: f"{drawn[name]} ms" for name in ("cycle", "on", "inactivity")}
        if drawn["short"]:
            timer = drawn["short"] * drawn["short_cycles"]
            drx["short"] = {"cycle": f"{drawn['short']} ms", "timer": f"{timer} ms"}

        def delay(cell: Mapping[str, Any]) -> float:
            rows = _run(cell, drawn["rates"], 100, _DRX_SECONDS).rows("datagrams")
            packets = sum(row["received_packets"] for row in rows)
            return float(sum(row["received_packets"] * row["delay_mean_s"] for row in rows) / packets)

        return {"wait_s": delay({**_CELL, "drx": drx}) - delay(_CELL)}


def handover_waits(
    moves: Sequence[int], interruption: int, arrivals: Sequence[int], carried: float, *, forwarded: bool
) -> tuple[float, float]:
    """Return for how many slots packets wait because a user moves, in sum, and how many are lost.

    The packets that came in the slot before a move have not begun. They wait with the others, or all are lost
    where nothing is forwarded. A slot without a station carries nothing.

    Args:
        moves: The slots in which the user has no station any more.
        interruption: For how many slots it has none.
        arrivals: For each slot, the packets that come during the slot before: this one can carry them.
        carried: Most packets of a slot.
        forwarded: Whether the source forwards what waits.
    """
    waited = lost = behind = 0.0
    starts, ends = set(moves), 0
    for slot, arrived in enumerate(arrivals):
        behind += arrived
        if slot in starts:
            ends = slot + interruption
            if not forwarded:
                lost, behind = lost + behind, 0.0
        if slot >= ends:
            behind = max(0.0, behind - carried)
        waited += behind
    return waited, lost


def a3_moves(
    points: Sequence[tuple[float, float]], offset: float, trigger: float, interruption: float
) -> list[float]:
    """Return when a user moves between two stations by event A3 (TS 36.331 section 5.5.4.4), s.

    It begins at the better one.

    Args:
        points: Times and by how many dB the second station is better; linear between.
        offset: By how much the other has to be better, dB.
        trigger: For how long, s.
        interruption: For how long after a move nothing is measured, s.
    """
    moves: list[float] = []
    sign, begin, since = -1.0 if points[0][1] > 0 else 1.0, points[0][0], None
    for (start, low), (end, high) in itertools.pairwise(points):
        # Each subframe, and each hundredth of a decibel; between them the level is a straight line.
        steps = math.ceil(max(100 * abs(high - low), (end - start) / _SUBFRAME))
        length, rise = (end - start) / steps, (high - low) / steps
        for step in range(1, steps + 1):
            now, over = start + length * step, sign * (low + rise * step) - offset
            if now < begin or over <= 0:
                since = None
                continue
            if since is None:
                # Where it was crossed, if it was not above before.
                since = max(begin, now - length * min(1.0, over / max(sign * rise, 1e-12)))
            if now >= since + trigger:
                moves.append(since + trigger)
                sign, begin, since = -sign, since + trigger + interruption, None
    return moves


class Handovers(Family):
    """A download whose user moves by event A3 or at stated times: what interruptions add to its delay."""

    name = "handovers"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.05, "dropped": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw how much better a station is than the other over time, event A3, and the download."""
        times = list(itertools.accumulate(stream.uniform(1, 4) for _ in range(2 * _SECONDS)))
        times = [0.0, *(round(time, 3) for time in times if time < _SECONDS - 3)]
        while True:
            drawn = {
                "points": [[time, round(stream.uniform(-15, 15), 2)] for time in times],
                "offset": round(stream.uniform(1, 6), 1),
                # Of TS 36.331 section 6.3.5 (TimeToTrigger), ms.
                "trigger": stream.choice([40, 80, 160, 320, 640]),
                "interruption": stream.randint(10, 150),
                "kind": stream.choice(["lossless", "seamless", "unforwarded"]),
                "load": round(stream.uniform(0.1, 0.7), 2),
            }
            # None at the end, as its packets would not arrive.
            if len(moves := _moves(drawn)) > 3 and moves[-1] < _SECONDS - 1:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        event = f"better by {drawn['offset']:g} dB for {drawn['trigger']} ms"
        load = f"{drawn['interruption']} ms, {100 * drawn['load']:.0f} % of the rate"
        return f"{drawn['kind']}, {len(_moves(drawn))} moves, {event}; {load}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Follow the queue from slot to slot; a packet takes 1 us to the base station."""
        offered = round(drawn["load"] * _lone_bps())
        gap = 8 * _PAYLOAD / offered
        by_slot = [
            int(max(slot * _SUBFRAME - 1e-6, 0) / gap) + (slot > 0)
            for slot in range(round(_SECONDS / _SUBFRAME))
        ]
        arrivals = [0, *(after - before for before, after in itertools.pairwise(by_slot))]
        moves = [math.ceil(at / _SUBFRAME) for at in _moves(drawn)]
        waited, lost = handover_waits(
            moves,
            drawn["interruption"],
            arrivals,
            _lone_bps() / (8 * _PAYLOAD) * _SUBFRAME,
            forwarded=drawn["kind"] != "unforwarded",
        )
        packets = by_slot[-1]
        return {"wait_s": waited / (packets - lost) * _SUBFRAME, "dropped": lost / packets}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Subtract the delay without handovers."""
        # Both stations are far above what the highest MCS needs.
        points = [
            {"at": f"{time} s", "sinr": ["50 dB", f"{50 + better:.2f} dB"]}
            for time, better in drawn["points"]
        ]
        handover = {
            "kind": drawn["kind"],
            "interruption": f"{drawn['interruption']} ms",
            "offset": f"{drawn['offset']} dB",
            "time_to_trigger": f"{drawn['trigger']} ms",
            "tracks": [{"link": "air-user", "points": points}],
        }
        offered = [round(drawn["load"] * _lone_bps())]
        (moving,) = _run({**_CELL, "handover": handover}, offered, _PAYLOAD, _SECONDS).rows("datagrams")
        (still,) = _run(_CELL, offered, _PAYLOAD, _SECONDS).rows("datagrams")
        lost = still["received_packets"] - moving["received_packets"]
        return {
            "wait_s": moving["delay_mean_s"] - still["delay_mean_s"],
            "dropped": lost / still["received_packets"],
        }


def _moves(drawn: Mapping[str, Any]) -> list[float]:
    points = [*drawn["points"], (_SECONDS, drawn["points"][-1][1])]
    return a3_moves(points, drawn["offset"], drawn["trigger"] * _SUBFRAME, drawn["interruption"] * _SUBFRAME)


@cache
def _lone_bps() -> float:
    """Return the goodput of a lone user, bit/s."""
    (row,) = _run(_CELL, [50_000_000], _PAYLOAD, 2).rows("datagrams")
    return float(row["received_packets"]) * 8 * _PAYLOAD / 2


def _run(cell: Mapping[str, Any], rates: Sequence[int], payload: int, seconds: int) -> Result:
    """Run datagrams of the rates, in bit/s of payload, to one user of a cell."""
    udp = [
        {
            "from": "server",
            "to": "user",
            "size": f"{payload} B",
            "pattern": {"constant": f"{rate} bit/s"},
        }
        for rate in rates
    ]
    data = one_cell(cell, ["user"], seconds, udp, queue="100000 packets")
    return run(Scenario.from_dict(data), 1, "summary")
