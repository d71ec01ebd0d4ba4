"""Reports: self-contained, legible in light and dark, true to the numbers."""

import base64
import hashlib
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp import Comparison, Scenario, compare, run
from cogtcp._arrays import array_of
from cogtcp.model import headline
from cogtcp.model.metrics import BY_NAME, plus_minus
from cogtcp.showing.figure import Axis, Curve, Drawing, Entry, Panel, Surface, curves, scale, surfaces
from cogtcp.showing.figure.compared import reach_of
from cogtcp.showing.figure.contour import contour
from cogtcp.showing.figure.model import Line, series
from cogtcp.showing.figure.reduce import Grid, thin_marks
from cogtcp.showing.figure.series import Series, Silence, silences
from cogtcp.showing.figure.timeline import Timeline
from cogtcp.showing.report import comparison_report, page, run_report, svg
from cogtcp.showing.report.alone import alone
from cogtcp.showing.report.tables import Table
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
        if self.open and self.open[-1] not in ("style", "script"):
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
    assert "@import" not in page
    # The only addresses are words: the chart library's home page, in its licence's line.
    assert re.findall(r"\w+://[^\s\"')]*", page) == ["https://github.com/leeoniya/uPlot"]
    parsed = Page(page)
    for tag, name, value in parsed.attributes:
        assert name not in ("src", "srcset"), tag
        assert not name.startswith("on"), tag
        assert name not in ("href", "xlink:href") or value.startswith("#")
    assert all(reference.startswith("#") for reference in re.findall(r"url\(([^)]*)\)", page))
    assert not {"link", "iframe", "object"} & set(parsed.tags)
    assert "default-src 'none'" in page
    assert len(page) < 2_000_000


@pytest.mark.parametrize("kind", ["run", "compare"])
def test_every_colour_has_a_light_and_a_dark_value(pages: dict[str, str], kind: str) -> None:
    page = pages[kind]
    light, dark = (set(re.findall(r"(--[\w-]+):", part)) for part in _root_rules(page))
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    assert used <= light
    assert used - {"--font"} <= dark
    drawn = re.findall(r'<svg role="img".*?</svg>', page, re.DOTALL)
    assert drawn
    for figure in drawn:
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
            assert BY_NAME[metric].with_half_width(interval) in text
    assert f"sha256:{comparison.scenario.hash}" in text
    assert "cogtcp compare small.toml" in text
    assert "7, 8, 9" in text
    assert 'name = "small"' in text
    for sign in ("RTO", "fast retransmit", "drop at link", "sensing", "switching"):
        assert sign in text
    assert "ssthresh" in pages["run"]


def test_the_figures_show_the_values(comparison: Comparison, pages: dict[str, str]) -> None:
    bars = re.search(r'<svg role="img".*?<figcaption', pages["compare"], re.DOTALL)
    assert bars
    for name in TRANSPORTS:
        value = BY_NAME["goodput_bps"].with_half_width(comparison.interval(name, "goodput_bps"))
        assert f">{value}<" in bars[0]
        assert f">{name}<" in bars[0]
    # Bars, where the capacity went, goodput against delay (all for phones too), whole run, closer look.
    assert pages["compare"].count('role="img"') == 8


def test_timeouts_have_the_colour_of_their_transport(pages: dict[str, str]) -> None:
    def colors(kind: str) -> set[str]:
        """Return the colours of the marks of RTOs in the still figures: triangles of size 3.2."""
        return set(re.findall(r'd="M0 3\.84L[^"]*" fill="var\(--([\w-]+)\)"', pages[kind]))

    assert colors("compare") == {"series-1", "series-2"}
    assert "RTO, in the colour of its line" in pages["compare"]
    assert colors("run") == {"alarm"}
    # The script draws them by the colour of their line, too.
    assert 'color(own || "alarm")' in pages["compare"]


