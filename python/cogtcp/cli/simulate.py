"""The verbs that simulate: run and compare."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import cogtcp
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.cli import arguments, show
from cogtcp.model import headline
from cogtcp.model.output import KeptFolder, OutputFolder
from cogtcp.model.result import run_job
from cogtcp.running.compare import FILES, compare_job
from cogtcp.running.runner.plane import plane_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from cogtcp.model.capture import Point
    from cogtcp.model.scenario import Scenario


def run(args: argparse.Namespace) -> int:
    """Simulate once, save, and show the result."""
    scenario = arguments.checked_scenario(args)
    seed = scenario.seed if args.seed is None else args.seed
    captures = _captures(scenario, arguments.names(args.pcap))
    # Captures and logs are made from the packets.
    packets = args.packets or bool(captures) or args.qlog
    asked = [*sorted(captures), *(["qlog"] if args.qlog else [])]
    out = arguments.output(args, scenario, "run", seed, *asked)
    job = run_job(scenario, seed, packets=packets, captures=sorted(captures), qlog=args.qlog)
    with OutputFolder(out, job=job, force=args.force) as folder:
        result = cogtcp.run(scenario, seed, "packets" if packets else "full")
        logs = _logs(result) if args.qlog else {}
        result.write(folder, command=arguments.command_line(), captures=captures, logs=logs)
    if args.json:
        document = {**result.to_dict(), "provenance": result.provenance}
        if captures:
            document["captures"] = [
                {"link": point.link, "node": point.node, "file": str(out / name)}
                for name, point in captures.items()
            ]
        if logs:
            document["qlogs"] = [
                {"flow": flow, "end": end, "file": str(out / name)} for name, (flow, end) in logs.items()
            ]
        _print_json(document, out)
    else:
        show.result(result)
        _print_report(headline.of_run(result), out)
        for name in logs:
            print(f"qlog: {out / name}")
        for name in captures:
            print(f"capture: {out / name}")
    return 0


def _logs(result: cogtcp.Result) -> dict[str, tuple[str, str]]:
    """Return flow and end of each log of QUIC, by name of file."""
    from cogtcp.model.capture import qlog

    return qlog.files(result)


def _captures(scenario: Scenario, links: list[str]) -> dict[str, Point]:
    """Return where `--pcap` captures, by name of file."""
    if not links:
        return {}
    from cogtcp.model.capture import file_name, find_point

    captures: dict[str, Point] = {}
    # A point that is named twice gives one file.
    for link in dict.fromkeys(links):
        point = find_point(scenario, link)
        captures[file_name(point, list(captures))] = point
    return captures


def compare(args: argparse.Namespace) -> int:
    """Simulate each transport over the same seeds, save, and show how they compare."""
    arguments.seeds(args.seeds)
    arguments.positive(args.jobs, "--jobs")
    quantiles = arguments.quantiles(args.quantiles)
    transports = arguments.transports(args.transport)
    scenario = arguments.checked_scenario(args)
    first = scenario.seed if args.seed is None else args.seed
    seeds = range(first, first + args.seeds)
    if _on_both_planes(args):
        from cogtcp.cli.agree import both_planes

        return both_planes(args, "compare", [scenario], transports, seeds, virtual=_virtual(args.plane))
    # Before the folder: no kernel, no results.
    plane = plane_of(args.plane)
    where = "sim" if plane is None else plane.name
    out = arguments.output(args, scenario, "compare", transports, seeds, *([where] if plane else []))
    job = compare_job(scenario, transports, seeds, where)
    from cogtcp.cli import progress  # loads what runs many cases

    with KeptFolder(out, FILES, job=job, force=args.force) as folder:
        with progress.shown() as listener:
            comparison = cogtcp.compare(
                scenario,
                transports,
                seeds,
                args.jobs,
                listener,
                keep=folder.runs,
                time_limit=args.time_limit,
                plane=where,
            )
        if comparison.interrupted:
            print(
                f"cogtcp: interrupted; writing what was finished to {out}: repeat the command to go on",
                file=sys.stderr,
            )
        comparison.write(folder, command=arguments.command_line(), quantiles=quantiles)
    _report_failures(comparison)
    if args.json:
        _print_json({**comparison.to_dict(), "provenance": comparison.provenance}, out)
    else:
        show.comparison(comparison, quantiles)
        _print_report(headline.of_comparison(comparison), out)
    if comparison.interrupted:
        return 130
    return 1 if comparison.failures else 0


def _on_both_planes(args: argparse.Namespace) -> bool:
    """Whether the kernel plane is asked for beside the simulator."""
    planes = [name.strip() for name in args.plane.split(",")]
    for plane in planes:
        pick(plane.partition(":")[0], ("sim", "kernel", "virtual"), "plane called")
    if len(planes) == 1 and planes != ["kernel"]:
        return False
    if "sim" not in planes:
        raise UsageError(
            f"--plane {args.plane}: a comparison needs the simulator beside it, as in --plane "
            "sim,kernel; for Linux alone: --plane virtual"
        )
    if len(planes) > 2:
        raise UsageError(f"--plane {args.plane}: one plane beside the simulator, as in sim,virtual")
    is_real = "kernel" in planes
    for option in ("time_limit", "quantiles", *(("jobs",) if is_real else ())):
        if getattr(args, option):
            raise UsageError(
                f"--{option.replace('_', '-')} is not for --plane {args.plane}"
                + (": runs take real time, one after the other" if is_real else "")
            )
    return True


def _virtual(planes: str) -> str | bool:
    """Return the kernel for virtual time that `--plane` names; True: the kernel in use; False: none."""
    for plane in planes.split(","):
        where, _, name = plane.strip().partition(":")
        if where == "virtual":
            return name or True
    return False


def _report_failures(comparison: cogtcp.Comparison) -> None:
    reasons: dict[str, list[str]] = {}
    for outcome in comparison.failures:
        reasons.setdefault(outcome.error, []).append(f"{outcome.transport} with seed {outcome.seed}")
    for reason, runs in reasons.items():
        more = f" and {len(runs) - 3} more" if len(runs) > 3 else ""
        print(f"cogtcp: {', '.join(runs[:3])}{more} failed: {reason}", file=sys.stderr)


def _print_json(document: dict[str, Any], out: Path) -> None:
    print(json.dumps({**document, "out": str(out), "report": str(out / "report.html")}))


def _print_report(answer: str, out: Path) -> None:
    print(f"\n{answer}\n\nreport: {out / 'report.html'}")
