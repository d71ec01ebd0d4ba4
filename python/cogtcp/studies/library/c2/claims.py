"""The claims of Zhou et al. (TCP C2), measured.

`c2-f3` compares one NewReno flow over a radio of constant cognitive cycles with the paper's AIMD model. The
model has one parameter that the paper gives no value for, the timeout T_rto: it is computed from the silence
and the least RTO before anything is simulated, not fitted.

The claims on TCP C2 itself are in the files beside this one: `convergence` (Fig. 4a), `comparison` (Fig. 4b
and 4c), `rivals` (Table I and what it leaves out) and `limits`; what they share is in `cell`.
"""

from __future__ import annotations

import bisect
import itertools
import math
import random
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp import models
from cogtcp.statistics import mean_interval
from cogtcp.studies import Case, Context, Curve, Figure, Measured, Table, claim, verdicts

from .comparison import robust_to_interruptions, throughput_and_delay
from .conclusions import conclusions
from .convergence import converges_and_shares
from .limits import acknowledgements_that_mislead, least_rtt_of_another_channel, wrong_number_of_flows
from .rivals import coexists_with_others, fair_to_newreno

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result, Scenario
    from cogtcp.studies.verdicts import Finding, Verdict

__all__ = [
    "acknowledgements_that_mislead",
    "coexists_with_others",
    "conclusions",
    "converges_and_shares",
    "fair_to_newreno",
    "least_rtt_of_another_channel",
    "model_matches_simulation",
    "robust_to_interruptions",
    "throughput_and_delay",
    "wrong_number_of_flows",
]

BANDWIDTH_BPS = 15e6  # stated in the caption of Fig. 3
RTT_S = 0.150  # stated in the caption of Fig. 3

MARGIN = 0.15
"""How far the simulation may lie from the model to "match closely", chosen before the first run."""

CYCLES_S = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0)
VARIED_CYCLES_S = (3.0, 6.0, 12.0, 24.0, 48.0)
QUICK_CYCLES_S = (3.0, 6.0, 12.0, 24.0)
QUICK_VARIED_CYCLES_S = (6.0, 24.0)


STRETCH = (0.95, 1.05)
"""By how much a seed makes its cycles shorter or longer."""

SETTLE_CYCLES = 12
"""Cycles before the measurement. The first slow start leaves a window of up to the bandwidth-delay product
and the queue, and every cycle halves its distance to 2 dW (equation 1): twelve leave less than a packet of
1000."""


@dataclass(frozen=True)
class Setting:
    """What the paper leaves unsaid, at one value each."""

    name: str = "as in the scenario"
    silence: str = "drop"
    off_s: float = 0.5
    min_rto_s: float = 1.0
    segment_bytes: int = 1000
    queue_packets: int = 1000
    transport: str = "newreno"
    timestamps: bool = True
    initial_ssthresh: str = "65535 B"
    delayed_ack: str = "off"
    receive_buffer: str = "4 MiB"

    @property
    def t_rto_s(self) -> float:
        """The model's T_rto, known before the run: the timeouts that outlast the silence.

        RFC 6298 keeps the RTO at its least value while SRTT + 4 RTTVAR is below it, and RTTVAR tends to 0 in
        a model whose round-trip time is constant.
        """
        return models.rto_outage_s(self.off_s, max(self.min_rto_s, RTT_S))

    @property
    def header_bytes(self) -> int:
        """IPv4 and TCP headers of a data packet."""
        return 52 if self.timestamps else 40

    def is_modelled(self, t_cc_s: float) -> bool:
        """Whether a cycle leaves two round trips at least after the timeout, as the model needs."""
        return models.available_rounds(min(STRETCH) * t_cc_s, self.t_rto_s, RTT_S) >= 2

    def model(self, t_cc_s: float, **options: Any) -> models.AimdCycle:
        """Return the model for this setting; `options` override its arguments."""
        arguments: dict[str, Any] = {"t_rto_s": self.t_rto_s, **options}
        return models.aimd_cycle(
            bandwidth_bps=BANDWIDTH_BPS,
            rtt_s=RTT_S,
            t_cc_s=t_cc_s,
            segment_size_bytes=self.segment_bytes,
            header_bytes=self.header_bytes,
            **arguments,
        )


