"""Flows of the kernel plane and what links do with their packets: behaviour, so in virtual time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from cogtcp import Scenario, run
from cogtcp.kernel.emulation import emulate
from cogtcp.kernel.emulation.journal import ARRIVED, CAPACITY, DROPPED, OFFERED, REFUSED, read
from conftest import side_by_side
from test_emulation import PLAIN, SENSING, SHARED, as_in_time, on_kernel, scenario, text

if TYPE_CHECKING:
    from pathlib import Path

IN_VIRTUAL_TIME = True


@on_kernel
@side_by_side
def test_a_flow_fills_the_link() -> None:
    result = emulate(scenario(duration="4 s"))
    flow, link = result.rows("flows")[0], result.rows("links")[0]
    # 8 Mbit/s carry 7.71 of payload: 1460 of 1512 bytes. A window grows into it in 0.2 s.
    with as_in_time(result):
        assert 6.5e6 < flow["goodput_bps"] < 7.75e6
    assert (flow["congestion"], flow["transport"]) == ("cubic", "linux-cubic")
    assert flow["delivered_bytes"] == pytest.approx(flow["goodput_bps"] * flow["measured_s"] / 8)
    with as_in_time(result):
        # 20 ms of propagation, 1.5 ms of transmission.
        assert 0.0215 < flow["rtt_min_s"] < 0.2
    assert link["capacity_bytes"] == pytest.approx(4e6, rel=0.01)
    with as_in_time(result):
        assert 0.8 < link["utilisation"] <= 1.001
    assert link["offered_packets"] >= link["delivered_packets"] + link["drops_queue"]
    series = result.flow_series.to_pylist()
    with as_in_time(result):
        assert len(series) >= 20
        assert all(row["cwnd_segments"] >= 1 for row in series[3:])
    shown = {row["variable"] for row in result.control_series.to_pylist()}
    assert {"rto_s", "receiver_window_segments"} <= shown
    assert {"flow_start", "connected"} <= {row["kind"] for row in result.events.to_pylist()}
    assert result.timing["plane"] == "kernel"
    with as_in_time(result):
        assert result.timing["departures"] > 2000


@on_kernel
@side_by_side
def test_the_kernels_window_grows_as_far_as_the_simulators() -> None:
    """Half of 256 KiB is for data. Over 20 Mbit/s and 100 ms, 250 kB, nothing else bounds what is offered."""
    wide = scenario(link='rate = "20 Mbit/s", delay = "50 ms", queue = "500 packets"')
    result = emulate(wide.set("tcp.window_tuning", True).set("tcp.receive_buffer", "256 KiB"))
    offered = [
        row["value"] for row in result.control_series.to_pylist() if row["variable"] == "peer_window_segments"
    ]
    with as_in_time(result):
        assert 0.9 * 131_072 < max(offered) * 1460 < 1.02 * 131_072


@on_kernel
@side_by_side
def test_a_radio_that_senses_holds_packets() -> None:
    result = emulate(scenario(radio=SENSING))
    link, radio = result.rows("links")[0], result.rows("radios")[0]
    # Silent for 200 ms of each second, from 0.8, 1.8 and 2.8 s on.
    assert radio["sensings"] == 3
    assert radio["sensing_s"] == pytest.approx(0.6, abs=0.02)
    assert link["silence_s"] == pytest.approx(0.6, abs=0.02)
    # A frame on the air completes.
    assert link["capacity_bytes"] == pytest.approx(2.4e6, rel=0.02)
    with as_in_time(result):
        assert 3 * 1460 * 8 < result.metrics["goodput_bps"] < 0.8 * 8e6
    starts = [row["time_s"] for row in result.events.to_pylist() if row["kind"] == "sensing_start"]
    assert starts == pytest.approx([0.8, 1.8, 2.8])


@on_kernel
@side_by_side
def test_losses_are_those_of_the_simulation() -> None:
    """The second packet forward is the ACK of the handshake; 20 and 40 are data in the first windows."""
    result = emulate(scenario(link=f"{PLAIN}, drops = [20, 40]"))
    drops = [row for row in result.events.to_pylist() if row["kind"] == "drop" and row["detail"] == "loss"]
    flow = result.rows("flows")[0]
    with as_in_time(result):
        assert len(drops) == 2
        assert flow["retransmitted_segments"] >= 2
        assert flow["fast_retransmits"] >= 1


@on_kernel
@pytest.mark.parametrize("is_told", [True, False])
@side_by_side
def test_a_sender_that_is_told_of_the_silence_does_not_back_off(tmp_path: Path, is_told: bool) -> None:
    """RFC 6069, which Linux has: a timeout that ICMP explains leaves the RTO alone, once a second here."""
    radio = f"""\
