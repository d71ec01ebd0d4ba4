"""Imports of the Python package run one way: a room imports only lower rooms, and nothing is in a loop.

Imports within functions count. Those for type checkers alone (`if TYPE_CHECKING`) never run and do not.
"""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cogtcp
from conftest import ROOT

PACKAGE = Path(cogtcp.__file__).parent

#: The rooms of the package, from the lowest up. A room imports only rooms below it.
ROOMS = (
    "_",  # the modules `cogtcp._name`, which everything uses
    "model",
    "data",
    "running",
    "kernel",
    "deciding",
    "cogtcp",  # the public names
    "showing",
    "studies",
    "lab",
    "cli",
    "__main__",
)


def test_no_import_runs_upward() -> None:
    level = {room: index for index, room in enumerate(ROOMS)}
    upward = [
        f"{module} imports {target}"
        for module, targets in _imports().items()
        for target in targets
        if _room(module) != _room(target) and level[_room(module)] < level[_room(target)]
    ]
    assert upward == []


def test_the_map_has_the_rooms_in_this_order() -> None:
    drawn = re.findall(r"^python/cogtcp/(\w+)", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    assert drawn[::-1] == [room for room in ROOMS if room not in ("cogtcp", "__main__")]


def test_no_parts_of_a_room_import_each_other_in_a_loop() -> None:
    parts: dict[str, set[str]] = {}
    for module, targets in _imports().items():
        parts.setdefault(_part(module), set()).update({_part(target) for target in targets} - {_part(module)})
    TopologicalSorter(parts).prepare()  # raises CycleError, which names the loop


def test_no_modules_import_each_other_in_a_loop() -> None:
    TopologicalSorter(_imports()).prepare()


def test_every_module_has_a_room() -> None:
    assert {_room(module) for module in _imports()} == set(ROOMS)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("import cogtcp.report", {"cogtcp.report"}),
        ("from cogtcp import report, result", {"cogtcp.report", "cogtcp.result"}),
        ("from cogtcp.report import run_report", {"cogtcp.report"}),
        ("def f():\n    from cogtcp.report import run_report", {"cogtcp.report"}),
        ("from cogtcp import Scenario", {"cogtcp"}),
        ("from cogtcp import _core\nfrom cogtcp._core import Spread\nimport json", set()),
        ("if TYPE_CHECKING:\n    from cogtcp.report import run_report", set()),
    ],
)
def test_an_import_is_found_in_each_form(statement: str, found: set[str]) -> None:
    assert _targets(ast.parse(statement), {"cogtcp", "cogtcp.report", "cogtcp.result"}) == found


def _room(module: str) -> str:
    """Return the room of a module: the package directly below `cogtcp`, or that of the modules beside it."""
    name = module.split(".")[1] if "." in module else module
    return "_" if name.startswith("_") and name != "__main__" else name


def _part(module: str) -> str:
    """Return the part of a room that a module belongs to: the module or package directly below the room."""
    return ".".join(module.split(".")[:3])


def _imports() -> dict[str, set[str]]:
    """Return what each module of the package imports of the package."""
    paths = {
        ".".join(("cogtcp", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
        if "library" not in path.relative_to(PACKAGE).parts  # studies, which are code of their own
    }
    return {
        module: _targets(ast.parse(path.read_text(encoding="utf-8")), paths.keys()) - {module}
        for module, path in paths.items()
    }


def _targets(tree: ast.AST, modules: set[str]) -> set[str]:
    """Return the modules that a tree imports when it runs, without the compiled engine below them all."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules}
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            assert node.level == 0, "imports are absolute"
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= named & modules
            if any(name not in modules and name != "cogtcp._core" for name in named):
                found.add(node.module)
        found |= _targets(node, modules)
    return found
