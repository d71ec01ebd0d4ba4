"""A checker of qlog files: the drafts' CDDL as JSON Schema, as far as cogtcp writes it.

From draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events, state of July 2026. Nothing beyond
the fields that the drafts name is let through, though their extension points would allow it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema

if TYPE_CHECKING:
    from pathlib import Path

Schema = dict[str, Any]

UINT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}
UINT8: Schema = {"type": "integer", "minimum": 0, "maximum": 0xFF}
UINT16: Schema = {"type": "integer", "minimum": 0, "maximum": 0xFFFF}
FLOAT: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
HEX: Schema = {"type": "string", "pattern": "^([0-9a-f]{2})*$"}


def obj(required: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def one_of(*names: str) -> Schema:
    return {"enum": list(names)}


RAW = obj({}, {"length": UINT, "payload_length": UINT, "data": HEX})
HEADER = obj(
    {"packet_type": one_of("initial", "handshake", "0RTT", "1RTT", "retry", "version_negotiation")},
    {
        "packet_number": UINT, "packet_number_length": UINT8, "length": UINT16, "version": HEX,
        "scid": HEX, "dcid": HEX, "spin_bit": FLAG,
    },
)  # fmt: skip
STREAM_TYPE = one_of("unidirectional", "bidirectional")
RANGE = {"type": "array", "items": UINT, "minItems": 1, "maxItems": 2}
FRAMES: dict[str, tuple[Schema, Schema]] = {
    "padding": ({}, {}),
    "ping": ({}, {}),
    "ack": (
        {},
        {
            "ack_delay": FLOAT,
            "acked_ranges": {"type": "array", "items": RANGE, "minItems": 1},
            "ect1": UINT,
            "ect0": UINT,
            "ce": UINT,
        },
    ),
    "reset_stream": ({"stream_id": UINT, "error": TEXT, "final_size": UINT}, {"error_code": UINT}),
    "stop_sending": ({"stream_id": UINT, "error": TEXT}, {"error_code": UINT}),
    "crypto": ({"offset": UINT, "raw": RAW}, {}),
    "new_token": ({"token": obj({}, {"raw": RAW})}, {}),
    "stream": ({"stream_id": UINT}, {"offset": UINT, "fin": FLAG}),
    "max_data": ({"maximum": UINT}, {}),
    "max_stream_data": ({"stream_id": UINT, "maximum": UINT}, {}),
    "max_streams": ({"stream_type": STREAM_TYPE, "maximum": UINT}, {}),
    "data_blocked": ({"limit": UINT}, {}),
    "stream_data_blocked": ({"stream_id": UINT, "limit": UINT}, {}),
    "streams_blocked": ({"stream_type": STREAM_TYPE, "limit": UINT}, {}),
    "new_connection_id": (
        {"sequence_number": UINT, "retire_prior_to": UINT, "connection_id": HEX},
        {"stateless_reset_token": HEX},
    ),
    "retire_connection_id": ({"sequence_number": UINT}, {}),
    "path_challenge": ({}, {"data": HEX}),
    "path_response": ({}, {"data": HEX}),
    "connection_close": ({}, {"error_space": TEXT, "error_code": UINT}),
    "handshake_done": ({}, {}),
    "unknown": ({"frame_type_bytes": UINT}, {}),
}
FRAME = {
    "oneOf": [
        obj({"frame_type": {"const": name}, **needs}, {"raw": RAW, **may})
        for name, (needs, may) in FRAMES.items()
    ]
}
FRAME_LIST = {"type": "array", "items": FRAME}
ENDPOINT = obj({}, {"ip_v4": TEXT, "port_v4": UINT16, "connection_ids": {"type": "array", "items": HEX}})
ECN = {"type": "array", "items": one_of("Not-ECT", "ECT(1)", "ECT(0)", "CE"), "minItems": 1}
PACKET = {"frames": FRAME_LIST, "raw": RAW}
EVENTS: dict[str, Schema] = {
    "connection_started": obj({"local": ENDPOINT, "remote": ENDPOINT}),
    "connection_state_updated": obj(
        {"new": one_of("attempted", "handshake_started", "handshake_complete", "closed")}, {"old": TEXT}
    ),
    "connection_closed": obj({}, {"initiator": one_of("local", "remote"), "trigger": TEXT}),
    "packet_sent": obj(
        {"header": HEADER},
        {**PACKET, "trigger": one_of("retransmit_reordered", "retransmit_timeout", "pto_probe")},
    ),
    "packet_received": obj({"header": HEADER}, {**PACKET, "trigger": one_of("keys_available")}),
    "packet_dropped": obj(
        {}, {"header": HEADER, "raw": RAW, "trigger": one_of("key_unavailable", "connection_unknown")}
    ),
    "packet_lost": obj({}, {"header": HEADER, "frames": FRAME_LIST, "trigger": TEXT}),
    "udp_datagrams_received": obj(
        {}, {"count": UINT16, "raw": {"type": "array", "items": RAW}, "ecn": ECN}
    ),
    "timer_updated": obj(
        {"event_type": one_of("set", "expired", "cancelled")}, {"timer_type": TEXT, "delta": FLOAT}
    ),
    "migration_state_updated": obj(
        {
            "new": one_of(
                "probing_started", "probing_abandoned", "probing_successful",
                "migration_started", "migration_abandoned", "migration_complete",
            )
        },
        {"old": TEXT, "tuple_id": TEXT, "tuple_remote": ENDPOINT, "tuple_local": ENDPOINT},
    ),
    "recovery_parameters_set": obj(
        {"timer_granularity": UINT16},
        {
            "reordering_threshold": UINT16, "time_threshold": FLOAT, "initial_rtt": FLOAT,
            "max_datagram_size": UINT, "initial_congestion_window": UINT, "minimum_congestion_window": UINT,
            "loss_reduction_factor": FLOAT, "persistent_congestion_threshold": UINT16,
        },
    ),
    "recovery_metrics_updated": obj(
        {},
        {
            "min_rtt": FLOAT, "smoothed_rtt": FLOAT, "latest_rtt": FLOAT, "rtt_variance": FLOAT,
            "pto_count": UINT16, "congestion_window": UINT, "bytes_in_flight": UINT, "ssthresh": UINT,
        },
    ),
    "congestion_state_updated": obj({"new": TEXT}, {"old": TEXT, "trigger": TEXT}),
}  # fmt: skip
EVENT = {
    "oneOf": [
        obj(
            {"time": FLOAT, "name": {"const": f"quic:{name}"}, "data": data},
            {"group_id": TEXT, "tuple": TEXT},
        )
        for name, data in EVENTS.items()
    ]
}
FILE = obj(
    {
        "file_schema": {"const": "urn:ietf:params:qlog:file:sequential"},
        "serialization_format": {"const": "application/qlog+json-seq"},
        "trace": obj(
            {"event_schemas": {"type": "array", "items": TEXT, "minItems": 1}},
            {
                "title": TEXT,
                "description": TEXT,
                "vantage_point": obj(
                    {"type": one_of("client", "server", "network", "unknown")}, {"name": TEXT}
                ),
                "common_fields": obj(
                    {},
                    {
                        "time_format": one_of("relative_to_epoch", "relative_to_previous_event"),
                        "reference_time": obj({"clock_type": TEXT, "epoch": TEXT}),
                        "group_id": TEXT,
                    },
                ),
            },
        ),
    },
    {"title": TEXT, "description": TEXT},
)

_FILE = jsonschema.Draft202012Validator(FILE)
# One validator for each event: the errors of `EVENT` as a whole would name every kind.
_EVENTS = {
    f"quic:{name}": jsonschema.Draft202012Validator(schema)
    for name, schema in zip(EVENTS, EVENT["oneOf"], strict=True)
}


def read(path: Path) -> tuple[Schema, list[Schema]]:
    """Return the header and the events of a qlog file, each checked against the drafts.

    Raises:
        ValueError: A record is not framed as RFC 7464 has it, an event has no schema, or time runs backwards.
        jsonschema.ValidationError: A record is not what its schema says.
    """
    records = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not (line.startswith(b"\x1e") and line.endswith(b"\n")):
            raise ValueError(f"{line[:20]!r}... is no record of a JSON text sequence")
        records.append(json.loads(line[1:]))
    header, *events = records
    _FILE.validate(header)
    now = 0.0
    for event in events:
        if event.get("name") not in _EVENTS:
            raise ValueError(f"the event {event.get('name')!r} has no schema")
        _EVENTS[event["name"]].validate(event)
        if event["time"] < now:
            raise ValueError(f"time runs backwards at {event['time']} ms")
        now = event["time"]
    return header, events
