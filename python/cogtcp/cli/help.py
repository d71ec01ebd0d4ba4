"""What `--help` prints: one line an option, options of most verbs named only, two examples."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, Any

from cogtcp.cli.examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Verbs by what one wants. A verb that is in no group is listed under "other".
GROUPS = {
    "simulate": ("run", "compare", "sweep", "merge", "tune", "advise"),
    "look at results": ("lab", "plot", "query", "results"),
    "real kernels, other simulators": ("emulate", "agree", "packets", "validate", "kernel", "c2", "freeze"),
    "inputs": (
        *(
            "new",
            "check",
            "metrics",
            "schema",
            "transports",
            "fit",
            "trace",
            "pu",
            "mobility",
            "journey",
            "sensing",
            "version",
        ),
    ),
    "papers": ("reproduce",),
}

#: Options of most verbs: only `cogtcp --help` explains them.
COMMON = {
    "--set PATH=VALUE": 'change a field: --set run.duration="20 s" --set flow.0.transport=sack (repeatable)',
    "--out DIR": "folder of the results (default: one in results/, named by content)",
    "--force": "replace what exists (a folder's other files are kept in DIR.old-1)",
    "--json": "print one JSON document on standard output",
    "--allow-python": "run controls in Python that FILE names: only for a file that you trust",
}

_COLUMN = 28


def width() -> int:
    """Return the width of the terminal, 100 where there is none."""
    return max(60, shutil.get_terminal_size((100, 24)).columns - 2)


def usage(parser: argparse.ArgumentParser) -> str:
    """Return the usage in one line: what must be given, and `[options]`."""
    parts = [parser.prog]
    if any(action.option_strings and not action.required for action in parser._actions):
        parts.append("[options]")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parts.append("VERB ...")
        elif not action.option_strings:
            name = _value(action)
            parts.append(
                {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)
            )
        elif action.required:
            parts.append(_name(action))
    return f"usage: {' '.join(parts)}\n"


def text(parser: argparse.ArgumentParser) -> str:
    """Return the help of a parser."""
    parts = [usage(parser), _filled(parser.description or "")]
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if below:
        parts.append(_verbs(below[0], grouped=" " not in parser.prog))
    else:
        parts.append(_options(parser))
    examples = EXAMPLES.get(parser.prog.removeprefix("cogtcp "), ())
    if examples:
        parts.append("examples:\n" + "".join(f"  cogtcp {example}\n" for example in examples))
    if parser.epilog:
        parts.append(parser.epilog.rstrip() + "\n" if "\n" in parser.epilog else _filled(parser.epilog))
    return "\n".join(filter(None, parts))


def _filled(said: str) -> str:
    return textwrap.fill(said, width()) + "\n" if said else ""


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()


def _name(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings) or _value(action)
    if not action.option_strings or action.nargs == 0:
        return names
    return f"{names} {'[' * (action.nargs == '?')}{_value(action)}{']' * (action.nargs == '?')}"


def _is_common(action: argparse.Action) -> bool:
    return bool(action.option_strings) and any(
        # `--out FILE` of a verb that writes one file is another option than `--out DIR`.
        name.split()[0] == action.option_strings[0] and (not name.endswith("DIR") or action.metavar == "DIR")
        for name in COMMON
    )


def _rows(actions: list[argparse.Action]) -> Iterator[tuple[str, str]]:
    """Yield the names and the text of each row; options with one text share a row."""
    held: tuple[str, str] | None = None
    for action in actions:
        # argparse takes % for a placeholder, so that the texts double it.
        said = (action.help or "").replace("%%", "%")
        if held and held[1] == said:
            held = (f"{held[0]}, {_name(action)}", said)
            continue
        if held:
            yield held
        held = (_name(action), said)
    if held:
        yield held


def _table(rows: list[tuple[str, str]], indent: str = "  ") -> str:
    column = max((len(name) for name, _ in rows if len(name) <= _COLUMN), default=0) + len(indent) + 2
    lines = []
    for name, said in rows:
        if len(name) > column - len(indent) - 2:
            lines.append(f"{indent}{name}")
            first = " " * column
        else:
            first = f"{indent}{name}".ljust(column)
        lines += textwrap.wrap(said, width(), initial_indent=first, subsequent_indent=" " * column) or [
            first.rstrip()
        ]
    return "\n".join(lines) + "\n"


def _options(parser: argparse.ArgumentParser) -> str:
    positional = [action for action in parser._actions if not action.option_strings]
    named = [action for action in parser._actions if action.option_strings and action.dest != "help"]
    shown = [action for action in named if not _is_common(action) and action.help != argparse.SUPPRESS]
    common = [action.option_strings[0] for action in named if _is_common(action)]
    rows = [*_rows(positional), *_rows(shown)]
    also = f"  also: {', '.join(common)} (explained by cogtcp --help)\n" if common else ""
    return (_table(rows) if rows else "") + also


def _verbs(action: Any, *, grouped: bool) -> str:
    # argparse keeps the help of a verb nowhere else.
    known = {choice.dest: choice.help or "" for choice in action._choices_actions}
    if not grouped:
        return "verbs:\n" + _table(list(known.items()), "    ")
    placed = {verb for group in GROUPS.values() for verb in group}
    groups = {**GROUPS, "other": tuple(verb for verb in known if verb not in placed)}
    parts = ["verbs:\n"]
    for title, verbs in groups.items():
        rows = [(verb.ljust(10), known[verb]) for verb in verbs if verb in known]
        if rows:
            parts.append(f"  {title}\n{_table(rows, '    ')}")
    parts.append("\noptions of most verbs:\n" + _table(list(COMMON.items())))
    return "".join(parts)