[[radio]]
name = "radio"
links = ["link"]
silence = "drop"
unreachable = {str(is_told).lower()}
sensing = {{ off = "7 s", on = "1 s" }}
"""
    file = tmp_path / "journal"
    result = emulate(scenario(duration="7900 ms", radio=radio), journal=file)
    told = [row["time_s"] for row in result.events.to_pylist() if row["kind"] == "unreachable"]
    assert bool(told) == is_told
    # Of a frame that would have arrived in the silence, one a second at most.
    assert all(time > 1 for time in told)
    with as_in_time(result):
        assert all(later - time > 0.9 for time, later in pairwise(told))
        sent = [
            record.came_ns / 1e9
            for record in read(file)
            if record.step == OFFERED and record.link_direction == 0
        ]
        # From retransmission to retransmission.
        waits = [later - time for time, later in pairwise(sent) if time > 1.2]
        assert len(waits) >= 3
        for wait, longer in pairwise(waits):
            if not is_told:
                assert longer > 1.7 * wait
            elif wait > 1.05:
                assert longer < 1.5 * wait


@on_kernel
@side_by_side
def test_a_file_is_complete_when_it_has_come() -> None:
    result = emulate(scenario(traffic='traffic = { size = "500 kB" }'))
    flow = result.rows("flows")[0]
    assert flow["delivered_bytes"] <= 500_000
    # 0.52 s of transmission with headers, and two round trips at least.
    with as_in_time(result):
        assert flow["delivered_bytes"] == 500_000
        assert 0.55 < flow["completion_s"] < 2
        assert flow["measured_s"] == pytest.approx(flow["completion_s"], abs=0.1)


@on_kernel
@side_by_side
def test_flows_in_both_directions_share_a_run() -> None:
    both = text().replace('name = "flow"', 'name = "there"') + (
        '\n[[flow]]\nname = "back"\nfrom = "receiver"\nto = "sender"\n'
        'transport = "linux-reno"\nstart = "500 ms"\n'
    )
    result = emulate(Scenario.from_toml(both))
    there, back = result.rows("flows")
    with as_in_time(result):
        assert there["goodput_bps"] > 2e6
        assert back["goodput_bps"] > 2e6
    assert (back["congestion"], back["bottleneck_direction"]) == ("reno", "reverse")
    with as_in_time(result):
        assert back["measured_s"] == pytest.approx(2.5, abs=0.1)


@on_kernel
@side_by_side
def test_flows_share_a_bottleneck_of_several_links(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    result = emulate(Scenario.from_toml(SHARED), journal=file)
    flows, links = result.rows("flows"), result.rows("links")
    assert [(flow["bottleneck"], flow["bottleneck_direction"]) for flow in flows] == [
        ("bottleneck", "forward")
    ] * 2
    # 6 Mbit/s for 800 ms of each second, less headers; both ends of the access links are theirs alone.
    with as_in_time(result):
        assert 2e6 < sum(flow["goodput_bps"] for flow in flows) < 4.8e6
        assert min(flow["rtt_min_s"] for flow in flows) > 0.028
    by_name = {(row["link"], row["direction"]): row for row in links}
    assert len(by_name) == 10
    bottleneck = by_name["bottleneck", "forward"]
    assert bottleneck["silence_s"] == pytest.approx(0.8, abs=0.02)
    access = [by_name[f"access-s{number}", "forward"] for number in (1, 2)]
    # What leaves the access links comes to the bottleneck, but for what is under way at the end.
    assert sum(row["delivered_packets"] for row in access) == pytest.approx(
        bottleneck["offered_packets"], abs=2
    )
    # Of the packets that reach a host on the journal's word, each has passed all links of its way.
    seen: dict[tuple[int, int], list[int]] = {}
    for record in read(file):
        if record.step == ARRIVED:
            seen.setdefault((record.came_ns, record.place), []).append(record.link_direction)
    with as_in_time(result):
        assert sum(len(pipes) == 3 for pipes in seen.values()) > 500


@on_kernel
@side_by_side
def test_messages_of_what_silence_destroyed_cross_links(tmp_path: Path) -> None:
    """The node in front of the bottleneck is no host: its messages are packets on the access links."""
    file = tmp_path / "journal"
    silenced = SHARED.replace('"hold"', '"drop"\nunreachable = true')
    result = emulate(Scenario.from_toml(silenced), journal=file, captures=True)
    told = [row["entity"] for row in result.events.to_pylist() if row["kind"] == "unreachable"]
    with as_in_time(result):
        assert set(told) == {"f1", "f2"}
    offered, arrived = set(), 0
    for record in read(file):
        key = (record.came_ns, record.place, record.link_direction)
        if record.step == OFFERED:
            offered.add(key)
        elif record.step == ARRIVED:
            assert key in offered
            is_message = record.data[9] == 1
            assert not is_message or len(record.data) == 56
            arrived += is_message
    assert arrived == len(told)


@on_kernel
@side_by_side
def test_udp_sources_are_datagrams_on_sockets() -> None:
    """1 Mbit/s of 1000 bytes: 125 packets a second, 375 in 3 s, as many as in the simulation."""
    written = text() + (
        '\n[[udp]]\nname = "voice"\nfrom = "receiver"\nto = "sender"\nsize = "1000 B"\n'
        'pattern = { constant = "1 Mbit/s" }\n'
    )
    scenario = Scenario.from_toml(written)
    result = emulate(scenario)
    emulated, simulated = (made.rows("datagrams")[0] for made in (result, run(scenario)))
    assert emulated["source"] == "voice"
    with as_in_time(result):
        assert emulated["sent_packets"] == pytest.approx(simulated["sent_packets"], abs=3)
        assert emulated["received_packets"] + emulated["drops"] > 300
        # 10 ms of propagation and 1 ms of transmission; ACKs share the direction.
        assert 0.010 < emulated["delay_p50_s"] < 0.05
    assert emulated["reordered_packets"] == 0


@on_kernel
@side_by_side
def test_every_packet_of_a_journal_has_one_end(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    result = emulate(scenario(duration="1 s"), journal=file)
    ends: dict[tuple[int, int], int] = {}
    for record in read(file):
        if record.step == CAPACITY:
            continue
        key = (record.came_ns, record.place)
        if record.step == OFFERED:
            assert key not in ends
            ends[key] = 0
        else:
            assert record.step in (ARRIVED, DROPPED, REFUSED)
            ends[key] += 1
    with as_in_time(result):
        assert len(ends) > 100
    assert set(ends.values()) <= {0, 1}
    # Those that the end of the run met on the link.
    assert sum(count == 0 for count in ends.values()) < 120
