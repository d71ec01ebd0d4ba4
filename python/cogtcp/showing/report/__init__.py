"""Reports: one HTML file each that needs no network and follows the reader's light or dark.

All pages are made of the same parts, see `README.md` in this folder.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from cogtcp.model import budget as budgets
from cogtcp.model import headline
from cogtcp.model.metrics import BY_NAME, Metric, listed, primary, quantile_name
from cogtcp.showing.figure import compared
from cogtcp.showing.figure.run_map import RunMap
from cogtcp.showing.figure.series import Series
from cogtcp.showing.figure.timeline import Timeline
from cogtcp.showing.report import budget, page, subflows
from cogtcp.showing.report.detail import detail
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp.model.result import Result
    from cogtcp.model.statistics import Interval
    from cogtcp.running.compare import Comparison
    from cogtcp.showing.figure import Drawing


def run_report(result: Result, *, command: str | None = None) -> str:
    """Return the report of one run."""
    series = Series.of(result)
    metrics = result.metrics
    shown = [
        metric
        for metric in listed(result.scenario)
        if matters(metric, [metrics.get(metric.name, math.nan)], result.count("flows"))
    ]
    return page.render(
        "run.html.j2",
        name=result.scenario.name,
        description=result.scenario.description,
        seed=result.seed,
        answer=headline.of_run(result),
        plane=result.about_plane,
        doubt=result.doubt,
        metrics=Table(
            [("Metric", ""), ("Value", "")],
            [
                [metric.title, metric.for_size([value]).text(value, unit=True, single=True)]
                for metric in shown
                for value in [metrics[metric.name]]
            ],
        ),
        budget=budget.of_runs(budgets.by_path(result) or {"": budgets.of_run(result)}),
        subflows=subflows.of(result),
        airtime=budget.of_airtime(result),
        map=RunMap.of(result),
        time=over_time({"": series}),
        detail=detail(result),
        origin=_origin(result.provenance, command),
        scenario=result.scenario.to_toml(),
    )


def comparison_report(
    comparison: Comparison, *, command: str | None = None, quantiles: Sequence[float] = ()
) -> str:
    """Return the report of a comparison, with quantiles over the seeds where they are asked for."""
    transports = [name for name in comparison.transports if comparison.finished(name)]
    drawn = {name: Series.of(result) for name, result in comparison.shown.items()}
    most_flows = max((o.count("flows") for o in comparison.outcomes if not o.error), default=0)
    metrics = [
        metric
        for metric in comparison.metrics
        if matters(metric, [comparison.interval(name, metric.name).mean for name in transports], most_flows)
    ]
    best = {metric.name: _best(comparison, transports, metric) for metric in metrics}
    others = transports[1:] if transports[:1] == list(comparison.transports[:1]) else []
    many_seeds = any(len(comparison.finished(name)) > 1 for name in transports)
    return page.render(
        "comparison.html.j2",
        name=comparison.scenario.name,
        description=comparison.scenario.description,
        answer=headline.of_comparison(comparison),
        transports=transports,
        interrupted=comparison.interrupted,
        finished=len(comparison.outcomes),
        planned=len(comparison.transports) * len(comparison.seeds),
        failures=comparison.failures,
        bars=bars(comparison) if transports else None,
        bars_caption=_bars_caption(comparison, transports, many_seeds),
        many_seeds=many_seeds,
        metrics=_numbers(metrics, transports, comparison.interval),
        best=[best[metric.name] for metric in metrics],
        budget=budget.of_runs({name: budgets.of_comparison(comparison, name) for name in transports}),
        noticed=[
            (metric.title, bars(comparison, metric), _trade(comparison, transports, metric))
            for metric in primary(comparison.scenario)
            if matters(metric, [comparison.interval(name, metric.name).mean for name in transports], 2)
        ],
        trade=_trade(comparison, transports),
        constant=any(
            i.n > 1 and i.low == i.high
            for name in transports
            for metric in metrics
            for i in [comparison.interval(name, metric.name)]
        ),
        paired=_numbers(metrics, others, comparison.difference, sign=True) if others else None,
        quantiles=_quantiles(comparison, metrics, transports, quantiles) if quantiles else None,
        time=over_time(drawn) if drawn else None,
        details=[detail(comparison.shown[name], name) for name in drawn],
        shown_seed=comparison.seeds[0],
        origin=_origin(comparison.provenance, command),
        scenario=comparison.scenario.to_toml(),
    )


def over_time(runs: Mapping[str, Series]) -> dict[str, Any]:
    """Return what the templates need for time lines: data for the script, and figures for where none runs."""
    timeline = Timeline.of(runs)
    zoom = next((span for run in runs.values() if (span := run.zoom())), None)
    return {
        "data": timeline.data(),
        "whole": timeline.figure(),
        "zoom": timeline.figure(zoom) if zoom else None,
        "key": timeline.key(),
        "cut_off": any(run.exceeds_rate() for run in runs.values()),
    }


def matters(metric: Metric, values: Sequence[float], flows: int) -> bool:
    """Whether a metric says something: it has a value, and fairness needs two flows."""
    return not all(map(math.isnan, values)) and not (metric.name == "fairness" and flows < 2)


def _best(comparison: Comparison, transports: Sequence[str], metric: Metric) -> str | None:
    """Return the transport that is better than each other one beyond chance, if there is one, at no price.

    One that sends little waits little and loses little. So no other one may deliver more, beyond chance.
    """
    if not metric.better or len(transports) < 2:
        return None
    for name in transports:
        others = [other for other in transports if other != name]
        if all(comparison.is_better(name, other, metric.name) for other in others):
            return None if any(comparison.is_better(other, name) for other in others) else name
    return None


def bars(comparison: Comparison, metric: Metric = BY_NAME["goodput_bps"]) -> Drawing:
    """Return a metric by transport as bars, with the differences to the first transport that was planned."""
    names = [name for name in comparison.transports if comparison.finished(name)]
    values = {
        name: [o.metrics.get(metric.name, math.nan) for o in comparison.finished(name)] for name in names
    }
    if len(names) < 2 or names[0] != comparison.transports[0]:
        return compared.bars(values, metric)
    differences = {name: comparison.difference(name, metric.name) for name in names[1:]}
    return compared.bars(values, metric, differences)


def _trade(
    comparison: Comparison, transports: Sequence[str], delay: Metric = BY_NAME["queuing_delay_mean_s"]
) -> Drawing | None:
    """Return goodput against queuing delay, or another cost: more goodput often costs more delay."""
    goodput = BY_NAME["goodput_bps"]
    runs = {}
    for name in transports:
        found = [
            (o.metrics.get(delay.name, math.nan), o.metrics[goodput.name]) for o in comparison.finished(name)
        ]
        runs[name] = [(x, y) for x, y in found if not math.isnan(x + y)]
    runs = {name: found for name, found in runs.items() if found}
    return compared.trade(runs, delay, goodput) if len(runs) > 1 else None


def _numbers(
    metrics: Sequence[Metric],
    names: Sequence[str],
    interval_of: Callable[[str, str], Interval],
    *,
    sign: bool = False,
) -> Table:
    """Return one row per metric, one column per transport."""
    rows = []
    for each in metrics:
        intervals = [interval_of(name, each.name) for name in names]
        metric = each.for_size(interval.mean for interval in intervals)
        title = f"{metric.title}, {metric.unit}" if metric.unit else metric.title
        rows.append([title, *(metric.with_half_width(interval, sign=sign) for interval in intervals)])
    return Table([("Metric", ""), *((name, "") for name in names)], rows)


def _quantiles(
    comparison: Comparison, metrics: Sequence[Metric], names: Sequence[str], quantiles: Sequence[float]
) -> Table:
    """Return one row per metric and quantile, one column per transport."""
    rows = []
    for each, q in itertools.product(metrics, quantiles):
        intervals = [comparison.quantile(name, each.name, q) for name in names]
        metric = each.for_size(interval.mean for interval in intervals)
        title = f"{metric.title}{f', {metric.unit}' if metric.unit else ''}: {quantile_name(q)}"
        rows.append([title, *map(metric.with_ends, intervals)])
    return Table([("Metric", ""), *((name, "") for name in names)], rows)


def _bars_caption(comparison: Comparison, transports: Sequence[str], many_seeds: bool) -> str:
    runs = {len(comparison.finished(name)) for name in transports}
    count = " to ".join(str(n) for n in sorted({min(runs), max(runs)})) if runs else "no"
    if not many_seeds:
        return "One seed: no interval can be given."
    return (
        f"Mean of {count} seeds with its 95 % interval (Student's t); thin strokes are single runs. "
        "A difference whose interval excludes zero is significant by itself; the answer above "
        "corrects for testing all pairs."
    )


def _origin(provenance: dict[str, str], command: str | None) -> list[tuple[str, str | None]]:
    return page.origin(command, provenance, Seeds=provenance["seeds"].replace(",", ", "))