def test_a_legend_names_no_link_where_there_is_none() -> None:
    roaming = run(Scenario.shipped("adhoc-cr").set("run.duration", "12 s"))
    key = " ".join(entry.text for entry in Timeline.of({"": Series.of(roaming)}).key())
    assert "rate of" not in key
    single = Timeline.of({"": Series.of(run(Scenario.from_toml(SMALL)))}).key()
    assert "rate of link while it is open" in " ".join(entry.text for entry in single)


@pytest.mark.parametrize(("kind", "count"), [("run", 2), ("compare", 2), ("map", 3)])
def test_no_script_runs_but_those_of_the_page(pages: dict[str, str], kind: str, count: int) -> None:
    if kind == "map":
        roaming = Scenario.shipped("adhoc-cr").set("run.duration", "12 s")
        page = run_report(run(roaming), command="cogtcp run adhoc-cr")
    else:
        page = pages[kind]
    policy = re.search(r"script-src ([^\"]*)\"", page)
    assert policy
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert len(scripts) == count
    assert policy[1] == " ".join(f"'sha256-{digest}'" for digest in digests)


def test_names_are_text_whatever_they_hold() -> None:
    scenario = Scenario.from_toml(SMALL).set("name", '<b>"x" & y</b>').set("flow.0.name", "<i>flow</i>")
    result = run(scenario.set("description", "<script>alert(1)</script>"))
    page = run_report(result, command="cogtcp run '<u>.toml'")
    parsed = Page(page)
    assert not {"b", "i", "u"} & set(parsed.tags)
    assert parsed.tags.count("script") == 3  # the data, the chart library, ours
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
    assert "and 6 more flows, not drawn" in page


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
    assert f">{unanswered[0]:,}</td>" in page
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
    assert silences(events, 10.0) == [
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
    assert silences(events, 10.0) == [
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


@given(
    st.lists(st.floats(-1e6, 1e6, width=32) | st.just(math.nan), min_size=1, max_size=3000),
    st.integers(2, 400),
)
def test_reduction_keeps_every_peak(values: list[float], most: int) -> None:
    times = np.arange(1, len(values) + 1) * 0.1
    grid = Grid.over([times], most=most, end=len(values) * 0.1)
    reduced = np.asarray(grid.reduce(times, values))
    assert len(reduced) == len(grid.times()) <= max(most, 2)
    known = [value for value in values if not math.isnan(value)]
    kept = reduced[~np.isnan(reduced)]
    assert set(kept) <= set(known)
    if known:
        assert (kept.min(), kept.max()) == (min(known), max(known))
        # And not only the greatest of all: each cell's.
        cell = np.minimum(((times - grid.start) / grid.width + 1e-9).astype(int), grid.cells - 1)
        for number in set(cell.tolist()):
            inside = [v for v, c in zip(values, cell, strict=True) if c == number and not math.isnan(v)]
            if inside:
                here = reduced[2 * number : 2 * number + 2] if grid.pairs else reduced[number : number + 1]
                assert (here.min(), here.max()) == (min(inside), max(inside))
    if len(values) <= most:
        assert np.array_equal(reduced, np.array(values), equal_nan=True)
        assert np.allclose(grid.times(), times)


def test_a_falling_line_is_drawn_falling() -> None:
    times = np.arange(1000) * 0.01
    reduced = np.asarray(Grid.over([times], most=100, end=10).reduce(times, 1000.0 - np.arange(1000)))
    assert (np.diff(reduced) < 0).all()


def test_series_of_different_times_share_a_grid() -> None:
    early, late = np.arange(1, 11) * 0.1, np.arange(6, 11) * 0.1
    grid = Grid.over([early, late], most=100, end=1)
    assert not grid.pairs
    reduced = np.asarray(grid.reduce(late, np.ones(5)))
    assert np.isnan(reduced[:5]).all()
    assert (reduced[5:] == 1).all()
    irregular = np.array([0.1, 0.13, 0.29, 0.71])
    assert Grid.over([early, irregular], most=100, end=1).pairs


@given(st.lists(st.floats(0, 10), max_size=500))
def test_thinning_marks_leaves_one_where_there_was_one(times: list[float]) -> None:
    times.sort()
    kept = thin_marks(times, (2.0, 8.0), bins=30)
    assert all(any(abs(mark - time) <= 0.2 + 1e-9 for mark in kept) for time in times if 2 <= time <= 8)
    assert set(kept) <= {time for time in times if 2 <= time <= 8}


def test_one_value_that_explodes_does_not_set_the_axis() -> None:
    usual = [float(value % 50) for value in range(1000)]
    limit, beyond = scale.robust_limit([*usual, 20_000.0])
    assert limit < 100
    assert beyond == 20_000.0
    # What comes often, or is not far off, is shown.
    assert scale.robust_limit([*usual, 300.0]) == (300.0, None)
    assert scale.robust_limit([*usual, *[1000.0] * 50]) == (1000.0, None)
    assert scale.robust_limit([1.0, 100.0]) == (100.0, None)
    assert scale.robust_limit([]) == (1.0, None)
    assert scale.robust_limit([0.0, math.nan]) == (1.0, None)


def test_one_outlier_does_not_crush_a_panel_of_differences() -> None:
    usual = [(-1.2, -1.0, -0.8), (0.1, 0.5, 0.9)]
    assert reach_of([*usual, (-60.0, -50.0, -40.0)]) == pytest.approx(1.2 * 1.12)
    assert reach_of([*usual, (-4.0, -3.0, -2.0)]) == pytest.approx(4 * 1.12)
    # A wide interval is news, not an outlier.
    assert reach_of([*usual, (-30.0, 1.0, 32.0)]) == pytest.approx(32 * 1.12)
    assert reach_of([]) == 1.0


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_round_and_within_the_axis(low: float, length: float) -> None:
    axis = scale.Scale(low, low + length)
    if axis.high <= axis.low:
        return
    ticks = axis.ticks(6)
    assert len(ticks) <= 8
    room = 1e-6 * length + 1e-9 * abs(low)
    assert all(low - room <= tick <= axis.high + room for tick in ticks)
    assert ticks == sorted(ticks)


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (1.0004, 0.1513, "1.00 ± 0.15"),
        (0.2512, 0.0123, "0.251 ± 0.012"),
        (12345.6, 234.5, "12,346 ± 234"),
        (3.0, 0.0, "3.000 ± 0"),
        (-0.001, 0.5, "0.00 ± 0.50"),
        (math.nan, 1.0, "–"),
    ],
)
def test_digits_go_as_far_as_the_interval_supports(value: float, half: float, text: str) -> None:
    assert plus_minus(value, half) == text


