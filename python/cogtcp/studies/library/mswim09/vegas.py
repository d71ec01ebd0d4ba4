"""Why Vegas and NewReno come in the order they do: one thing changed at a time."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp.statistics import Interval, mean_interval
from cogtcp.studies import Context, Table
from cogtcp.studies.verdicts import format_interval

from .measuring import Cell, run
from .settings import BASE, FIG3_T_P, NO_LIMIT, VEGAS, Point
from .testing import budget, listed, used, wasted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T_S = (0.025, 0.1, 0.2, 0.3, 0.6, 1.0)
QUICK_T_S = (0.025, 0.6)
BOTH = ("newreno", VEGAS)
AS_IT_IS = "as it is"
CHANGES: dict[str, dict[str, Point]] = {
    AS_IT_IS: {},
    "window of at most 4 segments": dict.fromkeys(BOTH, Point(window=4)),
    "12 to 14 segments wait with Vegas": {
        VEGAS: Point(parameters=(("alpha", 12.0), ("beta", 14.0), ("gamma", 12.0)))
    },
    "F-RTO": dict.fromkeys(BOTH, Point(f_rto=True)),
    "least RTO 1 s": dict.fromkeys(BOTH, Point(min_rto="1 s")),
    "frames retried without limit": dict.fromkeys(BOTH, Point(retry_limits=NO_LIMIT)),
    "both of these: F-RTO, no limit": dict.fromkeys(BOTH, Point(retry_limits=NO_LIMIT, f_rto=True)),
    "no sensing errors": dict.fromkeys(BOTH, Point(perfect=True)),
}
"""What is changed, for Vegas and NewReno alike unless the name says otherwise."""


@dataclass(frozen=True)
class Lead:
    """How far Vegas is above NewReno, as a share of NewReno's goodput: at each t_s, and over all."""

    at: Mapping[float, Interval]
    overall: Interval


