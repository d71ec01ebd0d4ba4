"""Tables and progress on the terminal."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.cli import terminal
from cogtcp.model import budget
from cogtcp.model.metrics import (
    BY_NAME,
    QUANTILES_OF,
    Metric,
    aligned,
    measure_rows,
    noticed,
    quantile_name,
    with_cell_shares,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.deciding.tuning.result import Tuning
    from cogtcp.model.result import Result
    from cogtcp.running.compare import Comparison

# Of radios that meet primary users, where there are any.
_PROTECTION = (
    "pu_interfered_share",
    "pu_exposed_share",
    "pu_collisions",
    "vacate_mean_s",
    "missed_detections",
    "false_alarms",
    "handoffs",
)

# Metrics that only TCP has.
_OF_TCP = {"rtos", "spurious_rtos", "fast_retransmits"}

# More of them are told of together; each by itself is in the page and in the table `radios`.
_MOST_RADIOS = 8

# Laying out a row on a terminal takes longer than simulating its flow for a second.
_MOST_ROWS = 100

_STANDINGS = {"winner": "", "better": "better", "even": "even", "worse": "worse"}


def _has(name: str, metrics: Sequence[Mapping[str, float]]) -> bool:
    return any(not math.isnan(values[name]) for values in metrics)


def result(run: Result) -> None:
    """Print what users of applications notice, the flows, the radios, and where the time of the link went."""
    _applications(run)
    columns = [
        "goodput_bps",
        "efficiency",
        "rtos",
        "fast_retransmits",
        "drops",
        "retransmitted",
        "rtt_mean_s",
    ]
    title = f"{run.scenario.name}, seed {run.seed}"
    flows = run.rows("flows")
    measured = [measure_rows([row]) for row in flows[:_MOST_ROWS]]
    # A column that no flow has is left out.
    columns = [name for name in columns if name not in _OF_TCP or _has(name, measured)]
    rows = [
        [row["flow"], row["transport"], *(BY_NAME[name].text(values[name], single=True) for name in columns)]
        for row, values in zip(flows[:_MOST_ROWS], measured, strict=True)
    ]
    if rows:
        headings = ["Flow", "Transport", *(_heading(BY_NAME[name]) for name in columns)]
        print_table(title, headings, rows, left=2, left_out=len(flows) - len(rows))
    _cell(run)
    _ad_hoc(run)
    protection = [BY_NAME[name] for name in _PROTECTION]
    radios = [row for row in run.rows("radios") if not math.isnan(row["pu_airtime_s"])]
    several = {row["radio"]: [row] for row in radios}
    if len(radios) > _MOST_RADIOS:
        several = {f"all {len(radios)}": radios}
    values = {name: measure_rows([], of) for name, of in several.items()}
    protection = [metric.for_size(each[metric.name] for each in values.values()) for metric in protection]
    rows = [
        [name, *(metric.text(each[metric.name], single=True) for metric in protection)]
        for name, each in values.items()
    ]
    if rows:
        headings = ["Radio", *map(_heading, protection)]
        print_table("Protection of primary users", headings, rows, left=1)
    _budget(budget.by_path(run) or {"": budget.of_run(run)})
    _subflows(run)


def _cell(run: Result) -> None:
    """Print the two shares of each flow in a cell."""
    rows = [
        [row["flow"], row["bottleneck"], *(_percent(row[f"share_{of}"]) for of in ("alone", "beside_others"))]
        for row in with_cell_shares(run.rows("flows"), run.rows("budget"))
        if not math.isnan(row["share_alone"])
    ]
    if rows:
        headings = ["Flow", "Link", "of the rate\nalone, %", "of what others\nleave, %"]
        print_table("Shares of the cell", headings, rows, left=2)


def _subflows(run: Result) -> None:
    """Print what each path of a connection brought."""
    rows = [
        [
            row["flow"],
            row["link"] or str(row["path"]),
            f"{row['goodput_bps'] / 1e6:.3f}",
            f"{row['share'] * 100:.1f}",
            "–" if math.isnan(row["rtt_mean_s"]) else f"{row['rtt_mean_s'] * 1e3:.1f}",
            # A kernel does not report its sender's counts of a subflow.
            f"{row['rtos']}" if row["sent_segments"] else "–",
            f"{row['reinjected_bytes'] / 1e3:.0f}" if row["sent_segments"] else "–",
        ]
        for row in run.rows("subflows")
    ]
    if rows:
        headings = [
            "Flow", "Path", "Goodput\nMbit/s", "Share\n%", "RTT\nms", "Timeouts", "Reinjected\nkB",
        ]  # fmt: skip
        print_table("Subflows", headings, rows, left=2)


def _ad_hoc(run: Result) -> None:
    """Print which routes the packets of an ad hoc network took, and what finding them cost."""
    rows = [
        [
            row["flow"],
            f"{row['from']} to {row['to']}",
            _number(row["hops_mean"], 2),
            f"{row['rerouted_packets']:,}",
            f"{row['searches']:,}",
            _milliseconds(row["discovery_mean_s"]),
            *(f"{row[f'drops_{layer}']:,}" for layer in ("routing", "queue", "mac")),
        ]
        for row in run.rows("streams")
        if row["stream"] in ("data", "datagrams")
    ]
    if rows:
        headings = ["Flow", "From", "Hops", "Packets\nrerouted", "Searches", "Found in\nms"]
        headings += [f"Drops\n{layer}" for layer in ("routing", "queue", "MAC")]
        print_table("Routes of the data", headings, rows, left=2)
    rows = [
        [
            row["protocol"],
            f"{row['searches']:,}",
            _milliseconds(row["discovery_mean_s"]),
            f"{row['route_changes']:,}",
            f"{row['route_losses']:,}",
            f"{row['overhead_packets']:,}",
            f"{row['overhead_bytes'] / 1000:,.1f}",
            _milliseconds(row["service_mean_s"]),
        ]
        for row in run.rows("routing")
    ]
    if rows:
        headings = ["Protocol", "Searches", "Found in\nms", "Routes\nchanged", "lost"]
        headings += ["Overhead\npackets", "\nkB", "MAC service\na hop, ms"]
        print_table("Routing", headings, rows, left=1)


def _applications(run: Result) -> None:
    """Print what applications over TCP saw, where there are some."""
    rows = [
        [
            row["flow"],
            f"{row['answered_requests']:,} of {row['sent_requests']:,}",
            *(_milliseconds(row[f"completion_{name}_s"]) for name in ("mean", "p50", "p95", "max")),
        ]
        for row in run.rows("request_flows")
    ]
    if rows:
        headings = ["Flow", "Answered", *(f"{name}\nms" for name in ("Mean", "Median", "95 %", "Longest"))]
        print_table("Flow completion times", headings, rows, left=1)
    delays = {row["source"]: row for row in run.rows("datagrams")}
    rows = [
        [
            row["source"],
            row["codec"],
            _number(row["mos"], 2),
            _milliseconds(delays[row["source"]]["delay_p95_s"]),
            _milliseconds(row["mouth_to_ear_s"]),
            _percent(row["missing_ratio"]),
        ]
        for row in run.rows("calls")
    ]
    if rows:
        headings = ["Call", "Codec", "Opinion\nscore", "Delay, 95 %\nms", "Mouth to ear\nms", "Missing\n%"]
        print_table("Calls", headings, rows, left=2)
    rows = [
        [
            row["flow"],
            f"{row['chunks']:,}",
            _seconds(row["startup_s"]),
            f"{row['stalls']:,}",
            _seconds(row["stalled_s"]),
            _number(row["bitrate_bps"] / 1e6, 3),
            f"{row['switches']:,}",
        ]
        for row in run.rows("videos")
    ]
    if rows:
        print_table(
            "Video",
            ["Flow", "Chunks", "Began after\ns", "Stalls", "Stalled\ns", "Bitrate\nMbit/s", "Switches"],
            rows,
            left=1,
        )


def _milliseconds(value: float) -> str:
    return _number(value * 1000, 1)


def _percent(value: float) -> str:
    return _number(value * 100, 1)


def _seconds(value: float) -> str:
    return _number(value, 2)


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"


def comparison(compared: Comparison, quantiles: Sequence[float] = ()) -> None:
    """Print one row per transport, and quantiles over the seeds where they are asked for.

    What the users of applications notice comes first.
    """
    baseline = compared.transports[0]
    _noticed(compared)
    columns = ["efficiency", "rtos", "fast_retransmits", "rtt_mean_s", "drops"]
    finished = [outcome.metrics for outcome in compared.outcomes if not outcome.error]
    columns = [name for name in columns if name not in _OF_TCP or not finished or _has(name, finished)]
    goodput = BY_NAME["goodput_bps"]
    paired = len(compared.transports) > 1
    rows = []
    for name in compared.transports:
        row = [name, goodput.with_half_width(compared.interval(name, "goodput_bps"))]
        if paired:
            difference = compared.difference(name, "goodput_bps")
            row.append("" if name == baseline else goodput.with_half_width(difference, sign=True))
        rows.append(row + [BY_NAME[c].text(compared.interval(name, c).mean) for c in columns])
    seeds = len({outcome.seed for outcome in compared.outcomes})
    of = f"mean of {seeds} seeds ± 95 % interval" if seeds > 1 else f"seed {compared.seeds[0]}"
    title = f"{compared.scenario.name}: {of}"
    if compared.interrupted:
        planned = len(compared.transports) * len(compared.seeds)
        title += f" (interrupted: {len(compared.outcomes)} of {planned} runs)"
    headings = ["Transport", _heading(goodput), *([f"vs {baseline}"] if paired else [])]
    print_table(title, [*headings, *(_heading(BY_NAME[name]) for name in columns)], rows, left=1)
    goodputs = [compared.interval(name, "goodput_bps") for name in compared.transports]
    if any(interval.n > 1 and interval.low == interval.high for interval in goodputs):
        print("Without ±: the seed changes nothing here.")
    if quantiles:
        shown = [BY_NAME[name] for name in QUANTILES_OF]
        rows = [
            [name, quantile_name(q), *(m.with_ends(compared.quantile(name, m.name, q)) for m in shown)]
            for name in compared.transports
            for q in quantiles
        ]
        headings = ["Transport", "", *map(_heading, shown)]
        print_table("Quantiles over the seeds (95 % interval)", headings, rows, left=2)
    if any(compared.interval(name, _PROTECTION[0]).n for name in compared.transports):
        protection = [
            BY_NAME[name].for_size(compared.interval(each, name).mean for each in compared.transports)
            for name in _PROTECTION
        ]
        rows = [
            [name, *(metric.text(compared.interval(name, metric.name).mean) for metric in protection)]
            for name in compared.transports
        ]
        headings = ["Transport", *map(_heading, protection)]
        print_table("Protection of primary users, mean", headings, rows, left=1)
    _budget({name: budget.of_comparison(compared, name) for name in compared.transports})


def _noticed(compared: Comparison) -> None:
    """Print what the users of applications notice, one row per transport and a table for each application."""
    by_subject: dict[str, list[Metric]] = {}
    for metric in noticed(compared.scenario):
        intervals = [compared.interval(name, metric.name) for name in compared.transports]
        if any(interval.n for interval in intervals):
            by_subject.setdefault(metric.subject, []).append(
                metric.for_size(interval.mean for interval in intervals)
            )
    for subject, metrics in by_subject.items():
        rows = [
            [name, *(metric.with_half_width(compared.interval(name, metric.name)) for metric in metrics)]
            for name in compared.transports
        ]
        headings = ["Transport"]
        for metric in metrics:
            title = metric.title.removeprefix(f"{subject}: ")
            headings.append(_heading(replace(metric, title=title[:1].upper() + title[1:])))
        print_table(f"What users of {subject} notice", headings, rows, left=1)


def tuning(found: Tuning) -> None:
    """Print the best points, one row each."""
    metric = found.objective.metric
    if not found.finalists:
        return
    constraints = dict.fromkeys(constraint.metric for constraint in found.constraints)
    names = [*constraints, *(BY_NAME[name] for name in _PROTECTION[:2])]
    more = [m for m in dict.fromkeys(names) if m is not metric and found.interval(found.finalists[0], m).n]
    rows = [
        [
            final.name,
            *final.values.values(),
            metric.with_half_width(found.interval(final)),
            "" if final is found.winner else metric.with_half_width(found.difference(final), sign=True),
            final.evaluation.error or _STANDINGS[found.standing(final)],
            *(other.text(found.interval(final, other).mean) for other in more),
        ]
        for final in found.finalists
    ]
    seeds = len(found.fresh_seeds)
    title = f"{found.scenario.name}: mean of {seeds} fresh seeds ± 95 % interval"
    paths = [parameter.path.replace(".cr.", ".cr.\n") for parameter in found.parameters]
    headings = ["", *paths, _heading(metric), "vs chosen", "", *map(_heading, more)]
    print_table(title, headings, rows, left=1)


def _budget(runs: dict[str, dict[str, float]]) -> None:
    """Print the shares of each transport as a stacked bar, and what its characters mean."""
    known = {name: shares for name, shares in runs.items() if shares}
    if not known:
        return
    names = max(len(name) for name in known)
    cells = max(20, min(80, terminal.width() - names - 3))
    print(f"{terminal.styled('Where the capacity went', 'bold')}: the bottleneck's time")
    for name, shares in known.items():
        bar = "".join(
            terminal.styled(state.mark * width, _COLORS[state.color])
            for state, width in zip(budget.STATES, _widths(shares, cells), strict=True)
            if width
        )
        print(f"{name:{names}}  {bar}" if names else bar)
    # With one digit, less than this is 0.0 %.
    shown = [
        state for state in budget.STATES if any(shares[state.name] >= 0.0005 for shares in known.values())
    ]
    for state in shown:
        numbers = "  ".join(f"{run[state.name] * 100:5.1f}" for run in known.values())
        print(f"{terminal.styled(state.mark, _COLORS[state.color])} {numbers} %  {state.title}")


def _widths(shares: Mapping[str, float], cells: int) -> list[int]:
    """Return how many characters each state takes, so that they sum to `cells`."""
    ends = [0]
    total = 0.0
    for state in budget.STATES:
        total += shares[state.name]
        # The ends are rounded, not the widths: errors do not add up.
        ends.append(round(total * cells))
    return [after - before for before, after in itertools.pairwise(ends)]


# The roles of pages in the terminal.
_COLORS = {
    "series-1": "blue",
    "series-2": "yellow",
    "series-3": "green",
    "series-4": "magenta",
    "series-5": "bright_blue",
    "series-6": "white",
    "sensing": "cyan",
    "switching": "bright_yellow",
    "lost": "bright_red",
    "alarm": "red",
}


def _heading(metric: Metric) -> str:
    title = metric.title.replace(", ", "\n")
    for first in ("Fast", "PU time", "PU", "Time to", "Missed", "False"):
        if title.startswith(f"{first} "):
            title = title.replace(f"{first} ", f"{first}\n", 1)
            break
    return f"{title}\n{metric.unit}" if metric.unit else title


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, left: int, left_out: int = 0
) -> None:
    """Print the first rows of a table whose first `left` columns are names, and how many rows are left out.

    Columns without room in the window follow below, beside the names again.

    Args:
        title: Line above the table.
        headings: Heading of each column.
        rows: Cells of each row.
        left: Number of columns that are names.
        left_out: Rows that the caller has left out already.
    """
    left_out += len(rows[_MOST_ROWS:])
    rows = rows[:_MOST_ROWS]
    columns = [
        _column(heading, cells) for heading, cells in zip(headings, zip(*rows, strict=True), strict=True)
    ]
    # Three spaces between columns, and one before the first.
    widths = [_width(cells) + 3 for cells in columns]
    names, others = list(range(left)), list(range(left, len(headings)))
    while True:
        shown: list[int] = []
        room = terminal.width() + 1 - sum(widths[index] for index in names)
        # At least one column each time, even if it is too wide, or this would never end.
        while others and (not shown or widths[others[0]] <= room):
            room -= widths[others[0]]
            shown.append(others.pop(0))
        terminal.print_columns(title, [_flush(columns[index], index < left) for index in [*names, *shown]])
        title = ""
        if not others:
            break
    if left_out:
        print(f"{left_out:,} more rows are in the results.\n")


def _column(heading: str, cells: Sequence[str]) -> list[str]:
    """Return heading and cells; those with an interval have their `±` one below the other."""
    if not any(" ± " in cell for cell in cells):
        return [heading, *cells]
    cells = aligned(cells, " ")
    width = _width([heading, *cells])
    return ["\n".join(line.rjust(width) for line in cell.splitlines()) for cell in (heading, *cells)]


def _width(cells: Sequence[str]) -> int:
    return max((len(line) for cell in cells for line in cell.splitlines()), default=0)


def _flush(column: list[str], name: bool) -> tuple[list[str], bool]:
    """Return a column and whether it is flush left: names, and numbers aligned by the spaces behind them."""
    return column, name or any(cell.endswith(" ") for cell in column[1:])
