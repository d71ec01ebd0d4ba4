"""The guided search: whether a claim can be reproduced, and under which reading.

A random design finds common readings; a rare reading needs a search. For each claim `exploring` proposes
settings, starting from the base and the best of the random design. The objective is the sum over the
statements of their clearance, (effect - bound) / standard error, each up to `CLEAR`. Once all
statements are clear of their bounds, it is the distance to the paper's numbers. If these stay farther than
15 %, a second search minimises this distance alone.

- *Common random numbers.* Every setting is judged on the same seeds.
- *Shared runs.* Settings that another claim of the same search has measured at all points of this one cost
  nothing: they are judged first, besides the trials.
- *Racing.* A setting is judged on few seeds first. It is given up as soon as a statement is on the wrong side
  of its bound by two standard errors, so hopeless settings cost little.
- *Confirmation.* The best settings are judged on seeds that had no part in the search, on as many as find the
  effects that the search saw with a power of 0.9. At most three are tried, so a claim is confirmed by chance
  with a probability of at most 15 %.
- *What reverses the verdict.* From confirmed values one parameter at a time moves to the nearest value at
  which a statement no longer holds. The value is sought on few seeds; the smallest change is shown on twelve.

The same study and the same trials give the same outcome. Runs are kept by the runner: an interrupted search
repeats its proposals without running them again. The outcome is `readings.json` in the study's folder;
`cogtcp reproduce NAME --claim ID --at best` runs it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from cogtcp.studies import power
from cogtcp.studies.claims import tests_of
from cogtcp.studies.exploring import explored
from cogtcp.studies.judging import distance_to_numbers, judge, numbers
from cogtcp.studies.readings import WITHIN, Hangs, Nearest, Part, Reading, Turn
from cogtcp.studies.touching import touching
from cogtcp.studies.verdicts import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.search import Search
    from cogtcp.studies.space import Setting, Unsaid, Value
    from cogtcp.studies.statements import Statement
    from cogtcp.studies.verdicts import Finding, Verdict

SEARCH_SEED = 2001
"""First seed of the guided search; a reproduction counts from 1, the random design from 101."""
CONFIRM_SEED = 5001
"""The first seed of the runs that confirm a reading."""
RUNGS = (3, 6, 12)
"""Seeds on which a setting is judged, one after the other."""
HOPELESS = -2.0
"""Clearance, in standard errors, below which a setting gets no more seeds."""
CLEAR = 3.0
"""Clearance on the seeds of the last rung from which on a statement counts as clear of its bound."""
TRIALS = 80
STARTS = 4
"""How many of the best settings of the design the search starts from, besides the base."""
CANDIDATES = 3
"""How many settings are confirmed at most."""
FEWEST = 12
"""Seeds of a confirmation, at least; a study says how many at most."""
_NEVER = -1000.0
_SCALE = 10.0
"""Clearance, in standard errors, at which a statement is three quarters of what can be lost by it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting that the search judged.

    Attributes:
        setting: The setting.
        judged: The claim there, on the seeds of the last rung that it reached.
        clearances: For each statement, as it would be on the seeds of the last of all rungs.
        seeds: The seeds of `judged`.
    """

    setting: Setting
    judged: Judged
    clearances: tuple[float, ...]
    seeds: int

    @property
    def least(self) -> float:
        """The least clearance over the statements."""
        return min(self.clearances)

    @property
    def holding(self) -> int:
        """How many statements are on the right side of their bounds."""
        return sum(value > 0 for value in self.clearances)


class Pool:
    """Settings that claims of one search have measured, for those that come after them."""

    def __init__(self) -> None:
        self._known: list[tuple[ClaimRow, list[Setting]]] = []

    def add(self, claim: ClaimRow, settings: Iterable[Setting]) -> None:
        """Add the settings that were judged for a claim."""
        self._known.append((claim, list(settings)))

    def of(self, claim: ClaimRow) -> list[Setting]:
        """Return the settings whose runs have all that a claim needs."""
        return [
            setting
            for other, settings in self._known
            if (other.measure, other.trace) == (claim.measure, claim.trace)
            and set(claim.points) <= set(other.points)
            for setting in settings
        ]


def find_reading(
    study: Context,
    claim: ClaimRow,
    design: Search | None,
    trials: int = TRIALS,
    progress: Callable[[str], None] = lambda _: None,
    pool: Pool | None = None,
    kept: Reading | None = None,
) -> Reading:
    """Search the reading that reproduces a claim best, and confirm it on fresh seeds.

    A search goes on from the settings of the reading that is kept.
    """
    pool = pool or Pool()
    varied = touching(study, claim)
    shared = pool.of(claim)
    # They cost nothing, and must not take the place of trials.
    trials += len(shared)
    starts = [
        *shared,
        study.study.space.base,
        *(study.study.space.parsed(reading) for reading in study.study.starts),
        *([] if kept is None else [item for item in kept.settings if item != study.study.space.base]),
        *([] if design is None else design.best(study.study, claim, STARTS)),
    ]
    made: dict[Setting, Trial] = {}

    def score(setting: Setting) -> float:
        if setting not in made:
            made[setting] = _race(study, claim, setting)
        return _score(claim, made[setting])

    tried: dict[Setting, Judged] = {}

    def confirm(trial: Trial) -> bool:
        if trial.setting not in tried and len(tried) < CANDIDATES:
            wanted = _confirming_seeds(claim, trial, study.study.confirm_seeds)
            tried[trial.setting] = _judge(study, claim, trial.setting, CONFIRM_SEED, wanted)
        return trial.setting in tried and tried[trial.setting].verdict == "holds"

    for setting in _explored(study, claim, varied, starts, trials, score):
        if is_found(claim, made[setting]) and confirm(made[setting]):
            break
    for trial in sorted(made.values(), key=lambda trial: _promise(claim, trial), reverse=True):
        known = any(judged.verdict == "holds" for judged in tried.values())
        # Where all fall short, one that holds as many statements as the search saw is enough.
        short = trial.least <= 0 and max(map(_held, tried.values()), default=-1) >= trial.holding
        if known or len(tried) == CANDIDATES or short or confirm(trial):
            break
    confirmed = max(tried.values(), key=lambda judged: (judged.verdict == "holds", _held(judged)))
    best = made[confirmed.setting]
    seeds = len(next(iter(confirmed.grid.values())).records)
    turn = _turn(study, claim, varied, best.setting) if confirmed.verdict == "holds" else None
    nearest, looked = _nearest(study, claim, varied, made, confirmed, trials - len(shared))
    nearest = _nearer(study, claim, nearest, kept)
    pool.add(claim, [*made, *looked])
    progress(f"{claim.id}: {len(made)} settings, {_held(confirmed)} of {len(claim.statements)} statements")
    return Reading(
        setting=best.setting,
        parts=_parts(claim, confirmed),
        seeds=(CONFIRM_SEED, CONFIRM_SEED + seeds - 1),
        # At least: some of an earlier search's settings are judged again.
        evaluated=max(len(made) + len(looked), 0 if kept is None else kept.evaluated),
        # JSON has no infinity.
        least=best.least if math.isfinite(best.least) else math.copysign(99.0, best.least),
        numbers=tuple(numbers(claim, confirmed.grid)),
        nearest=nearest,
        turn=turn,
        mechanisms=_mechanisms(claim, confirmed),
        tests=tests_of(claim),
        removed=_removed(study, claim, confirmed),
    )


def _nearer(study: Context, claim: ClaimRow, nearest: Nearest | None, kept: Reading | None) -> Nearest | None:
    """Return the setting nearest to the paper's numbers: the one found or the kept one, on the same seeds.

    The search chooses by few seeds, so that it may pass over the setting of an earlier search.
    """
    if nearest is None or kept is None or kept.nearest is None or nearest.within == len(nearest.numbers):
        return nearest
    judged = _judge(study, claim, kept.nearest.setting, CONFIRM_SEED, FEWEST)
    distance = distance_to_numbers(claim, judged)
    if distance >= nearest.distance:
        return nearest
    return replace(kept.nearest, distance=distance, numbers=tuple(numbers(claim, judged.grid)))


def confirmed_again(study: Context, claim: ClaimRow, reading: Reading, seeds: int | None = None) -> Reading:
    """Measure kept values on their seeds again, or on so many; what the search found besides stays.

    Where all statements hold that did not before, the change that reverses the verdict is sought. What the
    nearness to the paper's numbers hangs on is looked for where it is not known.
    """
    first, last = reading.seeds
    count = seeds or last - first + 1
    judged = _judge(study, claim, reading.setting, first, count)
    turn, nearest = reading.turn, reading.nearest
    if judged.verdict == "holds" and reading.held < len(reading.parts):
        turn = _turn(study, claim, touching(study, claim), reading.setting)
    if nearest is not None and nearest.hangs is None:
        there = _judge(study, claim, nearest.setting, CONFIRM_SEED, FEWEST)
        nearest = replace(nearest, hangs=_hangs(study, claim, touching(study, claim), there))
    return replace(
        reading,
        turn=turn,
        nearest=nearest,
        seeds=(first, first + count - 1),
        parts=_parts(claim, judged),
        numbers=tuple(numbers(claim, judged.grid)),
        mechanisms=_mechanisms(claim, judged),
        tests=tests_of(claim),
        removed=_removed(study, claim, judged),
    )


def confirmed_at(study: Context, claim: ClaimRow, reading: Reading, setting: Setting, seeds: int) -> Reading:
    """Measure a setting that is named on fresh seeds; it is the reading if no fewer statements hold."""
    there = confirmed_again(
        study, claim, replace(reading, setting=setting, turn=None, parts=_open(reading)), seeds
    )
    return there if there.held >= reading.held else reading


def _open(reading: Reading) -> tuple[Part, ...]:
    """Return the statements as if nothing were known of them: they were measured at another setting."""
    return tuple(replace(item, answer="inconclusive") for item in reading.parts)


def _parts(claim: ClaimRow, judged: Judged) -> tuple[Part, ...]:
    return tuple(part(*both) for both in zip(claim.statements, judged.findings, strict=True))


def _mechanisms(claim: ClaimRow, judged: Judged) -> tuple[Part, ...]:
    tests = [mechanism.test for mechanism in claim.mechanisms]
    return tuple(part(*both) for both in zip(tests, judged.mechanisms, strict=True))


def _removed(study: Context, claim: ClaimRow, judged: Judged) -> dict[str, Verdict]:
    """Remove each mechanism that is seen at a reading; return what its statement comes to then."""
    seeds = len(next(iter(judged.grid.values())).records)
    known = {
        statement.says: finding.verdict
        for statement, finding in zip(claim.statements, judged.findings, strict=True)
    }
    found: dict[str, Verdict] = {}
    for mechanism, seen in zip(claim.mechanisms, judged.mechanisms, strict=True):
        if not mechanism.without or seen.verdict != "holds" or known[mechanism.against] == "holds":
            continue
        there = _judge(study, claim, judged.setting.but(**mechanism.without), CONFIRM_SEED, seeds)
        says = [statement.says for statement in claim.statements]
        found[mechanism.test.says] = there.findings[says.index(mechanism.against)].verdict
    return found


def part(statement: Statement, finding: Finding) -> Part:
    """Return a statement at a reading, as `readings.json` stores it."""
    return Part(
        statement.says,
        finding.verdict,
        *(finding.estimate, finding.low, finding.high),
        *(finding.slack, finding.clearance),
    )


def is_found(claim: ClaimRow, trial: Trial) -> bool:
    """Whether there is nothing left to look for: all statements clear, all numbers within 15 %."""
    return trial.least >= CLEAR and _is_close(claim, trial.judged)


def _is_close(claim: ClaimRow, judged: Judged) -> bool:
    return all(abs(measured / paper - 1) <= WITHIN for _, paper, measured in numbers(claim, judged.grid))


def clearance(finding: Finding) -> float:
    """Return the clearance of a finding; by its verdict where its test has none."""
    # Bounded below: one hopeless statement is not to drown what the others say.
    if not math.isnan(finding.clearance):
        return max(finding.clearance, _NEVER)
    slack = finding.slack if math.isfinite(finding.slack) else 0.0
    if finding.verdict == "holds":
        return CLEAR
    return min(slack, 0.0) + (HOPELESS - 1 if finding.verdict == "fails" else 0.0)


def _judge(study: Context, claim: ClaimRow, setting: Setting, first: int, count: int) -> Judged:
    (judged,) = judge(replace(study, seeds=tuple(range(first, first + count))), [claim], setting)
    return judged


def _race(study: Context, claim: ClaimRow, setting: Setting) -> Trial:
    """Judge a setting on more and more seeds, as long as there is hope."""
    for count in RUNGS:
        judged = _judge(study, claim, setting, SEARCH_SEED, count)
        # A clearance is in standard errors, which shrink with the root of the seeds: so all rungs compare.
        scale = math.sqrt(RUNGS[-1] / count)
        seen = [clearance(finding) for finding in judged.findings]
        trial = Trial(setting, judged, tuple(value * scale for value in seen), count)
        if min(seen) < HOPELESS:
            break
    return trial


def objective(clearances: Sequence[float]) -> float:
    """Return what the search maximises while a statement is not clear of its bound.

    Each statement counts by its clearance, up to `CLEAR`; a hopeless one is not to drown what the
    others say. So a setting gets on by any statement, not by the worst alone.
    """
    return sum(math.tanh(min(value, CLEAR) / _SCALE) for value in clearances)


def _score(claim: ClaimRow, trial: Trial) -> float:
    """Return the objective: how clear the statements are, then the paper's numbers."""
    found = objective(trial.clearances)
    if trial.least < CLEAR:
        return found
    return found + 1 / (1 + distance_to_numbers(claim, trial.judged))


