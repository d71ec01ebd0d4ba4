"""Logs of QUIC in qlog: against the drafts' schema, and against what the run counted and tshark reads."""

from __future__ import annotations

import collections
import functools
import itertools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import cogtcp
import qlog_schema
from cogtcp import Result, Scenario, UsageError
from conftest import Command, files
from test_capture import needs_tshark, tshark

HOP = """\
name = "hop"
[run]
duration = "4 s"
[topology.single_hop]
link = {{ rate = "2 Mbit/s", delay = "20 ms", queue = "30 packets", loss = "1 %" }}
[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = {{ quic = {{ {settings} }} }}
{more}
"""


@functools.cache
def hop(settings: str = "", more: str = "", transport: str = "") -> Result:
    scenario = Scenario.from_toml(HOP.format(settings=settings, more=more))
    if transport:
        scenario = scenario.set("flow.0.transport", transport)
    return cogtcp.run(scenario, 1, "packets")


def logs(result: Result, folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        end: qlog_schema.read(result.write_qlog(folder / f"{end}.sqlog", "flow", end=end))[1]
        for end in ("client", "server")
    }


def named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["name"] == f"quic:{name}"]


def numbers(events: list[dict[str, Any]], name: str) -> collections.Counter[tuple[str, str, int]]:
    spaces = {"0RTT": "application", "1RTT": "application"}
    return collections.Counter(
        (event["group_id"], spaces.get(header["packet_type"], header["packet_type"]), header["packet_number"])
        for event in named(events, name)
        for header in [event["data"]["header"]]
    )


REQUESTS = (
    'traffic = {{ requests = {{ response = {{ fixed = "20 kB" }}, '
    'pace = {{ think = {{ fixed = "200 ms" }} }}, connection = "{connection}" }} }}'
)


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ("", ""),
        ('control = "c2"', ""),
        ("ack_frequency = 4", ""),
        ("ecn = true", ""),
        ("", REQUESTS.format(connection="persistent")),
        ("zero_rtt = true", REQUESTS.format(connection="new")),
    ],
)
def test_logs_follow_the_drafts_and_agree_with_each_other(tmp_path: Path, settings: str, more: str) -> None:
    result = hop(settings, more)
    both = logs(result, tmp_path)
    (counted,) = result.rows("quic_flows")
    client, server = both["client"], both["server"]
    assert len(named(client, "packet_lost")) == counted["lost_packets"]
    assert len(named(client, "timer_updated")) == counted["probe_timeouts"]
    assert len(named(client, "connection_started")) == counted["connections"]
    for sender, receiver in ((client, server), (server, client)):
        sent, arrived = numbers(sender, "packet_sent"), numbers(receiver, "packet_received")
        # QUIC uses no packet number twice, and nothing arrives that was not sent.
        assert max(sent.values()) == 1
        assert arrived <= sent
        assert numbers(sender, "packet_lost") <= sent
    on_the_link = [
        row for row in result.rows("packets") if row["source"] == "sender" and row["event"] == "queued"
    ]
    sent_bytes = sum(event["data"]["raw"]["length"] for event in named(client, "packet_sent"))
    assert sent_bytes >= sum(row["payload_bytes"] for row in on_the_link) > 50_000


def test_a_log_shows_how_the_recovery_goes(tmp_path: Path) -> None:
    client = logs(hop(), tmp_path)["client"]
    states = [event["data"]["new"] for event in named(client, "congestion_state_updated")]
    assert states[:3] == ["slow_start", "recovery", "congestion_avoidance"]
    windows = [
        event["data"]["congestion_window"]
        for event in named(client, "recovery_metrics_updated")
        if "congestion_window" in event["data"]
    ]
    (parameters,) = named(client, "recovery_parameters_set")
    assert windows[0] == parameters["data"]["initial_congestion_window"]
    assert any(later < earlier for earlier, later in itertools.pairwise(windows))


def test_the_same_run_writes_the_same_bytes(tmp_path: Path) -> None:
    first, again = hop(), cogtcp.run(hop().scenario, 1, "packets")
    written = [
        run.write_qlog(tmp_path / name, "flow").read_bytes() for run, name in ((first, "a"), (again, "b"))
    ]
    assert written[0] == written[1]


