"""CR users with their MAC, and ad hoc networks, on the kernel plane."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from cogtcp import Scenario, ScenarioError, UsageError, run
from cogtcp.kernel.emulation import check, emulate
from cogtcp.model.capture import find_point
from conftest import ROOT, TooBusy, side_by_side
from test_emulation import as_in_time, moves, on_kernel

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

IN_VIRTUAL_TIME = True


def single_hop(**changes: str) -> Scenario:
    """Return the shipped single hop of MSWiM 2009 with the kernel's ACKs and no cap on the window."""
    scenario = Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").with_transport("linux-reno")
    for path, value in {
        "run.duration": "3 s",
        "tcp.max_window": "1000 segments",
        "tcp.delayed_ack": "linux",
        "topology.single_hop.link.queue": "20 packets",
        **changes,
    }.items():
        scenario = scenario.set(path, value)
    return scenario


@on_kernel
@side_by_side
def test_cr_users_serve_the_kernels_packets_as_in_the_simulation() -> None:
    asked = single_hop()
    emulated, simulated = emulate(asked), run(asked)
    for result in (emulated, simulated):
        # Every packet is an exchange or more, also every ACK.
        for direction in result.rows("links"):
            assert direction["attempts"] >= direction["delivered_packets"]
    assert all(direction["delivered_packets"] > 0 for direction in simulated.rows("links"))
    # The radio looks at the primary users of the seed, whatever the packets: the same sensings and handoffs.
    kinds = {"sensing_start", "handoff", "pu_on", "pu_off"}
    radio = moves(emulated, kinds, 3.0)
    assert len(radio) > 5
    assert radio == moves(simulated, kinds, 3.0)
    for name in ("sensings", "handoffs", "sensing_s"):
        assert emulated.rows("radios")[0][name] == simulated.rows("radios")[0][name]
    with as_in_time(emulated):
        goodput, expected = (result.rows("flows")[0]["goodput_bps"] for result in (emulated, simulated))
        assert goodput == pytest.approx(expected, rel=0.25)
        assert emulated.rows("links")[0]["delivered_packets"] > 50
        assert emulated.rows("links")[1]["delivered_packets"] > 0
        assert 5 < emulated.rows("links")[0]["queue_max_packets"] <= 20


def test_both_kinds_of_pair_can_be_emulated() -> None:
    for name in ("cr-single-hop", "cr-as-released"):
        notes = check(Scenario.from_file(ROOT / "scenarios" / f"{name}.toml"))
        assert any("cap on the sender's window" in note for note in notes)


AD_HOC = """\
name = "string"
routing = "aodv"

[run]
duration = "3 s"
sample_interval = "500 ms"

[tcp]
delayed_ack = "linux"

[topology.ad_hoc]
nodes = 4
placement = { chain = "200 m" }

[mac]
rate = "2 Mbit/s"

[phy]
range = "250 m"
carrier_sense_range = "550 m"

[[flow]]
name = "there"
from = "n0"
to = "n3"
transport = "linux-reno"
start = "1 s"

[[flow]]
name = "across"
from = "n2"
to = "n0"
transport = "linux-reno"
traffic = { size = "10 kB" }
"""


@on_kernel
@side_by_side
def test_an_ad_hoc_network_carries_the_kernels_packets_over_several_hops() -> None:
    asked = Scenario.from_toml(AD_HOC)
    emulated, simulated = emulate(asked), run(asked)
    # Nothing at all came: not even what does not hang on times is to be seen.
    if emulated.rows("streams")[0]["delivered_packets"] == 0 and not emulated.is_evidence:
        raise TooBusy(f"the machine is too busy: {emulated.doubt}")
    for result in (emulated, simulated):
        streams = {(row["flow"], row["stream"]): row for row in result.rows("streams")}
        there, back = streams["there", "data"], streams["there", "acknowledgements"]
        assert (there["hops_min"], there["hops_max"], back["hops_min"]) == (3, 3, 3)
        assert there["delivered_packets"] > 0
        assert streams["across", "data"]["hops_min"] == 2
        assert result.rows("routing")[0]["searches"] >= 2
        relay = result.rows("nodes")[1]
        assert relay["relayed"] >= there["delivered_packets"] + back["delivered_packets"]
        assert {"search_start", "route_found"} <= {row["kind"] for row in result.events.to_pylist()}
        assert {row["node"] for row in result.rows("positions")} == {"n0", "n1", "n2", "n3"}
    with as_in_time(emulated):
        assert emulated.rows("flows")[1]["delivered_bytes"] == 10_000
        goodput, expected = (result.rows("flows")[0]["goodput_bps"] for result in (emulated, simulated))
        # Each packet contends with those before it: a factor of two is what a few seconds say.
        assert expected / 2 < goodput < 2 * expected


@on_kernel
@side_by_side
def test_programs_use_an_ad_hoc_network(command: Command, tmp_path: Path) -> None:
    (tmp_path / "string.toml").write_text(AD_HOC)
    ask = (
        "import os, socket; asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); asked.settimeout(50);"
        "asked.connect((os.environ['COGTCP_PEER'], 9)); asked.send(b'x');\n"
        "try: asked.recv(9)\nexcept ConnectionRefusedError: print('nobody listens')"
    )
    done = command(
        "emulate", "string.toml", "--out", "out", "--duration", "60 s", "--", sys.executable, "-c", ask
    )
    assert done.code == 0
    # Two hosts are three hops apart: the datagram, and what the other kernel says.
    assert "the ad hoc network delivered 2 packets" in done.out
    with pytest.raises(UsageError, match="an ad hoc network has no link 'n0'"):
        find_point(Scenario.from_toml(AD_HOC), "n0")
    with pytest.raises(ScenarioError, match="an ad hoc network has no link"):
        emulate(Scenario.from_toml(AD_HOC), journal=tmp_path / "packets")
