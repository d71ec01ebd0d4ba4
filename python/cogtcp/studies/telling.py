"""How the outcome of a claim is told: in a few lines, and as tables of its page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.studies import power
from cogtcp.studies.context import label_of, place_of
from cogtcp.studies.exhibits import Table
from cogtcp.studies.judging import numbers
from cogtcp.studies.readings import WITHIN, Part, within
from cogtcp.studies.space import show
from cogtcp.studies.verdicts import ends_text, tested_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.model.statistics import Interval
    from cogtcp.studies.answers import Lack
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.folder import Study
    from cogtcp.studies.outcome import Outcome
    from cogtcp.studies.readings import Reading
    from cogtcp.studies.space import Unsaid
    from cogtcp.studies.statements import Statement
    from cogtcp.studies.support import Support
    from cogtcp.studies.verdicts import Finding, Verdict


@dataclass(frozen=True)
class Told:
    """What a claim came to, in words and tables.

    Attributes:
        measured: How many statements hold where it was measured.
        why: The best reading, and in how much of the space the claim holds.
        share: The share of the settings at which it holds, in words; empty where it is not known.
        reading: The best parameter values in words; empty where none is kept.
        card: All of it but the values of the best reading, which a table of the page has.
        lines: The best reading, then what fails there or reverses it and the seeds that are missing: two
            lines that may be cut short.
        fails: The statements that do not hold where it was measured, with what was measured; else empty.
        turn: The smallest change of one parameter that turns it over; empty where none is known.
        lacking: The statements for which the seeds do not suffice, and how many more they need; empty where
            there are none.
        statements: The statement table; None where a simulation failed.
        numbers: The paper's numbers beside ours; None where it prints none.
        along: The statements at values of the parameter that decides; None where none does.
        details: What the page folds away: power, the best reading, effects.
    """

    measured: str
    why: str
    share: str = ""
    reading: str = ""
    card: str = ""
    lines: tuple[str, str] = ("", "")
    fails: str = ""
    turn: str = ""
    lacking: str = ""
    statements: Table | None = None
    numbers: Table | None = None
    along: Table | None = None
    details: Sequence[Table] = ()


def tell(study: Context, outcome: Outcome) -> Told:
    """Return what to say of a claim."""
    share, turn = _share(outcome), _turn(study, outcome)
    where, counted_there = _where(study, outcome)
    missing = _missing(study, outcome)
    reading = f"{where} {missing}".strip()
    lacking = lacking_text(
        outcome.answer.lacking, study.place if outcome.reading is None else place_of("best")
    )
    measured = f"At {study.place}, {_statements_counted(outcome)}."
    return Told(
        measured=measured,
        why=_joined(share, reading, turn, lacking),
        card=_joined(measured, share, counted_there, missing, turn, lacking),
        lines=_lines(study, outcome, where, turn),
        fails=_fails(study.study, outcome),
        share=share,
        reading=reading,
        turn=turn,
        lacking=lacking,
        statements=_statements(study, outcome),
        numbers=_numbers(study, outcome),
        along=_along(outcome),
        details=[*_best(study, outcome), *_effects(study, outcome), _tests(study, outcome)],
    )


def counted(found: Sequence[Verdict]) -> str:
    """Return "2 hold, 1 fails, 3 are inconclusive"."""
    words = {
        "holds": ("holds", "hold"),
        "fails": ("fails", "fail"),
        "inconclusive": ("is inconclusive", "are inconclusive"),
    }
    counts = [(found.count(verdict), one, many) for verdict, (one, many) in words.items()]
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)


def _statements_counted(outcome: Outcome) -> str:
    found = [finding.verdict for finding in outcome.base.findings]
    if len(found) == 1:
        return f"its one statement {counted(found).removeprefix('1 ')}"
    return f"of its {len(found)} statements {counted(found)}"


def _fails(study: Study, outcome: Outcome) -> str:
    told = [
        f"{statement.says.rstrip('.')} ({finding.verdict}: {_measured(study, statement, finding)}"
        + (f" at {finding.where})" if finding.where else ")")
        for statement, finding in zip(outcome.row.statements, outcome.base.findings, strict=True)
        if finding.verdict != "holds"
    ]
    return f"Not there: {'; '.join(told)}." if told else ""


def _share(outcome: Outcome) -> str:
    place = outcome.place
    if place is None:
        return ""
    decided = place.holds + place.fails
    if not decided:
        return f"Inconclusive at all of its {place.inconclusive} settings."
    text = f"Holds at {place.holds} of {decided} settings ({share_apart(place)}"
    text += f"; {place.inconclusive} inconclusive)" if place.inconclusive else ")"
    for cause in outcome.answer.causes[-1:]:
        text += f", {100 * cause.inside:.0f} % where {outcome.answer.conditions}"
    return text + "."


def _where(study: Context, outcome: Outcome) -> tuple[str, str]:
    """Say which reading is the best: by its values, and by their number."""
    reading, base = outcome.reading, study.study.space.base
    if reading is None:
        return "", ""
    head = f"Best of {reading.evaluated} settings: " if reading.evaluated > 1 else "Best setting: "
    unlike = sum(value != base[name] for name, value in reading.setting.items())
    if not unlike:
        return (f"{head}the default values.",) * 2
    counted = f"{unlike} value{'s' if unlike > 1 else ''} changed, below."
    return f"{head}{study.study.space.differences(reading.setting)}.", f"{head}{counted}"


def _missing(study: Context, outcome: Outcome) -> str:
    reading = outcome.reading
    if reading is None:
        return ""
    return _joined(numbers_text(study.study, reading), missing_text(study.study, outcome.row, reading))


def _lines(study: Context, outcome: Outcome, where: str, turn: str) -> tuple[str, str]:
    reading, found = outcome.reading, outcome.answer.lacking
    failing = [part for part in reading.parts if part.answer == "fails"] if reading is not None else []
    missing = "; ".join(f"{_short(part.answer, part.slack)}: {part.says.rstrip('.')}" for part in failing)
    missing = f"{missing[0].upper()}{missing[1:]}." if missing else ""
    near = "" if reading is None else numbers_text(study.study, reading)
    seeds = f"Needs {'; '.join(lack.brief for lack in found)}." if found else ""
    return where, _joined(missing, turn, seeds, near)


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


def missing_text(study: Study, row: ClaimRow, reading: Reading) -> str:
    """Say which statements do not hold at the best parameter values, by how much, and why."""
    told = []
    for statement, part in zip(row.statements, reading.parts, strict=True):
        if part.answer == "holds":
            continue
        seen = [
            (why.says, f"{why.says.rstrip('.')} ({_measured(study, mechanism.test, why)})")
            for mechanism in row.mechanisms
            for why in reading.mechanisms
            if (mechanism.against, mechanism.test.says, why.answer) == (part.says, why.says, "holds")
        ]
        if part.answer == "inconclusive" and not seen:
            continue  # the answer says how many seeds it lacks
        # A cause is one that was removed, and the statement came to hold.
        causes = [text for says, text in seen if reading.removed.get(says) == "holds"]
        others = [text for says, text in seen if reading.removed.get(says) != "holds"]
        because = f", because {'; '.join(causes)}; without that it holds" if causes else ""
        if others and not causes:
            because = f"; seen there: {'; '.join(others)}; cause not found"
        # A test that names its estimate is told by it: its bound is in what it says.
        short = _short(part.answer, part.slack)
        if "estimate" in statement.options and part.answer == "fails":
            short = _measured(study, statement, part)
        told.append(f"{part.says.rstrip('.')} ({short}{because})")
    return f"Fails at the best parameter values: {'; '.join(told)}." if told else ""


def numbers_text(study: Study, reading: Reading) -> str:
    """Say how many of the paper's numbers come out at the setting nearest to them, and what that hangs on."""
    nearest = reading.nearest
    if nearest is None:
        return ""
    told = f"{nearest.within} of {len(nearest.numbers)} are within {100 * WITHIN:.0f} %"
    text = f"At the values nearest to the paper's numbers {told}, "
    text += f"the mean distance is {_apart(nearest.distance)}"
    here = within(reading.numbers)
    if here > nearest.within:
        text += f"; at the best parameter values {here} are within"
    if nearest.hangs is not None:
        (parameter,) = (item for item in study.space.varied if item.name == nearest.hangs.parameter)
        there = f"{show(nearest.hangs.there)} {parameter.unit}".rstrip()
        far = f"{_name(parameter)}: at {there} it is {_apart(nearest.hangs.distance)}"
        doubled = nearest.hangs.distance >= 2 * nearest.distance
        text += f". It hangs on {far}" if doubled else f". No single change doubles it ({far})"
    return f"{text}."


