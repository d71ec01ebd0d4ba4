"""The scenarios that come with the package, by name."""

from __future__ import annotations

import os
from pathlib import Path

from cogtcp._errors import UsageError
from cogtcp._names import meant, pick

FOLDER = Path(__file__).with_name("scenarios")


def shipped() -> dict[str, Path]:
    """Return the files of the shipped scenarios by name, in the order of the names."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def find(name: str) -> Path:
    """Return the file of a shipped scenario. Raises `UsageError` if there is none of this name."""
    files = shipped()
    return files[pick(name, files, "shipped scenario")]


def locate(given: str, folder: Path | None = None) -> Path:
    """Return the file that a scenario is named by: a path, or the name of a shipped one.

    A file comes first: a shipped scenario is meant only where no file has its name.

    Args:
        given: What the user wrote.
        folder: Where relative paths begin; by default the current folder.

    Raises:
        UsageError: It is nearly the name of a shipped scenario, and no file has it.
    """
    path = Path(given) if folder is None else folder / given
    # With a folder or an ending in it, it is a path, even if there is no such file.
    if Path(given).name != given or path.suffix or os.path.lexists(path):
        return path
    files = shipped()
    near = meant(given, files)
    if given not in files and near:
        raise UsageError(f"{given}: neither a file nor a shipped scenario; {near}")
    return files.get(given, path)
