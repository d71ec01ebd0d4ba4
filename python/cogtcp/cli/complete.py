"""Completion in the shell by argcomplete (extra `completion`): what can stand where."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def complete(parser: argparse.ArgumentParser) -> None:
    """Print what can stand at the cursor and exit; the shell asks by the variable `_ARGCOMPLETE`."""
    import argcomplete

    for action in _actions(parser):
        completer = _completer(action)
        if completer is not None:
            action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a verb and of all below."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                # Verbs get their options on use; completion needs the options of all verbs.
                below.fill()
                yield from _actions(below)


def _completer(action: argparse.Action) -> Callable[..., Iterable[str]] | None:
    if action.dest == "file" and "scenario" in (action.help or ""):
        return _scenarios
    names: dict[str, Callable[..., Iterable[str]]] = {
        "transport": _transports,
        "metric": _metrics,
        "study": _studies,
        "only": _claims,
        "kind": _kinds,
    }
    # Where there are choices argcomplete knows them.
    return None if action.choices is not None else names.get(action.dest)


def _scenarios(prefix: str, **given: Any) -> list[str]:
    from argcomplete.completers import FilesCompleter

    from cogtcp._shipped import shipped

    return [*shipped(), *FilesCompleter(("toml",))(prefix)]


def _transports(prefix: str, **given: Any) -> list[str]:
    """Return the presets; after a comma, appended to the list that is being typed."""
    from cogtcp import _core

    begun, comma, _ = prefix.rpartition(",")
    return [f"{begun}{comma}{name}" for name, _ in _core.transports()]


def _metrics(prefix: str, **given: Any) -> list[str]:
    from cogtcp.model.metrics import METRICS, SUBJECT_METRICS

    own = [f"{kind}.{metric.name}" for kind, metrics in SUBJECT_METRICS.items() for metric in metrics]
    return [*(metric.name for metric in METRICS), *own]


def _studies(prefix: str, **given: Any) -> list[str]:
    from cogtcp.studies import list_studies

    return [name for study in list_studies() for name in (study.name, *(row.id for row in study.claims))]


def _claims(prefix: str, parsed_args: argparse.Namespace, **given: Any) -> list[str]:
    """Return the claims of the study that is named, or of all."""
    from cogtcp.studies import list_studies

    named = getattr(parsed_args, "study", None)
    studies = [study for study in list_studies() if named in (None, study.name)]
    return [row.id for study in studies for row in study.claims]


def _kinds(prefix: str, parser: argparse.ArgumentParser, **given: Any) -> list[str]:
    """Return the kinds of figures, or of starters."""
    if parser.prog.endswith(" plot"):
        from cogtcp.showing.plot.saved import KINDS

        return list(KINDS)
    from cogtcp import _core

    return [kind for kind, _ in _core.starters()]
