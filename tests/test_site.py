"""The site of the documentation builds strictly, has a page for everything, and its links lead somewhere."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import urllib.parse
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from cogtcp.studies import list_studies
from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does: a warning is an error, so is a page that no menu shows."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Links(HTMLParser):
    """The links, the anchors and what is loaded of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take note of a tag."""
        has = {name: value or "" for name, value in attributes}
        self.anchors |= {has[name] for name in ("id", "name") if name in has}
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        if tag in ("script", "img") and "src" in has:
            self.loaded.append(has["src"])
        if tag == "link" and has.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(has["href"])


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 50
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            target, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"[a-z]+:|/", target):
                continue  # elsewhere; the page for what is not found has absolute paths
            linked = (path.parent / target).resolve() if target else path
            assert linked.exists(), f"{path.relative_to(site)}: {link}"
            if anchor and linked in pages and not anchor.startswith("__"):
                assert anchor in pages[linked].anchors, f"{path.relative_to(site)}: {link}"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert not [url for url in Links(path.read_text()).loaded if "//" in url], path


def test_studies_and_the_api_have_their_pages(site: Path) -> None:
    for study in list_studies():
        text = (site / "studies" / f"{study.name}.html").read_text()
        assert all(f'id="{claim.id}-' in text for claim in study.claims), study.name
        # What decides a claim: its statements, one by one.
        assert all(
            html.escape(statement.says, quote=False)[:40] in text
            for claim in study.claims
            for statement in claim.statements
        )
    # Signatures, docstrings and examples, not only names.
    assert '<span class="gp">&gt;&gt;&gt; </span>' in (site / "api/cogtcp.html").read_text()
    assert "Simulate a scenario" in (site / "api/cogtcp.html").read_text()
    assert "aimd_cycle" in (site / "api/cogtcp.models.html").read_text()


def test_the_site_has_every_page_of_the_sources(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        if page.name != "api.md":
            assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists(), page
