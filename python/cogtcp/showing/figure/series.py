"""What is shown of a run over time, taken out of its tables: series, silences, events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cogtcp.model._arrow import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cogtcp.model.result import Result

#: More lines than this cannot be told apart.
MOST_FLOWS = 6

# A silence that starts or ends with one of these events.
STARTS = {"sensing_start": "sensing", "switching_start": "switching", "signal_lost": "lost"}
ENDS = {"sensing_end", "switching_end", "handoff", "signal_back"}

Span = tuple[float, float]


@dataclass(frozen=True)
class Silence:
    """A stretch of time in which a radio does not transmit."""

    start: float
    end: float
    kind: str  # "sensing", "switching" or "lost"


@dataclass(frozen=True)
class Events:
    """What happened in a run, as arrays: times, numbers, and texts as codes into their names."""

    time: Any
    value: Any
    codes: dict[str, Any]
    names: dict[str, list[str]]

    @classmethod
    def of(cls, table: Any) -> Events:
        """Take the columns of a run's events."""
        texts = {name: _text(table, name) for name in ("kind", "entity", "flow", "detail")}
        return cls(
            time=numbers(table.column("time_s")),
            value=numbers(table.column("value")),
            codes={name: codes for name, (codes, _) in texts.items()},
            names={name: names for name, (_, names) in texts.items()},
        )

    def where(self, **texts: str) -> Any:
        """Return the times of the events whose columns have these texts."""
        mask = np.ones(len(self.time), dtype=bool)
        for name, text in texts.items():
            mask &= self.codes[name] == (self.names[name].index(text) if text in self.names[name] else -1)
        return self.time[mask]

    def rows(self, kinds: set[str]) -> list[tuple[float, str, str, str]]:
        """Return (time, kind, detail, entity) of the events of some kinds."""
        wanted = np.array([name in kinds for name in self.names["kind"]], dtype=bool)
        chosen: Any = np.flatnonzero(wanted[self.codes["kind"]]) if len(wanted) else ()
        return [
            (
                float(self.time[i]),
                *(self.names[name][self.codes[name][i]] for name in ("kind", "detail", "entity")),
            )
            for i in chosen
        ]


@dataclass
class Series:
    """What is drawn of a run, as arrays.

    Attributes:
        duration: Simulated time in seconds.
        flows: The series of each flow that is shown, by column. `allowed_rate_bps` is NaN where the transport
            controls no rate.
        hidden_flows: How many more there are.
        link: The busiest bottleneck, whose queue and rate are shown.
        link_series: Its series, by column.
        silences: When some radio was silent.
        events: Every event.
    """

    duration: float
    flows: dict[str, dict[str, Any]]
    hidden_flows: int
    link: str
    link_series: dict[str, Any]
    silences: list[Silence]
    events: Events

    @classmethod
    def of(cls, result: Result) -> Series:
        """Take from a run what is drawn of it."""
        names = result.flows.column("flow").to_pylist()
        shown = names[:MOST_FLOWS]
        link = _busiest_bottleneck(result)
        events = Events.of(result.events)
        return cls(
            duration=result.duration_s,
            flows={name: _flow(result, name) for name in shown},
            hidden_flows=len(names) - len(shown),
            link=link,
            link_series=columns_of(result.link_series, "link", link, direction="forward"),
            silences=silences(events.rows({*STARTS, *ENDS}), result.duration_s),
            events=events,
        )

    @property
    def has_link(self) -> bool:
        """Whether there is a link to show: an ad hoc network has none."""
        return len(self.link_series["time_s"]) > 0

    def within(self, span: Span) -> Series:
        """Return the series of a span of time, with one sample more at either end."""

        def cut(columns: dict[str, Any]) -> dict[str, Any]:
            first, last = np.searchsorted(columns["time_s"], span)
            return {name: values[max(0, first - 1) : last + 1] for name, values in columns.items()}

        flows = {name: cut(columns) for name, columns in self.flows.items()}
        return replace(self, flows=flows, link_series=cut(self.link_series))

    def exceeds_rate(self) -> bool:
        """Whether a flow was handed data faster than the link ever carried it."""
        fastest = np.nanmax(self.link_series["rate_bps"], initial=0)
        if not self.has_link:
            return False
        return any(np.any(columns["goodput_bps"] > 1.1 * fastest) for columns in self.flows.values())

    def zoom(self) -> Span | None:
        """Return a span around the first two silences, or else the first loss; None where neither is."""
        ends = [0.0, *(silence.end for silence in self.silences)]
        starts = [
            silence.start
            for silence, before in zip(self.silences, ends, strict=False)
            if silence.start > before
        ]
        if starts:
            gap = starts[1] - starts[0] if len(starts) > 1 else self.duration / 8
            span = (starts[0] - 0.5 * gap, starts[0] + 1.5 * gap)
        else:
            losses = [
                times[0]
                for kind in ("rto", "fast_retransmit", "timeout", "loss")
                for name in self.flows
                if len(times := self.events.where(kind=kind, entity=name))
            ]
            if not losses:
                return None
            span = (min(losses) - self.duration / 20, min(losses) + self.duration / 10)
        span = (max(0.0, span[0]), min(self.duration, span[1]))
        return span if span[1] - span[0] < 0.6 * self.duration else None


