"""Figures (`cogtcp.showing.figure`) drawn for pages: plain SVG in the colours of the page.

Colours are roles of the style sheet, so that a figure follows light and dark.

>>> from cogtcp.showing import figure
>>> goodput = figure.Curve("sack", [1, 2, 5], [3.1, 2.9, 2.2], low=[3.0, 2.7, 2.0], high=[3.2, 3.1, 2.4])
>>> svg = draw(figure.curves([goodput], "Goodput over loss", x_label="Loss, %", y_label="Goodput, Mbit/s"))
"""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from cogtcp.showing.figure import model
from cogtcp.showing.figure.scale import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FONT = 12.5
_SMALL = 11.5
#: Mean width of a character in a sans-serif font, as a share of its size.
_CHARACTER = 0.54
#: Width of a figure on a phone: a unit is about a pixel there too, so that text stays as large as text.
_PHONE = 360.0
#: Longest side of a panel whose axes have one scale.
_SQUARE = 620.0
#: Units right of the panels for a colour bar.
_BAR = 84.0
#: Units from one line of a heading to the next.
_LINE = 15.0
#: Units beside a label of a tick that stay free.
_APART = 5.0


def drawn(drawing: model.Drawing, widths: str = "both") -> str:
    """Return a figure as wide as a `page` or a `phone`, or `both`: the style sheet then shows one."""
    if widths != "both":
        return draw(drawing, narrow=widths == "phone")
    page, phone = draw(drawing), draw(drawing, narrow=True)
    return f'<div class="broad">{page}</div>\n<div class="phone">{phone}</div>'


def draw(drawing: model.Drawing, *, narrow: bool = False) -> str:
    """Return a figure as SVG.

    Args:
        drawing: The figure.
        narrow: Draw it as wide as a phone, with its panels below each other.
    """
    width = min(drawing.width, _PHONE) if narrow else drawing.width
    rows = [[_on_its_own(p)] for row in drawing.rows for p in row] if narrow else drawing.rows
    parts: list[str] = []
    legend: list[str] = []
    top = 0.0 if drawing.below else _legend(legend, 2, drawing.legend, width)
    bar = _BAR if drawing.shades is not None else 0.0
    lefts = _left_margins(rows, width)
    shares = max(sum(panel.share for panel in row) for row in rows)
    first = top + _head(rows[0], (width - bar) / shares)
    for row in rows:
        top += _head(row, (width - bar) / shares)
        at, lowest = 0.0, 0.0
        for column, panel in enumerate(row):
            slot = (width - bar) * panel.share / shares
            left = lefts[len(row), column]
            place = _placed(panel, at + left, top, slot - left - _right(panel))
            place.room = (at, at + slot)
            parts += _panel(place, drawing.shades)
            lowest = max(lowest, place.height)
            at += slot
        top += lowest + _foot(row)
    if drawing.shades is not None:
        parts += _color_bar(drawing.shades, width - bar + 16, first + 24, min(top - first - 80, 230))
    if drawing.below:
        top = _legend(legend, top + 4, drawing.legend, width)
    # The legend comes last: scripts of pages look for the first panel.
    body = "\n".join([*parts, *legend])
    return (
        f'<svg role="img" aria-label="{escape(drawing.label)}" '
        f'viewBox="0 0 {_n(width)} {_n(top)}" font-family="var(--font)">\n{body}\n</svg>'
    )


def _on_its_own(panel: model.Panel) -> model.Panel:
    """Return a panel of the whole width, with the labels upwards that a panel at its left has on a page."""
    return replace(panel, share=1.0, y=replace(panel.y, bare=False))


def sign(entry: model.Entry) -> str:
    """Return the sign of an entry of a legend, 24 by 12."""
    color = _color(entry.color)
    if entry.shape == "line":
        dashed = f' stroke-dasharray="{entry.dashes}"' if entry.dashes else ""
        return f'<path d="M0 6H24" stroke="{color}" stroke-width="2.2" fill="none"{dashed}/>'
    if entry.shape == "block":
        return f'<rect x="3" width="18" height="12" fill="{color}" opacity="{entry.opacity:g}"/>'
    return (
        _mark(12, 6, model.Dots((), (), entry.color, entry.shape, 4.5, entry.hollow)) if entry.shape else ""
    )


def _legend(parts: list[str], top: float, entries: Sequence[model.Entry], width: float) -> float:
    """Write entries from left to right, in as many rows as are needed; return where they end."""
    if not entries:
        return 0.0 if top == 2 else top
    at, row = 4.0, top + 10
    for entry in entries:
        room = 28 + _width(entry.text, _SMALL) + 16
        if at > 4 and at + room > width - 4:
            at, row = 4.0, row + 18
        parts.append(f'<svg x="{_n(at)}" y="{_n(row - 8)}" width="24" height="12">{sign(entry)}</svg>')
        parts.append(_text(at + 28, row, model.Text(0, 0, entry.text, size=_SMALL, middle=True)))
        at += room
    return row + 10


