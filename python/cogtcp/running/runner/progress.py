"""How far a set of runs has come."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Progress:
    """Counts of runs.

    Attributes:
        total: Runs that are asked for, as far as known.
        made: Runs that were made, failed ones included.
        known: Runs that had been made before.
        failed: Runs that failed, now or before.
    """

    total: int = 0
    made: int = 0
    known: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic, repr=False)

    @property
    def done(self) -> int:
        """Runs that are finished."""
        return self.made + self.known

    @property
    def rate(self) -> float:
        """Runs made per second since the start."""
        return self.made / max(time.monotonic() - self.started, 1e-9)

    @property
    def left_s(self) -> float | None:
        """Time that the rest will take at this rate; None before anything is known."""
        return max(0, self.total - self.done) / self.rate if self.made else None

    def describe(self) -> str:
        """Return the counts in a line."""
        parts = [f"{self.done} of {self.total} runs"]
        if self.made:
            parts.append(f"{self.rate:.3g} per second")
        if self.left_s is not None and self.done < self.total:
            parts.append(f"{duration(self.left_s)} left")
        parts += [
            f"{count} {name}" for count, name in ((self.known, "cached"), (self.failed, "failed")) if count
        ]
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration as people read it: `45 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`."""
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size} {unit}" + (
                f" {whole % size // part} {smaller}" if whole % size >= part else ""
            )
    return f"{whole} s"


def listener(progress: Any) -> Callable[[Progress], None] | None:
    """Return what a runner calls: something with `update` takes the `Progress`, a function two counts."""
    if progress is None:
        return None
    update: Callable[[Progress], None] | None = getattr(progress, "update", None)
    return update or (lambda counts: progress(counts.done, counts.total))
