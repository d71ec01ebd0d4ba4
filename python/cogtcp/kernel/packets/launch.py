"""Starting the process that plays scripts on the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from cogtcp._errors import NoKernelPlaneError, RunError
from cogtcp.kernel.emulation.launch import MARK

if TYPE_CHECKING:
    from cogtcp.kernel.emulation.virtual import Kernel


def on_kernel(
    texts: list[tuple[str, str]], device: str, kernel: Kernel | None = None
) -> list[dict[str, Any]]:
    """Play scripts, pairs of file and text, in a process of their own; return each outcome.

    `kernel`: in virtual time, on this one.

    Raises:
        NoKernelPlaneError: This machine has none; the message says what is missing.
        RunError: The process ended without a result.
    """
    if kernel is not None:
        return _played(_in_guest(texts, device, kernel))
    # The interpreter is ours, and there is no shell.
    process = subprocess.Popen(
        # `-P`: no module of the current folder is taken for one of ours.
        [sys.executable, "-P", "-m", "cogtcp.kernel.packets.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, MARK: str(os.getpid())},
        text=True,
    )
    try:
        answer, _ = process.communicate(json.dumps({"parent": os.getpid(), "texts": texts, "device": device}))
    finally:
        # Whatever ends us ends it, and all that it made with it.
        if process.poll() is None:
            process.kill()
            process.wait()
    if not answer:
        raise RunError(
            f"the process that plays scripts ended with code {process.returncode}, without a result"
        )
    return _played(answer)


def _in_guest(texts: list[tuple[str, str]], device: str, kernel: Kernel) -> bytes:
    from cogtcp.kernel.emulation.virtual.launch import Task, run_task

    # The parent is the first process of the guest.
    job = json.dumps({"parent": 1, "texts": texts, "device": device})
    task = Task("cogtcp.kernel.packets.worker", job.encode(), seed=1, is_closed=True)
    return run_task(task, kernel, quiet=True)


def _played(answer: str | bytes) -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads(answer)
    if "error" in document:
        raise (NoKernelPlaneError if document["lacks_plane"] else RunError)(document["error"])
    played: list[dict[str, Any]] = document["played"]
    return played
