"""Reports: self-contained, legible in light and dark, true to the numbers."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp import Comparison, Scenario, compare, headline, run
from cogtcp.metrics import BY_NAME
from cogtcp.report import comparison_report, run_report, theme
from cogtcp.report.thin import thin, thin_marks
from cogtcp.report.timeline import Series, Silence, silences
from conftest import ROOT, SMALL

TRANSPORTS = ("newreno", "sack")


class Page(HTMLParser):
    """Tags, attributes and text of a page; complains of tags that do not close."""

    VOID = frozenset({"meta", "input", "br", "img"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(Scenario.from_toml(SMALL), TRANSPORTS, seeds=3)


@pytest.fixture(scope="module")
def pages(comparison: Comparison) -> dict[str, str]:
    return {
        "compare": comparison_report(comparison, command="cogtcp compare small.toml"),
        "run": run_report(next(iter(comparison.shown.values())), command="cogtcp run small.toml"),
    }


@pytest.mark.parametrize("kind", ["run", "compare"])
def test_a_page_needs_nothing_else_and_is_small(pages: dict[str, str], kind: str) -> None:
    page = pages[kind]
    assert "://" not in page
    assert "@import" not in page
    parsed = Page(page)
    for tag, name, value in parsed.attributes:
        assert name not in ("src", "srcset"), tag
        assert not name.startswith("on"), tag
        assert name not in ("href", "xlink:href") or value.startswith("#")
    assert all(reference.startswith("#") for reference in re.findall(r"url\(([^)]*)\)", page))
    assert not {"script", "link", "iframe", "object"} & set(parsed.tags)
    assert len(page) < 2_000_000


@pytest.mark.parametrize("kind", ["run", "compare"])
def test_every_colour_has_a_light_and_a_dark_value(pages: dict[str, str], kind: str) -> None:
    page = pages[kind]
    light, dark = (set(re.findall(r"(--[\w-]+):", part)) for part in _root_rules(page))
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    assert used <= light
    assert used - {"--font"} <= dark
    figures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert figures
    for figure in figures:
        assert not re.findall(r"#[0-9a-f]{6}\b", figure), "a colour that follows neither light nor dark"


def _root_rules(page: str) -> tuple[str, str]:
    light, dark = re.findall(r":root \{(.*?)\}", page, re.DOTALL)
    assert "prefers-color-scheme: dark" in page
    return light, dark


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_can_be_told_from_the_paper(pages: dict[str, str]) -> None:
    """WCAG 2.1: 4.5 to 1 for text, 3 to 1 for lines and marks."""
    for rule in _root_rules(pages["run"]):
        colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", rule))
        paper = _luminance(colors["paper"])
        for name, color in colors.items():
            least = 4.5 if name in ("ink", "muted") else 3.0 if name in ("accent", "alarm") else 0
            least = 3.0 if name.startswith("series") else least
            high, low = max(paper, _luminance(color)), min(paper, _luminance(color))
            assert (high + 0.05) / (low + 0.05) >= least, (name, color)


def test_the_comparison_says_what_was_measured(comparison: Comparison, pages: dict[str, str]) -> None:
    text = " ".join(Page(pages["compare"]).text.split())
    assert headline.of_comparison(comparison) in text
    for name in TRANSPORTS:
        for metric in ("goodput_bps", "rtos", "rtt_mean_s"):
            interval = comparison.interval(name, metric)
            shown = BY_NAME[metric].text(interval.mean), BY_NAME[metric].text(interval.half_width)
            assert f"{shown[0]} ± {shown[1]}" in text
    assert f"sha256:{comparison.scenario.hash}" in text
    assert "cogtcp compare small.toml" in text
    assert "7, 8, 9" in text
    assert 'name = "small"' in text
    for sign in ("RTO", "fast retransmit", "drop at link", "sensing", "switching", "ssthresh"):
        assert sign in text


def test_the_figures_show_the_values(comparison: Comparison, pages: dict[str, str]) -> None:
    bars = re.search(r"<svg.*?</svg>", pages["compare"], re.DOTALL)
    assert bars
    for name in TRANSPORTS:
        value = BY_NAME["goodput_bps"].text(comparison.interval(name, "goodput_bps").mean)
        assert f">{value}<" in bars[0]
        assert f">{name}<" in bars[0]
    # Bars, and for each transport the whole run and a closer look.
    assert pages["compare"].count('role="img"') == 1 + 2 * len(TRANSPORTS)


def test_names_are_text_whatever_they_hold() -> None:
    scenario = Scenario.from_toml(SMALL).set("name", '<b>"x" & y</b>').set("flow.0.name", "<i>flow</i>")
    result = run(scenario.set("description", "<script>alert(1)</script>"))
    page = run_report(result, command="cogtcp run '<u>.toml'")
    parsed = Page(page)
    assert not {"b", "i", "u", "script"} & set(parsed.tags)
    assert '<b>"x" & y</b>' in parsed.text


@pytest.mark.parametrize(
    "changes",
    [
        {"radio": []},
        {"run.duration": "1 ms"},
        {"flow.0.start": "19.99 s"},
        {"flow.0.traffic": {"size": "1 kB"}},
        {"topology.single_hop.link.loss": "99.999 %"},
        {"topology.single_hop.link.loss": 0, "radio": []},
    ],
    ids=["no radio", "no sample", "hardly a flow", "one segment", "nothing arrives", "nothing is lost"],
)
def test_runs_with_little_to_show(changes: dict[str, Any]) -> None:
    scenario = Scenario.from_toml(SMALL)
    for path, value in changes.items():
        scenario = scenario.set(path, value)
    Page(run_report(run(scenario)))
    Page(comparison_report(compare(scenario, TRANSPORTS, seeds=2)))


def test_many_flows_over_long_time_stay_small() -> None:
    scenario = Scenario.from_toml(
        """
        name = "many"
        [run]
        duration = "600 s"
        [topology.dumbbell]
        pairs = 12
        access = { rate = "10 Mbit/s", delay = "2 ms", queue = "100 packets" }
        bottleneck = { rate = "4 Mbit/s", delay = "20 ms", queue = "40 packets" }
        [[radio]]
        name = "radio"
        links = ["bottleneck"]
        sensing = { off = "100 ms", on = "1 s" }
        [[flow]]
        name = "f"
        from = "s*"
        to = "d*"
        count = 12
        transport = "sack"
        traffic = "saturated"
        """
    )
    page = run_report(run(scenario))
    assert len(page) < 1_500_000
    assert "and 8 more flows, not drawn" in page


def test_dates_can_be_fixed(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    assert "2001-09-09 01:46 UTC" in run_report(run(scenario))
    assert run_report(run(scenario)) == run_report(run(scenario))


def test_what_the_mac_lost_is_in_the_page() -> None:
    hop = Scenario.from_file(ROOT / "scenarios" / "cr-as-released.toml").set("run.duration", "20 s")
    result = run(hop)
    page = run_report(result)
    for heading in (
        "Drops: retry limit",
        "Drops: interference",
        "Exchanges of frames",
        "Failed: receiver silent",
    ):
        assert heading in page
    unanswered = result.links.column("attempts_unanswered").to_pylist()
    assert f"<td>{unanswered[0]:,}</td>" in page
    assert "Drops: retry limit" not in run_report(run(Scenario.from_toml(SMALL)))


def test_silences_are_found_in_the_events() -> None:
    events = [
        (1.0, "sensing_start", "", "a"),
        (1.5, "drop", "silence", "link"),
        (2.0, "sensing_end", "", "a"),
        (3.0, "switching_start", "", "a"),
        (4.0, "handoff", "", "a"),
        (9.0, "sensing_start", "", "a"),
    ]
    assert silences(*zip(*events, strict=True), 10.0) == [
        Silence(1.0, 2.0, "sensing"),
        Silence(3.0, 4.0, "switching"),
        Silence(9.0, 10.0, "sensing"),
    ]
    # Two ends that sense by themselves: at once, one within the other, one after the other begins.
    events = [
        (1.0, "sensing_start", "", "a"),
        (1.0, "sensing_start", "", "b"),
        (2.0, "sensing_end", "", "a"),
        (2.5, "sensing_end", "", "b"),
        (4.0, "switching_start", "", "b"),
        (4.5, "sensing_start", "", "a"),
        (5.0, "handoff", "", "b"),
        (5.5, "sensing_end", "", "a"),
    ]
    assert silences(*zip(*events, strict=True), 10.0) == [
        Silence(1.0, 2.0, "sensing"),
        Silence(2.0, 2.5, "sensing"),
        Silence(4.0, 5.0, "switching"),
        Silence(5.0, 5.5, "sensing"),
    ]


def test_silences_last_as_long_as_the_radio_says() -> None:
    result = run(Scenario.from_toml(SMALL))
    radio = result.radios.to_pylist()[0]
    found = Series.of(result).silences
    for kind in ("sensing", "switching"):
        total = sum(silence.end - silence.start for silence in found if silence.kind == kind)
        assert total == pytest.approx(radio[f"{kind}_s"]), kind


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3000), st.integers(2, 50))
def test_thinning_keeps_extremes_ends_and_order(values: list[float], bins: int) -> None:
    x = np.arange(len(values), dtype=float)
    kept_x, kept_y = thin(x, values, bins)
    assert len(kept_x) <= max(4 * bins, 1)
    assert (kept_x[0], kept_x[-1]) == (x[0], x[-1])
    assert (kept_y.min(), kept_y.max()) == (min(values), max(values))
    assert (np.diff(kept_x) > 0).all()
    assert all(values[int(i)] == y for i, y in zip(kept_x, kept_y, strict=True))


@given(st.lists(st.floats(0, 10), max_size=500))
def test_thinning_marks_leaves_one_where_there_was_one(times: list[float]) -> None:
    times.sort()
    kept = thin_marks(times, (2.0, 8.0), bins=30)
    assert all(any(abs(mark - time) <= 0.2 + 1e-9 for mark in kept) for time in times if 2 <= time <= 8)
    assert set(kept) <= {time for time in times if 2 <= time <= 8}


def test_svg_of_the_theme_holds_variables_only() -> None:
    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for color in theme.SERIES:
            axes.plot([0, 1], [0, 1], color=color)
        axes.text(0.5, 0.5, "3.14159265")

    svg = theme.draw(2, 'a "label"', paint)
    assert svg.startswith('<svg role="img" aria-label="a &quot;label&quot;"')
    assert "3.14159265" in svg
    for number in range(1, len(theme.SERIES) + 1):
        assert f"var(--series-{number})" in svg