def _head(row: Sequence[model.Panel], share: float) -> float:
    """Return the units above the panels of a row: for titles and for labels of the axes upwards."""
    lines = max(len(_lines(panel.title, share * panel.share)) for panel in row)
    more = _LINE * max(0, lines - 1)
    return 8.0 + 22 * bool(lines) + more + 18 * any(panel.y.label for panel in row)


def _lines(text: str, room: float) -> list[str]:
    """Return a heading in lines that fit into so many units."""
    if not text or _bold_width(text) <= room - 4:
        return [text] if text else []
    return textwrap.wrap(text, max(8, int((room - 4) / _bold_width("x"))), break_long_words=False)


def _foot(row: Sequence[model.Panel]) -> float:
    if any(panel.x.label for panel in row):
        return 46.0
    return 8.0 if all(panel.x.bare for panel in row) else 26.0


def _right(panel: model.Panel) -> float:
    """Return the units right of a panel."""
    return 20 + max((_width(text, 12) for _, text in panel.beside), default=2.0)


def _left_margins(rows: Sequence[Sequence[model.Panel]], width: float) -> dict[tuple[int, int], float]:
    """Return the units left of the panels, by the number of panels in the row and the column."""
    found: dict[tuple[int, int], float] = {}
    for row in rows:
        for column, panel in enumerate(row):
            texts = [text for _, text in panel.y.labelled_ticks(max(2, int((panel.height or _SQUARE) / 34)))]
            wanted = min(16 + max(map(_width, texts), default=0.0), width / 2)
            at = (len(row), column)
            found[at] = max(found.get(at, 0.0), wanted)
    return found


@dataclass(slots=True)
class _Place:
    """A panel in its place: where its data are, in units from its upper left corner."""

    panel: model.Panel
    left: float
    top: float
    width: float
    height: float
    #: Texts that may reach out of the panel.
    texts: list[str] = field(default_factory=list)
    #: From where to where they may reach.
    room: tuple[float, float] = (0.0, math.inf)

    def x(self, value: float) -> float:
        return max(-1e4, min(1e4, self.panel.x.scale.place(value) * self.width))

    def y(self, value: float) -> float:
        """Return the place of a value, kept near the panel: some viewers fail at far places."""
        place = (1 - self.panel.y.scale.place(value)) * self.height
        return max(-self.height, min(2 * self.height, place))

    def write(self, text: model.Text) -> None:
        left, top = self.left + self.x(text.x) + text.dx, self.top + self.y(text.y) + text.dy
        self.texts.append(_text(left, top, text))

    def head(self, x: float, y: float, text: model.Text) -> None:
        """Write a title or a label of an axis, moved and in as many lines as it needs: none is cut off."""
        low, high = self.room
        lines = _lines(text.text, high - low)
        for number, line in enumerate(lines):
            wide = _bold_width(line)
            before = wide / 2 if text.anchor == "middle" else 0.0
            left = max(low + 2 + before, min(x, high - 2 - wide + before))
            above = _LINE * (len(lines) - 1 - number)
            self.texts.append(_text(left, y - above, text._replace(text=line)))


def _placed(panel: model.Panel, left: float, top: float, width: float) -> _Place:
    if panel.height:
        return _Place(panel, left, top, width, panel.height)
    across, up = (axis.scale.high - axis.scale.low for axis in (panel.x, panel.y))
    unit = min(width, _SQUARE) / max(across, up)
    return _Place(panel, left, top, across * unit, up * unit)


def _panel(place: _Place, shades: model.Shades | None) -> list[str]:
    """Return a panel: the grid, the marks, which a nested SVG cuts off at the edge, and the texts."""
    panel = place.panel
    grid = _axes(place)
    inside = []
    for mark in sorted(panel.marks, key=lambda mark: not isinstance(mark, model.Spans)):
        if isinstance(mark, model.Text):
            place.write(mark)
        elif isinstance(mark, model.Cells):
            assert shades is not None  # noqa: S101 (a figure with cells has a colour bar)
            inside.append(_cells(place, mark, shades))
        else:
            inside.append(_DRAWN[type(mark)](place, mark))
    for y, text in panel.beside:
        place.write(model.Text(panel.x.scale.high, y, text, dx=8, size=12, middle=True))
    if panel.title:
        above = model.Text(0, 0, panel.title, bold=True)
        place.head(place.left, place.top - (30 if panel.y.label else 10), above)
    size = f'width="{_n(place.width)}" height="{_n(place.height)}"'
    start = f'<svg x="{_n(place.left)}" y="{_n(place.top)}" {size}>'
    return [*grid, start, *filter(None, inside), "</svg>", *place.texts]


