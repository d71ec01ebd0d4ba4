"""From a question to advice: races, the tuner between them, and what would change the answer."""

from __future__ import annotations

import itertools
import json
import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._errors import RunError, ScenarioError, UsageError
from cogtcp.deciding.advising import around, turning
from cogtcp.deciding.advising.advice import Advice, Candidate
from cogtcp.deciding.advising.inputs import Inputs
from cogtcp.deciding.advising.racing import Race, bounds
from cogtcp.deciding.advising.wanted import Wanted
from cogtcp.deciding.tuning import goal
from cogtcp.model.control import control_name
from cogtcp.model.output import prepare_folder, rewriting, write_file, write_table
from cogtcp.model.result import check_seed
from cogtcp.model.statistics import Interval
from cogtcp.running.runner import Case, Runner, available_processors
from cogtcp.running.space import Choice, Range, parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cogtcp.deciding.advising.racing import Kept
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner import Outcome
    from cogtcp.running.space import Parameter

#: What a folder of results holds besides its marker.
_DOCUMENT, _REPORT, _RUNS = "advice.json", "report.html", "runs"
_TABLE, _SCENARIO, _BEST = "runs.parquet", "scenario.toml", "best.toml"
_OURS = (_DOCUMENT, _REPORT, _RUNS, _TABLE, _SCENARIO, _BEST)
#: More candidates than this make a race long; a search is for that.
MOST_CANDIDATES = 200
#: Seeds after which a race ends: candidates that they do not separate are alike for most purposes.
MOST_SEEDS = 200
#: Shares of the budget: a race with uncertain inputs; a race before a search; the search.
_RACE, _RACE_BEFORE_SEARCH, _SEARCH = 0.7, 0.35, 0.35
#: How many of the best the tuner works on, and the trials and seeds that it takes at most for each.
_TUNED, _TRIALS, _TRIAL_SEEDS = 2, 24, 3
_BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|min|m|h|runs?)\s*")


