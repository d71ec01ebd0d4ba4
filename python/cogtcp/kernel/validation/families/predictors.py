"""Predictors of a train's outages beside what their settings come to, and the router's warnings."""

from __future__ import annotations

import math
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.bisection import bisected
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.railway import railway
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

#: Variance of the median of normal values of variance 1, by how many there are (Teichroew 1956).
_MEDIAN = {1: 1.0, 3: 0.44867, 5: 0.28683}


class Itinerary(Family):
    """A record of known quality: what it misses, what it invents, and how far it is off."""

    name = "itinerary"
    peer = "theory"
    bands: ClassVar = {"missed": 0.05, "ratio": 0.05, "error_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the record's quality, and outages far apart."""
        return {
            "error": three_digits(stream.uniform(0.1, 1)),
            "missed": round(stream.uniform(0.1, 0.5), 2),
            "false_interval": three_digits(logarithmic(stream, 100, 250)),
            "on": three_digits(stream.uniform(20, 60)),
            "off": three_digits(stream.uniform(0.5, 5)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        outages = f"outages of {drawn['off']:g} s after each {drawn['on']:g} s"
        record = f"{100 * drawn['missed']:.0f} % missed, one in {drawn['false_interval']:g} s invented"
        return f"{outages}; {record}, {drawn['error'] * 1e3:g} ms off"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the settings; an invented outage counts for a missed one less than 5 s away.

        Errors are normal, and uniform over these 10 s for invented outages.
        """
        # From the end of one to the beginning of the next.
        interval = drawn["false_interval"] + drawn["off"]
        stands_in = drawn["missed"] * -math.expm1(-10 / interval)
        invented = stands_in / (1 - drawn["missed"] + stands_in)
        law = statistics.NormalDist(0, drawn["error"])

        def is_below(error: float) -> bool:
            return bool((1 - invented) * law.cdf(error) + invented * (error + 5) / 10 < 0.95)

        return {
            "missed": drawn["missed"] - stands_in,
            "ratio": (drawn["on"] + drawn["off"]) / interval - stands_in,
            "error_s": bisected(is_below, 0.0, 5.0)[0],
        }

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Travel for two thousand outages."""
        settings = {
            "error": f"{drawn['error']} s",
            "missed": drawn["missed"],
            "false_interval": f"{drawn['false_interval']} s",
        }
        radio = {"sensing": {"off": f"{drawn['off']} s", "on": f"{drawn['on']} s"}}
        seconds = 2000 * (drawn["on"] + drawn["off"])
        data = _train(radio, {"prediction": {"itinerary": settings}}, seconds)
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("trains")
        return {
            "missed": row["missed_outages"] / row["outages"],
            "ratio": row["false_predictions"] / row["outages"],
            # Exceeded one way by a twentieth of the predictions.
            "error_s": (row["start_error_p95_s"] - row["start_error_p05_s"]) / 2,
        }


class OutageMap(Family):
    """A map of tunnels by earlier journeys: how far ahead it predicts, and how far it is off."""

    name = "outage-map"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.05, "error_s": 0.05}
    tunnels: ClassVar = 400

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the speed, the errors of position, the journeys recorded and how far ahead it looks."""
        return {
            "speed": round(stream.uniform(20, 90), 1),
            "position_error": round(stream.uniform(10, 30), 1),
            "journeys": stream.choice(list(_MEDIAN)),
            "ahead": three_digits(stream.uniform(2, 8)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        record = f"{drawn['journeys']} journeys, positions {drawn['position_error']:g} m off"
        return f"{drawn['speed']:g} m/s, {record}, {drawn['ahead']:g} s ahead"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the time ahead, and the errors of recorded median and present position together."""
        error = drawn["position_error"] * math.sqrt(1 + _MEDIAN[drawn["journeys"]])
        # The radio measures each 50 ms: a prediction comes at the first measurement after its time.
        return {"wait_s": drawn["ahead"] - 0.025, "error_s": error / drawn["speed"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Travel once through many tunnels."""
        length = 1000 * (self.tunnels + 3)
        line = railway(
            speed=drawn["speed"],
            length=length,
            base_stations=[(length / 2, 90)],
            tunnels=[(2000 + 1000 * number, 2200 + 1000 * number) for number in range(self.tunnels)],
            exponent=2,
            interval_ms=50,
        )
        settings = {
            "journeys": drawn["journeys"],
            "position_error": f"{drawn['position_error']} m",
            "ahead": f"{drawn['ahead']} s",
        }
        rows = _predictions(line, {"outage_map": settings}, length / drawn["speed"], seed)
        # Its own errors of position also tell it too soon or too late.
        leads = [row["predicted_start_s"] - row["made_s"] for row in rows]
        errors = [row["start_error_s"] for row in rows]
        return {"wait_s": statistics.fmean(leads), "error_s": statistics.pstdev(errors)}


class SignalStrength(Family):
    """A level that falls along the line: how long before the outage the filter predicts it."""

    name = "signal-strength"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.05}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the level's fall, margin and horizon, and a filter that adapts or hardly does.

        An outage is the prediction's that begins within 5 s of it: the two are not further apart.
        """
        while True:
            drawn = {
                "speed": round(stream.uniform(20, 90), 1),
                "reach": round(stream.uniform(3000, 15_000)),
                "exponent": round(stream.uniform(2, 4), 1),
                "margin": round(stream.uniform(0.2, 2), 2),
                "horizon": three_digits(stream.uniform(0.5, 5)),
                "step": stream.choice([1e-9, 0.1, 0.5, 1.0]),
            }
            lead = self.theirs(drawn, 0)["wait_s"]
            if lead > 1 and abs(lead - drawn["horizon"]) < 4.5:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        fall = f"{drawn['speed']:g} m/s, exponent {drawn['exponent']:g}, {drawn['reach'] / 1e3:g} km"
        ahead = f"margin {drawn['margin']:g} dB, horizon {drawn['horizon']:g} s"
        return f"{fall}; {ahead}, step {drawn['step']:g}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Find where the level, or the level that the filter predicts, falls below the margin.

        Hardly adapting, it predicts the present level. Adapted, it is right about the last level that it
        predicted: it scales the last change over the horizon by how the slope changed, as 1 / distance.
        """
        ahead = drawn["speed"] * drawn["horizon"] if drawn["step"] > 1e-3 else 0.0

        def level(distance: float) -> float:
            return float(10 * drawn["exponent"] * math.log10(drawn["reach"] / distance))

        def predicted(distance: float) -> float:
            before = max(distance - ahead, 1.0)
            return level(distance) + (level(distance) - level(before)) * before / distance

        def is_quiet(distance: float) -> bool:
            return bool(predicted(distance) > drawn["margin"])

        last, _ = bisected(is_quiet, 1 + ahead, float(drawn["reach"]))
        return {"wait_s": (drawn["reach"] - last) / drawn["speed"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Leave the reach of the only base station."""
        power = 10 * drawn["exponent"] * math.log10(drawn["reach"] / 1e3)
        length = drawn["reach"] + 20_000
        line = railway(
            speed=drawn["speed"],
            length=length,
            base_stations=[(0, power)],
            exponent=drawn["exponent"],
            interval_ms=50,
        )
        settings = {
            "noise": "0 dB",
            "step": drawn["step"],
            "margin": f"{drawn['margin']} dB",
            "horizon": f"{drawn['horizon']} s",
        }
        rows = _predictions(line, {"signal_strength": settings}, length / drawn["speed"], seed)
        return {"wait_s": rows[0]["start_s"] - rows[0]["made_s"]}


class Warnings(Family):
    """The router's warnings under the oracle: TU_advance ahead of each outage (Singh and others 2012)."""

    name = "warnings"
    peer = "theory"
    bands: ClassVar = {"wait_s": 0.03}
    is_random = False

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the path, TU_advance and the outages."""
        return {
            "rtt": three_digits(logarithmic(stream, 0.02, 0.5)),
            "tu_advance": round(stream.uniform(1, 4), 1),
            "on": three_digits(stream.uniform(10, 60)),
            "off": three_digits(stream.uniform(0.5, 5)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        outages = f"outages of {drawn['off']:g} s after each {drawn['on']:g} s"
        return f"{outages}; RTT {drawn['rtt'] * 1e3:g} ms, TU_advance {drawn['tu_advance']:g} RTT"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Multiply the round-trip time."""
        return {"wait_s": drawn["tu_advance"] * drawn["rtt"]}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Warn of a hundred outages."""
        radio = {"sensing": {"off": f"{drawn['off']} s", "on": f"{drawn['on']} s"}}
        seconds = 100 * (drawn["on"] + drawn["off"])
        more = {"prediction": "oracle", "tu_advance": drawn["tu_advance"]}
        data = _train(radio, more, seconds, drawn["rtt"], {"requests": _REQUESTS})
        rows = run(Scenario.from_dict(data), seed, "summary").rows("predictions")
        # The router needs some samples of the round-trip time first.
        return {"wait_s": statistics.median(row["down_lead_s"] for row in rows[10:-1])}


_REQUESTS = {"response": {"fixed": "1 kB"}, "pace": {"think": {"fixed": "300 ms"}}}


def _predictions(
    line: str, prediction: Mapping[str, Any], seconds: float, seed: int
) -> Sequence[Mapping[str, Any]]:
    """Travel over a line; return the predictions that belong to outages."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "line.toml"
        place.write_text(line, "utf-8")
        data = _train({"journey": {"map": str(place)}}, {"prediction": dict(prediction)}, seconds)
        rows = run(Scenario.from_dict(data), seed, "summary").rows("predictions")
    return [row for row in rows if math.isfinite(row["start_error_s"])]


def _train(
    radio: Mapping[str, Any],
    train: Mapping[str, Any],
    seconds: float,
    rtt: float = 0.02,
    traffic: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a train with one client, which receives little."""
    link = {"rate": "1 Gbit/s", "queue": "1000 packets"}
    return {
        "name": "train",
        "run": {"duration": f"{seconds:.6f} s", "sample_interval": "1 s"},
        "tcp": {"delayed_ack": "off"},
        "topology": {
            "graph": {
                "nodes": ["source", "base", "router", "client"],
                "links": [
                    {**link, "name": "wire", "from": "source", "to": "base", "delay": "1 us"},
                    {**link, "name": "radio", "from": "base", "to": "router", "delay": f"{rtt / 2:.9f} s"},
                    {**link, "name": "lan", "from": "router", "to": "client", "delay": "1 us"},
                ],
            }
        },
        "radio": [{"name": "cr", "links": ["radio"], **radio}],
        "train": {"router": "router", "radio": "cr", "poll_interval": "10 s", **train},
        "flow": [
            {
                "from": "source",
                "to": "client",
                "transport": "newreno",
                "traffic": dict(traffic or {"size": "1 kB"}),
            }
        ],
    }
