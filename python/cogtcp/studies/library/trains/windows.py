"""Figs. 3 and 4: what becomes of cwnd at each outage."""

from __future__ import annotations

from typing import Any

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure_windows, sentences
from .settings import FALLEN, RESUMED, UNSAID, Setting


@claim("trains-f3")
def window_survives_outages(study: Context) -> Measured:
    """Equivalence of the frozen window, a fall of the plain one."""
    return _windows(study, Setting(clients=1), "fig3", "cwnd through handovers and tunnels")


@claim("trains-f4")
def window_survives_sensing(study: Context) -> Measured:
    """Test the same under periodic sensing."""
    return _windows(study, Setting(clients=1, sensing_s=0.3), "fig4", "cwnd under sensing of 0.3 s")


def _windows(study: Context, base: Setting, figure: str, title: str) -> Measured:
    settings = [base, *(unsaid.over(base) for unsaid in UNSAID)]
    runs = Runs(study, [s for setting in settings for s in (setting, setting.plain)], measure_windows, "full")
    seeds = len(study.seeds)
    kept = {s: verdicts.equivalent(runs.values(s, "ratio"), 1.0, RESUMED) for s in settings}
    fell = {s: verdicts.greater(runs.values(s.plain, "fallen"), [0.5] * seeds) for s in settings}
    found = {s: verdicts.combine([kept[s].verdict, fell[s].verdict]) for s in settings}
    return Measured(
        verdict=verdicts.over_range(list(found.values())),
        settings={s.name: verdict for s, verdict in found.items()},
        measured=(
            f"window after an outage over window before, median: frozen {runs.text(base, 'ratio')}, plain "
            f"{runs.text(base.plain, 'ratio')}; it falls below {FALLEN:g} at "
            f"{runs.text(base.plain, 'fallen')} "
            f"of the outages without triggers, at {runs.text(base, 'fallen')} with them"
        ),
        ci=(kept[base].low, kept[base].high),
        test=(
            f"Frozen: TOST (5 %) that the median over a run's outages of cwnd after / before is 1 +- "
            f"{RESUMED:g}. Plain: one-sided t-test (5 %) that cwnd falls below {FALLEN:g} within 1 s after "
            "more "
            f"than half of the outages. At the base and at {len(settings) - 1} values of what the paper "
            "leaves "
            "unsaid."
        ),
        why=_why(runs, base, settings, found, fell),
        figures=[
            Figure(
                id=figure,
                title=title,
                x_label="time [s]",
                y_label="cwnd [segments]",
                curves=[
                    Curve("NewReno", *_timeline(runs, base.plain), style="dotted"),
                    Curve("NewReno with triggers and Freeze", *_timeline(runs, base), style="line"),
                ],
                caption="The first seed's run; one client.",
                paper=sentences(study, figure),
            )
        ],
        tables=[
            Table(
                title="What the paper leaves unsaid",
                header=[
                    "setting",
                    "frozen: after / before",
                    "cut",
                    "plain: after / before",
                    "cut",
                    "timeouts",
                    "lost",
                    "dropped",
                    "verdict",
                ],
                rows=[
                    [
                        s.name,
                        runs.text(s, "ratio"),
                        runs.text(s, "fallen"),
                        runs.text(s.plain, "ratio"),
                        runs.text(s.plain, "fallen"),
                        f"{runs.mean(s, 'timeouts'):.2f} / {runs.mean(s.plain, 'timeouts'):.2f}",
                        f"{runs.mean(s, 'tail_drops'):.1f} / {runs.mean(s.plain, 'tail_drops'):.1f}",
                        f"{runs.mean(s, 'burst_drops'):.1f} / {runs.mean(s.plain, 'burst_drops'):.1f}",
                        found[s],
                    ]
                    for s in settings
                ],
                caption=(
                    f"cut: share of the outages after which cwnd falls below {FALLEN:g} of its old value "
                    "within "
                    "1 s. timeouts, lost, dropped: frozen / plain, an outage; lost: whole segments in the "
                    "silence, "
                    "dropped: at the queue in the second after."
                ),
            )
        ],
        facts={
            "kept": runs.mean(base, "ratio"),
            "fallen": runs.mean(base, "fallen"),
            "fallen_plain": runs.mean(base.plain, "fallen"),
            "burst": runs.mean(base, "burst_drops"),
            "burst_plain": runs.mean(base.plain, "burst_drops"),
            "tails": runs.mean(base, "tails"),
            "fallen_hold": runs.mean(settings[1].plain, "fallen"),
            "base": found[base],
        },
    )


def _why(runs: Runs, base: Setting, settings: list[Setting], found: Any, fell: Any) -> str:
    """Tell from the runs which part decides where, and why a kept window does not stay."""
    text = (
        f"Timeouts an outage at the base: {runs.mean(base.plain, 'timeouts'):.2f} without triggers, "
        f"{runs.mean(base, 'timeouts'):.2f} with them. "
    )
    burst, plain = runs.mean(base, "burst_drops"), runs.mean(base.plain, "burst_drops")
    if runs.mean(base, "fallen") > 0.1:
        text += (
            f"The frozen window comes back whole, but after {runs.mean(base, 'fallen'):.0%} of the outages "
            "it is then cut. "
            f"Two losses do it. The tail: at {runs.mean(base, 'tails'):.0%} of the outages the last of what "
            "was under "
            f"way is destroyed ({runs.mean(base, 'tail_drops'):.1f} packets an outage), since the round-trip "
            "time "
            "that clients report is smoothed and up to 5 s old while the queue and the round trip grow; "
            f"{runs.mean(base, 'lapses'):.0%} of the outages lose a tail and are cut. The burst: it is sent "
            "at "
            f"once, and in the second after an outage Node B's queue drops {burst:.1f} packets of it "
            f"({plain:.1f} without "
            "triggers). "
        )
    survives = [s for s in settings if fell[s].verdict != "holds"]
    if survives:
        told = ", ".join(
            f"{s.name} ({runs.mean(s.plain, 'fallen'):.0%} of the outages cost, "
            f"{runs.mean(s.plain, 'timeouts'):.2f} timeouts)"
            for s in survives
        )
        text += f"That the plain window falls at most outages is not shown at: {told}. "
    lost = [s for s in settings if found[s] != "holds" and s not in survives]
    if lost:
        text += "The frozen window is not shown to come back at: " + ", ".join(
            f"{s.name} (ratio {runs.mean(s, 'ratio'):.2f})" for s in lost
        )
    return text.rstrip()


def _timeline(runs: Runs, setting: Setting) -> tuple[list[float], list[float]]:
    times: Any = runs.values(setting, "time_s")
    windows: Any = runs.values(setting, "cwnd")
    return times[0], windows[0]
