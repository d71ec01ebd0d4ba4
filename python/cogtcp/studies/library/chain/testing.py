"""A claim over the range of what the paper leaves unsaid: its parts, its verdict, and how it is told."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from cogtcp.statistics import mean_interval
from cogtcp.studies import Context, Curve, Measured, Table, verdicts
from cogtcp.studies.verdicts import format_interval

from .measuring import Grid, run, scenario, settings
from .settings import BASE, SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp.studies import Figure
    from cogtcp.studies.verdicts import Finding, Verdict

    from .measuring import Cell
    from .settings import Point, Setting


LINES: tuple[Literal["line", "dashed", "dotted"], ...] = ("line", "dashed", "dotted")
"""Styles of the first three curves of a drawing."""


@dataclass(frozen=True)
class Tested:
    """The parts of a claim under every setting."""

    grids: dict[Setting, Grid]
    parts: dict[Setting, dict[str, Finding]] = field(default_factory=dict)

    @property
    def in_range(self) -> list[Setting]:
        """Settings that the verdict is about."""
        return [setting for setting in self.grids if setting not in SHOWN]

    def verdict_at(self, setting: Setting) -> Verdict:
        """Return what the claim comes to under a setting: all of its parts must hold."""
        return verdicts.combine([finding.verdict for finding in self.parts[setting].values()])

    @property
    def verdict(self) -> Verdict:
        """The verdict over the range."""
        return verdicts.over_range([self.verdict_at(setting) for setting in self.in_range])

    def holding(self, part: str) -> int:
        """Count the settings of the range in which a part holds."""
        return sum(self.parts[setting][part].verdict == "holds" for setting in self.in_range)

    def contradicted(self, part: str) -> int:
        """Count the settings of the range in which a part differs."""
        return sum(self.parts[setting][part].verdict == "differs" for setting in self.in_range)

    @property
    def weakest(self) -> Finding:
        """The part that decides at the base: the first that differs, else that is unclear, else the first."""
        parts = list(self.parts[BASE].values())
        ranked = ("differs", "unclear", "holds")
        return min(parts, key=lambda finding: ranked.index(finding.verdict))

    def spread(self) -> str:
        """Say at how many settings of the range each part came out how; name the few exceptions."""
        told = []
        for part in self.parts[BASE]:
            holding, contradicted = self.holding(part), self.contradicted(part)
            text = f"{part}: holds at {holding}, differs at {contradicted} of {len(self.in_range)}"
            most = "differs" if contradicted > holding else "holds"
            others = [setting.name for setting in self.in_range if self.parts[setting][part].verdict != most]
            if 0 < len(others) <= len(self.in_range) // 3:
                text += f" (not: {', '.join(others)})"
            told.append(text)
        return "; ".join(told)

    def table(self) -> Table:
        """Return the sensitivity to what the paper leaves unsaid."""
        parts = list(self.parts[BASE])
        return Table(
            title="What the paper leaves unsaid",
            header=["setting", "counts", *parts, "all"],
            rows=[
                [
                    setting.name,
                    "verdict" if setting in self.in_range else "shown",
                    *(_short(self.parts[setting][part]) for part in parts),
                    self.verdict_at(setting),
                ]
                for setting in self.grids
            ],
            caption=(
                "Mean over the seeds and 95 % interval of what each part tests. The verdict asks for the "
                "same answer at every setting marked verdict."
            ),
        )


def _short(finding: Finding) -> str:
    interval = f"{finding.estimate:.2f}"
    if not math.isnan(finding.low):
        interval += f" [{finding.low:.2f}, {finding.high:.2f}]"
    return f"{interval} {finding.verdict}"


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
    return Tested(grids, {setting: judge(grid) for setting, grid in grids.items()})


def above(values: Sequence[float], baseline: Sequence[float], where: str = "") -> Finding:
    """Test `values` above `baseline`, and report their ratio less 1 rather than a difference in Mb/s."""
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


def measured(
    study: Context,
    tested: Tested,
    *,
    measured: str,
    test: str,
    why: str,
    figures: Sequence[Figure] = (),
    tables: Sequence[Table] = (),
    facts: Mapping[str, Any] | None = None,
) -> Measured:
    """Put a row of the table together; its interval is that of the weakest part at the base."""
    shown = tested.weakest
    return Measured(
        verdict=tested.verdict,
        measured=measured,
        ci=(shown.low, shown.high),
        test=(
            f"{test} All parts must hold, with the same answer at each of {len(tested.in_range)} settings of "
            f"what the paper leaves unsaid. {len(study.seeds)} seeds, each with its own phase of the radio, "
            "start of flow 2, round-trip time (within 5 %), channels and PUs. The interval is that of the "
            "part that decides at the base."
        ),
        why=f"{why.rstrip()} Over the range: {tested.spread()}.",
        figures=figures,
        tables=[*tables, tested.table()],
        facts={"base": tested.verdict_at(BASE), **(facts or {})},
        settings={setting.name: tested.verdict_at(setting) for setting in tested.in_range},
    )


def curve(name: str, x: Sequence[float], cells: Sequence[Cell], key: str = "goodput_mbps") -> Curve:
    """Return the points of a curve with their intervals over the seeds."""
    intervals = [mean_interval(cell.of(key)) for cell in cells]
    return Curve(
        name,
        x,
        [interval.mean for interval in intervals],
        [interval.low for interval in intervals],
        [interval.high for interval in intervals],
    )


def sentences(study: Context, figure: str) -> list[str]:
    """Return what the paper says about a figure: caption and sentences."""
    published = study.study.published(figure)
    return [published["caption"], *(sentence["text"] for sentence in published["sentence"])]


def interval_text(values: Sequence[float]) -> str:
    """Return mean and interval over the seeds."""
    return format_interval(mean_interval(values))


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
