"""What this study shows besides its statements: flows over time, and what a silence does to them."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from cogtcp.studies import Case, Curve, Figure, Point, Table
from cogtcp.studies.verdicts import mean_text

from .runs import measure, measure_trace, scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies import Cell, Context
    from cogtcp.studies.exhibits import Style
    from cogtcp.studies.judging import Judged

LINES: tuple[Style, ...] = ("line", "dashed", "dotted")
UNTIL_S = 60.0


def real_time_throughput(study: Context, base: Judged) -> list[Figure]:
    """Fig. 2."""
    points = [Point(transport="newreno"), Point(transport="newreno", radio=False)]
    drawn = _traces(study, base, points)
    return [
        Figure(
            id="fig2",
            title="Fig. 2: real-time throughput of NewReno",
            x_label="Time [s]",
            y_label="Goodput of flow 1 [Mbit/s]",
            curves=[
                *(
                    Curve(name, *_binned(trace, "mbps", 4), style=style)
                    for name, trace, style in zip(("with sensing", "classical"), drawn, LINES, strict=False)
                ),
                Curve("1.8 Mbit/s, stated", [0, UNTIL_S], [1.8, 1.8], style="limit"),
            ],
            caption=f"One seed at {study.place}, averaged over 1 s, from the start.",
            paper=study.study.sentences("fig2"),
        )
    ]


def what_sensing_costs(study: Context, base: Judged) -> list[Table]:
    """Say what the silences do to the flow with sensing, and what is left without."""
    rows = [
        [
            "with sensing" if point.radio else "classical",
            mean_text(cell.of("goodput_mbps")),
            mean_text(cell.of("best_mbps")),
            mean_text(cell.of("worst_mbps")),
            _percent(cell, "hit"),
            _percent(cell, "timed_out"),
            f"{cell.mean('cwnd_most'):.0f}",
        ]
        for point, cell in base.grid.items()
    ]
    return [
        Table(
            title=f"What sensing costs, at {study.place}",
            header=[
                "",
                "goodput [Mbit/s]",
                "best second [Mbit/s]",
                "worst second [Mbit/s]",
                "silences with loss [%]",
                "with timeout [%]",
                "greatest cwnd [segments]",
            ],
            rows=rows,
        )
    ]


def windows_over_time(study: Context, base: Judged) -> list[Figure]:
    """Fig. 4."""
    rates = (5.0, 10.0, 15.0)
    drawn = _traces(study, base, [Point(transport="newreno", rate_mbps=rate) for rate in rates])
    return [
        Figure(
            id="fig4",
            title="Fig. 4: cwnd of NewReno for different channel bandwidths",
            x_label="Time [s]",
            y_label="cwnd of flow 1 [segments]",
            curves=[
                Curve(f"{rate:g} Mbit/s", trace["time_s"], trace["cwnd"], style=style)
                for rate, trace, style in zip(rates, drawn, LINES, strict=True)
            ],
            caption=f"One seed at {study.place}. The paper does not say which three bandwidths it drew.",
            paper=study.study.sentences("fig4"),
        )
    ]


def optimal_share(study: Context, base: Judged) -> list[Figure]:
    """Fig. 6."""
    (trace,) = _traces(study, base, [Point(transport="westwood-tustin", channel_width_mbps=14.0)])
    return [
        Figure(
            id="fig6",
            title="Fig. 6: Westwood+ and its optimal share",
            x_label="Time [s]",
            y_label="Mbit/s",
            curves=[
                Curve("goodput of flow 1", *_binned(trace, "mbps", 4), style="line"),
                Curve("half of the channel", *_binned(trace, "share", 4), style="dotted"),
            ],
            caption=f"One seed at {study.place}, channels of 1 to 15 Mbit/s, averaged over 1 s.",
            paper=study.study.sentences("fig6"),
        )
    ]


def mechanism_of_the_rise(study: Context, base: Judged) -> list[Table]:
    """Say what silences of each length do, and what is left of the rise if the cycle keeps its length."""
    rows = [
        [
            point.transport,
            f"{point.off_s:g}",
            mean_text(cell.of("goodput_mbps")),
            _percent(cell, "hit"),
            _percent(cell, "only_acks"),
            _percent(cell, "timed_out"),
            _percent(cell, "holes"),
            f"{cell.mean('outage_s'):.2f}",
        ]
        for point, cell in base.grid.items()
    ]
    held = _held(study, base)
    return [
        Table(
            title=f"What a silence does, at {study.place}",
            header=[
                "transport",
                "off [s]",
                "goodput [Mbit/s]",
                "met a burst [%]",
                "ACKs alone [%]",
                "timeout [%]",
                "recovery, then timeout [%]",
                "start to last timeout [s]",
            ],
            rows=rows,
            caption="Shares of the silences, of flow 1.",
        ),
        Table(
            title="The same sensing times in a cycle of 5.1 s",
            header=["transport", "off [s]", "goodput [Mbit/s]"],
            rows=held,
            caption="On is shortened by as much as off grows, so the cycle's length has no effect.",
        ),
    ]


def westwood_windows(study: Context, base: Judged) -> list[Figure]:
    """Fig. 8."""
    points = [Point(transport="westwood-tustin", on_s=5.0, off_s=off_s) for off_s in (0.05, 0.1)]
    drawn = _traces(study, base, points)
    return [
        Figure(
            id="fig8",
            title="Fig. 8: cwnd of Westwood+ with different sensing times",
            x_label="Time [s]",
            y_label="cwnd of flow 1 [segments]",
            curves=[
                Curve(
                    f"off {point.off_s:g} s",
                    [time_s for time_s in trace["time_s"] if time_s >= UNTIL_S / 2],
                    [
                        window
                        for time_s, window in zip(trace["time_s"], trace["cwnd"], strict=True)
                        if time_s >= UNTIL_S / 2
                    ],
                    style=style,
                )
                for point, trace, style in zip(points, drawn, LINES, strict=False)
            ],
            caption=f"One seed at {study.place}.",
            paper=study.study.sentences("fig8"),
        )
    ]


def _held(study: Context, base: Judged) -> list[list[str]]:
    points = [
        Point(transport=transport, on_s=round(5.1 - off_s, 3), off_s=off_s)
        for transport in dict.fromkeys(point.transport for point in base.grid)
        for off_s in (0.1, 0.4)
    ]
    records = iter(
        study.run(
            [
                Case(scenario(study, base.setting, point, seed), seed, measure, "full")
                for point in points
                for seed in study.seeds
            ]
        )
    )
    return [
        [
            point.transport,
            f"{point.off_s:g}",
            mean_text([next(records)["goodput_mbps"] for _ in study.seeds]),
        ]
        for point in points
    ]


def _traces(study: Context, base: Judged, points: Sequence[Point]) -> list[dict[str, Any]]:
    seed = study.seeds[0]
    return study.run(
        [
            Case(scenario(study, base.setting, point, seed, trace_s=UNTIL_S), seed, measure_trace, "series")
            for point in points
        ]
    )


def _binned(trace: Mapping[str, Any], key: str, samples: int) -> tuple[list[float], list[float]]:
    """Average a trace over so many samples."""
    x, y = trace["time_s"], trace[key]
    starts = range(0, min(len(x), len(y)) - samples + 1, samples)
    return (
        [statistics.fmean(x[i : i + samples]) for i in starts],
        [statistics.fmean(y[i : i + samples]) for i in starts],
    )


def _percent(cell: Cell, quantity: str) -> str:
    value = cell.mean(quantity)
    return "" if value != value else f"{100 * value:.0f}"
