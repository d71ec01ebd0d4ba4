"""What the site shows that is no page in docs/: the README and its sisters, the API, studies and notebooks.

mkdocs calls these functions (`hooks` in mkdocs.yml): `on_files` adds pages, `on_page_markdown` mends links
that lead out of docs/, which are right where the sources are read.

Studies are measured in short and notebooks run while the site is built: all of them, or those that the
variable COGTCP_SITE_MEASURES names (with commas between). Finished runs of studies are kept beside the site.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import site_diagrams
import site_lab
import site_live
import site_notebooks
import site_studies
from mkdocs.structure.files import File, Files

from cogtcp.deciding.atlas import lookup
from cogtcp.showing.report.atlas import atlas_page
from cogtcp.studies.folder import list_studies

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]

#: Files outside docs/ and the pages that they become.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "developers/architecture.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "python/cogtcp/showing/report/README.md": "developers/pages.md",
}

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def _modules() -> tuple[str, ...]:
    """Return the public modules: those on the page that `make reference` writes."""
    spec = importlib.util.spec_from_file_location("generate_api", ROOT / "docs/generate_api.py")
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    modules: tuple[str, ...] = module.MODULES
    return modules


@cache
def _sources() -> dict[str, str]:
    """Return where the source of each page that is not in docs/ lies, by page."""
    studies = {
        f"studies/{study.name}.md": f"python/cogtcp/studies/library/{study.name}/README.md"
        for study in list_studies()
    }
    return {page: source for source, page in PAGES.items()} | studies


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let diagrams be drawn here: the theme would load Mermaid from elsewhere."""
    diagrams = {"name": "mermaid", "class": "diagram", "format": site_diagrams.fence}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [diagrams]}
    return config


def _is_measured(name: str) -> bool:
    wanted = os.environ.get("COGTCP_SITE_MEASURES", "all").split(",")
    return "all" in wanted or name in wanted


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    made = {page: (ROOT / source).read_text(encoding="utf-8") for source, page in PAGES.items()}
    made |= {
        f"api/{name}.md": f"# {name}\n\n::: {importlib.import_module(name).__name__}\n" for name in _modules()
    }
    made["studies/index.md"] = site_studies.index()
    lab = "lab/index.html" if site_lab.is_there() else ""
    made["atlas-map.html"] = atlas_page(lookup.load(), lab=lab)
    made["scenarios.md"] = site_lab.scenarios_page()
    runs = Path(config.site_dir).with_name("site-studies")
    for study in list_studies():
        found = site_studies.study_page(study, runs if _is_measured(study.name) else None)
        made[f"studies/{study.name}.md"] = found.text
        made |= {f"studies/{study.name}/{name}": content for name, content in found.files.items()}
    for path in NOTEBOOKS:
        made[f"notebooks/{path.stem}.md"] = site_notebooks.notebook_page(path, _is_measured(path.stem))
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site; what of the sources is no page of it is named, without a link."""
    # The badge of the tests is for the forge: the site loads nothing from elsewhere.
    markdown = re.sub(r"<!-- badge.*?<!-- end of badge -->\n+", "", markdown, flags=re.DOTALL)
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
        elif full.endswith(".ipynb") and not here.startswith("notebooks/"):
            made = full.removeprefix("docs/").replace(".ipynb", ".md")
        elif posixpath.normpath(posixpath.join(posixpath.dirname(here), target)) in files.src_uris:
            return found[0]  # made here
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


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what the cells of notebooks show into their pages, live figures, and links into the lab."""
    name = page.file.src_uri
    content = site_live.fill(site_notebooks.fill(content), name, is_live=site_lab.is_there())
    return site_lab.fill(content, name)
