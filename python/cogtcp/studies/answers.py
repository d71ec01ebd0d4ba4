"""The answer to a claim: whether it can be reproduced, how robust it is, and what it depends on.

The words are defined here once; the terminal, the page, the JSON, README.md and docs/verdicts.md use them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.causes import Effect
    from cogtcp.studies.support import Support

Reproduced = Literal["reproduced", "in part", "not reproduced", "not searched", "ours"]
Robust = Literal["robust", "depends", "fragile", "inconclusive", "not searched"]

ROBUST, FRAGILE = 0.95, 0.05
"""Bounds of the share of the settings at which a claim holds."""

WORDS = {
    "reproduced": "there is a setting, consistent with the paper, at which every statement of the claim "
    "holds; found by a guided search and confirmed on fresh seeds",
    "in part": "at the best setting found some statements hold, not all",
    "not reproduced": "at the best setting found no statement holds",
    "robust": "the claim holds at 95 % or more of the settings of the random design",
    "depends on": "it holds at 5 to 95 % of them; named are the one or two parameters that decide, or "
    '"cause not found"',
    "fragile": "it holds at fewer than 5 % of them",
    "X, or Y": "the 95 % interval of that share crosses a bound; the first word is for the share itself",
    "holds, fails, inconclusive": "a statement, at one setting: shown to be so, shown not to be so, or "
    "neither with these seeds",
    "about N more seeds": "so many more seeds would decide an inconclusive statement, if effect and spread "
    "stay as they were (90 % power for the claim as a whole)",
    "base": "the settings of the study's scenarios",
    "not searched": "the guided search, or the random design, has not been run for this claim",
    "ours": "a claim that no paper makes: there is no reading to find; its share of the settings answers it",
}
"""The words of a verdict, each with what it means."""


MANY = 10_000
"""Seeds above which their number says no more than that the effect lies on its bound."""


@dataclass(frozen=True, slots=True)
class Lack:
    """A statement for which the seeds do not suffice.

    Attributes:
        says: The statement.
        more: How many seeds more it needs; infinite where its effect lies on the bound, NaN where its test
            has no spread to compute it from.
        settings: At how many settings of the random design; 0: at the reading, or the base.
    """

    says: str
    more: float
    settings: int = 0

    @property
    def text(self) -> str:
        """The lack in words, as in `"It grows" (about 40 more seeds)`."""
        says = f'"{self.says.rstrip(".")}"'
        if math.isnan(self.more):
            return f"{says} (more seeds)"
        if self.more > MANY:
            return f"{says} (on its bound: over {MANY:,} more seeds)"
        if self.more == 1:
            return f"{says} (1 more seed)"
        return f"{says} (about {_two_digits(self.more):,} more seeds)"

    @property
    def brief(self) -> str:
        """The same, with the number first: for a line that may be cut short."""
        many = (
            f"over {MANY:,}"
            if self.more > MANY
            else f"about {_two_digits(self.more):,}"
            if self.more > 1
            else ""
        )
        count = "1 more seed" if self.more == 1 else f"{many} more seeds".lstrip()
        where = f" at {self.settings} setting{'s' if self.settings > 1 else ''}" if self.settings else ""
        return f'{count}{where}: "{self.says.rstrip(".")}"'

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "statement": self.says,
            "more_seeds": round(self.more) if math.isfinite(self.more) else None,
            "on_its_bound": self.more > MANY,
            "settings": self.settings,
        }


def _two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a claim comes to.

    Attributes:
        reproduced: Whether it can be reproduced.
        held: How many of its statements hold at the best reading.
        of: How many it has.
        robust: How robust it is: the word of the point estimate, then that of the other side of a bound
            that the interval crosses.
        causes: The parameters that decide.
        evaluated: How many settings the guided search judged; 0 where there was none.
        lacking: The statements for which the seeds do not suffice: at the best reading (the base, where none
            is kept) all, of the random design the one that most of its inconclusive settings lack.
    """

    reproduced: Reproduced
    held: int
    of: int
    robust: tuple[Robust, ...]
    causes: tuple[Effect, ...]
    lacking: tuple[Lack, ...] = ()
    evaluated: int = 0

    @property
    def conditions(self) -> str:
        """What decides, as in "silence = drop and min RTO < 0.5 s"."""
        return " and ".join(cause.condition for cause in self.causes)

    @property
    def reproduced_text(self) -> str:
        """The first half: with the statements that hold and the settings judged, where not all do."""
        after = f"after {self.evaluated} setting{'s' if self.evaluated > 1 else ''}"
        if self.reproduced == "in part":
            return f"reproduced in part ({self.held} of {self.of}{f', {after}' if self.evaluated else ''})"
        if self.reproduced == "not reproduced" and self.evaluated:
            return f"not reproduced {after}"
        return "not searched for a reading" if self.reproduced == "not searched" else self.reproduced

    @property
    def _nothing_known(self) -> bool:
        return self.reproduced in ("not searched", "ours") and self.robust == ("not searched",)

    @property
    def robust_text(self) -> str:
        """The second half."""
        if self.robust[0] in ("not searched", "inconclusive"):
            return f"robustness {self.robust[0]}"
        return ", or ".join(self._depends() if word == "depends" else word for word in self.robust)

    @property
    def text(self) -> str:
        """The verdict, as in "reproduced, depends on silence = drop and min RTO < 0.5 s"."""
        if self._nothing_known:
            return "not searched"
        if self.reproduced == "ours":
            return self.robust_text
        return f"{self.reproduced_text}, {self.robust_text}"

    def _depends(self) -> str:
        if not self.causes:
            return "depends" if self.robust[0] == "fragile" else "depends (cause not found)"
        return f"depends on {self.conditions}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "reproduced": self.reproduced,
            "statements_held": self.held,
            "statements": self.of,
            "settings_judged": self.evaluated,
            "robust": list(self.robust),
            "seeds_do_not_suffice": [lack.to_dict() for lack in self.lacking],
            "depends_on": [
                {
                    "parameter": cause.parameter,
                    "condition": cause.condition,
                    "share_there": round(cause.inside, 3),
                    "share_elsewhere": round(cause.outside, 3),
                    "explained": round(cause.explained, 3),
                    "p": round(cause.p, 4),
                }
                for cause in self.causes
            ],
        }


