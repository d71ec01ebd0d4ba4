"""Fig. 6: the activity of the primary users."""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Figure, Measured, Surface, Table, claim
from cogtcp.studies.verdicts import mean_text

from .measuring import Cell, Grid, clean
from .settings import ACTIVITY, BASE, FIG3_T_P, Point, Setting
from .testing import Part, above, budget, examine, used
from .theory import Detector, free_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.verdicts import Finding

    from .testing import Tested

T_S = 0.2  # stated
QUICK_ACTIVITY = (0.5, 2.0)
REGIONS = {
    "low": (True, False),
    "long-term": (False, False),
    "intermittent": (True, True),
    "high": (False, True),
}
"""alpha > 1, beta > 1; from the most to the least throughput that the paper has."""


def _points(axis: Sequence[float]) -> list[Point]:
    return [Point(t_s=T_S, t_p=FIG3_T_P, alpha=a, beta=b) for a, b in itertools.product(axis, axis)]


def _region(grid: Grid, name: str) -> list[Point]:
    return [p for p in grid if ((p.alpha or 0) > 1, (p.beta or 0) > 1) == REGIONS[name]]


def _joined(grid: Grid, name: str) -> Cell:
    """Return the mean over a region, seed by seed."""
    cells = [grid[point] for point in _region(grid, name)]
    seeds = zip(*(cell.records for cell in cells), strict=True)
    return Cell([{key: _mean([r[key] for r in records]) for key in records[0]} for records in seeds])


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else float("nan")


@claim("mswim09-f6")
def regions_of_activity(study: Context) -> Measured:
    """Low activity above long-term above intermittent above high."""
    axis = QUICK_ACTIVITY if study.quick else ACTIVITY

    def judge(setting: Setting, grid: Grid) -> dict[str, Finding]:
        goodput = {name: _joined(grid, name).goodput for name in REGIONS}
        return {
            f"{a} above {b}": above([Part(goodput[a], goodput[b])]) for a, b in itertools.pairwise(REGIONS)
        }

    tested = examine(study, lambda _setting: _points(axis), judge)
    base = tested.base
    (reference,) = clean(study, BASE)
    regions = {name: _joined(base, name) for name in REGIONS}
    return tested.measured(
        measured=", ".join(f"{name} {mean_text(cell.goodput)}" for name, cell in regions.items()) + " kbit/s",
        test=(
            f"NewReno, t_s 0.2 s, T_p 0.6 s; alpha and beta each {', '.join(f'{value:g}' for value in axis)} "
            "per second. Mean goodput of a region above that of the next, one-sided paired t-tests (5 %): "
            "low, long-term, intermittent, high activity."
        ),
        why=_why(tested, regions, reference),
        caption="Differences as shares of the greater.",
        figures=[
            Figure(
                id="fig6",
                title="Fig. 6: throughput of NewReno over the activity of the PUs",
                x_label="Death rate alpha [1/s]",
                y_label="Birth rate beta [1/s]",
                curves=[],
                surfaces=[
                    Surface(
                        setting.name,
                        axis,
                        axis,
                        [
                            [
                                grid[Point(t_s=T_S, t_p=FIG3_T_P, alpha=a, beta=b)].mean("goodput_kbps")
                                for a in axis
                            ]
                            for b in axis
                        ],
                    )
                    for setting, grid in tested.grids.items()
                    if setting is BASE or setting.released
                ],
                caption="Mean goodput in kbit/s over the seeds; the most of each panel is bold.",
                paper=study.study.sentences("fig6"),
            )
        ],
        tables=[
            budget(
                {f"{name}": cell for name, cell in regions.items()},
                reference,
                "Where the time of NewReno goes, by region",
                sensing=True,
            ),
            _table(tested),
        ],
        facts={"regions": {name: cell.mean("goodput_kbps") for name, cell in regions.items()}},
    )


def _why(tested: Tested, regions: dict[str, Cell], reference: float) -> str:
    detector = Detector(BASE.snr_db)
    parts = []
    for name, cell in regions.items():
        points = _region(tested.base, name)
        in_theory = statistics.fmean(
            free_share(Detector(detector.snr_db, p_on=b / (a + b)), T_S, FIG3_T_P, a, b, 1e-3)
            for p in points
            for a, b in [(p.alpha or 0.0, p.beta or 0.0)]
        )
        off = statistics.fmean((p.alpha or 0) / ((p.alpha or 0) + (p.beta or 0)) for p in points)
        use = used(cell, reference)
        parts.append(
            f"{name}: bands are OFF {off:.0%} of the time, the radio has {cell.mean('clean'):.0%} free "
            f"(theory {in_theory:.0%}), TCP uses {use:.0%} of it"
        )
    return (
        "; ".join(parts)
        + ". Long-term and intermittent activity leave the same share of the bands OFF; what separates them "
        "is how often a PU comes within a T_p of 0.6 s: in "
        f"{regions['long-term'].mean('exposed') / _open(regions['long-term']):.0%} and "
        f"{regions['intermittent'].mean('exposed') / _open(regions['intermittent']):.0%} of the open time "
        "there is one."
    )


def _open(cell: Cell) -> float:
    return max(1 - cell.mean("silent"), 1e-9)


def _table(tested: Tested) -> Table:
    return Table(
        title="Regions, by setting",
        header=["setting", *(f"{name} [kbit/s]" for name in REGIONS)],
        rows=[
            [setting.name, *(mean_text(_joined(grid, name).goodput) for name in REGIONS)]
            for setting, grid in tested.grids.items()
        ],
    )