def test_the_checker_refuses_what_the_drafts_do_not_know(tmp_path: Path) -> None:
    good = hop().write_qlog(tmp_path / "good.sqlog", "flow").read_text()
    for old, new in (
        ('"packet_type":"initial"', '"packet_type":"first"'),
        ('"frame_type":"crypto"', '"frame_type":"tls"'),
        ('"acked_ranges":[[0]]', '"acked_ranges":[]'),
        ("quic:packet_received", "quic:packet_arrived"),
        ('"stream_id":2', '"stream":2'),
        ("\x1e", ""),
        ("urn:ietf:params:qlog:file:sequential", "sequential"),
    ):
        assert old in good
        (tmp_path / "bad.sqlog").write_text(good.replace(old, new))
        with pytest.raises((ValueError, jsonschema.ValidationError)):
            qlog_schema.read(tmp_path / "bad.sqlog")


def test_what_has_no_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no flow is QUIC"):
        hop(transport="sack").write_qlog(tmp_path / "x.sqlog", "flow")
    with pytest.raises(UsageError, match=r'trace="packets"'):
        cogtcp.run(hop().scenario, 1).write_qlog(tmp_path / "x.sqlog", "flow")
    with pytest.raises(UsageError, match="unknown QUIC flow 'flwo'; did you mean 'flow'"):
        hop().write_qlog(tmp_path / "x.sqlog", "flwo")
    with pytest.raises(UsageError, match="unknown end 'clint'; did you mean 'client'"):
        hop().write_qlog(tmp_path / "x.sqlog", "flow", end="clint")
    assert files(tmp_path) == []


def test_the_command_line_writes_logs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "hop.toml").write_text(HOP.format(settings="", more=""))
    done = command("run", "hop.toml", "--qlog", "--out", "out", "--json")
    assert done.code == 0, done.err
    assert [(each["flow"], each["end"], Path(each["file"]).name) for each in done.json()["qlogs"]] == [
        ("flow", "client", "flow-client.sqlog"),
        ("flow", "server", "flow-server.sqlog"),
    ]
    for each in done.json()["qlogs"]:
        qlog_schema.read(tmp_path / each["file"])
    manifest = json.loads((tmp_path / "out/cogtcp.json").read_text())
    assert {"flow-client.sqlog", "flow-server.sqlog"} <= set(manifest["files"])
    refused = command("run", "hop.toml", "--set", "flow.0.transport=sack", "--qlog", "--out", "other")
    assert (refused.code, "no flow is QUIC" in refused.err) == (2, True)
    assert not (tmp_path / "other").exists()


@needs_tshark
def test_wireshark_reads_long_and_short_headers(tmp_path: Path) -> None:
    result = hop()
    path = result.write_pcap(tmp_path / "link.pcapng", "link")
    packets = tshark(
        path, "quic.header_form", "quic.long.packet_type", "quic.dcid", "udp.checksum.status",
        "_ws.malformed", only="udp",
    )  # fmt: skip
    assert len(packets) > 100
    # Every datagram is read as QUIC, with its own headers: 1 is long, 0 short.
    forms = [packet["quic.header_form"].split(",") for packet in packets]
    assert all(form in {"0", "1"} for each in forms for form in each)
    assert all(packet["_ws.malformed"] == "" for packet in packets)
    assert all(packet["udp.checksum.status"] != "0" for packet in packets)
    client = logs(result, tmp_path)["client"]
    sent = [event["data"]["header"]["packet_type"] for event in named(client, "packet_sent")]
    types = collections.Counter(
        kind for packet in packets for kind in packet["quic.long.packet_type"].split(",") if kind
    )
    # Initial packets of the client (type 0) and its Handshake packets (type 2), and the server's beside them.
    assert types["0"] >= sent.count("initial") > 0
    assert types["2"] >= sent.count("handshake") > 0
    assert sum(each.count("0") for each in forms) >= sent.count("1RTT")
    started = {event["group_id"] for event in named(client, "connection_started")}
    assert started <= {dcid for packet in packets for dcid in packet["quic.dcid"].split(",")}
