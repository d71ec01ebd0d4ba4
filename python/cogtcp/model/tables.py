"""The tables of a comparison, column by column. The core describes a run's tables (`_core.columns`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.model.metrics import METRICS, offered

if TYPE_CHECKING:
    from cogtcp.model.metrics import Metric
    from cogtcp.model.scenario import Scenario

#: Name, type, unit, meaning.
Column = tuple[str, str, str, str]

# What people read, and what tables have.
_BASE_UNITS = {"Mbit/s": "bit/s", "ms": "s", "%": ""}

_TRANSPORT: Column = ("transport", "text", "", "the transport")
_OF_SUBJECTS: Column = (
    "SUBJECT.METRIC",
    "f64",
    "",
    "each metric of each flow, stream and application, such as call.delay_p95: cogtcp metrics FILE",
)
_INTERVAL: list[Column] = [
    ("low", "f64", "as the metric", "lower end of its 95 % interval (Student's t); NaN for one run"),
    ("high", "f64", "as the metric", "upper end"),
    ("n", "i64", "", "runs, or pairs of runs, that have a value"),
]


def comparison_tables(scenario: Scenario | None = None) -> list[tuple[str, str, list[Column]]]:
    """Return name, meaning and columns of each table that a comparison adds to its runs' tables.

    Args:
        scenario: The scenario of the comparison. Without it, the column `SUBJECT.METRIC` stands for the
            metrics of flows, streams and applications.
    """
    metrics: list[Column] = [
        (metric.name, "f64", base_unit(metric), metric.meaning)
        for metric in (METRICS if scenario is None else offered(scenario))
    ]
    runs: list[Column] = [
        _TRANSPORT,
        ("seed", "i64", "", "the seed"),
        ("error", "text", "", "why the run failed; null if it did not"),
        ("digest", "text", "", "hash of the run's events: equal digests mean equal runs"),
        *((_OF_SUBJECTS,) if scenario is None else ()),
        *metrics,
    ]
    metric: Column = ("metric", "text", "", "the metric, as a column of runs")
    mean = "as the metric"
    return [
        ("runs", "One row per run of a comparison: its metrics.", runs),
        (
            "summary",
            "One row per transport and metric: its mean over the seeds.",
            [_TRANSPORT, metric, ("mean", "f64", mean, "mean over the runs"), *_INTERVAL],
        ),
        (
            "paired",
            "One row per transport but the first and metric: the difference from the first, paired by seed.",
            [
                _TRANSPORT,
                ("baseline", "text", "", "the baseline transport"),
                metric,
                ("mean", "f64", mean, "mean of the differences"),
                *_INTERVAL,
            ],
        ),
    ]


def base_unit(metric: Metric) -> str:
    """Return the unit that a metric has in tables and JSON."""
    return _BASE_UNITS.get(metric.unit, metric.unit)
