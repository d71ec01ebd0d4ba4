"""The page of a sweep: the sentence, lines over an axis, a map over two, the trade, the table."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cogtcp import _parquet
from cogtcp.model.metrics import BY_NAME, QUANTILES_OF, noticed, quantile_name
from cogtcp.model.statistics import Interval
from cogtcp.running.sweeping.picked import by_value, picked
from cogtcp.showing import figure
from cogtcp.showing.figure import Curve, Surface
from cogtcp.showing.report import page
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cogtcp.model.metrics import Metric
    from cogtcp.running.sweeping.result import Sweep
    from cogtcp.showing.figure import Drawing, Style

# Figures of small multiples, rows of the table, and failures that a page shows.
_MOST_FIGURES = 12
_MOST_ROWS = 500
_MOST_FAILURES = 10
# Width of its table in rem; beyond it rows are laid one below the other.
_WIDEST = 65.0
#: What the table and the figures over an axis show besides goodput, where it varies.
_ALSO = ("efficiency", "queuing_delay_mean_s", "rtt_p95_s", "rtos", "drops", "pu_interfered_share")

_IN_WORDS = ("queuing_delay_mean_s", "rtos")


def sweep_report(sweep: Sweep, *, command: str | None = None) -> str:
    """Return the page of a sweep."""
    axes = [(axis.name, axis.unit, axis.numeric) for axis in sweep.plan.axes]
    scenario = sweep.plan.scenario
    counts = sweep.progress
    rows, total = picked(sweep)
    rows = by_value(rows, sweep.axes)
    return _render(
        name=scenario.name,
        description=scenario.description,
        said=sweep.answer,
        rows=rows,
        total_rows=total,
        axes=axes,
        drawn=sweep.plan.sampling in ("random", "halton"),
        asked=sweep.plan.describe(),
        interrupted=sweep.interrupted,
        done=counts.done,
        total=sweep.plan.total,
        failures=sweep.failures,
        origin=page.origin(command, sweep.provenance),
        scenario=scenario.to_toml(),
        quantiles=_quantiles(sweep, axes),
        applications=noticed(scenario),
    )


def rows_in_words(sweep: Sweep, most: int) -> Table:
    """Return the points of a sweep, at most so many, with the few numbers that a terminal has room for."""
    rows, total = picked(sweep)
    rows = by_value(rows, sweep.axes)
    metrics = [
        *(metric for metric in noticed(sweep.plan.scenario) if _has(rows, metric.name)),
        BY_NAME["goodput_bps"],
        *(BY_NAME[name] for name in _IN_WORDS if _varies(rows, name)),
    ]
    axes = [(axis.name, axis.unit, axis.numeric) for axis in sweep.plan.axes]
    return replace(_table(rows[:most], axes, metrics), left_out=max(0, total - most))


def _has(rows: Sequence[dict[str, Any]], name: str) -> bool:
    return any(row.get(name) is not None for row in rows)


def merged_report(
    names: Sequence[str],
    folders: Sequence[Path],
    runs: int,
    rows: list[dict[str, Any]],
    axes: Sequence[tuple[str, str, bool]],
    said: str,
    failures: Sequence[dict[str, Any]],
    *,
    command: str | None = None,
) -> str:
    """Return the page of results put together.

    Args:
        names: What the folders are called.
        folders: The folders.
        runs: How many runs they hold.
        rows: The rows of the summary.
        axes: Each axis: its name, its unit, and whether it has numbers.
        said: The answer.
        failures: Rows of the runs that failed.
        command: The command line.
    """
    return _render(
        name=" and ".join(names) if len(names) <= 3 else f"{len(names)} folders",
        description="Merged results",
        said=said,
        total_rows=len(rows),
        rows=by_value(rows, [name for name, _, _ in axes]),
        axes=axes,
        drawn=False,
        asked=f"{runs} runs of {len(names)} folders: {', '.join(map(str, folders))}",
        interrupted=False,
        done=runs,
        total=runs,
        failures=failures,
        origin=page.origin(command),
        scenario="",
    )


def _render(
    *,
    name: str,
    description: str,
    said: str,
    rows: list[dict[str, Any]],
    total_rows: int,
    axes: Sequence[tuple[str, str, bool]],
    drawn: bool,
    asked: str,
    interrupted: bool,
    done: int,
    total: int,
    failures: Sequence[dict[str, Any]],
    origin: Sequence[tuple[str, str | None]],
    scenario: str,
    quantiles: Table | None = None,
    applications: Sequence[Metric] = (),
) -> str:
    """Return the page of runs over axes: of each its name, its unit, and whether it has numbers.

    Of `total_rows` rows of the summary `rows` are shown.
    """
    metrics = [
        *(metric for metric in applications if _has(rows, metric.name)),
        BY_NAME["goodput_bps"],
        *(BY_NAME[n] for n in _ALSO if _varies(rows, n)),
    ]
    over = _over_axis(rows, axes, metrics, drawn)
    return page.render(
        "sweep.html.j2",
        name=name,
        description=description,
        answer=said,
        thinned=total_rows > len(rows),
        shown_rows=len(rows),
        total_rows=total_rows,
        asked=asked,
        interrupted=interrupted,
        done=done,
        total=total,
        failures=failures[:_MOST_FAILURES],
        failed=len(failures),
        over=over,
        maps=[] if drawn else _maps(rows, axes),
        trade=_trade(rows),
        table=_fitting(rows[:_MOST_ROWS], axes, metrics),
        left_out=max(0, total_rows - _MOST_ROWS),
        quantiles=quantiles,
        constant=_constant(rows, metrics),
        origin=origin,
        scenario=scenario,
    )


def _varies(rows: Sequence[dict[str, Any]], name: str) -> bool:
    values = {row.get(name) for row in rows} - {None}
    return len(values) > 1


def _over_axis(
    rows: Sequence[dict[str, Any]],
    axes: Sequence[tuple[str, str, bool]],
    metrics: Sequence[Metric],
    drawn: bool,
) -> list[tuple[Drawing, str]]:
    """Return figures with one curve a transport over the first axis of numbers, and small multiples."""
    # An axis of numbers may be missing in some of several folders that were put together.
    rows = [row for row in rows if all(row[name] is not None for name, _, is_number in axes if is_number)]
    numeric = [axis for axis in axes if axis[2]]
    if not numeric:
        return []
    if drawn:
        return [
            (
                _lines(rows, axis, metrics[0], joined=False),
                f"{_labelled(metrics[0].title, metrics[0].unit)}, of every drawn point "
                f"over {_labelled(axis[0], axis[1])}.",
            )
            for axis in numeric[:_MOST_FIGURES]
        ]
    axis = numeric[0]
    over = _labelled(axis[0], axis[1])
    rest = [name for name, *_ in axes if name != axis[0]]
    units = {name: unit for name, unit, _ in axes}
    combinations = list(itertools.product(*(_ordered({row[name] for row in rows}) for name in rest)))
    found: list[tuple[Drawing, str]] = []
    shared = _goodput_range(rows) if len(combinations) > 1 else None
    for values in combinations[:_MOST_FIGURES]:
        part = [row for row in rows if all(row[n] == v for n, v in zip(rest, values, strict=True))]
        where = ", ".join(f"{n} {_said(v)} {units[n]}".rstrip() for n, v in zip(rest, values, strict=True))
        title = f"{_labelled('Goodput', metrics[0].unit)} over {over}" + (f", at {where}" if where else "")
        if part:
            lines = _lines(part, axis, metrics[0], joined=True, y_range=shared)
            found.append((lines, f"{title}. Mean and 95 % interval."))
    if not rest:
        found += [
            (
                _lines(rows, axis, metric, joined=True),
                f"{_labelled(metric.title, metric.unit)} over {over}. {metric.meaning}",
            )
            for metric in metrics[1:]
        ]
    return found


def _goodput_range(rows: Sequence[dict[str, Any]]) -> tuple[float, float] | None:
    """Return what all small multiples show of goodput, so that one can be held against another."""
    metric = BY_NAME["goodput_bps"]
    means = [row[metric.name] * metric.scale for row in rows if row.get(metric.name) is not None]
    highest = max(means, default=0.0)
    ends = (_end(row, metric, "high") for row in rows)
    # An interval as wide as ten values does not press the values flat.
    limit = max([highest, *(end for end in ends if end <= 3 * highest)])
    return (0.0, limit * 1.06) if limit > 0 else None


def _lines(
    rows: Sequence[dict[str, Any]],
    axis: tuple[str, str, bool],
    metric: Metric,
    *,
    joined: bool,
    y_range: tuple[float, float] | None = None,
) -> Drawing:
    curves = []
    name, unit, _ = axis
    for transport in sorted({row["transport"] for row in rows}):
        own = [r for r in rows if r["transport"] == transport and r.get(metric.name) is not None]
        own.sort(key=lambda row: row[name])
        low, high = ([_end(r, metric, end) for r in own] for end in ("low", "high"))
        y = [row[metric.name] * metric.scale for row in own]
        style: Style = "joined" if joined else "points"
        curves.append(Curve(transport, [r[name] for r in own], y, low, high, style))
    xs = [x for curve in curves for x in curve.x]
    log = bool(xs) and min(xs) > 0 and max(xs) / min(xs) >= 50
    x_label, y_label = _labelled(name, unit), _labelled(metric.title, metric.unit)
    label = f"{metric.title} over {name}"
    return figure.curves(curves, label, x_label=x_label, y_label=y_label, log_x=log, y_range=y_range)


def _labelled(what: str, unit: str) -> str:
    return f"{what} ({unit})" if unit else what


def _end(row: dict[str, Any], metric: Metric, end: str) -> float:
    return _scaled(row.get(f"{metric.name}_{end}"), metric)


def _maps(rows: Sequence[dict[str, Any]], axes: Sequence[tuple[str, str, bool]]) -> list[tuple[Drawing, str]]:
    """Return for two axes a map of goodput, one panel a transport."""
    if len(axes) != 2:
        return []
    (x_name, x_unit, _), (y_name, y_unit, _) = axes
    xs, ys = (_ordered({row[name] for row in rows}) for name in (x_name, y_name))
    metric = BY_NAME["goodput_bps"]
    if None in (*xs, *ys):
        return []
    if len(xs) < 2 or len(ys) < 2 or len(xs) > 40 or len(ys) > 40:
        return []
    panels = []
    for transport in sorted({row["transport"] for row in rows}):
        at = {(r[x_name], r[y_name]): r.get(metric.name) for r in rows if r["transport"] == transport}
        values = [[_scaled(at.get((x, y)), metric) for x in xs] for y in ys]
        panels.append(Surface(transport, xs, ys, values))
    x_label, y_label = _labelled(x_name, x_unit), _labelled(y_name, y_unit)
    label = f"Goodput over {x_name} and {y_name}"
    drawn = figure.surfaces(panels, label, x_label=x_label, y_label=y_label, unit=metric.unit)
    return [(drawn, f"Mean goodput ({metric.unit}) over {x_label} and {y_label}.")]


def _scaled(value: float | None, metric: Metric) -> float:
    return math.nan if value is None else value * metric.scale


def _trade(rows: Sequence[dict[str, Any]]) -> Drawing | None:
    """Return goodput against queuing delay: more goodput often costs more delay."""
    delay, goodput = BY_NAME["queuing_delay_mean_s"], BY_NAME["goodput_bps"]
    if len({row["transport"] for row in rows}) < 2 or not _varies(rows, delay.name):
        return None
    curves = []
    for transport in sorted({row["transport"] for row in rows}):
        own = [r for r in rows if r["transport"] == transport and r.get(delay.name) is not None]
        own = [row for row in own if row.get(goodput.name) is not None]
        x, y = [r[delay.name] * delay.scale for r in own], [r[goodput.name] * goodput.scale for r in own]
        low, high = ([_end(row, goodput, end) for row in own] for end in ("low", "high"))
        curves.append(Curve(transport, x, y, low, high))
    return figure.curves(
        curves,
        "Goodput against queuing delay",
        x_label=_labelled(delay.title, delay.unit),
        y_label=_labelled(goodput.title, goodput.unit),
        falling_x=True,
    )


def _fitting(
    rows: Sequence[dict[str, Any]], axes: Sequence[tuple[str, str, bool]], metrics: Sequence[Metric]
) -> Table:
    """Return the table with as many metrics as have room: one whose rows are stacked is endless here."""
    found = _table(rows, axes, metrics)
    while found.wide > _WIDEST and len(metrics) > 1:
        metrics = metrics[:-1]
        found = _table(rows, axes, metrics)
    return found


def _table(
    rows: Sequence[dict[str, Any]], axes: Sequence[tuple[str, str, bool]], metrics: Sequence[Metric]
) -> Table:
    headings = [("Transport", ""), *((name, unit) for name, unit, _ in axes)]
    headings += [(metric.title, metric.unit) for metric in metrics]
    return Table(
        headings=[*headings, ("Seeds", "")],
        rows=[
            [
                row["transport"],
                *(_said(row[name]) for name, *_ in axes),
                *(metric.with_half_width(_interval(row, metric)) for metric in metrics),
                str(row["goodput_bps_n"]),
            ]
            for row in rows
        ],
        left=1,
    )


def _constant(rows: Sequence[dict[str, Any]], metrics: Sequence[Metric]) -> bool:
    """Whether there is an interval of width zero."""
    found = (_interval(row, metric) for row in rows[:_MOST_ROWS] for metric in metrics)
    return any(interval.n > 1 and interval.low == interval.high for interval in found)


def _quantiles(sweep: Sweep, axes: Sequence[tuple[str, str, bool]]) -> Table | None:
    """Return the quantiles that were asked for, of the metrics for which there is room."""
    path = sweep.folder / "quantiles.parquet"
    if not path.exists():
        return None
    metrics = [BY_NAME[name] for name in QUANTILES_OF]
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    left_out = 0
    with _parquet.opened(path) as file:
        for batch in file.iter_batches(1024):
            for row in sweep.own(pa.Table.from_batches([batch])).to_pylist():
                if row["metric"] not in QUANTILES_OF:
                    continue
                place = (row["transport"], *(row[name] for name, *_ in axes), row["quantile"])
                if place not in found and len(found) >= _MOST_ROWS:
                    left_out += row["metric"] == QUANTILES_OF[0]
                    continue
                low, high = (math.nan if row[end] is None else row[end] for end in ("low", "high"))
                interval = Interval(row["value"], low, high, row["n"])
                found.setdefault(place, {})[row["metric"]] = BY_NAME[row["metric"]].with_ends(interval)
    headings = [("Transport", ""), *((name, unit) for name, unit, _ in axes), ("Quantile", "")]
    return Table(
        headings=[*headings, *((metric.title, metric.unit) for metric in metrics)],
        rows=[
            [*map(_said, place[:-1]), quantile_name(place[-1]), *(texts.get(m.name, "–") for m in metrics)]
            for place, texts in found.items()
        ],
        left=1,
        left_out=left_out,
    )


def _interval(row: dict[str, Any], metric: Metric) -> Interval:
    ends = (row.get(f"{metric.name}{end}") for end in ("", "_low", "_high"))
    mean, low, high = (math.nan if value is None else value for value in ends)
    return Interval(mean, low, high, row.get(f"{metric.name}_n") or 0)


def _ordered(values: set[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (value is None, isinstance(value, str), value or 0))


def _said(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
