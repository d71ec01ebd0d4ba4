"""One picture for many claims: how well each can be reproduced against how robust it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.showing.figure.model import Axis, Dots, Drawing, Entry, Panel, Rule, Text, Whiskers, series, shape
from cogtcp.showing.figure.scale import Scale
from cogtcp.studies.answers import FRAGILE, ROBUST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.model.statistics import Interval
    from cogtcp.studies.answers import Answer
    from cogtcp.studies.support import Support

_LANES = {
    "reproduced": "all",
    "in part": "some",
    "not reproduced": "none",
    "not searched": "not searched",
    "ours": "not asked",
}
#: Units that a row of claims and a lane are high at least, and that a lane is about long.
_STEP, _LEAST, _ALONG = 17.0, 30.0, 600.0
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
        figure: Where the paper has it, as "Fig. 3"; empty: its id alone names it.
    """

    claim: str
    group: str
    answer: Answer
    share: Interval | None
    figure: str = ""

    @property
    def name(self) -> str:
        """What it is called in the picture, as "Fig. 3 (c2-f3)"."""
        return f"{self.figure} ({self.claim})" if self.figure else self.claim

    @property
    def at(self) -> float:
        """Where it stands along its lane."""
        return _NOT_JUDGED if self.share is None else self.share.mean


def share_of(place: Support | None) -> Interval | None:
    """Return the share of a place; None where nothing was judged with a clear result."""
    return place.share if place is not None and place.share.n else None


def picture(dots: Sequence[Dot], *, named: bool = False) -> Drawing:
    """Return the picture: a lane for each answer, claims by their share along it.

    Claims of one place are stacked. With `named` each has its id beside it, and its interval.
    """
    groups = list(dict.fromkeys(dot.group for dot in dots))
    looks = {group: (series(index), shape(index)) for index, group in enumerate(groups)}
    legend = [Entry(group, mark, color, hollow=True) for group, (color, mark) in looks.items()]
    some_not_judged = any(dot.share is None for dot in dots)
    x = Scale(-0.02, _NOT_JUDGED + 0.08 if some_not_judged else 1.02)
    ticks = [(value / 100, f"{value} %") for value in (0, 5, 25, 50, 75, 95)]
    ticks += [(_NOT_JUDGED, "not judged")] if some_not_judged else []
    lanes = [(word, lane) for word, lane in _LANES.items() if any(d.answer.reproduced == word for d in dots)]
    panels = []
    for word, lane in lanes:
        mine = sorted((d for d in dots if d.answer.reproduced == word), key=lambda dot: dot.at)
        rows = _rows(mine, _ALONG / (x.high - x.low), named)
        height = max(_LEAST, (max(rows.values(), default=0) + 1) * _STEP + 10)
        across = Axis(x, ticks=ticks, grid=False, bare=True)
        panel = Panel(across, Axis(Scale(0, height), ticks=[(height / 2, lane)], grid=False), height)
        panel.add(*(Rule(bound, dashes="3 3", upright=True) for bound in (FRAGILE, ROBUST)))
        for dot in mine:
            color, mark = looks[dot.group]
            y = height - 5 - (rows[dot.claim] + 0.5) * _STEP
            low, high = (dot.at, dot.at) if dot.share is None else (dot.share.low, dot.share.high)
            if named and dot.share is not None:
                panel.add(Whiskers(y, low, high, color, lying=True))
            panel.add(
                Dots([dot.at], [y], color, mark, hollow=True, titles=[f"{dot.name}: {dot.answer.text}"])
            )
            if named:
                # Towards the side that has room for the name.
                at, dx, anchor = (high, 8, "start") if dot.at < 0.6 else (low, -8, "end")
                panel.add(Text(at, y, dot.name, dx, size=11.5, anchor=anchor, middle=True))
        panels.append(panel)
    panels[0].title = "Statements that hold at the best values"
    panels[-1].x.label, panels[-1].x.bare = "Share of the settings at which the claim holds", False
    label = "Claims: how well each is reproduced against how robust it is."
    return Drawing(label, [[panel] for panel in panels], legend if len(groups) > 1 else ())


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
