"""`c2-f4b` and `c2-f4c`: C2 against others of which each has the cell for itself."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cogtcp.studies import Case, Context, Curve, Figure, Measured, Table, claim, verdicts

from . import cell
from .cell import BASE, COMMON_RANGE, Outcome, Part, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Scenario

    Records = list[dict[str, Any]]

CONTENDERS = ("c2", "newreno", "westwood-tustin", "cubic")
BEYOND = ("c2-author", "bbr", "linux")
"""What the paper did not run: the author's own rules, and today's senders."""
NAMES = {
    "c2": "C2",
    "c2-author": "C2 by the author's code",
    "newreno": "NewReno",
    "westwood-tustin": "Westwood+",
    "cubic": "CUBIC",
    "bbr": "BBR",
    "linux": "CUBIC with SACK, F-RTO, least RTO 200 ms",
}

RATE_MBPS, RATE_MARGIN = 10.0, 0.15
DELAY_MS, DELAY_MARGIN = 10.0, 0.5
TWICE, TWICE_MARGIN = 2.0, 0.25
ABOVE_CUBIC, ABOVE_MARGIN = 1.2, 0.1
QUARTER, QUARTER_MARGIN = 0.25, 0.5

RANGE_4B = (
    *COMMON_RANGE,
    replace(BASE, name="RTT 50 ms", rtt_ms=50),
    replace(BASE, name="RTT 150 ms", rtt_ms=150),
    replace(BASE, name="four flows"),
)


def scenario_of(study: Context, setting: Setting, transport: str, flows: int, seed: int) -> Scenario:
    """Return the cell with `flows` alike."""
    base = cell.load(study, "cell").set("topology.dumbbell.pairs", flows).set("flow.0.count", flows)
    if transport == "linux":
        setting = replace(setting, min_rto="200 ms", recovery="sack")
        base = base.set("tcp.f_rto", "sack")
    if transport == "bbr":
        setting = replace(setting, recovery="sack")
    name = {"linux": "cubic"}.get(transport, transport)
    return setting.apply(base.set("flow.0.transport", name), seed)


@claim("c2-f4b")
def throughput_and_delay(study: Context) -> Measured:
    """Test the paper's factors between C2 and the others, each with its margin."""
    in_range = RANGE_4B[:2] if study.quick else RANGE_4B
    settings = (BASE, *in_range)
    plan = [(setting, transport) for setting in settings for transport in CONTENDERS]
    plan += [(setting, transport) for setting in (BASE, *cell.SILENCES) for transport in BEYOND]
    cases = [
        Case(
            scenario_of(study, setting, transport, 4 if setting.name == "four flows" else 1, seed),
            seed,
            cell.totals,
            "series",
        )
        for setting, transport in plan
        for seed in study.seeds
    ]
    found = iter(study.run(cases))
    records = {(setting.name, transport): [next(found) for _ in study.seeds] for setting, transport in plan}
    outcomes = [
        Outcome(setting.name, _factors({t: records[setting.name, t] for t in CONTENDERS}))
        for setting in settings
    ]
    base = {transport: records[BASE.name, transport] for transport in (*CONTENDERS, *BEYOND)}
    above = _directions([{t: records[s.name, t] for t in CONTENDERS} for s in settings])
    rate, delay = _values(base["c2"], "all_mbps"), _values(base["c2"], "queue_ms")
    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured=(
            f"C2 {cell.interval(rate)} Mbit/s while the channel is open, of "
            f"{cell.interval(_values(base['c2'], 'capacity_mbps'))}, at {cell.interval(delay, 1)} ms; "
            + "; ".join(
                f"{NAMES[t]} {cell.interval(_values(base[t], 'all_mbps'))} Mbit/s at "
                f"{cell.interval(_values(base[t], 'queue_ms'), 1)} ms"
                for t in CONTENDERS[1:]
            )
        ),
        ci=(outcomes[0].parts[0].finding.low, outcomes[0].parts[0].finding.high),
        test=(
            "Two one-sided t-tests (5 %), each ratio paired by seed: C2's throughput 10 Mbit/s within "
            f"{RATE_MARGIN:.0%}, its queuing delay 10 ms within {DELAY_MARGIN:.0%}, its throughput 2 times "
            "that of "
            f"NewReno and of Westwood+ within {TWICE_MARGIN:.0%} and 1.2 times that of CUBIC within "
            f"{ABOVE_MARGIN:.0%}, its queuing delay a quarter of CUBIC's within {QUARTER_MARGIN:.0%}. All "
            "six at the "
            f"base and at {len(in_range)} values of what the paper leaves unsaid; {len(study.seeds)} seeds. "
            "Throughput counts open time only: with 2 s of silence in 10 s no sender can average more than "
            "8.4 Mbit/s "
            "over all time. Queuing delay: what a data packet finds in the bottleneck's queue while the "
            "channel is "
            "open. The interval is that of C2's throughput over 10 Mbit/s."
        ),
        why=_why_4b(outcomes, base, above),
        figures=[_figure_4b(study, base)],
        tables=[
            _table_4b(records),
            cell.parts_table(outcomes, "Statement by statement", "Ratios to what the paper states."),
        ],
        facts={
            "rate": statistics.fmean(rate),
            "delay_ms": statistics.fmean(delay),
            **{f"rate_{t}": statistics.fmean(_values(base[t], "all_mbps")) for t in base},
            **{f"delay_{t}": statistics.fmean(_values(base[t], "queue_ms")) for t in base},
            "hold_linux": statistics.fmean(_values(records[cell.SILENCES[0].name, "linux"], "all_mbps")),
            "hold_c2": statistics.fmean(_values(records[cell.SILENCES[0].name, "c2"], "all_mbps")),
        },
    )


