"""`c2-t1` and `c2-x1`: a C2 flow beside a flow of another kind."""

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

RTTS_MS = (100, 140, 180)
STATED = {"c2": (4.9, 6.2, 6.8), "newreno": (4.8, 2.8, 1.8)}
"""Table I, Mbit/s."""

FAIR_MARGIN = 0.15
SPARE = 0.85
"""A flow beside C2 gets what it gets beside its own kind if it gets so much of it."""

EXPONENTIAL = "exponential on and off"
RANGE = (*COMMON_RANGE, replace(BASE, name=EXPONENTIAL), replace(BASE, name="Reno as the rival"))


@claim("c2-t1")
def fair_to_newreno(study: Context) -> Measured:
    """Fair at 100 ms, C2's share growing with the RTT, and nothing taken from NewReno."""
    settings = (BASE, *(RANGE[:1] if study.quick else RANGE))
    records: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    plan = []
    for setting in settings:
        rival = "reno" if setting.name == "Reno as the rival" else "newreno"
        plan += [(setting, rtt, "beside C2", ("c2", rival)) for rtt in RTTS_MS]
        plan += [(setting, rtt, "beside its kind", (rival, rival)) for rtt in RTTS_MS]
    plan += [(BASE, rtt, "beside the author's C2", ("c2-author", "newreno")) for rtt in RTTS_MS]
    cases = [
        Case(_pair(study, replace(setting, rtt_ms=rtt), pair, seed), seed, cell.totals, "series")
        for setting, rtt, _, pair in plan
        for seed in study.seeds
    ]
    found = iter(study.run(cases))
    for setting, rtt, case, _ in plan:
        records[setting.name, rtt, case] = [next(found) for _ in study.seeds]

    def parts(name: str) -> list[Part]:
        shares = [_share(records[name, rtt, "beside C2"]) for rtt in RTTS_MS]
        labels = [f"{rtt} ms" for rtt in RTTS_MS]
        return [
            Part("fair at 100 ms", verdicts.equivalent(shares[0], 0.5, FAIR_MARGIN)),
            Part("C2's share grows with the RTT", verdicts.increasing(shares, labels)),
            *(
                Part(
                    f"only spare bandwidth, {rtt} ms",
                    verdicts.greater(
                        _flow(records[name, rtt, "beside C2"], 1),
                        [SPARE * value for value in _kind(records[name, rtt, "beside its kind"])],
                    ),
                )
                for rtt in RTTS_MS
            ),
        ]

    outcomes = [Outcome(setting.name, parts(setting.name)) for setting in settings]
    beside = {rtt: records[BASE.name, rtt, "beside C2"] for rtt in RTTS_MS}
    alone = {rtt: records[BASE.name, rtt, "beside its kind"] for rtt in RTTS_MS}
    fair = outcomes[0].parts[0].finding
    mean = statistics.fmean
    taken = {rtt: 1 - mean(_flow(beside[rtt], 1)) / mean(_kind(alone[rtt])) for rtt in RTTS_MS}
    gain = {
        rtt: mean(r["all_mbps"] for r in beside[rtt]) / mean(r["all_mbps"] for r in alone[rtt]) - 1
        for rtt in RTTS_MS
    }
    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured="; ".join(
            f"{rtt} ms: C2 {cell.interval(_flow(beside[rtt], 0))}, NewReno "
            f"{cell.interval(_flow(beside[rtt], 1))} Mbit/s"
            for rtt in RTTS_MS
        )
        + " (while the channel is open)",
        ci=(fair.low, fair.high),
        test=(
            "Fair: two one-sided t-tests (5 %) that C2's share at 100 ms is one half within "
            f"{FAIR_MARGIN:.0%} of it. "
            "Growth: one-sided paired t-test of C2's share from each RTT to the next. Spare: one-sided "
            "paired t-test "
            f"that NewReno beside C2 gets more than {SPARE:.0%} of what it gets beside another NewReno, at "
            "each RTT. "
            f"At the base and {len(settings) - 1} values of what the paper leaves unsaid; "
            f"{len(study.seeds)} seeds. "
            "The figures of Table I are beside ours in the table; they are no part of the verdict, because "
            "the paper "
            "gives neither the law of the durations nor the time they are averaged over. The interval is "
            "that of "
            "C2's share at 100 ms over one half."
        ),
        why=(
            f"{cell.tally(outcomes)} Beside C2, NewReno gets "
            + ", ".join(f"{-taken[rtt]:+.0%} ({rtt} ms)" for rtt in RTTS_MS)
            + " of what it gets beside another NewReno, while both together carry "
            + ", ".join(f"{gain[rtt]:+.0%} ({rtt} ms)" for rtt in RTTS_MS)
            + " of what two NewRenos carry. NewReno's own pair uses "
            + ", ".join(f"{mean(r['utilisation'] for r in alone[rtt]):.0%} ({rtt} ms)" for rtt in RTTS_MS)
            + " of the open capacity: what C2 has to take without taking it from anybody is the rest."
        ),
        figures=[_figure(study, beside, alone)],
        tables=[
            Table(
                title="Table I beside ours",
                header=[
                    "RTT [ms]",
                    "C2, paper [Mbit/s]",
                    "C2 [Mbit/s]",
                    "NewReno, paper [Mbit/s]",
                    "NewReno [Mbit/s]",
                    "NewReno beside NewReno [Mbit/s]",
                    "C2 by the author's code [Mbit/s]",
                    "NewReno beside it [Mbit/s]",
                ],
                rows=[
                    [
                        str(rtt),
                        f"{STATED['c2'][i]}",
                        cell.interval(_flow(beside[rtt], 0)),
                        f"{STATED['newreno'][i]}",
                        cell.interval(_flow(beside[rtt], 1)),
                        cell.interval(_kind(alone[rtt])),
                        cell.interval(_flow(records[BASE.name, rtt, "beside the author's C2"], 0)),
                        cell.interval(_flow(records[BASE.name, rtt, "beside the author's C2"], 1)),
                    ]
                    for i, rtt in enumerate(RTTS_MS)
                ],
                caption="While the channel is open; mean and 95 % interval.",
            ),
            cell.parts_table(
                outcomes,
                "Statement by statement",
                "Share over one half; least step of the share; NewReno's surplus over 85 % in Mbit/s.",
            ),
        ],
        facts={
            "share_100": mean(_share(beside[100])),
            "share_180": mean(_share(beside[180])),
            "taken_100": taken[100],
            "taken_180": taken[180],
        },
    )


