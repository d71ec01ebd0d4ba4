"""The verb `agree`: the simulator against the kernel."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _files
from cogtcp._errors import UsageError
from cogtcp._units import TIME
from cogtcp.cli import arguments, quantities

if TYPE_CHECKING:
    from cogtcp.cli.kept_pairs import KeptPairs
    from cogtcp.kernel.emulation.agreement import Agreement
    from cogtcp.kernel.emulation.pairs import Pair
    from cogtcp.model.scenario import Scenario


def add_agree(parser: argparse.ArgumentParser) -> None:
    """Add the options of `agree`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="scenarios, or names of shipped ones")
    parser.add_argument(
        "--drawn",
        type=int,
        default=0,
        metavar="N",
        help="also N scenarios that --seed draws; with --virtual over all kinds, each with its control",
    )
    parser.add_argument(
        "--virtual",
        nargs="?",
        const="",
        metavar="NAME",
        help="on a Linux in virtual time (cogtcp kernel list); repeat the command to go on where it stopped",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="with --virtual: runs at a time (default: one per processor)"
    )
    parser.add_argument(
        "--first-difference",
        action="store_true",
        help="run one seed; show the first packet that differs, and keep captures",
    )
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
        help='duration of each run: "20 s" (default: the scenario\'s)',
    )
    parser.add_argument(
        "--tries",
        type=int,
        default=2,
        metavar="N",
        help="attempts for a run that fell behind real time (default: 2)",
    )


def agree(args: argparse.Namespace) -> int:
    """Run on both planes, save, and show how far apart they are."""
    arguments.seeds(args.seeds)
    arguments.positive(args.tries, "--tries")
    has_own = args.virtual is not None and args.drawn and not args.transport
    transports = [] if has_own else arguments.transports(args.transport or ["linux-reno,linux-cubic"])
    if args.duration is not None:
        args.set = [*args.set, f"run.duration={args.duration:.9f} s"]
    scenarios = []
    for file in args.files:
        one = argparse.Namespace(file=file, set=args.set, allow_python=False, transport=args.transport)
        scenarios.append(arguments.checked_scenario(one))
    if args.drawn:
        arguments.positive(args.drawn, "--drawn")
        from cogtcp.kernel.validation.families.kernel import drawn_scenarios
        from cogtcp.kernel.validation.families.wide import drawn_wide

        draw = drawn_scenarios if args.virtual is None else drawn_wide
        drawn = draw(args.seed, args.drawn)
        scenarios += [_changed(scenario, args.set) for scenario in drawn]
    if not scenarios:
        raise UsageError("name scenarios, or let --drawn N draw some")
    seeds = range(args.seed, args.seed + args.seeds)
    arguments.positive(args.jobs, "--jobs")
    virtual = False if args.virtual is None else args.virtual or True
    if args.jobs and virtual is False:
        raise UsageError("--jobs needs --virtual: runs in real time go one after the other")
    if args.first_difference:
        return _first_differences(args, scenarios, transports, virtual)
    return both_planes(args, "agree", scenarios, transports, seeds, virtual=virtual)


def _changed(scenario: Scenario, changes: list[str]) -> Scenario:
    for path, text in arguments.changes(changes):
        scenario = scenario.set_text(path, text)
    return scenario


def _first_differences(
    args: argparse.Namespace, scenarios: list[Scenario], transports: list[str], virtual: str | bool
) -> int:
    """Show where both planes part, and keep their captures."""
    from cogtcp.kernel.emulation import emulate
    from cogtcp.kernel.emulation.first_difference import first_difference
    from cogtcp.model.output import OutputFolder

    cases = [(scenario.with_transport(name), name) for scenario in scenarios for name in transports]
    hashes = [scenario.hash for scenario, _ in cases]
    name = hashlib.sha256("\n".join([*hashes, str(args.seed)]).encode()).hexdigest()[:8]
    out = Path("results") / f"first-difference-{name}" if args.out is None else Path(args.out)
    told: list[dict[str, Any]] = []
    job = {"verb": "first-difference", "scenarios": hashes, "seed": args.seed}
    with OutputFolder(out, job=job, force=args.force) as folder:
        for scenario, transport in cases:
            # A scenario's name is any text.
            stem = _files.safe_name(f"{scenario.name}-{transport}", "case")
            found, captures = first_difference(
                scenario, args.seed, tries=args.tries, emulated=partial(emulate, virtual=virtual)
            )
            for plane, capture in captures.items():
                folder.write_pieces(f"{stem}-{plane}.pcapng", iter([capture]))
            told.append({"scenario": scenario.name, "transport": transport, **found.to_dict()})
            folder.write_text(f"{stem}.txt", found.explain(before=100, after=20) + "\n")
            if not args.json:
                print(f"{scenario.name}, {transport}, seed {args.seed}: {found.explain()}")
            if found.doubt:
                print(f"cogtcp: {stem}: the kernel's run is no evidence: {found.doubt}", file=sys.stderr)
        folder.write_text("first-difference.json", json.dumps(told, indent=2) + "\n")
        folder.describe({"kind": "first-difference", "command": arguments.command_line(), "cases": told})
    if args.json:
        print(json.dumps({"cases": told, "out": str(out)}))
    else:
        print(f"\ncaptures: {out}")
    return 0


