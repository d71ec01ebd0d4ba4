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
    loss: str = "0 %",
    parameters: str = "",
) -> list[dict[str, float]]:
    """Return the rows of flows over one bottleneck, with the mean and longest queue in each row.

    Each flow is a transport and its start, s; `parameters` are the first transport's, for its flows.
    """
    text = f"""
name = "one bottleneck"
run = {{ duration = "{duration} s", warmup = "{warmup} s" }}
[topology.dumbbell]
pairs = {len(flows)}
access = {{ rate = "1 Gbit/s", delay = "0.1 ms" }}
bottleneck = {{ rate = "{rate}", delay = "20 ms", queue = "{queue}", loss = "{loss}" }}
"""
    for number, (transport, start) in enumerate(flows, 1):
        text += f"""
[[flow]]
from = "s{number}"
to = "d{number}"
transport = "{transport}"
start = "{start} s"
"""
        if parameters and transport == flows[0][0]:
            text += f"tcp = {{ parameters = {{ {parameters} }} }}\n"
    result = cogtcp.run(Scenario.from_toml(text))
    link = next(row for row in result.rows("links") if row["link"] == "bottleneck")
    queue_of = {name: link[name] for name in ("queue_mean_packets", "queue_max_packets")}
    return [{**row, **queue_of} for row in result.rows("flows")]


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


def test_copa_keeps_one_and_a_quarter_over_delta_in_the_queue() -> None:
    # Arun and Balakrishnan 2018, section 3 (recalled): the queue moves between 0 and 2.5 / delta segments for
    # each flow, 1.25 / delta on average. An ACK for every second segment adds up to two.
    for delta in (0.5, 0.1):
        (flow,) = shares(("copa", 0), parameters=f"delta = {delta}, competitive = false")
        assert 1.25 / delta - 0.5 < flow["queue_mean_packets"] < 1.25 / delta + 2
        assert flow["queue_max_packets"] <= 2.5 / delta + 2
        assert flow["goodput_bps"] > 0.99 * CAPACITY


def test_copa_flows_share_and_their_queues_add_up() -> None:
    rows = shares(*[("copa", start) for start in (0, 3, 6, 9)], warmup=40, parameters="competitive = false")
    for row in rows:
        assert 0.93 < row["goodput_bps"] / (CAPACITY / 4) < 1.07
    assert 4 * 2.5 - 3 < rows[0]["queue_mean_packets"] < 4 * 2.5 + 3


def test_copa_competes_with_cubic_and_without_its_mode_starves() -> None:
    # Section 2.2: with twice the bandwidth-delay product of queue.
    copa, cubic = shares(("copa", 0), ("cubic", 0), queue="140 packets")
    assert 0.6 < copa["goodput_bps"] / cubic["goodput_bps"] < 1.7
    starved, _ = shares(("copa", 0), ("cubic", 0), queue="140 packets", parameters="competitive = false")
    assert starved["goodput_bps"] < 0.1 * CAPACITY


def test_copa_does_not_take_random_losses_for_congestion() -> None:
    # Of 1 % of losses CUBIC makes a sixth of the link.
    (copa,), (cubic,) = shares(("copa", 0), loss="1 %"), shares(("cubic", 0), loss="1 %")
    assert copa["goodput_bps"] > 0.9 * CAPACITY
    assert cubic["goodput_bps"] < 0.25 * CAPACITY


def test_copa_at_a_low_rate_takes_itself_for_a_competitor() -> None:
    # One segment takes 0.6 ms of 20 Mbit/s, more than a tenth of Copa's own oscillation of 3 ms, and every
    # second segment has no ACK: empty queues are missed. At 100 Mbit/s they are seen.
    slow = shares(("copa", 0), ("copa", 10), warmup=40)
    fast = shares(("copa", 0), ("copa", 10), warmup=40, rate="100 Mbit/s")
    assert slow[0]["queue_mean_packets"] > 100
    assert fast[0]["queue_mean_packets"] < 15
    assert 0.8 < fast[0]["goodput_bps"] / fast[1]["goodput_bps"] < 1.25


def test_dualpi2_holds_classic_flows_at_its_target() -> None:
    # RFC 9332: PI2 holds the classic queue at 15 ms, which are 62.5 packets of 1500 B at 50 Mbit/s.
    rows = shares(*[("cubic", start) for start in range(5)], queue="dualpi2", rate="50 Mbit/s")
    assert 0.8 * 62.5 < rows[0]["queue_mean_packets"] < 1.2 * 62.5
    for row in rows:
        assert 0.8 < row["goodput_bps"] / (2.5 * CAPACITY / 5) < 1.2
