"""What becomes of each packet of a capture: handshakes with copies, acknowledgements of several packets."""

from __future__ import annotations

import math

import pytest

from cogtcp.data.fitting.connections import Connection, connections
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
    arrived, lost = (originals, copies) if first_came else (copies, originals)
    assert arrived == [2.06, 2.06]
    assert all(map(math.isnan, lost))


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
