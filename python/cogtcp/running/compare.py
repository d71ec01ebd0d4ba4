"""The same scenario with different transports, over the same seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp._views import view
from cogtcp.model import budget, provenance
from cogtcp.model.control import control_name
from cogtcp.model.metrics import METRICS, Metric, find, listed, offered, subjects
from cogtcp.model.result import MOST_SEEDS, Result, plain
from cogtcp.model.statistics import (
    Interval,
    holm,
    mean_interval,
    p_value,
    paired_difference,
    quantile_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from cogtcp.model.output import KeptFolder, OutputFolder
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner import Case
    from cogtcp.running.runner import Outcome as Made
    from cogtcp.showing.plot import ComparisonPlots

#: Lists by column, None for null, and the kinds of the columns that are no texts.
Lists = tuple[dict[str, list[Any]], dict[str, str]]

# The tables of each run that a comparison keeps.
_TABLES = ("flows", "links", "radios", "budget")
# Those of applications, where the scenario has some, and the kinds of subjects that fill them.
_OF_APPLICATIONS = {
    "datagrams": ("udp", "call"),
    "calls": ("call",),
    "request_flows": ("web",),
    "videos": ("video",),
}
# What its folder holds of them.
_SAVED = ("flows", "tcp_flows", "links", "radios", "budget", *_OF_APPLICATIONS)
#: What a folder with a comparison holds.
FILES = (
    *(f"{name}.parquet" for name in ("runs", "summary", "paired", *_SAVED)),
    "scenario.toml",
    "report.html",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a comparison: its numbers, or why it failed."""

    transport: str
    seed: int
    metrics: dict[str, float] = field(default_factory=dict)
    digest: str = ""
    error: str = ""
    #: The tables that are kept of the run, as lists by column.
    columns: dict[str, dict[str, list[Any]]] = field(default_factory=dict, repr=False)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The tables that are kept of the run."""
        return {name: self.table(name) for name in self.columns}

    def table(self, name: str) -> pa.Table:
        """Return one of the tables that are kept of the run.

        Args:
            name: Name of the table.

        Returns:
            The table.
        """
        from cogtcp.model import _arrow

        return _arrow.from_columns(name, self.columns[name])

    def count(self, name: str) -> int:
        """Return the number of rows of one of the tables that are kept of the run.

        Args:
            name: Name of the table.

        Returns:
            The number, 0 for a table that is not kept.
        """
        return max(map(len, self.columns.get(name, {}).values()), default=0)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return one of the tables that are kept of the run as dictionaries.

        Args:
            name: Name of the table.

        Returns:
            A dictionary for each row; none if the table is not kept.
        """
        columns = self.columns.get(name, {})
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def compare(
    scenario: Scenario,
    transports: Sequence[str | type],
    seeds: int | Sequence[int] = 10,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep: str | Path | None = None,
    time_limit: float | None = None,
    allow_python: bool = False,
    plane: str = "sim",
) -> Comparison:
    """Run a scenario once for each transport and seed.

    Common random numbers: with one seed, every transport meets the same primary users and the same channels.
    Where nothing is random, only the first seed is run: the others would give the same.
    A run that fails is recorded with its error and the others go on. Ctrl-C stops early: the comparison
    returned then has `interrupted` set and holds the runs that were finished.

    Args:
        scenario: What to simulate; each transport in turn replaces that of all its flows.
        transports: Names of transport presets; congestion controls in Python as `module:Class` or as the
            class itself. The first is the baseline of the paired differences.
        seeds: How many seeds, counted up from the scenario's own, or the seeds themselves.
        jobs: Runs at a time; by default one for each processor. The result does not depend on it.
        progress: Called with the number of finished runs and of all runs.
        keep: Folder in which finished runs are kept: the same call goes on from there, one with more seeds or
            transports too. Several processes may use one folder.
        time_limit: Seconds of real time after which a run is given up, as a failure.
        allow_python: Whether transports that are named as `module:Class` may be imported.
        plane: Where the runs are made: `sim`, or `virtual` (Linux in virtual time, `virtual:NAME` for a
            kernel of this name).

    Returns:
        The runs with means, intervals and paired tests.

    Raises:
        ScenarioError: The scenario cannot be simulated, or no such transport exists.
        NoKernelPlaneError: No kernel for virtual time is built.
        OutputError: Finished runs cannot be kept.
        KeyboardInterrupt: Interrupted before the first run was finished.
    """
    # Not at the top: to load cogtcp is not to compare.
    from cogtcp.running.runner import Runner
    from cogtcp.running.runner.plane import described, plane_of
    from cogtcp.running.sweeping.plan import plan

    if isinstance(transports, str | type) or not transports:
        raise UsageError('name at least one transport, in a list, such as ["newreno"]')
    if not scenario.to_dict().get("flow"):
        raise UsageError(f"{scenario.name} has no flow, so there are no transports to compare; add [[flow]]")
    if (count := seeds if isinstance(seeds, int) else len(seeds)) > MOST_SEEDS:
        raise UsageError(f"{count} seeds exceed the limit of {MOST_SEEDS}")
    # A sweep without axes, of which the first seed is looked at closely.
    where = plane_of(plane)
    made = plan(
        scenario,
        transports=transports,
        seeds=seeds,
        keep=_tables(scenario),
        plane=where,
        allow_python=allow_python,
    )
    scenario = made.scenario
    names = [control_name(name) for name in transports]
    # One transport may draw numbers where another does not: each is asked. A kernel draws its own.
    nothing_random = where is None and not any(scenario.with_transport(name).is_random for name in names)
    if nothing_random:
        made = replace(made, seeds=made.seeds[:1])
    shown: dict[str, Result] = {}

    def closely(case: Case) -> Case:
        look = partial(shown.__setitem__, str(case.transport))
        return replace(case, trace="full", look=look) if case.seed == made.seeds[0] else case

    tasks = [closely(case) for case in made.cases()]
    runner = Runner(keep, jobs, progress, time_limit=time_limit)
    outcomes: dict[tuple[object, ...], Outcome] = {}
    interrupted = False
    stream = runner.stream(tasks)
    try:
        for case, outcome in stream:
            outcomes[case.label[:2]] = _outcome(str(case.transport), case.seed, outcome)
    except KeyboardInterrupt:
        # Without a finished run there is nothing to compare: the caller gets the interruption.
        interrupted = any(not outcome.error for outcome in outcomes.values())
        if not interrupted:
            raise
    finally:
        stream.close()

    return Comparison(
        scenario=scenario,
        transports=tuple(names),
        seeds=made.seeds,
        # By seed and transport, not as they were finished: the result does not depend on the number of jobs.
        outcomes=tuple(
            outcomes[at] for seed in made.seeds for name in names if (at := (name, seed)) in outcomes
        ),
        shown={name: shown[name] for name in names if name in shown and (name, made.seeds[0]) in outcomes},
        interrupted=interrupted,
        nothing_random=nothing_random,
        plane=described(where),
    )


