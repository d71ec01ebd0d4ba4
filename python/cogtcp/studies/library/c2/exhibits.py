"""What this study shows besides its statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.studies import Case, Curve, Figure, Point, Table
from cogtcp.studies.verdicts import mean_text

from .measuring import trace_convergence
from .runs import READINGS, measure, measure_convergence, scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.studies import Context, Setting
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.statements import Cell

NAMES = {
    "c2": "C2",
    "newreno": "NewReno",
    "westwood-tustin": "Westwood+",
    "cubic": "CUBIC",
    "bbr": "BBR (SACK)",
}


def model_and_cycles(study: Context, base: Judged) -> list[Figure | Table]:
    """Fig. 3, and what the cycles look like."""
    cells = sorted(
        ((float(point.cycle_s), cell) for point, cell in base.grid.items()), key=lambda item: item[0]
    )
    x = [cycle_s for cycle_s, _ in cells]
    return [
        Figure(
            id="fig3",
            title="Fig. 3: throughput over the duration of the cognitive cycle",
            x_label="Duration of the cognitive cycle [s]",
            y_label="Throughput [Mbit/s]",
            log_x=True,
            curves=[
                Curve("model as printed", x, [cell.mean("model_mbps") for _, cell in cells], style="line"),
                Curve.over_seeds("simulation", x, [cell.of("mbps") for _, cell in cells]),
            ],
            caption=f"At {study.place}; mean and 95 % interval over the seeds. Cycles vary by 5 %.",
            paper=study.study.sentences("fig3"),
        ),
        Table(
            title=f"Cycle by cycle, at {study.place}",
            header=[
                "cycle [s]",
                "simulation / model",
                "dW from (2)",
                "and without the window lost",
                "timeouts",
                "T_rto measured [s]",
                "window at the timeout",
                "2 dW",
                "queue drops",
                "RTT [ms]",
            ],
            rows=[
                [
                    f"{cycle_s:g}",
                    mean_text(cell.of("ratio")),
                    *(
                        f"{cell.mean(key):.3g}"
                        for key in (
                            "ratio_exact",
                            "ratio_delivered",
                            "timeouts",
                            "t_rto_s",
                            "window",
                            "expected_window",
                            "queue_drops",
                            "rtt_ms",
                        )
                    ),
                ]
                for cycle_s, cell in cells
            ],
            caption="Timeouts and queue drops in a cycle. dW from (2): the exact solution in place of (3). "
            "Without the window lost: data destroyed by a silence is not counted as delivered.",
        ),
    ]


def convergence_over_time(study: Context, base: Judged) -> list[Figure]:
    """Fig. 4a, one seed."""
    seed = study.seeds[0]
    point = Point(run="convergence")
    (trace,) = study.run(
        [Case(scenario(study, base.setting, point, seed), seed, trace_convergence, "series")]
    )
    time_s = trace.pop("time_s")
    styles = {"capacity": "dotted", "together": "dashed"}
    return [
        Figure(
            id="fig4a",
            title="Fig. 4a: convergence of four C2 flows",
            x_label="Time [s]",
            y_label="Rate [Mbit/s]",
            curves=[
                Curve(name, time_s, values, style=styles.get(name, "line"))  # type: ignore[arg-type]
                for name, values in trace.items()
            ],
            caption=f"One seed at {study.place}, means over 0.5 s. Flows leave at 125, 145 and 165 s.",
            paper=study.study.sentences("fig4a"),
        )
    ]


def readings_of_c2(study: Context, base: Judged) -> list[Table]:
    """Measure Fig. 4a under each reading of C2, and CUBIC beside it."""
    point = Point(run="convergence")
    cells = _cells(
        study, {name: base.setting.but(reading=name) for name in READINGS}, point, measure_convergence
    )
    keys = ("use", "settled_use", "settled_jain", "joined_jain", "recovery_s", "resume_s", "queue_ms")
    return [
        Table(
            title="The readings of C2 in Fig. 4a",
            header=[
                "reading",
                "use",
                "use, settled",
                "Jain, settled",
                "Jain, 1 s after a join",
                "recovery [s]",
                "half rate after [s]",
                "queue [ms]",
            ],
            rows=[[name, *(f"{cell.mean(key):.2f}" for key in keys)] for name, cell in cells.items()],
            caption=f"Else at {study.place}. Settled: from 4 s after a silence; no flow joins or leaves.",
        )
    ]


def throughput_and_delay(study: Context, base: Judged) -> list[Figure | Table]:
    """Fig. 4b, with BBR, which the paper did not run."""
    cells = {point.transport: cell for point, cell in base.grid.items()}
    cells["bbr"] = _cells(study, {"bbr": base.setting}, Point(run="alone", transport="bbr"), measure)["bbr"]
    return [
        Figure(
            id="fig4b",
            title="Fig. 4b: throughput and queuing delay",
            x_label="Queuing delay [ms]",
            y_label="Throughput, of 10.5 [Mbit/s]",
            curves=[
                *(
                    Curve(NAMES[transport], cell.of("queue_ms"), cell.of("mbps"))
                    for transport, cell in cells.items()
                ),
                Curve("the paper's C2", [10], [10], style="given"),
            ],
            caption=f"At {study.place}, a point per seed. Star: C2 in the paper (V-B), 10 Mbit/s, 10 ms.",
            paper=study.study.sentences("fig4b"),
        ),
        Table(
            title=f"What a silence costs each, at {study.place}",
            header=[
                "transport",
                "throughput [Mbit/s]",
                "queue [ms]",
                "timeouts per silence",
                "half rate after [s]",
            ],
            rows=[
                [
                    NAMES[transport],
                    mean_text(cell.of("mbps")),
                    mean_text(cell.of("queue_ms")),
                    f"{cell.mean('timeouts'):.1f}",
                    f"{cell.mean('resume_s'):.2f}",
                ]
                for transport, cell in cells.items()
            ],
        ),
    ]


def beside_its_kind(study: Context, base: Judged) -> list[Table]:
    """Table I beside ours."""
    rows = []
    for rtt_ms, c2, newreno in ((100.0, 4.9, 4.8), (140.0, 6.2, 2.8), (180.0, 6.8, 1.8)):
        cells = {point.first: cell for point, cell in base.grid.items() if point.rtt_ms == rtt_ms}
        rows.append(
            [
                f"{rtt_ms:g}",
                f"{c2}",
                mean_text(cells["c2"].of("first_mbps")),
                f"{newreno}",
                mean_text(cells["c2"].of("second_mbps")),
                mean_text(cells["newreno"].of("flow_mbps")),
                f"{cells['newreno'].mean('use'):.0%}",
            ]
        )
    return [
        Table(
            title=f"Table I beside ours, at {study.place}",
            header=[
                "RTT [ms]",
                "C2, paper [Mbit/s]",
                "C2 [Mbit/s]",
                "NewReno, paper [Mbit/s]",
                "NewReno [Mbit/s]",
                "NewReno beside NewReno [Mbit/s]",
                "capacity that two NewRenos use",
            ],
            rows=rows,
            caption="Of 10.5 Mbit/s on average. C2 may take the capacity that two NewRenos leave unused.",
        )
    ]


def _cells(
    study: Context, settings: dict[str, Setting], point: Point, reads: Callable[..., dict[str, object]]
) -> dict[str, Cell]:
    from cogtcp.studies import Cell

    records = iter(
        study.run(
            [
                Case(scenario(study, setting, point, seed), seed, reads, "series")
                for setting in settings.values()
                for seed in study.seeds
            ]
        )
    )
    return {name: Cell([next(records) for _ in study.seeds]) for name in settings}
