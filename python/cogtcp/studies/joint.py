"""The joint setting of a paper: the one setting, compatible with it, where most of its claims hold together.

A paper had one simulation. The guided search looks for the best setting of each claim alone; here one setting
is judged by all claims of the paper. A parameter that several figures share has one value. A parameter that
touches one figure alone has its own.

The search starts from the settings of the random design and from the best settings of the claims. It takes
over, block by block, what serves a claim that fails, and steps away from the best setting found so far. A
claim is judged again only where a parameter that touches it has changed. Each move is made for one claim that
fails, which is judged first: if it comes no nearer, or if too many others are lost, the move is given up. A
claim that fails at each setting known so far does not steer the search. Few seeds flatter the best of many
settings: these are judged again on more. The settings where most claims are likely to hold are confirmed, for
all claims, on seeds that had no part in any search. For each claim that fails there, the smallest change
towards its own best setting is kept with which it holds.

The outcome is `joint.json` in the study's folder; `cogtcp reproduce NAME --joint` runs it.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from cogtcp.model.output import write_file
from cogtcp.studies import readings
from cogtcp.studies.claims import tests_of
from cogtcp.studies.exploring import step
from cogtcp.studies.guided import RUNGS, SEARCH_SEED, clearance, part
from cogtcp.studies.judging import judge, numbers
from cogtcp.studies.stored import read_json
from cogtcp.studies.touching import touching
from cogtcp.studies.verdicts import LEVEL, combine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.folder import Study
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.readings import Part, Reading
    from cogtcp.studies.search import Search
    from cogtcp.studies.space import Setting, Space, Unsaid, Value
    from cogtcp.studies.verdicts import Verdict

FILE = "joint.json"
FIRST_SEED, SEEDS = 6001, 40
"""The fresh seeds of a confirmation."""
FEW_SEEDS = 8
"""Seeds on which a claim may fail before it has had all of them."""
STARTS = 4
"""Settings of the random design from which the search starts."""
LOOKED_AGAIN = 6
"""Settings that are judged on more seeds before some of them are confirmed."""
CANDIDATES = 2
"""Settings that are confirmed at most."""
WIDTH = 0.15
"""Width of a step, as a share of a parameter's range."""
_ONE_SIDED = NormalDist().inv_cdf(1 - LEVEL)
_BOUND = 10.0
"""Clearance of a claim that holds, in standard errors, beyond which more says no more."""


@dataclass(frozen=True, slots=True)
class Change:
    """What must change for a claim that fails at the joint setting.

    Attributes:
        values: Parameters, each with the value at which the claim holds.
        held: How many of its statements hold then, on the confirming seeds.
    """

    values: Mapping[str, Value]
    held: int