def _tables(scenario: Scenario) -> tuple[str, ...]:
    """Return the tables that are kept of each run of a scenario."""
    kinds = {subject.kind for subject in subjects(scenario)}
    return (*_TABLES, *(table for table, of in _OF_APPLICATIONS.items() if kinds.intersection(of)))


def _outcome(name: str, seed: int, made: Made) -> Outcome:
    if made.error:
        return Outcome(name, seed, error=made.error)
    record = made.record
    return Outcome(name, seed, record["metrics"], record["digest"], columns=record["tables"])


@dataclass(frozen=True)
class Comparison:
    """What a comparison came to.

    Attributes:
        scenario: What was simulated.
        transports: The transports in the order asked for; the first is the baseline.
        seeds: The seeds asked for.
        outcomes: One entry for each finished run, failed ones included.
        shown: The runs of the first seed with all they left behind, for a closer look.
        interrupted: Whether it was stopped before all runs were finished.
        nothing_random: Whether every seed would give the same, so that one was run.
        plane: Name and identity of the plane; nothing for the simulator.
    """

    scenario: Scenario
    transports: tuple[str, ...]
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...] = field(repr=False)
    shown: dict[str, Result] = field(repr=False)
    interrupted: bool = False
    nothing_random: bool = False
    plane: dict[str, str] = field(default_factory=dict)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics for tables: what the users of applications notice, then the metrics of the run."""
        return listed(self.scenario)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(metric.name for metric in offered(self.scenario))

    def _named(self, metric: str) -> str:
        """Return the full name of a metric. Raises `UsageError` if the scenario does not offer it."""
        return metric if metric in self._known else find(metric, self.scenario).name

    @property
    def failures(self) -> list[Outcome]:
        """The runs that failed."""
        return [outcome for outcome in self.outcomes if outcome.error]

    @cached_property
    def _by_transport(self) -> dict[str, dict[int, Outcome]]:
        return {
            name: {o.seed: o for o in self.outcomes if o.transport == name and not o.error}
            for name in self.transports
        }

    def _runs_of(self, transport: str | type) -> dict[int, Outcome]:
        name = control_name(transport)
        pick(name, self.transports, "transport")
        return self._by_transport[name]

    def finished(self, transport: str | type) -> list[Outcome]:
        """Return the runs of a transport that did not fail, by seed."""
        return list(self._runs_of(transport).values())

    def interval(self, transport: str | type, metric: str) -> Interval:
        """Return the mean of a metric over the seeds with its 95 % t-interval.

        Args:
            transport: Name of a compared transport, or its class.
            metric: Name of a metric, such as `goodput_bps` (`cogtcp.metrics.METRICS`).

        Returns:
            Mean and bounds, in the metric's unit.
        """
        name = self._named(metric)
        return mean_interval([value_of(outcome, name) for outcome in self.finished(transport)])

    def quantile(self, transport: str | type, metric: str, q: float) -> Interval:
        """Return the `q`-quantile of a metric over the seeds, with a 95 % interval that assumes no law.

        Where there are too few seeds for an end of the interval it is infinite.

        Args:
            transport: Name of a compared transport, or its class.
            metric: Name of a metric, such as `goodput_bps` (`cogtcp.metrics.METRICS`).
            q: The quantile, 0 to 1.

        Returns:
            Quantile and bounds, in the metric's unit.
        """
        name = self._named(metric)
        values = [value_of(outcome, name) for outcome in self.finished(transport)]
        return quantile_interval(values, q)

    def difference(self, transport: str | type, metric: str, baseline: str | type | None = None) -> Interval:
        """Return the mean difference to a baseline over the seeds both finished, with its 95 % t-interval.

        Args:
            transport: Name of a compared transport, or its class.
            metric: Name of a metric, such as `goodput_bps` (`cogtcp.metrics.METRICS`).
            baseline: The other transport; by default the first one.

        Returns:
            Mean difference and bounds, in the metric's unit.
        """
        name = self._named(metric)
        ours, theirs = self._runs_of(transport), self._runs_of(baseline or self.transports[0])
        common = [seed for seed in ours if seed in theirs]
        return paired_difference(
            [value_of(ours[seed], name) for seed in common], [value_of(theirs[seed], name) for seed in common]
        )

    @cached_property
    def _apart(self) -> set[tuple[str, str, str]]:
        """The pairs that differ beyond chance: (better of the two, other, metric).

        Paired t-tests of all pairs in all metrics, and Holm's procedure over them: all that is said of them
        holds at once with 95 % confidence. What the answer is about are families of their own: goodput, and
        what the users of applications notice.
        """
        found: set[tuple[str, str, str]] = set()
        better = {metric.name: metric.better for metric in self.metrics}
        ours = [metric for metric in self.metrics if metric.subject and metric.better]
        families = [
            ["goodput_bps"],
            [m.name for m in METRICS if m.name != "goodput_bps" and m.better],
            [metric.name for metric in ours if metric.noticed],
            [metric.name for metric in ours if not metric.noticed],
        ]
        for family in families:
            asked = [
                (one, other, metric)
                for metric in family
                for one, other in combinations(self.transports, 2)
                # One pair of runs tells nothing of chance, and would make Holm's procedure stricter.
                if self.difference(one, metric, other).n > 1
            ]
            chances = [p_value(self._differences(*each)) for each in asked]
            for (one, other, metric), sure in zip(asked, holm(chances), strict=True):
                if sure:
                    more = self.difference(one, metric, other).mean * better[metric] > 0
                    found.add((one, other, metric) if more else (other, one, metric))
        return found

    def _differences(self, one: str, other: str, metric: str) -> list[float]:
        ours, theirs = self._by_transport[one], self._by_transport[other]
        return [
            value_of(ours[seed], metric) - value_of(theirs[seed], metric) for seed in ours if seed in theirs
        ]

    def is_better(self, one: str, other: str, metric: str = "goodput_bps") -> bool:
        """Whether a transport is better than another in a metric beyond chance.

        Paired t-tests, and Holm's procedure over all pairs of transports. So all that this says of goodput
        holds at once with 95 % confidence; so does what it says of what users notice, and of the others.
        `difference` by itself has 95 % for each.

        Args:
            one: Name of the transport that may be better.
            other: Name of the other transport.
            metric: Name of a metric, such as `goodput_bps` (`cogtcp.metrics.METRICS`).

        Returns:
            True if the difference is significant.
        """
        return (one, other, self._named(metric)) in self._apart

    @cached_property
    def runs(self) -> pa.Table:
        """One row per run: transport, seed, error, digest and every metric."""
        return _table(*self._runs())

    def _runs(self) -> Lists:
        columns: dict[str, list[Any]] = {
            "transport": [o.transport for o in self.outcomes],
            "seed": [o.seed for o in self.outcomes],
            "error": [o.error or None for o in self.outcomes],
            "digest": [o.digest or None for o in self.outcomes],
        }
        metrics = [metric.name for metric in offered(self.scenario)]
        columns |= {name: [o.metrics.get(name) for o in self.outcomes] for name in metrics}
        return columns, {"seed": "i64", **dict.fromkeys(metrics, "f64")}

    @cached_property
    def summary(self) -> pa.Table:
        """One row per transport and metric: mean, 95 % interval, number of runs."""
        return _table(*self._summary())

    def _summary(self) -> Lists:
        return _intervals(
            {"transport": name, "metric": metric.name, "interval": self.interval(name, metric.name)}
            for name in self.transports
            for metric in self.metrics
        )

    @cached_property
    def paired(self) -> pa.Table:
        """One row per transport but the first and metric: mean difference to the first, pair by pair."""
        return _table(*self._paired())

    def _paired(self) -> Lists:
        return _intervals(
            {
                "transport": name,
                "baseline": self.transports[0],
                "metric": metric.name,
                "interval": self.difference(name, metric.name),
            }
            for name in self.transports[1:]
            for metric in self.metrics
        )

    def table(self, name: str) -> pa.Table:
        """Return `flows`, `links`, `radios`, `budget` or a table of applications of all runs.

        `flows` has the columns of TCP too, null where a flow is not TCP.
        """
        import pyarrow as pa

        from cogtcp._arrays import array_of

        parts = []
        for outcome in self.outcomes:
            if outcome.error:
                continue
            part = outcome.table(name)
            if "transport" in part.column_names:
                part = part.drop_columns(["transport"])
            rows = part.num_rows
            part = part.add_column(0, "transport", array_of([outcome.transport] * rows, pa.string()))
            part = part.add_column(1, "seed", array_of([outcome.seed] * rows, pa.int64()))
            parts.append(part)
        return (
            pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()
            if parts
            else pa.table({})
        )

    def to_dict(self) -> dict[str, Any]:
        """Return means, intervals, differences and failures as plain data; None stands for "no value"."""

        def numbers(interval: Interval) -> dict[str, Any]:
            return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}

        result: dict[str, Any] = plain(
            {
                "scenario": self.scenario.name,
                "transports": self.transports,
                "seeds": self.seeds,
                "interrupted": self.interrupted,
                "nothing_random": self.nothing_random,
                "summary": {
                    name: {metric.name: numbers(self.interval(name, metric.name)) for metric in self.metrics}
                    for name in self.transports
                },
                "budget": {name: budget.of_comparison(self, name) for name in self.transports},
                "baseline": self.transports[0],
                "paired": {
                    name: {
                        metric.name: numbers(self.difference(name, metric.name)) for metric in self.metrics
                    }
                    for name in self.transports[1:]
                },
                "runs": [
                    {
                        "transport": o.transport,
                        "seed": o.seed,
                        "digest": o.digest or None,
                        "error": o.error or None,
                    }
                    for o in self.outcomes
                ],
            }
        )
        return result

    def to_pandas(self) -> Any:
        """Return `runs` as a pandas data frame (needs pandas)."""
        return self.runs.to_pandas()

    def to_polars(self) -> Any:
        """Return `runs` as a polars data frame (needs polars)."""
        import polars

        return polars.from_arrow(self.runs)

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from, as the Parquet files carry it."""
        return {
            **provenance.describe(self.scenario, self.seeds),
            "transports": ",".join(self.transports),
            "interrupted": str(self.interrupted).lower(),
            **self.plane,
        }

    @property
    def plot(self) -> ComparisonPlots:
        """Figures for paper, by matplotlib: `comparison.plot.bars()`, `.box()`, `.cdf()` and more."""
        plots: ComparisonPlots = view("comparison_plots")(self)
        return plots

    def _repr_html_(self) -> str:
        html: str = view("comparison_in_notebook")(self)
        return html

    def save(
        self,
        directory: str | Path,
        *,
        force: bool = False,
        command: str | None = None,
        quantiles: Sequence[float] = (),
    ) -> Path:
        """Write the tables as Parquet, the scenario and the report into a folder, whole or not at all.

        A folder of earlier results of the same comparison is replaced; any other only with `force`, its
        content kept beside it. The report has the `quantiles` over the seeds that are asked for.

        Args:
            directory: The folder.
            force: Write although the folder holds something else, which is kept beside it.
            command: The command line, for the report.
            quantiles: Quantiles over the seeds to report, 0 to 1.

        Returns:
            The folder.

        Raises:
            OutputError: The files cannot be written.
        """
        from cogtcp.model.output import OutputFolder

        job = compare_job(self.scenario, self.transports, self.seeds)
        with OutputFolder(directory, job=job, force=force) as folder:
            self.write(folder, command=command, quantiles=quantiles)
        return Path(directory)

    def write(
        self,
        folder: OutputFolder | KeptFolder,
        *,
        command: str | None = None,
        quantiles: Sequence[float] = (),
    ) -> None:
        """Write everything into an open folder.

        Args:
            folder: The open folder.
            command: The command line, for the report.
            quantiles: Quantiles over the seeds to report, 0 to 1.

        Raises:
            OutputError: The files cannot be written.
        """
        from cogtcp.running.compared_files import of_lists, of_runs

        made = self.provenance
        for name, lists in (("runs", self._runs()), ("summary", self._summary()), ("paired", self._paired())):
            folder.write_columns(name, *of_lists(*lists), made)
        for table in _tables(self.scenario):
            for name, file in of_runs(table, self.outcomes):
                folder.write_columns(name, *file, made)
        folder.write_text("scenario.toml", self.scenario.to_toml())
        folder.write_text(
            "report.html", view("comparison_report")(self, command=command, quantiles=quantiles)
        )
        folder.describe({"kind": "compare", "command": command, **self.to_dict()})

    def report(self, path: str | Path, *, command: str | None = None) -> Path:
        """Write the report: one HTML file that needs nothing else.

        Args:
            path: The file, replaced if it exists.
            command: The command line, for the report.

        Returns:
            The file.

        Raises:
            OutputError: The files cannot be written.
        """
        from cogtcp.model.output import write_file

        return write_file(path, view("comparison_report")(self, command=command))


