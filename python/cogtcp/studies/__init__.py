"""Studies: what a paper claims, measured.

A study is a folder with a `study.toml` (claims as statements, and parameters that the paper does not give),
`scenarios/` and `figures/` (the paper's figures as data). It also has `runs.py` (the scenario of each point)
and a `README.md`. `docs/adding-a-study.md` says how to write one. Read in this order: `folder` (where studies
are), `statements` and `space`, `judging` (from runs to findings), `verdicts` (the statistical tests). Then
`search` and `support`, `outcome`, `plots`, `telling` and `page` (the report).

>>> result = reproduce("c2", seeds=10)
>>> print(result.to_json())
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp._errors import RunError
from cogtcp.model import provenance
from cogtcp.model.output import prepare_folder, rewriting, write_file
from cogtcp.model.result import plain
from cogtcp.running.runner import Case, Runner
from cogtcp.studies import code, guided, joint, plots, readings, search, stacks, today, verdicts
from cogtcp.studies.claims import ClaimRow
from cogtcp.studies.context import Context, place_of
from cogtcp.studies.errors import StudyError
from cogtcp.studies.exhibits import Curve, Figure, Surface, Table
from cogtcp.studies.folder import (
    Study,
    chosen,
    find,
    list_studies,
    studies_folder,
)
from cogtcp.studies.judging import judge
from cogtcp.studies.outcome import Outcome, conclude
from cogtcp.studies.space import Point, Setting, Space, Unsaid
from cogtcp.studies.statements import Cell, Statement
from cogtcp.studies.telling import Told, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from cogtcp.model.scenario import Scenario
    from cogtcp.running.runner import Launcher
    from cogtcp.studies.joint import Joint
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.readings import Reading

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
    "compare_on_today",
    "compare_stacks",
    "find",
    "list_studies",
    "reproduce",
    "search_joint",
    "search_space",
    "studies_folder",
    "verdicts",
]

#: What a folder of results holds besides its marker.
_CLAIMS, _REPORT, _RUNS = "claims.json", "report.html", "runs"
_OURS = (_CLAIMS, _REPORT, _RUNS)


@dataclass(frozen=True)
class Claim:
    """A row of the table: what the paper says and what was measured.

    `outcome` is None where a simulation failed; `told` then says which.
    """

    row: ClaimRow
    outcome: Outcome | None
    told: Told

    @property
    def verdict(self) -> str:
        """The answer in words, as in "reproduced, robust"; "not measured" where a simulation failed."""
        return "not measured" if self.outcome is None else self.outcome.answer.text

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
        at: Where it was measured: at the base, or at the best readings.
        joint: The joint setting that is kept; None where there is none.
        main: The paper's main figure at the joint setting; None where that was not measured.
    """

    study: Study
    claims: tuple[Claim, ...]
    seeds: tuple[int, ...]
    quick: bool
    at: str = "base"
    joint: Joint | None = None
    main: Figure | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return study and claims as plain data."""
        result: dict[str, Any] = plain(
            {
                "study": self.study.name,
                "at": self.at,
                "seeds": list(self.seeds),
                "quick": self.quick,
                "claims": [claim.to_dict() for claim in self.claims],
            }
        )
        return result

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @property
    def place(self) -> str:
        """Where the claims were measured, in words."""
        return place_of(self.at)

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

    def report(self, *, command: str | None = None, lab: str | None = None) -> str:
        """Return the report: one HTML page that needs nothing else.

        `lab` is the address of the lab's page, if claims are to have a link to it.
        """
        from cogtcp.studies.page import study_report

        return study_report(self, command=command, lab=lab)

    def save(self, directory: str | Path, *, command: str | None = None) -> Path:
        """Write `claims.json` and `report.html` into a folder, each of them whole or not at all."""
        folder = _prepare(directory, self.study)
        with rewriting(folder, _OURS):
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
    at: str = "base",
) -> StudyResult:
    """Measure the claims of a study.

    The result depends on the study, the seeds and `quick` alone. With `out`, every finished run is kept in
    `out/runs` at once: after an interruption, or with more seeds, only what is missing is run. A claim whose
    simulation fails is not measured, with the error as its reason, and the others go on.

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
        at: "base": at the base, and beside it at the best reading. "best": at the best readings alone.
            "nearest": at the settings nearest to the numbers that the paper prints.
            "joint": at the one setting at which most claims hold together.
            "silence=hold,rtt_ms=100": at the base but for these unsaid parameters.

    Raises:
        StudyError: There is no such study or claim, its folder is wrong, or a claim has no reading.
        OutputError: The results cannot be written.
    """
    found, single = find(study)
    wanted = [only] if isinstance(only, str) else list(only) if only is not None else None
    if single is not None:
        wanted = [single, *(wanted or [])]
    rows = chosen(found, wanted)
    count = seeds if seeds is not None else found.quick_seeds if quick else found.seeds
    if count < 1:
        raise StudyError(f"a study needs at least one seed, not {count}")
    # A study may have been edited since this process loaded it.
    code.forget(found)
    folder = None if out is None else _prepare(out, found, force=force)
    context = Context(
        study=found,
        seeds=tuple(range(1, count + 1)),
        quick=quick,
        _runner=Runner(None if folder is None else folder / _RUNS, jobs, progress),
        at=at,
    )
    kept_joint = joint.read(found)
    claims = _claims(context, rows, at)
    main = None
    if kept_joint is not None and only is None and single is None:
        main = _main(context, claims, kept_joint, at)
    result = StudyResult(found, claims, context.seeds, quick, at, kept_joint, main)
    if folder is not None:
        result.save(folder, command=command)
    return result


def scenario_at(study: Study, claim: ClaimRow, at: str = "base") -> Scenario:
    """Return the scenario of a claim's first point, in full length.

    Args:
        study: The study.
        claim: Its claim.
        at: The setting, as `reproduce` takes it.

    Raises:
        StudyError: There is no such setting, or none is kept.
    """
    kept_at = at in ("best", "nearest")
    reading = joint.with_readings(study).get(claim.id)
    setting = _kept_setting(claim, reading, at) if kept_at else _named_setting(study, at)
    context = Context(study=study, seeds=(1,), quick=False, _runner=Runner())
    make = code.function(study, "runs", "scenario")
    found: Scenario = make(context, setting, claim.points[0], 1)
    return found


def search_space(
    study: str,
    only: str | Sequence[str] | None = None,
    settings: int | None = None,
    seeds: int | None = None,
    trials: int | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
    launcher: Launcher | None = None,
    at: str = "base",
) -> list[Path]:
    """Search the parameters that a study's paper does not give, and keep the outcome in the study's folder.

    First the random design: in how much of the space each claim holds, and what decides (`search.json`).
    Then the guided search of each claim: the reading that reproduces it, confirmed on fresh seeds
    (`readings.json`). With `out`, finished runs are kept there and are not made again: an interrupted search
    goes on.

    Args:
        study: Name of a study.
        only: Ids of the claims to search; by default all. The others stay as they are kept.
        settings: Settings of the random design; by default the study's number; 0: keep the design as it is.
        seeds: Seeds at each of them; by default the study's number. With neither search: of each reading.
        trials: Settings that the guided search of a claim may judge, 80 by default; 0: no guided search. With
            neither search, the kept readings are measured again on their seeds. The inconclusive settings of
            the kept design get more seeds if the study allows more now; where it is not known how many are
            missing, that is measured at a sample of them.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for the finished runs.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with a line when a setting or a claim is done.
        launcher: Where the runs are made; by default in this process (`cogtcp.runner.Launcher`).
        at: With neither search: unsaid parameters, as in "node=three". The setting is measured for each claim
            that has a reading, and kept as its reading if no fewer statements hold there.

    Returns:
        The files written.

    Raises:
        StudyError: There is no such study, or a search needs what is not installed.
        OutputError: The results cannot be written.
    """
    found, single = find(study)
    wanted = [only] if isinstance(only, str) else list(only) if only is not None else None
    claims = chosen(found, [single] if single is not None else wanted)
    code.forget(found)
    folder = None if out is None else _prepare(out, found, force=force)
    runner = Runner(None if folder is None else folder / _RUNS, jobs, None, launcher=launcher)
    context = Context(study=found, seeds=(), quick=False, _runner=runner)
    with _ready(found, launcher):
        return list(dict.fromkeys(_searched(context, claims, settings, seeds, trials, progress, at)))


def search_joint(
    study: str,
    trials: int = 40,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
    launcher: Launcher | None = None,
    at: str = "base",
) -> Path:
    """Search the one setting at which most of a paper's claims hold together, and keep it.

    Args:
        study: Name of a study.
        trials: Settings that are judged besides the starts; 0: the kept joint setting is measured again, or
            the one that `at` names.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for the finished runs.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with a line when a setting is done.
        launcher: Where the runs are made; by default in this process (`cogtcp.runner.Launcher`).
        at: More settings to start from, as in "node=three" or "node=three; node=four".

    Returns:
        The file written, `joint.json`.

    Raises:
        StudyError: There is no such study.
        OutputError: The results cannot be written.
    """
    found, _ = find(study)
    code.forget(found)
    named = [found.space.parsed(one.strip()) for one in at.split(";")]
    folder = None if out is None else _prepare(out, found, force=force)
    runner = Runner(None if folder is None else folder / _RUNS, jobs, None, launcher=launcher)
    context = Context(study=found, seeds=(), quick=False, _runner=runner)
    with _ready(found, launcher):
        for outcome in joint.find(
            context,
            search.read(found),
            readings.read(found),
            trials,
            progress,
            joint.read(found),
            [] if at == "base" and (found.folder / joint.FILE).exists() else named,
        ):
            # At once: what takes long comes after it.
            path = joint.keep(found, outcome, provenance.version())
            _ship_joint(found)
    return path


def _ship_joint(study: Study) -> Path:
    """Write the kept joint setting as a scenario: the first point of the study's main claim."""
    row = next((row for row in study.claims if row.id == study.main), study.claims[0])
    path = study.folder / "scenarios" / "joint.toml"
    path.parent.mkdir(exist_ok=True)
    head = f"# The joint setting of {study.name}: `cogtcp reproduce {row.id} --joint --scenario`.\n"
    write_file(path, head + scenario_at(study, row, "joint").to_toml())
    return path


