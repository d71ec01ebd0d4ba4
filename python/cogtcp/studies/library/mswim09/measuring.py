"""The runs behind the claims: a scenario for each point, and what is kept of its run."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp import Scenario
from cogtcp.studies import Case, Context

from .settings import BASE, QUICK, RANGE, SHOWN, VEGAS, Point, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp import Result
    from cogtcp.result import Trace

    Measure = Callable[[Result], dict[str, Any]]


@dataclass(frozen=True)
class Cell:
    """One point under one setting: what was kept, one record per seed."""

    records: Sequence[Mapping[str, Any]]

    def of(self, key: str) -> list[float]:
        """Return a quantity, one value per seed; NaN where a run has none."""
        return [math.nan if record[key] is None else float(record[key]) for record in self.records]

    def mean(self, key: str) -> float:
        """Return its mean over the seeds that have it; NaN if none has."""
        values = [value for value in self.of(key) if not math.isnan(value)]
        return statistics.fmean(values) if values else math.nan

    @property
    def goodput(self) -> list[float]:
        """Goodput in kbit/s, one value per seed."""
        return self.of("goodput_kbps")


Grid = dict[Point, Cell]


def settings(study: Context, quick: Sequence[str] = QUICK) -> list[Setting]:
    """Return the settings to run: all, or a few if it is to be quick."""
    every = (BASE, *RANGE, *SHOWN)
    return [setting for setting in every if not study.quick or setting is BASE or setting.name in quick]


def totals(result: Result) -> dict[str, Any]:
    """Keep the totals of a run, and where its time went."""
    (flow,) = result.flows.to_pylist()
    forward, backward = sorted(result.links.to_pylist(), key=lambda link: link["direction"])
    radios = result.radios.to_pylist()
    span_s = flow["measured_s"]
    # Both radios of a link whose ends sense apart are on the sender's or the receiver's channel: their mean.
    exposed_s = statistics.fmean(
        radio["pu_airtime_s"] * (radio["pu_exposed_share"] or 0.0) for radio in radios
    )
    errors = {key: statistics.fmean(radio[key] for radio in radios) for key in _SENSING}
    return {
        "goodput_kbps": flow["goodput_bps"] / 1e3,
        "efficiency_open": flow["efficiency"],
        "efficiency_channel": flow["delivered_bytes"] / forward["channel_bytes"],
        **{key: flow[key] for key in ("rtos", "spurious_rtos")},
        "rtos_per_min": 60 * flow["rtos"] / span_s,
        # Copies of what was not lost.
        "needless_kbps": max(flow["retransmitted_segments"] - flow["drops"], 0) * 8 / span_s,
        "rtt_ms": _ms(flow["rtt_mean_s"]),
        "rtt_p50_ms": _ms(flow["rtt_p50_s"]),
        "rtt_p95_ms": _ms(flow["rtt_p95_s"]),
        "spread_ms": _ms(flow["rtt_p95_s"]) - _ms(flow["rtt_p50_s"]),
        "dropped": sum(
            link[f"drops_{cause}"]
            for link in (forward, backward)
            for cause in ("queue", "retry", "interference")
        ),
        "interfered": forward["drops_interference"] + backward["drops_interference"],
        "retried": forward["drops_retry"] + backward["drops_retry"],
        "silent": forward["silence_s"] / span_s,
        "exposed": exposed_s / span_s,
        "clean": 1 - (forward["silence_s"] + exposed_s) / span_s,
        **errors,
    }


_SENSING = ("sensings", "missed_detections", "false_alarms", "handoffs")


def _ms(value: float | None) -> float:
    return math.nan if value is None else value * 1e3


def run(
    study: Context,
    wanted: Mapping[Setting, Sequence[Point]],
    measure: Measure = totals,
    trace: Trace = "summary",
) -> dict[Setting, Grid]:
    """Make the runs of all settings and points, over the study's seeds."""
    keys = [(setting, point) for setting, points in wanted.items() for point in dict.fromkeys(points)]
    scenarios = [scenario(study, setting, point) for setting, point in keys]
    cases = [Case(made, seed, measure, trace) for made in scenarios for seed in study.seeds]
    records = iter(study.run(cases))
    grids: dict[Setting, Grid] = {setting: {} for setting in wanted}
    for setting, point in keys:
        grids[setting][point] = Cell([next(records) for _ in study.seeds])
    return grids


def clean(study: Context, setting: Setting, rates_mbps: Sequence[float] = (1.0,)) -> list[float]:
    """Return what NewReno delivers over this MAC on undisturbed channels of these rates, in kbit/s."""
    points = [Point(clean=True, rate_mbps=rate) for rate in rates_mbps]
    (grid,) = run(study, {setting: points}).values()
    return [grid[point].mean("goodput_kbps") for point in points]


def scenario(study: Context, setting: Setting, point: Point) -> Scenario:
    """Make the scenario of one point under one setting."""
    data = _data(study, "as-released" if setting.released else "single-hop")
    spectrum, (radio,), (flow,) = data["spectrum"], data["radio"], data["flow"]
    cr, tcp = radio["cr"], data["tcp"]
    data["run"]["duration"] = "60 s" if study.quick else "200 s"
    cr["sensing_time"] = _duration(point.t_s)
    cr["transmission_time"] = _duration(point.t_p)
    cr["switching_delay"] = setting.switching
    spectrum["pu"]["exponential"] |= {
        "alpha": setting.rate if point.alpha is None else point.alpha,
        "beta": setting.rate if point.beta is None else point.beta,
    }
    if not setting.released:
        cr["detector"] = {setting.detector: {"snr": f"{setting.snr_db:g} dB", "bandwidth": "1 MHz"}}
        cr |= {
            "ends": setting.ends,
            "while_peer_senses": setting.peer,
            "transmit_radio": setting.transmit_radio,
        }
    if point.perfect:
        cr["detector"] = "perfect"
    short, long = point.retry_limits or setting.retry_limits
    cr["mac"] |= {
        "short_retry_limit": short,
        "long_retry_limit": long,
        "rts_threshold": "0 B" if setting.rts else "3000 B",
    }
    if point.m is not None:
        spectrum["channels"] = _data(study, "heterogeneous")["spectrum"]["channels"]
        spectrum["channels"]["alternating"]["m"] = point.m
    if point.clean:
        spectrum |= {"channels": {"uniform": f"{point.rate_mbps} Mbit/s"}, "pu": "none"}
        cr |= {"detector": "perfect", "sensing_time": "1 us", "transmission_time": "1000 s"}
    tcp |= {
        "min_rto": point.min_rto or setting.min_rto,
        "max_window": f"{point.window or setting.window} segments",
    }
    if point.f_rto:
        tcp["f_rto"] = "basic"
    if point.parameters:
        tcp["parameters"] = dict(point.parameters)
    flow["transport"] = setting.vegas if point.transport == VEGAS else point.transport
    return Scenario.from_dict(data)


_texts: dict[tuple[str, str], str] = {}


def _data(study: Context, name: str) -> dict[str, Any]:
    """Return a scenario of the study as data of its own to change; the file is read once."""
    key = (str(study.study.folder), name)
    if key not in _texts:
        _texts[key] = json.dumps(study.scenario(name).to_dict())
    data: dict[str, Any] = json.loads(_texts[key])
    return data


def _duration(value_s: float) -> str:
    return f"{round(value_s * 1e6)} us"
