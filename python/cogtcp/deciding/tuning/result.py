"""What a search came to: its trials, and the best of them on seeds of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cogtcp._views import view
from cogtcp.deciding.tuning.charged import uncharged
from cogtcp.deciding.tuning.evaluate import scenario_of
from cogtcp.model import provenance
from cogtcp.model.metrics import offered
from cogtcp.model.result import plain
from cogtcp.model.statistics import Interval, mean_interval, paired_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from cogtcp.deciding.tuning.evaluate import Evaluation, Point
    from cogtcp.deciding.tuning.goal import Constraint, Kept, Objective
    from cogtcp.deciding.tuning.theory import Theory
    from cogtcp.model.metrics import Metric
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.space import Parameter
    from cogtcp.showing.plot import TuningPlots

#: How a finalist compares with the winner, over the fresh seeds.
Standing = Literal["winner", "better", "worse", "even"]

#: All differences of the finalists to the winner hold together with this confidence.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Trial:
    """A point that was simulated over the seeds of the search.

    Attributes:
        number: Its number in the search, from 1; in a grid, in the grid.
        point: The values, as the search reckons.
        values: The values as the scenario writes them, by path.
        evaluation: What came of it.
    """

    number: int
    point: Point
    values: dict[str, str]
    evaluation: Evaluation

    @property
    def error(self) -> str:
        """Why it has no result; empty where it has one."""
        return self.evaluation.error


@dataclass(frozen=True)
class Finalist:
    """A point that was simulated over the fresh seeds.

    Attributes:
        name: Why it is here: `chosen`, `trial 17`, `as it is`, `theory`, `best of the grid`.
        point: The values, as the search reckons; None for the scenario as it is.
        values: The values as the scenario writes them, by path.
        evaluation: What came of it, over the fresh seeds.
    """

    name: str
    point: Point | None
    values: dict[str, str]
    evaluation: Evaluation


@dataclass(frozen=True)
class Tuning:
    """What a search came to.

    Attributes:
        scenario: What was simulated, as it was.
        parameters: What was varied.
        objective: What was wanted.
        constraints: Limits that were to be kept.
        seeds: Seeds of the search.
        runoff_seeds: Seeds over which the winner was chosen among the best of the search.
        fresh_seeds: Seeds of the finalists, which had no part in either.
        batch: How many points were proposed at a time.
        planned: How many trials were asked for.
        trials: The trials that were finished, in order, failed ones included.
        finalists: The chosen trial first, then the runners-up and points to compare with; none where no trial
            keeps the constraints, or the search was interrupted.
        grid_shape: Number of values of each parameter in the grid; empty without one.
        grid: The points of the grid, the last parameter running fastest.
        theory: What theory says of a CR user's times, or why it says nothing.
        interrupted: Whether it was stopped before all was done.
    """

    scenario: Scenario
    parameters: tuple[Parameter, ...]
    objective: Objective
    constraints: tuple[Constraint, ...]
    seeds: tuple[int, ...]
    runoff_seeds: tuple[int, ...]
    fresh_seeds: tuple[int, ...]
    batch: int
    planned: int
    trials: tuple[Trial, ...] = field(repr=False)
    finalists: tuple[Finalist, ...] = field(repr=False)
    grid_shape: tuple[int, ...] = ()
    grid: tuple[Trial, ...] = field(default=(), repr=False)
    theory: Theory | str = ""
    interrupted: bool = False

    @property
    def best(self) -> Trial | None:
        """The best trial of the search that keeps the constraints, by its mean over the seeds of the search.

        That mean is too good: of many trials it is the one that luck favoured. `winner` has the number to
        quote.
        """
        return next(iter(ranked(self.trials, self.objective, self.constraints)), None)

    @property
    def winner(self) -> Finalist | None:
        """The first finalist that keeps the constraints with confidence over the fresh seeds, or None."""
        return next((final for final in self.finalists if self.keeps(final) == "kept"), None)

    @property
    def undecided(self) -> list[Finalist]:
        """Finalists of which the fresh seeds do not show whether they keep the constraints."""
        return [final for final in self.finalists if self.keeps(final) == "unclear"]

    @property
    def ties(self) -> list[Finalist]:
        """Finalists that keep the constraints and are not significantly worse than the winner."""
        rest = [final for final in self.finalists if final is not self.winner]
        return [f for f in rest if self.keeps(f) == "kept" and self.standing(f) in ("even", "better")]

    def keeps(self, of: Finalist) -> Kept:
        """Return whether a finalist keeps every constraint, breaks one, or neither is sure."""
        if of.evaluation.error:
            return "broken"
        return keeps(of.evaluation, self.constraints, len(self.finalists))

    def verdict(self, of: Finalist, constraint: Constraint) -> Kept:
        """Return whether a finalist keeps one constraint, by the interval of `limit`."""
        return constraint.judge(self.limit(of, constraint))

    def limit(self, of: Finalist, constraint: Constraint) -> Interval:
        """Return the interval that decides on a constraint: all of a search hold together with 95 %."""
        return limited(of.evaluation, constraint, len(self.finalists) * len(self.constraints))

    @property
    def failures(self) -> list[Trial]:
        """The trials and points of the grid whose runs failed; not those that the scenario refuses."""
        return [t for t in (*self.trials, *self.grid) if t.error and t.evaluation.invalid is None]

    @property
    def breaks(self) -> list[Constraint]:
        """All constraints if no finalist keeps them with confidence; none if there is a winner."""
        winner = self.winner
        if winner is None:
            return list(self.constraints)
        return []

    def interval(self, of: Trial | Finalist, metric: Metric | None = None) -> Interval:
        """Return the mean of a metric, by default the objective's, with its 95 % t-interval."""
        return of.evaluation.interval(metric or self.objective.metric)

    def difference(self, of: Finalist, to: Finalist | None = None) -> Interval:
        """Return the mean difference of the objective to the winner, seed by seed.

        The intervals of all finalists hold together with 95 % confidence (Bonferroni).
        """
        metric = self.objective.metric
        base = to or self.winner or self.finalists[0]
        ours, theirs = of.evaluation.values(metric), base.evaluation.values(metric)
        if not ours or not theirs:
            return Interval(math.nan, math.nan, math.nan, 0)
        return paired_difference(ours, theirs, self.confidence)

    @property
    def confidence(self) -> float:
        """Confidence of one comparison with the winner, so that all hold together (Bonferroni)."""
        return 1 - (1 - _CONFIDENCE) / max(1, len(self.finalists) - 1)

    def standing(self, of: Finalist) -> Standing:
        """Return how a finalist compares with the winner; `even` if the difference is not significant."""
        if of is self.winner:
            return "winner"
        difference = self.difference(of)
        if not difference.excludes(0):
            return "even"
        return "better" if self.objective.better(difference.mean, 0) else "worse"

    def scenario_of(self, of: Trial | Finalist) -> Scenario:
        """Return the scenario with the values of a trial or finalist."""
        return self.scenario if of.point is None else scenario_of(self.scenario, self.parameters, of.point)

    @property
    def runs(self) -> pa.Table:
        """One row per run: its part in the search, the trial's values, the seed and every metric."""
        import pyarrow as pa

        from cogtcp._arrays import array_of

        parts: list[tuple[str, str, dict[str, str], Evaluation]] = [
            *(("search", str(trial.number), trial.values, trial.evaluation) for trial in self.trials),
            *(("grid", str(trial.number), trial.values, trial.evaluation) for trial in self.grid),
            *(("final", final.name, final.values, final.evaluation) for final in self.finalists),
        ]
        rows: dict[str, list[Any]] = {"part": [], "trial": [], "seed": []}
        for path in (parameter.path for parameter in self.parameters):
            rows[path] = []
        metrics: dict[str, list[float | None]] = {metric.name: [] for metric in offered(self.scenario)}
        for part, name, values, evaluation in parts:
            for seed, record in zip(evaluation.seeds, evaluation.records, strict=False):
                rows["part"].append(part)
                rows["trial"].append(name)
                rows["seed"].append(seed)
                for parameter in self.parameters:
                    rows[parameter.path].append(values[parameter.path])
                for metric, column in metrics.items():
                    column.append(record.get(metric))
        types = {"seed": pa.int64()}
        columns = {name: array_of(column, types.get(name, pa.string())) for name, column in rows.items()}
        columns |= {name: array_of(column, pa.float64()) for name, column in metrics.items()}
        return pa.table(columns)

    @property
    def summary(self) -> pa.Table:
        """One row per trial and grid point: values, mean and 95 % interval of the objective, error."""
        import pyarrow as pa

        from cogtcp._arrays import array_of

        rows = [("search", trial) for trial in self.trials] + [("grid", trial) for trial in self.grid]
        intervals = [self.interval(trial) for _, trial in rows]
        columns: dict[str, Any] = {
            "part": array_of([part for part, _ in rows], pa.string()),
            "trial": array_of([trial.number for _, trial in rows], pa.int64()),
        }
        for index, parameter in enumerate(self.parameters):
            columns[parameter.path] = array_of([t.values[parameter.path] for _, t in rows], pa.string())
            numbers = [t.point[index] if isinstance(t.point[index], float) else None for _, t in rows]
            if any(number is not None for number in numbers):
                columns[f"{parameter.path}, number"] = array_of(numbers, pa.float64())
        for key in ("mean", "low", "high"):
            columns[key] = array_of([getattr(interval, key) for interval in intervals], pa.float64())
        columns["error"] = array_of([trial.error or None for _, trial in rows], pa.string())
        return pa.table(columns)

    @property
    def uncharged(self) -> list[str]:
        """A sentence for each varied field whose cost neither the objective nor a constraint counts."""
        return uncharged(self.scenario, self.parameters, self.objective, self.constraints)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single runs as plain data; None stands for "no value"."""
        found: dict[str, Any] = plain(
            {
                "scenario": self.scenario.name,
                "vary": {parameter.path: parameter.describe() for parameter in self.parameters},
                "objective": {
                    "metric": self.objective.metric.name,
                    "wanted": "more" if self.objective.sign > 0 else "less",
                },
                "constraints": [constraint.describe() for constraint in self.constraints],
                "uncharged": self.uncharged,
                "seeds": list(self.seeds),
                "runoff_seeds": list(self.runoff_seeds),
                "fresh_seeds": list(self.fresh_seeds),
                "batch": self.batch,
                "planned": self.planned,
                "interrupted": self.interrupted,
                "winner": self._final(self.finalists[0]) if self.finalists else None,
                "finalists": [self._final(final) for final in self.finalists],
                "theory": self._theory(),
                "trials": [self._trial(trial) for trial in self.trials],
                "grid": {
                    "shape": list(self.grid_shape),
                    "points": [self._trial(trial) for trial in self.grid],
                },
            }
        )
        return found

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from, as the Parquet files carry it."""
        return {
            **provenance.describe(self.scenario, (*self.seeds, *self.runoff_seeds, *self.fresh_seeds)),
            "vary": "; ".join(f"{parameter.path} {parameter.describe()}" for parameter in self.parameters),
            "objective": ("max:" if self.objective.sign > 0 else "min:") + self.objective.metric.name,
            "constraints": "; ".join(constraint.describe() for constraint in self.constraints),
            "interrupted": str(self.interrupted).lower(),
        }

    @property
    def plot(self) -> TuningPlots:
        """Figures for paper, by matplotlib: `tuning.plot.heatmap()`."""
        plots: TuningPlots = view("tuning_plots")(self)
        return plots

    def _repr_html_(self) -> str:
        html: str = view("tuning_in_notebook")(self)
        return html

    def report(self, *, command: str | None = None) -> str:
        """Return the report: one HTML page that needs nothing else."""
        page: str = view("tuning_report")(self, command=command)
        return page

    def _trial(self, trial: Trial) -> dict[str, Any]:
        return {
            "trial": trial.number,
            "values": trial.values,
            **_numbers(self.interval(trial)),
            "error": trial.error or None,
        }

    def _final(self, final: Finalist) -> dict[str, Any]:
        return {
            "name": final.name,
            "values": final.values,
            **_numbers(self.interval(final)),
            "standing": self.standing(final),
            "difference": _numbers(self.difference(final)),
            "constraints": [
                {
                    "constraint": constraint.describe(),
                    **_numbers(self.limit(final, constraint)),
                    "verdict": self.verdict(final, constraint),
                }
                for constraint in self.constraints
            ],
            "error": final.evaluation.error or None,
        }

    def _theory(self) -> dict[str, Any]:
        if isinstance(self.theory, str):
            return {"why_not": self.theory}
        t_s, t_p = self.theory.best
        return {
            "sensing_time_s": t_s,
            "transmission_time_s": t_p,
            "usable_airtime": self.theory.share,
            "at_edge": self.theory.at_edge,
            "shortest_sensing_time_s": self.theory.shortest,
        }