def _searched(
    context: Context,
    claims: Sequence[ClaimRow],
    settings: int | None,
    seeds: int | None,
    trials: int | None,
    progress: Callable[[str], None],
    at: str,
) -> Iterator[Path]:
    """Make the searches of `search_space`, and yield each file when it is written."""
    found = context.study
    if settings != 0:
        outcome = search.search(
            context,
            claims,
            settings=settings or found.design,
            seeds=seeds or found.design_seeds,
            version=provenance.version(),
            progress=progress,
        )
        yield search.keep(found, outcome)
    if trials == 0 and settings == 0 and at == "base":
        kept_design = search.read(found)
        for claim in claims:
            if kept_design is not None and claim.id in kept_design.claims:
                kept_design = search.looked_on(context, claim, kept_design, progress)
                kept_design = search.lacking_seeds(context, claim, kept_design)
                yield search.keep(found, kept_design)
    if trials == 0 and settings == 0:
        found_before = readings.read(found)
        there = found.space.parsed(at)
        for claim in claims:
            if claim.id in found_before:
                reading = found_before[claim.id]
                if there == found.space.base:
                    reading = guided.confirmed_again(context, claim, reading, seeds)
                else:
                    reading = guided.confirmed_at(
                        context, claim, reading, there, seeds or found.confirm_seeds
                    )
                yield readings.keep(found, claim.id, reading, provenance.version())
                progress(f"{claim.id}: {reading.held} of {len(claim.statements)} statements")
    if trials != 0:
        kept, pool = search.read(found), guided.Pool()
        # Claims with more points first: their runs serve the others.
        for claim in sorted(claims, key=lambda row: -len(row.points)):
            before = readings.read(found).get(claim.id)
            most = trials or guided.TRIALS
            reading = guided.find_reading(context, claim, kept, most, progress, pool, before)
            yield readings.keep(found, claim.id, reading, provenance.version())


