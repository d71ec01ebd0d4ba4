"""The real-kernel plane: a scenario on the TCP of this machine's Linux kernel, under a real clock.

Hosts are network namespaces; between them are the simulator's own links and radios. docs/emulation.md says
what it emulates, what it needs and how true its timing is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.kernel.emulation.launch import check, emulate
from cogtcp.kernel.emulation.result import Emulation

if TYPE_CHECKING:
    from cogtcp.kernel.emulation.virtual.kernels import Kernel

__all__ = ["Emulation", "check", "emulate", "preferred_clock", "virtual_kernel"]


def virtual_kernel(name: str | bool = True) -> Kernel:
    """Return the kernel for virtual time of this name, or the kernel in use.

    Raises:
        NoKernelPlaneError: None is built.
        UsageError: None has this name.
    """
    from cogtcp.kernel.emulation.virtual.kernels import find

    return find(None if isinstance(name, bool) else name)


def preferred_clock() -> str | bool:
    """Return the name of the kernel for virtual time that is used; without one False, the real clock."""
    from cogtcp.kernel.emulation.virtual.kernels import used

    return used() or False
