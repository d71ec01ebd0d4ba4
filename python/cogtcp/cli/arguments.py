"""What several verbs read from the command line."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core, _files
from cogtcp._errors import OutputError, UsageError
from cogtcp._names import meant
from cogtcp._shipped import locate
from cogtcp.model.control import named_in
from cogtcp.model.result import MOST_SEEDS
from cogtcp.model.scenario import Scenario

#: Options whose texts may name a control in Python.
_NAMING = ("set", "transport", "vary", "over", "uncertain")

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from cogtcp.cli.parser import Parser

    Verb = Callable[[argparse.Namespace], int]
    Verbs = argparse._SubParsersAction[Any]


def scenario(args: argparse.Namespace) -> Scenario:
    """Read the scenario of `FILE` with the changes of `--set`.

    It may import the controls in Python that the command line names. What only a file names, it may not.
    """
    named = typed_controls(args)
    result = Scenario.from_file(locate(args.file), allow_python=args.allow_python).allowing(named)
    for path, text in changes(args.set):
        result = result.set_text(path, text)
    look_here([*result.importable_controls(), *named])
    return result


def typed_controls(args: argparse.Namespace) -> set[str]:
    """Return the controls in Python, `module:Class`, that the options of a command line name."""
    texts = (text for option in _NAMING for text in getattr(args, option, None) or ())
    return {name for text in texts for name in named_in(text)}


def changes(given: Sequence[str]) -> list[tuple[str, str]]:
    """Return paths and values of `--set PATH=VALUE`."""
    found = []
    for change in given:
        path, separator, value = change.partition("=")
        if not separator or not path.strip():
            raise UsageError(f'--set {change}: write PATH=VALUE, as in --set run.duration="20 s"')
        found.append((path.strip(), value.strip()))
    return found


@contextmanager
def as_options(*names: str, **others: str) -> Iterator[None]:
    """Name options in errors as the command line does: `--budget` for the argument `budget` of a function.

    Args:
        names: Arguments whose options have the same name.
        others: Options by argument, where the names differ.
    """
    options = {**{name: f"--{name}" for name in names}, **others}
    try:
        yield
    except UsageError as error:
        name, _, rest = str(error).partition(" ")
        if name not in options:
            raise
        raise UsageError(f"{options[name]} {rest}", excerpt=error.excerpt) from None


def look_here(controls: Sequence[str]) -> None:
    """Let Python look for the modules of congestion controls in the current folder too, if there are any.

    Not otherwise: a file there could stand in for a module of somebody else's that is not installed.
    """
    here = str(Path.cwd())
    if controls and here not in sys.path:
        sys.path.append(here)


def checked_scenario(args: argparse.Namespace) -> Scenario:
    """Read the scenario that is to be simulated, and say what looks unmeant in it."""
    result = scenario(args)
    result.check()
    for warning in result.warnings():
        print(f"cogtcp: warning: {warning}", file=sys.stderr)
    return result


def verbs(parser: argparse.ArgumentParser) -> Verbs:
    """Return where a parser's verbs are added; given none of them it says what there is, as bad usage."""
    parser.set_defaults(verb=helper(parser))
    return parser.add_subparsers(title="verbs", metavar="VERB")


def add_verb(verbs: Verbs, name: str, function: Verb, text: str) -> Parser:
    """Add a verb, with `--json`; `function` does it, and `text` says what it does."""
    parser = add_group(verbs, name, text)
    parser.add_argument("--json", action="store_true", help="print one JSON document on standard output")
    parser.set_defaults(verb=function)
    return parser


def add_group(verbs: Verbs, name: str, text: str) -> Parser:
    """Add a verb that has verbs of its own."""
    description = text[0].upper() + text[1:] + "."
    parser: Parser = verbs.add_parser(name, help=text, description=description)
    return parser


def helper(parser: argparse.ArgumentParser) -> Verb:
    """Return the verb of a parser that was given none: it prints what there is, and is bad usage."""

    def show_help(args: argparse.Namespace) -> int:
        parser.print_help(sys.stderr)
        return 2

    return show_help


