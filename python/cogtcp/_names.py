"""Wrong names: which one was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the one of the known names that was probably meant, if any is near enough."""
    import difflib  # not at the top: most names are right

    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def meant(name: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" where a known name is near, and nothing else."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else ""


def pick(name: str, known: Iterable[str], what: str) -> str:
    """Return a known name; raise `UsageError`, which suggests the nearest and lists all, for another."""
    names = list(known)
    if name in names:
        return name
    said = " ".join(filter(None, [meant(str(name), names), f"known: {', '.join(names)}"]))
    raise UsageError(f"unknown {what} {name!r}; {said}")
