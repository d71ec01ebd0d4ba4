"""Fig. 4: the window collapses after PUs and silences."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim
from cogtcp.studies.verdicts import mean_text

from .measuring import run
from .settings import (
    BASE,
    FIG3_T_P,
    FIG4_T_S,
    LEAST_RTO_S,
    MOST,
    NEAR_S,
    QUICK_TIMER_T_S,
    TIMER_T_S,
    Point,
    Setting,
)
from .testing import LINES, Part, above, curve, examine, over
from .tracing import CAUSES, DRAWN_S, traces, until, windows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.studies.verdicts import Finding

    from .measuring import Cell, Grid
    from .testing import Tested

SHORT, MIDDLE, LONG = (Point(t_s=t_s, t_p=FIG3_T_P) for t_s in FIG4_T_S)


@claim("mswim09-f4")
def window_collapses(study: Context) -> Measured:
    """Compare timeouts at the three sensing times, by cause, and after PUs."""
    tested = examine(
        study, lambda _setting: [SHORT, MIDDLE, LONG], _judge_collapse, measure=windows, trace="full"
    )
    base = tested.base
    timer = _timer(study)
    drawn = traces(study, [SHORT, MIDDLE, LONG])
    hits = sorted({round(time, 1) for time in drawn[1]["destroyed"] if time <= DRAWN_S})
    return tested.measured(
        measured=(
            ", ".join(f"{base[p].mean('rtos_per_min'):.1f}" for p in base)
            + f" timeouts a minute at t_s {', '.join(f'{p.t_s:g}' for p in base)} s; by interference, "
            "silence, both: "
            + "; ".join(", ".join(f"{base[p].mean(f'by_{cause}'):.0%}" for cause in CAUSES[:3]) for p in base)
            + f"; at 0.2 s a timeout follows within {NEAR_S:g} s after {base[MIDDLE].mean('after_hit'):.0%} "
            f"of the slots hit by a PU and {base[MIDDLE].mean('after_other'):.0%} of the others"
        ),
        test=(
            "NewReno, T_p 0.6 s, one-sided t-tests (5 %) over all timeouts and slots of a run. Timeouts per "
            "minute: more at 0.025 s, and at 0.3 s, than at 0.2 s (paired). At 0.2 s a slot in which a PU "
            f"destroys a frame is followed by a timeout within {NEAR_S:g} s of the first such frame more "
            f"often than any other slot within {NEAR_S:g} s of its start (paired), and in more than "
            f"{MOST:.0%} of the cases. At 0.025 s more than {MOST:.0%} of the timeouts are due to "
            "interference or to both, at 0.3 s to silence or to both. A timeout is due to what lost the last "
            "packet: interference, or a silence in which the receiver did not answer. Where nothing was lost "
            f"it is due to the silences, and to both if a PU destroyed a frame within {NEAR_S:g} s before."
        ),
        why=f"{_why_collapse(tested)} {_why_timer(timer)}",
        caption=(
            "First three: differences as shares of the greater. The others: shares of the slots and of the "
            "timeouts."
        ),
        figures=[
            Figure(
                id="fig4",
                title="Fig. 4: cwnd over time",
                x_label="Time [s]",
                y_label="cwnd [segments]",
                curves=[
                    *(
                        Curve(f"t_s {t_s:g} s", *until(found, "cwnd"), style=style)
                        for t_s, found, style in zip(FIG4_T_S, drawn, LINES, strict=True)
                    ),
                    Curve("PU on the channel, t_s 0.2 s", hits, [0.4] * len(hits)),
                ],
                caption="One seed at the base, sampled every 0.1 s; NewReno, T_p 0.6 s.",
                paper=study.study.sentences("fig4"),
            ),
            _timer_figure(timer),
        ],
        tables=[_collapse_table(tested)],
        facts={
            "per_minute": {p.t_s: base[p].mean("rtos_per_min") for p in base},
            "by_silence": {p.t_s: base[p].mean("by_silence") for p in base},
            "by_interference": {p.t_s: base[p].mean("by_interference") for p in base},
            "by_both": {p.t_s: base[p].mean("by_both") for p in base},
            "after_hit": base[MIDDLE].mean("after_hit"),
            "after_other": base[MIDDLE].mean("after_other"),
            "step": {least_s: _step(cells) for least_s, cells in timer.items()},
            "timer": {
                least_s: {t: cell.mean("rtos_per_min") for t, cell in cells.items()}
                for least_s, cells in timer.items()
            },
        },
    )


def _judge_collapse(setting: Setting, grid: Grid) -> dict[str, Finding]:
    short, middle, long = (grid[point] for point in (SHORT, MIDDLE, LONG))
    return {
        "more at 0.025 s than at 0.2 s": above([Part(short.of("rtos_per_min"), middle.of("rtos_per_min"))]),
        "more at 0.3 s than at 0.2 s": above([Part(long.of("rtos_per_min"), middle.of("rtos_per_min"))]),
        "after a hit more often than not": above([Part(middle.of("after_hit"), middle.of("after_other"))]),
        "after most hits": over(middle.of("after_hit"), MOST),
        "at 0.025 s by interference": over(_sums(short, "by_interference", "by_both"), MOST),
        "at 0.3 s by silence": over(_sums(long, "by_silence", "by_both"), MOST),
    }


def _sums(cell: Cell, *keys: str) -> list[float]:
    return [sum(values) for values in zip(*(cell.of(key) for key in keys), strict=True)]


def _silent(cell: Cell) -> float:
    return cell.mean("by_silence") + cell.mean("by_both")


def _why_collapse(tested: Tested) -> str:
    base = tested.base
    told = "; ".join(
        f"at {p.t_s:g} s a PU hits {base[p].mean('hit'):.0%} of the slots, {base[p].mean('spurious'):.0%} of "
        "the timeouts are spurious"
        for p in base
    )
    long = base[LONG]
    text = (
        f"At the base, {told}. Of the timeouts at 0.3 s {long.mean('by_silence'):.0%} come of a silence "
        f"alone and {long.mean('by_both'):.0%} of one soon after a PU: once a timeout has emptied the queue, "
        "the RTT is short, the RTO at its least, and the next silence outlasts it. "
    )
    silent = [
        f"{setting.name} {_silent(grid[LONG]):.0%}"
        for setting, grid in tested.grids.items()
        if _silent(grid[LONG]) > MOST
    ]
    text += f"Most timeouts at 0.3 s have to do with a silence at: {', '.join(silent) or 'no setting'}."
    return text


def _timer(study: Context) -> dict[float, dict[float, Cell]]:
    """Run NewReno over the sensing time with several least RTOs."""
    t_s = QUICK_TIMER_T_S if study.quick else TIMER_T_S
    points = {
        (least_s, t): Point(t_s=t, t_p=FIG3_T_P, min_rto=f"{least_s * 1e3:g} ms")
        for least_s in LEAST_RTO_S
        for t in t_s
    }
    grid = run(study, {BASE: list(points.values())})[BASE]
    return {least_s: {t: grid[points[least_s, t]] for t in t_s} for least_s in LEAST_RTO_S}


def _step(cells: Mapping[float, Cell]) -> tuple[float, float]:
    """Return the neighbouring sensing times between which the timeouts per minute grow most."""
    return max(
        itertools.pairwise(cells),
        key=lambda pair: cells[pair[1]].mean("rtos_per_min") - cells[pair[0]].mean("rtos_per_min"),
    )


def _why_timer(timer: Mapping[float, Mapping[float, Cell]]) -> str:
    told = []
    for least_s, cells in timer.items():
        before, after = _step(cells)
        told.append(
            f"{least_s:g} s: from {before:g} to {after:g} s of sensing, "
            f"{cells[before].mean('rtos_per_min'):.0f} to {cells[after].mean('rtos_per_min'):.0f} a minute"
        )
    return (
        "Where timeouts grow most with t_s is a matter of the least RTO. After a timeout the queue is empty, "
        "the RTT short and the RTO at its least; a longer silence then times out again. Least RTO "
        + "; ".join(told)
        + "."
    )


def _timer_figure(timer: Mapping[float, Mapping[float, Cell]]) -> Figure:
    return Figure(
        id="fig4-timer",
        title="Timeouts over the sensing time, by least RTO",
        x_label="Sensing time t_s [s]",
        y_label="Timeouts per minute",
        curves=[
            curve(f"least RTO {least_s:g} s", list(cells), list(cells.values()), "rtos_per_min")
            for least_s, cells in timer.items()
        ],
        caption="NewReno at the base otherwise, T_p 0.6 s; mean and 95 % interval over the seeds.",
        log_x=True,
    )


def _collapse_table(tested: Tested) -> Table:
    return Table(
        title="Timeouts by sensing time",
        header=[
            "setting",
            "t_s [s]",
            "timeouts [per min]",
            "by interference [%]",
            "by silence [%]",
            "by both [%]",
            "other [%]",
            "spurious [%]",
            "slots hit by a PU [%]",
            "timeout after a hit [%]",
            "after another slot [%]",
        ],
        rows=[
            [
                setting.name,
                f"{point.t_s:g}",
                mean_text(grid[point].of("rtos_per_min")),
                *(
                    f"{100 * grid[point].mean(key):.0f}"
                    for key in (
                        "by_interference",
                        "by_silence",
                        "by_both",
                        "by_other",
                        "spurious",
                        "hit",
                        "after_hit",
                        "after_other",
                    )
                ),
            ]
            for setting, grid in tested.grids.items()
            for point in grid
        ],
    )