@dataclass(frozen=True)
class Draw:
    """What a seed changes: nothing in the paper's model is random, so without it every run would be the same.

    The phase is when the radio's first cycle begins; the stretch makes all cycles of a run a little longer or
    shorter than the nominal value. Both keep a chance coincidence, of the cycle with a multiple of the RTT or
    of a backed-off timeout, from deciding a point.
    """

    phase: float
    """0 to 1 cycle."""
    stretch: float
    """Within `STRETCH`."""

    @classmethod
    def of(cls, seed: int) -> Draw:
        """Return the draw of a seed."""
        stream = random.Random(f"c2-f3/{seed}")  # noqa: S311 - a documented draw, no secret
        return cls(stream.random(), stream.uniform(*STRETCH))


BASE = Setting()

VERDICT_RANGE = (
    replace(BASE, name="sensing 200 ms", off_s=0.2),
    replace(BASE, name="sensing 800 ms", off_s=0.8),
    replace(BASE, name="least RTO 200 ms", min_rto_s=0.2),
    replace(BASE, name="segments of 536 B", segment_bytes=536),
    replace(BASE, name="segments of 1460 B", segment_bytes=1460),
    replace(BASE, name="queue of 100 packets", queue_packets=100),
    replace(BASE, name="queue of 50 packets", queue_packets=50),
    replace(BASE, name="first slow start without limit", initial_ssthresh="4 MiB"),
    replace(BASE, name="no timestamps", timestamps=False),
    replace(BASE, name="SACK", transport="sack"),
)
"""Where the verdict must hold too: what the paper leaves open and its sentences allow."""

SHOWN = (
    replace(BASE, name="silence: hold", silence="hold"),
    replace(BASE, name="silence: hold, SACK", silence="hold", transport="sack"),
    replace(BASE, name="silence: hold, sensing 2 s", silence="hold", off_s=2.0),
    replace(BASE, name="sensing 2 s, above the RTO", off_s=2.0),
    replace(BASE, name="sensing 50 ms, below the RTT", off_s=0.05),
    replace(BASE, name="sensing 50 ms, SACK", off_s=0.05, transport="sack"),
    replace(BASE, name="delayed ACKs, 200 ms", delayed_ack="200 ms"),
    replace(BASE, name="receive buffer 128 KiB", receive_buffer="128 KiB"),
)
"""What contradicts a sentence of the paper: measured beside it, no part of the verdict."""


