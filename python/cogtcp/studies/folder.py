"""Study folders: where they are and what their `study.toml` says."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._names import meant
from cogtcp._places import located, read_toml
from cogtcp.studies.claims import (
    ClaimRow,
    Comparison,
    OnToday,
    known_only,
    read_claim,
    read_comparison,
    read_today,
    read_unsaid,
    text,
)
from cogtcp.studies.errors import StudyError
from cogtcp.studies.space import Space, Unsaid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENVIRONMENT = "COGTCP_STUDIES"
"""Environment variable that names a folder of studies to use instead of the ones that come with cogtcp."""


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
    question: str = ""
    """What the study answers, in a short sentence; without one: the title."""
    design: int = 96
    """Settings of the joint design that the search tries."""
    design_seeds: int = 4
    """Seeds at each of them."""
    second_look_seeds: int = 0
    """Seeds at those settings at which a claim is inconclusive, if more than four times as many."""
    confirm_seeds: int = 60
    """Seeds on which the guided search confirms a reading, at most."""
    starts: tuple[str, ...] = ()
    """Readings from which the guided search starts, besides the base and the best of the design."""
    quantities: Mapping[str, str] = field(default_factory=dict)
    """What is measured, by name, in words with the unit."""
    stacks: Comparison | None = None
    """Where stacks of today are compared."""
    today: OnToday | None = None
    """The figure that is shown on Linux of today."""
    main: str = ""
    """The claim whose figure is the paper's main one."""

    @property
    def space(self) -> Space:
        """The space of the parameters that the paper does not give."""
        return Space(self.unsaid)

    def published(self, figure: str) -> dict[str, Any]:
        """Return `figures/<figure>.toml`: what the paper's figure shows, as data."""
        return read_toml(self.folder / "figures" / f"{figure}.toml", StudyError)[1]

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
    """Return every study, by name.

    Raises:
        StudyError: A study is wrong, or two of them have a claim of one name.
    """
    found = [load(path.parent) for path in sorted(studies_folder().glob("*/study.toml"))]
    owners: dict[str, str] = {}
    for study in found:
        for row in study.claims:
            if row.id in owners:
                raise StudyError(f"{row.id} is a claim of {owners[row.id]} and of {study.name}: rename one")
            owners[row.id] = study.name
    return found


def find(name: str) -> tuple[Study, str | None]:
    """Return the study called `name`; for the id of a claim, its study and that id."""
    studies = list_studies()
    for study in studies:
        if study.name == name:
            return study, None
    for study in studies:
        if any(claim.id == name for claim in study.claims):
            return study, name
    for study in studies:
        if any(re.fullmatch(rf"{re.escape(name)}[a-z]", claim.id) for claim in study.claims):
            return study, name
    # An id begins with its study's name, which may itself begin with another's: the longest is meant.
    own = [study for study in studies if name.startswith(f"{study.name}-")]
    if own:
        select(max(own, key=lambda study: len(study.name)), [name])
    known = [study.name for study in studies]
    raise StudyError(f"unknown study {name!r}; {_suggest(name, known)}")


def chosen(study: Study, only: list[str] | None) -> list[ClaimRow]:
    """Return the claims named in `only`, or all; a figure's name names all of its claims.

    "chain-f3" names chain-f3a and chain-f3b, if no claim has that id.

    Raises:
        StudyError: There is no such claim.
    """
    if only is None:
        return list(study.claims)
    ids = [claim.id for claim in study.claims]
    named: list[str] = []
    for name in only:
        of_figure = [known for known in ids if re.fullmatch(rf"{re.escape(name)}[a-z]", known)]
        named += of_figure if name not in ids and of_figure else [name]
    return select(study, named)


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
    said, data = read_toml(path, StudyError)
    under = _Place()
    try:
        search = dict(data.pop("search", {}))
        study = Study(
            name=folder.name,
            folder=folder,
            title=text(data, "title"),
            paper=text(data, "paper"),
            question=text(data, "question") if "question" in data else text(data, "title"),
            seeds=_count(data, "seeds"),
            quick_seeds=_count(data, "quick_seeds"),
            claims=tuple(read_claim(row) for row in under.each("claim", data.pop("claim", []))),
            unsaid=tuple(read_unsaid(row) for row in under.each("unsaid", data.pop("unsaid", []))),
            design=search.pop("settings", 96),
            design_seeds=search.pop("seeds", 4),
            second_look_seeds=search.pop("second_look", 0),
            confirm_seeds=search.pop("confirm", 60),
            starts=tuple(search.pop("starts", ())),
            stacks=read_comparison(data.pop("stacks", None)),
            today=read_today(data.pop("today", None)),
            quantities={name: str(words) for name, words in data.pop("quantities", {}).items()},
            main=str(data.pop("main", "")),
        )
        under.path = "search."
        known_only(search, ("settings", "seeds", "second_look", "confirm", "starts"))
        under.path = ""
        known_only(data, ("title", "question", "paper", "seeds", "quick_seeds"))
    except ValueError as error:
        # What a message quotes first is the key, if it is about one.
        key = re.search(r"`(\w+)`", str(error))
        field = (under.path + (key[1] if key else "")).rstrip(".")
        raise located(StudyError, path, said, field, str(error)) from None
    ids = [claim.id for claim in study.claims]
    if not ids or len(set(ids)) != len(ids):
        raise StudyError(f"{path}: a study needs claims with ids that differ, not {ids}")
    if study.main not in ("", *ids):
        raise StudyError(f"{path}: `main` must be one of {', '.join(ids)}, not {study.main!r}")
    return study


class _Place:
    """Which row of a file is being read."""

    def __init__(self) -> None:
        self.path = ""

    def each(self, name: str, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the rows, and know meanwhile which one it is."""
        for number, row in enumerate(rows):
            self.path = f"{name}.{number}."
            yield row
        self.path = ""


def _count(data: dict[str, Any], key: str) -> int:
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 2:
        raise ValueError(
            f"`{key}` must be a whole number of at least 2 (one seed has no confidence interval)"
        )
    return value


def _suggest(name: str, known: list[str]) -> str:
    return " ".join(filter(None, [meant(name, known), f"known: {', '.join(known)}"]))
