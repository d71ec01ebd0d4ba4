"""The verbs of `kernel`: the kernels for virtual time that were built."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING

from cogtcp.cli import arguments

if TYPE_CHECKING:
    import argparse

    from cogtcp.kernel.emulation.virtual import Kernel


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `kernel` to its parser."""
    verb = partial(arguments.add_verb, arguments.verbs(parser))

    build = verb("build", _build, "build a kernel (7 to 9 minutes of CPU, 0.7 GB of disk meanwhile)")
    build.add_argument(
        "--source", metavar="DIR", help="a tree of Linux (default: Debian's package linux-source-6.12)"
    )
    build.add_argument("--linux", metavar="VERSION", help="version of Debian's package: 6.12 or 6.1")
    build.add_argument("--name", metavar="NAME", help="its name (default: linux-VERSION, or the name of DIR)")
    build.add_argument(
        "--hz", type=int, default=1000, metavar="N", help="ticks a second: 1000, 250 or 100 (default: 1000)"
    )
    build.add_argument(
        "--jobs", type=int, metavar="N", help="processes of the compiler (default: one for each processor)"
    )
    build.add_argument("--force", action="store_true", help="build although the same is there")

    verb("list", _list, "list the kernels that were built; * marks the kernel in use")
    show = verb("show", _show, "show where a kernel came from")
    show.add_argument("name", nargs="?", metavar="NAME", help="its name (default: the kernel in use)")
    use = verb("use", _use, "use this kernel where none is named")
    use.add_argument("name", metavar="NAME", help="its name")
    remove = verb("remove", _remove, "remove a kernel")
    remove.add_argument("name", metavar="NAME", help="its name")


def _build(args: argparse.Namespace) -> int:
    from cogtcp.kernel.emulation.virtual.build import build

    arguments.positive(args.jobs, "--jobs")

    def told(what: str) -> None:
        print(f"cogtcp: {what}", file=sys.stderr, flush=True)

    kernel, is_new = build(
        source=args.source,
        version=args.linux,
        name=args.name,
        hz=args.hz,
        jobs=args.jobs,
        force=args.force,
        told=told,
    )
    if args.json:
        print(json.dumps({**kernel.to_dict(), "built_now": is_new}))
    elif is_new:
        built = f"{kernel.size / 1e6:.1f} MB, built in {kernel.cpu_s:.0f} s of CPU ({kernel.wall_s:.0f} s)"
        print(f"{kernel.name}: Linux {kernel.release}, {built}")
        print(f"use it: cogtcp emulate sensed-link --virtual={kernel.name}")
    else:
        print(f"{kernel.name}: Linux {kernel.release} is built already (--force builds it again)")
    return 0


def _list(args: argparse.Namespace) -> int:
    from cogtcp.kernel.emulation.virtual import kernels

    known, used = kernels.kernels(), kernels.used()
    if args.json:
        print(json.dumps({"kernels": [kernel.to_dict() for kernel in known], "used": used}))
        return 0
    if not known:
        print(f"no kernel for virtual time is built ({kernels.folder()}); build one: make kernel")
        return 0
    from cogtcp.cli import show

    rows = [
        [
            f"{kernel.name}{' *' if kernel.name == used else ''}",
            kernel.release,
            str(kernel.hz),
            f"{kernel.size / 1e6:.1f} MB",
            kernel.source,
            kernel.built[:10],
        ]
        for kernel in known
    ]
    show.print_table(str(kernels.folder()), ["Name", "Linux", "Hz", "Size", "Source", "Built"], rows, left=6)
    return 0


def _show(args: argparse.Namespace) -> int:
    from cogtcp.kernel.emulation.virtual import find

    kernel = find(args.name)
    if args.json:
        print(json.dumps(kernel.to_dict()))
        return 0
    for name, value in kernel.to_dict().items():
        print(f"{name:13} {', '.join(value) if isinstance(value, list) else value}")
    return 0


def _use(args: argparse.Namespace) -> int:
    from cogtcp.kernel.emulation.virtual import use

    return _told(args, use(args.name), "is used now")


def _remove(args: argparse.Namespace) -> int:
    from cogtcp.kernel.emulation.virtual import remove

    return _told(args, remove(args.name), "is removed")


def _told(args: argparse.Namespace, kernel: Kernel, what: str) -> int:
    print(json.dumps({"name": kernel.name}) if args.json else f"{kernel.name} {what}")
    return 0
