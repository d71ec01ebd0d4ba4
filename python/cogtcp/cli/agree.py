"""The verb `agree`: the simulator against the kernel."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._units import TIME
from cogtcp.cli import arguments, quantities

if TYPE_CHECKING:
    from cogtcp.emulation.agreement import Agreement, Pair
    from cogtcp.scenario import Scenario


def add_agree(parser: argparse.ArgumentParser) -> None:
    """Add the options of `agree`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="scenarios, or names of shipped ones")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="change a field of all of them (may be repeated)",
    )
    parser.add_argument(
        "--transport",
        action="append",
        default=[],
        metavar="A,B,...",
        help="transports of the kernel (default: linux-reno,linux-cubic)",
    )
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="number of seeds (default: 5)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument(
        "--duration",
        type=quantities.quantity(TIME),
        metavar="T",
        help='how long each run is on both planes, as in "20 s" (default: the scenario\'s)',
    )
    parser.add_argument(
        "--tries",
        type=int,
        default=2,
        metavar="N",
        help="how often a run is made that fell behind (default: 2)",
    )


def agree(args: argparse.Namespace) -> int:
    """Run on both planes, save, and show how far apart they are."""
    arguments.seeds(args.seeds)
    arguments.positive(args.tries, "--tries")
    transports = arguments.transports(args.transport or ["linux-reno,linux-cubic"])
    if args.duration is not None:
        args.set = [*args.set, f"run.duration={args.duration:.9f} s"]
    scenarios = []
    for file in args.files:
        one = argparse.Namespace(file=file, set=args.set, allow_python=False)
        scenarios.append(arguments.checked_scenario(one))
    seeds = range(args.seed, args.seed + args.seeds)
    return both_planes(args, "agree", scenarios, transports, seeds)


def both_planes(
    args: argparse.Namespace,
    verb: str,
    scenarios: list[Scenario],
    transports: list[str],
    seeds: range,
) -> int:
    """Run scenarios on both planes, save, and show how far apart they are."""
    from cogtcp.emulation.agreement import agree as compare
    from cogtcp.output import OutputFolder

    hashes = [scenario.hash for scenario in scenarios]
    content = "\n".join([*hashes, *transports, str(seeds)])
    name = f"{verb}-planes-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
    out = Path("results") / name if args.out is None else Path(args.out)
    job = {"verb": verb, "scenarios": hashes, "transports": transports, "seeds": list(seeds)}
    tries = getattr(args, "tries", 2)
    with OutputFolder(out, job=job, force=args.force) as folder:
        agreement = compare(scenarios, transports, seeds, tries=tries, told=_tell)
        folder.write_text("agreement.json", json.dumps(agreement.to_dict(), indent=2) + "\n")
        folder.write_text("agreement.md", agreement.to_markdown())
        folder.write_text("report.html", agreement.report(command=arguments.command_line()))
        folder.describe({"kind": "agree", "command": arguments.command_line(), **agreement.to_dict()})
    if args.json:
        print(json.dumps({**agreement.to_dict(), "out": str(out), "report": str(out / "report.html")}))
    else:
        _show(agreement)
        print(f"\n{agreement.answer}\n\nreport: {out / 'report.html'}")
    return 130 if agreement.interrupted else 0


def _tell(pair: Pair) -> None:
    kept = f"no evidence: {pair.doubt}" if pair.doubt else "in time"
    print(f"cogtcp: {pair.scenario}, {pair.transport}, seed {pair.seed}: {kept}", file=sys.stderr)


def _show(agreement: Agreement) -> None:
    from cogtcp.cli import show
    from cogtcp.emulation.agreement import HEADINGS, cells

    rows = [[line.scenario, line.transport, *cells(line)] for line in agreement.lines()]
    show.print_table(f"Simulator and Linux {agreement.kernel}", list(HEADINGS), rows, left=3)
    if left_out := agreement.left_out():
        print(f"{len(left_out)} of {len(agreement.pairs)} runs {agreement.why_left_out}.")
