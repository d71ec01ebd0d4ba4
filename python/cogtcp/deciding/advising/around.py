"""What would change the answer: fields of the scenario made larger and smaller, one at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp._errors import ScenarioError
from cogtcp.deciding.advising.racing import bounds
from cogtcp.model.statistics import Interval, paired_difference
from cogtcp.running.space import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.deciding.advising.advice import Advice, Candidate
    from cogtcp.deciding.advising.deciding import Bench, Question
    from cogtcp.model.scenario import Scenario

#: Factors by which fields are changed, the nearest first.
FACTORS = (2.0, 0.5, 4.0, 0.25, 8.0, 0.125)
#: How many of the best are measured at each changed value, and over how many seeds.
RIVALS, SEEDS = 5, 8
#: Seeds after which a rival that cannot win by the margin is left out.
FEW = 3
#: Halvings of the factor between where the answer stands and where another wins.
_STEPS = 3
#: Sections of a scenario whose quantities are looked at.
_SECTIONS = ("topology", "radio", "spectrum", "mac")
#: Fields that whoever runs a link can choose, by their last key, within a link, a radio or a MAC.
_CHOSEN = {
    "queue", "reverse_queue", "off", "on", "sensing_time", "transmission_time", "mark", "dwell",
}  # fmt: skip


@dataclass
class Probe:
    """One field and what became of the answer when it was changed.

    Attributes:
        path: The field.
        value: As the scenario has it.
        chosen: Whether whoever runs the link can choose it.
        wins: Who wins at the nearest value at which another wins, and that value; empty if nobody does.
        stands: The value nearest to that at which the answer still stands.
        factor: That value over the scenario's.
        looked: Values that were looked at, by factor, with the winner's gain there over the scenario's value.
    """

    path: str
    value: str
    chosen: bool
    wins: str = ""
    at: str = ""
    stands: str = ""
    factor: float = math.nan
    looked: dict[float, Interval] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "path": self.path,
            "value": self.value,
            "chosen": self.chosen,
            "another_wins": self.wins or None,
            "from": self.at or None,
            "stands_at": self.stands or None,
            "factor": self.factor,
            "gain_by_factor": {f"{k:g}": [v.mean, v.low, v.high] for k, v in sorted(self.looked.items())},
        }


def fields(scenario: Scenario) -> list[tuple[str, str]]:
    """Return the quantities of a scenario's links, radios and spectrum as paths and texts, links first."""
    found: list[tuple[str, str]] = []

    def walk(node: Any, path: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, f"{path}.{key}")
        elif isinstance(node, list):
            for number, value in enumerate(node):
                walk(value, f"{path}.{number}")
        else:
            known = quantity(node)
            if known is not None and known[0] > 0 and not isinstance(node, int):
                found.append((path, str(node)))

    data = scenario.to_dict()
    for section in _SECTIONS:
        if section in data:
            walk(data[section], section)
    return found


def rivals_of(advice: Advice) -> list[Candidate]:
    """Return the best candidates besides the leader."""
    return [candidate for candidate in advice.ranked() if candidate is not advice.leader][: RIVALS - 1]


def look(question: Question, bench: Bench, advice: Advice) -> None:
    """Look at each field at twice and half its value, then further, until the budget is spent."""
    winner = advice.winner
    assert winner is not None  # noqa: S101
    rivals = rivals_of(advice)
    if not rivals:
        return
    base = winner.scenario_of(question.scenario)
    # What is decided or drawn cannot be held at a value besides.
    decided = {path for path, _ in winner.changes} | {p.path for p in question.inputs.parameters}
    probes = []
    for path, text in fields(base):
        if path not in decided:
            probes.append(Probe(path, text, path.rpartition(".")[2] in _CHOSEN))
    advice.probes = []
    first = min(bench.records[winner.name])  # where ranges were searched, no seed of the search
    seeds = range(first, first + (SEEDS if question.is_random else 1))
    here = _values(question, bench.measure([winner], list(seeds), ()))[0]
    for factor in FACTORS:
        for probe in probes:
            if bench.spent(1.0):
                return
            if probe.wins:
                continue
            at = _at(base, probe, factor)
            if at is None:
                continue
            beaten = _probed(question, bench, winner, rivals, seeds, (probe.path, at), here, probe, factor)
            if probe not in advice.probes:
                advice.probes.append(probe)
            if beaten:
                probe.wins, probe.at, probe.factor = beaten, at, factor
                _narrow(question, bench, winner, rivals, seeds, probe, base)


def _narrow(
    question: Question,
    bench: Bench,
    winner: Candidate,
    rivals: list[Candidate],
    seeds: range,
    probe: Probe,
    base: Scenario,
) -> None:
    """Find a nearer value at which another wins."""
    near = max(
        (f for f in probe.looked if _between(f, probe.factor)), key=lambda f: abs(math.log(f)), default=1.0
    )
    probe.stands = _at(base, probe, near) or probe.value
    for _ in range(_STEPS):
        if bench.spent(1.0):
            return
        # In ratios, as the factors are.
        middle = math.sqrt(near * probe.factor)
        at = _at(base, probe, middle)
        if at is None or at in (probe.at, probe.stands):
            return
        beaten = _probed(question, bench, winner, rivals, seeds, (probe.path, at), None, probe, middle)
        if beaten:
            probe.wins, probe.at, probe.factor = beaten, at, middle
        else:
            near, probe.stands = middle, at


def _between(factor: float, end: float) -> bool:
    """Whether a factor lies between 1 and `end`, on the same side."""
    return math.log(factor) * math.log(end) > 0 and abs(math.log(factor)) < abs(math.log(end))


