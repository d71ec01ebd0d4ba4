"""What is varied: a range `LOW..HIGH` or a list `A,B,C` for a field of the scenario.

Values are written as in the scenario and read by it: which field, which unit, whole numbers or not is asked
of the scenario, never decided here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from cogtcp import _units
from cogtcp._errors import ScenarioError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.model.scenario import Scenario

#: Units as scenarios write them: the unit in which the search reckons, and its size in that. Units that are
#: not listed (segments, packets) have no other beside them.
UNITS: dict[str, tuple[str, float]] = {
    **{
        name: (next(iter(units)), size)
        for units in (_units.TIME, _units.RATE, _units.BYTES, _units.FREQUENCY, _units.POWER, _units.LENGTH)
        for name, size in units.items()
    },
    "segment": ("segments", 1.0),
    "packet": ("packets", 1.0),
}

#: What is varied where nothing is named: the two times of a CR user, over the ranges of MSWiM 2009, Figure 2.
DEFAULT = {"cr.sensing_time": "10 ms..1 s", "cr.transmission_time": "200 ms..4 s"}

# Not ".5": three dots in a range are a slip of the finger.
_NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(\D.*?)?\s*")
_END = rf"\s*({_NUMBER}\s*(?:[^\d\s.,:][^,:]*?)?)\s*"
_RANGE = re.compile(rf"{_END}\.\.{_END}(?::\s*(\w*)\s*)?")
_EXAMPLE = '"20 ms..1 s"'
#: A range has at least this many values that the search tells apart.
_FINENESS = 500
#: From this ratio of its ends on a range is logarithmic unless it says otherwise.
_LOG_FROM = 10

#: The path of a field: keys, and indices of elements.
KeyPath: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Range:
    """A field that takes any value between two ends.

    Attributes:
        path: The field, as in `Scenario.set`.
        place: The field with elements of lists by number.
        low: The low end, in `unit`.
        high: The high end, in `unit`.
        unit: Unit of all numbers here; empty for bare numbers.
        whole: Whether the field takes whole numbers only.
        log: Whether the search looks at ratios instead of differences.
    """

    path: str
    place: KeyPath
    low: float
    high: float
    unit: str
    whole: bool
    log: bool

    def snap(self, value: float) -> float:
        """Return the nearest value in the range with no more digits than tell it from the next."""
        value = min(max(value, self.low), self.high)
        if self.whole:
            return float(round(value))
        # On a logarithmic scale steps are ratios: their size grows with the value.
        step = value * math.log(self.high / self.low) if self.log else self.high - self.low
        return min(max(round(value, -math.floor(math.log10(step / _FINENESS))), self.low), self.high)

    def at(self, share: float) -> float:
        """Return the value at this share of the way from the low end to the high one."""
        if self.log:
            return self.snap(self.low * (self.high / self.low) ** share)
        return self.snap(self.low + (self.high - self.low) * share)

    def text(self, value: float) -> str:
        """Return a value as the scenario reads it."""
        number = str(round(value)) if self.whole else repr(float(value))
        return f"{number} {self.unit}".strip()

    def describe(self) -> str:
        """Return the range as people read it."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.low:g} to {self.high:g}{unit}, {'log' if self.log else 'linear'}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A field that takes one of some values.

    Attributes:
        path: The field, as in `Scenario.set`.
        place: The field with elements of lists by number.
        values: The values, as the scenario reads them.
    """

    path: str
    place: KeyPath
    values: tuple[str, ...]

    def describe(self) -> str:
        """Return the values as people read them."""
        return ", ".join(self.values)


Parameter: TypeAlias = Range | Choice


def parameters(scenario: Scenario, vary: Mapping[str, str] | None) -> tuple[Parameter, ...]:
    """Return what is varied. Raises for fields and values that the scenario does not take."""
    found: list[Parameter] = []
    for path, text in (vary if vary is not None else _default(scenario)).items():
        parameter = _parameter(scenario, path, text)
        for other in found:
            if other.place == parameter.place:
                raise UsageError(f"{other.path} and {path} are one field; vary it once")
        found.append(parameter)
    if not found:
        raise UsageError(f"name what to vary, as in radio.0.cr.sensing_time={_EXAMPLE}")
    return tuple(found)


def read(scenario: Scenario, place: KeyPath) -> Any:
    """Return what stands at a place: text, number, ...; None where there is nothing."""
    value: Any = scenario.to_dict()
    for step in place:
        if isinstance(value, list):
            index = 0 if step == "*" else step
            value = value[index] if isinstance(index, int) and index < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def quantity(value: object) -> tuple[float, str] | None:
    """Return number and unit of what a scenario holds, the unit one in which the search reckons."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    unit, size = UNITS.get(match[2] or "", (match[2] or "", 1.0))
    # Through 15 digits: 0.02 instead of 20 * 0.001 with its last bit wrong.
    return float(f"{float(match[1]) * size:.15g}"), unit