def _pair(study: Context, setting: Setting, pair: tuple[str, str], seed: int) -> Scenario:
    scenario = setting.apply(cell.load(study, "rivals"), seed)
    for number, transport in enumerate(pair):
        scenario = scenario.set(f"flow.{number}.transport", transport)
        # A transport whose preset needs SACK has it; what the paper ran had none.
        if transport == "bbr":
            scenario = scenario.set(f"flow.{number}.tcp", {"recovery": "sack"})
        # Every second seed lets the rival come first: who comes first is not what is asked.
        start = 500 if (number == 1) == (seed % 2 == 1) else 0
        scenario = scenario.set(f"flow.{number}.start", f"{start} ms")
    if setting.name == EXPONENTIAL:
        scenario = scenario.set("radio.0.sensing.on", {"exponential": "8 s"}).set(
            "radio.0.sensing.off", {"exponential": "2 s"}
        )
    return scenario


def _flow(records: Records, number: int) -> list[float]:
    return [record["open_mbps"][number] for record in records]


def _kind(records: Records) -> list[float]:
    """One of two flows alike, whichever it is: their mean."""
    return [statistics.fmean(record["open_mbps"]) for record in records]


def _share(records: Records) -> list[float]:
    return [record["open_mbps"][0] / sum(record["open_mbps"]) for record in records]


def _figure(study: Context, beside: dict[int, Records], alone: dict[int, Records]) -> Figure:
    published = study.study.published("table1")

    def points(name: str, values: Sequence[list[float]]) -> Curve:
        return Curve.over_seeds(name, RTTS_MS, values)

    return Figure(
        id="table1",
        title="Table I: C2 beside NewReno",
        x_label="RTT [ms]",
        y_label="Throughput while open [Mbit/s]",
        curves=[
            Curve("C2, paper", RTTS_MS, STATED["c2"], style="dashed"),
            Curve("NewReno, paper", RTTS_MS, STATED["newreno"], style="dotted"),
            points("C2", [_flow(beside[rtt], 0) for rtt in RTTS_MS]),
            points("NewReno beside C2", [_flow(beside[rtt], 1) for rtt in RTTS_MS]),
            points("NewReno beside NewReno", [_kind(alone[rtt]) for rtt in RTTS_MS]),
        ],
        caption="Mean and 95 % interval over the seeds.",
        paper=[published["caption"], *(sentence["text"] for sentence in published["sentence"])],
    )