def test_figures_of_pages_hold_roles_and_no_colours() -> None:
    panel = Panel(Axis(scale.Scale(0, 1), "<x>"), Axis(scale.Scale(0, 1), "y"))
    for number in range(7):
        panel.add(Line([0, 0.5, math.nan, 1], [0, 1, 0, 1], series(number)))
    drawing = Drawing('a "label"', [[panel]], [Entry("<name>", "line", "ink")])
    text = svg.draw(drawing)
    Page(text)
    assert text.startswith('<svg role="img" aria-label="a &quot;label&quot;"')
    assert "&lt;x&gt;" in text
    assert "&lt;name&gt;" in text
    for number in range(1, 7):
        assert f"var(--series-{number})" in text
    file = alone(drawing)
    assert "var(" not in file
    assert "#0072b2" in file
    assert "prefers-color-scheme" in alone(drawing, dark=True)


def test_panels_stand_below_each_other_on_a_phone() -> None:
    left, right = (Panel(Axis(scale.Scale(0, 1)), Axis(scale.Scale(0, 1), "y"), 100) for _ in range(2))
    right.y.bare = True  # the panel at its left has the labels
    right.share = 0.3
    drawing = Drawing("two", [[left, right]])
    page, phone = svg.drawn(drawing).split('<div class="phone">')

    def places(text: str) -> list[tuple[float, float]]:
        found = re.findall(r'<svg x="([\d.]+)" y="([\d.]+)"', text)
        return [(float(x), float(y)) for x, y in found]

    (one, other), (first, second) = places(page), places(phone)
    assert one[0] < other[0]
    assert one[1] == other[1]
    assert first[0] == second[0]
    assert first[1] + 100 < second[1]
    wide = [re.findall(r'<svg x="[\d.]+" y="[\d.]+" width="([\d.]+)"', text) for text in (page, phone)]
    assert wide[0][0] != wide[0][1]
    assert wide[1][0] == wide[1][1]
    # Alone in its row a panel has labels of its own.
    assert (page.count(">0.5<"), phone.count(">0.5<")) == (1, 2)


