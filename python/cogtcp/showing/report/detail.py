"""The tables of one run: its flows, links, radios, trains and ad hoc nodes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cogtcp.model.metrics import BY_NAME, LEAST_IN_SECONDS, measure_rows
from cogtcp.showing.report.tables import MOST_ROWS, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.model.result import Result

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
    ("Drops: discipline", "", "drops_early", _number(0)),
    ("Marked", "", "marked_packets", _number(0)),
    ("Drops: loss", "", "drops_loss", _number(0)),
    ("Drops: silence", "", "drops_silence", _number(0)),
    ("Drops: retry limit", "", "drops_retry", _number(0)),
    ("Drops: interference", "", "drops_interference", _number(0)),
    ("Queue, mean", "packets", "queue_mean_packets", _number(1)),
    ("Queue, longest", "packets", "queue_max_packets", _number(0)),
    ("Silent", "s", "silence_s", _number(2)),
)

_DATAGRAMS: tuple[_Column, ...] = (
    ("Goodput", "Mbit/s", "goodput_bps", _number(3, 1e-6)),
    ("Received", "packets", "received_packets", _number(0)),
    ("Lost", "%", "loss_ratio", _number(2, 100)),
    ("Delay, mean", "ms", "delay_mean_s", _number(2, 1e3)),
    ("Delay, p95", "ms", "delay_p95_s", _number(2, 1e3)),
    ("Delay, greatest", "ms", "delay_max_s", _number(2, 1e3)),
    ("Jitter", "ms", "jitter_s", _number(2, 1e3)),
)

_CALLS: tuple[_Column, ...] = (
    ("Opinion score", "", "mos", _number(2)),
    ("Rating", "", "rating", _number(1)),
    ("Mouth to ear", "ms", "mouth_to_ear_s", _number(0, 1e3)),
    ("Lost or late", "%", "missing_ratio", _number(2, 100)),
)

_REQUESTS: tuple[_Column, ...] = (
    ("Sent", "", "sent_requests", _number(0)),
    ("Answered", "", "answered_requests", _number(0)),
    ("Retransmitted", "", "repeats", _number(0)),
    ("Completion, mean", "ms", "completion_mean_s", _number(1, 1e3)),
    ("median", "ms", "completion_p50_s", _number(1, 1e3)),
    ("95 %", "ms", "completion_p95_s", _number(1, 1e3)),
    ("99 %", "ms", "completion_p99_s", _number(1, 1e3)),
    ("longest", "ms", "completion_max_s", _number(1, 1e3)),
)

_VIDEOS: tuple[_Column, ...] = (
    ("Chunks", "", "chunks", _number(0)),
    ("Began after", "s", "startup_s", _number(2)),
    ("Stalls", "", "stalls", _number(0)),
    ("Stalled", "s", "stalled_s", _number(2)),
    ("Bitrate", "Mbit/s", "bitrate_bps", _number(3, 1e-6)),
    ("Switches", "", "switches", _number(0)),
    ("Download, mean", "s", "download_mean_s", _number(2)),
    ("95 %", "s", "download_p95_s", _number(2)),
    ("longest", "s", "download_max_s", _number(2)),
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

_TRAIN_FLOWS: tuple[_Column, ...] = (
    ("Efficiency (Singh et al.)", "%", "efficiency_trains", _number(1, 100)),
    ("Frozen", "s", "frozen_s", _number(1)),
    ("Window probes", "", "window_probes", _number(0)),
)

_PREDICTIONS: tuple[_Column, ...] = (
    ("Outage from", "s", "start_s", _number(2)),
    ("to", "s", "end_s", _number(2)),
    ("Predicted at", "s", "made_s", _number(2)),
    ("from", "s", "predicted_start_s", _number(2)),
    ("to", "s", "predicted_end_s", _number(2)),
    ("Going down sent", "s", "down_sent_s", _number(2)),
    ("ahead by", "ms", "down_lead_s", _number(0, 1000)),
    ("needed", "ms", "needed_s", _number(0, 1000)),
    ("Going up sent", "s", "up_sent_s", _number(2)),
)


_ROUTING: tuple[_Column, ...] = (
    ("Searches", "", "searches", _number(0)),
    ("Routes found", "", "routes_found", _number(0)),
    ("Discovery, mean", "ms", "discovery_mean_s", _number(1, 1e3)),
    ("95 %", "ms", "discovery_p95_s", _number(1, 1e3)),
    ("Route changes", "", "route_changes", _number(0)),
    ("Routes lost", "", "route_losses", _number(0)),
    ("Links failed", "", "link_failures", _number(0)),
    ("Overhead", "packets", "overhead_packets", _number(0)),
    ("Overhead", "kB", "overhead_bytes", _number(1, 1e-3)),
    ("for each packet delivered", "", "overhead_ratio", _number(3)),
    ("MAC service, mean", "ms", "service_mean_s", _number(2, 1e3)),
    ("95 %", "ms", "service_p95_s", _number(2, 1e3)),
)

_STREAMS: tuple[_Column, ...] = (
    ("Delivered", "packets", "delivered_packets", _number(0)),
    ("Hops, mean", "", "hops_mean", _number(2)),
    ("least", "", "hops_min", _number(0)),
    ("most", "", "hops_max", _number(0)),
    ("Rerouted", "packets", "rerouted_packets", _number(0)),
    ("Searches", "", "searches", _number(0)),
    ("Discovery, mean", "ms", "discovery_mean_s", _number(1, 1e3)),
    ("Drops: routing", "", "drops_routing", _number(0)),
    ("Drops: queue", "", "drops_queue", _number(0)),
    ("Drops: MAC", "", "drops_mac", _number(0)),
)

_DROPS: tuple[_Column, ...] = (("Packets", "", "packets", _number(0)),)

_NODES: tuple[_Column, ...] = (
    ("Travelled", "m", "travelled_m", _number(0)),
    ("Relayed", "packets", "relayed", _number(0)),
    ("Dropped", "packets", "dropped", _number(0)),
    ("Routing sent", "packets", "routing_sent", _number(0)),
    ("On the air", "s", "air_time_s", _number(2)),
    ("Exchanges", "", "attempts", _number(0)),
    ("Failed: interference", "", "attempts_interfered", _number(0)),
    ("Failed: receiver silent", "", "attempts_unanswered", _number(0)),
    ("Failed: collision", "", "attempts_collided", _number(0)),
    ("Failed: noise or error", "", "attempts_garbled", _number(0)),
    ("Failed: out of reach", "", "attempts_out_of_reach", _number(0)),
    ("Failed: refused", "", "attempts_refused", _number(0)),
    ("Links failed", "", "link_failures", _number(0)),
    ("MAC service, mean", "ms", "service_mean_s", _number(2, 1e3)),
    ("Handoffs", "", "handoffs", _number(0)),
)


def detail(result: Result, name: str = "") -> dict[str, Any]:
    """Return what the templates show of a run; `name` tells several apart."""
    radios = _table(result.rows("radios"), ("radio",), _RADIOS)
    return {
        "name": name,
        "flows": _flows(result),
        **_links(result),
        "radios": radios,
        "train": _train(result),
        "ad_hoc": _ad_hoc(result),
        "datagrams": _table(result.rows("datagrams"), ("source",), _DATAGRAMS),
        "calls": _table(result.rows("calls"), ("source", "codec"), _CALLS, zeros=True),
        "requests": _table(result.rows("request_flows"), ("flow",), _REQUESTS, zeros=True),
        "videos": _table(result.rows("videos"), ("flow",), _VIDEOS, zeros=True),
    }


def _links(result: Result) -> dict[str, Any]:
    rows = result.rows("links")
    with_mac = [row for row in rows if row["attempts"] > 0]
    columns = tuple(column for column in _LINKS if with_mac or column[2] not in _OF_MAC)
    return {
        "links": _table(rows, ("link", "direction"), columns),
        "mac": _table(with_mac, ("link", "direction"), _MAC, zeros=True),
    }


def _train(result: Result) -> dict[str, Any] | None:
    if not result.count("trains"):
        return None
    return {
        "summary": _table(result.rows("trains"), ("router", "predictor"), _TRAINS),
        "flows": _table(result.rows("train_flows"), ("flow",), _TRAIN_FLOWS),
        "predictions": _table(result.rows("predictions"), ("outcome", "cause"), _PREDICTIONS),
    }


def _ad_hoc(result: Result) -> dict[str, Any] | None:
    if not result.count("routing"):
        return None
    return {
        "routing": _table(result.rows("routing"), ("protocol",), _ROUTING, zeros=True),
        "streams": _table(result.rows("streams"), ("flow", "stream", "from", "to"), _STREAMS),
        "drops": _table(result.rows("drops"), ("flow", "stream", "layer", "cause"), _DROPS, zeros=True),
        "nodes": _table(result.rows("nodes"), ("node",), _NODES),
    }


def _flows(result: Result) -> Table:
    rows = result.rows("flows")[:MOST_ROWS]
    values = [measure_rows([row]) for row in rows]
    metrics = [BY_NAME[m] for m in _FLOW_METRICS if any(not math.isnan(v[m]) for v in values)]
    return Table(
        [("Flow", ""), ("Transport", ""), *((m.title, m.unit) for m in metrics)],
        [
            [row["flow"], row["transport"], *(m.text(v[m.name], single=True) for m in metrics)]
            for row, v in zip(rows, values, strict=True)
        ],
        left=2,
        left_out=result.count("flows") - len(rows),
    )


def _for_size(column: _Column, rows: list[dict[str, Any]]) -> _Column:
    """Return a column of ms in s where its values are great. The tables of a run have seconds."""
    title, unit, name, _ = column
    great = unit == "ms" and any(abs(row[name]) >= LEAST_IN_SECONDS for row in rows)
    return (title, "s", name, _number(2)) if great else column


def _table(
    rows: list[dict[str, Any]], names: tuple[str, ...], columns: tuple[_Column, ...], *, zeros: bool = False
) -> Table:
    """Return columns as a table: without those that are zero throughout, on its side if that fits better."""
    columns = tuple(_for_size(column, rows) for column in columns)
    table = Table(
        [*((name.capitalize(), "") for name in names), *((c[0], c[1]) for c in columns)],
        [
            [*(row[name] for name in names), *(write(row[column]) for _, _, column, write in columns)]
            for row in rows[:MOST_ROWS]
        ],
        left=len(names),
        left_out=max(0, len(rows) - MOST_ROWS),
    )
    return (table if zeros else table.without_zeros()).turned()
