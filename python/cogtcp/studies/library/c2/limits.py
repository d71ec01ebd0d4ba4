"""`c2-x2` to `c2-x4`: what becomes of C2 where its estimates fail."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario
from cogtcp.models import jain_index
from cogtcp.statistics import mean_interval
from cogtcp.studies import Case, Context, Curve, Figure, Measured, Table, claim, verdicts

from . import cell
from .cell import BASE, Outcome, Part, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    Records = list[dict[str, Any]]

PRESETS = ("c2", "c2-author")
FLOWS = 4
GIVEN = (1, 2, 8, 16)
FAIR = 0.95
USE_MARGIN = 0.1


def _values(records: Records, key: str) -> list[float]:
    return [record[key] for record in records]


def _jain(records: Records) -> list[float]:
    return [jain_index(record["open_mbps"]) for record in records]


@claim("c2-x2")
def wrong_number_of_flows(study: Context) -> Measured:
    """Four flows of which the second, or each, begins with a wrong N."""
    given = GIVEN[::2] if study.quick else GIVEN
    settings = (BASE, *cell.SILENCES)
    plan: list[tuple[Setting, str, str, int]] = []
    for setting in settings:
        for preset in PRESETS if setting is BASE else PRESETS[:1]:
            plan.append((setting, preset, "none", FLOWS))
            plan += [(setting, preset, who, n) for who in ("one", "all") for n in given]

    def scenario(setting: Setting, preset: str, who: str, n: int, seed: int) -> Scenario:
        right: dict[str, Any] = {"n_source": "parameter", "flows": FLOWS}
        wrong = {**right, "flows": n}
        flows = [
            (preset, wrong if who == "all" or (who == "one" and number == 1) else right)
            for number in range(FLOWS)
        ]
        return setting.apply(cell.with_flows(cell.load(study, "cell"), flows), seed)

    cases = [
        Case(scenario(*case, seed), seed, cell.totals, "series") for case in plan for seed in study.seeds
    ]
    found = iter(study.run(cases))
    records = {
        (setting.name, preset, who, n): [next(found) for _ in study.seeds] for setting, preset, who, n in plan
    }

    def parts(name: str) -> list[Part]:
        count = len(study.seeds)
        right = records[name, "c2", "none", FLOWS]
        return [
            part
            for n in given
            for part in (
                Part(
                    f"one flow begins with N = {n}: fair",
                    verdicts.greater(_jain(records[name, "c2", "one", n]), [FAIR] * count),
                ),
                Part(
                    f"all begin with N = {n}: the use is as with N = {FLOWS}",
                    verdicts.equivalent(
                        [
                            a / b
                            for a, b in zip(
                                _values(records[name, "c2", "all", n], "utilisation"),
                                _values(right, "utilisation"),
                                strict=True,
                            )
                        ],
                        1.0,
                        USE_MARGIN,
                    ),
                ),
            )
        ]

    outcomes = [Outcome(setting.name, parts(setting.name)) for setting in settings]
    jain = {n: _jain(records[BASE.name, "c2", "one", n]) for n in given}
    worst = min(given, key=lambda n: statistics.fmean(jain[n]))
    interval = mean_interval(jain[worst])
    right = _jain(records[BASE.name, "c2", "none", FLOWS])
    changes = {n: [a - b for a, b in zip(jain[n], right, strict=True)] for n in given}
    share = {
        n: statistics.fmean(
            record["open_mbps"][1] / sum(record["open_mbps"]) for record in records[BASE.name, "c2", "one", n]
        )
        for n in given
    }
    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured=(
            "Jain's index over the run with one wrong N: "
            + ", ".join(f"{cell.interval(jain[n], 3)} (N = {n})" for n in given)
            + f"; with N = {FLOWS} for all {cell.interval(right, 3)}"
        ),
        ci=(interval.low, interval.high),
        test=(
            f"{FLOWS} flows. One-sided t-test (5 %) that Jain's index over the run exceeds {FAIR:g} when "
            "one flow begins with "
            f"a wrong N; two one-sided t-tests that the use of the channel is within {USE_MARGIN:.0%} of "
            "that with the "
            f"right N when all begin with a wrong one. N = {', '.join(str(n) for n in given)}; silences "
            "that drop and "
            f"that hold; {len(study.seeds)} seeds. The interval is that of the least index."
        ),
        why=(
            f"{cell.tally(outcomes)} The flow with the wrong N gets "
            + ", ".join(f"{share[n]:.0%} (N = {n})" for n in given)
            + " where a quarter is fair. Against the right N for all, the wrong one changes the index by "
            + ", ".join(f"{cell.interval(changes[n])} (N = {n})" for n in given)
            + f"; with the right N it is {cell.interval(right)} itself."
        ),
        tables=[
            Table(
                title="Given a wrong N",
                header=[
                    "setting",
                    "preset",
                    "who",
                    "N",
                    "Jain's index",
                    "use",
                    "queue [ms]",
                    "flow 2 [Mbit/s]",
                ],
                rows=[
                    [
                        setting,
                        preset,
                        who,
                        str(n),
                        cell.interval(_jain(got), 3),
                        f"{statistics.fmean(_values(got, 'utilisation')):.2f}",
                        f"{statistics.fmean(_values(got, 'queue_ms')):.1f}",
                        f"{statistics.fmean(r['open_mbps'][1] for r in got):.2f}",
                    ]
                    for (setting, preset, who, n), got in records.items()
                ],
                caption="N is given by the parameter `flows`, in place of the SYN-ACK's option.",
            ),
            cell.parts_table(
                outcomes, "Statement by statement", "Index above 0.95; use over that of the right N."
            ),
        ],
        facts={"jain": interval.mean, "worst": worst, "right": statistics.fmean(right)},
    )


ACK_MARGIN = 0.1
PATHS = ("every segment acknowledged", "delayed ACKs, 200 ms", "an upload on the same channel", "both")
SWITCHED_OFF: dict[str, dict[str, float]] = {
    "c2 without saturation": {"alpha": 100.0},
    "c2 without saturation, N = 1": {"alpha": 100.0, "n_cap": 1.0},
}
"""What C2 is without the estimates that an upload might mislead: the one flow on the way there is itself."""


@claim("c2-x3")
def acknowledgements_that_mislead(study: Context) -> Measured:
    """Delayed and compressed ACKs: the estimate of BW rests on the gap between two of them."""
    transports = ("c2", "c2-author", "newreno", "cubic")
    settings = (BASE, *cell.SILENCES)

    def scenario(setting: Setting, transport: str, path: str, seed: int) -> Scenario:
        base = cell.load(study, "cell").set("topology.dumbbell.pairs", 2).set("flow.0.count", 1)
        switched_off = SWITCHED_OFF.get(transport)
        base = base.set("flow.0.transport", "c2" if switched_off else transport)
        if switched_off:
            base = base.set("flow.0.tcp", {"parameters": switched_off})
        if path in PATHS[1::2]:
            base = base.set("tcp.delayed_ack", "200 ms")
        if path in PATHS[2:]:
            data = base.to_dict()
            upload = {
                "name": "upload",
                "from": "d2",
                "to": "s2",
                "transport": "cubic",
                "tcp": {"recovery": "sack"},
            }
            data["flow"].append(upload)
            base = Scenario.from_dict(data)
        return setting.apply(base, seed)

    plan = [(setting, t, path) for setting in settings for t in transports for path in PATHS]
    plan += [(setting, t, path) for setting in settings for t in SWITCHED_OFF for path in PATHS[::2]]
    cases = [
        Case(scenario(*case, seed), seed, cell.totals_and_state, "series")
        for case in plan
        for seed in study.seeds
    ]
    found = iter(study.run(cases))
    records = {(setting.name, t, path): [next(found) for _ in study.seeds] for setting, t, path in plan}

    def kept(name: str, transport: str, path: str) -> list[float]:
        return [
            a["open_mbps"][0] / b["open_mbps"][0]
            for a, b in zip(records[name, transport, path], records[name, transport, PATHS[0]], strict=True)
        ]

    outcomes = [
        Outcome(
            setting.name,
            [
                Part(
                    f"C2 as before with {path}",
                    verdicts.equivalent(kept(setting.name, "c2", path), 1.0, ACK_MARGIN),
                )
                for path in PATHS[1:]
            ],
        )
        for setting in settings
    ]
    worst = min(outcomes[0].parts, key=lambda part: part.finding.estimate).finding
    left = [kept(BASE.name, t, PATHS[2]) for t in SWITCHED_OFF]
    mean = {(t, path): statistics.fmean(kept(BASE.name, t, path)) for t in transports for path in PATHS[1:]}
    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured="; ".join(
            f"{path}: C2 keeps {cell.interval(kept(BASE.name, 'c2', path))} of its throughput, NewReno "
            f"{mean['newreno', path]:.2f}, CUBIC {mean['cubic', path]:.2f}"
            for path in PATHS[1:]
        ),
        ci=(worst.low, worst.high),
        test=(
            f"Two one-sided t-tests (5 %), paired by seed, that C2's throughput is within {ACK_MARGIN:.0%} "
            "of that with "
            "every segment acknowledged at once on an idle return path: with delayed ACKs, with an upload "
            "(CUBIC) "
            "whose data compress the ACKs in the return queue, and with both; silences that drop and that "
            "hold; "
            f"{len(study.seeds)} seeds. The interval is that of the least ratio."
        ),
        why=(
            f"{cell.tally(outcomes)} With the upload NewReno keeps {mean['newreno', PATHS[2]]:.0%}, CUBIC "
            f"{mean['cubic', PATHS[2]]:.0%}, C2 {mean['c2', PATHS[2]]:.0%} and C2 by the author's code "
            f"{mean['c2-author', PATHS[2]]:.0%}. "
            + _beliefs(records[BASE.name, "c2", PATHS[0]], records[BASE.name, "c2", PATHS[2]])
            + _switched_off(left[0], left[1], mean["c2", PATHS[2]], mean["cubic", PATHS[2]])
            + _compressed(_mean(records[cell.SILENCES[0].name, "c2", PATHS[0]], "probed"))
            + f"With delayed ACKs C2 keeps {mean['c2', PATHS[1]]:.0%}, by the author's code "
            f"{mean['c2-author', PATHS[1]]:.0%}."
        ),
        tables=[
            Table(
                title="Throughput kept",
                header=["setting", "transport", "return path", "throughput [Mbit/s]", "ratio", "queue [ms]"],
                rows=[
                    [
                        setting,
                        t,
                        path,
                        cell.interval([r["open_mbps"][0] for r in got]),
                        f"{statistics.fmean(kept(setting, t, path)):.2f}",
                        f"{statistics.fmean(_values(got, 'queue_ms')):.1f}",
                    ]
                    for (setting, t, path), got in records.items()
                ],
                caption="Ratio: to the first row of the transport, paired by seed.",
            ),
            Table(
                title="What C2 believed while the channel was open",
                header=[
                    "setting",
                    "transport",
                    "return path",
                    "BW over the channel's rate, median",
                    "R over Dp",
                    "N",
                    "time in saturation [%]",
                    "of it with a short queue [%]",
                ],
                rows=[
                    [
                        setting,
                        t,
                        path,
                        *(f"{_mean(got, key):.2f}" for key in ("probed", "stretched", "n")),
                        *(_share(got, key) for key in ("saturated", "misread")),
                    ]
                    for (setting, t, path), got in records.items()
                    if "n" in got[0]
                ],
                caption=(
                    "Of the first flow, sampled every 100 ms, means over the seeds. It is the one flow on "
                    "the way to the CR nodes, so that N = 1 is right. A short queue there: "
                    f"{cell.SHORT_QUEUE} packets at most."
                ),
            ),
            cell.parts_table(outcomes, "Statement by statement", "Ratios of throughput."),
        ],
        facts={
            "upload": mean["c2", PATHS[2]],
            "upload_cubic": mean["cubic", PATHS[2]],
            "delayed": mean["c2", PATHS[1]],
            "switched_off": statistics.fmean(left[1]),
        },
    )


def _mean(records: Records, key: str) -> float:
    """Return the mean over the seeds that have it; NaN if none has."""
    values = [record[key] for record in records if record[key] is not None]
    return statistics.fmean(values) if values else math.nan


def _share(records: Records, key: str) -> str:
    share = _mean(records, key)
    return "" if math.isnan(share) else f"{100 * share:.0f}"


def _beliefs(quiet: Records, upload: Records) -> str:
    """Say what an upload does to each of C2's estimates."""
    probed, was = _mean(upload, "probed"), _mean(quiet, "probed")
    text = f"Of C2's estimates, BW reads {probed:.2f} times the channel's rate ({was:.2f} without the upload)"
    if abs(probed / was - 1) <= ACK_MARGIN:
        text += ": the probe is not misled. "
    else:
        text += ": the data between two ACKs change the gap that is taken for it. "
    saturated = _mean(upload, "saturated")
    text += (
        f"R is {_mean(upload, 'stretched'):.2f} Dp ({_mean(quiet, 'stretched'):.2f}), because the queue on "
        f"the way back is part of it: C2 reads saturation during {saturated:.0%} of the open time "
        f"({_mean(quiet, 'saturated'):.0%})"
    )
    if saturated > 0:
        text += (
            f", {_mean(upload, 'misread'):.0%} of which has no more than {cell.SHORT_QUEUE} packets waiting"
        )
    return f"{text}. N is {_mean(upload, 'n'):.1f} on average ({_mean(quiet, 'n'):.1f}), where 1 is right. "