def _promise(claim: ClaimRow, trial: Trial) -> tuple[bool, float, float, float]:
    """Return what orders settings for confirmation: whether all statements may hold, then how nearly.

    Beyond what counts as clear, a clearance says no more.
    """
    near = sum(min(max(value, -CLEAR), CLEAR) for value in trial.clearances)
    return trial.least > 0, near, _score(claim, trial), trial.least


def _held(judged: Judged) -> int:
    return sum(finding.verdict == "holds" for finding in judged.findings)


def _explored(
    study: Context,
    claim: ClaimRow,
    varied: Sequence[Unsaid],
    starts: Sequence[Setting],
    trials: int,
    score: Callable[[Setting], float],
) -> Iterator[Setting]:
    """Yield the settings that the search proposes, each when it has been scored."""
    # By the claim, so that its search is the same whichever others are searched with it.
    seed = int.from_bytes(claim.id.encode()[-4:], "big")
    return explored(study.study.space.base, varied, starts, trials, score, seed)


def _nearest(
    study: Context,
    claim: ClaimRow,
    varied: Sequence[Unsaid],
    made: dict[Setting, Trial],
    confirmed: Judged,
    trials: int,
) -> tuple[Nearest | None, list[Setting]]:
    """Search the setting nearest to the paper's numbers, whatever the statements; None where it prints none.

    Also returns the settings that were judged for it.
    """
    if not claim.numbers:
        return None, []
    distances = {setting: distance_to_numbers(claim, trial.judged) for setting, trial in made.items()}

    def score(setting: Setting) -> float:
        if setting not in distances:
            judged = _judge(study, claim, setting, SEARCH_SEED, RUNGS[0])
            distances[setting] = distance_to_numbers(claim, judged)
        return -distances[setting]

    judged = confirmed
    if not _is_close(claim, confirmed):
        starts = sorted(distances, key=lambda setting: distances[setting])[:STARTS]
        # The starts are known: they cost nothing.
        for _ in _explored(study, claim, varied, starts, len(starts) + trials, score):
            pass
        best = min(distances, key=lambda setting: distances[setting])
        judged = _judge(study, claim, best, CONFIRM_SEED, FEWEST)
    found = Nearest(
        judged.setting,
        distance_to_numbers(claim, judged),
        tuple(numbers(claim, judged.grid)),
        _hangs(study, claim, varied, judged),
    )
    return found, [setting for setting in distances if setting not in made]


