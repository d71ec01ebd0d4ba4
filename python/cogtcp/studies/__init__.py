"""Studies: what a paper claims, measured.

A study is a folder with a `study.toml` (the claims as statements, and the space of what the paper leaves
unsaid), `scenarios/`, `figures/` (the paper's figures as data), `runs.py` (the scenario of each point) and a
`README.md`. `docs/adding-a-study.md` tells how to write one. Read in this order: `folder` (where studies
are), `statements` and `space`, `judging` (from runs to findings), `verdicts` (the statistical tests),
`search` and `places`, `outcome`, `telling` and `page` (the report).

>>> result = reproduce("c2", seeds=10)
>>> print(result.to_json())
"""

from __future__ import annotations

import json
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
from cogtcp.studies.telling import Told, tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cogtcp.studies.judging import Judged
    from cogtcp.studies.verdicts import Verdict

__all__ = [
    "Case",
    "Cell",
    "Claim",
    "ClaimRow",
    "Context",
    "Curve",
    "Figure",
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
    "Told",
    "Unsaid",
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
class Context:
    """What the test of a claim works with.

    Attributes:
        study: The study, for its folder and the paper's figures.
        seeds: The seeds; the values handed to a test of `verdicts` are one per seed, in this order.
        quick: Whether to be done in seconds, by shorter runs. Verdicts then say less.
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


@dataclass(frozen=True)
class Claim:
    """A row of the table: what the paper says and what was measured.

    `outcome` is None where a simulation failed; `told` then says which.
    """

    row: ClaimRow
    outcome: Outcome | None
    told: Told

    @property
    def verdict(self) -> Verdict:
        """`holds` everywhere in the space of the unsaid, `differs` nowhere, `unclear` else."""
        return "unclear" if self.outcome is None else self.outcome.verdict

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        row = {
            "id": self.row.id,
            "figure": self.row.figure,
            "claim": self.row.claim,
            "paper": self.row.paper,
            "ours": self.row.ours,
            "verdict": self.verdict,
            "measured": self.told.measured,
            "why": self.told.why,
        }
        return row if self.outcome is None else {**row, **self.outcome.to_dict()}


@dataclass(frozen=True)
class StudyResult:
    """What a reproduction came to.

    Attributes:
        study: The study.
        claims: One entry per claim asked for, in the study's order.
        seeds: The seeds of the runs.
        quick: Whether it was the quick version.
    """

    study: Study
    claims: tuple[Claim, ...]
    seeds: tuple[int, ...]
    quick: bool

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
    folder = None if out is None else _prepare(out, found, force=force)
    context = Context(
        study=found,
        seeds=tuple(range(1, count + 1)),
        quick=quick,
        _runner=Runner(None if folder is None else folder / _RUNS, jobs, progress),
    )
    result = StudyResult(found, _claims(context, rows), context.seeds, quick)
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
        StudyError: There is no such study.
        OutputError: The results cannot be written.
    """
    found, _ = find(study)
    claims = found.claims
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


def _claims(context: Context, rows: Sequence[ClaimRow]) -> tuple[Claim, ...]:
    """Judge claims: at the base, and at the setting closest to the paper; what fails is told."""
    kept = search.read(context.study)
    try:
        # All in one go: runs are made in parallel, and those that two claims share are made once.
        judged: Sequence[Judged | None] = judge(context, rows, context.study.space.base)
    except RunError:
        judged = [None] * len(rows)
    found = []
    for row, base in zip(rows, judged, strict=True):
        try:
            outcome = _outcome(context, row, base, kept)
        except RunError as error:
            found.append(Claim(row, None, Told("nothing", f"a simulation failed: {error}")))
        else:
            found.append(Claim(row, outcome, tell(context, outcome)))
    return tuple(found)


def _outcome(context: Context, row: ClaimRow, base: Judged | None, kept: search.Search | None) -> Outcome:
    if base is None:
        (base,) = judge(context, [row], context.study.space.base)
    near = None
    if kept is not None and not context.quick:
        (near,) = judge(context, [row], kept.claims[row.id].closest)
    return conclude(context, row, base, near, kept)


def _prepare(directory: str | Path, study: Study, *, force: bool = False) -> Path:
    """Return the folder, made and marked as ours; refuse one that holds something else, or put that aside."""
    return prepare_folder(
        directory,
        {"verb": "reproduce", "study": study.name},
        [_CLAIMS, _REPORT, _RUNS],
        keep=_RUNS,
        force=force,
    )
