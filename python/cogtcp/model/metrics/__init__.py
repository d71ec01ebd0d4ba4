"""What a run comes to in single numbers: of the whole run, and of each flow, UDP stream and application.

Metrics of a run have plain names (`goodput_bps`). A subject has `SUBJECT.METRIC` (`call.delay_p95`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.model.metrics.cells import with_cell_shares
from cogtcp.model.metrics.metric import (
    LEAST_IN_SECONDS,
    PAD,
    Metric,
    Rows,
    aligned,
    plus_minus,
    quantile_name,
)
from cogtcp.model.metrics.names import MOST_NOTICED, find, listed, noticed, offered, primary
from cogtcp.model.metrics.run import BY_NAME, METRICS, QUANTILES_OF, measure_rows
from cogtcp.model.metrics.subjects import (
    SUBJECT_METRICS,
    Subject,
    measure_subjects,
    noticed_columns,
    subjects,
)

if TYPE_CHECKING:
    from cogtcp.model.result import Result

__all__ = [
    "BY_NAME",
    "LEAST_IN_SECONDS",
    "METRICS",
    "MOST_NOTICED",
    "PAD",
    "QUANTILES_OF",
    "SUBJECT_METRICS",
    "Metric",
    "Rows",
    "Subject",
    "aligned",
    "find",
    "listed",
    "measure",
    "measure_rows",
    "measure_subjects",
    "noticed",
    "noticed_columns",
    "offered",
    "plus_minus",
    "primary",
    "quantile_name",
    "subjects",
    "with_cell_shares",
]


def measure(result: Result) -> dict[str, float]:
    """Return every metric of a run and of its subjects, in base units; NaN: the run has no such value."""
    flows = result.rows("flows")
    return {**measure_rows(flows, result.rows("radios")), **measure_subjects(result, flows)}
