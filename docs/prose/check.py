"""Check the prose of pages, messages and doc comments by rules.toml: part of `make lint`.

Sentences have at most 30 words, and banned phrases do not occur. Files that are not rewritten yet stand in
not-yet.txt, a folder or a file a line: the list only gets shorter. With names of files, check these only.

Why not Vale: its package on PyPI fetches a binary without a hash at first use, and `make` needs no Go.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

import generate_messages  # noqa: E402
import text  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = tomllib.loads((HERE / "rules.toml").read_text(encoding="utf-8"))
LONGEST: int = RULES["longest_sentence"]
BANNED = [
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in {**RULES["banned"], **RULES["terms"]}.items()
]


def not_yet() -> list[str]:
    """Return the files and folders that are not checked yet."""
    lines = (HERE / "not-yet.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def findings(paragraph: str) -> Iterator[str]:
    """Yield what is wrong with a paragraph."""
    plain = re.sub(r"`[^`]*`", "CODE", paragraph)
    for sentence in text.sentences(plain):
        count = len(re.findall(r"\w[\w'.-]*", sentence))
        if count > LONGEST:
            yield f"a sentence of {count} words (at most {LONGEST}): {sentence[:60]}..."
    for pattern, instead in BANNED:
        if found := pattern.search(plain):
            yield f"'{found[0][:40]}': write instead: {instead}"


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the doc comments of a source file by paragraph, with the number of their first line."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said = ast.get_docstring(node)
                for part in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", said or ""):
                    # No prose: examples, sections of arguments, tables, indented text.
                    if not re.match(r"\s*(>>>|\||(Args|Returns|Raises|Attributes|Yields):)|\n?    ", part):
                        yield node.body[0].lineno, " ".join(part.split())
        return
    held: list[str] = []
    start = 0
    code = False
    for number, line in enumerate([*source.splitlines(), ""], 1):
        found = re.match(r"\s*//[/!] ?(.*)", line)
        said = found[1] if found else ""
        if said.startswith("```"):
            code = not code
            said = ""
        if held and (code or not said or re.match(r"\s*([-*#|]|\d+\.)", said)):
            yield start, " ".join(held)
            held = []
        if said and not code and not said.startswith("|"):
            start = start if held else number
            held.append(said.strip())


def sources() -> list[Path]:
    """Return the source files whose doc comments are checked, as paths from the checkout."""
    found = [*text.ROOT.glob("crates/*/src/**/*.rs"), *text.ROOT.glob("python/cogtcp/**/*.py")]
    return sorted(path.relative_to(text.ROOT) for path in found)


def main(names: list[str]) -> int:
    """Print what is wrong, one line each with its place."""
    listed = not_yet()
    wanted = [str(Path(name)) for name in names]

    def is_checked(path: Path) -> bool:
        name = path.as_posix()
        if wanted:
            return name in wanted
        return not any(name == entry or name.startswith(entry.rstrip("/") + "/") for entry in listed)

    wrong = []
    for page in filter(is_checked, text.pages()):
        for line, paragraph in text.paragraphs((text.ROOT / page).read_text(encoding="utf-8")):
            wrong += [f"{page}:{line}: {what}" for what in findings(paragraph)]
    for path in filter(is_checked, sources()):
        for line, paragraph in comments(text.ROOT / path):
            wrong += [f"{path}:{line}: {what}" for what in findings(paragraph)]
    for message in generate_messages.messages():
        if is_checked(message.path):
            wrong += [f"{message.path}:{message.line}: {what}" for what in findings(message.text)]
    print("\n".join(wrong) if wrong else f"prose: nothing to mend; {len(listed)} entries not yet checked")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
