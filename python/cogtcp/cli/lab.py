"""The verb `lab`: a page whose sliders change a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_lab(parser: argparse.ArgumentParser) -> None:
    """Add the options of `lab` to its parser."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a scenario, or the name of a shipped one (default: the first preset)",
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: a free one)")
    parser.add_argument(
        "--native",
        action="store_true",
        help="simulate in this process (default if the package has no WebAssembly)",
    )
    parser.add_argument(
        "--allow-python",
        action="store_true",
        help="run congestion controls (module:Class) that FILE names: only for a file that you trust",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the default browser")


def lab(args: argparse.Namespace) -> int:
    """Serve the lab until Ctrl-C."""
    from cogtcp.lab import require

    require()
    from cogtcp._shipped import locate
    from cogtcp.cli.arguments import look_here
    from cogtcp.lab.serve import serve
    from cogtcp.model.scenario import Scenario

    controls: list[str] = []
    if args.file is not None and args.allow_python:
        controls = Scenario.from_file(locate(args.file), allow_python=True).python_controls
        look_here(controls)

    def say(address: str) -> None:
        print(json.dumps({"url": address}) if args.json else f"lab: {address}\nCtrl-C ends it", flush=True)

    serve(args.file, port=args.port, browser=args.open, native=args.native, controls=controls, say=say)
    return 0
