"""What is hand-written prose in a page: no code, tables or references, nothing that a script writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]

#: Pages that scripts write whole.
GENERATED = {
    "docs/api.md",
    "docs/atlas.md",
    "docs/departures.md",
    "docs/findings.md",
    "docs/packetdrill.md",
    "docs/rfc9293.md",
    "docs/verdicts.md",
}

#: A block between two comments is written by a script; after "From here on generated" everything is.
_WRITTEN = re.compile(
    r"<!-- From here on generated.*\Z|<!-- (?!end of)[^>]*-->.*?<!-- end of [^>]*-->", re.DOTALL
)
_FENCE = re.compile(r"^( *)```.*?^\1```[^\n]*$", re.DOTALL | re.MULTILINE)
_LEFT_OUT = re.compile(r"^ *\|.*$|^ {4,}(?![-*\d ]).*$|<!--.*?-->", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_REFERENCES = re.compile(r"^## References\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")


def pages() -> list[Path]:
    """Return the hand-written pages, as paths from the checkout."""
    found = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
    # Changelogs of older versions stay as they were released.
    found += sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "changelog")
    return [page.relative_to(ROOT) for page in found if str(page.relative_to(ROOT)) not in GENERATED]


def prose(text: str) -> str:
    """Return a page with everything else blanked out; the lines stay where they are."""
    for pattern in (_WRITTEN, _FENCE, _LEFT_OUT, _REFERENCES):
        text = pattern.sub(lambda found: "\n" * found[0].count("\n"), text)
    return _LINK.sub(lambda found: found[1] + "\n" * found[0][len(found[1]) :].count("\n"), text)


def words(text: str, *, tables: bool = False) -> int:
    """Return how many words of prose a page has; with `tables` also hand-written tables and references."""
    if tables:
        for pattern in (_WRITTEN, _FENCE, _COMMENT):
            text = pattern.sub("", text)
        counted = _LINK.sub(lambda found: found[1], text)
    else:
        counted = prose(text)
    return len(re.findall(r"[\w'`.-]*\w[\w'`.-]*", counted))


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, list item and heading of a page in one line, and its line number."""
    held: list[str] = []
    start = 0
    for number, line in enumerate([*prose(text).splitlines(), ""], 1):
        begins = re.match(r"\s*(#+|[-*>]|\d+\.)\s", line)
        if held and (begins or not line.strip()):
            yield start, " ".join(held)
            held = []
        if line.strip():
            start = start if held else number
            held.append(re.sub(r"^\s*(#+|[-*>]|\d+\.)\s+", "", line).strip())


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph. A colon or semicolon does not end one."""
    abbreviated = re.sub(r"\b(e\.g|i\.e|et al|cf|vs|Fig|Eq|Sec)\.", r"\1", paragraph)
    return [
        part
        for part in re.split(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(`*_\[]*[A-Z0-9`]|cogtcp )", abbreviated)
        if part
    ]
