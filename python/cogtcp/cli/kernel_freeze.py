"""The verbs of `freeze`: Freeze-TCP's connection manager on this host, by `cogtcp-freeze` of `make bpf`."""

from __future__ import annotations

import ipaddress
import json
import socket
import struct
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any

from cogtcp import _kernel_program as kernel_program
from cogtcp._errors import RunError, UsageError
from cogtcp._units import TIME
from cogtcp.cli import arguments
from cogtcp.cli.quantities import quantity

if TYPE_CHECKING:
    import argparse

_PROGRAM, _WHAT = "cogtcp-freeze", "Freeze-TCP's connection manager"
_PORT = 50007
_MESSAGE = struct.Struct(">4sBBHIqqQ")
"""`crates/mobile-router/src/wire.rs`: beginning, version, kind, 0, prediction; start, until and RTT in us."""
_KINDS = {"down": 0, "up": 1, "request": 2}
_REPLY = 3
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
    load.add_argument("--router", metavar="ADDRESS", help="listen to this router alone (default: to anybody)")
    load.add_argument("--foreground", action="store_true", help="stay until SIGTERM or Ctrl-C")
    load.add_argument(
        "--clsact", action="store_true", help="attach by the qdisc clsact also where links can be had"
    )
    load.add_argument("--object", metavar="FILE", help="load another BPF object than the one built")

    verb("status", _status, "show what is loaded, its connections and what it has done (root)")

    trigger = verb("trigger", _trigger, "send what a router sends, to a host where the manager is loaded")
    trigger.add_argument(
        "kind",
        metavar="WHAT",
        choices=tuple(_KINDS),
        help="down (an outage comes), up (it is over), or request (what is your RTT?)",
    )
    trigger.add_argument(
        "--to",
        default=f"127.0.0.1:{_PORT}",
        metavar="ADDRESS[:PORT]",
        help=f"the host (default: this one, port {_PORT})",
    )
    seconds = quantity(TIME)
    trigger.add_argument(
        "--in",
        dest="start",
        type=seconds,
        default=0.3,
        metavar="S",
        help="down: begins in so long (default: 300 ms)",
    )
    trigger.add_argument(
        "--for",
        dest="span",
        type=seconds,
        default=2.0,
        metavar="S",
        help="down: lasts S (default: 2)",
    )

    unload = verb("unload", _unload, "let every source go and take the manager away (root)")
    unload.add_argument("--interface", metavar="IFACE", help="of this interface alone")

    verb("clean", _clean, "remove what a manager that was killed left on an interface, and list it (root)")


def _load(args: argparse.Namespace) -> int:
    words = ["load", "--interface", args.interface, "--listen", args.listen]
    words += ["--router", args.router] if args.router else []
    words += ["--clsact"] if args.clsact else []
    words += ["--object", args.object] if args.object else []
    if args.foreground:
        return _stay(words)
    # The daemon keeps no pipe of ours open.
    kernel_program.do(_PROGRAM, _WHAT, *words)
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
    with subprocess.Popen([program, *words, "--foreground"], stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            said = process.communicate()[1]
        except KeyboardInterrupt:
            said = ""
        finally:
            process.terminate()
            process.wait()
    kernel_program.check(_PROGRAM, process.returncode, said)
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
        print(
            f"  warnings {state['warnings']}, all-clears {state['all_clears']}, requests {state['requests']}"
            f", ignored {state['ignored']}, ACKs sent {state['injected_acks']}, let go {state['let_go']}"
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
    times = (
        (round(args.start * 1e6), round((args.start + args.span) * 1e6)) if args.kind == "down" else (0, 0)
    )
    message = _MESSAGE.pack(b"CGTF", 1, _KINDS[args.kind], 0, 0, *times, 0)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.settimeout(_PATIENCE)
        try:
            sender.connect((address, port))
            sender.send(message)
            rtt = _reply(sender) if args.kind == "request" else None
        except OSError as error:
            reason = "no reply" if isinstance(error, TimeoutError) else error.strerror
            raise RunError(
                f"{args.to}: {reason}; is the manager loaded there, and does it listen to this host?"
            ) from error
    if args.json:
        print(json.dumps({"sent": args.kind, "to": address, "port": port, "rtt_s": rtt}))
    elif args.kind == "request":
        print(
            "RTT_TCP is not known: no connection has shown one"
            if rtt is None
            else f"RTT_TCP {rtt * 1e3:.4g} ms"
        )
    return 0


def _reply(sender: socket.socket) -> float | None:
    while True:
        bytes_ = sender.recv(_MESSAGE.size + 1)
        if len(bytes_) == _MESSAGE.size:
            magic, version, kind, *_, rtt = _MESSAGE.unpack(bytes_)
            if (magic, version, kind) == (b"CGTF", 1, _REPLY):
                return rtt / 1e6 if rtt else None


def _destination(given: str) -> tuple[str, int]:
    def is_address(text: str) -> bool:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            return False
        return True

    if is_address(given):
        return given, _PORT
    address, _, port = given.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    if not is_address(address) or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise UsageError(f"--to {given}: give ADDRESS or ADDRESS:PORT, as in 10.0.0.2:{_PORT}")
    return address, int(port)


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
            print(f"{interface}: the filters and the qdisc of a manager that was killed are removed")
        if not cleaned:
            print("nothing was left behind")
    return 0
