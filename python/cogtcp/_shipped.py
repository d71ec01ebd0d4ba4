"""The scenarios that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

from cogtcp._names import pick

FOLDER = Path(__file__).with_name("scenarios")


def shipped() -> dict[str, Path]:
    """Return the files of the shipped scenarios by name, in the order of the names."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def find(name: str) -> Path:
    """Return the file of a shipped scenario. Raises `UsageError` if there is none of this name."""
    files = shipped()
    return files[pick(name, files, "shipped scenario")]
