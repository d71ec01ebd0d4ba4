"""The search of the space that a paper leaves unsaid: where its claims hold, and the setting closest to it.

Two parts, with seeds that have nothing in common with those of a reproduction:

1. *The design.* A Latin hypercube over all unsaid parameters together; each claim is judged at each setting.
   From it come the places (everywhere, somewhere, nowhere) and what decides. No setting is chosen by its
   result, so the shares are free of selection. There are two looks: claims that are inconclusive at a setting
   get four times the seeds there. Each look tests at the 5 % level, so both together err in at most 10 %.
2. *The closest.* For each claim, from the best settings of the design, a random local search on other seeds
   for the setting nearest to what the paper shows. As it is chosen by its result, a reproduction measures it
   anew on its own seeds, and only that is shown.

The outcome is `search.json` in the study's folder. It is kept with the study, as it takes longer than a
reproduction; it names its seeds and can be made anew: `cogtcp reproduce NAME --search`.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp.output import write_file
from cogtcp.studies.errors import StudyError
from cogtcp.studies.judging import distance, judge
from cogtcp.studies.places import Effect, Place, effects
from cogtcp.studies.space import Setting
from cogtcp.studies.verdicts import combine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cogtcp.studies import Context, Study
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.verdicts import Verdict

FILE = "search.json"
DESIGN_SEED = 1
DESIGN_SEEDS = 101
"""The first seed of the runs of the design; those of a reproduction count from 1."""
CLOSEST_SEEDS = 1001
"""The first seed of the runs of the local search."""
MORE = 4
"""How many times the seeds the second look has."""
START, ROUNDS, TRIES = 3, 3, 4
"""How many settings of the design the local search starts from, its rounds, and the neighbours in each."""

_LETTERS: dict[Verdict, str] = {"holds": "h", "differs": "d", "unclear": "u"}
_VERDICTS: dict[str, Verdict] = {letter: verdict for verdict, letter in _LETTERS.items()}


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found for one claim.

    Attributes:
        verdicts: For each statement, by what it says, its verdict at each setting of the design.
        distances: How far each setting of the design is from what the paper shows.
        closest: The setting that the local search ended at.
        tried: How many settings were tried for it, the design included.
    """

    verdicts: Mapping[str, tuple[Verdict, ...]]
    distances: tuple[float, ...]
    closest: Setting
    tried: int

    def claim_verdicts(self) -> list[Verdict]:
        """Return the verdict of the claim at each setting: all of its statements must hold."""
        return [combine(list(found)) for found in zip(*self.verdicts.values(), strict=True)]

    def place(self, says: str | None = None) -> Place:
        """Return where a statement, or the whole claim, holds."""
        return Place.of(self.claim_verdicts() if says is None else self.verdicts[says])


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome of a search, as `search.json` keeps it."""

    settings: tuple[Setting, ...]
    seeds: int
    claims: Mapping[str, Found]
    version: str

    def decides(self, study: Study, claim: str) -> list[Effect]:
        """Return what each unsaid parameter does to a claim, the greatest effect first."""
        return effects(study.space, self.settings, self.claims[claim].claim_verdicts())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = list(self.settings[0])
        return {
            "schema": 1,
            "version": self.version,
            "design": {
                "seed": DESIGN_SEED,
                "run_seeds": [DESIGN_SEEDS, DESIGN_SEEDS + self.seeds - 1],
                "second_look": DESIGN_SEEDS + MORE * self.seeds - 1,
            },
            "closest_seeds": [CLOSEST_SEEDS, CLOSEST_SEEDS + self.seeds - 1],
            "parameters": names,
            "settings": [[setting[name] for name in names] for setting in self.settings],
            "claims": {
                name: {
                    "statements": {
                        says: "".join(_LETTERS[verdict] for verdict in found.verdicts[says])
                        for says in found.verdicts
                    },
                    "distances": [round(value, 4) for value in found.distances],
                    "closest": dict(found.closest),
                    "tried": found.tried,
                }
                for name, found in self.claims.items()
            },
        }


def read(study: Study) -> Search | None:
    """Return the search kept in the study's folder; None if there is none.

    Raises:
        StudyError: It is not of this study as it is now: parameters or statements have changed since.
    """
    path = study.folder / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StudyError(f"{path}: {error}") from None
    names = data["parameters"]
    if set(names) != set(study.space.base):
        raise StudyError(f"{path}: made for other unsaid parameters; repeat: cogtcp reproduce --search")
    claims = {}
    for claim in study.claims:
        kept = data["claims"].get(claim.id)
        if kept is None or set(kept["statements"]) != {statement.says for statement in claim.statements}:
            if claim.statements:
                raise StudyError(
                    f"{path}: the statements of {claim.id} have changed; repeat: cogtcp reproduce --search"
                )
            continue
        claims[claim.id] = Found(
            {
                says: tuple(_VERDICTS[letter] for letter in letters)
                for says, letters in kept["statements"].items()
            },
            tuple(kept["distances"]),
            Setting(kept["closest"]),
            kept["tried"],
        )
    first, last = data["design"]["run_seeds"]
    settings = tuple(Setting(dict(zip(names, values, strict=True))) for values in data["settings"])
    return Search(settings, last - first + 1, claims, data["version"])


def search(
    study: Context,
    claims: Sequence[ClaimRow],
    *,
    settings: int,
    seeds: int,
    version: str,
    progress: Callable[[str], None] = lambda _: None,
) -> Search:
    """Search the space for all `claims`; see the module."""
    space = study.study.space
    design = space.design(settings, DESIGN_SEED)
    judged: list[list[Judged]] = []
    for number, setting in enumerate(design, 1):
        judged.append(_look_twice(study, claims, setting, seeds))
        progress(f"design: setting {number} of {len(design)}")
    fine = replace(study, seeds=tuple(range(CLOSEST_SEEDS, CLOSEST_SEEDS + seeds)))
    found = {}
    for index, claim in enumerate(claims):
        column = [row[index] for row in judged]
        distances = tuple(distance(claim, item) for item in column)
        closest, tried = _closest(fine, claim, column, distances)
        progress(f"closest to {claim.id}: {tried} settings")
        found[claim.id] = Found(
            {
                statement.says: tuple(item.findings[place].verdict for item in column)
                for place, statement in enumerate(claim.statements)
            },
            distances,
            closest,
            len(design) + tried,
        )
    return Search(tuple(design), seeds, found, version)


def keep(study: Study, outcome: Search, folder: Path | None = None) -> Path:
    """Write `search.json` into the study's folder, or another."""
    path = (folder or study.folder) / FILE
    text = json.dumps(outcome.to_dict(), ensure_ascii=False, separators=(",", ":"))
    # A line for each setting and claim: a change shows in a diff as what it is.
    write_file(path, text.replace("],[", "],\n[").replace('},"', '},\n"') + "\n")
    return path


