"""Fig. 3 and 4: channels of fixed bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim, verdicts
from cogtcp.studies.verdicts import mean_text

from .measuring import Grid, traces
from .settings import (
    BASE,
    MARGIN,
    NAMES,
    RATES_MBPS,
    THREE,
    VARIED_RATES_MBPS,
    C,
    N,
    Point,
    W,
)
from .testing import LINES, all_above, curve, same, test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies.verdicts import Finding


def _rates(study: Context, transports: Sequence[str]) -> tuple[list[Point], list[Point]]:
    rates = VARIED_RATES_MBPS if study.quick else RATES_MBPS
    return (
        [Point(transport, rate) for transport in transports for rate in rates],
        [Point(transport, rate) for transport in transports for rate in VARIED_RATES_MBPS],
    )


@claim("chain-f3a")
def newreno_ignores_bandwidth(study: Context) -> Measured:
    """Goodput and window of NewReno over the rate of the bottleneck."""
    points, varied = _rates(study, [N])

    def judge(grid: Grid) -> dict[str, Finding]:
        labels = [f"{point.rate_mbps:g} Mbit/s" for point in grid]
        return {
            "goodput / mean over the rates": verdicts.flat(
                [cell.goodput for cell in grid.values()], MARGIN, labels
            ),
            "cwnd / mean over the rates": verdicts.flat(
                [cell.of("cwnd") for cell in grid.values()], MARGIN, labels
            ),
        }

    tested = test(study, points, varied, judge)
    base = tested.grids[BASE]
    least, most = points[0], points[-1]
    low, high = base[least].mean("goodput_mbps"), base[most].mean("goodput_mbps")
    share = base[least].mean("share")
    ratio = (most.rate_mbps or 1) / (least.rate_mbps or 1)
    return tested.measured(
        measured=(
            f"NewReno has {low:.2f} Mbit/s at {least.rate_mbps:g} Mbit/s and {high:.2f} "
            f"Mbit/s at {most.rate_mbps:g} Mbit/s: {high / low:.2f} times at {ratio:.2f} times the "
            f"bandwidth; mean cwnd {base[least].mean('cwnd'):.1f} and {base[most].mean('cwnd'):.1f} segments"
        ),
        test=(
            f"At every rate, goodput and mean cwnd within {MARGIN:.0%} of their mean over the rates (two "
            f"one-sided t-tests, 5 %); rates {', '.join(f'{point.rate_mbps:g}' for point in points)} Mbit/s, "
            f"elsewhere {', '.join(f'{point.rate_mbps:g}' for point in varied)}."
        ),
        why=(
            f"The window that a cycle of 5.1 s allows, {base[most].mean('cwnd_most'):.0f} segments at most, "
            f"is what limits the flow, not the link, of which it uses {share:.0%} of its half at "
            f"{least.rate_mbps:g} Mbit/s and {base[most].mean('share'):.0%} at {most.rate_mbps:g} Mbit/s."
        ),
        figures=[_fig4(study)],
        facts={"gain": high / low, "ratio": ratio},
    )


def _fig4(study: Context) -> Figure:
    rates = (5.0, 10.0, 15.0)
    drawn = traces(study, [Point(rate_mbps=rate) for rate in rates])
    return Figure(
        id="fig4",
        title="Fig. 4: cwnd of NewReno for different channel bandwidths",
        x_label="Time [s]",
        y_label="cwnd of flow 1 [segments]",
        curves=[
            Curve(f"{rate:g} Mbit/s", trace["time_s"], trace["cwnd"], style=style)
            for rate, trace, style in zip(rates, drawn, LINES, strict=True)
        ],
        caption="One seed, from the start. The paper does not say which three bandwidths it drew.",
        paper=study.study.sentences("fig4"),
    )


@claim("chain-f3b")
def westwood_below_ten(study: Context) -> Measured:
    """Compare the three over the rate of the bottleneck."""
    points, varied = _rates(study, THREE)

    def judge(grid: Grid) -> dict[str, Finding]:
        below = sorted({point.rate_mbps for point in grid if point.rate_mbps and point.rate_mbps < 10})

        def at(transport: str, rate: float) -> list[float]:
            return grid[Point(transport, rate)].goodput

        return {
            "Westwood+ above NewReno below 10": all_above([(at(W, rate), at(N, rate)) for rate in below]),
            "Westwood+ above Compound below 10": all_above([(at(W, rate), at(C, rate)) for rate in below]),
            "Compound / Westwood+ at 15": same(at(C, 15.0), at(W, 15.0), MARGIN),
            "Compound / NewReno at the lowest": same(at(C, below[0]), at(N, below[0]), MARGIN),
        }

    tested = test(study, points, varied, judge)
    base = tested.grids[BASE]
    rates = sorted({point.rate_mbps or 0.0 for point in points})
    table = Table(
        title="Rate by rate",
        header=[
            "bottleneck [Mbit/s]",
            *(f"{NAMES[name]} [Mbit/s]" for name in THREE),
            "Compound above 38 [% of time]",
            "Westwood+, recovery [s a cycle]",
            "Compound, recovery [s a cycle]",
        ],
        rows=[
            [
                f"{rate:g}",
                *(mean_text(base[Point(name, rate)].goodput) for name in THREE),
                f"{100 * base[Point(C, rate)].mean('above_38'):.0f}",
                f"{base[Point(W, rate)].mean('recovering_s'):.2f}",
                f"{base[Point(C, rate)].mean('recovering_s'):.2f}",
            ]
            for rate in rates
        ],
    )
    lowest, top = base[Point(C, rates[0])], base[Point(C, 15.0)]
    ratio = top.mean("goodput_mbps") / base[Point(W, 15.0)].mean("goodput_mbps")
    low_ratio = lowest.mean("goodput_mbps") / base[Point(N, rates[0])].mean("goodput_mbps")
    why = (
        f"Compound's window is above 38 segments during {lowest.mean('above_38'):.0%} of the time at "
        f"{rates[0]:g} Mbit/s and {top.mean('above_38'):.0%} at 15 Mbit/s. "
    )
    if low_ratio > 1 + MARGIN:
        why += (
            "The threshold is one of the window, and the window of these flows is set by the cycle and not "
            "by the rate (chain-f3a): what takes NewReno to 38 segments in a cycle does so in a slow "
            f"channel too, and from there the delay window makes Compound {low_ratio:.2f} times NewReno. "
            "That Compound degrades to NewReno needs a cycle too short, or a round trip too long, for 38 "
            "segments, not a slow channel."
        )
    else:
        why += f"Compound has {low_ratio:.2f} times NewReno's goodput there."
    return tested.measured(
        measured=(
            f"at {rates[0]:g} Mbit/s Westwood+ {base[Point(W, rates[0])].mean('goodput_mbps'):.2f}, Compound "
            f"{lowest.mean('goodput_mbps'):.2f}, NewReno {base[Point(N, rates[0])].mean('goodput_mbps'):.2f} "
            f"Mbit/s; at 15 Mbit/s {base[Point(W, 15.0)].mean('goodput_mbps'):.2f}, "
            f"{top.mean('goodput_mbps'):.2f}, {base[Point(N, 15.0)].mean('goodput_mbps'):.2f} Mbit/s"
        ),
        test=(
            "Westwood+ above NewReno, and above Compound, at every rate below 10 Mbit/s (one-sided paired "
            "t-tests, 5 %; the estimate is the least difference as a share of the other's mean); Compound "
            f"within {MARGIN:.0%} of Westwood+ at 15 Mbit/s and of NewReno at {rates[0]:g} Mbit/s (two "
            "one-sided t-tests, 5 %)."
        ),
        why=why,
        figures=[
            Figure(
                id="fig3",
                title="Fig. 3: average throughput in the fixed bandwidth model",
                x_label="Bandwidth of the bottleneck [Mbit/s]",
                y_label="Goodput of flow 1 [Mbit/s]",
                curves=[
                    *(
                        curve(NAMES[name], rates, [base[Point(name, rate)] for rate in rates])
                        for name in THREE
                    ),
                    Curve("half of the bandwidth", rates, [rate / 2 for rate in rates], style="dotted"),
                ],
                caption="Mean and 95 % interval over the seeds.",
                paper=study.study.sentences("fig3"),
            )
        ],
        tables=[table],
        facts={"compound_to_westwood_15": ratio, "compound_to_newreno_low": low_ratio},
    )
