"""The search: Optuna proposes points, they are simulated, the best are simulated again."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState

from cogtcp._errors import RunError, ScenarioError, UsageError
from cogtcp.deciding.tuning import goal
from cogtcp.deciding.tuning.evaluate import Simulator, nothing_drawn, shown
from cogtcp.deciding.tuning.result import Finalist, Trial, Tuning, keeps, limited, ranked
from cogtcp.deciding.tuning.theory import theory
from cogtcp.model.metrics import measure
from cogtcp.model.output import prepare_folder, rewriting, write_file, write_table
from cogtcp.model.result import check_seed
from cogtcp.running.runner import Runner
from cogtcp.running.space import Range, parameters, quantity, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from optuna.distributions import BaseDistribution

    from cogtcp.deciding.tuning.evaluate import Draw, Evaluation, Point
    from cogtcp.deciding.tuning.goal import Constraint, Objective
    from cogtcp.deciding.tuning.theory import Theory
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner import Measure
    from cogtcp.running.space import Parameter

#: What a folder of results holds besides its marker.
_DOCUMENT, _REPORT, _RUNS = "tuning.json", "report.html", "runs"
_TRIALS, _METRICS, _SCENARIO, _BEST = "trials.parquet", "metrics.parquet", "scenario.toml", "best.toml"
_OURS = (_DOCUMENT, _REPORT, _RUNS, _TRIALS, _METRICS, _SCENARIO, _BEST)

#: Trials that are drawn at random before the estimator has something to go by.
_RANDOM = 10
#: The best trials of the search, which are simulated again to choose the winner ...
_RUNOFF = 8
#: ... and the best of those, which are simulated over the fresh seeds.
_FINALISTS = 5
#: After so many trials without a result there will be none.
_GIVE_UP = 12
_MOST_POINTS = 10_000


@dataclass(frozen=True)
class Plan:
    """What is asked for, checked. The result depends on nothing else."""

    scenario: Scenario
    parameters: tuple[Parameter, ...]
    objective: Objective
    constraints: tuple[Constraint, ...]
    trials: int
    seeds: tuple[int, ...]
    runoff_seeds: tuple[int, ...]
    fresh_seeds: tuple[int, ...]
    batch: int
    grid: tuple[int, ...]
    measure: Measure = measure
    draw: Draw = nothing_drawn

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        vary: Mapping[str, str] | None,
        objective: str | Objective,
        constraints: Sequence[str],
        trials: int,
        seeds: int,
        fresh_seeds: int,
        seed: int | None,
        batch: int,
        grid: tuple[int, ...],
    ) -> Plan:
        """Check what is asked for. Raises `UsageError` or `ScenarioError`."""
        for name, value in (("trials", trials), ("seeds", seeds), ("batch", batch)):
            if value < 1:
                raise UsageError(f"{name} is {value}; it must be at least 1")
        if fresh_seeds < 2:
            raise UsageError(f"fresh_seeds is {fresh_seeds}; fewer than two have no confidence interval")
        wanted = goal.objective(objective, scenario) if isinstance(objective, str) else objective
        limits = tuple(goal.constraint(text, scenario) for text in constraints)
        first = scenario.seed if seed is None else seed
        check_seed(first)
        check_seed(first + seeds + 2 * fresh_seeds - 1)
        scenario.check()
        varied = parameters(scenario, vary)
        _check_grid(grid, varied)
        return cls(
            scenario=scenario,
            parameters=varied,
            objective=wanted,
            constraints=limits,
            trials=trials,
            seeds=tuple(range(first, first + seeds)),
            runoff_seeds=tuple(range(first + seeds, first + seeds + fresh_seeds)),
            fresh_seeds=tuple(range(first + seeds + fresh_seeds, first + seeds + 2 * fresh_seeds)),
            batch=batch,
            grid=grid if len(grid) != 1 else grid * len(varied),
        )

    @property
    def job(self) -> dict[str, Any]:
        """What a folder with the results is the result of: more trials or fresh seeds go on in it."""
        return {
            "verb": "tune",
            "scenario": self.scenario.hash,
            "vary": [[parameter.path, repr(parameter)] for parameter in self.parameters],
            "objective": [self.objective.metric.name, self.objective.sign],
            "constraints": [constraint.describe() for constraint in self.constraints],
            "seeds": list(self.seeds),
        }


def search(
    plan: Plan,
    *,
    jobs: int | None,
    out: str | Path | None,
    force: bool,
    progress: Callable[[int, int], None] | None,
    command: str | None,
) -> Tuning:
    """Carry out the plan; with `out`, write the results."""
    folder = None
    if out is not None:
        folder = prepare_folder(out, plan.job, _OURS, keep=_RUNS, force=force)
    expected = plan.trials * len(plan.seeds) + math.prod(plan.grid or (0,)) * len(plan.seeds)
    expected += min(_RUNOFF, plan.trials) * len(plan.runoff_seeds)
    expected += min(_FINALISTS, plan.trials) * len(plan.fresh_seeds)

    def advance(done: int, known: int) -> None:
        if progress:
            # What is to come is estimated first: the final's runs are known only when the search has ended.
            progress(done, max(known, expected))

    runner = Runner(None if folder is None else folder / _RUNS, jobs, advance)
    result = search_with(plan, runner)
    if folder is not None:
        _save(result, folder, command)
    return result


def search_with(plan: Plan, runner: Runner) -> Tuning:
    """Do what is planned with a runner, and write nothing."""
    simulator = Simulator(plan.scenario, plan.parameters, runner, plan.measure, plan.draw)
    trials: list[Trial] = []
    grid: tuple[Trial, ...] = ()
    finalists: tuple[Finalist, ...] = ()
    known = theory(plan.scenario, plan.parameters)
    interrupted = False
    try:
        _ask_and_tell(plan, simulator, trials)
        grid = _grid(plan, simulator)
        finalists = _finalists(plan, simulator, trials, grid, known)
    except KeyboardInterrupt:
        # Without a trial that worked there is nothing to show.
        interrupted = any(not trial.error for trial in trials)
        if not interrupted:
            raise
    return Tuning(
        scenario=plan.scenario,
        parameters=plan.parameters,
        objective=plan.objective,
        constraints=plan.constraints,
        seeds=plan.seeds,
        runoff_seeds=plan.runoff_seeds,
        fresh_seeds=plan.fresh_seeds,
        batch=plan.batch,
        planned=plan.trials,
        trials=tuple(trials),
        finalists=finalists,
        grid_shape=plan.grid if grid else (),
        grid=grid,
        theory=known,
        interrupted=interrupted,
    )


def _ask_and_tell(plan: Plan, simulator: Simulator, trials: list[Trial]) -> None:
    """Add the trials to `trials`, batch by batch."""
    with _quiet():
        sampler = optuna.samplers.TPESampler(seed=_seed(plan), n_startup_trials=_RANDOM)
        direction = StudyDirection.MAXIMIZE if plan.objective.sign > 0 else StudyDirection.MINIMIZE
        study = optuna.create_study(sampler=sampler, direction=direction)
    distributions = {parameter.path: _distribution(parameter) for parameter in plan.parameters}
    start = _as_it_is(plan)
    if start is not None:
        # What the search is measured against is its first trial.
        study.enqueue_trial(dict(zip(distributions, start, strict=True)))
    while len(trials) < plan.trials:
        asked = [study.ask(distributions) for _ in range(min(plan.batch, plan.trials - len(trials)))]
        points = [
            tuple(
                parameter.snap(trial.params[parameter.path])
                if isinstance(parameter, Range)
                else trial.params[parameter.path]
                for parameter in plan.parameters
            )
            for trial in asked
        ]
        found = _simulate(plan, simulator, points, plan.seeds, len(trials))
        for trial, made in zip(asked, found, strict=True):
            trials.append(made)
            if made.error:
                # The estimator then leaves the trial out, as it has no number to learn from.
                study.tell(trial, state=TrialState.FAIL)
                continue
            for index, constraint in enumerate(plan.constraints):
                # Above zero is broken, for Optuna as here. By the bound: the search keeps off the limit.
                trial.set_constraint(str(index), constraint.excess(_bound(made.evaluation, constraint)))
            study.tell(trial, made.evaluation.interval(plan.objective.metric).mean)
        if len(trials) >= min(plan.trials, _GIVE_UP) and all(trial.error for trial in trials):
            _give_up(trials)


def _give_up(trials: Sequence[Trial]) -> None:
    """Raise the error of trials none of which has a result."""
    first = trials[0].evaluation
    # A scenario that refuses the values says best what is wrong.
    for trial in trials:
        if trial.evaluation.invalid is not None:
            raise trial.evaluation.invalid
    if not first.records:
        raise RunError(f"no trial could be simulated: {first.error}")
    raise UsageError(f"no trial has a result: {first.error}; take another objective or constraint")


def _simulate(
    plan: Plan, simulator: Simulator, points: Sequence[Point], seeds: Sequence[int], before: int = 0
) -> list[Trial]:
    scenarios = [simulator.scenario(point) for point in points]
    evaluations = simulator.evaluate(scenarios, seeds)
    made = []
    for number, (point, scenario, found) in enumerate(
        zip(points, scenarios, evaluations, strict=True), start=before + 1
    ):
        values = (
            {
                p.path: p.text(float(v)) if isinstance(p, Range) else str(v)
                for p, v in zip(plan.parameters, point, strict=True)
            }
            if isinstance(scenario, ScenarioError)
            else shown(scenario, plan.parameters)
        )
        made.append(Trial(number, point, values, _checked(plan, found)))
    return made


def _checked(plan: Plan, found: Evaluation) -> Evaluation:
    """Return the evaluation, failed if it lacks what is wanted of it."""
    if found.error:
        return found
    error = found.missing(plan.objective.metric)
    for constraint in plan.constraints:
        # Some seeds may have none: where no PU was met, none was made to wait.
        if not error and found.interval(constraint.metric).n == 0:
            error = found.missing(constraint.metric)
    return replace(found, error=error)


def _grid(plan: Plan, simulator: Simulator) -> tuple[Trial, ...]:
    if not plan.grid:
        return ()
    axes = [
        [axis.at(step / (count - 1)) for step in range(count)]
        for axis, count in zip(plan.parameters, plan.grid, strict=True)
        if isinstance(axis, Range)
    ]
    return tuple(_simulate(plan, simulator, list(itertools.product(*axes)), plan.seeds))


def _finalists(
    plan: Plan, simulator: Simulator, trials: Sequence[Trial], grid: Sequence[Trial], known: Theory | str
) -> tuple[Finalist, ...]:
    """Choose the winner, and simulate it and what it is compared with over the fresh seeds.

    Three sets of seeds. The search's seeds favour the proposals that they led to; others choose among the
    best; the numbers come from seeds that had no part in either.
    """
    best = _runoff(plan, simulator, trials)
    if not best:
        return ()
    named: list[tuple[str, Point | None]] = [(f"trial {trial.number}", trial.point) for trial in best]
    named += [("best of the grid", t.point) for t in ranked(grid, plan.objective, plan.constraints)[:1]]
    named += [] if isinstance(known, str) else [("theory", known.point)]
    named.append(("as it is", _as_it_is(plan)))
    # By the hash of the scenario: a finalist with two names is simulated once and bears both.
    scenarios: dict[str, Scenario] = {}
    names: dict[str, list[str]] = {}
    points: dict[str, Point | None] = {}
    for name, point in named:
        scenario = plan.scenario if point is None else simulator.scenario(point)
        if not isinstance(scenario, ScenarioError):
            scenarios.setdefault(scenario.hash, scenario)
            names.setdefault(scenario.hash, []).append(name)
            points.setdefault(scenario.hash, point)
    evaluations = simulator.evaluate(list(scenarios.values()), plan.fresh_seeds)
    finalists = [
        Finalist(", ".join(names[key]), points[key], shown(scenario, plan.parameters), _checked(plan, found))
        for (key, scenario), found in zip(scenarios.items(), evaluations, strict=True)
    ]
    count = len(finalists)
    # The best that keeps the constraints there, too, with confidence. Without one the best is named.
    kept = (
        number
        for number, final in enumerate(finalists)
        if final.name.startswith("trial ")
        and not final.evaluation.error
        and keeps(final.evaluation, plan.constraints, count) == "kept"
    )
    winner = finalists.pop(next(kept, 0))
    _, comma, more = winner.name.partition(", ")
    return replace(winner, name=f"chosen{comma}{more}"), *finalists


def _runoff(plan: Plan, simulator: Simulator, trials: Sequence[Trial]) -> list[Trial]:
    """Return the best trials of the search in the order they have over other seeds.

    Trials that keep the constraints there with confidence come first. Trials that break one in the mean are
    left out, unless all do: then the fresh seeds show it.
    """
    fit = ranked(trials, plan.objective, plan.constraints)
    # The best means are often at a limit: half of the places are for trials that keep away from it.
    safe = [trial for trial in fit if _is_safe(plan, trial)][: _RUNOFF // 2]
    best = [*safe, *(trial for trial in fit if trial not in safe)][:_RUNOFF]
    best.sort(key=fit.index)
    again = _simulate(plan, simulator, [trial.point for trial in best], plan.runoff_seeds)
    numbered = [replace(new, number=trial.number) for trial, new in zip(best, again, strict=True)]
    found = ranked(numbered, plan.objective, plan.constraints)
    found.sort(key=lambda trial: not _is_safe(plan, trial))
    return (found or best)[:_FINALISTS]


def _is_safe(plan: Plan, trial: Trial) -> bool:
    """Whether a trial keeps every constraint by the bound of its mean."""
    return all(
        constraint.excess(_bound(trial.evaluation, constraint)) <= 0 for constraint in plan.constraints
    )


def _bound(evaluation: Evaluation, constraint: Constraint) -> float:
    """Return the 95 % confidence bound of a limited mean towards the limit; of one run the value itself."""
    found = limited(evaluation, constraint)
    return found.mean if found.n < 2 else found.high if constraint.sign > 0 else found.low


def _as_it_is(plan: Plan) -> Point | None:
    """Return the scenario's own values as a point; None where one of them is not among those searched."""
    values: list[float | str] = []
    for parameter in plan.parameters:
        if isinstance(parameter, Range):
            number, unit = quantity(read(plan.scenario, parameter.place)) or (math.nan, "")
            if unit != parameter.unit or not parameter.low <= number <= parameter.high:
                return None
            values.append(int(number) if parameter.whole else number)
        else:
            # The scenario compares itself: `1 s` and `1000 ms` are one value.
            same = [v for v in parameter.values if plan.scenario.set_text(parameter.path, v) == plan.scenario]
            if not same:
                return None
            values.append(same[0])
    return tuple(values)


