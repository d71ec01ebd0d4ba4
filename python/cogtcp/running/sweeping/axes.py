"""What a sweep varies: fields of the scenario, and the values that they take."""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._errors import ScenarioError, UsageError
from cogtcp.model.metrics import METRICS
from cogtcp.model.scenario import _toml
from cogtcp.running.space import Range, parameters, quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cogtcp.model.scenario import Scenario

#: Columns of the table of runs that no axis may be called.
RESERVED = {"key", "transport", "seed", "error", "limit_s", "digest", *(metric.name for metric in METRICS)}
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
#: What figures call a field, where its own words do not say: by its last key, or its last two.
_TITLES = {
    "sensing.on": "Time between silences",
    "sensing.off": "Length of a silence",
    "sensing_time": "Sensing time",
    "transmission_time": "Transmission time",
    "switching_delay": "Handoff delay",
    "min_rto": "Least RTO",
    "max_window": "Greatest window",
    "initial_window": "Initial window",
    "segment_size": "Segment size",
    "receive_buffer": "Receive buffer",
    "snr": "SNR",
    "count": "Flows",
    "delay": "One-way delay",
}
# In so many steps a range is gone through that names none.
_STEPS = 10


@dataclass(frozen=True, slots=True)
class Axis:
    """One field and its values.

    Attributes:
        path: The field, as in `Scenario.set`.
        name: What its column is called.
        texts: The values as the scenario reads them; empty for a range that is drawn from.
        unit: Unit of its column: s, bit/s, B, ...; empty for bare numbers and texts.
        range: The range, where one was given.
    """

    path: str
    name: str
    texts: tuple[str, ...]
    unit: str = ""
    range: Range | None = None

    def value(self, text: str) -> float | str:
        """Return a value as its column has it: a number in base units, or the text."""
        return _number(text, self.unit)

    @property
    def title(self) -> str:
        """What figures call it."""
        return title(self.path, self.name)

    @property
    def numeric(self) -> bool:
        """Whether the column has numbers."""
        return self.range is not None or all(isinstance(self.value(text), float) for text in self.texts)


def axes(
    scenario: Scenario,
    vary: Mapping[str, Any],
    steps: Mapping[str, int],
    names: Mapping[str, str],
    drawn: bool,
    taken: Collection[str] = (),
) -> tuple[Axis, ...]:
    """Return the axes of `vary`. Raises for fields and values that the scenario does not take.

    Args:
        scenario: What is varied.
        vary: For each path a list of values, one value, or a range `"LOW..HIGH"`, with `:log` or `:linear`.
        steps: For paths with a range the number of values, the ends included.
        names: Names of columns for paths.
        drawn: Whether ranges are drawn from instead of gone through in steps.
        taken: Columns of the tables that are kept, which no axis may be called.
    """
    found: list[Axis] = []
    for path, given in vary.items():
        own = column_name(path)
        name = names.get(path) or (f"axis_{own}" if own in taken else own)
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or name in RESERVED or name in taken:
            raise UsageError(f"axis {path}: a column cannot be called {name!r}; give it another name")
        if any(axis.name == name for axis in found):
            raise UsageError(f"axis {path}: another axis is called {name!r} too; give one of them a name")
        if isinstance(given, str) and ".." in given:
            (parameter,) = parameters(scenario, {path: given})
            if not isinstance(parameter, Range):
                raise UsageError(f"axis {path}: {given} is no range; write it as in 20 ms..1 s")
            count = steps.get(path, _STEPS)
            if count < 2:
                raise UsageError(f"axis {path}: a range takes at least 2 steps")
            texts = (
                ()
                if drawn
                else tuple(
                    # Two steps of a narrow range of whole numbers may round to one value.
                    dict.fromkeys(parameter.text(parameter.at(step / (count - 1))) for step in range(count))
                )
            )
            found.append(Axis(path, name, texts, parameter.unit, parameter))
            continue
        if path in steps:
            raise UsageError(f"axis {path}: steps are for a range; leave them out")
        values = list(given) if isinstance(given, list | tuple | range) else [given]
        texts = tuple(value if isinstance(value, str) else _toml(value) for value in values)
        if not texts:
            raise UsageError(f"axis {path}: give it at least one value")
        if len(set(texts)) < len(texts):
            raise UsageError(f"axis {path}: a value is named twice; name each once")
        # Now, so that a wrong value is an error before the first run, not of some of the runs.
        for text in texts:
            changed = scenario.set_text(path, text)
            try:
                changed.check_controls()
            except ScenarioError as error:
                raise UsageError(f"{path}: {error.message}; {error.remedy}") from None
        axis = Axis(path, name, texts, _unit(texts))
        # `1 s` and `1000 ms`, say: rows could not be told apart.
        if len({axis.value(text) for text in texts}) < len(texts):
            raise UsageError(f"axis {path}: two values are the same; name each once")
        found.append(axis)
    return tuple(found)


