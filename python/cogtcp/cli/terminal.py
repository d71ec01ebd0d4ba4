"""Text on a terminal: tables, bold and colours where a terminal shows them.

Not by rich, which takes a tenth of the processor time of a run with its page. Progress bars and the tables of
sweeps and studies are rich's.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Where the output is no terminal nobody's window limits the width.
_WIDTH_OF_FILES = 120

# ECMA-48, "select graphic rendition".
_STYLES = {
    "bold": 1, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "white": 37,
    "bright_red": 91, "bright_yellow": 93, "bright_blue": 94,
}  # fmt: skip


#: Styles but concealment stay as they are (the group). Replaced are characters that move a cursor, retitle a
#: window, or turn text round.
_COMMANDS = re.compile(
    r"(\x1b\[(?!(?:\d+;)*0*8[;m])[0-9;]*m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def harmless(text: str) -> str:
    """Return a text in which characters that command a terminal are replaced by U+FFFD."""
    if text.isprintable():
        return text
    return _COMMANDS.sub(lambda found: found[1] or "\N{REPLACEMENT CHARACTER}", text)


class _Harmless:
    """A text stream that replaces characters which command a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream

    def write(self, text: str) -> int:
        self.raw.write(harmless(text))
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Let no message command a terminal, and no answer that goes to one."""
    out, err = sys.stdout, sys.stderr
    if out.isatty():
        sys.stdout = cast("TextIO", _Harmless(out))
    sys.stderr = cast("TextIO", _Harmless(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def raw(stream: TextIO) -> TextIO:
    """Return the stream below, for what moves the cursor itself: bars of progress."""
    return stream.raw if isinstance(stream, _Harmless) else stream


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