def _default(scenario: Scenario) -> dict[str, str]:
    radios = scenario.to_dict().get("radio", [])
    if not radios or not all(radio.get("cr") for radio in radios):
        raise UsageError(
            f"name what to vary, as in radio.0.cr.sensing_time={_EXAMPLE}; by default sensing and "
            "transmission times vary, but only if every radio has [radio.cr]"
        )
    element = "0" if len(radios) == 1 else "*"
    return {f"radio.{element}.{field}": text for field, text in DEFAULT.items()}


def _parameter(scenario: Scenario, path: str, text: str) -> Parameter:
    if not isinstance(text, str):
        raise UsageError(f"{path}={text!r}: write a range as a text, as in {_EXAMPLE}")
    match = _RANGE.fullmatch(text)
    if match is not None:
        return _range(scenario, path, text, match[1].strip(), match[2].strip(), match[3])
    values = [value for value in _split(text) if value]
    if len(values) < 2:
        raise UsageError(
            f"{path}={text}: write a range as {_EXAMPLE}, or at least two values with commas between"
        )
    for value in values:
        if values.count(value) > 1:
            raise UsageError(f"{path}={text}: {value} is named twice; name each value once")
        scenario.set_text(path, value).check()
    return Choice(path, _place(scenario, path, values[0]), tuple(values))


def _range(scenario: Scenario, path: str, text: str, low: str, high: str, scale: str | None) -> Range:
    def wrong(why: str) -> UsageError:
        return UsageError(f"{path}={text}: {why}")

    if scale not in (None, "log", "linear"):
        raise wrong(f'unknown scale "{scale}"; write :log or :linear, as in "20 ms..1 s:log"')
    place = _place(scenario, path, low)
    ends = []
    for end in (low, high):
        # As the scenario writes it: one spelling of each unit, and a percentage as a number.
        ends.append(quantity(read(scenario.set_text(path, end), place)) or quantity(end))
    (first, unit), (last, other) = (end or (math.nan, "") for end in ends)
    if unit != other:
        raise wrong(f"{low} and {high} have units that are not of one kind; give both ends in the same unit")
    if not first < last:
        raise wrong("the low end must be below the high one")
    log = first > 0 and last / first >= _LOG_FROM if scale is None else scale == "log"
    if log and first <= 0:
        raise wrong("a log scale needs both ends above zero; write :linear")
    # A value that is no whole number, unless the field takes no such values.
    between = Range(path, place, first, last, unit, False, log).at(0.414)
    whole = between != round(between) and not _takes(scenario, path, f"{between!r} {unit}".strip())
    if whole:
        # A field that takes neither is refused here, with its own message.
        scenario.set_text(path, f"{round(between)} {unit}".strip())
    return Range(path, place, first, last, unit, whole, log)


def _takes(scenario: Scenario, path: str, text: str) -> bool:
    try:
        scenario.set_text(path, text)
    except ScenarioError:
        return False
    return True


def _place(scenario: Scenario, path: str, value: str) -> KeyPath:
    """Return a path with elements of lists by number, once the scenario has taken a value there."""
    node: Any = scenario.set_text(path, value).to_dict()
    place: list[str | int] = []
    for step in map(str.strip, path.split(".")):
        key: str | int = step
        if isinstance(node, list):
            if step.isdigit():
                key = int(step)
            elif step != "*":
                key = next(i for i, element in enumerate(node) if element.get("name") == step)
            node = node[key] if isinstance(key, int) else node[0]
        else:
            node = node.get(step) if isinstance(node, dict) else None
        place.append(key)
    return tuple(place)


def _split(text: str) -> Sequence[str]:
    """Split at commas that are in no bracket and no quotes."""
    parts, depth, quoted = [""], 0, False
    for sign in text:
        if sign == '"':
            quoted = not quoted
        elif not quoted:
            depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
