"""Uncertain inputs within whose range the answer turns: at which value, and what to measure next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.deciding.advising.around import SEEDS, beaten, measured, rivals_of
from cogtcp.running.space import Range

if TYPE_CHECKING:
    from cogtcp.deciding.advising.advice import Advice, Candidate
    from cogtcp.deciding.advising.deciding import Bench, Question
    from cogtcp.running.space import Parameter

#: Halvings of the range between a value at which the answer stands and one at which another wins.
_STEPS = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """An uncertain input whose value decides.

    Attributes:
        path: The field.
        known: What is known of it, as it was given: its range.
        wins: Which candidate wins at `at` and beyond.
        at: The nearest value found at which it wins, as the scenario reads it.
        side: Whether it wins `above` or `below` that value; `at` for one of several values.
        stands: The nearest value found at which the answer stands; empty if at none that was tried.
        gain: By how much it wins at the end of the range, as a share.
        share: Share of the range in which it wins.
    """

    path: str
    known: str
    wins: str
    at: str
    side: str
    stands: str
    gain: float
    share: float

    @property
    def worth(self) -> float:
        """What knowing the field would gain, roughly: the gain times the share of the range."""
        return self.gain * self.share

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "path": self.path,
            "known": self.known,
            "wins": self.wins,
            "side": self.side,
            "at": self.at,
            "stands_at": self.stands or None,
            "gain": self.gain,
            "share_of_range": self.share,
        }


def look(question: Question, bench: Bench, advice: Advice) -> None:
    """Hold each uncertain input at the ends of its range, the others drawn, and see whether another wins.

    The turns are kept in the order of what knowing the input would gain.
    """
    leader = advice.leader
    assert leader is not None  # noqa: S101
    rivals = rivals_of(advice)
    advice.turns = []
    if not rivals:
        return
    found = []
    for parameter in question.inputs.parameters:
        if bench.spent(1.0):
            break
        found += _turns(question, bench, leader, rivals, parameter)
    advice.turns = sorted(found, key=lambda turn: -turn.worth)


def _turns(
    question: Question, bench: Bench, leader: Candidate, rivals: list[Candidate], parameter: Parameter
) -> list[Turn]:
    path, known = parameter.path, question.uncertain[parameter.path]
    first = min(bench.records[leader.name])
    seeds = list(range(first, first + SEEDS))

    def wins(text: str) -> tuple[str, float]:
        return beaten(question, rivals, measured(question, bench, leader, rivals, seeds, (path, text)))

    if not isinstance(parameter, Range):
        found = [(text, *wins(text)) for text in parameter.values if not bench.spent(1.0)]
        share = 1 / len(parameter.values)
        return [Turn(path, known, name, text, "at", "", gain, share) for text, name, gain in found if name]

    turns = []
    ends = {end: wins(parameter.text(parameter.at(end))) for end in (0.0, 1.0)}
    for end, (name, gain) in ends.items():
        if not name:
            continue
        # Towards the other end, at which the answer may stand.
        turned, stands = end, 1.0 - end
        stood = not ends[stands][0]
        for _ in range(_STEPS):
            if bench.spent(1.0):
                break
            middle = (turned + stands) / 2
            if wins(parameter.text(parameter.at(middle)))[0]:
                turned = middle
            else:
                stands, stood = middle, True
        if not stood:
            continue  # it wins over the whole range: this input does not decide
        turns.append(
            Turn(
                path,
                known,
                name,
                parameter.text(parameter.at(turned)),
                "above" if end else "below",
                parameter.text(parameter.at(stands)),
                gain,
                abs(turned - end),
            )
        )
    return turns
