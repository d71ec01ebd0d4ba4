"""Whether a mutant of the Python package is on: as `src/lib.rs` here, for Python."""

import os
from pathlib import Path

_ACTIVE = os.environ.get("COGTCP_MUTANT")
_NUMBER = None if _ACTIVE is None else int(_ACTIVE)
_NOTE = None if _ACTIVE is not None else os.environ.get("COGTCP_MUTANTS_REACHED")

reached: set[int] = set()


def on(number: int) -> bool:
    """Return whether mutant `number` is on; where mutants are recorded, note that it was asked for."""
    if _NOTE is not None and number not in reached:
        reached.add(number)
        with Path(_NOTE).open("a") as file:
            file.write(f"{number}\n")
    return number == _NUMBER
