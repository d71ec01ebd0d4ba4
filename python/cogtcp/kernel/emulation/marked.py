"""Processes that are known by a variable of their environment, though the command that began them is gone."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def marked(mark: re.Pattern[bytes], proc: Path = Path("/proc")) -> Iterator[tuple[Path, re.Match[bytes]]]:
    """Yield the processes with a variable `NAME=value` that matches, as folders of `proc`, and the match."""
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        found = None
        # A process may end while we look, and others' are not ours to see.
        with contextlib.suppress(OSError):
            variables = (folder / "environ").read_bytes().split(b"\0")
            found = next(filter(None, map(mark.fullmatch, variables)), None)
        if found:
            yield folder, found


def end(variable: str) -> None:
    """End the processes with this `NAME=value`, until there is none: they may start others meanwhile."""
    is_one, mark = True, re.compile(re.escape(os.fsencode(variable)))
    while is_one:
        is_one = False
        for process, _ in marked(mark):
            # It may end meanwhile.
            with contextlib.suppress(OSError):
                os.kill(int(process.name), signal.SIGKILL)
                is_one = True
