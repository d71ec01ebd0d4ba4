"""Which peers can be run on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys

from cogtcp._errors import RunError
from cogtcp.kernel.validation.families.kernel import PROBE
from cogtcp.kernel.validation.families.kernel_queues import KernelQueues, why_no_queues
from cogtcp.kernel.validation.families.ns3 import why_no_ns3
from cogtcp.model.scenario import Scenario


def why_absent(peer: str) -> str | None:
    """Return why a peer cannot be run here; None: it can."""
    if peer == "ns-2" and not _is_ns2():
        return "program `ns` of ns-2 not found on the PATH (on Debian: apt install ns2)"
    if peer == "ns-3":
        return why_no_ns3()
    if peer == KernelQueues.peer:
        return why_no_queues()
    if peer == "Linux":
        return _why_no_kernel()
    return None


def _is_ns2() -> bool:
    program = shutil.which("ns")
    if not program:
        return False
    # Other programs have this name. No shell; the program is that of the PATH.
    done = subprocess.run(  # noqa: S603
        [program, "-"],
        input="puts [ns-version]; exit 0\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout.startswith("2.")


def _why_no_kernel() -> str | None:
    if not sys.platform.startswith("linux"):
        return "the kernel plane needs Linux"
    from cogtcp.kernel.emulation import emulate, preferred_clock

    try:
        emulate(Scenario.from_toml(PROBE), seed=1, virtual=preferred_clock())
    except RunError as error:
        return str(error)
    return None
