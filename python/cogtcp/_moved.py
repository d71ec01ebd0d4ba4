"""Modules by the names that they had before the package got its rooms, each the same object as before.

The names that the documentation shows (`PUBLIC`) stay. All others warn, and go with the next release.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOMS = {
    "model": "_arrow airtime budget capture control headline metrics models of_tcp output provenance result "
    "results_schema scenario statistics tables",
    "data": "fitting journey link_trace mobility spectrum",
    "running": "compare compared_files runner sweeping warmup",
    "kernel": "_kernel_program emulation packets validation",
    "deciding": "advising atlas gym tuning",
    "showing": "figure plot report",
}

#: Where each module is now, both names below `cogtcp`.
MOVED = {
    **{name: f"{room}.{name}" for room, names in _ROOMS.items() for name in names.split()},
    "tuning.space": "running.space",
}

#: Names that stay. Type checkers and editors read the stub `NAME.pyi` beside this file.
PUBLIC = frozenset(
    {
        "airtime",
        "budget",
        "control",
        "emulation",
        "fitting",
        "gym",
        "journey",
        "link_trace",
        "metrics",
        "mobility",
        "models",
        "plot",
        "runner",
        "spectrum",
        "statistics",
        "validation",
    }
)


def place(name: str) -> str | None:
    """Return the full name that a module of an old name has now; None for a name that never moved."""
    parts = name.split(".")
    if parts[0] != "cogtcp":
        return None
    for length in (2, 1):  # the longest prefix that moved
        if moved := MOVED.get(".".join(parts[1 : 1 + length])):
            return ".".join(["cogtcp", moved, *parts[1 + length :]])
    return None


def _warn(name: str, now: str, depth: int) -> None:
    if name.split(".")[1] not in PUBLIC:
        import warnings

        warnings.warn(f"{name} is now {now}", DeprecationWarning, stacklevel=depth + 1)


class _Loader:
    """Loads a module by its new name, for an import by its old one."""

    def __init__(self, name: str, now: str) -> None:
        self._name = name
        self._now = now

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system: its empty module gives way to the real one."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the real module in the place of the empty one."""
        from importlib import import_module

        _warn(self._name, self._now, 2)
        sys.modules[self._name] = import_module(self._now)

    def get_code(self, name: str) -> Any:
        """Return the code of the real module, for `python -m`."""
        from importlib.util import find_spec

        _warn(self._name, self._now, 2)
        spec = find_spec(self._now)
        loader: Any = spec.loader if spec else None
        return loader.get_code(self._now)


class _Finder:
    """Finds modules by their old names."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a module of an old name; None for any other."""
        if not name.startswith("cogtcp."):
            return None
        now = place(name)
        return None if now is None else ModuleSpec(name, _Loader(name, now))  # type: ignore[arg-type]


class _Package(ModuleType):
    """The package, in which the function `compare` keeps its name when a module of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "compare" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def attribute(name: str) -> ModuleType | None:
    """Return the module that was the attribute `name` of the package; None if there was none."""
    now = MOVED.get(name)
    if now is None:
        return None
    from importlib import import_module

    _warn(f"cogtcp.{name}", f"cogtcp.{now}", 3)
    return import_module(f"cogtcp.{now}")


def install() -> None:
    """Let imports by old names work."""
    # Before all others, which would load files of a moved package a second time under its old name.
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    sys.modules["cogtcp"].__class__ = _Package
