"""How the claims of this study are tested over its settings, and told."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from cogtcp.statistics import mean_interval, paired_difference
from cogtcp.studies import Context, Curve, Table, ranges, verdicts
from cogtcp.studies.verdicts import Finding, Verdict, mean_text

from .measuring import Grid, run, scenario, settings, totals
from .settings import QUICK, SHOWN, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp.result import Trace
    from cogtcp.studies.exhibits import Style

    from .measuring import Cell, Measure
    from .settings import Point

    Judge = Callable[[Setting, Grid], dict[str, Finding]]
    Points = Callable[[Setting], Sequence[Point]]

LINES: tuple[Literal["line", "dashed", "dotted"], ...] = ("line", "dashed", "dotted")
"""Styles of the first three curves of a drawing."""


Tested: TypeAlias = ranges.Tested[Setting, Grid]


def examine(
    study: Context,
    points: Points,
    judge: Judge,
    *,
    measure: Measure = totals,
    trace: Trace = "summary",
    quick: Sequence[str] = QUICK,
    kept: Sequence[Setting] = (),
) -> Tested:
    """Run the points of each setting, and judge each.

    A setting that makes no difference to any of the points would count another twice: it is left out, unless
    it is one of those `kept`, where it changes what is computed from the runs.
    """
    wanted: dict[Setting, Sequence[Point]] = {}
    known: list[set[str]] = []
    for setting in settings(study, quick):
        chosen = points(setting)
        made = {scenario(study, setting, point).hash for point in chosen}
        if setting in kept or not any(made <= other for other in known):
            wanted[setting] = chosen
            known.append(made)
    grids = run(study, wanted, measure, trace)
    draws = f"{len(study.seeds)} seeds, each with its own PUs, sensing errors and backoffs."
    return ranges.Tested(
        grids, {setting: judge(setting, grid) for setting, grid in grids.items()}, SHOWN, draws
    )


class Part(NamedTuple):
    """One comparison of a claim that asks for several: values above a baseline, paired by seed."""

    values: Sequence[float]
    baseline: Sequence[float]
    where: str = ""


def above(parts: Sequence[Part]) -> Finding:
    """Test that all of `parts` hold; the finding is that of the least difference of those that decide.

    Differences are shares of the greater mean, so that 0 is equal and 1 is all. As in `verdicts.increasing`
    it differs if some part is shown to (Bonferroni over the parts).
    """
    findings = []
    for part in parts:
        # A run may have no such value, an RTT for instance.
        pairs = [
            pair for pair in zip(part.values, part.baseline, strict=True) if not any(map(math.isnan, pair))
        ]
        scale = max((statistics.fmean(side) for side in zip(*pairs, strict=True)), default=0.0) or 1.0
        values, baseline = [a / scale for a, _ in pairs], [b / scale for _, b in pairs]
        greater = paired_difference(values, baseline, 1 - 2 * verdicts.LEVEL)
        less = paired_difference(values, baseline, 1 - 2 * verdicts.LEVEL / len(parts))
        verdict: Verdict = "holds" if greater.low > 0 else "differs" if less.high < 0 else "unclear"
        shown = verdicts.greater(values, baseline, where=part.where)
        findings.append(replace(shown, verdict=verdict))
    joint = verdicts.combine([finding.verdict for finding in findings])
    deciding = [finding for finding in findings if finding.verdict == joint]
    return min(deciding, key=lambda finding: finding.estimate)


def over(values: Sequence[float], level: float, where: str = "") -> Finding:
    """Test that the mean of `values` is above a level; the estimate is that mean."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Finding("unclear", math.nan, math.nan, math.nan, "no value", where)
    own = mean_interval(known)
    found = verdicts.greater(known, [level] * len(known), where=where)
    return replace(found, estimate=own.mean, low=own.low, high=own.high)


def under(values: Sequence[float], level: float, where: str = "") -> Finding:
    """Test that the mean of `values` is below a level; the estimate is that mean."""
    turned = over([-value for value in values], -level, where)
    return replace(turned, estimate=-turned.estimate, low=-turned.high, high=-turned.low)


def curve(
    name: str,
    x: Sequence[float],
    cells: Sequence[Cell],
    key: str = "goodput_kbps",
    style: Style = "points",
) -> Curve:
    """Return the points of a curve with their intervals over the seeds."""
    return Curve.over_seeds(name, x, [cell.of(key) for cell in cells], style)


def listed(names: Sequence[str], none: str = "none") -> str:
    """Join names by commas."""
    return ", ".join(names) or none


def budget(cells: Mapping[str, Cell], reference_kbps: float, title: str, *, sensing: bool = False) -> Table:
    """Return where the time goes: silence, PUs on the channel, and what TCP makes of what is left.

    With `sensing` also how good that is, for cells that differ in it.
    """
    errors = ("missed_detections", "false_alarms") if sensing else ()
    return Table(
        title=title,
        header=[
            "",
            "goodput [kbit/s]",
            "silent [%]",
            "over a PU [%]",
            "free [%]",
            "used [% of free]",
            "copies [% of free]",
            *(("missed [%]", "false alarms [%]") if sensing else ()),
            "dropped [packets]",
            "timeouts [per min]",
            "spurious [%]",
            "RTT [ms]",
        ],
        rows=[
            [
                name,
                mean_text(cell.goodput),
                *(f"{100 * cell.mean(key):.0f}" for key in ("silent", "exposed", "clean")),
                f"{100 * used(cell, reference_kbps):.0f}",
                f"{100 * wasted(cell, reference_kbps):.0f}",
                *(f"{100 * cell.mean(key) / max(cell.mean('sensings'), 1):.0f}" for key in errors),
                f"{cell.mean('dropped'):.0f}",
                f"{cell.mean('rtos_per_min'):.1f}",
                f"{100 * cell.mean('spurious_rtos') / max(cell.mean('rtos'), 1e-9):.0f}",
                f"{cell.mean('rtt_ms'):.0f}",
            ]
            for name, cell in cells.items()
        ],
        caption=(
            "Silent: sensing or switching. Over a PU: open while a PU was ON on the channel. Free: neither. "
            f"Used: goodput over what an undisturbed channel carries ({reference_kbps:.0f} kbit/s) in the "
            "free time. Copies: packets retransmitted that had not been "
            f"lost.{' Missed, false alarms: of all sensings.' if sensing else ''}"
        ),
    )


def used(cell: Cell, reference_kbps: float) -> float:
    """Return the share of the free time that TCP uses."""
    return cell.mean("goodput_kbps") / (reference_kbps * max(cell.mean("clean"), 1e-9))


def wasted(cell: Cell, reference_kbps: float) -> float:
    """Return the share of the free time that goes into copies of what was not lost."""
    return cell.mean("needless_kbps") / (reference_kbps * max(cell.mean("clean"), 1e-9))
