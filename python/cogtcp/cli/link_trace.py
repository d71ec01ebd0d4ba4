"""The verbs of `trace`: show, convert, export and generate link traces."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._units import TIME
from cogtcp.cli import arguments
from cogtcp.cli.quantities import quantity

if TYPE_CHECKING:
    import argparse

    from cogtcp.data.link_trace import LinkTrace

_BARS = "▁▂▃▄▅▆▇█"
_COLUMNS = 72


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `trace` to its parser."""
    verb = partial(arguments.add_verb, arguments.verbs(parser))

    def target(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "out", metavar="OUT", help="the file to write: rates if named .csv, otherwise a mahimahi trace"
        )
        sub.add_argument("--force", action="store_true", help="replace the file if it exists")

    show = verb("show", show_trace, "show a link trace: its length, its rates, its gaps")
    show.add_argument("file", metavar="FILE", help="a mahimahi trace, or a CSV of rates")

    convert = verb(
        "convert", convert_trace, "convert a link trace between mahimahi's format and rates as CSV"
    )
    convert.add_argument("file", metavar="FILE", help="the trace to read")
    target(convert)
    convert.add_argument(
        "--bin",
        type=quantity(TIME),
        default=0.1,
        metavar="S",
        help="averaging time of rates from a mahimahi trace, s (default: 0.1)",
    )

    export = verb("export", export_trace, "export the capacity of a scenario's link over time")
    export.add_argument("file", metavar="SCENARIO", help="a scenario file, or the name of a shipped one")
    export.add_argument("link", metavar="LINK", help="the link")
    target(export)
    export.add_argument(
        "--direction",
        choices=("forward", "reverse"),
        default="forward",
        help="direction of the link (default: forward)",
    )
    export.add_argument("--seed", type=int, metavar="N", help="seed of the run (default: the scenario's)")
    export.add_argument(
        "--what",
        choices=("available", "carried"),
        help="the open link's rate (default), or what it carried (default under 802.11)",
    )
    export.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", help="change a field of the scenario"
    )

    generate = verb(
        "generate", generate_trace, "draw a link trace: LTE-like with fades, or LEO-like with handoffs"
    )
    generate.add_argument(
        "model", choices=("lte", "leo"), help="lte: after NSDI 2013; leo: a handoff every 15 s"
    )
    target(generate)
    generate.add_argument(
        "--duration", type=quantity(TIME), default=60.0, metavar="S", help="in s (default: 60)"
    )
    generate.add_argument("--seed", type=int, default=1, metavar="N", help="seed of every draw (default: 1)")


def show_trace(args: argparse.Namespace) -> int:
    """Show a trace."""
    from cogtcp.data.link_trace import LinkTrace

    trace = LinkTrace.from_file(args.file)
    if args.json:
        print(json.dumps({"file": args.file, **_describe(trace)}))
        return 0
    print(f"{args.file}:")
    _print(trace)
    return 0


def convert_trace(args: argparse.Namespace) -> int:
    """Convert a trace."""
    from cogtcp.data.link_trace import LinkTrace

    return _write(args, LinkTrace.from_file(args.file), args.bin)


def export_trace(args: argparse.Namespace) -> int:
    """Export a link of a scenario."""
    from cogtcp.data.link_trace import export

    args.allow_python = False
    scenario = arguments.checked_scenario(args)
    trace = export(scenario, args.link, direction=args.direction, seed=args.seed, what=args.what)
    return _write(args, trace)


def generate_trace(args: argparse.Namespace) -> int:
    """Draw a trace."""
    from cogtcp.data.link_trace import generate_leo, generate_lte

    return _write(args, {"lte": generate_lte, "leo": generate_leo}[args.model](args.duration, args.seed))


def _write(args: argparse.Namespace, trace: LinkTrace, width: float = 0.1) -> int:
    if args.out == "-":
        raise UsageError("name a file for the trace")
    out = arguments.new_file(args.out, args.force)
    written = trace.to_rates(width) if Path(out).suffix == ".csv" else trace.to_opportunities()
    written.save(out)
    if args.json:
        print(json.dumps({"file": str(out), **_describe(written)}))
        return 0
    print(f"{out}:")
    _print(written)
    return 0


def _describe(trace: LinkTrace) -> dict[str, Any]:
    from cogtcp.data.link_trace import quantile, share_without

    return {
        "kind": trace.kind,
        "period_s": trace.period_s,
        "mean_bps": trace.mean_bps,
        "p05_bps": quantile(trace, 0.05),
        "p95_bps": quantile(trace, 0.95),
        "share_without": share_without(trace),
    }


def _print(trace: LinkTrace) -> None:
    found = _describe(trace)
    kind = "mahimahi trace" if trace.kind == "opportunities" else "rates"
    print(f"{kind}, {found['period_s']:g} s, then it repeats")
    print(
        f"mean {found['mean_bps'] / 1e6:.3f} Mbit/s; over 100 ms: 5 % below "
        f"{found['p05_bps'] / 1e6:.3f}, 5 % above {found['p95_bps'] / 1e6:.3f} Mbit/s, "
        f"nothing in {found['share_without']:.1%}"
    )
    bins = [rate for _, rate in trace.binned(trace.period_s / _COLUMNS)]
    most = max(bins) or 1.0
    # A little is the lowest bar; nothing at all is blank.
    print("".join(_BARS[min(7, int(rate / most * 7.999))] if rate else " " for rate in bins))