def _hangs(study: Context, claim: ClaimRow, varied: Sequence[Unsaid], nearest: Judged) -> Hangs | None:
    """Return what the nearness to the paper's numbers hangs on; None where all of them are within 15 %.

    One parameter at a time goes to its other choices, or to the ends of its range, on few seeds. The few
    changes that take the setting farthest away are measured on as many as the nearest setting has.
    """
    if _is_close(claim, nearest):
        return None
    here = nearest.setting
    moves = [
        (parameter, value)
        for parameter in varied
        for value in parameter.choices or (parameter.at(0.0), parameter.at(1.0))
        if value != here[parameter.name]
    ]

    def distance(move: tuple[Unsaid, Value], first: int, count: int) -> float:
        parameter, value = move
        there = here.but(**{parameter.name: value})
        return distance_to_numbers(claim, _judge(study, claim, there, first, count))

    # In the study's order among equals.
    far = sorted(moves, key=lambda move: -distance(move, SEARCH_SEED, RUNGS[0]))[:CANDIDATES]
    found = [Hangs(move[0].name, move[1], distance(move, CONFIRM_SEED, FEWEST)) for move in far]
    return max(found, key=lambda hangs: hangs.distance, default=None)


def _confirming_seeds(claim: ClaimRow, trial: Trial, most: int) -> int:
    """Return how many seeds find the effects that the search saw, each with a power of 0.9^(1/k)."""
    clear = [value for value in trial.clearances if value > 0]
    if not clear:
        return FEWEST
    normal = NormalDist()
    # All statements must be found together: each needs more than the power of the whole.
    wanted = normal.inv_cdf(1 - LEVEL) + normal.inv_cdf(power.POWER ** (1 / len(claim.statements)))
    least = min(clear)
    return int(min(max(math.ceil(RUNGS[-1] * (wanted / least) ** 2), FEWEST), most))


