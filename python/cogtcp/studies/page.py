"""The report page of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2

from cogtcp.report import page, still
from cogtcp.studies.drawing import draw
from cogtcp.studies.telling import counted, share_text

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Say how many of the paper's claims hold where, ours apart."""
    paper = [claim for claim in result.claims if not claim.row.ours]
    ours = [claim for claim in result.claims if claim.row.ours]
    return " ".join(
        _counted(kind, claims) for kind, claims in (("the paper", paper), ("ours", ours)) if claims
    )


def _counted(kind: str, claims: Sequence[Claim]) -> str:
    outcomes = [claim.outcome for claim in claims if claim.outcome is not None]
    head = f"Of {len(claims)} claim{'' if len(claims) == 1 else 's'} of {kind}"
    places = [outcome.where for outcome in outcomes if outcome.where is not None]
    base = counted([outcome.base.verdict for outcome in outcomes])
    if not places:
        return f"{head}, at the base, {base or 'none could be measured'}."
    told = [
        f"{places.count(where)} {'holds' if places.count(where) == 1 else 'hold'} {where}"
        for where in ("everywhere", "somewhere", "nowhere")
        if where in places
    ]
    if "undecided" in places:
        told.append(
            f"{places.count('undecided')} {'is' if places.count('undecided') == 1 else 'are'} undecided"
        )
    return f"{head}, {', '.join(told)}; at the base {base}."


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
