"""Fig. 5: how early the warning should come."""

from __future__ import annotations

from dataclasses import replace

from cogtcp.studies import Context, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure, sentences
from .settings import ADVANCES, CLIENTS, UNSAID, Setting


@claim("trains-f5")
def best_advance_is_one_rtt(study: Context) -> Measured:
    """Test for a maximum at one RTT_TCP: above every other multiple."""
    advances = ADVANCES[::2] if study.quick else ADVANCES
    reports = [Setting(name=f"RTT_TCP: {rtt}", rtt=rtt) for rtt in ("least", "greatest")]
    settings = [Setting(), *UNSAID, *reports]
    grid = {s: [replace(s, tu_advance=a) for a in advances] for s in settings}
    runs = Runs(study, [point for points in grid.values() for point in (*points, points[0].plain)], measure)
    tests, found, best = {}, {}, {}
    for setting, points in grid.items():
        at_one = runs.values(setting, "efficiency")
        tests[setting] = [
            verdicts.greater(at_one, runs.values(p, "efficiency"), where=f"{p.tu_advance:g}")
            for p in points
            if p.tu_advance != 1.0
        ]
        found[setting] = verdicts.combine([test.verdict for test in tests[setting]])
        best[setting] = max(points, key=lambda p: runs.mean(p, "efficiency"))
    base = settings[0]
    least = min(tests[base], key=lambda test: test.estimate)
    plain = grid[base][0].plain
    worse = [p for p in grid[base] if runs.mean(p, "efficiency") < runs.mean(plain, "efficiency")]
    return Measured(
        verdict=verdicts.over_range([found[s] for s in settings if s not in reports]),
        measured=(
            f"efficiency {runs.text(base, 'efficiency')} at 1 RTT_TCP, best "
            f"{runs.text(best[base], 'efficiency')} at {best[base].tu_advance:g}; nearest rival, at "
            f"{least.where}: {least.statement}; without managers {runs.text(plain, 'efficiency')}"
        ),
        ci=(least.low, least.high),
        test=(
            "One-sided paired t-tests (5 %) that efficiency at 1 RTT_TCP is above that at each other "
            "multiple; "
            f"at the base and at {len(UNSAID)} values of what the paper leaves unsaid. {CLIENTS} clients."
        ),
        why=_why(runs, base, grid[base], worse),
        figures=[
            Figure(
                id="fig5",
                title="Efficiency over TU_advance",
                x_label="TU_advance / RTT_TCP",
                y_label="efficiency",
                y_range=(0.8, 1.02),
                curves=[runs.curve(s.name, advances, grid[s], "efficiency") for s in settings[:4]],
                caption=f"{CLIENTS} clients, outages of handovers and tunnels.",
                paper=sentences(study, "fig5"),
            )
        ],
        tables=[
            Table(
                title="Efficiency by TU_advance / RTT_TCP",
                header=["setting", *(f"{a:g}" for a in advances), "no manager", "best", "verdict"],
                rows=[
                    [
                        s.name,
                        *(f"{runs.mean(p, 'efficiency'):.3f}" for p in points),
                        f"{runs.mean(points[0].plain, 'efficiency'):.3f}",
                        f"{best[s].tu_advance:g}",
                        found[s],
                    ]
                    for s, points in grid.items()
                ],
                caption=(
                    "The last rows vary what clients report as RTT_TCP (at the base: the smoothed one): "
                    "shown, no "
                    "part of the verdict."
                ),
            ),
        ],
        facts={
            "best": best[base].tu_advance,
            "one": runs.mean(base, "efficiency"),
            "at_best": runs.mean(best[base], "efficiency"),
            "zero": runs.mean(grid[base][0], "efficiency"),
            "plain": runs.mean(plain, "efficiency"),
            "rtt": runs.mean(base, "rtt_tcp_s"),
        },
        settings={s.name: found[s] for s in settings if s not in reports},
    )


def _why(runs: Runs, base: Setting, points: list[Setting], worse: list[Setting]) -> str:
    """Tell from the runs what a late warning loses and an early one wastes."""
    late = [p for p in points if p.tu_advance < 1]
    early = [p for p in points if p.tu_advance > 1]
    rtt = runs.mean(base, "rtt_tcp_s")
    text = (
        f"RTT_TCP is {rtt:.2f} s, queue included, the greatest of all clients; the path without queues takes "
        "0.18 s. "
        "What a warning must outrun is the part of it from the client to the source and back to the radio, "
        "0.15 s "
        "and the queue: a whole RTT_TCP is more than that. Late: "
        + ", ".join(
            f"{p.tu_advance:g} gives {runs.mean(p, 'timeouts'):.1f} timeouts and "
            f"{runs.mean(p, 'silence_drops'):.0f} packets lost in an outage"
            for p in [*late, base]
        )
        + ". Early: "
        + ", ".join(
            f"{p.tu_advance:g} freezes {runs.mean(p, 'frozen_s') - runs.mean(base, 'frozen_s'):.0f} s longer"
            for p in early
        )
        + "."
    )
    if worse:
        text += " Worse than no manager at all: " + ", ".join(f"{p.tu_advance:g}" for p in worse) + "."
    return text
