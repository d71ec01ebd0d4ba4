"""The registry of `SUBJECT.METRIC`: what each flow, UDP stream and application of a run comes to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp.model.metrics.cells import with_cell_shares
from cogtcp.model.metrics.metric import Metric, Rows, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario

#: Kinds of subjects. The name of a kind stands for all its subjects, unless a subject has this name.
KINDS = {
    "flow": "every flow",
    "file": "flows of a fixed size",
    "web": "applications that ask and are answered",
    "video": "players of video",
    "udp": "UDP streams",
    "call": "calls",
    "media": "calls that adapt",
}

#: The column that names the subject, by table.
_NAMED_BY = {"datagrams": "source", "calls": "source"}
#: Kinds of a flow and of a UDP stream that add metrics to those of every flow and stream.
_MORE = {"file": "flow", "web": "flow", "video": "flow", "media": "flow", "call": "udp"}


@dataclass(frozen=True, slots=True)
class Subject:
    """A flow, a UDP stream or an application, or several that one entry of the scenario stands for.

    Attributes:
        name: Its name in metrics.
        kind: One of `KINDS`.
        members: Names of its flows or streams in the tables.
        fixed: Whether its transport is no choice of a comparison's.
    """

    name: str
    kind: str
    members: tuple[str, ...]
    fixed: bool = False

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Its metrics."""
        return tuple(metric.of_subject(self.name) for metric in _templates(self))


@dataclass(frozen=True, slots=True)
class Column:
    """One column over the rows of a subject that have a value: its mean, or sum."""

    name: str
    combine: Callable[[list[float]], float]

    def __call__(self, rows: Rows) -> float:
        """Return the value of the rows; NaN: none has one."""
        found = [row[self.name] for row in rows if not math.isnan(row[self.name])]
        return float(self.combine(found)) if found else math.nan


def _mean(column: str) -> Column:
    return Column(column, mean)


def _sum(column: str) -> Column:
    return Column(column, math.fsum)


def _share(part: str, whole: str) -> Callable[[Rows], float]:
    def share(rows: Rows) -> float:
        total = sum(row[whole] for row in rows)
        return sum(row[part] for row in rows) / total if total else math.nan

    return share


