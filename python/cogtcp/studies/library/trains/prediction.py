"""Beyond the paper: warnings that err, warnings that are lost, and where freezing stops to pay."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure
from .settings import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.statistics import Interval

ERRORS_S = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0)
LOSSES = (0.0, 0.1, 0.2, 0.5, 0.8)
ADVANCES = (0.5, 1.0, 2.0, 3.0)


@claim("trains-x1")
def pays_with_errors(study: Context) -> Measured:
    """Test for a gain at the error and loss that the claim names; break-evens beside it."""
    errors = ERRORS_S[::2] if study.quick else ERRORS_S
    losses = LOSSES[::2] if study.quick else LOSSES
    advances = ADVANCES[1::2] if study.quick else ADVANCES
    named = _point(0.2, trigger_loss=0.1)
    grid = [[_point(error, trigger_loss=loss) for loss in losses] for error in errors]
    ahead = [[_point(error, tu_advance=advance) for advance in advances] for error in errors]
    records = [
        _point(0.0, name="20 % of outages not predicted", missed=0.2),
        _point(0.0, name="a false alarm each minute", false_interval="60 s"),
        _point(
            0.2,
            name="all of it: 200 ms, 20 % missed, false alarms, 10 % of triggers lost",
            missed=0.2,
            false_interval="60 s",
            trigger_loss=0.1,
        ),
    ]
    plain = _point(0.0).plain
    points = [named, plain, *(p for row in (*grid, *ahead) for p in row), *records]
    runs = Runs(study, points, measure)
    without = runs.values(plain, "efficiency")

    def gain(point: Setting) -> verdicts.Finding:
        return verdicts.greater(runs.values(point, "efficiency"), without)

    def cell(point: Setting) -> str:
        finding = gain(point)
        mark = {"holds": "above", "differs": "below", "unclear": "even"}[finding.verdict]
        return f"{finding.estimate:+.3f} ({mark})"

    by_error = {a: [row[advances.index(a)] for row in ahead] for a in advances}
    even = {a: _break_even(runs, points, errors, without) for a, points in by_error.items()}
    even_loss = _break_even(runs, grid[0], losses, without)
    finding = gain(named)
    base = even[1.0]
    return Measured(
        verdict=finding.verdict,
        measured=(
            f"gain in efficiency at 200 ms and 10 %: {finding.statement}; break-even, triggers never lost, "
            "at an error of "
            f"{_reach(base, errors[-1], 's')}; break-even, times exact, at "
            f"{_reach(even_loss, losses[-1], 'of the triggers lost')}"
        ),
        ci=(finding.low, finding.high),
        test=(
            "One-sided paired t-test (5 %) against the same seeds without managers. Break-even: where the "
            "mean gain, "
            "linear between the points measured, falls to zero; percentile bootstrap over the seeds. "
            f"10 clients, TU_advance 1 RTT_TCP ({runs.mean(named, 'rtt_tcp_s'):.2f} s); the predicted "
            "beginning and end "
            "err independently and normally."
        ),
        why=_why(runs, plain, grid, errors, losses, even, advances),
        figures=[
            Figure(
                id="errors",
                title="What errors of prediction leave of the gain",
                x_label="standard deviation of the predicted times [s]",
                y_label="efficiency",
                y_range=(0.8, 1.02),
                curves=[
                    *(
                        runs.curve(f"TU_advance {a:g} RTT_TCP", errors, by_error[a], "efficiency")
                        for a in advances
                    ),
                    Curve(
                        "without managers",
                        [errors[0], errors[-1]],
                        [statistics.fmean(without)] * 2,
                        style="limit",
                    ),
                ],
                caption="10 clients, outages of handovers and tunnels, no trigger lost.",
            )
        ],
        tables=[
            Table(
                title="Gain in efficiency: error of prediction against loss of triggers",
                header=["error", *(f"{loss:.0%} lost" for loss in losses)],
                rows=[
                    [f"{e * 1000:g} ms", *(cell(p) for p in row)] for e, row in zip(errors, grid, strict=True)
                ],
                caption=(
                    f"Without managers {runs.text(plain, 'efficiency')}. above, below, even: one-sided "
                    "paired t-tests "
                    "(5 %) against that."
                ),
            ),
            Table(
                title="Gain in efficiency: error of prediction against TU_advance",
                header=["error", *(f"{a:g} RTT_TCP" for a in advances)],
                rows=[
                    *(
                        [f"{e * 1000:g} ms", *(cell(p) for p in row)]
                        for e, row in zip(errors, ahead, strict=True)
                    ),
                    ["break-even", *(_reach(even[a], errors[-1], "s") for a in advances)],
                ],
                caption="Warned earlier, fewer warnings are late and more time is idle.",
            ),
            Table(
                title="Missed outages and false alarms",
                header=[
                    "record of earlier journeys",
                    "gain",
                    "missed",
                    "false",
                    "late warnings",
                    "frozen [s]",
                ],
                rows=[
                    [
                        p.name,
                        cell(p),
                        *(f"{runs.mean(p, key):.1f}" for key in ("missed", "false", "late", "frozen_s")),
                    ]
                    for p in records
                ],
            ),
        ],
        facts={
            "break_even": base.mean,
            "low": base.low,
            "high": base.high,
            "most": errors[-1],
            "loss": even_loss.mean,
            "most_loss": losses[-1],
            "rtt": runs.mean(named, "rtt_tcp_s"),
            "ahead": even[advances[-1]].mean,
            "advance": advances[-1],
        },
    )


def _point(error_s: float, **changed: object) -> Setting:
    return replace(Setting(error=f"{error_s * 1000:g} ms"), **changed)  # type: ignore[arg-type]


def _break_even(
    runs: Runs, points: Sequence[Setting], x: Sequence[float], without: Sequence[float]
) -> Interval:
    """Return where the mean gain falls to zero; the last of `x` where it does not."""
    gains = [
        [value - other for value, other in zip(runs.values(point, "efficiency"), without, strict=True)]
        for point in points
    ]

    def crossing(seeds: Sequence[float]) -> float:
        means = [statistics.fmean(row[int(seed)] for seed in seeds) for row in gains]
        if means[0] <= 0:
            return x[0]
        for i in range(1, len(x)):
            if means[i] <= 0:
                return x[i - 1] + (x[i] - x[i - 1]) * means[i - 1] / (means[i - 1] - means[i])
        return x[-1]

    return verdicts.bootstrap_interval([float(seed) for seed in range(len(without))], crossing)


def _reach(interval: Interval, most: float, unit: str) -> str:
    """Say where the break-even lies; what never came is beyond the last point."""
    if interval.mean >= most:
        return f"over {most:g} {unit}"
    return f"{verdicts.format_interval(interval)} {unit}"


def _why(
    runs: Runs,
    plain: Setting,
    grid: Sequence[Sequence[Setting]],
    errors: Sequence[float],
    losses: Sequence[float],
    even: dict[float, Interval],
    advances: Sequence[float],
) -> str:
    first, last = grid[0][0], grid[-1][0]
    lost = grid[0][-1]

    def lateness(point: Setting) -> float:
        bad = runs.mean(point, "late") + runs.mean(point, "missed")
        return bad / max(1.0, runs.mean(point, "outages"))

    text = (
        "What an error costs, in outages warned of late or not at their time, in timeouts an outage and in "
        "time not frozen: "
        + ", ".join(
            f"{e * 1000:g} ms {lateness(row[0]):.0%}, {runs.mean(row[0], 'timeouts'):.1f} and "
            f"{max(0.0, 1 - runs.mean(row[0], 'frozen_s') / runs.mean(first, 'frozen_s')):.0%}"
            for e, row in zip(errors, grid, strict=True)
            if row[0] in (first, last) or e in (0.2, 0.5)
        )
        + f"; without managers {runs.mean(plain, 'timeouts'):.1f} timeouts. A lost trigger costs only what "
        f"it would have saved: with {losses[-1]:.0%} of them lost {runs.mean(lost, 'timeouts'):.1f} timeouts "
        "an "
        "outage and "
        f"{runs.mean(lost, 'frozen_s'):.0f} s frozen instead of {runs.mean(first, 'frozen_s'):.0f}."
    )
    far = advances[-1]
    if even[far].mean > even[1.0].mean:
        text += (
            f" Warning {far:g} RTT_TCP ahead moves the break-even from {even[1.0].mean:.2f} to "
            f"{even[far].mean:.2f} s."
        )
    return text
