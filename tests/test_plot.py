"""Figures for paper: every kind, of objects and of saved results, as files that come out alike."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from cogtcp import Comparison, Result, Scenario, UsageError, compare, plot, run, sweep, tune
from cogtcp.model.metrics import BY_NAME
from cogtcp.running.sweeping.axes import title
from cogtcp.showing import figure
from cogtcp.showing.figure import compared
from cogtcp.showing.figure.model import Text
from cogtcp.showing.figure.run_map import RunMap
from cogtcp.showing.figure.series import Series
from cogtcp.showing.figure.timeline import Timeline
from cogtcp.showing.plot import KINDS, draw, paper, save
from cogtcp.showing.plot.compared import values_of
from cogtcp.showing.report import svg
from conftest import ROOT, SMALL


@pytest.fixture(scope="module")
def result() -> Result:
    return run(Scenario.from_toml(SMALL))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(Scenario.from_toml(SMALL), ["newreno", "sack"], seeds=4)


@pytest.fixture(scope="module")
def saved(
    result: Result, comparison: Comparison, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("saved")
    result.save(folder / "run")
    comparison.save(folder / "compare")
    hop = Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").set("run.duration", "5 s")
    tune(hop, trials=2, seeds=1, fresh_seeds=2, grid=[3, 2], out=folder / "tune")
    small = Scenario.from_toml(SMALL).set("run.duration", "4 s")
    vary = {"topology.single_hop.link.loss": [0.0, 0.01], "radio.0.sensing.off": ["100 ms", "1 s"]}
    sweep(small, vary, transports=["sack"], seeds=2, out=folder / "sweep")
    return {kind: folder / kind for kind in ("run", "compare", "tune", "sweep")}


@pytest.mark.parametrize(
    ("kind", "of"), [(kind, of) for kind, every in KINDS.items() for of in every if kind != "map"]
)
def test_every_kind_is_drawn_of_saved_results(saved: dict[str, Path], kind: str, of: str) -> None:
    where = {"sensing_off": 1.0} if kind == "line" else None
    figure = draw(saved[of], kind, where=where)
    assert isinstance(figure, Figure)
    assert figure.get_size_inches()[0] == pytest.approx(plot.COLUMN_IN)
    assert all(axes.get_xlabel() or axes.get_ylabel() or axes.get_xticklabels() for axes in figure.axes)


@pytest.mark.parametrize(("kind", "of"), [("heatmap", "run"), ("timeline", "compare"), ("bars", "tune")])
def test_what_cannot_be_drawn_is_said(saved: dict[str, Path], kind: str, of: str) -> None:
    with pytest.raises(UsageError, match=rf"no {kind} can be drawn of the results of `{of}`; draw "):
        draw(saved[of], kind)


def test_a_drawing_shows_the_numbers(comparison: Comparison) -> None:
    axes = comparison.plot.bars().axes[0]
    means = [comparison.interval(name, "goodput_bps").mean * 1e-6 for name in comparison.transports]
    assert [patch.get_width() for patch in axes.patches] == pytest.approx(means)
    for name, line in zip(
        comparison.transports, (x for x in axes.lines if len(x.get_xdata()) == 2), strict=True
    ):
        found = comparison.interval(name, "goodput_bps")
        assert list(line.get_xdata()) == pytest.approx([found.low * 1e-6, found.high * 1e-6])
    points = comparison.plot.delay_throughput().axes[0]
    assert points.xaxis_inverted()  # low delay, which is better, is at the right
    by_transport = values_of(comparison.runs, BY_NAME["goodput_bps"])
    clouds = points.lines[::2]  # each with its mean behind it
    for values, cloud in zip(by_transport.values(), clouds, strict=True):
        assert sorted(cloud.get_ydata()) == pytest.approx([1e-6 * value for value in sorted(values)])
    steps = comparison.plot.cdf().axes[0].lines[0].get_xydata()
    assert steps[-1][1] == 1
    assert (np.diff(steps[:, 1]) >= 0).all()


def test_a_timeline_keeps_its_peaks_and_its_span(result: Result) -> None:
    figure = result.plot.timeline()
    windows = result.flow_series.column("cwnd_segments").to_pylist()
    assert max(figure.axes[0].lines[0].get_ydata()) == max(windows)
    closer = result.plot.timeline(span=(5, 10), panels=("rtt",))
    assert closer.axes[0].get_xlim() == (5, 10)
    assert len(closer.axes) == 1


def test_sweeps_are_drawn_from_rows() -> None:
    rows = [(x, hue, 10.0 * x + seed) for x in (1, 2, 4) for hue in ("a", "b") for seed in (0, 1, 2)]
    axes = plot.line(rows, x_label="x", y_label="y").axes[0]
    assert list(axes.lines[0].get_ydata()) == [11, 21, 41]
    plane = plot.heatmap(rows, x_label="x", y_label="hue", label="y").axes[0]
    assert plane.collections[0].get_array().tolist() == [[11, 21, 41]] * 2
    with pytest.raises(UsageError, match="needs a plane"):
        plot.heatmap(rows[:1], x_label="x", y_label="y", label="z")


def test_pages_and_papers_draw_the_same_figures() -> None:
    """One model, two renderers: what a page says of each point is where paper has it."""
    means = {("low", 1): 2.0, ("high", 1): 6.0, ("low", 2): 3.0, ("high", 2): 7.0}
    rows = [(x, hue, mean + aside) for (x, hue), mean in means.items() for aside in (-1, 1)]
    curves, names = figure.over(rows)
    assert names == ["low", "high"]
    drawing = figure.curves(curves, "label", x_label="x", y_label="y", x_names=names)
    said = re.findall(
        r"<title>(\w+): (\d), (\S+) \((\S+) to (\S+)\)</title>", svg.draw(drawing).replace("−", "-")
    )
    lines = [line for line in paper.draw(drawing).axes[0].lines if line.get_marker() == "_"]
    drawn = [(str(int(line.get_xdata()[0])), *line.get_ydata()) for line in lines]
    assert [name for name, *_ in said] == ["1", "1", "2", "2"]
    for (_, x, _, low, high), (at, below, above) in zip(said, drawn, strict=True):
        assert x == at
        assert (float(low), float(high)) == pytest.approx((below, above), rel=1e-3)
    drawing = figure.surfaces([figure.plane(rows)], "label", x_label="x", y_label="hue")
    assert paper.draw(drawing).axes[0].collections[0].get_array().tolist() == [[2, 6], [3, 7]]
    assert re.findall(r"<title>(\w+), (\d): (\d)</title>", svg.draw(drawing)) == [
        ("low", "1", "2"),
        ("high", "1", "6"),
        ("low", "2", "3"),
        ("high", "2", "7"),
    ]


@pytest.mark.parametrize("kind", ["timeline", "bars", "box", "trade", "map"])
def test_every_kind_of_mark_is_drawn_by_both(result: Result, comparison: Comparison, kind: str) -> None:
    """A figure of each kind, with all marks that it has, in a page and on paper."""
    goodput, delay = BY_NAME["goodput_bps"], BY_NAME["queuing_delay_mean_s"]
    values = values_of(comparison.runs, goodput)
    if kind == "timeline":
        drawing = Timeline.of({"": Series.of(result)}).figure(legend=True)
    elif kind == "map":
        roaming = run(Scenario.shipped("adhoc-cr").set("run.duration", "12 s"))
        found = RunMap.of(roaming)
        assert found is not None
        drawing = found.figure()
    elif kind == "trade":
        drawing = compared.trade({n: [(1e-3 * i, v) for i, v in enumerate(vs)] for n, vs in values.items()},
                                 delay, goodput)  # fmt: skip
    else:
        drawing = (compared.bars if kind == "bars" else compared.box)(values, goodput)
    page, drawn = svg.draw(drawing), paper.draw(drawing)
    drawn.draw_without_rendering()
    panels = [panel for row in drawing.rows for panel in row]
    for panel, axes in zip(panels, drawn.axes, strict=True):
        assert axes.get_xlabel().startswith(panel.x.label)
        assert panel.y.label in axes.get_ylabel()
        assert panel.y.label in page
        texts = [mark.text for mark in panel.marks if isinstance(mark, Text)]
        written = [text.get_text() for text in axes.texts]
        for text in [*texts, *(text for _, text in panel.beside)]:
            assert text in written
            assert f">{text}</text>" in page
    for entry in drawing.legend:
        assert entry.text in page
        assert entry.text in [text.get_text() for text in drawn.legends[0].get_texts()]


def test_an_axis_that_grows_to_the_left_has_all_its_ticks() -> None:
    delay, goodput = BY_NAME["queuing_delay_mean_s"], BY_NAME["goodput_bps"]
    drawing = compared.trade({"a": [(0.005, 4e6)], "b": [(0.045, 5e6)]}, delay, goodput)
    written = re.findall(r">(\d+)</text>", svg.draw(drawing))
    assert {"10", "20", "30", "40"} <= set(written)


def test_lines_stand_beside_each_other_where_their_intervals_overlap() -> None:
    def centres(apart: float) -> list[float]:
        """Return where the points at x = 1 are drawn, in points of paper."""
        rows = [
            (x, hue, at + seed) for x in (1, 2) for hue, at in (("a", 0), ("b", apart)) for seed in (0, 1)
        ]
        figure = plot.line(rows, x_label="x", y_label="y")
        figure.draw_without_rendering()
        lines = [line for line in figure.axes[0].lines if line.get_marker() in "os"]
        places = [float(line.get_transform().transform((1, 0))[0]) for line in lines]
        return [72 / figure.dpi * place for place in places]

    # Of two values the interval is 12.7 wide: 0.5 and 1.5 overlap, 0.5 and 100.5 do not.
    left, right = centres(1)
    assert right - left == pytest.approx(3.5)
    left, right = centres(100)
    assert right == left


def test_every_line_of_a_timeline_is_in_the_legend(result: Result) -> None:
    figure = plot.timeline({"": result})
    said = {text.get_text() for text in figure.legends[0].get_texts()}
    assert "rate of link while it is open" in said
    assert "RTO" in said
    assert "sensing" in said


def test_an_axis_is_called_by_its_path_or_by_its_own_name() -> None:
    assert title("radio.0.sensing.on", "sensing_on") == "Time between silences"
    assert title("topology.dumbbell.bottleneck.rate", "bottleneck_rate") == "Bottleneck rate"
    assert title("radio.0.cr.sensing_time", "cr_sensing_time") == "Sensing time"
    assert title("radio.0.sensing.on", "open_time") == "Open time"


def test_a_sweep_is_drawn_and_hides_nothing(tmp_path: Path) -> None:
    small = Scenario.from_toml(SMALL).set("run.duration", "4 s")
    vary = {"topology.single_hop.link.loss": [0.0, 0.01], "radio.0.sensing.off": ["100 ms", "1 s"]}
    found = sweep(small, vary, transports=["newreno", "sack"], seeds=2, out=tmp_path / "s")
    loss, off = found.axes
    axes = found.plot.line(loss, where={off: 1.0}).axes[0]
    means = [found.interval("newreno", "goodput_bps", value, 1.0).mean * 1e-6 for value in (0.0, 0.01)]
    assert list(axes.lines[0].get_ydata()) == pytest.approx(means)
    cells = found.plot.heatmap(where={"transport": "sack"}).axes[0].collections[0].get_array()
    assert cells[1][0] == pytest.approx(found.interval("sack", "goodput_bps", 0.0, 1.0).mean * 1e-6)
    with pytest.raises(UsageError, match=f"{off} varies too"):
        found.plot.line(loss)
    with pytest.raises(UsageError, match="transport varies too"):
        found.plot.heatmap()
    with pytest.raises(UsageError, match=f"did you mean '{loss}'"):
        found.plot.line(loss + "e", where={off: 1.0})
    # Axes have words and units; a single line has a legend too.
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Link loss", "Goodput (Mbit/s)")
    assert found.plot.line(off, where={loss: 0.0}).axes[0].get_xlabel() == "Length of a silence (s)"
    # The first axis is held at one value: the next one is drawn over.
    assert found.plot.line(where={loss: 0.0}).axes[0].get_xlabel() == "Length of a silence (s)"
    alone = found.plot.line(loss, where={off: "1 s", "transport": "sack"})
    assert [text.get_text() for text in alone.legends[0].get_texts()] == ["sack"]
    # Values have units as --set takes them: 1 % is the share 0.01, 100 ms are 0.1 s.
    by_unit = found.plot.line(off, where={loss: "1 %"}).axes[0].lines[0].get_ydata()
    assert list(by_unit) == list(found.plot.line(off, where={loss: 0.01}).axes[0].lines[0].get_ydata())
    assert len(found.plot.line(loss, where={off: "100 ms"}).axes[0].lines[0].get_ydata()) == 2
    with pytest.raises(UsageError, match=r"no finished run has .*_loss 2 %; there are: 0.0, 0.01"):
        found.plot.line(off, where={loss: "2 %"})
    drawn = draw(tmp_path / "s", "line", where={off: "1 s"}, x_label="Loss of packets", y_label="Rate")
    assert (drawn.axes[0].get_xlabel(), drawn.axes[0].get_ylabel()) == ("Loss of packets", "Rate")
    assert drawn.axes[0].lines[0].get_ydata() == pytest.approx(means)
    html = found._repr_html_()
    assert "<svg" in html
    assert "±" in html


@pytest.mark.parametrize("suffix", ["pdf", "svg", "png"])
def test_files_come_out_alike(comparison: Comparison, tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        save(comparison.plot.bars(), tmp_path / f"{name}.{suffix}")
    content = (tmp_path / f"a.{suffix}").read_bytes()
    assert content == (tmp_path / f"b.{suffix}").read_bytes()
    assert content[:5] in (b"%PDF-", b"<?xml", b"\x89PNG\r")
    if suffix == "pdf":
        assert b"/Type3" not in content  # which most conferences refuse
    with pytest.raises(Exception, match="exists already"):
        save(comparison.plot.bars(), tmp_path / f"a.{suffix}")
    save(comparison.plot.bars(), tmp_path / f"a.{suffix}", force=True)


def test_the_verb(command: Any, saved: dict[str, Path], tmp_path: Path) -> None:
    done = command("plot", saved["compare"], "--kind", "box", "--out", "box.pdf")
    assert (done.code, done.out, done.err) == (0, "plot: box.pdf\n", "")
    assert (tmp_path / "box.pdf").read_bytes().startswith(b"%PDF")
    again = command("plot", saved["compare"], "--kind", "box", "--out", "box.pdf")
    assert again.code == 1
    assert "--force" in again.err
    done = command("plot", saved["run"], "--kind", "timeline", "--span", "2,9", "--width", "page",
                   "--out", "t.svg", "--json")  # fmt: skip
    assert json.loads(done.out) == {"kind": "timeline", "plot": "t.svg"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kind", "barz", "--out", "a.pdf"), "did you mean 'bars'?"),
        (("--kind", "bars", "--metric", "goodputs", "--out", "a.pdf"), 'did you mean "goodput"?'),
        (("--kind", "bars", "--out", "a.gif"), "ends in .pdf, .svg, .png"),
        (("--kind", "bars", "--width", "broad", "--out", "a.pdf"), "--width broad"),
        (("--kind", "bars", "--width", "nan", "--out", "a.pdf"), "1 to 40 inches"),
        (("--kind", "line", "--out", "a.pdf"), "no line can be drawn"),
        (("--kind", "bars", "--height", "-1", "--out", "a.pdf"), "0.5 to 40 inches"),
        (("--kind", "bars", "--metric", "completion_s", "--out", "a.pdf"), "no run has a value"),
    ],
)
def test_what_is_wrong_is_said(
    command: Any, saved: dict[str, Path], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = command("plot", saved["compare"], *arguments)
    assert done.code == 2
    assert said in done.err
    assert not list(tmp_path.glob("a.*"))


def test_a_folder_without_results_is_refused(command: Any, tmp_path: Path) -> None:
    done = command("plot", tmp_path, "--kind", "bars", "--out", "a.pdf")
    assert done.code == 2
    assert "is not a folder of results" in done.err


def test_an_accessor_suggests_names(result: Result, comparison: Comparison) -> None:
    with pytest.raises(UsageError, match="did you mean 'rtt'"):
        result.plot.cdf("rt")
    with pytest.raises(UsageError, match='did you mean "efficiency"'):
        comparison.plot.bars("eficiency")
    with pytest.raises(UsageError, match="did you mean 'sack'"):
        comparison.interval("sak", "rtos")
    with pytest.raises(UsageError, match="kept no series"):
        run(Scenario.from_toml(SMALL), trace="summary").plot.timeline()


def test_the_package_suggests_names() -> None:
    import cogtcp

    with pytest.raises(AttributeError, match="did you mean 'compare'"):
        cogtcp.comapre  # noqa: B018
    assert {"sweep", "journey", "compare"} <= set(dir(cogtcp))


def test_no_value_is_no_bar(comparison: Comparison) -> None:
    found = values_of(comparison.runs, BY_NAME["rtos"])
    assert all(not math.isnan(value) for values in found.values() for value in values)