#: Metrics of subjects by kind. `noticed` ones are what the users of an application notice.
SUBJECT_METRICS: dict[str, tuple[Metric, ...]] = {
    "flow": (
        Metric(
            "goodput", "goodput", "Mbit/s", 1e-6, 3, 1,
            "Payload handed to the receiving application in order and once, per second; the sum over flows.",
            _sum("goodput_bps"),
        ),
        Metric(
            "rtt_mean", "RTT, mean", "ms", 1000, 1, -1,
            "Mean round-trip time that the sender sampled.", _mean("rtt_mean_s"),
        ),
        Metric(
            "rtt_p95", "RTT, 95th percentile", "ms", 1000, 1, -1,
            "95th percentile of the round-trip time.", _mean("rtt_p95_s"),
        ),
        Metric(
            "queuing_delay_mean", "queuing delay, mean", "ms", 1000, 1, -1,
            "Mean time that a delivered data packet waited in queues.", _mean("queuing_delay_mean_s"),
        ),
        Metric(
            "queuing_delay_p95", "queuing delay, 95th percentile", "ms", 1000, 1, -1,
            "95th percentile of the time in queues.", _mean("queuing_delay_p95_s"),
        ),
        Metric(
            "retransmitted", "retransmitted", "%", 100, 2, -1,
            "Share of sent data segments that are retransmissions.",
            _share("retransmitted_segments", "sent_segments"),
        ),
        Metric(
            "share_alone", "share of the rate alone", "%", 100, 1, 1,
            "In a cell: delivered payload over what the user could get alone in the cell.",
            _mean("share_alone"),
        ),
        Metric(
            "share_beside_others", "share of the rate beside the others", "%", 100, 1, 1,
            "In a cell: delivered payload over what the user could get of the blocks that others leave.",
            _mean("share_beside_others"),
        ),
        Metric(
            "fairness", "fairness", "", 1, 3, 1,
            "Jain's index of the goodputs of several flows: 1 when all are equal.",
            lambda rows: _core.jain_fairness([row["goodput_bps"] for row in rows]),
        ),
    ),
    "file": (
        Metric(
            "completion", "completion", "s", 1, 2, -1,
            "Time from start to the last byte's delivery, of what has finished.",
            _mean("completion_s"), noticed=True,
        ),
    ),
    "web": (
        Metric(
            "page_time_p50", "page time, median", "ms", 1000, 0, -1,
            "Median time from a request to the last byte of its response.",
            _mean("completion_p50_s"), table="request_flows", noticed=True,
        ),
        Metric(
            "page_time_p95", "page time, 95th percentile", "ms", 1000, 0, -1,
            "95th percentile of the time from a request to the last byte of its response.",
            _mean("completion_p95_s"), table="request_flows", noticed=True,
        ),
        Metric(
            "page_time_p99", "page time, 99th percentile", "ms", 1000, 0, -1,
            "99th percentile of the time from a request to the last byte of its response.",
            _mean("completion_p99_s"), table="request_flows",
        ),
        Metric(
            "page_time_mean", "page time, mean", "ms", 1000, 0, -1,
            "Mean time from a request to the last byte of its response, of the answered ones.",
            _mean("completion_mean_s"), table="request_flows",
        ),
        Metric(
            "answered", "answered", "%", 100, 1, 1,
            "Share of the requests that were answered in full by the end of the run.",
            _share("answered_requests", "sent_requests"), table="request_flows",
        ),
    ),
    "video": (
        Metric(
            "stall_share", "stalled", "%", 100, 2, -1,
            "Share of the time since the first picture in which the video stalled; 1 if nothing was played.",
            _mean("stall_share"), table="videos", noticed=True,
        ),
        Metric(
            "startup", "startup", "s", 1, 2, -1,
            "Time from the first request to the first picture; if nothing was played, the time so far.",
            _mean("waited_s"), table="videos", noticed=True,
        ),
        Metric(
            "bitrate", "bitrate", "Mbit/s", 1e-6, 3, 1,
            "Mean rate at which the chunks that came are coded.",
            _mean("bitrate_bps"), table="videos", noticed=True,
        ),
        Metric(
            "stalls", "stalls", "", 1, 1, -1,
            "Number of stalls; the sum over videos.", _sum("stalls"), table="videos",
        ),
        Metric(
            "stalled", "time stalled", "s", 1, 2, -1,
            "Time in which the video stalled; the sum over videos.", _sum("stalled_s"), table="videos",
        ),
        Metric(
            "switches", "switches", "", 1, 1, -1,
            "Changes of the bitrate; the sum over videos.", _sum("switches"), table="videos",
        ),
    ),
    "udp": (
        Metric(
            "delay_mean", "delay, mean", "ms", 1000, 1, -1,
            "Mean one-way delay of the packets that arrived.", _mean("delay_mean_s"), table="datagrams",
        ),
        Metric(
            "delay_p50", "delay, median", "ms", 1000, 1, -1,
            "Median one-way delay.", _mean("delay_p50_s"), table="datagrams",
        ),
        Metric(
            "delay_p95", "delay, 95th percentile", "ms", 1000, 1, -1,
            "95th percentile of the one-way delay.", _mean("delay_p95_s"), table="datagrams",
        ),
        Metric(
            "delay_p99", "delay, 99th percentile", "ms", 1000, 1, -1,
            "99th percentile of the one-way delay.", _mean("delay_p99_s"), table="datagrams",
        ),
        Metric(
            "loss", "loss", "%", 100, 2, -1,
            "Packets dropped over those dropped or received.", _mean("loss_ratio"), table="datagrams",
        ),
        Metric(
            "jitter", "jitter", "ms", 1000, 1, -1,
            "Interarrival jitter at the end of the run (RFC 3550 section 6.4.1).",
            _mean("jitter_s"), table="datagrams",
        ),
        Metric(
            "goodput", "goodput", "Mbit/s", 1e-6, 3, 1,
            "Payload received per second; the sum over streams.", _sum("goodput_bps"), table="datagrams",
        ),
    ),
    "call": (
        Metric(
            "mos", "opinion score", "", 1, 2, 1,
            "Mean opinion score by the E-model (ITU-T G.107), 1 (bad) to 4.5 (very satisfied).",
            _mean("mos"), table="calls", noticed=True,
        ),
        Metric(
            "missing", "missing", "%", 100, 2, -1,
            "Packets lost, or too late for the listener's buffer, over those lost or received.",
            _mean("missing_ratio"), table="calls",
        ),
    ),
    "media": (
        Metric(
            "bitrate", "bitrate", "Mbit/s", 1e-6, 3, 1,
            "Payload received per second.", _mean("goodput_bps"), noticed=True,
        ),
        Metric(
            "loss", "loss", "%", 100, 2, -1,
            "Packets dropped over those dropped or received.",
            lambda rows: 1 - mean([row["delivery_ratio"] for row in rows]), noticed=True,
        ),
    ),
}  # fmt: skip

#: Metrics of every UDP stream or flow that the users of a call notice.
_NOTICED_IN_A_CALL = {"call": ("delay_p95", "loss"), "media": ("queuing_delay_p95",)}


