"""Where in a TOML file an error is: its line and column, and that line with carets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp import _files
from cogtcp._core import toml_place

if TYPE_CHECKING:
    from pathlib import Path

    from cogtcp._errors import UsageError


def read_toml(path: Path, error: type[UsageError], remedy: str = "") -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and what it says; raise `error`, with the place, for what is none."""
    try:
        said = path.read_text(encoding="utf-8")
    except OSError as failure:
        why = f"{path}: cannot be read: {failure.strerror or failure}"
        raise error(f"{why}; {remedy}" if remedy else why) from None
    except UnicodeDecodeError as failure:
        raise error(f"{path}: this is not a text: {failure}") from None
    try:
        return said, _files.parse_toml(said)
    except ValueError as failure:
        place = toml_place(said, "")
        if place is None:
            raise error(f"{path}: {failure}") from None
        line, column, excerpt, fault = place
        raise error(
            f"{path}:{line}:{column}: this is not TOML: {fault or failure}", excerpt=excerpt
        ) from None


def located(error: type[UsageError], path: Path, said: str, field: str, message: str) -> UsageError:
    """Return an error about the field of a TOML file, "axis.0.steps", with the place nearest to it."""
    place = toml_place(said, field) if field else None
    if place is None:
        return error(f"{path}: {message}")
    return error(f"{path}:{place[0]}:{place[1]}: {message}", excerpt=place[2])
