"""The process of one emulation: it reads a job, emulates, and writes the result.

It leaves the namespaces of its parent for good, which the kernel allows only a process with one thread. So it
is a new process that loads only the core. It ends when its parent does, and all that it made ends with it.

In a guest it imports no other module of the package (`virtual/guest.py`).
"""

from __future__ import annotations

import marshal
import os
import sys
from types import SimpleNamespace

from cogtcp import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal


def main() -> None:
    """Do the job of the command line's descriptors."""
    work(*map(int, sys.argv[1:3]))


def work(asked: int, answered: int) -> None:
    """Do the job that comes by one descriptor, and answer by another."""
    with os.fdopen(asked, "rb") as stream:
        job: Any = SimpleNamespace(**marshal.load(stream))  # noqa: S302 (our own parent wrote it)
    # Programs that it starts have none of them.
    for descriptor in (answered, job.states, job.links):
        if descriptor is not None:
            os.set_inheritable(descriptor, False)
    # Ctrl-C ends the run, and by that all of it; where a program runs, it is the program's.
    signal.signal(signal.SIGINT, signal.SIG_IGN if job.command else signal.SIG_DFL)
    answer: tuple[str, Any]
    try:
        answer = ("result", _plain(_core.emulate(_core.Scenario.parse(*job.scenario), job)))
    except Exception as error:  # whatever is ours is told
        answer = ("error", _told(error))
    with os.fdopen(answered, "wb") as stream:
        marshal.dump(answer, stream)


def _told(error: Exception) -> bytes:
    """Return an exception of ours as bytes; raise any other."""
    import pickle

    from cogtcp._errors import CogtcpError

    if not isinstance(error, CogtcpError):
        raise error
    return pickle.dumps(error)


def _plain(run: _core.Run) -> dict[str, Any]:
    """Return a run as what goes from process to process."""
    tables = [
        # Buffers of the engine cannot be pickled: their bytes can.
        (name, meaning, rows, [(*column[:4], bytes(memoryview(column[4])), column[5]) for column in columns])
        for name, meaning, rows, columns in run.tables
    ]
    numbers = {
        name: getattr(run, name)
        for name in ("seed", "duration_s", "warmup_s", "fairness", "digest", "engine_events", "packet_hops")
    }
    return {**numbers, "tables": tables}


if __name__ == "__main__":
    main()
