"""A window of 64 KiB that changes with the first segment and grows with what is taken (`window_tuning`)."""

from __future__ import annotations

import pytest

from cogtcp import Scenario, run

LINK = """
name = "tuned"
[run]
duration = "{duration}"
[tcp]
segment_size = "{segment} B"
initial_window = "100 segments"
receive_buffer = "{buffer}"
window_tuning = {tuned}
[topology.single_hop]
link = {{ rate = "1 Gbit/s", delay = "50 ms", queue = "1000 packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = "sack"
"""


def delivered(tuned: bool, duration: str, buffer: str = "4 MiB", segment: int = 1000) -> int:
    text = LINK.format(tuned=str(tuned).lower(), duration=duration, buffer=buffer, segment=segment)
    result = run(Scenario.from_toml(text), 1)
    return int(result.flows.to_pylist()[0]["delivered_bytes"])


@pytest.mark.parametrize(("segment", "second"), [(1448, 80_472), (1000, 55_832)])
def test_the_window_follows_the_memory_of_packets_before_a_round_trip_was_measured(
    segment: int, second: int
) -> None:
    """A handshake of 100 ms, a flight of the 64 KiB that a SYN-ACK can offer, the next at 250 ms.

    Tuned that one has 5/8 of 128 KiB with 1448 bytes, 0.43 with 1000, less a segment; else it is cwnd, 100
    segments at least, as the buffer holds them all.
    """
    most = 65_536 + second
    assert most - 3 * segment <= delivered(tuned=True, duration="340 ms", segment=segment) <= most
    assert delivered(tuned=False, duration="340 ms", segment=segment) >= 165 * segment


@pytest.mark.parametrize(("tuned", "window"), [(True, 100_000), (False, 200_000)])
def test_the_window_comes_to_half_of_the_buffer(tuned: bool, window: int) -> None:
    """In steady state a window goes in each round trip of 100 ms: half of the buffer where it is tuned."""
    first, last = delivered(tuned, "4 s", "200000 B"), delivered(tuned, "9 s", "200000 B")
    assert last - first == pytest.approx(50 * window, rel=0.03)
