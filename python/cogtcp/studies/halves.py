"""A verdict in two plain sentences: whether the claim can be reproduced, and in how much of the space."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cogtcp.studies.answers import Answer
    from cogtcp.studies.support import Support
    from cogtcp.studies.verdicts import Verdict

HOLDS: dict[Verdict, str] = {"holds": "yes", "fails": "no", "inconclusive": "inconclusive"}
"""A verdict as the answer to "holds?"."""


def halves(answer: Answer, place: Support | None) -> tuple[str, str]:
    """Return both sentences; an empty one where nothing is known.

    Args:
        answer: The answer of a claim.
        place: In how much of the space it holds; None where the random design has not judged it.
    """
    return _first(answer), _second(answer, place)


def in_sentences(answer: Answer, place: Support | None) -> str:
    """Return both sentences together, or the verdict in a phrase where nothing is known."""
    return " ".join(filter(None, halves(answer, place))) or answer.text


def _first(answer: Answer) -> str:
    if answer.reproduced == "ours":
        return ""
    if answer.reproduced == "not searched":
        return "No parameter values were searched for it."
    if answer.reproduced == "reproduced":
        return "Holds with parameter values that the paper allows."
    tried = f" Tried: {answer.evaluated} settings." if answer.evaluated > 1 else ""
    if answer.of == 1:
        return f"Does not hold with the best parameter values found.{tried}"
    held = str(answer.held) if answer.held else "None"
    verb = "holds" if answer.held < 2 else "hold"
    return f"{held} of its {answer.of} statements {verb} at best.{tried}"


def _second(answer: Answer, place: Support | None) -> str:
    if place is None:
        return ""
    decided = place.holds + place.fails
    if not decided:
        return f"No clear result at any of {place.inconclusive} random settings."
    count = f"{place.holds} of {decided} tried"
    if answer.reproduced == "reproduced" and place.holds:
        word = {"robust": "common", "fragile": "rare"}.get(answer.robust[0])
        if word is not None:
            return f"They are {word}: {count}."
    if not place.holds:
        return f"It holds at none of {decided} random settings."
    at = f"It holds at {place.holds} of {decided} random settings"
    if answer.causes:
        inside = answer.causes[-1].inside
        return f"{at}, and at {100 * inside:.0f} % of those with {answer.conditions}."
    return f"{at}."


def share_counted(place: Support | None) -> str:
    """Return a share as counts, as in "2 of 66"; a dash where it is not known."""
    if place is None or not place.holds + place.fails:
        return "-"
    return f"{place.holds} of {place.holds + place.fails}"
