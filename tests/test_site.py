"""The site of the documentation builds strictly, has a page for everything, and its links lead somewhere."""

from __future__ import annotations

import html
import importlib
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from cogtcp import _core
from cogtcp.lab import site as lab_site
from cogtcp.studies import list_studies
from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import QuickStudy


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, quick_study: QuickStudy) -> Path:
    """Build the site as `make site` does: a warning is an error, so is a page that no menu shows.

    The lab in it has no engine. Of the studies and notebooks one each is measured, which takes seconds;
    `make docs` measures all. The runs of the study are those of other tests.
    """
    folder = tmp_path_factory.mktemp("built") / "site"
    shutil.copytree(quick_study("mswim09")[1], folder.with_name("site-studies") / "mswim09")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "COGTCP_SITE_MEASURES": "mswim09,first-steps",
            "COGTCP_SITE_LAB": "1",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "lab").mkdir()
    for name, content in lab_site.contents(bundles={}).items():
        (folder / "lab" / name).write_bytes(content)
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
            # Behind the address of the lab stands its state, which another test reads.
            is_lab = linked == site / "lab/index.html"
            if anchor and linked in pages and not is_lab and not anchor.startswith("__"):
                assert anchor in pages[linked].anchors, f"{path.relative_to(site)}: {link}"


def test_pages_of_the_site_open_the_lab(site: Path) -> None:
    """Also from a page in a folder, by a relative link: the site works under any path."""
    assert 'href="../lab/index.html#start=pu-arrivals"' in (site / "radios/cycle.html").read_text()
    assert (site / "radios/cycle.html").read_text().count('<script type="module" src="../lab/live.js">') == 1
    assert "lab/index.html#start=adhoc-mobile" in (site / "scenarios.html").read_text()
    claims = (site / "studies/chain.html").read_text()
    for name in ("happen", "at+its+best+values"):
        assert f'href="../lab/index.html#start=see+chain-f7a+{name}"' in claims


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        loaded = Links(path.read_text()).loaded
        assert not [url for url in loaded if "//" in url and not url.startswith("data:")], path


def test_diagrams_are_drawn_here(site: Path) -> None:
    # The theme loads Mermaid from elsewhere for elements of this class.
    assert not [path for path in site.rglob("*.html") if 'class="mermaid"' in path.read_text()]
    page = (site / "trains.html").read_text()
    assert page.count('<figure class="diagram"') == 2
    assert "last ACK, window 0</text>" in page


def test_a_diagram_that_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs/site")
    diagrams = importlib.import_module("site_diagrams")
    for wrong in ("flowchart", "sequenceDiagram\nA->>B: x", "sequenceDiagram\nparticipant A\nloop A"):
        with pytest.raises(ValueError, match=r"kind|before|not known"):
            diagrams.sequence(wrong)


def test_a_study_shows_what_reproduce_measures(site: Path) -> None:
    text = (site / "studies/mswim09.html").read_text()
    figures = sorted(path.name for path in (site / "studies/mswim09").glob("*.svg"))
    assert len(figures) >= 8
    for name in figures:
        assert f'src="mswim09/{name}"' in text
        assert (site / "studies/mswim09" / name).read_text().startswith("<svg")
    assert "At the default values, of its 6 statements" in text
    assert "quick" in (site / "studies/mswim09/report.html").read_text()
    # Also what turns a claim over, here for f2.
    assert "Along how the ends sense" in text
    # The pinned verdicts are there for every study, measured here or not.
    pinned = (ROOT / "docs/verdicts.md").read_text()
    for study in list_studies():
        page = (site / "studies" / f"{study.name}.html").read_text()
        for row in study.claims:
            assert f"| {row.id} " in pinned
            assert len(re.findall(rf"<tr>\n<td>[^<]*</td>\n<td>{row.id}\b", page)) == 1, row.id


