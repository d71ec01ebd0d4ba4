"""Captures over the air: frames of IEEE 802.11 as tshark reads them beside what the simulator counted."""

from __future__ import annotations

import functools
import struct
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp import Result, Scenario, UsageError
from conftest import ROOT
from test_capture import blocks, needs_tshark, tshark

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

CHAIN = """
name = "chain"
routing = "aodv"
[run]
duration = "10 s"
[area]
width = "700 m"
height = "500 m"
[topology.ad_hoc]
nodes = 4
placement = { chain = "200 m" }
[mac]
profile = "PROFILE"
[[flow]]
name = "far"
from = "n0"
to = "n3"
transport = "sack"
[[udp]]
name = "near"
from = "n3"
to = "n2"
pattern = { constant = "20 kbit/s" }
size = "200 B"
"""

_TYPES = {"rts": "0x1b", "cts": "0x1c", "ack": "0x1d", "data": "0x20"}
_AODV = {"request": "1", "reply": "2", "error": "3", "hello": "2"}


@functools.cache
def chain(profile: str = "standard") -> Result:
    return cogtcp.run(Scenario.from_toml(CHAIN.replace("PROFILE", profile)), 1, "packets")


@pytest.mark.parametrize("profile", ["standard", "ns2"])
def test_every_frame_of_the_stations_is_recorded(profile: str) -> None:
    """Frames take the air time that stations counted; failed exchanges have theirs; none overlap at one."""
    result = chain(profile)
    frames = result.rows("frames")
    spent: Counter[str] = Counter()
    over: dict[str, float] = {}
    for frame in frames:
        spent[frame["transmitter"]] += frame["end_s"] - frame["time_s"]
        assert frame["time_s"] >= over.get(frame["transmitter"], 0) - 1e-9
        over[frame["transmitter"]] = frame["end_s"]
    failed = Counter(frame["transmitter"] for frame in frames if frame["failed"])
    for node in result.rows("nodes"):
        assert spent[node["node"]] == pytest.approx(node["air_time_s"], abs=2e-3)
        counted = sum(value for name, value in node.items() if name.startswith("attempts_"))
        assert failed[node["node"]] == counted
    assert sum(failed.values()) > 0
    assert [frame["time_s"] for frame in frames] == sorted(frame["time_s"] for frame in frames)


def test_what_is_recorded_changes_nothing() -> None:
    assert (
        chain().digest
        == cogtcp.run(Scenario.from_toml(CHAIN.replace("PROFILE", "standard")), 1, "summary").digest
    )
    assert "frames" not in cogtcp.run(chain().scenario, 1, "full").tables()


def test_a_packet_that_comes_over_three_hops_by_hand() -> None:
    """The handshake's SYN: RTS, CTS, data, ACK on each hop; duration fields end where the exchange does."""
    frames = chain().rows("frames")
    hops = [f for f in frames if f["flags"] == "S" and f["from"] == "n0" and not f["failed"]]
    assert [(f["transmitter"], f["receiver"], f["ttl"]) for f in hops][:3] == [
        ("n0", "n1", 64), ("n1", "n2", 63), ("n2", "n3", 62),
    ]  # fmt: skip
    place = frames.index(hops[0])
    rts, cts, data, ack = frames[place - 2 : place + 2]
    assert [f["frame"] for f in (rts, cts, data, ack)] == ["rts", "cts", "data", "ack"]
    assert (rts["receiver"], cts["receiver"], ack["receiver"]) == ("n1", "n0", "n0")
    # A duration field counts no propagation, 1 us a frame that follows.
    for frame, behind in ((rts, 3), (cts, 2), (data, 1)):
        until = frame["end_s"] + frame["reserves_s"] + behind * 1e-6
        assert until == pytest.approx(ack["end_s"], abs=1e-9)
    assert ack["reserves_s"] == 0
    assert data["wire_bytes"] == 20 + 20 + _options(data)