def compare_job(
    scenario: Scenario, transports: Sequence[str], seeds: Sequence[int], plane: str = "sim"
) -> dict[str, Any]:
    """Return what a folder with a comparison is the result of, see `cogtcp.model.output.OutputFolder`."""
    job = {"verb": "compare", "scenario": scenario.hash, **({} if plane == "sim" else {"plane": plane})}
    return {**job, "transports": list(transports), "seeds": list(seeds), "grows": ["transports", "seeds"]}


def value_of(outcome: Outcome, metric: str) -> float:
    """Return a metric of a run; NaN where it has no value."""
    return outcome.metrics.get(metric, math.nan)


def _intervals(rows: Any) -> Lists:
    columns: dict[str, list[Any]] = {}
    for row in rows:
        interval: Interval = row.pop("interval")
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
        for key in ("mean", "low", "high", "n"):
            columns.setdefault(key, []).append(getattr(interval, key))
    return columns, {"mean": "f64", "low": "f64", "high": "f64", "n": "i64"}


def _table(columns: dict[str, list[Any]], kinds: dict[str, str]) -> pa.Table:
    import pyarrow as pa

    from cogtcp._arrays import array_of

    types = {"f64": pa.float64(), "i64": pa.int64(), "": pa.string()}
    return pa.table({name: array_of(values, types[kinds.get(name, "")]) for name, values in columns.items()})
