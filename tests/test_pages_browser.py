"""Pages in a real browser: time lines that zoom, tables that are whole, nothing lost without a script."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cogtcp import Scenario, compare, run, studies, sweep, tune
from cogtcp.cli import main
from cogtcp.deciding.atlas import lookup
from cogtcp.deciding.atlas.space import place_of
from cogtcp.deciding.atlas.transports import CANDIDATES
from cogtcp.showing.report.atlas import atlas_page
from conftest import ROOT, SMALL, QuickStudy

CHROMIUM = os.environ.get("COGTCP_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("needs Chromium: apt-get install chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: make setup")

# Nothing of a page may need the network, and a test's browser has no business there either.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, quick_study: QuickStudy) -> dict[str, str]:
    """Pages of every kind that is quickly made, as addresses."""
    folder = tmp_path_factory.mktemp("pages")
    small = Scenario.from_toml(SMALL)
    hop = Scenario.from_file(ROOT / "scenarios" / "cr-as-released.toml").set("run.duration", "20 s")
    journey = Scenario.from_file(ROOT / "scenarios" / "train-journey.toml")
    roaming = Scenario.from_file(ROOT / "scenarios" / "adhoc-cr.toml").set("run.duration", "20 s")
    made = {
        "run": run(small).report(folder / "run.html"),
        "hop": run(hop).report(folder / "hop.html"),
        "journey": run(journey, seed=4).report(folder / "journey.html"),
        "map": run(roaming).report(folder / "map.html"),
        "compare": compare(small, ["tahoe", "reno", "newreno", "sack", "cubic"], seeds=2).report(
            folder / "compare.html"
        ),
    }
    single = Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").set("run.duration", "5 s")
    found = tune(single, trials=3, seeds=1, fresh_seeds=2, grid=[2, 2])
    (folder / "tune.html").write_text(found.report())
    made["tune"] = folder / "tune.html"
    vary = {"topology.single_hop.link.loss": [0.0, 0.01], "radio.0.sensing.off": ["100 ms", "1 s"]}
    swept = sweep(
        small.set("run.duration", "4 s"), vary, transports=["newreno", "sack"], seeds=2, out=folder / "s"
    )
    made["sweep"] = swept.folder / "report.html"
    for claim in ("c2-t1", "chain-f7a"):
        # The study's runs, a page of this claim alone.
        shutil.copytree(quick_study(studies.find(claim)[0].name)[1], folder / claim)
        studies.reproduce(claim, quick=True, seeds=2, out=folder / claim)
        made[claim] = folder / claim / "report.html"
    log = folder / "pu.log"
    for words in (
        ["pu", "generate", log, "--users", 6, "--duration", 60],
        ["pu", "show", log, "--plot", folder / "pu.html"],
        ["journey", "show", ROOT / "scenarios/maps/kelmere-line.toml", "--plot", folder / "line.html"],
        ["sensing", "--snr=-20", "--plot", folder / "sensing.html"],
    ):
        assert main([str(word) for word in words]) == 0
    made |= {name: folder / f"{name}.html" for name in ("pu", "line", "sensing")}
    return {name: path.as_uri() for name, path in made.items()}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Open a page whose errors and requests fail the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda request: faults.append(request.url) if "file:" not in request.url else None)
    yield opened
    context.close()
    assert faults == []


KINDS = [
    "run",
    "hop",
    "journey",
    "map",
    "compare",
    "tune",
    "sweep",
    "pu",
    "line",
    "sensing",
    "c2-t1",
    "chain-f7a",
]


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_off(page: Any, pages: dict[str, str], kind: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(pages[kind])
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    page.evaluate("for (const s of document.querySelectorAll('.tabs > section')) s.style.display = 'block'")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.innerText.slice(0, 60))"
    )
    assert cut == []
    # What scrolls sideways (figures and listings on a narrow page) says so by an edge in the shade.
    unmarked = page.evaluate(
        """[...document.querySelectorAll('main *')].filter(e => {
             const style = getComputedStyle(e);
             return e.clientWidth && e.scrollWidth > e.clientWidth + 1 && style.overflowX !== 'visible'
               && !style.backgroundImage.includes('linear-gradient');
           }).map(e => e.outerHTML.slice(0, 60))"""
    )
    assert unmarked == []
    # Neither is any label of a figure: texts keep within it.
    outside = page.evaluate(
        """[...document.querySelectorAll('figure svg[role=img]')].flatMap(figure => {
             const frame = figure.getBoundingClientRect();
             return [...figure.querySelectorAll('text')].filter(text => {
               const box = text.getBoundingClientRect();
               return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1
                 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
             }).map(text => text.textContent);
           })"""
    )
    assert outside == []


def test_the_map_of_the_atlas_says_who_wins_why_and_where_to_run_it(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "atlas.html"
    file.write_text(atlas_page(lookup.load(), lab="lab/index.html"))
    page.goto(file.as_uri())
    assert page.locator("#map rect.cell").count() > 20
    assert page.locator("#map polyline").count() == 1, "a Reno window that recovers in one period"
    cell = page.locator("#map rect.cell").nth(10)
    cell.click()
    said = page.locator("#said").inner_text()
    names = re.match(r"([\w-]+) \d+ %, ([\w-]+) \d+ %", said)
    assert names is not None, said
    assert set(names.groups()) <= set(CANDIDATES)
    assert "The link's time is lost to:" in said
    # The point runs: what the link gives the lab is a scenario of the same kind.
    link = parse_qs(urlsplit(page.locator("#said a").get_attribute("href")).fragment)
    scenario = Scenario.shipped(link["start"][0])
    for change in link["set"]:
        path, _, value = change.partition("=")
        scenario = scenario.set_text(path, value)
    scenario = scenario.set("run.duration", "2 s").with_transport(link["transports"][0].split(",")[0])
    assert run(scenario, trace="summary").metrics["goodput_bps"] > 0
    place = place_of(scenario)
    assert not isinstance(place, str)
    assert place[1] == []
    # Other axes have other boundaries, and the choice of silences leaves fewer points.
    before = sum(
        int(text.split(", ")[1].split()[0]) for text in page.locator("#map title").all_text_contents()
    )
    page.select_option("#x", label="RTT, s")
    page.select_option("#y", label="Silence / RTT")
    page.select_option("#silence", label="drop")
    assert page.locator("#map polyline").count() == 2, "silences of the least timeouts"
    after = sum(
        int(text.split(", ")[1].split()[0]) for text in page.locator("#map title").all_text_contents()
    )
    assert before == len(lookup.load().places)
    assert after == sum(place.silence == "drop" for place in lookup.load().places)


def _points(page: Any) -> int:
    """Return how many points of the survey the cells of the map have together."""
    titles = page.locator("#map title").all_text_contents()
    return sum(int(text.split(", ")[1].split()[0]) for text in titles)


def test_time_lines_zoom_together(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["run"])
    assert page.locator(".panels .uplot").count() == 4
    before = _spans(page)
    assert before == [[0, 20]] * 4
    _drag(page, 0.25, 0.5)
    after = _spans(page)
    assert all(span == after[0] for span in after)
    assert after[0][0] == pytest.approx(5, abs=0.3)
    assert after[0][1] == pytest.approx(10, abs=0.3)
    # A function: the page's policy forbids eval, which a bare expression needs on its second try.
    page.wait_for_function("() => location.hash.startsWith('#t=')")
    page.reload()  # the address brings the stretch back
    assert _spans(page)[0] == pytest.approx(after[0], abs=1e-3)
    page.locator(".panels").focus()
    page.keyboard.press("ArrowRight")
    assert _spans(page)[2][0] > after[0][0]
    page.keyboard.press("0")
    assert _spans(page) == before


def test_the_cursor_reads_values(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["run"])
    over = _in_view(page)
    page.mouse.move(over["x"] + over["width"] * 0.5, over["y"] + 20)
    page.locator(".reading", has_text="at 10 s").wait_for()
    result = run(Scenario.from_toml(SMALL))
    series = result.flow_series.to_pydict()
    index = page.evaluate("cogtcp.made[0].charts[0].cursor.idx")
    shown = page.locator(".values b").first.inner_text()
    assert float(shown.replace(",", "")) == pytest.approx(series["cwnd_segments"][index], abs=0.05)


def test_a_journey_zooms_too(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["line"])
    assert page.locator(".panels .uplot").count() == 2
    low, high = page.evaluate(
        "[cogtcp.made[0].charts[0].scales.y.min, cogtcp.made[0].charts[0].scales.y.max]"
    )
    assert low < -96 < high < 0  # dBm: around the levels, and not from 0 on
    _drag(page, 0.25, 0.5)
    assert _spans(page)[0] == _spans(page)[1]


def test_events_are_listed_and_clickable(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["run"])
    page.locator(".events > summary").click()
    rows = page.locator(".list tbody tr")
    rows.nth(10).wait_for()  # the list is drawn when its part opens, a moment after the click
    row = rows.filter(has_text="rto").first
    time = float(row.locator(".jump").inner_text())
    row.locator(".jump").click()
    start, end = _spans(page)[0]
    assert start < time < end
    assert end - start < 20
    assert page.locator(".list .picked .jump").inner_text() == f"{time:.6f}"


def test_lines_can_be_hidden(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["compare"])
    chips = page.locator(".chips").first.locator("button")
    assert chips.count() == 5
    shown = "cogtcp.made[0].charts[0].series.slice(1).map(s => s.show)"
    assert page.evaluate(shown) == [True] * 5
    chips.nth(1).click()
    assert page.evaluate(shown) == [True, False, True, True, True]
    # The queue of that run goes with it.
    assert page.evaluate("cogtcp.made[0].charts[2].series.slice(1).map(s => s.show)")[1] is False


def test_an_axis_copes_with_a_value_that_explodes(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["journey"])
    limit = "cogtcp.made[0].charts[1].scales.y.max"
    before = page.evaluate(limit)
    past = page.locator(".past").nth(1)
    assert "up to 61,500 ms" in past.inner_text()  # an RTT of 61 s, after a tunnel
    past.click()
    assert page.evaluate(limit) > 8 * before


def test_a_long_run_is_interactive_within_a_second(page: Any, pages: dict[str, str]) -> None:
    """Processor time of the page's own thread, as others use the machine; the best of some."""
    times = []
    for _ in range(3):
        tab = page.context.new_page()
        metrics = page.context.new_cdp_session(tab)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
        tab.goto(pages["journey"])
        assert tab.locator(".time.live").count() == 1
        found = {each["name"]: each["value"] for each in metrics.send("Performance.getMetrics")["metrics"]}
        times.append(found["TaskDuration"])
        tab.close()
    assert 0.001 < min(times) < 1, times
    assert Path(pages["journey"].removeprefix("file://")).stat().st_size < 2_000_000