def _axes(place: _Place) -> list[str]:
    """Return the grid and the axis, and write the labels."""
    panel, left, top = place.panel, place.left, place.top
    bottom, out = top + place.height, []
    until = -math.inf
    # From the left: on an axis that grows to the left the least value is the last.
    ticks = panel.x.labelled_ticks(max(4, int(place.width / 80)))
    for value, text in sorted(ticks, key=lambda at: place.x(at[0])):
        x = left + place.x(value)
        half = _width(text, _SMALL) / 2
        if text and x - half < until:
            text = _short(text, 2 * (x - until)) if panel.x.ticks is not None else ""
            half = _width(text, _SMALL) / 2
            if not text:
                continue
        if panel.x.grid:
            out.append(_path(f"M{_n(x)} {_n(top)}v{_n(place.height)}", "grid", 0.8))
        # A label at an end keeps within the panel: nothing is cut off.
        over = x + half > left + place.width + 12
        x, anchor = (left + place.width + 10, "end") if over else (x, "middle")
        if text:
            until = x + half + 2 * _APART
            place.texts.append(_text(x, bottom + 16, model.Text(0, 0, text, 0, 0, _SMALL, "muted", anchor)))
    for value, text in panel.y.labelled_ticks(max(2, int(place.height / 34))):
        y = top + place.y(value)
        if panel.y.grid:
            out.append(_path(f"M{_n(left)} {_n(y)}h{_n(place.width)}", "grid", 0.8))
        place.texts.append(
            _text(left - 7, y, model.Text(0, 0, text, 0, 0, _SMALL, "muted", "end", middle=True))
        )
    out.append(_path(f"M{_n(left)} {_n(bottom)}h{_n(place.width)}", "muted", 0.8))
    across, up = _labelled(panel.x), _labelled(panel.y)
    if across:
        middle = left + place.width / 2
        place.head(middle, bottom + 35, model.Text(0, 0, across, color="muted", anchor="middle"))
    if up:
        # Above the axis and not turned: read without tilting one's head, and never cut off.
        place.head(left, top - 8, model.Text(0, 0, up, color="muted"))
    return out


def _short(text: str, room: float) -> str:
    """Return the name of a choice cut to so many units, empty if nothing of it fits: its begin tells it."""
    most = int(0.75 * room / _width("x", _SMALL)) - 1
    return f"{text[:most]}…" if most >= 3 and not text[:1].isdigit() else ""


def _labelled(axis: model.Axis) -> str:
    return f"{axis.label}, {axis.unit}" if axis.label and axis.unit else axis.label


def _line(place: _Place, mark: model.Line) -> str:
    parts: list[str] = []
    pen = False
    before = 0.0
    for x, y in zip(mark.x, mark.y, strict=True):
        if math.isnan(y) or math.isnan(x):
            pen = False
            continue
        px, py = place.x(x) + mark.aside, place.y(y)
        if not pen:
            parts.append(f"M{px:.1f} {py:.1f}")
        elif mark.steps:
            parts.append(f"H{px:.1f}" if py == before else f"H{px:.1f}V{py:.1f}")
        else:
            parts.append(f"L{px:.1f} {py:.1f}")
        pen, before = True, py
    # Whole numbers without ".0": lines are most of a page.
    points = re.sub(r"\.0(?=[ HLMV]|$)", "", "".join(parts))
    return _path(points, mark.color, mark.width, mark.dashes, mark.opacity) if points else ""


def _band(place: _Place, mark: model.Band) -> str:
    known = [each for each in zip(mark.x, mark.low, mark.high, strict=True) if not math.isnan(sum(each))]
    if len(known) < 2:
        return ""
    there = [(x, high) for x, _, high in known]
    return _outline(place, [*there, *((x, low) for x, low, _ in reversed(known))], mark.color, 0.16)


def _shape(place: _Place, mark: model.Shape) -> str:
    return _outline(place, list(zip(mark.x, mark.y, strict=True)), mark.color, mark.opacity)


def _outline(place: _Place, points: Sequence[tuple[float, float]], color: str, opacity: float) -> str:
    path = "L".join(f"{place.x(x):.1f} {place.y(y):.1f}" for x, y in points)
    return "" if not path else f'<path d="M{path}Z" fill="{_color(color)}" opacity="{opacity:g}"/>'


