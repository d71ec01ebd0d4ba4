"""The best two on the kernel plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._errors import CogtcpError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.deciding.advising.advice import Advice, Candidate
    from cogtcp.model.metrics import Metric

#: Runs of one candidate and seed before a run that fell behind is left out.
_TRIES = 2


@dataclass(frozen=True)
class Confirmation:
    """What the kernel's TCP says of the best two.

    Attributes:
        names: The two, the winner first.
        values: The objective of each, by seed; only runs that kept their times.
        simulated: The objective of each in the simulator, over these seeds.
        refused: Why one of them could not be emulated, by name.
        metric: The objective.
    """

    names: tuple[str, ...]
    values: dict[str, dict[int, float]]
    simulated: dict[str, float]
    refused: dict[str, str]
    metric: Metric

    @property
    def common(self) -> list[int]:
        """Seeds with a run of every one."""
        rows = [set(self.values.get(name, {})) for name in self.names]
        return sorted(set.intersection(*rows)) if rows else []

    def mean(self, name: str) -> float:
        """Return the mean over the common seeds; NaN without any."""
        seeds = self.common
        return math.fsum(self.values[name][seed] for seed in seeds) / len(seeds) if seeds else math.nan

    def confirms(self, sign: int) -> bool | None:
        """Return whether the winner is ahead on the kernel too; None if the runs cannot say."""
        if len(self.names) < 2 or not self.common:
            return None
        first, second = (self.mean(name) for name in self.names)
        return sign * (first - second) >= 0

    @property
    def text(self) -> str:
        """The confirmation in a sentence."""
        if self.refused:
            return (
                "The kernel plane cannot run "
                + "; ".join(f"{n}: {why}" for n, why in self.refused.items())
                + "."
            )
        if not self.common:
            return "No kernel run kept real time: the machine was too busy."
        said = ", ".join(f"{name} {self.metric.text(self.mean(name), unit=True)}" for name in self.names)
        runs = len(self.common)
        return f"On the kernel's TCP ({runs} run{'s' if runs > 1 else ''} each): {said}."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "candidates": list(self.names),
            "values": {
                name: {str(seed): v for seed, v in rows.items()} for name, rows in self.values.items()
            },
            "simulated": self.simulated,
            "refused": self.refused,
        }


def confirm(advice: Advice, seeds: int = 2, say: Callable[[str], None] = lambda text: None) -> Confirmation:
    """Run the best two on the kernel plane: in virtual time where that is built, else in real time.

    Raises:
        NoKernelPlaneError: This machine has no kernel plane.
    """
    from cogtcp._errors import NoKernelPlaneError
    from cogtcp.kernel.emulation import emulate, preferred_clock

    virtual = preferred_clock()
    clock = f"virtual time ({virtual})" if virtual else "real time"
    best = advice.ranked()[:2]
    values: dict[str, dict[int, float]] = {}
    refused: dict[str, str] = {}

    def once(candidate: Candidate, seed: int) -> float:
        for _ in range(_TRIES):
            result = emulate(advice.scenario_of(candidate), seed, quiet=True, virtual=virtual)
            if result.is_evidence:
                return float(advice.wanted.measure(result)[advice.metric.name])
            say(f"{candidate.name}, seed {seed}: no evidence ({result.doubt})")
        return math.nan

    for number in range(seeds):
        for candidate in best:
            if candidate.name in refused:
                continue
            say(f"emulating {candidate.name}, seed {advice.seed + number}, {_lasts(advice)} of {clock}")
            try:
                value = once(candidate, advice.seed + number)
            except NoKernelPlaneError:
                # No plane at all concerns every candidate; other errors this one alone.
                raise
            except CogtcpError as error:
                refused[candidate.name] = str(error).splitlines()[0]
                continue
            if not math.isnan(value):
                values.setdefault(candidate.name, {})[advice.seed + number] = value
    simulated = {candidate.name: advice.interval(candidate).mean for candidate in best}
    return Confirmation(
        tuple(candidate.name for candidate in best), values, simulated, refused, advice.metric
    )


def _lasts(advice: Advice) -> str:
    return str(advice.scenario.to_dict()["run"]["duration"])
