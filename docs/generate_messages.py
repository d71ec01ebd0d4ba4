"""Print every text that a user may see, one a line with its place: `python docs/generate_messages.py`.

These are string literals of four words or more: errors, warnings, answers, captions, table heads, `--help`.
Tests, docstrings, assertions and comments are left out.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]

#: Fewer words are names, keys and units.
LEAST = 4

_LITERAL = re.compile(r'(?<![\w\'])b?"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NOT_SHOWN = re.compile(r"(expect|assert\w*!|unreachable!|panic!|debug_assert\w*!|concat!)\s*\([^;{]*$")


@dataclass(frozen=True)
class Message:
    """A text and where it stands."""

    path: Path
    line: int
    text: str


def messages() -> list[Message]:
    """Return all texts, in the order of files and lines."""
    found = [
        Message(path.relative_to(ROOT), line, text)
        for path in sorted(ROOT.glob("python/cogtcp/**/*.py"))
        for line, text in _of_python(path)
    ]
    found += [
        Message(path.relative_to(ROOT), line, text)
        for path in sorted(ROOT.glob("crates/*/src/**/*.rs"))
        if "tests" not in path.relative_to(ROOT).parts and path.name != "tests.rs"
        for line, text in _of_rust(path)
    ]
    return found


def _is_shown(text: str) -> bool:
    is_style = re.search(r"[\w-]+: [^;{}]+;.*\}", text)  # CSS
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= LEAST and " " in text.strip() and not is_style


def _of_python(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    left_out |= {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Assert) for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in left_out:
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inner | left_out
        ):
            text = node.value
        else:
            continue
        # Paragraphs and indented lines, as of a help, are read one by one.
        for part in re.split(r"\n\s*\n|\n  ", text):
            if _is_shown(part):
                yield node.lineno, " ".join(part.split())


def _of_rust(path: Path) -> Iterator[tuple[int, str]]:
    source = path.read_text(encoding="utf-8")
    source = source.partition("#[cfg(test)]\nmod tests")[0]
    # Comments go, lines stay.
    source = re.sub(r"(?m)^\s*//.*$|(?<=[;,{} ])//[^\"\n]*$", "", source)
    for found in _LITERAL.finditer(source):
        if _NOT_SHOWN.search(source[max(0, found.start() - 200) : found.start()]):
            continue
        text = re.sub(r"\\\n\s*", "", found[1])
        if _is_shown(text):
            yield source.count("\n", 0, found.start()) + 1, " ".join(text.split())


if __name__ == "__main__":
    for message in messages():
        print(f"{message.path}:{message.line}: {message.text}")
