"""Where runs are made in place of the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp._views import view

if TYPE_CHECKING:
    from cogtcp import _core
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario


class Plane(Protocol):
    """Makes a run of a scenario. It is hashable and can be pickled: runs may be made in other processes."""

    @property
    def name(self) -> str:
        """The plane as `--plane` has it."""
        ...

    @property
    def identity(self) -> tuple[str, ...]:
        """Everything besides scenario and seed that decides a run: part of its key."""
        ...

    def check(self, scenario: Scenario) -> None:
        """Raise `ScenarioError` if the plane cannot run the scenario."""
        ...

    def run(self, scenario: Scenario, seed: int, cancel: _core.Cancel) -> Result:
        """Make one run.

        Raises:
            RunError: It failed, or was cancelled.
        """
        ...


def plane_of(text: str) -> Plane | None:
    """Return the plane that `--plane` names; None: the simulator.

    Args:
        text: `sim`, `virtual`, or `virtual:NAME` with the name of a built kernel.

    Raises:
        UsageError: There is no such plane, or its runs take real time.
        NoKernelPlaneError: No kernel for virtual time is built.
    """
    where, _, name = text.strip().partition(":")
    pick(where, ("sim", "kernel", "virtual"), "plane called")
    if where == "kernel":
        raise UsageError(
            "runs on the plane kernel take real time, one after the other; use --plane virtual (Linux in "
            "virtual time), or cogtcp emulate for a single run"
        )
    if where == "sim":
        if name:
            raise UsageError(f"plane {text}: only virtual has names (cogtcp kernel list)")
        return None
    made: Plane = view("virtual_plane")(name or None)
    return made


def described(plane: Plane | None) -> dict[str, str]:
    """Return a plane as the provenance of results has it: nothing of the simulator, None."""
    return {} if plane is None else {"plane": plane.name, "plane_identity": " ".join(plane.identity)}
