"""Where the capacity went: a stacked bar for each transport, and the shares as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.model import airtime, budget
from cogtcp.showing.figure.compared import ROW, rows
from cogtcp.showing.figure.model import Axis, Bar, Drawing, Entry, Panel
from cogtcp.showing.figure.scale import Scale
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.model.result import Result

# Smaller shares are neither drawn nor listed.
_LEAST = 0.0001
# Smaller shares are too narrow to be seen in a bar: the legend leaves them out.
_LEAST_VISIBLE = 0.004
#: Flows of an ad hoc network that have a bar.
_MOST_FLOWS = 8


def of_airtime(result: Result) -> dict[str, Any] | None:
    """Return the same of the airtime around each flow's bottleneck in an ad hoc network; None without it."""
    found = airtime.of_run(result)[:_MOST_FLOWS]
    runs = {f"{each.flow}, {each.node}": each.shares for each in found}
    if not runs:
        return None
    said = "; ".join(map(airtime.told, found))
    return {
        "figure": _figure(runs, airtime.STATES, f"Where the airtime went: {said}"),
        "table": _table(runs, airtime.STATES, "State of the air"),
    }


def of_runs(runs: Mapping[str, Mapping[str, float]]) -> dict[str, Any] | None:
    """Return what the templates need of the shares by name of run or transport; None if there are none."""
    known = {name: shares for name, shares in runs.items() if shares}
    if not known:
        return None
    said = "; ".join(f"{name} {budget.told(shares)}".strip() for name, shares in known.items())
    return {
        "figure": _figure(known, budget.STATES, f"Where the link's time went: {said}"),
        "table": _table(known, budget.STATES, "State of the link"),
    }


def _figure(runs: Mapping[str, Mapping[str, float]], states: Sequence[budget.State], said: str) -> Drawing:
    shown = _shown(runs, states)
    ticks = [(share / 100, f"{share} %") for share in range(0, 101, 20)]
    panel = Panel(Axis(Scale(0, 1), ticks=ticks), rows(runs), ROW * len(runs))
    for row, (name, shares) in enumerate(runs.items()):
        at, up = 0.0, (row - 0.36, row + 0.36)
        for state in shown:
            share = shares[state.name]
            title = f"{name}: {share * 100:.1f} % {state.title}".removeprefix(": ")
            across = (at, at + share)
            # Paper below, so that the grid does not show through a faint bar.
            panel.add(Bar(across, up, "paper"))
            panel.add(Bar(across, up, state.color, state.opacity, title, f"{share * 100:.0f} %"))
            at += share
    visible = _shown(runs, states, _LEAST_VISIBLE)
    legend = [Entry(state.title, "block", state.color, opacity=state.opacity) for state in visible]
    return Drawing(said, [[panel]], legend, width=760, below=True)


def _table(runs: Mapping[str, Mapping[str, float]], states: Sequence[budget.State], heading: str) -> Table:
    return Table(
        [(heading, ""), *((name or "Share", "% of its time") for name in runs)],
        [
            [
                state.title[0].upper() + state.title[1:],
                *(f"{shares[state.name] * 100:.2f}" for shares in runs.values()),
            ]
            for state in _shown(runs, states)
        ],
    )


def _shown(
    runs: Mapping[str, Mapping[str, float]], states: Sequence[budget.State], least: float = _LEAST
) -> list[budget.State]:
    return [state for state in states if any(shares[state.name] >= least for shares in runs.values())]
