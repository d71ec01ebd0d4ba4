"""Contour lines of a quantity on a grid, by marching squares.

Maple 2003, "Geometric design and space planning using the marching squares and marching cube algorithms".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]


def contour(
    xs: Sequence[float], ys: Sequence[float], values: Sequence[Sequence[float]], level: float
) -> list[list[Point]]:
    """Return the lines on which the quantity `values[row of y][column of x]` equals `level`.

    Between grid points it is taken to be linear. A saddle, where two readings are possible, is joined as if
    its middle were below the level.
    """
    segments: list[tuple[Point, Point]] = []
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)]
            crossings = []
            for one, other in zip(corners, [*corners[1:], corners[0]], strict=True):
                a, b = values[one[1]][one[0]], values[other[1]][other[0]]
                if (a >= level) != (b >= level):
                    # From the lower point on, so that neighbours agree on the place to the last bit.
                    (p, a), (q, b) = sorted(((one, a), (other, b)))
                    share = (level - a) / (b - a)
                    crossings.append(
                        (
                            xs[p[0]] + share * (xs[q[0]] - xs[p[0]]),
                            ys[p[1]] + share * (ys[q[1]] - ys[p[1]]),
                        )
                    )
            if len(crossings) == 4 and values[row][column] >= level:
                crossings = crossings[-1:] + crossings[:-1]
            segments += list(zip(crossings[::2], crossings[1::2], strict=True))
    return _joined(segments)


def _joined(segments: list[tuple[Point, Point]]) -> list[list[Point]]:
    """Join segments that share ends to lines."""
    at: dict[Point, list[int]] = {}
    for index, ends in enumerate(segments):
        for end in ends:
            at.setdefault(end, []).append(index)
    left = dict.fromkeys(range(len(segments)))
    lines: list[list[Point]] = []
    while left:
        first = next(iter(left))
        del left[first]
        line = list(segments[first])
        for _ in range(2):
            while (found := next((i for i in at[line[-1]] if i in left), None)) is not None:
                del left[found]
                one, other = segments[found]
                line.append(other if one == line[-1] else one)
            line.reverse()
        lines.append(line)
    return lines