def subjects(scenario: Scenario) -> tuple[Subject, ...]:
    """Return the subjects of a scenario: one for each entry that has a name, then one for each kind.

    An entry that stands for several (`count`) is one subject: `users` or `users-*` is `users`.
    """
    data = scenario.to_dict()
    found: dict[str, Subject] = {}
    kinds: dict[str, list[str]] = {}
    for key, letter, kind_of in (("flow", "f", _kind_of_flow), ("udp", "u", _kind_of_stream)):
        first = 1
        for entry in data.get(key, ()):
            count = entry.get("count", 1)
            members = _members(entry.get("name"), letter, first, count)
            first += count
            kind = kind_of(entry)
            for each in dict.fromkeys((_MORE.get(kind, kind), kind)):
                kinds.setdefault(each, []).extend(members)
            name = members[0] if count == 1 else _stem(entry.get("name"))
            if name:
                found.setdefault(name, Subject(name, kind, tuple(members), bool(entry.get("fixed", False))))
    for kind, of_kind in kinds.items():
        found.setdefault(kind, Subject(kind, kind, tuple(of_kind)))
    return tuple(found.values())


#: Transports that carry a call.
_MEDIA = frozenset(("nada",))
_KINDS_OF_TRAFFIC = {
    "size": "file",
    "rate": "flow",
    "saturated": "flow",
    "video": "video",
    "adaptive_video": "video",
}


def _kind_of_flow(entry: Mapping[str, Any]) -> str:
    traffic, transport = entry.get("traffic", "saturated"), entry["transport"]
    if (next(iter(transport)) if isinstance(transport, dict) else transport) in _MEDIA:
        return "media"
    if not isinstance(traffic, dict):
        return "flow"
    name = next(iter(traffic))
    # A kind of traffic without metrics of its own asks and is answered: its table is that of requests.
    return _KINDS_OF_TRAFFIC.get(name, "web")


def noticed_columns() -> list[tuple[Metric, str, str]]:
    """Return what users notice that is a column: the metric, the column, and the column of the subject."""
    found: dict[tuple[str, str], tuple[Metric, str, str]] = {}
    for kind in SUBJECT_METRICS:
        for metric in Subject("", kind, ("",)).metrics:
            if metric.noticed and isinstance(metric.of, Column) and metric.table != "flows":
                short = replace(metric, name=metric.name[1:], title=metric.title.removeprefix(": "))
                key = _NAMED_BY.get(metric.table, "flow")
                found.setdefault((metric.table, short.name), (short, metric.of.name, key))
    return list(found.values())


def _kind_of_stream(entry: Mapping[str, Any]) -> str:
    return "call" if "call" in entry["pattern"] else "udp"


def _members(name: str | None, letter: str, first: int, count: int) -> list[str]:
    """Return the names of an entry's flows or streams, as the engine gives them."""
    if name is None:
        return [f"{letter}{first + k}" for k in range(count)]
    pattern = name if count == 1 or "*" in name else f"{name}-*"
    return [pattern.replace("*", str(k + 1)) for k in range(count)]


def _stem(name: str | None) -> str:
    return (name or "").replace("*", "").strip("-_ .")


def _templates(subject: Subject) -> tuple[Metric, ...]:
    base = _MORE.get(subject.kind)
    own = SUBJECT_METRICS[subject.kind]
    if base is None:
        found = own
    elif subject.kind in _NOTICED_IN_A_CALL:
        of_all, noticed = SUBJECT_METRICS[base], _NOTICED_IN_A_CALL[subject.kind]
        found = (
            *(metric.marked() for metric in of_all if metric.name in noticed),
            *own,
            *(metric for metric in of_all if metric.name not in noticed),
        )
    else:
        found = (*own, *SUBJECT_METRICS[base])
    return tuple(m for m in found if m.name != "fairness" or len(subject.members) > 1)


def measure_subjects(result: Result, flows: Rows | None = None) -> dict[str, float]:
    """Return every metric of the subjects of a run, in base units, by `SUBJECT.METRIC`.

    Args:
        result: The run.
        flows: The rows of its table `flows`, if they are at hand.

    Returns:
        Values in base units; NaN where a subject has no such value.
    """
    tables: dict[str, dict[str, dict[str, Any]]] = {}

    def rows_of(table: str) -> dict[str, dict[str, Any]]:
        if table not in tables:
            rows = flows if table == "flows" and flows is not None else result.rows(table)
            if table == "flows":
                rows = with_cell_shares(rows, result.rows("budget"))
            key = _NAMED_BY.get(table, "flow")
            tables[table] = {row[key]: row for row in rows}
        return tables[table]

    found: dict[str, float] = {}
    for subject in subjects(result.scenario):
        for metric in _templates(subject):
            by_name = rows_of(metric.table)
            rows = [by_name[name] for name in subject.members if name in by_name]
            found[f"{subject.name}.{metric.name}"] = metric.of(rows) if rows else math.nan
    return found