def _compressed(probed: float) -> str:
    """Say what held packets do to BW, if anything."""
    if abs(probed - 1) <= ACK_MARGIN:
        return ""
    return (
        f"If packets wait in the silence (hold), BW reads {probed:.1f} times the channel's rate without any "
        "upload: ACKs that waited leave one right behind the other, which is "
        f"{cell.WIRE_BYTES / cell.ACK_BYTES:.1f} times as dense as data. "
    )


def _switched_off(first: Sequence[float], second: Sequence[float], whole: float, cubic: float) -> str:
    """Say what C2 keeps without its estimates, and how much of its loss beyond CUBIC that explains."""
    text = (
        f"Without saturation (alpha 100) C2 keeps {cell.interval(first)}; with N held at 1 too "
        f"{cell.interval(second)}"
    )
    explained = (statistics.fmean(second) - whole) / (cubic - whole) if cubic > whole else 0.0
    if explained >= 1:
        text += ", no less than CUBIC: these two estimates are all that it loses beyond the others"
    elif explained > 0:
        text += f", {explained:.0%} of the way to CUBIC"
    return f"{text}. "


SHORT_RTTS_MS = (30, 40, 60)
SLOW_USE = 0.85


@claim("c2-x4")
def least_rtt_of_another_channel(study: Context) -> Measured:
    """Handoffs between 10 and 1 Mbit/s that cost no timeout: Dp of the fast channel, BW of the first."""
    rtts = SHORT_RTTS_MS[:2] if study.quick else SHORT_RTTS_MS
    transports = ("c2", "c2-author", "newreno", "cubic")

    def scenario(transport: str, rtt: int, seed: int) -> Scenario:
        base = cell.load(study, "cell").set("topology.dumbbell.pairs", 1).set("flow.0.count", 1)
        base = (
            base.set("flow.0.transport", transport)
            .set("run.duration", "300 s")
            .set("radio.0.sensing.off", "50 ms")
            .set("radio.0.sensing.on", "29950 ms")
            .set("radio.0.channel", {"set": ["1 Mbit/s", "10 Mbit/s"]})
            .set("radio.0.dwell", "0 s")
        )
        # Two access links of 1 ms; the rest of the RTT is the channel's.
        return (
            Setting(silence="hold")
            .apply(base, seed)
            .set("topology.dumbbell.access.delay", "1 ms")
            .set("topology.dumbbell.bottleneck.delay", f"{rtt * 500 - 2000} us")
            .set("topology.dumbbell.bottleneck.rate", "10 Mbit/s")
        )

    plan = [(t, rtt) for t in transports for rtt in rtts]
    cases = [
        Case(scenario(*case, seed), seed, cell.totals, "series") for case in plan for seed in study.seeds
    ]
    found = iter(study.run(cases))
    records = {case: [next(found) for _ in study.seeds] for case in plan}
    count = len(study.seeds)
    outcomes = [
        Outcome(
            f"RTT {rtt} ms",
            [
                Part(
                    "the slow channel is used",
                    verdicts.greater(_values(records["c2", rtt], "slow_utilisation"), [SLOW_USE] * count),
                ),
                Part(
                    "the fast channel is used",
                    verdicts.greater(_values(records["c2", rtt], "fast_utilisation"), [SLOW_USE] * count),
                ),
            ],
        )
        for rtt in rtts
    ]
    slow = {(t, rtt): _values(records[t, rtt], "slow_utilisation") for t, rtt in plan}
    fast = {(t, rtt): _values(records[t, rtt], "fast_utilisation") for t, rtt in plan}
    first = outcomes[0].parts[0].finding
    serial_ms = cell.WIRE_BYTES * 8 / 1e6 * 1e3
    own_ms = serial_ms + (cell.WIRE_BYTES - 1000) * 8 / 1e6 * 1e3  # and its ACK

    def curves(name: str, values: dict[tuple[str, int], list[float]]) -> list[Curve]:
        return [
            Curve.over_seeds(f"{label}, {name}", rtts, [values[t, rtt] for rtt in rtts])
            for t, label in (("c2", "C2"), ("newreno", "NewReno"), ("cubic", "CUBIC"))
        ]

    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured="; ".join(
            f"RTT {rtt} ms: C2 uses {cell.interval(slow['c2', rtt])} of 1 Mbit/s and "
            f"{cell.interval(fast['c2', rtt])} of "
            f"10 Mbit/s, NewReno {statistics.fmean(slow['newreno', rtt]):.2f} and "
            f"{statistics.fmean(fast['newreno', rtt]):.2f}"
            for rtt in rtts
        ),
        ci=(first.low, first.high),
        test=(
            f"One-sided t-tests (5 %) that C2 uses more than {SLOW_USE:.0%} of the slow channel and of the "
            "fast one, at "
            f"RTTs of {', '.join(str(rtt) for rtt in rtts)} ms without packets' own time; sensing of 50 ms "
            "in every "
            f"30 s with held packets, 1 or 10 Mbit/s drawn anew each time; {count} seeds. The interval is "
            "that of the use "
            "of the slow channel beyond the least, at the shortest RTT."
        ),
        why=(
            f"{cell.tally(outcomes)} A data packet takes {serial_ms:.1f} ms on the channel of 1 Mbit/s and "
            f"{serial_ms / 10:.1f} ms on that of 10 Mbit/s. Dp is that of the fast channel, so without any "
            "queue the RTT on "
            "the slow one is "
            + ", ".join(f"{1 + 0.9 * own_ms / (rtt + own_ms / 10):.2f} Dp ({rtt} ms)" for rtt in rtts)
            + ", and with one data packet waiting "
            + ", ".join(
                f"{1 + (0.9 * own_ms + serial_ms) / (rtt + own_ms / 10):.2f} Dp ({rtt} ms)" for rtt in rtts
            )
            + ": from 1.2 Dp on C2 reads saturation and takes one segment per RTT off its window, down to "
            "one. Timeouts, each of which brings a new probe of BW, per run: "
            + ", ".join(
                f"{statistics.fmean(_values(records['c2', rtt], 'rtos')):.1f} ({rtt} ms)" for rtt in rtts
            )
            + "."
        ),
        figures=[
            Figure(
                id="x4",
                title="Handoffs between 1 and 10 Mbit/s without a timeout",
                x_label="RTT without packets' own time [ms]",
                y_label="Use of the channel",
                curves=[*curves("1 Mbit/s", slow), *curves("10 Mbit/s", fast)],
                caption="Carried over capacity while on the slow and on the fast channel.",
                paper=[
                    '"However, D_p may be an over-estimate due to the accumulated packets in the bottleneck '
                    "link buffer. However, this is not a critical issue since C2 will deplete the queued "
                    "packets by "
                    'decreasing cwnd" (section IV-A). The paper does not speak of Dp too low.'
                ],
            )
        ],
        tables=[
            Table(
                title="Use of both channels",
                header=[
                    "transport",
                    "RTT [ms]",
                    "use of 1 Mbit/s",
                    "use of 10 Mbit/s",
                    "queue [ms]",
                    "timeouts",
                ],
                rows=[
                    [
                        t,
                        str(rtt),
                        cell.interval(slow[t, rtt]),
                        cell.interval(fast[t, rtt]),
                        f"{statistics.fmean(_values(got, 'queue_ms')):.1f}",
                        f"{statistics.fmean(_values(got, 'rtos')):.1f}",
                    ]
                    for (t, rtt), got in records.items()
                ],
            ),
        ],
        facts={
            "slow": statistics.fmean(slow["c2", rtts[0]]),
            "rtt": rtts[0],
            "slow_newreno": statistics.fmean(slow["newreno", rtts[0]]),
        },
    )
