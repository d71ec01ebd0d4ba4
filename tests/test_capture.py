"""Captures: true headers, and tshark's analysis beside what the simulator counted (docs/captures.md)."""

from __future__ import annotations

import functools
import json
import math
import resource
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

import cogtcp
from cogtcp import OutputError, Result, Scenario, UsageError
from cogtcp.model.capture import file_name, find_point
from conftest import PATIENCE, ROOT, Command, files

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt-get install tshark)"
)

HOP = """\
name = "hop"
[run]
duration = "{duration}"
[tcp]
{tcp}
[topology.single_hop]
link = {{ rate = "2 Mbit/s", delay = "20 ms", {link} }}
[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = "{transport}"
"""


@functools.cache
def hop(
    transport: str = "sack",
    link: str = 'queue = "30 packets"',
    tcp: str = 'timestamps = true\ndelayed_ack = "off"',
    duration: str = "6 s",
) -> Result:
    text = HOP.format(transport=transport, link=link, tcp=tcp, duration=duration)
    return cogtcp.run(Scenario.from_toml(text), 1, "packets")


LOSSY = 'queue = "30 packets", loss = "1 %"'


@functools.cache
def train(**changes: Any) -> Result:
    scenario = Scenario.from_file(ROOT / "scenarios/train.toml")
    scenario = scenario.set("run.duration", "60 s").set("run.warmup", "0 s")
    for path, value in changes.items():
        scenario = scenario.set(path.replace("__", "."), value)
    return cogtcp.run(scenario, 1, "packets")


def tshark(path: Path, *fields: str, only: str = "frame") -> list[dict[str, str]]:
    """Return fields of packets as tshark reads them, checksums verified; it must not complain."""
    command = ["tshark", "-n", "-r", str(path), "-Y", only, "-T", "fields", "-E", "separator=|"]
    for protocol in ("ip", "tcp", "udp"):
        command += ["-o", f"{protocol}.check_checksum:TRUE"]
    done = subprocess.run(
        [*command, *(word for field in fields for word in ("-e", field))],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    complaints = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    assert complaints == []
    return [dict(zip(fields, line.split("|"), strict=True)) for line in done.stdout.splitlines()]


def count(packets: list[dict[str, str]], analysis: str) -> int:
    return sum(packet[f"tcp.analysis.{analysis}"] != "" for packet in packets)


def seen(result: Result, node: str, link: str = "link") -> list[dict[str, Any]]:
    """Return the packets that a node sees on a link, as the table has them."""
    point = find_point(result.scenario, link, node)
    return [
        row
        for row in result.rows("packets")
        if row["link"] == link
        and (
            row["event"] == "queued" or row["refused"]
            if row["direction"] == point.outgoing
            else row["event"] == "received"
        )
    ]


def blocks(path: Path) -> list[tuple[int, bytes]]:
    """Return the blocks of a pcapng file: kind and body."""
    data, found = path.read_bytes(), []
    while data:
        kind, length = struct.unpack_from("<II", data)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, length - 4) == (length,)
        found.append((kind, data[8 : length - 4]))
        data = data[length:]
    return found


