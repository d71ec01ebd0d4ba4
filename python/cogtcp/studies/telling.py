"""How the outcome of a claim made of statements is told in the columns that every claim has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.studies import power
from cogtcp.studies.exhibits import Table
from cogtcp.studies.judging import numbers
from cogtcp.studies.space import show
from cogtcp.studies.statements import weakest

if TYPE_CHECKING:
    from cogtcp.statistics import Interval
    from cogtcp.studies import Context, Measured
    from cogtcp.studies.outcome import Outcome
    from cogtcp.studies.places import Place
    from cogtcp.studies.verdicts import Finding


def tell(study: Context, outcome: Outcome) -> Measured:
    """Return the row of a claim: its verdict is that of its place, its interval that of what decides."""
    from cogtcp.studies import Measured

    decides = weakest(outcome.base.findings)
    ordered = (finding.verdict for finding in outcome.base.findings)
    count = list(ordered)
    return Measured(
        verdict=outcome.verdict,
        measured=f"At the base {count.count('holds')} of {len(count)} statements hold, "
        f"{count.count('differs')} differ.",
        ci=None if math.isnan(decides.low) else (decides.low, decides.high),
        test="Each statement by its own test at the 5 % level; the claim holds at a setting where all hold.",
        why=_where(study, outcome),
        figures=outcome.figures,
        tables=[
            _statements(study, outcome),
            *_closest(study, outcome),
            *_effects(study, outcome),
            *outcome.tables,
        ],
        facts={"base": outcome.base.verdict},
    )


def _where(study: Context, outcome: Outcome) -> str:
    place = outcome.place
    if place is None:
        return "The space of what the paper leaves unsaid has not been searched."
    text = {
        "everywhere": "It holds everywhere in the space of what the paper leaves unsaid",
        "nowhere": "It holds nowhere in the space of what the paper leaves unsaid",
        "somewhere": "It holds in a part of the space of what the paper leaves unsaid",
        "undecided": "Too few settings decide to say where it holds",
    }[place.where]
    text += f": at {place.holds} of {place.holds + place.differs} settings that decide"
    if place.inconclusive:
        text += f" ({place.inconclusive} more are inconclusive)"
    text += "."
    names = {parameter.name: parameter for parameter in study.study.space.varied}
    if outcome.decides:
        found = [
            f"{names[effect.parameter].title} (from {min(effect.shares.values()):.0%} to "
            f"{max(effect.shares.values()):.0%} of the settings)"
            for effect in outcome.decides[:3]
        ]
        text += f" What decides: {', '.join(found)}."
    elif place.where == "nowhere":
        text += f" The search looked at {outcome.tried} settings in {len(names)} dimensions."
    return text


def _statements(study: Context, outcome: Outcome) -> Table:
    rows = []
    for index, (statement, finding, place) in enumerate(outcome.by_statement()):
        closest = "" if outcome.closest is None else interval_text(outcome.closest.findings[index])
        needed = power.seeds_needed(statement, finding, len(outcome.row.statements))
        rows.append(
            [
                statement.says,
                statement.kind,
                statement.rule,
                f"{interval_text(finding)}{f' ({finding.where})' if finding.where else ''}",
                finding.verdict,
                "" if place is None else place.where,
                "" if place is None else share_text(place),
                closest,
                "" if needed is None else str(needed),
            ]
        )
    return Table(
        title="Statement by statement",
        header=["statement", "kind", "test", "base", "verdict", "where", "share", "closest", "seeds needed"],
        rows=rows,
        caption=(
            "Base and closest: the tested ratio (or relative change) with its 95 % interval; of a statement "
            "made at several points the one that decides. Share: of the settings that decide, with the exact "
            f"95 % interval. Seeds needed: to find an effect of the margin (orderings: {power.EFFECT:.0%}) "
            f"with a power of {power.POWER:g} for the claim as a whole; this run has {len(study.seeds)}."
        ),
    )


def _closest(study: Context, outcome: Outcome) -> list[Table]:
    if outcome.closest is None:
        return []
    base, closest = outcome.base.setting, outcome.closest.setting
    rows = [
        [parameter.title, show(base[parameter.name]), show(closest[parameter.name])]
        for parameter in study.study.space.varied
        if base[parameter.name] != closest[parameter.name]
    ]
    tables = [
        Table(
            title="The closest setting",
            header=["unsaid parameter", "base", "closest"],
            rows=rows or [["all", "as in the scenario", "the same"]],
            caption=f"The setting nearest to what the paper shows, of {outcome.tried} that were tried; "
            "what is not listed is as at the base. Its figures here are measured on seeds that had no part "
            "in the search.",
        )
    ]
    if outcome.row.numbers:
        at_base = numbers(outcome.row, outcome.base.grid)
        at_closest = numbers(outcome.row, outcome.closest.grid)
        tables.append(
            Table(
                title="The paper's numbers",
                header=["number", "paper", "base", "closest"],
                rows=[
                    [says, f"{paper:.3g}", f"{first:.3g}", f"{second:.3g}"]
                    for (says, paper, first), (_, _, second) in zip(at_base, at_closest, strict=True)
                ],
            )
        )
    return tables


def _effects(study: Context, outcome: Outcome) -> list[Table]:
    names = {parameter.name: parameter for parameter in study.study.space.varied}
    if not outcome.effects or outcome.place is None or outcome.place.where in ("everywhere", "nowhere"):
        return []
    return [
        Table(
            title="What decides",
            header=["unsaid parameter", "claim holds at", "effect", "p"],
            rows=[
                [
                    names[effect.parameter].title,
                    "; ".join(f"{level}: {value:.0%}" for level, value in effect.shares.items()),
                    f"{effect.effect:.2f}",
                    "< 0.01" if effect.p < 0.01 else f"{effect.p:.2f}",
                ]
                for effect in outcome.effects
            ],
            caption="Share of the settings at which the claim holds, by the value of one parameter, the "
            "others as in the design. Effect: greatest less least. p: permutation test, Holm over the "
            "parameters.",
        )
    ]


def interval_text(finding: Finding) -> str:
    """Return an estimate with its interval in three digits."""
    text = f"{finding.estimate:.3g}"
    return text if math.isnan(finding.low) else f"{text} [{finding.low:.3g}, {finding.high:.3g}]"


def share_text(place: Place) -> str:
    """Return a share with its interval in per cent, and how many settings were inconclusive."""
    share: Interval = place.share
    if share.n == 0:
        return f"none decides ({place.inconclusive} inconclusive)"
    text = f"{share.mean:.0%} [{share.low:.0%}, {share.high:.0%}]"
    return f"{text}, {place.inconclusive} inconclusive" if place.inconclusive else text
