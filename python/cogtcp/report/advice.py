"""The report of advice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.advising.telling import is_flat
from cogtcp.figure.compared import rows
from cogtcp.figure.model import Axis, Dots, Drawing, Panel, Whiskers
from cogtcp.figure.scale import span
from cogtcp.report import budget, page
from cogtcp.report.tables import Table

if TYPE_CHECKING:
    from cogtcp.advising.advice import Advice, Candidate

_ROW = 28.0
#: Candidates that have a bar in the budget.
_BUDGETS = 4


def advice_report(advice: Advice, *, command: str | None = None) -> str:
    """Return the report of advice."""
    shares = {candidate.name: advice.budget(candidate) for candidate in advice.ranked()[:_BUDGETS]}
    return page.render(
        "advice.html.j2",
        name=advice.scenario.name,
        description=advice.scenario.description,
        answer=advice.text,
        interrupted=advice.interrupted,
        objective=advice.metric,
        more=advice.wanted.objective.sign > 0,
        margin=f"{advice.margin * 100:g} %",
        constraints=[constraint.describe() for constraint in advice.constraints],
        uncertain=list(advice.uncertain.items()),
        figure=_figure(advice),
        candidates=candidates_table(advice),
        budget=budget.of_runs(shares),
        around=_around(advice),
        origin=page.origin(command, advice.provenance, Runs=str(advice.made)),
        scenario=advice.scenario.to_toml(),
    )


def _figure(advice: Advice) -> Drawing:
    """Return the candidates' means with their intervals, the best on top."""
    metric, shown = advice.metric, advice.ranked()
    intervals = [advice.interval(candidate) for candidate in shown]
    names = [candidate.name for candidate in shown]
    said = ", ".join(f"{n} {metric.text(i.mean, unit=True)}" for n, i in zip(names, intervals, strict=True))
    ends = [v * metric.scale for i in intervals for v in (i.mean, i.low, i.high) if math.isfinite(v)]
    across = span(ends or [0.0, 1.0], zero=not advice.wanted.additive, margin=0.02)
    panel = Panel(Axis(across, metric.title, metric.unit), rows(names), _ROW * max(1, len(shown)))
    alive = set(advice.race.alive) if advice.race is not None else set()
    for row, (name, interval) in enumerate(zip(names, intervals, strict=True)):
        color = "accent" if name in alive else "muted"
        if math.isfinite(interval.low) and interval.low != interval.high:
            low, high = interval.low * metric.scale, interval.high * metric.scale
            panel.add(Whiskers(row, low, high, color, lying=True))
        panel.add(Dots([interval.mean * metric.scale], [row], color, size=3.5))
    return Drawing(f"{metric.title} by candidate: {said}", [[panel]], width=760)


def candidates_table(advice: Advice) -> Table:
    """Return the candidates, the best first, and why the others left the race."""
    metric = advice.metric
    unit = metric.unit if advice.wanted.additive else "%"

    def row(candidate: Candidate) -> list[str]:
        race = advice.race
        left = race.left.get(candidate.name) if race is not None else None
        gain = advice.gain(candidate)
        scale = 1.0 if advice.wanted.additive else 100.0
        behind = "" if candidate is advice.winner or math.isnan(gain.mean) else f"{gain.mean * scale:.1f}"
        if behind and gain.n > 1 and math.isfinite(gain.low) and math.isfinite(gain.high):
            behind += f" ({gain.low * scale:.1f} to {gain.high * scale:.1f})"
        interval = advice.interval(candidate)
        fate = "in the race" if left is None else f"beaten by {left.by} after {left.at} seeds"
        return [candidate.name, metric.with_half_width(interval), behind, str(interval.n), fate]

    headings = [
        ("Candidate", ""),
        (metric.title, metric.unit),
        ("Winner is better by", unit),
        ("Seeds", ""),
        ("Race", ""),
    ]
    lines = [row(candidate) for candidate in advice.ranked()]
    refused = advice.race.left.items() if advice.race is not None else []
    lines += [
        [name, "", "", str(left.at), f"{left.why}: {left.by}"]
        for name, left in refused
        if left.why != "worse"
    ]
    return Table(headings, lines)


def _around(advice: Advice) -> Table:
    lines = []
    for probe in advice.probes:
        reach = [f"{factor:g}" for factor in sorted(probe.looked)]
        turn = (
            f"{probe.wins} from {probe.at} (stands at {probe.stands or probe.value})"
            if probe.wins
            else "the answer stands"
        )
        tune = ("no" if is_flat(probe, advice) else "yes") if probe.chosen else ""
        lines.append([probe.path, probe.value, ", ".join(reach), turn, tune])
    return Table(
        [("Field", ""), ("Value", ""), ("Tested, times the value", ""), ("Winner", ""), ("Worth tuning", "")],
        lines,
    )
