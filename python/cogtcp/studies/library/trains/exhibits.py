"""What this study shows besides its statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.studies import Case, Cell, Curve, Figure, Point, Table
from cogtcp.studies.verdicts import mean_text

from .measuring import measure, trace
from .runs import STACKS, scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies import Context
    from cogtcp.studies.judging import Judged


def windows_through_outages(study: Context, base: Judged) -> list[Figure | Table]:
    """Fig. 3."""
    return _windows(study, base, "fig3", "Fig. 3: cwnd through handoffs and tunnels")


def windows_under_sensing(study: Context, base: Judged) -> list[Figure | Table]:
    """Fig. 4."""
    return _windows(study, base, "fig4", "Fig. 4: cwnd under sensing of 0.3 s")


def late_and_early(study: Context, base: Judged) -> list[Table]:
    """Say what a late warning loses and an early one wastes."""
    cells = {f"{point.tu_advance:g}": cell for point, cell in base.grid.items()}
    plain = _measured(study, base, [Point(manager=False)])[0]
    keys = ("timeouts", "silence_drops", "queue_drops", "frozen_s", "rtt_tcp_s")
    return [
        Table(
            title=f"By TU_advance, at {study.place}",
            header=[
                "TU_advance [RTT_TCP]",
                "efficiency",
                "timeouts",
                "lost in the silence",
                "dropped at the queue",
                "frozen [s]",
                "RTT_TCP [s]",
            ],
            rows=[
                [name, mean_text(cell.of("efficiency")), *(f"{cell.mean(key):.2f}" for key in keys)]
                for name, cell in (*cells.items(), ("no manager", plain))
            ],
            caption="Timeouts and packets by outage, of all flows. A warning needs more time than the way "
            "from the client to the source and back to the radio: 0.15 s and the queue.",
        )
    ]


def rivals(study: Context, base: Judged) -> list[Table]:
    """Show what freezing is worth to other stacks, with ten flows."""
    points = [Point(stack=name, manager=manager) for name in STACKS for manager in (False, True)]
    cells = iter(_measured(study, base, points))
    rows = []
    for name in STACKS:
        plain, frozen = next(cells), next(cells)
        rows.append(
            [
                name,
                mean_text(plain.of("useful")),
                mean_text(frozen.of("useful")),
                *(f"{plain.mean(key):.2f} / {frozen.mean(key):.2f}" for key in ("timeouts", "fairness")),
                f"{plain.mean('retransmitted'):.1%} / {frozen.mean('retransmitted'):.1%}",
            ]
        )
    return [
        Table(
            title=f"Other stacks, at {study.place}",
            header=[
                "stack",
                "use without managers",
                "use with",
                "timeouts an outage",
                "Jain's index",
                "retransmitted",
            ],
            rows=rows,
            caption="Use: payload delivered over the capacity available. Pairs: without / with managers. "
            "Managers of the SaTCP-like stack only send reports. Only NewReno has a capped window.",
        )
    ]


def what_a_sensing_costs(study: Context, base: Judged) -> list[Table]:
    """Say what freezing costs and saves by sensing duration, and the part of the burst at resumption."""
    times = sorted({float(point.sensing_s) for point in base.grid})
    kinds = {
        "no manager": {"manager": False},
        "Freeze": {"manager": True},
        "Freeze, paced": {"manager": True, "paced": True},
    }
    points = [Point(sensing_s=t, **kind) for t in times for kind in kinds.values()]
    cells = iter(_measured(study, base, points))
    rows = []
    for t in times:
        for name in kinds:
            cell = next(cells)
            keys = ("timeouts", "queue_drops", "silence_drops")
            rows.append(
                [f"{t:g}", name, mean_text(cell.of("mbps")), *(f"{cell.mean(key):.2f}" for key in keys)]
            )
    return [
        Table(
            title=f"By sensing duration, at {study.place}",
            header=[
                "T_o [s]",
                "",
                "throughput [Mbit/s]",
                "timeouts",
                "dropped at the queue",
                "lost in the silence",
            ],
            rows=rows,
            caption="Timeouts and packets by sensing, of all flows. Paced: the returning window is "
            "spread over a round trip instead of sent as one burst.",
        )
    ]


def predictors(study: Context, base: Judged) -> list[Table]:
    """Three predictors of one journey, and none."""
    points = [
        *(Point(predictor=name, manager=True) for name in ("oracle", "map", "signal")),
        Point(predictor="oracle", manager=False),
    ]
    names = (
        "an oracle",
        "a map of 20 earlier journeys",
        "the signal's strength (LMS)",
        "nobody (no managers)",
    )
    keys = ("timeouts", "missed", "late", "false", "frozen_s")
    return [
        Table(
            title=f"One journey, at {study.place}",
            header=[
                "predicted by",
                "goodput [Mbit/s]",
                "timeouts an outage",
                "missed",
                "late",
                "false",
                "frozen [s]",
            ],
            rows=[
                [name, mean_text(cell.of("mbps")), *(f"{cell.mean(key):.2f}" for key in keys)]
                for name, cell in zip(names, _measured(study, base, points), strict=True)
            ],
        )
    ]


def _windows(study: Context, base: Judged, figure: str, title: str) -> list[Figure | Table]:
    plain, frozen = sorted(base.grid, key=lambda point: bool(point.manager))
    seed = study.seeds[0]
    drawn: list[dict[str, Any]] = study.run(
        [Case(scenario(study, base.setting, point, seed), seed, trace, "full") for point in (plain, frozen)]
    )
    keys = ("fallen", "timeouts", "tail_drops", "burst_drops")
    return [
        Figure(
            id=figure,
            title=title,
            x_label="Time [s]",
            y_label="cwnd [segments]",
            curves=[
                Curve("NewReno", drawn[0]["time_s"], drawn[0]["cwnd"], style="dotted"),
                Curve("with triggers and Freeze", drawn[1]["time_s"], drawn[1]["cwnd"], style="line"),
            ],
            caption=f"One seed at {study.place}; one client.",
            paper=study.study.sentences(figure),
        ),
        Table(
            title=f"The window after an outage, at {study.place}",
            header=[
                "",
                "after / before",
                "cut",
                "timeouts",
                "lost in the silence",
                "dropped in the second after",
            ],
            rows=[
                [
                    name,
                    mean_text(base.grid[point].of("ratio")),
                    *(f"{base.grid[point].mean(k):.2f}" for k in keys),
                ]
                for name, point in (("NewReno", plain), ("with triggers and Freeze", frozen))
            ],
            caption="Cut: share of the outages after which cwnd falls below 0.75 of its value within 1 s. "
            "The others by outage; lost: whole segments.",
        ),
    ]


def _measured(study: Context, base: Judged, points: Sequence[Point]) -> list[Cell]:
    records = iter(
        study.run(
            [
                Case(scenario(study, base.setting, point, seed), seed, measure)
                for point in points
                for seed in study.seeds
            ]
        )
    )
    return [Cell([next(records) for _ in study.seeds]) for _ in points]
