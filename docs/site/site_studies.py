"""The page of a study: its pinned verdicts, and the figures of a quick `cogtcp reproduce`."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import site_lab

from cogtcp import studies
from cogtcp.showing.report.alone import alone
from cogtcp.studies.drawing import draw

if TYPE_CHECKING:
    from cogtcp.studies import Claim, Figure, Study, StudyResult, Table
    from cogtcp.studies.claims import ClaimRow

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class StudyPage:
    """A page, and the files that it shows, by their names beside it."""

    text: str
    files: dict[str, str] = field(default_factory=dict)


def index() -> str:
    """Return the page that lists the studies."""
    rows = [
        f"| [{study.name}]({study.name}.md) | {study.title} | {_line(study.paper)} |"
        for study in studies.list_studies()
    ]
    head = "# Studies\n\nWhat papers claim, and what `cogtcp reproduce` measures.\n"
    return "\n".join([head, "| study | what | paper |", "|---|---|---|", *rows, ""])


def study_page(study: Study, runs: Path | None) -> StudyPage:
    """Return the page of a study.

    Args:
        study: The study.
        runs: The folder where the runs of a quick measurement are kept, or None for none.
    """
    result = None if runs is None else studies.reproduce(study.name, quick=True, out=runs / study.name)
    page = StudyPage("")
    readme = (study.folder / "README.md").read_text(encoding="utf-8")
    heading, _, body = readme.partition("\n")
    lines = [heading, "", f"*{_line(study.paper)}*", "", "## Verdicts", ""]
    lines += [
        "The verdicts of its stored searches ([all verdicts, and the words](../verdicts.md)):",
        "",
        *_pinned(study),
        "",
    ]
    lines += ["## What it claims", "", _measured(study, result, page), ""]
    found = {} if result is None else {claim.row.id: claim for claim in result.claims}
    for row in study.claims:
        lines += [*_claim(row, found.get(row.id), study, page), ""]
    if study.unsaid:
        lines += ["## Parameter values tried", ""]
        lines += ["| parameter | default | tried | why |", "|---|---|---|---|"]
        lines += [f"| {u.title} | {u.base_text} | {u.tried} | {_cell(u.why)} |" for u in study.unsaid]
        lines.append("")
    page.text = "\n".join([*lines, body.lstrip("\n")])
    return page


def _pinned(study: Study) -> list[str]:
    """Return the study's table of docs/verdicts.md."""
    text = (ROOT / "docs/verdicts.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(study.name)}: .*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    table = (section[0] if section else "").partition("<details")[0]
    return [line for line in table.splitlines() if line.startswith("|")]


def _measured(study: Study, result: StudyResult | None, page: StudyPage) -> str:
    if result is None:
        return (
            f"Without figures: it was not measured where this page was made. `cogtcp reproduce {study.name}`."
        )
    page.files["report.html"] = result.report(
        command=f"cogtcp reproduce {study.name} --quick",
        lab="../../lab/index.html" if site_lab.is_there() else None,
    )
    return (
        f"Figures and numbers here are of a quick measurement (`cogtcp reproduce {study.name} --quick`): "
        f"{len(result.seeds)} seeds, shorter runs. [The page that it writes]({study.name}/report.html)."
    )


def _claim(row: ClaimRow, claim: Claim | None, study: Study, page: StudyPage) -> list[str]:
    lines = [f"### {row.id} ({row.figure})", "", _line(row.claim), ""]
    if claim is None or claim.outcome is None:
        return [*lines, *(f"- {_line(statement.says)}" for statement in row.statements)]
    searched = claim.outcome.search is not None
    told = claim.told.card if searched else claim.told.measured
    lines += [f"> {_line(row.paper)}", "", _line(told), ""]
    if claim.told.statements is not None:
        lines += [*_table(claim.told.statements), ""]
    where = claim.outcome.where_it_holds
    for number, figure in enumerate([*claim.outcome.figures, *([] if where is None else [where])], 1):
        name = f"{row.id}-{number}.svg"
        page.files[name] = alone(draw(figure), dark=True)
        lines += [*_figure(figure, f"{study.name}/{name}"), ""]
    along = [] if claim.told.along is None else [claim.told.along]
    for table in [*along, *claim.outcome.tables]:
        lines += [f"**{_line(table.title)}**", "", *_table(table), "", _line(table.caption), ""]
    if searched:  # the values of the best setting are a table, not a sentence
        lines += ['<details markdown="1">', "<summary>Best parameter values, effects, tests</summary>", ""]
        for table in claim.told.details:
            lines += [f"**{_line(table.title)}**", "", *_table(table), "", _line(table.caption), ""]
        lines += ["</details>", ""]
    return lines


def _figure(figure: Figure, file: str) -> list[str]:
    said = _line(f"{figure.title}. {figure.caption}")
    return [f"![{said.replace('[', '(').replace(']', ')')}]({file})", "", f"*{said}*"]


def _table(table: Table) -> list[str]:
    head = " | ".join(_cell(text) for text in table.header)
    rows = [" | ".join(_cell(text) for text in row) for row in table.rows]
    return [f"| {head} |", "|---" * len(table.header) + "|", *(f"| {row} |" for row in rows)]


def _line(text: str) -> str:
    return html.escape(" ".join(str(text).split()), quote=False)


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return _line(text).replace("|", "\\|")
