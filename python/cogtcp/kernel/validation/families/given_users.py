"""Detectors of given errors and recorded primary users, beside the errors and the record themselves."""

from __future__ import annotations

import math
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, three_digits
from cogtcp.kernel.validation.families.spectrum_users import EnergyDetection, radio_alone, sensed_far_apart
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

#: Place, power and range of a primary user that the radio hears.
_AT, _POWER, _RANGE = "0, 250", "0.2818", "500"


class GivenErrors(EnergyDetection):
    """Detectors that err as stated, or as a table says between its rows."""

    name = "given-errors"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw two rows of a table, or one pair of errors, and the sensing time."""
        times = sorted(three_digits(stream.uniform(0.005, 0.3)) for _ in range(2))
        rows = [
            [time, round(stream.uniform(0.2, 1), 3), round(stream.uniform(0.05, 0.5), 3)] for time in times
        ]
        return {
            "detector": stream.choice(["fixed", "table"]),
            "rows": rows,
            "sensing": three_digits(stream.uniform(times[0], times[1] + 0.001)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        rows = drawn["rows"][:1] if drawn["detector"] == "fixed" else drawn["rows"]
        errors = ", ".join(f"{detected:g} and {false:g}" for _, detected, false in rows)
        return f"{drawn['detector']}: {errors}; {drawn['sensing'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the errors, on a line between two rows."""
        (begin, *low), (end, *high) = drawn["rows"]
        share = min(max((drawn["sensing"] - begin) / (end - begin), 0.0), 1.0) if end > begin else 0.0
        if drawn["detector"] == "fixed":
            share = 0.0
        detected, false = (a + share * (b - a) for a, b in zip(low, high, strict=True))
        return {"detected": detected, "false_alarms": false}

    def detector(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Return the radio's detector."""
        rows: Sequence[Sequence[float]] = drawn["rows"]
        if drawn["detector"] == "table":
            return {"table": [[f"{time} s", detected, false] for time, detected, false in rows]}
        return {"fixed": {"detection": rows[0][1], "false_alarm": rows[0][2]}}


def sensings_of(
    on: Sequence[Sequence[float]], sensing: float, transmission: float, seconds: float
) -> tuple[int, int]:
    """Return how often a sticky radio senses, and how often it finds a primary user.

    A sensing finds one that arrives before its end and departs after its start. The radio then senses again;
    else it transmits first.
    """
    sensings, found, now = 0, 0, 0.0
    while now < seconds:
        is_there = any(begin < now + sensing and end > now for begin, end in on)
        sensings += 1
        found += is_there
        now += sensing + (0 if is_there else transmission)
    return sensings, found


class RecordedUsers(Family):
    """A primary user of a file, in each format: which sensings find it."""

    name = "recorded-users"
    peer = "theory"
    bands: ClassVar = {"detected": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw ON times and the radio's times."""
        on, now = [], 0.0
        for _ in range(stream.randint(20, 60)):
            begin = round(now + stream.expovariate(0.5), 3)
            end = round(begin + 0.01 + stream.expovariate(0.5), 3)
            on.append([begin, end])
            now = end + 0.05
        return {
            "format": stream.choice(["pu_log", "map", "occupancy"]),
            "on": on,
            "sensing": three_digits(stream.uniform(0.01, 0.3)),
            "transmission": three_digits(stream.uniform(0.1, 2)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        times = f"sensing {drawn['sensing'] * 1e3:g} ms, transmitting {drawn['transmission']:g} s"
        return f"{drawn['format']}, {len(drawn['on'])} ON times to {drawn['on'][-1][1]:g} s; {times}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Go through the sensings."""
        seconds = drawn["on"][-1][1]
        sensings, found = sensings_of(drawn["on"], drawn["sensing"], drawn["transmission"], seconds)
        return {"detected": found / sensings}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Write the file and run the radio."""
        seconds = drawn["on"][-1][1]
        radio = {
            "detector": "perfect",
            "policy": "sticky",
            "sensing_time": f"{drawn['sensing']} s",
            "transmission_time": f"{drawn['transmission']} s",
            "switching_delay": "0 s",
        }
        # Channel 0 of a map is the control channel.
        first = int(drawn["format"] == "map")
        data = radio_alone(seconds, 1 + first, {}, {**radio, "channel": first})
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / ("busy.csv" if drawn["format"] == "occupancy" else "users.txt")
            place.write_text("\n".join(_record(drawn["format"], drawn["on"])) + "\n", "utf-8")
            data["spectrum"]["pu"] = {drawn["format"]: str(place)}
            (row,) = run(Scenario.from_dict(data), seed, "summary").rows("radios")
        return {"detected": row["detections"] / row["sensings"]}


class RedrawnUsers(Family):
    """Primary users drawn from the spans of a measurement: their share of the time, and who meets one."""

    name = "redrawn-users"
    peer = "theory"
    bands: ClassVar = {"share": 0.05, "detected": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the measured spans, the model and the sensing time."""
        shape, mean = stream.choice([1.0, 4.0]), stream.uniform(0.5, 2)
        spans = [
            [round(0.02 + mean * stream.gammavariate(shape, 1 / shape), 3) for _ in range(2)]
            for _ in range(stream.randint(10, 40))
        ]
        return {
            "model": stream.choice(["empirical", "markov"]),
            "spans": spans,
            "sensing": three_digits(stream.uniform(0.01, 0.5)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        on, off = (statistics.mean(spans) for spans in zip(*drawn["spans"], strict=True))
        means = f"{len(drawn['spans'])} ON and OFF times of {on:.3g} s and {off:.3g} s"
        return f"{drawn['model']}, {means}; sensing {drawn['sensing'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the share ON, and the chance to meet a primary user within the sensing time.

        None is met in what is left of an idle time after the sensing time: of each measured one, or in the
        mean over an exponential law.
        """
        on, idle = zip(*drawn["spans"], strict=True)
        mean = statistics.mean(idle)
        if drawn["model"] == "markov":
            left = mean * math.exp(-drawn["sensing"] / mean)
        else:
            left = statistics.mean(max(span - drawn["sensing"], 0.0) for span in idle)
        cycle = statistics.mean(on) + mean
        return {"share": 1 - mean / cycle, "detected": 1 - left / cycle}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Write the measurement, and sense far apart on bands chosen at random."""
        bands, cycle = 20, statistics.mean(sum(pair) for pair in drawn["spans"])
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "busy.csv"
            place.write_text("\n".join(_measured(drawn["spans"], bands)) + "\n", "utf-8")
            users = {"trace": {"file": str(place), "model": drawn["model"]}}
            return sensed_far_apart(users, drawn["sensing"], cycle, bands, seed)


def _measured(spans: Sequence[Sequence[float]], bands: int) -> list[str]:
    """Return the lines of a measurement whose whole spans are these: the first and the last are cut."""
    lines, now = [(0.0, 0)], 1.0
    for on, off in spans:
        lines += [(now, 1), (now + on, 0)]
        now += on + off
    lines += [(now, 1), (now + 1, 1)]
    rows = [f"{time:.3f},{band},{busy}" for time, busy in lines for band in range(1, bands + 1)]
    return ["time,band,busy", *rows]


def _record(file_format: str, on: Sequence[Sequence[float]]) -> list[str]:
    """Return the lines of a file in one of the formats."""
    if file_format == "pu_log":
        return [f"<1, {_AT}, 1, {_POWER}>", *(f"<1, {begin}, {end}>" for begin, end in on)]
    if file_format == "map":
        x, y = _AT.split(", ")
        times = [f"{begin} {end}" for begin, end in on]
        return ["1", f"1 {x} {y} {x} {y} 0.5 0.5 {_RANGE}", str(len(on)), *times]
    rows = [line for begin, end in on for line in (f"{begin},1,1", f"{end},1,0")]
    return ["time,band,busy", "0,1,0", *rows]
