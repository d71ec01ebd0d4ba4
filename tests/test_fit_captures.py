"""Small captures whose link is known, each for a kind of fault; and neighbours that a random source draws."""

import gzip
import math
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cogtcp
from cogtcp import Scenario, UsageError, fit
from cogtcp.data.fitting import packets, reproduces
from cogtcp.data.fitting.backlog import Delivery, at_least, batches, queued
from cogtcp.data.fitting.connections import Sent
from cogtcp.data.fitting.link import _by_chance
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown, describe
from cogtcp.showing.report.evidence import evidence
from conftest import ROOT

DATA = ROOT / "tests" / "data" / "captures"


def quantities(*names: str, **options: float) -> dict[str, Measured | Bounded | Unknown]:
    found = fit([DATA / name for name in names], **{"held_out": 0, **options})  # type: ignore[arg-type]
    assert found.link is not None
    return {each.name: each.quantity for each in found.estimates}


def measured(quantity: Measured | Bounded | Unknown, truth: float) -> None:
    assert isinstance(quantity, Measured), quantity
    assert quantity.low <= truth <= quantity.high, quantity
    assert quantity.high - quantity.low < 0.2 * truth, "an interval that says something"


# Link of 10 Mbit/s, round-trip time of 72 ms, no loss, no silence.


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("sender-no-timestamps.pcap", "sender"),
        ("receiver-with-timestamps.pcap", "receiver"),
        ("near-receiver-no-timestamps.pcap", "receiver"),
        ("sll2.pcap", "sender"),
        ("pppoe.pcap", "sender"),
        ("radiotap-data-frames.pcap", "sender"),
        ("every-frame-twice.pcap", "sender"),
        ("one-frame-in-ten-twice.pcap", "sender"),
    ],
)
def test_the_link_and_the_end_are_found(name: str, side: str) -> None:
    found = fit(DATA / name, held_out=0)
    assert found.link is not None
    assert found.link.side == side
    by_name = {each.name: each.quantity for each in found.estimates}
    measured(by_name["delay"], 0.036)
    measured(by_name["capacity"], 10e6)
    loss = by_name["loss"]
    assert isinstance(loss, Measured | Bounded)
    assert loss.value == 0 if isinstance(loss, Measured) else loss.at_least is None
    assert isinstance(by_name["silence"], Bounded), "no silence, and how long one could hide"
    assert "jitter" not in by_name


def test_the_end_has_its_evidence() -> None:
    found = fit(DATA / "near-receiver-no-timestamps.pcap", held_out=0)
    assert "receiver: SYN-ACK after 72.0 ms, its ACK after 2.0 ms" in found.text


def test_copies_are_said() -> None:
    found = fit(DATA / "every-frame-twice.pcap", held_out=0)
    assert any("94 of 188 frames are copies" in note for note in found.notes)


def test_two_files_with_a_direction_each_are_one_capture() -> None:
    found = quantities("one-direction-a-to-b.pcap", "one-direction-b-to-a.pcap")
    measured(found["delay"], 0.036)
    measured(found["capacity"], 10e6)
    alone = quantities("one-direction-a-to-b.pcap")
    assert isinstance(alone["delay"], Unknown)
    assert isinstance(alone["capacity"], Bounded)


def test_batches_are_no_silences() -> None:
    found = quantities("arrivals-in-batches-10ms.pcap")
    assert isinstance(found["silence"], Bounded)
    batch = found["batches"]
    assert isinstance(batch, Measured)
    assert batch.value == pytest.approx(0.01, rel=0.1)
    capacity = found["capacity"]
    if isinstance(capacity, Bounded):
        assert capacity.at_least is not None
        assert capacity.at_least < 10e6
    else:
        measured(capacity, 10e6)


def test_an_application_bounds_the_capacity() -> None:
    found = fit(DATA / "application-limited-sender.pcap", held_out=0)
    by_name = {each.name: each.quantity for each in found.estimates}
    capacity = by_name["capacity"]
    assert isinstance(capacity, Bounded)
    assert capacity.at_least is not None
    assert capacity.at_least == pytest.approx(1e6, rel=0.25)
    assert capacity.at_most is None
    measured(by_name["delay"], 0.036)
    flow = found.scenario.to_dict()["flow"][0]
    assert "rate" in flow["traffic"], "the scenario's application is limited too"
    assert found.ranges["topology.single_hop.link.rate"].startswith(f"{round(capacity.at_least)} bit/s..")


