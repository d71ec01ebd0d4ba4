"""One picture for many claims: how well each can be reproduced against how robust it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.report import still
from cogtcp.report.scale import Scale
from cogtcp.studies.answers import FRAGILE, ROBUST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.statistics import Interval
    from cogtcp.studies.answers import Answer
    from cogtcp.studies.support import Support

_LANES = {
    "reproduced": "all",
    "in part": "some",
    "not reproduced": "none",
    "not searched": "not searched",
    "ours": "not asked",
}
_SHAPES = ("circle", "square", "up", "diamond", "down", "plus")
_WIDTH, _STEP, _LEAST = 720.0, 17.0, 30.0
_NOT_JUDGED = 1.12
"""Where claims stand that no random design has judged: beyond 100 %."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A claim in the picture.

    Attributes:
        claim: Its id.
        group: What gives it colour and mark: its study.
        answer: What it came to.
        share: In how much of the space it holds; None where the random design has not judged it.
    """

    claim: str
    group: str
    answer: Answer
    share: Interval | None

    @property
    def at(self) -> float:
        """Where it stands along its lane."""
        return _NOT_JUDGED if self.share is None else self.share.mean


def share_of(place: Support | None) -> Interval | None:
    """Return the share of a place; None where nothing was judged with a clear result."""
    return place.share if place is not None and place.share.n else None


def picture(dots: Sequence[Dot], *, named: bool = False) -> str:
    """Return the picture as SVG for a page: a lane for each answer, claims by their share along it.

    Claims of one place are stacked. With `named` each has its id beside it, and its interval.
    """
    groups = list(dict.fromkeys(dot.group for dot in dots))
    width = still.wide(_WIDTH)
    label = "Claims: how well each is reproduced against how robust it is."
    sheet = still.Sheet(width, 0, label)
    looks = {group: (still.series(i), _SHAPES[i % len(_SHAPES)]) for i, group in enumerate(groups)}
    top = 6.0
    if len(groups) > 1:
        entries = [(still.sign(shape, color, "hollow"), group) for group, (color, shape) in looks.items()]
        top = sheet.legend(4, 2, entries, width - 8) + 8
    sheet.text(4, top + 8, "Statements that hold at the best reading", color="muted")
    top += 22
    left = 92.0
    some_not_judged = any(dot.share is None for dot in dots)
    x = Scale(-0.02, _NOT_JUDGED + 0.08 if some_not_judged else 1.02)
    lanes = [(word, lane) for word, lane in _LANES.items() if any(d.answer.reproduced == word for d in dots)]
    for word, lane in lanes:
        mine = sorted((d for d in dots if d.answer.reproduced == word), key=lambda dot: dot.at)
        rows = _rows(mine, (width - left - 22) / (x.high - x.low), named)
        height = max(_LEAST, (max(rows.values(), default=0) + 1) * _STEP + 10)
        panel = sheet.panel(left, top, width - left - 22, height, x, Scale(0, height))
        last = word == lanes[-1][0]
        ticks = [(value / 100, f"{value} %" if last else "") for value in (0, 5, 25, 50, 75, 95)]
        panel.axes(
            "Share of the settings at which the claim holds" if last else "",
            x_ticks=ticks if not still.on_phone() else ticks[::2],
            y_ticks=[(height / 2, lane)],
            grid="",
        )
        if last and some_not_judged and not still.on_phone():
            panel.text(_NOT_JUDGED, 0, "not judged", dy=16, anchor="middle", color="muted", size=12)
        for bound in (FRAGILE, ROBUST):
            panel.upright(bound, dashes="3 3")
        for dot in mine:
            color, shape = looks[dot.group]
            y = height - 5 - (rows[dot.claim] + 0.5) * _STEP
            low, high = (dot.at, dot.at) if dot.share is None else (dot.share.low, dot.share.high)
            if named and dot.share is not None:
                panel.interval_across(y, low, high, color=color)
            titles = [f"{dot.claim}: {dot.answer.text}"]
            panel.points([dot.at], [y], color=color, shape=shape, hollow=True, titles=titles)
            if named:
                # Towards the side that has room for the name.
                right = dot.at < 0.6
                panel.text(
                    high if right else low,
                    y,
                    dot.claim,
                    dx=8 if right else -8,
                    anchor="start" if right else "end",
                    middle=True,
                    size=11.5,
                )
        top += height + 4
    sheet.height = top + 44
    return sheet.svg()


def _rows(dots: Sequence[Dot], width: float, named: bool) -> dict[str, int]:
    """Return for each claim the row in its lane: the first with room. Those with a name have one each."""
    rows: dict[str, int] = {}
    ends: list[float] = []
    for number, dot in enumerate(dots):
        if named:
            rows[dot.claim] = number
            continue
        place = dot.at * width
        row = next((index for index, end in enumerate(ends) if place > end), len(ends))
        ends[row : row + 1] = [place + 13]
        rows[dot.claim] = row
    return rows
