"""Fig. 5 and 6: a new channel after each sensing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.statistics import mean_interval
from cogtcp.studies import Context, Curve, Figure, Measured, claim, verdicts
from cogtcp.studies.verdicts import mean_text

from .measuring import Grid, traces
from .settings import (
    BASE,
    MARGIN,
    NAMES,
    RANGES_MBPS,
    THREE,
    WELL_UNDER,
    C,
    N,
    Point,
    W,
)
from .testing import binned, curve, test

if TYPE_CHECKING:
    from cogtcp.studies.verdicts import Finding


@claim("chain-f5")
def range_hardly_matters(study: Context) -> Measured:
    """Goodput over the width of the range that channels are drawn from."""
    points = [Point(name, channel_mbps=channel) for name in THREE for channel in RANGES_MBPS]

    def judge(grid: Grid) -> dict[str, Finding]:
        labels = [f"[{low}, {high}]" for low, high in RANGES_MBPS]
        return {
            NAMES[name]: verdicts.flat(
                [grid[Point(name, channel_mbps=channel)].goodput for channel in RANGES_MBPS], MARGIN, labels
            )
            for name in THREE
        }

    tested = test(study, points, points, judge)
    base = tested.grids[BASE]
    widths = [float(high - low) for low, high in RANGES_MBPS]

    def mean(name: str, channel: tuple[int, int], key: str = "goodput_mbps") -> float:
        return base[Point(name, channel_mbps=channel)].mean(key)

    changes = {name: mean(name, RANGES_MBPS[-1]) / mean(name, RANGES_MBPS[0]) for name in THREE}
    most = min(changes, key=lambda name: changes[name])
    return tested.measured(
        measured="; ".join(
            f"{NAMES[name]} {mean(name, RANGES_MBPS[0]):.2f} Mbit/s in [7, 9], "
            f"{mean(name, RANGES_MBPS[-1]):.2f} in [1, 15]"
            for name in THREE
        ),
        test=(
            f"For each of the three, goodput within {MARGIN:.0%} of its mean over the ranges, in every range "
            "(two one-sided t-tests, 5 %)."
        ),
        why=(
            f"The wider range moves {NAMES[most]} most, to {changes[most]:.2f} of the narrow one, and "
            f"NewReno to {changes[N]:.2f}. The stability is that of a low use of the channel: of its share "
            f"NewReno takes {mean(N, RANGES_MBPS[0], 'share'):.0%} in [7, 9], Westwood+ "
            f"{mean(W, RANGES_MBPS[0], 'share'):.0%}, Compound {mean(C, RANGES_MBPS[0], 'share'):.0%}. Half "
            "of a slow channel is less than what they take in [7, 9]; that alone would leave NewReno "
            f"{_capped(mean(N, RANGES_MBPS[0])):.2f}, Westwood+ {_capped(mean(W, RANGES_MBPS[0])):.2f} and "
            f"Compound {_capped(mean(C, RANGES_MBPS[0])):.2f} of it, where {changes[N]:.2f}, "
            f"{changes[W]:.2f} and {changes[C]:.2f} are measured. In [1, 15] Westwood+ spends "
            f"{mean(W, RANGES_MBPS[-1], 'recovering_s'):.2f} s of a cycle in fast recovery, in [7, 9] "
            f"{mean(W, RANGES_MBPS[0], 'recovering_s'):.2f} s."
        ),
        figures=[
            Figure(
                id="fig5",
                title="Fig. 5: average throughput in channels of varying bandwidth",
                x_label="Width of the range of bandwidth around 8 Mbit/s [Mbit/s]",
                y_label="Goodput of flow 1 [Mbit/s]",
                curves=[
                    *(
                        curve(
                            NAMES[name],
                            widths,
                            [base[Point(name, channel_mbps=channel)] for channel in RANGES_MBPS],
                        )
                        for name in THREE
                    ),
                    Curve("optimal share", widths, [4.0] * 3, style="dotted"),
                ],
                caption="[7, 9], [6, 10] and [1, 15] Mbit/s; mean and 95 % interval over the seeds.",
                paper=study.study.sentences("fig5"),
            )
        ],
        facts={"changes": changes},
    )


def _capped(mbps: float) -> float:
    """Return what is left of a constant demand that gets half of each channel in [1, 15] Mbit/s at most.

    The mean of min(demand, u) over u uniform in [0.5, 7.5], over the demand.
    """
    low, high = 0.5, 7.5
    return 1 - max(mbps - low, 0.0) ** 2 / (2 * (high - low) * mbps)


@claim("chain-f6")
def westwood_under_its_share(study: Context) -> Measured:
    """Goodput of Westwood+ against half of the channel's bandwidth."""
    points = [Point(W, channel_mbps=channel) for channel in RANGES_MBPS]

    def judge(grid: Grid) -> dict[str, Finding]:
        result = {}
        for point in points:
            shares = grid[point].of("share")
            under = verdicts.greater([WELL_UNDER] * len(shares), shares)
            own = mean_interval(shares)
            result["share in [{}, {}]".format(*(point.channel_mbps or ()))] = replace(
                under, estimate=own.mean, low=own.low, high=own.high
            )
        return result

    tested = test(study, points, points, judge)
    base = tested.grids[BASE]
    wide = base[points[-1]]
    (trace,) = traces(study, [points[-1]])
    return tested.measured(
        measured="Westwood+ gets "
        + ", ".join(
            f"{mean_text(base[point].of('share'))} of its share in [{low}, {high}]"
            for point in points
            for low, high in [point.channel_mbps or (0, 0)]
        ),
        test=(
            f"One-sided t-test (5 %) that goodput is below {WELL_UNDER:.2f} of half of the channels' mean "
            "bandwidth, in each range."
        ),
        why=(
            f"In [1, 15] {wide.mean('timed_out'):.0%} of the silences end in a timeout, "
            f"{wide.mean('outage_s'):.2f} s after their start, and {wide.mean('recovering_s'):.2f} s of a "
            "cycle go into fast recoveries of one hole a round trip. In [7, 9] it is "
            f"{base[points[0]].mean('timed_out'):.0%}, {base[points[0]].mean('outage_s'):.2f} s and "
            f"{base[points[0]].mean('recovering_s'):.2f} s: the wait for the timer alone takes "
            f"{base[points[0]].mean('outage_s') / 5.1:.0%} of a cycle."
        ),
        figures=[
            Figure(
                id="fig6",
                title="Fig. 6: real-time throughput of Westwood+ and its optimal share",
                x_label="Time [s]",
                y_label="Goodput of flow 1 [Mbit/s]",
                curves=[
                    Curve("Westwood+", *binned(trace, "mbps", 4), style="line"),
                    Curve("optimal share", *binned(trace, "share", 4), style="dashed"),
                ],
                caption="One seed, channels in [1, 15] Mbit/s, averaged over 1 s, from the start.",
                paper=study.study.sentences("fig6"),
            )
        ],
        facts={"share": wide.mean("share")},
    )
