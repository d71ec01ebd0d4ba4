"""What this study shows besides its statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.studies import Case, Curve, Figure, Point, Surface, Table
from cogtcp.studies.verdicts import mean_text

from .measuring import trace
from .runs import scenario
from .theory import Detector, free_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies import Cell, Context
    from cogtcp.studies.exhibits import Style
    from cogtcp.studies.judging import Judged

LINES: tuple[Style, ...] = ("line", "dashed", "dotted")
NAMES = {"sack": "SACK", "newreno": "NewReno", "reno": "Reno", "vegas": "Vegas"}
FIG4_T_S = (0.025, 0.2, 0.3)


def surface_and_theory(study: Context, base: Judged) -> list[Figure]:
    """Fig. 2, beside the share of time that theory leaves to any transport."""
    t_s = sorted({float(point.t_s) for point in base.grid})
    t_p = sorted({float(point.t_p) for point in base.grid})
    measured = {(point.t_s, point.t_p): cell.mean("goodput_kbps") for point, cell in base.grid.items()}
    rate, detector = 1 / base.setting.mean_s, Detector(base.setting.snr_db)
    switching_s = base.setting.switching_ms / 1e3
    return [
        Figure(
            id="fig2",
            title="Fig. 2: throughput of NewReno over sensing and transmission time",
            x_label="Sensing time t_s [s]",
            y_label="Transmission time T_p [s]",
            curves=[],
            surfaces=[
                Surface("goodput [kbit/s]", t_s, t_p, [[measured[a, b] for a in t_s] for b in t_p]),
                Surface(
                    "theory: time free of PUs [%]",
                    t_s,
                    t_p,
                    [[100 * free_share(detector, a, b, rate, rate, switching_s) for a in t_s] for b in t_p],
                ),
            ],
            caption=f"At {study.place}; the most of each panel is bold. TCP makes the other difference.",
            paper=study.study.sentences("fig2"),
        )
    ]


def where_time_goes(study: Context, base: Judged) -> list[Table]:
    """Where the time of NewReno goes, by sensing time."""
    cells = {
        f"{point.t_s:g} s": cell for point, cell in base.grid.items() if point.get("transport") == "newreno"
    }
    return [_budget(cells, f"Where the time of NewReno goes, at {study.place}")]


def where_time_goes_by_variant(study: Context, base: Judged) -> list[Table]:
    """Where the time of each variant goes, at two sensing times."""
    cells = {
        f"{NAMES[point.transport]}, t_s {point.t_s:g} s": cell
        for point, cell in base.grid.items()
        if point.t_s in (0.2, 1.0)
    }
    return [_budget(cells, f"Where the time of each goes, at {study.place}")]


def windows_over_time(study: Context, base: Judged) -> list[Figure]:
    """Fig. 4."""
    return [_over_time(study, base, "fig4", "Fig. 4: cwnd over time", "cwnd", "cwnd [segments]")]


def rtt_over_time(study: Context, base: Judged) -> list[Figure]:
    """Fig. 5."""
    return [_over_time(study, base, "fig5", "Fig. 5: RTT over time", "srtt_ms", "Smoothed RTT [ms]")]


def timeouts_by_cause(study: Context, base: Judged) -> list[Table]:
    """Say what timeouts are due to."""
    keys = ("by_interference", "by_silence", "by_both", "spurious", "hit", "after_hit", "after_other")
    return [
        Table(
            title=f"Timeouts of NewReno, at {study.place}",
            header=[
                "t_s [s]",
                "timeouts [per min]",
                "by interference [%]",
                "by silence [%]",
                "by both [%]",
                "spurious [%]",
                "slots hit by a PU [%]",
                "timeout after a hit [%]",
                "after another slot [%]",
            ],
            rows=[
                [
                    f"{point.t_s:g}",
                    mean_text(cell.of("rtos_per_min")),
                    *(f"{100 * cell.mean(key):.0f}" for key in keys),
                ]
                for point, cell in base.grid.items()
            ],
            caption="A timeout has the cause of the last packet's loss. Without a loss the cause is the "
            "silences; it is both if a PU destroyed a frame within 1 s before.",
        )
    ]


def activity_surface(study: Context, base: Judged) -> list[Figure | Table]:
    """Fig. 6."""
    alpha = sorted({float(point.alpha) for point in base.grid})
    beta = sorted({float(point.beta) for point in base.grid})
    found = {(point.alpha, point.beta): cell.mean("goodput_kbps") for point, cell in base.grid.items()}
    corners = {
        f"{point.region}, alpha {point.alpha:g}, beta {point.beta:g}": cell
        for point, cell in base.grid.items()
        if {point.alpha, point.beta} <= {0.5, 3.0}
    }
    return [
        Figure(
            id="fig6",
            title="Fig. 6: throughput of NewReno over the activity of the PUs",
            x_label="Death rate alpha [1/s]",
            y_label="Birth rate beta [1/s]",
            curves=[],
            surfaces=[Surface("goodput [kbit/s]", alpha, beta, [[found[a, b] for a in alpha] for b in beta])],
            caption=f"At {study.place}; the most is bold.",
            paper=study.study.sentences("fig6"),
        ),
        _budget(corners, "Where the time of NewReno goes, at the corners"),
    ]


def window_over_time(study: Context, base: Judged) -> list[Figure]:
    """Fig. 8, the window alone."""
    (drawn,) = _traces(study, base, list(base.grid))
    return [
        Figure(
            id="fig8",
            title="Fig. 8: cwnd and available bandwidth over time",
            x_label="Time [s]",
            y_label="cwnd [segments], bandwidth [packets in 0.1 s]",
            curves=[
                Curve("cwnd", drawn["time_s"], drawn["cwnd"], style="line"),
                Curve("bandwidth", drawn["time_s"], drawn["packets"], style="dashed"),
            ],
            caption=f"One seed at {study.place}; NewReno, M 1.6.",
            paper=study.study.sentences("fig8"),
        )
    ]


def window_and_bandwidth(study: Context, base: Judged) -> list[Figure | Table]:
    """Fig. 8, and where the timeouts fall."""
    (cell,) = base.grid.values()
    kinds = ("fall", "rise", "fast", "slow")
    return [
        *window_over_time(study, base),
        Table(
            title=f"Window and timeouts by the channel's rate, at {study.place}",
            header=[
                "correlation",
                "cwnd, fast [segments]",
                "cwnd, slow [segments]",
                "timeouts per slot after a fall",
                "after a rise",
                "no change, fast",
                "no change, slow",
            ],
            rows=[
                [
                    mean_text(cell.of("correlation")),
                    *(f"{cell.mean(key):.1f}" for key in ("cwnd_fast", "cwnd_slow")),
                    *(f"{cell.mean(f'rtos_{kind}'):.2f}" for kind in kinds),
                ]
            ],
        ),
    ]


def losses(study: Context, base: Judged) -> list[Table]:
    """Loss by the time of sensing, and by its errors."""
    (instant,) = [cell.mean("goodput_kbps") for point, cell in base.grid.items() if point.t_s < 0.01]
    rows = []
    for t_s in sorted({float(point.t_s) for point in base.grid if point.t_s >= 0.01}):
        perfect, real = (
            base.grid[Point(t_s=t_s, t_p=0.6, perfect=kind)].mean("goodput_kbps") for kind in (True, False)
        )
        rows.append(
            [f"{t_s:g}", f"{100 * (1 - perfect / instant):.0f}", f"{100 * (perfect - real) / instant:.0f}"]
        )
    return [
        Table(
            title=f"What sensing costs, at {study.place}",
            header=["t_s [s]", "by its time [%]", "by its errors [%]"],
            rows=rows,
            caption="Of what NewReno delivers with an instant sensing without errors.",
        )
    ]


def _over_time(study: Context, base: Judged, figure: str, title: str, key: str, label: str) -> Figure:
    drawn = _traces(study, base, [Point(t_s=t_s, t_p=0.6) for t_s in FIG4_T_S])
    curves = []
    for t_s, found, style in zip(FIG4_T_S, drawn, LINES, strict=True):
        pairs = [(x, y) for x, y in zip(found["time_s"], found[key], strict=True) if y is not None]
        curves.append(Curve(f"t_s {t_s:g} s", [x for x, _ in pairs], [y for _, y in pairs], style=style))
    return Figure(
        id=figure,
        title=title,
        x_label="Time [s]",
        y_label=label,
        curves=curves,
        caption=f"One seed at {study.place}, sampled every 0.1 s; NewReno, T_p 0.6 s.",
        paper=study.study.sentences(figure),
    )


def _traces(study: Context, base: Judged, points: Sequence[Point]) -> list[dict[str, Any]]:
    seed = study.seeds[0]
    return study.run(
        [Case(scenario(study, base.setting, point, seed), seed, trace, "full") for point in points]
    )


def _budget(cells: dict[str, Cell], title: str) -> Table:
    """Return where the time goes: silence, PUs on the channel, and what is left."""
    return Table(
        title=title,
        header=[
            "",
            "goodput [kbit/s]",
            "silent [%]",
            "over a PU [%]",
            "free [%]",
            "missed [%]",
            "false alarms [%]",
            "dropped [packets]",
            "timeouts [per min]",
            "spurious [%]",
            "copies [kbit/s]",
            "RTT [ms]",
        ],
        rows=[
            [
                name,
                mean_text(cell.of("goodput_kbps")),
                *(f"{100 * cell.mean(key):.0f}" for key in ("silent", "exposed", "clean")),
                *(
                    f"{100 * cell.mean(key) / max(cell.mean('sensings'), 1):.0f}"
                    for key in ("missed_detections", "false_alarms")
                ),
                f"{cell.mean('dropped'):.0f}",
                f"{cell.mean('rtos_per_min'):.1f}",
                f"{100 * cell.mean('spurious_rtos') / max(cell.mean('rtos'), 1e-9):.0f}",
                f"{cell.mean('needless_kbps'):.0f}",
                f"{cell.mean('rtt_ms'):.0f}",
            ]
            for name, cell in cells.items()
        ],
        caption="Silent: sensing or switching. Over a PU: open while a PU was ON on the channel. Missed and "
        "false alarms: of all sensings. Copies: packets retransmitted without a loss.",
    )
