"""Known departures: where cogtcp and its peers differ, why, and which drawn cases that explains."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What `whose` may say, and how a page says it.
WHOSE = {
    "peer": "the peer departs from the text",
    "here": "cogtcp departs from the text, or leaves it out",
    "choice": "the text leaves it open",
    "unknown": "no cause found yet",
}
PEERS = ("ns-2", "ns-3", "Linux", "RFC", "theory")
AREAS = ("TCP", "queues", "MAC", "routing", "links", "kernel plane")


@dataclass(frozen=True)
class Departure:
    """One known difference; departures.toml says what each field holds."""

    id: str
    peer: str
    area: str
    whose: str
    here: str
    there: str
    source: str
    undo: str
    effect: str
    page: str
    explains: tuple[Mapping[str, Any], ...] = ()
    range: tuple[float, ...] = ()
    scripts: tuple[str, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows the cause yet."""
        return self.whose == "unknown"

    def bears_on(
        self, family: str, drawn: Mapping[str, Any], measure: str, ratio: tuple[float, float]
    ) -> bool:
        """Return whether it explains a difference in this measure of a case with these drawn values.

        Args:
            family: The case's family.
            drawn: What the seed drew.
            measure: The metric.
            ratio: Least and greatest ratio that the runs allow. Beyond the measured `range` nothing is
                explained.
        """
        low, high = self.range or (0.0, math.inf)
        if ratio[1] < low or ratio[0] > high:
            return False
        return any(_meets(where, {**drawn, "family": family, "measure": measure}) for where in self.explains)


def _meets(where: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(_holds(condition, values.get(key)) for key, condition in where.items())


def _holds(condition: Any, value: Any) -> bool:
    # A condition on a value that the family does not draw never holds.
    if value is None:
        return False
    if isinstance(condition, dict):
        return bool(condition.get("least", value) <= value <= condition.get("most", value))
    return value in condition if isinstance(condition, list) else bool(value == condition)


@cache
def departures() -> tuple[Departure, ...]:
    """Return all that are listed, in the order of their file."""
    text = resources.files("cogtcp.kernel.validation").joinpath("departures.toml").read_text("utf-8")
    entries = tomllib.loads(text)["departure"]
    lists = ("explains", "scripts", "range")
    return tuple(
        Departure(**{**entry, **{name: tuple(entry.get(name, ())) for name in lists}}) for entry in entries
    )


def explaining(
    family: str, drawn: Mapping[str, Any], measure: str, ratio: tuple[float, float]
) -> list[Departure]:
    """Return those that bear on a measure of a case, the ones with a cause first."""
    found = [entry for entry in departures() if entry.bears_on(family, drawn, measure, ratio)]
    return sorted(found, key=lambda entry: entry.is_unknown)