@dataclass(frozen=True, slots=True)
class There:
    """A claim at the joint setting.

    Attributes:
        parts: Its statements.
        change: What must change for it; None where it holds, or where no such change was found.
        tests: Digest of what was tested (`claims.tests_of`).
        seeds: How many of the fresh seeds it had.
        numbers: What the paper prints beside what was measured: says, paper, measured.
        mechanisms: What may keep statements from holding, tested there.
        tried: At how many settings the search judged the claim; 0 if that was not recorded.
    """

    parts: tuple[Part, ...]
    change: Change | None
    tests: str
    seeds: int = SEEDS
    numbers: tuple[tuple[str, float, float], ...] = ()
    mechanisms: tuple[Part, ...] = ()
    tried: int = 0

    @property
    def held(self) -> int:
        """How many statements hold."""
        return sum(part.answer == "holds" for part in self.parts)

    @property
    def verdict(self) -> Verdict:
        """The verdict of the claim."""
        return combine([part.answer for part in self.parts])

    def told_change(self, space: Space) -> str:
        """Return the values with which the claim holds; empty where it holds as it is."""
        if self.change is not None:
            return space.told(self.change.values)
        return "" if self.verdict == "holds" else "no change found"


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint setting, and each claim there.

    Attributes:
        setting: The setting.
        seeds: First and last seed of the confirmation.
        evaluated: How many settings the search judged; 0 if that was not recorded.
        claims: The paper's claims there, by id.
    """

    setting: Setting
    seeds: tuple[int, int]
    evaluated: int
    claims: Mapping[str, There]

    @property
    def held(self) -> int:
        """How many claims hold."""
        return sum(there.verdict == "holds" for there in self.claims.values())

    @property
    def text(self) -> str:
        """The count in words."""
        return f"{self.held} of {len(self.claims)} claims hold together at one setting"

    @property
    def confirmed(self) -> str:
        """The count in words, with the seeds."""
        first, last = self.seeds
        return f"{self.text} ({last - first + 1} fresh seeds)"

    @property
    def order(self) -> tuple[int, float]:
        """What orders confirmed settings: claims that hold, then the shares of statements."""
        return _order([[part.answer for part in there.parts] for there in self.claims.values()])


def read(study: Study) -> Joint | None:
    """Return the stored joint setting; None if there is none, or if a claim or a parameter has changed since.

    Claims that were not judged for it are left out.
    """
    data = read_json(study.folder / FILE)
    if data is None or not set(data["setting"]) <= set(study.space.base):
        return None
    claims = {}
    for row in study.claims:
        kept = data["claims"].get(row.id)
        if kept is None:
            continue
        if kept["tests"] != tests_of(row):
            return None
        change = kept["change"]
        claims[row.id] = There(
            readings.read_parts(kept["statements"]),
            None if change is None else Change(change["values"], change["held"]),
            kept["tests"],
            kept["seeds"],
            readings.read_numbers(kept["numbers"]),
            readings.read_parts(kept["mechanisms"]),
            kept.get("tried", 0),
        )
    first, last = data["seeds"]
    return Joint(study.space.base.but(**data["setting"]), (first, last), data["evaluated"], claims)


def with_readings(study: Study) -> dict[str, Reading]:
    """Return the best parameter values of each claim: the joint setting where more of it holds there.

    For a claim count the settings that its own search and the joint search tried. Where the joint search did
    not record at how many it judged the claim, the joint setting alone counts, if it is the best.
    """
    found, together = readings.read(study), read(study)
    if together is None:
        return found
    for name, there in together.claims.items():
        tried = there.tried + (found[name].evaluated if name in found else 0)
        if name in found and found[name].held >= there.held:
            found[name] = replace(found[name], evaluated=tried)
            continue
        first = together.seeds[0]
        found[name] = readings.Reading(
            setting=together.setting,
            parts=there.parts,
            seeds=(first, first + there.seeds - 1),
            evaluated=tried + (there.tried == 0),
            least=math.nan,
            numbers=there.numbers,
            nearest=None,
            turn=None,
            mechanisms=there.mechanisms,
            tests=there.tests,
            turn_known=False,
        )
    return found


def keep(study: Study, joint: Joint, version: str) -> Path:
    """Write `joint.json` into the study's folder."""
    path = study.folder / FILE
    base = study.space.base
    head = {
        "schema": 1,
        "version": version,
        "setting": {name: value for name, value in joint.setting.items() if value != base[name]},
        "seeds": list(joint.seeds),
        "evaluated": joint.evaluated,
    }
    lines = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(_plain(there), ensure_ascii=False, separators=(',', ':'))}"
        for name, there in joint.claims.items()
    )
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).removesuffix("}")
    write_file(path, f'{text},"claims":{{\n{lines}\n}}}}\n')
    return path


def _plain(there: There) -> dict[str, Any]:
    change = there.change
    return {
        "tests": there.tests,
        "statements": readings.plain_parts(there.parts),
        "change": None if change is None else {"values": dict(change.values), "held": change.held},
        "seeds": there.seeds,
        "numbers": readings.plain_numbers(there.numbers),
        "mechanisms": readings.plain_parts(there.mechanisms),
        **({"tried": there.tried} if there.tried else {}),
    }


