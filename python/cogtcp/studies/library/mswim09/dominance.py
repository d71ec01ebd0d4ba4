"""Whether the time that sensing takes costs more than its errors, as Slingerland et al. (2007) have it."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim

from .settings import BASE, FIG3_T_P, Point, Setting
from .testing import Part, above, examine, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.verdicts import Finding

    from .measuring import Grid
    from .testing import Tested

T_S = (0.025, 0.05, 0.1, 0.2, 0.3, 0.6, 1.0)
QUICK_T_S = (0.025, 0.2, 1.0)
INSTANT = Point(t_s=0.001, t_p=FIG3_T_P, perfect=True)
"""A sensing without errors that takes next to no time."""


@claim("mswim09-x1")
def time_dominates(study: Context) -> Measured:
    """Loss by the sensing time against loss by its errors, each by taking the other away."""
    t_s = QUICK_T_S if study.quick else T_S
    points = [INSTANT, *(Point(t_s=t, t_p=FIG3_T_P, perfect=p) for t in t_s for p in (True, False))]

    def judge(setting: Setting, grid: Grid) -> dict[str, Finding]:
        return {f"at {t:g} s": above([Part(_by_time(grid, t), _by_errors(grid, t))]) for t in t_s}

    tested = examine(study, lambda _setting: points, judge)
    base = tested.base
    crossing = {setting: _crossing(grid, t_s) for setting, grid in tested.grids.items()}
    return tested.measured(
        measured=(
            "loss by time and by errors, of what an instant and perfect sensing delivers: "
            + "; ".join(
                f"{_share(base, _by_time(base, t)):.0%} and {_share(base, _by_errors(base, t)):.0%}"
                for t in t_s
            )
            + f" at {', '.join(f'{t:g}' for t in t_s)} s"
        ),
        test=(
            "NewReno, T_p 0.6 s. Loss by time: goodput with a perfect detector and t_s 1 ms, less that with "
            "a perfect detector and t_s. Loss by errors: the latter less that with the setting's detector. "
            "One-sided paired t-test (5 %) at every t_s that the loss by time is greater."
        ),
        why=_why(tested, crossing, t_s),
        caption="Loss by time less loss by errors, as a share of the greater.",
        figures=[
            Figure(
                id="loss",
                title="What sensing costs: its time and its errors",
                x_label="Sensing time t_s [s]",
                y_label="Loss of NewReno's goodput [kbit/s]",
                curves=[
                    Curve.over_seeds("by its time", t_s, [_by_time(base, t) for t in t_s]),
                    Curve.over_seeds("by its errors", t_s, [_by_errors(base, t) for t in t_s]),
                ],
                caption="Base setting, T_p 0.6 s; mean and 95 % interval over the seeds.",
                paper=study.study.sentences("dyspan07"),
                log_x=True,
            )
        ],
        tables=[_table(tested, crossing, t_s)],
        facts={
            "crossing": {setting.name: value for setting, value in crossing.items()},
            "time": {t: _share(base, _by_time(base, t)) for t in t_s},
            "errors": {t: _share(base, _by_errors(base, t)) for t in t_s},
            "from": crossing[BASE],
            "at_best": _at_best(base, t_s),
            "time_first": sum(
                time > error
                for setting in tested.in_range
                for _, time, error in [_at_best(tested.grids[setting], t_s)]
            ),
            "settings": len(tested.in_range),
        },
    )


def _by_time(grid: Grid, t_s: float) -> list[float]:
    perfect = grid[Point(t_s=t_s, t_p=FIG3_T_P, perfect=True)].goodput
    return [a - b for a, b in zip(grid[INSTANT].goodput, perfect, strict=True)]


def _by_errors(grid: Grid, t_s: float) -> list[float]:
    perfect, real = (grid[Point(t_s=t_s, t_p=FIG3_T_P, perfect=p)].goodput for p in (True, False))
    return [a - b for a, b in zip(perfect, real, strict=True)]


def _share(grid: Grid, loss: Sequence[float]) -> float:
    return statistics.fmean(loss) / grid[INSTANT].mean("goodput_kbps")


def _crossing(grid: Grid, t_s: Sequence[float]) -> float | None:
    """Return the least t_s of the grid from which on the time costs more on average."""
    found = None
    for t in reversed(t_s):
        if statistics.fmean(_by_time(grid, t)) <= statistics.fmean(_by_errors(grid, t)):
            break
        found = t
    return found


def _why(tested: Tested, crossing: dict[Setting, float | None], t_s: Sequence[float]) -> str:
    groups: dict[float | None, list[str]] = {}
    for setting, value in crossing.items():
        groups.setdefault(value, []).append(setting.name)
    told = [
        f"{'no t_s' if value is None else f'{value:g} s'} ({listed(names)})"
        for value, names in sorted(groups.items(), key=lambda item: item[0] or 1e9)
    ]
    text = f"The time costs more on average from a t_s of {'; '.join(told)} on. "
    ahead = {setting.name: _at_best(grid, t_s) for setting, grid in tested.grids.items()}
    errors = [f"{name} ({t:g} s)" for name, (t, time, error) in ahead.items() if error > time]
    t, time, error = ahead[BASE.name]
    return (
        f"{text}Where both together cost least, at {t:g} s at the base, the time costs {time:.0%} and the "
        f"errors {error:.0%}. At that best t_s of its own, the errors cost more at: "
        f"{listed(errors, 'no setting')}; the time at the other {len(ahead) - len(errors)}."
    )


def _at_best(grid: Grid, t_s: Sequence[float]) -> tuple[float, float, float]:
    """Return the t_s at which both losses together are least, and both there."""
    losses = {t: (_share(grid, _by_time(grid, t)), _share(grid, _by_errors(grid, t))) for t in t_s}
    best = min(t_s, key=lambda t: sum(losses[t]))
    return best, losses[best][0], losses[best][1]


def _table(tested: Tested, crossing: dict[Setting, float | None], t_s: Sequence[float]) -> Table:
    return Table(
        title="Loss by time and by errors, as shares of what an instant and perfect sensing delivers",
        header=["setting", *(f"{t:g} s: time, errors [%]" for t in t_s), "time dominates from [s]"],
        rows=[
            [
                setting.name,
                *(
                    f"{100 * _share(grid, _by_time(grid, t)):.0f}, "
                    f"{100 * _share(grid, _by_errors(grid, t)):.0f}"
                    for t in t_s
                ),
                "never" if crossing[setting] is None else f"{crossing[setting]:g}",
            ]
            for setting, grid in tested.grids.items()
        ],
    )