def limited(evaluation: Evaluation, constraint: Constraint, tests: int = 1) -> Interval:
    """Return the mean of a limited metric; each end is wrong with a chance of 5 % over `tests`."""
    return mean_interval(evaluation.values(constraint.metric), 1 - 2 * (1 - _CONFIDENCE) / max(1, tests))


def keeps(evaluation: Evaluation, constraints: Sequence[Constraint], points: int = 1) -> Kept:
    """Return whether a point keeps every constraint with confidence, breaks one, or neither.

    Args:
        evaluation: Runs of the point.
        constraints: The constraints.
        points: Number of points of which all verdicts are to hold together.
    """
    tests = points * len(constraints)
    verdicts = {constraint.judge(limited(evaluation, constraint, tests)) for constraint in constraints}
    return "broken" if "broken" in verdicts else "unclear" if "unclear" in verdicts else "kept"


def ranked(trials: Sequence[Trial], objective: Objective, constraints: Sequence[Constraint]) -> list[Trial]:
    """Return the trials that keep the constraints in the mean, the best first, each point once."""
    fit = [
        trial
        for trial in trials
        if not trial.error
        and all(c.excess(trial.evaluation.interval(c.metric).mean) <= 0 for c in constraints)
    ]
    fit.sort(key=lambda trial: -objective.sign * trial.evaluation.interval(objective.metric).mean)
    # Two proposals may be one point once they are rounded: the better rank of the two stays.
    once = {tuple(trial.values.items()): trial for trial in reversed(fit)}
    return [trial for trial in fit if once[tuple(trial.values.items())] is trial]


def _numbers(interval: Interval) -> dict[str, float | int]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
