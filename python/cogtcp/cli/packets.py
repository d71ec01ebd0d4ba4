"""The verb `packets`: packet scripts on the model and on the kernel."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError
from cogtcp.cli import arguments

if TYPE_CHECKING:
    import argparse

    from cogtcp.kernel.packets import Outcome


def add_packets(parser: argparse.ArgumentParser) -> None:
    """Add the options of `packets`."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="scripts in packetdrill's language (*.pkt), or folders of them",
    )
    parser.add_argument(
        "--plane",
        default="sim",
        metavar="P,...",
        help="sim (the model), kernel, virtual[:NAME] (Linux in virtual time), or several (default: sim)",
    )
    parser.add_argument(
        "--device",
        choices=("any", "tun", "veth"),
        default="any",
        help="TUN, or virtual Ethernet (default: TUN if /dev/net/tun can be opened)",
    )
    parser.add_argument("--trace", action="store_true", help="show every packet and call, with its time")
    parser.epilog = "Exit codes: 0 all agree; 1 a script differs or ran late; 2 a script cannot be played."


def packets(args: argparse.Namespace) -> int:
    """Play scripts, and show the first step of each that differs."""
    from cogtcp.kernel.packets import PLANES, play

    planes = list(dict.fromkeys(arguments.names([args.plane])))
    unknown = [plane for plane in planes if plane.partition(":")[0] not in PLANES]
    if unknown or not planes:
        raise UsageError(f"--plane {args.plane}: the planes are {' and '.join(PLANES)}")
    outcomes = [outcome for plane in planes for outcome in play(args.files, plane, device=args.device)]
    if args.json:
        print(json.dumps({"scripts": [outcome.to_dict() for outcome in outcomes]}))
    else:
        for outcome in outcomes:
            _show(outcome, trace=args.trace)
        agree = sum(outcome.verdict == "agrees" for outcome in outcomes)
        print(f"{agree} of {len(outcomes)} agree ({', '.join(planes)})")
    late = [outcome for outcome in outcomes if outcome.verdict == "late"]
    for outcome in late:
        behind = f"the runner was {outcome.lateness_s:.3f} s behind"
        print(f"cogtcp: {outcome.file}: no evidence on {outcome.plane}: {behind}", file=sys.stderr)
    # A script that no plane can read is told of once.
    for error in dict.fromkeys(outcome.error for outcome in outcomes if outcome.error is not None):
        print(f"cogtcp: {error}", file=sys.stderr)
    if any(outcome.verdict in ("error", "beyond") for outcome in outcomes):
        return 2
    return int(any(outcome.verdict != "agrees" for outcome in outcomes))


def _show(outcome: Outcome, *, trace: bool) -> None:
    print(f"{outcome.verdict:8}{outcome.plane:8}{outcome.file}: {outcome.about}")
    if outcome.mismatch is not None:
        print(outcome.explain())
    elif trace:
        for time, text in outcome.trace:
            print(f"    {time:10.6f}  {text}")
