"""Starts a guest, and ends it with the process that asked for it. A script, run without the package.

Its standard input is a pipe whose other end only that process holds. At the end of the pipe, by a kill too,
it ends all processes of the guest and removes the folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys

_PR_SET_PDEATHSIG = 1
_ADDR_NO_RANDOMIZE = 0x0040000


def main() -> None:
    """Run the guest that the argument describes; write how it ended."""
    told = json.loads(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    guest = os.fork()
    if guest == 0:
        _become(told)
    with contextlib.suppress(OSError):
        os.setpgid(guest, guest)
    ended = os.pidfd_open(guest)
    status = None
    while True:
        # Until it is told to end it only waits: nobody writes to its input.
        waiting = [0] if status is not None else [0, ended]
        ready, _, _ = select.select(waiting, [], [])
        if ended in ready:
            status = os.waitstatus_to_exitcode(os.waitpid(guest, 0)[1])
            _end(guest)
            os.write(1, f"{status}\n".encode())
        if 0 in ready and not os.read(0, 1):
            break
    if status is None:
        _end(guest)
        os.waitpid(guest, 0)
    shutil.rmtree(told["folder"], ignore_errors=True)


def _end(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


def _become(told: dict[str, object]) -> None:
    """Become the guest."""
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # Addresses in the guest are drawn by its own kernel. A container may forbid this: then it does without.
    libc.personality(_ADDR_NO_RANDOMIZE)
    nothing = os.open(os.devnull, os.O_RDWR)
    log = os.open(str(told["log"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(str(told["folder"]))
    arguments = [str(each) for each in told["arguments"]]  # type: ignore[attr-defined]
    try:
        os.execve(arguments[0], arguments, told["environment"])  # type: ignore[arg-type]  # noqa: S606
    except OSError as error:
        os.write(2, f"cannot be executed: {error.strerror}\n".encode())
    os._exit(127)


if __name__ == "__main__":
    main()
