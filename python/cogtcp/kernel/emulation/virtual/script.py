"""Runs a function of a Python script in a guest, as root of it: for measurements that are no emulation."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.emulation.virtual.launch import Task, run_task

if TYPE_CHECKING:
    from cogtcp.kernel.emulation.virtual.kernels import Kernel


def run_script(script: Path, argument: Any, kernel: Kernel, *, seed: int, written: Path) -> Any:
    """Call `guest(argument)` of a script in a guest; return what it returns. Both are plain JSON data.

    Args:
        script: The script, with absolute path.
        argument: The argument.
        kernel: The kernel of the guest.
        seed: Seed of all randomness in the guest.
        written: Folder of the host that the script may write.

    Raises:
        NoKernelPlaneError: This machine does not let the guest run.
        RunError: The guest failed; the message has the end of what the script printed.
    """
    job = json.dumps({"script": str(script), "argument": argument}).encode()
    task = Task(__name__, job, seed, (Path.cwd(), script.parent), (written,))
    return json.loads(run_task(task, kernel, quiet=True))


def work(asked: int, answered: int) -> None:
    """Do the job that comes by one descriptor, and answer by another."""
    with os.fdopen(asked, "rb") as stream:
        told = json.load(stream)
    # Programs that the script starts do not have it.
    os.set_inheritable(answered, False)
    answer = runpy.run_path(told["script"])["guest"](told["argument"])
    with os.fdopen(answered, "w", encoding="utf-8") as stream:
        json.dump(answer, stream)