@claim("c2-f3")
def model_matches_simulation(study: Context) -> Measured:
    """Equivalence at every cycle, and a rising trend over the cycles."""
    cycles = QUICK_CYCLES_S if study.quick else CYCLES_S
    varied = QUICK_VARIED_CYCLES_S if study.quick else VARIED_CYCLES_S
    settings = [(BASE, cycles), *((setting, varied) for setting in (*VERDICT_RANGE, *SHOWN))]
    plan = [
        (setting, [t_cc_s for t_cc_s in points if setting.is_modelled(t_cc_s)])
        for setting, points in settings
    ]
    draws = [Draw.of(seed) for seed in study.seeds]
    cases = [
        Case(_scenario(study, setting, draw, t_cc_s), seed, measure, "full")
        for setting, points in plan
        for t_cc_s in points
        for seed, draw in zip(study.seeds, draws, strict=True)
    ]
    records = iter(study.run(cases))
    sweeps = [
        Sweep(setting, [Point(setting, t_cc_s, draws, [next(records) for _ in draws]) for t_cc_s in points])
        for setting, points in plan
    ]
    base, in_range, shown = sweeps[0], sweeps[1 : 1 + len(VERDICT_RANGE)], sweeps[1 + len(VERDICT_RANGE) :]
    farthest = base.farthest
    trend = base.trend
    return Measured(
        verdict=verdicts.over_range([sweep.verdict for sweep in (base, *in_range)]),
        settings={sweep.setting.name: sweep.verdict for sweep in (base, *in_range)},
        measured=(
            f"simulation / model between {min(base.ratios):.2f} and {max(base.ratios):.2f} over cycles of "
            f"{cycles[0]:g} to {cycles[-1]:g} s, farthest from 1 at {farthest.where}: "
            f"{farthest.estimate:.3f}; throughput {base.points[0].mbps:.2f} Mbit/s at {cycles[0]:g} s, "
            f"{base.points[-1].mbps:.2f} Mbit/s at {cycles[-1]:g} s, {trend.statement}"
        ),
        ci=(farthest.low, farthest.high),
        test=(
            f"Match: two one-sided t-tests (5 %) at each of {len(cycles)} cycles that goodput / model, "
            f"equations (3) and (5) to (7), lies within 1 +- {MARGIN:g}. Drop: one-sided paired t-test (5 %) "
            "of each step from a cycle to the next longer one. Both must hold everywhere, at the base and at "
            f"each of {len(in_range)} values of what the paper leaves unsaid (there at "
            f"{len(varied)} cycles); {len(study.seeds)} seeds, each with its own phase of the radio and "
            "cycles up to 5 % longer or shorter. The interval is that of the ratio farthest from 1."
        ),
        why=_why(base, in_range, shown),
        figures=_figures(study, base, in_range, shown),
        tables=_tables(base, in_range, shown),
        facts={"least": min(base.ratios), "greatest": max(base.ratios)},
    )


class Point:
    """One cycle length under one setting, over all seeds."""

    def __init__(
        self, setting: Setting, t_cc_s: float, draws: Sequence[Draw], records: Sequence[dict[str, Any]]
    ) -> None:
        self.setting = setting
        self.t_cc_s = t_cc_s
        self.label = f"{t_cc_s:g} s"
        self.cycles_s = [t_cc_s * draw.stretch for draw in draws]
        self.goodput_bps = [record["goodput_bps"] for record in records]
        self.mbps = statistics.fmean(self.goodput_bps) / 1e6
        self.timeouts = _mean(records, "timeouts_per_cycle")
        self.without_timeout = _mean(records, "cycles_without_timeout")
        self.queue_drops = _mean(records, "queue_drops_per_cycle")
        self.silence_drops = _mean(records, "silence_drops_per_cycle")
        self.fast_retransmits = _mean(records, "fast_retransmits_per_cycle")
        self.rtt_s = _mean(records, "rtt_s")
        self.rtt_high_s = _mean(records, "rtt_high_s")
        self.longest_wait_s = max(record["longest_wait_s"] for record in records)
        self.longest_recovery_s = max(record["longest_recovery_s"] for record in records)
        self.t_rto_s = _mean(records, "t_rto_s")
        self.window = _mean(records, "window_packets")

    def ratios(self, **options: Any) -> list[float]:
        """Return simulation over model, one per seed; `options` are the model's."""
        return [
            goodput / self.setting.model(t_cc_s, **options).throughput_bps
            for goodput, t_cc_s in zip(self.goodput_bps, self.cycles_s, strict=True)
        ]

    def ratio(self, **options: Any) -> float:
        """Return the mean of `ratios`."""
        return statistics.fmean(self.ratios(**options))

    def match(self) -> Finding:
        """Test whether simulation and printed model are equivalent here."""
        return verdicts.equivalent(self.ratios(), 1.0, MARGIN, where=self.label)


class Sweep:
    """All cycles under one setting."""

    def __init__(self, setting: Setting, points: Sequence[Point]) -> None:
        self.setting = setting
        self.points = points
        self.matches = [point.match() for point in points]
        self.ratios = [finding.estimate for finding in self.matches]
        self.farthest = max(self.matches, key=lambda finding: abs(finding.estimate - 1))
        self.trend = verdicts.increasing(
            [point.goodput_bps for point in points], [point.label for point in points]
        )
        self.match_verdict: Verdict = verdicts.combine([finding.verdict for finding in self.matches])
        self.verdict: Verdict = verdicts.combine([self.match_verdict, self.trend.verdict])

    @property
    def pairs(self) -> list[tuple[Point, Finding]]:
        """The points with their findings."""
        return list(zip(self.points, self.matches, strict=True))

    def ratio_at(self, label: str) -> str:
        """Return the ratio at a cycle for a table."""
        return next((f"{match.estimate:.2f}" for match in self.matches if match.where == label), "-")


