"""Fig. 8: the window and the rate of the channel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim
from cogtcp.studies.verdicts import mean_text

from .measuring import run, totals
from .settings import (
    BASE,
    FIG7_T_P,
    FIG7_T_S,
    FIG8_M,
    TRACKS,
    Point,
    Setting,
)
from .testing import Part, above, examine, under
from .tracing import CAUSES, traces, until, windows

if TYPE_CHECKING:
    from cogtcp.studies.verdicts import Finding

    from .measuring import Grid
    from .testing import Tested

POINT_8 = Point(t_s=FIG7_T_S, t_p=FIG7_T_P, m=FIG8_M)


@claim("mswim09-f8")
def window_does_not_track(study: Context) -> Measured:
    """Compare the window with the channel's rate, slot by slot, and count timeouts by slot."""

    def judge(setting: Setting, grid: Grid) -> dict[str, Finding]:
        cell = grid[POINT_8]
        return {
            "cwnd does not track": under(cell.of("correlation"), TRACKS),
            "timeouts after falls more than elsewhere": above(
                [Part(cell.of("rtos_fall"), cell.of("rtos_not_fall"))]
            ),
            "more than after rises": above([Part(cell.of("rtos_fall"), cell.of("rtos_rise"))]),
        }

    tested = examine(study, lambda _setting: [POINT_8], judge, measure=windows, trace="full")
    cell = tested.base[POINT_8]
    (drawn,) = traces(study, [POINT_8])
    fast = Point(clean=True, rate_mbps=1 + FIG8_M / 2)
    two = replace(fast, window=2)
    sums = run(study, {BASE: [POINT_8, fast, two]}, totals)[BASE]
    enough = sums[two].mean("goodput_kbps") / sums[fast].mean("goodput_kbps")
    times, rates = until(drawn, "rate_bps")
    ratio = (1 + FIG8_M / 2) / (1 - FIG8_M / 2)
    return tested.measured(
        measured=(
            f"correlation of cwnd and rate {mean_text(cell.of('correlation'))}; mean cwnd "
            f"{cell.mean('cwnd_fast'):.1f} segments on fast and {cell.mean('cwnd_slow'):.1f} on slow "
            f"channels, whose rates are {ratio:.0f} to 1; timeouts per slot: {cell.mean('rtos_fall'):.2f} "
            f"after a fall of the rate, {cell.mean('rtos_rise'):.2f} after a rise, "
            f"{cell.mean('rtos_fast'):.2f} without a change on fast and {cell.mean('rtos_slow'):.2f} on slow "
            "channels"
        ),
        test=(
            "NewReno, M 1.6, t_s 0.025 s, T_p 1 s, one-sided t-tests (5 %): the correlation of the mean cwnd "
            f"of a slot with the rate of its channel, over the slots of a run, is below {TRACKS:g}; timeouts "
            "per slot are more in the first slot after a fall of the rate than in all others, and than in "
            "the first after a rise (paired)."
        ),
        why=_why_tracking(tested, sums[POINT_8].mean("rtt_ms"), enough),
        caption="First: correlation. The others: differences as shares of the greater.",
        figures=[
            Figure(
                id="fig8",
                title="Fig. 8: cwnd and available bandwidth over time",
                x_label="Time [s]",
                y_label="cwnd [segments], bandwidth [packets in 0.1 s]",
                curves=[
                    Curve("cwnd", *until(drawn, "cwnd"), style="line"),
                    Curve("bandwidth", times, [rate / 8e4 for rate in rates], style="dashed"),
                ],
                caption="One seed at the base; NewReno, M 1.6.",
                paper=study.study.sentences("fig8"),
            )
        ],
        tables=[_tracking_table(tested)],
        facts={
            "correlation": cell.mean("correlation"),
            "fast": cell.mean("cwnd_fast"),
            "slow": cell.mean("cwnd_slow"),
            "share_on_fall": cell.mean("share_on_fall"),
            "slots_fall": cell.mean("slots_fall"),
            "enough": enough,
        },
    )


def _why_tracking(tested: Tested, rtt_ms: float, enough: float) -> str:
    cell = tested.base[POINT_8]
    text = (
        f"There is little to track: on an undisturbed fast channel a window of two segments has {enough:.0%} "
        "of what one of 20 has. What is above that waits in the interface queue, and is the mean RTT of "
        f"{rtt_ms:.0f} ms. {cell.mean('share_on_fall'):.0%} of the timeouts fall into the "
        f"{cell.mean('slots_fall'):.0%} of the slots that follow a fall of the rate. "
    )
    fall, rise, fast, slow = (cell.mean(f"rtos_{kind}") for kind in ("fall", "rise", "fast", "slow"))
    text += (
        f"A slot after a fall is on a slow channel, where one without a change has {slow:.2f} timeouts; a "
        f"slot after a rise is on a fast one, where that is {fast:.2f}: the fall comes with "
        f"{fall - slow:+.2f} and the rise with {rise - fast:+.2f}. "
    )
    told = [f"{name} {cell.mean(f'by_{name}'):.0%}" for name in CAUSES]
    return text + f"Causes of all timeouts: {', '.join(told)}; {cell.mean('spurious'):.0%} are spurious."


def _tracking_table(tested: Tested) -> Table:
    keys = ("cwnd_fast", "cwnd_slow", "rtos_fall", "rtos_rise", "rtos_fast", "rtos_slow")
    return Table(
        title="Window and timeouts by the channel's rate",
        header=[
            "setting",
            "correlation",
            "cwnd, fast [segments]",
            "cwnd, slow [segments]",
            "timeouts per slot after a fall",
            "after a rise",
            "no change, fast",
            "no change, slow",
            "share of timeouts after a fall [%]",
        ],
        rows=[
            [
                setting.name,
                mean_text(grid[POINT_8].of("correlation")),
                *(f"{grid[POINT_8].mean(key):.2f}" for key in keys),
                f"{100 * grid[POINT_8].mean('share_on_fall'):.0f}",
            ]
            for setting, grid in tested.grids.items()
        ],
    )
