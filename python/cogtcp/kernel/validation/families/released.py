"""The files and rules of the released ns-2 code, beside sensing by sensing and frame by frame."""

from __future__ import annotations

import bisect
import math
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp._spans import merged
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.spectrum_users import radio_alone
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Spans = Sequence[tuple[float, float]]

#: The share of primary users that the released code misses, and of frames that escape them.
_MISSED = 0.1
#: Silence of a switch, s.
_SWITCH = 0.001
#: Where the radio is, m; its receiver is there too.
_PLACE = (450.0, 500.0)
_POSITIONS = [[f"{place} m" for place in _PLACE]] * 2
_SECONDS = 3000
#: Replays of a run: their mean hardly varies.
_REPLAYS = 20


def replayed(
    busy: Sequence[Spans], sensing: float, transmission: float, seconds: float, stream: random.Random
) -> tuple[int, int, float]:
    """Return sensings, reports and s of transmission of a radio that goes from channel to channel.

    A sensing meets a primary user that arrives before its end and departs after its begin. It reports nine in
    ten. After a report the radio switches to the next channel, and senses; else it transmits
    (Di Felice and others 2009, section 4.3).

    Args:
        busy: For each channel when a primary user is ON, in ascending order and apart.
        sensing: Sensing time, s.
        transmission: Transmission time, s.
        seconds: Of the run.
        stream: Draws what is missed.
    """
    begins = [[begin for begin, _ in spans] for spans in busy]
    sensings = reports = channel = 0
    now = transmitted = 0.0
    while now + sensing <= seconds:
        # The last that arrives before the end of the sensing.
        last = bisect.bisect_left(begins[channel], now + sensing) - 1
        is_there = last >= 0 and busy[channel][last][1] > now
        sensings += 1
        now += sensing
        if is_there and stream.random() >= _MISSED:
            reports += 1
            channel = (channel + 1) % len(busy)
            now += _SWITCH
        else:
            transmitted += max(0.0, min(transmission, seconds - now))
            now += transmission
    return sensings, reports, transmitted


