"""What becomes of each packet of a capture: handshakes with copies, acknowledgements of several packets."""

from __future__ import annotations

import math
import struct
import tempfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogtcp.data.fitting import packets as packets_
from cogtcp.data.fitting.connections import Connection, Sent, _echoed, _mark_holes, connections
from cogtcp.data.fitting.packets import ACK, SYN, Packet


def packet(
    time: float, *, sends: bool, seq: int = 0, ack: int = 0, flags: int = ACK, payload: int = 0, echo: int = 0
) -> Packet:
    """Return a packet; its stamp is its time in ms."""
    source, target = (1, sends), (1, not sends)
    stamp = int(time * 1000)
    return Packet(
        time, source, target, seq, ack, flags, payload, payload + 52, (), stamp, echo, 0, 65535, None
    )


def transfer(first: int = 0) -> list[Packet]:
    """Return 40 packets of 1000 bytes from a number on, each acknowledged after 40 ms."""
    found = []
    for n in range(40):
        time = 0.1 + n / 100
        found.append(packet(time, sends=True, seq=first + n * 1000, payload=1000))
        found.append(
            packet(time + 0.04, sends=False, ack=first + n * 1000 + 1000, echo=int(time * 1000)),
        )
    return found


def read(packets: list[Packet]) -> Connection:
    return connections(sorted(packets, key=lambda each: each.time))[0]


@pytest.mark.parametrize(("again", "tells"), [(4e-6, True), (0.5, False)])
def test_a_copy_of_a_syn_hides_no_handshake_and_a_repeated_one_does(again: float, tells: bool) -> None:
    opening = [
        packet(0.0, sends=True, flags=SYN, seq=-1 % (1 << 32)),
        packet(0.04, sends=False, flags=SYN | ACK),
        packet(0.04, sends=True, ack=1),
    ]
    # Copies of one SYN-ACK are alike; of two, nobody knows which the ACK is for.
    copy = opening[1]
    opening.append(
        Packet(
            copy.time + again, copy.source, copy.target, copy.seq, copy.ack, copy.flags, 0, copy.size, (),
            copy.tsval, copy.tsecr, 0, copy.window, None,
        )
    )  # fmt: skip
    found = read([*opening, *transfer()])
    assert math.isnan(found.handshake_s) is not tells
    if tells:
        assert found.handshake_s == pytest.approx(0.04)


@pytest.mark.parametrize("first_came", [False, True])
def test_the_echoed_stamp_is_that_of_the_packet_at_the_edge(first_came: bool) -> None:
    """RFC 7323, 4.3: one acknowledgement of two retransmitted packets echoes the first one's stamp."""
    sent = [packet(t, sends=True, seq=s, payload=1000) for t, s in ((1.0, 40_000), (1.001, 41_000))]
    again = [packet(t, sends=True, seq=s, payload=1000) for t, s in ((2.0, 40_000), (2.01, 41_000))]
    answer = packet(2.06, sends=False, ack=42_000, echo=1000 if first_came else 2000)
    later = [
        packet(2.1, sends=True, seq=42_000, payload=1000),
        packet(2.14, sends=False, ack=43_000, echo=2100),
    ]
    found = read([*transfer(), *sent, *again, answer, *later])
    fates = {(each.time, each.seq): each.answered for each in found.data if 40_000 <= each.seq < 42_000}
    originals = [fates[1.0, 40_000], fates[1.001, 41_000]]
    copies = [fates[2.0, 40_000], fates[2.01, 41_000]]
    assert copies == [2.06, 2.06]
    # Without DSACK nobody knows that the copies of what had come were lost: they may have brought the answer.
    assert originals == [2.06, 2.06] if first_came else all(map(math.isnan, originals))


def test_a_receivers_round_trips_have_the_bytes_of_their_data() -> None:
    packets = []
    for n in range(40):
        # The data that answer an acknowledgement come 50 ms after it.
        packets.append(packet(n / 10, sends=False, ack=n * 1000, echo=0))
        packets.append(packet(n / 10 + 0.05, sends=True, seq=n * 1000, payload=1000, echo=n * 100))
    found = read(packets)
    assert len(found.returns) > 30
    assert {size for _, size in found.returns} == {1052}
    assert all(wait == pytest.approx(0.05) for wait, _ in found.returns)