def measure(result: Result) -> dict[str, Any]:
    """Return what is kept of a run: totals, and per cycle the timeouts and the window that they met."""
    (flow,) = result.flows.to_pylist()
    (radio,) = [
        row for row in result.links.to_pylist() if row["link"] == "radio" and row["direction"] == "forward"
    ]
    run = result.scenario.to_dict()["run"]
    warmup_s, duration_s = _seconds(run["warmup"]), _seconds(run["duration"])
    events = result.events.select(["time_s", "kind"]).to_pydict()
    # Both ends fall on the start of a silence: the first counts, the last does not.
    silences = [t for t in _times(events, "sensing_start") if warmup_s - 1e-3 < t < duration_s - 1e-3]
    cycles = len(silences)
    timeouts = _times(events, "rto")
    series = result.flow_series.select(["time_s", "cwnd_segments"]).to_pydict()
    outages, windows = [], []
    for start, end in zip(silences, [*silences[1:], float("inf")], strict=True):
        own = timeouts[bisect.bisect_left(timeouts, start) : bisect.bisect_left(timeouts, end)]
        if own:
            outages.append(own[-1] - start)
            # The window that the first timeout met: the last sample before it.
            before = bisect.bisect_left(series["time_s"], own[0]) - 1
            windows.append(series["cwnd_segments"][before])
    return {
        "goodput_bps": flow["goodput_bps"],
        "rtt_s": flow["rtt_mean_s"],
        "rtt_high_s": flow["rtt_p99_s"],
        "longest_wait_s": max((b - a for a, b in itertools.pairwise(timeouts)), default=0.0),
        "longest_recovery_s": _longest_recovery(events),
        "timeouts_per_cycle": flow["rtos"] / cycles,
        "fast_retransmits_per_cycle": flow["fast_retransmits"] / cycles,
        "queue_drops_per_cycle": radio["drops_queue"] / cycles,
        "silence_drops_per_cycle": radio["drops_silence"] / cycles,
        "cycles_without_timeout": 1 - len(outages) / cycles,
        "t_rto_s": statistics.fmean(outages) if outages else None,
        "window_packets": statistics.fmean(windows) if windows else None,
    }


def _scenario(study: Context, setting: Setting, draw: Draw, t_cc_s: float) -> Scenario:
    """Make the scenario of one run: whole cycles only, after those that the window needs to converge."""
    count = 8 if study.quick else 20
    off_us = round(setting.off_s * 1e6)
    cycle_us = round(t_cc_s * draw.stretch * 1e6)
    start_us = round(5e6 + draw.phase * cycle_us)
    warmup_us = start_us + SETTLE_CYCLES * cycle_us
    scenario = study.scenario("cycle")
    links = scenario.to_dict()["topology"]["graph"]["links"]
    radio = next(index for index, link in enumerate(links) if link["name"] == "radio")
    return (
        scenario.set("run.duration", f"{warmup_us + count * cycle_us} us")
        .set("run.warmup", f"{warmup_us} us")
        .set("radio.0.sensing.start", f"{start_us} us")
        .set("radio.0.sensing.off", f"{off_us} us")
        .set("radio.0.sensing.on", f"{cycle_us - off_us} us")
        .set("radio.0.silence", setting.silence)
        .set("tcp.min_rto", f"{round(setting.min_rto_s * 1e6)} us")
        .set("tcp.segment_size", f"{setting.segment_bytes} B")
        .set("tcp.timestamps", setting.timestamps)
        .set("tcp.initial_ssthresh", setting.initial_ssthresh)
        .set("tcp.delayed_ack", setting.delayed_ack)
        .set("tcp.receive_buffer", setting.receive_buffer)
        .set(f"topology.graph.links.{radio}.queue", f"{setting.queue_packets} packets")
        .set("flow.0.transport", setting.transport)
    )