class ReleasedUsers(Family):
    """Primary users of a map file, and a radio that misses a tenth of them."""

    name = "released-users"
    peer = "theory"
    bands: ClassVar = {"detected": 0.05, "share": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw channels, primary users on a square kilometre, and the radio's times."""
        while True:
            drawn = {
                "channels": stream.randint(2, 10),
                "users": stream.randint(5, 40),
                "range": stream.randint(200, 600),
                "on": three_digits(logarithmic(stream, 0.5, 5)),
                "off": three_digits(logarithmic(stream, 1, 20)),
                "map": stream.randrange(1, 10**6),
                "sensing": three_digits(logarithmic(stream, 0.02, 0.3)),
                "transmission": three_digits(logarithmic(stream, 0.2, 2)),
            }
            if _expected(drawn, 0, 1)["detected"] > 0.1:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        users = f"{drawn['users']} users that reach {drawn['range']} m on {drawn['channels']} channels"
        laws = f"ON {drawn['on']:g} s, OFF {drawn['off']:g} s"
        times = f"sensing {drawn['sensing'] * 1e3:g} ms, transmitting {drawn['transmission']:g} s"
        return f"{users}, {laws}; {times}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Go through the sensings of the users that the radio hears."""
        return _expected(drawn, seed, _REPLAYS)

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Write both files and run the radio."""
        users = _users(drawn)
        lines = [str(len(users))]
        for channel, (x, y), _ in users:
            # The control channel is 0. Where a primary user's receiver is does not matter.
            lines.append(f"{channel + 1} {x} {y} {x + 1000} {y} 0.5 0.5 {drawn['range']}")
        for _, _, spans in users:
            lines += [str(len(spans)), *(f"{begin:.9f} {end:.9f}" for begin, end in spans)]
        radio = {
            "detector": "as_released",
            "policy": "round_robin",
            "channel": 1,
            "sensing_time": f"{drawn['sensing']} s",
            "transmission_time": f"{drawn['transmission']} s",
            "switching_delay": f"{_SWITCH} s",
            "positions": _POSITIONS,
        }
        data = radio_alone(_SECONDS, 1, {}, radio)
        rates = [0.0] * (drawn["channels"] + 1)
        (row,) = _rows(data, lines, rates, seed, "radios")
        return {
            "detected": row["detections"] / row["sensings"],
            "share": row["transmitting_s"] / _SECONDS,
        }


class ReleasedFrames(Family):
    """Frames on a channel with an error rate, while a primary user is ON or out of reach."""

    name = "released-frames"
    peer = "theory"
    bands: ClassVar = {"share": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw whether the primary user is heard, the error rate, and RTS or not."""
        return {
            "is_heard": stream.random() < 0.5,
            "error_rate": round(stream.uniform(0, 0.4), 3),
            "rts": stream.random() < 0.5,
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        user = "a primary user" if drawn["is_heard"] else "none in reach"
        return f"{user}, error rate {drawn['error_rate']:g}, {'RTS' if drawn['rts'] else 'no RTS'}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Multiply what is left of RTS and data; CTS and ACK always arrive."""
        frame = (1 - drawn["error_rate"]) * (_MISSED if drawn["is_heard"] else 1)
        return {"share": frame ** (2 if drawn["rts"] else 1)}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run a pair that always has packets; return the share of exchanges that bring one over."""
        radio = {
            "access": "dcf",
            "detector": "as_released",
            "reception": "as_released",
            "policy": "sticky",
            "channel": 1,
            "sensing_time": "1 ms",
            "transmission_time": "1 s",
            "positions": _POSITIONS,
            # Windows that do not grow: more exchanges, and no other share.
            "mac": {"rts_threshold": "0 B" if drawn["rts"] else "3 kB", "cw_max": 31},
        }
        data = radio_alone(_SECONDS, 1, {}, radio)
        data["topology"]["single_hop"]["link"]["delay"] = "1 us"
        load = {"size": "500 B", "pattern": {"constant": "1 Mbit/s"}}
        data["udp"] = [{"from": "sender", "to": "receiver", **load}]
        x, y = _PLACE
        user = f"1 {x} {y + 300} {x} {y} 0.5 0.5 {400 if drawn['is_heard'] else 200}"
        rates = [0.0, drawn["error_rate"]]
        rows = _rows(data, ["1", user, "1", f"0 {_SECONDS + 1}"], rates, seed, "links")
        (row,) = (row for row in rows if row["direction"] == "forward")
        lost = sum(row[f"attempts_{cause}"] for cause in ("interfered", "garbled"))
        return {"share": 1 - lost / row["attempts"]}


def _expected(drawn: Mapping[str, Any], seed: int, replays: int) -> dict[str, float]:
    """Return the share of sensings that report, and of the time on the air."""
    heard: list[list[tuple[float, float]]] = [[] for _ in range(drawn["channels"])]
    for channel, place, spans in _users(drawn):
        if math.dist(place, _PLACE) <= drawn["range"]:
            heard[channel] += spans
    busy = [merged(spans) for spans in heard]
    stream = random.Random(f"released/{seed}")  # noqa: S311 - a documented draw, no secret
    times = (drawn["sensing"], drawn["transmission"], _SECONDS)
    runs = [replayed(busy, *times, stream) for _ in range(replays)]
    sensings, reports, transmitted = (sum(column) for column in zip(*runs, strict=True))
    return {"detected": reports / sensings, "share": transmitted / replays / _SECONDS}


def _users(drawn: Mapping[str, Any]) -> list[tuple[int, tuple[float, float], Spans]]:
    """Return channel, place and ON times of each primary user of the map."""
    stream = random.Random(f"released/{drawn['map']}")  # noqa: S311 - a documented draw, no secret
    users: list[tuple[int, tuple[float, float], Spans]] = []
    for _ in range(drawn["users"]):
        place = (round(stream.uniform(0, 1000), 1), round(stream.uniform(0, 1000), 1))
        channel, spans, now = stream.randrange(drawn["channels"]), [], 0.0
        while now < _SECONDS:
            begin = round(now + stream.expovariate(1 / drawn["off"]), 9)
            now = round(begin + 1e-3 + stream.expovariate(1 / drawn["on"]), 9)
            spans.append((begin, now))
        users.append((channel, place, spans))
    return users


def _rows(
    data: dict[str, Any], users: Sequence[str], error_rates: Sequence[float], seed: int, table: str
) -> list[dict[str, Any]]:
    """Run with both files; return the rows of a table."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("map.txt", "channel.txt")]
        places[0].write_text("\n".join(users) + "\n", "utf-8")
        lines = [f"{number} 1000000 {rate}" for number, rate in enumerate(error_rates)]
        places[1].write_text("\n".join(lines) + "\n", "utf-8")
        data["spectrum"] = {"channels": {"released": str(places[1])}, "pu": {"map": str(places[0])}}
        return run(Scenario.from_dict(data), seed, "summary").rows(table)
