"""The best parameters of a scenario, found by Optuna (the extra `tune`) and checked on seeds of their own.

`docs/tuning.md` describes the method. Read in this order: `space` (the parameters), `goal` (objective and
constraints), `evaluate` (runs behind a point), `search` (ask and tell), `result`, `theory`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cogtcp.deciding.tuning.result import Tuning
    from cogtcp.model.scenario import Scenario


def tune(
    scenario: Scenario,
    vary: Mapping[str, str] | None = None,
    *,
    objective: str = "goodput",
    constraints: Sequence[str] = (),
    trials: int = 60,
    seeds: int = 5,
    fresh_seeds: int = 20,
    seed: int | None = None,
    batch: int = 4,
    grid: Sequence[int] = (),
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
    command: str | None = None,
    allow_python: bool = False,
) -> Tuning:
    """Find the parameters of a scenario that are best for an objective.

    Optuna's tree-structured Parzen estimator proposes points, `batch` at a time; each is simulated over the
    same seeds (common random numbers). The best are simulated again over other seeds to choose the winner.
    It and its rivals are then measured over seeds that had no part in either: only those numbers are free of
    the luck by which a winner wins.

    The result depends on the arguments up to `grid` alone, not on `jobs`. Ctrl-C stops early: the result
    then has `interrupted` set and holds the trials that were finished. With `out` every finished run is
    kept at once in `out/runs`, so that the same call, or one with more trials, goes on from there.

    >>> found = cogtcp.tune(scenario, {"radio.0.cr.sensing_time": "20 ms..1 s"}, trials=40)
    >>> found.winner.values, found.interval(found.winner)
    >>> found.scenario_of(found.winner)

    Args:
        scenario: What to simulate.
        vary: For each path of a field (as in `Scenario.set`) its range `"LOW..HIGH"`, with `:log` or
            `:linear` if it matters, or its values `"A,B,C"`. Without it: t_s and T_p of the CR users.
        objective: A metric (`cogtcp.metrics.METRICS`, the unit in its name may be left out), to be had more
            or less of as people want it; `max:` or `min:` before it says so.
        constraints: Limits on means of metrics, as in `"pu_interference<=5%"`.
        trials: How many points the search looks at.
        seeds: How many seeds each point is simulated with.
        fresh_seeds: How many other seeds the best points are simulated with at the end.
        seed: The first seed, and that of the search; by default the scenario's.
        batch: Points that are proposed at a time, before the results of any are known.
        grid: Number of values of each range: also simulate this whole grid, for the picture.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for report, tables and finished runs; by default nothing is written.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with the number of finished runs and of all runs.
        command: The command line, for the report.
        allow_python: Whether controls in Python that `vary` names as `module:Class` may be imported.

    Returns:
        The winner and its rivals, with intervals.

    Raises:
        ScenarioError: The scenario cannot be simulated, or has no such field, or no trial could be simulated.
        UsageError: Something else asked for makes no sense, or Optuna is not installed.
        RunError: Every run failed.
        OutputError: The results cannot be written.
        KeyboardInterrupt: Interrupted before the first trials were finished.
    """
    require()
    from cogtcp.deciding.tuning.search import Plan, search
    from cogtcp.model.control import permitted

    scenario = permitted(scenario, map(str, (vary or {}).values()), allow_python)
    plan = Plan.of(
        scenario, vary, objective, constraints, trials, seeds, fresh_seeds, seed, batch, tuple(grid)
    )
    return search(plan, jobs=jobs, out=out, force=force, progress=progress, command=command)


def require() -> None:
    """Raise unless Optuna is there."""
    remedy = "install it with: pip install 'cogtcp[tune]'"
    try:
        with warnings.catch_warnings():
            # Of a progress bar that is not shown: in a notebook without widgets it warns when it is loaded.
            warnings.filterwarnings("ignore", message="IProgress not found")
            from optuna import Trial
    except ModuleNotFoundError as error:
        # Optuna is there, and one of its own parts is not: installing Optuna would not help.
        if error.name != "optuna":
            raise
        raise UsageError(f"tune needs Optuna, which is not installed; {remedy}") from None
    if not hasattr(Trial, "set_constraint"):
        raise UsageError(f"tune needs Optuna 5 or newer; {remedy}")
