"""Primary users and detectors by themselves: ON times, and P_d and P_f over the sensing time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.report import scale, still
from cogtcp.report.scale import Scale
from cogtcp.spectrum import sensing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.spectrum import Detector, PrimaryUser, PuActivity

_WIDTH = 960.0
_ROW = 24.0
#: More ON times than this cannot be told apart in one row.
MOST_BARS = 400
_MOST_USERS = 120


def activity_figure(activity: PuActivity, start: float, end: float, name: str) -> str:
    """Return the ON times of primary users as SVG; where they are too dense, the share of time that is ON."""
    users = activity.users[:_MOST_USERS]
    labels = [f"PU {user.number}, band {user.band}, ON {user.duty_cycle:.0%}" for user in users]
    left = 16 + max((still.text_width(label) for label in labels), default=0)
    height = _ROW * max(1, len(users))
    sheet = still.Sheet(_WIDTH, height + 66, f"ON times of the primary users of {name}")
    end = end if end > start else start + 1
    panel = sheet.panel(
        left, 10, _WIDTH - left - 16, height, Scale(start, end), Scale(len(users) - 0.5, -0.5)
    )
    dense = False
    for row, user in enumerate(users):
        spans = [(a, d) for a, d in user.on if d > start and a < end]
        if len(spans) <= MOST_BARS:
            for a, d in spans:
                panel.bar((max(a, start), min(d, end)), (row - 0.36, row + 0.36), color="accent",
                          title=f"ON {a:.6g} s to {d:.6g} s")  # fmt: skip
            continue
        dense = True
        width = (end - start) / MOST_BARS
        for cell, share in enumerate(shares(user, start, end, MOST_BARS)):
            if share > 0:
                at = start + cell * width
                panel.bar((at, at + width), (row + 0.36, row + 0.36 - 0.72 * share), color="accent")
    more = f"; heights are shares of {(end - start) / MOST_BARS:.3g} s each" if dense else ""
    more += (
        f"; {len(activity.users) - len(users)} more are not drawn" if len(activity.users) > len(users) else ""
    )
    panel.axes(f"Time, s{more}", "", y_ticks=list(enumerate(labels)), grid="x")
    return sheet.svg()


def shares(user: PrimaryUser, start: float, end: float, cells: int) -> list[float]:
    """Return how much of each of some equal stretches of time a PU is ON."""
    width = (end - start) / cells
    found = [0.0] * cells
    for a, d in user.on:
        a, d = max(a, start), min(d, end)
        if d <= a:
            continue
        first, last = int((a - start) / width), min(int((d - start) / width), cells - 1)
        for cell in range(min(first, cells - 1), last + 1):
            low = start + cell * width
            found[cell] += max(0.0, min(d, low + width) - max(a, low)) / width
    return [min(1.0, share) for share in found]


def sensing_figure(
    times: Sequence[float], detectors: Sequence[Detector], ratios: Sequence[float], common: dict[str, Any]
) -> str:
    """Return P_d' and P_f' over the sensing time as SVG, one panel for each detector."""
    low, high = min(times), max(times)
    fine = [low * (high / low) ** (i / 120) for i in range(121)] if high > low else [low]
    sheet = still.Sheet(_WIDTH, 0, "Detection (lines) and false alarm (dashed) against the sensing time")
    entries = [(still.sign("line", still.series(i)), f"{snr:g} dB") for i, snr in enumerate(ratios)]
    entries += [
        (still.sign("line", "ink"), "P_d', detection"),
        (still.sign("line", "ink", "6 4"), "P_f', false alarm"),
    ]
    top = sheet.legend(50, 2, entries, _WIDTH - 60) + 30
    gap = 26.0
    wide = (_WIDTH - 66 - gap * (len(detectors) - 1)) / len(detectors)
    x = scale.span(fine, log=True, margin=0.02)
    ticks = x.ticks(max(2, int(wide / 60)))
    for column, name in enumerate(detectors):
        panel = sheet.panel(50 + column * (wide + gap), top, wide, 260, x, Scale(-0.02, 1.02))
        up = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        panel.axes(
            "Sensing time t_s, s",
            f"Probability: {name}" if column == 0 else str(name),
            x_ticks=list(zip(ticks, scale.labels(ticks, log=True), strict=True)),
            y_ticks=[(value, f"{value:g}" if column == 0 else "") for value in up],
        )
        for index, snr in enumerate(ratios):
            found = sensing(fine, snr_db=snr, detector=name, **common)
            for values, dashes in (
                ([p.detection for p in found], ""), ([p.false_alarm for p in found], "6 4"),
            ):  # fmt: skip
                panel.line(fine, values, color=still.series(index), dashes=dashes)
                if len(fine) == 1:  # a line of one point is none
                    panel.points(fine, values, color=still.series(index), hollow=bool(dashes))
    sheet.height = top + 260 + 46
    return sheet.svg()