def _options(row: dict[str, object]) -> int:
    """Return the bytes of a SYN's options: MSS 4, SACK permitted beside timestamps 12 or alone 4, scale 4."""
    known = {name: row[name] == row[name] for name in ("mss", "tsval", "window_scale")}
    beside = 12 if known["tsval"] else 4 * bool(row["sack_permitted"])
    return 4 * known["mss"] + beside + 4 * known["window_scale"]


def test_copies_have_the_retry_bit_and_their_number() -> None:
    frames = [f for f in chain().rows("frames") if f["frame"] == "data"]
    last: dict[str, dict[str, object]] = {}
    copies = 0
    for frame in frames:
        before = last.get(frame["transmitter"])
        is_copy = before is not None and before["sequence"] == frame["sequence"]
        assert frame["retry"] == is_copy
        if is_copy and before is not None:
            copies += 1
            kept = (
                "protocol",
                "stream",
                "seq",
                "ack",
                "ttl",
                "wire_bytes",
                "octets",
                "receiver",
                "sack",
                "flags",
            )
            assert all(before[name] == frame[name] for name in kept)
        last[frame["transmitter"]] = frame
    assert copies > 0


def test_headers_without_tshark(tmp_path: Path) -> None:
    """A request of AODV, octet by octet."""
    result = chain()
    written = blocks(result.write_pcap(tmp_path / "air.pcapng", "air"))
    rows = result.rows("frames")
    assert [kind for kind, _ in written[:3]] == [0x0A0D0D0A, 1, 4]
    assert struct.unpack_from("<H", written[1][1]) == (127,)
    assert len(written) == 3 + len(rows)
    number = next(i for i, row in enumerate(rows) if row["message"] == "request")
    body = written[3 + number][1]
    interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
    assert (interface, high << 32 | low) == (0, round(rows[number]["time_s"] * 1e9))
    data = body[20 : 20 + captured]
    assert captured == length == 10 + 24 + 8 + 20 + 8 + 24
    assert data[:10] == bytes([0, 0, 10, 0, 6, 0, 0, 0, 0, int(rows[number]["rate_bps"] / 500_000)])
    assert data[10:14] == bytes([0x08, 0, 0, 0])
    assert data[14:26] == b"\xff" * 6 + bytes([2, 0, 0, 0, 0, 1 + int(rows[number]["from"][1:])])
    assert data[34:42] == bytes([0xAA, 0xAA, 3, 0, 0, 0, 8, 0])
    assert data[42 + 16 : 42 + 20] == b"\xff" * 4
    assert data[42 + 20 : 42 + 26] == struct.pack(">HHH", 654, 654, 32)
    assert data[42 + 28 :] == bytes.fromhex(rows[number]["octets"])


