"""What decides the outcome of a run, as hashes: the engine, this package, and code of the user's.

Code counts twice: as the text that lies on disk and as what this process has loaded. So an edit is noticed
when the file is loaded again. A file that was edited and not yet loaded again counts as neither state.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import json
import marshal
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import ScenarioError, UsageError
from cogtcp.model import provenance
from cogtcp.model.control import load, named_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from cogtcp.model.scenario import Scenario

#: The modules of the room `model` that a run and its numbers go through.
_MODEL = ("_arrow", "control", "metrics", "result", "scenario", "statistics")


def digest(*parts: str) -> str:
    """Return a hash of texts, 128 bits in hexadecimal."""
    # A zero byte joins them: it is in no text, so that two lists of texts cannot read alike.
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def engine() -> str:
    """Return what identifies the engine and the modules of this package that a run goes through."""
    files = [Path(_core.__file__), *(file for name in _MODEL for file in _model(name))]
    return digest(provenance.version(), *map(_file, files))


def of_scenario(scenario: Scenario) -> str:
    """Return what identifies a scenario: its text, and the files and Python controls that it names."""
    return digest(scenario.hash, *map(_of_control, scenario.importable_controls()))


def of_transport(scenario: Scenario, name: str) -> str:
    """Return what identifies a transport that takes the place of the scenario's: its name, and its code."""
    controls = [_of_control(control) for control in sorted(named_in(name)) if scenario.may_import(control)]
    return " ".join([name, *controls])


def _of_control(name: str) -> str:
    """Return what identifies the code of a control called `module:Class`; its name if it is not found."""
    try:
        found: Any = load(name)
    except ScenarioError:
        # No control then, or one that cannot be loaded: the run itself will say so.
        return name
    # Byte code differs between versions of Python.
    return digest(name, sys.version, *_sources(found), *_loaded(found))


def of_function(function: Callable[..., Any]) -> str:
    """Return what identifies a function: its code and, if it is a `functools.partial`, what is bound.

    Raises:
        UsageError: It depends on values that cannot be compared.
    """
    bound: list[str] = []
    while isinstance(function, functools.partial):
        bound.append(_bound(function, [function.args, sorted(function.keywords.items())]))
        function = function.func
    cells = getattr(function, "__closure__", None) or ()
    bound.append(_bound(function, [cell.cell_contents for cell in cells]))
    name = f"{function.__module__}.{function.__qualname__}"
    return digest(name, *bound, *_sources(function), *_loaded(function))


def _bound(function: Any, values: list[Any]) -> str:
    try:
        return json.dumps(values)
    except (TypeError, ValueError):
        name = getattr(function, "__qualname__", repr(function))
        raise UsageError(
            f"{name} is bound to values that are not plain data, so its runs have no key; "
            "bind numbers and texts with functools.partial"
        ) from None


def _loaded(thing: Any) -> Iterator[str]:
    """Yield hashes of the code that a function or class consists of, as loaded."""
    if isinstance(thing, FunctionType):
        yield _code(thing.__code__)
        yield repr(thing.__defaults__)
    elif inspect.isclass(thing):
        for base in thing.__mro__:
            # This package's own classes are part of `engine`, and `object` of the version of Python.
            if base.__module__.partition(".")[0] not in ("builtins", "cogtcp"):
                for name, value in sorted(vars(base).items()):
                    # What a class method, a static method or a property wraps.
                    function = getattr(value, "__func__", getattr(value, "fget", value))
                    if isinstance(function, FunctionType):
                        yield f"{name} {_code(function.__code__)}"
                    elif isinstance(value, bool | int | float | str):
                        yield f"{name} {value!r}"


def _code(code: CodeType) -> str:
    # Format 2 knows no references, whose places depend on who else holds a constant.
    return hashlib.sha256(marshal.dumps(_without_place(code), 2)).hexdigest()


def _without_place(code: CodeType) -> CodeType:
    constants = tuple(_without_place(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    # Where the file lies does not decide what it does.
    return code.replace(co_filename="", co_consts=constants)


def _sources(thing: Any) -> list[str]:
    """Return hashes of the source of a thing's module and of all modules of the user's that it imports."""
    loaded = sys.modules.get(thing.__module__)
    path = None if loaded is None else _source(loaded)
    if loaded is None or path is None:
        return []
    found = {loaded.__name__: _file(path)}
    waiting = [(loaded.__name__, loaded.__package__ or "", path)] if _is_own(path) else []
    while waiting:
        for name, package, path in _imports(*waiting.pop()):
            if name not in found:
                found[name] = _file(path)
                waiting.append((name, package, path))
    return [f"{name} {content}" for name, content in sorted(found.items())]


def _imports(name: str, package: str, path: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield name, package and file of the modules of the user's that a source file imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    for imported in sorted(names - {name, ""}):
        # Part of `engine`.
        if imported.partition(".")[0] == "cogtcp":
            continue
        spec = _spec(imported)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            continue
        source = Path(spec.origin).resolve()
        if _is_own(source):
            yield imported, spec.parent or "", source


def _spec(name: str) -> ModuleSpec | None:
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded.__spec__
    parent = name.rpartition(".")[0]
    if parent and parent not in sys.modules:
        return None  # to find it would run its package
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None


def _is_own(path: Path) -> bool:
    """Whether a source file is the user's: neither of Python nor among installed libraries."""
    return not any(path.is_relative_to(folder) for folder in _libraries())


@functools.cache
def _libraries() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in names})


def _source(module: ModuleType) -> Path | None:
    path = getattr(module, "__file__", None)
    return Path(path).resolve() if path and path.endswith(".py") else None


def _model(name: str) -> list[Path]:
    """Return the files of a module or package of the room `model`."""
    place = Path(__file__).resolve().parents[2] / "model" / name
    return sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def _file(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "missing"
    return _content(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _content(path: Path, _time: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
