"""What the test of a claim works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.running.runner import Case, Runner
    from cogtcp.studies.folder import Study

_PLACES = {
    "base": "the default values",
    "best": "the best parameter values",
    "nearest": "the setting nearest to the printed numbers",
    "joint": "the joint setting",
}


def place_of(at: str) -> str:
    """Return a setting in words: "the default values"; one that is given by its values is named by these."""
    return _PLACES.get(at, at)


def label_of(at: str) -> str:
    """Return a setting as a column or a line names it: "default values"."""
    return place_of(at).removeprefix("the ")


@dataclass(frozen=True)
class Context:
    """What the test of a claim works with.

    Attributes:
        study: The study, for its folder and the paper's figures.
        seeds: The seeds; the values handed to a test of `verdicts` are one per seed, in this order.
        quick: Whether to be done in seconds, by shorter runs. Verdicts then say less.
        at: Where claims are measured, as `cogtcp.studies.reproduce` takes it.
    """

    study: Study
    seeds: tuple[int, ...]
    quick: bool
    _runner: Runner = field(repr=False)
    at: str = "base"

    @property
    def place(self) -> str:
        """Where claims are measured, in words: "the default values"."""
        return place_of(self.at)

    def scenario(self, name: str) -> Scenario:
        """Return `scenarios/<name>.toml` of the study."""
        # A study is code already: its scenarios may name classes of its own.
        path = self.study.folder / "scenarios" / f"{name}.toml"
        return Scenario.from_file(path, allow_python=True)

    def run(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Make the runs, in parallel, and return their measurements in order."""
        return self._runner.run(cases)
