"""What the process of an emulation is told, and answers."""

from __future__ import annotations

import marshal
import pickle
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogtcp.model.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """What is to be emulated, see `cogtcp.emulation.emulate`.

    Attributes:
        scenario: The scenario.
        seed: Seed of the link's and the radio's draws.
        duration_s: How long; None: as long as the scenario, or as the command.
        command: A program and its arguments, in place of the scenario's flows.
        peer: A program for the other node.
        journal: File to record every packet in.
        captures: Whether that has the bytes of packets.
        ipv6: Whether the scenario's own flows use IPv6.
        device: What the nodes' devices are to be: "tun", "veth", or "any".
        states: A descriptor from which the states of controls in the kernel come.
        links: A descriptor to which goes what radios do, for controls in the kernel.
        parent: The process that is to be outlived by nothing.
        virtual: Whether the kernel's clock stands while anything computes.
    """

    scenario: Scenario
    seed: int
    duration_s: float | None
    command: list[str]
    peer: list[str]
    journal: str | None
    captures: bool
    ipv6: bool
    device: str
    states: int | None
    links: int | None
    parent: int
    virtual: bool = False

    def to_bytes(self) -> bytes:
        """Return it as the worker reads it, which loads no more than the core."""
        core = self.scenario._core
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        # A guest has another working folder.
        source = str(Path(core.source).absolute()) if self.virtual and core.files() else core.source
        return marshal.dumps({**plain, "scenario": (self.scenario.to_toml(), source, core.allowed)})


def answer_of(data: bytes) -> Any:
    """Return what a worker answered: a result as plain data, or an exception."""
    what, content = marshal.loads(data)  # noqa: S302 (our own worker wrote it)
    return content if what == "result" else pickle.loads(content)  # noqa: S301
