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
    from collections.abc import Callable, Mapping, Sequence

T_S = (0.025, 0.1, 0.2, 0.3, 0.6, 1.0)
QUICK_T_S = (0.025, 0.6)
BOTH = ("newreno", VEGAS)
AS_IT_IS = "as it is"
SLOW_TIMER = "least RTO 1 s"
F_RTO = "F-RTO"
CHANGES: dict[str, dict[str, Point]] = {
    AS_IT_IS: {},
    "window of at most 4 segments": dict.fromkeys(BOTH, Point(window=4)),
    "12 to 14 segments wait with Vegas": {
        VEGAS: Point(parameters=(("alpha", 12.0), ("beta", 14.0), ("gamma", 12.0)))
    },
    F_RTO: dict.fromkeys(BOTH, Point(f_rto=True)),
    SLOW_TIMER: dict.fromkeys(BOTH, Point(min_rto="1 s")),
    "frames retried without limit": dict.fromkeys(BOTH, Point(retry_limits=NO_LIMIT)),
    "F-RTO, and retried without limit": dict.fromkeys(BOTH, Point(retry_limits=NO_LIMIT, f_rto=True)),
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

    def ahead(self, change: str = AS_IT_IS) -> list[float]:
        """Return the t_s at which Vegas is shown to be above NewReno."""
        return [t for t in self.t_s if self.leads[change].at[t].low > 0]

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
        below = [f"{t:g}" for t in self.t_s if lead.at[t].high < 0]

        def both(tell: Callable[[Cell], str], t_s: float, change: str = AS_IT_IS) -> str:
            return " and ".join(tell(self.cell(v, t_s, change)) for v in BOTH)

        def use(cell: Cell) -> str:
            return f"{used(cell, reference_kbps):.0%}"

        def copies(cell: Cell) -> str:
            return f"{wasted(cell, reference_kbps):.0%}"

        told = (
            f"Vegas has {format_interval(lead.overall, percent=True)} over NewReno on average over these "
            f"t_s. It is shown to be above NewReno at t_s {_listed(self.ahead())} s and below at "
            f"{listed(below)}; with a least RTO of 1 s above at {_listed(self.ahead(SLOW_TIMER))} s. A "
            "window of two keeps the hop busy, the rest of it waits in the interface queue. NewReno and "
            f"Vegas have a mean RTT of {both(_rtt, short)} ms at {short:g} s. At {long:g} s "
            f"{both(_spurious, long)} of their timeouts come while nothing is lost, after a silence that "
            "outlasts the timer, and what is in flight is sent again: copies of what was not lost take "
            f"{both(copies, long)} of the free time, of which they use {both(use, long)}; with F-RTO, which "
            f"is there to prevent that, {both(copies, long, F_RTO)}, and the lead of Vegas at {long:g} s is "
            f"{format_interval(self.leads[F_RTO].at[long], percent=True)} instead of "
            f"{format_interval(lead.at[long], percent=True)}. At {short:g} s PUs destroy "
            f"{both(_dropped, short)} packets in a run, there are {both(_timeouts, short)} timeouts a "
            f"minute, and the use of the free time is {both(use, short)}. "
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
            "ahead": self.ahead(),
            "ahead_slow": self.ahead(SLOW_TIMER),
            "leads": {name: found.overall.mean for name, found in self.leads.items()},
            "wasted": {v: wasted(self.cell(v, long), reference_kbps) for v in BOTH},
            "long": long,
        }


def _percent(interval: Interval) -> str:
    mean, low, high = (f"{100 * value:.1f}" for value in (interval.mean, interval.low, interval.high))
    return f"{mean} [{low}, {high}]"


def _listed(t_s: Sequence[float]) -> str:
    return listed([f"{t:g}" for t in t_s], "no")


def _rtt(cell: Cell) -> str:
    return f"{cell.mean('rtt_ms'):.0f}"


def _spurious(cell: Cell) -> str:
    return f"{cell.mean('spurious_rtos') / max(cell.mean('rtos'), 1e-9):.0%}"


def _dropped(cell: Cell) -> str:
    return f"{cell.mean('dropped'):.0f}"


def _timeouts(cell: Cell) -> str:
    return f"{cell.mean('rtos_per_min'):.0f}"


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
