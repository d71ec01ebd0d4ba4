"""The runs behind the claims: a scenario for each setting and seed, and what is kept of its run."""

from __future__ import annotations

import random
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cogtcp.studies import Case, Context, Curve, verdicts

from .settings import FALLEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result, Scenario
    from cogtcp.studies.verdicts import Finding

    from .settings import Setting


def scenario(study: Context, setting: Setting, seed: int) -> Scenario:
    """Return the scenario of `setting`; a seed draws when sensing and flows begin."""
    stream = random.Random(f"trains/{seed}")  # noqa: S311 - a documented draw, no secret
    start_s, stagger_ms = 10 + 2 * stream.random(), stream.uniform(10, 100)
    flow = {
        "name": "download*",
        "count": setting.clients,
        "from": "source*",
        "to": "client*",
        "transport": setting.transport,
        "stagger": f"{stagger_ms:.3f} ms",
    }
    changed = (
        study.scenario("train")
        .set("topology.graph", _network(setting))
        .set("flow", [flow])
        .set("radio.0.silence", setting.silence)
        .set("train.connection_manager", setting.manager)
        .set("train.tu_advance", setting.tu_advance)
        .set("train.rtt", setting.rtt)
        .set("train.trigger_loss", setting.trigger_loss)
    )
    for key, value in setting.tcp:
        changed = changed.set(f"tcp.{key}", value)
    if setting.helped and setting.silence == "drop":
        changed = changed.set("radio.0.unreachable", True)
    if setting.sensing_s is not None:
        sensing = {"off": _ms(1000 * setting.sensing_s), "on": "2 s", "start": _ms(1000 * start_s)}
        changed = changed.set("radio.0.sensing", sensing)
    if setting.error is not None:
        record: dict[str, Any] = {"error": setting.error, "missed": setting.missed}
        if setting.false_interval:
            record["false_interval"] = setting.false_interval
        changed = changed.set("train.prediction", {"itinerary": record})
    if study.quick:
        changed = changed.set("run.duration", "110 s")
    return changed


def _network(setting: Setting) -> dict[str, Any]:
    """Return the graph of so many sources and clients around the radio's link."""
    numbers = range(1, setting.clients + 1)
    wires = [f"source{k}" for k in numbers]
    clients = [f"client{k}" for k in numbers]
    fast = {"rate": "100 Mbit/s", "queue": "1000 packets"}
    radio: dict[str, Any] = {
        "name": "radio",
        "from": "node-b",
        "to": "router",
        "rate": "2 Mbit/s",
        "delay": "30 ms",
        "queue": f"{setting.queue} packets",
    }
    if setting.helped:
        radio["mark"] = "20 packets"
    delays = [_ms(50 + setting.spread_ms * (k - 1)) for k in numbers]
    links = [
        radio,
        *(
            {**fast, "name": f"wire{k}", "from": name, "to": "node-b", "delay": delay}
            for k, name, delay in zip(numbers, wires, delays, strict=True)
        ),
        *(
            {**fast, "name": f"lan{k}", "from": "router", "to": name, "delay": "10 ms"}
            for k, name in zip(numbers, clients, strict=True)
        ),
    ]
    return {"nodes": ["node-b", "router", *wires, *clients], "links": links}


def _ms(value: float) -> str:
    return f"{value:.3f} ms"


class Runs:
    """The records of a list of settings, one per seed."""

    def __init__(
        self, study: Context, settings: Sequence[Setting], measure: Any, trace: Any = "summary"
    ) -> None:
        wanted = list(dict.fromkeys(_nameless(setting) for setting in settings))
        cases = [
            Case(scenario(study, setting, seed), seed, measure, trace)
            for setting in wanted
            for seed in study.seeds
        ]
        records = iter(study.run(cases))
        self._records = {setting: [next(records) for _ in study.seeds] for setting in wanted}

    def values(self, setting: Setting, key: str) -> list[float]:
        """Return the values of `key`, one per seed."""
        return [record[key] for record in self._records[_nameless(setting)]]

    def mean(self, setting: Setting, key: str) -> float:
        """Return their mean."""
        return statistics.fmean(self.values(setting, key))

    def text(self, setting: Setting, key: str) -> str:
        """Return their mean with its interval."""
        return verdicts.mean_text(self.values(setting, key))

    def gain(self, setting: Setting, key: str = "efficiency", where: str = "") -> Finding:
        """Test that managers raise `key`, paired by seed."""
        return verdicts.greater(self.values(setting, key), self.values(setting.plain, key), where=where)

    def curve(self, name: str, x: Sequence[float], points: Sequence[Setting], key: str) -> Curve:
        """Return the points of a curve with their intervals over the seeds."""
        return Curve.over_seeds(name, list(x), [self.values(point, key) for point in points])