@given(
    delay=st.floats(0.002, 0.2),
    near=st.floats(0, 0.2),
    at_sender=st.booleans(),
    opener_sends=st.booleans(),
    stamps=st.booleans(),
)
@settings(deadline=None)
def test_the_end_of_any_capture_with_a_handshake_is_right(
    delay: float, near: float, at_sender: bool, opener_sends: bool, stamps: bool
) -> None:
    """Neighbours of `near-receiver-no-timestamps.pcap`: who opened, who sends, at which end, with what."""
    far, here = 2 * delay, 2 * delay * near
    # The opener is near the capture if it is the end at which the capture was taken.
    opener_near = opener_sends == at_sender
    second, third = (far, here) if opener_near else (here, far)
    at = second + third
    packets = [
        packet(0.0, sends=opener_sends, flags=SYN, seq=-1 % (1 << 32)),
        packet(second, sends=not opener_sends, flags=SYN | ACK, seq=-1 % (1 << 32)),
        packet(at, sends=opener_sends, ack=0),
    ]
    for n in range(40):
        time = at + n / 100
        wait = far if at_sender else here
        packets.append(packet(time, sends=True, seq=n * 1000, payload=1000))
        packets.append(packet(time + wait, sends=False, ack=n * 1000 + 1000, echo=int(time * 1000)))
    if not stamps:
        packets = [replace(each, tsval=None, tsecr=None) for each in packets]
    found = read(packets)
    assert found.side == ("sender" if at_sender else "receiver")
    assert found.handshake_s == pytest.approx(far)


@given(
    copied=st.lists(st.booleans(), min_size=60, max_size=60),
    late_us=st.integers(1, 900),
    identified=st.booleans(),
)
@settings(deadline=None)
def test_copies_of_any_frames_count_once(copied: list[bool], late_us: int, identified: bool) -> None:
    """Neighbours of `every-frame-twice.pcap` and `one-frame-in-ten-twice.pcap`."""
    records = []
    for n, twice in enumerate(copied):
        tcp = struct.pack(">HHIIBBHHH", 5201, 40000, n * 100, 0, 5 << 4, 0x10, 1000, 0, 0)
        ip = struct.pack(
            ">BBHHHBBHII", 0x45, 0, 140, n + 1 if identified else 0, 0, 64, 6, 0, 0x0A000001, 0x0A000002
        )
        for copy in range(1 + twice):
            records.append((n * 2000 + copy * late_us, ip + tcp))
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for time, data in sorted(records):
        out.append(struct.pack("<IIII", 0, time, len(data), len(data) + 100) + data)
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(b"".join(out))
        file.flush()
        found = packets_.read(file.name)
    assert [each.seq for each in found.packets] == [n * 100 for n in range(60)]
    assert any("copies" in note for note in found.notes) == any(copied)


def test_an_echo_tells_the_last_copy_that_may_have_filled_the_hole() -> None:
    copies = [Sent(0.0, 0, 1448, 1500, stamp=100), Sent(0.3, 0, 1448, 1500, True, stamp=400)]

    def answer(tsecr: int | None) -> Packet:
        end = ("192.0.2.1", 1), ("192.0.2.2", 2)
        return Packet(1.0, *end, 0, 1448, ACK, 0, 52, tsecr=tsecr)  # type: ignore[arg-type]

    assert _echoed(copies, answer(100)) is copies[0]
    assert _echoed(copies, answer(399)) is copies[0]
    assert _echoed(copies, answer(400)) is copies[1]
    assert _echoed(copies, answer(99)) is None
    assert _echoed(copies, answer(None)) is None
    assert _echoed(copies[:1], answer(400)) is None, "a single copy needs no telling"
    # The clock of stamps wraps.
    late = [Sent(0.0, 0, 1, 52, stamp=(1 << 32) - 5), Sent(0.3, 0, 1, 52, True, stamp=5)]
    assert _echoed(late, answer(4)) is late[0]
    assert _echoed(late, answer(5)) is late[1]


def test_bytes_below_the_highest_at_a_receiver_were_sent_again() -> None:
    data = [Sent(n * 0.1, seq, seq + 10, 62) for n, seq in enumerate((0, 20, 10, 30, 20, 40))]
    _mark_holes(Connection("receiver", data, []))
    assert [sent.resent for sent in data] == [False, False, True, False, True, False]


def test_a_connection_until_a_time_has_what_was_known_then() -> None:
    data = [Sent(n * 0.1, n, n + 1, 53, answered=n * 0.1 + 0.05) for n in range(60)]
    data[5].answered = math.nan
    data[36].answered = math.nan
    whole = Connection("sender", data, [sent.answered for sent in data if not sent.lost])
    known = whole.until(4.0)
    assert known is not None
    # 0 to 39: the last was sent at 3.9 and answered at 3.95. A loss is one after a second: 36 is not yet.
    assert [sent.seq for sent in known.data] == [n for n in range(40) if n != 36]
    assert len(known.answers) == 38
    assert whole.until(2.95) is not None
    assert whole.until(2.85) is None, "29 packets are too few"
