"""What a run of the table of transports measures, for `generate_transports.py`.

In a file of its own: the file is part of a run's key, and a change of the page's words makes no run again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from cogtcp import budget

if TYPE_CHECKING:
    from cogtcp import Result

Record: TypeAlias = "dict[str, Any]"
#: Where the bottleneck's time goes, in words; delivered data are not listed.
PLACES = {state.column: state.said for state in budget.STATES if state.name != "delivered"}


def measure(result: Result) -> Record:
    """Return the measurements of a run whose flows all have one transport."""
    rows, metrics = result.rows("flows"), result.metrics
    bottleneck = next(iter(result.rows("budget")), {})
    spent = {name: bottleneck[name] for name in PLACES if name in bottleneck}
    sent = sum(row["sent_segments"] for row in rows)
    return {
        "goodput": metrics["goodput_bps"] / 1e6,
        "delay": 1e3 * metrics["queuing_delay_mean_s"],
        "loss": 100 * metrics["drops"] / sent if sent else float("nan"),
        "pu": 100 * metrics.get("pu_interfered_share", float("nan")),
        "where": max(spent, key=lambda name: spent[name]) if spent else "",
    }


def goodputs(result: Result) -> Record:
    """Return the goodput of two flows, in Mbit/s, and the share of the first."""
    first, second = [row["goodput_bps"] / 1e6 for row in result.rows("flows")]
    share = 100 * first / (first + second) if first + second > 0 else float("nan")
    return {"first": first, "second": second, "share": share}