def checksum(data: bytes) -> int:
    """Return the internet checksum (RFC 1071), by itself: not that of the code that is tested."""
    total = sum(int.from_bytes(data[at : at + 2].ljust(2, b"\0")) for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def test_headers_are_whole_and_their_checksums_right(tmp_path: Path) -> None:
    """Read without tshark: with its payload of zeros behind it, each packet sums up to nothing (RFC 1071)."""
    result = hop(link=LOSSY)
    rows = seen(result, "sender")
    written = blocks(result.write_pcap(tmp_path / "link.pcapng", "link"))
    assert [kind for kind, _ in written[:3]] == [0x0A0D0D0A, 1, 4]
    assert len(written) == 3 + len(rows)
    for (kind, body), row in zip(written[3:], rows, strict=True):
        interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
        data = body[20 : 20 + captured]
        assert (kind, interface, length) == (6, 0, row["wire_bytes"])
        assert (high << 32) + low == round(row["time_s"] * 1e9)
        # The simulator reckons the size of the options by itself.
        assert captured + row["payload_bytes"] == length
        assert checksum(data[:20]) == 0
        content = data[20:] + bytes(row["payload_bytes"])
        assert checksum(data[12:20] + struct.pack(">HH", 6, len(content)) + content) == 0
        # And a wrong one is found.
        assert checksum(data[12:20] + struct.pack(">HH", 6, len(content)) + content + b"\1") != 0


@needs_tshark
def test_every_field_is_what_was_recorded(tmp_path: Path) -> None:
    result = hop(link=LOSSY)
    path = result.write_pcap(tmp_path / "link.pcapng", "link")
    packets = tshark(
        path,
        "frame.time_epoch", "frame.len", "ip.src", "ip.ttl", "ip.len", "ip.dsfield.ecn", "ip.checksum.status",
        "tcp.srcport", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags", "tcp.window_size_value", "tcp.len",
        "tcp.checksum.status", "tcp.options.mss_val", "tcp.options.sack_perm", "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr", "tcp.options.sack_le",
        "tcp.options.sack_re", "_ws.malformed", "_ws.expert.group",
    )  # fmt: skip
    flags = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16, "E": 64, "W": 128}
    number = lambda value: "" if math.isnan(value) else str(int(value))  # noqa: E731
    rows = seen(result, "sender")
    for packet, row in zip(packets, rows, strict=True):
        edges = [block.split("-") for block in row["sack"].split()]
        sent = row["source"] == "sender"
        # Bad would be 0. Of packets whose payload is not there tshark cannot say (2).
        assert packet.pop("tcp.checksum.status") == ("2" if row["payload_bytes"] else "1")
        # Its analysis of sequence numbers (see below) and our comments, but nothing about the packet itself.
        group = packet.pop("_ws.expert.group")
        assert {int(each, 0) for each in group.split(",") if each} <= {0x02000000, 0x0B000000}, packet
        packet["tcp.options.sack_perm"] = packet["tcp.options.sack_perm"].replace(":", "")
        assert packet == {
            "frame.time_epoch": f"{row['time_s']:.9f}",
            "frame.len": str(row["wire_bytes"]),
            "ip.src": "10.0.0.1" if sent else "10.0.0.2",
            "ip.ttl": "64",
            "ip.len": str(row["wire_bytes"]),
            "ip.dsfield.ecn": "0",
            "ip.checksum.status": "1",
            "tcp.srcport": "49152" if sent else "5201",
            "tcp.seq_raw": str(row["seq"]),
            "tcp.ack_raw": str(row["ack"]),
            "tcp.flags": f"0x{sum(flags[flag] for flag in row['flags']):04x}",
            "tcp.window_size_value": str(row["window"]),
            "tcp.len": str(row["payload_bytes"]),
            "tcp.options.mss_val": number(row["mss"]),
            "tcp.options.sack_perm": "0402" if row["sack_permitted"] else "",
            "tcp.options.wscale.shift": number(row["window_scale"]),
            "tcp.options.timestamp.tsval": number(row["tsval"]),
            "tcp.options.timestamp.tsecr": number(row["tsecr"]),
            "tcp.options.sack_le": ",".join(left for left, _ in edges),
            "tcp.options.sack_re": ",".join(right for _, right in edges),
            "_ws.malformed": "",
        }
    # What is compared is there.
    assert sum(row["sack"] != "" for row in rows) > 20
    assert max(row["sack_blocks"] for row in rows) == 3
    assert [row["flags"] for row in rows[:3]] == ["S", "S.", "."]
    assert rows[0]["mss"] == 1460
    assert rows[1]["window_scale"] > 0


