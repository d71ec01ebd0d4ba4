"""One seed on both planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cogtcp.kernel.emulation.result import Emulation
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario

#: What is compared.
MEASURES = ("goodput_bps", "rtt_mean_s", "retransmitted", "rtos")


@dataclass(frozen=True)
class Pair:
    """One seed on both planes.

    Attributes:
        scenario: Name of the scenario.
        transport: The transport preset.
        seed: The seed.
        simulated: The metrics of the simulation.
        emulated: Those of the kernel.
        doubt: Why the kernel's run is no evidence; empty: it is.
        lateness_p99_s: 99th percentile of the lateness of its packets.
        floor_p99_s: That of a bare timer in the same run.
        key: In virtual time: what the run hangs on, by which it is known again; else empty.
    """

    scenario: str
    transport: str
    seed: int
    simulated: dict[str, float]
    emulated: dict[str, float]
    doubt: str
    lateness_p99_s: float
    floor_p99_s: float
    key: str = ""


def pair_of(scenario: Scenario, transport: str, simulation: Result, real: Emulation, key: str = "") -> Pair:
    """Return the pair of a simulation and a run on the kernel."""
    return Pair(
        scenario.name,
        transport,
        real.seed,
        {name: simulation.metrics[name] for name in MEASURES},
        {name: real.metrics[name] for name in MEASURES},
        real.doubt,
        float(real.timing["lateness_p99_s"]),
        float(real.timing["floor_p99_s"]),
        key,
    )
