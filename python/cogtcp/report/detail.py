"""One run in detail: its timelines, and the tables of its flows, links, radios and trains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp.metrics import BY_NAME, measure_rows
from cogtcp.report.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.report.timeline import Limits, Series
    from cogtcp.result import Result

# Longer tables are for Parquet.
_MOST_ROWS = 20

_FLOW_METRICS = (
    "goodput_bps", "efficiency", "delivery_ratio", "rtos", "fast_retransmits", "drops",
    "rtt_mean_s", "rtt_p95_s", "completion_s",
)  # fmt: skip

# Heading, unit, column, how to write a value.
_Column = tuple[str, str, str, "Callable[[Any], str]"]


def _number(digits: int, scale: float = 1) -> Callable[[Any], str]:
    return lambda value: "–" if math.isnan(value) else f"{value * scale:,.{digits}f}"


_LINKS: tuple[_Column, ...] = (
    ("Capacity", "MB", "capacity_bytes", _number(2, 1e-6)),
    ("Carried", "MB", "carried_bytes", _number(2, 1e-6)),
    ("Used", "%", "utilisation", _number(1, 100)),
    ("Drops: queue", "", "drops_queue", _number(0)),
    ("Drops: loss", "", "drops_loss", _number(0)),
    ("Drops: silence", "", "drops_silence", _number(0)),
    ("Drops: retry limit", "", "drops_retry", _number(0)),
    ("Drops: interference", "", "drops_interference", _number(0)),
    ("Queue, mean", "packets", "queue_mean_packets", _number(1)),
    ("Queue, longest", "packets", "queue_max_packets", _number(0)),
    ("Silent", "s", "silence_s", _number(2)),
)

# Only of links with a MAC.
_OF_MAC = {"drops_retry", "drops_interference"}

_MAC: tuple[_Column, ...] = (
    ("Exchanges", "", "attempts", _number(0)),
    ("Failed: interference", "", "attempts_interfered", _number(0)),
    ("Failed: receiver silent", "", "attempts_unanswered", _number(0)),
    ("Failed: collision", "", "attempts_collided", _number(0)),
    ("Failed: noise or error", "", "attempts_garbled", _number(0)),
)

_RADIOS: tuple[_Column, ...] = (
    ("Transmitting", "s", "transmitting_s", _number(2)),
    ("Sensing", "s", "sensing_s", _number(2)),
    ("Switching", "s", "switching_s", _number(2)),
    ("No signal", "s", "lost_s", _number(2)),
    ("Sensing periods", "", "sensings", _number(0)),
    ("PU arrivals", "", "pu_arrivals", _number(0)),
    ("Handoffs", "", "handoffs", _number(0)),
    ("Missed detections", "", "missed_detections", _number(0)),
    ("False alarms", "", "false_alarms", _number(0)),
    ("PU time exposed", "%", "pu_exposed_share", _number(2, 100)),
    ("PU time interfered", "%", "pu_interfered_share", _number(2, 100)),
    ("PU collisions", "", "pu_collisions", _number(0)),
    ("Time to vacate", "ms", "vacate_mean_s", _number(1, 1000)),
)

_TRAINS: tuple[_Column, ...] = (
    ("Outages", "", "outages", _number(0)),
    ("Missed", "", "missed_outages", _number(0)),
    ("False", "", "false_predictions", _number(0)),
    ("Late warnings", "", "late_warnings", _number(0)),
    ("Going down: mean error", "ms", "start_error_mean_s", _number(0, 1000)),
    ("5 %", "ms", "start_error_p05_s", _number(0, 1000)),
    ("median", "ms", "start_error_p50_s", _number(0, 1000)),
    ("95 %", "ms", "start_error_p95_s", _number(0, 1000)),
    ("Going up: mean error", "ms", "end_error_mean_s", _number(0, 1000)),
    ("5 %", "ms", "end_error_p05_s", _number(0, 1000)),
    ("median", "ms", "end_error_p50_s", _number(0, 1000)),
    ("95 %", "ms", "end_error_p95_s", _number(0, 1000)),
    ("TU_advance", "ms", "tu_advance_mean_s", _number(0, 1000)),
    ("Polls", "", "polls", _number(0)),
    ("Overhead", "bit/s", "overhead_bps", _number(0)),
    ("Frozen", "s", "frozen_s", _number(1)),
    ("Window probes", "", "window_probes", _number(0)),
)

_PREDICTIONS: tuple[_Column, ...] = (
    ("Outage from", "s", "start_s", _number(2)),
    ("to", "s", "end_s", _number(2)),
    ("Foretold at", "s", "made_s", _number(2)),
    ("from", "s", "foretold_start_s", _number(2)),
    ("to", "s", "foretold_end_s", _number(2)),
    ("Going down sent", "s", "down_sent_s", _number(2)),
    ("ahead by", "ms", "down_lead_s", _number(0, 1000)),
    ("needed", "ms", "needed_s", _number(0, 1000)),
    ("Going up sent", "s", "up_sent_s", _number(2)),
)


def detail(result: Result, series: Series, limits: Limits, *, name: str = "") -> dict[str, Any]:
    """Return what the templates show of a run."""
    zoom = series.zoom()
    what = f"{name or result.scenario.name}, seed {result.seed}"
    whole = timeline(
        series, limits, (0, series.duration), f"Windows, RTT, queue and goodput over time: {what}"
    )
    return {
        "name": name,
        "timeline": whole,
        "zoom": timeline(series, limits, zoom, f"The same, {zoom[0]:g} s to {zoom[1]:g} s: {what}")
        if zoom
        else "",
        "key": _key(series),
        "cut_off": series.exceeds_rate(),
        "flows": _flows(result),
        **_links(result),
        "radios": _table(result.radios.to_pylist(), ("radio",), _RADIOS),
        "train": _train(result) if result.trains.num_rows else None,
    }


def _links(result: Result) -> dict[str, Any]:
    rows = result.links.to_pylist()
    with_mac = [row for row in rows if row["attempts"] > 0]
    columns = tuple(column for column in _LINKS if with_mac or column[2] not in _OF_MAC)
    return {
        "links": _table(rows, ("link", "direction"), columns),
        "mac": _table(with_mac, ("link", "direction"), _MAC),
    }


def _train(result: Result) -> dict[str, Any]:
    return {
        "summary": _table(result.trains.to_pylist(), ("router", "predictor"), _TRAINS),
        "predictions": _table(result.predictions.to_pylist(), ("outcome", "cause"), _PREDICTIONS),
    }


def _flows(result: Result) -> dict[str, Any]:
    rows = result.flows.to_pylist()
    values = [measure_rows([row]) for row in rows]
    metrics = [BY_NAME[m] for m in _FLOW_METRICS if any(not math.isnan(v[m]) for v in values)]
    return {
        "headings": [("Flow", ""), ("Transport", ""), *((m.title, m.unit) for m in metrics)],
        "rows": [
            [row["flow"], row["transport"], *(m.text(v[m.name], single=True) for m in metrics)]
            for row, v in list(zip(rows, values, strict=True))[:_MOST_ROWS]
        ],
        "left_out": max(0, len(rows) - _MOST_ROWS),
    }


def _table(
    rows: list[dict[str, Any]], names: tuple[str, ...], columns: tuple[_Column, ...]
) -> dict[str, Any]:
    return {
        "headings": [*((name.capitalize(), "") for name in names), *((c[0], c[1]) for c in columns)],
        "rows": [
            [*(row[name] for name in names), *(write(row[column]) for _, _, column, write in columns)]
            for row in rows[:_MOST_ROWS]
        ],
        "left_out": max(0, len(rows) - _MOST_ROWS),
    }


def _key(series: Series) -> list[dict[str, str]]:
    """Return the signs that the timeline uses, with what they mean."""

    def stroke(color: str, dash: str = "") -> str:
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        return f'<path d="M0 8H32" stroke="var(--{color})" stroke-width="2.5" fill="none"{dashes}/>'

    def block(color: str) -> str:
        return f'<rect x="6" width="20" height="16" fill="var(--{color})" opacity=".55"/>'

    flows = list(series.flows)
    if len(flows) == 1:
        key = [(stroke("series-1"), "the flow"), (stroke("muted", "6 3"), "ssthresh")]
    else:
        key = [(stroke(f"series-{i}"), name) for i, name in enumerate(flows, start=1)]
    if series.hidden_flows:
        key.append(("", f"and {series.hidden_flows} more flows, not drawn"))
    key.append((stroke("muted", "2 3"), f"rate of {series.link} while it is open"))
    if any(len(times) for times in series.rtos.values()):
        key.append(('<path d="M10 3h12l-6 11z" fill="var(--alarm)"/>', "RTO"))
    if any(len(times) for times in series.fast_retransmits.values()):
        key.append(('<circle cx="16" cy="8" r="5.5" fill="var(--series-2)"/>', "fast retransmit"))
    if len(series.drops):
        key.append(
            ('<path d="M16 0V16" stroke="var(--alarm)" stroke-width="2.5"/>', f"drop at {series.link}")
        )
    kinds = {silence.kind for silence in series.silences}
    names = {"sensing": "sensing", "switching": "switching", "lost": "no signal"}
    key += [(block(kind), name) for kind, name in names.items() if kind in kinds]
    return [{"svg": svg, "text": text} for svg, text in key]