def _values(records: Records, key: str) -> list[float]:
    return [record[key] for record in records]


def _mean(records: Records, key: str) -> float:
    return statistics.fmean(_values(records, key))


def _ratios(first: Records, second: Records, key: str) -> list[float]:
    return [a / max(b, 1e-9) for a, b in zip(_values(first, key), _values(second, key), strict=True)]


def _factors(runs: dict[str, Records]) -> list[Part]:
    c2 = runs["c2"]

    def factor(name: str, values: Sequence[float], expected: float, margin: float) -> Part:
        return Part(name, verdicts.equivalent(values, expected, margin))

    return [
        factor("C2 at about 10 Mbit/s", _values(c2, "all_mbps"), RATE_MBPS, RATE_MARGIN),
        factor("C2 at about 10 ms", _values(c2, "queue_ms"), DELAY_MS, DELAY_MARGIN),
        factor("twice NewReno", _ratios(c2, runs["newreno"], "all_mbps"), TWICE, TWICE_MARGIN),
        factor("twice Westwood+", _ratios(c2, runs["westwood-tustin"], "all_mbps"), TWICE, TWICE_MARGIN),
        factor("20 % above CUBIC", _ratios(c2, runs["cubic"], "all_mbps"), ABOVE_CUBIC, ABOVE_MARGIN),
        factor("a quarter of CUBIC's delay", _ratios(c2, runs["cubic"], "queue_ms"), QUARTER, QUARTER_MARGIN),
    ]


def _directions(runs: Sequence[dict[str, Records]]) -> str:
    """Say under how many settings C2 is above the others in throughput and below them in delay."""
    sentences = []
    for transport in CONTENDERS[1:]:
        faster = sum(
            verdicts.greater(_values(run["c2"], "all_mbps"), _values(run[transport], "all_mbps")).verdict
            == "holds"
            for run in runs
        )
        shorter = sum(
            verdicts.greater(_values(run[transport], "queue_ms"), _values(run["c2"], "queue_ms")).verdict
            == "holds"
            for run in runs
        )
        sentences.append(
            f"C2 is faster than {NAMES[transport]} under {faster} of {len(runs)} settings, and its queue "
            f"shorter under {shorter}"
        )
    return "; ".join(sentences) + "."


def _why_4b(outcomes: Sequence[Outcome], base: dict[str, Records], above: str) -> str:
    def mean(transport: str, key: str) -> float:
        return statistics.fmean(_values(base[transport], key))

    lead = mean("c2", "all_mbps") / mean("newreno", "all_mbps")
    return " ".join(
        [
            f"Of the factors alone, without size: {above}",
            cell.tally(outcomes),
            f"C2's lead over NewReno ({lead:.2f} times in the scenario) is won after the timeout that "
            "every silence "
            f"costs ({mean('c2', 'rtos') / max(mean('c2', 'silences'), 1):.1f} per silence): NewReno "
            "halves ssthresh each time "
            "and needs an RTT for each further packet, C2 goes to BW Dp/N within a few round trips. "
            f"Half of the rate is reached {mean('c2', 'resume_s'):.2f} s after a silence by C2, "
            f"{mean('newreno', 'resume_s'):.2f} s by NewReno, {mean('westwood-tustin', 'resume_s'):.2f} s "
            "by Westwood+ "
            f"and {mean('cubic', 'resume_s'):.2f} s by CUBIC. "
            "C2's ceiling is the timer: what it leaves of the capacity is "
            f"{1 - mean('c2', 'utilisation'):.0%}.",
        ]
    )


