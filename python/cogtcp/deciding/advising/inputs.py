"""Inputs that are known as ranges: what each seed draws of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from cogtcp import _files
from cogtcp._errors import ScenarioError, UsageError
from cogtcp.model.scenario import RANGES_SUFFIX
from cogtcp.running.space import Range, parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cogtcp.model.scenario import Scenario
    from cogtcp.running.space import Parameter


def beside(path: str | Path) -> dict[str, str]:
    """Return the ranges of the file beside a scenario, `NAME.ranges.toml`; none without that file.

    Raises:
        UsageError: The file is not a table of texts.
    """
    from pathlib import Path

    file = Path(path)
    file = file.with_name(file.stem + RANGES_SUFFIX)
    return read(file) if file.is_file() else {}


def read(file: str | Path) -> dict[str, str]:
    """Read a file of ranges: `"topology.single_hop.link.delay" = "19 ms..21 ms"`, one a line."""
    try:
        found = _files.parse_toml(_files.read_text(file, "a file of ranges"))
    except ValueError as error:
        raise UsageError(f'{file}: {error}; write PATH = "LOW..HIGH", one a line') from None
    for path, text in found.items():
        if not isinstance(text, str):
            raise UsageError(f'{file}: {path}: write the range as a text, as in "{path}" = "19 ms..21 ms"')
    return found


class Inputs:
    """Uncertain inputs of a scenario: uniform over their ranges, or over the logarithm of a log range."""

    def __init__(self, scenario: Scenario, ranges: Mapping[str, str]) -> None:
        self.parameters: tuple[Parameter, ...] = parameters(scenario, ranges) if ranges else ()

    def draw(self, seed: int) -> tuple[tuple[str, str], ...]:
        """Return what a seed draws. A further input leaves the draws of the others as they are."""
        found = []
        for parameter in self.parameters:
            share = random.Random(f"{parameter.path} {seed}")  # noqa: S311 (no secret)
            if isinstance(parameter, Range):
                found.append((parameter.path, parameter.text(parameter.at(share.random()))))
            else:
                found.append((parameter.path, share.choice(parameter.values)))
        return tuple(found)

    def check(self, scenario: Scenario, seed: int = 0) -> None:
        """Raise unless the scenario takes what is drawn."""
        for path, text in self.draw(seed):
            try:
                scenario = scenario.set_text(path, text)
            except ScenarioError as error:
                raise UsageError(f"{path}: the scenario does not take {text}: {error}") from None
