"""The verbs of `freeze`: Freeze-TCP's connection manager on this host, by `cogtcp-freeze` of `make bpf`."""

from __future__ import annotations

import ipaddress
import json
import socket
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import RunError, UsageError
from cogtcp._units import TIME
from cogtcp.cli import arguments, freeze_key
from cogtcp.cli.quantities import quantity
from cogtcp.kernel import _kernel_program as kernel_program

if TYPE_CHECKING:
    import argparse

_PROGRAM, _WHAT = "cogtcp-freeze", "Freeze-TCP's connection manager"
_PORT = 50007
_KINDS = ("down", "up", "request")
_LARGEST = 1500
"""Bytes of a datagram to read; every message is shorter."""
_NOT_AUTHENTICATED = (
    "messages are not authenticated: anyone who can send from {} can hold this host's connections; "
    "give --key FILE (cogtcp freeze key FILE makes one)"
)
_PATIENCE = 5.0
"""How long the reply to a request may take, s."""


def add_freeze(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `freeze` to its parser."""
    verb = partial(arguments.add_verb, arguments.verbs(parser))

    load = verb("load", _load, "hold sources on an interface while a router announces an outage (root)")
    load.add_argument("--interface", required=True, metavar="IFACE", help="the interface towards the router")
    load.add_argument(
        "--listen",
        default=str(_PORT),
        metavar="[ADDRESS:]PORT",
        help=f"UDP port for the router's messages (default: {_PORT})",
    )
    seconds = quantity(TIME)
    load.add_argument(
        "--key",
        metavar="FILE",
        help="obey only messages sealed with this key (mode 600; freeze key)",
    )
    load.add_argument(
        "--router",
        metavar="ADDRESS",
        help="obey only this address (without --key: not authenticated)",
    )
    load.add_argument(
        "--longest",
        type=seconds,
        default=60.0,
        metavar="S",
        help="release connections after S at the latest (default: 60)",
    )
    load.add_argument(
        "--freshness",
        type=seconds,
        default=2.0,
        metavar="S",
        help="with --key: refuse messages sent more than S ago (default: 2)",
    )
    load.add_argument("--foreground", action="store_true", help="stay until SIGTERM or Ctrl-C")
    load.add_argument(
        "--clsact", action="store_true", help="attach by the qdisc clsact even if tcx links exist"
    )
    load.add_argument("--object", metavar="FILE", help="load another BPF object")

    key = verb("key", _key, "write a new key for a router and its hosts (mode 600)")
    key.add_argument("file", metavar="FILE", help="the file, which must not exist yet")

    verb("status", _status, "show the manager, its connections and counts (root)")

    trigger = verb("trigger", _trigger, "send a router's message to a host with the manager")
    trigger.add_argument(
        "kind",
        metavar="WHAT",
        choices=tuple(_KINDS),
        help="down (an outage is near), up (it is over), or request (the RTT)",
    )
    trigger.add_argument(
        "--to",
        default=f"127.0.0.1:{_PORT}",
        metavar="ADDRESS[:PORT]",
        help=f"the host (default: this one, port {_PORT})",
    )
    trigger.add_argument("--key", metavar="FILE", help="seal the message with the key in this file")
    trigger.add_argument(
        "--in",
        dest="start",
        type=seconds,
        default=0.3,
        metavar="S",
        help="down: starts in S (default: 0.3)",
    )
    trigger.add_argument(
        "--for",
        dest="span",
        type=seconds,
        default=2.0,
        metavar="S",
        help="down: lasts S (default: 2)",
    )

    unload = verb("unload", _unload, "release every source and unload the manager (root)")
    unload.add_argument("--interface", metavar="IFACE", help="only from this interface")

    verb("clean", _clean, "list and remove what a killed manager left (root)")


def _load(args: argparse.Namespace) -> int:
    words = ["load", "--interface", args.interface, "--listen", args.listen]
    words += ["--longest", f"{args.longest:.9f}", "--freshness", f"{args.freshness:.9f}"]
    words += ["--key", args.key] if args.key else []
    words += ["--router", args.router] if args.router else []
    words += ["--clsact"] if args.clsact else []
    words += ["--object", args.object] if args.object else []
    if args.foreground:
        return _stay(words)
    # The daemon keeps no pipe of ours open.
    kernel_program.do(_PROGRAM, _WHAT, *words)
    # Without a key the program has insisted on --router.
    if not args.key:
        print(_NOT_AUTHENTICATED.format(args.router), file=sys.stderr)
    (state,) = [
        entry for entry in _state() if entry["interface"] == args.interface and entry["this_namespace"]
    ]
    if args.json:
        print(json.dumps(state))
    else:
        print(
            f"the manager is loaded on {args.interface} ({state['attached_by']}), held by process "
            f"{state['pid']}, and listens on UDP port {state['port']}"
        )
    return 0


def _stay(words: list[str]) -> int:
    program = str(kernel_program.find(_PROGRAM, _WHAT))
    # No shell, and the program is ours. Ctrl-C goes to both; the program ends by it, and we with the program.
    # What it has to say it says itself, at once.
    with subprocess.Popen([program, *words, "--foreground"]) as process:  # noqa: S603
        try:
            process.wait()
        except KeyboardInterrupt:
            pass
        finally:
            process.terminate()
            process.wait()
    # The program has printed the reason itself.
    if process.returncode in (1, 2):
        return process.returncode
    kernel_program.check(_PROGRAM, process.returncode, "")
    return 0


def _state() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(kernel_program.do(_PROGRAM, _WHAT, "status"))["loaded"]
    return loaded


def _status(args: argparse.Namespace) -> int:
    loaded = _state()
    if args.json:
        print(json.dumps({"loaded": loaded}))
        return 0
    for state in loaded:
        where = "" if state["this_namespace"] else f" in network namespace {state['namespace']}"
        held = f"held by process {state['pid']}" if state["alive"] else "left behind (cogtcp freeze clean)"
        now = f"frozen for {state['until_s']:.1f} s more" if state["frozen"] else "not frozen"
        print(f"{state['interface']}{where}: {now}; UDP port {state['port']}, {state['attached_by']}, {held}")
        who = "authenticated" if state["authenticated"] else "not authenticated (no --key)"
        bound = f"{state['longest_s']:g} s"
        print(f"  messages are {who}; connections are released after {bound} at the latest")
        print(
            f"  warnings {state['warnings']}, all-clears {state['all_clears']}, requests {state['requests']}"
            f", ignored {state['ignored']}, forged {state['forged']}, replayed {state['replayed']}"
            f", too old {state['stale']}, too many {state['flooded']}"
            f", ended by the bound {state['bounded']}, ACKs sent {state['injected_acks']}"
            f", released {state['let_go']}"
        )
        for connection in state["connections"]:
            print(f"  {_connection(connection)}")
    if not loaded:
        print("the manager is not loaded")
    return 0


def _connection(its: dict[str, Any]) -> str:
    def end(which: str) -> str:
        address, port = its[which], its[f"{which}_port"]
        return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    rtt = its["rtt_smoothed_s"]
    return (
        f"{end('local')} > {end('remote')}  {'frozen' if its['frozen'] else 'open'}, "
        f"RTT {'-' if rtt is None else f'{rtt * 1e3:.4g} ms'}, ACKs closed {its['closed_acks']} out, "
        f"{its['held_acks']} in, window probes {its['probes']}"
    )


def _trigger(args: argparse.Namespace) -> int:
    address, port = _destination(args.to)
    key = freeze_key.read_key(args.key) if args.key else None
    start, until = round(args.start * 1e6), round((args.start + args.span) * 1e6)
    # The clock is a counter that needs no file: it has grown when the next message is sent.
    counter = time.time_ns()
    message = _core.write_freeze_message(
        args.kind, start, until, (key, counter, counter // 1000) if key else None
    )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.settimeout(_PATIENCE)
        try:
            sender.connect((address, port))
            sender.send(message)
            rtt = _reply(sender, (key, counter) if key else None) if args.kind == "request" else None
        except OSError as error:
            reason = "no reply" if isinstance(error, TimeoutError) else error.strerror
            raise RunError(
                f"{args.to}: {reason}; is the manager loaded there, and does it accept this host?"
            ) from error
    if args.json:
        print(json.dumps({"sent": args.kind, "to": address, "port": port, "rtt_s": rtt}))
    elif args.kind == "request":
        print(
            "RTT_TCP is unknown: no connection has measured one"
            if rtt is None
            else f"RTT_TCP {rtt * 1e3:.4g} ms"
        )
    return 0


def _reply(sender: socket.socket, seal: tuple[bytes, int] | None) -> float | None:
    """Wait for the reply to our request: others may send whatever they like meanwhile, but not for ever."""
    until = time.monotonic() + _PATIENCE
    while (left := until - time.monotonic()) > 0:
        sender.settimeout(left)
        rtt = _core.read_freeze_reply(sender.recv(_LARGEST), seal)
        if rtt is not None:
            # 0 stands for a host without a measurement.
            return rtt / 1e6 if rtt else None
    raise TimeoutError


def _destination(given: str) -> tuple[str, int]:
    def is_address(text: str) -> bool:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            return False
        return True

    # The whole comes first: an IPv6 address has colons of its own.
    if is_address(given):
        return given, _PORT
    address, _, port = given.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    if not is_address(address) or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise UsageError(f"--to {given}: give ADDRESS or ADDRESS:PORT, as in 10.0.0.2:{_PORT}")
    return address, int(port)


def _key(args: argparse.Namespace) -> int:
    freeze_key.write_key(args.file)
    if args.json:
        print(json.dumps({"key": args.file}))
    else:
        print(f"{args.file} holds a new key: copy it to the router and to its clients, with mode 600")
    return 0


def _unload(args: argparse.Namespace) -> int:
    said = kernel_program.do(_PROGRAM, _WHAT, "unload", *([args.interface] if args.interface else []))
    print(said.strip() if args.json else "the manager is unloaded")
    return 0


def _clean(args: argparse.Namespace) -> int:
    said = kernel_program.do(_PROGRAM, _WHAT, "clean")
    cleaned = json.loads(said)["cleaned"]
    if args.json:
        print(said.strip())
    else:
        for interface in cleaned:
            print(f"{interface}: removed the filters and the qdisc of a killed manager")
        if not cleaned:
            print("nothing was left behind")
    return 0
