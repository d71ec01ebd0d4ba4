"""What the measurement of a claim came to: its answer, statements, causes and figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cogtcp.studies import code, kept, plots, power, verdicts
from cogtcp.studies.exhibits import Figure, Table
from cogtcp.studies.judging import judge
from cogtcp.studies.space import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies.answers import Answer
    from cogtcp.studies.causes import Effect
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.readings import Reading, Turn
    from cogtcp.studies.search import Search
    from cogtcp.studies.space import Unsaid, Value
    from cogtcp.studies.support import Support


@dataclass(frozen=True)
class Along:
    """A claim at values of one parameter, everything else as at one place.

    Attributes:
        parameter: The parameter.
        place: The place in words: "the default values".
        judged: The claim at each value.
        figures: Its first figure at each value; empty where it has none that is drawn from its points.
    """

    parameter: Unsaid
    place: str
    judged: Sequence[Judged]
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Outcome:
    """A claim, measured.

    Attributes:
        row: The claim.
        base: The claim at the scenario's own setting, or at the best reading where that was asked for.
        best: The claim at its best reading, on the seeds of this run; None where none is kept.
        reading: The best reading, as the guided search confirmed it; None where none is kept.
        search: The random design; None where none is kept for this claim.
        effects: What each unsaid parameter does to it.
        answer: Whether it can be reproduced, how robust it is, and what decides.
        figures: The paper's figures, redrawn.
        where_it_holds: The map of the two parameters that decide most; None where none does.
        along: The claim at values of the parameter that decides; None where none does.
        tables: Tables that the study adds: causes.
        quantities: What the study measures, by name, in words.
    """

    row: ClaimRow
    base: Judged
    best: Judged | None
    reading: Reading | None
    search: Search | None
    effects: Sequence[Effect]
    answer: Answer
    figures: Sequence[Figure]
    tables: Sequence[Table]
    where_it_holds: Figure | None = None
    along: Along | None = None
    quantities: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> Support | None:
        """In how much of the space the claim as a whole holds; None where the design has not judged it."""
        return None if self.search is None else self.search.claims[self.row.id].place()

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        place = self.place
        return {
            "answer": self.answer.to_dict(),
            "base": self.base.verdict,
            "share": None if place is None else _share(place),
            "statements": [
                {
                    "says": statement.says,
                    "kind": statement.kind,
                    "quantity": statement.quantity or None,
                    "test": statement.rule,
                    "estimate_of": statement.tested(self.quantities),
                    "base": _finding(finding),
                    "share": None if found is None else _share(found),
                    "seeds_needed": power.seeds_needed(statement, finding, len(self.row.statements)),
                }
                for statement, finding, found in self.by_statement()
            ],
            "best": None if self.reading is None else self._best(self.reading),
        }

    def by_statement(self) -> list[tuple[Any, Any, Support | None]]:
        """Return each statement with its finding at the base and its place."""
        found = None if self.search is None else self.search.claims[self.row.id]
        return [
            (statement, finding, None if found is None else found.place(statement.says))
            for statement, finding in zip(self.row.statements, self.base.findings, strict=True)
        ]

    def _best(self, reading: Reading) -> dict[str, Any]:
        nearest, turn = reading.nearest, reading.turn
        return {
            "setting": dict(reading.setting),
            "seeds": list(reading.seeds),
            "settings_judged": reading.evaluated,
            "statements": [
                {
                    "says": part.says,
                    "verdict": part.answer,
                    "estimate": part.estimate,
                    "ci": None if math.isnan(part.low) else [part.low, part.high],
                }
                for part in reading.parts
            ],
            "mechanisms": [
                {"says": part.says, "verdict": part.answer, "estimate": part.estimate}
                for part in reading.mechanisms
            ],
            "turns_over": None
            if turn is None
            else {"parameter": turn.parameter, "from": turn.here, "to": turn.there},
            "nearest_numbers": None
            if nearest is None
            else {
                "setting": dict(nearest.setting),
                "numbers": [
                    {"says": says, "paper": paper, "measured": measured}
                    for says, paper, measured in nearest.numbers
                ],
                "distance": nearest.distance,
                "hangs_on": None
                if nearest.hangs is None
                else {
                    "parameter": nearest.hangs.parameter,
                    "there": nearest.hangs.there,
                    "distance": nearest.hangs.distance,
                },
            },
        }


def conclude(
    study: Context,
    row: ClaimRow,
    base: Judged,
    best: Judged | None,
    reading: Reading | None,
    search: Search | None,
) -> Outcome:
    """Put together what a claim came to, and draw its figures."""
    if search is not None and row.id not in search.claims:
        search = None
    effects = [] if search is None else search.effects(study.study, row.id)
    figures = [plots.redraw(study, row, plot, base, best) for plot in row.plots]
    tables: list[Table] = []
    for name in row.shows:
        for exhibit in code.function(study.study, "exhibits", name)(study, base):
            (tables if isinstance(exhibit, Table) else figures).append(exhibit)
    plain = plots.automatic(row, study.study.quantities, base.grid)
    if plain is not None and not any(figure.curves for figure in figures):
        figures.insert(0, plots.redraw(study, row, plain, base, best))
    # Without a guided search, a base at which all holds reproduces the claim.
    answer = kept.answer(study.study, row, reading, search, None if study.quick else base)
    outcome = Outcome(
        row,
        base,
        best,
        reading,
        search,
        effects,
        answer,
        figures,
        tables,
        quantities=study.study.quantities,
    )
    causes, varied = answer.causes, study.study.space.varied
    return replace(
        outcome,
        where_it_holds=None
        if search is None
        else plots.where_it_holds(varied, row.id, search, causes, effects),
        along=_along(study, outcome),
    )


ALONG, ALONG_SEEDS, QUICK_SEEDS = 4, 6, 2
"""Values of the parameter that decides, at most, and seeds at each, in full and in the quick version."""


def _along(study: Context, outcome: Outcome) -> Along | None:
    """Measure a claim at values of the parameter that decides; None where none does.

    It is the one that decides most over the random design, from the base on. Where none does, it is the one
    that turns the best reading over, from that reading on.
    """
    row, base = outcome.row, outcome.base.setting
    turn = None if outcome.reading is None else outcome.reading.turn
    if outcome.answer.causes:
        name, place = outcome.answer.causes[0].parameter, base
    elif outcome.reading is not None and turn is not None:
        name, place = turn.parameter, outcome.reading.setting
    else:
        return None
    (parameter,) = (item for item in study.study.space.varied if item.name == name)
    few = replace(study, seeds=study.seeds[: QUICK_SEEDS if study.quick else ALONG_SEEDS])
    values = _values(parameter, None if outcome.answer.causes else turn)
    judged = [judge(few, [row], place.but(**{name: value}))[0] for value in values]
    plot = next(iter(row.plots), None) or plots.automatic(row, study.study.quantities, judged[0].grid)
    titles = [
        f"{show(value)} {parameter.unit}".rstrip() + f": {item.verdict}"
        for value, item in zip(values, judged, strict=True)
    ]
    drawn = [] if plot is None else [plots.redraw(few, row, plot, item, None) for item in judged]
    figures = plots.multiples(drawn, titles)
    is_best = outcome.reading is not None and place == outcome.reading.setting
    there = "the best parameter values" if is_best else "the setting measured"
    return Along(
        parameter, "the default values" if place == study.study.space.base else there, judged, figures
    )


def _values(parameter: Unsaid, turn: Turn | None) -> list[Value]:
    """Return values along a parameter: its choices or ends, or those on both sides of the turn."""
    if turn is not None and parameter.choices:
        others = [value for value in parameter.choices if value not in (turn.here, turn.there)]
        chosen = {turn.here, turn.there, *others[: ALONG - 2]}
        return [value for value in parameter.choices if value in chosen]
    if turn is not None:
        end = parameter.at(1.0 if float(turn.there) > float(turn.here) else 0.0)
        return sorted({turn.here, turn.there, end}, key=float)
    return (list(parameter.choices) or [parameter.at(share) for share in (0.0, 0.5, 1.0)])[:ALONG]


def _finding(finding: verdicts.Finding) -> dict[str, Any]:
    interval = None if math.isnan(finding.low) else [finding.low, finding.high]
    return {
        "verdict": finding.verdict,
        "estimate": finding.estimate,
        "ci": interval,
        "weakest_at": finding.where or None,
    }


def _share(place: Support) -> dict[str, Any]:
    share = place.share
    return {
        "estimate": share.mean,
        "ci": [share.low, share.high],
        "holds": place.holds,
        "fails": place.fails,
        "inconclusive": place.inconclusive,
    }