@dataclass(frozen=True)
class Comparison:
    """Vegas against NewReno under each change."""

    cells: Mapping[tuple[str, str, float], Cell]
    leads: Mapping[str, Lead]
    t_s: Sequence[float]

    def cell(self, variant: str, t_s: float, change: str = AS_IT_IS) -> Cell:
        """Return what was measured."""
        return self.cells[change, variant, t_s]

    def tables(self, reference_kbps: float) -> list[Table]:
        """Return what each change does, and where the time of both goes."""
        names = {"newreno": "NewReno", VEGAS: "Vegas"}
        return [
            Table(
                title="Vegas above NewReno, with one thing changed",
                header=["changed for both", *(f"t_s {t:g} s [%]" for t in self.t_s), "mean [%]"],
                rows=[
                    [
                        name,
                        *(_percent(lead.at[t]) for t in self.t_s),
                        _percent(lead.overall),
                    ]
                    for name, lead in self.leads.items()
                ],
                caption="Lead of Vegas and 95 % interval, paired by seed, as shares of NewReno's goodput.",
            ),
            budget(
                {f"{names[v]}, t_s {t:g} s": self.cell(v, t) for t in self.t_s for v in BOTH},
                reference_kbps,
                "Where the time of both goes",
            ),
        ]

    def why(self, reference_kbps: float) -> str:
        """Say what the lead of Vegas comes from, as far as the changes show it."""
        lead = self.leads[AS_IT_IS]
        short, long = self.t_s[0], self.t_s[-1]
        where = [t for t in self.t_s if lead.at[t].low > 0]
        told = (
            f"Vegas has {format_interval(lead.overall, percent=True)} over NewReno on average over these "
            f"t_s; above NewReno it is shown to be at t_s {listed([f'{t:g}' for t in where])} s, below at "
            f"{listed([f'{t:g}' for t in self.t_s if lead.at[t].high < 0])}. A window of two keeps the hop "
            "busy, the rest of it waits in the interface queue: the mean RTT is "
            f"{self.cell(VEGAS, short).mean('rtt_ms'):.0f} ms with Vegas and "
            f"{self.cell('newreno', short).mean('rtt_ms'):.0f} ms with NewReno at {short:g} s. At {long:g} s "
            f"{_spurious(self.cell('newreno', long)):.0%} of NewReno's timeouts and "
            f"{_spurious(self.cell(VEGAS, long)):.0%} of Vegas's come while nothing is lost, because a "
            "silence outlasts the timer. What is in flight is then sent again: copies of what was not lost "
            f"take {wasted(self.cell('newreno', long), reference_kbps):.0%} of the free time of NewReno and "
            f"{wasted(self.cell(VEGAS, long), reference_kbps):.0%} of Vegas's. At {short:g} s PUs destroy "
            f"{self.cell('newreno', short).mean('dropped'):.0f} packets of NewReno and "
            f"{self.cell(VEGAS, short).mean('dropped'):.0f} of Vegas in a run, and the use of the free time "
            f"is {used(self.cell('newreno', short), reference_kbps):.0%} and "
            f"{used(self.cell(VEGAS, short), reference_kbps):.0%}: Vegas times out more often for it "
            f"({self.cell(VEGAS, short).mean('rtos_per_min'):.0f} against "
            f"{self.cell('newreno', short).mean('rtos_per_min'):.0f} a minute), which a least RTO of 0.2 s "
            "makes cheap. "
        )
        others = {name: found.overall for name, found in self.leads.items() if name != AS_IT_IS}

        def shown(chosen: Mapping[str, Interval]) -> str:
            return listed([f"{name} ({format_interval(i, percent=True)})" for name, i in chosen.items()])

        ahead = {name: i for name, i in others.items() if i.low > 0}
        behind = {name: i for name, i in others.items() if i.high < 0}
        rest = {name: i for name, i in others.items() if name not in ahead and name not in behind}
        told += f"With one thing changed Vegas stays ahead on average: {shown(ahead)}. "
        told += f"It falls behind: {shown(behind)}."
        return f"{told} Neither is shown: {shown(rest)}." if rest else told

    def facts(self, reference_kbps: float) -> dict[str, Any]:
        """Return numbers for the conclusions."""
        long = self.t_s[-1]
        return {
            "lead": self.leads[AS_IT_IS].overall.mean,
            "ahead": [t for t in self.t_s if self.leads[AS_IT_IS].at[t].low > 0],
            "leads": {name: found.overall.mean for name, found in self.leads.items()},
            "wasted": {v: wasted(self.cell(v, long), reference_kbps) for v in BOTH},
            "long": long,
        }


def _percent(interval: Interval) -> str:
    mean, low, high = (f"{100 * value:.1f}" for value in (interval.mean, interval.low, interval.high))
    return f"{mean} [{low}, {high}]"


def _spurious(cell: Cell) -> float:
    return cell.mean("spurious_rtos") / max(cell.mean("rtos"), 1e-9)


def against_newreno(study: Context) -> Comparison:
    """Run Vegas and NewReno under each change, at T_p 0.6 s."""
    t_s = QUICK_T_S if study.quick else T_S
    points = {
        (name, v, t): replace(changed.get(v, Point()), transport=v, t_s=t, t_p=FIG3_T_P)
        for (name, changed), v, t in itertools.product(CHANGES.items(), BOTH, t_s)
    }
    grid = run(study, {BASE: list(points.values())})[BASE]
    cells = {key: grid[point] for key, point in points.items()}
    return Comparison(cells, {name: _lead(cells, name, t_s) for name in CHANGES}, t_s)


def _lead(cells: Mapping[tuple[str, str, float], Cell], name: str, t_s: Sequence[float]) -> Lead:
    shares = {}
    for t in t_s:
        vegas, newreno = cells[name, VEGAS, t].goodput, cells[name, "newreno", t].goodput
        mean = statistics.fmean(newreno) or 1.0
        shares[t] = [(v - n) / mean for v, n in zip(vegas, newreno, strict=True)]
    overall = [statistics.fmean(seed) for seed in zip(*shares.values(), strict=True)]
    return Lead({t: mean_interval(values) for t, values in shares.items()}, mean_interval(overall))
