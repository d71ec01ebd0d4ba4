"""What this study shows: the paper's tables beside ours, and what the choice of a topology explains."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from cogtcp.studies import Curve, Figure, Table
from cogtcp.studies.verdicts import mean_text

from .runs import TOPOLOGIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cogtcp.studies import Cell, Context
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.statements import Grid

    Columns = Callable[[Cell], list[str]]

NAMES = {
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "vegas": "Vegas",
    "cubic": "CUBIC",
    "bbr": "BBR",
    "westwood": "Westwood+",
    "c2": "C2",
}
NETS = {"manet": "MANET", "crahn": "CRAHN"}
HEADER = ["network", "transport", "paper", "ours"]


def table_of_throughput(study: Context, base: Judged) -> list[Table]:
    """Tables 1 to 3: throughput, and what it depends on."""
    return [
        _beside_paper(study, base, "goodput_kbps", "Throughput [kbit/s]", ["hops", "timeouts/min"], _ways)
    ]


def table_of_delivery(study: Context, base: Judged) -> list[Table]:
    """Tables 4 to 6: packet delivery ratio, and who loses the packets."""
    return [_beside_paper(study, base, "pdr", "Packet delivery ratio [%]", ["given up by the MAC"], _lost)]


def other_transports(study: Context, base: Judged) -> list[Table]:
    """Show transports that the paper does not have."""
    rows = [
        [NETS[point.net], NAMES[point.transport], mean_text(cell.of("goodput_kbps")), *_ways(cell)]
        for point, cell in base.grid.items()
    ]
    header = ["network", "transport", "throughput [kbit/s]", "hops", "timeouts/min"]
    return [Table("Other transports, 3 flows", header, rows)]


def order_of_single_runs(study: Context, base: Judged) -> list[Figure]:
    """Share of single runs that show the order of each table."""
    found = base.findings
    shares = Curve(
        "",
        list(range(len(found))),
        [finding.estimate for finding in found],
        [finding.low for finding in found],
        [finding.high for finding in found],
    )
    return [
        Figure(
            id="",
            title="Single runs that show the order of a table",
            x_label="Table of the paper",
            y_label="Share of the runs",
            curves=[shares],
            caption=f"At {study.place}, with the exact binomial 95 % interval.",
            y_range=(0, 1),
            x_names=[str(number) for number in range(1, len(found) + 1)],
        )
    ]


def share_of_topology(study: Context, base: Judged) -> list[Table]:
    """Say what the choice of a topology explains of the difference between NewReno and Vegas."""
    rows = []
    for net, first, second in (("manet", "vegas", "newreno"), ("crahn", "newreno", "vegas")):
        a, b = (_cell(base.grid, net, transport) for transport in (first, second))
        differences = [x - y for x, y in zip(a.of("goodput_kbps"), b.of("goodput_kbps"), strict=True)]
        topologies = by_topology(study.seeds, differences)
        means = [statistics.fmean(group) for group in topologies]
        paper = _printed(study, base, "goodput_kbps", net, first) - _printed(
            study, base, "goodput_kbps", net, second
        )
        share = explained(topologies)
        against = sum(mean < 0 for mean in means)
        as_large = sum(mean >= paper for mean in means)
        rows.append(
            [
                f"{NETS[net]}: {NAMES[first]} less {NAMES[second]}",
                f"{paper:.0f}",
                mean_text(differences),
                "too few runs" if share is None else f"{100 * share:.0f} %",
                f"{against} of {len(means)}",
                f"{as_large} of {len(means)}",
            ]
        )
    header = [
        "difference [kbit/s]",
        "paper",
        "ours",
        "explained by the topology",
        "the other way",
        "as large",
    ]
    caption = (
        "Thirty topologies, ten of them twice. Explained: share of the variance of the difference "
        "over runs that lies between topologies (one-way analysis of variance). The paper shows one topology."
    )
    return [Table("What the choice of a topology does", header, rows, caption)]


def by_topology(seeds: Sequence[int], values: Sequence[float]) -> list[list[float]]:
    """Group one value per seed by topology."""
    groups: dict[int, list[float]] = {}
    for seed, value in zip(seeds, values, strict=True):
        groups.setdefault(seed % TOPOLOGIES, []).append(value)
    return list(groups.values())


def explained(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the share of the variance that is between groups: the intraclass correlation, at least 0.

    One-way analysis of variance with random effects, for groups of different sizes (Searle, Casella,
    McCulloch: Variance Components, section 3.6). None: no group has two values.
    """
    sizes = [len(group) for group in groups]
    total, count = sum(sizes), len(groups)
    if count < 2 or total == count:
        return None
    mean = sum(map(sum, groups)) / total
    means = [statistics.fmean(group) for group in groups]
    between = sum(n * (m - mean) ** 2 for n, m in zip(sizes, means, strict=True)) / (count - 1)
    squares = sum((value - m) ** 2 for group, m in zip(groups, means, strict=True) for value in group)
    within = squares / (total - count)
    size = (total - sum(n * n for n in sizes) / total) / (count - 1)
    component = max(0.0, (between - within) / size)
    return component / (component + within) if component + within > 0 else None


def _beside_paper(
    study: Context, base: Judged, quantity: str, title: str, more: list[str], columns: Columns
) -> Table:
    flows = next(iter(base.grid)).flows
    rows = [
        [
            NETS[point.net],
            NAMES[point.transport],
            f"{_printed(study, base, quantity, point.net, point.transport):g}",
            mean_text(cell.of(quantity)),
            *columns(cell),
        ]
        for point, cell in base.grid.items()
    ]
    return Table(f"{title}, {flows} flows", [*HEADER, *more], rows)


def _printed(study: Context, base: Judged, quantity: str, net: str, transport: str) -> float:
    """Return the number that the paper prints for the claim with these points."""
    (value,) = {
        number.value
        for claim in study.study.claims
        if set(claim.points) == set(base.grid)
        for number in claim.numbers
        if number.quantity == quantity and number.at == {"net": net, "transport": transport}
    }
    return value


def _cell(grid: Grid, net: str, transport: str) -> Cell:
    (found,) = (cell for point, cell in grid.items() if point.matches({"net": net, "transport": transport}))
    return found


def _ways(cell: Cell) -> list[str]:
    return [f"{cell.mean('hops'):.1f}", f"{cell.mean('rtos_per_min'):.1f}"]


def _lost(cell: Cell) -> list[str]:
    return [f"{100 * cell.mean('drops_mac'):.2f} %"]
