"""What of a scenario can be changed in the lab: its numbers, as sliders, and a few choices."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp import _units
from cogtcp.deciding.tuning import charged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.model.scenario import Scenario

#: Units of a slider's number: factors to the first one of each kind.
_UNITS = {
    "s": _units.TIME,
    "Mbit/s": {name: size / _units.RATE["Mbit/s"] for name, size in _units.RATE.items()},
    "packets": {"packets": 1.0, "packet": 1.0},
    "dB": _units.RATIO,
    "dBm": {"dBm": 1.0},
    "%": {"%": 1.0},
    "Hz": _units.FREQUENCY,
    "m": _units.LENGTH,
    "B": _units.BYTES,
}
#: Units of what cannot be negative: a slider of 0 begins there.
_UNSIGNED = ("s", "Mbit/s", "packets", "%", "B")
_QUANTITY = re.compile(r"^(-?\d+(?:\.\d+)?(?:e-?\d+)?) ?([A-Za-z/%]+)$")

# By the last key: what people call it, and how far its slider goes. They come first, in this order.
_KNOWN: dict[str, tuple[str, float, float, bool]] = {
    "rate": ("Rate", 0.1, 100, True),
    "delay": ("Delay, one way", 0.001, 1, True),
    "queue": ("Queue", 1, 2000, True),
    "loss": ("Loss", 0, 0.05, False),
    "off": ("A silence lasts", 0.001, 5, True),
    "on": ("Open between silences", 0.1, 60, True),
    "sensing_time": ("Sensing time t_s", 0.001, 2, True),
    "transmission_time": ("Transmission time T_p", 0.05, 10, True),
    "snr": ("SNR of the PU", -30, 0, False),
    "mean_on": ("PU on, mean", 0.05, 60, True),
    "mean_off": ("PU off, mean", 0.05, 60, True),
    "alpha": ("PU departures, alpha", 0.01, 10, True),
    "beta": ("PU arrivals, beta", 0.01, 10, True),
    "count": ("Flows", 1, 12, False),
    "duration": ("Simulated time", 1, 300, True),
}
#: Names by the whole path, where the last key has another meaning than elsewhere.
_BY_PATH: dict[str, str] = {
    r"\.pu\.\w+\.count$": "Primary users",
    r"^spectrum\.channels\..*\.rate$": "Rate of a channel",
}
#: Choices: the values that a key may take.
_CHOICES = {
    "silence": ("Packets during a silence", ("hold", "drop", "refuse", "down")),
    "delayed_ack": ("", ()),
}
#: No sliders: they change what is compared, or nothing that shows.
_LEFT_OUT = {"seed", "sample_interval", "warmup", "start", "stagger", "segment_size"}


@dataclass(frozen=True, slots=True)
class Control:
    """One slider, choice or switch.

    Attributes:
        path: The field, as `Scenario.set` takes it.
        label: What people call it.
        value: As it is: a number in `unit`, or a text.
        unit: Of the number; empty for none.
        low: The slider's lower end; of no meaning for choices.
        high: The slider's upper end.
        log: Whether the slider is logarithmic.
        whole: Whether only whole numbers make sense.
        choices: The texts to choose from.
        first: Whether it is shown without asking.
    """

    path: str
    label: str
    value: float | str
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()
    first: bool = False

    def text(self, value: float | str) -> str:
        """Return a value as `Scenario.set_text` takes it.

        Raises:
            ValueError: It is no value of this control.
        """
        if self.choices:
            if value not in self.choices:
                raise ValueError(f"{self.path}: {value!r} is not one of {', '.join(self.choices)}")
            return str(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{self.path}: {value!r} is no number")
        if not self.low <= value <= self.high:
            raise ValueError(
                f"{self.path}: {value:g} is not within {self.low:g} to {self.high:g} {self.unit}".rstrip()
            )
        number = str(round(value)) if self.whole else f"{value:.6g}"
        return f"{number} {self.unit}".rstrip()


def describe() -> dict[str, Any]:
    """Return the names, ranges and units of sliders, for a page that finds them itself."""
    return {
        "units": {unit: dict(factors) for unit, factors in _UNITS.items()},
        "known": {key: list(known) for key, known in _KNOWN.items()},
        "by_path": dict(_BY_PATH),
        "choices": {key: [label, list(choices)] for key, (label, choices) in _CHOICES.items()},
        "left_out": sorted(_LEFT_OUT),
        "unsigned": list(_UNSIGNED),
        "uncharged": charged.describe("goodput"),
    }


def controls_of(scenario: Scenario) -> dict[str, Control]:
    """Return what can be changed of a scenario, by path, the most telling first."""
    found = [
        control
        for path, key, value in _leaves(scenario.to_dict(), "")
        if (control := _control(path, key, value))
    ]
    order = {key: place for place, key in enumerate(_KNOWN)}
    found.sort(key=lambda control: order.get(control.path.rpartition(".")[2], len(order)))
    return {control.path: control for control in found}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            # Numbers that name nothing, as a list of positions, make no sliders.
            if isinstance(part, dict):
                yield from _leaves(part, f"{path}.{index}")
    else:
        yield path, path.rpartition(".")[2], value


def _control(path: str, key: str, value: Any) -> Control | None:
    if key in _LEFT_OUT or isinstance(value, bool) or not path.count("."):
        return None
    if key in _CHOICES:
        label, choices = _CHOICES[key]
        return Control(path, label, value, choices=choices, first=True) if value in choices else None
    number, unit = quantity(value)
    if number is None or not math.isfinite(number):
        return None
    known = _KNOWN.get(key)
    if known is not None:
        label, low, high, log = known
    else:
        label, log = key.replace("_", " "), number > 0
        low, high = (number / 10, number * 10) if number > 0 else (min(2 * number, -1.0), max(-number, 1.0))
        if number == 0 and unit in _UNSIGNED:
            low = 0.0
    label = next((name for pattern, name in _BY_PATH.items() if re.search(pattern, path)), label)
    # A value beyond the usual stays within reach.
    low, high = min(low, number), max(high, number)
    if log and low <= 0:
        log = False
    # The links of a path are many; that of a radio, or the one there is, is what one looks for.
    first = known is not None and not path.startswith(("topology.dumbbell.access", "tcp."))
    first = first and not (path.startswith("topology.") and re.search(r"\.links\.\d+\.", path) is not None)
    whole = key == "count" or unit == "packets"
    return Control(path, _labelled(path, label), number, unit, low, high, log, whole, first=first)


def _labelled(path: str, label: str) -> str:
    """Tell controls of the same name apart by where they are."""
    where = re.match(r"(?:radio|flow|topology\.\w+\.links)\.(\d+)\.", path)
    return f"{label} ({path.split('.')[0]} {int(where[1]) + 1})" if where and where[1] != "0" else label


def quantity(value: Any) -> tuple[float | None, str]:
    """Return number and unit of what a scenario holds, in the unit of its slider; None for no number."""
    if isinstance(value, int | float):
        return float(value), ""
    match = _QUANTITY.match(value) if isinstance(value, str) else None
    if match is None:
        return None, ""
    for unit, factors in _UNITS.items():
        if match[2] in factors:
            return float(match[1]) * factors[match[2]], unit
    return None, ""
