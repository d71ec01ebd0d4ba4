"""Reads the JSON files in which a study's folder keeps its outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp import _files
from cogtcp.studies.errors import StudyError

if TYPE_CHECKING:
    from pathlib import Path


def read_json(path: Path) -> Any:
    """Return the contents of a JSON file; None if the file does not exist.

    Raises:
        StudyError: The file cannot be read, or holds no JSON.
    """
    try:
        return _files.parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StudyError(f"{path}: {error}") from None