class Bench:
    """Judges settings by all claims of a paper; a claim only where a parameter that touches it is new.

    Attributes:
        rows: The claims.
        judged: How many settings were judged.
    """

    def __init__(self, study: Context, rows: Sequence[ClaimRow], seeds: int = RUNGS[0]) -> None:
        self.rows = rows
        self.judged = 0
        self._touches: dict[str, list[Unsaid]] = {}
        self._study = replace(study, seeds=tuple(range(SEARCH_SEED, SEARCH_SEED + seeds)))
        self._known: dict[tuple[str, tuple[Value, ...]], tuple[float, ...]] = {}

    def touches(self, row: ClaimRow) -> list[Unsaid]:
        """Return the parameters that can change a claim's runs."""
        if row.id not in self._touches:
            self._touches[row.id] = touching(self._study, row)
        return self._touches[row.id]

    def clearances(
        self, setting: Setting, only: Sequence[ClaimRow] | None = None
    ) -> dict[str, tuple[float, ...]]:
        """Return the clearances of each claim's statements, in standard errors on the last rung's seeds."""
        rows = self.rows if only is None else only
        keys = {
            row.id: (row.id, tuple(setting[parameter.name] for parameter in self.touches(row)))
            for row in rows
        }
        new = [row for row in rows if keys[row.id] not in self._known]
        self.judged += bool(new)
        scale = math.sqrt(RUNGS[-1] / len(self._study.seeds))
        for row, judged in zip(new, judge(self._study, new, setting) if new else (), strict=True):
            self._known[keys[row.id]] = tuple(scale * clearance(found) for found in judged.findings)
        return {row.id: self._known[keys[row.id]] for row in rows}

    def tried(self, row: ClaimRow) -> int:
        """Return at how many settings a claim was judged, each value of its own parameters once."""
        return sum(name == row.id for name, _ in self._known)

    def score(self, setting: Setting) -> tuple[int, float, float]:
        """Return what orders settings: claims that hold, the share of statements, how clearly."""
        found = self.clearances(setting).values()
        return (
            sum(min(values) > 0 for values in found),
            sum(sum(value > 0 for value in values) / len(values) for values in found),
            sum(_nearness(values) for values in found),
        )

    def likely(self, setting: Setting) -> float:
        """Return how many claims are expected to hold on the fresh seeds, if effects are as measured."""
        scale = math.sqrt(SEEDS / RUNGS[-1])
        found = self.clearances(setting).values()
        return sum(NormalDist().cdf(scale * min(values) - _ONE_SIDED) for values in found)

    def failing(self, setting: Setting) -> list[ClaimRow]:
        """Return the claims that do not hold at a setting."""
        found = self.clearances(setting)
        return [row for row in self.rows if min(found[row.id]) <= 0]

    def may_replace(self, here: Setting, moved: Setting, row: ClaimRow) -> bool:
        """Return whether a move made for one claim may lead to a better setting.

        The claim is judged first, then those with few runs. The move is given up if the claim comes no
        nearer, or as soon as more claims fail than at `here`.
        """
        allowed = len(self.failing(here))
        order = [row, *sorted((other for other in self.rows if other is not row), key=_runs)]
        before = _nearness(self.clearances(here, [row])[row.id])
        failed = 0
        for judged in order:
            now = self.clearances(moved, [judged])[judged.id]
            failed += min(now) <= 0
            if failed > allowed or (judged is row and _nearness(now) <= before):
                return False
        return True


def find(
    study: Context,
    design: Search | None,
    alone: Mapping[str, Reading],
    trials: int,
    progress: Callable[[str], None] = lambda _: None,
    before: Joint | None = None,
    named: Iterable[Setting] = (),
) -> Iterator[Joint]:
    """Search the joint setting of a paper's claims, confirm it, and find what must change for the others.

    Yields the confirmed setting, and again with each change that was found. A search that finds no better
    one keeps the setting of the earlier search, with the settings that were tried since.

    Args:
        study: The study; its seeds are set here.
        design: The random design.
        alone: The best setting of each claim.
        trials: How many settings are judged besides the starts; 0: the first named one, or else the kept one,
            is confirmed, and none is searched.
        progress: Called with a line.
        before: The joint setting of an earlier search.
        named: More settings to start from.
    """
    rows = [row for row in study.study.claims if not row.ours]
    bench = Bench(study, [row for row in rows if _may_hold(row, design, alone, before)])
    best_alone = {name: reading.setting for name, reading in alone.items()}
    starts = [*named, *([before.setting] if before else [])]
    others = [study.study.space.base, *_best(design, rows), *best_alone.values()]
    evaluated = before.evaluated if before is not None else 0
    if trials:
        if before is None:
            starts += others
            starts += [_mixed(bench, start, best_alone) for start in list(starts)]
        stream = random.Random(f"joint/{study.study.name}/{evaluated}")  # noqa: S311 - a documented draw
        found_best, judged_now = _searched(bench, starts, others, best_alone, trials, progress, stream)
        ranked = _looked_again(Bench(study, bench.rows, RUNGS[-1]), found_best, progress)
        evaluated += judged_now
    else:
        # A setting that is only measured again was not searched.
        ranked, evaluated = starts[:1], max(evaluated, 1)
    confirmed = [(setting, _confirmed(study, rows, setting, progress)) for setting in ranked]
    setting, judged = max(confirmed, key=lambda item: _order(_answers(item[1])))
    earlier = {} if before is None else {name: there.tried for name, there in before.claims.items()}
    # A claim that does not steer was judged at the confirmed settings alone.
    now = {row.id: bench.tried(row) or len(confirmed) for row in rows} if trials else {}
    tried = {row.id: max(earlier.get(row.id, 0) + now.get(row.id, 0), 1) for row in rows}
    found = Joint(
        setting,
        (FIRST_SEED, FIRST_SEED + SEEDS - 1),
        evaluated,
        {
            row.id: There(
                tuple(part(*both) for both in zip(row.statements, item.findings, strict=True)),
                None,
                tests_of(row),
                len(next(iter(item.grid.values())).records),
                tuple(numbers(row, item.grid)),
                tuple(
                    part(mechanism.test, finding)
                    for mechanism, finding in zip(row.mechanisms, item.mechanisms, strict=True)
                ),
                tried[row.id],
            )
            for row, item in zip(rows, judged, strict=True)
        },
    )
    if trials and before is not None and set(before.claims) == set(tried) and before.order > found.order:
        progress(f"joint: the kept setting stays, {before.held} of {len(rows)} claims")
        kept = {name: replace(there, tried=tried[name]) for name, there in before.claims.items()}
        yield replace(before, evaluated=evaluated, claims=kept)
        return
    yield found
    for row in rows:
        there = found.claims[row.id]
        if there.verdict == "holds":
            continue
        change = _change(study, bench, row, setting, best_alone.get(row.id))
        if change is not None:
            found = replace(found, claims={**found.claims, row.id: replace(there, change=change)})
            progress(f"joint: {row.id} holds with {len(change.values)} values changed")
            yield found


