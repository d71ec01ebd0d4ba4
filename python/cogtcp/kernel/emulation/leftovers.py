"""What emulations might have left behind: processes of one whose command has gone.

By construction there are none. Namespaces and devices have no name and end with their processes; these end
with the process that started them, and programs with their process namespace. Where a kernel or a container
holds a part of that back, this finds what stayed.

Results that were being written when their process was killed stay where they were, under a hidden name.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _replace
from cogtcp.kernel.emulation.launch import MARK, process_namespace
from cogtcp.kernel.emulation.marked import marked

if TYPE_CHECKING:
    from collections.abc import Iterable


#: So long the first process of a namespace ends connections at most, s (`crates/emulator/src/orphans.rs`).
_ENDING_S = 12.0


@dataclass(frozen=True)
class Leftover:
    """A process of an emulation whose command has gone.

    Attributes:
        process: Its number.
        name: Its command line.
        is_first: Whether it is the first of a process namespace: it ends the connections of its programs.
    """

    process: int
    name: str
    is_first: bool = False


def find(proc: Path = Path("/proc")) -> list[Leftover]:
    """Return the processes that emulations left behind, of those that we may look at.

    Leftovers of a command in another process namespace stay: its end cannot be seen here.
    """
    found = []
    for folder, begun_by in marked(re.compile(rf"{MARK}=(\d+)@{process_namespace()}".encode()), proc):
        if int(folder.name) == os.getpid() or _is_alive(proc, int(begun_by[1])):
            continue
        # It may end while we look.
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            # Its number in its own namespace is 1.
            is_first = re.search(r"^NSpid:.*\t1$", (folder / "status").read_text(), re.MULTILINE)
            found.append(Leftover(int(folder.name), line.strip(), bool(is_first)))
    return sorted(found, key=lambda leftover: leftover.process)


def remove(leftovers: list[Leftover]) -> list[Leftover]:
    """End them, and what they made with them; return those that did not end by themselves.

    The first process of a namespace of programs gets the time that it takes to end their connections, which
    would stay in the kernel for minutes.
    """
    until = time.monotonic() + _ENDING_S
    ended = []
    # Those of no namespace of their own first: the first process of a namespace ends all of its.
    for leftover in sorted(leftovers, key=lambda leftover: leftover.is_first):
        while leftover.is_first and _is_alive(Path("/proc"), leftover.process) and time.monotonic() < until:
            time.sleep(0.05)
        # It may have ended meanwhile.
        with contextlib.suppress(ProcessLookupError):
            os.kill(leftover.process, signal.SIGKILL)
            ended.append(leftover)
    return ended


def remove_unfinished(folders: Iterable[Path]) -> list[_replace.Cleared]:
    """Remove results that processes that are gone began in these folders, or put back what they had moved.

    A writer of results holds a lock on them, which ends with its process: results that are being written
    stay.
    """
    return [path for folder in dict.fromkeys(folders) for path in _replace.clear_up_in(folder)]


def _is_alive(proc: Path, process: int) -> bool:
    return (proc / str(process)).exists()
