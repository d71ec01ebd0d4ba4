"""The readings under which claims were reproduced, as the guided search keeps them: `readings.json`."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp.model.output import write_file
from cogtcp.studies.claims import tests_of
from cogtcp.studies.stored import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cogtcp.studies import Study
    from cogtcp.studies.space import Setting, Value
    from cogtcp.studies.verdicts import Verdict

FILE = "readings.json"
WITHIN = 0.15
"""How far measured numbers may be from those that the paper prints."""


@dataclass(frozen=True, slots=True)
class Part:
    """A statement at a confirmed reading.

    Attributes:
        says: The statement.
        answer: Whether it holds there.
        estimate: What was measured, in the scale of its test.
        low: Lower end of the tested interval; minus infinity where a one-sided test has none.
        high: Upper end; infinite where a one-sided test has none.
        slack: How far the estimate is on the right side of the bound, in shares of it; negative: short of it.
        clearance: (effect - bound) / standard error; NaN where its test has none.
    """

    says: str
    answer: Verdict
    estimate: float
    low: float
    high: float
    slack: float
    clearance: float = math.nan


@dataclass(frozen=True, slots=True)
class Turn:
    """The nearest value of one parameter at which the claim no longer holds.

    Attributes:
        parameter: Its name.
        here: Its value in the reading.
        there: The value at which a statement fails.
        change: The change as a share of the parameter's range (choices: 1).
    """

    parameter: str
    here: Value
    there: Value
    change: float


@dataclass(frozen=True, slots=True)
class Hangs:
    """A value of one parameter, and how far from the paper's numbers the nearest setting is with it.

    Attributes:
        parameter: Its name.
        there: The value.
        distance: Mean |ln(measured / paper)| over the numbers.
    """

    parameter: str
    there: Value
    distance: float


@dataclass(frozen=True, slots=True)
class Nearest:
    """The setting nearest to the numbers that the paper prints.

    Attributes:
        setting: The setting.
        distance: Mean |ln(measured / paper)| over the numbers.
        numbers: Each number: what it says, the paper's, ours.
        hangs: The one change of a parameter that takes the setting farthest from the numbers; None where all
            are within 15 %, or in older files.
    """

    setting: Setting
    distance: float
    numbers: tuple[tuple[str, float, float], ...]
    hangs: Hangs | None = None

    @property
    def within(self) -> int:
        """How many numbers are within 15 % of the paper's."""
        return within(self.numbers)


def within(numbers: Sequence[tuple[str, float, float]]) -> int:
    """Return how many measured numbers are within 15 % of the paper's."""
    return sum(abs(measured / paper - 1) <= WITHIN for _, paper, measured in numbers)


@dataclass(frozen=True, slots=True)
class Reading:
    """The best reading of a claim, measured on seeds that had no part in the search.

    Attributes:
        setting: The reading.
        parts: Its statements there.
        seeds: First and last seed of the confirmation.
        evaluated: How many settings the search judged.
        least: The least clearance over the statements in the search, in standard errors on 12 seeds.
        numbers: What the paper prints beside what was measured: says, paper, measured.
        nearest: The setting nearest to these numbers; None where the paper prints none.
        turn: The smallest change of one parameter that turns a reproduced claim over; None where none does.
        mechanisms: Why statements cannot hold, tested there.
        tests: Digest of what was tested (`claims.tests_of`); empty in older files.
        removed: For each mechanism that was removed, by what it says, the verdict of its statement then.
    """

    setting: Setting
    parts: tuple[Part, ...]
    seeds: tuple[int, int]
    evaluated: int
    least: float
    numbers: tuple[tuple[str, float, float], ...]
    nearest: Nearest | None
    turn: Turn | None
    mechanisms: tuple[Part, ...] = ()
    tests: str = ""
    removed: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def settings(self) -> list[Setting]:
        """The setting, and the one nearest to the paper's numbers."""
        return [self.setting] if self.nearest is None else [self.setting, self.nearest.setting]

    @property
    def held(self) -> int:
        """How many statements hold."""
        return sum(part.answer == "holds" for part in self.parts)

    def to_dict(self, base: Setting) -> dict[str, Any]:
        """Return it as plain data; of the setting what is unlike the base."""
        return {
            **({"tests": self.tests} if self.tests else {}),
            "setting": _unlike(self.setting, base),
            "statements": plain_parts(self.parts),
            **({"mechanisms": plain_parts(self.mechanisms)} if self.mechanisms else {}),
            **({"removed": dict(self.removed)} if self.removed else {}),
            "seeds": list(self.seeds),
            "evaluated": self.evaluated,
            "least": _number(self.least),
            "numbers": _numbers(self.numbers),
            "nearest": None
            if self.nearest is None
            else {
                "setting": _unlike(self.nearest.setting, base),
                "distance": _number(self.nearest.distance),
                "numbers": _numbers(self.nearest.numbers),
                **_hangs(self.nearest.hangs),
            },
            "turn": None
            if self.turn is None
            else [self.turn.parameter, self.turn.here, self.turn.there, _number(self.turn.change)],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: Setting) -> Reading:
        """Read what `to_dict` returned."""
        return cls(
            base.but(**data["setting"]),
            read_parts(data["statements"]),
            (data["seeds"][0], data["seeds"][1]),
            data["evaluated"],
            data["least"],
            _read_numbers(data["numbers"]),
            None
            if data["nearest"] is None
            else Nearest(
                base.but(**data["nearest"]["setting"]),
                data["nearest"]["distance"],
                _read_numbers(data["nearest"]["numbers"]),
                Hangs(*data["nearest"]["hangs"]) if "hangs" in data["nearest"] else None,
            ),
            None if data["turn"] is None else Turn(*data["turn"]),
            read_parts(data.get("mechanisms", {})),
            data.get("tests", ""),
            data.get("removed", {}),
        )