def silences(events: Iterable[tuple[float, str, str, str]], end: float) -> list[Silence]:
    """Return the stretches in which some radio was silent, from the events of each.

    Args:
        events: Time, kind, detail and radio of each event, in the order in which they happened.
        end: When the run ended.
    """
    found = []
    phases: dict[str, tuple[float, str]] = {}
    for time, kind, detail, radio in events:
        entered = STARTS.get(kind, "")
        if not entered and kind in ENDS:
            entered = detail if detail in STARTS.values() else "transmitting"
        if not entered:
            continue
        if radio in phases:
            found.append(Silence(phases[radio][0], time, phases[radio][1]))
        if entered == "transmitting":
            phases.pop(radio, None)
        else:
            phases[radio] = (time, entered)
    found += [Silence(start, end, kind) for start, kind in phases.values()]
    return _apart(found)


def _apart(silences: list[Silence]) -> list[Silence]:
    """Return silences of several radios one after the other: where they overlap, the first is meant."""
    apart: list[Silence] = []
    until = 0.0
    for silence in sorted(silences, key=lambda silence: silence.start):
        start = max(silence.start, until)
        if start < silence.end:
            apart.append(Silence(start, silence.end, silence.kind))
            until = silence.end
    return apart


def _flow(result: Result, name: str) -> dict[str, Any]:
    """Return the series of a flow, with the rate that its transport allows itself."""
    columns = columns_of(result.flow_series, "flow", name)
    rates = columns_of(result.control_series, "flow", name, variable="allowed_rate_bps")
    # Both series are sampled at the same instants.
    _, at, place = np.intersect1d(columns["time_s"], rates["time_s"], return_indices=True)
    columns["allowed_rate_bps"] = np.full(len(columns["time_s"]), np.nan)
    columns["allowed_rate_bps"][at] = rates["value"][place]
    return columns


def columns_of(table: Any, key: str, name: str, **equal: str) -> dict[str, Any]:
    """Return the numbers of the rows in which these texts stand."""
    mask = np.ones(table.num_rows, dtype=bool)
    for column, text in {key: name, **equal}.items():
        codes, names = _text(table, column)
        mask &= codes == (names.index(text) if text in names else -1)
    return {
        column: numbers(table.column(column))[mask]
        for column in table.column_names
        if column not in (key, *equal)
    }


def _busiest_bottleneck(result: Result) -> str:
    # Without flows of its own (a program was emulated) the link is the one that there is, if there is one.
    names = (
        (result.flows if result.flows.num_rows else result.links)
        .column("bottleneck" if result.flows.num_rows else "link")
        .to_pylist()
    )
    return str(next((name for name, _ in Counter(names).most_common(1)), ""))


def _text(table: Any, name: str) -> tuple[Any, list[str]]:
    """Return a column of texts as codes and what they stand for."""
    chunk = table.column(name).combine_chunks()
    return numbers(chunk.indices), chunk.dictionary.to_pylist()