def _dots(place: _Place, mark: model.Dots) -> str:
    titles = [*mark.titles, *[""] * len(mark.x)]
    return "\n".join(
        _mark(place.x(x) + mark.aside, place.y(y), mark, title)
        for x, y, title in zip(mark.x, mark.y, titles, strict=False)
        if not math.isnan(x) and not math.isnan(y)
    )


def _whiskers(place: _Place, mark: model.Whiskers) -> str:
    if math.isnan(mark.low) or math.isnan(mark.high):
        return ""
    cap, whole = mark.cap, 2 * mark.cap
    if mark.lying:
        py, left, right = place.y(mark.at), place.x(mark.low), place.x(mark.high)
        caps = "".join(f"M{x:.1f} {py - cap:.1f}v{whole:.1f}" for x in (left, right))
        return _path(f"M{left:.1f} {py:.1f}H{right:.1f}{caps}", mark.color, 1.6)
    px, low, high = place.x(mark.at) + mark.aside, place.y(mark.low), place.y(mark.high)
    caps = "".join(f"M{px - cap:.1f} {y:.1f}h{whole:.1f}" for y in (high, low)) if cap else ""
    return _path(f"M{px:.1f} {high:.1f}V{low:.1f}{caps}", mark.color, 1.4)


def _bar(place: _Place, mark: model.Bar) -> str:
    left, right = sorted(map(place.x, mark.x))
    top, bottom = sorted(map(place.y, mark.y))
    if mark.text and right - left >= _width(mark.text, _SMALL) + 6:
        x, y = sum(mark.x) / 2, sum(mark.y) / 2
        place.write(model.Text(x, y, mark.text, size=_SMALL, anchor="middle", middle=True, halo=True))
    color = _color(mark.color)
    paint = f'fill="none" stroke="{color}" stroke-width="1.8"' if mark.hollow else f'fill="{color}"'
    size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" {size} {paint}{_faint(mark.opacity)}>{_title(mark.title)}</rect>'
    )


def _cells(place: _Place, mark: model.Cells, shades: model.Shades) -> str:
    """Draw cells, with their numbers in them where there is room; the greatest is bold."""
    across = min(abs(place.x(b) - place.x(a)) for a, b in zip(mark.x, mark.x[1:], strict=False))
    up = min(abs(place.y(b) - place.y(a)) for a, b in zip(mark.y, mark.y[1:], strict=False))
    room = up > 12 and across > 4 + max((_width(t, 11) for row in mark.texts for t in row), default=0.0)
    greatest = max((value for row in mark.values for value in row if not math.isnan(value)), default=0.0)
    bars = []
    for row, values in enumerate(mark.values):
        for column, value in enumerate(values):
            if math.isnan(value):
                continue
            x, y = (mark.x[column], mark.x[column + 1]), (mark.y[row], mark.y[row + 1])
            title = mark.titles[row][column]
            bars.append(_bar(place, model.Bar(x, y, "accent", shades.opacity(value), title)))
            if mark.texts and room:
                text = model.Text(sum(x) / 2, sum(y) / 2, mark.texts[row][column], size=11, anchor="middle",
                            middle=True, bold=value == greatest)  # fmt: skip
                place.write(text)
    return "\n".join(bars)


def _spans(place: _Place, mark: model.Spans) -> str:
    """Shade stretches; those narrower than a unit are put together."""
    parts: list[str] = []
    until = -math.inf
    for start, end in mark.spans:
        left, right = max(place.x(start), 0.0, until), min(place.x(end), place.width)
        right = max(right, left + 0.6)
        if left >= place.width or place.x(end) <= 0 or right <= until:
            continue
        parts.append(f"M{left:.1f} 0H{right:.1f}V{_n(place.height)}H{left:.1f}Z")
        until = right
    return f'<path d="{"".join(parts)}" fill="{_color(mark.color)}" opacity="0.5"/>' if parts else ""


def _rule(place: _Place, mark: model.Rule) -> str:
    if mark.upright:
        return _path(f"M{_n(place.x(mark.at))} 0V{_n(place.height)}", mark.color, 1, mark.dashes)
    return _path(f"M0 {_n(place.y(mark.at))}H{_n(place.width)}", mark.color, 1, mark.dashes)


def _strokes(place: _Place, mark: model.Strokes) -> str:
    strokes = "".join(f"M{place.x(x):.1f} 0.0v{0.08 * place.height:.1f}" for x in mark.x)
    return _path(strokes, mark.color, 1.1) if strokes else ""


