"""The verb tune."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError

if TYPE_CHECKING:
    import argparse


def add_tune(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `tune` to the arguments of all verbs that simulate."""
    parser.add_argument(
        "--vary",
        action="append",
        metavar="PATH=LOW..HIGH",
        help="a field and its range (:log, :linear), or values A,B (default: sensing and transmission time)",
    )
    parser.add_argument(
        "--objective",
        default="goodput",
        metavar="METRIC",
        help="the metric to optimise (default: goodput); min:METRIC or max:METRIC sets the direction",
    )
    parser.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="METRIC<=VALUE",
        help='a limit: "pu_interference<=5%%" (may be repeated)',
    )
    parser.add_argument(
        "--trials", type=int, default=60, metavar="N", help="points to simulate (default: 60)"
    )
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds for each point (default: 5)")
    parser.add_argument(
        "--fresh-seeds",
        type=int,
        default=20,
        metavar="N",
        help="unused seeds for the best points at the end (default: 20)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="the first seed, also of the search (default: the scenario's)",
    )
    parser.add_argument(
        "--batch",
        type=int,
        default=4,
        metavar="N",
        help="points proposed at a time: more use more processors (default: 4)",
    )
    parser.add_argument(
        "--grid",
        metavar="NxM",
        help="also simulate a grid for the picture: --grid 10x10",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)")


def tune(args: argparse.Namespace) -> int:
    """Search, save, and show what is best."""
    from cogtcp.deciding.tuning import require

    require()
    import cogtcp
    from cogtcp.cli import arguments, progress, show
    from cogtcp.model import headline

    for option in ("trials", "jobs", "batch"):
        arguments.positive(getattr(args, option), f"--{option}")
    arguments.seeds(args.seeds)
    arguments.seeds(args.fresh_seeds or None, "--fresh-seeds")
    scenario = arguments.checked_scenario(args)
    vary = None if args.vary is None else arguments.ranges(args.vary, "--vary")
    grid = _grid(args.grid)
    what = [*(vary or {}).items(), args.objective, *args.constraint]
    out = arguments.output(args, scenario, "tune", *what)
    try:
        with progress.shown() as listener, arguments.as_options("objective", "constraint"):
            found = cogtcp.tune(
                scenario,
                vary,
                objective=args.objective,
                constraints=args.constraint,
                trials=args.trials,
                seeds=args.seeds,
                fresh_seeds=args.fresh_seeds,
                seed=args.seed,
                batch=args.batch,
                grid=grid,
                jobs=args.jobs,
                out=out,
                force=args.force,
                progress=listener,
                command=arguments.command_line(),
            )
    except KeyboardInterrupt:
        return progress.interrupted(out)
    for trial in found.failures[:3]:
        print(f"cogtcp: trial {trial.number} failed: {trial.error}", file=sys.stderr)
    for note in found.uncharged:
        print(f"cogtcp: note: {note}", file=sys.stderr)
    if args.json:
        report = {"out": str(out), "report": str(out / "report.html")}
        print(json.dumps({**found.to_dict(), "provenance": found.provenance, **report}))
    else:
        show.tuning(found)
        print(f"\n{headline.of_tuning(found)}\n")
        if found.winner is not None:
            print(f"scenario: {out / 'best.toml'}")
        print(f"report: {out / 'report.html'}")
    if found.interrupted:
        return progress.interrupted(out)
    return 1 if found.failures or found.breaks else 0


def _grid(text: str | None) -> list[int]:
    if text is None:
        return []
    if re.fullmatch(r"\d{1,6}(x\d{1,6})*", text) is None:
        raise UsageError(f"--grid {text}: write the number of values of each range, as in --grid 10x10")
    return [int(count) for count in text.split("x")]
