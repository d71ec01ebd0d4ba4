"""Wrong names: which one was meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def pick(name: str, known: Iterable[str], what: str) -> str:
    """Return a known name; raise `UsageError`, which suggests the nearest and lists all, for another."""
    names = list(known)
    if name in names:
        return name
    near = difflib.get_close_matches(str(name), names, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"there is no {what} {name!r}; {meant}known: {', '.join(names)}")
