"""Still figures: plain SVG in the colours of the page, drawn here and with nothing else.

A `Sheet` holds `Panel`s. A panel has two scales and draws marks in the units of its data; what lies outside
is cut off. Colours are roles of the style sheet (`ink`, `muted`, `accent`, `series-1`, ...), so that a figure
follows light and dark. `cogtcp.report.figures` draws whole figures with these parts.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import TYPE_CHECKING

from cogtcp.report.scale import Scale, labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: The colours that tell lines apart; `series(i)` begins anew after the last.
COLORS = 6
FONT = 12.5
_SMALL = 11.5
#: Mean width of a character in a sans-serif font, as a share of its size.
_CHARACTER = 0.54


#: Width of a sheet on a phone: a unit is about a pixel there too, so that text stays as large as text.
PHONE = 360.0
_on_phone: ContextVar[bool] = ContextVar("on_phone", default=False)


def both(draw: Callable[[], str]) -> str:
    """Return a figure drawn twice: as wide as a page, and for phones. The style sheet shows one."""
    page = draw()
    if not page:
        return ""
    with narrow():
        phone = draw()
    return f'<div class="broad">{page}</div>\n<div class="phone">{phone}</div>'


@contextmanager
def narrow() -> Iterator[None]:
    """Draw what is drawn meanwhile as wide as a phone: also where two figures share a page's width."""
    token = _on_phone.set(True)
    try:
        yield
    finally:
        _on_phone.reset(token)


def on_phone() -> bool:
    """Whether what is being drawn is for a phone; see `both`."""
    return _on_phone.get()


def wide(units: float) -> float:
    """Return how wide a sheet is that has so many units on a page."""
    return min(units, PHONE) if on_phone() else units


def series(index: int) -> str:
    """Return the role of the colour of line `index`, counted from 0."""
    return f"series-{index % COLORS + 1}"


