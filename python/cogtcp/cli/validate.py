"""The verb `validate`: cogtcp judged by the peers that are installed, on cases that a seed draws."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp.cli import arguments

if TYPE_CHECKING:
    import argparse

    from cogtcp.kernel.validation import Validation


def add_validate(parser: argparse.ArgumentParser) -> None:
    """Add the options of `validate`."""
    parser.add_argument("seed", type=int, metavar="SEED", help="draws the cases: choose any whole number")
    parser.add_argument("--cases", type=int, default=3, metavar="N", help="cases of each family (default: 3)")
    parser.add_argument(
        "--runs", type=int, default=5, metavar="N", help="runs of each case on either side (default: 5)"
    )
    parser.add_argument(
        "--family", action="append", default=[], metavar="A,B,...", help="only these families of cases"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="A,B,...",
        help="only these peers: ns-2, ns-3, Linux (in virtual time if a kernel is built), theory",
    )
    parser.add_argument("--list", action="store_true", help="show the cases of the seed, and run none")


def validate(args: argparse.Namespace) -> int:
    """Run the cases, save, and show how far cogtcp is from each peer."""
    from cogtcp.kernel.validation import validate as run
    from cogtcp.kernel.validation.outcome import to_markdown
    from cogtcp.model.output import OutputFolder

    arguments.positive(args.cases, "--cases")
    arguments.positive(args.runs, "--runs")
    families, peers = _names(args.family), _names(args.peer)
    if args.list:
        return _list(args, families, peers)
    job = {
        "verb": "validate",
        "seed": args.seed,
        "cases": args.cases,
        "runs": args.runs,
        "families": families,
        "peers": peers,
    }
    content = json.dumps(job, sort_keys=True).encode()
    name = f"validate-{args.seed}-{hashlib.sha256(content).hexdigest()[:8]}"
    out = Path(args.out or Path("results") / name)
    with OutputFolder(out, job=job, force=args.force) as folder:
        result = run(args.seed, cases=args.cases, runs=args.runs, families=families, peers=peers, told=_tell)
        folder.write_text("validation.json", json.dumps(result.to_dict(), indent=2) + "\n")
        folder.write_text("validation.md", to_markdown(result))
        folder.describe({"kind": "validate", "command": arguments.command_line(), **result.to_dict()})
    if args.json:
        print(json.dumps({**result.to_dict(), "out": str(out)}))
    else:
        _show(result)
        print(f"\n{result.answer}\n\nsaved: {out / 'validation.md'}")
    if result.interrupted:
        return 130
    # A peer that is missing, and nothing compared in its place.
    return 1 if result.absent and not result.lines else 0


def _names(given: list[str]) -> list[str]:
    return [name.strip() for names in given for name in names.split(",") if name.strip()]


def _tell(text: str) -> None:
    print(f"cogtcp: {text}", file=sys.stderr)


def _list(args: argparse.Namespace, families: list[str], peers: list[str]) -> int:
    from cogtcp.cli import show
    from cogtcp.kernel.validation.running import drawn_cases

    found = drawn_cases(args.seed, cases=args.cases, families=families, peers=peers)
    if args.json:
        cases = [
            {"family": case.family, "case": case.number, "peer": peer, "drawn": dict(case.drawn)}
            for peer, case in found
        ]
        print(json.dumps({"seed": args.seed, "cases": cases}))
        return 0
    rows = [[case.family, str(case.number), peer, case.told] for peer, case in found]
    show.print_table(f"Cases of seed {args.seed}", ["Family", "Number", "Peer", "Case"], rows, left=4)
    return 0


def _show(result: Validation) -> None:
    from cogtcp.cli import show
    from cogtcp.kernel.validation.outcome import HEADINGS, SUMMARY, cells, summary, summary_cells

    rows = [cells(line) for line in result.lines]
    if rows:
        show.print_table(f"Ours beside its peers, seed {result.seed}", list(HEADINGS), rows, left=2)
    _explain(result)
    if rows:
        families = [summary_cells(row) for row in summary(result)]
        show.print_table("By family", list(SUMMARY), families, left=3)
    for peer, reason in result.absent.items():
        print(f"not compared with {peer}: {reason}")
    for reason in result.failed:
        print(f"no evidence: {reason}")


def _explain(result: Validation) -> None:
    """Say of each line outside its band what was drawn and which known departures bear on it."""
    from cogtcp.kernel.validation import departures

    named = set()
    for line in result.lines:
        if line.verdict != "within":
            named |= set(line.causes)
            causes = ", ".join(line.causes) or "none"
            print(
                f"{line.case.family} {line.case.number} ({line.case.told}): {line.measure} "
                f"{line.ratio.mean:.3f} of {line.peer}'s, {line.verdict}; known: {causes}"
            )
    for entry in departures():
        if entry.id in named:
            cause = "no cause found yet" if entry.is_unknown else entry.source
            print(f"  {entry.id}: here: {entry.here} {entry.peer}: {entry.there} ({cause})")
