"""Fig. 7 and 8: the time between sensings, and the timeouts that they cause."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.statistics import mean_interval
from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim, verdicts
from cogtcp.studies.verdicts import mean_text

from .measuring import Grid, traces
from .sensing_time import what_a_short_silence_takes
from .settings import BASE, FEW, MOST, NAMES, OFF_S, ON_S, SHARP, THREE, Point, W
from .testing import LINES, above, curve, test

if TYPE_CHECKING:
    from cogtcp.studies.verdicts import Finding


@claim("chain-f7b")
def jump_with_the_first_step_of_on(study: Context) -> Measured:
    """Goodput over the time between two sensings."""
    offs = (0.1,) if study.quick else OFF_S
    points = [Point(name, on_s=on_s, off_s=off_s) for off_s in offs for name in THREE for on_s in ON_S]
    varied = [Point(name, on_s=on_s) for name in THREE for on_s in ON_S]

    def judge(grid: Grid) -> dict[str, Finding]:
        result = {}
        for name in THREE:
            five, ten, fifteen = (grid[Point(name, on_s=on_s)].goodput for on_s in ON_S)
            result[f"{NAMES[name]}, jump to 10 s"] = above(ten, [(1 + SHARP) * value for value in five])
            first = [b - a for a, b in zip(five, ten, strict=True)]
            second = [b - a for a, b in zip(ten, fifteen, strict=True)]
            mean = statistics.fmean(five)
            result[f"{NAMES[name]}, less to 15 s"] = verdicts.greater(
                [value / mean for value in first], [value / mean for value in second]
            )
        return result

    tested = test(study, points, varied, judge)
    base = tested.grids[BASE]
    steps = {name: [base[Point(name, on_s=on_s)].mean("goodput_mbps") for on_s in ON_S] for name in THREE}
    shares = {name: base[Point(name, on_s=15.0)].mean("share") for name in THREE}
    ratio = {name: (values[2] - values[1]) / (values[1] - values[0]) for name, values in steps.items()}
    linear = [name for name in THREE if ratio[name] > 0.75]
    why = "; ".join(
        f"{NAMES[name]}: the second step is {ratio[name]:.2f} of the first, at {shares[name]:.0%} of its "
        "half of the link"
        for name in THREE
    )
    why += (
        ". A flow that loses its window in every cycle gains in proportion to the cycle, 5 s more each time, "
        "until the link's share limits it (the AIMD model: the window at the end of a cycle is twice its "
        "growth). "
    )
    if linear:
        why += (
            f"{', '.join(NAMES[name] for name in linear)} does not reach the share in 15 s, so nothing makes "
            "the second step smaller."
        )
    return tested.measured(
        measured="; ".join(
            f"{NAMES[name]} " + ", ".join(f"{value:.2f}" for value in steps[name]) for name in THREE
        )
        + " Mbit/s at on 5, 10, 15 s (off 0.1 s)",
        test=(
            "For each of the three at off 0.1 s, one-sided paired t-tests (5 %): goodput at on 10 s is more "
            f"than {SHARP:.0%} above that at 5 s; the gain from 10 to 15 s is less than that from 5 to 10 s. "
            "Estimates are shares of the goodput at 5 s."
        ),
        why=why,
        figures=[
            Figure(
                id="fig7-on",
                title="Fig. 7, over the time between sensings",
                x_label="Transmission time, on [s]",
                y_label="Goodput of flow 1 [Mbit/s]",
                curves=[
                    curve(NAMES[name], ON_S, [base[Point(name, on_s=on_s)] for on_s in ON_S])
                    for name in THREE
                ],
                caption="Off 0.1 s; mean and 95 % interval over the seeds.",
                paper=study.study.sentences("fig7")[2:],
            )
        ],
        tables=[]
        if study.quick
        else [
            Table(
                title="All pairs of on and off",
                header=["transport", "off [s]", *(f"on {on_s:g} s [Mbit/s]" for on_s in ON_S)],
                rows=[
                    [
                        NAMES[name],
                        f"{off_s:g}",
                        *(mean_text(base[Point(name, on_s=on_s, off_s=off_s)].goodput) for on_s in ON_S),
                    ]
                    for name in THREE
                    for off_s in OFF_S
                ],
            )
        ],
        facts={"second_step": ratio},
    )


@claim("chain-f8")
def no_timeout_in_a_short_silence(study: Context) -> Measured:
    """Shares of the silences that are followed by a timeout of Westwood+."""
    points = [Point(W, off_s=off_s) for off_s in OFF_S]

    def judge(grid: Grid) -> dict[str, Finding]:
        result = {}
        for point in points:
            shares = grid[point].of("timed_out")
            level = [FEW if point.off_s == 0.05 else MOST] * len(shares)
            finding = (
                verdicts.greater(level, shares) if point.off_s == 0.05 else verdicts.greater(shares, level)
            )
            own = mean_interval(shares)
            result[f"with timeout at {point.off_s:g} s"] = replace(
                finding, estimate=own.mean, low=own.low, high=own.high
            )
        return result

    tested = test(study, points, points, judge)
    base = tested.grids[BASE]
    share = base[points[0]].mean("timed_out")
    drawn = traces(study, points[:2])
    held = next((setting for setting in tested.grids if setting.silence == "hold"), None)
    why = (
        what_a_short_silence_takes(base[points[0]], base[points[1]], NAMES[W])
        + f"Its window of {base[points[0]].mean('cwnd'):.0f} segments fills so much of the round trip of "
        f"{BASE.rtt_ms:g} ms that {1 - base[points[0]].mean('hit'):.0%} of the silences of 0.05 s fall into "
        "a pause. The paper looks at 15 s with three silences: none of three has a timeout with a "
        f"probability of about {(1 - share) ** 3:.0%} here."
    )
    if held is not None:
        grid = tested.grids[held]
        why += (
            f" If packets wait (hold), {grid[points[0]].mean('timed_out'):.0%} and "
            f"{grid[points[1]].mean('timed_out'):.0%} of the silences are followed by a timeout, at 0.05 and "
            f"0.1 s, though both are shorter than the least RTO: in {grid[points[0]].mean('overflowed'):.0%} "
            f"and {grid[points[1]].mean('overflowed'):.0%} of these cycles the queue overflowed first."
        )
    return tested.measured(
        measured="Westwood+ has a timeout after "
        + ", ".join(
            f"{base[point].mean('timed_out'):.0%} of the silences of {point.off_s:g} s" for point in points
        ),
        test=(
            "One-sided t-tests (5 %) of the share of silences followed by a timeout before the next: below "
            f"{FEW:.0%} at 0.05 s, above {MOST:.0%} at 0.1, 0.2 and 0.4 s."
        ),
        why=why,
        figures=[
            Figure(
                id="fig8",
                title="Fig. 8: cwnd of Westwood+ with different sensing times",
                x_label="Time [s]",
                y_label="cwnd of flow 1 [segments]",
                curves=[
                    Curve(
                        f"off {point.off_s:g} s",
                        [time_s for time_s in trace["time_s"] if time_s >= 30],
                        [
                            window
                            for time_s, window in zip(trace["time_s"], trace["cwnd"], strict=True)
                            if time_s >= 30
                        ],
                        style=style,
                    )
                    for point, trace, style in zip(points, drawn, LINES, strict=False)
                ],
                caption="One seed.",
                paper=study.study.sentences("fig8"),
            )
        ],
        facts={"timed_out": [base[point].mean("timed_out") for point in points]},
    )
