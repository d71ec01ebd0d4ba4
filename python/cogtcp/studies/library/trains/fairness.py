"""Beyond the paper: clients with different round-trip times, all warned by the greatest RTT_TCP."""

from __future__ import annotations

from cogtcp.studies import Context, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure
from .settings import FAIR, Setting

SPREADS_MS = (0.0, 10.0, 20.0, 40.0)


@claim("trains-x2")
def fair_with_the_maxima(study: Context) -> Measured:
    """Jain's index no lower with triggers than without."""
    spreads = SPREADS_MS[::2] if study.quick else SPREADS_MS
    points = [Setting(spread_ms=spread) for spread in spreads]
    # The same with the RTT_TCP of the path without queues, for what the maximum costs.
    runs = Runs(study, [s for p in points for s in (p, p.plain)], measure)
    base = next(p for p in points if p.spread_ms == 20.0)
    n = base.clients
    ratio = [
        a / b for a, b in zip(runs.values(base, "fairness"), runs.values(base.plain, "fairness"), strict=True)
    ]
    equal = verdicts.equivalent(ratio, 1.0, FAIR)
    better = verdicts.greater(runs.values(base, "fairness"), runs.values(base.plain, "fairness"))
    verdict = "holds" if better.verdict == "holds" else equal.verdict
    gain = runs.gain(base)
    ends = {key: runs.gain(base, key) for key in ("first_mbps", "last_mbps")}

    def rtts(spread: float) -> str:
        return f"{180:g} to {180 + 2 * spread * (n - 1):g} ms" if spread else "180 ms, all"

    return Measured(
        verdict=verdict,
        measured=(
            f"Jain's index with base RTTs of {rtts(20.0)}: {runs.text(base, 'fairness')} with triggers, "
            f"{runs.text(base.plain, 'fairness')} without"
        ),
        ci=(better.low, better.high),
        test=(
            "Holds if the index is higher with triggers (one-sided paired t-test, 5 %), or the same within "
            f"{FAIR:.0%} "
            "(TOST on the ratio). The interval is that of the difference. 10 clients, RTTs evenly spread."
        ),
        why=(
            f"All are frozen by the greatest RTT_TCP, {runs.mean(base, 'rtt_tcp_s'):.2f} s, and so all for "
            "the same "
            f"time: the shortest path (180 ms) {_moves(ends['first_mbps'])}, the longest "
            f"{_moves(ends['last_mbps'])}. With triggers there are {runs.mean(base, 'timeouts'):.1f} "
            f"timeouts an outage instead of {runs.mean(base.plain, 'timeouts'):.1f}. The gain in efficiency "
            f"is {gain.statement}: the maximum freezes the short paths longer than they need."
        ),
        figures=[
            Figure(
                id="fairness",
                title="Fairness over the spread of round-trip times",
                x_label="longest base RTT [ms]",
                y_label="Jain's index",
                y_range=(0.0, 1.05),
                curves=[
                    runs.curve(
                        "triggers and Freeze", [180 + 2 * s * (n - 1) for s in spreads], points, "fairness"
                    ),
                    runs.curve(
                        "NewReno",
                        [180 + 2 * s * (n - 1) for s in spreads],
                        [p.plain for p in points],
                        "fairness",
                    ),
                ],
                caption="10 clients; the shortest base RTT is 180 ms.",
            )
        ],
        tables=[
            Table(
                title="Shares by round-trip time",
                header=[
                    "base RTTs",
                    "RTT_TCP [s]",
                    "fairness, with / without",
                    "shortest path, with / without [Mbit/s]",
                    "longest path, with / without [Mbit/s]",
                    "gain in efficiency",
                ],
                rows=[
                    [
                        rtts(p.spread_ms),
                        f"{runs.mean(p, 'rtt_tcp_s'):.2f}",
                        *(
                            f"{runs.mean(p, key):.3f} / {runs.mean(p.plain, key):.3f}"
                            for key in ("fairness", "first_mbps", "last_mbps")
                        ),
                        f"{runs.gain(p).estimate:+.3f} ({runs.gain(p).verdict})",
                    ]
                    for p in points
                ],
            )
        ],
        facts={
            "with": runs.mean(base, "fairness"),
            "without": runs.mean(base.plain, "fairness"),
            "longest": 180 + 2 * 20.0 * (n - 1),
            "gain": gain.estimate,
            "verdict": gain.verdict,
        },
    )


def _moves(finding: verdicts.Finding) -> str:
    change = {"holds": "gains", "differs": "loses", "unclear": "is not shown to change, by"}[finding.verdict]
    return f"{change} {abs(finding.estimate) * 1000:.0f} kbit/s"
