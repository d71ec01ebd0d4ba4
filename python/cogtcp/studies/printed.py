"""The numbers that a study's README prints: what each is, and whether fresh seeds still give it.

`printed.toml` names for each number the words that it stands in, the claim and the setting at which it was
measured, and the quantity at a point. `make studies` measures all of them on seeds that had no part before,
and flags a number that these do not give. The outcome is `printed.json`: each number with its interval, its
seeds and the command that repeats the claim.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp._places import read_toml
from cogtcp.model.output import write_file
from cogtcp.model.statistics import Interval
from cogtcp.studies import joint, readings
from cogtcp.studies.claims import Number
from cogtcp.studies.errors import StudyError
from cogtcp.studies.judging import measure
from cogtcp.studies.stored import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cogtcp.studies.context import Context
    from cogtcp.studies.folder import Study
    from cogtcp.studies.space import Setting

FILE, OUTCOME = "printed.toml", "printed.json"
FIRST_SEED, SEEDS = 9001, 40


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of a README.

    Attributes:
        number: The words that it stands in, its value, and where it is measured.
        claim: The claim whose points it is of.
        setting: `base`, `best`, `joint`, or values as in `--at`.
        rounding: Half a unit of its last digit.
        seeds: How many it is a mean of.
    """

    number: Number
    claim: str
    setting: str
    rounding: float
    seeds: int

    def command(self, seeds: int) -> str:
        """Return the command that measures the claim there on so many seeds."""
        at = {"base": "", "joint": " --joint"}.get(self.setting, f' --at "{self.setting}"')
        return f"cogtcp reproduce {self.claim}{at} --seeds {seeds}"


@dataclass(frozen=True, slots=True)
class Again:
    """A number on fresh seeds.

    Attributes:
        printed: The number.
        interval: What fresh seeds gave, with the 95 % interval.
        seeds: First and last of them.
    """

    printed: Printed
    interval: Interval
    seeds: tuple[int, int]

    @property
    def is_outside(self) -> bool:
        """Whether the printed value is farther from the mean than chance allows, rounding aside.

        It is a mean over seeds itself: of two such means the difference varies by the root of 2 more.
        """
        value, mean, room = self.printed.number.value, self.interval.mean, self.printed.rounding
        below, above = (math.sqrt(2) * (end - mean) for end in (self.interval.low, self.interval.high))
        return not below - room <= value - mean <= above + room

    @property
    def command(self) -> str:
        """The command that measures the claim on as many seeds as the interval has."""
        first, last = self.seeds
        return self.printed.command(last - first + 1)

    @property
    def text(self) -> str:
        """The number, what fresh seeds gave, and the command."""
        found, (first, last) = self.interval, self.seeds
        return (
            f"{self.printed.number.value:g} printed, {found.mean:.3g} [{found.low:.3g}, {found.high:.3g}] "
            f"on seeds {first} to {last}: {self.printed.number.says} ({self.command})"
        )


def read(study: Study) -> list[Printed]:
    """Return the numbers of a study's README.

    Raises:
        StudyError: A number names no claim of the study, or its words do not stand in the README; or it has
            other seeds than the study, and its command does not stand there.
    """
    path = study.folder / FILE
    if not path.exists():
        return []
    _, data = read_toml(path, StudyError)
    prose = " ".join((study.folder / "README.md").read_text(encoding="utf-8").split())
    found = []
    for row in data["number"]:
        given = dict(row)
        claim, setting, rounding = given.pop("claim"), given.pop("setting", "base"), given.pop("rounding")
        seeds = given.pop("seeds", study.seeds)
        number = Number(**given)
        if claim not in {item.id for item in study.claims}:
            raise StudyError(f"{path}: no claim {claim!r}")
        if number.says not in prose:
            raise StudyError(f"{path}: the README does not say {number.says!r}")
        found.append(Printed(number, claim, setting, rounding, seeds))
        if seeds != study.seeds and found[-1].command(seeds) not in prose:
            raise StudyError(f"{path}: the README does not have the command {found[-1].command(seeds)!r}")
    return found


def again(context: Context, seeds: int = SEEDS) -> Iterator[Again]:
    """Measure each number on so many fresh seeds, or on as many as it is of if these are more."""
    rows = {row.id: row for row in context.study.claims}
    for printed in read(context.study):
        span = (FIRST_SEED, FIRST_SEED + max(seeds, printed.seeds) - 1)
        study = replace(context, seeds=tuple(range(span[0], span[1] + 1)))
        number, row = printed.number, rows[printed.claim]
        wanted = [number.at, *([] if number.than is None else [number.than])]
        points = tuple(point for point in row.points if any(point.matches(where) for where in wanted))
        (grid,) = measure(study, [replace(row, points=points)], _setting(study.study, printed))
        yield Again(printed, number.interval(grid), span)


def _setting(study: Study, printed: Printed) -> Setting:
    if printed.setting == "joint":
        there = joint.read(study)
        if there is None:
            raise StudyError(f"{study.name} has no joint setting")
        return there.setting
    if printed.setting == "best":
        return readings.read(study)[printed.claim].setting
    return study.space.parsed(printed.setting)


def keep(study: Study, found: list[Again]) -> Path:
    """Write `printed.json` into the study's folder."""
    path = study.folder / OUTCOME
    lines = ",\n".join(json.dumps(_plain(item), ensure_ascii=False, separators=(",", ":")) for item in found)
    write_file(path, f'{{"schema":1,"numbers":[\n{lines}\n]}}\n')
    return path


def _plain(item: Again) -> dict[str, Any]:
    return {
        "says": item.printed.number.says,
        "value": item.printed.number.value,
        "again": [
            float(f"{value:.4g}") for value in (item.interval.mean, item.interval.low, item.interval.high)
        ],
        "seeds": list(item.seeds),
        "command": item.command,
    }


def kept(study: Study) -> list[Again]:
    """Return what is stored, of the numbers that are still printed."""
    data = read_json(study.folder / OUTCOME)
    stored = {} if data is None else {(row["says"], row["value"]): row for row in data["numbers"]}
    found = []
    for printed in read(study):
        row = stored.get((printed.number.says, printed.number.value))
        if row is not None:
            mean, low, high = row["again"]
            first, last = row["seeds"]
            found.append(Again(printed, Interval(mean, low, high, last - first + 1), (first, last)))
    return found