def _ready(found: Study, launcher: Launcher | None) -> AbstractContextManager[None]:
    """Carry the study's code to where its runs are made, and stay connected."""
    if launcher is None:
        return contextlib.nullcontext()
    return launcher.ready(code.package(found))


def compare_stacks(
    study: str,
    seeds: int = stacks.SEEDS,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    launcher: Launcher | None = None,
) -> Path:
    """Run stacks of today in the place of a paper's, and keep what they deliver in the study's folder.

    Args:
        study: Name of a study with `[stacks]`.
        seeds: Seeds of each stack at each setting; four times as many at the base.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for the finished runs.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        launcher: Where the runs are made; by default in this process (`cogtcp.runner.Launcher`).

    Returns:
        The file written, `stacks.json`.

    Raises:
        StudyError: There is no such study, or it has no `[stacks]`.
        OutputError: The results cannot be written.
    """
    found, _ = find(study)
    code.forget(found)
    folder = None if out is None else _prepare(out, found, force=force)
    runner = Runner(None if folder is None else folder / _RUNS, jobs, None, launcher=launcher)
    first = stacks.FIRST_SEED
    context = Context(study=found, seeds=tuple(range(first, first + seeds)), quick=False, _runner=runner)
    with _ready(found, launcher):
        return stacks.keep(found, stacks.compare(context))


