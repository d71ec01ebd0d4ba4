"""The verb `cogtcp reproduce`."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cogtcp._errors import UsageError
from cogtcp.cli import arguments, progress
from cogtcp.studies import answers, find, list_studies, reproduce, scenario_at
from cogtcp.studies.folder import chosen
from cogtcp.studies.halves import HOLDS, in_sentences, share_counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from cogtcp.running.runner import Launcher
    from cogtcp.studies import Claim, Study, StudyResult

_STYLES = {
    "reproduced": "bold green",
    "in part": "bold yellow",
    "not reproduced": "bold red",
    "not searched": "bold",
    "ours": "bold",
}

_WIDEST = 100
# Of the column that names the place in the paper; longer names wrap, as the claim beside them does.
_PLACE = 12
_WHERE = {
    "base": "the default values",
    "best": "each claim's best values",
    "nearest": "the values nearest to the paper's numbers",
}
# A file has lines of any length: nothing is cut.
_WIDTH_OF_FILES = 10_000


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
    if args.joint:
        if args.at != "base" and not args.search:
            raise UsageError("--joint is a setting of its own: leave --at out")
        if args.stacks and (args.search or args.ray is not None):
            raise UsageError("--stacks --joint runs kernels here: leave --search and --ray out")
    if args.scenario:
        return _scenario(args)
    if args.search and args.joint:
        return _search_joint(args)
    if args.search:
        if args.at != "base" and (args.settings, args.trials) != (0, 0):
            raise UsageError("--search measures --at only with --settings 0 --trials 0")
        return _search(args)
    if args.stacks:
        return _on_today(args) if args.joint else _stacks(args)
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
                at=_at(args),
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
    rows = chosen(study, args.only or ([single] if single else None))
    if len(rows) != 1:
        raise UsageError("--scenario prints the scenario of one claim: name it, or add --claim ID")
    sys.stdout.write(scenario_at(study, rows[0], _at(args)).to_toml())
    return 0


def _at(args: argparse.Namespace) -> str:
    return "joint" if args.joint else str(args.at)


def _search_joint(args: argparse.Namespace) -> int:
    """Search the one setting at which most claims hold together."""
    from cogtcp.studies import search_joint

    def work(out: Path) -> Path:
        return search_joint(
            args.study,
            trials=40 if args.trials is None else args.trials,
            jobs=args.jobs,
            out=out,
            force=args.force,
            progress=_told,
            launcher=_launcher(args),
            at=args.at,
        )

    return _kept(args, "joint", work)


def _search(args: argparse.Namespace) -> int:
    """Search the parameters that the paper does not give."""
    from cogtcp.studies import search_space

    def work(out: Path) -> list[Path]:
        return search_space(
            args.study,
            only=args.only,
            settings=args.settings,
            trials=args.trials,
            seeds=args.seeds,
            jobs=args.jobs,
            out=out,
            force=args.force,
            progress=_told,
            launcher=_launcher(args),
            at=args.at,
        )

    return _kept(args, "search", work)


def _stacks(args: argparse.Namespace) -> int:
    """Compare stacks of today."""
    from cogtcp.studies import compare_stacks
    from cogtcp.studies.stacks import SEEDS

    def work(out: Path) -> Path:
        return compare_stacks(
            args.study,
            seeds=args.seeds or SEEDS,
            jobs=args.jobs,
            out=out,
            force=args.force,
            launcher=_launcher(args),
        )

    return _kept(args, "stacks", work)


def _on_today(args: argparse.Namespace) -> int:
    """Run a figure with a kernel's senders in virtual time."""
    from cogtcp.studies import compare_on_today
    from cogtcp.studies.today import SEEDS

    def work(out: Path) -> Path:
        return compare_on_today(
            args.study,
            seeds=args.seeds or SEEDS,
            jobs=args.jobs,
            out=out,
            force=args.force,
            progress=_told,
        )

    return _kept(args, "today", work)


def _kept(args: argparse.Namespace, what: str, work: Callable[[Path], Path | list[Path]]) -> int:
    """Do work whose outcome stays with the study, and print the files that hold it."""
    out = _folder(args, "search")
    try:
        made = work(out)
    except KeyboardInterrupt:
        return progress.interrupted(out)
    names = str(made) if isinstance(made, Path) else [str(path) for path in made]
    text = names if isinstance(names, str) else ", ".join(names)
    print(json.dumps({what: names}) if args.json else f"{what}: {text}")
    return 0