def _searched(
    bench: Bench,
    starts: Sequence[Setting],
    others: Sequence[Setting],
    alone: Mapping[str, Setting],
    trials: int,
    progress: Callable[[str], None],
    stream: random.Random,
) -> tuple[list[Setting], int]:
    """Return the best settings that the search found, and how many it judged.

    Moves take values over from all settings that are known, `others` included.
    """
    known: dict[Setting, tuple[int, float, float]] = {}
    given_up: set[Setting] = set()

    def look(setting: Setting) -> None:
        if setting not in known:
            known[setting] = bench.score(setting)
            number = len(known) + len(given_up)
            progress(f"joint: setting {number}, {known[setting][0]} of {len(bench.rows)} claims")

    for setting in starts:
        look(setting)
    for _ in range(trials):
        here = max(known, key=lambda setting: known[setting])
        row = stream.choice(bench.failing(here) or list(bench.rows))
        moved = _moved(stream, bench, here, row, alone, [*others, *known])
        if moved in known or moved in given_up:
            continue
        if bench.may_replace(here, moved, row):
            look(moved)
        else:
            given_up.add(moved)
    best = sorted(known, key=lambda setting: known[setting], reverse=True)[:LOOKED_AGAIN]
    return best, len(known) + len(given_up)


def _looked_again(bench: Bench, best: Sequence[Setting], progress: Callable[[str], None]) -> list[Setting]:
    """Return the settings to confirm: those where most claims are likely to hold, by more seeds."""
    likely: dict[Setting, float] = {}
    for number, setting in enumerate(best, 1):
        likely[setting] = bench.likely(setting)
        place = f"at the best {number} of {len(best)}, on {RUNGS[-1]} seeds"
        progress(f"joint: {likely[setting]:.1f} claims expected {place}")
    return sorted(best, key=lambda setting: likely[setting], reverse=True)[:CANDIDATES]


def _may_hold(
    row: ClaimRow, design: Search | None, alone: Mapping[str, Reading], before: Joint | None
) -> bool:
    """Return whether a claim steers the search: at some known setting it does not fail, or none is known."""
    if before is not None and row.id in before.claims and before.claims[row.id].verdict != "fails":
        return True
    if row.id in alone:
        return combine([part.answer for part in alone[row.id].parts]) != "fails"
    if design is None or row.id not in design.claims:
        return True
    return any("fails" not in found for found in zip(*design.claims[row.id].verdicts.values(), strict=True))


def _runs(row: ClaimRow) -> int:
    return len(row.points)


def _nearness(clearances: Sequence[float]) -> float:
    """Return how near a claim is to holding, from below 0, or how clearly it holds, from 0 to 1.

    Logarithms: far from a bound, a step towards it counts still.
    """
    if min(clearances) > 0:
        return min(min(clearances) / _BOUND, 1.0)
    return -sum(math.log1p(max(-value, 0.0)) for value in clearances)


