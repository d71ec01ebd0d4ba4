"""The verb `cogtcp reproduce`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cogtcp._errors import UsageError
from cogtcp.cli import arguments, progress
from cogtcp.studies import answers, find, list_studies, reproduce, scenario_at
from cogtcp.studies.folder import select

if TYPE_CHECKING:
    import argparse

    from cogtcp.runner import Launcher
    from cogtcp.studies import Study, StudyResult

_STYLES = {
    "reproduced": "bold green",
    "in part": "bold yellow",
    "not reproduced": "bold red",
    "not searched": "bold",
    "ours": "bold",
}

# Where the output is no terminal nobody's window limits the width.
_WIDTH_OF_FILES = 120


def command(args: argparse.Namespace) -> int:
    """Run `cogtcp reproduce`; the exit code says whether it could be measured, not what the verdict is."""
    if args.list:
        _list(list_studies(), as_json=args.json)
        return 0
    if args.study is None:
        names = ", ".join(study.name for study in list_studies())
        raise UsageError(f"name a study; known: {names} (more with --list)")
    arguments.seeds(args.seeds)
    arguments.positive(args.jobs, "--jobs")
    if args.ray is not None and not (args.search or args.stacks):
        raise UsageError("--ray goes with --search or --stacks")
    if args.scenario:
        return _scenario(args)
    if args.search:
        if args.at != "base" and (args.settings, args.trials) != (0, 0):
            raise UsageError("--search measures --at only with --settings 0 --trials 0")
        return _search(args)
    if args.stacks:
        return _stacks(args)
    # One folder for a study, quick or not and whatever the seeds: the finished runs in it are common to all.
    out = _folder(args, "reproduce")
    try:
        with progress.shown() as listener:
            result = reproduce(
                args.study,
                only=args.only,
                seeds=args.seeds,
                quick=args.quick,
                jobs=args.jobs,
                out=out,
                force=args.force,
                progress=listener,
                command=arguments.command_line(),
                at=args.at,
            )
    except KeyboardInterrupt:
        return progress.interrupted(out)
    if args.json:
        sys.stdout.write(result.to_json())
    else:
        _show(result)
        print(f"report: {out / 'report.html'}")
    return 0


def _scenario(args: argparse.Namespace) -> int:
    """Print the scenario of one claim at a setting, in full length: what `cogtcp run` takes."""
    study, single = find(args.study)
    rows = select(study, args.only or ([single] if single else None))
    if len(rows) != 1:
        raise UsageError("--scenario prints the scenario of one claim: name it, or add --claim ID")
    sys.stdout.write(scenario_at(study, rows[0], args.at).to_toml())
    return 0


def _search(args: argparse.Namespace) -> int:
    """Search the parameters that the paper does not give; the outcome stays with the study."""
    from cogtcp.studies import search_space

    out = _folder(args, "search")
    try:
        paths = search_space(
            args.study,
            only=args.only,
            settings=args.settings,
            trials=args.trials,
            seeds=args.seeds,
            jobs=args.jobs,
            out=out,
            force=args.force,
            progress=lambda line: print(line, file=sys.stderr),
            launcher=_launcher(args),
            at=args.at,
        )
    except KeyboardInterrupt:
        return progress.interrupted(out)
    names = [str(path) for path in paths]
    print(json.dumps({"search": names}) if args.json else f"search: {', '.join(names)}")
    return 0


def _stacks(args: argparse.Namespace) -> int:
    """Compare stacks of today; the outcome stays with the study."""
    from cogtcp.studies import compare_stacks
    from cogtcp.studies.stacks import SEEDS

    out = _folder(args, "search")
    try:
        path = compare_stacks(
            args.study,
            seeds=args.seeds or SEEDS,
            jobs=args.jobs,
            out=out,
            force=args.force,
            launcher=_launcher(args),
        )
    except KeyboardInterrupt:
        return progress.interrupted(out)
    print(json.dumps({"stacks": str(path)}) if args.json else f"stacks: {path}")
    return 0


def _launcher(args: argparse.Namespace) -> Launcher | None:
    if args.ray is None:
        return None
    from cogtcp.runner.on_ray import OnRay

    return OnRay(args.ray)


def _folder(args: argparse.Namespace, kind: str) -> Path:
    if args.out is not None:
        return Path(args.out)
    study, _ = find(args.study)
    return Path("results") / f"{kind}-{study.name}"


def _list(studies: list[Study], *, as_json: bool) -> None:
    if as_json:
        described = [
            {
                "study": study.name,
                "title": study.title,
                "paper": study.paper,
                "claims": [{"id": row.id, "figure": row.figure, "claim": row.claim} for row in study.claims],
            }
            for study in studies
        ]
        print(json.dumps({"studies": described}, ensure_ascii=False))
        return
    for study in studies:
        print(f"{study.name}: {study.title}\n  {study.paper}")
        for row in study.claims:
            print(f"  {row.id} ({row.figure}): {row.claim}")


def _show(result: StudyResult) -> None:
    """Print the answer first, then at most five lines a claim; the report has the rest."""
    console = Console(
        width=None if sys.stdout.isatty() else _WIDTH_OF_FILES, highlight=False, soft_wrap=False
    )
    console.print(Text(result.study.title, style="bold"), no_wrap=True, overflow="ellipsis")
    paper = [claim.outcome.answer for claim in result.claims if claim.outcome and not claim.row.ours]
    if paper:
        console.print(Text(f"{answers.counted(paper)}."))
    console.print()
    for claim in result.claims:
        outcome = claim.outcome
        heading = Text(f"{claim.row.id}{' (ours)' if claim.row.ours else ''}: ", style="bold")
        style = "bold red" if outcome is None else _STYLES[outcome.answer.reproduced]
        heading.append(claim.verdict, style=style)
        told = claim.told
        lines = [claim.row.claim, f"{told.share} {told.measured}".strip(), *told.lines]
        if outcome is None:
            lines = [claim.row.claim, told.why]
        for line in [heading, *(Text(f"  {line}") for line in lines if line)]:
            console.print(line, no_wrap=True, overflow="ellipsis")
    unsearched = [c for c in result.claims if c.outcome and "not searched" in c.verdict]
    if unsearched:
        console.print(
            f"\nNot searched: {len(unsearched)} of {len(result.claims)} claims. "
            f"cogtcp reproduce {result.study.name} --search",
        )
