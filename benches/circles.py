"""Circles of files inside rooms: files that use each other, directly or through others.

    .venv/bin/python benches/circles.py [COMMIT ...]

Prints for each commit (default: the work tree) the rooms with circles, and how many files each circle has.
A file and those in its own folder make no circle.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ModulePath = tuple[str, ...]

_TREE = re.compile(r"\{|\}|,|::|\bas\b\s*\w+|\w+|\*")


def main() -> None:
    """Print the circles of each commit."""
    for commit in sys.argv[1:] or [""]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) if commit else Path()
            if commit:
                git = ["git", "archive", commit, "crates", "python"]
                packed = subprocess.run(git, check=True, capture_output=True).stdout  # noqa: S603
                with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                    archive.extractall(root, filter="data")
            found = dict(_rooms(root))
        circles = [(room, len(circle)) for room, all_of in found.items() for circle in all_of]
        files = sum(size for _, size in circles)
        print(f"{commit or 'work tree'}: {len(circles)} circles, {files} files")
        for room, size in sorted(circles):
            print(f"  {room}: {size} files")


def _rooms(root: Path) -> Iterator[tuple[str, list[list[ModulePath]]]]:
    for source in sorted(root.glob("crates/*/src")):
        files = {_name(file, source): file.read_text() for file in source.rglob("*.rs")}
        yield str(source.relative_to(root).parent), _circles(_rust(files))
    for source in sorted(root.glob("python/cogtcp/*/")):
        files = {_name(file, source): file.read_text() for file in source.rglob("*.py")}
        yield str(source.relative_to(root)), _circles(_python(files, source.name))


def _name(file: Path, source: Path) -> ModulePath:
    parts = file.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("lib", "main", "mod", "__init__") else parts


def _rust(files: dict[ModulePath, str]) -> dict[ModulePath, set[ModulePath]]:
    texts = {name: _code(text) for name, text in files.items()}
    shown = {name: dict(_uses(text, name, only_shown=True)) for name, text in texts.items()}
    edges: dict[ModulePath, set[ModulePath]] = {name: set() for name in files}
    for name, text in texts.items():
        named = [path for _, path in _uses(text, name, only_shown=False)]
        named += [
            _absolute(tuple(found.split("::")), name)
            for found in re.findall(r"\b(?:crate|super)(?:::\w+)+", text)
        ]
        for path in named:
            edges[name].add(_file(path, files, shown))
    return edges


def _code(text: str) -> str:
    text = text.split("#[cfg(test)]\nmod ", 1)[0]
    return re.sub(r"//[^\n]*", "", text)


def _uses(text: str, name: ModulePath, *, only_shown: bool) -> Iterator[tuple[str, ModulePath]]:
    start = r"^\s*pub(?:\([^)]*\))? use " if only_shown else r"^\s*(?:pub(?:\([^)]*\))? )?use "
    for tree in re.findall(start + r"([\w:{}, \n*]+);", text, re.MULTILINE):
        for path in _leaves(_TREE.findall(tree)):
            if path and path[0] in ("crate", "super", "self"):
                yield path[-1], _absolute(path, name)
            elif path:
                yield path[-1], (*name, *path)


def _leaves(words: list[str]) -> Iterator[ModulePath]:
    """Yield the paths of a tree of `use`, by its words."""
    outer: list[list[str]] = [[]]
    here: list[str] = []
    for word in [*words, ","]:
        if word == "{":
            outer.append(list(here))
        elif word in (",", "}"):
            if len(here) > len(outer[-1]):
                yield tuple(part for part in here if part != "*" and (part != "self" or part == here[0]))
            if word == "}":
                outer.pop()
            here = list(outer[-1])
        elif word != "::" and not word.startswith("as "):
            here.append(word)


def _absolute(path: ModulePath, name: ModulePath) -> ModulePath:
    at = list(name)
    for number, part in enumerate(path):
        if part == "crate":
            at = []
        elif part == "super":
            at = at[:-1]
        elif part != "self":
            return (*at, *path[number:])
    return tuple(at)


def _file(
    path: ModulePath, files: dict[ModulePath, str], shown: dict[ModulePath, dict[str, ModulePath]]
) -> ModulePath:
    """Return the file in which what a path names is defined, followed through what modules show of others."""
    for _ in range(4):
        at = path
        while at not in files:
            at = at[:-1]
        rest = path[len(at) :]
        if not rest or rest[0] not in shown[at]:
            return at
        path = (*shown[at][rest[0]], *rest[1:])
    return at


def _python(files: dict[ModulePath, str], room: str) -> dict[ModulePath, set[ModulePath]]:
    edges: dict[ModulePath, set[ModulePath]] = {name: set() for name in files}
    start = ("cogtcp", room)
    for name, text in files.items():
        for node in ast.walk(ast.parse(text)):
            found: list[ModulePath] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                module = tuple(node.module.split("."))
                found = [(*module, alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                found = [tuple(alias.name.split(".")) for alias in node.names]
            for path in found:
                if path[:2] == start:
                    at = path[2:]
                    while at not in files and at:
                        at = at[:-1]
                    edges[name].add(at)
    return edges


def _circles(edges: dict[ModulePath, set[ModulePath]]) -> list[list[ModulePath]]:
    def is_own(one: ModulePath, other: ModulePath) -> bool:
        short = min(len(one), len(other))
        return one[:short] == other[:short]

    kept = {name: {to for to in tos if not is_own(name, to)} for name, tos in edges.items()}
    reached = {}
    for name in kept:
        seen: set[ModulePath] = set()
        stack = [name]
        while stack:
            for to in kept[stack.pop()] - seen:
                seen.add(to)
                stack.append(to)
        reached[name] = seen
    circles = {
        tuple(sorted(other for other in kept if other in reached[name] and name in reached[other]))
        for name in kept
        if name in reached[name]
    }
    return [list(circle) for circle in sorted(circles)]


if __name__ == "__main__":
    main()
