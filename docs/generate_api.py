"""Write docs/api.md from the docstrings of the package: `make reference`. A test finds a page out of date."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("api.md")

#: Modules, and what of them is shown: all that is public and their own, or what `__all__` names.
MODULES = (
    "cogtcp",
    "cogtcp.metrics",
    "cogtcp.models",
    "cogtcp.runner",
    "cogtcp.spectrum",
    "cogtcp.journey",
    "cogtcp.mobility",
)

INTRODUCTION = """\
# The Python API

Generated from the docstrings by `make reference`: do not edit. Runs, comparisons and searches return Arrow
tables, whose columns `cogtcp schema --results` describes. Units are in names (`rtt_s`, `goodput_bps`) or in
the text; every error that is meant to be caught is a `cogtcp.CogtcpError`. What is not here is private, and
may change without notice.
"""


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for name in MODULES:
        module = importlib.import_module(name)
        summary = (inspect.getdoc(module) or "").split("\n\n")[0]
        parts.append(f"## `{name}`\n\n{_text(summary)}\n")
        parts += [_describe(key, thing) for key, thing in _public(module)]
    return "\n".join(parts)


def _public(module: Any) -> list[tuple[str, Any]]:
    """Return the public classes and functions of a module, in the order of `__all__` or of the source."""
    named = getattr(module, "__all__", None)
    if named is None:
        own = [(k, v) for k, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
        found = [(key, thing) for key, thing in own if not key.startswith("_")]
    else:
        found = [(key, getattr(module, key)) for key in named]
    return [(key, thing) for key, thing in found if inspect.isclass(thing) or inspect.isroutine(thing)]


def _describe(name: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return f"### `{name}{_signature(thing)}`\n\n{_text(inspect.getdoc(thing))}\n"
    exception = issubclass(thing, BaseException)
    lines = [f"### class `{name}`\n\n{_text(inspect.getdoc(thing))}\n"]
    for key, member in vars(thing).items():
        if key.startswith("_") or exception:
            continue
        described = _member(key, member)
        if described:
            lines.append(described)
    return "\n".join(lines)


def _member(name: str, member: Any) -> str:
    if isinstance(member, classmethod | staticmethod):
        function = member.__func__
        head = f"{name}{_signature(function, skip=isinstance(member, classmethod))}"
    elif inspect.isfunction(member):
        function, head = member, f"{name}{_signature(member, skip=True)}"
    elif isinstance(member, property) or hasattr(member, "func"):  # a cached property
        function, head = getattr(member, "fget", None) or getattr(member, "func", None), name
    elif inspect.isgetsetdescriptor(member):
        function, head = member, name
    else:
        return ""
    documentation = inspect.getdoc(function)
    if not documentation:
        return ""
    return f"- `{head}`\n\n{textwrap.indent(_text(documentation), '  ')}\n"


def _signature(function: Any, *, skip: bool = False) -> str:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return "(...)"
    parameters = list(signature.parameters.values())[1 if skip else 0 :]
    # Defaults that are objects have no text of their own.
    shown = signature.replace(parameters=parameters)
    return re.sub(r"<[^>]*>", "...", str(shown)).replace("'", "")


def _text(documentation: str | None) -> str:
    """Return a docstring as Markdown: sections in bold, their entries as lists, examples as code."""
    lines: list[str] = []
    section = False
    for line in (documentation or "").splitlines():
        heading = re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields):", line)
        if heading:
            section = True
            lines += ["", f"**{heading[1]}**", ""]
        elif section and re.match(r"    \S", line):
            entry = re.match(r"    (\*{0,2}[\w.]+):\s*(.*)", line)
            lines.append(f"- `{entry[1]}`: {entry[2]}" if entry else f"  {line.strip()}")
        elif section and line.startswith("     "):
            lines.append(f"  {line.strip()}")
        elif line.startswith((">>> ", "... ")):
            lines.append(f"    {line}")
        else:
            section = section and not line.strip()
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
