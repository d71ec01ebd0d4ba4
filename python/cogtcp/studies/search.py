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

from cogtcp.model.output import write_file
from cogtcp.studies import power
from cogtcp.studies.answers import Lack
from cogtcp.studies.causes import Effect, causes, effects
from cogtcp.studies.claims import tests_of
from cogtcp.studies.errors import StudyError
from cogtcp.studies.judging import distance, judge
from cogtcp.studies.space import Setting, show
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
_UNJUDGED = "-"
_VERDICTS: dict[str, Verdict] = {letter: verdict for verdict, letter in _LETTERS.items()}
# What was not judged is not known, and decides nothing: another statement fails there.
_VERDICTS[_UNJUDGED] = "inconclusive"


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
        unjudged: Settings at which a statement was not judged, by what it says: another one fails there.
    """

    verdicts: Mapping[str, tuple[Verdict, ...]]
    distances: tuple[float, ...]
    touches: tuple[str, ...]
    more: Mapping[str, float] = field(default_factory=dict)
    second_look: int = 0
    tests: str = ""
    unjudged: Mapping[str, frozenset[int]] = field(default_factory=dict)

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
        if says is None:
            return Support.of(self.claim_verdicts())
        left_out = self.unjudged.get(says, frozenset())
        return Support.of([found for i, found in enumerate(self.verdicts[says]) if i not in left_out])


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome of a search, as `search.json` keeps it."""

    settings: tuple[Setting, ...]
    seeds: int
    claims: Mapping[str, Found]
    version: str

    def narrower(self, study: Study) -> list[tuple[Unsaid, str]]:
        """Return the parameters that the design drew from other values than it would today, with those."""
        now = study.space.design(len(self.settings), DESIGN_SEED)
        told = []
        for parameter in study.space.varied:
            drawn = [setting[parameter.name] for setting in self.settings]
            if drawn == [setting[parameter.name] for setting in now]:
                continue
            if parameter.choices:
                values = ", ".join(show(value) for value in parameter.choices if value in drawn)
            else:
                values = f"{show(min(drawn, key=float))} to {show(max(drawn, key=float))}"
            told.append((parameter, f"{values} {parameter.unit}".rstrip()))
        return told

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
                        says: "".join(
                            _UNJUDGED if index in found.unjudged.get(says, ()) else _LETTERS[verdict]
                            for index, verdict in enumerate(verdicts)
                        )
                        for says, verdicts in found.verdicts.items()
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

    Claims are left out that are new, or whose statements, tests or points have changed since. So is a claim
    with a parameter that can no longer have a value of the design. A statement that was added since
    leaves the claim where another statement fails at each setting that was not judged by it: it cannot change
    the claim's verdict there.

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
    settings = _settings(data)
    first, last = data["design"]["run_seeds"]
    seeds = last - first + 1
    claims = {}
    for claim in study.claims:
        kept = data["claims"].get(claim.id)
        if kept is None or not _allowed(study, settings, kept["touches"]):
            continue
        found = _found(claim, kept, MORE * seeds, len(settings))
        if found is not None and not _open(found):
            claims[claim.id] = found
    return Search(settings, seeds, claims, data["version"])


def _settings(data: Mapping[str, Any]) -> tuple[Setting, ...]:
    names = data["parameters"]
    return tuple(Setting(dict(zip(names, values, strict=True))) for values in data["settings"])


def _found(claim: ClaimRow, kept: Mapping[str, Any], looked: int, count: int) -> Found | None:
    """Return what is kept of a claim; None where it has other statements or tests now.

    Statements that are new are unjudged.
    """
    said = [statement.says for statement in claim.statements]
    letters = kept["statements"]
    if not set(letters) <= set(said):
        return None
    is_new = len(letters) < len(said)
    if kept.get("tests") not in (None, tests_of(claim)) and not is_new:
        return None
    verdicts = {says: letters.get(says, _UNJUDGED * count) for says in said}
    return Found(
        {says: tuple(_VERDICTS[letter] for letter in found) for says, found in verdicts.items()},
        tuple(kept["distances"]),
        tuple(kept["touches"]),
        {
            says: math.inf if value is None else float(value)
            for says, value in kept.get("more_seeds", {}).items()
        },
        kept.get("second_look", looked),
        kept.get("tests", "") if not is_new else "",
        {
            says: frozenset(index for index, letter in enumerate(found) if letter == _UNJUDGED)
            for says, found in verdicts.items()
            if _UNJUDGED in found
        },
    )


