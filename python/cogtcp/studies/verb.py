"""The verb `cogtcp reproduce`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cogtcp._errors import UsageError
from cogtcp.studies import find, list_studies, reproduce
from cogtcp.studies.telling import NOT_SEARCHED

if TYPE_CHECKING:
    import argparse

    from cogtcp.studies import Study, StudyResult

_STYLES = {"holds": "bold green", "differs": "bold red", "unclear": "bold yellow"}

# Where the output is no terminal nobody's window limits the width.
_WIDTH_OF_FILES = 120


def command(args: argparse.Namespace) -> int:
    """Run `cogtcp reproduce`; the exit code says whether it could be measured, not what the verdict is."""
    from cogtcp.cli import arguments, progress

    if args.list:
        _list(list_studies(), as_json=args.json)
        return 0
    if args.study is None:
        names = ", ".join(study.name for study in list_studies())
        raise UsageError(f"name a study; known: {names} (more with --list)")
    arguments.seeds(args.seeds)
    arguments.positive(args.jobs, "--jobs")
    if args.search:
        return _search(args)
    out = Path(args.out) if args.out is not None else _default_folder(args)
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
            )
    except KeyboardInterrupt:
        print(
            f"cogtcp: interrupted; {out} keeps the finished runs: repeat the command to go on",
            file=sys.stderr,
        )
        return 130
    if args.json:
        sys.stdout.write(result.to_json())
    else:
        _show(result)
        print(f"report: {out / 'report.html'}")
    return 0


def _search(args: argparse.Namespace) -> int:
    """Search the space of what the paper leaves unsaid; the outcome stays with the study."""
    from cogtcp.studies import search_space

    out = Path(args.out) if args.out is not None else Path("results") / f"search-{args.study}"
    try:
        path = search_space(
            args.study,
            settings=args.settings,
            seeds=args.seeds,
            jobs=args.jobs,
            out=out,
            force=args.force,
            progress=lambda line: print(line, file=sys.stderr),
        )
    except KeyboardInterrupt:
        print(
            f"cogtcp: interrupted; {out} keeps the finished runs: repeat the command to go on",
            file=sys.stderr,
        )
        return 130
    print(json.dumps({"search": str(path)}) if args.json else f"search: {path}")
    return 0


def _default_folder(args: argparse.Namespace) -> Path:
    # One folder for a study, quick or not and whatever the seeds: the finished runs in it are common to all.
    study, _ = find(args.study)
    return Path("results") / f"reproduce-{study.name}"


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
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_OF_FILES, highlight=False)
    console.print(f"{result.study.title}", style="bold")
    console.print(f"{result.study.paper}\n")
    for claim in result.claims:
        heading = Text(
            f"{claim.row.id}, {claim.row.figure}{' (ours)' if claim.row.ours else ''}: ", style="bold"
        )
        heading.append(claim.verdict, style=_STYLES[claim.verdict])
        if claim.outcome is not None and claim.outcome.where is not None:
            heading.append(f", {claim.outcome.where}")
        console.print(heading)
        table = Table.grid(padding=(0, 1))
        told = [("claim", claim.row.claim), ("paper", claim.row.paper), ("found", claim.told.measured)]
        if claim.told.why != NOT_SEARCHED:
            told.append(("where", claim.told.why))
        for name, text in told:
            table.add_row(Text(f"  {name}"), Text(text))
        if claim.outcome is not None:
            for statement, finding, _ in claim.outcome.by_statement():
                table.add_row(
                    Text(f"  {finding.verdict}", style=_STYLES[finding.verdict]), Text(statement.says)
                )
        console.print(table)
        console.print()
    if any(claim.told.why == NOT_SEARCHED for claim in result.claims):
        console.print(
            f"{NOT_SEARCHED} Until then every claim is unclear; what is shown is at the base.\n"
            f"search: cogtcp reproduce {result.study.name} --search"
        )