def _why(base: Sweep, in_range: Sequence[Sweep], shown: Sequence[Sweep]) -> str:
    """Say what the data show about where the model and the simulation part, and why they agree elsewhere."""
    tested = [(sweep, point, match) for sweep in (base, *in_range) for point, match in sweep.pairs]
    apart = [(sweep, point) for sweep, point, match in tested if match.verdict != "holds"]
    parts = [
        f"Model and simulation match in {len(tested) - len(apart)} of {len(tested)} combinations of a cycle "
        f"with a "
        "value of what the paper leaves unsaid."
    ]
    if apart:
        listed = "; ".join(
            f"{sweep.setting.name}, {point.label}: {point.ratio():.2f}, {_reason(point)}"
            for sweep, point in apart
        )
        parts.append(f"Not in: {listed}.")
    falling = [sweep.setting.name for sweep in (base, *in_range) if sweep.trend.verdict != "holds"]
    if falling:
        parts.append("Throughput does not rise at every step with: " + ", ".join(falling) + ".")
    parts.append("In the scenario itself: " + _ladder(base.points[0]))
    parts.append(_ladder(base.points[-1]))
    outside = [
        max(sweep.points, key=lambda point: abs(point.ratio() - 1))
        for sweep in shown
        if sweep.match_verdict != "holds"
    ]
    if outside:
        parts.append("Against the paper's premises (no part of the verdict), where it is farthest:")
        parts.append(
            "; ".join(
                f"{point.setting.name}, {point.label}: {point.ratio():.2f}, {_reason(point)}"
                for point in outside
            )
            + "."
        )
    return " ".join(parts)


def _reason(point: Point) -> str:
    """Say what the cycles of a point look like, where they are not the model's."""
    rounds = models.available_rounds(point.t_cc_s, point.setting.t_rto_s, RTT_S)
    if point.longest_recovery_s > point.t_cc_s / 2:
        return (
            f"a fast recovery lasts up to {point.longest_recovery_s:.0f} s, one hole a round trip, and "
            f"{point.queue_drops:.0f} packets a cycle are lost to the queue"
        )
    if point.without_timeout > 0.9:
        return f"{point.without_timeout:.0%} of the cycles have no timeout"
    if point.longest_wait_s > 2 * point.t_cc_s:
        return f"the timer is backed off, up to {point.longest_wait_s:.0f} s from one timeout to the next"
    if point.without_timeout > 0.05:
        return f"{point.without_timeout:.0%} of the cycles have no timeout"
    if point.queue_drops > 0.5:
        return f"{point.queue_drops:.0f} packets a cycle are lost to the queue"
    if point.rtt_high_s > point.setting.off_s:
        return (
            f"the queue lifts the RTT to {point.rtt_high_s * 1e3:.0f} ms, above the silence, and "
            f"{point.fast_retransmits:.1f} fast retransmits a cycle come before the timeout"
        )
    expected = point.setting.model(point.t_cc_s, solution="exact").converged_cwnd
    if abs(point.window / expected - 1) > MARGIN:
        return f"the window is {point.window:.0f} packets at the end of a cycle where 2 dW is {expected:.0f}"
    return f"a cycle has {rounds:.1f} round trips, too few for equation (3), which gives too small a dW"


def _ladder(point: Point) -> str:
    """How the ratio at one point moves as the model's simplifications are taken back, one after the other."""
    exact = point.ratio(solution="exact")
    delivered = point.ratio(solution="exact", lost_last_round=True)
    text = (
        f"At {point.label} the simulation gives {point.ratio():.2f} of the printed model; {exact:.2f} with "
        f"dW from (2) instead of its approximation (3), which is low; {delivered:.2f} when the last window "
        f"of each cycle, which is sent but lost in the silence ({point.silence_drops:.0f} packets), is not "
        "counted as delivered"
    )
    if not math.isnan(point.window):
        expected = point.setting.model(point.t_cc_s, solution="exact").converged_cwnd
        text += f"; the window it meets is {point.window:.1f} packets, 2 dW is {expected:.1f}"
    return text + "."


