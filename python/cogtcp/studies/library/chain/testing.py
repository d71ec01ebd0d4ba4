"""How the claims of this study are tested over its settings, and told."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cogtcp.studies import Context, Curve, ranges, verdicts

from .measuring import Grid, run, scenario, settings
from .settings import BASE, SHOWN, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp.studies.verdicts import Finding

    from .measuring import Cell
    from .settings import Point


LINES: tuple[Literal["line", "dashed", "dotted"], ...] = ("line", "dashed", "dotted")
"""Styles of the first three curves of a drawing."""


Tested: TypeAlias = ranges.Tested[Setting, Grid]


def test(
    study: Context,
    points: Sequence[Point],
    varied: Sequence[Point],
    judge: Callable[[Grid], dict[str, Finding]],
) -> Tested:
    """Run `points` at the base and `varied` elsewhere, and judge each setting."""
    wanted = {setting: points if setting is BASE else varied for setting in settings(study)}
    # What no point of this claim depends on would count the base twice.
    seed = study.seeds[0]
    base = [scenario(study, BASE, point, seed).hash for point in varied]
    for setting in list(wanted):
        if setting is not BASE and base == [scenario(study, setting, point, seed).hash for point in varied]:
            del wanted[setting]
    grids = run(study, wanted)
    draws = (
        f"{len(study.seeds)} seeds, each with its own phase of the radio, start of flow 2, round-trip time "
        "(within 5 %), channels and PUs."
    )
    return ranges.Tested(grids, {setting: judge(grid) for setting, grid in grids.items()}, SHOWN, draws)


def above(values: Sequence[float], baseline: Sequence[float], where: str = "") -> Finding:
    """Test `values` above `baseline`, and report their ratio less 1 rather than a difference in Mbit/s."""
    mean = statistics.fmean(baseline) or 1.0
    return verdicts.greater(
        [value / mean for value in values], [value / mean for value in baseline], where=where
    )


def all_above(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Finding:
    """Test each pair as `above`; the finding is that of the least difference, the verdict that of all."""
    findings = [above(values, baseline) for values, baseline in pairs]
    least = min(findings, key=lambda finding: finding.estimate)
    return replace(least, verdict=verdicts.combine([finding.verdict for finding in findings]))


def same(values: Sequence[float], baseline: Sequence[float], margin: float) -> Finding:
    """Test that `values` are those of `baseline` within a margin, paired by seed, as shares of its mean."""
    mean = statistics.fmean(baseline) or 1.0
    return verdicts.equivalent(
        [1 + (value - other) / mean for value, other in zip(values, baseline, strict=True)], 1.0, margin
    )


def curve(name: str, x: Sequence[float], cells: Sequence[Cell], key: str = "goodput_mbps") -> Curve:
    """Return the points of a curve with their intervals over the seeds."""
    return Curve.over_seeds(name, x, [cell.of(key) for cell in cells])


def ratio_above(values: Sequence[float], baseline: Sequence[float]) -> Finding:
    """Test that values / baseline is above 1; the estimate is that ratio."""
    ratios = [value / other for value, other in zip(values, baseline, strict=True)]
    finding = verdicts.greater(ratios, [1.0] * len(ratios))
    return replace(finding, estimate=finding.estimate + 1, low=finding.low + 1, high=finding.high + 1)


def binned(trace: Mapping[str, Any], key: str, samples: int) -> tuple[list[float], list[float]]:
    """Average a trace over so many samples."""
    x, y = trace["time_s"], trace[key]
    starts = range(0, min(len(x), len(y)) - samples + 1, samples)
    return (
        [statistics.fmean(x[i : i + samples]) for i in starts],
        [statistics.fmean(y[i : i + samples]) for i in starts],
    )