def dash(index: int) -> str:
    """Return the dashes of line `index`: a colour that comes again comes with other dashes."""
    return ("", "6 3", "2 3", "8 3 2 3")[index // COLORS % 4]


def text_width(text: str, size: float = FONT) -> float:
    """Return about how wide a text is."""
    return len(text) * size * _CHARACTER


class Sheet:
    """A figure of so many units; a unit is about a pixel of a wide page.

    >>> sheet = Sheet(720, 300, "Goodput over loss")
    >>> panel = sheet.panel(60, 10, 640, 240, Scale(0, 1), Scale(0, 5))
    >>> panel.axes("Loss, %", "Goodput, Mbit/s")
    >>> panel.line([0, 1], [5, 2], color=series(0))
    >>> svg = sheet.svg()
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width = width
        self.height = height
        self.label = label
        self._parts: list[str | Panel] = []

    def panel(self, left: float, top: float, width: float, height: float, x: Scale, y: Scale) -> Panel:
        """Add a panel and return it."""
        panel = Panel(left, top, width, height, x, y)
        self._parts.append(panel)
        return panel

    def text(self, x: float, y: float, text: str, **style: str | float) -> None:
        """Write in units of the sheet."""
        self._parts.append(_text(x, y, text, **style))  # type: ignore[arg-type]

    def raw(self, svg: str) -> None:
        """Add SVG in units of the sheet."""
        self._parts.append(svg)

    def legend(self, x: float, y: float, entries: Sequence[tuple[str, str]], width: float) -> float:
        """Write signs and names from left to right, in as many rows as are needed; return where they end.

        Args:
            x: Left edge.
            y: Upper edge.
            entries: Pairs of a sign (see `sign`) and a text.
            width: What there is room for.
        """
        at, row = x, y + 10
        for sign_, text in entries:
            room = 28 + text_width(text, _SMALL) + 16
            if at > x and at + room > x + width:
                at, row = x, row + 18
            self.raw(f'<svg x="{_n(at)}" y="{_n(row - 8)}" width="24" height="12">{sign_}</svg>')
            self.text(at + 28, row, text, size=_SMALL, middle=True)
            at += room
        return row + 10 if entries else y

    def svg(self) -> str:
        """Return the figure."""
        body = "\n".join(part if isinstance(part, str) else part.svg() for part in self._parts)
        return (
            f'<svg role="img" aria-label="{escape(self.label)}" '
            f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" font-family="var(--font)">\n{body}\n</svg>'
        )


def sign(shape: str, color: str, dashes: str = "") -> str:
    """Return the sign of a legend, 24 by 12: `line`, `block`, or a shape of `Panel.points`."""
    if shape == "line":
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        return f'<path d="M0 6H24" stroke="{_color(color)}" stroke-width="2.2" fill="none"{dashed}/>'
    if shape == "block":
        return f'<rect x="3" width="18" height="12" fill="{_color(color)}" opacity=".6"/>'
    return _mark(12, 6, shape, color, 4.5, hollow=dashes == "hollow")


class Panel:
    """One pair of axes. Everything is drawn in the units of the data unless it says otherwise."""

    def __init__(self, left: float, top: float, width: float, height: float, x: Scale, y: Scale) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height
        self.x, self.y = x, y
        self._inside: list[str] = []
        self._outside: list[str] = []

    def axes(
        self,
        x_label: str = "",
        y_label: str = "",
        *,
        x_ticks: Sequence[tuple[float, str]] | None = None,
        y_ticks: Sequence[tuple[float, str]] | None = None,
        grid: str = "xy",
    ) -> None:
        """Draw ticks with their labels, a grid, and what the axes show. `x_ticks` are (value, label)."""
        across = self._ticks(self.x, x_ticks, max(2, int(self.width / 90)))
        up = self._ticks(self.y, y_ticks, max(2, int(self.height / 34)))
        out = self._outside
        for value, text in across:
            x = self.left + self._x(value)
            if "x" in grid:
                out.append(_path(f"M{_n(x)} {_n(self.top)}v{_n(self.height)}", "grid", 0.8))
            # A label at an end keeps within the panel: nothing is cut off.
            half = text_width(text, _SMALL) / 2
            anchor = "middle"
            if x + half > self.left + self.width + 12:
                x, anchor = self.left + self.width + 10, "end"
            out.append(_text(x, self.top + self.height + 16, text, size=_SMALL, color="muted", anchor=anchor))
        for value, text in up:
            y = self.top + self._y(value)
            if "y" in grid:
                out.append(_path(f"M{_n(self.left)} {_n(y)}h{_n(self.width)}", "grid", 0.8))
            out.append(_text(self.left - 7, y, text, size=_SMALL, color="muted", anchor="end", middle=True))
        bottom = self.top + self.height
        out.append(_path(f"M{_n(self.left)} {_n(bottom)}h{_n(self.width)}", "muted", 0.8))
        if x_label:
            out.append(
                _text(self.left + self.width / 2, bottom + 35, x_label, color="muted", anchor="middle")
            )
        if y_label:
            # Above the axis and not turned: read without tilting one's head, and never cut off.
            out.append(_text(self.left, self.top - 8, y_label, color="muted"))

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        *,
        color: str,
        width: float = 1.5,
        dashes: str = "",
        steps: bool = False,
        opacity: float = 1.0,
    ) -> None:
        """Join points; a NaN breaks the line. `steps`: a value holds until the next."""
        parts: list[str] = []
        pen = False
        before = 0.0
        for x, y in zip(xs, ys, strict=True):
            if math.isnan(y) or math.isnan(x):
                pen = False
                continue
            px, py = self._x(x), self._bounded(self._y(y))
            if not pen:
                parts.append(f"M{px:.1f} {py:.1f}")
            elif steps:
                parts.append(f"H{px:.1f}" if py == before else f"H{px:.1f}V{py:.1f}")
            else:
                parts.append(f"L{px:.1f} {py:.1f}")
            pen, before = True, py
        if parts:
            self._inside.append(_path("".join(parts), color, width, dashes, opacity))

    def area(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], *, color: str) -> None:
        """Fill between two lines, as an interval along a line."""
        points = [(x, a, b) for x, a, b in zip(xs, low, high, strict=True) if not math.isnan(a + b)]
        if len(points) < 2:
            return
        there = "L".join(f"{self._x(x):.1f} {self._bounded(self._y(b)):.1f}" for x, _, b in points)
        back = "L".join(f"{self._x(x):.1f} {self._bounded(self._y(a)):.1f}" for x, a, _ in reversed(points))
        self._inside.append(f'<path d="M{there}L{back}Z" fill="{_color(color)}" opacity=".16"/>')

    def points(
        self,
        xs: Iterable[float],
        ys: Iterable[float],
        *,
        color: str,
        shape: str = "circle",
        size: float = 4.0,
        hollow: bool = False,
        opacity: float = 1.0,
        titles: Sequence[str] = (),
    ) -> None:
        """Set marks: `circle`, `square`, `diamond`, `up`, `down`, `cross`, `plus`, `star`, `tick`.

        Titles are what a pointer over a mark shows.
        """
        for index, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if math.isnan(x) or math.isnan(y):
                continue
            title = titles[index] if index < len(titles) else ""
            self._inside.append(
                _mark(self._x(x), self._bounded(self._y(y)), shape, color, size, hollow, opacity, title)
            )

    def interval(self, x: float, low: float, high: float, *, color: str, cap: float = 4.0) -> None:
        """Draw an upright interval with caps."""
        if math.isnan(low) or math.isnan(high):
            return
        px, top, bottom = self._x(x), self._bounded(self._y(high)), self._bounded(self._y(low))
        self._inside.append(
            _path(f"M{px:.1f} {top:.1f}V{bottom:.1f}M{px - cap:.1f} {top:.1f}h{2 * cap:.1f}"
                  f"M{px - cap:.1f} {bottom:.1f}h{2 * cap:.1f}", color, 1.4)
        )  # fmt: skip

    def interval_across(self, y: float, low: float, high: float, *, color: str, cap: float = 4.0) -> None:
        """Draw a lying interval with caps."""
        if math.isnan(low) or math.isnan(high):
            return
        py, left, right = self._y(y), self._x(low), self._x(high)
        self._inside.append(
            _path(f"M{left:.1f} {py:.1f}H{right:.1f}M{left:.1f} {py - cap:.1f}v{2 * cap:.1f}"
                  f"M{right:.1f} {py - cap:.1f}v{2 * cap:.1f}", color, 1.6)
        )  # fmt: skip

    def bar(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        color: str,
        opacity: float = 1.0,
        title: str = "",
    ) -> None:
        """Fill the rectangle between two values of x and two of y."""
        left, right = sorted((self._x(x[0]), self._x(x[1])))
        top, bottom = sorted((self._y(y[0]), self._y(y[1])))
        shown = f"<title>{escape(title)}</title>" if title else ""
        faint = f' opacity="{opacity:.3g}"' if opacity != 1 else ""
        self._inside.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="{_color(color)}"{faint}>{shown}</rect>'
        )

    def frame(self, x: tuple[float, float], y: tuple[float, float], *, color: str = "ink") -> None:
        """Draw the edge of a rectangle."""
        left, right = sorted((self._x(x[0]), self._x(x[1])))
        top, bottom = sorted((self._y(y[0]), self._y(y[1])))
        self._inside.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="none" stroke="{_color(color)}" stroke-width="1.8"/>'
        )

    def bands(self, spans: Iterable[tuple[float, float]], *, color: str, opacity: float = 0.5) -> None:
        """Shade stretches of x over the whole height; those narrower than a unit are put together."""
        parts: list[str] = []
        until = -math.inf
        for start, end in spans:
            left, right = max(self._x(start), 0.0, until), min(self._x(end), self.width)
            right = max(right, left + 0.6)
            if left >= self.width or self._x(end) <= 0 or right <= until:
                continue
            parts.append(f"M{left:.1f} 0H{right:.1f}V{_n(self.height)}H{left:.1f}Z")
            until = right
        if parts:
            self._inside.insert(0, f'<path d="{"".join(parts)}" fill="{_color(color)}" opacity="{opacity}"/>')

    def across(self, y: float, *, color: str = "muted", dashes: str = "4 3") -> None:
        """Draw a level line over the whole width."""
        self._inside.append(_path(f"M0 {_n(self._y(y))}H{_n(self.width)}", color, 1, dashes))

    def upright(self, x: float, *, color: str = "muted", dashes: str = "") -> None:
        """Draw an upright line over the whole height."""
        self._inside.append(_path(f"M{_n(self._x(x))} 0V{_n(self.height)}", color, 1, dashes))

    def ticks_at(self, xs: Iterable[float], *, color: str, top: float = 0.0, length: float = 0.08) -> None:
        """Draw short strokes at values of x, from the share `top` of the height downwards."""
        start, long = top * self.height, length * self.height
        strokes = "".join(f"M{self._x(x):.1f} {start:.1f}v{long:.1f}" for x in xs)
        if strokes:
            self._inside.append(_path(strokes, color, 1.1))

    def text(
        self, x: float, y: float, text: str, *, dx: float = 0, dy: float = 0, **style: str | float | bool
    ) -> None:
        """Write at a value of x and y, moved by units of the sheet; it may reach out of the panel."""
        left, top = self.left + self._x(x) + dx, self.top + self._bounded(self._y(y)) + dy
        self._outside.append(_text(left, top, text, **style))  # type: ignore[arg-type]

    def svg(self) -> str:
        """Return the panel."""
        # A nested SVG cuts off what is outside, and needs no name as a clip path would.
        below, above = self._outside[: self._first_text()], self._outside[self._first_text() :]
        size = f'width="{_n(self.width)}" height="{_n(self.height)}"'
        inside = [f'<svg x="{_n(self.left)}" y="{_n(self.top)}" {size}>', *self._inside, "</svg>"]
        return "\n".join([*below, *inside, *above])

    def _first_text(self) -> int:
        """Grid lines come below the data, texts above."""
        self._outside.sort(key=lambda part: part.startswith("<text"))
        return next(
            (i for i, part in enumerate(self._outside) if part.startswith("<text")), len(self._outside)
        )

    @staticmethod
    def _ticks(scale: Scale, given: Sequence[tuple[float, str]] | None, most: int) -> list[tuple[float, str]]:
        if given is not None:
            return list(given)
        ticks = scale.ticks(most)
        return list(zip(ticks, labels(ticks, log=scale.log), strict=True))

    def _x(self, value: float) -> float:
        place = self.x.place(value)
        return max(-1e4, min(1e4, place * self.width))

    def _y(self, value: float) -> float:
        return (1 - self.y.place(value)) * self.height

    def _bounded(self, y: float) -> float:
        """Keep a place near the panel: far ones would be long numbers, and some viewers fail at them."""
        return max(-self.height, min(2 * self.height, y))


def _mark(
    x: float,
    y: float,
    shape: str,
    color: str,
    size: float,
    hollow: bool = False,
    opacity: float = 1.0,
    title: str = "",
) -> str:
    s = size
    shapes = {
        "square": f"M{-s} {-s}H{s}V{s}H{-s}Z",
        "diamond": f"M0 {-1.3 * s:.3g}L{1.3 * s:.3g} 0L0 {1.3 * s:.3g}L{-1.3 * s:.3g} 0Z",
        "up": f"M0 {-1.2 * s:.3g}L{1.1 * s:.3g} {0.8 * s:.3g}H{-1.1 * s:.3g}Z",
        "down": f"M0 {1.2 * s:.3g}L{1.1 * s:.3g} {-0.8 * s:.3g}H{-1.1 * s:.3g}Z",
        "cross": f"M{-s} {-s}L{s} {s}M{-s} {s}L{s} {-s}",
        "plus": f"M{-s} 0H{s}M0 {-s}V{s}",
        "tick": f"M0 {-s}V{s}",
        "star": "M" + "L".join(
            f"{(s if i % 2 == 0 else 0.42 * s) * math.sin(math.pi * i / 5):.2f} "
            f"{-(s if i % 2 == 0 else 0.42 * s) * math.cos(math.pi * i / 5):.2f}"
            for i in range(10)
        ) + "Z",
    }  # fmt: skip
    open_ = shape in ("cross", "plus", "tick")
    paint = (
        f'fill="none" stroke="{_color(color)}" stroke-width="1.4"'
        if hollow or open_
        else f'fill="{_color(color)}"'
    )
    faint = f' opacity="{opacity:.3g}"' if opacity != 1 else ""
    inner = f"<title>{escape(title)}</title>" if title else ""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}" {paint}{faint}>{inner}</circle>'
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shapes[shape]}" {paint}{faint}>{inner}</path>'


def _path(d: str, color: str, width: float, dashes: str = "", opacity: float = 1.0) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    faint = f' opacity="{opacity:.3g}"' if opacity != 1 else ""
    return f'<path d="{d}" fill="none" stroke="{_color(color)}" stroke-width="{width:g}"{dashed}{faint}/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = FONT,
    color: str = "ink",
    anchor: str = "start",
    middle: bool = False,
    bold: bool = False,
    halo: bool = False,
) -> str:
    more = f' text-anchor="{anchor}"' if anchor != "start" else ""
    more += ' dominant-baseline="central"' if middle else ""
    more += ' font-weight="650"' if bold else ""
    # Legible over lines: an edge in the colour of the paper.
    more += f' stroke="{_color("paper")}" stroke-width="3" paint-order="stroke"' if halo else ""
    start = f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size:g}" fill="{_color(color)}"{more}>'
    return f"{start}{escape(text)}</text>"


def _color(role: str) -> str:
    return f"var(--{role})"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
