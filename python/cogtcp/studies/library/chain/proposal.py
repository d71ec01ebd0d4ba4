"""Section 5: the authors' proposal, and the transports of today."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Measured, Table, claim
from cogtcp.studies.verdicts import mean_text

from .settings import (
    BASE,
    BEYOND,
    NAMES,
    THREE,
    WC,
    C,
    Point,
    W,
)
from .testing import above, test

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.studies.verdicts import Finding

    from .measuring import Grid


SITUATIONS = {
    "sensing, 15 Mbit/s": Point(rate_mbps=15.0),
    "sensing, [1, 15] Mbit/s": Point(channel_mbps=(1, 15)),
    "PU each 15 s": Point(pu_s=15.0),
}


def who_has_most(best: Mapping[str, str]) -> str:
    """Say which transport has most in which situation, `best` by situation."""
    if len(set(best.values())) == 1:
        return f"{next(iter(best.values()))} has most in each of the {len(best)} situations"
    return ", ".join(f'{name} has most in "{situation}"' for situation, name in best.items())


@claim("chain-s5")
def westwood_with_compound(study: Context) -> Measured:
    """Compare the authors' proposal with its two parents, and today's transports with all of them."""
    every = (*THREE, WC)
    varied = [replace(point, transport=name) for point in SITUATIONS.values() for name in (W, C, WC)]
    points = [replace(point, transport=name) for point in SITUATIONS.values() for name in (*every, *BEYOND)]

    def judge(grid: Grid) -> dict[str, Finding]:
        return {
            f"above {NAMES[parent]}, {situation}": above(
                grid[replace(point, transport=WC)].goodput, grid[replace(point, transport=parent)].goodput
            )
            for situation, point in SITUATIONS.items()
            for parent in (W, C)
        }

    tested = test(study, points, varied, judge)
    base = tested.grids[BASE]

    def mean(name: str, point: Point) -> float:
        return base[replace(point, transport=name)].mean("goodput_mbps")

    gains = {
        situation: {parent: mean(WC, point) / mean(parent, point) - 1 for parent in (W, C)}
        for situation, point in SITUATIONS.items()
    }
    best = {
        situation: max((mean(name, point), name) for name in (*every, *BEYOND))[1]
        for situation, point in SITUATIONS.items()
    }
    fixed = SITUATIONS["sensing, 15 Mbit/s"]
    parts = tested.parts[BASE]
    failing = [part for part, finding in parts.items() if finding.verdict != "holds"]
    return tested.measured(
        measured="; ".join(
            f"{situation}: the combination {mean(WC, point):.2f}, Westwood+ {mean(W, point):.2f}, Compound "
            f"{mean(C, point):.2f} Mbit/s"
            for situation, point in SITUATIONS.items()
        ),
        test=(
            "One-sided paired t-tests (5 %) that Westwood+'s ssthresh with Compound's growth has more "
            "goodput than either, in three situations: sensing at 15 Mbit/s, sensing with channels in "
            "[1, 15] Mbit/s, PUs each 15 s on average. Estimates are differences as shares of the "
            "parent's goodput."
        ),
        why=(
            (
                "At the base it is above both everywhere. "
                if not failing
                else f"At the base not shown: {', '.join(failing)}. "
            )
            + f"At 15 Mbit/s it spends {base[replace(fixed, transport=WC)].mean('recovering_s'):.2f} s of a "
            "cycle in fast recovery, Westwood+ "
            f"{base[replace(fixed, transport=W)].mean('recovering_s'):.2f} s, Compound "
            f"{base[replace(fixed, transport=C)].mean('recovering_s'):.2f} s; mean windows are "
            f"{base[replace(fixed, transport=WC)].mean('cwnd'):.0f}, "
            f"{base[replace(fixed, transport=W)].mean('cwnd'):.0f} and "
            f"{base[replace(fixed, transport=C)].mean('cwnd'):.0f} segments. Of all transports measured "
            f"{who_has_most(best)}."
        ),
        tables=[
            Table(
                title="All transports, at the base",
                header=[
                    "transport",
                    *(f"{situation} [Mbit/s]" for situation in SITUATIONS),
                    "timeouts at 15 Mbit/s [% of silences]",
                ],
                rows=[
                    [
                        name,
                        *(
                            mean_text(base[replace(point, transport=name)].goodput)
                            for point in SITUATIONS.values()
                        ),
                        f"{100 * base[replace(fixed, transport=name)].mean('timed_out'):.0f}",
                    ]
                    for name in (*every, *BEYOND)
                ],
                caption=(
                    "Both flows run the same transport; least RTO 1 s, no F-RTO. The first four have no "
                    "SACK, as the paper's simulator; the others do."
                ),
            )
        ],
        facts={"gains": gains, "best": best},
    )
