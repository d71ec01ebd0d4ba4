"""The parameters that a paper does not give, one joint design over them, and single settings.

A `Setting` gives every parameter one value; a `Point` gives a value to what a figure varies. Both are
read by attribute (`setting.queue_bdp`, `point.transport`) where a study builds its scenarios.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._names import meant
from cogtcp.studies.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Sequence

Value = str | float | bool


class Values(Mapping[str, Any]):
    """Named values that cannot change: hashable, and readable as attributes."""

    __slots__ = ("_items",)
    _items: tuple[tuple[str, Value], ...]

    def __init__(self, values: Mapping[str, Value] | None = None, /, **more: Value) -> None:
        # Past `__setattr__`, which refuses every change. Sorted, so that equal values have equal hashes.
        object.__setattr__(self, "_items", tuple(sorted({**(values or {}), **more}.items())))

    def __getitem__(self, name: str) -> Any:
        for key, value in self._items:
            if key == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"no value named {name!r}; there are: {known}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot change; use `but({name}=...)`")

    def __hash__(self) -> int:
        return hash(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self._items == other._items

    # `__slots__` and attributes by `__getattr__`: pickling must not look for a state.
    def __reduce__(self) -> tuple[type[Values], tuple[dict[str, Value]]]:
        return type(self), (dict(self._items),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._items)})"

    def but(self, **changes: Value) -> Any:
        """Return the same with some values changed or added."""
        return type(self)({**self, **changes})

    def matches(self, wanted: Mapping[str, Value | Sequence[Value]]) -> bool:
        """Whether each named value is the wanted one, or one of those wanted."""
        return all(
            name in self and (self[name] in value if isinstance(value, list) else self[name] == value)
            for name, value in wanted.items()
        )


class Point(Values):
    """What a figure varies, at one value each."""

    __slots__ = ()


class Setting(Values):
    """The parameters that the paper does not give, one value each."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A parameter on which the paper is silent.

    Either `choices`, all equally likely in the design, or a `low` and a `high` between which it is drawn
    (evenly; with `log` evenly in the logarithm). A parameter with neither is fixed at `base`.
    """

    name: str
    base: Value
    why: str
    """The sentence of the paper, or the default of its simulator, that bounds it."""
    choices: tuple[Value, ...] = ()
    low: float = math.nan
    high: float = math.nan
    log: bool = False
    label: str = ""
    unit: str = ""

    @property
    def is_fixed(self) -> bool:
        """Whether it is stated but never varied."""
        return not self.choices and math.isnan(self.low)

    @property
    def title(self) -> str:
        """Its name in words, with the unit."""
        name = self.label or self.name.replace("_", " ")
        return f"{name} [{self.unit}]" if self.unit else name

    @property
    def base_text(self) -> str:
        """The base as text."""
        return show(self.base)

    @property
    def tried(self) -> str:
        """The values that the design draws from, in words."""
        if self.is_fixed:
            return "fixed"
        if self.choices:
            return ", ".join(show(value) for value in self.choices)
        return f"{show(self.low)} to {show(self.high)}{' (log)' if self.log else ''}"

    def at(self, share: float) -> Value:
        """Return the value at `share` (0 to 1) of the range."""
        if self.choices:
            # A share of exactly 1 would be one past the end.
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.log:
            return _three_digits(self.low * (self.high / self.low) ** share)
        return _three_digits(self.low + (self.high - self.low) * share)

    def share(self, value: Value) -> float:
        """Return where in the range a value is, from 0 to 1: the inverse of `at`."""
        scale: Any = math.log if self.log else float
        return float((scale(float(value)) - scale(self.low)) / (scale(self.high) - scale(self.low)))

    def parsed(self, text: str) -> Value:
        """Return the value that a text names: a choice as it is shown, or a number of the range.

        Raises:
            StudyError: It names none.
        """
        for choice in self.choices:
            if text == show(choice):
                return choice
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if self.choices or not self.low <= value <= self.high:
            raise StudyError(f"`{self.name}` can be {self.tried}, not {text!r}")
        return value

    def allows(self, value: Value) -> bool:
        """Return whether the parameter can have a value."""
        if self.is_fixed:
            return value == self.base
        if self.choices:
            return value in self.choices
        return not isinstance(value, str) and self.low <= value <= self.high

    def level(self, value: Value, levels: int = 3) -> str:
        """Return the class of a value: the choice, or one of so many equal parts of the range."""
        if self.choices:
            return show(value)
        part = min(int(self.share(value) * levels), levels - 1)
        return f"{show(self.at(part / levels))} to {show(self.at((part + 1) / levels))}"

    def levels(self) -> list[str]:
        """Return the classes in order."""
        if self.choices:
            return [show(value) for value in self.choices]
        return [self.level(self.at((part + 0.5) / 3)) for part in range(3)]


@dataclass(frozen=True, slots=True)
class Space:
    """All parameters that a paper does not give."""

    unsaid: tuple[Unsaid, ...]

    @property
    def base(self) -> Setting:
        """The setting of the scenario."""
        return Setting({parameter.name: parameter.base for parameter in self.unsaid})

    @property
    def varied(self) -> tuple[Unsaid, ...]:
        """The parameters that the design varies."""
        return tuple(parameter for parameter in self.unsaid if not parameter.is_fixed)

    def design(self, count: int, seed: int) -> list[Setting]:
        """Return `count` settings that fill the space evenly: a Latin hypercube (McKay et al. 1979).

        Each parameter's range is cut into `count` parts of equal probability, and each part is used once; a
        choice comes up equally often, give or take one. The same count and seed give the same design.
        """
        columns: dict[str, list[Value]] = {}
        for parameter in self.varied:
            # A stream for each parameter: one more leaves the others' columns as they are.
            stream = random.Random(f"design/{seed}/{parameter.name}")  # noqa: S311 - a documented draw
            order = list(range(count))
            stream.shuffle(order)
            # A random place within each part.
            columns[parameter.name] = [parameter.at((part + stream.random()) / count) for part in order]
        return [
            self.base.but(**{name: values[index] for name, values in columns.items()})
            for index in range(count)
        ]

    def parsed(self, at: str) -> Setting:
        """Return the base, or the base but for what `at` names: "silence=hold,rtt_ms=100".

        Raises:
            StudyError: There is no such parameter, or it cannot have that value.
        """
        setting: Setting = self.base
        # A choice may have a comma of its own.
        for part in [] if at == "base" else re.split(r",(?=\w+=)", at):
            name, _, value = part.partition("=")
            known = {parameter.name: parameter for parameter in self.varied}
            if name not in known:
                raise StudyError(f"no parameter {name!r}; {meant(name, known)} known: {', '.join(known)}")
            setting = setting.but(**{name: known[name].parsed(value)})
        return setting

    def differences(self, setting: Setting) -> str:
        """Say in words what of a setting is not as in the base."""
        base = self.base
        found = {name: value for name, value in setting.items() if value != base[name]}
        return self.told(found) or "as in the scenario"

    def told(self, values: Mapping[str, Value]) -> str:
        """Say values in words: "rate 2 Mbit/s, queue 1.5 BDP"."""
        return ", ".join(
            f"{parameter.label or parameter.name.replace('_', ' ')} {show(values[parameter.name])} "
            f"{parameter.unit}".rstrip()
            for parameter in self.varied
            if parameter.name in values
        )


def show(value: Value) -> str:
    """Return a value as text: `on`, `off`, three digits, or the word itself."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else f"{value:.3g}" if value < 999.5 else f"{value:.0f}"


def _three_digits(value: float) -> float:
    """Round to what a scenario file would say, so that a setting can be written down in full."""
    return float(f"{value:.3g}")
