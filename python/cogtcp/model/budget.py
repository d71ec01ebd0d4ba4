"""Where the capacity went: the states of a flow's bottleneck, and what share of its time each took.

The table `budget` of a run has the times; here they become shares, which sum to 1. `docs/budget.md`
defines the states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cogtcp.model.result import Result
    from cogtcp.running.compare import Comparison

    #: Values of each column.
    _Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class State:
    """A state of the bottleneck.

    Attributes:
        name: As in the column `NAME_s` of the table `budget`.
        title: What legends say.
        said: What sentences say after the percentage.
        color: Its role in pages.
        opacity: How full the colour is.
        mark: Its character in the terminal.
    """

    name: str
    title: str
    said: str
    color: str
    opacity: float
    mark: str

    @property
    def column(self) -> str:
        """Its column in the table `budget`."""
        return f"{self.name}_s"


#: All states, in the order in which bars stack them.
STATES = (
    State("delivered", "delivered", "delivered", "series-1", 1.0, "█"),
    State("headers", "headers", "headers", "series-1", 0.55, "▓"),
    State("duplicate", "duplicates", "duplicates", "series-4", 1.0, "D"),
    State("lost", "lost in transit", "lost in transit", "series-4", 0.5, "x"),
    State("other", "other traffic", "other traffic", "series-6", 0.8, "o"),
    State("mac", "802.11 overhead", "802.11 overhead", "series-5", 1.0, "M"),
    State("contention", "802.11 contention", "802.11 contention", "series-5", 0.5, "c"),
    State("retry", "802.11 retries", "802.11 retries", "switching", 1.0, "r"),
    State("pattern", "slots of the other direction", "slots of the other direction", "series-5", 0.8, "p"),
    State("grant", "waiting for a grant", "waiting for grants", "series-5", 0.35, "q"),
    State("harq", "blocks retransmitted", "blocks retransmitted", "switching", 0.7, "h"),
    State("users", "other users", "other users", "series-6", 0.6, "n"),
    State("handover", "moving between stations", "moving between stations", "switching", 0.45, "H"),
    State("interference", "interference", "interference", "lost", 1.0, "i"),
    State("silent", "silent", "silence", "sensing", 1.0, "░"),
    State("timeout", "waiting for a timeout", "waiting for timeouts", "alarm", 1.0, "T"),
    State("growing", "sending held back", "sending held back", "series-2", 1.0, "g"),
    State("receiver", "receiver's window", "receiver's window", "series-3", 1.0, "R"),
    State("application", "nothing to send", "nothing to send", "series-3", 0.45, "·"),
    State("upstream", "waiting on another link", "waiting on another link", "series-6", 0.4, "u"),
)
BY_NAME = {state.name: state for state in STATES}

# Smaller shares are left out of sentences.
_LEAST_SAID = 0.005
_MOST_SAID = 4


def of_run(result: Result) -> dict[str, float]:
    """Return the share of each state in the time of a run's bottlenecks; empty if no flow was measured."""
    return shares(result.rows("budget"))


def by_path(result: Result) -> dict[str, dict[str, float]]:
    """Return the shares of each bottleneck by its link, where a connection has several paths; else empty."""
    if not any(row["path"] > 0 for row in result.rows("subflows")):
        return {}
    return {row["link"]: shares([row]) for row in result.rows("budget")}


def of_comparison(comparison: Comparison, transport: str) -> dict[str, float]:
    """Return the mean shares of a transport over its seeds; empty if none was measured."""
    found = [
        shares(outcome.rows("budget"))
        for outcome in comparison.finished(transport)
        if "budget" in outcome.columns
    ]
    known = [run for run in found if run]
    return (
        {state.name: math.fsum(run[state.name] for run in known) / len(known) for state in STATES}
        if known
        else {}
    )


def shared_link(flows: _Columns, links: _Columns) -> tuple[str, float] | None:
    """Return the link that bounds all flows together, and the share of its capacity that they got.

    A flow's own narrowest link bounds this flow. A link that all flows cross bounds their sum, if it carries
    less than their narrowest links together. Example: a slow access link for each flow, a fast one for all.

    Args:
        flows: Columns of the table `flows` of a run.
        links: Columns of the table `links` of the same run.

    Returns:
        Name of the link and its efficiency; `None` if the narrowest links bound the sum.
    """
    columns = [flows[name] for name in ("bottleneck", "bottleneck_direction", "delivered_bytes")]
    narrowest = set(zip(*columns[:2], strict=True))
    delivered = sum(columns[2])
    if len(narrowest) < 2 or ("", "") in narrowest or not delivered:
        return None
    columns = [links[name] for name in ("link", "direction", "capacity_bytes", "efficiency")]
    rows = list(zip(*columns, strict=True))
    together = math.fsum(row[2] for row in rows if row[:2] in narrowest)
    # Of a link that all flows cross the delivered payload is the payload of all flows.
    crossed = [
        (capacity, name, efficiency)
        for name, _, capacity, efficiency in rows
        if 0 < capacity < together and math.isclose(capacity * efficiency, delivered, rel_tol=1e-9)
    ]
    return min(crossed)[1:] if crossed else None


def shared_link_of_comparison(comparison: Comparison, transport: str) -> tuple[str, float] | None:
    """Return what `shared_link` finds with a transport, mean over seeds; `None` unless all name one link."""
    found = [
        shared_link(outcome.columns["flows"], outcome.columns["links"])
        for outcome in comparison.finished(transport)
    ]
    known = [each for each in found if each]
    if not known or len(known) < len(found) or len({name for name, _ in known}) > 1:
        return None
    return known[0][0], math.fsum(share for _, share in known) / len(known)


def shares(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of each state in rows of the table `budget`, together."""
    rows = list(rows)
    # Times are summed before they are divided: a link that was measured for longer weighs more.
    whole = math.fsum(row["measured_s"] for row in rows)
    if not whole > 0:
        return {}
    return {state.name: math.fsum(row[state.column] for row in rows) / whole for state in STATES}


def told(shares: Mapping[str, float]) -> str:
    """Return `36 % delivered, 31 % waiting for timeouts, 27 % sending held back, 2 % silence`."""
    losses = sorted((s for s in STATES if s.name != "delivered"), key=lambda s: -shares[s.name])
    large = [s for s in losses if shares[s.name] >= _LEAST_SAID][:_MOST_SAID]
    return ", ".join(f"{_percent(shares[s.name])} {s.said}" for s in (BY_NAME["delivered"], *large))


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"
