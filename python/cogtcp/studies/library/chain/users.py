"""Fig. 9: primary users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.studies import Context, Figure, Measured, claim

from .settings import (
    BASE,
    FLAT_END,
    NAMES,
    PU_S,
    THREE,
    C,
    N,
    Point,
    W,
)
from .testing import above, all_above, curve, same, test

if TYPE_CHECKING:
    from cogtcp.studies.verdicts import Finding

    from .measuring import Grid


@claim("chain-f9")
def rarer_users(study: Context) -> Measured:
    """Goodput over the mean time between arrivals of PUs."""
    times = PU_S[::2] + PU_S[3:] if study.quick else PU_S
    points = [Point(name, pu_s=pu_s) for name in THREE for pu_s in times]
    varied = [Point(name, pu_s=pu_s) for name in THREE for pu_s in (5.0, 15.0, 20.0)]

    def judge(grid: Grid) -> dict[str, Finding]:
        def at(name: str, pu_s: float) -> list[float]:
            return grid[Point(name, pu_s=pu_s)].goodput

        return {
            "all gain to 20 s": all_above([(at(name, 20.0), at(name, 5.0)) for name in THREE]),
            "NewReno, 20 / 15 s": same(at(N, 20.0), at(N, 15.0), FLAT_END),
            "Westwood+, 20 / 15 s": same(at(W, 20.0), at(W, 15.0), FLAT_END),
            "Compound, gain to 20 s": above(at(C, 20.0), at(C, 15.0)),
        }

    tested = test(study, points, varied, judge)
    base = tested.grids[BASE]

    def mean(name: str, pu_s: float, key: str = "goodput_mbps") -> float:
        return base[Point(name, pu_s=pu_s)].mean(key)

    last = {name: mean(name, 20.0) / mean(name, 15.0) - 1 for name in THREE}
    return tested.measured(
        measured="; ".join(
            f"{NAMES[name]} " + ", ".join(f"{mean(name, pu_s):.2f}" for pu_s in times) for name in THREE
        )
        + f" Mbit/s at means of {', '.join(f'{pu_s:g}' for pu_s in times)} s",
        test=(
            "One-sided paired t-tests (5 %) that each of the three has more at 20 s than at 5 s, and "
            f"Compound more at 20 s than at 15 s; NewReno and Westwood+ at 20 s within {FLAT_END:.0%} of 15 "
            "s (two one-sided t-tests, 5 %)."
        ),
        why=(
            "From 15 to 20 s "
            + ", ".join(f"{NAMES[name]} changes by {last[name]:+.0%}" for name in THREE)
            + f". At 15 s NewReno has {mean(N, 15.0, 'share'):.0%} of its half of the link, Westwood+ "
            f"{mean(W, 15.0, 'share'):.0%}, Compound {mean(C, 15.0, 'share'):.0%}: who is near its share "
            "has nothing left to gain, who is far from it goes on gaining, as its window is set by the "
            "time since the last loss. An exponential time has no typical value: a third of the gaps of "
            "mean 15 s are shorter than 6 s."
        ),
        figures=[
            Figure(
                id="fig9",
                title="Fig. 9: average throughput over the mean time between arrivals of PUs",
                x_label="Mean time between arrivals [s]",
                y_label="Goodput of flow 1 [Mbit/s]",
                curves=[
                    curve(NAMES[name], times, [base[Point(name, pu_s=pu_s)] for pu_s in times])
                    for name in THREE
                ],
                caption="Switching takes 0.1 s; no sensing. Mean and 95 % interval over the seeds.",
                paper=study.study.sentences("fig9"),
            )
        ],
        facts={"last_step": last},
    )
