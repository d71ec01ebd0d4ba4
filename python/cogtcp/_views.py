"""Pages, figures and notebook views of results, and the kernel plane of runs, by name.

A result has a page, figures and a view in notebooks; a run may be made in virtual time. Parts above make
them. The package binds each name to its maker (`cogtcp/__init__.py`), so that no import runs upward. A maker
is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAKERS: dict[str, tuple[str, str]] = {}


def bind(makers: Mapping[str, tuple[str, str]]) -> None:
    """Bind names of views to their makers: module and function."""
    _MAKERS.update(makers)


def view(name: str) -> Callable[..., Any]:
    """Return the maker of a view.

    Raises:
        KeyError: No maker is bound to the name.
    """
    module, function = _MAKERS[name]
    maker: Callable[..., Any] = getattr(import_module(module), function)
    return maker
