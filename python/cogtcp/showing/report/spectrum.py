"""Primary users and detectors by themselves: ON times, and P_d and P_f over the sensing time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.data.spectrum import sensing
from cogtcp.showing.figure import scale
from cogtcp.showing.figure.compared import rows
from cogtcp.showing.figure.model import Axis, Bar, Dots, Drawing, Entry, Line, Panel, series
from cogtcp.showing.figure.scale import Scale
from cogtcp.showing.report import page
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.spectrum import Detector, PuActivity

_ROW = 24.0
#: More ON times than this cannot be told apart in one row.
MOST_BARS = 400
MOST_USERS = 120


def activity_figure(activity: PuActivity, start: float, end: float, name: str) -> Drawing:
    """Return the ON times of primary users; where they are too dense, the share of time that is ON."""
    users = activity.users[:MOST_USERS]
    labels = [f"PU {user.number}, band {user.band}, ON {user.duty_cycle:.0%}" for user in users]
    end = end if end > start else start + 1
    panel = Panel(Axis(Scale(start, end)), rows(labels), _ROW * max(1, len(users)))
    more = ""
    for row, user in enumerate(users):
        spans = [(a, d) for a, d in user.on if d > start and a < end]
        if len(spans) <= MOST_BARS:
            for a, d in spans:
                title = f"ON {a:.6g} s to {d:.6g} s"
                panel.add(Bar((max(a, start), min(d, end)), (row - 0.36, row + 0.36), "accent", title=title))
            continue
        width = (end - start) / MOST_BARS
        more = f"; heights are shares of {width:.3g} s each"
        for cell, share in enumerate(user.shares(start, end, MOST_BARS)):
            if share > 0:
                at = start + cell * width
                panel.add(Bar((at, at + width), (row + 0.36, row + 0.36 - 0.72 * share), "accent"))
    if len(activity.users) > len(users):
        more += f"; {len(activity.users) - len(users)} more are not drawn"
    panel.x.label = f"Time, s{more}"
    return Drawing(f"ON times of the primary users of {name}", [[panel]], width=960)


def sensing_figure(
    times: Sequence[float], detectors: Sequence[Detector], ratios: Sequence[float], common: dict[str, Any]
) -> Drawing:
    """Return P_d' and P_f' over the sensing time, one panel for each detector."""
    low, high = min(times), max(times)
    fine = [low * (high / low) ** (i / 120) for i in range(121)] if high > low else [low]
    legend = [Entry(f"{snr:g} dB", "line", series(i)) for i, snr in enumerate(ratios)]
    legend += [Entry("P_d', detection", "line", "ink"), Entry("P_f', false alarm", "line", "ink", "6 4")]
    panels = []
    for column, name in enumerate(detectors):
        y = Axis(Scale(-0.02, 1.02), f"Probability: {name}" if column == 0 else str(name), bare=column > 0)
        panel = Panel(Axis(scale.span(fine, log=True, margin=0.02), "Sensing time t_s, s"), y, 260)
        for index, snr in enumerate(ratios):
            found = sensing(fine, snr_db=snr, detector=name, **common)
            for values, dashes in (
                ([p.detection for p in found], ""), ([p.false_alarm for p in found], "6 4"),
            ):  # fmt: skip
                panel.add(Line(fine, values, series(index), dashes=dashes))
                if len(fine) == 1:  # a line of one point is none
                    panel.add(Dots(fine, values, series(index), hollow=bool(dashes)))
        panels.append(panel)
    label = "Detection (lines) and false alarm (dashed) against the sensing time"
    return Drawing(label, [panels], legend, width=960)


def activity_page(activity: PuActivity, start: float, end: float, name: str, command: str) -> str:
    """Return the page of a log of primary users."""
    users = activity.users
    busy = sum(user.duty_cycle for user in users) / len(users) if users else 0.0
    numbers = [
        [
            str(user.number),
            str(user.band),
            f"{len(user.on):,}",
            f"{user.duty_cycle * 100:.1f}",
            *(
                f"{value:.4g}"
                for value in (user.mean_on, user.mean_off, user.variation_on, user.variation_off)
            ),
        ]
        for user in users[:MOST_USERS]
    ]
    headings = [("PU", ""), ("Band", ""), ("ON times", ""), ("ON", "%"), ("Mean ON", "s"), ("Mean OFF", "s"),
                ("CV of ON", ""), ("CV of OFF", "")]  # fmt: skip
    return page.render(
        "figure.html.j2",
        title=name,
        description="Primary users: when each is ON",
        answer=f"{len(users)} primary users, ON for {busy * 100:.0f} % of the time on average.",
        time=None,
        figures=[("A pointer over a bar reads its times.", activity_figure(activity, start, end, name))],
        tables=[("Primary users", Table(headings, numbers, left_out=max(0, len(users) - MOST_USERS)))],
        origin=page.origin(command),
    )


def sensing_page(
    times: Sequence[float],
    detectors: Sequence[Detector],
    ratios: Sequence[float],
    common: dict[str, Any],
    command: str,
) -> str:
    """Return the page of P_d' and P_f' over the sensing time."""
    numbers = [
        [
            str(name),
            f"{snr:g}",
            f"{point.sensing_time:g}",
            f"{point.detection:.4f}",
            f"{point.false_alarm:.4f}",
        ]
        for name in detectors
        for snr in ratios
        for point in sensing(times, snr_db=snr, detector=name, **common)
    ]
    headings = [("Detector", ""), ("SNR", "dB"), ("t_s", "s"), ("P_d'", ""), ("P_f'", "")]
    return page.render(
        "figure.html.j2",
        title="Sensing",
        description="Detection and false alarm against the sensing time",
        answer=f"P_d' and P_f' of {', '.join(detectors)} at {', '.join(f'{r:g} dB' for r in ratios)}.",
        time=None,
        figures=[("", sensing_figure(times, detectors, ratios, common))],
        tables=[("Numbers", Table(headings, numbers, left=2))],
        origin=page.origin(command),
    )