def _table_4b(records: dict[tuple[str, str], list[dict[str, Any]]]) -> Table:
    return Table(
        title="Throughput and queuing delay",
        header=[
            "setting",
            "transport",
            "throughput, open time [Mbit/s]",
            "over all time [Mbit/s]",
            "use of the capacity",
            "queuing delay [ms]",
            "waited, silences included [ms]",
            "timeouts per silence",
            "half rate after [s]",
        ],
        rows=[
            [
                setting,
                NAMES[transport],
                cell.interval(_values(found, "all_mbps")),
                f"{statistics.fmean(_values(found, 'mean_mbps')):.2f}",
                f"{statistics.fmean(_values(found, 'utilisation')):.2f}",
                cell.interval(_values(found, "queue_ms"), 1),
                f"{statistics.fmean(_values(found, 'waited_ms')):.0f}",
                f"{_mean(found, 'rtos') / max(_mean(found, 'silences'), 1):.1f}",
                f"{statistics.fmean(_values(found, 'resume_s')):.2f}",
            ]
            for (setting, transport), found in records.items()
        ],
        caption=(
            "Not in the paper: the author's rules, BBR (with SACK), and CUBIC as hosts of today have it. "
            "Their "
            "verdicts do not count."
        ),
    )


def _figure_4b(study: Context, base: dict[str, Records]) -> Figure:
    published = study.study.published("fig4b")
    return Figure(
        id="fig4b",
        title="Fig. 4b: throughput and queuing delay",
        x_label="Queuing delay [ms]",
        y_label="Throughput while open [Mbit/s]",
        curves=[
            *(
                Curve(NAMES[t], _values(base[t], "queue_ms"), _values(base[t], "all_mbps"))
                for t in (*CONTENDERS, "bbr")
            ),
            Curve("C2 as the paper has it", [DELAY_MS, DELAY_MS], [0, RATE_MBPS], style="dotted"),
        ],
        caption="One point per seed. The dotted line ends at the paper's point: about 10 Mbit/s at 10 ms.",
        paper=[published["caption"], *(sentence["text"] for sentence in published["sentence"])],
    )


ON_S = (1.0, 2.0, 4.0, 8.0, 16.0)
OFF_S = (0.5, 2.0, 4.0)
FLAT_MARGIN = 0.15
RANGE_4C = (*cell.SILENCES, replace(BASE, name="least RTO 200 ms", min_rto="200 ms"))


