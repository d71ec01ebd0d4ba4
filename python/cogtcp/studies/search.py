"""The random design over parameters that a paper does not give: how robust its claims are.

A Latin hypercube over all parameters together, on seeds that no reproduction uses; each claim is
judged at each setting. From it come the shares and what decides. No setting is chosen by its result, so the
shares are free of selection. A claim that is inconclusive at a setting is looked at again there, on four
times the seeds each time, up to the study's `second_look`. Each look tests at the 5 % level, so three looks
err in at most 15 %. A look is left out where all the seeds would hardly decide: where effect and spread, as
seen, stay short of the level's quantile.

The outcome is `search.json` in the study's folder. It is kept with the study, as it takes longer than a
reproduction; it names its seeds and can be repeated: `cogtcp reproduce NAME --search`. Whether a claim can
be reproduced at all is for the guided search to say (`guided`), which starts from the best of the design.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cogtcp.output import write_file
from cogtcp.studies import power
from cogtcp.studies.answers import Lack
from cogtcp.studies.causes import Effect, causes, effects
from cogtcp.studies.claims import tests_of
from cogtcp.studies.errors import StudyError
from cogtcp.studies.judging import distance, judge
from cogtcp.studies.space import Setting
from cogtcp.studies.stored import read_json
from cogtcp.studies.support import Support
from cogtcp.studies.touching import touching
from cogtcp.studies.verdicts import combine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cogtcp.studies import Context, Study
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.space import Unsaid
    from cogtcp.studies.verdicts import Verdict

FILE = "search.json"
DESIGN_SEED = 1
DESIGN_SEEDS = 101
"""The first seed of the runs of the design; those of a reproduction count from 1."""
MORE = 4
"""How many times the seeds of a look the next one has."""
SAMPLED = 3
"""Inconclusive settings of a kept design at which the seeds that a statement lacks are measured again."""

_LETTERS: dict[Verdict, str] = {"holds": "h", "fails": "f", "inconclusive": "i"}
_VERDICTS: dict[str, Verdict] = {letter: verdict for verdict, letter in _LETTERS.items()}


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found for one claim.

    Attributes:
        verdicts: For each statement, by what it says, its verdict at each setting of the design.
        distances: How far each setting of the design is from what the paper shows.
        touches: The unsaid parameters that can change a run of the claim.
        more: Of each statement that is inconclusive at some settings, how many seeds more it needs there: the
            median over them, or over a sample of them.
        second_look: The most seeds at the settings at which the claim was inconclusive at first.
        tests: Digest of what was tested (`claims.tests_of`); empty in older files.
    """

    verdicts: Mapping[str, tuple[Verdict, ...]]
    distances: tuple[float, ...]
    touches: tuple[str, ...]
    more: Mapping[str, float] = field(default_factory=dict)
    second_look: int = 0
    tests: str = ""

    def claim_verdicts(self) -> list[Verdict]:
        """Return the verdict of the claim at each setting: all of its statements must hold."""
        return [combine(list(found)) for found in zip(*self.verdicts.values(), strict=True)]

    def lack(self) -> Lack | None:
        """Return the statement that most of the settings at which the claim is inconclusive lack."""
        lacking = [i for i, verdict in enumerate(self.claim_verdicts()) if verdict == "inconclusive"]
        counts = {
            says: sum(found[index] == "inconclusive" for index in lacking)
            for says, found in self.verdicts.items()
        }
        if not lacking:
            return None
        says = max(counts, key=lambda name: counts[name])
        return Lack(says, self.more.get(says, math.nan), counts[says])

    def place(self, says: str | None = None) -> Support:
        """Return where a statement, or the whole claim, holds."""
        return Support.of(self.claim_verdicts() if says is None else self.verdicts[says])


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome of a search, as `search.json` keeps it."""

    settings: tuple[Setting, ...]
    seeds: int
    claims: Mapping[str, Found]
    version: str

    def touching(self, study: Study, claim: str) -> list[Unsaid]:
        """Return the parameters that can change a claim."""
        return [p for p in study.space.varied if p.name in self.claims[claim].touches]

    def effects(self, study: Study, claim: str) -> list[Effect]:
        """Return what each parameter does to a claim, the one that explains most first."""
        verdicts = self.claims[claim].claim_verdicts()
        return effects(self.touching(study, claim), self.settings, verdicts)

    def causes(self, study: Study, claim: str) -> list[Effect]:
        """Return the one or two parameters that decide."""
        found = self.claims[claim]
        return causes(self.touching(study, claim), self.settings, found.claim_verdicts())

    def best(self, study: Study, claim: ClaimRow, count: int) -> list[Setting]:
        """Return the settings of the design nearest to what the paper shows.

        A claim that the design has not judged takes the settings nearest to the claims whose points are among
        its own, by their mean distance. Without such a claim it takes none.
        """
        rows = [row for row in study.claims if row.id in self.claims]
        near = [row for row in rows if row.id == claim.id] or [
            row for row in rows if set(row.points) <= set(claim.points)
        ]
        if not near:
            return []
        columns = zip(*(self.claims[row.id].distances for row in near), strict=True)
        distances = [statistics.fmean(values) for values in columns]
        order = sorted(range(len(self.settings)), key=lambda index: distances[index])
        return [self.settings[index] for index in order[:count]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = list(self.settings[0])
        return {
            "schema": 1,
            "version": self.version,
            "design": {
                "seed": DESIGN_SEED,
                "run_seeds": [DESIGN_SEEDS, DESIGN_SEEDS + self.seeds - 1],
            },
            "parameters": names,
            "settings": [[setting[name] for name in names] for setting in self.settings],
            "claims": {
                name: {
                    **({"tests": found.tests} if found.tests else {}),
                    "statements": {
                        says: "".join(_LETTERS[verdict] for verdict in found.verdicts[says])
                        for says in found.verdicts
                    },
                    "distances": [round(value, 4) for value in found.distances],
                    "touches": list(found.touches),
                    "second_look": found.second_look,
                    "more_seeds": {
                        says: round(value) if math.isfinite(value) else None
                        for says, value in found.more.items()
                    },
                }
                for name, found in self.claims.items()
            },
        }


def read(study: Study) -> Search | None:
    """Return the search kept in the study's folder; None if there is none.

    A claim that is new, or whose statements, tests or points, or a touching parameter's bounds, have changed
    since, is not among its claims.

    Raises:
        StudyError: It was made for other parameters.
    """
    path = study.folder / FILE
    data = read_json(path)
    if data is None:
        return None
    if set(data["parameters"]) != set(study.space.base):
        raise StudyError(f"{path}: made for other parameters; repeat: cogtcp reproduce --search")
    return _parsed(study, data)


def _parsed(study: Study, data: Mapping[str, Any]) -> Search:
    names = data["parameters"]
    settings = tuple(Setting(dict(zip(names, values, strict=True))) for values in data["settings"])
    now = study.space.design(len(settings), DESIGN_SEED)
    first, last = data["design"]["run_seeds"]
    seeds = last - first + 1
    claims = {}
    for claim in study.claims:
        kept = data["claims"].get(claim.id)
        if kept is None or set(kept["statements"]) != {statement.says for statement in claim.statements}:
            continue
        if kept.get("tests") not in (None, tests_of(claim)):
            continue
        if not all(_same(name, settings, now) for name in kept["touches"]):
            continue
        claims[claim.id] = Found(
            {
                says: tuple(_VERDICTS[letter] for letter in letters)
                for says, letters in kept["statements"].items()
            },
            tuple(kept["distances"]),
            tuple(kept["touches"]),
            {
                says: math.inf if value is None else float(value)
                for says, value in kept.get("more_seeds", {}).items()
            },
            kept.get("second_look", MORE * seeds),
            kept.get("tests", ""),
        )
    return Search(settings, seeds, claims, data["version"])


def _same(name: str, one: Sequence[Setting], other: Sequence[Setting]) -> bool:
    """Return whether a parameter has the same values in two designs."""
    return all(name in a and name in b and a[name] == b[name] for a, b in zip(one, other, strict=True))


def search(
    study: Context,
    claims: Sequence[ClaimRow],
    *,
    settings: int,
    seeds: int,
    version: str,
    progress: Callable[[str], None] = lambda _: None,
) -> Search:
    """Judge `claims` at each setting of the design; the other claims stay as they are kept."""
    space = study.study.space
    design = space.design(settings, DESIGN_SEED)
    most = most_seeds(study.study, seeds)
    judged: list[list[Judged]] = []
    for number, setting in enumerate(design, 1):
        judged.append(_look(study, claims, setting, seeds, most))
        progress(f"design: setting {number} of {len(design)}")
    found = _others(study, design, seeds)
    for index, claim in enumerate(claims):
        column = [row[index] for row in judged]
        found[claim.id] = Found(
            {
                statement.says: tuple(item.findings[place].verdict for item in column)
                for place, statement in enumerate(claim.statements)
            },
            tuple(distance(claim, item) for item in column),
            tuple(parameter.name for parameter in touching(study, claim)),
            _more_seeds(claim, column),
            most,
            tests_of(claim),
        )
    ordered = {claim.id: found[claim.id] for claim in study.study.claims if claim.id in found}
    return Search(tuple(design), seeds, ordered, version)


def _more_seeds(claim: ClaimRow, column: Sequence[Judged], tests: int = 0) -> dict[str, float]:
    """Return the median of the seeds more that each statement needs where it is inconclusive.

    `tests` is how many statements the claim has, where it is not judged as a whole.
    """
    needed: dict[str, list[float]] = {}
    for judged in column:
        seeds = len(next(iter(judged.grid.values())).records)
        for statement, finding in zip(claim.statements, judged.findings, strict=True):
            if finding.verdict == "inconclusive":
                more = power.more_seeds(statement, finding.clearance, seeds, tests or len(claim.statements))
                if not math.isnan(more):
                    needed.setdefault(statement.says, []).append(more)
    return {says: statistics.median(values) for says, values in needed.items()}


def most_seeds(study: Study, seeds: int) -> int:
    """Return how many seeds a setting of the design has at most, of so many at first."""
    return max(MORE * seeds, study.second_look_seeds)


def looked_on(
    study: Context, claim: ClaimRow, kept: Search, progress: Callable[[str], None] = lambda _: None
) -> Search:
    """Go on with a kept design where a claim is inconclusive, if the study allows more seeds now.

    The verdicts are as in a design made with that many seeds at once.
    """
    found = kept.claims[claim.id]
    most = most_seeds(study.study, kept.seeds)
    if found.second_look >= most:
        return kept
    verdicts = {says: list(column) for says, column in found.verdicts.items()}
    distances = list(found.distances)
    column = []
    open_settings = [i for i, verdict in enumerate(found.claim_verdicts()) if verdict == "inconclusive"]
    for number, index in enumerate(open_settings, 1):
        (judged,) = _look(study, [claim], kept.settings[index], found.second_look, most)
        for statement, finding in zip(claim.statements, judged.findings, strict=True):
            verdicts[statement.says][index] = finding.verdict
        distances[index] = distance(claim, judged)
        column.append(judged)
        progress(f"{claim.id}: inconclusive setting {number} of {len(open_settings)}, {judged.verdict} now")
    still = {says: value for says, value in found.more.items() if "inconclusive" in verdicts[says]}
    more = {**still, **_more_seeds(claim, column)}
    after = Found(
        {says: tuple(letters) for says, letters in verdicts.items()},
        tuple(distances),
        found.touches,
        more,
        most,
        found.tests,
    )
    return replace(kept, claims={**kept.claims, claim.id: after})


def lacking_seeds(study: Context, claim: ClaimRow, kept: Search) -> Search:
    """Measure how many seeds a claim lacks at a sample of the inconclusive settings of a kept design.

    The sample is of the settings at which that statement is inconclusive that most of them lack. They have
    the seeds of the second look again, at the points that the statement uses. The verdicts stay as they are.
    """
    found = kept.claims[claim.id]
    lack = found.lack()
    if lack is None or not math.isnan(lack.more):
        return kept
    says = lack.says
    where = [index for index, verdict in enumerate(found.verdicts[says]) if verdict == "inconclusive"]
    chosen = random.Random(claim.id).sample(where, min(SAMPLED, len(where)))  # noqa: S311 - a documented draw
    seeds = tuple(range(DESIGN_SEEDS, DESIGN_SEEDS + found.second_look))
    (statement,) = (item for item in claim.statements if item.says == says)
    points = tuple(point for point in claim.points if statement.uses(point))
    alone = replace(claim, points=points, statements=(statement,), mechanisms=())
    column = [
        judge(replace(study, seeds=seeds), [alone], kept.settings[index])[0] for index in sorted(chosen)
    ]
    more = {**found.more, **_more_seeds(alone, column, len(claim.statements))}
    return replace(kept, claims={**kept.claims, claim.id: replace(found, more=more)})


def _others(study: Context, design: Sequence[Setting], seeds: int) -> dict[str, Found]:
    """Return the stored results of claims that no new or changed parameter of this design touches."""
    data = read_json(study.study.folder / FILE)
    if data is None or len(data["settings"]) != len(design):
        return {}
    kept = _parsed(study.study, data)
    if kept.seeds != seeds:
        return {}
    return {
        claim.id: kept.claims[claim.id]
        for claim in study.study.claims
        if claim.id in kept.claims
        and {parameter.name for parameter in touching(study, claim)} <= set(kept.claims[claim.id].touches)
    }


def keep(study: Study, outcome: Search, folder: Path | None = None) -> Path:
    """Write `search.json` into the study's folder, or another."""
    path = (folder or study.folder) / FILE
    text = json.dumps(outcome.to_dict(), ensure_ascii=False, separators=(",", ":"))
    # A line for each setting and claim: a change shows in a diff as what it is.
    write_file(path, text.replace("],[", "],\n[").replace('},"', '},\n"') + "\n")
    return path


def _look(
    study: Context, claims: Sequence[ClaimRow], setting: Setting, seeds: int, most: int
) -> list[Judged]:
    """Judge claims under a setting of the design; those that are inconclusive again, on more and more seeds.

    A claim that fails by another statement gets a second look alone for those that are inconclusive: they do
    not change its verdict.
    """

    def look(count: int, rows: Sequence[ClaimRow]) -> dict[str, Judged]:
        if not rows:
            return {}
        there = replace(study, seeds=tuple(range(DESIGN_SEEDS, DESIGN_SEEDS + count)))
        return dict(zip([row.id for row in rows], judge(there, rows, setting), strict=True))

    judged = look(seeds, claims)
    open_rows, count = list(claims), seeds
    while open_rows and count < most:
        open_rows = [
            row
            for row in open_rows
            if judged[row.id].verdict == "inconclusive"
            and power.may_decide(judged[row.id].findings, count, most)
        ]
        part = [
            row
            for row in claims
            if count == seeds
            and judged[row.id].verdict == "fails"
            and any(item.verdict == "inconclusive" for item in judged[row.id].findings)
        ]
        count = min(MORE * count, most)
        judged |= look(count, [*open_rows, *part])
    return [judged[claim.id] for claim in claims]
