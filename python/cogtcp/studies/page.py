"""The report page of a study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jinja2

from cogtcp.model.statistics import Interval
from cogtcp.showing.report import page
from cogtcp.studies import answers, stacks, today
from cogtcp.studies.context import label_of
from cogtcp.studies.drawing import draw, printed, small
from cogtcp.studies.exhibits import Table
from cogtcp.studies.halves import HOLDS, in_sentences
from cogtcp.studies.picture import Dot, picture, share_of
from cogtcp.studies.showing import claim_presets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.showing.figure import Drawing
    from cogtcp.studies import Claim, StudyResult
    from cogtcp.studies.drawing import Printed
    from cogtcp.studies.judging import Judged

FEW_NUMBERS = 24
"""Printed numbers whose figure stands beside a claim; more of them are folded away."""


def study_report(result: StudyResult, *, command: str | None = None, lab: str | None = None) -> str:
    """Return the page: one picture of all claims, then each claim with its figure; the rest is folded.

    `lab` is the address of the lab, where the page is beside one.
    """
    pages = page.environment()
    # The frame and the macros are those of every report.
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader("cogtcp.studies"), pages.loader or jinja2.DictLoader({})]
    )
    origin = result.provenance
    scenarios = sorted((result.study.folder / "scenarios").glob("*.toml"))
    outcomes = [claim.outcome for claim in result.claims if claim.outcome is not None]
    return (
        pages.overlay(loader=loader)
        .get_template("study.html.j2")
        .render(
            study=result.study,
            groups=[
                (heading, claims)
                for heading, ours in (("The paper's claims", False), ("Claims of ours", True))
                if (claims := [claim for claim in result.claims if claim.row.ours == ours])
            ],
            draw=draw,
            headings=_headings,
            small=small,
            first_figure=lambda claim: _first_figure(claim, label_of(result.at)),
            printed=lambda claim: printed(_printed(claim, label_of(result.at))),
            overview=_overview(result),
            stacks=_stacks(result),
            lab=lab,
            lab_links=_lab_links,
            answer=_answer(result),
            joint=_joint(result),
            joint_table=_joint_table(result),
            main_row=next((claim.row for claim in result.claims if claim.row.id == result.study.main), None),
            main=result.main,
            halves=_halves,
            words=answers.WORDS.items(),
            searched=any(outcome.search is not None for outcome in outcomes),
            quick=result.quick,
            origin=[
                ("Version", origin["version"]),
                ("Commit", origin["commit"]),
                ("Command", command),
                ("Seeds", origin["seeds"]),
                ("Written", page.date()),
            ],
            scenarios=[(path.name, path.read_text(encoding="utf-8")) for path in scenarios],
        )
    )


def _answer(result: StudyResult) -> str:
    """Say how many claims of the paper are reproduced and how robust they are, ours apart."""
    names = {parameter.name: parameter.title for parameter in result.study.space.varied}
    told = []
    for ours, head in ((False, ""), (True, "Ours: ")):
        found = [c.outcome.answer for c in result.claims if c.outcome is not None and c.row.ours == ours]
        if found:
            told.append(f"{head}{answers.counted(found)}.")
            most = answers.decides_most(found, names)
            if most and not ours:
                told.append(f"What decides most: {most}.")
    return " ".join(told)


def _halves(claim: Claim) -> str:
    """Return the verdict in two plain sentences."""
    if claim.outcome is None:
        return claim.verdict
    return in_sentences(claim.outcome.answer, claim.outcome.place)


def _joint(result: StudyResult) -> str:
    """Say in one sentence what of the paper comes out at one setting."""
    found = result.joint
    if found is None:
        return ""
    return f"{found.confirmed}: {result.study.space.differences(found.setting)}."


def _joint_table(result: StudyResult) -> Table | None:
    """Return each claim at the joint setting, and what must change for those that fail there."""
    found = result.joint
    if found is None:
        return None
    rows = []
    for row in result.study.claims:
        there = found.claims.get(row.id)
        if there is None:
            continue
        failing = "; ".join(part.says.rstrip(".") for part in there.parts if part.answer != "holds")
        changed = there.told_change(result.study.space)
        held = f"{HOLDS[there.verdict]}, {there.held} of {len(there.parts)}"
        rows.append([row.id, row.figure, held, failing, changed])
    return Table(
        title="Claim by claim at that setting",
        header=["claim", "figure", "holds?", "fails there", "holds if changed"],
        rows=rows,
        caption=f"cogtcp reproduce {result.study.name} --joint measures it; with --scenario and --claim ID "
        "it prints a scenario. Holds if changed: the smallest change found with which the claim holds.",
    )


def _overview(result: StudyResult) -> Drawing | None:
    """Return the picture of all claims; None where nothing was searched."""
    dots = [
        Dot(
            claim.row.id,
            "ours" if claim.row.ours else "the paper",
            outcome.answer,
            share_of(outcome.place),
            claim.row.figure,
        )
        for claim in result.claims
        if (outcome := claim.outcome) is not None
    ]
    return picture(dots, named=True) if any(dot.share is not None for dot in dots) else None


def _stacks(result: StudyResult) -> list[Table]:
    kept, figure = stacks.read(result.study), today.read(result.study)
    return [
        *([] if figure is None else [today.table(result.study, figure)]),
        *([] if kept is None else stacks.tables(result.study, kept)),
    ]


def _first_figure(claim: Claim, label: str) -> tuple[Drawing, str] | None:
    """Return the figure that stands beside a claim, with its caption: the paper's figure, else the map."""
    if claim.outcome is None:
        return None
    curves = [figure for figure in claim.outcome.figures if figure.curves]
    if curves:
        return small(curves[0]), f"{curves[0].title}."
    if 0 < len(claim.row.numbers) <= FEW_NUMBERS:
        return printed(_printed(claim, label)), "Stars: the numbers that the paper prints."
    others = [*claim.outcome.figures, claim.outcome.where_it_holds]
    figure = next((figure for figure in others if figure is not None and len(figure.surfaces) == 1), None)
    return None if figure is None else (small(figure), f"{figure.title}.")


