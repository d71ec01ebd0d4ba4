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
from .settings import BASE, FIG3_T_P, VEGAS, Point
from .testing import budget, listed, used, wasted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T_S = (0.025, 0.1, 0.2, 0.3, 0.6, 1.0)
QUICK_T_S = (0.025, 0.6)
BOTH = ("newreno", VEGAS)
NO_LIMIT = ("infinite", "infinite")
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
                header=["changed for both", *(f"t_s {t:g} s" for t in self.t_s), "mean"],
                rows=[
                    [
                        name,
                        *(format_interval(lead.at[t], percent=True) for t in self.t_s),
                        format_interval(lead.overall, percent=True),
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
        lead = self.leads[AS_IT_IS].overall
        short, long = self.t_s[0], self.t_s[-1]
        told = (
            f"Over these t_s Vegas has {format_interval(lead, percent=True)} over NewReno. A window of two "
            "keeps the hop busy; the rest of it waits in the interface queue, with Vegas for a mean RTT of "
            f"{self.cell(VEGAS, short).mean('rtt_ms'):.0f} ms and with NewReno for "
            f"{self.cell('newreno', short).mean('rtt_ms'):.0f} ms at {short:g} s. What waits is what there "
            f"is to lose. At {short:g} s a run loses {self.cell(VEGAS, short).mean('dropped'):.0f} packets "
            f"of Vegas and {self.cell('newreno', short).mean('dropped'):.0f} of NewReno to PUs, and Vegas "
            f"uses {used(self.cell(VEGAS, short), reference_kbps):.0%} of the free time, NewReno "
            f"{used(self.cell('newreno', short), reference_kbps):.0%}. At {long:g} s most timeouts are too "
            f"early ({_spurious(self.cell(VEGAS, long)):.0%} and "
            f"{_spurious(self.cell('newreno', long)):.0%}), and the copies of what was not lost take "
            f"{wasted(self.cell(VEGAS, long), reference_kbps):.0%} of the free time of Vegas and "
            f"{wasted(self.cell('newreno', long), reference_kbps):.0%} of NewReno's. "
        )
        others = {name: found.overall for name, found in self.leads.items() if name != AS_IT_IS}

        def shown(chosen: Mapping[str, Interval]) -> str:
            return listed([f"{name} ({format_interval(i, percent=True)})" for name, i in chosen.items()])

        if lead.low > 0:
            stays = {name: i for name, i in others.items() if i.low > 0}
            gone = {name: i for name, i in others.items() if name not in stays}
            told += f"The lead is no longer shown with: {shown(gone)}. It is with: {shown(stays)}."
        else:
            told += f"With one thing changed for both the lead is: {shown(others)}."
        return told

    def facts(self, reference_kbps: float) -> dict[str, Any]:
        """Return numbers for the conclusions."""
        long = self.t_s[-1]
        return {
            "lead": self.leads[AS_IT_IS].overall.mean,
            "lead_low": self.leads[AS_IT_IS].overall.low,
            "leads": {name: found.overall.mean for name, found in self.leads.items()},
            "rtt": {v: self.cell(v, self.t_s[0]).mean("rtt_ms") for v in BOTH},
            "dropped": {v: self.cell(v, self.t_s[0]).mean("dropped") for v in BOTH},
            "wasted": {v: wasted(self.cell(v, long), reference_kbps) for v in BOTH},
            "long": long,
        }


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
