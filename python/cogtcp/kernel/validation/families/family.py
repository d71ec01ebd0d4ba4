"""What a family of cases says of itself, and which peers are here."""

from __future__ import annotations

import subprocess
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: What of ns-2 runs the drawn cases: scripts of this project.
NS2_SCRIPTS = Path(str(resources.files("cogtcp.kernel.validation"))) / "ns2"
_PATIENCE_S = 600


class NoEvidenceError(Exception):
    """A run of a peer that says nothing, with the reason."""


class Family:
    """A family of cases that one peer can judge."""

    name: ClassVar[str]
    peer: ClassVar[str]
    #: What is compared, by the name of the metric with its unit, and by which share it may differ.
    bands: ClassVar[Mapping[str, float]]
    #: Whether runs of the peer go on side by side.
    is_parallel: ClassVar[bool] = True
    #: Whether runs differ by their seeds; else one run is made.
    is_random: ClassVar[bool] = True

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Return what the seed draws for a case, in SI units."""
        raise NotImplementedError

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return the case in words."""
        raise NotImplementedError

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the peer and return the metrics."""
        raise NotImplementedError

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        raise NotImplementedError


def ns2(script: str, *words: object) -> list[list[str]]:
    """Run one of our scripts in ns-2 and return the words of each line that it prints."""
    command = ["ns", str(NS2_SCRIPTS / script), *map(str, words)]
    try:
        done = subprocess.run(  # noqa: S603 - our own script
            command, capture_output=True, check=True, text=True, timeout=_PATIENCE_S
        )
    except subprocess.CalledProcessError as error:
        raise NoEvidenceError(
            f"ns-2 ended with code {error.returncode}: {error.stderr.strip()[-200:]}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise NoEvidenceError(f"ns-2 took longer than {_PATIENCE_S} s") from error
    return [line.split() for line in done.stdout.splitlines()]


def logarithmic(stream: random.Random, low: float, high: float) -> float:
    """Draw so that each factor is as likely."""
    return float(low * (high / low) ** stream.random())


def three_digits(value: float) -> float:
    """Round to what a table shows: what is told is what is run."""
    return float(f"{value:.3g}")
