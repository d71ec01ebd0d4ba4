"""The subflows of a connection with several paths: what each delivered, and when its path was silent."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cogtcp.showing.figure import scale
from cogtcp.showing.figure.compared import rows as rows_of
from cogtcp.showing.figure.model import Axis, Bar, Dots, Drawing, Entry, Line, Panel, series
from cogtcp.showing.figure.reduce import thin_marks
from cogtcp.showing.figure.scale import Scale
from cogtcp.showing.figure.series import ENDS, STARTS, Events, columns_of, silences
from cogtcp.showing.figure.timeline import KINDS
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from cogtcp.model.result import Result
    from cogtcp.showing.figure.series import Silence

_LANE = 26.0
#: Lines and lanes have about so many values.
_MOST_VALUES = 600
_MARKS = (
    ("timeout", "down", "alarm", "timeout"),
    ("loss", "circle", "series-2", "loss"),
    ("reinjected", "up", "accent", "data reinjected"),
)


def of(result: Result) -> list[dict[str, Any]]:
    """Return what the templates need of each flow with several paths: its name, table and figure."""
    rows = result.rows("subflows")
    flows = dict.fromkeys(row["flow"] for row in rows if row["path"] > 0)
    if not flows:
        return []
    events = Events.of(result)
    return [_of_flow(result, events, name, [row for row in rows if row["flow"] == name]) for name in flows]


def _of_flow(result: Result, events: Events, name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    paths = [row["link"] or f"path {row['path']}" for row in rows]
    radio_events = events.rows({*STARTS, *ENDS})
    silent = [
        silences((event for event in radio_events if event[3] in row["radios"].split()), result.duration_s)
        for row in rows
    ]
    measured = (result.duration_s - _span(result, name), result.duration_s)
    return {
        "name": name,
        "table": _table(rows, paths, silent, measured),
        "figure": _figure(result, events, name, paths, silent),
    }


def _span(result: Result, name: str) -> float:
    """Return the length of a flow's measured span."""
    found = [row["measured_s"] for row in result.rows("flows") if row["flow"] == name]
    return float(found[0]) if found else result.duration_s


def _table(
    rows: list[dict[str, Any]],
    paths: list[str],
    silent: list[list[Silence]],
    measured: tuple[float, float],
) -> Table:
    begin, end = measured
    times = [
        math.fsum(max(0.0, min(one.end, end) - max(one.start, begin)) for one in of_path)
        for of_path in silent
    ]
    return Table(
        [
            ("Path", ""), ("Share of the data", "%"), ("Goodput", "Mbit/s"), ("RTT, mean", "ms"),
            ("Timeouts", ""), ("Retransmitted", "segments"), ("Reinjected elsewhere", "kB"),
            ("Repeated for others", "kB"), ("Silent", "s"), ("Silences", ""),
        ],
        [
            [
                path,
                f"{row['share'] * 100:.1f}",
                f"{row['goodput_bps'] / 1e6:.3f}",
                "–" if math.isnan(row["rtt_mean_s"]) else f"{row['rtt_mean_s'] * 1e3:.1f}",
                *(text if row["sent_segments"] else "–" for text in _counts(row)),
                f"{time:.2f}",
                str(sum(one.end > begin for one in of_path)),
            ]
            for row, path, time, of_path in zip(rows, paths, times, silent, strict=True)
        ],
    ).turned()  # fmt: skip


def _counts(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the counts of a subflow's sender, which a kernel does not report."""
    return (
        str(row["rtos"]),
        str(row["retransmitted_segments"]),
        f"{row['reinjected_bytes'] / 1e3:,.0f}",
        f"{row['repeated_bytes'] / 1e3:,.0f}",
    )


def _figure(
    result: Result, events: Events, name: str, paths: list[str], silent: list[list[Silence]]
) -> Drawing:
    legend = [Entry(path, "line", series(number)) for number, path in enumerate(paths)]
    kinds = {one.kind for of_path in silent for one in of_path}
    legend += [Entry(said, "block", kind, opacity=0.6) for kind, said in KINDS.items() if kind in kinds]
    legend += [
        Entry(said, shape, color)
        for kind, shape, color, said in _MARKS
        if len(events.where(kind=kind, entity=name))
    ]
    time = Scale(0, result.duration_s or 1.0)
    panels = []
    for title, unit, height, lines in (
        ("Delivered", "Mbit/s", 150.0, [_rate(result, name, number) for number in range(len(paths))]),
        ("RTT", "ms", 110.0, [_rtt(result, name, number) for number in range(len(paths))]),
    ):
        known = [float(value) for _, values in lines for value in values if math.isfinite(value)]
        limit, _ = scale.robust_limit(known)
        panel = Panel(Axis(time, bare=True), Axis(Scale(0, limit * 1.06 or 1.0), title, unit), height)
        panel.add(*(Line(*line, series(number), 1.4) for number, line in enumerate(lines)))
        panels.append(panel)
    lanes = Panel(Axis(time, "Time, s"), rows_of(paths), _LANE * len(paths))
    span = result.duration_s / _MOST_VALUES
    for number, path in enumerate(paths):
        row = (number - 0.4, number + 0.4)
        for one in silent[number]:
            lanes.add(Bar((one.start, max(one.end, one.start + span)), row, one.kind, 0.8))
        for kind, shape, color, _ in _MARKS:
            at = thin_marks(events.where(kind=kind, entity=name, detail=path), (0.0, result.duration_s))
            lanes.add(Dots(at, [number] * len(at), color, shape))
    label = f"The subflows of {name} over time: {', '.join(paths)}"
    return Drawing(label, [[panel] for panel in (*panels, lanes)], legend, width=960)


def _rate(result: Result, name: str, path: int) -> tuple[list[float], list[float]]:
    """Return the rate at which a path's data was acknowledged, by time."""
    columns = columns_of(result, "control_series", flow=name, variable=f"path{path}_delivered_bytes")
    times, bytes_ = columns["time_s"], columns["value"]
    step = max(1, len(times) // _MOST_VALUES)
    times, bytes_ = times[::step], bytes_[::step]
    # A connection that opens again counts from zero.
    steps = zip(pairwise(bytes_), pairwise(times), strict=True)
    rates = [max(more - less, 0.0) * 8e-6 / max(end - begin, 1e-9) for (less, more), (begin, end) in steps]
    return times[1:].tolist(), rates


def _rtt(result: Result, name: str, path: int) -> tuple[list[float], list[float]]:
    columns = columns_of(result, "control_series", flow=name, variable=f"path{path}_srtt_s")
    step = max(1, len(columns["time_s"]) // _MOST_VALUES)
    return columns["time_s"][::step].tolist(), [value * 1e3 for value in columns["value"][::step]]
