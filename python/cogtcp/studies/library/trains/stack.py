"""Beyond the paper: the windows of real stacks, and what to do about the burst after a thaw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cogtcp.studies import Context, Curve, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure_windows
from .settings import RESUMED, Setting

BASE = Setting(clients=1)
HEEDED = (
    Setting(name="4 MiB, scaled by 2^7 (as in the scenario)"),
    Setting(name="1 GiB, scaled by 2^14", tcp=(("receive_buffer", "1 GiB"),)),
    Setting(name="64 KiB, not scaled", tcp=(("window_scaling", False), ("receive_buffer", "65535 B"))),
)
"""Receivers whose closed window the source heeds: scaling must not matter to a zero."""
OTHERS = (
    Setting(
        name="source that heeds no shrinking, 64 KiB",
        tcp=(("heeds_shrinking", False), ("receive_buffer", "65535 B")),
    ),
    Setting(name="source that heeds no shrinking, 4 MiB", tcp=(("heeds_shrinking", False),)),
    Setting(
        name="source that restarts after idle (RFC 5681 section 4.1)", tcp=(("restart_after_idle", True),)
    ),
    Setting(name="the same, warned 2 RTT_TCP ahead", tcp=(("restart_after_idle", True),), tu_advance=2.0),
)
"""Sources that take freezing otherwise: shown, no part of the verdict."""
RESUMES = (
    Setting(name="burst"),
    Setting(name="paced over SRTT", tcp=(("paced_resume", True),)),
    Setting(name="restart window of 10 segments", tcp=(("restart_after_idle", True),)),
    Setting(name="window capped at 64 KiB", tcp=(("window_scaling", False), ("receive_buffer", "65535 B"))),
)


@claim("trains-x3")
def scaling_does_not_matter(study: Context) -> Measured:
    """Equivalence of the frozen window at every scale; what other sources make of it beside it."""
    heeded = [setting.over(BASE) for setting in HEEDED]
    others = [setting.over(BASE) for setting in OTHERS]
    settings = [*heeded, *others]
    runs = Runs(study, [s for p in settings for s in (p, p.plain)], measure_windows, "full")
    tests = {p: verdicts.equivalent(runs.values(p, "ratio"), 1.0, RESUMED, where=p.name) for p in settings}
    worst = max((tests[p] for p in heeded), key=lambda test: abs(test.estimate - 1))
    deaf, soon, restarts = others[1:]
    return Measured(
        verdict=verdicts.combine([tests[p].verdict for p in heeded]),
        measured="window after an outage over window before: "
        + ", ".join(f"{p.name} {runs.text(p, 'ratio')}" for p in heeded),
        ci=(worst.low, worst.high),
        test=(
            f"TOST (5 %) that the median over a run's outages is 1 +- {RESUMED:g}, at each of {len(heeded)} "
            "scales. One "
            "client, outages of handovers and tunnels. The interval is that of the farthest."
        ),
        why=(
            "A zero is zero at every scale, and the manager's closed window takes back megabytes that the "
            "source was "
            "offered: to the source it is a receiver that shrinks its window, which RFC 9293 section 3.8.6 "
            "tells "
            "receivers not to do and senders to bear. Freezing stands on the second half: a source that goes "
            "by what it "
            f"was once offered sends on, resumes at {runs.mean(deaf, 'ratio'):.2f} of its window and has "
            f"{runs.mean(deaf, 'timeouts'):.2f} timeouts an outage (without a manager "
            f"{runs.mean(deaf.plain, 'timeouts'):.2f}). One that restarts after idle comes back at "
            f"{runs.mean(soon, 'ratio'):.2f} if warned 1 RTT_TCP ahead, for the last acknowledgements then "
            "wait in the "
            "router and the source has data outstanding, so is not idle; warned 2 RTT_TCP ahead it has none, "
            "and comes "
            f"back at {runs.mean(restarts, 'ratio'):.2f}."
        ),
        tables=[
            Table(
                title="Freezing and the peer's window",
                header=[
                    "receive buffer, source",
                    "after / before",
                    "timeouts",
                    "lost",
                    "use with",
                    "without",
                    "gain",
                ],
                rows=[_row(runs, p) for p in settings],
                caption=(
                    "after / before: the window's median over the outages. timeouts, lost: an outage, with / "
                    "without managers. Use: payload delivered over the capacity available. gain: paired "
                    "t-test (5 %)."
                ),
            )
        ],
        facts={
            "deaf": runs.mean(deaf, "ratio"),
            "deaf_timeouts": runs.mean(deaf, "timeouts"),
            "restarts": runs.mean(restarts, "ratio"),
        },
    )


@claim("trains-x4")
def pacing_saves_the_burst(study: Context) -> Measured:
    """Fewer drops after an outage, and more use, when the resume is paced."""
    places = [(1, 50, 1.0), (1, 50, 1.5)]
    if not study.quick:
        places += [(1, 20, 1.0), (1, 200, 1.0), (10, 50, 1.0), (10, 50, 1.5)]
    grid = {
        (count, queue, advance): [
            resume.over(replace(BASE, clients=count, queue=queue, tu_advance=advance)) for resume in RESUMES
        ]
        for count, queue, advance in places
    }
    points = [p for row in grid.values() for p in row]
    runs = Runs(study, [s for p in points for s in (p, p.plain)], measure_windows, "full")
    burst, paced = grid[1, 50, 1.0][:2]
    whole, whole_paced, _, capped = grid[1, 50, 1.5]
    pairs = [(burst, paced), (whole, whole_paced)]
    drops, later_drops = (
        verdicts.greater(runs.values(one, "burst_drops"), runs.values(other, "burst_drops"))
        for one, other in pairs
    )
    use, later_use = (
        verdicts.greater(runs.values(other, "useful"), runs.values(one, "useful")) for one, other in pairs
    )
    found = {
        "warned 1 RTT_TCP ahead": verdicts.combine([drops.verdict, use.verdict]),
        "warned 1.5 RTT_TCP ahead": verdicts.combine([later_drops.verdict, later_use.verdict]),
    }
    return Measured(
        verdict=verdicts.over_range(list(found.values())),
        settings=found,
        measured=(
            f"packets dropped in the second after an outage: burst {runs.text(burst, 'burst_drops')}, paced "
            f"{runs.text(paced, 'burst_drops')}; use {runs.text(burst, 'useful')} and "
            f"{runs.text(paced, 'useful')}: "
            f"{use.statement}"
        ),
        ci=(use.low, use.high),
        test=(
            "One-sided paired t-tests (5 %): fewer drops in the second after an outage, and more use, with a "
            "paced "
            "resume; warned 1 and 1.5 RTT_TCP ahead. One client, a queue of 50 packets. The interval is that "
            "of the "
            "difference in use at 1."
        ),
        why=(
            f"Warned 1 RTT_TCP ahead: fewer drops {drops.verdict}, more use {use.verdict}; the window falls "
            "after "
            f"{runs.mean(burst, 'fallen'):.0%} of the outages with the burst and "
            f"{runs.mean(paced, 'fallen'):.0%} paced, "
            f"to {runs.mean(burst, 'low'):.2f} and {runs.mean(paced, 'low'):.2f} of its old value on "
            "average; at "
            f"{runs.mean(paced, 'tails'):.0%} of them the tail of what was under way is lost. "
            + (
                "A source learns that from its first new packets: paced, it has few in flight then, and half "
                "of those is "
                "all the window that is left, where a burst leaves half of its own. "
                if runs.mean(paced, "low") < runs.mean(burst, "low")
                else ""
            )
            + "Warned 1.5 RTT_TCP ahead "
            f"{runs.mean(whole, 'tails'):.0%} lose a tail: fewer drops {later_drops.verdict}, more use "
            f"{later_use.verdict} ({later_use.statement}); the window falls after "
            f"{runs.mean(whole, 'fallen'):.0%} and "
            f"{runs.mean(whole_paced, 'fallen'):.0%}. A burst finds an empty queue of 50 and a path that "
            "takes 45 segments, "
            f"and cwnd is up to 95; capped at 64 KiB {runs.mean(capped, 'burst_drops'):.1f} of it are "
            "dropped."
        ),
        figures=[
            Figure(
                id="resume",
                title="cwnd through outages: burst and paced resume",
                x_label="time [s]",
                y_label="cwnd [segments]",
                curves=[
                    replace(_timeline(runs, whole), style="line"),
                    replace(_timeline(runs, whole_paced), style="dotted"),
                ],
                caption="The first seed's run; one client, a queue of 50 packets, warned 1.5 RTT_TCP ahead.",
            )
        ],
        tables=[
            Table(
                title=(
                    f"After a thaw: {count} client{'s' if count > 1 else ''}, queue of {queue} packets, "
                    f"warned {advance:g} "
                    "RTT_TCP ahead"
                ),
                header=[
                    "resume",
                    "drops after",
                    "tails lost",
                    "cut",
                    "timeouts",
                    "use with",
                    "without managers",
                    "gain",
                ],
                rows=[
                    [
                        p.name,
                        runs.text(p, "burst_drops"),
                        f"{runs.mean(p, 'tails'):.0%}",
                        runs.text(p, "fallen"),
                        f"{runs.mean(p, 'timeouts'):.2f}",
                        runs.text(p, "useful"),
                        f"{runs.mean(p.plain, 'useful'):.3f}",
                        _gain(runs, p),
                    ]
                    for p in row
                ],
            )
            for (count, queue, advance), row in grid.items()
        ],
        facts={
            "drops": runs.mean(burst, "burst_drops"),
            "paced": runs.mean(paced, "burst_drops"),
            "fallen": runs.mean(burst, "fallen"),
            "fallen_paced": runs.mean(paced, "fallen"),
            "use": use.estimate,
            "use_verdict": use.verdict,
            "later_use": later_use.estimate,
            "later_verdict": later_use.verdict,
        },
    )


def _timeline(runs: Runs, point: Setting) -> Curve:
    times: Any = runs.values(point, "time_s")
    windows: Any = runs.values(point, "cwnd")
    return Curve(point.name, times[0], windows[0])


def _row(runs: Runs, point: Setting) -> list[str]:
    pairs = [
        f"{runs.mean(point, key):.2f} / {runs.mean(point.plain, key):.2f}"
        for key in ("timeouts", "silence_drops")
    ]
    return [
        point.name,
        runs.text(point, "ratio"),
        *pairs,
        runs.text(point, "useful"),
        f"{runs.mean(point.plain, 'useful'):.3f}",
        _gain(runs, point),
    ]


def _gain(runs: Runs, point: Setting) -> str:
    gain = runs.gain(point, "useful")
    mark = {"holds": "above", "differs": "below", "unclear": "not shown"}[gain.verdict]
    return f"{gain.estimate:+.3f} ({mark})"