def command_line() -> str:
    """Return the command line as one would type it."""
    # Bytes that are no UTF-8, as names of files may have, are shown as \\xNN.
    arguments = (os.fsencode(argument).decode(errors="backslashreplace") for argument in sys.argv[1:])
    import shlex  # not at the top: only results are told their command

    return shlex.join(["cogtcp", *arguments])


def output(args: argparse.Namespace, of: Scenario, verb: str, *parts: object) -> Path:
    """Return the folder of `--out`, or one in results/ that is named by what will be in it."""
    if args.out is not None:
        return Path(args.out)
    import hashlib

    content = "\n".join([of.hash, *map(str, parts)])
    # A scenario's name is any text; a folder's name must have no slash.
    name = _files.safe_name(of.name, "scenario")
    return Path("results") / f"{name}-{verb}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def names(values: Sequence[str]) -> list[str]:
    """Return the names of a repeated, comma-separated option."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def transports(values: Sequence[str]) -> list[str]:
    """Return the transports that `--transport` names, or raise for one that does not exist."""
    given = names(values)
    known = [name for name, _ in _core.transports()]
    for name in given:
        if ":" not in name and not _core.is_transport(name):
            said = " ".join(filter(None, [meant(name, known), "`cogtcp transports` lists them"]))
            raise UsageError(f"--transport {name}: unknown transport; {said}")
    return given


def positive(value: int | None, option: str) -> None:
    """Raise unless a count is missing or at least 1."""
    if value is not None and value < 1:
        raise UsageError(f"{option} {value}: must be at least 1")


def add_quantiles(parser: argparse.ArgumentParser) -> None:
    """Add the option `--quantiles`."""
    parser.add_argument(
        "--quantiles",
        metavar="P,...",
        help="also show percentiles over the seeds with intervals: 50,95",
    )


def quantiles(text: str | None) -> list[float]:
    """Return the quantiles that are asked for in per cent. Raises `UsageError`."""
    try:
        found = [float(part) / 100 for part in text.split(",")] if text else []
    except ValueError:
        # Refused below, in the same words.
        found = [0.0]
    if not all(0 < q < 1 for q in found):
        raise UsageError(f"--quantiles {text}: write numbers between 0 and 100, as in 50,95")
    return list(dict.fromkeys(found))


def seeds(value: int | None, option: str = "--seeds") -> None:
    """Raise unless a number of seeds is missing or one that can be simulated."""
    positive(value, option)
    if value is not None and value > MOST_SEEDS:
        raise UsageError(f"{option} {value}: at most {MOST_SEEDS}")


def plot_name(given: str) -> None:
    """Raise unless a name of `--plot` is a figure's or a page's."""
    path = Path(given)
    if path.suffix not in (".svg", ".html"):
        raise UsageError(
            f"--plot {given}: a plot is an SVG file, or a page; name it {path.stem}.svg or .html"
        )


def new_file(given: str, force: bool) -> Path:
    """Return the path of a file that is to be written, or raise if it exists and is not to be replaced."""
    path = Path(given)
    try:
        # Not `exists()`: a symbolic link to nothing is there too, and would be replaced.
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return path
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}; name another file"
        ) from None
    if not force:
        raise OutputError(f"{path}: exists already; name another file, or use --force to replace it")
    return path


def ranges(given: Sequence[str], option: str) -> dict[str, str]:
    """Return what an option says of fields, `PATH=LOW..HIGH` each, by field.

    Raises:
        UsageError: One of them is of another form, or names a field again.
    """
    found: dict[str, str] = {}
    for change in given:
        path, separator, value = (part.strip() for part in change.partition("="))
        if not separator or not path or not value:
            raise UsageError(
                f'{option} {change}: write PATH=LOW..HIGH, as in {option} radio.0.sensing.off="50 ms..1 s"'
            )
        if path in found:
            raise UsageError(f"{option} {change}: {path} is named already; name it once")
        found[path] = value
    return found
