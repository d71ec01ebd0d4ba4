"""The comparison with ns-2 and ns-3: what it reads, and that its set-ups are scenarios."""

import struct
import sys
from pathlib import Path

import pytest

from cogtcp import Scenario
from conftest import ROOT

sys.path.insert(0, str(ROOT / "benches/references"))

import ns2_live
import ns2_outputs
import ns3_vectors
import ours
from sequences import Sent, compare, retransmitted


def test_every_set_up_is_a_scenario() -> None:
    for test in ns2_outputs.TESTS:
        Scenario.from_toml(ours.text(test.path, list(test.flows), test.until, test.segment)).check()
    for live in ns2_live.TESTS:
        Scenario.from_toml(ours.text(live.path, [live.flow], live.until, live.segment)).check()
    for vectors in ns3_vectors.TESTS:
        Scenario.from_toml(vectors.scenario).check()


def test_an_output_of_ns2_is_read_packet_by_packet() -> None:
    """SYN, then segments of 10.4 ms: 1 goes at once, 2 waits for it, 3 is lost, 1 is retransmitted."""
    test = next(test for test in ns2_outputs.TESTS if test.name == "onedrop_tahoe")
    text = (
        '"packets\n1.00004 1\n1.00004 1\n1.2 1.01\n1.2 1.01\n1.201 1.02\n1.202 1.03\n1.2104 1.02\n'
        "1.5 1.01\n1.5 1.01\n"
        '\n"drops\n1.202 1.03\n1.202 1.03\n'
    )
    points, drops = ns2_outputs._points(text)
    arrivals = ns2_outputs._arrivals(points, drops, test)
    sent = ns2_outputs._numbered([(time, number) for time, _, number in arrivals], test)
    assert sent == [Sent(1.2, 1), Sent(1.201, 2), Sent(1.202, 3), Sent(1.5, 1)]
    assert retransmitted(sent) == 1


def test_response_vectors_of_ns3_are_read(tmp_path: Path) -> None:
    def record(micros: int, seq: int, ack: int, flags: int, payload: int) -> bytes:
        segment = struct.pack(">HHIIHHHH", 1, 2, seq, ack, 5 << 12 | flags, 0, 0, 0)
        return struct.pack("<IIII", 0, micros, len(segment), len(segment) + payload) + segment

    data = b"\xd4\xc3\xb2\xa1" + bytes(20)
    data += record(0, 7, 0, 2, 0) + record(201212, 8, 1, 16, 0) + record(201212, 8, 1, 17, 1000)
    path = tmp_path / "vectors.pcap"
    path.write_bytes(data)
    headers = [str(header) for header in ns3_vectors.read(path)]
    assert headers == ["S 0+0 ack 0", ". 1+0 ack 1", "F. 1+1000 ack 1"]


def test_sequences_are_compared_from_their_first_packets_on() -> None:
    reference = [Sent(1.0, 1), Sent(1.1, 2), Sent(1.2, 3), Sent(1.3, 2), Sent(1.4, 4)]
    later = [Sent(packet.time + 0.5, packet.number) for packet in reference]
    same = compare(reference, later, 2.0)
    assert (same.first, same.share, same.prefix) == (None, 1.0, 5)
    assert same.time_difference == pytest.approx(0)
    other = compare(reference, [*later[:3], Sent(1.9, 4)], 2.0)
    assert other.first == (1.3, 2, 4)
    assert (other.prefix, other.share, other.retransmitted) == (3, 0.8, (1, 0))
