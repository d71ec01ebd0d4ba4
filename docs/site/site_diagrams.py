"""Sequence diagrams as SVG: a browser would draw them with Mermaid, which it had to load from elsewhere.

Of Mermaid's language it knows `participant A as name`, `A->>B: text`, `A--xB: text` (lost) and
`Note over A: text`; anything else ends the build.
"""

from __future__ import annotations

import html
import re
from typing import Any

_STEP, _TOP, _COLUMN, _MARGIN = 34, 46, 250, 110
_PARTICIPANT = re.compile(r"participant (\w+)(?: as (.+))?")
_MESSAGE = re.compile(r"(\w+)(->>|--x)(\w+): (.+)")
_NOTE = re.compile(r"Note over (\w+): (.+)")


def fence(source: str, language: str, css_class: str, options: Any, md: Any, **given: Any) -> str:
    """Return what stands for a fenced block of Mermaid: a figure."""
    return f'<figure class="diagram" style="width:100%">{sequence(source)}</figure>'


def sequence(source: str) -> str:
    """Return a sequence diagram as SVG, in the colours of the page around it.

    Raises:
        ValueError: A line is none that it knows.
    """
    head, *lines = [line.strip() for line in source.strip().splitlines()]
    if head != "sequenceDiagram":
        raise ValueError(f"a diagram of the kind {head!r}: only sequence diagrams are drawn")
    names: dict[str, str] = {}
    drawn: list[str] = []
    y = _TOP
    for line in lines:
        if found := _PARTICIPANT.fullmatch(line):
            names[found[1]] = found[2] or found[1]
            continue
        y += _STEP
        if found := _MESSAGE.fullmatch(line):
            drawn.append(_message(_x(names, found[1]), _x(names, found[3]), y, found[4], found[2] == "--x"))
        elif found := _NOTE.fullmatch(line):
            drawn.append(_note(_x(names, found[1]), y, found[2]))
        else:
            raise ValueError(f"a line of a sequence diagram that is not known: {line!r}")
    return _frame(names, drawn, y + _STEP, " ".join(lines))


def _x(names: dict[str, str], name: str) -> int:
    if name not in names:
        raise ValueError(f"a sequence diagram speaks of {name!r} before it is a participant")
    return _MARGIN + list(names).index(name) * _COLUMN


def _frame(names: dict[str, str], drawn: list[str], height: int, label: str) -> str:
    width = 2 * _MARGIN + (len(names) - 1) * _COLUMN
    lines = [
        f'<svg role="img" aria-label="{html.escape(label)}" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px;width:100%;font:13px sans-serif" fill="currentColor" '
        'stroke="currentColor" stroke-width="1">'
    ]
    for name, said in names.items():
        x = _x(names, name)
        lines += [
            f'<line x1="{x}" x2="{x}" y1="{_TOP - 12}" y2="{height}" opacity=".35"/>',
            f'<rect x="{x - 85}" y="6" width="170" height="28" rx="4" fill="none"/>',
            _text(x, 25, said),
        ]
    return "".join([*lines, *drawn, "</svg>"])


def _message(start: int, end: int, y: int, said: str, is_lost: bool) -> str:
    back = -1 if end > start else 1
    tip = end
    dashes = ""
    if is_lost:
        tip, dashes = (start + end) // 2, ' stroke-dasharray="5 4"'
        head = f'<path d="M{tip - 5} {y - 5}l10 10m0 -10l-10 10" fill="none"/>'
    else:
        head = f'<path d="M{tip} {y}l{9 * back} -4v8z"/>'
    line = f'<line x1="{start}" x2="{tip}" y1="{y}" y2="{y}"{dashes}/>'
    return line + head + _text((start + end) // 2, y - 7, said)


def _note(x: int, y: int, said: str) -> str:
    half = max(40, 4 * len(said))
    # Within the picture, however long it is.
    left = max(4, x - half)
    place = f'x="{left}" y="{y - 17}" width="{2 * half}" height="23"'
    box = f'<rect {place} rx="3" fill="var(--md-code-bg-color)"/>'
    return box + _text(left + half, y - 1, said)


def _text(x: int, y: int, said: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" stroke="none">{html.escape(said)}</text>'
