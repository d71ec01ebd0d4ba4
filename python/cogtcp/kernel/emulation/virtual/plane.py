"""Linux in virtual time as a plane of the runner: sweeps, comparisons, and runs of your own."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._errors import NoKernelPlaneError, RunError
from cogtcp.kernel.emulation import job, launch, worker
from cogtcp.kernel.emulation.virtual import guest
from cogtcp.kernel.emulation.virtual import launch as virtual_launch
from cogtcp.kernel.emulation.virtual.kernels import find

if TYPE_CHECKING:
    from cogtcp import _core
    from cogtcp.kernel.emulation.result import Emulation
    from cogtcp.model.scenario import Scenario


@dataclass(frozen=True)
class VirtualPlane:
    """Runs on a Linux in virtual time.

    Attributes:
        kernel: Name of the kernel.
        identity: Hashes of the kernel and of the code that runs in the guest.
    """

    kernel: str
    identity: tuple[str, ...]

    @property
    def name(self) -> str:
        """The plane as `--plane` has it."""
        return f"virtual:{self.kernel}"

    def check(self, scenario: Scenario) -> None:
        """Raise `ScenarioError` if Linux in virtual time cannot run the scenario."""
        launch.check(scenario)
        launch.check_virtual(scenario)

    def run(self, scenario: Scenario, seed: int, cancel: _core.Cancel) -> Emulation:
        """Make one run in a guest.

        Raises:
            ScenarioError: The scenario cannot be emulated.
            RunError: The run failed, was cancelled, is no evidence, or this machine has another kernel.
        """
        if _identity(self.kernel) != self.identity:
            raise RunError(f"the kernel {self.kernel} has changed, or is another on this machine")
        try:
            result = launch.emulate(
                scenario, seed, virtual=self.kernel, quiet=True, ended=lambda: cancel.cancelled
            )
        except NoKernelPlaneError as error:
            raise RunError(str(error)) from error
        if result.doubt:
            raise RunError(f"no evidence: {result.doubt}")
        return result


def virtual_plane(name: str | None = None) -> VirtualPlane:
    """Return the plane of a kernel by its name; None: the kernel in use.

    Raises:
        NoKernelPlaneError: None is built.
        UsageError: None has this name.
    """
    chosen = find(name).name
    return VirtualPlane(chosen, _identity(chosen))


def _identity(kernel: str) -> tuple[str, ...]:
    return (json.dumps(find(kernel).identity), platform.python_version(), code_hash())


@cache
def code_hash() -> str:
    """Return a hash of the modules that start a guest or run in it; the engine is part of every key."""
    content = hashlib.sha256()
    for module in (guest, job, launch, virtual_launch, worker):
        content.update(Path(str(module.__file__)).read_bytes())
    return content.hexdigest()[:16]
