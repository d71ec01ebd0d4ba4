"""What is varied: one train, what the paper varies of it, and what it leaves unsaid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

LINK_BPS = 2e6  # stated
CLIENTS = 10  # stated: "The default number of mobile clients is 10 unless specified"

# Margins of the tests, set before the first run of each claim.
RESUMED = 0.1
"""How far from its old value the window may be that "resumes using the same frozen value"."""
FALLEN = 0.75
"""Below this share of its old value the window has fallen; a single halving counts."""
FAIR = 0.05
"""By how much Jain's index may differ where sharing is "as fair" as elsewhere."""

ADVANCES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
FLOWS = (1, 2, 5, 10, 15, 20)
SENSING_S = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Setting:
    """One train at one value each."""

    name: str = "as in the scenario"
    clients: int = CLIENTS
    manager: bool = True
    transport: str = "newreno"
    tcp: tuple[tuple[str, Any], ...] = ()
    """Settings of TCP over the scenario's."""
    sensing_s: float | None = None
    """Periodic sensing of this duration after each 2 s; None: the outages of handovers and tunnels."""
    tu_advance: float = 1.0
    silence: str = "drop"
    queue: int = 50
    rtt: str = "smoothed"
    error: str | None = None
    trigger_loss: float = 0.0
    missed: float = 0.0
    false_interval: str | None = None
    spread_ms: float = 0.0
    """By how much the one-way delay of each source exceeds that of the one before it."""
    helped: bool = False
    """Whether the network sends what ATCP needs: ICMP from Node B, and marks (ECN) from 20 packets on."""

    @property
    def plain(self) -> Setting:
        """The same without connection managers."""
        return replace(self, manager=False)

    def over(self, base: Setting) -> Setting:
        """Put what this setting changes over what a claim is about."""
        default = Setting()
        changed = {
            key: value for key, value in vars(self).items() if key == "name" or value != getattr(default, key)
        }
        if self.tcp:
            changed["tcp"] = (*base.tcp, *self.tcp)
        return replace(base, **changed)


UNSAID = (
    Setting(name="silence: hold", silence="hold"),
    Setting(name="least RTO 200 ms", tcp=(("min_rto", "200 ms"),)),
    Setting(name="queue of 20 packets", queue=20),
    Setting(name="queue of 200 packets", queue=200),
    Setting(name="SACK", transport="sack"),
)
"""Where a verdict must hold too: what the paper leaves open."""

STACKS = (
    Setting(name="NewReno"),
    Setting(name="SACK", transport="sack"),
    Setting(name="CUBIC", transport="cubic"),
    Setting(name="CUBIC with F-RTO", transport="cubic", tcp=(("f_rto", "sack"),)),
    Setting(
        name="a Linux host of today",
        transport="linux-cubic",
        # What the scenario sets otherwise, back to what such a host does.
        tcp=(
            ("min_rto", "200 ms"),
            ("f_rto", "sack"),
            ("restart_after_idle", True),
            ("delayed_ack", "40 ms"),
        ),
    ),
    Setting(name="BBR", transport="bbr"),
    Setting(name="DelAck, d = 2", tcp=(("delayed_ack", "100 ms"), ("ack_every", "2 segments"))),
    Setting(name="DelAck, d = 4", tcp=(("delayed_ack", "100 ms"), ("ack_every", "4 segments"))),
    Setting(name="TCP-ADA", tcp=(("delayed_ack", "adaptive"),)),
    Setting(name="ATCP, with ICMP and ECN", transport="atcp", helped=True),
    Setting(name="ATCP, without", transport="atcp"),
    Setting(name="SaTCP-like", transport="satcp"),
)
"""What freezing is compared with. What is not named here is the scenario's, the least RTO of 1 s too."""
REPORTED = "SaTCP-like"
"""The one for which connection managers send reports and freeze nothing."""
