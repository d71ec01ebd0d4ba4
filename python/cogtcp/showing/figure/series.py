"""What is shown of a run over time, taken out of its tables: series, silences, events."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cogtcp.model.result import Result
    from cogtcp.showing.plot.saved import Saved

#: More lines than this cannot be told apart.
MOST_FLOWS = 6

# A silence that starts or ends with one of these events.
STARTS = {"sensing_start": "sensing", "switching_start": "switching", "signal_lost": "lost"}
ENDS = {"sensing_end", "switching_end", "handoff", "signal_back"}

Span = tuple[float, float]
Columns = dict[str, "array[float]"]

# What is drawn of the series.
_OF_FLOWS = ("time_s", "cwnd_segments", "ssthresh_segments", "srtt_s", "goodput_bps")
_OF_LINKS = ("time_s", "queue_packets", "rate_bps")


@dataclass(frozen=True)
class Silence:
    """A stretch of time in which a radio does not transmit."""

    start: float
    end: float
    kind: str  # "sensing", "switching" or "lost"


@dataclass(frozen=True)
class Events:
    """What happened in a run, by column: times, numbers, and texts as codes into their names."""

    time: Sequence[float]
    value: Sequence[float]
    codes: dict[str, Sequence[int]]
    names: dict[str, Sequence[str]]

    @classmethod
    def of(cls, result: Result | Saved) -> Events:
        """Take the events of a run."""
        texts = {name: result.texts("events", name) for name in ("kind", "entity", "flow", "detail")}
        return cls(
            time=result.numbers("events", "time_s"),
            value=result.numbers("events", "value"),
            codes={name: codes for name, (codes, _) in texts.items()},
            names={name: names for name, (_, names) in texts.items()},
        )

    def where(self, **texts: str) -> list[float]:
        """Return the times of the events whose columns have these texts."""
        if any(text not in self.names[name] for name, text in texts.items()):
            return []
        found: Iterable[int] = range(len(self.time))
        for name, text in texts.items():
            codes, code = self.codes[name], self.names[name].index(text)
            found = [i for i in found if codes[i] == code]
        return [self.time[i] for i in found]

    def rows(self, kinds: set[str]) -> list[tuple[float, str, str, str]]:
        """Return (time, kind, detail, entity) of the events of some kinds."""
        wanted = {code for code, name in enumerate(self.names["kind"]) if name in kinds}
        columns = [(self.names[name], self.codes[name]) for name in ("kind", "detail", "entity")]
        return [
            (self.time[i], *(names[codes[i]] for names, codes in columns))  # type: ignore[misc]
            for i, code in enumerate(self.codes["kind"])
            if code in wanted
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
    flows: dict[str, Columns]
    hidden_flows: int
    link: str
    link_series: Columns
    silences: list[Silence]
    events: Events

    @classmethod
    def of(cls, result: Result | Saved) -> Series:
        """Take the drawn series from a run."""
        codes, texts = result.texts("flows", "flow")
        names = [texts[code] for code in codes]
        shown = names[:MOST_FLOWS]
        link = _busiest_bottleneck(result)
        events = Events.of(result)
        return cls(
            duration=result.duration_s,
            flows={name: _flow(result, name) for name in shown},
            hidden_flows=len(names) - len(shown),
            link=link,
            link_series=columns_of(result, "link_series", _OF_LINKS, link=link, direction="forward"),
            silences=silences(events.rows({*STARTS, *ENDS}), result.duration_s),
            events=events,
        )

    @property
    def has_link(self) -> bool:
        """Whether there is a link to show: an ad hoc network has none."""
        return len(self.link_series["time_s"]) > 0

    def within(self, span: Span) -> Series:
        """Return the series of a span of time, with one sample more at either end."""

        def cut(columns: Columns) -> Columns:
            first, last = (bisect_left(columns["time_s"], time) for time in span)
            return {name: values[max(0, first - 1) : last + 1] for name, values in columns.items()}

        flows = {name: cut(columns) for name, columns in self.flows.items()}
        return replace(self, flows=flows, link_series=cut(self.link_series))

    def exceeds_rate(self) -> bool:
        """Whether a flow was handed data faster than the link ever carried it."""
        if not self.has_link:
            return False
        limit = 1.1 * self.fastest()
        return any(value > limit for columns in self.flows.values() for value in columns["goodput_bps"])

    def fastest(self) -> float:
        """Return the highest rate of the link, 0 without one."""
        return max((rate for rate in self.link_series["rate_bps"] if rate > 0), default=0.0)

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


def _flow(result: Result | Saved, name: str) -> Columns:
    """Return the series of a flow, with the rate that its transport allows itself."""
    columns = columns_of(result, "flow_series", _OF_FLOWS, flow=name)
    rates = columns_of(result, "control_series", flow=name, variable="allowed_rate_bps")
    # Both series are sampled at the same instants.
    rate_at = dict(zip(reversed(rates["time_s"]), reversed(rates["value"]), strict=True))
    columns["allowed_rate_bps"] = array("d", [rate_at.get(time, math.nan) for time in columns["time_s"]])
    return columns


def columns_of(
    result: Result | Saved, table: str, columns: Sequence[str] = ("time_s", "value"), **equal: str
) -> Columns:
    """Return numbers of the rows in which these texts stand."""
    mask: Sequence[bool] | None = None
    for column, text in equal.items():
        codes, names = result.texts(table, column)
        if text not in names:
            return {column: array("d") for column in columns}
        if len(names) == 1:
            continue
        code = names.index(text)
        if mask is None:
            mask = [each == code for each in codes]
        else:
            mask = [known and each == code for known, each in zip(mask, codes, strict=True)]
    numbers = {column: result.numbers(table, column) for column in columns}
    return {
        column: array("d", values if mask is None else compress(values, mask))
        for column, values in numbers.items()
    }


def _busiest_bottleneck(result: Result | Saved) -> str:
    # Without flows of its own (a program was emulated) the link is the one that there is, if there is one.
    codes, names = result.texts("flows", "bottleneck")
    if not len(codes):
        codes, names = result.texts("links", "link")
    return next((names[code] for code, _ in Counter(codes).most_common(1)), "")