@needs_tshark
@pytest.mark.parametrize("profile", ["standard", "ns2"])
def test_tshark_reads_every_frame(profile: str, tmp_path: Path) -> None:
    """Types, addresses, durations, retries, rates, AODV and TCP; the sums of IP and UDP are right."""
    result = chain(profile)
    path = result.write_pcap(tmp_path / "air.pcapng", "air")
    rows = result.rows("frames")
    seen = tshark(
        path, "wlan.fc.type_subtype", "wlan.ra", "wlan.duration", "wlan.fc.retry", "aodv.type",
        "tcp.seq_raw", "tcp.ack_raw", "ip.ttl", "arp.opcode", "ip.checksum.status", "udp.checksum.status",
        "frame.comment", "_ws.malformed", "frame.interface_name", "radiotap.datarate",
    )  # fmt: skip
    assert len(seen) == len(rows)
    for packet, row in zip(seen, rows, strict=True):
        assert packet["wlan.fc.type_subtype"].lower().replace("0x00", "0x") == _TYPES[row["frame"]]
        node = int(row["receiver"][1:]) + 1 if row["receiver"] else None
        assert packet["wlan.ra"] == (f"02:00:00:00:00:{node:02x}" if node else "ff:ff:ff:ff:ff:ff")
        assert int(packet["wlan.duration"]) == pytest.approx(row["reserves_s"] * 1e6, abs=1)
        assert packet["wlan.fc.retry"] in (str(row["retry"]), str(int(row["retry"])))
        assert packet["_ws.malformed"] == ""
        assert packet["frame.interface_name"] == "channel 0"
        assert float(packet["radiotap.datarate"]) == row["rate_bps"] / 1e6
        assert (row["failed"] in packet["frame.comment"]) if row["failed"] else not packet["frame.comment"]
        kind = row["protocol"]
        assert packet["aodv.type"] == (_AODV[row["message"]] if kind == "routing" else "")
        if kind == "arp":
            assert packet["arp.opcode"] == {"request": "1", "reply": "2"}[row["message"]]
        elif kind:
            assert packet["ip.checksum.status"] in ("1", "Good")
            assert packet["ip.ttl"] == str(row["ttl"])
        if kind == "routing":
            assert packet["udp.checksum.status"] in ("1", "Good")
        if kind == "tcp":
            assert (packet["tcp.seq_raw"], packet["tcp.ack_raw"]) == (str(row["seq"]), str(row["ack"]))
    kinds = {row["protocol"] for row in rows}
    assert kinds == {"", "tcp", "udp", "routing"} | ({"arp"} if profile == "ns2" else set())
    assert {row["message"] for row in rows} >= {"request", "reply"}


@needs_tshark
def test_three_radios_have_an_interface_for_each_channel(tmp_path: Path) -> None:
    """Routing goes over the control channel; what is in no RFC has a comment and is not taken for AODV."""
    scenario = Scenario.from_file(ROOT / "scenarios/adhoc-cr.toml").set("run.duration", "15 s")
    result = cogtcp.run(scenario, 1, "packets")
    seen = tshark(
        result.write_pcap(tmp_path / "air.pcapng", "air"),
        "frame.interface_name", "wlan.ta", "aodv.type", "udp.dstport", "frame.comment", "_ws.malformed",
    )  # fmt: skip
    rows = result.rows("frames")
    for packet, row in zip(seen, rows, strict=True):
        assert packet["frame.interface_name"] == f"channel {row['channel']}"
        assert packet["_ws.malformed"] == ""
        if row["frame"] in ("rts", "data"):
            assert packet["wlan.ta"].startswith(f"02:{row['transmitter_radio']:02x}:")
        if row["protocol"] == "routing":
            assert row["transmitter_radio"] == 0
            assert bool(packet["aodv.type"]) == bool(row["octets"])
            if not row["octets"]:
                assert packet["udp.dstport"] == "49151"
                assert f"{row['message']} of routing" in packet["frame.comment"]
    assert {row["transmitter_radio"] for row in rows} == {0, 1, 2}
    assert len({row["channel"] for row in rows}) > 2


def test_it_is_written_on_demand_and_refused_clearly(command: Command, tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN.replace("PROFILE", "standard"))
    done = command("run", "chain.toml", "--pcap", "air", "--out", "out")
    assert done.code == 0, done.err
    assert "capture: out/air.pcapng" in done.out
    assert (tmp_path / "out/frames.parquet").exists()
    assert not (tmp_path / "out/packets.parquet").exists()
    first = (tmp_path / "out/air.pcapng").read_bytes()
    assert command("run", "chain.toml", "--pcap", "air", "--out", "out").code == 0
    assert (tmp_path / "out/air.pcapng").read_bytes() == first
    for wrong in ("n0", "air@n0"):
        done = command("run", "chain.toml", "--pcap", wrong, "--out", "other")
        assert done.code == 2
        assert f"no link '{wrong}'; capture what goes over the 'air'" in done.err
    with pytest.raises(UsageError, match="no frames to capture"):
        cogtcp.run(chain().scenario, 1).write_pcap(tmp_path / "air.pcapng", "air")