def duplicates(rows: list[dict[str, Any]]) -> int:
    """Count pure ACKs with number and window of the one before while data are outstanding (RFC 5681)."""
    found, before, sent = 0, (-1, -1), 0
    for row in rows:
        if row["source"] == "sender":
            sent = max(sent, row["seq"] + row["payload_bytes"])
        else:
            found += (row["ack"], row["window"]) == before and row["payload_bytes"] == 0 and row["ack"] < sent
            before = (row["ack"], row["window"])
    return found


@needs_tshark
@pytest.mark.parametrize("transport", ["newreno", "sack"])
def test_the_analysis_at_the_sender_agrees(transport: str, tmp_path: Path) -> None:
    """Retransmissions, whichever of its names tshark gives them, and duplicate ACKs."""
    result = hop(transport, LOSSY, 'delayed_ack = "off"')
    path = result.write_pcap(tmp_path / "link.pcapng", "link")
    kinds = ("retransmission", "out_of_order", "fast_retransmission", "spurious_retransmission")
    packets = tshark(path, *(f"tcp.analysis.{kind}" for kind in (*kinds, "duplicate_ack", "lost_segment")))
    (flow,) = result.rows("flows")
    again = sum(any(packet[f"tcp.analysis.{kind}"] for kind in kinds) for packet in packets)
    assert again == flow["retransmitted_segments"] > 10
    # A retransmission within a round trip of the highest segment is taken for one out of order, unless it
    # follows two duplicate ACKs within 20 ms.
    assert count(packets, "fast_retransmission") > 0
    assert count(packets, "duplicate_ack") == duplicates(seen(result, "sender")) > 30
    # Where all that was sent is seen nothing is missing.
    assert count(packets, "lost_segment") == 0


@needs_tshark
def test_the_analysis_at_the_receiver_agrees(tmp_path: Path) -> None:
    """Each run of losses leaves a gap; what arrives below the highest number fills one, or comes twice."""
    result = hop("newreno", LOSSY, 'delayed_ack = "off"')
    path = result.write_pcap(tmp_path / "link.pcapng", "link@receiver")
    kinds = ("retransmission", "out_of_order", "fast_retransmission", "spurious_retransmission")
    packets = tshark(path, *(f"tcp.analysis.{kind}" for kind in (*kinds, "lost_segment")))
    gaps = late = highest = 0
    for row in seen(result, "receiver"):
        if row["source"] == "sender" and row["payload_bytes"]:
            gaps += highest > 0 and row["seq"] > highest
            late += row["seq"] < highest
            highest = max(highest, row["seq"] + row["payload_bytes"])
    assert count(packets, "lost_segment") == gaps > 5
    again = sum(any(packet[f"tcp.analysis.{kind}"] for kind in kinds) for packet in packets)
    assert again == late > 5


@needs_tshark
def test_a_run_without_loss_has_nothing_to_analyse_and_our_round_trip_times(tmp_path: Path) -> None:
    result = hop("newreno", 'queue = "1000 packets"', 'delayed_ack = "off"', "3 s")
    path = result.write_pcap(tmp_path / "link.pcapng", "link")
    packets = tshark(path, "tcp.analysis.flags", "tcp.analysis.ack_rtt", "tcp.len", "tcp.flags.syn")
    assert all(packet["tcp.analysis.flags"] == "" for packet in packets)
    times = [
        float(packet["tcp.analysis.ack_rtt"])
        for packet in packets[3:]
        if packet["tcp.analysis.ack_rtt"] and packet["tcp.len"] == "0"
    ]
    (flow,) = result.rows("flows")
    assert len(times) > 300
    assert flow["retransmitted_segments"] == 0
    for theirs, ours in ((min(times), "rtt_min_s"), (max(times), "rtt_max_s")):
        assert theirs == pytest.approx(flow[ours], abs=2e-9)
    assert sum(times) / len(times) == pytest.approx(flow["rtt_mean_s"], rel=1e-6)


