"""What a point comes to: its scenario, simulated over some seeds."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cogtcp._errors import ScenarioError
from cogtcp.model.metrics import measure
from cogtcp.model.statistics import Interval, mean_interval
from cogtcp.running.runner import Case
from cogtcp.running.space import Range, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cogtcp.model.metrics import Metric
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner import Measure, Outcome, Runner
    from cogtcp.running.space import Parameter

#: One value for each parameter, in their order: a number in the unit of its range, or one of its choices.
Point: TypeAlias = "tuple[float | str, ...]"
#: Changes of a scenario by seed, as paths and texts: inputs that are uncertain.
Draw: TypeAlias = "Callable[[int], tuple[tuple[str, str], ...]]"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a point came to.

    Attributes:
        seeds: The seeds it was simulated with.
        records: Every metric of the run of each seed; none where it failed.
        error: Why it failed; empty where it did not.
        invalid: The error of the scenario, if it was the reason.
    """

    seeds: tuple[int, ...]
    records: tuple[dict[str, float], ...] = field(default=(), repr=False)
    error: str = ""
    invalid: ScenarioError | None = None

    def values(self, metric: Metric) -> list[float]:
        """Return a metric of each run, by seed; NaN where the run has no such value."""
        return [record.get(metric.name, math.nan) for record in self.records]

    def interval(self, metric: Metric) -> Interval:
        """Return the mean of a metric over the seeds with its 95 % t-interval."""
        return mean_interval(self.values(metric))

    def missing(self, metric: Metric) -> str:
        """Return which runs have no value of a metric, as an error; empty where all have one.

        A mean over the others would be the better the more runs fail to have one: a transfer that does not
        end has no completion time.
        """
        without = [
            seed for seed, value in zip(self.seeds, self.values(metric), strict=True) if math.isnan(value)
        ]
        if not without:
            return ""
        which = "any seed" if len(without) == len(self.seeds) else f"seed {without[0]}"
        return f"{metric.name} has no value with {which}"


def nothing_drawn(seed: int) -> tuple[tuple[str, str], ...]:
    """Return no changes: all inputs are certain."""
    return ()


class Simulator:
    """Simulates points, and remembers what it has simulated.

    Args:
        scenario: What points change.
        parameters: What is varied.
        runner: Makes the runs.
        measure: What is kept of a run: numbers, among them every metric that is asked for.
        draw: Further changes by seed, for inputs that are uncertain.
    """

    def __init__(
        self,
        scenario: Scenario,
        parameters: Sequence[Parameter],
        runner: Runner,
        measure: Measure = measure,
        draw: Draw = nothing_drawn,
    ) -> None:
        self._measure = measure
        self._draw = draw
        self._scenario = scenario
        self._parameters = parameters
        self._runner = runner
        self._known: dict[tuple[str, int], Outcome] = {}

    def evaluate(
        self, scenarios: Sequence[Scenario | ScenarioError], seeds: Sequence[int]
    ) -> list[Evaluation]:
        """Simulate scenarios over the same seeds, in parallel."""
        # By what the scenario says, not by point: two points may be rounded to one scenario.
        missing: dict[tuple[str, int], Case] = {}
        hashes: list[str] = []
        for scenario in scenarios:
            hashes.append("" if isinstance(scenario, ScenarioError) else scenario.hash)
            if not isinstance(scenario, ScenarioError):
                for seed in seeds:
                    if (key := (hashes[-1], seed)) not in self._known:
                        missing[key] = Case(scenario, seed, self._measure, changes=self._draw(seed))
        self._known.update(zip(missing, self._runner.outcomes(list(missing.values())), strict=True))
        return [
            Evaluation(tuple(seeds), error=str(scenario), invalid=scenario)
            if isinstance(scenario, ScenarioError)
            else self._evaluation(digest, seeds)
            for scenario, digest in zip(scenarios, hashes, strict=True)
        ]

    def scenario(self, point: Point) -> Scenario | ScenarioError:
        """Return the scenario of a point, or why it cannot be simulated."""
        try:
            return scenario_of(self._scenario, self._parameters, point)
        except ScenarioError as error:
            return error

    def _evaluation(self, digest: str, seeds: Sequence[int]) -> Evaluation:
        records: list[dict[str, float]] = []
        for seed in seeds:
            outcome = self._known[digest, seed]
            # One failed seed fails the point: a mean over the others would favour points that fail where it
            # is hard.
            if outcome.error:
                return Evaluation(tuple(seeds), error=outcome.error)
            records.append({name: float(value) for name, value in outcome.record.items()})
        return Evaluation(tuple(seeds), tuple(records))


def scenario_of(base: Scenario, parameters: Sequence[Parameter], point: Point) -> Scenario:
    """Return the scenario with the values of a point. Raises `ScenarioError` if it cannot be simulated."""
    scenario = base
    for parameter, value in zip(parameters, point, strict=True):
        text = parameter.text(float(value)) if isinstance(parameter, Range) else str(value)
        scenario = scenario.set_text(parameter.path, text)
    # After all values: some are wrong only together with others.
    scenario.check()
    return scenario


def shown(scenario: Scenario, parameters: Sequence[Parameter]) -> dict[str, str]:
    """Return the parameters' values as a scenario writes them."""
    values = {parameter.path: read(scenario, parameter.place) for parameter in parameters}
    return {
        path: value if isinstance(value, str) else "unset" if value is None else json.dumps(value)
        for path, value in values.items()
    }
