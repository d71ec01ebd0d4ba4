"""The answer of a sweep in a sentence or two: who delivers most, where, and how sure that is."""

from __future__ import annotations

import heapq
import itertools
from array import array
from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow.compute as pc

from cogtcp.model.headline import join, of_subject
from cogtcp.model.metrics import BY_NAME
from cogtcp.model.statistics import Spread, holm
from cogtcp.running.sweeping.ordered import ascending, sort

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from cogtcp.model.metrics import Metric

    #: Of each transport its runs in tables, sorted by the axes and the seed.
    Runs: TypeAlias = Mapping[str, Iterable[pa.Table]]

_GOODPUT = BY_NAME["goodput_bps"]

Point: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Tally:
    """At how many points which transport delivers most.

    Attributes:
        sure: For each transport the number of points where it beats all others beyond chance.
        open: At how many points the seeds do not tell.
        points: How many points there are.
        best: Who has the highest mean at the last one.
    """

    sure: Counter[str]
    open: int
    points: int
    best: str


def tally(runs: Runs, axes: Sequence[str], metric: Metric = _GOODPUT) -> Tally:
    """Return at how many points which transport has the best mean of a metric, and beats all others.

    It does if its paired differences to each of them exclude chance: t-tests, and Holm's procedure over all
    differences of all points. So all statements hold together with 95 % confidence.
    """
    names = list(runs)
    # Some bytes a point and a comparison: there may be many.
    best, first, chances = array("H"), array("L"), array("d")
    for _, name, own in _compared(runs, axes, metric):
        best.append(names.index(name))
        first.append(len(chances))
        chances.extend(own)
    first.append(len(chances))
    sure = holm(chances)
    counts: Counter[str] = Counter()
    for number, name_ in enumerate(best):
        beats = sure[first[number] : first[number + 1]]
        # Without another transport there is nobody to beat.
        if beats and all(beats):
            counts[names[name_]] += 1
    return Tally(counts, len(best) - counts.total(), len(best), names[best[-1]] if best else "")


def in_memory(runs: pa.Table, axes: Sequence[str]) -> Runs:
    """Return runs in memory as `tally` takes them."""
    ordered = sort(runs, ascending([*axes, "seed"]))
    names = sorted(set(runs["transport"].to_pylist()))
    return {name: [ordered.filter(pc.equal(ordered["transport"], name))] for name in names}


def _compared(runs: Runs, axes: Sequence[str], metric: Metric) -> Iterator[tuple[Point, str, list[float]]]:
    """Yield each point, who has the best mean there, and the p-values of its differences to the others."""
    # All transports are sorted alike, so that rows of one point and seed come together, and few are in
    # memory.
    rows = heapq.merge(*(_rows(name, tables, axes, metric) for name, tables in runs.items()))
    for place, group in itertools.groupby(rows, key=itemgetter(0)):
        means: dict[str, Spread] = {}
        gaps: dict[tuple[str, str], Spread] = {}
        # By seed: differences are taken between runs of one seed, which met the same chance.
        for _, same in itertools.groupby(group, key=itemgetter(1)):
            found = [(name, goodput) for _, _, name, goodput in same]
            for name, goodput in found:
                means.setdefault(name, Spread()).add(goodput)
            for (one, mine), (other, its) in itertools.combinations(found, 2):
                gaps.setdefault((one, other), Spread()).add(mine - its)
        best = max(means, key=lambda name: metric.better * means[name].mean)
        # Gaps are kept by names in the order of the rows, which is alphabetical.
        pairs = [tuple(sorted((best, name))) for name in means if name != best]
        yield (
            tuple(value for _, _, value in place),
            best,
            [gaps.get((one, other), Spread()).p_value() for one, other in pairs],
        )


def _rows(
    name: str, tables: Iterable[pa.Table], axes: Sequence[str], metric: Metric
) -> Iterator[tuple[tuple[tuple[bool, bool, Any], ...], int, str, float]]:
    """Yield point, seed, transport and metric of each run that has one; nothing comes after everything."""
    for table in tables:
        if metric.name not in table.column_names:
            continue
        nothing = [None] * table.num_rows
        columns = [table[axis].to_pylist() if axis in table.column_names else nothing for axis in axes]
        places = zip(*columns, strict=True) if columns else itertools.repeat(())
        rows = zip(table["seed"].to_pylist(), table[metric.name].to_pylist(), strict=True)
        for place, (seed, goodput) in zip(places, rows, strict=bool(columns)):
            if goodput is not None:
                # Texts and numbers do not compare in Python: kind first, as the tables are sorted.
                key = tuple((value is None, isinstance(value, str), value) for value in place)
                yield key, seed, name, goodput


def sentence(
    points: Iterable[Mapping[str, Any]], runs: Runs, axes: Sequence[str], metric: Metric = _GOODPUT
) -> str:
    """Return the answer in a metric; nothing where an application has no value.

    Args:
        points: The rows of the summary: transport, axes and mean of the metric.
        runs: Of each transport its runs.
        axes: The columns of the axes, by name.
        metric: Goodput, or a metric of an application.
    """
    name, subject = metric.name, of_subject(metric) if metric.subject else "The mean goodput"
    low: Mapping[str, Any] | None = None
    high: Mapping[str, Any] | None = None
    transports = set()
    for row in points:
        if row.get(name) is None:
            continue
        transports.add(row["transport"])
        low = row if low is None or row[name] < low[name] else low
        high = row if high is None or row[name] > high[name] else high
    if low is None or high is None:
        return "" if metric.subject else "No run was finished."
    if low[name] == high[name] and metric.subject:
        return f"{subject} is {metric.text(low[name], unit=True)} everywhere."
    if len(transports) == 1:
        if low is high:
            return f"{low['transport']} delivers {_GOODPUT.text(low['goodput_bps'], unit=True)}."
        metric = metric.for_size((low[name], high[name]))
        ends = [f"{metric.text(row[name], unit=True)} ({_place(row, axes)})" for row in (low, high)]
        return f"{subject} goes from {ends[0]} to {ends[1]}."
    found = tally(runs, axes, metric)
    if found.points == 1:
        beats = found.sure.total() == 1
        said = "significantly" if beats else "but not significantly"
        lead = f"{subject} is best with {found.best}" if metric.subject else f"{found.best} is fastest"
        return f"{lead}, {said} (paired, Holm, 95 %)."
    parts = [f"{name} at {count}" for name, count in found.sure.most_common()]
    if found.open:
        parts.append(f"inconclusive at {found.open}")
    if metric.subject:
        if not found.sure:
            return f"{subject}: no transport is significantly best at any of {found.points} points."
        lead = f"{subject}, significantly best of {found.points} points"
        return f"{lead}: {join(parts)} (paired, Holm, 95 %)."
    lead = "Significantly fastest" if found.sure else "Fastest transport"
    return f"{lead}, of {found.points} points: {join(parts)} (paired, Holm, 95 %)."


def _place(row: Mapping[str, Any], axes: Sequence[str]) -> str:
    texts = [f"{row[name]:.6g}" if isinstance(row[name], float) else str(row[name]) for name in axes]
    return ", ".join(f"{name} {text}" for name, text in zip(axes, texts, strict=True))