def test_rates_that_vary_become_a_trace() -> None:
    found = fit(DATA / "rates-that-vary.pcapng.gz", held_out=0)
    by_name = {each.name: each.quantity for each in found.estimates}
    capacity = by_name["capacity"]
    assert isinstance(capacity, Measured)
    assert capacity.low < 7.8e6 < capacity.high
    measured(by_name["queue"], 120)
    measured(by_name["delay"], 0.025)
    assert isinstance(by_name["silence"], Bounded)
    loss = by_name["loss"]
    assert isinstance(loss, Measured)
    assert loss.value == 0, "no loss but the queue's"
    link = found.scenario.to_dict()["topology"]["single_hop"]["link"]
    assert "trace" in link
    bbr = found.scenario.with_transport("linux-bbr").set("run.duration", "20 s")
    assert cogtcp.run(bbr, trace="summary").metrics["goodput_bps"] == pytest.approx(7.1e6, rel=0.1)


def test_gaps_of_recovery_are_no_silences() -> None:
    found = fit(DATA / "three-gaps.pcapng.gz", held_out=0)
    by_name = {each.name: each.quantity for each in found.estimates}
    measured(by_name["capacity"], 8e6)
    measured(by_name["delay"], 0.022)
    assert isinstance(by_name["silence"], Bounded)
    assert isinstance(by_name["queue"], Bounded), "CoDel has no fixed length"
    loss = by_name["loss"]
    assert isinstance(loss, Measured)
    assert loss.low < 0.003 < loss.high
    bbr = found.scenario.with_transport("linux-bbr").set("run.duration", "20 s")
    assert cogtcp.run(bbr, trace="summary").metrics["goodput_bps"] == pytest.approx(7.5e6, rel=0.1)


# Formats.


def test_packed_captures_say_the_same(tmp_path: Path) -> None:
    plain = (DATA / "receiver-with-timestamps.pcap").read_bytes()
    packed = tmp_path / "some.pcap.gz"
    packed.write_bytes(gzip.compress(plain))
    # A Zstandard frame of raw blocks and a window of 1 KiB (RFC 8878, 3.1.1): its content is not compressed.
    header = b"\x28\xb5\x2f\xfd" + bytes(2)
    blocks, at = b"", 0
    while at < len(plain):
        part = plain[at : at + 1000]
        at += len(part)
        blocks += struct.pack("<I", (len(part) << 3) | (at >= len(plain)))[:3] + part
    other = tmp_path / "some.pcap.zst"
    other.write_bytes(header + blocks)
    found = packets.read(DATA / "receiver-with-timestamps.pcap").packets
    assert packets.read(packed).packets == found
    assert packets.read(other).packets == found
    other.write_bytes(header + blocks[: len(blocks) // 2])
    cut = packets.read(other)
    assert 0 < len(cut.packets) < len(found)
    assert any("cut off" in note for note in cut.notes)


def inner(number: int) -> bytes:
    tcp = struct.pack(">HHIIBBHHH", 5201, 40000, number * 1000, 0, 5 << 4, 0x10, 1000, 0, 0)
    return struct.pack(">BBHHHBBHII", 0x45, 0, 1040, number + 1, 0, 64, 6, 0, 0x0A000001, 0x0A000002) + tcp


def udp(port: int, payload: bytes) -> bytes:
    head = struct.pack(">HHHH", 40000, port, 8 + len(payload), 0)
    size = 20 + 8 + len(payload) + 1000
    return struct.pack(">BBHHHBBHII", 0x45, 0, size, 0, 0, 64, 17, 0, 0x0B000001, 0x0B000002) + head + payload


def gre(payload: bytes) -> bytes:
    size = 20 + 8 + len(payload) + 1000
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, size, 0, 0, 64, 47, 0, 0x0B000001, 0x0B000002)
    return ip + struct.pack(">HHI", 0x2000, 0x0800, 7) + payload


LLC = b"\xaa\xaa\x03\0\0\0\x08\0"
AROUND: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "VLANs of 0x9100": (1, lambda ip: bytes(12) + b"\x91\x00\x00\x05\x81\x00\x00\x06\x08\x00" + ip),
    "PPPoE": (1, lambda ip: bytes(12) + b"\x88\x64\x11\x00\x00\x01\x04\x12\x00\x21" + ip),
    "MPLS": (1, lambda ip: bytes(12) + b"\x88\x47\x00\x01\x00\x40\x00\x02\x01\x40" + ip),
    "PPP": (9, lambda ip: b"\xff\x03\x00\x21" + ip),
    "GRE": (1, lambda ip: bytes(12) + b"\x08\x00" + gre(ip)),
    "GTP-U": (101, lambda ip: udp(2152, struct.pack(">BBHI", 0x30, 255, 1040, 9) + ip)),
    "VXLAN": (101, lambda ip: udp(4789, b"\x08" + bytes(7) + bytes(12) + b"\x08\x00" + ip)),
    "802.11": (127, lambda ip: bytes(2) + b"\x08" + bytes(5) + b"\x08\x01" + bytes(22) + LLC + ip),
}  # fmt: skip