MODERN = ("cubic", "bbr")
MODERN_NAMES = {"cubic": "CUBIC", "bbr": "BBR"}


@claim("c2-x1")
def coexists_with_others(study: Context) -> Measured:
    """Test whether C2 and CUBIC or BBR each keep what they have beside their own kind."""
    rivals = MODERN
    presets = ("c2",) if study.quick else ("c2", "c2-author")
    settings = (BASE, *([] if study.quick else [cell.SILENCES[0], COMMON_RANGE[2], COMMON_RANGE[3]]))
    plan = [
        (setting, pair)
        for setting in settings
        for pair in (
            *((preset, rival) for preset in presets if preset == "c2" or setting is BASE for rival in rivals),
            *((kind, kind) for kind in ("c2", *rivals)),
        )
    ]
    cases = [
        Case(_pair(study, setting, pair, seed), seed, cell.totals, "series")
        for setting, pair in plan
        for seed in study.seeds
    ]
    found = iter(study.run(cases))
    records = {(setting.name, *pair): [next(found) for _ in study.seeds] for setting, pair in plan}

    def parts(name: str) -> list[Part]:
        own = _kind(records[name, "c2", "c2"])
        return [
            part
            for rival in rivals
            for part in (
                Part(
                    f"C2 keeps its rate beside {MODERN_NAMES[rival]}",
                    verdicts.greater(_flow(records[name, "c2", rival], 0), [SPARE * value for value in own]),
                ),
                Part(
                    f"{MODERN_NAMES[rival]} keeps its rate beside C2",
                    verdicts.greater(
                        _flow(records[name, "c2", rival], 1),
                        [SPARE * value for value in _kind(records[name, rival, rival])],
                    ),
                ),
            )
        ]

    outcomes = [Outcome(setting.name, parts(setting.name)) for setting in settings]
    first = outcomes[0].parts[0].finding
    shares = {rival: _share(records[BASE.name, "c2", rival]) for rival in rivals}
    return Measured(
        verdict=cell.over_range(outcomes),
        settings=cell.settings(outcomes),
        measured="; ".join(
            f"beside {MODERN_NAMES[rival]}: C2 {cell.interval(_flow(records[BASE.name, 'c2', rival], 0))} "
            "Mbit/s, "
            f"{MODERN_NAMES[rival]} {cell.interval(_flow(records[BASE.name, 'c2', rival], 1))} Mbit/s"
            for rival in rivals
        ),
        ci=(first.low, first.high),
        test=(
            f"One-sided paired t-test (5 %) that each of the two gets more than {SPARE:.0%} of what it "
            "gets beside its own "
            f"kind, RTT 100 ms; at the base and {len(settings) - 1} values of what the paper leaves "
            f"unsaid; {len(study.seeds)} "
            "seeds. The interval is that of C2's surplus beside CUBIC, in Mbit/s."
        ),
        why=(
            f"{cell.tally(outcomes)} C2's share is "
            + " and ".join(f"{cell.interval(shares[rival])} beside {MODERN_NAMES[rival]}" for rival in rivals)
            + "; of two alike each would have 0.5. The mean queue is "
            + ", ".join(
                f"{statistics.fmean(r['queue_ms'] for r in records[BASE.name, *pair]):.0f} ms ({label})"
                for pair, label in (
                    (("c2", "c2"), "two C2"),
                    (("c2", "cubic"), "C2 and CUBIC"),
                    (("cubic", "cubic"), "two CUBIC"),
                    (("c2", "bbr"), "C2 and BBR"),
                )
            )
            + "."
        ),
        tables=[
            Table(
                title="Rates beside each other",
                header=["setting", "first", "second", "first [Mbit/s]", "second [Mbit/s]", "queue [ms]"],
                rows=[
                    [
                        setting,
                        first_name,
                        second,
                        cell.interval(_flow(found, 0)),
                        cell.interval(_flow(found, 1)),
                        f"{statistics.fmean(r['queue_ms'] for r in found):.0f}",
                    ]
                    for (setting, first_name, second), found in records.items()
                ],
                caption="While the channel is open. BBR has SACK; the others have what the setting says.",
            ),
            cell.parts_table(outcomes, "Statement by statement", "Surplus over 85 %, in Mbit/s."),
        ],
        facts={f"share_{rival}": statistics.fmean(shares[rival]) for rival in rivals},
    )