def _figures(study: Context, base: Sweep, in_range: Sequence[Sweep], shown: Sequence[Sweep]) -> list[Figure]:
    published = study.study.published("fig3")
    x = [point.t_cc_s for point in base.points]
    steps = 120
    dense = [x[0] * (x[-1] / x[0]) ** (index / steps) for index in range(steps + 1)]
    intervals = [mean_interval([value / 1e6 for value in point.goodput_bps]) for point in base.points]
    beside = [
        next(sweep for sweep in in_range if sweep.setting.queue_packets == 100),
        next(sweep for sweep in shown if sweep.setting.silence == "hold"),
    ]

    def curve(**options: Any) -> list[float]:
        return [base.setting.model(t_cc_s, **options).throughput_bps / 1e6 for t_cc_s in dense]

    throughput = Figure(
        id="fig3",
        title="Fig. 3: asymptotic throughput against the duration of the cognitive cycle",
        x_label="Duration of the cognitive cycle [s]",
        y_label="Throughput [Mbit/s]",
        log_x=True,
        curves=[
            Curve("model as printed, dW from (3)", dense, curve(), style="line"),
            Curve("model, dW from (2)", dense, curve(solution="exact"), style="dashed"),
            Curve(
                "the same without the lost last window",
                dense,
                curve(solution="exact", lost_last_round=True),
                style="dotted",
            ),
            Curve(
                "simulation (mean, 95 % interval)",
                x,
                [interval.mean for interval in intervals],
                [interval.low for interval in intervals],
                [interval.high for interval in intervals],
            ),
            *(
                Curve(
                    f"simulation, {sweep.setting.name}",
                    [point.t_cc_s for point in sweep.points],
                    [point.mbps for point in sweep.points],
                )
                for sweep in beside
            ),
        ],
        caption=(
            "Simulated goodput and the model. A short queue overflows in long cycles, which the model does "
            "not know. When the silence holds packets, nothing is lost and no timeout follows: the loss is "
            "the model's premise."
        ),
        paper=[published["caption"], *(sentence["text"] for sentence in published["sentence"])],
    )
    printed = curve()
    ends = [x[0], x[-1]]
    ratio = Figure(
        id="fig3-ratio",
        title="Simulation over model",
        x_label="Duration of the cognitive cycle [s]",
        y_label="relative to the model as printed",
        log_x=True,
        y_range=(0.5, 1.4),
        curves=[
            Curve(
                "simulation (mean, 95 % interval)",
                x,
                base.ratios,
                [finding.low for finding in base.matches],
                [finding.high for finding in base.matches],
            ),
            Curve(
                "model, dW from (2)",
                dense,
                _over(curve(solution="exact"), printed),
                style="dashed",
            ),
            Curve(
                "the same without the lost last window",
                dense,
                _over(curve(solution="exact", lost_last_round=True), printed),
                style="dotted",
            ),
            Curve("margin of the test", ends, [1 + MARGIN] * 2, style="limit"),
            Curve("", ends, [1 - MARGIN] * 2, style="limit"),
        ],
        caption=(
            "The test asks for every interval to lie within the margin. Equation (3) makes the printed "
            "model low in "
            "short cycles, and the last window of each cycle, which is lost, makes it high: the two nearly "
            "cancel."
        ),
    )
    return [throughput, ratio]


def _over(values: Sequence[float], reference: Sequence[float]) -> list[float]:
    return [value / other for value, other in zip(values, reference, strict=True)]