def read(study: Study) -> dict[str, Reading]:
    """Return the readings kept in the study's folder, by claim; without those whose statements have changed.

    Raises:
        StudyError: The file cannot be read.
    """
    data = read_json(study.folder / FILE)
    if data is None:
        return {}
    found = {}
    for claim in study.claims:
        kept = data["claims"].get(claim.id)
        said = [statement.says for statement in claim.statements]
        if (
            kept is not None
            and set(kept["statements"]) == set(said)
            and kept.get("tests") in (None, tests_of(claim))
            and set(kept["setting"]) <= set(study.space.base)
        ):
            # In the order of the study, which may be another now.
            parts = {says: kept["statements"][says] for says in said}
            found[claim.id] = Reading.from_dict({**kept, "statements": parts}, study.space.base)
    return found


def keep(study: Study, claim: str, reading: Reading, version: str) -> Path:
    """Write the reading of one claim into `readings.json`; other claims' readings stay."""
    path = study.folder / FILE
    known = {name: other.to_dict(study.space.base) for name, other in read(study).items()}
    known[claim] = reading.to_dict(study.space.base)
    lines = ",\n".join(
        f"{json.dumps(row.id)}:{json.dumps(known[row.id], ensure_ascii=False, separators=(',', ':'))}"
        for row in study.claims
        if row.id in known
    )
    write_file(path, f'{{"schema":1,"version":{json.dumps(version)},"claims":{{\n{lines}\n}}}}\n')
    return path


def plain_parts(parts: Sequence[Part]) -> dict[str, list[Any]]:
    """Return statements as plain data, by what they say."""
    return {
        part.says: [
            part.answer,
            *(_number(v) for v in (part.estimate, part.low, part.high, part.slack, part.clearance)),
        ]
        for part in parts
    }


def read_parts(kept: Mapping[str, list[Any]]) -> tuple[Part, ...]:
    """Read what `plain_parts` returned."""
    return tuple(_read_part(says, *values) for says, values in kept.items())


def _read_part(says: str, answer: Verdict, estimate: float | None, *rest: float | None) -> Part:
    """Read a statement. JSON has no infinity: an end that is missing beside another is without bound."""
    low, high, *others = rest
    ends = (math.nan, math.nan)
    if (low, high) != (None, None):
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
    found = [math.nan if value is None else value for value in (estimate, *others)]
    return Part(says, answer, found[0], *ends, *found[1:])


def _unlike(setting: Setting, base: Setting) -> dict[str, Value]:
    return {name: value for name, value in setting.items() if value != base[name]}


def _hangs(hangs: Hangs | None) -> dict[str, list[Any]]:
    return {} if hangs is None else {"hangs": [hangs.parameter, hangs.there, _number(hangs.distance)]}


def _numbers(found: tuple[tuple[str, float, float], ...]) -> list[list[Any]]:
    return [[says, paper, _number(measured)] for says, paper, measured in found]


def _read_numbers(kept: list[list[Any]]) -> tuple[tuple[str, float, float], ...]:
    return tuple((says, paper, math.nan if measured is None else measured) for says, paper, measured in kept)


def _number(value: float) -> float | None:
    # Four digits, so that a change of the file shows a change of the result; JSON has no infinity or NaN.
    return float(f"{value:.4g}") if math.isfinite(value) else None
