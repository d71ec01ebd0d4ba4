"""Small live figures: a still picture and its sentence, which a slider changes.

The pictures are drawn here, of runs of the engine; `python/cogtcp/lab/page/live.js` moves their lines.
Without a script, from a disk, or in a site without the lab, the picture and the sentence stay as they are.
"""

from __future__ import annotations

import html
import json
import math
import posixpath
import re
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from cogtcp import Scenario, run
from cogtcp.data.spectrum import sensing
from cogtcp.showing.figure.model import Axis, Drawing, Entry, Line, Panel, series
from cogtcp.showing.figure.scale import Scale
from cogtcp.showing.report import page as report_page
from cogtcp.showing.report import svg

_LINK = """\
name = "live"
[run]
duration = "{duration}"
warmup = "0 s"
seed = 1
sample_interval = "100 ms"
[tcp]
segment_size = "1000 B"
[topology.single_hop]
link = {{ rate = "10 Mbit/s", delay = "50 ms", queue = "{queue} packets" }}
{radio}
[[flow]]
name = "flow"
transport = "newreno"
from = "sender"
to = "receiver"
"""
_RADIO = """\
[[radio]]
name = "radio"
links = ["link"]
silence = "drop"
sensing = { off = "100 ms", on = "5 s" }
"""


@dataclass(frozen=True)
class Slider:
    """What is changed: `value` is where it stands in the still picture."""

    label: str
    unit: str
    value: float
    low: float
    high: float
    log: bool = False
    whole: bool = False

    def text(self) -> str:
        """Return the value with its unit."""
        return f"{self.value:g} {self.unit}".strip()

    def place(self) -> int:
        """Return where it stands, 0 to 100, as live.js has it."""
        if self.log:
            return round(100 * math.log(self.value / self.low) / math.log(self.high / self.low))
        return round(100 * (self.value - self.low) / (self.high - self.low))


@dataclass(frozen=True)
class Live:
    """One figure.

    Attributes:
        kind: What is computed, as live.js has it: `window` or `detection`.
        says: The sentence; `{name:digits}` stands for a number.
        x: The ends of the abscissa.
        y: The ends of the ordinate.
        labels: What the axes show.
        lines: Names of the lines.
        slider: What is changed.
        of: What the computation takes.
    """

    kind: str
    says: str
    x: tuple[float, float]
    y: tuple[float, float]
    labels: tuple[str, str]
    lines: tuple[str, ...]
    slider: Slider
    of: dict[str, Any]


#: Figures by page; each stands before the heading "Parameters".
FIGURES = {
    "radios/cycle.md": Live(
        "window",
        "With {value} of sensing after every 5 s, NewReno delivers {goodput:1} Mbit/s, {share} % of the "
        "link, with {rtos} timeouts in 40 s.",
        (0, 40),
        (0, 260),
        ("Time, s", "cwnd, segments"),
        ("cwnd of one flow",),
        Slider("Sensing time", "s", 0.1, 0.01, 2, log=True),
        {"text": _LINK.format(duration="40 s", queue=125, radio=_RADIO), "path": "radio.0.sensing.off"},
    ),
    "detectors/map.md": Live(
        "detection",
        "At {value} a sensing of 0.1 s finds {detection} % of the primary users that are ON, and {alarm} % "
        "of the sensings of a free channel report one.",
        (0, 0.5),
        (0, 1),
        ("Sensing time t_s, s", "Probability"),
        ("P_d'", "P_f'"),
        Slider("SNR of the PU", "dB", -22, -30, -12),
        {
            "detector": {"map": {}},
            "field": "snr",
            "sensing_s": [round(0.005 * step, 3) for step in range(1, 101)],
            "at": 0.1,
        },
    ),
    "congestion/aimd.md": Live(
        "window",
        "With a queue of {value} the window swings between {low} and {high} segments, and the flow uses "
        "{share} % of the link. "
        "A queue of one bandwidth-delay product (125 packets) keeps the link busy.",
        (0, 60),
        (0, 400),
        ("Time, s", "cwnd, segments"),
        ("cwnd of one flow",),
        Slider("Queue", "packets", 40, 5, 250, log=True, whole=True),
        {"text": _LINK.format(duration="60 s", queue=40, radio=""), "path": "topology.single_hop.link.queue"},
    ),
}

