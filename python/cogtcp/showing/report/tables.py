"""Tables that are never cut off.

A table knows its approximate width. If a page or a phone has less room, each row becomes a block of "heading:
value" lines (see `page.css`). A wide table of few rows is transposed at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cogtcp.model.metrics import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Longer tables are for Parquet.
MOST_ROWS = 20
#: Width of a character and room beside a cell, in em of the table's font.
_CHARACTER = 0.53
_BESIDE = 1.55
#: Longer texts of several words are broken into lines of about `_LINE` characters.
PROSE = 24
_LINE = 22
#: Widths, in rem, at which a table may turn to blocks: one rule of the style sheet for each.
STEPS = tuple(range(20, 81, 5))
#: The font of tables, in rem.
_FONT = 0.9
#: Tables of fewer things than this are laid on their sides if that fits better.
_MOST_ACROSS = 4

Heading = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes:
        headings: Name and unit of each column.
        rows: The cells.
        left: How many columns are names.
        prose: Columns with texts that are broken into lines.
        left_out: How many more rows there were.
        note: What is to be said below it.
    """

    headings: Sequence[Heading]
    rows: Sequence[Sequence[str]]
    left: int = 1
    left_out: int = 0
    note: str = ""
    wide: float = field(init=False)
    prose: frozenset[int] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        if self.rows:
            texts = [
                column if index < self.left else aligned(column)
                for index, column in enumerate(zip(*self.rows, strict=True))
            ]
            object.__setattr__(self, "rows", [list(row) for row in zip(*texts, strict=True)])
            prose = (
                i for i, column in enumerate(zip(*self.rows, strict=True)) if any(map(_is_prose, column))
            )
            object.__setattr__(self, "prose", frozenset(prose))
        columns = zip(*self.rows, strict=True) if self.rows else iter(())
        cells = [max((_room(cell) for cell in column), default=0) for column in columns]
        heads = [
            max((len(word) for part in heading for word in part.split()), default=0)
            for heading in self.headings
        ]
        widths = [max(pair) for pair in zip(cells, heads, strict=True)] if cells else heads
        object.__setattr__(self, "wide", _FONT * sum(width * _CHARACTER + _BESIDE for width in widths))

    @property
    def stack(self) -> int:
        """The step below which the table turns to blocks."""
        return next((step for step in STEPS if step >= self.wide), STEPS[-1])

    def turned(self) -> Table:
        """Return the table on its side if it is wide and of few things, else as it is."""
        if not self.rows or len(self.rows) > _MOST_ACROSS or len(self.headings) - self.left < 4:
            return self
        names = [" ".join(part for part in row[: self.left] if part) for row in self.rows]
        head = " ".join(dict.fromkeys(name.lower() for name, _ in self.headings[: self.left]))
        rows = [
            [f"{name}, {unit}" if unit else name, *(row[index] for row in self.rows)]
            for index, (name, unit) in enumerate(self.headings)
            if index >= self.left
        ]
        side = Table(
            [(head.capitalize(), ""), *((name, "") for name in names)], rows, 1, self.left_out, self.note
        )
        return side if side.wide < self.wide else self

    def without_zeros(self) -> Table:
        """Return the table without columns that are nothing but zeros or gaps; its note names them."""
        empty = {
            index
            for index in range(self.left, len(self.headings))
            if self.rows and all(row[index].strip("0.,%") in ("", "–") for row in self.rows)
        }
        if not empty:
            return self
        zeros = [
            _lower(self.headings[i][0]) for i in sorted(empty) if any(row[i] != "–" for row in self.rows)
        ]
        note = f"0 throughout: {', '.join(zeros)}." if zeros else ""
        return Table(
            [heading for i, heading in enumerate(self.headings) if i not in empty],
            [[cell for i, cell in enumerate(row) if i not in empty] for row in self.rows],
            self.left,
            self.left_out,
            " ".join(part for part in (self.note, note) if part),
        )


def _is_prose(cell: str) -> bool:
    """Whether a cell is a text to be broken into lines, and no number or name."""
    return len(cell) > PROSE and " " in cell


def _room(cell: str) -> int:
    return max(_LINE, *map(len, cell.split())) if _is_prose(cell) else len(cell)


def _lower(name: str) -> str:
    """Return a name as it stands within a sentence; abbreviations stay."""
    return name if name[:2].isupper() else name[:1].lower() + name[1:]