def both_planes(
    args: argparse.Namespace,
    verb: str,
    scenarios: list[Scenario],
    transports: list[str],
    seeds: range,
    *,
    virtual: str | bool = False,
) -> int:
    """Run scenarios on both planes, save, and show how far apart they are."""
    from cogtcp.cli.kept_pairs import KeptPairs
    from cogtcp.kernel.emulation import virtual_kernel
    from cogtcp.kernel.emulation.agreement import agree as compare
    from cogtcp.model.output import OutputFolder

    hashes = [scenario.hash for scenario in scenarios]
    content = "\n".join([*hashes, *transports, str(seeds)])
    name = f"{verb}-planes-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
    out = Path("results") / name if args.out is None else Path(args.out)
    job = {"verb": verb, "scenarios": hashes, "transports": transports, "seeds": list(seeds)}
    if virtual is not False:
        job["virtual"] = virtual_kernel(virtual).name
    tries = getattr(args, "tries", 2)
    with OutputFolder(out, job=job, force=args.force) as folder, KeptPairs(out, virtual is not False) as kept:
        agreement = compare(
            scenarios,
            transports,
            seeds,
            tries=tries,
            told=lambda pair: _tell(pair, kept, virtual is not False),
            virtual=virtual,
            jobs=args.jobs,
            known=kept.known,
        )
        folder.write_text("agreement.json", json.dumps(agreement.to_dict(), indent=2) + "\n")
        folder.write_text("agreement.md", agreement.to_markdown())
        if not transports:
            from cogtcp.kernel.emulation.shares import page
            from cogtcp.kernel.validation.families.wide import kind_of

            folder.write_text("shares.md", page(agreement.pairs, lambda pair: kind_of(pair.scenario)))
        folder.write_text("report.html", agreement.report(command=arguments.command_line()))
        folder.describe({"kind": "agree", "command": arguments.command_line(), **agreement.to_dict()})
    if args.json:
        print(json.dumps({**agreement.to_dict(), "out": str(out), "report": str(out / "report.html")}))
    elif not transports:
        _show_shares(agreement)
        print(f"\nshares and exceptions: {out / 'shares.md'}")
    else:
        _show(agreement)
        print(f"\n{agreement.answer}\n\nreport: {out / 'report.html'}")
    return 130 if agreement.interrupted else 0


def _tell(pair: Pair, pairs: KeptPairs, is_virtual: bool) -> None:
    pairs.add(pair)
    kept = f"no evidence: {pair.doubt}" if pair.doubt else "done" if is_virtual else "in time"
    print(f"cogtcp: {pair.scenario}, {pair.transport}, seed {pair.seed}: {kept}", file=sys.stderr)


def _show_shares(agreement: Agreement) -> None:
    from cogtcp.cli import show
    from cogtcp.kernel.emulation import shares
    from cogtcp.kernel.validation.families.wide import kind_of

    for title, pairs in (("", agreement.pairs), ("; means over seeds", shares.averaged(agreement.pairs))):
        if pairs:
            rows = shares.shares(pairs, lambda pair: kind_of(pair.scenario))
            cells = [row.cells() for row in rows]
            about = f"Simulator and Linux {agreement.kernel}{title}"
            show.print_table(about, list(shares.HEADINGS), cells, left=1)
    if left_out := agreement.left_out():
        print(f"{len(left_out)} of {len(agreement.pairs)} runs {agreement.why_left_out}.")


def _show(agreement: Agreement) -> None:
    from cogtcp.cli import show
    from cogtcp.kernel.emulation.agreement import HEADINGS, cells

    rows = [[line.scenario, line.transport, *cells(line)] for line in agreement.lines()]
    show.print_table(f"Simulator and Linux {agreement.kernel}", list(HEADINGS), rows, left=3)
    if left_out := agreement.left_out():
        print(f"{len(left_out)} of {len(agreement.pairs)} runs {agreement.why_left_out}.")
