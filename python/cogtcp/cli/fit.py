"""The verb fit."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fit`."""
    from cogtcp.cli.quantities import quantity

    parser.epilog = (
        "Only headers of captures are read. "
        "Ping during the transfer (ping -i 0.02) measures silences more precisely."
    )
    parser.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="captures (pcap, pcapng, .gz, .zst), logs of ping, fping, irtt and iperf3 --json, link traces, "
        "occupancy (CSV, SigMF, rtl_power, hackrf_sweep), ON and OFF times (CSV)",
    )
    parser.add_argument(
        "--out",
        default="fitted.toml",
        metavar="FILE",
        help="the scenario (default: fitted.toml); beside it FILE's .ranges.toml and .html",
    )
    parser.add_argument(
        "--name", default="", metavar="NAME", help="name of the scenario (default: from the data)"
    )
    parser.add_argument(
        "--transport",
        default="linux-cubic",
        metavar="NAME",
        help="the transport of the flows, as captured (default: linux-cubic)",
    )
    parser.add_argument(
        "--threshold",
        type=quantity({"dBm": 1.0}),
        metavar="P",
        help="power above which a channel is busy, as in --threshold=-95dBm",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def fit(args: argparse.Namespace) -> int:
    """Fit, write the scenario, and say what was found."""
    import cogtcp
    from cogtcp import _core
    from cogtcp.cli import arguments
    from cogtcp.data.fitting.quantity import text as shown

    target = arguments.new_file(args.out, args.force)
    arguments.transports([args.transport])
    print(f"cogtcp: reading {len(args.data)} file{'s' if len(args.data) > 1 else ''}", file=sys.stderr)
    found = cogtcp.fit(args.data, name=args.name, transport=args.transport, threshold=args.threshold)
    files = found.write(target, command=arguments.command_line())
    if args.json:
        print(
            json.dumps({**found.to_dict(), "version": _core.version, "files": [str(file) for file in files]})
        )
        return 0
    print(found.text)
    for each in found.held.compared if found.held is not None else []:
        print(
            f"{each.name}: {shown(each.unit, each.measured)} measured, "
            f"{shown(each.unit, each.simulated)} simulated ({shown(each.unit, each.low)} to "
            f"{shown(each.unit, each.high)} allowed)"
        )
    print(f"\nscenario: {files[0]}\nranges: {files[1]}\npage: {files[2]}")
    print(f"next: cogtcp advise {Path(files[0])}")
    return 0
