"""Advice: what to run, what stands behind it, and its forms (text, plain data, tables, page)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp._views import view
from cogtcp.model import budget, provenance
from cogtcp.model.result import plain
from cogtcp.model.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from cogtcp.deciding.advising.around import Probe
    from cogtcp.deciding.advising.confirming import Confirmation
    from cogtcp.deciding.advising.racing import Head, Race
    from cogtcp.deciding.advising.turning import Turn
    from cogtcp.deciding.advising.wanted import Wanted
    from cogtcp.deciding.tuning.goal import Constraint
    from cogtcp.model.metrics import Metric
    from cogtcp.model.scenario import Scenario
    from cogtcp.running.space import Parameter


@dataclass(frozen=True, slots=True)
class Candidate:
    """What could be run.

    Attributes:
        name: Its name: the transport, and the values of other fields.
        transport: The transport of all flows that are not `fixed`; None: the scenario's transports.
        changes: Further fields and their values.
        as_it_is: Whether this is the scenario as it is.
    """

    name: str
    transport: str | None = None
    changes: tuple[tuple[str, str], ...] = ()
    as_it_is: bool = False

    def scenario_of(self, scenario: Scenario) -> Scenario:
        """Return the scenario with this candidate. Raises `ScenarioError`."""
        if self.transport is not None:
            scenario = scenario.with_transport(self.transport)
        for path, text in self.changes:
            scenario = scenario.set_text(path, text)
        return scenario


@dataclass
class Advice:
    """What `advise` came to.

    Attributes:
        scenario: The scenario, as the objective needs it.
        wanted: The objective.
        constraints: Limits that were to be kept.
        candidates: What could be run.
        uncertain: Inputs known as ranges, by path.
        over: Further fields that were decided.
        margin: Smallest gain that matters, as a share.
        seed: The first seed.
        race: The race that decided; with ranges searched, the one after the search.
        earlier: The race before the search, if there was one.
        probes: What became of the answer as fields were changed.
        records: What was measured of each candidate, by seed; a text is an error.
        confirmation: The best two on the kernel plane, if that was asked for.
        made: How many runs stand behind it.
        pace_s: Real time of one run with all processors at work; NaN if no run was new.
        is_random: Whether seeds differ.
        turns: What of the uncertain inputs changes the answer within its range.
        interrupted: Whether it was stopped before it was done.
    """

    scenario: Scenario
    wanted: Wanted
    constraints: tuple[Constraint, ...]
    candidates: tuple[Candidate, ...]
    uncertain: dict[str, str]
    over: tuple[Parameter, ...]
    margin: float
    seed: int
    race: Race | None = None
    earlier: Race | None = None
    probes: list[Probe] = field(default_factory=list)
    records: dict[str, dict[int, dict[str, float] | str]] = field(default_factory=dict, repr=False)
    confirmation: Confirmation | None = None
    made: int = 0
    pace_s: float = math.nan
    is_random: bool = True
    turns: list[Turn] = field(default_factory=list)
    interrupted: bool = False

    @property
    def metric(self) -> Metric:
        """What was wanted more or less of."""
        return self.wanted.objective.metric

    @property
    def head(self) -> Head:
        """`run` another candidate, `keep` today's, `undecided`, or `nothing` keeps the constraints."""
        return "undecided" if self.race is None else self.race.head

    @property
    def winner(self) -> Candidate | None:
        """What to run: another candidate or today's; None while undecided, or if nothing keeps the limits."""
        name = self.race.winner if self.race is not None else None
        return None if name is None else self._named(name)

    @property
    def leader(self) -> Candidate | None:
        """The winner, or while undecided the candidate with the best mean."""
        name = self.race.leader if self.race is not None else None
        return None if name is None else self._named(name)

    @property
    def decided(self) -> bool:
        """Whether the answer holds with 95 % confidence, jointly for all statements of the race."""
        return self.winner is not None

    @property
    def between(self) -> list[Candidate]:
        """Candidates in question while undecided, the best mean first."""
        return [] if self.race is None or self.head != "undecided" else self._all(self.race.between())

    @property
    def rest(self) -> list[Candidate]:
        """Candidates besides the leader that are not shown to be worse."""
        if self.race is None or self.race.leader is None:
            return []
        names = [name for name in self.race.ranked() if name in self.race.alive]
        return self._all(names[1:])

    @property
    def more_runs(self) -> float:
        """Further runs that would probably decide, by present means and spreads; infinite: no race does."""
        if self.race is None or self.head != "undecided":
            return 0.0
        seeds = self.race.seeds_to_decide()
        return max(1.0, seeds - self.race.seeds) * len(self.race.needed())

    @property
    def today(self) -> Candidate:
        """The scenario as it is."""
        return next(candidate for candidate in self.candidates if candidate.as_it_is)

    def ranked(self) -> list[Candidate]:
        """Return the candidates that were not refused: the leader, then the others by their means."""
        if self.race is None:
            return []
        sign, leader = self.wanted.objective.sign, self.race.leader
        found = self._all(self.race.ranked())
        return sorted(found, key=lambda c: (c.name != leader, -sign * self.interval(c).mean))

    def _named(self, name: str) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.name == name)

    def _all(self, names: Sequence[str]) -> list[Candidate]:
        return [self._named(name) for name in names]

    def scenario_of(self, candidate: Candidate) -> Scenario:
        """Return the scenario with a candidate."""
        return candidate.scenario_of(self.scenario)

    def values(self, candidate: Candidate, name: str | None = None) -> list[float]:
        """Return a number of a candidate's runs by seed, by default the objective, without failed runs."""
        rows = self.records.get(candidate.name, {})
        wanted = name or self.metric.name
        return [row[wanted] for _, row in sorted(rows.items()) if not isinstance(row, str)]

    def interval(self, candidate: Candidate, name: str | None = None) -> Interval:
        """Return the mean of a number over the seeds with its 95 % t-interval."""
        return mean_interval(self.values(candidate, name))

    def gain(self, over: Candidate, of: Candidate | None = None) -> Interval:
        """Return by how much the leader, or `of`, is better than another candidate, as a share.

        The interval is the one of the tests that decide: the intervals of all candidates hold together with
        95 % confidence (Fieller's theorem). A difference for a utility; NaN if `over` has nothing.
        """
        better = of or self.leader
        if better is None or self.race is None or not {better.name, over.name} <= set(self.race.names):
            return Interval(math.nan, math.nan, math.nan, 0)
        return self.race.gain(better.name, over.name)

    @property
    def regret(self) -> float:
        """What is lost, on the mean of all draws, by not knowing the uncertain inputs: a share of the winner.

        For each draw the best of those still in the race is taken, luck included: the true regret is smaller.
        NaN without uncertain inputs.
        """
        winner = self.leader
        if not self.uncertain or winner is None or self.wanted.additive:
            return math.nan
        rows = [self.records[candidate.name] for candidate in (winner, *self.rest)]
        lost, all_of_it = [], []
        for seed, mine in rows[0].items():
            others = [row[seed] for row in rows if seed in row]
            numbers = [each[self.metric.name] for each in others if not isinstance(each, str)]
            if not isinstance(mine, str) and numbers:
                best = max(numbers) if self.wanted.objective.sign > 0 else min(numbers)
                lost.append(abs(best - mine[self.metric.name]))
                all_of_it.append(mine[self.metric.name])
        return math.fsum(lost) / math.fsum(all_of_it) if math.fsum(all_of_it) > 0 else math.nan

    def budget(self, candidate: Candidate) -> dict[str, float]:
        """Return the mean share of each state in the time of the bottlenecks; empty if none was measured."""
        rows = [row for row in self.records.get(candidate.name, {}).values() if not isinstance(row, str)]
        rows = [row for row in rows if "budget_delivered" in row]
        if not rows:
            return {}
        return {
            state.name: math.fsum(row[f"budget_{state.name}"] for row in rows) / len(rows)
            for state in budget.STATES
        }

    @property
    def text(self) -> str:
        """The answer in one paragraph."""
        from cogtcp.deciding.advising.telling import paragraph

        return paragraph(self)

    @property
    def runs(self) -> pa.Table:
        """One row per run of a race: candidate, seed, error and every number that was measured."""
        import pyarrow as pa

        from cogtcp._arrays import array_of

        rows = [
            (name, seed, row)
            for name, by_seed in self.records.items()
            for seed, row in sorted(by_seed.items())
        ]
        numbers = dict.fromkeys(key for _, _, row in rows if not isinstance(row, str) for key in row)
        columns: dict[str, Any] = {
            "candidate": array_of([name for name, _, _ in rows], pa.string()),
            "seed": array_of([seed for _, seed, _ in rows], pa.int64()),
            "error": array_of([row if isinstance(row, str) else None for _, _, row in rows], pa.string()),
        }
        for key in numbers:
            values = [None if isinstance(row, str) else row.get(key) for _, _, row in rows]
            columns[key] = array_of(values, pa.float64())
        return pa.table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data; None stands for "no value"."""
        race, winner = self.race, self.winner
        found: dict[str, Any] = plain(
            {
                "scenario": self.scenario.name,
                "answer": self.text,
                "objective": self.wanted.text,
                "constraints": [constraint.describe() for constraint in self.constraints],
                "margin": self.margin,
                "uncertain": self.uncertain,
                "head": self.head,
                "decided": self.decided,
                "doubt": self.scenario.doubt or None,
                "between": [candidate.name for candidate in self.between],
                "more_runs": self.more_runs,
                "interrupted": self.interrupted,
                "runs": self.made,
                "winner": None if winner is None else self._described(winner),
                "within_margin": [candidate.name for candidate in self.rest],
                "as_it_is": self.today.name,
                "regret": self.regret,
                "candidates": [self._described(candidate) for candidate in self.ranked()],
                "refused": {
                    name: {"why": left.why, "detail": left.by}
                    for name, left in (race.left if race is not None else {}).items()
                    if left.why in ("failed", "breaks")
                },
                "around": [probe.to_dict() for probe in self.probes],
                "turns": [turn.to_dict() for turn in self.turns],
                "emulated": None if self.confirmation is None else self.confirmation.to_dict(),
            }
        )
        return found

    def _described(self, candidate: Candidate) -> dict[str, Any]:
        race = self.race
        left = race.left.get(candidate.name) if race is not None else None
        interval, gain, leader = self.interval(candidate), self.gain(self.today, candidate), self.leader
        behind = self.gain(candidate) if candidate is not leader else None
        return {
            "name": candidate.name,
            "transport": candidate.transport,
            "changes": dict(candidate.changes),
            "mean": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "n": interval.n,
            "better_than_today_by": None if candidate.as_it_is else [gain.mean, gain.low, gain.high],
            "winner_is_better_by": None if behind is None else [behind.mean, behind.low, behind.high],
            "keeps_constraints": None if race is None else race.kept.get(candidate.name),
            "left_after_seeds": None if left is None else left.at,
            "beaten_by": None if left is None else left.by,
            "budget": self.budget(candidate),
        }

    @property
    def provenance(self) -> dict[str, str]:
        """Where the advice comes from, as the Parquet files carry it."""
        seeds = sorted({seed for rows in self.records.values() for seed in rows})
        return {
            **provenance.describe(self.scenario, tuple(seeds)),
            "objective": self.wanted.text,
            "constraints": "; ".join(constraint.describe() for constraint in self.constraints),
            "uncertain": "; ".join(f"{path} {text}" for path, text in self.uncertain.items()),
            "margin": f"{self.margin:g}",
            "interrupted": str(self.interrupted).lower(),
        }

    def report(self, *, command: str | None = None) -> str:
        """Return the report: one HTML page that needs nothing else."""
        page: str = view("advice_report")(self, command=command)
        return page