def compare_on_today(
    study: str,
    seeds: int = today.SEEDS,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Path:
    """Run a figure of a paper with the senders of a Linux kernel in virtual time, at the joint setting.

    Args:
        study: Name of a study with `[today]` and a joint setting.
        seeds: Seeds of each sender at each point.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for the finished runs.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with a line when a sender is done.

    Returns:
        The file written, `today.json`.

    Raises:
        StudyError: There is no such study, or it has no `[today]` or no joint setting.
        NoKernelPlaneError: No kernel for virtual time is built.
        RunError: A run failed, or is no evidence.
        OutputError: The results cannot be written.
    """
    found, _ = find(study)
    code.forget(found)
    folder = None if out is None else _prepare(out, found, force=force)
    runner = Runner(None if folder is None else folder / _RUNS, jobs, None)
    first = today.FIRST_SEED
    context = Context(study=found, seeds=tuple(range(first, first + seeds)), quick=False, _runner=runner)
    return today.keep(found, today.compare(context, progress=progress), provenance.version())


def _claims(context: Context, rows: Sequence[ClaimRow], at: str) -> tuple[Claim, ...]:
    """Judge claims at the default and the best values; what fails is told."""
    kept, found = search.read(context.study), joint.with_readings(context.study)
    kept_at = at in ("best", "nearest")
    base = context.study.space.base if kept_at else _named_setting(context.study, at)
    shared: dict[str, Judged] = {}
    if not kept_at:
        # One failed run fails them all here: then each claim is judged by itself below.
        with contextlib.suppress(RunError):
            # All in one go: runs are made in parallel, and those that two claims share are made once.
            judged = judge(context, rows, base)
            shared = {row.id: item for row, item in zip(rows, judged, strict=True)}
    claims = []
    for row in rows:
        reading = found.get(row.id)
        try:
            if kept_at:
                (here,) = judge(context, [row], _kept_setting(row, reading, at))
                best = here
            else:
                here = shared.get(row.id) or judge(context, [row], base)[0]
                best = None
                # A setting that is named is not to be mixed with another.
                if reading is not None and at == "base":
                    (best,) = judge(context, [row], reading.setting)
            outcome = conclude(context, row, here, best, reading, kept)
        except RunError as error:
            claims.append(Claim(row, None, Told("nothing", f"a simulation failed: {error}")))
        else:
            claims.append(Claim(row, outcome, tell(context, outcome)))
    return tuple(claims)


def _main(context: Context, claims: Sequence[Claim], found: Joint, at: str) -> Figure | None:
    """Return the paper's main figure at the joint setting; None where the study names none."""
    mine = next((claim for claim in claims if claim.row.id == context.study.main), None)
    if mine is None or mine.outcome is None:
        return None
    if at == "joint":
        return plots.alone(context, mine.row, mine.outcome.base)
    with contextlib.suppress(RunError):
        return plots.alone(context, mine.row, judge(context, [mine.row], found.setting)[0])
    return None


def _named_setting(study: Study, at: str) -> Setting:
    """Return the one setting for all claims that `at` names.

    Raises:
        StudyError: There is no such setting, or no joint one is kept.
    """
    if at != "joint":
        return study.space.parsed(at)
    found = joint.read(study)
    if found is None:
        raise StudyError(
            f"no joint setting of {study.name} is saved; search with: "
            f"cogtcp reproduce {study.name} --search --joint"
        )
    return found.setting


def _kept_setting(row: ClaimRow, reading: Reading | None, at: str) -> Setting:
    """Return the kept setting that `at` names."""
    if reading is None:
        raise StudyError(
            f"no reading of {row.id} is saved; search with: cogtcp reproduce {row.id} --search --settings 0"
        )
    if at == "best":
        return reading.setting
    if reading.nearest is None:
        raise StudyError(f"the paper prints no number for {row.id}, so no setting is nearest")
    return reading.nearest.setting


def _prepare(directory: str | Path, study: Study, *, force: bool = False) -> Path:
    """Return the folder, made and marked as ours; refuse one that holds something else, or put that aside."""
    return prepare_folder(
        directory,
        {"verb": "reproduce", "study": study.name},
        _OURS,
        keep=_RUNS,
        force=force,
    )
