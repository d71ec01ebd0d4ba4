"""Logs of QUIC's ends as qlog (draft-ietf-quic-qlog-main-schema): JSON text sequences, one event a line.

The simulator writes each event's data; this module adds time, name and connection, and the file's header.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cogtcp import _files
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.model import provenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.model.result import Result

#: Schemas of the file and of the events, as the drafts name them.
FILE_SCHEMA = "urn:ietf:params:qlog:file:sequential"
EVENT_SCHEMA = "urn:ietf:params:qlog:events:quic"
#: The ends of a flow: its sender is QUIC's client.
ENDS = ("client", "server")

# RFC 7464: a record separator before each text, a line feed after it.
_SEPARATOR = "\x1e"


def flows(result: Result) -> list[str]:
    """Return the names of the flows that have a log.

    Raises:
        UsageError: No flow is QUIC, or no packets were recorded.
    """
    found = list(dict.fromkeys(name for (name,) in result.each("quic_log", ["flow"])))
    if found:
        return found
    if any(True for _ in result.each("quic_flows", ["flow"])):
        raise UsageError('this result has no log of QUIC; run the scenario with trace="packets"')
    raise UsageError(
        f'{result.scenario.name}: no flow is QUIC, and qlog is QUIC\'s log; write transport = "quic"'
    )


def file_name(flow: str, end: str) -> str:
    """Return the name of the log of one end of a flow."""
    return f"{_files.safe_name(flow, 'flow')}-{end}.sqlog"


def files(result: Result) -> dict[str, tuple[str, str]]:
    """Return flow and end of each log of a run, by name of file."""
    return {file_name(flow, end): (flow, end) for flow in flows(result) for end in ENDS}


def lines(result: Result, flow: str, end: str) -> Iterator[bytes]:
    """Return the log of one end, piece by piece.

    Args:
        result: A run of which the packets were recorded.
        flow: Name of a QUIC flow.
        end: `client` (the sender of the flow's data) or `server`.

    Raises:
        UsageError: There is no such flow or end, or no log.
    """
    flow, end = pick(flow, flows(result), "QUIC flow"), pick(end, ENDS, "end")
    return _lines(result, flow, end)


def _lines(result: Result, flow: str, end: str) -> Iterator[bytes]:
    yield _record(
        json.dumps(
            {
                "file_schema": FILE_SCHEMA,
                "serialization_format": "application/qlog+json-seq",
                "title": f"cogtcp {provenance.version()}",
                "description": f"scenario {result.scenario.name} ({result.scenario.hash}), "
                f"seed {result.seed}, flow {flow}",
                "trace": {
                    "vantage_point": {"name": f"{flow} {end}", "type": end},
                    "common_fields": {
                        "time_format": "relative_to_epoch",
                        # Simulated time begins at zero.
                        "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                    },
                    "event_schemas": [EVENT_SCHEMA],
                },
            }
        )
    )
    for of, at, time_s, connection, name, data in result.each(
        "quic_log", ["flow", "end", "time_s", "connection", "name", "data"]
    ):
        if (of, at) == (flow, end):
            # The double in the table tells nanoseconds apart for the first 48 days.
            whole, part = divmod(round(time_s * 1e9), 1_000_000)
            yield _record(
                f'{{"time":{whole}.{part:06d},"name":"{name}","group_id":"{connection}","data":{data}}}'
            )


def _record(text: str) -> bytes:
    return f"{_SEPARATOR}{text}\n".encode()
