"""What emulations might have left behind: processes of one whose command has gone.

By construction there are none. Namespaces and devices have no name and end with their processes; these end
with the process that started them, and programs with their process namespace. Where a kernel or a container
holds a part of that back, this finds what stayed.

Results that were being written when their process was killed stay where they were, under a hidden name.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _replace
from cogtcp.emulation.launch import MARK

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Leftover:
    """A process of an emulation whose command has gone.

    Attributes:
        process: Its number.
        name: Its command line.
    """

    process: int
    name: str


def find(proc: Path = Path("/proc")) -> list[Leftover]:
    """Return the processes that emulations left behind, of those that we may look at."""
    found = []
    for folder in proc.iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        # A process may end while we look, and others' are not ours to see.
        with contextlib.suppress(OSError):
            variables = (folder / "environ").read_bytes().split(b"\0")
            marks = [value[len(MARK) + 1 :] for value in variables if value.startswith(f"{MARK}=".encode())]
            if marks and marks[0].isdigit() and not _is_alive(proc, int(marks[0])):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(Leftover(int(folder.name), line.strip()))
    return sorted(found, key=lambda leftover: leftover.process)


def remove(leftovers: list[Leftover]) -> None:
    """End them; what they made ends with them."""
    for leftover in leftovers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(leftover.process, signal.SIGKILL)


def remove_unfinished(folders: Iterable[Path]) -> list[Path]:
    """Remove results that processes that are gone began in these folders; return what they were called.

    Whoever writes results holds a lock on them, which ends with its process: what is being written stays.
    """
    return [path for folder in dict.fromkeys(folders) for path in _replace.clear_up_in(folder)]


def _is_alive(proc: Path, process: int) -> bool:
    return (proc / str(process)).exists()