def test_without_a_script_there_are_still_figures(browser: Any, pages: dict[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(pages["run"])
    assert plain.locator(".still figure svg").first.is_visible()
    assert "still figures" in plain.locator(".still").inner_text()
    context.close()


def test_paper_gets_the_still_figures(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["compare"])
    assert not page.locator(".still").is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".still").is_visible()
    assert not page.locator(".charts").is_visible()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


def test_time_lines_follow_light_and_dark(page: Any, pages: dict[str, str]) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(pages["run"])
    drawn = "document.querySelector('.panels canvas').toDataURL()"
    light = page.evaluate(drawn)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"old => {drawn} !== old", arg=light)


def _spans(page: Any) -> list[list[float]]:
    return page.evaluate("cogtcp.made[0].charts.map(c => [c.scales.x.min, c.scales.x.max])")


def _in_view(page: Any) -> dict[str, float]:
    """Scroll the first time line into view, where the mouse can reach it; return its box."""
    over = page.locator(".u-over").first
    over.scroll_into_view_if_needed()
    return over.bounding_box()


def _drag(page: Any, start: float, end: float) -> None:
    box = _in_view(page)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (start + end) / 2 * box["width"], y)
    page.mouse.move(box["x"] + end * box["width"], y)
    page.mouse.up()


def test_the_map_plays(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["map"])
    root = page.locator(".map")
    assert root.locator(".still").is_hidden()
    assert root.locator(".player circle").count() >= 25
    # It begins when the first packet has arrived: a way is to be seen, and the legend tells its hops.
    begin = float(root.get_attribute("data-time"))
    assert 1 < begin < 5
    assert " hop" in root.locator(".flows").inner_text()
    assert root.locator("rect.area").count() == 1
    assert root.locator(".ruler").text_content() == "200 m"
    assert root.locator("output").inner_text() == f"{begin:.1f} s of 20 s"
    place = root.locator(".player circle").last.bounding_box()
    root.get_by_role("combobox").select_option("10")
    root.get_by_role("button", name="Play").click()
    moved = "least => Number(document.querySelector('.map').dataset.time) > least"
    page.wait_for_function(moved, arg=begin + 0.5)
    root.get_by_role("button", name="Pause").click()
    root.get_by_role("button", name="Play").wait_for()
    stopped = root.get_attribute("data-time")
    page.wait_for_timeout(200)
    assert root.get_attribute("data-time") == stopped
    assert root.locator(".player circle").last.bounding_box() != place