_DRAWN: dict[type, Callable[[_Place, Any], str]] = {
    model.Band: _band,
    model.Bar: _bar,
    model.Dots: _dots,
    model.Whiskers: _whiskers,
    model.Line: _line,
    model.Rule: _rule,
    model.Shape: _shape,
    model.Spans: _spans,
    model.Strokes: _strokes,
}


def _color_bar(shades: model.Shades, left: float, top: float, height: float) -> list[str]:
    steps = 48
    part = height / steps
    found = [
        f'<rect x="{left:.1f}" y="{top + step * part:.2f}" width="12" height="{part:.2f}" '
        f'fill="var(--accent)" opacity="{shades.deepest * (1 - (step + 0.5) / steps):.3f}" '
        'shape-rendering="crispEdges"/>'
        for step in range(steps)
    ]
    found.append(
        f'<rect x="{left:.1f}" y="{top:.1f}" width="12" height="{height:.1f}" fill="none" '
        'stroke="var(--muted)" stroke-width=".7"/>'
    )
    ticks = shades.scale.ticks(5)
    for tick, text in zip(ticks, labels(ticks), strict=True):
        y = top + (1 - shades.scale.place(tick)) * height
        found.append(_text(left + 17, y, model.Text(0, 0, text, size=_SMALL, color="muted", middle=True)))
    return [*found, _text(left - 2, top - 10, model.Text(0, 0, shades.unit, size=_SMALL, color="muted"))]


def _mark(x: float, y: float, mark: model.Dots, title: str = "") -> str:
    s = mark.size
    is_open = mark.shape in ("cross", "plus", "tick")
    paint = f'fill="{_color(mark.color)}"'
    if mark.hollow or is_open:
        paint = f'fill="none" stroke="{_color(mark.color)}" stroke-width="1.4"'
    rest = f"{paint}{_faint(mark.opacity)}>{_title(title)}"
    if mark.shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s:g}" {rest}</circle>'
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{_OUTLINES[mark.shape](s)}" {rest}</path>'


def _star(size: float) -> str:
    radii = [size if i % 2 == 0 else 0.42 * size for i in range(10)]
    turns = [math.pi * i / 5 for i in range(10)]
    points = zip(radii, turns, strict=True)
    return "M" + "L".join(f"{r * math.sin(turn):.2f} {-r * math.cos(turn):.2f}" for r, turn in points) + "Z"


_OUTLINES: dict[str, Callable[[float], str]] = {
    "square": lambda s: f"M{-s:g} {-s:g}H{s:g}V{s:g}H{-s:g}Z",
    "diamond": lambda s: f"M0 {-1.3 * s:.3g}L{1.3 * s:.3g} 0L0 {1.3 * s:.3g}L{-1.3 * s:.3g} 0Z",
    "up": lambda s: f"M0 {-1.2 * s:.3g}L{1.1 * s:.3g} {0.8 * s:.3g}H{-1.1 * s:.3g}Z",
    "down": lambda s: f"M0 {1.2 * s:.3g}L{1.1 * s:.3g} {-0.8 * s:.3g}H{-1.1 * s:.3g}Z",
    "cross": lambda s: f"M{-s:g} {-s:g}L{s:g} {s:g}M{-s:g} {s:g}L{s:g} {-s:g}",
    "plus": lambda s: f"M{-s:g} 0H{s:g}M0 {-s:g}V{s:g}",
    "tick": lambda s: f"M0 {-s:g}V{s:g}",
    "star": _star,
}


def _path(d: str, color: str, width: float, dashes: str = "", opacity: float = 1.0) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    paint = f'fill="none" stroke="{_color(color)}" stroke-width="{width:g}"'
    return f'<path d="{d}" {paint}{dashed}{_faint(opacity)}/>'


def _text(x: float, y: float, text: model.Text) -> str:
    """Write a text at a place of the figure."""
    more = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    more += ' dominant-baseline="central"' if text.middle else ""
    more += ' font-weight="650"' if text.bold else ""
    # Legible over lines: an edge in the colour of the paper.
    more += f' stroke="{_color("paper")}" stroke-width="3" paint-order="stroke"' if text.halo else ""
    start = f'<text x="{_n(x)}" y="{_n(y)}" font-size="{text.size:g}" fill="{_color(text.color)}"{more}>'
    return f"{start}{escape(text.text)}</text>"


def _bold_width(text: str) -> float:
    return 1.06 * _width(text)


def _width(text: str, size: float = FONT) -> float:
    """Return about how wide a text is."""
    return len(text) * size * _CHARACTER


def _faint(opacity: float) -> str:
    return f' opacity="{opacity:.3g}"' if opacity != 1 else ""


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _color(role: str) -> str:
    return f"var(--{role})"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