def _nameless(setting: Setting) -> Setting:
    # A name changes no run.
    return replace(setting, name="")


def measure(result: Result) -> dict[str, Any]:
    """Return what the flows and the train did together."""
    flows = result.flows.to_pylist()
    (train,) = result.trains.to_pylist()
    goodputs = [flow["goodput_bps"] for flow in flows]
    outages = max(1, train["outages"])
    sent = sum(flow["sent_segments"] for flow in flows)
    return {
        "efficiency": sum(result.columns("train_flows")["efficiency_trains"]),
        "useful": sum(flow["efficiency"] for flow in flows),
        "mbps": sum(goodputs) / 1e6,
        "timeouts": sum(flow["rtos"] for flow in flows) / outages,
        "fast": sum(flow["fast_retransmits"] for flow in flows) / outages,
        "retransmitted": sum(flow["retransmitted_segments"] for flow in flows) / max(1, sent),
        "queue_drops": sum(link["drops_queue"] for link in result.links.to_pylist()) / outages,
        "silence_drops": sum(link["drops_silence"] for link in result.links.to_pylist()) / outages,
        "fairness": result.fairness,
        "first_mbps": goodputs[0] / 1e6,
        "last_mbps": goodputs[-1] / 1e6,
        "overhead_bps": train["overhead_bps"],
        "late": train["late_warnings"],
        "missed": train["missed_outages"],
        "false": train["false_predictions"],
        "rtt_tcp_s": train["rtt_tcp_s"],
        "frozen_s": train["frozen_s"],
        "outages": train["outages"],
        "outage_s": train["outage_s"],
    }


def measure_windows(result: Result) -> dict[str, Any]:
    """Return what became of cwnd at each outage, and the timeline of the first 100 s."""
    series = [(row["time_s"], row["cwnd_segments"]) for row in result.flow_series.to_pylist()]
    events = result.events.to_pylist()
    starts = [event["time_s"] for event in events if event["kind"] == "sensing_start"]
    ends = [event["time_s"] for event in events if event["kind"] == "sensing_end"]
    rtos = [event["time_s"] for event in events if event["kind"] == "rto"]
    dropped = [
        (event["time_s"], event["detail"], event["value"]) for event in events if event["kind"] == "drop"
    ]
    drops = [time for time, cause, _ in dropped if cause == "queue"]
    # Of whole segments: a lost probe is no loss.
    tails = [time for time, cause, size in dropped if cause == "silence" and size > 100]
    ratios, lows, bursts, lost, lapses = [], [], [], [], []
    for start, end in zip(starts, ends, strict=False):
        before = [cwnd for time, cwnd in series if start - 1 < time <= start]
        # The first acknowledgement after the outage takes 80 ms from the train to the source; what duplicate
        # acknowledgements say of losses takes some round trips more.
        after = [cwnd for time, cwnd in series if start < time <= end + 0.2]
        later = [cwnd for time, cwnd in series if start < time <= end + 1.0]
        if start >= 10 and before and after:
            ratios.append(after[-1] / before[-1])
            lows.append(min(later) / before[-1])
            bursts.append(sum(end < time <= end + 1.0 for time in drops))
            # What silence destroys is noted when it would have arrived, 30 ms later.
            lost.append(sum(start < time <= end + 0.05 for time in tails))
            lapses.append(lost[-1] > 0 and lows[-1] < FALLEN)
    return {
        **measure(result),
        "ratio": statistics.median(ratios) if ratios else 1.0,
        "fallen": statistics.fmean(low < FALLEN for low in lows) if lows else 0.0,
        "low": statistics.fmean(lows) if lows else 1.0,
        "burst_drops": statistics.fmean(bursts) if bursts else 0.0,
        "tail_drops": statistics.fmean(lost) if lost else 0.0,
        "tails": statistics.fmean(count > 0 for count in lost) if lost else 0.0,
        "lapses": statistics.fmean(lapses) if lapses else 0.0,
        "timeouts": len(rtos) / max(1, len(starts)),
        "time_s": [time for time, _ in series if time < 100],
        "cwnd": [cwnd for time, cwnd in series if time < 100],
    }


def sentences(study: Context, figure: str) -> list[str]:
    """Return what the paper says about a figure."""
    return [sentence["text"] for sentence in study.study.published(figure)["sentence"]]