def _printed(claim: Claim, label: str) -> list[Printed]:
    """Return the paper's numbers with ours: where they were measured, at the best and nearest values.

    What this run measured has intervals. A quick run shows stored numbers at the best values, and every run
    at the nearest setting.
    """
    outcome = claim.outcome
    assert outcome is not None  # noqa: S101 - the page asks for measured claims only
    row, reading = claim.row, outcome.reading

    def measured(judged: Judged) -> list[Interval]:
        return [number.interval(judged.grid) for number in row.numbers]

    def stored(found: Sequence[tuple[str, float, float]]) -> list[Interval]:
        return [Interval(value, math.nan, math.nan, 1) for _, _, value in found]

    shown = [(label, measured(outcome.base))]
    if reading is not None:
        best = outcome.best
        shown.append(("best values", stored(reading.numbers) if best is None else measured(best)))
        if reading.nearest is not None and reading.nearest.setting != reading.setting:
            shown.append(("nearest setting", stored(reading.nearest.numbers)))
    return [
        (number.says, number.value, [(name, found[index]) for name, found in shown])
        for index, number in enumerate(row.numbers)
    ]


def _lab_links(claim: Claim) -> list[tuple[str, str]]:
    """Return the presets of the lab that show a claim, each with what its link says."""
    base, best = claim_presets(claim.row.id)
    links = [(base, "Open in the lab")]
    outcome = claim.outcome
    if (
        outcome is not None
        and outcome.reading is not None
        and outcome.reading.setting != outcome.base.setting
    ):
        links.append((best, "Open at the best parameter values"))
    return links


def _headings(table: Table) -> list[tuple[str, str]]:
    """Split "name [unit]" into name and unit, as the tables of the reports show them."""
    headings = []
    for text in table.header:
        name, _, unit = text.partition(" [")
        headings.append((name, unit.removesuffix("]")))
    return headings
