"""The single-hop claims of Di Felice, Chowdhury and Bononi (MSWiM 2009), measured: Figures 2, 3, 5 and 6.

Every claim is tested at each of the settings below, which differ in what the paper leaves open. The grids are
those of its figures as far as its text gives them.
"""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cogtcp.statistics import mean_interval, paired_difference
from cogtcp.studies import Case, Context, Curve, Figure, Measured, Table, claim, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result, Scenario
    from cogtcp.studies.verdicts import Finding

TRANSPORTS = ("sack", "newreno", "reno", "vegas-ns2")
T_S = (0.025, 0.05, 0.1, 0.2, 0.3, 0.6, 1.0, 3.0)
T_P = (0.2, 0.6, 1.0, 2.0, 4.0)
ACTIVITY = (0.5, 1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Setting:
    """What the paper leaves unsaid, at one value each."""

    name: str = "base"
    snr_db: float = -20.0
    rate: float = 0.5  # alpha = beta, 1/s
    as_released: bool = False
    peer: str = "wait"

    def scenario(self, base: Scenario, t_s: float, t_p: float, quick: bool) -> Scenario:
        """Return the scenario of a point of the (t_s, T_p) plane."""
        result = (
            base.set("run.duration", "60 s" if quick else "200 s")
            .set("radio.0.cr.sensing_time", f"{t_s * 1000:g} ms")
            .set("radio.0.cr.transmission_time", f"{t_p * 1000:g} ms")
            .set("radio.0.cr.while_peer_senses", self.peer)
            .set("spectrum.pu.exponential.alpha", self.rate)
            .set("spectrum.pu.exponential.beta", self.rate)
        )
        if self.peer == "retry":
            result = result.set("radio.0.cr.ends", "independent")
        if not self.as_released:
            return result.set("radio.0.cr.detector.map.snr", f"{self.snr_db:g} dB")
        return result.set("radio.0.cr.detector", "as_released").set("radio.0.cr.transmit_radio", "separate")


BASE = Setting()
RANGE = (
    BASE,
    replace(BASE, name="mean times of 1 s", rate=1.0),
    replace(BASE, name="SNR -22 dB", snr_db=-22.0),
    replace(BASE, name="SNR -15 dB", snr_db=-15.0),
    replace(BASE, name="ends sense by themselves", peer="retry"),
)
"""Where a verdict must hold: the readings that the paper's text allows."""
SHOWN = (replace(BASE, name="as released", as_released=True, peer="retry"),)
"""Measured beside them: the radio of the released code is not that of the paper."""


def _settings(study: Context) -> tuple[Setting, ...]:
    return (BASE, RANGE[1], SHOWN[0]) if study.quick else RANGE + SHOWN


def measure(result: Result) -> dict[str, Any]:
    """Keep what the claims need of a run."""
    (flow,) = result.flows.to_pylist()
    keys = ("goodput_bps", "efficiency", "rtos", "rtt_p95_s", "rtt_p50_s")
    return {key: flow[key] for key in keys}


def _sweep(study: Context, scenarios: dict[Any, Scenario], quantity: str) -> dict[Any, list[float]]:
    """Return one value per seed of each scenario, all runs made at once."""
    cases = [Case(scenario, seed, measure) for scenario in scenarios.values() for seed in study.seeds]
    records = iter(study.run(cases))
    return {key: [float(next(records)[quantity]) for _ in study.seeds] for key in scenarios}


def _plane(
    study: Context, points: Sequence[tuple[float, float]], transports: Sequence[str] = ("newreno",)
) -> dict[Any, Scenario]:
    base = study.scenario("single-hop")
    return {
        (setting.name, transport, t_s, t_p): setting.scenario(base, t_s, t_p, study.quick).with_transport(
            transport
        )
        for setting in _settings(study)
        for transport in transports
        for t_s, t_p in points
    }


def _curve(name: str, x: Sequence[float], series: Sequence[Sequence[float]], scale: float = 1.0) -> Curve:
    found = [mean_interval([value / scale for value in values]) for values in series]
    return Curve(name, x, [i.mean for i in found], [i.low for i in found], [i.high for i in found])


def _answer(
    study: Context, findings: dict[str, Finding], test: str, why: str, figures: Sequence[Figure], title: str
) -> Measured:
    """Join the findings of the settings: the verdict is that of all within the range."""
    named = {setting.name for setting in RANGE}
    verdict = verdicts.over_range([finding.verdict for name, finding in findings.items() if name in named])
    base = findings[BASE.name]
    rows = [[name, finding.verdict, finding.where, finding.statement] for name, finding in findings.items()]
    return Measured(
        verdict=verdict,
        measured=f"base: {base.statement}" + (f" ({base.where})" if base.where else ""),
        ci=(base.low, base.high),
        test=f"{test}; {len(study.seeds)} seeds; must come out alike at every setting within the range",
        why=why,
        figures=figures,
        tables=[Table(title, ["Setting", "Verdict", "Where", "Measured"], rows)],
    )


class Part(NamedTuple):
    """One comparison of a claim that asks for several: values above a baseline, paired by seed."""

    values: Sequence[float]
    baseline: Sequence[float]
    where: str


def _least(parts: Sequence[Part]) -> Finding:
    """Test that all parts hold; the finding is that of the least difference of those that decide.

    As in `verdicts.increasing`: it differs if some part is shown to (Bonferroni over the parts).
    """
    findings = []
    for part in parts:
        above = paired_difference(part.values, part.baseline, 0.9)
        below = paired_difference(part.values, part.baseline, 1 - 0.1 / len(parts))
        verdict: verdicts.Verdict = "holds" if above.low > 0 else "differs" if below.high < 0 else "unclear"
        found = verdicts.greater(part.values, part.baseline, where=part.where)
        findings.append(replace(found, verdict=verdict))
    joint = verdicts.combine([finding.verdict for finding in findings])
    deciding = [finding for finding in findings if finding.verdict == joint]
    return min(deciding, key=lambda finding: finding.estimate)


@claim("mswim09-f2")
def throughput_has_an_optimum(study: Context) -> Measured:
    """Figure 2: the stated optimum lies above the ends of both axes."""
    t_s, t_p = ((0.025, 0.2, 1.0), (0.2, 1.0, 4.0)) if study.quick else (T_S, T_P)
    values = _sweep(study, _plane(study, list(itertools.product(t_s, t_p))), "goodput_bps")
    findings, best = {}, {}
    for setting in _settings(study):
        here = {(a, b): values[setting.name, "newreno", a, b] for a in t_s for b in t_p}
        best[setting.name] = max(here, key=lambda point: statistics.fmean(here[point]))
        ends = [(t_s[0], 1.0), (t_s[-1], 1.0), (0.2, t_p[0]), (0.2, t_p[-1])]
        findings[setting.name] = _least(
            [Part(here[0.2, 1.0], here[a, b], where=f"against t_s {a:g} s, T_p {b:g} s") for a, b in ends]
        )
    curves = [
        _curve(f"T_p {b:g} s", t_s, [values[BASE.name, "newreno", a, b] for a in t_s], 1e3) for b in t_p
    ]
    where = "; ".join(f"{name}: t_s {a:g} s, T_p {b:g} s" for name, (a, b) in best.items())
    return _answer(
        study,
        findings,
        "goodput at t_s 0.2 s, T_p 1 s above that at the ends of both axes, paired by seed",
        f"The greatest mean goodput of the grid is at: {where}.",
        [_figure("fig2", "Throughput of NewReno over the sensing time", "Sensing time t_s, s", curves)],
        "Optimum against the ends of the axes, by setting (bit/s)",
    )


@claim("mswim09-f3a")
def throughput_rises_and_falls_with_the_sensing_time(study: Context) -> Measured:
    """Figure 3, first part: up to 0.2 s throughput rises, from there it falls."""
    t_s, values = _figure_3(study)
    findings = {}
    for setting in _settings(study):
        parts = []
        for transport in TRANSPORTS:
            peak = values[setting.name, transport, 0.2, 0.6]
            for end in (t_s[0], t_s[-1]):
                parts.append(
                    Part(peak, values[setting.name, transport, end, 0.6], where=f"{transport}, t_s {end:g} s")
                )
        findings[setting.name] = _least(parts)
    return _answer(
        study,
        findings,
        f"for every variant, goodput at t_s 0.2 s above that at {t_s[0]:g} s and at {t_s[-1]:g} s, T_p 0.6 s",
        "The greatest mean goodput of each curve is at t_s = "
        + "; ".join(
            f"{setting.name}: "
            + ", ".join(
                f"{transport} {max(t_s, key=lambda t: statistics.fmean(curves[t])):g} s"
                for transport in TRANSPORTS
                for curves in [{t: values[setting.name, transport, t, 0.6] for t in t_s}]
            )
            for setting in _settings(study)
        )
        + ".",
        [_figure_of_variants(t_s, values)],
        "Goodput at 0.2 s above the ends, by setting (bit/s)",
    )


@claim("mswim09-f3b")
def order_of_the_variants(study: Context) -> Measured:
    """Figure 3, second part: SACK and NewReno above Reno, Vegas lowest, at every sensing time."""
    t_s, values = _figure_3(study)
    findings = {}
    order: dict[str, str] = {}
    for setting in _settings(study):
        parts = []
        means: dict[str, float] = defaultdict(float)
        for t in t_s:
            at = {transport: values[setting.name, transport, t, 0.6] for transport in TRANSPORTS}
            pairs = [("sack", "reno"), ("newreno", "reno"), ("reno", "vegas-ns2")]
            parts += [Part(at[a], at[b], where=f"{a} against {b}, t_s {t:g} s") for a, b in pairs]
            for transport in TRANSPORTS:
                means[transport] += statistics.fmean(at[transport]) / len(t_s) / 1e3
        findings[setting.name] = _least(parts)
        ranked = sorted(TRANSPORTS, key=lambda transport: -means[transport])
        order[setting.name] = ", ".join(f"{transport} {means[transport]:.0f}" for transport in ranked)
    return _answer(
        study,
        findings,
        "SACK and NewReno above Reno and Reno above Vegas at every t_s, paired by seed, T_p 0.6 s",
        "Mean goodput over the sensing times, kb/s: "
        + "; ".join(f"{name}: {text}" for name, text in order.items())
        + ".",
        [],
        "Order of the variants, by setting (bit/s)",
    )


@claim("mswim09-f5")
def rtt_varies_more_the_longer_the_sensing(study: Context) -> Measured:
    """Figure 5: the spread of the RTT grows with the sensing time."""
    t_s = (0.025, 0.2, 0.3)
    plane = _plane(study, [(t, 0.6) for t in t_s])
    late, middle = _sweep(study, plane, "rtt_p95_s"), _sweep(study, plane, "rtt_p50_s")
    findings, curves = {}, []
    means: dict[str, str] = {}
    for setting in _settings(study):
        series = [
            [
                a - b
                for a, b in zip(
                    late[setting.name, "newreno", t, 0.6],
                    middle[setting.name, "newreno", t, 0.6],
                    strict=True,
                )
            ]
            for t in t_s
        ]
        findings[setting.name] = verdicts.increasing(series, [f"{t:g} s" for t in t_s])
        curves.append(_curve(setting.name, t_s, series, 1e-3))
        means[setting.name] = ", ".join(f"{statistics.fmean(values) * 1e3:.0f}" for values in series)
    return _answer(
        study,
        findings,
        "95th percentile less median of the RTT grows from t_s 0.025 to 0.2 to 0.3 s, NewReno, T_p 0.6 s",
        "Spread at t_s of 25, 200 and 300 ms, in ms: "
        + "; ".join(f"{name}: {text}" for name, text in means.items())
        + ".",
        [
            _figure(
                "fig5", "Spread of the RTT", "Sensing time t_s, s", curves, y="95th percentile - median, ms"
            )
        ],
        "Growth of the spread, by setting",
    )


@claim("mswim09-f6")
def regions_of_activity(study: Context) -> Measured:
    """Figure 6: low activity above long-term above intermittent above high activity."""
    grid = (0.5, 2.0) if study.quick else ACTIVITY
    base = study.scenario("single-hop")
    settings = [setting for setting in _settings(study) if setting.rate == BASE.rate]
    scenarios = {
        (setting.name, alpha, beta): setting.scenario(base, 0.2, 0.6, study.quick)
        .set("spectrum.pu.exponential.alpha", alpha)
        .set("spectrum.pu.exponential.beta", beta)
        for setting in settings
        for alpha in grid
        for beta in grid
    }
    values = _sweep(study, scenarios, "goodput_bps")
    findings = {}
    means: dict[str, str] = {}
    for setting in settings:
        regions: dict[tuple[bool, bool], list[list[float]]] = defaultdict(list)
        for alpha, beta in itertools.product(grid, grid):
            regions[alpha > 1, beta > 1].append(values[setting.name, alpha, beta])
        of = {
            name: [statistics.fmean(seed) for seed in zip(*regions[key], strict=True)]
            for name, key in {
                "low": (True, False),
                "long-term": (False, False),
                "intermittent": (True, True),
                "high": (False, True),
            }.items()
        }
        steps = list(itertools.pairwise(of))
        findings[setting.name] = _least([Part(of[a], of[b], where=f"{a} against {b}") for a, b in steps])
        means[setting.name] = ", ".join(f"{name} {statistics.fmean(v) / 1e3:.0f}" for name, v in of.items())
    curves = [
        _curve(f"alpha {alpha:g}/s", grid, [values[BASE.name, alpha, beta] for beta in grid], 1e3)
        for alpha in grid
    ]
    return _answer(
        study,
        findings,
        "mean goodput of a region above that of the next: low, long-term, intermittent, high activity",
        "Mean goodput of the regions, kb/s: "
        + "; ".join(f"{name}: {text}" for name, text in means.items())
        + ".",
        [_figure("fig6", "Throughput over the activity of the PUs", "Birth rate beta, 1/s", curves)],
        "Regions, by setting (bit/s)",
    )


def _figure_3(study: Context) -> tuple[tuple[float, ...], dict[Any, list[float]]]:
    t_s = (0.025, 0.2, 1.0) if study.quick else T_S
    return t_s, _sweep(study, _plane(study, [(t, 0.6) for t in t_s], TRANSPORTS), "goodput_bps")


def _figure_of_variants(t_s: Sequence[float], values: dict[Any, list[float]]) -> Figure:
    curves = [
        _curve(transport, t_s, [values[BASE.name, transport, t, 0.6] for t in t_s], 1e3)
        for transport in TRANSPORTS
    ]
    return _figure("fig3", "Throughput of the variants over the sensing time", "Sensing time t_s, s", curves)


def _figure(id: str, title: str, x: str, curves: Sequence[Curve], *, y: str = "Goodput, kb/s") -> Figure:
    caption = "Base setting, mean and 95 % interval over the seeds."
    return Figure(id, title, x, y, curves, caption, log_x=True)
