"""Where the capacity went: a stacked bar for each transport, and the shares as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp import airtime, budget
from cogtcp.report import still
from cogtcp.report.scale import Scale
from cogtcp.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.result import Result

_WIDTH = 760.0
_ROW = 34.0
# Smaller shares are neither drawn nor listed.
_LEAST = 0.0001
# Bars narrower than this, in units of the sheet, have no number in them.
_LEAST_WIDTH = 34.0
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
        "figure": still.both(lambda: _figure(runs, airtime.STATES, f"Where the airtime went: {said}")),
        "table": _table(runs, airtime.STATES, "State of the air"),
    }


def of_runs(runs: Mapping[str, Mapping[str, float]], *, page: bool = True) -> dict[str, Any] | None:
    """Return what the templates need of the shares by name of run or transport; None if there are none.

    For a `page` the figure is there for phones too.
    """
    known = {name: shares for name, shares in runs.items() if shares}
    if not known:
        return None
    return {"figure": still.both(lambda: figure(known)) if page else figure(known), "table": table(known)}


def figure(runs: Mapping[str, Mapping[str, float]]) -> str:
    """Return the shares of each as a stacked bar, as SVG."""
    said = "; ".join(f"{name} {budget.told(shares)}".strip() for name, shares in runs.items())
    return _figure(runs, budget.STATES, f"Where the link's time went: {said}")


def _figure(runs: Mapping[str, Mapping[str, float]], states: Sequence[budget.State], said: str) -> str:
    shown = [state for state in states if any(shares[state.name] >= _LEAST for shares in runs.values())]
    left = 14 + max(still.text_width(name) for name in runs) if any(runs) else 12.0
    width = still.wide(_WIDTH)
    wide, height = width - left - 20, _ROW * len(runs)
    sheet = still.Sheet(width, 0, said)
    panel = sheet.panel(left, 6, wide, height, Scale(0, 1), Scale(len(runs) - 0.5, -0.5))
    step = 20 if wide > 300 else 50
    ticks = [(share / 100, f"{share} %") for share in range(0, 101, step)]
    panel.axes(x_ticks=ticks, y_ticks=list(enumerate(runs)), grid="x")
    for row, (name, shares) in enumerate(runs.items()):
        at = 0.0
        for state in shown:
            share = shares[state.name]
            title = f"{name}: {_percent(share)} {state.title}".removeprefix(": ")
            # Paper below, so that the grid does not show through a faint bar.
            panel.bar((at, at + share), (row - 0.36, row + 0.36), color="paper")
            panel.bar(
                (at, at + share),
                (row - 0.36, row + 0.36),
                color=state.color,
                opacity=state.opacity,
                title=title,
            )
            if share * wide >= _LEAST_WIDTH:
                text = f"{share * 100:.0f} %"
                panel.text(at + share / 2, row, text, size=11.5, anchor="middle", middle=True, halo=True)
            at += share
    sheet.height = sheet.legend(2, height + 30, [(_sign(state), state.title) for state in shown], width - 4)
    return sheet.svg()


def table(runs: Mapping[str, Mapping[str, float]]) -> Table:
    """Return the shares in percent: one row per state, one column per run."""
    return _table(runs, budget.STATES, "State of the link")


def _table(runs: Mapping[str, Mapping[str, float]], states: Sequence[budget.State], heading: str) -> Table:
    shown = [state for state in states if any(shares[state.name] >= _LEAST for shares in runs.values())]
    return Table(
        [(heading, ""), *((name or "Share", "% of its time") for name in runs)],
        [
            [
                state.title[0].upper() + state.title[1:],
                *(f"{shares[state.name] * 100:.2f}" for shares in runs.values()),
            ]
            for state in shown
        ],
    )


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _sign(state: budget.State) -> str:
    return f'<rect x="3" width="18" height="12" fill="var(--{state.color})" opacity="{state.opacity:g}"/>'
