"""The process that plays scripts on the kernel: it leaves the namespaces of its parent for good.

It loads no more than the core, has one thread, and ends with its parent.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from cogtcp import _core
from cogtcp._errors import CogtcpError, NoKernelPlaneError


def main() -> None:
    """Play the scripts that come on standard input; answer on standard output."""
    work(sys.stdin.fileno(), sys.stdout.fileno())


def work(asked: int, answered: int) -> None:
    """Play the scripts that come by one descriptor; answer by another."""
    # Ctrl-C ends it, and by that all of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(asked, encoding="utf-8", closefd=False) as stream:
        job = json.load(stream)
    texts = [(file, text) for file, text in job["texts"]]
    answer: dict[str, Any]
    try:
        answer = {"played": _core.play_packet_scripts(texts, job["parent"], job["device"])}
    except CogtcpError as error:
        answer = {"error": str(error), "lacks_plane": isinstance(error, NoKernelPlaneError)}
    with open(answered, "w", encoding="utf-8", closefd=False) as stream:
        json.dump(answer, stream)


if __name__ == "__main__":
    main()
