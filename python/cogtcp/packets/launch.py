"""Starting the process that plays scripts on the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from cogtcp._errors import NoKernelPlaneError, RunError
from cogtcp.emulation.launch import MARK


def on_kernel(texts: list[tuple[str, str]], device: str) -> list[dict[str, Any]]:
    """Play scripts, pairs of file and text, in a process of their own; return each outcome.

    Raises:
        NoKernelPlaneError: This machine has none; the message says what is missing.
        RunError: The process ended without a result.
    """
    # The interpreter is ours, and there is no shell.
    process = subprocess.Popen(
        # `-P`: no module of the current folder is taken for one of ours.
        [sys.executable, "-P", "-m", "cogtcp.packets.worker"],
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
    document: dict[str, Any] = json.loads(answer)
    if "error" in document:
        raise (NoKernelPlaneError if document["lacks_plane"] else RunError)(document["error"])
    played: list[dict[str, Any]] = document["played"]
    return played
