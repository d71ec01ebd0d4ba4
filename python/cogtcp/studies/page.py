"""The report page of a study."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import jinja2

from cogtcp.report import page
from cogtcp.studies.drawing import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies import StudyResult
    from cogtcp.studies.exhibits import Table
    from cogtcp.studies.verdicts import Verdict


def study_report(result: StudyResult, *, command: str | None = None) -> str:
    """Return the page: verdicts, figures redrawn beside what the paper states, sensitivity, provenance."""
    pages = page.environment()
    # The frame and the macros are those of every report.
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader("cogtcp.studies"), pages.loader or jinja2.DictLoader({})]
    )
    origin = result.provenance
    scenarios = sorted((result.study.folder / "scenarios").glob("*.toml"))
    return (
        pages.overlay(loader=loader)
        .get_template("study.html.j2")
        .render(
            study=result.study,
            claims=result.claims,
            claim_figures={
                claim.row.id: [(figure, draw(figure)) for figure in claim.result.figures]
                for claim in result.claims
            },
            headings=_headings,
            answer=_answer(result),
            conclusions=result.conclusions,
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
    total = len(result.claims)
    if total == 1:
        (only,) = result.claims
        return f"{only.row.id} {_ALONE[only.result.verdict]}: “{only.row.claim}”"
    answer = f"Of {total} claims {_counts([claim.result.verdict for claim in result.claims])}."
    if any(claim.result.base != claim.result.verdict for claim in result.claims):
        # `unclear` is often a sure answer at each setting, and not the same one.
        base = _counts([claim.result.base for claim in result.claims])
        answer = (
            f"{answer.removesuffix('.')} over all that the paper leaves unsaid. "
            f"With the settings of the scenario {base}."
        )
    return answer


_ALONE = {"holds": "holds", "differs": "differs", "unclear": "is unclear"}
_MANY = {"holds": "hold", "differs": "differ", "unclear": "are unclear"}


def _counts(found: Sequence[Verdict]) -> str:
    """Return "1 holds, 2 differ and 3 are unclear"."""
    count = Counter[str](found)
    said = [
        f"{count[verdict]} {(_ALONE if count[verdict] == 1 else _MANY)[verdict]}"
        for verdict in _ALONE
        if count[verdict]
    ]
    return " and ".join([*([", ".join(said[:-1])] if said[:-1] else []), said[-1]])


def _headings(table: Table) -> list[tuple[str, str]]:
    """Split "name [unit]" into name and unit, as the tables of the reports show them."""
    headings = []
    for text in table.header:
        name, _, unit = text.partition(" [")
        headings.append((name, unit.removesuffix("]")))
    return headings