@needs_tshark
def test_zero_windows_agree(tmp_path: Path) -> None:
    """A train's clients close their windows before an outage (Freeze-TCP), which stops the source."""
    result = train()
    path = result.write_pcap(tmp_path / "wire.pcapng", "wire1")
    only = "tcp.analysis.zero_window && tcp.srcport == 5201 && tcp.dstport == 49152"
    found = {packet["frame.time_epoch"] for packet in tshark(path, "frame.time_epoch", only=only)}
    rows = [row for row in seen(result, "source", "wire1") if row["flow"] == "download1"]
    closed = {f"{row['time_s']:.9f}" for row in rows if row["source"] == "receiver" and row["window"] == 0}
    events = {
        f"{event['time_s']:.9f}"
        for event in result.rows("events")
        if event["kind"] == "zero_window" and event["flow"] == "download1"
    }
    assert found == closed
    assert len(events) > 1
    assert events <= found


@needs_tshark
def test_marks_and_their_echoes_agree(tmp_path: Path) -> None:
    link = 'queue = "50 packets", mark = "10 packets"'
    result = hop("newreno", link, "ecn = true", "6 s")
    path = result.write_pcap(tmp_path / "link.pcapng", "link", node="receiver")
    packets = tshark(path, "ip.dsfield.ecn", "tcp.flags.ece", "tcp.flags.cwr")
    forward = next(row for row in result.rows("links") if row["direction"] == "forward")
    marks = sum(packet["ip.dsfield.ecn"] == "3" for packet in packets)
    assert marks == forward["marked_packets"] > 5
    rows = seen(result, "receiver")
    for field, flag in (("tcp.flags.ece", "E"), ("tcp.flags.cwr", "W")):
        assert sum(packet[field] in ("1", "True") for packet in packets) == sum(
            flag in row["flags"] for row in rows
        )
    reductions = sum(event["kind"] == "ecn_reduction" for event in result.rows("events"))
    # The SYN that offers ECN has the flag too.
    assert sum("W" in row["flags"] and "S" not in row["flags"] for row in rows) == reductions > 0


@needs_tshark
def test_packets_that_die_have_a_comment(tmp_path: Path) -> None:
    """Lost, met by a silence, or refused by a full queue: each once, on the packet as the node sent it."""
    text = HOP.format(transport="newreno", link='queue = "10 packets", loss = "1 %"', tcp="", duration="6 s")
    silence = '[[radio]]\nname = "r"\nlinks = ["link"]\nsilence = "drop"\n'
    silence += 'sensing = { off = "100 ms", on = "2 s" }\n'
    result = cogtcp.run(Scenario.from_toml(text + silence), 1, "packets")
    path = result.write_pcap(tmp_path / "link.pcapng", "link")
    packets = tshark(path, "frame.time_epoch", "frame.comment", "tcp.seq_raw", only="frame.comment")
    drops = [
        row for row in result.rows("packets") if row["event"] == "dropped" and row["direction"] == "forward"
    ]
    assert {row["cause"] for row in drops} == {"queue", "loss", "silence"}
    expected = sorted((f"dropped at {row['time_s']:.9f} s: {row['cause']}", str(row["seq"])) for row in drops)
    assert sorted((packet["frame.comment"], packet["tcp.seq_raw"]) for packet in packets) == expected
    for packet in packets:
        died = packet["frame.comment"].split()[2]
        refused = packet["frame.comment"].endswith("queue")
        assert (packet["frame.time_epoch"] == died) == refused


