"""What the measurement of a claim came to, and how it is told: verdict, places, causes, exhibits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cogtcp.studies import code, power, verdicts
from cogtcp.studies.exhibits import Curve, Figure, Surface, Table
from cogtcp.studies.judging import numbers
from cogtcp.studies.space import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies import Context
    from cogtcp.studies.claims import ClaimRow, Plot
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.places import Effect, Place, Where
    from cogtcp.studies.search import Search
    from cogtcp.studies.verdicts import Verdict

DECIDES = 0.05
"""Level at which a parameter counts as one that decides."""


@dataclass(frozen=True)
class Outcome:
    """A claim, measured.

    Attributes:
        row: The claim.
        base: The claim at the scenario's own setting.
        closest: The claim at the setting closest to the paper, on seeds without a part in the search.
        search: The search of the space; None where none is kept.
        effects: What each unsaid parameter does to it.
        figures: The paper's figures, redrawn.
        where_it_holds: The map of the two parameters that decide most; None where none does.
        tables: Tables that the study adds: causes.
        quantities: What the study measures, by name, in words.
    """

    row: ClaimRow
    base: Judged
    closest: Judged | None
    search: Search | None
    effects: Sequence[Effect]
    figures: Sequence[Figure]
    tables: Sequence[Table]
    where_it_holds: Figure | None = None
    quantities: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> Place | None:
        """Where the claim as a whole holds; None where no search is kept."""
        return None if self.search is None else self.search.claims[self.row.id].place()

    @property
    def verdict(self) -> Verdict:
        """`holds` everywhere, `differs` nowhere, `unclear` else."""
        return "unclear" if self.place is None else self.place.verdict

    @property
    def where(self) -> Where | None:
        """Everywhere, somewhere, nowhere or undecided; None where no search is kept."""
        return None if self.place is None else self.place.where

    @property
    def decides(self) -> list[Effect]:
        """The parameters whose effect is not chance, the greatest first."""
        return [effect for effect in self.effects if effect.p <= DECIDES]

    @property
    def tried(self) -> int:
        """How many settings the search looked at for this claim."""
        return 0 if self.search is None else self.search.claims[self.row.id].tried

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        place = self.place
        return {
            "base": self.base.verdict,
            "where": self.where,
            "share": None if place is None else _share(place),
            "statements": [
                {
                    "says": statement.says,
                    "kind": statement.kind,
                    "quantity": statement.quantity or None,
                    "test": statement.rule,
                    "estimate_of": statement.tested(self.quantities),
                    "base": _finding(finding),
                    "where": None if found is None else found.where,
                    "share": None if found is None else _share(found),
                    "seeds_needed": power.seeds_needed(statement, finding, len(self.row.statements)),
                }
                for statement, finding, found in self.by_statement()
            ],
            "closest": None if self.closest is None else self._closest(),
            "decides": [
                {
                    "parameter": effect.parameter,
                    "effect": round(effect.effect, 3),
                    "p": round(effect.p, 4),
                    "shares": {level: round(value, 3) for level, value in effect.shares.items()},
                }
                for effect in self.decides
            ],
            "tried": self.tried,
        }

    def by_statement(self) -> list[tuple[Any, Any, Place | None]]:
        """Return each statement with its finding at the base and its place."""
        found = None if self.search is None else self.search.claims[self.row.id]
        return [
            (statement, finding, None if found is None else found.place(statement.says))
            for statement, finding in zip(self.row.statements, self.base.findings, strict=True)
        ]

    def _closest(self) -> dict[str, Any]:
        assert self.closest is not None  # noqa: S101 - the caller looked
        return {
            "setting": dict(self.closest.setting),
            "verdict": self.closest.verdict,
            "statements": [
                {"says": statement.says, **_finding(finding)}
                for statement, finding in zip(self.row.statements, self.closest.findings, strict=True)
            ],
            "numbers": [
                {"says": says, "paper": paper, "measured": measured}
                for says, paper, measured in numbers(self.row, self.closest.grid)
            ],
        }


def conclude(
    study: Context, row: ClaimRow, base: Judged, closest: Judged | None, search: Search | None
) -> Outcome:
    """Put together what a claim came to, and draw its figures."""
    effects = [] if search is None else search.decides(study.study, row.id)
    figures = [_figure(study, row, plot, base, closest) for plot in row.plots]
    tables: list[Table] = []
    for name in row.shows:
        for exhibit in code.function(study.study, "exhibits", name)(study, base):
            (tables if isinstance(exhibit, Table) else figures).append(exhibit)
    outcome = Outcome(row, base, closest, search, effects, figures, tables, quantities=study.study.quantities)
    return replace(outcome, where_it_holds=_map(study, outcome))


def _figure(study: Context, row: ClaimRow, plot: Plot, base: Judged, closest: Judged | None) -> Figure:
    curves = []
    shown = [("", base, "points")]
    if closest is not None and closest.setting != base.setting:
        shown.append((", closest", closest, "dashed"))
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
    return Figure(
        id=plot.id,
        title=plot.title,
        x_label=plot.x_label,
        y_label=plot.y_label,
        curves=curves,
        caption="Points: at the base, mean and 95 % interval over the seeds."
        + (" Dashed: at the setting closest to the paper." if len(shown) > 1 else ""),
        paper=[] if row.ours else study.study.sentences(plot.id),
        log_x=plot.log_x,
        log_y=plot.log_y,
    )


def _named(axis: str, value: Any) -> str:
    """Return a value of an axis as a curve's name: what is no word needs the axis beside it."""
    return show(value) if isinstance(value, str) else f"{axis.replace('_', ' ')} {show(value)}"


def _map(study: Context, outcome: Outcome) -> Figure | None:
    """Draw where the claim holds over the two parameters that decide most; None if none does."""
    if outcome.search is None or not outcome.decides:
        return None
    by_name = {parameter.name: parameter for parameter in study.study.space.varied}
    names = [effect.parameter for effect in outcome.effects[:2]]
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
        caption="Share of the settings of the design at which the claim holds, among those that decide.",
        surfaces=[
            Surface("", across.levels(), up.levels(), values),
        ],
    )


def _holds(found: Sequence[Verdict]) -> float:
    decided = [verdict for verdict in found if verdict != "unclear"]
    return decided.count("holds") / len(decided) if decided else math.nan


def _finding(finding: verdicts.Finding) -> dict[str, Any]:
    interval = None if math.isnan(finding.low) else [finding.low, finding.high]
    return {
        "verdict": finding.verdict,
        "estimate": finding.estimate,
        "ci": interval,
        "weakest_at": finding.where or None,
    }


def _share(place: Place) -> dict[str, Any]:
    share = place.share
    return {
        "estimate": share.mean,
        "ci": [share.low, share.high],
        "holds": place.holds,
        "differs": place.differs,
        "inconclusive": place.inconclusive,
    }
