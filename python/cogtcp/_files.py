"""Files that a user or a scenario names, read with a bound on their size."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The largest log of primary users or channels, and map of a line, in bytes, as in the scenario reader.
LARGEST = 100_000_000


def read_text(path: str | Path, what: str) -> str:
    """Return the text of a file that the user names; `what` it should be goes into the error.

    Raises:
        ScenarioError: It cannot be read, is no UTF-8 text, or is larger than any such file.
    """
    reason = ""
    try:
        if _waits(Path(path)):
            reason = "cannot be read: it is a named pipe"
        else:
            with Path(path).open("rb") as stream:
                # Not by the size that the system states: a device or a pipe has none.
                data = stream.read(LARGEST + 1)
            if len(data) <= LARGEST:
                return data.decode()
            reason = f"is larger than {LARGEST // 1_000_000} MB"
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start + 1})"
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise ScenarioError(
        reason, file=str(path), remedy=f"name {what}", text=f"{path}: {reason}; name {what}"
    ) from None


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is no JSON, or nested deeper than Python reads.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a TOML text says.

    Raises:
        ValueError: It is no TOML, or nested deeper than Python reads.
    """
    import tomllib  # not at the top, as all that few commands need

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def safe_name(text: str, otherwise: str) -> str:
    """Return a text as a part of a file's name: no separator of folders, no dot in front."""
    return re.sub(r"[^\w.@+-]+", "-", text).strip("-.")[:100] or otherwise


def _waits(path: Path) -> bool:
    """Whether this is a named pipe, whose writer may never come; /dev/stdin and `<(...)` are open already."""
    is_open = any(path.is_relative_to(place) for place in ("/dev/stdin", "/dev/fd", "/proc"))
    return not is_open and path.is_fifo()


def digest(files: Iterable[Path]) -> list[bytes]:
    """Return the SHA-256 of each file that a scenario names; missing files are left out.

    What is no regular file, or too large, is an error of the scenario, which others report.
    """
    return [_digest(path) for path in files]


def _digest(path: Path) -> bytes:
    import hashlib

    try:
        # Without waiting: a named pipe would wait for its writer for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
                return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        pass
    return b""
