"""The report page of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2

from cogtcp.report import page, still
from cogtcp.studies import answers
from cogtcp.studies.drawing import draw
from cogtcp.studies.telling import share_text

if TYPE_CHECKING:
    from cogtcp.studies import Claim, StudyResult
    from cogtcp.studies.exhibits import Table


def study_report(result: StudyResult, *, command: str | None = None) -> str:
    """Return the page: verdicts first, then each claim with figures, map and causes; details are folded."""
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
            draw=lambda figure: still.both(lambda: draw(figure)),
            headings=_headings,
            share_text=share_text,
            base_text=_base_text,
            answer=_answer(result),
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


def _base_text(claim: Claim) -> str:
    if claim.outcome is None:
        return "failed"
    found = [finding.verdict for finding in claim.outcome.base.findings]
    return f"{claim.outcome.base.verdict} ({found.count('holds')} of {len(found)} statements)"


def _headings(table: Table) -> list[tuple[str, str]]:
    """Split "name [unit]" into name and unit, as the tables of the reports show them."""
    headings = []
    for text in table.header:
        name, _, unit = text.partition(" [")
        headings.append((name, unit.removesuffix("]")))
    return headings
