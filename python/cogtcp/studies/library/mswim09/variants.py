"""Fig. 3: throughput of the four variants over the sensing time, and why they come in the order they do."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.statistics import paired_difference
from cogtcp.studies import Context, Figure, Measured, Table, claim, verdicts
from cogtcp.studies.verdicts import Finding

from .measuring import Cell, Grid, clean
from .settings import (
    ABOUT,
    BASE,
    COARSE_FIG3_T_S,
    FIG3_T_P,
    FIG3_T_S,
    NAMES,
    OPTIMUM,
    QUICK_FIG3_T_S,
    VARIANTS,
    VEGAS,
    Point,
    Setting,
)
from .testing import Part, above, budget, curve, examine, listed, used
from .vegas import against_newreno

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .testing import Tested


def _t_s(study: Context, setting: Setting) -> Sequence[float]:
    if study.quick:
        return QUICK_FIG3_T_S
    fine = setting is BASE or setting.name.startswith("SNR")
    return FIG3_T_S if fine else COARSE_FIG3_T_S


def _points(study: Context, setting: Setting) -> list[Point]:
    return [_point(variant, t_s) for variant in VARIANTS for t_s in _t_s(study, setting)]


def _point(variant: str, t_s: float) -> Point:
    return Point(variant, t_s, FIG3_T_P)


def _grid_t_s(grid: Grid) -> list[float]:
    return sorted({point.t_s for point in grid})


@claim("mswim09-f3a")
def rises_and_falls(study: Context) -> Measured:
    """Rise to 0.2 s, fall from there, and the best in between, for every variant."""
    tested = examine(study, lambda setting: _points(study, setting), _judge_shape)
    grid = tested.base
    best = {
        setting: {variant: _best(found, variant) for variant in VARIANTS}
        for setting, found in tested.grids.items()
    }
    t_s = _grid_t_s(grid)
    (reference,) = clean(study, BASE)
    cells = {f"{value:g} s": grid[_point("newreno", value)] for value in t_s}
    return tested.measured(
        measured="; ".join(
            f"{NAMES[variant]} "
            + ", ".join(f"{grid[_point(variant, t)].mean('goodput_kbps'):.0f}" for t in t_s)
            for variant in VARIANTS
        )
        + f" kbit/s at {', '.join(f'{t:g}' for t in t_s)} s",
        test=(
            "For every variant at T_p 0.6 s, one-sided paired t-tests (5 %): goodput at 0.2 s above that at "
            f"{t_s[0]:g} s (rise) and above that at {t_s[-1]:g} s (fall). Best at about 0.2 s: every t_s "
            f"that is not shown to be worse than the best one lies within a factor of {ABOUT:g} of 0.2 s "
            "(holds), or none does (differs)."
        ),
        why=_why_shape(tested, best, reference),
        caption=(
            "Rise, fall: the least difference among the variants, as a share of the greater goodput. Best: "
            "the best t_s of the variant that is farthest from 0.2 s, in s."
        ),
        figures=[
            Figure(
                id="fig3",
                title="Fig. 3: throughput of the variants over the sensing time",
                x_label="Sensing time t_s [s]",
                y_label="Goodput [kbit/s]",
                curves=[
                    curve(NAMES[variant], t_s, [grid[_point(variant, value)] for value in t_s])
                    for variant in VARIANTS
                ],
                caption="T_p 0.6 s; mean and 95 % interval over the seeds.",
                paper=study.study.sentences("fig3")[:3],
                log_x=True,
            ),
            _over_snr(tested),
        ],
        tables=[
            budget(cells, reference, "Where the time of NewReno goes, by sensing time", sensing=True),
            _best_table(best),
        ],
        facts={
            "best": {setting.name: found["newreno"] for setting, found in best.items()},
            "goodput": {t: grid[_point("newreno", t)].mean("goodput_kbps") for t in t_s},
        },
    )


def _over_snr(tested: Tested) -> Figure:
    shown = {
        setting: grid
        for setting, grid in tested.grids.items()
        if setting is BASE or setting.name.startswith("SNR") or setting.name == "as released"
    }
    return Figure(
        id="fig3-snr",
        title="NewReno of Fig. 3, by SNR",
        x_label="Sensing time t_s [s]",
        y_label="Goodput [kbit/s]",
        curves=[
            curve(
                f"SNR {setting.snr_db:g} dB" if setting is BASE else setting.name,
                _grid_t_s(grid),
                [grid[_point("newreno", t)] for t in _grid_t_s(grid)],
            )
            for setting, grid in sorted(shown.items(), key=lambda item: (item[0].released, -item[0].snr_db))
        ],
        caption="T_p 0.6 s; mean and 95 % interval over the seeds.",
        log_x=True,
    )


def _best_table(best: Mapping[Setting, Mapping[str, float]]) -> Table:
    return Table(
        title="The best sensing time of each variant",
        header=["setting", *(f"{NAMES[v]} [s]" for v in VARIANTS)],
        rows=[[setting.name, *(f"{found[v]:g}" for v in VARIANTS)] for setting, found in best.items()],
    )


def _best(grid: Grid, variant: str) -> float:
    return max(_grid_t_s(grid), key=lambda t: grid[_point(variant, t)].mean("goodput_kbps"))


def _near(grid: Grid, variant: str) -> list[float]:
    """Return the sensing times that are not shown to be worse than the best one (Bonferroni)."""
    t_s = _grid_t_s(grid)
    top = grid[_point(variant, _best(grid, variant))].goodput
    level = 1 - 2 * verdicts.LEVEL / (len(t_s) - 1)
    return [t for t in t_s if not paired_difference(top, grid[_point(variant, t)].goodput, level).low > 0]


def _judge_shape(setting: Setting, grid: Grid) -> dict[str, Finding]:
    t_s = _grid_t_s(grid)
    ends = {"rises to 0.2 s": t_s[0], "falls from 0.2 s": t_s[-1]}
    parts = {
        name: above(
            [
                Part(grid[_point(v, OPTIMUM[0])].goodput, grid[_point(v, end)].goodput, where=NAMES[v])
                for v in VARIANTS
            ]
        )
        for name, end in ends.items()
    }
    found = []
    for variant in VARIANTS:
        near = [max(t / OPTIMUM[0], OPTIMUM[0] / t) <= ABOUT + 1e-9 for t in _near(grid, variant)]
        verdict: verdicts.Verdict = "holds" if all(near) else "unclear" if any(near) else "differs"
        best = _best(grid, variant)
        found.append(
            Finding(verdict, best, float("nan"), float("nan"), f"best at {best:g} s", NAMES[variant])
        )
    joint = verdicts.combine([finding.verdict for finding in found])
    farthest = max(
        found, key=lambda finding: max(finding.estimate / OPTIMUM[0], OPTIMUM[0] / finding.estimate)
    )
    return {**parts, "best at about 0.2 s": replace(farthest, verdict=joint)}


def _why_shape(tested: Tested, best: Mapping[Setting, Mapping[str, float]], reference: float) -> str:
    grid = tested.base
    t_s = _grid_t_s(grid)
    first, top, last = (grid[_point("newreno", t)] for t in (t_s[0], best[BASE]["newreno"], t_s[-1]))

    def told(cell: Cell) -> str:
        return (
            f"{cell.mean('silent'):.0%} silent, {cell.mean('exposed'):.0%} over a PU, "
            f"{cell.mean('clean'):.0%} free, of which TCP uses {used(cell, reference):.0%}"
        )

    text = (
        f"NewReno's time at {t_s[0]:g} s: {told(first)}; at its best, {best[BASE]['newreno']:g} s: "
        f"{told(top)}; at {t_s[-1]:g} s: {told(last)}. "
    )
    groups: dict[float, list[str]] = {}
    for setting, found in best.items():
        groups.setdefault(found["newreno"], []).append(setting.name)
    return (
        text
        + "The best t_s of NewReno is "
        + "; ".join(f"{value:g} s ({', '.join(names)})" for value, names in sorted(groups.items()))
        + "."
    )


@claim("mswim09-f3b")
def order_of_the_variants(study: Context) -> Measured:
    """SACK and NewReno above Reno and Vegas, Vegas lowest, at every sensing time."""
    tested = examine(study, lambda setting: _points(study, setting), _judge_order)
    grid = tested.base
    t_s = _grid_t_s(grid)
    (reference,) = clean(study, BASE)
    at = OPTIMUM[0]
    vegas = against_newreno(study)
    return tested.measured(
        measured="mean over the sensing times: "
        + ", ".join(
            f"{NAMES[v]} {_mean(grid, v):.0f}" for v in sorted(VARIANTS, key=lambda v: -_mean(grid, v))
        )
        + " kbit/s",
        test=(
            "At every t_s, T_p 0.6 s, one-sided paired t-tests (5 %): SACK and NewReno above Reno, both "
            "above Vegas, Reno above Vegas. One t_s at which the opposite is shown is enough for differs "
            "(Bonferroni)."
        ),
        why=f"{vegas.why(reference)} {_why_order(tested)}",
        caption="The least difference over the sensing times, as a share of the greater goodput.",
        figures=[
            Figure(
                id="fig3-lead",
                title="Fig. 3: goodput over that of NewReno",
                x_label="Sensing time t_s [s]",
                y_label="Goodput over NewReno's",
                curves=[
                    curve(NAMES[v], t_s, [_over(grid, v, t) for t in t_s], "ratio")
                    for v in (VEGAS, "sack", "reno")
                ],
                caption="T_p 0.6 s; mean and 95 % interval of the ratio in each seed.",
                paper=study.study.sentences("fig3")[3:],
                log_x=True,
                y_range=(0.5, 1.5),
            )
        ],
        tables=[
            budget(
                {NAMES[v]: grid[_point(v, at)] for v in VARIANTS},
                reference,
                f"Where the time of each goes, t_s {at:g} s",
            ),
            *vegas.tables(reference),
            _over_settings(tested),
        ],
        facts={
            "means": {v: _mean(grid, v) for v in VARIANTS},
            **vegas.facts(reference),
        },
    )


def _mean(grid: Grid, variant: str) -> float:
    return statistics.fmean(grid[_point(variant, t)].mean("goodput_kbps") for t in _grid_t_s(grid))


def _over(grid: Grid, variant: str, t_s: float) -> Cell:
    pairs = zip(grid[_point(variant, t_s)].goodput, grid[_point("newreno", t_s)].goodput, strict=True)
    return Cell([{"ratio": a / b if b else float("nan")} for a, b in pairs])


ORDER = (("sack", "reno"), ("newreno", "reno"), ("sack", VEGAS), ("newreno", VEGAS), ("reno", VEGAS))


def _judge_order(setting: Setting, grid: Grid) -> dict[str, Finding]:
    return {
        f"{NAMES[a]} above {NAMES[b]}": above(
            [
                Part(grid[_point(a, t)].goodput, grid[_point(b, t)].goodput, where=f"{t:g} s")
                for t in _grid_t_s(grid)
            ]
        )
        for a, b in ORDER
    }


def _why_order(tested: Tested) -> str:
    below = [
        setting.name
        for setting, grid in tested.grids.items()
        if all(_mean(grid, VEGAS) < _mean(grid, other) for other in VARIANTS if other != VEGAS)
    ]
    return f"On average over t_s Vegas is below all others at: {listed(below, 'no setting')}."


def _over_settings(tested: Tested) -> Table:
    return Table(
        title="Mean over the sensing times",
        header=["setting", *(f"{NAMES[v]} [kbit/s]" for v in VARIANTS)],
        rows=[[s.name, *(f"{_mean(grid, v):.0f}" for v in VARIANTS)] for s, grid in tested.grids.items()],
        caption="Over the sensing times that are measured at the setting.",
    )
