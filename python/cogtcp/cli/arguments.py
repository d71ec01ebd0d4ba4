"""What several verbs read from the command line."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._errors import UsageError
from cogtcp.scenario import Scenario

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def scenario(args: argparse.Namespace) -> Scenario:
    """Read the scenario of `FILE` with the changes of `--set`."""
    result = Scenario.from_file(args.file)
    for change in args.set:
        path, separator, value = change.partition("=")
        if not separator or not path.strip():
            raise UsageError(f'--set {change}: write PATH=VALUE, as in --set run.duration="20 s"')
        result = result.set_text(path.strip(), value.strip())
    return result


def checked_scenario(args: argparse.Namespace) -> Scenario:
    """Read the scenario that is to be simulated, and say what looks unmeant in it."""
    result = scenario(args)
    result.check()
    for warning in result.warnings():
        print(f"cogtcp: warning: {warning}", file=sys.stderr)
    return result


def command_line() -> str:
    """Return the command line as one would type it."""
    return shlex.join(["cogtcp", *sys.argv[1:]])


def output(args: argparse.Namespace, of: Scenario, verb: str, *parts: object) -> Path:
    """Return the folder of `--out`, or one in results/ that is named by what will be in it."""
    if args.out is not None:
        return Path(args.out)
    content = "\n".join([of.hash, *map(str, parts)])
    name = re.sub(r"[^\w.-]+", "-", of.name).strip("-.") or "scenario"
    return Path("results") / f"{name}-{verb}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def names(values: Sequence[str]) -> list[str]:
    """Return the names of a repeated, comma-separated option."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def positive(value: int | None, option: str) -> None:
    """Raise unless a count is missing or at least 1."""
    if value is not None and value < 1:
        raise UsageError(f"{option} {value}: must be at least 1")