def _open(found: Found) -> list[int]:
    """Return the settings at which a statement that was not judged may decide."""
    verdicts = found.claim_verdicts()
    unjudged = sorted(set().union(*found.unjudged.values())) if found.unjudged else []
    return [index for index in unjudged if verdicts[index] != "fails"]


def _allowed(study: Study, settings: Sequence[Setting], names: Sequence[str]) -> bool:
    """Return whether these parameters can have the values that they have in a design."""
    known = {parameter.name: parameter for parameter in study.space.unsaid}
    return all(name in known and known[name].allows(setting[name]) for setting in settings for name in names)


def search(
    study: Context,
    claims: Sequence[ClaimRow],
    *,
    settings: int,
    seeds: int,
    version: str,
    progress: Callable[[str], None] = lambda _: None,
) -> Search:
    """Judge `claims` at each setting of the design; the other claims stay as they are kept.

    Some of the claims alone are judged at the settings of a kept design of that size, so that all share them.
    A claim that has a statement more than it is kept with is judged only where none of the others fails.
    """
    data = read_json(study.study.folder / FILE)
    design = _design(study.study, claims, data, settings, seeds)
    kept = _partly(study.study, claims, data, design)
    most = most_seeds(study.study, seeds)
    judged: list[dict[str, Judged]] = []
    for index, setting in enumerate(design):
        rows = [row for row in claims if row.id not in kept or index in _open(kept[row.id])]
        looks = _look(study, rows, setting, seeds, most) if rows else []
        judged.append({row.id: look for row, look in zip(rows, looks, strict=True)})
        progress(f"design: setting {index + 1} of {len(design)}")
    found = _others(study, design, seeds)
    for claim in claims:
        column = {index: row[claim.id] for index, row in enumerate(judged) if claim.id in row}
        found[claim.id] = _together(study, claim, column, kept.get(claim.id), most)
    ordered = {claim.id: found[claim.id] for claim in study.study.claims if claim.id in found}
    return Search(tuple(design), seeds, ordered, version)


def _design(
    study: Study, claims: Sequence[ClaimRow], data: Mapping[str, Any] | None, settings: int, seeds: int
) -> Sequence[Setting]:
    """Return the settings at which claims are judged: the kept design's where some claims stay."""
    new = study.space.design(settings, DESIGN_SEED)
    if data is None or len(claims) == len(study.claims) or set(data["parameters"]) != set(study.space.base):
        return new
    first, last = data["design"]["run_seeds"]
    kept = _settings(data)
    same = len(kept) == settings and last - first + 1 == seeds
    return kept if same and _allowed(study, kept, [p.name for p in study.space.unsaid]) else new


def _partly(
    study: Study, claims: Sequence[ClaimRow], data: Mapping[str, Any] | None, design: Sequence[Setting]
) -> dict[str, Found]:
    """Return what is kept of claims that have statements more by now."""
    if data is None or _settings(data) != tuple(design):
        return {}
    found = {}
    for claim in claims:
        kept = data["claims"].get(claim.id)
        mine = None if kept is None else _found(claim, kept, 0, len(design))
        if mine is not None and _open(mine):
            found[claim.id] = mine
    return found


def _together(
    study: Context, claim: ClaimRow, column: Mapping[int, Judged], kept: Found | None, most: int
) -> Found:
    """Put together what was judged now and what is kept of a claim."""
    count = len(column) if kept is None else len(kept.distances)
    verdicts = {
        statement.says: tuple(
            column[index].findings[place].verdict if index in column else kept.verdicts[statement.says][index]  # type: ignore[union-attr]
            for index in range(count)
        )
        for place, statement in enumerate(claim.statements)
    }
    return Found(
        verdicts,
        tuple(
            distance(claim, column[index]) if index in column else kept.distances[index]  # type: ignore[union-attr]
            for index in range(count)
        ),
        tuple(parameter.name for parameter in touching(study, claim)),
        {**({} if kept is None else kept.more), **_more_seeds(claim, list(column.values()))},
        most,
        tests_of(claim),
        {} if kept is None else {says: left - set(column) for says, left in kept.unjudged.items()},
    )


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
        and all(_same(name, kept.settings, design) for name in kept.claims[claim.id].touches)
    }


def _same(name: str, one: Sequence[Setting], other: Sequence[Setting]) -> bool:
    """Return whether a parameter has the same values in two designs."""
    return all(name in a and name in b and a[name] == b[name] for a, b in zip(one, other, strict=True))


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
