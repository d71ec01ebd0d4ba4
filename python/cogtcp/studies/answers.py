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

_SHARES: dict[Robust, str] = {"robust": "95 % or more", "depends": "5 to 95 %", "fragile": "under 5 %"}

WORDS = {
    "setting": "values for the parameters that the paper does not give, compatible with the paper",
    "reproduced": "a guided search found a setting at which every statement of the claim holds, confirmed on "
    "fresh seeds",
    "in part": "at the best setting found some statements hold, not all",
    "not reproduced": "at the best setting found no statement holds",
    "holds at N of M settings": "all statements of the claim hold at N of those M settings of the random "
    "design that gave a clear result",
    "common, rare": "the claim holds at 95 % or more of these settings, or at fewer than 5 %",
    "holds, fails, inconclusive": "a statement, at one setting: shown to be so, shown not to be so, or "
    "neither with these seeds",
    "about N more seeds": "enough to decide an inconclusive statement if effect and spread stay the same "
    "(90 % power for the claim as a whole)",
    "default values": "the setting of the study's scenarios",
    "not searched": "the guided search, or the random design, has not been run for this claim",
    "ours": "a claim that no paper makes: its share of the settings answers it",
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
        settings: At how many settings of the random design; 0: at the best values, or the default ones.
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
        """The answer with its number first, for a line that may be cut short."""
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
        holds: At how many settings of the random design it holds.
        decided: How many of them gave a clear result; 0 where there is no design.
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
    holds: int = 0
    decided: int = 0

    @property
    def conditions(self) -> str:
        """What decides, as in "silence = drop and min RTO < 0.5 s"."""
        return " and ".join(cause.condition for cause in self.causes)

    @property
    def reproduced_text(self) -> str:
        """The first half: with the statements that hold and the settings judged, where not all do."""
        if self.reproduced not in ("in part", "not reproduced"):
            return self.reproduced
        text = f"{self.held} of its {self.of} statements hold{'s' if self.held == 1 else ''}"
        if self.reproduced == "not reproduced":
            text = self.reproduced
        return f"{text} at the best of {self.evaluated} settings" if self.evaluated > 1 else text

    @property
    def _nothing_known(self) -> bool:
        return self.reproduced in ("not searched", "ours") and self.robust == ("not searched",)

    @property
    def robust_text(self) -> str:
        """The second half: at how many settings all statements hold, and what decides."""
        word = self.robust[0]
        if word == "not searched":
            return "random settings not tried"
        if word == "inconclusive":
            return "no clear result at random settings"
        settings = f"{self.decided} settings"
        together = "all together at" if self.reproduced == "in part" else "holds at"
        some = f"{self.holds or 'none'} of {settings}" if self.decided else f"{_SHARES[word]} of the settings"
        count = f"{together} {some}"
        if word == "depends" and self.causes:
            inside = self.causes[-1].inside
            return f"{count}, {100 * inside:.0f} % of those with {self.conditions}"
        return count

    @property
    def text(self) -> str:
        """The verdict, as in "reproduced, holds at 20 of 66 settings, 80 % of those with silence = drop"."""
        if self._nothing_known:
            return "not searched"
        if self.reproduced == "ours":
            return self.robust_text
        between = "; " if self.reproduced in ("in part", "not reproduced") else ", "
        return f"{self.reproduced_text}{between}{self.robust_text}"

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
    """Return the word for so many statements that hold at the best values."""
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
    """Return one line for a paper: "9 of 10 claims reproduced, 1 in part; 3 hold at under 5 %"."""
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
    told = [
        f"{count} hold{'s' if count == 1 else ''} at {where}"
        for word, where in _SHARES.items()
        if (count := firsts.count(word))
    ]
    return f"{text}; {', '.join(told)}" if told else text


def decides_most(answers: Sequence[Answer], names: dict[str, str], count: int = 2) -> str:
    """Return the parameters that decide most of these claims, by how many they decide."""
    found: dict[str, list[float]] = {}
    for answer in answers:
        for cause in answer.causes:
            found.setdefault(cause.parameter, []).append(cause.explained)
    ranked = sorted(found, key=lambda name: (-len(found[name]), -sum(found[name]), name))
    return "; ".join(names[name] for name in ranked[:count])
