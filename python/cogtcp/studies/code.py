"""The Python files of a study's folder, loaded as one package.

`runs.py` builds scenarios and reads runs; `tests.py` and `exhibits.py`, where they exist, hold the odd tests
and figures that `study.toml` names. They may import files beside them: `from .radio import ...`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cogtcp.studies.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cogtcp.studies.folder import Study


def load(study: Study, file: str) -> ModuleType | None:
    """Return the module of one file of the study's folder; None if the file is missing."""
    path = study.folder / f"{file}.py"
    if not path.is_file():
        return None
    name = f"{package(study)}.{file}"
    if name not in sys.modules:
        _execute(name, path)
    return sys.modules[name]


def forget(study: Study) -> None:
    """Unload the study's modules, so that the next use reads them again."""
    name = _name(study)
    for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[loaded]
    importlib.invalidate_caches()


def function(study: Study, file: str, name: str) -> Callable[..., Any]:
    """Return a function of one of the study's files.

    Raises:
        StudyError: There is none of this name.
    """
    module = load(study, file)
    found = getattr(module, name, None)
    if module is None or not callable(found):
        raise StudyError(f"{study.folder / file}.py: no function `{name}`, which study.toml names")
    return found  # type: ignore[no-any-return]


def functions(study: Study, file: str) -> dict[str, Callable[..., Any]]:
    """Return all public functions of one of the study's files, by name."""
    module = load(study, file)
    if module is None:
        return {}
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
    }


def _name(study: Study) -> str:
    return f"cogtcp_study_{study.name.replace('-', '_')}"


def package(study: Study) -> str:
    """Return the name of the package that the study's files are loaded as."""
    name = _name(study)
    known = sys.modules.get(name)
    if known is None or list(known.__path__) != [str(study.folder)]:
        forget(study)
        made = ModuleType(name)
        made.__path__ = [str(study.folder)]
        sys.modules[name] = made
    return name


def _execute(name: str, path: Path) -> None:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise StudyError(f"{path}: cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    # A module that was loaded in part must not be found whole the next time.
    except BaseException:
        del sys.modules[name]
        raise
