"""Primary users beside renewal theory, and energy detection in runs beside its printed errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.data.spectrum import sensing
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from cogtcp.data.spectrum import Detector

#: Laws of a span, as a scenario names them.
_LAWS = ("exponential", "deterministic", "log_normal", "gamma", "pareto")


def _drawn_law(stream: random.Random) -> dict[str, Any]:
    """Draw a law of a mean of some seconds: its name and two numbers."""
    name = stream.choice(_LAWS)
    second = {
        "log_normal": lambda: three_digits(stream.uniform(0.2, 1.0)),
        "gamma": lambda: float(stream.randint(2, 6)),
        # Below 3 the mean of a run converges slowly.
        "pareto": lambda: three_digits(stream.uniform(3, 6)),
    }
    return {
        "law": name,
        "mean": three_digits(logarithmic(stream, 0.5, 5)),
        "form": second[name]() if name in second else 0.0,
    }


def _written(law: str, mean: float, form: float) -> dict[str, Any]:
    """Return the law as a scenario has it."""
    if law == "log_normal":
        return {law: {"median": f"{mean * math.exp(-form * form / 2):.9f} s", "sigma": form}}
    if law == "gamma":
        return {law: {"shape": form, "scale": f"{mean / form:.9f} s"}}
    if law == "pareto":
        return {law: {"minimum": f"{mean * (form - 1) / form:.9f} s", "shape": form}}
    return {law: f"{mean} s"}


def survival(law: str, mean: float, form: float, time: float) -> float:
    """Return the probability that a span of the law is longer than a time, s."""
    if law == "exponential":
        return math.exp(-time / mean)
    if law == "deterministic":
        return float(time < mean)
    if law == "log_normal":
        if time <= 0:
            return 1.0
        return math.erfc((math.log(time / mean) + form * form / 2) / form / math.sqrt(2)) / 2
    if law == "gamma":
        # Of a whole shape: Erlang.
        steps = time * form / mean
        return math.exp(-steps) * sum(steps**k / math.factorial(k) for k in range(int(form)))
    least = mean * (form - 1) / form
    return 1.0 if time < least else float((least / time) ** form)


def idle_for(law: str, mean: float, form: float, time: float) -> float:
    """Return the probability that a stationary idle time lasts for a time more: the law of its rest.

    It is the integral of the survival over the mean, from that time on (Cox, *Renewal Theory*, section 5.2).
    """
    # The integral from 0 is the mean; that up to a time of sensing is smooth but for a step.
    steps = 2000
    inner = sum(survival(law, mean, form, time * (k + 0.5) / steps) for k in range(steps)) * time / steps
    return max(0.0, 1 - inner / mean)


class PrimaryUsers(Family):
    """Primary users of any law: their share of the time, and how often a perfect detector finds one."""

    name = "primary-users"
    peer = "theory"
    bands: ClassVar = {"share": 0.05, "detected": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw both laws and the sensing time."""
        on, off = _drawn_law(stream), _drawn_law(stream)
        return {
            **{f"on_{key}": value for key, value in on.items()},
            **{f"off_{key}": value for key, value in off.items()},
            "sensing": three_digits(logarithmic(stream, 0.01, 1)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""

        def words(side: str) -> str:
            form = f" ({drawn[f'{side}_form']:g})" if drawn[f"{side}_form"] else ""
            return f"{side.upper()} {drawn[f'{side}_law']}{form}, mean {drawn[f'{side}_mean']:g} s"

        return f"{words('on')}; {words('off')}; sensing {drawn['sensing'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the share ON, and the chance to meet a primary user within the window."""
        on, off = _law(drawn, "on"), _law(drawn, "off")
        idle = off[1] / (on[1] + off[1])
        return {"share": 1 - idle, "detected": 1 - idle * idle_for(*off, drawn["sensing"])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Sense far apart, on channels chosen at random, so that each sensing meets a new state."""
        on, off = _law(drawn, "on"), _law(drawn, "off")
        cycle = on[1] + off[1]
        laws = {"on": _written(*on), "off": _written(*off), "start": "stationary"}
        return sensed_far_apart({"laws": laws}, drawn["sensing"], cycle, 60, seed)


def sensed_far_apart(
    users: Mapping[str, Any], sensing: float, cycle: float, bands: int, seed: int
) -> dict[str, float]:
    """Return the share of time ON of primary users, and the share of sensings that find one.

    Args:
        users: The scenario's `pu`.
        sensing: The sensing time, s.
        cycle: Mean of an ON and an OFF time, s.
        bands: One is chosen at random for each sensing.
        seed: Of the run.
    """
    radio = {
        "detector": "perfect",
        "policy": "random",
        "sensing_time": f"{sensing} s",
        # No multiple of a cycle, which deterministic laws would keep in step.
        "transmission_time": f"{20 * cycle:.6f} s",
        "jitter": f"{10 * cycle:.6f} s",
    }
    seconds = 60_000 * cycle
    data = radio_alone(seconds, bands, {}, radio)
    data["spectrum"]["pu"] = dict(users)
    # Statistics of what the radio meets begin after the cycles that a start needs.
    (row,) = run(Scenario.from_dict(data), seed, "summary").rows("radios")
    share = row["pu_airtime_s"] / bands / seconds
    return {"share": share, "detected": row["detections"] / row["sensings"]}


class EnergyDetection(Family):
    """An energy detector in a run, beside the errors that `cogtcp sensing` prints."""

    name = "energy-detection"
    peer = "theory"
    bands: ClassVar = {"detected": 0.05, "false_alarms": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw detector, SNR and sensing time at which both errors are seen."""
        while True:
            drawn = {
                "detector": stream.choice(["map", "neyman-pearson", "simplified"]),
                "snr": round(stream.uniform(-26, -14), 1),
                "sensing": three_digits(logarithmic(stream, 0.005, 0.3)),
                "target": round(stream.uniform(0.05, 0.3), 2),
            }
            errors = self.theirs(drawn, 0)
            if errors["false_alarms"] >= 0.05 and errors["detected"] >= 0.05:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        target = f", target {drawn['target']:g}" if drawn["detector"] == "neyman-pearson" else ""
        return f"{drawn['detector']}{target}, SNR {drawn['snr']:g} dB, {drawn['sensing'] * 1e3:g} ms"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the probabilities of the pages of the detectors."""
        detector: Detector = drawn["detector"]
        (found,) = sensing(
            [drawn["sensing"]], detector=detector, snr_db=drawn["snr"], false_alarm=drawn["target"]
        )
        return {"detected": found.detection, "false_alarms": found.false_alarm}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Sense primary users that stay as they are over many sensings, so that windows are all ON or OFF."""
        span = 400 * drawn["sensing"]
        laws = {
            "on": {"exponential": f"{span} s"},
            "off": {"exponential": f"{span} s"},
            "start": "stationary",
        }
        radio = {
            "detector": self.detector(drawn),
            "policy": "random",
            "sensing_time": f"{drawn['sensing']} s",
            "transmission_time": f"{drawn['sensing']} s",
            **self.more(drawn),
        }
        data = radio_alone(60_000 * drawn["sensing"], 2, laws, radio)
        (row,) = run(Scenario.from_dict(data), seed, "summary").rows("radios")
        # `detections` counts reports of a primary user that is there.
        present = row["detections"] + row["missed_detections"]
        absent = row["sensings"] - present
        return {"detected": row["detections"] / present, "false_alarms": row["false_alarms"] / absent}

    def detector(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Return the radio's detector."""
        name = drawn["detector"].replace("-", "_")
        table: dict[str, Any] = {"snr": f"{drawn['snr']} dB"}
        if name == "neyman_pearson":
            table |= {"sampling_rate": "2 MHz", "false_alarm": drawn["target"]}
        else:
            table |= {"bandwidth": "1 MHz"}
        return {name: table}

    def more(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Return more of the radio's settings."""
        return {}


class Cooperation(EnergyDetection):
    """Two to five energy detectors that decide together, in a run, beside the sum over their reports."""

    name = "cooperation"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the sensors and their rule too, again where either error is hardly seen."""
        while True:
            drawn = {
                **super().draw(stream),
                "sensors": stream.randint(2, 5),
                "rule": stream.choice(["or", "and", "majority"]),
            }
            errors = self.theirs(drawn, 0)
            if errors["false_alarms"] >= 0.05 and errors["detected"] >= 0.05:
                return drawn

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{super().told(drawn)}, {drawn.get('rule')} of {drawn.get('sensors')}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Sum the binomial probabilities over the reports that suffice, of what one sensor reports."""
        alone = super().theirs(drawn, seed)
        sensors = drawn.get("sensors", 1)
        least = {"or": 1, "and": sensors, "majority": sensors // 2 + 1}[drawn.get("rule", "or")]
        return {
            measure: sum(
                math.comb(sensors, k) * p**k * (1 - p) ** (sensors - k) for k in range(least, sensors + 1)
            )
            for measure, p in alone.items()
        }

    def more(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Place the neighbours beside the end that senses."""
        places = [[f"{number} m", "0 m"] for number in range(1, drawn["sensors"])]
        return {"cooperation": {"neighbours": places, "rule": drawn["rule"]}}


def _law(drawn: Mapping[str, Any], side: str) -> tuple[str, float, float]:
    return drawn[f"{side}_law"], drawn[f"{side}_mean"], drawn[f"{side}_form"]


def radio_alone(
    seconds: float, bands: int, laws: Mapping[str, Any], radio: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a radio over primary users; its flow sends one packet, and little is sampled."""
    link = {"rate": "1 Mbit/s", "delay": "1 ms", "queue": "50 packets"}
    once = {"from": "sender", "to": "receiver", "transport": "newreno", "traffic": {"size": "1 kB"}}
    return {
        "name": "sensing",
        "run": {"duration": f"{seconds:.6f} s", "sample_interval": "1 s"},
        "topology": {"single_hop": {"link": link}},
        "spectrum": {
            "bands": bands,
            "channels": {"uniform": "1 Mbit/s"},
            "pu": {"laws": dict(laws)},
        },
        "radio": [{"name": "cr", "links": ["link"], "cr": {"access": "none", **radio}}],
        "flow": [once],
    }
