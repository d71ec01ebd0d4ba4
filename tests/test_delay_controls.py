"""Congestion controls that react to delay, on cases that their papers or drafts describe."""

from __future__ import annotations

import cogtcp
from cogtcp import Scenario


def shares(
    *flows: tuple[str, float],
    warmup: float = 20,
    duration: float = 120,
    queue: str = "1000 packets",
    rate: str = "20 Mbit/s",
    delay: str = "20 ms",
) -> list[dict[str, float]]:
    """Return the rows of flows over one bottleneck; each flow is a transport and its start, s."""
    text = f"""
name = "one bottleneck"
run = {{ duration = "{duration} s", warmup = "{warmup} s" }}
[topology.dumbbell]
pairs = {len(flows)}
access = {{ rate = "1 Gbit/s", delay = "0.1 ms" }}
bottleneck = {{ rate = "{rate}", delay = "{delay}", queue = {queue if queue[0] == "{" else f'"{queue}"'} }}
"""
    for number, (transport, start) in enumerate(flows, 1):
        text += f"""
[[flow]]
from = "s{number}"
to = "d{number}"
transport = "{transport}"
start = "{start} s"
"""
    return cogtcp.run(Scenario.from_toml(text)).rows("flows")


#: Goodput of 1460-byte segments with headers of 40 bytes on 20 Mbit/s.
CAPACITY = 20e6 * 1460 / 1500
#: Twice 20.2 ms of propagation, and transmission.
BASE_RTT = 0.041


def test_ledbat_plus_plus_alone_keeps_to_its_target_and_uses_nine_tenths() -> None:
    # Draft section 4.4: a slowdown costs at most 10 % of the link, because the next one begins after nine
    # times its duration. The mean queue is below the target of 60 ms, as slowdowns empty it.
    (flow,) = shares(("ledbat-plus-plus", 0))
    assert 0.9 * CAPACITY < flow["goodput_bps"] < 0.99 * CAPACITY
    assert BASE_RTT + 0.045 < flow["rtt_mean_s"] < BASE_RTT + 0.062


def test_ledbat_alone_fills_the_link_with_its_target_of_delay() -> None:
    # RFC 6817: the window rests where delay = target, 100 ms; there are no slowdowns.
    (flow,) = shares(("ledbat", 0))
    assert flow["goodput_bps"] > 0.99 * CAPACITY
    assert BASE_RTT + 0.085 < flow["rtt_mean_s"] < BASE_RTT + 0.105


def test_background_flows_yield_to_cubic() -> None:
    # A queue of 600 ms: CUBIC's losses come far beyond both targets. Two segments a round trip are left.
    for background in ("ledbat-plus-plus", "ledbat"):
        low, cubic = shares((background, 0), ("cubic", 0))
        assert cubic["goodput_bps"] > 0.98 * CAPACITY
        assert low["goodput_bps"] < 0.01 * CAPACITY


def test_the_latecomer_has_an_advantage_under_ledbat_alone() -> None:
    # Draft section 3.1: the second flow takes the first one's queue for the path, and starves it. Slowdowns
    # (section 4.4) show it the path, and the multiplicative decrease (4.3) evens out the windows.
    first, late = shares(("ledbat", 0), ("ledbat", 10), warmup=40, duration=240)
    assert late["goodput_bps"] > 3 * first["goodput_bps"]
    first, late = shares(("ledbat-plus-plus", 0), ("ledbat-plus-plus", 10), warmup=40, duration=240)
    assert 0.85 < late["goodput_bps"] / first["goodput_bps"] < 1.18
    # Both know the base, so the queue of both together is about one target.
    assert late["rtt_mean_s"] < BASE_RTT + 0.062
