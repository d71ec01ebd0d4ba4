"""How the outcome of a claim is told: in two sentences, and as tables of its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.studies import power
from cogtcp.studies.exhibits import Table
from cogtcp.studies.judging import numbers
from cogtcp.studies.space import show
from cogtcp.studies.verdicts import ends_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.statistics import Interval
    from cogtcp.studies import Context
    from cogtcp.studies.outcome import Outcome
    from cogtcp.studies.places import Place
    from cogtcp.studies.verdicts import Finding, Verdict

NOT_SEARCHED = "The space of what the paper leaves unsaid has not been searched yet."


@dataclass(frozen=True)
class Told:
    """What a claim came to, in words and tables.

    Attributes:
        measured: What holds at the base.
        why: Where it holds in the space, and what decides.
        decides: The parameters that decide, in a few words; empty where none does, or is known.
        statements: The statement table; None where a simulation failed.
        numbers: The paper's numbers beside ours; None where it prints none.
        details: What the page folds away: power, the closest setting, effects.
    """

    measured: str
    why: str
    decides: str = ""
    statements: Table | None = None
    numbers: Table | None = None
    details: Sequence[Table] = ()


def tell(study: Context, outcome: Outcome) -> Told:
    """Return what to say of a claim."""
    names = {parameter.name: parameter.title for parameter in study.study.space.varied}
    return Told(
        measured=f"At the base, of {_statements_counted(outcome)}.",
        why=_where(study, outcome),
        decides=", ".join(names[effect.parameter] for effect in outcome.decides[:3]),
        statements=_statements(outcome),
        numbers=_numbers(outcome),
        details=[*_closest(study, outcome), *_effects(study, outcome), _tests(study, outcome)],
    )


def counted(found: Sequence[Verdict]) -> str:
    """Return "2 hold, 1 differs, 3 are inconclusive"."""
    words = {
        "holds": ("holds", "hold"),
        "differs": ("differs", "differ"),
        "unclear": ("is inconclusive", "are inconclusive"),
    }
    counts = [(found.count(verdict), one, many) for verdict, (one, many) in words.items()]
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)


def _statements_counted(outcome: Outcome) -> str:
    found = [finding.verdict for finding in outcome.base.findings]
    return f"{len(found)} statement{'' if len(found) == 1 else 's'} {counted(found)}"


def _where(study: Context, outcome: Outcome) -> str:
    place = outcome.place
    if place is None:
        return NOT_SEARCHED
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
            f"{names[effect.parameter].title} (from {100 * min(effect.shares.values()):.0f} to "
            f"{100 * max(effect.shares.values()):.0f} % of the settings)"
            for effect in outcome.decides[:3]
        ]
        text += f" What decides: {', '.join(found)}."
    elif place.where == "nowhere":
        text += f" The search looked at {outcome.tried} settings in {len(names)} dimensions."
    return text


def _statements(outcome: Outcome) -> Table:
    searched, near = outcome.search is not None, outcome.closest
    rows = []
    for index, (statement, finding, place) in enumerate(outcome.by_statement()):
        row = [
            statement.says,
            statement.kind,
            statement.tested(outcome.quantities),
            interval_text(finding),
            finding.verdict,
        ]
        if place is not None:
            row += [place.where, share_text(place)]
        if near is not None:
            row.append(interval_text(near.findings[index]))
        rows.append(row)
    return Table(
        title="Statement by statement",
        header=[
            "statement",
            "kind",
            "tested",
            "at the base [95 %]",
            "there",
            *(["where", "share of the settings [95 %]"] if searched else []),
            *(["closest setting [95 %]"] if near is not None else []),
        ],
        rows=rows,
        caption="Of a statement made at several points, the one that decides is shown.",
    )


def _tests(study: Context, outcome: Outcome) -> Table:
    rows = []
    for statement, finding, _ in outcome.by_statement():
        needed = power.seeds_needed(statement, finding, len(outcome.row.statements))
        rows.append(
            [statement.says, statement.rule, finding.where, "" if needed is None else str(needed)],
        )
    return Table(
        title="Tests, and how many seeds they need",
        header=["statement", "test", "decided at", "seeds needed"],
        rows=rows,
        caption=f"All at the 5 % level. Needed: to find an effect of the margin (orderings: "
        f"{100 * power.EFFECT:.0f} %) with a power of {power.POWER:g} for the claim as a whole. This run has "
        f"{len(study.seeds)}.",
    )


def _numbers(outcome: Outcome) -> Table | None:
    if not outcome.row.numbers:
        return None
    at_base = numbers(outcome.row, outcome.base.grid)
    columns = [[f"{measured:.3g}" for _, _, measured in at_base]]
    header = ["number", "paper", "base"]
    if outcome.closest is not None:
        columns.append([f"{measured:.3g}" for _, _, measured in numbers(outcome.row, outcome.closest.grid)])
        header.append("closest setting")
    return Table(
        title="The paper's numbers",
        header=header,
        rows=[
            [says, f"{paper:.3g}", *found] for (says, paper, _), *found in zip(at_base, *columns, strict=True)
        ],
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
    return [
        Table(
            title="The closest setting",
            header=["unsaid parameter", "base", "closest"],
            rows=rows or [["all", "as in the scenario", "the same"]],
            caption=f"The setting nearest to what the paper shows, of {outcome.tried} that were tried; "
            "what is not listed is as at the base. Its figures here are measured on seeds that had no part "
            "in the search.",
        )
    ]


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
                    "; ".join(f"{level}: {100 * value:.0f} %" for level, value in effect.shares.items()),
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
    return text if finding.low != finding.low else f"{text} {ends_text(finding.low, finding.high)}"


def share_text(place: Place) -> str:
    """Return a share with its interval in per cent, and how many settings were inconclusive."""
    share: Interval = place.share
    if share.n == 0:
        return f"none decides ({place.inconclusive} inconclusive)"
    text = f"{100 * share.mean:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"
    return f"{text}, {place.inconclusive} inconclusive" if place.inconclusive else text
