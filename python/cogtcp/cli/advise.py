"""The verb advise."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from cogtcp.deciding.advising.advice import Advice
    from cogtcp.model.scenario import Scenario


def add_advise(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `advise` itself."""
    parser.add_argument(
        "--for",
        dest="objective",
        default="goodput",
        metavar="OBJECTIVE",
        help="goodput (default), utility:W (log2 goodput - W log2 RTT), completion:10MB, stalls, "
        "worst-flow, or a metric, also of an application: call.delay_p95",
    )
    parser.add_argument(
        "--transport",
        action="append",
        default=[],
        metavar="A,B,...",
        help="the candidates (default: one of each kind; all: every preset)",
    )
    parser.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="PATH=...",
        help="a further field to decide: values A,B,... or a range LOW..HIGH",
    )
    parser.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="METRIC<=VALUE",
        help='a limit: "pu_interference<=5%%", "call.delay_p95<=150 ms"; repeatable',
    )
    parser.add_argument(
        "--uncertain",
        action="append",
        default=[],
        metavar="PATH=LOW..HIGH",
        help="a field known as a range (default: FILE's NAME.ranges.toml)",
    )
    parser.add_argument(
        "--margin", default="2 %", metavar="SHARE", help="smaller gains do not count (default: 2 %%)"
    )
    parser.add_argument(
        "--budget",
        default="60 s",
        metavar="T",
        help='real time "60 s" (default), or "400 runs": always the same answer',
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the first seed (default: the scenario's)")
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)")
    parser.add_argument(
        "--quick", action="store_true", help="answer at once from the atlas (precomputed runs); goodput only"
    )
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="name a winner although the fit does not reproduce its capture",
    )
    parser.add_argument(
        "--emulate",
        nargs="?",
        type=int,
        const=2,
        metavar="N",
        help="confirm the best two on Linux, in virtual time if a kernel is built, N seeds (default: 2)",
    )


def advise(args: argparse.Namespace) -> int:
    """Race, save, and say what to run."""
    from cogtcp import _core
    from cogtcp._shipped import locate
    from cogtcp.cli import arguments, progress
    from cogtcp.deciding.advising import TRANSPORTS, inputs, refuse_doubtful
    from cogtcp.deciding.advising.deciding import Question, decide

    arguments.positive(args.jobs, "--jobs")
    arguments.positive(args.emulate, "--emulate")
    scenario = arguments.checked_scenario(args)
    refuse_doubtful(scenario, anyway=args.anyway)
    if args.quick:
        return _quick(args, scenario)
    if args.transport == ["all"]:
        transports = [name for name, _ in _core.transports()]
    else:
        transports = arguments.transports(args.transport) or list(TRANSPORTS)
    uncertain = arguments.ranges(args.uncertain, "--uncertain") or inputs.beside(locate(args.file))
    with arguments.as_options("budget", "margin", "constraint", objective="--for"):
        question = Question.of(
            scenario,
            args.objective,
            transports,
            arguments.ranges(args.over, "--over"),
            args.constraint,
            uncertain,
            _share(args.margin),
            args.budget,
            args.seed,
        )
    what = [args.objective, args.margin, *transports, *args.over, *args.constraint, *uncertain.items()]
    out = arguments.output(args, question.scenario, "advise", *what)
    with progress.shown() as listener:
        found = decide(
            question,
            jobs=args.jobs,
            out=out,
            force=args.force,
            progress=listener,
            command=arguments.command_line(),
        )
    code = 1 if found.head == "nothing" else 0
    if args.emulate and found.winner is not None:
        code = _confirm(args, found, out)
    _show(args, found, out)
    if found.interrupted:
        return progress.interrupted(out)
    return code


def _quick(args: argparse.Namespace, scenario: Scenario) -> int:
    """Answer from the atlas."""
    from cogtcp.deciding.atlas.lookup import guess

    for option in ("over", "constraint", "transport", "uncertain", "emulate"):
        if getattr(args, option):
            raise UsageError(f"--quick: the atlas knows no --{option}; leave one of the two out")
    if args.objective != "goodput":
        raise UsageError(f"--quick: the atlas covers goodput, not {args.objective}; leave --quick out")
    found = guess(scenario)
    print(json.dumps(found.to_dict()) if args.json else found.text)
    return 0


def _confirm(args: argparse.Namespace, found: Advice, out: Path) -> int:
    """Run the best two on the kernel plane; 1 if it ranks them the other way round."""
    from cogtcp.cli import arguments
    from cogtcp.deciding.advising.confirming import confirm
    from cogtcp.deciding.advising.deciding import save

    found.confirmation = confirm(
        found, args.emulate, lambda text: print(f"cogtcp: {text}", file=sys.stderr, flush=True)
    )
    save(found, out, arguments.command_line())
    return 1 if found.confirmation.confirms(found.wanted.objective.sign) is False else 0


def _show(args: argparse.Namespace, found: Advice, out: Path) -> None:
    if args.json:
        report = {"out": str(out), "report": str(out / "report.html")}
        print(json.dumps({**found.to_dict(), "provenance": found.provenance, **report}))
        return
    from cogtcp.cli import show
    from cogtcp.showing.report.advice import candidates_table

    table = candidates_table(found)
    headings = [f"{name}, {unit}" if unit else name for name, unit in table.headings]
    show.print_table(found.scenario.name, headings, [list(row) for row in table.rows], left=1)
    print(f"\n{found.text}\n")
    if found.winner is not None:
        print(f"scenario: {out / 'best.toml'}")
    print(f"report: {out / 'report.html'}")


def _share(text: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if match is None:
        raise UsageError(f'--margin {text}: write a share, as in "2 %" or 0.02')
    return float(match[1]) / (100 if match[2] else 1)
