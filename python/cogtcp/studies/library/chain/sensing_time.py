"""Fig. 7: the sensing time, and why more of it gives more throughput."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp import models
from cogtcp.statistics import paired_difference
from cogtcp.studies import Context, Figure, Measured, Table, claim
from cogtcp.studies.verdicts import format_interval, mean_text

from .measuring import Grid, run
from .settings import BASE, FEW, NAMES, OFF_S, ON_S, SHARP, THREE, C, N, Point, W
from .testing import LINES, above, curve, test

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.statistics import Interval
    from cogtcp.studies.verdicts import Finding

    from .measuring import Cell
    from .testing import Tested


@claim("chain-f7a")
def longer_sensing_is_better(study: Context) -> Measured:
    """Goodput over the sensing time, and by which mechanism it rises."""
    ons = ON_S[:1] if study.quick else ON_S
    points = [Point(name, on_s=on_s, off_s=off_s) for on_s in ons for name in THREE for off_s in OFF_S]
    varied = [Point(name, off_s=off_s) for name in THREE for off_s in OFF_S]

    def judge(grid: Grid) -> dict[str, Finding]:
        result = {}
        for name in THREE:
            shortest, short, _, longest = (grid[Point(name, off_s=off_s)].goodput for off_s in OFF_S)
            result[f"{NAMES[name]}, drop"] = above([(1 - SHARP) * value for value in shortest], short)
            result[f"{NAMES[name]}, rise"] = above(longest, short)
        return result

    tested = test(study, points, varied, judge)
    base = tested.grids[BASE]
    rises = {name: _rise(base, name) for name in THREE}
    same_period = _same_period(study)
    held = {name: _rise(same_period, name, held=True) for name in THREE}
    model = _modelled_rise()
    curves = [
        curve(NAMES[name], OFF_S, [base[Point(name, off_s=off_s)] for off_s in OFF_S]) for name in THREE
    ]
    curves += [
        replace(
            curve(
                f"{NAMES[name]}, period of 5.1 s", OFF_S, [same_period[_held(name, off_s)] for off_s in OFF_S]
            ),
            style=style,
        )
        for name, style in zip(THREE, LINES, strict=True)
    ]
    return tested.measured(
        measured="; ".join(
            f"{NAMES[name]} "
            + ", ".join(f"{base[Point(name, off_s=off_s)].mean('goodput_mbps'):.2f}" for off_s in OFF_S)
            for name in THREE
        )
        + " Mbit/s at 0.05, 0.1, 0.2, 0.4 s (on 5 s)",
        test=(
            "For each of the three at on 5 s, one-sided paired t-tests (5 %): goodput at 0.05 s exceeds that "
            "at 0.1 s by more "
            f'than {SHARP:.0%} ("sharply"); goodput at 0.4 s exceeds that at 0.1 s. Estimates are '
            "differences as shares of the goodput at 0.1 s; in the drop, of what is left when the margin is "
            "taken off."
        ),
        why=_why_rise(base, rises, held, model),
        figures=[
            Figure(
                id="fig7",
                title="Fig. 7: average throughput with different sensing times, on 5 s",
                x_label="Sensing time, off [s]",
                y_label="Goodput of flow 1 [Mbit/s]",
                log_x=True,
                curves=curves,
                caption=(
                    "Mean and 95 % interval over the seeds. Lines: the same sensing times, but each cycle "
                    "5.1 s long as a whole, so that a longer sensing no longer makes the cycle longer."
                ),
                paper=study.study.sentences("fig7"),
            )
        ],
        tables=[_mechanism(base), _interventions(tested, held, model)],
        facts={
            "rise": {name: rises[name].mean for name in THREE},
            "held": {name: held[name].mean for name in THREE},
            "rises": [name for name in THREE if rises[name].low > 0],
            "model": model,
        },
    )


def _held(name: str, off_s: float) -> Point:
    """Return the point of this sensing time in a cycle of 5.1 s."""
    return Point(name, on_s=5.1 - off_s, off_s=off_s)


def _same_period(study: Context) -> Grid:
    points = [_held(name, off_s) for name in THREE for off_s in OFF_S]
    return run(study, {BASE: points})[BASE]


def _rise(grid: Grid, name: str, *, held: bool = False) -> Interval:
    """Return the gain from 0.1 to 0.4 s as a share, with its interval; or that with the whole cycle held."""
    points = [_held(name, off_s) if held else Point(name, off_s=off_s) for off_s in (0.1, 0.4)]
    short, longest = (grid[point].goodput for point in points)
    mean = statistics.fmean(short)
    return paired_difference([value / mean for value in longest], [value / mean for value in short])


def _modelled_rise() -> float:
    """Return the rise by the AIMD model (TCP C2, section III): one timeout in each cycle."""

    def goodput(off_s: float) -> float:
        return models.aimd_cycle(
            bandwidth_bps=BASE.rate_mbps * 1e6,
            rtt_s=BASE.rtt_ms / 1e3,
            t_cc_s=5 + off_s,
            t_rto_s=1.0,
            segment_size_bytes=BASE.segment_bytes,
            header_bytes=40,
            solution="exact",
        ).throughput_bps

    return goodput(0.4) / goodput(0.1) - 1


def _why_rise(base: Grid, rises: Mapping[str, Interval], held: Mapping[str, Interval], model: float) -> str:
    newreno = [base[Point(N, off_s=off_s)] for off_s in OFF_S]
    real = [NAMES[name] for name in THREE if rises[name].low > 0]
    text = what_a_short_silence_takes(newreno[0], newreno[1], NAMES[N])
    if real:
        text += f"The rise from 0.1 to 0.4 s is real for {', '.join(real)}. "
    text += (
        "From 0.1 s on every silence costs the same: from its start to the last timeout "
        f"{newreno[1].mean('outage_s'):.2f} s at 0.1 s, {newreno[3].mean('outage_s'):.2f} s at 0.4 s, "
        "because the timer of 1 s outlasts the silence whatever its length. On is counted from the end of "
        f"the silence, so a longer silence leaves more time between timer and next silence: {4.1:.1f} s "
        f"against {4.4:.1f} s, in which goodput grows faster than linearly. The AIMD model (one timeout a "
        f"cycle) gives {model:+.1%} for that; NewReno has {format_interval(rises[N], percent=True)}. With "
        f"the whole cycle held at 5.1 s it has {format_interval(held[N], percent=True)}"
    )
    if rises[N].low > 0 and held[N].low <= 0:
        text += ": the longer cycle is what makes it rise. "
    else:
        text += ". "
    for name in (W, C):
        if held[name].low > 0:
            short, longest = base[Point(name, off_s=0.1)], base[Point(name, off_s=0.4)]
            text += (
                f"{NAMES[name]} still gains {format_interval(held[name], percent=True)}: at 0.1 s the "
                f"silence takes a part of its wider window in {short.mean('holes'):.0%} of the cycles, and "
                f"fast recovery, one hole a round trip, takes {short.mean('recovering_s'):.2f} s of a cycle; "
                f"at 0.4 s the window is lost whole in all but {longest.mean('holes'):.0%}, and a clean "
                "timeout is the better of the two. "
            )
    return text.rstrip()


def what_a_short_silence_takes(short: Cell, longer: Cell, name: str) -> str:
    """Say of silences of 0.05 and 0.1 s what they meet, how much they take, and which cost a timeout."""
    told = []
    for cell, off in ((short, "At 0.05 s"), (longer, "At 0.1 s")):
        hit, timed_out = cell.mean("hit"), cell.mean("timed_out")
        text = f"{off} {hit:.0%} of the silences meet data or ACKs of {name}"
        if hit < 1 - FEW:
            text += ", the others fall between two bursts"
        text += f", and take {cell.mean('taken'):.2f} of a window; {timed_out:.0%} end in a timeout"
        data = cell.pooled("met_data_timed_out", "met_data")
        if cell.mean("only_acks") > 0:
            acks = cell.pooled("met_acks_timed_out", "met_acks")
            text += (
                f": {data:.0%} of those that meet data, {acks:.0%} of the {cell.mean('only_acks'):.0%} that "
                "meet ACKs alone"
            )
        told.append(text)
    text = ". ".join(told) + ". "
    part, whole = short.mean("taken") < 1 - FEW, longer.mean("taken") >= 1 - FEW
    if part and whole:
        text += (
            "A short silence takes a part of the burst in which a window travels, and where that part are "
            "ACKs the later ones say what the lost ones said; a longer one takes all of it, ACKs or data. "
        )
    return text


def _mechanism(base: Grid) -> Table:
    return Table(
        title="What a silence does, on 5 s",
        header=[
            "transport",
            "off [s]",
            "goodput [Mbit/s]",
            "silences with loss [%]",
            "of ACKs only [%]",
            "taken [windows]",
            "with timeout [%]",
            "after data [%]",
            "after ACKs only [%]",
            "partial loss, then timeout [%]",
            "repaired without [%]",
            "data lost [packets]",
            "silence to last timeout [s]",
            "fast recovery [s a cycle]",
        ],
        rows=[
            [
                NAMES[name],
                f"{off_s:g}",
                mean_text(cell.goodput),
                *(f"{100 * cell.mean(key):.0f}" for key in ("hit", "only_acks")),
                f"{cell.mean('taken'):.2f}",
                f"{100 * cell.mean('timed_out'):.0f}",
                *(
                    "" if math.isnan(share) else f"{100 * share:.0f}"
                    for share in (
                        cell.pooled("met_data_timed_out", "met_data"),
                        cell.pooled("met_acks_timed_out", "met_acks"),
                    )
                ),
                *(f"{100 * cell.mean(key):.0f}" for key in ("holes", "saved")),
                f"{cell.mean('lost'):.1f}",
                f"{cell.mean('outage_s'):.2f}",
                f"{cell.mean('recovering_s'):.2f}",
            ]
            for name in THREE
            for off_s in OFF_S
            for cell in [base[Point(name, off_s=off_s)]]
        ],
        caption="From the events of flow 1, cycle by cycle; means over the seeds.",
    )


def _interventions(tested: Tested, held: Mapping[str, Interval], model: float) -> Table:
    wanted = [
        setting
        for setting in tested.grids
        if setting.name
        in {BASE.name, "SACK", "least RTO 200 ms at RTT 190 ms", "hold", "Compound with NewReno recovery"}
    ]
    rows = [
        [setting.name, *(format_interval(_rise(tested.grids[setting], name), percent=True) for name in THREE)]
        for setting in wanted
    ]
    rows.insert(
        1, ["whole cycle held at 5.1 s", *(format_interval(held[name], percent=True) for name in THREE)]
    )
    rows.append(["AIMD model, one timeout a cycle", f"{100 * model:.3g} %", "", ""])
    return Table(
        title="Goodput from 0.1 to 0.4 s, with one thing changed",
        header=["changed", *(NAMES[name] for name in THREE)],
        rows=rows,
        caption="Gain and 95 % interval, paired by seed.",
    )