def _told(line: str) -> None:
    print(line, file=sys.stderr)


def _launcher(args: argparse.Namespace) -> Launcher | None:
    if args.ray is None:
        return None
    from cogtcp.running.runner.on_ray import OnRay

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
    """Print a table of claims, then what is to be said of each; the report has the rest.

    On a terminal lines are wrapped at 100 columns at most. In a file each is whole.
    """
    here = sys.stdout.isatty()
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    console = Console(width=width if here else _WIDTH_OF_FILES, highlight=False, soft_wrap=not here)
    console.print(Text(result.study.title, style="bold"))
    for line in _heads(result):
        console.print(Text(line))
    console.print(Text(f"Paper: {result.study.paper}."))
    console.print()
    console.print(_table(result, width))
    for claim in result.claims:
        console.print()
        console.print(
            Text(f"{claim.row.id}{' (ours)' if claim.row.ours else ''}: ", "bold") + _verdict(claim)
        )
        for line in _lines(claim, result.at):
            for part in textwrap.wrap(line, width - 2) if here else [line]:
                console.print(Text(f"  {part}"))
    unsearched = [c for c in result.claims if c.outcome and "not searched" in c.verdict]
    if unsearched:
        console.print(
            f"\nNot searched: {len(unsearched)} of {len(result.claims)} claims. "
            f"cogtcp reproduce {result.study.name} --search",
        )


def _heads(result: StudyResult) -> list[str]:
    """Return the answer for the paper as a whole: at the one setting, then claim by claim."""
    heads = []
    if result.at not in ("base", "best", "nearest"):
        paper = [
            claim.outcome.base.verdict for claim in result.claims if claim.outcome and not claim.row.ours
        ]
        told = f"At {result.place}, {paper.count('holds')} of {len(paper)} claims of the paper hold"
        open_ones = paper.count("inconclusive")
        are = "is" if open_ones == 1 else "are"
        heads.append(f"{told}, {open_ones} {are} inconclusive." if open_ones else f"{told}.")
        if result.at == "joint" and result.quick and result.joint is not None:
            heads.append(f"In full, {result.joint.confirmed}.")
    elif result.joint is not None:
        heads.append(f"{result.joint.text}: cogtcp reproduce {result.study.name} --joint")
    if result.quick:
        runs = f"{len(result.seeds)} seeds, not {result.study.seeds}, and shorter runs"
        heads.append(f"A quick run ({runs}): more is inconclusive.")
    known = [claim.outcome.answer for claim in result.claims if claim.outcome and not claim.row.ours]
    if known:
        heads.append(f"Each alone: {answers.counted(known)}.")
    if result.at in _WHERE:
        heads.append(f"The table answers for {_WHERE[result.at]}.")
    return heads


def _table(result: StudyResult, width: int) -> Table:
    """Return the table: where it is in the paper, claim, whether it holds there, its share, what it says."""
    table = Table(box=None, width=width, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("in the paper", max_width=_PLACE)
    for name in ("claim", "holds?", "share"):
        table.add_column(name, no_wrap=True)
    table.add_column("what it says", overflow="fold")
    for claim in result.claims:
        outcome = claim.outcome
        if outcome is None:
            table.add_row(claim.row.figure, claim.row.id, "failed", "-", claim.row.claim)
            continue
        found = [finding.verdict for finding in outcome.base.findings]
        word = HOLDS[outcome.base.verdict]
        held = f"{word}, {found.count('holds')} of {len(found)}" if len(found) > 1 else word
        row = claim.row
        table.add_row(row.figure, row.id, held, share_counted(outcome.place), row.claim)
    return table


def _verdict(claim: Claim) -> Text:
    if claim.outcome is None:
        return Text(claim.verdict, style="bold red")
    told = in_sentences(claim.outcome.answer, claim.outcome.place)
    return Text(told, style=_STYLES[claim.outcome.answer.reproduced])


def _lines(claim: Claim, at: str) -> list[str]:
    """Return what is to be said of a claim: where it was measured first."""
    told = claim.told
    if claim.outcome is None:
        return [told.why]
    lines = [told.measured]
    if at not in ("base", "best", "nearest"):
        # What was asked is this setting: what fails here, not at another.
        return [*lines, told.fails] if told.fails else lines
    return [line for line in (*lines, *told.lines) if line]
