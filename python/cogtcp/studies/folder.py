"""Study folders: where they are and what their `study.toml` says."""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cogtcp._errors import UsageError

ENVIRONMENT = "COGTCP_STUDIES"
"""Environment variable that names a folder of studies to use instead of the ones that come with cogtcp."""


class StudyError(UsageError):
    """A study or claim that does not exist, or a study folder that says something wrong."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One thing a paper shows: a row of the study's table."""

    id: str
    figure: str
    claim: str
    """What the paper concludes."""
    paper: str
    """What it states in numbers or words, with its place."""


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A parameter on which the paper is silent."""

    name: str
    base: str
    range: str
    """Over which the verdict must hold, or what is shown beside it."""
    why: str


@dataclass(frozen=True, slots=True)
class Study:
    """One paper's study, as its `study.toml` describes it."""

    name: str
    folder: Path
    title: str
    paper: str
    seeds: int
    quick_seeds: int
    claims: tuple[ClaimRow, ...]
    unsaid: tuple[Unsaid, ...]

    def published(self, figure: str) -> dict[str, Any]:
        """Return `figures/<figure>.toml`: what the paper's figure shows, as data."""
        return _read_toml(self.folder / "figures" / f"{figure}.toml")

    def sentences(self, figure: str) -> list[str]:
        """Return what the paper says about a figure: its caption and sentences."""
        published = self.published(figure)
        return [published["caption"], *(sentence["text"] for sentence in published["sentence"])]


def studies_folder() -> Path:
    """Return the folder of studies: `$COGTCP_STUDIES`, or the one that comes with cogtcp."""
    named = os.environ.get(ENVIRONMENT)
    if not named:
        return Path(__file__).resolve().parent / "library"
    folder = Path(named)
    if not folder.is_dir():
        raise StudyError(f"{ENVIRONMENT} names {folder}, which is not a folder")
    return folder


def list_studies() -> list[Study]:
    """Return every study, by name."""
    return [load(path.parent) for path in sorted(studies_folder().glob("*/study.toml"))]


def find(name: str) -> tuple[Study, str | None]:
    """Return the study called `name`; for the id of a claim, its study and that id."""
    studies = list_studies()
    for study in studies:
        if study.name == name:
            return study, None
    for study in studies:
        if any(claim.id == name for claim in study.claims):
            return study, name
    known = [study.name for study in studies]
    raise StudyError(f"there is no study {name!r}; {_suggest(name, known)}")


def select(study: Study, only: list[str] | None) -> list[ClaimRow]:
    """Return the claims named in `only`, or all."""
    if only is None:
        return list(study.claims)
    known = [claim.id for claim in study.claims]
    for name in only:
        if name not in known:
            raise StudyError(f"study {study.name} has no claim {name!r}; {_suggest(name, known)}")
    return [claim for claim in study.claims if claim.id in only]


def load(folder: Path) -> Study:
    """Read `study.toml` of one folder."""
    path = folder / "study.toml"
    data = _read_toml(path)
    try:
        study = Study(
            name=folder.name,
            folder=folder,
            title=_text(data, "title"),
            paper=_text(data, "paper"),
            seeds=_count(data, "seeds"),
            quick_seeds=_count(data, "quick_seeds"),
            claims=tuple(
                ClaimRow(*(_text(row, key) for key in ("id", "figure", "claim", "paper")))
                for row in data.pop("claim", [])
                if not _unknown(row, {"id", "figure", "claim", "paper"})
            ),
            unsaid=tuple(
                Unsaid(*(_text(row, key) for key in ("name", "base", "range", "why")))
                for row in data.pop("unsaid", [])
                if not _unknown(row, {"name", "base", "range", "why"})
            ),
        )
        _unknown(data, {"title", "paper", "seeds", "quick_seeds"})
    except ValueError as error:
        raise StudyError(f"{path}: {error}") from None
    ids = [claim.id for claim in study.claims]
    if not ids or len(set(ids)) != len(ids):
        raise StudyError(f"{path}: a study needs claims with ids that differ, not {ids}")
    return study


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: {error}") from None


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"`{key}` must be a text")
    return " ".join(value.split())


def _count(data: dict[str, Any], key: str) -> int:
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 2:
        raise ValueError(
            f"`{key}` must be a whole number of at least 2 (one seed has no confidence interval)"
        )
    return value


def _unknown(data: dict[str, Any], known: set[str]) -> bool:
    for key in data:
        if key not in known:
            raise ValueError(f"unknown key `{key}`; known are {', '.join(sorted(known))}")
    return False


def _suggest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}known: {', '.join(known)}"
