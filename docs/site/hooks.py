"""What the site shows that is no page in docs/: the README and its sisters, the API, the studies.

mkdocs calls these functions (`hooks` in mkdocs.yml): `on_files` adds pages, `on_page_markdown` mends links
that lead out of docs/, which are right where the sources are read.
"""

from __future__ import annotations

import importlib.util
import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

from cogtcp.studies.folder import list_studies

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.folder import Study

ROOT = Path(__file__).resolve().parents[2]

#: Files outside docs/ and the pages that they become.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "developers/architecture.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "changelog.md",
    "python/cogtcp/report/README.md": "developers/pages.md",
}


def _modules() -> tuple[str, ...]:
    """Return the public modules: those on the page that `make reference` writes."""
    spec = importlib.util.spec_from_file_location("generate_api", ROOT / "docs/generate_api.py")
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    modules: tuple[str, ...] = module.MODULES
    return modules


def _sources() -> dict[str, str]:
    """Return where the source of each page that is not in docs/ lies, by page."""
    studies = {
        f"studies/{study.name}.md": f"python/cogtcp/studies/library/{study.name}/README.md"
        for study in list_studies()
    }
    return {page: source for source, page in PAGES.items()} | studies


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    made = {page: (ROOT / source).read_text(encoding="utf-8") for source, page in PAGES.items()}
    made |= {f"api/{name}.md": f"# {name}\n\n::: {name}\n" for name in _modules()}
    made |= {f"studies/{study.name}.md": _study(study) for study in list_studies()}
    made["studies/index.md"] = _studies()
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site; what of the sources is no page of it is named, without a link."""
    here = page.file.src_uri
    source = _sources().get(here, f"docs/{here}")
    back = {source: made for made, source in _sources().items()}

    def mend(found: re.Match[str]) -> str:
        image, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if re.match(r"[a-z]+:", target) or not target:
            return found[0]
        # Where it leads in the sources, links followed (studies/ is one).
        full = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        full = (ROOT / full).resolve().relative_to(ROOT).as_posix()
        if full == "docs/api.md":
            made = "api/cogtcp.md"
        elif full in back:
            made = back[full]
        elif (folder := f"{full}/README.md") in back:
            made = back[folder]
        elif full.startswith("docs/") and (ROOT / full).is_file():
            made = full.removeprefix("docs/")
        elif full.startswith("docs/") and f"{full.removeprefix('docs/')}/index.md" in files.src_uris:
            made = f"{full.removeprefix('docs/')}/index.md"
        else:
            return text
        return f"{image}[{text}]({posixpath.relpath(made, posixpath.dirname(here) or '.')}{anchor})"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        part
        if part.startswith("```")
        else re.sub(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)", mend, part)
        for part in parts
    )


def _measured(study: Study) -> dict[str, Any]:
    """Return what `cogtcp reproduce` has found here, by claim; nothing where it has not been run."""
    path = ROOT / "results" / f"reproduce-{study.name}" / "claims.json"
    if not path.is_file():
        return {}
    claims = json.loads(path.read_text(encoding="utf-8"))["claims"]
    return {claim["id"]: claim for claim in claims}


def _studies() -> str:
    rows = [
        f"| [{study.name}]({study.name}.md) | {study.title} | {_line(study.paper)} |"
        for study in list_studies()
    ]
    head = "# Studies\n\nWhat papers claim, and what `cogtcp reproduce` measures.\n"
    return "\n".join([head, "| study | what | paper |", "|---|---|---|", *rows, ""])


def _study(study: Study) -> str:
    """Return the page of a study: its claims and, where it has been run, their verdicts, then its README."""
    text = (study.folder / "README.md").read_text(encoding="utf-8")
    heading, _, body = text.partition("\n")
    measured = _measured(study)
    said = (
        "Verdicts are those of the last `cogtcp reproduce` in this checkout."
        if measured
        else f"Not measured where this page was made: `cogtcp reproduce {study.name}` does so."
    )
    lines = [heading, "", f"*{_line(study.paper)}*", "", "## What it claims", "", said, ""]
    for claim in study.claims:
        lines += [*_claim(claim, measured.get(claim.id)), ""]
    if study.unsaid:
        lines += ["## What is tried for what the paper leaves unsaid", ""]
        lines += ["| | base | tried | why |", "|---|---|---|---|"]
        lines += [f"| {u.title} | {u.base_text} | {u.tried} | {_cell(u.why)} |" for u in study.unsaid]
        lines.append("")
    return "\n".join([*lines, body.lstrip("\n")])


def _claim(claim: ClaimRow, found: dict[str, Any] | None) -> list[str]:
    lines = [f"### {claim.id} ({claim.figure})", "", claim.claim]
    if claim.statements:
        lines += ["", *(f"- {_line(statement.says)}" for statement in claim.statements)]
    if found is not None:
        lines += ["", f"**{found['verdict']}**: {_line(found['why'])}"]
    return lines


def _line(text: str) -> str:
    return " ".join(str(text).split())


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return _line(text).replace("|", "\\|")
