"""What the measurement of a claim came to: its answer, statements, causes and figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cogtcp.studies import code, kept, power, verdicts
from cogtcp.studies.exhibits import Curve, Figure, Surface, Table
from cogtcp.studies.judging import judge
from cogtcp.studies.space import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies.answers import Answer
    from cogtcp.studies.causes import Effect
    from cogtcp.studies.claims import ClaimRow, Plot
    from cogtcp.studies.context import Context
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.readings import Reading
    from cogtcp.studies.search import Search
    from cogtcp.studies.support import Support
    from cogtcp.studies.verdicts import Verdict


@dataclass(frozen=True)
class Outcome:
    """A claim, measured.

    Attributes:
        row: The claim.
        base: The claim at the scenario's own setting, or at the best reading where that was asked for.
        best: The claim at its best reading, on the seeds of this run; None where none is kept, or if quick.
        reading: The best reading, as the guided search confirmed it; None where none is kept.
        search: The random design; None where none is kept for this claim.
        effects: What each unsaid parameter does to it.
        answer: Whether it can be reproduced, how robust it is, and what decides.
        figures: The paper's figures, redrawn.
        where_it_holds: The map of the two parameters that decide most; None where none does.
        multiples: The first figure at values of the parameter that decides most, the rest as at the base.
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
    multiples: Sequence[Figure] = ()
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
    figures = [_figure(study, row, plot, base, best) for plot in row.plots]
    tables: list[Table] = []
    for name in row.shows:
        for exhibit in code.function(study.study, "exhibits", name)(study, base):
            (tables if isinstance(exhibit, Table) else figures).append(exhibit)
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
    return replace(outcome, where_it_holds=_map(study, outcome), multiples=_multiples(study, outcome))


MULTIPLES, MULTIPLES_SEEDS = 3, 6
"""Values of the parameter that decides most, and seeds at each."""


def _multiples(study: Context, outcome: Outcome) -> list[Figure]:
    """Measure and draw the first figure at values of the parameter that decides most."""
    row = outcome.row
    if study.quick or not row.plots or not outcome.answer.causes:
        return []
    name = outcome.answer.causes[0].parameter
    (parameter,) = (item for item in study.study.space.varied if item.name == name)
    values = list(parameter.choices) or [parameter.at(share) for share in (0.0, 0.5, 1.0)]
    few = replace(study, seeds=study.seeds[:MULTIPLES_SEEDS])
    figures = []
    for value in values[:MULTIPLES]:
        (judged,) = judge(few, [row], outcome.base.setting.but(**{name: value}))
        figure = _figure(few, row, row.plots[0], judged, None)
        title = f"{parameter.label or name.replace('_', ' ')} {show(value)} {parameter.unit}".rstrip()
        figures.append(replace(figure, title=f"{title}: {judged.verdict}", caption="", paper=()))
    return figures


def _figure(study: Context, row: ClaimRow, plot: Plot, base: Judged, best: Judged | None) -> Figure:
    curves = []
    shown = [("", base, "points")]
    if best is not None and best.setting != base.setting:
        shown.append((", best reading", best, "dashed"))
    for suffix, judged, style in shown:
        points = [point for point in row.points if point.matches(plot.where or {}) and plot.x in point]
        names = list(dict.fromkeys(point[plot.lines] for point in points)) if plot.lines else [None]
        for name in names:
            mine = [point for point in points if name is None or point[plot.lines] == name]
            mine.sort(key=lambda point: float(point[plot.x]))
            x = [float(point[plot.x]) for point in mine]
            series = [judged.grid[point].of(plot.quantity) for point in mine]
            label = f"{'base' if name is None else _named(plot.lines, name)}{suffix}"
            curves.append(Curve.over_seeds(label, x, series, style))  # type: ignore[arg-type]
    given = [
        (float(number.at[plot.x]), number.value)
        for number in row.numbers
        if number.quantity == plot.quantity and number.than is None and plot.x in number.at
    ]
    if given:
        curves.append(Curve("the paper", [x for x, _ in given], [y for _, y in given], style="given"))
    return Figure(
        id=plot.id,
        title=plot.title,
        x_label=plot.x_label,
        y_label=plot.y_label,
        curves=curves,
        caption="Points: at the base, mean and 95 % interval over the seeds."
        + (" Dashed: at the best reading." if len(shown) > 1 else ""),
        paper=[] if row.ours else study.study.sentences(plot.id),
        log_x=plot.log_x,
        log_y=plot.log_y,
    )


def _named(axis: str, value: Any) -> str:
    """Return a value of an axis as a curve's name: what is no word needs the axis beside it."""
    return show(value) if isinstance(value, str) else f"{axis.replace('_', ' ')} {show(value)}"


def _map(study: Context, outcome: Outcome) -> Figure | None:
    """Draw where the claim holds over the two parameters that decide most; None if none does."""
    if outcome.search is None or not outcome.answer.causes:
        return None
    by_name = {parameter.name: parameter for parameter in study.study.space.varied}
    causes = [cause.parameter for cause in outcome.answer.causes]
    others = [effect.parameter for effect in outcome.effects if effect.parameter not in causes]
    names = [*causes, *others][:2]
    across, up = by_name[names[0]], by_name[names[-1]]
    verdict = outcome.search.claims[outcome.row.id].claim_verdicts()
    cells: dict[tuple[str, str], list[Verdict]] = {}
    for setting, found in zip(outcome.search.settings, verdict, strict=True):
        key = (up.level(setting[up.name]), across.level(setting[across.name]))
        cells.setdefault(key, []).append(found)
    values = [[_holds(cells.get((row, column), [])) for column in across.levels()] for row in up.levels()]
    return Figure(
        id=f"{outcome.row.id}-map",
        title="Where it holds",
        x_label=across.title,
        y_label=up.title,
        curves=[],
        caption="Share of the settings at which the claim holds, among those with a clear result.",
        surfaces=[
            Surface("", across.levels(), up.levels(), values),
        ],
    )


def _holds(found: Sequence[Verdict]) -> float:
    decided = [verdict for verdict in found if verdict != "inconclusive"]
    return decided.count("holds") / len(decided) if decided else math.nan


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
