"""What a sweep came to: means with intervals over its points, as a table, and as a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cogtcp import provenance
from cogtcp.metrics import BY_NAME, METRICS
from cogtcp.statistics import Interval, t_quantile
from cogtcp.sweeping import dataset
from cogtcp.sweeping.plan import AS_IT_IS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from cogtcp.plot import SweepPlots
    from cogtcp.runner import Progress
    from cogtcp.sweeping.plan import Plan


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep, in a folder.

    Attributes:
        plan: What was asked for.
        folder: Where the results are.
        progress: How many runs were made, known and failed.
        interrupted: Whether it was stopped before all runs were finished.
    """

    plan: Plan
    folder: Path
    progress: Progress
    interrupted: bool = False

    @property
    def axes(self) -> list[str]:
        """The columns of what varies."""
        return [axis.name for axis in self.plan.axes]

    @property
    def transports(self) -> list[str]:
        """The transports, as the column `transport` has them."""
        return [AS_IT_IS if name is None else name for name in self.plan.transports]

    @cached_property
    def runs(self) -> pa.Table:
        """One row per run in the folder: transport, axes, seed, key, error, digest, every metric."""
        return dataset.load(self.folder, dataset.RUNS)

    def table(self, name: str) -> pa.Table:
        """Return the `flows`, `links`, ... of all runs, as far as they were kept."""
        return dataset.load(self.folder, name)

    @cached_property
    def summary(self) -> pa.Table:
        """One row per transport and point: for each metric its mean, 95 % t-interval and number of seeds."""
        return summarise(self.runs, self.axes)

    @cached_property
    def points(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """The rows of `summary` by transport and values of the axes."""
        by = ["transport", *self.axes]
        return {tuple(row[name] for name in by): row for row in self.summary.to_pylist()}

    def interval(self, transport: str | None, metric: str, *values: float | str) -> Interval:
        """Return the mean of a metric at a point, with its interval.

        Args:
            transport: The transport; None: those of the scenario.
            metric: The metric's name.
            values: A value for each axis, as its column has it: numbers in base units.
        """
        row = self.points.get((transport or AS_IT_IS, *values))
        name = BY_NAME[metric].name
        if row is None or row.get(name) is None:
            return Interval(math.nan, math.nan, math.nan, 0)
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        ends = (math.nan if low is None else low, math.nan if high is None else high)
        return Interval(row[name], *ends, row[f"{name}_n"])

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """The rows of `runs` that failed."""
        import pyarrow.compute as pc

        rows: list[dict[str, Any]] = self.runs.filter(pc.is_valid(self.runs["error"])).to_pylist()
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return counts and the summary as plain data."""
        counts = self.progress
        return {
            "scenario": self.plan.scenario.name,
            "axes": [{"path": a.path, "name": a.name, "unit": a.unit} for a in self.plan.axes],
            "transports": self.transports,
            "seeds": list(self.plan.seeds),
            "runs": {
                "asked": self.plan.total, "made": counts.made, "cached": counts.known, "failed": counts.failed
            },
            "interrupted": self.interrupted,
            "summary": self.summary.to_pylist(),
        }  # fmt: skip

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from."""
        return provenance.describe(self.plan.scenario, self.plan.seeds)

    @property
    def plot(self) -> SweepPlots:
        """Figures for paper, by matplotlib: `sweep.plot.line(x=..., hue=...)`, `.heatmap()`."""
        from cogtcp.plot import SweepPlots

        return SweepPlots(self)

    def _repr_html_(self) -> str:
        from cogtcp.report.notebook import of_sweep

        return of_sweep(self)

    def to_pandas(self) -> Any:
        """Return `runs` as a pandas data frame (needs pandas)."""
        return self.runs.to_pandas()

    def to_polars(self) -> Any:
        """Return `runs` as a polars data frame (needs polars)."""
        import polars

        return polars.from_arrow(self.runs)


def _half(n: int, spread: float | None) -> float | None:
    if n < 2 or spread is None:
        return None
    return t_quantile(0.975, n - 1) * spread / math.sqrt(n)


def summarise(runs: pa.Table, axes: Sequence[str]) -> pa.Table:
    """Return one row per transport and values of `axes`, see `Sweep.summary`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if runs.num_rows == 0:
        return pa.table({})
    good = runs.filter(pc.is_null(runs["error"]))
    shown = [
        m.name for m in METRICS if m.name in good.column_names and good[m.name].null_count < good.num_rows
    ]
    by = ["transport", *axes]
    wanted: list[Any] = []
    for name in shown:
        wanted += [(name, "mean"), (name, "count"), (name, "stddev", pc.VarianceOptions(ddof=1))]
    grouped = good.group_by(by, use_threads=False).aggregate(wanted)
    grouped = grouped.sort_by([(name, "ascending") for name in by])
    columns: dict[str, Any] = {name: grouped[name] for name in by}
    for name in shown:
        means, counts = grouped[f"{name}_mean"].to_pylist(), grouped[f"{name}_count"].to_pylist()
        spreads = grouped[f"{name}_stddev"].to_pylist()
        halves = [_half(n, spread) for n, spread in zip(counts, spreads, strict=True)]
        columns[name] = pa.array(means, pa.float64())
        ends = list(zip(means, halves, strict=True))
        for end, sign in (("low", -1), ("high", 1)):
            values = [None if m is None or h is None else m + sign * h for m, h in ends]
            columns[f"{name}_{end}"] = pa.array(values, pa.float64())
        columns[f"{name}_n"] = pa.array(counts, pa.int64())
    return pa.table(columns)
