"""Studies: what a paper claims, measured.

A study is a folder with a `study.toml` (the claims and what the paper leaves unsaid), `scenarios/`,
`figures/` (the paper's figures as data), `claims.py` (one test per claim) and a `README.md`.
`docs/adding-a-study.md` tells how to write one; read in this order: `folder` (where studies are), `runs` (the
runs behind a claim), `verdicts` (the statistical tests), `exhibits` and `page` (the report).

>>> result = reproduce("c2", seeds=10)
>>> print(result.to_json())
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cogtcp import provenance
from cogtcp._errors import RunError
from cogtcp.output import prepare_folder, write_file
from cogtcp.result import plain
from cogtcp.runner import Case, Runner
from cogtcp.scenario import Scenario
from cogtcp.studies import closest, code, search, verdicts
from cogtcp.studies.claims import ClaimRow
from cogtcp.studies.errors import StudyError
from cogtcp.studies.exhibits import Curve, Figure, Surface, Table
from cogtcp.studies.folder import (
    Study,
    find,
    list_studies,
    select,
    studies_folder,
)
from cogtcp.studies.judging import judge
from cogtcp.studies.outcome import Outcome, conclude
from cogtcp.studies.space import Point, Setting, Space, Unsaid
from cogtcp.studies.statements import Cell, Statement
from cogtcp.studies.telling import tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from cogtcp.studies.verdicts import Verdict

__all__ = [
    "Case",
    "Cell",
    "Claim",
    "ClaimRow",
    "Context",
    "Curve",
    "Figure",
    "Measured",
    "Outcome",
    "Point",
    "Setting",
    "Space",
    "Statement",
    "Study",
    "StudyError",
    "StudyResult",
    "Surface",
    "Table",
    "Unsaid",
    "claim",
    "command",
    "find",
    "list_studies",
    "reproduce",
    "search_space",
    "studies_folder",
    "verdicts",
]

#: What a folder of results holds besides its marker.
_CLAIMS, _REPORT, _RUNS = "claims.json", "report.html", "runs"


@dataclass(frozen=True)
class Measured:
    """What the test of a claim found; the verdict comes from a test in `verdicts`, never from the author.

    Attributes:
        verdict: Whether the claim holds.
        measured: What was measured, in words and numbers.
        ci: The 95 % confidence interval of the tested quantity over the seeds; None where there is none.
        test: The test and its margins, as they were set before the measurement.
        why: What the data show about a difference, or about the reach of an agreement.
        figures: The paper's figures, redrawn.
        tables: Sensitivity and breakdowns.
        facts: Numbers that the study's conclusions need, by name.
        settings: The verdict at each setting of what the paper leaves unsaid that counts, by name, the
            scenario's own first; `verdict` must be `verdicts.over_range` of them. Empty if tested once.
    """

    verdict: Verdict
    measured: str
    ci: tuple[float, float] | None
    test: str
    why: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a verdict that is not that of the settings."""
        if self.settings and self.verdict != verdicts.over_range(list(self.settings.values())):
            raise ValueError(f"the verdict {self.verdict} is not that of the settings {dict(self.settings)}")

    @property
    def base(self) -> Verdict:
        """The verdict at the scenario's own settings, whatever it is elsewhere."""
        return next(iter(self.settings.values()), self.verdict)

    @property
    def over_settings(self) -> str:
        """Say how the verdict at the base fares at the other settings; empty for a claim tested once."""
        if len(self.settings) < 2:
            return ""
        found = list(self.settings.values())
        return (
            f"base: {self.base}; of {len(found)} settings {found.count('holds')} hold, "
            f"{found.count('differs')} differ"
        )


