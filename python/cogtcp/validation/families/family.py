"""What a family of cases says of itself, and which peers are here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp._errors import RunError

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: What of ns-2 runs the drawn cases: scripts of this project.
NS2_SCRIPTS = Path(str(resources.files("cogtcp.validation"))) / "ns2"
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


def why_absent(peer: str) -> str | None:
    """Return why a peer cannot be run here; None: it can."""
    if peer == "ns-2" and not _is_ns2():
        return "there is no program `ns` of ns-2 on the PATH (on Debian: apt install ns2)"
    if peer == "ns-3":
        from cogtcp.validation.families.ns3 import why_no_ns3

        return why_no_ns3()
    if peer == "Linux":
        return _why_no_kernel()
    return None


def _is_ns2() -> bool:
    program = shutil.which("ns")
    if not program:
        return False
    # Other programs have this name. No shell; the program is that of the PATH.
    done = subprocess.run(  # noqa: S603
        [program, "-"],
        input="puts [ns-version]; exit 0\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout.startswith("2.")


def _why_no_kernel() -> str | None:
    if not sys.platform.startswith("linux"):
        return "the kernel plane needs Linux"
    from cogtcp.emulation import emulate
    from cogtcp.scenario import Scenario
    from cogtcp.validation.families.kernel import PROBE

    try:
        emulate(Scenario.from_toml(PROBE), seed=1)
    except RunError as error:
        return str(error)
    return None


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
