"""How far the runs are, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from cogtcp.cli import terminal
from cogtcp.running.runner.progress import Progress as Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress

# Off a terminal, how often a line tells how far the runs are; on one, how often it is drawn.
_LINE_S = 10.0
_DRAW_S = 0.05


class _Lines:
    """Progress where there is no terminal: a line every ten seconds."""

    def __init__(self, doing: str, unit: str) -> None:
        self._told = self._started = time.monotonic()
        self._doing, self._unit = doing, unit

    def update(self, counts: Counts) -> None:
        if time.monotonic() - self._told >= _LINE_S:
            self._told = time.monotonic()
            said = (
                f"{self._doing} {counts.made} of {counts.total} {self._unit}"
                if self._unit
                else counts.describe()
            )
            print(f"cogtcp: {said}", file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int) -> None:
        self.update(Counts(total=total, made=done, started=self._started))


class _Bar:
    """Progress on a terminal."""

    def __init__(self, bar: Progress, unit: str) -> None:
        self._bar, self._unit = bar, unit
        self._task = bar.add_task("simulating", total=None, more=unit)
        self._drawn = 0.0
        self._started = time.monotonic()

    def update(self, counts: Counts) -> None:
        now = time.monotonic()
        if now - self._drawn > _DRAW_S or counts.done == counts.total:
            self._drawn = now
            # The bar has the count already.
            more = self._unit or counts.describe().partition(" runs")[2].removeprefix(", ")
            self._bar.update(self._task, completed=counts.done, total=counts.total, more=more)

    def __call__(self, done: int, total: int) -> None:
        self.update(Counts(total=total, made=done, started=self._started))


@contextlib.contextmanager
def shown(doing: str = "simulating", unit: str = "") -> Iterator[_Bar | _Lines]:
    """Show on standard error how far the runs are: a bar on a terminal, a line now and then elsewhere.

    `unit` is what is counted, where that is not runs.
    """
    if not sys.stderr.isatty():
        yield _Lines(doing, unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    more = TextColumn("{task.fields[more]}")
    with Progress(*columns, more, console=Console(file=terminal.raw(sys.stderr)), transient=True) as bar:
        yield _Bar(bar, unit)


def interrupted(out: object) -> int:
    """Say that an interruption keeps the finished runs in the folder `out`; return the exit code."""
    print(f"cogtcp: interrupted; {out} keeps the finished runs: repeat the command to go on", file=sys.stderr)
    return 130
