"""A parser of arguments that loads what it needs when it is used, and suggests names."""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fill = str | Callable[[argparse.ArgumentParser], None]


def call(name: str, *given: Any) -> Any:
    """Call a function of this package, named `module.function`."""
    module, function = name.split(".")
    return getattr(import_module(f"cogtcp.cli.{module}"), function)(*given)


class Parser(argparse.ArgumentParser):
    """Suggests the nearest name where one is wrong: a verb, a choice, an option."""

    #: Whether what follows `--` is the command line of a program, in `command`.
    takes_command = False
    #: What adds the arguments, once they are needed: `module.function` of this package, or a function.
    fills: Sequence[Fill] = ()

    def fill(self) -> None:
        """Add the arguments, unless they are there."""
        fills, self.fills = self.fills, ()
        for fill in fills:
            if isinstance(fill, str):
                call(fill, self)
            else:
                fill(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; a verb reports by itself what it does not know, with its own options in mind."""
        self.fill()
        command: list[str] = []
        if self.takes_command and args and "--" in args:
            # Before argparse, which would take the program's options for ours.
            place = args.index("--")
            args, command = args[:place], args[place + 1 :]
        found, unknown = super().parse_known_args(args, namespace)
        if self.takes_command:
            found.command = command
        if unknown and not any(isinstance(action, argparse._SubParsersAction) for action in self._actions):
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def format_help(self) -> str:
        """Return the help: one line an option, and examples."""
        from cogtcp.cli import help

        return help.text(self)

    def format_usage(self) -> str:
        """Return the usage in one line."""
        from cogtcp.cli import help

        return help.usage(self)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, with what was probably meant, and end with exit code 2."""
        choice = re.match(r"argument (\S+): invalid choice: '([^']*)' \(choose from (.*)\)", message)
        number = re.match(r"argument (\S+): invalid (int|float) value: '(.*)'", message)
        option = re.match(r"unrecognized arguments: (--[^ =]+)", message)
        from cogtcp._names import meant

        if choice:
            # Some versions of Python put the choices in quotes.
            name, given, known = choice[1], choice[2], re.findall(r"[^', ]+", choice[3])
            what = f"unknown verb '{given}'" if name == "VERB" else f"{name} {given}: unknown value"
            # All verbs are too many for a message; `--help` groups them.
            all_known = f"all verbs: {self.prog} --help" if name == "VERB" else f"known: {', '.join(known)}"
            message = f"{what}; {' '.join(filter(None, [meant(given, known), all_known]))}"
        elif number:
            kind = "whole number" if number[2] == "int" else "number"
            message = f"{number[1]} {number[3]}: write a {kind}"
        elif option:
            # What another verb has is no slip of the pen: it has no place here.
            message = "; ".join(
                filter(None, [message, meant(option[1], sorted(self._option_string_actions))])
            )
        super().error(message)
