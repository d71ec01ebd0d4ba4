"""Sweeps: a scenario over the values of some of its fields, transports and seeds (docs/sweeps.md).

`axes` and `plan` say what is made, `dataset` keeps the results, `result` and `page` present them. `budget`
estimates the cost, `query` and `merge` work with finished sweeps.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import OutputError, UsageError
from cogtcp._views import view
from cogtcp.model.output import MARKER, RUNS, mark, mark_unfinished, prepare_folder, write_file, write_tables
from cogtcp.running.runner import Journal, Keys, Runner
from cogtcp.running.runner.plane import plane_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner import Launcher
    from cogtcp.running.sweeping.plan import Plan
    from cogtcp.running.sweeping.result import Sweep

#: What a folder with a sweep holds besides its marker.
FILES = ("scenario.toml", "report.html", "summary.parquet", "quantiles.parquet", "data", RUNS)


def sweep(
    scenario: Scenario | Plan,
    vary: Mapping[str, Any] | None = None,
    *,
    transports: Sequence[str | type] = (),
    seeds: int | Sequence[int] = 10,
    sampling: str = "grid",
    samples: int | None = None,
    points: Sequence[Mapping[str, Any]] = (),
    steps: Mapping[str, int] | None = None,
    names: Mapping[str, str] | None = None,
    keep: Sequence[str] = ("flows",),
    time_limit: float | None = None,
    out: str | Path | None = None,
    force: bool = False,
    jobs: int | None = None,
    retry: bool = False,
    launcher: Launcher | None = None,
    store: str | None = None,
    precision: float | None = None,
    max_seeds: int = 200,
    quantiles: Sequence[float] = (),
    progress: Any = None,
    command: str | None = None,
    allow_python: bool = False,
    plane: str = "sim",
) -> Sweep:
    """Run a scenario for every combination of values, transport and seed.

    >>> found = cogtcp.sweep(
    ...     scenario, {"radio.0.sensing.on": ["1 s", "2 s", "5 s"]}, transports=["newreno", "sack"], out="out"
    ... )
    >>> found.interval("sack", "goodput_bps", 5.0)
    >>> found.runs.to_pandas()

    Common random numbers: with one seed, every point and transport meets the same chance. Only what `out`
    does not have yet is run; every finished run is kept at once. A run that fails is recorded with its
    error. Ctrl-C stops
    early: the result then has `interrupted` set and what was finished. The results do not depend on where
    and in which order the runs were made.

    Args:
        scenario: What to vary; or a plan (`cogtcp.running.sweeping.plan.read`), then leave out what it says.
        vary: For each path of a field (as in `Scenario.set`) a list of values, or a range `"LOW..HIGH"`, with
            `:log` or `:linear` if it matters.
        transports: Names of presets, `module:Class`, or classes; without any those of the scenario.
        seeds: How many seeds, counted up from the scenario's own, or the seeds themselves.
        sampling: `grid`: every combination; `paired`: the first values of all axes, the second ones, ...;
            `random` and `halton` (evenly): `samples` points drawn, from ranges and lists.
        samples: How many points are drawn.
        points: The combinations themselves, as dictionaries of paths and values; instead of `vary`.
        steps: For paths with a range how many values; by default 10.
        names: For paths the names of their columns; by default made of the path's last words.
        keep: Tables of each run to keep: `flows`, `links`, `radios`, `trains`, `predictions`, `events`, ...
        time_limit: Seconds of real time after which a run is given up, as a failure.
        out: Folder of the results; by default a temporary one, which goes with the result.
        force: Use `out` although it holds something else, which is kept in a folder beside it.
        jobs: Runs at a time; by default one for each processor.
        retry: Whether to make runs again that failed before.
        launcher: Where the runs are made; by default in this process (`cogtcp.runner.Launcher`).
        store: Where the data set goes too when the sweep ends: `s3://bucket/folder`, or a folder; and where
            it comes from if `out` has none.
        precision: Add seeds until half the 95 % interval of goodput is at most this share of its mean at
            every point and transport. Looked at from ten seeds on; each round makes half as many again, of
            the points that need them.
        max_seeds: The bound on the seeds of a point, for `precision`.
        quantiles: Quantiles over the seeds, such as 0.95, that `quantiles.parquet` and the page then have.
        progress: Called with the number of finished runs and of all runs.
        command: The command line, for the report.
        allow_python: Whether controls in Python may be imported that `vary`, `points` or `transports` name as
            `module:Class`. Classes themselves, and what the scenario may import, need no leave.
        plane: Where the runs are made: `sim`, or `virtual` (Linux in virtual time, `virtual:NAME` for a
            kernel of this name).

    Returns:
        The data set with summary and intervals.

    Raises:
        ScenarioError: The scenario cannot be simulated, or has no such field.
        UsageError: Something else asked for makes no sense.
        NoKernelPlaneError: No kernel for virtual time is built.
        OutputError: The results cannot be written. What was finished is kept.
        KeyboardInterrupt: Interrupted before the first run was finished.
    """
    from cogtcp.running.sweeping.plan import Plan
    from cogtcp.running.sweeping.plan import plan as checked

    if isinstance(scenario, Plan):
        if vary or points or transports or plane != "sim":
            raise UsageError("a plan has its own axes, transports and plane; give no others")
        made = scenario
    else:
        made = checked(
            scenario,
            vary,
            transports=transports,
            seeds=seeds,
            sampling=sampling,
            samples=samples,
            points=points,
            steps=steps,
            names=names,
            keep=keep,
            time_limit=time_limit,
            plane=plane_of(plane),
            allow_python=allow_python,
        )
    temporary = None
    if out is None:
        temporary = Path(tempfile.mkdtemp(prefix="cogtcp-sweep-"))
        out = temporary / "sweep"
    folder = prepare_folder(out, made.job, FILES, keep=RUNS, force=force)
    runner = Runner(folder / RUNS, jobs, progress, time_limit=made.time_limit, retry=retry, launcher=launcher)
    return _carry_out(made, folder, runner, store, precision, max_seeds, quantiles, command, temporary)


def _carry_out(
    plan: Plan,
    folder: Path,
    runner: Runner,
    store: str | None,
    precision: float | None,
    max_seeds: int,
    quantiles: Sequence[float],
    command: str | None,
    temporary: Path | None,
) -> Sweep:
    from cogtcp.running.sweeping import dataset
    from cogtcp.running.sweeping.result import Sweep
    from cogtcp.running.sweeping.sequential import next_round

    place = None
    if store is not None:
        from cogtcp.running.sweeping.store import Store

        place = Store(store)
        # Before anything is looked up: what the store has need not be run.
        place.pull(folder)
    journal = Journal(folder / RUNS, make=False)
    interrupted = False
    there = folder.stat()
    broken = tuple(dataset.repair(folder, journal))
    cases, total = plan.cases(), plan.total
    while True:
        # What a kill left goes into the data set first: then its keys are all that must be remembered.
        with journal:
            dataset.compact(folder, journal, plan.keep)
        mark_unfinished(folder)
        stream = runner.stream(cases, total, known=dataset.known(folder), keys=Keys(), recall=False)
        try:
            for _ in stream:
                pass
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stream.close()
        _check_there(folder, there)
        with journal:
            dataset.compact(folder, journal, plan.keep)
        result = Sweep(plan, folder, runner.progress, interrupted, broken)
        if interrupted or precision is None:
            break
        more = next_round(result, precision, max_seeds)
        if more is None:
            break
        plan, cases, total = more
    # Nothing was finished: there is no result to return.
    if interrupted and not (runner.progress.made + runner.progress.known):
        raise KeyboardInterrupt
    save(result, command, quantiles)
    if temporary is not None:
        # The folder goes when the result does, which reads from it as long as it lives.
        weakref.finalize(result, shutil.rmtree, temporary, ignore_errors=True)
    if place is not None:
        place.push(folder)
    return result


def _check_there(folder: Path, before: os.stat_result) -> None:
    """Raise unless a folder is the one in which the finished runs were kept."""
    try:
        same = os.path.samestat(folder.stat(), before)
    except OSError:
        same = False
    if not same:
        raise OutputError(
            f"{folder}: was removed or moved while its runs were made, and they with it; repeat the command"
        )


def save(result: Sweep, command: str | None = None, quantiles: Sequence[float] = ()) -> None:
    """Write what is made of the data set into its folder: summary, page, marker."""
    from cogtcp.running.sweeping.quantiles import of_folder

    folder, plan = result.folder, result.plan
    write_file(folder / "scenario.toml", plan.scenario.to_toml())
    write_tables(folder / "summary.parquet", result.summaries(), result.provenance)
    if quantiles:
        write_tables(folder / "quantiles.parquet", of_folder(folder, quantiles), result.provenance)
    else:
        (folder / "quantiles.parquet").unlink(missing_ok=True)  # of other runs
    write_file(folder / "report.html", view("sweep_report")(result, command=command))
    mark(folder, plan.job, FILES, {"command": command, **result.about(), "answer": result.answer})


__all__ = ["FILES", "MARKER", "save", "sweep"]