def _distribution(parameter: Parameter) -> BaseDistribution:
    if not isinstance(parameter, Range):
        return CategoricalDistribution(parameter.values)
    if parameter.whole:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _seed(plan: Plan) -> int:
    """Return the seed of the sampler, which takes 32 bits."""
    return int.from_bytes(hashlib.sha256(f"tune {plan.seeds[0]}".encode()).digest()[:4])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from logging that a study was made."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _check_grid(grid: Sequence[int], varied: Sequence[Parameter]) -> None:
    if not grid:
        return
    text = "x".join(str(count) for count in grid)
    if len(varied) > 2 or not all(isinstance(parameter, Range) for parameter in varied):
        raise UsageError(
            f"grid {text}: a grid is drawn over one or two ranges; vary no more, or leave it out"
        )
    if len(grid) not in (1, len(varied)):
        raise UsageError(f"grid {text}: give one number for each of the {len(varied)} ranges, or one for all")
    counts = [*grid] * (len(varied) if len(grid) == 1 else 1)
    if min(counts) < 2 or math.prod(counts) > _MOST_POINTS:
        raise UsageError(f"grid {text}: give at least 2 values of each range, {_MOST_POINTS} points at most")
    for parameter, count in zip(varied, counts, strict=True):
        if isinstance(parameter, Range) and parameter.whole and parameter.high - parameter.low < count - 1:
            raise UsageError(f"grid {text}: {parameter.path} has fewer than {count} whole numbers")


def _save(result: Tuning, folder: Path, command: str | None) -> None:
    with rewriting(folder, _OURS):
        write_table(folder / _TRIALS, result.summary, result.provenance)
        write_table(folder / _METRICS, result.runs, result.provenance)
        write_file(folder / _SCENARIO, result.scenario.to_toml())
        if result.winner is not None:
            write_file(folder / _BEST, result.scenario_of(result.winner).to_toml())
        else:
            # Of an earlier search into this folder.
            (folder / _BEST).unlink(missing_ok=True)
        document: dict[str, Any] = {"provenance": result.provenance, "command": command, **result.to_dict()}
        write_file(
            folder / _DOCUMENT, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        )
        write_file(folder / _REPORT, result.report(command=command))