def title(path: str, name: str) -> str:
    """Return what figures call an axis: `Time between silences` for `radio.0.sensing.on`.

    A name that the user gave to the column comes first.
    """
    if path and name == column_name(path):
        steps = [step for step in path.split(".") if not step.isdigit() and step != "*"]
        known = _TITLES.get(".".join(steps[-2:])) or _TITLES.get(steps[-1])
        if known is not None:
            return known
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def read(text: str, unit: str) -> float | str:
    """Return a value that a user names, as `--set` reads one, as the column of an axis has it.

    A bare number is one of the column's base unit: seconds, bit/s, bytes; a share for a percentage.
    """
    found = _quantity(text)
    return text if found is None or found[1] not in ("", unit) else found[0]


def halton(index: int, dimension: int) -> float:
    """Return one coordinate of the Halton sequence (Halton 1960), which fills a cube evenly; from 0 to 1.

    Args:
        index: Which point, from 0. (Point 0 of the sequence, the corner, is left out.)
        dimension: Which coordinate, from 0: the base is that prime.
    """
    base, place, value = _PRIMES[dimension], 1.0, 0.0
    number = index + 1
    while number:
        place /= base
        number, digit = divmod(number, base)
        value += digit * place
    return value


def drawn(axes: Sequence[Axis], sampling: str, index: int) -> tuple[str, ...]:
    """Return one sample: the text of each axis. The same index gives the same, however many are drawn."""
    # A generator for each index: more samples later leave the earlier ones as they are.
    stream = random.Random(f"cogtcp sweep {index}")  # noqa: S311
    texts = []
    for dimension, axis in enumerate(axes):
        share = stream.random() if sampling == "random" else halton(index, dimension)
        if axis.range is not None:
            texts.append(axis.range.text(axis.range.at(share)))
        else:
            # A share of exactly 1 would be one past the end.
            texts.append(axis.texts[min(int(share * len(axis.texts)), len(axis.texts) - 1)])
    return tuple(texts)


def most_dimensions() -> int:
    """Return for how many axes there is a low-discrepancy sample."""
    return len(_PRIMES)


def column_name(path: str) -> str:
    """Return what the column of a field is called: the last two words of its path."""
    steps = [re.sub(r"\W", "_", step) for step in path.split(".") if not step.isdigit() and step != "*"]
    return "_".join(steps[-2:])


def _unit(texts: Sequence[str]) -> str:
    found = {(_quantity(text) or (math.nan, "text"))[1] for text in texts}
    return found.pop() if len(found) == 1 and found != {"text"} else ""


def _quantity(text: str) -> tuple[float, str] | None:
    """Return number and unit of a value; a percentage is a share, as the ends of ranges are."""
    found = quantity(text)
    # 15 digits: what dividing by 100 adds in the last places is no part of the value.
    return (float(f"{found[0] / 100:.15g}"), "") if found is not None and found[1] == "%" else found


def _number(text: str, unit: str) -> float | str:
    found = _quantity(text)
    return found[0] if found is not None and found[1] == unit else text