def test_curves_and_surfaces_draw_every_point() -> None:
    curve = Curve("one", [1, 10, 100], [1, 2, math.nan], low=[0.5, 1, math.nan], high=[2, 3, math.nan])
    text = svg.draw(curves([curve], "label", x_label="x", y_label="y", log_x=True))
    Page(text)
    assert text.count("<circle") == 1 + 2  # the legend's and two points
    assert ">10<" in text
    plane = Surface("plane", ["a", "b"], [1, 2], [[1.0, 2.0], [3.0, math.nan]], mark=("a", 2))
    text = svg.draw(surfaces([plane], "label", x_label="x", y_label="y", unit="Mbit/s"))
    Page(text)
    assert re.findall(r"<title>(.*?)</title>", text) == ["a, 1: 1", "b, 1: 2", "a, 2: 3"]
    assert "Mbit/s" in text  # beside the colour bar


def test_names_of_choices_are_cut_and_not_left_out() -> None:
    curve = Curve("one", [0, 1, 2, 3], [1, 2, 3, 4])
    names = ["c2", "newreno", "westwood-tustin", "cubic"]
    text = svg.draw(curves([curve], "label", x_label="transport", y_label="y", x_names=names), narrow=True)
    for name in names:
        assert f">{name}<" in text or any(f">{name[:most]}…<" in text for most in range(2, len(name))), name


def test_contours_lie_where_the_quantity_has_the_level() -> None:
    axis = [step / 20 - 1 for step in range(41)]
    hill = [[math.hypot(x, y) for x in axis] for y in axis]
    (line,) = contour(axis, axis, hill, 0.6)
    assert line[0] == line[-1]
    assert all(abs(math.hypot(x, y) - 0.6) < 0.01 for x, y in line)
    saddle = [[1.0, 0.0], [0.0, 1.0]]
    assert len(contour([0, 1], [0, 1], saddle, 0.5)) == 2
    assert contour(axis, axis, hill, 5.0) == []


def test_wide_tables_turn_and_zeros_go_into_words() -> None:
    headings = [("Link", ""), *((f"Column {number}", "s") for number in range(12)), ("Drops", "")]
    table = Table(headings, [["a", *["1.25"] * 12, "0"], ["b", *["2.5"] * 12, "0"]])
    assert table.wide > 40
    side = table.without_zeros().turned()
    assert [name for name, _ in side.headings] == ["Link", "a", "b"]
    assert len(side.rows) == 12
    assert side.note == "0 throughout: drops."
    assert side.wide < 20
    assert Table([("A", ""), ("B", "")], []).stack >= 20