_STYLE = """<style>
.live {{ width: 100%; max-width: 45rem; margin: 1em 0; {light}
  --ink: var(--md-default-fg-color); --muted: var(--md-default-fg-color--light);
  --grid: var(--md-default-fg-color--lightest); --font: inherit; }}
[data-md-color-scheme=slate] .live {{ {dark} }}
.live svg {{ width: 100%; height: auto; }}
.live label {{ display: block; }} .live label[hidden] {{ display: none; }}
.live input {{ width: 100%; }} .live output {{ float: right; }}
.live figcaption {{ max-width: none; margin: .5em 0; }}
</style>"""


def fill(content: str, page: str, *, is_live: bool) -> str:
    """Put its figure into the HTML of a page; `is_live`: the site has the lab, whose engine moves it."""
    found = FIGURES.get(page)
    if found is None:
        return content
    made = figure(found)
    if is_live:
        script = posixpath.relpath("lab/live.js", posixpath.dirname(page) or ".")
        made += f'\n<script type="module" src="{script}"></script>'
    return re.sub(r'(<h2 id="parameters">)', lambda heading: f"{made}\n{heading[0]}", content, count=1)


@cache
def _style() -> str:
    css = report_page.template_text("page.css")
    light, _, rest = css.partition("@media screen and (prefers-color-scheme: dark)")
    colors = [re.findall(r"--series-\d: [^;]+;", part) for part in (light, rest)]
    return _STYLE.format(light=" ".join(colors[0]), dark=" ".join(colors[1]))


def figure(live: Live) -> str:
    """Return the still picture with its slider, which is hidden, and its sentence."""
    lines, numbers = computed(live)
    x, y = (Axis(Scale(*ends), label) for ends, label in zip((live.x, live.y), live.labels, strict=True))
    panel = Panel(x, y, 200)
    panel.add(*(Line(xs, ys, series(index)) for index, (xs, ys) in enumerate(lines)))
    legend = [Entry(name, "line", series(index)) for index, name in enumerate(live.lines)]
    label = f"{live.labels[1]} over {live.labels[0]}: {', '.join(live.lines)}"
    picture = svg.draw(Drawing(label, [[panel]], legend, width=620))
    about = {name: getattr(live, name) for name in ("kind", "says", "x", "y")}
    about |= {"slider": asdict(live.slider), **live.of}
    slider = live.slider
    return (
        f"{_style()}\n<figure class=\"live\" data-live='{html.escape(json.dumps(about))}'>{picture}\n"
        f"<label hidden>{slider.label} <output>{slider.text()}</output>"
        f'<input type="range" min="0" max="100" value="{slider.place()}"></label>\n'
        f"<figcaption>{html.escape(sentence(live, numbers))}</figcaption></figure>"
    )


def sentence(live: Live, numbers: dict[str, float]) -> str:
    """Return the sentence with its numbers."""

    def said(found: re.Match[str]) -> str:
        if found[1] == "value":
            return live.slider.text()
        return f"{numbers[found[1]]:.{found[2] or 0}f}"

    return re.sub(r"\{(\w+)(?::(\d))?\}", said, live.says)


def computed(live: Live) -> tuple[list[tuple[list[float], list[float]]], dict[str, float]]:
    """Return the lines of a figure and what its sentence says, as live.js computes them."""
    if live.kind == "detection":
        times = [*live.of["sensing_s"], live.of["at"]]
        found = sensing(times, detector="map", snr_db=live.slider.value)
        *curve, last = found
        xs = live.of["sensing_s"]
        lines = [(xs, [each.detection for each in curve]), (xs, [each.false_alarm for each in curve])]
        return lines, {"detection": 100 * last.detection, "alarm": 100 * last.false_alarm}
    scenario = Scenario.from_toml(live.of["text"]).set_text(live.of["path"], live.slider.text())
    result = run(scenario, trace="series")
    series = result.table("flow_series")
    times, windows = (series[name].to_pylist() for name in ("time_s", "cwnd_segments"))
    (flow,) = result.rows("flows")
    settled = [window for time, window in zip(times, windows, strict=True) if time > times[-1] / 3]
    return [(times, windows)], {
        "goodput": flow["goodput_bps"] / 1e6,
        "share": 100 * flow["efficiency"],
        "rtos": flow["rtos"],
        "low": min(settled),
        "high": max(settled),
    }