def _probed(
    question: Question,
    bench: Bench,
    winner: Candidate,
    rivals: list[Candidate],
    seeds: range,
    change: tuple[str, str],
    here: list[float] | None,
    probe: Probe,
    factor: float,
) -> str:
    """Return which rival beats the winner with a field changed, and keep the winner's gain there."""
    rows = measured(question, bench, winner, rivals, seeds, change)
    ours = _values(question, rows[:1])[0]
    if here is not None and ours and len(ours) == len(here):
        probe.looked[factor] = _gain(
            ours, here, question.wanted.objective.sign, additive=question.wanted.additive
        )
    return beaten(question, rivals, rows)[0]


def measured(
    question: Question,
    bench: Bench,
    leader: Candidate,
    rivals: Sequence[Candidate],
    seeds: Sequence[int],
    change: tuple[str, str],
) -> list[list[dict[str, Any] | str]]:
    """Return the records of the leader, then of each rival, with a field changed.

    A rival that the first few seeds exclude, by the margin, has no further runs: it does not win there.
    """
    first, rest = list(seeds[:FEW]), list(seeds[FEW:])
    rows = bench.measure([leader, *rivals], first, (change,))
    if not rest:
        return rows
    left = [rival for rival, row in zip(rivals, rows[1:], strict=True) if _may_beat(question, rows[0], row)]
    more = dict(
        zip(
            (each.name for each in (leader, *left)),
            bench.measure([leader, *left], rest, (change,)),
            strict=True,
        )
    )
    return [row + more.get(each.name, []) for each, row in zip((leader, *rivals), rows, strict=True)]


def _may_beat(
    question: Question, leader: Sequence[dict[str, Any] | str], rival: Sequence[dict[str, Any] | str]
) -> bool:
    ours, theirs = _values(question, (leader, rival))
    if not ours or not theirs:
        return False
    return bounds(_over_margin(question, ours, theirs), 0.05)[1] > 0


def _over_margin(question: Question, ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return by how much a rival is better than the leader with the margin on it, by seed."""
    # By the leader's values with the margin on them: its mean is uncertain too.
    sign, margin = question.wanted.objective.sign, question.wanted.margin(question.margin)
    if question.wanted.additive:
        return [sign * (other - own) - margin for own, other in zip(ours, theirs, strict=True)]
    return [sign * (other - own * (1 + sign * margin)) for own, other in zip(ours, theirs, strict=True)]


def beaten(
    question: Question, rivals: Sequence[Candidate], rows: Sequence[Sequence[dict[str, Any] | str]]
) -> tuple[str, float]:
    """Return which rival beats another candidate by more than the margin, beyond chance, and by which share.

    Args:
        question: The question: objective, margin and constraints.
        rivals: The rivals.
        rows: Records of the other candidate, then of each rival, over the same seeds.

    Returns:
        The best such rival and its gain; an empty text without one.
    """
    wanted = question.wanted
    margin = wanted.margin(question.margin)
    ours, *theirs = _values(question, rows)
    best, found = -math.inf, ""
    for rival, values, measured in zip(rivals, theirs, rows[1:], strict=True):
        if not values or len(values) != len(ours) or not _keeps(question, measured):
            continue
        apart = _over_margin(question, ours, values)
        mean = math.fsum(apart) / len(apart)
        # One of several rivals may win by chance: Bonferroni over them.
        low = bounds(apart, 0.05 / len(rivals))[0] if question.is_random else mean
        if low > 0 and mean > best:
            best, found = mean, rival.name
    scale = 1.0 if wanted.additive or not ours else abs(math.fsum(ours) / len(ours)) or 1.0
    return found, best / scale + margin if found else 0.0


def _keeps(question: Question, rows: Sequence[dict[str, Any] | str]) -> bool:
    """Whether runs keep the constraints in the mean."""
    for constraint in question.constraints:
        values = [row[constraint.metric.name] for row in rows if not isinstance(row, str)]
        if not values or constraint.excess(math.fsum(values) / len(values)) > 0:
            return False
    return True


def _gain(ours: list[float], here: list[float], sign: int, *, additive: bool) -> Interval:
    """Return by how much the winner gains, as a share, where a field is changed."""
    scale = 1.0 if additive else abs(math.fsum(here) / len(here)) or 1.0
    apart = paired_difference(ours, here)
    ends = (
        sorted((sign * apart.low / scale, sign * apart.high / scale))
        if apart.n > 1
        else [sign * apart.mean / scale] * 2
    )
    return Interval(sign * apart.mean / scale, ends[0], ends[1], apart.n)


def _values(question: Question, rows: Sequence[Sequence[dict[str, Any] | str]]) -> list[list[float]]:
    """Return the objective of candidates by seed; an empty list where a run failed."""
    name = question.wanted.objective.metric.name
    return [
        [row[name] for row in each if not isinstance(row, str)]
        if not any(isinstance(r, str) for r in each)
        else []
        for each in rows
    ]


def _at(base: Scenario, probe: Probe, factor: float) -> str | None:
    """Return the field's value times a factor as the scenario reads it; None if it does not take that."""
    number, unit = quantity(probe.value) or (math.nan, "")
    # Four digits first; a field of whole numbers takes the second.
    for text in (
        f"{float(f'{number * factor:.4g}')!r} {unit}".strip(),
        f"{round(number * factor)} {unit}".strip(),
    ):
        try:
            changed = base.set_text(probe.path, text)
            changed.check()
        except ScenarioError:
            continue
        # Rounded to the same value nothing is changed.
        return text if changed.hash != base.hash else None
    return None
