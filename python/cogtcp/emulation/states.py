"""What controls of this project show of themselves inside the kernel, while an emulation lasts.

The emulation has no privileges and no libbpf: `cogtcp-c2 watch` (`make bpf`) looks, and its lines go to it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

from cogtcp import _kernel_program
from cogtcp._errors import CogtcpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.scenario import Scenario


@contextlib.contextmanager
def watched(scenario: Scenario) -> Iterator[int | None]:
    """Give a descriptor from which the states come; None: no flow has such a control, or they cannot be seen.

    It takes root, as loading the control does; where that lacks, a run has no such columns.
    """
    described = scenario.to_dict()
    if not any(str(flow["transport"]) == "c2" for flow in described.get("flow", [])):
        yield None
        return
    try:
        program = str(_kernel_program.find("cogtcp-c2", "TCP C2"))
    except CogtcpError:
        yield None
        return
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    # Only here: it loads what has threads. The process of an emulation imports this, and must have none.
    from cogtcp.studies.quantities import seconds

    interval = seconds(described["run"]["sample_interval"])
    try:
        process = subprocess.Popen(  # noqa: S603
            [program, "watch", f"{max(interval, 0.001):.6f}"], stdout=theirs, stderr=subprocess.DEVNULL
        )
    finally:
        os.close(theirs)
    try:
        yield ours
    finally:
        os.close(ours)
        process.kill()
        process.wait()
