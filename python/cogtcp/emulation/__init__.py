"""The real-kernel plane: a scenario on the TCP of this machine's Linux kernel, under a real clock.

Hosts are network namespaces; between them are the simulator's own links and radios. docs/emulation.md says
what it emulates, what it needs and how true its timing is.
"""

from __future__ import annotations

from cogtcp.emulation.launch import check, emulate
from cogtcp.emulation.result import Emulation

__all__ = ["Emulation", "check", "emulate"]
