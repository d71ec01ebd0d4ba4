"""What theory says of a CR user's times, where a scenario states enough for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from cogtcp.data.spectrum import sensing, sensing_time
from cogtcp.model.models.sensing import usable_airtime
from cogtcp.running.space import Range, quantity, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.deciding.tuning.evaluate import Point
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.space import Parameter

#: The errors of `cogtcp sensing` that its "shortest" is for.
TARGET = (0.95, 0.05)
_STEPS = 200
_TIMES = {"sensing_time": "t_s", "transmission_time": "T_p"}


@dataclass(frozen=True)
class Theory:
    """The closed forms of a CR user.

    Attributes:
        best: t_s and T_p of the largest usable airtime within the ranges; of a time that is not varied, the
            scenario's.
        share: The usable airtime there, as a share of the time.
        at_edge: Whether that is at an end of a range, so that outside of it there may be more.
        shortest: The shortest t_s for P_d' and P_f' of `TARGET`, in s; infinite where there is none.
        point: `best` as a point of the search.
    """

    best: tuple[float, float]
    share: float
    at_edge: bool
    shortest: float
    point: Point
    _radio: _Radio = field(repr=False)

    def usable(self, t_s: float, t_p: float) -> float:
        """Return the usable airtime at other times, as a share of the time."""
        return self._radio.usable(t_s, t_p)


def theory(scenario: Scenario, parameters: Sequence[Parameter]) -> Theory | str:
    """Return what theory says where t_s, T_p or both are varied; else why it says nothing."""
    ranges = [parameter for parameter in parameters if isinstance(parameter, Range)]
    by_time = {_time(parameter): parameter for parameter in ranges}
    if len(ranges) < len(parameters) or None in by_time:
        return "theory covers only sensing and transmission times"
    element = ranges[0].place[1]
    if any(parameter.place[1] != element for parameter in ranges):
        return "theory covers only the times of one radio"
    radio = _Radio.of(scenario, element)
    if isinstance(radio, str):
        return radio
    axes = [_values(by_time.get("t_s"), radio.t_s), _values(by_time.get("T_p"), radio.t_p)]
    best = max(((t_s, t_p) for t_s in axes[0] for t_p in axes[1]), key=lambda times: radio.usable(*times))
    of = dict(zip(("t_s", "T_p"), best, strict=True))
    return Theory(
        best=best,
        share=radio.usable(*best),
        at_edge=any(of[name or ""] in (axis.low, axis.high) for name, axis in by_time.items()),
        shortest=radio.shortest,
        point=tuple(axis.snap(of[_time(axis) or ""]) for axis in ranges),
        _radio=radio,
    )


class _Radio:
    """A CR user among exponential PUs, as the closed forms know it."""

    def __init__(self, t_s: float, t_p: float, switching: float, rates: tuple[float, float]) -> None:
        self.t_s, self.t_p = t_s, t_p
        self.detector: dict[str, Any] = {}
        self._switching = switching
        self._alpha, self._beta = rates

    @classmethod
    def of(cls, scenario: Scenario, element: object) -> _Radio | str:
        radio = read(scenario, ("radio", 0 if element == "*" else int(str(element)), "cr"))
        rates = read(scenario, ("spectrum", "pu", "exponential"))
        if not isinstance(rates, dict):
            return "theory covers only exponential ON and OFF times"
        if radio.get("cooperation") or radio.get("policy") == "sticky":
            return "theory covers only radios that sense alone and change channel after each reported PU"
        alpha, beta = (float(rates.get(name) or 0) for name in ("alpha", "beta"))
        times = [
            (quantity(radio.get(name)) or (0.0, ""))[0]
            for name in ("sensing_time", "transmission_time", "switching_delay")
        ]
        made = cls(times[0], times[1], times[2], (alpha, beta))
        detector = _detector(radio.get("detector"))
        if detector is None:
            return "it knows no detector of this kind"
        if detector.get("detector") == "map":
            detector.setdefault("p_on", beta / (alpha + beta))
        made.detector = detector
        return made

    @property
    def shortest(self) -> float:
        return sensing_time(*TARGET, **self.detector)

    def usable(self, t_s: float, t_p: float) -> float:
        detection, false_alarm = self._errors(t_s)
        return usable_airtime(
            t_s,
            t_p,
            detection=detection,
            false_alarm=false_alarm,
            alpha=self._alpha,
            beta=self._beta,
            switching_delay_s=self._switching,
        )

    @cache  # noqa: B019 (lives as long as one tuning)
    def _errors(self, t_s: float) -> tuple[float, float]:
        (found,) = sensing([t_s], **self.detector)
        return found.detection, found.false_alarm


def _time(parameter: Range) -> str | None:
    """Return which time of a CR user a parameter is."""
    place = parameter.place
    is_time = len(place) == 4 and place[0] == "radio" and place[2] == "cr"
    return _TIMES.get(str(place[3])) if is_time else None


def _values(axis: Range | None, fixed: float) -> list[float]:
    if axis is None:
        return [fixed]
    low, high = (math.log(axis.low), math.log(axis.high)) if axis.log else (axis.low, axis.high)
    inner = [low + (high - low) * step / _STEPS for step in range(1, _STEPS)]
    # The ends themselves, not what the logarithm and back make of them: `at_edge` compares them.
    values = [axis.low, *(math.exp(value) if axis.log else value for value in inner), axis.high]
    return [value for value in values if value > 0]


def _detector(described: object) -> dict[str, Any] | None:
    """Return a scenario's detector as `cogtcp.spectrum.sensing` takes it."""
    if isinstance(described, str):
        name = described.replace("_", "-")
        return {"detector": name} if name in ("perfect", "as-released") else None
    if not isinstance(described, dict) or len(described) != 1:
        return None
    ((kind, values),) = described.items()
    name = str(kind).replace("_", "-")
    if name not in ("map", "neyman-pearson", "simplified", "fixed") or not isinstance(values, dict):
        return None
    found: dict[str, Any] = {"detector": name}
    for key, value in values.items():
        if value is None:
            continue
        number = quantity(value)
        if number is None:
            return None
        found["snr_db" if key == "snr" else str(key)] = number[0]
    return found