def _turn(study: Context, claim: ClaimRow, varied: Sequence[Unsaid], reading: Setting) -> Turn | None:
    """Return the smallest change of one parameter, to an eighth of its range, that turns the claim over.

    It is looked for on few seeds, and shown on as many as the last rung has.
    """

    def least(parameter: Unsaid, value: Value, count: int) -> float:
        judged = _judge(study, claim, reading.but(**{parameter.name: value}), SEARCH_SEED, count)
        return min(clearance(finding) for finding in judged.findings)

    def turned(parameter: Unsaid, value: Value) -> bool:
        return least(parameter, value, RUNGS[0]) < 0

    found: list[tuple[Unsaid, Turn]] = []
    for parameter in varied:
        here = reading[parameter.name]
        if parameter.choices:
            others = [value for value in parameter.choices if value != here and turned(parameter, value)]
            found += [(parameter, Turn(parameter.name, here, value, 1.0)) for value in others]
            continue
        for end in (0.0, 1.0):
            start, stop = parameter.share(here), end
            if abs(stop - start) < 1 / 8 or not turned(parameter, parameter.at(stop)):
                continue
            while abs(stop - start) > 1 / 8:
                middle = (start + stop) / 2
                if turned(parameter, parameter.at(middle)):
                    stop = middle
                else:
                    start = middle
            change = abs(stop - parameter.share(here))
            found.append((parameter, Turn(parameter.name, here, parameter.at(stop), change)))
    # From the smallest change up: what few seeds made of chance is passed over.
    for parameter, turn in sorted(found, key=lambda item: item[1].change):
        if least(parameter, turn.there, RUNGS[-1]) < HOPELESS:
            return turn
    return None
