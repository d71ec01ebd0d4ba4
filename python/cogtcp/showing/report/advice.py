"""The report of advice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.deciding.advising.telling import is_equal, is_flat, pretty
from cogtcp.showing.figure.compared import rows
from cogtcp.showing.figure.model import Axis, Dots, Drawing, Panel, Whiskers
from cogtcp.showing.figure.scale import span
from cogtcp.showing.report import budget, page
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from cogtcp.deciding.advising.advice import Advice, Candidate

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
        doubt=advice.scenario.doubt,
        objective=advice.metric,
        more=advice.wanted.objective.sign > 0,
        margin=f"{advice.margin * 100:g} %",
        constraints=[constraint.describe() for constraint in advice.constraints],
        uncertain=list(advice.uncertain.items()),
        turns=_turns(advice),
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
    """Return the candidates, the best first, against the leader, and why others left the race.

    The interval of a gain is the interval of the tests that decide: jointly 95 %.
    """
    metric, leader = advice.metric, advice.leader
    unit = metric.unit if advice.wanted.additive else "%"
    scale, digits = (1.0, 2) if advice.wanted.additive else (100.0, 1)

    def row(candidate: Candidate) -> list[str]:
        against = ""
        if leader is not None and candidate is not leader:
            gain = advice.gain(leader, candidate)
            if not math.isnan(gain.mean):
                against = f"{gain.mean * scale:+.{digits}f}"
            if against and gain.n > 1:
                low, high = (
                    f"{end * scale:.{digits}f}" if math.isfinite(end) else "–"
                    for end in (gain.low, gain.high)
                )
                against += f" ({low} to {high})"
        interval = advice.interval(candidate)
        name = candidate.name + (" (today)" if candidate.as_it_is and candidate.name != "as it is" else "")
        return [name, metric.with_half_width(interval), against, str(interval.n), _fate(advice, candidate)]

    headings = [
        ("Candidate", ""),
        (metric.title, metric.unit),
        (f"Against {leader.name}" if leader is not None else "Against the leader", unit),
        ("Seeds", ""),
        ("Result", ""),
    ]
    lines = [row(candidate) for candidate in advice.ranked()]
    refused = advice.race.left.items() if advice.race is not None else []
    lines += [
        [name, "", "", str(left.at), f"{left.why}: {left.by}"]
        for name, left in refused
        if left.why in ("failed", "breaks")
    ]
    return Table(headings, lines)


def _fate(advice: Advice, candidate: Candidate) -> str:
    """Return the result of a candidate in the race."""
    race = advice.race
    left = race.left.get(candidate.name) if race is not None else None
    if left is not None:
        return f"worse than {left.by}" if left.why == "worse" else f"not better than {left.by}"
    if candidate is advice.winner:
        return "keep" if candidate.as_it_is else "run"
    if advice.winner is not None:
        if candidate.as_it_is:
            return "today's"
        return "within the margin" if is_equal(advice, candidate) else f"not better than {advice.winner.name}"
    return "undecided"


def _turns(advice: Advice) -> Table:
    lines = [
        [turn.path, turn.known, turn.wins, f"{turn.side} {pretty(turn.at)}", f"{turn.share * 100:.0f}"]
        for turn in advice.turns
    ]
    return Table(
        [("Input", ""), ("Known as", ""), ("Winner", ""), ("Where", ""), ("Share of the range", "%")], lines
    )


def _around(advice: Advice) -> Table:
    lines = []
    for probe in advice.probes:
        reach = [f"{factor:g}" for factor in sorted(probe.looked)]
        turn = (
            f"{probe.wins} from {pretty(probe.at)} (stands at {pretty(probe.stands or probe.value)})"
            if probe.wins
            else "the answer stands"
        )
        tune = ("no" if is_flat(probe, advice) else "yes") if probe.chosen else ""
        lines.append([probe.path, pretty(probe.value), ", ".join(reach), turn, tune])
    return Table(
        [("Field", ""), ("Value", ""), ("Tested, times the value", ""), ("Winner", ""), ("Worth tuning", "")],
        lines,
    )
