"""The process of one emulation: it reads a job, emulates, and writes the result.

It leaves the namespaces of its parent for good, which the kernel allows only a process with one thread. So it
is a new process that loads only the core. It ends when its parent does, and all that it made ends with it.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import CogtcpError

if TYPE_CHECKING:
    from cogtcp.kernel.emulation.job import Job


def main() -> None:
    """Do the job of the command line's descriptors."""
    work(*map(int, sys.argv[1:3]))


def work(asked: int, answered: int) -> None:
    """Do the job that comes by one descriptor, and answer by another."""
    with os.fdopen(asked, "rb") as stream:
        job: Job = pickle.load(stream)  # noqa: S301 (our own parent wrote it)
    # Programs that it starts have none of them.
    for descriptor in (answered, job.states, job.links):
        if descriptor is not None:
            os.set_inheritable(descriptor, False)
    # Ctrl-C ends the run, and by that all of it; where a program runs, it is the program's.
    signal.signal(signal.SIGINT, signal.SIG_IGN if job.command else signal.SIG_DFL)
    answer: dict[str, Any] | Exception
    try:
        answer = _plain(_core.emulate(job.scenario._core, job))
    except CogtcpError as error:
        answer = error
    with os.fdopen(answered, "wb") as stream:
        pickle.dump(answer, stream)


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
