"""The verbs of `c2`: TCP C2 in the kernel of this machine, by the program `cogtcp-c2` of `make bpf`."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.cli import arguments
from cogtcp.kernel import _kernel_program as kernel_program

if TYPE_CHECKING:
    import argparse


def add_c2(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `c2` to its parser."""
    verb = partial(arguments.add_verb, arguments.verbs(parser))

    load = verb("load", _load, "register the control c2, for sockets that ask for it (root)")
    load.add_argument(
        "--flows",
        default="1",
        metavar="N",
        help="default N, this flow included (default: 1)",
    )
    load.add_argument(
        "--rules",
        choices=("paper", "author"),
        default="paper",
        help="rules of the preset c2, or of c2-author (default: paper)",
    )
    load.add_argument("--pacing", action="store_true", help="pace after slow start")
    load.add_argument(
        "--option",
        metavar="CGROUP",
        help="learn N in the handshake, for processes in this cgroup (version 2)",
    )
    load.add_argument(
        "--object",
        metavar="FILE",
        help="load another BPF object",
    )

    verb("status", _status, "show the control, its sockets and its entries (root)")
    verb("unload", _unload, "unload the control; sockets that chose it keep it until they close (root)")

    flows = verb("flows", _flows, "set how many flows share the path to a destination (root)")
    flows.add_argument("address", metavar="ADDRESS", help="IPv4 or IPv6 address, or any")
    flows.add_argument("flows", metavar="N", help="number of flows, this machine's included, or default")

    link = verb("link", _link, "report the state of the radio towards a destination (root)")
    link.add_argument("address", metavar="ADDRESS", help="IPv4 or IPv6 address, or any")
    link.add_argument(
        "state",
        metavar="STATE",
        choices=("sensing", "handoff", "up"),
        help="sensing or handoff (windows freeze), or up (they resume)",
    )
    link.add_argument(
        "--for",
        dest="seconds",
        default="10",
        metavar="S",
        help="the silence ends after S seconds at the latest (default: 10)",
    )


def _load(args: argparse.Namespace) -> int:
    words = ["--rules", args.rules, "--flows", args.flows, *(["--pacing"] if args.pacing else [])]
    words += ["--option", args.option] if args.option else []
    _do("load", *words, *(["--object", args.object] if args.object else []))
    state = json.loads(_do("status"))
    if args.json:
        print(json.dumps(state))
    else:
        name, holder = state["name"], state["pid"]
        print(f'{name} is loaded, held by process {holder}; a socket takes it with TCP_CONGESTION "{name}"')
    return 0


def _unload(args: argparse.Namespace) -> int:
    said = json.loads(_do("unload"))
    keep = said["sockets_that_keep_it"]
    if args.json:
        print(json.dumps(said))
    elif keep:
        print(f"c2 is unloaded; {keep} open socket{'s keep' if keep > 1 else ' keeps'} it until closed")
    else:
        print("c2 is unloaded")
    return 0


def _status(args: argparse.Namespace) -> int:
    state = json.loads(_do("status"))
    if args.json:
        print(json.dumps(state))
        return 0
    if not state["loaded"]:
        print("c2 is not loaded")
        return 0
    pacing = "paced" if state["pacing"] else "not paced"
    print(f"{state['name']} is loaded, held by process {state['pid']}: N {state['flows']}, {pacing}")
    for entry in state["destinations"]:
        print(f"  to {entry['address']}: N {entry['flows']}")
    for entry in state["links"]:
        space = f" in namespace {entry['namespace']}" if entry["namespace"] else ""
        print(f"  link to {entry['address']}{space}: {entry['state']}, handoffs {entry['handoffs']}")
    for socket in state["sockets"]:
        print(f"  {_socket(socket)}")
    if not state["sockets"]:
        print("  no socket uses it")
    return 0


def _socket(socket: dict[str, Any]) -> str:
    def shown(name: str, scale: float, unit: str) -> str:
        value = socket[name]
        return "-" if value is None else f"{value * scale:.4g} {unit}"

    ends = f"{_end(socket, 'local')} > {_end(socket, 'remote')}"
    estimate = "" if socket["n_estimate"] is None else f", N^ {socket['n_estimate']}"
    return (
        f"{ends}  {'frozen' if socket['frozen'] else socket['zone']}, cwnd {socket['cwnd_segments']}, "
        f"N {socket['n']} ({socket['n_from']}){estimate}, BW {shown('bandwidth_bps', 1e-6, 'Mbit/s')}, "
        f"Dp {shown('dp_s', 1e3, 'ms')}, R {shown('r_s', 1e3, 'ms')}"
    )


def _end(socket: dict[str, Any], which: str) -> str:
    address, port = socket[which], socket[f"{which}_port"]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _flows(args: argparse.Namespace) -> int:
    _do("flows", args.address, args.flows)
    if args.json:
        print(json.dumps({"address": args.address, "flows": args.flows}))
    return 0


def _link(args: argparse.Namespace) -> int:
    try:
        seconds = float(args.seconds)
    except ValueError:
        seconds = math.nan
    # NaN is refused here too: it compares as false.
    if not 0 < seconds <= 3600:
        raise UsageError(f"--for {args.seconds}: give seconds, more than 0 and at most 3600")
    _do("link", args.address, args.state, args.seconds)
    if args.json:
        print(json.dumps({"address": args.address, "state": args.state, "for_s": seconds}))
    return 0


def _do(*words: str) -> str:
    return kernel_program.do("cogtcp-c2", "TCP C2", *words)