def test_a_primary_user_of_the_map_is_filled_while_it_is_on(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["map"])
    data = page.evaluate("JSON.parse(document.querySelector('.map script').textContent)")
    changes = next(user[5] for user in data["users"] if len(user[5]) >= 2)
    number = [user[5] for user in data["users"]].index(changes)
    span = data["times"][-1] / (len(data["times"]) - 1)
    for time, filled in ((changes[0] - 0.01, False), ((changes[0] + changes[1]) / 2, True)):
        page.evaluate(
            """at => { const slider = document.querySelector('.map input[type=range]');
                slider.value = at; slider.dispatchEvent(new Event('input')); }""",
            time / span,
        )
        found = page.locator(".map .player circle").nth(number).get_attribute("fill-opacity")
        assert (float(found) > 0) == filled


@pytest.mark.parametrize("kind", ["compare", "sweep", "tune", "c2-t1", "chain-f7a"])
def test_figures_are_drawn_for_phones_too(page: Any, pages: dict[str, str], kind: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(pages[kind])
    figures = page.evaluate(
        """[...document.querySelectorAll('figure .phone svg[role=img]')]
             .filter(svg => svg.clientWidth).map(svg => {
             const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
             const texts = [...svg.querySelectorAll('text')];
             return {
               scrolls: svg.closest('figure').scrollWidth > svg.closest('figure').clientWidth + 1,
               least: Math.min(...texts.map(t => scale * parseFloat(getComputedStyle(t).fontSize))),
               text: texts.map(t => t.textContent).join(' '),
             };
           })"""
    )
    assert figures
    assert not any(figure["scrolls"] for figure in figures)
    assert min(figure["least"] for figure in figures) > 10, "8 px cannot be read"
    if kind == "compare":
        # The differences stand below the bars.
        assert any("Difference to tahoe" in figure["text"] for figure in figures)
    assert page.evaluate("[...document.querySelectorAll('.broad')].every(e => !e.offsetParent)")


@pytest.mark.parametrize("name", [study.name for study in studies.list_studies()])
def test_the_page_of_a_study_is_short_as_long_as_it_is_folded(
    page: Any, quick_study: QuickStudy, name: str
) -> None:
    """A picture, a card for each claim, and nothing else unfolded: a page of at most 6,000 px.

    The quick page has the figures of the whole page, drawn at the best values too.
    """
    result, folder = quick_study(name)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto((folder / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") <= 6000
    cards = page.locator("section.claim")
    assert cards.count() == len(result.study.claims)
    # Each card has its figure beside it.
    bare = "c => !c.querySelector('.card figure svg')"
    assert (
        page.evaluate(f"[...document.querySelectorAll('section.claim')].filter({bare}).map(c => c.id)") == []
    )
    # The picture of all claims comes before the first of them.
    first = page.locator("figure svg[role=img]").first.bounding_box()
    assert first["y"] < cards.first.bounding_box()["y"]


@pytest.mark.parametrize("kind", ["c2-t1", "chain-f7a"])
def test_statements_are_a_table_where_there_is_room(page: Any, pages: dict[str, str], kind: str) -> None:
    shown = """() => [...document.querySelectorAll('table')].filter(t => t.innerText.startsWith('statement'))
                 .map(t => getComputedStyle(t).display)"""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(pages[kind])
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert page.evaluate(shown)[0] == "table"
