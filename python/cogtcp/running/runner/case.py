"""A run to be made, and its outcome."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from cogtcp._errors import RunError, ScenarioError
from cogtcp.model.result import Trace, run
from cogtcp.running.runner import identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp import _core
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner.plane import Plane

#: Returns plain data (what JSON can hold) from a run's result.
Measure: TypeAlias = "Callable[[Result], dict[str, Any]]"

# Scenarios whose identity is remembered: a sweep has one, a study some.
_SCENARIOS = 256


@dataclass(frozen=True, slots=True)
class Case:
    """One run to be made.

    Attributes:
        scenario: What to simulate, before the changes.
        seed: The seed.
        measure: A function of a module that returns plain data from the run's result: only that is kept. Its
            code is part of the key. What it needs besides is bound to it by `functools.partial`.
        trace: How much of the run `measure` needs.
        transport: The transport of all flows that are not `fixed`; None: those of the scenario.
        changes: Fields by path and their values as in `Scenario.set_text`, applied where the run is made: a
            million cases share one scenario.
        look: Called with the result where the run is made, on a thread of its own. Such a case is made even
            if its record is known. No part of the key.
        label: Plain data that is kept beside the record, also of a run that fails. No part of the key.
        plane: Where the run is made; None: in the simulator.
    """

    scenario: Scenario
    seed: int
    measure: Measure
    trace: Trace = "summary"
    transport: str | None = None
    changes: tuple[tuple[str, str], ...] = ()
    look: Callable[[Result], None] | None = field(default=None, compare=False)
    label: tuple[object, ...] = field(default=(), compare=False)
    plane: Plane | None = None

    def key(self) -> str:
        """Return what identifies the case's record: a hash of all that decides it, see `identity`."""
        return Keys().of(self)

    def prepared(self) -> Scenario:
        """Return the scenario with the changes. Raises `ScenarioError`."""
        scenario = self.scenario
        for path, text in self.changes:
            scenario = scenario.set_text(path, text)
        return scenario if self.transport is None else scenario.with_transport(self.transport)

    def describe(self) -> str:
        """Return the case as people read it."""
        parts = [
            self.scenario.name,
            self.transport or "",
            *(f"{path} = {text}" for path, text in self.changes),
        ]
        return ", ".join([*filter(None, parts), f"seed {self.seed}"])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        key: The case's key.
        text: The record as JSON; empty where the run failed.
        error: Why it failed; empty where it did not.
        limit_s: The time limit that it broke; 0 if that was not the reason.
        seconds: Time that making it took; 0 where it was known.
        known: Whether it was recalled and not made.
        label: What the case said about itself.
    """

    key: str
    text: str = ""
    error: str = ""
    limit_s: float = 0.0
    seconds: float = 0.0
    known: bool = False
    label: tuple[object, ...] = ()

    @property
    def record(self) -> dict[str, Any]:
        """What `measure` returned. Raises `RunError` where the run failed."""
        if self.error:
            raise RunError(self.error)
        # Through JSON, so that a measurement reads the same when it is new and when it is recalled.
        record: dict[str, Any] = json.loads(self.text)
        return record


class Keys:
    """Works out keys, and remembers what cases share. Files and code are looked at once."""

    def __init__(self) -> None:
        self._scenarios: OrderedDict[int, tuple[Scenario, str]] = OrderedDict()
        self._functions: dict[Measure, str] = {}
        self._changes: dict[tuple[int, str, str], str] = {}

    def of(self, case: Case) -> str:
        """Return the key of a case, 128 bits in hexadecimal."""
        parts = [
            self._scenario(case.scenario),
            str(case.seed),
            case.trace,
            self._function(case.measure),
            identity.engine(),
        ]
        if case.transport is not None:
            parts += ["transport", identity.of_transport(case.scenario, case.transport)]
        for path, text in case.changes:
            parts += [path, text, self._change(case.scenario, path, text)]
        if case.plane is not None:
            parts += ["plane", *case.plane.identity]
        return identity.digest(*parts)

    def _scenario(self, scenario: Scenario) -> str:
        known = self._scenarios.get(id(scenario))
        # An `id` is given out again once its object is gone; the scenario is kept beside it for that.
        if known is not None and known[0] is scenario:
            return known[1]
        found = identity.of_scenario(scenario)
        self._scenarios[id(scenario)] = (scenario, found)
        if len(self._scenarios) > _SCENARIOS:
            self._scenarios.popitem(last=False)
        return found

    def _function(self, function: Measure) -> str:
        if function not in self._functions:
            self._functions[function] = identity.of_function(function)
        return self._functions[function]

    def _change(self, scenario: Scenario, path: str, text: str) -> str:
        """Return what identifies files and code that a value names; nothing for numbers and quantities."""
        # Most values by far, and none of them names a file: a sweep of a million runs looks at none.
        if text[:1].isdigit() or text in ("true", "false"):
            return ""
        place = (id(scenario), path, text)
        if place not in self._changes:
            try:
                self._changes[place] = identity.of_scenario(scenario.set_text(path, text))
            except ScenarioError:
                self._changes[place] = ""  # no value of its own; the run will say so
        return self._changes[place]


def make(key: str, case: Case, cancel: _core.Cancel) -> Outcome:
    """Make one run. A scenario that cannot be simulated and a simulation that fails are outcomes.

    Raises:
        Exception: Whatever `measure` raises that is no error of cogtcp: it is a defect of `measure`.
    """
    started = time.perf_counter()
    try:
        scenario = case.prepared()
        result = (
            run(scenario, case.seed, case.trace, cancel=cancel)
            if case.plane is None
            else case.plane.run(scenario, case.seed, cancel)
        )
        text = json.dumps(case.measure(result))
    except (RunError, ScenarioError) as error:
        return Outcome(key, error=str(error), seconds=time.perf_counter() - started, label=case.label)
    if case.look is not None:
        case.look(result)
    return Outcome(key, text, seconds=time.perf_counter() - started, label=case.label)
