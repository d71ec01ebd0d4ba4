"""A window that begins with 65535 bytes, may have 80 KiB, and grows with what is taken (`window_tuning`)."""

from __future__ import annotations

import pytest

from cogtcp import Scenario, run

LINK = """
name = "tuned"
[run]
duration = "{duration}"
[tcp]
segment_size = "1000 B"
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


def delivered(tuned: bool, duration: str, buffer: str = "4 MiB") -> int:
    text = LINK.format(tuned=str(tuned).lower(), duration=duration, buffer=buffer)
    result = run(Scenario.from_toml(text), 1)
    return int(result.flows.to_pylist()[0]["delivered_bytes"])


def test_the_window_grows_to_80_kib_before_a_round_trip_was_measured() -> None:
    """A handshake of 100 ms, a flight of the 65535 bytes that a SYN-ACK can offer, the next at 250 ms.

    Tuned that one has 80 KiB; else it is cwnd, 100 segments at least, as the buffer holds them all.
    """
    assert 140_000 <= delivered(tuned=True, duration="340 ms") <= 65_535 + 81_920
    assert delivered(tuned=False, duration="340 ms") >= 165_000


@pytest.mark.parametrize(("tuned", "window"), [(True, 100_000), (False, 200_000)])
def test_the_window_comes_to_half_of_the_buffer(tuned: bool, window: int) -> None:
    """In steady state a window goes in each round trip of 100 ms: half of the buffer where it is tuned."""
    first, last = delivered(tuned, "4 s", "200000 B"), delivered(tuned, "9 s", "200000 B")
    assert last - first == pytest.approx(50 * window, rel=0.03)