def _best(design: Search | None, rows: Sequence[ClaimRow]) -> list[Setting]:
    """Return the settings of the random design at which most claims hold, as stored."""
    if design is None:
        return []
    columns = [design.claims[row.id] for row in rows if row.id in design.claims]

    def score(index: int) -> tuple[int, float]:
        letters = [[found[index] for found in column.verdicts.values()] for column in columns]
        held = [sum(letter == "holds" for letter in mine) / len(mine) for mine in letters]
        return sum(value == 1 for value in held), sum(held)

    order = sorted(range(len(design.settings)), key=score, reverse=True)
    return [design.settings[index] for index in order[:STARTS]]


def _mixed(bench: Bench, start: Setting, alone: Mapping[str, Setting]) -> Setting:
    """Return a start with each figure's own parameters as in that figure's best setting."""
    owners: dict[str, set[str]] = {}
    for row in bench.rows:
        for parameter in bench.touches(row):
            owners.setdefault(parameter.name, set()).add(row.figure)
    changes: dict[str, Value] = {}
    for row in bench.rows:
        for parameter in bench.touches(row):
            if row.id in alone and len(owners[parameter.name]) == 1:
                changes.setdefault(parameter.name, alone[row.id][parameter.name])
    mixed: Setting = start.but(**changes)
    return mixed


def _moved(
    stream: random.Random,
    bench: Bench,
    here: Setting,
    row: ClaimRow,
    alone: Mapping[str, Setting],
    known: Sequence[Setting],
) -> Setting:
    """Return a neighbour of a setting: one or a few parameters that touch a claim are moved.

    Half of the moves take values over from the claim's best setting or another known one, half are steps.
    """
    parameters = bench.touches(row)
    moved: Setting = here
    for _ in range(20):
        count = min(stream.choice((1, 1, 2, 3)), len(parameters))
        chosen = stream.sample(parameters, count)
        if stream.random() < 0.5:
            other = alone[row.id] if row.id in alone and stream.random() < 0.5 else stream.choice(known)
            moved = here.but(**{parameter.name: other[parameter.name] for parameter in chosen})
        else:
            moved = here.but(**{p.name: step(stream, p, here[p.name], WIDTH) for p in chosen})
        if moved not in known:
            break
    return moved


def _confirmed(
    study: Context,
    rows: Sequence[ClaimRow],
    setting: Setting,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Judged]:
    """Judge claims on the fresh seeds; one that fails on the first few of them needs no more."""
    few, all_of_them = (
        replace(study, seeds=tuple(range(FIRST_SEED, FIRST_SEED + count))) for count in (FEW_SEEDS, SEEDS)
    )
    found = {}
    for row in rows:
        (found[row.id],) = judge(few, [row], setting)
        if found[row.id].verdict != "fails":
            (found[row.id],) = judge(all_of_them, [row], setting)
        progress(f"joint: {row.id} {found[row.id].verdict} on fresh seeds")
    return list(found.values())


def _answers(judged: Sequence[Judged]) -> list[list[Verdict]]:
    return [[found.verdict for found in item.findings] for item in judged]


def _order(answers: Sequence[Sequence[Verdict]]) -> tuple[int, float]:
    held = [sum(answer == "holds" for answer in mine) / len(mine) for mine in answers]
    return sum(value == 1 for value in held), sum(held)


def _change(
    study: Context, bench: Bench, row: ClaimRow, setting: Setting, there: Setting | None
) -> Change | None:
    """Return the smallest change towards a claim's own best setting with which it holds; None without one.

    One parameter after the other goes back to the joint setting, as long as the claim holds.
    """
    if there is None:
        return None
    values = {
        parameter.name: there[parameter.name]
        for parameter in bench.touches(row)
        if there[parameter.name] != setting[parameter.name]
    }

    def holds(changed: Mapping[str, Value]) -> bool:
        return min(bench.clearances(setting.but(**changed), [row])[row.id]) > 0

    if not values or not holds(values):
        return None
    for name in list(values):
        fewer = {other: value for other, value in values.items() if other != name}
        if fewer and holds(fewer):
            values = fewer
    (judged,) = _confirmed(study, [row], setting.but(**values))
    held = sum(found.verdict == "holds" for found in judged.findings)
    return Change(values, held) if judged.verdict == "holds" else None
