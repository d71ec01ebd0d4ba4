"""What a notebook shows of an object: the answer, a table, a small picture.

Each is a fragment that brings its colours along, under a class of its own, and needs no script: notebooks are
mailed, and shown by sites that run none.
"""

from __future__ import annotations

import math
import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from cogtcp.model import budget, headline
from cogtcp.model.metrics import BY_NAME, listed
from cogtcp.running.space import Range
from cogtcp.showing.figure.series import Series
from cogtcp.showing.figure.timeline import Timeline
from cogtcp.showing.report import bars, matters, page, svg
from cogtcp.showing.report import budget as stacked
from cogtcp.showing.report.surface import over_parameters, surface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.deciding.tuning.result import Tuning
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.compare import Comparison
    from cogtcp.running.sweeping.result import Sweep

_MOST_ROWS = 12


def _named(data: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the flows with their names: "f" and the number for those without."""
    return [
        (flow.get("name", f"f{number}"), flow) for number, flow in enumerate(data.get("flow", []), start=1)
    ]


def of_scenario(scenario: Scenario) -> str:
    """Return name, description, and the scenario itself to open."""
    data = scenario.to_dict()
    (topology,) = data["topology"]
    rows = [
        ("topology", topology.replace("_", " ")),
        ("duration", str(data["run"]["duration"])),
        ("seed", str(scenario.seed)),
        ("flows", ", ".join(f"{name} ({_transport(flow['transport'])})" for name, flow in _named(data))),
        ("radios", ", ".join(radio["name"] for radio in data.get("radio", [])) or "none"),
    ]
    return _fragment(
        f"<b>{escape(scenario.name)}</b>",
        f"<p>{escape(scenario.description)}</p>" if scenario.description else "",
        _table([], rows),
        "<details><summary>TOML, every default written out</summary>",
        f"<pre>{escape(scenario.to_toml())}</pre></details>",
    )


def of_run(result: Result) -> str:
    """Return the answer, the metrics, and the run over time."""
    shown = [
        metric
        for metric in listed(result.scenario)
        if matters(metric, [result.metrics.get(metric.name, math.nan)], result.count("flows"))
    ]
    rows = [(m.title, m.text(result.metrics[m.name], unit=True, single=True)) for m in shown]
    picture = ""
    if result.count("flow_series"):
        picture = svg.draw(Timeline.of({"": Series.of(result)}).figure())
    time = _budget({"": budget.of_run(result)})
    return _fragment(_answer(headline.of_run(result)), time, _table([], rows[:_MOST_ROWS]), picture)


def of_comparison(comparison: Comparison) -> str:
    """Return the answer, the means with their intervals, and the bars."""
    names = [name for name in comparison.transports if comparison.finished(name)]
    answer = _answer(headline.of_comparison(comparison))
    if not names:
        return _fragment(answer)
    flows = max(len(o.rows("flows")) for name in names for o in comparison.finished(name))
    rows = []
    for metric in comparison.metrics:
        intervals = [comparison.interval(name, metric.name) for name in names]
        if matters(metric, [interval.mean for interval in intervals], flows):
            title = f"{metric.title}, {metric.unit}" if metric.unit else metric.title
            rows.append((title, *(metric.with_half_width(interval) for interval in intervals)))
    time = _budget({name: budget.of_comparison(comparison, name) for name in names})
    return _fragment(answer, svg.draw(bars(comparison)), time, _table(["", *names], rows[:_MOST_ROWS]))


def _budget(runs: dict[str, dict[str, float]]) -> str:
    """Return where the link's time went."""
    found = stacked.of_runs(runs)
    return svg.draw(found["figure"]) if found else ""


def of_tuning(tuning: Tuning) -> str:
    """Return the answer, the best points, and where they are."""
    metric = tuning.objective.metric
    rows = [
        (final.name, *final.values.values(), metric.with_half_width(tuning.interval(final)))
        for final in tuning.finalists[:_MOST_ROWS]
    ]
    title = f"{metric.title}, {metric.unit}" if metric.unit else metric.title
    heading = ["", *(parameter.path for parameter in tuning.parameters), title]
    plane = len(tuning.parameters) == 2 and all(isinstance(p, Range) for p in tuning.parameters)
    picture = svg.draw((surface if plane else over_parameters)(tuning)) if tuning.trials else ""
    return _fragment(_answer(headline.of_tuning(tuning)), _table(heading, rows) if rows else "", picture)


def of_sweep(sweep: Sweep) -> str:
    """Return the answer, the points, and goodput over the first axis of numbers."""
    from cogtcp.showing.report import sweep as page

    points = sweep.own(sweep.summary).to_pylist()
    axes = [(axis.name, axis.unit, axis.numeric) for axis in sweep.plan.axes]
    goodput = BY_NAME["goodput_bps"]
    rows = []
    for row in points[:_MOST_ROWS]:
        names = ["transport", *sweep.axes]
        interval = sweep.interval(row["transport"], "goodput_bps", *(row[name] for name in sweep.axes))
        rows.append((*(f"{row[n]:g}" if isinstance(row[n], float) else str(row[n]) for n in names),
                     goodput.with_half_width(interval)))  # fmt: skip
    heading = ["transport", *(f"{n}, {unit}" if unit else n for n, unit, _ in axes), "Goodput, Mbit/s"]
    drawn = sweep.plan.sampling in ("random", "halton")
    pictures = page._over_axis(points, axes, [goodput], drawn)[:1]
    more = f"<p>{len(points) - len(rows)} more points: <code>.summary</code>.</p>"
    return _fragment(
        _answer(sweep.answer),
        *(svg.drawn(drawing) for drawing, _ in pictures),
        _table(heading, rows) if rows else "",
        more if len(points) > len(rows) else "",
    )


def _answer(text: str) -> str:
    return f'<p class="answer">{escape(text)}</p>'


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heading)
    body = "".join(
        "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for tag, cell in _tags(row)) + "</tr>"
        for row in rows
    )
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _tags(row: Sequence[str]) -> list[tuple[str, str]]:
    return [("td" if index else "th", cell) for index, cell in enumerate(row)]


def _transport(value: object) -> str:
    return value if isinstance(value, str) else ", ".join(value) if isinstance(value, dict) else str(value)


def _fragment(*parts: str) -> str:
    return f'<div class="cogtcp"><style>{_style()}</style>{"".join(parts)}</div>'


@cache
def _style() -> str:
    """Return the colours of pages, for the fragment alone; notebooks say in their own ways what is dark."""
    css = page.template_text("page.css")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    light = light.replace("color-scheme: light dark;", "")
    dark_hosts = (
        'body[data-jp-theme-light="false"] .cogtcp, body.vscode-dark .cogtcp, html[data-theme="dark"] .cogtcp'
    )
    return (
        f".cogtcp {{{light} color: var(--ink); max-width: 60rem; font-family: var(--font); }}"
        f"{dark_hosts} {{{dark}}}"
        ".cogtcp .answer { border-left: 3px solid var(--accent); padding-left: .8em; font-size: 1.05em; }"
        ".cogtcp table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5em 0; }"
        ".cogtcp td, .cogtcp th { text-align: right; padding: .15em .8em .15em 0; }"
        ".cogtcp td, .cogtcp th { color: inherit; background: none; }"
        ".cogtcp tbody th { text-align: left; font-weight: 400; }"
        ".cogtcp > svg { display: block; width: 100%; max-width: 48rem; height: auto; }"
        ".cogtcp pre { max-height: 20em; overflow: auto; }"
    )