@dataclass(frozen=True)
class Question:
    """What is asked, checked."""

    scenario: Scenario
    wanted: Wanted
    candidates: tuple[Candidate, ...]
    ranges: tuple[Parameter, ...]
    over: tuple[Parameter, ...]
    constraints: tuple[goal.Constraint, ...]
    uncertain: Mapping[str, str]
    inputs: Inputs
    margin: float
    seconds: float
    runs: int
    seed: int

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        objective: str,
        transports: Sequence[str | type],
        over: Mapping[str, str],
        constraints: Sequence[str],
        uncertain: Mapping[str, str],
        margin: float,
        budget: str,
        seed: int | None,
    ) -> Question:
        """Check what is asked. Raises `UsageError` or `ScenarioError`."""
        wanted = Wanted.of(objective)
        scenario = wanted.prepared(scenario)
        scenario.check()
        limits = tuple(goal.constraint(text, scenario) for text in constraints)
        if not 0 < margin < 1:
            raise UsageError(f"margin {margin:g}: write a share between 0 and 1, as 0.02 for 2 %")
        match = _BUDGET.fullmatch(budget)
        if match is None or float(match[1]) <= 0:
            raise UsageError(f'budget {budget}: write a time or a number of runs, as in "60 s" or "400 runs"')
        is_runs = match[2].startswith("run")
        seconds = math.inf if is_runs else float(match[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600}[match[2]]
        varied = parameters(scenario, over) if over else ()
        inputs = Inputs(scenario, uncertain)
        for one, other in itertools.product(varied, inputs.parameters):
            if one.place == other.place:
                raise UsageError(f"{one.path} is in both --over and --uncertain; leave it out of one")
        first = scenario.seed if seed is None else seed
        check_seed(first)
        # Races and the search take blocks of seeds one after the other: the last must be a seed, too.
        check_seed(first + 10 * MOST_SEEDS)
        inputs.check(scenario, first)
        candidates = _candidates(scenario, transports, [p for p in varied if isinstance(p, Choice)])
        return cls(
            scenario=scenario,
            wanted=wanted,
            candidates=candidates,
            ranges=tuple(p for p in varied if isinstance(p, Range)),
            over=tuple(varied),
            constraints=limits,
            uncertain=dict(uncertain),
            inputs=inputs,
            margin=margin,
            seconds=seconds,
            runs=int(float(match[1])) if is_runs else 10**9,
            seed=first,
        )

    @property
    def is_random(self) -> bool:
        """Whether seeds differ at all."""
        return bool(self.inputs.parameters) or any(
            candidate.scenario_of(self.scenario).is_random for candidate in self.candidates
        )

    @property
    def job(self) -> dict[str, Any]:
        """What a folder with the results is the result of: a larger budget goes on in it."""
        return {
            "verb": "advise",
            "scenario": self.scenario.hash,
            "objective": self.wanted.text,
            "candidates": [candidate.name for candidate in self.candidates],
            "over": [[parameter.path, repr(parameter)] for parameter in self.over],
            "constraints": [constraint.describe() for constraint in self.constraints],
            "uncertain": dict(self.uncertain),
            "margin": self.margin,
            "seed": self.seed,
        }


def _candidates(
    scenario: Scenario, transports: Sequence[str | type], choices: Sequence[Choice]
) -> tuple[Candidate, ...]:
    """Return the scenario as it is, and every transport with every combination of the choices."""
    names = list(dict.fromkeys(map(control_name, transports)))
    for name in names:
        # Not as those that cannot be simulated, which are left out.
        if ":" in name:
            scenario.with_transport(name).check_controls()
    changes = [
        tuple(zip((choice.path for choice in choices), values, strict=True))
        for values in itertools.product(*(choice.values for choice in choices))
    ]
    if len(names) * len(changes) > MOST_CANDIDATES:
        raise UsageError(
            f"{len(names)} transports and {len(changes)} combinations of values are more than "
            f"{MOST_CANDIDATES} candidates; name fewer, or write ranges, which are searched"
        )
    # By hash: two candidates that make the same scenario are one.
    found = {scenario.hash: Candidate("as it is")}
    errors: list[str] = []
    for name, change in itertools.product(names, changes):
        candidate = Candidate(_name(name, change), name, change)
        try:
            made = candidate.scenario_of(scenario)
            made.check()
        except ScenarioError as error:
            errors.append(f"{candidate.name}: {error}")
            continue
        if made.hash == scenario.hash:  # what it runs today has a name
            found[made.hash] = Candidate(candidate.name, name, change, as_it_is=True)
        else:
            found.setdefault(made.hash, candidate)
    if errors and len(found) == 1:
        raise UsageError(f"no candidate can be simulated: {errors[0]}")
    today = found[scenario.hash]
    if today.name == "as it is":
        found[scenario.hash] = Candidate("as it is", as_it_is=True)
    return tuple(found.values())


def _name(transport: str, changes: tuple[tuple[str, str], ...]) -> str:
    return ", ".join([transport, *(f"{path.rpartition('.')[2]} {value}" for path, value in changes)])


class Bench:
    """Makes runs for all parts of an advice, within its budget.

    Attributes:
        made: Runs so far.
        took_s: Time that new runs took on one processor, and how many were new.
        records: What is known of each candidate by seed: what `wanted.observe` returned, or an error.
    """

    def __init__(self, question: Question, runner: Runner) -> None:
        self.question = question
        self.made = 0
        self.took_s, self.new = 0.0, 0
        self.records: dict[str, dict[int, dict[str, float] | str]] = {}
        self._runner = runner
        self._started = time.monotonic()
        self._measure = question.wanted.measure

    def spent(self, share: float) -> bool:
        """Whether this share of the budget is used up."""
        return (
            time.monotonic() - self._started > share * self.question.seconds
            or self.made >= share * self.question.runs
        )

    @property
    def left_s(self) -> float:
        """Real time that is left; infinite without a limit."""
        return self.question.seconds - (time.monotonic() - self._started)

    def measure(
        self, candidates: Sequence[Candidate], seeds: Sequence[int], more: tuple[tuple[str, str], ...] = ()
    ) -> list[list[dict[str, float] | str]]:
        """Return the records of candidates by seed; `more` are changes on top of the candidates' own."""
        question = self.question
        scenarios = [candidate.scenario_of(question.scenario) for candidate in candidates]
        # A field that is changed on purpose keeps that value: the seed's draw of it is left out.
        drawn = {path for path, _ in more}
        cases = [
            Case(
                scenario,
                seed,
                self._measure,
                changes=tuple(c for c in question.inputs.draw(seed) if c[0] not in drawn) + more,
            )
            for seed in seeds
            for scenario in scenarios
        ]
        outcomes = self._runner.outcomes(cases)
        self.made += len(cases)
        self.took_s += math.fsum(outcome.seconds for outcome in outcomes)
        self.new += sum(not outcome.known for outcome in outcomes)
        rows = [
            [self._record(outcome) for outcome in outcomes[i :: len(scenarios)]]
            for i in range(len(scenarios))
        ]
        # Runs with a field changed are not runs of the candidate.
        if not more:
            for candidate, found in zip(candidates, rows, strict=True):
                self.records.setdefault(candidate.name, {}).update(zip(seeds, found, strict=True))
        return rows

    def _record(self, outcome: Outcome) -> dict[str, float] | str:
        if outcome.error:
            return outcome.error
        record = {name: float(value) for name, value in outcome.record.items()}
        metric = self.question.wanted.objective.metric
        # A mean over the other seeds would favour what fails to have a value where it is hard.
        if math.isnan(record[metric.name]):
            return f"{metric.name} has no value"
        return record

    def values(self, candidate: Candidate, name: str) -> list[float]:
        """Return a number of a candidate's runs that did not fail, by seed."""
        rows = self.records.get(candidate.name, {})
        return [row[name] for _, row in sorted(rows.items()) if not isinstance(row, str)]


def decide(
    question: Question,
    *,
    jobs: int | None,
    out: str | Path | None,
    force: bool,
    progress: Any,
    command: str | None,
) -> Advice:
    """Answer the question; with `out`, write the answer."""
    folder = None
    if out is not None:
        folder = prepare_folder(out, question.job, _OURS, keep=_RUNS, force=force)
    runner = Runner(None if folder is None else folder / _RUNS, jobs, progress)
    advice = _decide(question, Bench(question, runner), jobs or available_processors())
    if folder is not None:
        save(advice, folder, command)
    return advice


def save(advice: Advice, folder: Path, command: str | None) -> None:
    """Write advice into its folder."""
    with rewriting(folder, _OURS):
        write_table(folder / _TABLE, advice.runs, advice.provenance)
        write_file(folder / _SCENARIO, advice.scenario.to_toml())
        if advice.winner is not None:
            write_file(folder / _BEST, advice.scenario_of(advice.winner).to_toml())
        else:
            (folder / _BEST).unlink(missing_ok=True)
        document = {"provenance": advice.provenance, "command": command, **advice.to_dict()}
        write_file(
            folder / _DOCUMENT, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        )
        write_file(folder / _REPORT, advice.report(command=command))


def _decide(question: Question, bench: Bench, jobs: int) -> Advice:
    advice = Advice(
        scenario=question.scenario,
        wanted=question.wanted,
        constraints=question.constraints,
        candidates=question.candidates,
        uncertain=dict(question.uncertain),
        over=question.over,
        margin=question.margin,
        seed=question.seed,
        is_random=question.is_random,
    )
    try:
        # Without anything to look at after it, an undecided race may take the whole budget.
        last = _RACE if question.inputs.parameters else 1.0
        first = _RACE_BEFORE_SEARCH if question.ranges else last
        advice.race = _race(question, bench, question.candidates, question.seed, first, jobs)
        if question.ranges and advice.leader is not None:
            _search(question, bench, advice, jobs)
        if advice.leader is not None and question.inputs.parameters:
            turning.look(question, bench, advice)
        if advice.winner is not None:
            around.look(question, bench, advice)
    except KeyboardInterrupt:
        advice.interrupted = True
        if advice.race is None or not advice.race.looks:
            raise
    advice.records = bench.records
    advice.made = bench.made
    if bench.new:
        advice.pace_s = bench.took_s / bench.new / jobs
    if advice.race.leader is None:
        reasons = {name: left for name, left in advice.race.left.items() if left.why == "failed"}
        if len(reasons) == len(advice.race.names):
            name, left = next(iter(reasons.items()))
            raise RunError(f"no candidate could be simulated: {name}: {left.by}")
    return advice


def _race(
    question: Question, bench: Bench, candidates: Sequence[Candidate], first: int, share: float, jobs: int
) -> Race:
    """Race candidates from seed `first` on, within a share of the budget."""
    wanted = question.wanted
    by_name = {candidate.name: candidate for candidate in candidates}
    metric = wanted.objective.metric

    def judge(name: str, chance: float) -> tuple[Kept, str]:
        verdicts = {}
        for constraint in question.constraints:
            values = bench.values(by_name[name], constraint.metric.name)
            low, high = bounds(values, chance) if chance else (values[0], values[0])
            verdict = constraint.judge(Interval(math.nan, low, high, len(values)))
            verdicts[constraint.describe()] = verdict
        broken = next((limit for limit, verdict in verdicts.items() if verdict == "broken"), "")
        if broken:
            return "broken", broken
        return ("kept" if all(verdict == "kept" for verdict in verdicts.values()) else "unclear"), ""

    race = Race(
        list(by_name),
        next((candidate.name for candidate in candidates if candidate.as_it_is), None),
        wanted.objective.sign,
        wanted.margin(question.margin),
        additive=wanted.additive,
        most=MOST_SEEDS,
        limits=len(question.constraints),
        judge=judge if question.constraints else None,
    )

    def sample(names: Sequence[str], numbers: Sequence[int]) -> dict[str, list[float] | str]:
        rows = bench.measure([by_name[name] for name in names], [first + number for number in numbers])
        found: dict[str, list[float] | str] = {}
        for name, row in zip(names, rows, strict=True):
            failed = next((each for each in row if isinstance(each, str)), None)
            found[name] = failed or [each[metric.name] for each in row if not isinstance(each, str)]
        return found

    if not question.is_random:
        race.settle(sample(race.names, [0]))
        return race
    # Two rounds of runs at a time keep all processors at work, and time is looked at between them.
    batch = max(1, math.ceil(2 * jobs / len(candidates)))
    race.run(sample, enough=lambda: bench.spent(share), batch=batch)
    return race


def _search(question: Question, bench: Bench, advice: Advice, jobs: int) -> None:
    """Let the tuner search the ranges for the best candidates, and race what it finds on fresh seeds."""
    from cogtcp.deciding.tuning import require

    require()
    from cogtcp.deciding.tuning.search import Plan, search_with

    assert advice.race is not None  # noqa: S101
    by_name = {candidate.name: candidate for candidate in question.candidates}
    best = [by_name[name] for name in advice.race.ranked()[:_TUNED]]
    per_run = max(1e-4, _seconds_of_a_run(bench))
    room = _SEARCH * min(question.seconds / per_run * jobs, float(question.runs)) / len(best)
    trials = max(6, min(_TRIALS, int(room / _TRIAL_SEEDS / 1.6)))
    found = []
    for candidate in best:
        plan = Plan(
            scenario=candidate.scenario_of(question.scenario),
            parameters=question.ranges,
            objective=question.wanted.objective,
            constraints=question.constraints,
            trials=trials,
            seeds=_seeds(question.seed, 5, _TRIAL_SEEDS),
            runoff_seeds=_seeds(question.seed, 6, _TRIAL_SEEDS + 2),
            fresh_seeds=_seeds(question.seed, 7, 2),
            batch=max(4, jobs),
            grid=(),
            measure=question.wanted.measure,
            draw=question.inputs.draw,
        )
        try:
            tuned = search_with(plan, bench._runner)
        except (UsageError, RunError):
            continue  # no trial has a result: what the race knows stands
        bench.made += trials * _TRIAL_SEEDS
        # Whether it keeps the constraints the race decides, with more seeds.
        chosen = next(iter(tuned.finalists), None)
        if chosen is not None and chosen.point is not None:
            changes = (*candidate.changes, *chosen.values.items())
            found.append(
                Candidate(_name(candidate.transport or candidate.name, changes), candidate.transport, changes)
            )
    if not found:
        return
    # On fresh seeds: the seeds of the first race and of the search favour whom they chose.
    finalists = list(
        {c.name: c for c in (*best, *found, *(c for c in question.candidates if c.as_it_is))}.values()
    )
    advice.earlier = advice.race
    advice.candidates = tuple({c.name: c for c in (*question.candidates, *found)}.values())
    before = {name: dict(rows) for name, rows in bench.records.items()}
    bench.records.clear()
    advice.race = _race(
        question, bench, finalists, question.seed + MOST_SEEDS, _RACE_BEFORE_SEARCH + _SEARCH, jobs
    )
    # Candidates that did not race again keep what is known of them.
    for name, rows in before.items():
        if name not in bench.records:
            bench.records[name] = rows


def _seeds(first: int, block: int, count: int) -> tuple[int, ...]:
    start = first + block * MOST_SEEDS
    return tuple(range(start, start + count))


def _seconds_of_a_run(bench: Bench) -> float:
    return (time.monotonic() - bench._started) / max(1, bench.made)
