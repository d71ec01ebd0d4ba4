"""What every environment asks of the run behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np


def scenario_of(given: Scenario | str) -> Scenario:
    """Return a scenario from one, its file, or the name of a shipped one."""
    if isinstance(given, Scenario):
        return given
    return Scenario.from_file(given) if given.endswith(".toml") else Scenario.shipped(given)


def flow_of(scenario: Scenario, flow: int) -> int:
    """Return the number of a flow, which the scenario must have."""
    # `count` makes several flows of one entry.
    if not 0 <= flow < sum(int(each.get("count", 1)) for each in scenario.to_dict()["flow"]):
        raise UsageError(f"unknown flow {flow}; flows are numbered from 0")
    return flow


def draw_run_seed(generator: np.random.Generator, options: dict[str, Any] | None) -> int:
    """Return the seed of the next run: `options["run_seed"]`, or one drawn. It draws either way."""
    # A draw that is not used, too: the seeds of later episodes are the same whether this one was named or
    # not.
    drawn = int(generator.integers(2**31))
    return int((options or {}).get("run_seed", drawn))