def _apart(distance: float) -> str:
    """Return a mean |ln(measured / paper)| in per cent, or as a factor where per cent would mislead."""
    if distance < 0.5:
        return f"{100 * distance:.2g} %"
    factor = math.exp(distance)
    return f"a factor of {factor:.2g}" if factor < 100 else "a factor of over 100"


def _name(parameter: Unsaid) -> str:
    return parameter.label or parameter.name.replace("_", " ")


def _measured(study: Study, test: Statement, found: Part | Finding) -> str:
    """Return what was measured, in words: where it was compared with a number, in its own unit."""
    scale, name = 1.0, test.tested(study.quantities)
    if isinstance(test.than, int | float) and test.than:
        scale, name = float(test.than), study.quantities.get(test.quantity, test.quantity.replace("_", " "))
    verdict = found.answer if isinstance(found, Part) else found.verdict
    text = f"{name} {scale * found.estimate:.3g}"
    if math.isnan(found.low):
        return text
    low, high = tested_ends(test.test, verdict, found.low, found.high)
    return f"{text} {ends_text(scale * low, scale * high)}"


def _short(answer: Verdict, slack: float) -> str:
    if answer == "inconclusive":
        return "inconclusive"
    if math.isnan(slack) or slack >= 0:
        return "fails"
    return (
        f"misses its threshold by {-slack:.0%}".replace("%", " %")
        if slack <= -0.1
        else f"misses its threshold by {-100 * slack:.2g} %"
    )