def _look_twice(study: Context, claims: Sequence[ClaimRow], setting: Setting, seeds: int) -> list[Judged]:
    """Judge claims under a setting of the design; those that are inconclusive again, on more seeds."""
    first = replace(study, seeds=tuple(range(DESIGN_SEEDS, DESIGN_SEEDS + seeds)))
    second = replace(study, seeds=tuple(range(DESIGN_SEEDS, DESIGN_SEEDS + MORE * seeds)))
    judged = dict(zip([claim.id for claim in claims], judge(first, claims, setting), strict=True))
    open_ones = [
        claim
        for claim in claims
        if any(finding.verdict == "unclear" for finding in judged[claim.id].findings)
    ]
    if open_ones:
        judged |= zip([claim.id for claim in open_ones], judge(second, open_ones, setting), strict=True)
    return [judged[claim.id] for claim in claims]


def _closest(
    study: Context, claim: ClaimRow, column: Sequence[Judged], distances: Sequence[float]
) -> tuple[Setting, int]:
    """Search near the best settings of the design, and the base, for the one closest to the paper."""
    space = study.study.space
    stream = random.Random(f"closest/{claim.id}")  # noqa: S311 - a documented draw
    ranked = sorted(range(len(column)), key=lambda index: distances[index])
    tried: dict[Setting, float] = {}

    def score(setting: Setting) -> float:
        if setting not in tried:
            (judged,) = judge(study, [claim], setting)
            tried[setting] = distance(claim, judged)
        return tried[setting]

    best = min([space.base, *(column[index].setting for index in ranked[:START])], key=score)
    for _ in range(ROUNDS):
        best = min([best, *(space.neighbour(best, stream) for _ in range(TRIES))], key=score)
    return best, len(tried)
