"""The real-kernel plane: a scenario on the TCP of this machine's Linux kernel, under a real clock.

A link between two network namespaces, with the simulator's own link and radio in it; docs/emulation.md says
what it emulates, what it needs and how true its timing is.
"""

from __future__ import annotations

from cogtcp.emulation.launch import check, emulate
from cogtcp.emulation.result import Emulation

__all__ = ["Emulation", "check", "emulate"]