@pytest.mark.parametrize("what", AROUND)
def test_headers_around_ip_are_peeled(what: str, tmp_path: Path) -> None:
    link, around = AROUND[what]
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)]
    for number in range(40):
        data = around(inner(number))
        out.append(struct.pack("<IIII", 0, 1000 * number, len(data), len(data) + 1000) + data)
    file = tmp_path / "some.pcap"
    file.write_bytes(b"".join(out))
    found = packets.read(file)
    assert [packet.seq for packet in found.packets] == [number * 1000 for number in range(40)]
    assert {(packet.size, packet.payload) for packet in found.packets} == {(1040, 1000)}


@given(st.data())
@settings(deadline=None)
def test_no_bytes_break_the_reader(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["pppoe.pcap", "radiotap-data-frames.pcap", "sll2.pcap"]))
    content = bytearray((DATA / name).read_bytes())
    for _ in range(data.draw(st.integers(0, 8))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(content[: data.draw(st.integers(4, len(content)))])
        file.flush()
        try:
            packets.read(file.name)
        except UsageError as error:
            assert file.name in str(error)  # noqa: PT017 (it need not be raised)


# Evidence.


@given(st.floats(0.002, 0.02), st.integers(30, 90), st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_batches_of_any_spacing_are_found(spacing: float, packets_: int, seed: int) -> None:
    chance = random.Random(seed)
    pace = spacing / chance.uniform(4, 12)
    times = sorted((n * pace // spacing + 1) * spacing for n in range(packets_ * 3))
    found = batches(times, 1.0, pace, receiver=chance.random() < 0.5)
    if pace > 0.0006:
        assert found is not None
        assert found.spacing == pytest.approx(spacing, rel=0.05)
    even = [n * pace for n in range(packets_)]
    assert batches(even, 1.0, pace, receiver=True) is None


def test_two_at_a_time_are_a_batch_at_a_receiver_and_a_delayed_ack_at_a_sender() -> None:
    pairs = [0.0064 * (n // 2) for n in range(200)]
    found = batches(pairs, 1.0, 0.0032, receiver=True)
    assert found is not None
    assert found.spacing == pytest.approx(0.0064)
    assert batches(pairs, 1.0, 0.0032, receiver=False) is None


def test_a_packet_waited_if_it_was_sent_before_the_one_in_front_had_left() -> None:
    # Two at once: the second waits for the first. Then one a second later, which an idle host answers late.
    found = [Delivery(1.0, 1500, 0.001), Delivery(1.001, 1500, 0.002), Delivery(2.0, 1500, 0.04)]
    assert queued(found) == [False, True, False]


def test_a_bound_holds_whatever_bursts_do() -> None:
    # 1 Mbit/s for a second, acknowledged 12 packets at a time.
    found = [Delivery(0.144 * (n + 1), 12 * 1500) for n in range(12)]
    assert at_least(found, 0.5, 1500) <= 1e6


def test_quantities_say_what_they_are() -> None:
    assert describe(Measured(3.54e6, 3.24e6, 3.83e6, "bit/s", "")) == "3.54 Mbit/s (95 %: 3.24 to 3.83)"
    assert describe(Bounded("bit/s", "", at_least=1e6)) == "at least 1 Mbit/s"
    assert describe(Bounded("s", "", at_least=0.1, at_most=0.2)) == "at least 100 ms, at most 200 ms"
    assert describe(Unknown("no reply")) == "unknown"
    with pytest.raises(ValueError, match="not within"):
        Measured(5, 1, 2, "s", "")
    with pytest.raises(ValueError, match="needs at_least or at_most"):
        Bounded("s", "")
    with pytest.raises(ValueError, match="contradicts"):
        Bounded("s", "", at_least=2, at_most=1)


# The check that decides.


def test_a_scenario_that_does_not_reproduce_says_so_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A Reno transfer, fitted as if BBR had made it: retransmissions and round-trip times cannot agree.
    file = tmp_path / "three-gaps.pcapng.gz"
    shutil.copy(DATA / file.name, file)
    found = fit(file, transport="linux-bbr")
    assert found.doubt
    first = found.text.splitlines()[0]
    assert first == f"This scenario does not reproduce the capture: {found.doubt}."
    out = tmp_path / "link.toml"
    found.write(out)
    assert out.read_text().splitlines()[0] == f"# {first}"
    assert reproduces(out) == found.doubt
    scenario = Scenario.from_file(out)
    with pytest.raises(UsageError, match="does not reproduce the capture"):
        cogtcp.advise(scenario, budget="2 runs", transports=["linux-reno", "linux-cubic"])
    short = scenario.set("run.duration", "2 s")
    advice = cogtcp.advise(short, budget="8 runs", transports=["linux-reno", "linux-cubic"], anyway=True)
    assert advice.text.startswith("This scenario does not reproduce the capture: ")
    capsys.readouterr()


def test_a_link_that_is_reproduced_has_no_doubt(tmp_path: Path) -> None:
    found = fit(DATA / "rates-that-vary.pcapng.gz")
    assert found.held is not None
    by_name = {each.name: each for each in found.held.compared}
    assert by_name["goodput"].measured == pytest.approx(by_name["goodput"].simulated, rel=0.25)
    assert not math.isnan(by_name["median RTT"].measured)
    found.write(tmp_path / "link.toml")
    assert reproduces(tmp_path / "link.toml") == found.doubt


def test_the_page_shows_what_each_quantity_rests_on() -> None:
    def first_words(name: str) -> list[str]:
        link = fit(DATA / name, held_out=0).link
        assert link is not None
        return [caption.partition(":")[0] for _, caption in evidence(link)]

    assert first_words("three-gaps.pcapng.gz") == [
        "Delay and backlog",
        "Capacity",
        "Queue",
        "Loss",
        "Silences",
    ]
    # Nothing was lost; and a receiver does not show what waits in front of the link.
    assert "Loss" not in first_words("sender-no-timestamps.pcap")
    assert first_words("near-receiver-no-timestamps.pcap")[-2:] == ["Capacity", "Silences"]


def test_losses_that_avoid_short_queues_are_not_the_links() -> None:
    """Random losses meet the queues that other packets meet; CoDel's do not."""

    def sent(lost: Callable[[int, int], bool]) -> bool:
        data = [Sent(float(n), n, n + 1, 1500) for n in range(600)]
        counts = {id(each): n % 9 for n, each in enumerate(data)}
        for n, each in enumerate(data):
            if not lost(n, n % 9):
                each.answered = each.time + 0.1
        return _by_chance(data, set(), counts, 10.0, 1e9)

    assert sent(lambda n, _: n % 31 == 0)
    assert not sent(lambda n, count: count >= 7 and n // 9 % 3 == 0)
    # Too few say nothing.
    assert sent(lambda n, count: count == 8 and n < 40)