@dataclass(frozen=True)
class Context:
    """What the test of a claim works with.

    Attributes:
        study: The study, for its folder and the paper's figures.
        seeds: The seeds; the values handed to a test of `verdicts` are one per seed, in this order.
        quick: Whether to be done in seconds: fewer points, shorter runs. Verdicts then say less.
    """

    study: Study
    seeds: tuple[int, ...]
    quick: bool
    _runner: Runner = field(repr=False)

    def scenario(self, name: str) -> Scenario:
        """Return `scenarios/<name>.toml` of the study."""
        # A study is code already: its scenarios may name classes of its own.
        path = self.study.folder / "scenarios" / f"{name}.toml"
        return Scenario.from_file(path, allow_python=True)

    def run(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Make the runs, in parallel, and return their measurements in order."""
        return self._runner.run(cases)


if TYPE_CHECKING:
    ClaimTest = Callable[[Context], Measured]


def claim(claim_id: str) -> Callable[[ClaimTest], ClaimTest]:
    """Mark a function of a study's `claims.py` as the test of the claim with this id."""

    def mark(function: ClaimTest) -> ClaimTest:
        function.__dict__["claim_id"] = claim_id
        return function

    return mark


@dataclass(frozen=True)
class Claim:
    """A row of the table: what the paper says and what was measured.

    `outcome` is there for a claim that is made of statements.
    """

    row: ClaimRow
    result: Measured
    outcome: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {**self._told(), **({} if self.outcome is None else self.outcome.to_dict())}

    def _told(self) -> dict[str, Any]:
        return {
            "id": self.row.id,
            "figure": self.row.figure,
            "claim": self.row.claim,
            "paper": self.row.paper,
            "measured": self.result.measured,
            "ci": None if self.result.ci is None else list(self.result.ci),
            "verdict": self.result.verdict,
            "test": self.result.test,
            "why": self.result.why,
        }


@dataclass(frozen=True)
class StudyResult:
    """What a reproduction came to.

    Attributes:
        study: The study.
        claims: One entry per claim asked for, in the study's order.
        seeds: The seeds of the runs.
        quick: Whether it was the quick version.
        conclusions: Paragraphs that the study's `conclusions` draws from the measured claims; none where only
            some of them were measured.
    """

    study: Study
    claims: tuple[Claim, ...]
    seeds: tuple[int, ...]
    quick: bool
    conclusions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return study and claims as plain data."""
        result: dict[str, Any] = plain(
            {"study": self.study.name, "claims": [claim.to_dict() for claim in self.claims]}
        )
        return result

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from."""
        return {
            "version": provenance.version(),
            "commit": provenance.commit() or "",
            "study": self.study.name,
            "seeds": ",".join(str(seed) for seed in self.seeds),
            "quick": str(self.quick).lower(),
        }

    def report(self, *, command: str | None = None) -> str:
        """Return the report: one HTML page that needs nothing else."""
        from cogtcp.studies.page import study_report

        return study_report(self, command=command)

    def save(self, directory: str | Path, *, command: str | None = None) -> Path:
        """Write `claims.json` and `report.html` into a folder, each of them whole or not at all."""
        folder = _prepare(directory, self.study)
        write_file(folder / _CLAIMS, self.to_json())
        write_file(folder / _REPORT, self.report(command=command))
        return folder


def reproduce(
    study: str,
    only: str | Sequence[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
    command: str | None = None,
) -> StudyResult:
    """Measure the claims of a study.

    The result depends on the study, the seeds and `quick` alone. With `out`, every finished run is kept in
    `out/runs` at once: after an interruption, or with more seeds, only what is missing is run. A claim whose
    simulation fails is `unclear`, with the error as its reason, and the others go on.

    Args:
        study: Name of a study, or the id of one claim (then that claim alone).
        only: Ids of the claims to measure; by default all.
        seeds: How many seeds, counted from 1; by default the study's number.
        quick: A version that is done in seconds.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for `claims.json`, `report.html` and the finished runs; by default nothing is written.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with the number of finished runs and of runs known to be needed so far.
        command: The command line, for the report.

    Raises:
        StudyError: There is no such study or claim, or the study's folder is wrong.
        OutputError: The results cannot be written.
    """
    found, single = find(study)
    wanted = [only] if isinstance(only, str) else list(only) if only is not None else None
    if single is not None:
        wanted = [single, *(wanted or [])]
    rows = select(found, wanted)
    count = seeds if seeds is not None else found.quick_seeds if quick else found.seeds
    if count < 1:
        raise StudyError(f"a study needs at least one seed, not {count}")
    code.forget(found)
    module = code.load(found, "claims")
    tests = _tests(found, module)
    folder = None if out is None else _prepare(out, found, force=force)
    context = Context(
        study=found,
        seeds=tuple(range(1, count + 1)),
        quick=quick,
        _runner=Runner(None if folder is None else folder / _RUNS, jobs, progress),
    )
    outcomes = _outcomes(context, [row for row in rows if row.statements])
    claims = tuple(
        Claim(row, tell(context, outcomes[row.id]), outcomes[row.id])
        if row.id in outcomes
        else Claim(row, _check(tests[row.id], context))
        for row in rows
    )
    result = StudyResult(found, claims, context.seeds, quick, _conclusions(module, found, claims))
    if folder is not None:
        result.save(folder, command=command)
    return result


def search_space(
    study: str,
    settings: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Path:
    """Search the space of what a study's paper leaves unsaid, and keep the outcome in the study's folder.

    Where each statement holds, what decides, and the setting closest to the paper: `search.json`. For each
    claim whose closest setting comes within 15 % of the numbers that the paper prints, it is written as a
    scenario, `closest/<claim>.toml`. With `out`, finished runs are kept there and are not made again.

    Args:
        study: Name of a study.
        settings: Settings of the joint design; by default the study's number.
        seeds: Seeds at each of them; by default the study's number.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for the finished runs.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with a line when a setting is done.

    Returns:
        The file written.

    Raises:
        StudyError: There is no such study, or none of its claims is made of statements.
        OutputError: The results cannot be written.
    """
    found, _ = find(study)
    claims = [row for row in found.claims if row.statements]
    if not claims:
        raise StudyError(f"study {study}: no claim is made of statements, so there is nothing to search")
    code.forget(found)
    folder = None if out is None else _prepare(out, found, force=force)
    runner = Runner(None if folder is None else folder / _RUNS, jobs, None)
    context = Context(study=found, seeds=(), quick=False, _runner=runner)
    outcome = search.search(
        context,
        claims,
        settings=settings or found.design,
        seeds=seeds or found.design_seeds,
        version=provenance.version(),
        progress=progress,
    )
    path = search.keep(found, outcome)
    closest.write_scenarios(replace(context, seeds=tuple(range(1, found.seeds + 1))), claims, outcome)
    return path


def command(args: argparse.Namespace) -> int:
    """Run the verb `cogtcp reproduce`."""
    from cogtcp.studies import verb

    return verb.command(args)


def _check(test: ClaimTest, context: Context) -> Measured:
    try:
        measured = test(context)
    except RunError as error:
        return Measured("unclear", "nothing", None, "none could be made", f"a simulation failed: {error}")
    if measured.ci is not None and any(math.isnan(end) for end in measured.ci):
        return replace(measured, ci=None)
    return measured


def _outcomes(context: Context, rows: Sequence[ClaimRow]) -> dict[str, Outcome]:
    """Judge the claims that are made of statements: at the base, and at the setting closest to the paper."""
    if not rows:
        return {}
    study = context.study
    kept = search.read(study)
    judged = judge(context, rows, study.space.base)
    found = {}
    for row, base in zip(rows, judged, strict=True):
        near = None
        if kept is not None and not context.quick:
            (near,) = judge(context, [row], kept.claims[row.id].closest)
        found[row.id] = conclude(context, row, base, near, kept)
    return found


def _conclusions(module: ModuleType | None, study: Study, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Return what the study's `conclusions`, if it has one, makes of its claims, if all were measured."""
    draw: Callable[[Sequence[Claim]], Sequence[str]] | None = getattr(module, "conclusions", None)
    if draw is None or len(claims) < len(study.claims) or not all(claim.result.facts for claim in claims):
        return ()
    return tuple(draw(claims))


def _tests(study: Study, module: ModuleType | None) -> dict[str, ClaimTest]:
    """Return the tests of `claims.py`: one for each claim without statements, and a claim for each test."""
    path = study.folder / "claims.py"
    if module is None and not all(row.statements for row in study.claims):
        raise StudyError(f"{path}: no such file; it holds one test per claim without statements")
    tests: dict[str, ClaimTest] = {}
    for value in () if module is None else vars(module).values():
        claim_id = getattr(value, "claim_id", None)
        if isinstance(claim_id, str):
            if claim_id in tests:
                raise StudyError(f"{path}: two tests for the claim {claim_id}")
            tests[claim_id] = value
    known = {row.id for row in study.claims if not row.statements}
    if missing := sorted(known - tests.keys()):
        raise StudyError(f"{path}: no test for {', '.join(missing)}, which study.toml lists")
    if stray := sorted(tests.keys() - known):
        raise StudyError(f"{path}: {', '.join(stray)} has a test but is not in study.toml")
    return tests


def _prepare(directory: str | Path, study: Study, *, force: bool = False) -> Path:
    """Return the folder, made and marked as ours; refuse one that holds something else, or put that aside."""
    return prepare_folder(
        directory,
        {"verb": "reproduce", "study": study.name},
        [_CLAIMS, _REPORT, _RUNS],
        keep=_RUNS,
        force=force,
    )