@needs_tshark
def test_hops_are_counted_and_every_protocol_is_read(tmp_path: Path) -> None:
    changes = {"radio__0__unreachable": True}
    result = train(**changes)
    wire = result.write_pcap(tmp_path / "wire.pcapng", "wire1")
    packets = tshark(wire, "ip.ttl", "ip.src", "ip.proto", only="tcp && !icmp")
    assert {(packet["ip.src"], packet["ip.ttl"]) for packet in packets} == {
        ("10.0.0.1", "64"), ("10.0.0.4", "62"), ("10.0.0.5", "62"),
    }  # fmt: skip
    told = tshark(
        wire,
        "icmp.type", "icmp.code", "icmp.checksum.status", "frame.len", "ip.src", "ip.dst",
        "tcp.srcport", "tcp.seq",
        only="icmp",
    )  # fmt: skip
    rows = [row for row in seen(result, "source", "wire1") if row["protocol"] == "icmp"]
    assert len(told) == len(rows) > 0
    for message, row in zip(told, rows, strict=True):
        assert row["flow"] == "download1"
        assert row["from"] == "node-b"
        assert row["source"] == ""
        assert message == {
            "icmp.type": "3", "icmp.code": "1", "icmp.checksum.status": "1", "frame.len": "56",
            "ip.src": "10.0.0.2,10.0.0.1", "ip.dst": "10.0.0.1,10.0.0.4",
            "tcp.srcport": "49152", "tcp.seq": str(row["seq"]),
        }  # fmt: skip
    lan = result.write_pcap(tmp_path / "lan.pcapng", "lan1")
    messages = tshark(lan, "udp.length", "udp.checksum.status", "_ws.malformed", only="udp")
    assert messages
    assert all(tuple(each.values()) == ("44", "2", "") for each in messages)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    result = hop(link=LOSSY)
    with pytest.raises(UsageError, match=r"unknown link 'lnk'; did you mean 'link'\? known: link"):
        result.write_pcap(tmp_path / "x.pcapng", "lnk")
    with pytest.raises(UsageError, match=r"did you mean 'receiver'\? known: sender, receiver"):
        result.write_pcap(tmp_path / "x.pcapng", "link@reciever")
    with pytest.raises(UsageError, match=r'trace="packets"'):
        cogtcp.run(result.scenario, 1).write_pcap(tmp_path / "x.pcapng", "link")
    with pytest.raises(OutputError):
        result.write_pcap(tmp_path / "not/there.pcapng", "link")
    assert files(tmp_path) == []


def test_files_are_named_by_links() -> None:
    scenario = hop(link=LOSSY).scenario
    names: list[str] = []
    for given in ("link", "link@receiver", "link"):
        names.append(file_name(find_point(scenario, given), names))
    assert names == ["link.pcapng", "link@receiver.pcapng", "link-2.pcapng"]


def test_the_command_line_writes_captures(command: Command, small: Path, tmp_path: Path) -> None:
    (link,) = [name for name, _, _ in Scenario.from_file(small)._core.links()]
    done = command("run", small, "--pcap", f"{link},{link}@receiver", "--out", "out", "--json")
    assert done.code == 0, done.err
    document = done.json()
    assert [(each["node"], Path(each["file"]).name) for each in document["captures"]] == [
        ("sender", f"{link}.pcapng"),
        ("receiver", f"{link}@receiver.pcapng"),
    ]
    for each in document["captures"]:
        assert blocks(tmp_path / each["file"])[0][0] == 0x0A0D0D0A
    manifest = json.loads((tmp_path / "out/cogtcp.json").read_text())
    assert {f"{link}.pcapng", f"{link}@receiver.pcapng", "packets.parquet"} <= set(manifest["files"])
    first = (tmp_path / f"out/{link}.pcapng").read_bytes()
    assert command("run", small, "--pcap", f"{link},{link}@receiver", "--out", "out").code == 0
    assert (tmp_path / f"out/{link}.pcapng").read_bytes() == first
    wrong = command("run", small, "--pcap", link[:-1], "--out", "other")
    assert wrong.code == 2
    assert f"did you mean '{link}'" in wrong.err
    assert not (tmp_path / "other").exists()


def test_a_full_disk_leaves_nothing(command: Command, small: Path, tmp_path: Path) -> None:
    (link,) = [name for name, _, _ in Scenario.from_file(small)._core.links()]
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (20_000, 20_000))
    done = command("run", small, "--pcap", link, "--out", "out", preexec_fn=limit)
    assert done.code == 1
    assert "free some space" in done.err
    assert "Traceback" not in done.err
    assert files(tmp_path) == ["small.toml"]
