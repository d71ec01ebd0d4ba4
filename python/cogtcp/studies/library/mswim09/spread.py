"""Fig. 5: the round-trip time varies with the sensing time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim
from cogtcp.studies.verdicts import mean_text

from .measuring import clean
from .settings import (
    BASE,
    FIG3_T_P,
    FIG4_T_S,
    Point,
    Setting,
)
from .testing import LINES, Part, above, budget, curve, examine
from .tracing import traces, until

if TYPE_CHECKING:
    from cogtcp.studies.verdicts import Finding

    from .measuring import Grid
    from .testing import Tested

POINTS = tuple(Point(t_s=t_s, t_p=FIG3_T_P) for t_s in FIG4_T_S)


@claim("mswim09-f5")
def rtt_varies_more(study: Context) -> Measured:
    """Compare the spread of the RTT at the three sensing times."""

    def judge(setting: Setting, grid: Grid) -> dict[str, Finding]:
        spreads = [grid[point].of("spread_ms") for point in POINTS]
        return {
            f"from {first.t_s:g} to {second.t_s:g} s": above([Part(later, earlier)])
            for first, second, earlier, later in zip(POINTS, POINTS[1:], spreads, spreads[1:], strict=False)
        }

    tested = examine(study, lambda _setting: POINTS, judge)
    base = tested.base
    drawn = traces(study, POINTS)
    cells = {f"{p.t_s:g} s": base[p] for p in POINTS}
    return tested.measured(
        measured="95th percentile less median of the RTT: "
        + ", ".join(f"{mean_text(base[p].of('spread_ms'))}" for p in POINTS)
        + f" ms at t_s {', '.join(f'{p.t_s:g}' for p in POINTS)} s; medians "
        + ", ".join(f"{base[p].mean('rtt_p50_ms'):.0f}" for p in POINTS)
        + " ms",
        test=(
            "NewReno, T_p 0.6 s: the 95th percentile of all RTT samples of a run less their median is "
            "greater at 0.2 s than at 0.025 s, and at 0.3 s than at 0.2 s; one-sided paired t-tests (5 %)."
        ),
        why=_why_spread(tested),
        caption="Differences as shares of the greater spread.",
        figures=[
            Figure(
                id="fig5",
                title="Fig. 5: RTT over time",
                x_label="Time [s]",
                y_label="Smoothed RTT [ms]",
                curves=[
                    Curve(f"t_s {p.t_s:g} s", *until(found, "srtt_ms"), style=style)
                    for p, found, style in zip(POINTS, drawn, LINES, strict=True)
                ],
                caption="One seed at the base, sampled every 0.1 s.",
                paper=study.study.sentences("fig5"),
            ),
            Figure(
                id="fig5-spread",
                title="Spread of the RTT over the SNR",
                x_label="Sensing time t_s [s]",
                y_label="95th percentile - median [ms]",
                curves=[
                    curve(setting.name, FIG4_T_S, [grid[p] for p in POINTS], "spread_ms")
                    for setting, grid in tested.grids.items()
                    if setting is BASE or setting.name.startswith("SNR") or setting.name == "as released"
                ],
                caption="Mean and 95 % interval over the seeds.",
            ),
        ],
        tables=[
            Table(
                title="RTT by sensing time",
                header=["setting", *(f"{p.t_s:g} s: median, 95th percentile [ms]" for p in POINTS)],
                rows=[
                    [
                        setting.name,
                        *(
                            f"{grid[p].mean('rtt_p50_ms'):.0f}, {grid[p].mean('rtt_p95_ms'):.0f}"
                            for p in POINTS
                        ),
                    ]
                    for setting, grid in tested.grids.items()
                ],
            ),
            budget(cells, clean(study, BASE)[0], "Where the time goes, by sensing time"),
        ],
        facts={"spread": {p.t_s: base[p].mean("spread_ms") for p in POINTS}},
    )


def _why_spread(tested: Tested) -> str:
    base = tested.base
    runs = [
        base[p].mean("sensings") / max(base[p].mean("sensings") - base[p].mean("handoffs"), 1e-9)
        for p in POINTS
    ]
    text = (
        "A packet waits for whole silences: t_s, and another t_s for each channel that is reported busy, "
        + ", ".join(f"{n:.1f}" for n in runs)
        + " sensings on average at the three t_s, "
        + ", ".join(f"{n * p.t_s * 1e3:.0f}" for n, p in zip(runs, POINTS, strict=True))
        + " ms. "
    )
    lost = [
        f"{setting.name} ({grid[POINTS[-1]].mean('retried'):.0f})"
        for setting, grid in tested.grids.items()
        if grid[POINTS[-1]].mean("retried") > grid[POINTS[-1]].mean("interfered")
    ]
    if lost:
        text += (
            "What is lost in a silence instead of waiting gives no such sample: more packets of a run at "
            f"{POINTS[-1].t_s:g} s than PUs destroy at {', '.join(lost)}. "
        )
    flat = [
        setting.name
        for setting in tested.grids
        if any(finding.verdict != "holds" for finding in tested.parts[setting].values())
    ]
    if flat:
        text += f"A step is not shown at: {', '.join(flat)}. "
    return text