def reproduced(held: int, of: int) -> Reproduced:
    """Return the word for so many statements that hold at the best reading."""
    return "reproduced" if held == of else "in part" if held else "not reproduced"


def robust(place: Support | None) -> tuple[Robust, ...]:
    """Return how robust a claim is by its share: more than one word where the interval crosses a bound."""
    if place is None:
        return ("not searched",)
    if place.share.n == 0:
        return ("inconclusive",)
    share = place.share

    def word(value: float) -> Robust:
        return "robust" if value >= ROBUST else "fragile" if value < FRAGILE else "depends"

    first = word(share.mean)
    others = [other for end in (share.low, share.high) if (other := word(end)) != first]
    return (first, *dict.fromkeys(others))


def counted(answers: Sequence[Answer]) -> str:
    """Return one line for a paper: "10 of 10 claims reproduced; 1 robust, 3 fragile"."""
    words = [answer.reproduced for answer in answers if answer.reproduced != "ours"]
    done, parts = words.count("reproduced"), words.count("in part")
    number = len(words) or len(answers)
    text = f"{done} of {number} claim{'s' if number > 1 else ''} reproduced"
    if not words:
        text = f"{number} claim{'s' if number > 1 else ''}"
    if parts:
        text += f", {parts} in part"
    missing = words.count("not searched")
    if missing:
        text += f", {missing} not searched"
    firsts = [answer.robust[0] for answer in answers]
    names = {"robust": "robust", "depends": "dependent on a parameter", "fragile": "fragile"}
    told = [f"{firsts.count(word)} {name}" for word, name in names.items() if word in firsts]
    return f"{text}; {', '.join(told)}" if told else text


def decides_most(answers: Sequence[Answer], names: dict[str, str], count: int = 2) -> str:
    """Return the parameters that decide most of these claims, by how many they decide."""
    found: dict[str, list[float]] = {}
    for answer in answers:
        for cause in answer.causes:
            found.setdefault(cause.parameter, []).append(cause.explained)
    ranked = sorted(found, key=lambda name: (-len(found[name]), -sum(found[name]), name))
    return ", ".join(
        f"{names[name]} ({len(found[name])} claim{'s' if len(found[name]) > 1 else ''})"
        for name in ranked[:count]
    )