def _turn(study: Context, outcome: Outcome) -> str:
    reading = outcome.reading
    if reading is None or reading.held < len(reading.parts):
        return ""
    turn = reading.turn
    if not reading.turn_known:
        return ""
    if turn is None:
        return "No single parameter reverses the verdict."
    (parameter,) = (item for item in study.study.space.varied if item.name == turn.parameter)
    unit = f" {parameter.unit}" if parameter.unit else ""
    change = f"{show(turn.here)} to {show(turn.there)}{unit}"
    return f"Changing only {_name(parameter)} ({change}) reverses the verdict."


def lacking_text(lacking: Sequence[Lack], place: str = "the best parameter values") -> str:
    """Say for which statements the seeds do not suffice, where, and how many more they need."""
    here = [lack.text for lack in lacking if not lack.settings]
    told = [f"{place}: {', '.join(here)}"] if here else []
    told += [
        f"{lack.settings} setting{'s' if lack.settings > 1 else ''} of the design: {lack.text}"
        for lack in lacking
        if lack.settings
    ]
    return " ".join(f"Inconclusive at {text}." for text in told)


def _statements(study: Context, outcome: Outcome) -> Table:
    searched, reading = outcome.search is not None, outcome.reading
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
            row.append(share_text(place))
        if reading is not None:
            part = reading.parts[index]
            row += [_part_text(statement, part), part.answer]
        rows.append(row)
    return Table(
        title="Statement by statement",
        header=[
            "statement",
            "kind",
            "tested",
            f"{label_of(study.at)} [95 %]",
            "there",
            *(["share of the settings [95 %]"] if searched else []),
            *(["best values [95 %]", "there"] if reading is not None else []),
        ],
        rows=rows,
        caption="For a statement about several points, the deciding point is shown.",
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


def _part_text(statement: Statement, part: Part) -> str:
    text = f"{part.estimate:.3g}"
    if math.isnan(part.low):
        return text
    return f"{text} {ends_text(*tested_ends(statement.test, part.answer, part.low, part.high))}"


def _numbers(study: Context, outcome: Outcome) -> Table | None:
    if not outcome.row.numbers:
        return None
    at_base = numbers(outcome.row, outcome.base.grid)
    columns = [[f"{measured:.3g}" for _, _, measured in at_base]]
    header = ["number", "paper", label_of(study.at)]
    reading = outcome.reading
    if reading is not None:
        columns.append([f"{measured:.3g}" for _, _, measured in reading.numbers])
        header.append("best values")
        if reading.nearest is not None and reading.nearest.setting != reading.setting:
            columns.append([f"{measured:.3g}" for _, _, measured in reading.nearest.numbers])
            header.append("nearest setting")
        last = reading.numbers if reading.nearest is None else reading.nearest.numbers
        columns.append([f"{100 * (measured / paper - 1):+.0f} %" for _, paper, measured in last])
        header.append("distance")
    return Table(
        title="The paper's numbers",
        header=header,
        rows=[
            [says, f"{paper:.3g}", *found] for (says, paper, _), *found in zip(at_base, *columns, strict=True)
        ],
        caption="Nearest setting: the one with the least mean |ln(measured / paper)| of all that were tried, "
        "whatever the statements; measured on seeds that had no part in the search. Distance: there.",
    )


def _best(study: Context, outcome: Outcome) -> list[Table]:
    reading = outcome.reading
    if reading is None:
        return []
    base, varied = study.study.space.base, study.study.space.varied
    turn = reading.turn
    nearest = reading.nearest.setting if reading.nearest is not None else reading.setting
    rows = [
        [
            parameter.title,
            show(base[parameter.name]),
            show(reading.setting[parameter.name]),
            show(turn.there) if turn is not None and turn.parameter == parameter.name else "",
            *([show(nearest[parameter.name])] if nearest != reading.setting else []),
        ]
        for parameter in varied
        if (turn is not None and turn.parameter == parameter.name)
        or len({base[parameter.name], reading.setting[parameter.name], nearest[parameter.name]}) > 1
    ]
    header = ["parameter", "default", "best value", "reversed at"]
    if nearest != reading.setting:
        header.append("nearest to the numbers")
    return [
        Table(
            title="The best parameter values",
            header=header,
            rows=rows or [["all", "as in the scenario", "the same", ""]],
            caption=f"The best of {reading.evaluated} settings that the guided search judged, confirmed on "
            f"the fresh seeds {reading.seeds[0]} to {reading.seeds[1]}. Reversed at: the smallest change "
            "of one parameter at which a statement no longer holds. Other parameters have default values.",
        )
    ]


def _along(outcome: Outcome) -> Table | None:
    """Return what each statement comes to at values of the parameter that decides."""
    along = outcome.along
    if along is None:
        return None
    name, unit = along.parameter.name, along.parameter.unit
    seeds = len(next(iter(along.judged[0].grid.values())).records)
    return Table(
        title=f"Along {_name(along.parameter)}",
        header=["statement", *(f"{show(item.setting[name])} {unit}".rstrip() for item in along.judged)],
        rows=[
            [statement.says, *(f"{interval_text(found)} {found.verdict}" for found in findings)]
            for statement, *findings in zip(
                outcome.row.statements, *(item.findings for item in along.judged), strict=True
            )
        ],
        caption=f"All else as at {along.place}; {seeds} seeds.",
    )


def _effects(study: Context, outcome: Outcome) -> list[Table]:
    names = {parameter.name: parameter for parameter in study.study.space.varied}
    if not outcome.effects or "depends" not in outcome.answer.robust:
        return []
    return [
        Table(
            title="What decides",
            header=["parameter not given in the paper", "claim holds at", "best split", "explained", "p"],
            rows=[
                [
                    names[effect.parameter].title,
                    "; ".join(f"{level}: {100 * value:.0f} %" for level, value in effect.shares.items()),
                    f"{effect.condition}: {100 * effect.inside:.0f} %, else {100 * effect.outside:.0f} %"
                    if effect.condition
                    else "",
                    f"{100 * effect.explained:.0f} %",
                    "< 0.01" if effect.p < 0.01 else f"{effect.p:.2f}",
                ]
                for effect in outcome.effects
            ],
            caption="Share of the settings at which the claim holds, by the value of one parameter, the "
            "others as in the design. Best split: where it is best cut in two. Explained: share of "
            "the variance between the two sides. p: permutation test of the best split of all parameters.",
        )
    ]


def interval_text(finding: Finding) -> str:
    """Return an estimate with its interval in three digits."""
    text = f"{finding.estimate:.3g}"
    return text if finding.low != finding.low else f"{text} {ends_text(finding.low, finding.high)}"


def share_apart(place: Support) -> str:
    """Return a share with its interval, as in "14 %, 95 %: 7 to 25 %"."""
    share: Interval = place.share
    return f"{100 * share.mean:.0f} %, 95 %: {100 * share.low:.0f} to {100 * share.high:.0f} %"


def share_text(place: Support) -> str:
    """Return a share with its interval in per cent, and how many settings were inconclusive."""
    share: Interval = place.share
    if share.n == 0:
        return f"all {place.inconclusive} inconclusive"
    text = f"{100 * share.mean:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"
    return f"{text}, {place.inconclusive} inconclusive" if place.inconclusive else text
