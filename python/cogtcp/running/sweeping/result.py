"""What a sweep came to: means with intervals over its points, as a table, and as a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cogtcp._views import view
from cogtcp.model import provenance
from cogtcp.model.metrics import BY_NAME, find, primary
from cogtcp.model.statistics import Interval
from cogtcp.running.runner.plane import described
from cogtcp.running.sweeping import dataset
from cogtcp.running.sweeping.answer import sentence
from cogtcp.running.sweeping.columns import RUNS
from cogtcp.running.sweeping.plan import AS_IT_IS
from cogtcp.running.sweeping.summary import of_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from cogtcp.model.metrics import Metric
    from cogtcp.running.runner import Progress
    from cogtcp.running.sweeping.plan import Plan
    from cogtcp.showing.plot import SweepPlots


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep, in a folder.

    Attributes:
        plan: What was asked for.
        folder: Where the results are.
        progress: How many runs were made, known and failed.
        interrupted: Whether it was stopped before all runs were finished.
        damaged: Files of the folder that could not be read, whose runs were made again.
    """

    plan: Plan
    folder: Path
    progress: Progress
    interrupted: bool = False
    damaged: tuple[Path, ...] = ()

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
        return dataset.load(self.folder, RUNS)

    def table(self, name: str) -> pa.Table:
        """Return the `flows`, `links`, ... of all runs, as far as they were kept."""
        return dataset.load(self.folder, name)

    @cached_property
    def summary(self) -> pa.Table:
        """One row per transport and point: for each metric its mean, 95 % t-interval and number of seeds.

        The points are the folder's: other sweeps of the same scenario may have contributed.
        """
        import pyarrow as pa

        parts = list(self.summaries())
        return pa.concat_tables(parts).combine_chunks() if parts else pa.table({})

    def summaries(self) -> Iterator[pa.Table]:
        """Yield the rows of `summary` some at a time: there may be more of them than fit into memory."""
        return of_folder(self.folder)

    @cached_property
    def other_axes(self) -> list[str]:
        """Columns of what varied only in other sweeps into the folder: nothing in rows of this one."""
        return [name for name in dataset.axes(self.folder) if name not in self.axes]

    def own(self, table: pa.Table) -> pa.Table:
        """Return the rows in which all axes of this sweep have a value, and nothing else varies."""
        import pyarrow.compute as pc

        for name in self.axes:
            if name not in table.column_names:
                return table.slice(0, 0)
            if table[name].null_count:
                table = table.filter(pc.is_valid(table[name]))
        for name in self.other_axes:
            if name in table.column_names:
                table = table.filter(pc.is_null(table[name]))
        return table

    @cached_property
    def answer(self) -> str:
        """The sentences that answer: what users notice, who delivers most, where, and how sure that is."""
        wanted = (*primary(self.plan.scenario), BY_NAME["goodput_bps"])
        return " ".join(filter(None, map(self._answer, wanted)))

    def _answer(self, metric: Metric) -> str:
        shown = ["transport", *self.axes, metric.name]
        points = (
            row
            for part in self.summaries()
            for row in self.own(part).select([n for n in shown if n in part.column_names]).to_pylist()
        )
        # All axes of the folder, as `own` has to see those that others varied.
        columns = [*dataset.axes(self.folder), "seed", metric.name]
        runs = {
            name: (self.own(part) for part in dataset.batches(self.folder, RUNS, name, columns))
            for name in dataset.transports(self.folder)
        }
        # Sorted, as the rows are sorted by the axes in the order of their names.
        return sentence(points, runs, sorted(self.axes), metric)

    @cached_property
    def points(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """The rows of `summary` by transport and values of the axes."""
        by = ["transport", *self.axes]
        own = self.own(self.summary)
        return {tuple(row[name] for name in by): row for row in own.to_pylist()}

    def interval(self, transport: str | None, metric: str, *values: float | str) -> Interval:
        """Return the mean of a metric at a point, with its interval.

        Args:
            transport: The transport; None: those of the scenario.
            metric: The metric's name.
            values: A value for each axis, as its column has it: numbers in base units.
        """
        row = self.points.get((transport or AS_IT_IS, *values))
        name = find(metric, self.plan.scenario).name
        if row is None or row.get(name) is None:
            return Interval(math.nan, math.nan, math.nan, 0)
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        ends = (math.nan if low is None else low, math.nan if high is None else high)
        return Interval(row[name], *ends, row[f"{name}_n"])

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """The rows of `runs` that failed."""
        return list(dataset.failures(self.folder))

    def about(self) -> dict[str, Any]:
        """Return the request and the part that was done, as plain data."""
        counts = self.progress
        return {
            "scenario": self.plan.scenario.name,
            "axes": [{"path": a.path, "name": a.name, "unit": a.unit} for a in self.plan.axes],
            "transports": self.transports,
            "seeds": list(self.plan.seeds),
            **self._plane,
            "runs": {
                "asked": self.plan.total, "made": counts.made, "cached": counts.known, "failed": counts.failed
            },
            "interrupted": self.interrupted,
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return counts, the answer and the summary as plain data."""
        return {**self.about(), "answer": self.answer, "summary": self.summary.to_pylist()}

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from."""
        return {**provenance.describe(self.plan.scenario, self.plan.seeds), **self._plane}

    @property
    def _plane(self) -> dict[str, str]:
        return described(self.plan.plane)

    @property
    def plot(self) -> SweepPlots:
        """Figures for paper, by matplotlib: `sweep.plot.line(x=..., hue=...)`, `.heatmap()`."""
        plots: SweepPlots = view("sweep_plots")(self)
        return plots

    def _repr_html_(self) -> str:
        html: str = view("sweep_in_notebook")(self)
        return html

    def to_pandas(self) -> Any:
        """Return `runs` as a pandas data frame (needs pandas)."""
        return self.runs.to_pandas()

    def to_polars(self) -> Any:
        """Return `runs` as a polars data frame (needs polars)."""
        import polars

        return polars.from_arrow(self.runs)
