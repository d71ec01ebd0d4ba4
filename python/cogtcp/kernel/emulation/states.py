"""What controls of this project in the kernel show of themselves, and hear, while an emulation lasts.

The emulation has no privileges and no libbpf: `cogtcp-c2` (`make bpf`) looks, and its lines go to the
emulation. What the emulated radios do comes from there, and it tells the control.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._errors import CogtcpError
from cogtcp.kernel import _kernel_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.model.scenario import Scenario

#: Presets that the kernel has as programs of this project.
OWN_CONTROLS = ("c2", "c2-author")


@dataclass(frozen=True)
class Kernel:
    """Descriptors for the process of an emulation; None: not for this run, or not on this machine.

    Attributes:
        states: Where the states of controls come from.
        links: Where to say what radios do.
    """

    states: int | None = None
    links: int | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Those that there are."""
        return tuple(each for each in (self.states, self.links) if each is not None)


@contextlib.contextmanager
def attended(scenario: Scenario, *, command: bool, announce: bool) -> Iterator[Kernel]:
    """Watch the controls of a scenario's flows; these controls, and a command's, hear its radios.

    This needs root, as loading the control does. Without root a run lacks these columns, and no control hears
    of radios.
    """
    described = scenario.to_dict()
    is_own = any(str(flow["transport"]) in OWN_CONTROLS for flow in described.get("flow", []))
    program = None
    with contextlib.suppress(CogtcpError):
        program = str(_kernel_program.find("cogtcp-c2", "TCP C2"))
    with contextlib.ExitStack() as begun:
        states = links = None
        if program and is_own and not command:
            states = begun.enter_context(_watching(program, described))
        if program and announce and described.get("radio") and (is_own or command):
            links = begun.enter_context(_followed(program))
        yield Kernel(states, links)


@contextlib.contextmanager
def _watching(program: str, described: dict[str, Any]) -> Iterator[int]:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    # Only here: it loads what has threads. The process of an emulation imports this, and must have none.
    from cogtcp._units import seconds

    interval = seconds(described["run"]["sample_interval"])
    with _run(program, "watch", f"{max(interval, 0.001):.6f}", stdout=theirs, close=theirs) as process:
        try:
            yield ours
        finally:
            os.close(ours)
            process.kill()


@contextlib.contextmanager
def _followed(program: str) -> Iterator[int]:
    theirs, ours = os.pipe()
    # Who moves packets waits for nobody.
    os.set_blocking(ours, False)
    with _run(program, "follow", stdin=theirs, close=theirs) as process:
        try:
            yield ours
        finally:
            # At the end of its lines it forgets what they said.
            os.close(ours)
            process.wait()


@contextlib.contextmanager
def _run(program: str, *words: str, close: int, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    try:
        nothing: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        process: subprocess.Popen[bytes] = subprocess.Popen([program, *words], **(nothing | options))  # noqa: S603
    finally:
        os.close(close)
    try:
        yield process
    finally:
        process.wait()
