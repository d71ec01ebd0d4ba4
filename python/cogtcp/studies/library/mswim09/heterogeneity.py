"""Fig. 7: efficiency over channels of unequal rate."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim

from .measuring import Cell, Grid, clean
from .settings import (
    BASE,
    FIG7_T_P,
    FIG7_T_S,
    NAMES,
    QUICK_M,
    RANGE,
    VARIANTS,
    VEGAS,
    M,
    Point,
    Setting,
)
from .testing import Part, above, curve, examine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.verdicts import Finding

    from .testing import Tested

CAPACITY = tuple(setting for setting in RANGE if setting.capacity == "channel")
FAST, SLOW = 3 / 5, 2 / 5
"""Shares of the channels: 0, 2 and 4 have gamma (1 + M/2), 1 and 3 gamma (1 - M/2)."""


def _point(variant: str, m: float) -> Point:
    return Point(variant, FIG7_T_S, FIG7_T_P, m=m)


def _key(setting: Setting) -> str:
    return f"efficiency_{setting.capacity}"


@claim("mswim09-f7")
def efficiency_falls(study: Context) -> Measured:
    """Efficiency falls with M for every variant; SACK first, Vegas last."""
    ms = QUICK_M if study.quick else M

    def judge(setting: Setting, grid: Grid) -> dict[str, Finding]:
        def at(variant: str, m: float) -> list[float]:
            return grid[_point(variant, m)].of(_key(setting))

        first, *others = ms
        return {
            "every variant falls": above(
                [Part(*_fitted(ms, [at(v, m) for m in ms]), where=NAMES[v]) for v in VARIANTS]
            ),
            f"highest at {first:g}": above(
                [Part(at(v, first), at(v, m), f"{NAMES[v]}, M {m:g}") for v in VARIANTS for m in others]
            ),
            "SACK above NewReno and Reno": above(
                [
                    Part(at("sack", m), at(v, m), f"{NAMES[v]}, M {m:g}")
                    for v in ("newreno", "reno")
                    for m in ms
                ]
            ),
            "Vegas lowest": above(
                [Part(at(v, m), at(VEGAS, m), f"{NAMES[v]}, M {m:g}") for v in VARIANTS[:-1] for m in ms]
            ),
        }

    tested = examine(
        study, lambda _setting: [_point(v, m) for v in VARIANTS for m in ms], judge, kept=CAPACITY
    )
    base = tested.base
    ceiling = _ceiling(study, ms)
    return tested.measured(
        measured="; ".join(
            f"{NAMES[v]} " + ", ".join(f"{base[_point(v, m)].mean(_key(BASE)):.3f}" for m in ms)
            for v in VARIANTS
        )
        + f" at M {', '.join(f'{m:g}' for m in ms)}",
        test=(
            "Efficiency by equation 4 (delivered bits over the integral of C(t), zero in silence), t_s 0.025 "
            "s, T_p 1 s, one-sided paired t-tests (5 %): for every variant the straight line through a "
            "seed's efficiencies falls over M; the efficiency at the least M is above that at every other; "
            "at every M SACK is above NewReno and Reno, and Vegas below all others. One opposite is enough "
            "for differs (Bonferroni)."
        ),
        why=_why(tested, ms, ceiling),
        caption="The least difference over variants and M, as a share of the greater efficiency.",
        figures=[
            Figure(
                id="fig7",
                title="Fig. 7: efficiency over the difference between channels",
                x_label="Channel bandwidth differentiation factor M",
                y_label="Efficiency, equation 4",
                curves=[
                    *(curve(NAMES[v], ms, [base[_point(v, m)] for m in ms], _key(BASE)) for v in VARIANTS),
                    Curve("MAC without PUs", ms, ceiling, style="dashed"),
                ],
                caption=(
                    "Mean and 95 % interval over the seeds. Dashed: NewReno on the same channels, "
                    "undisturbed, an equal time on each."
                ),
                paper=study.study.sentences("fig7"),
            )
        ],
        tables=[_table(tested, ms)],
        facts={
            "efficiency": {v: [base[_point(v, m)].mean(_key(BASE)) for m in ms] for v in VARIANTS},
            "ceiling": list(ceiling),
            "m": list(ms),
        },
    )


def _fitted(ms: Sequence[float], series: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Return where the straight line through each seed's efficiencies begins and ends."""
    lines = [statistics.linear_regression(ms, seed) for seed in zip(*series, strict=True)]
    return (
        [slope * ms[0] + intercept for slope, intercept in lines],
        [slope * ms[-1] + intercept for slope, intercept in lines],
    )


def _ceiling(study: Context, ms: Sequence[float]) -> list[float]:
    """Return the efficiency of NewReno on undisturbed channels, with equal time on each."""
    rates = [(1 + m / 2, 1 - m / 2) for m in ms]
    found = iter(clean(study, BASE, [rate for pair in rates for rate in pair]))
    return [
        (FAST * next(found) + SLOW * next(found)) / 1e3 / (FAST * fast + SLOW * slow) for fast, slow in rates
    ]


def _use(grid: Grid, variant: str, ms: Sequence[float], ceiling: Sequence[float]) -> list[float]:
    return [grid[_point(variant, m)].mean(_key(BASE)) / top for m, top in zip(ms, ceiling, strict=True)]


def _why(tested: Tested, ms: Sequence[float], ceiling: Sequence[float]) -> str:
    base = tested.base
    cells = [base[_point("newreno", m)] for m in ms]
    first, last = cells[0], cells[-1]
    fall = last.mean(_key(BASE)) / first.mean(_key(BASE)) - 1
    mac = ceiling[-1] / ceiling[0] - 1
    use = _use(base, "newreno", ms, ceiling)
    text = (
        f"From M {ms[0]:g} to {ms[-1]:g} the efficiency of NewReno changes by {fall:+.0%}. The MAC alone, "
        f"undisturbed and without changes of channel, accounts for {mac:+.0%}: preambles, control frames and "
        "backoff take the same time at every rate, and so more of a fast channel's capacity. The remaining "
        f"{use[-1] / use[0] - 1:+.0%} is the radio's and TCP's. "
    )
    order = sorted(VARIANTS, key=lambda v: -statistics.fmean(base[_point(v, m)].mean(_key(BASE)) for m in ms))
    text += (
        "Mean over M: "
        + ", ".join(
            f"{NAMES[v]} {statistics.fmean(base[_point(v, m)].mean(_key(BASE)) for m in ms):.3f}"
            for v in order
        )
        + f". At M {ms[-1]:g} "
        + ", ".join(f"{NAMES[v]} has {_timeouts(base[_point(v, ms[-1])])}" for v in (VEGAS, "newreno"))
        + "."
    )
    return text


def _timeouts(cell: Cell) -> str:
    return (
        f"{cell.mean('rtos_per_min'):.1f} timeouts a minute "
        f"({cell.mean('spurious_rtos') / max(cell.mean('rtos'), 1e-9):.0%} spurious) and a mean RTT of "
        f"{cell.mean('rtt_ms'):.0f} ms"
    )


def _table(tested: Tested, ms: Sequence[float]) -> Table:
    return Table(
        title="Efficiency by setting",
        header=["setting", "variant", *(f"M {m:g}" for m in ms)],
        rows=[
            [setting.name, NAMES[v], *(f"{grid[_point(v, m)].mean(_key(setting)):.3f}" for m in ms)]
            for setting, grid in tested.grids.items()
            for v in VARIANTS
        ],
    )
