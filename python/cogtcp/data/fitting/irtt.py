"""Logs of irtt: the JSON of `irtt client -o FILE` (irtt 0.9, doc/irtt-client.1)."""

from __future__ import annotations

import itertools
import math
from typing import Any

from cogtcp._errors import UsageError
from cogtcp.data.fitting.estimate import median
from cogtcp.data.fitting.probes import Probe, Probes

#: irtt writes times in nanoseconds.
_NS = 1e-9


def is_irtt(data: Any) -> bool:
    """Return whether a JSON value is what irtt writes."""
    return isinstance(data, dict) and "round_trips" in data


def read(data: dict[str, Any], file: str) -> Probes:
    """Return the round trips of a log.

    Raises:
        UsageError: It has no round trips, or none was answered.
    """
    trips = data["round_trips"]
    if not isinstance(trips, list) or not trips:
        stats = data.get("stats") or {}
        if stats.get("packets_sent"):
            raise UsageError(
                f"{file}: the irtt log has statistics of {stats['packets_sent']} packets and no round trips; "
                "give the file that irtt client -o writes"
            )
        raise UsageError(f"{file}: the irtt log has no round trips; give the file that irtt client -o writes")
    config = (data.get("config") or {}).get("params") or {}
    told = float(config.get("interval") or 0) * _NS
    sent = [_sent(trip) for trip in trips]
    rtts = [_rtt(trip) for trip in trips]
    steps = [b - a for a, b in itertools.pairwise(sent) if b > a]
    interval = median(steps) if steps else told or 1.0
    notes = []
    if any(math.isnan(time) for time in sent):
        # Without a clock the interval that was asked for.
        notes.append(f"{file}: irtt wrote no times of requests; they are taken {interval:.4g} s apart")
        sent = [number * interval for number in range(len(trips))]
    if all(math.isnan(rtt) for rtt in rtts):
        raise UsageError(
            f"{file}: none of {len(trips)} requests of irtt was answered, so nothing shows the link; "
            "give a log with replies"
        )
    found = Probes(
        [Probe(time - sent[0], rtt) for time, rtt in zip(sent, rtts, strict=True)],
        interval,
        # The clock of the host may be coarser; its readings are not.
        1e-6,
        notes=notes,
    )
    stats = data.get("stats") or {}
    if stats.get("server_packets_received") is not None and stats.get("packets_sent"):
        arrived = int(stats["server_packets_received"])
        found.lost_up = int(stats["packets_sent"]) - arrived
        found.lost_down = max(0, arrived - int(stats.get("packets_received") or 0))
    return found


def _sent(trip: dict[str, Any]) -> float:
    """Return when a request was sent, s; NaN without a clock.

    The monotonic clock first: the wall clock may be set during a test.
    """
    try:
        clocks = trip["timestamps"]["client"]["send"]
        return float(clocks["monotonic"] if "monotonic" in clocks else clocks["wall"]) * _NS
    except (KeyError, TypeError):
        return math.nan


def _rtt(trip: dict[str, Any]) -> float:
    # `lost` is "false", "true", or with the direction "true_up" or "true_down".
    rtt = (trip.get("delay") or {}).get("rtt")
    return math.nan if rtt is None or str(trip.get("lost", "false")).lower() != "false" else float(rtt) * _NS