@pytest.mark.parametrize(
    ("words", "may_load"),
    [
        (["--help"], set()),
        (["run", "--help"], set()),
        (["check", "small.toml"], set()),
        (["run", "small.toml"], {"jinja2", "markupsafe"}),
        (["run", "sensed-link", "--set", "flow.0.transport=quic"], {"jinja2", "markupsafe"}),
        (
            ["compare", "small.toml", "--transport", "newreno,sack", "--seeds", "2", "--jobs", "1"],
            {"jinja2", "markupsafe"},
        ),
    ],
)
def test_verbs_load_no_other_package(tmp_path: Path, words: list[str], may_load: set[str]) -> None:
    """Loading Arrow, NumPy or rich takes longer than a run, and some modules of Python take as long."""
    (tmp_path / "small.toml").write_text(SMALL)
    slow = {"statistics", "secrets", "platform", "asyncio"}
    if len(words) == 1:
        slow |= {"dataclasses", "inspect", "difflib", "tomllib"}
    code = f"""if True:
        import sys
        before = set(sys.modules)
        from cogtcp.cli import main
        sys.argv = {["cogtcp", *words]}
        try:
            main()
        except SystemExit:
            pass
        loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
        known = {{"cogtcp", *sys.stdlib_module_names}}
        others = {{name for name in loaded - known if not name.startswith("_sysconfigdata")}}
        print(others - {may_load} | loaded & {slow})
    """
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("set()\n")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, None, math.inf, 3], pa.float64()),
        ([0.1, None], pa.float32()),
        ([1, 2**63], pa.uint64()),
        ([-1, None, 2**62, *range(20)], pa.int64()),
        (range(9), pa.int32()),
        ([None, -1], pa.int8()),
        ([True, None, False] * 5, pa.bool_()),
        (["", None, "é", "x" * 99], pa.string()),
        ([None] * 9, pa.string()),
        ([], pa.string()),
        ([], pa.float64()),
    ],
)
def test_arrays_of_values_are_those_of_pyarrow(values: Any, kind: pa.DataType) -> None:
    made = array_of(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(list(values), kind))


def test_a_template_is_compiled_once_and_again_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_TEMPLATES", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)

    def rendered(source: str, compiles: int) -> str:
        environment = page.environment.__wrapped__()
        environment.loader = jinja2.DictLoader({"a.html.j2": source})
        compiled = []
        compile_one = environment._compile
        monkeypatch.setattr(
            environment, "_compile", lambda *given: compiled.append(1) or compile_one(*given), raising=True
        )
        text = environment.get_template("a.html.j2").render()
        assert len(compiled) == compiles
        return text

    assert rendered("{{ 1 + 1 }}", 1) == "2"
    (kept,) = (tmp_path / "__pycache__").iterdir()
    assert rendered("{{ 1 + 1 }}", 0) == "2"
    assert rendered("{{ 1 + 2 }}", 1) == "3"
    kept.write_bytes(kept.read_bytes()[:20])  # a kill in the middle
    assert rendered("{{ 1 + 2 }}", 1) == "3"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered("{{ 1 + 3 }}", 1) == "4"
    assert rendered("{{ 1 + 3 }}", 1) == "4"


@pytest.mark.parametrize(
    "title", ["Short", "Throughput of the variants over the sensing time, with both ends apart"]
)
def test_headings_stay_within_a_figure_on_a_phone(title: str) -> None:
    """A panel far from the left edge: its title is moved, and gets a second line if one does not hold it."""
    up = Axis(
        scale.Scale(0, 1), "Goodput of all flows together", "Mbit/s", ((0.5, "a long name of a transport"),)
    )
    panel = Panel(Axis(scale.Scale(0, 1), "Time between two silences of the radio", "s"), up, 90, title=title)
    drawn = svg.draw(Drawing("a figure", [[panel]], width=760), narrow=True)
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', drawn)[0])
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)"([^>]*)>([^<]*)<', drawn)
    assert " ".join(text for *_, text in texts if text in title) == title
    for x, y, size, more, text in texts:
        wide = len(text) * float(size) * 0.54
        left = float(x) - wide * (
            0.5 if 'anchor="middle"' in more else 1.0 if 'anchor="end"' in more else 0.0
        )
        assert left >= 0, text
        assert left + wide <= width, text
        assert float(y) >= float(size) / 2, text
