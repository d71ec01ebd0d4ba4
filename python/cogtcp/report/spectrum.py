"""Primary users and detectors by themselves: ON times, and P_d and P_f over the sensing time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp import provenance
from cogtcp.report import page, scale, still
from cogtcp.report.scale import Scale
from cogtcp.report.tables import Table
from cogtcp.spectrum import sensing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.spectrum import Detector, PuActivity

_WIDTH = 960.0
_ROW = 24.0
#: More ON times than this cannot be told apart in one row.
MOST_BARS = 400
MOST_USERS = 120


def activity_figure(activity: PuActivity, start: float, end: float, name: str) -> str:
    """Return the ON times of primary users as SVG; where they are too dense, the share of time that is ON."""
    users = activity.users[:MOST_USERS]
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
        for cell, share in enumerate(user.shares(start, end, MOST_BARS)):
            if share > 0:
                at = start + cell * width
                panel.bar((at, at + width), (row + 0.36, row + 0.36 - 0.72 * share), color="accent")
    more = f"; heights are shares of {(end - start) / MOST_BARS:.3g} s each" if dense else ""
    more += (
        f"; {len(activity.users) - len(users)} more are not drawn" if len(activity.users) > len(users) else ""
    )
    panel.axes(f"Time, s{more}", "", y_ticks=list(enumerate(labels)), grid="x")
    return sheet.svg()


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


def activity_page(activity: PuActivity, start: float, end: float, name: str, command: str) -> str:
    """Return the page of a log of primary users."""
    users = activity.users
    busy = sum(user.duty_cycle for user in users) / len(users) if users else 0.0
    rows = [
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
        tables=[("Primary users", Table(headings, rows, left_out=max(0, len(users) - MOST_USERS)))],
        origin=[("Command", command), ("cogtcp", provenance.version()), ("Written", page.date())],
    )


def sensing_page(
    times: Sequence[float],
    detectors: Sequence[Detector],
    ratios: Sequence[float],
    common: dict[str, Any],
    command: str,
) -> str:
    """Return the page of P_d' and P_f' over the sensing time."""
    rows = [
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
        tables=[("Numbers", Table(headings, rows, left=2))],
        origin=[("Command", command), ("cogtcp", provenance.version()), ("Written", page.date())],
    )