def test_notebooks_are_pages_with_what_their_cells_show(site: Path) -> None:
    shown = (site / "notebooks/first-steps.html").read_text()
    assert "data:image/png;base64," in shown
    assert "Mbit/s" in shown
    assert "<svg" in shown.partition("notebook-output")[2]
    assert "It was not run" in (site / "notebooks/sensing-time.html").read_text()
    assert 'href="../notebooks/first-steps.html"' in (site / "how-to/notebooks.html").read_text()


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


def test_pages_open_the_lab_at_a_state_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs/site")
    import site_lab

    from cogtcp.lab import presets

    known = presets.presets(None)
    controls = [
        path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs/congestion").glob("*.md")
    ]
    states = [state for page in (*site_lab.STATES, *controls) if (state := site_lab.state_of(page))]
    assert len(states) > len(site_lab.STATES)
    assert all((ROOT / "docs" / page).is_file() for page in site_lab.STATES)
    # Every model has one, and what it sets makes a scenario that can be simulated.
    models = set(re.findall(r"\]\(([\w/-]+\.md)\)", (ROOT / "docs/models.md").read_text()))
    assert len(models) > 50
    # The engine of a page has no QUIC, and no shipped scenario has quiet periods.
    without = {page for page in models if site_lab.state_of(page) is None}
    assert without == {"transports/quic.md", "regulations/quiet-periods.md"}
    names = {name for name, _ in _core.transports()}
    for state in states:
        assert set(str(state.get("transports", "newreno")).split(",")) <= names
        scenario = known[str(state["start"])].scenario
        for change in state.get("set", []):
            path, _, value = change.partition("=")
            scenario = scenario.set_text(path, value)
        scenario.check()
    claims = site_lab.states_of_claims()
    assert set(claims) == {claim.id for study in list_studies() for claim in study.claims}
    assert all(1 <= len(found) <= 2 for found in claims.values())
    assert {state["start"] for state in (*states, *(s for found in claims.values() for s in found))} <= set(
        known
    )
    monkeypatch.delenv("COGTCP_SITE_LAB", raising=False)
    text = '<h1>Studies</h1>\n<h3 id="chain-f7a-fig-7">chain-f7a (Fig. 7)</h3>'
    assert site_lab.fill(text, "studies/chain.md") == text
    monkeypatch.setenv("COGTCP_SITE_LAB", "1")
    href = '<a href="../lab/index.html#start=see+chain-f7a+happen">'
    assert href in site_lab.fill(text, "studies/chain.md")
    assert "#start=see+chain-f7a+at+its+best+values" in site_lab.fill(text, "studies/chain.md")
    cubic = site_lab.fill("<h1>CUBIC</h1>", "congestion/cubic.md")
    assert '"../lab/index.html#start=sensed-link&amp;transports=cubic%2Cnewreno%2Csack"' in cubic
    queue = html.unescape(site_lab.fill("<h1>FQ-CoDel</h1>", "queues/fq-codel.md"))
    assert "set=topology.dumbbell.bottleneck.queue%3Dfq_codel" in queue
    # Every scenario is one click away.
    page = site_lab.scenarios_page()
    for name, preset in known.items():
        assert preset.shows is not None or f"#{urllib.parse.urlencode({'start': name})}" in page


def test_live_figures_are_pictures_and_sentences_without_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs/site")
    import site_live

    for page, live in site_live.FIGURES.items():
        source = (ROOT / "docs" / page).read_text()
        assert "\n## Parameters\n" in source, page
        heading = '<h2 id="parameters">Parameters</h2>'
        still = site_live.fill(heading, page, is_live=False)
        assert "<script" not in still
        assert still.count("<path") > len(live.lines)
        assert "<label hidden>" in still  # no slider that does nothing
        caption = re.search(r"<figcaption>(.*)</figcaption>", still)
        assert caption is not None
        assert live.slider.text() in caption[1]
        assert "{" not in caption[1]
        assert 'src="../lab/live.js"' in site_live.fill(heading, page, is_live=True)
    # Docs say 0.839 and 0.159 for this detector at 0.1 s.
    _, numbers = site_live.computed(site_live.FIGURES["detectors/map.md"])
    assert round(numbers["detection"], 1) == 83.9
    assert round(numbers["alarm"], 1) == 15.9