def _tables(base: Sweep, in_range: Sequence[Sweep], shown: Sequence[Sweep]) -> list[Table]:
    breakdown = Table(
        title="Cycle by cycle",
        header=[
            "cycle",
            "case",
            "simulation [Mbit/s]",
            "model [Mbit/s]",
            "ratio [95 %]",
            "ratio, dW exact",
            "ratio, without lost window",
            "timeouts per cycle",
            "T_rto measured [s]",
            "window at timeout",
            "2 dW, exact",
            "RTT, mean [ms]",
            "queue drops per cycle",
        ],
        rows=[
            [
                point.label,
                str(point.setting.model(point.t_cc_s).regime.value),
                f"{point.mbps:.3f}",
                f"{point.setting.model(point.t_cc_s).throughput_bps / 1e6:.3f}",
                f"{finding.estimate:.3f} [{finding.low:.3f}, {finding.high:.3f}]",
                f"{point.ratio(solution='exact'):.3f}",
                f"{point.ratio(solution='exact', lost_last_round=True):.3f}",
                f"{point.timeouts:.2f}",
                f"{point.t_rto_s:.2f}",
                f"{point.window:.1f}",
                f"{point.setting.model(point.t_cc_s, solution='exact').converged_cwnd:.1f}",
                f"{point.rtt_s * 1e3:.0f}",
                f"{point.queue_drops:.1f}",
            ]
            for point, finding in zip(base.points, base.matches, strict=True)
        ],
        caption=f"The model's T_rto is {base.setting.t_rto_s:g} s throughout.",
    )
    labels = [point.label for point in in_range[0].points]
    unsaid = Table(
        title="What the paper leaves unsaid",
        header=["setting", "counts", *(f"ratio at {label}" for label in labels), "match", "drop"],
        rows=[
            [
                sweep.setting.name,
                "verdict" if sweep in in_range else "shown",
                *(sweep.ratio_at(label) for label in labels),
                sweep.match_verdict,
                sweep.trend.verdict,
            ]
            for sweep in (*in_range, *shown)
        ],
        caption=(
            "Simulation over model, the model with the setting's own segment size and T_rto. `verdict`: "
            "within what "
            "the paper's sentences allow, the claim must hold here too. `shown`: contradicts a sentence of "
            "the paper."
        ),
    )
    readings = Table(
        title="Units of the printed equations",
        header=["cycle", "packets (consistent) [Mbit/s]", "bits [Mbit/s]", "mixed [Mbit/s]"],
        rows=[
            [
                point.label,
                *(f"{_as_printed(point, units) / 1e6:.2f}" for units in ("packets", "bits", "mixed")),
            ]
            for point in base.points
        ],
        caption=(
            "Equations (4) and (5) add packets to bits. Read in packets they agree with the derivation; "
            "with BW and "
            "BDP in bits the link never saturates, with BW alone in bits the packets of slow start vanish "
            "(cogtcp.models.aimd_cycle_as_printed). Headers are left out here."
        ),
    )
    return [breakdown, unsaid, readings]


def _as_printed(point: Point, reading: Any) -> float:
    return models.aimd_cycle_as_printed(
        bandwidth_bps=BANDWIDTH_BPS,
        rtt_s=RTT_S,
        t_cc_s=point.t_cc_s,
        t_rto_s=point.setting.t_rto_s,
        segment_size_bytes=point.setting.segment_bytes,
        reading=reading,
    )


def _mean(records: Sequence[dict[str, Any]], key: str) -> float:
    """Return the mean over the seeds; NaN where no seed has a value."""
    values = [record[key] for record in records if record[key] is not None]
    return statistics.fmean(values) if values else math.nan


def _longest_recovery(events: dict[str, list[Any]]) -> float:
    """Return the longest time from a fast retransmit to the end of recovery or the next timeout."""
    longest, start = 0.0, None
    for time, kind in zip(events["time_s"], events["kind"], strict=True):
        if kind == "fast_retransmit":
            start = time
        elif kind in {"recovery_exit", "rto"} and start is not None:
            longest, start = max(longest, time - start), None
    return longest


def _times(events: dict[str, list[Any]], kind: str) -> list[float]:
    return [time for time, other in zip(events["time_s"], events["kind"], strict=True) if other == kind]


def _seconds(text: str) -> float:
    """Return the duration that a scenario's canonical form holds, in seconds."""
    number, unit = text.split()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}[unit]
