"""Linux in virtual time: the kernel plane inside user-mode Linux, whose clock stands while anything computes.

`kernels` keeps the kernels that were built, `build` builds one, `launch` runs an emulation in a guest. In the
guest `guest` is the first process; on the host `guard` ends it with us. docs/virtual-time.md says what it is
for.
"""

from __future__ import annotations

from cogtcp.kernel.emulation.virtual.kernels import Kernel, find, remove, use

__all__ = ["Kernel", "find", "remove", "use"]
