"""Text on a terminal: tables, bold and colours where a terminal shows them.

Not by rich, which takes a tenth of the processor time of a run with its page. Progress bars and the tables of
sweeps and studies are rich's.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Where the output is no terminal nobody's window limits the width.
_WIDTH_OF_FILES = 120

# ECMA-48, "select graphic rendition".
_STYLES = {
    "bold": 1, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "white": 37,
    "bright_red": 91, "bright_yellow": 93, "bright_blue": 94,
}  # fmt: skip


def width() -> int:
    """Return the width of the terminal in characters, or the width of tables in files."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH_OF_FILES


def styled(text: str, style: str) -> str:
    """Return a text in bold or in a colour, if standard output is a terminal that shows them."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or (os.name == "nt" and "WT_SESSION" not in os.environ):
        return text
    return f"\033[{_STYLES[style]}m{text}\033[0m"


def print_columns(title: str, columns: Sequence[tuple[list[str], bool]]) -> None:
    """Print a table: of each column its heading and cells, and whether they are flush left.

    Headings and cells may have several lines.
    """
    heads: list[list[str]] = []
    rows: list[list[list[str]]] = [[] for _ in columns[0][0][1:]]
    for (heading, *cells), left in columns:
        lines = [text.split("\n") for text in (heading, *cells)]
        room = max(len(line) for text in lines for line in text)
        padded = [[line.ljust(room) if left else line.rjust(room) for line in text] for text in lines]
        heads.append(padded[0])
        for row, cell in zip(rows, padded[1:], strict=True):
            row.append(cell)
    if title:
        print(styled(title, "bold"))
    print()
    high = max(map(len, heads))
    # The last lines of headings stand beside each other, and the first lines of cells.
    tops = [[" " * len(head[0])] * (high - len(head)) + head for head in heads]
    for line in zip(*tops, strict=True):
        print(styled(f" {'   '.join(line)}".rstrip(), "bold"))
    print(f" {'─' * (sum(len(head[0]) + 3 for head in heads) - 3)}")
    for row in rows:
        high = max(map(len, row))
        filled = [cell + [" " * len(cell[0])] * (high - len(cell)) for cell in row]
        for line in zip(*filled, strict=True):
            print(f" {'   '.join(line)}".rstrip())
    print()