@claim("c2-f4c")
def robust_to_interruptions(study: Context) -> Measured:
    """C2 flat over the grid, NewReno falling with shorter open periods."""
    on_s = (2.0, 8.0) if study.quick else ON_S
    off_s = (0.5, 2.0) if study.quick else OFF_S
    settings = (BASE, *(RANGE_4C[:1] if study.quick else RANGE_4C))
    transports = ("c2", "newreno", "c2-author")
    plan = [
        (setting, transport, on, off)
        for setting in settings
        for transport in transports
        if transport != "c2-author" or setting is BASE
        for off in off_s
        for on in on_s
    ]
    cases = [
        Case(_on_off(scenario_of(study, setting, transport, 2, seed), on, off), seed, cell.totals, "series")
        for setting, transport, on, off in plan
        for seed in study.seeds
    ]
    found = iter(study.run(cases))
    grid = {
        (setting.name, transport, on, off): [next(found) for _ in study.seeds]
        for setting, transport, on, off in plan
    }
    points = [(on, off) for off in off_s for on in on_s]

    def parts(setting: str) -> list[Part]:
        c2 = [_values(grid[setting, "c2", on, off], "utilisation") for on, off in points]
        labels = [f"on {on:g} s, off {off:g} s" for on, off in points]
        return [
            Part("C2 hardly depends on on and off", verdicts.flat(c2, FLAT_MARGIN, labels)),
            *(
                Part(
                    f"NewReno rises with on, off {off:g} s",
                    verdicts.increasing(
                        [_values(grid[setting, "newreno", on, off], "utilisation") for on in on_s],
                        [f"{on:g} s" for on in on_s],
                    ),
                )
                for off in off_s
            ),
        ]

    outcomes = [Outcome(setting.name, parts(setting.name)) for setting in settings]
    first = outcomes[0].parts[0].finding

    def use(transport: str, on: float, off: float) -> float:
        return statistics.fmean(_values(grid[BASE.name, transport, on, off], "utilisation"))

    c2 = {point: use("c2", *point) for point in points}
    worst, best = min(c2, key=c2.__getitem__), max(c2, key=c2.__getitem__)
    middle = off_s[len(off_s) // 2]
    keeps = {t: use(t, on_s[0], middle) / use(t, on_s[-1], middle) for t in ("c2", "newreno")}
    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured=(
            f"C2 uses {c2[worst]:.2f} (on {worst[0]:g} s, off {worst[1]:g} s) to {c2[best]:.2f} (on "
            f"{best[0]:g} s, off "
            f"{best[1]:g} s) of the open capacity; {first.statement}; NewReno "
            f"{use('newreno', on_s[0], middle):.2f} to {use('newreno', on_s[-1], middle):.2f} at off "
            f"{middle:g} s"
        ),
        ci=(first.low, first.high),
        test=(
            f"C2: two one-sided t-tests (5 %) at each of {len(points)} points that the use of the open "
            "capacity lies "
            f"within {FLAT_MARGIN:.0%} of its mean over the grid. NewReno: one-sided paired t-test of each "
            "step to "
            f"the next longer on, for each off. At the base and {len(settings) - 1} values of what the "
            "paper leaves "
            f"unsaid; {len(study.seeds)} seeds, on and off each drawn within 10 % of their value. Two "
            "flows. The "
            "interval is that of the point farthest from the mean."
        ),
        why=(
            f"{cell.tally(outcomes)} From on {on_s[-1]:g} s to {on_s[0]:g} s, at off {middle:g} s, C2 "
            f"keeps {keeps['c2']:.0%} of its use "
            f"of the channel and NewReno {keeps['newreno']:.0%}. C2 does not escape the timer: after a "
            "silence half of the "
            "rate comes "
            + ", ".join(
                f"{statistics.fmean(_values(grid[BASE.name, 'c2', on_s[-1], off], 'resume_s')):.2f} s (off "
                f"{off:g} s)"
                for off in off_s
            )
            + f" after the channel opens, which is what a period of {on_s[0]:g} s cannot spare."
        ),
        figures=[_figure_4c(study, grid, on_s, off_s)],
        tables=[
            Table(
                title="Use of the open capacity",
                header=["setting", "transport", "off", *(f"on {on:g} s" for on in on_s)],
                rows=[
                    [
                        setting.name,
                        NAMES[transport],
                        f"{off:g} s",
                        *(
                            f"{_mean(grid[setting.name, transport, on, off], 'utilisation'):.2f}"
                            for on in on_s
                        ),
                    ]
                    for setting in settings
                    for transport in transports
                    if (setting.name, transport, on_s[0], off_s[0]) in grid
                    for off in off_s
                ],
                caption="Carried bytes over capacity while the channel is open; two flows.",
            ),
            cell.parts_table(
                outcomes, "Statement by statement", "Flatness: times the mean. Trend: least step."
            ),
        ],
        facts={"worst": c2[worst], "best": c2[best], **{f"keeps_{t}": share for t, share in keeps.items()}},
    )


def _on_off(scenario: Scenario, on: float, off: float) -> Scenario:
    def law(span: float) -> dict[str, list[str]]:
        return {"uniform": [f"{round(span * 900)} ms", f"{round(span * 1100)} ms"]}

    return scenario.set("radio.0.sensing.on", law(on)).set("radio.0.sensing.off", law(off))


def _figure_4c(
    study: Context,
    grid: dict[tuple[str, str, float, float], list[dict[str, Any]]],
    on_s: Sequence[float],
    off_s: Sequence[float],
) -> Figure:
    published = study.study.published("fig4c")
    curves = []
    for transport in ("c2", "newreno"):
        for off in off_s:
            series = [_values(grid[BASE.name, transport, on, off], "all_mbps") for on in on_s]
            curves.append(Curve.over_seeds(f"{NAMES[transport]}, off {off:g} s", on_s, series))
    return Figure(
        id="fig4c",
        title="Fig. 4c: two flows over open and silent periods of varying length",
        x_label="On [s]",
        y_label="Throughput while open [Mbit/s]",
        log_x=True,
        curves=curves,
        caption="Aggregate of two flows per second of open channel, mean and 95 % interval.",
        paper=[published["caption"], *(sentence["text"] for sentence in published["sentence"])],
    )
