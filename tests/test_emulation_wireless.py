"""CR users with their MAC on the kernel plane."""

from __future__ import annotations

import pytest

from cogtcp import Scenario, run
from cogtcp.emulation import check, emulate
from conftest import ROOT
from test_emulation import as_in_time, on_kernel


def single_hop(**changes: str) -> Scenario:
    """Return the shipped single hop of MSWiM 2009 with the kernel's ACKs and no cap on the window."""
    scenario = Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").with_transport("linux-reno")
    for path, value in {
        "run.duration": "4 s",
        "tcp.max_window": "1000 segments",
        "tcp.delayed_ack": "linux",
        "topology.single_hop.link.queue": "20 packets",
        **changes,
    }.items():
        scenario = scenario.set(path, value)
    return scenario


@on_kernel
def test_cr_users_serve_the_kernels_packets_as_in_the_simulation() -> None:
    asked = single_hop()
    emulated, simulated = emulate(asked), run(asked)
    for result in (emulated, simulated):
        forward, reverse = result.rows("links")
        # Every packet is an exchange or more, also every ACK.
        assert forward["attempts"] >= forward["delivered_packets"] > 50
        assert reverse["attempts"] >= reverse["delivered_packets"] > 20
    # The radio looks at the primary users of the seed, whatever the packets: the same sensings and handoffs.
    kinds = {"sensing_start", "handoff", "pu_on", "pu_off"}
    radio = [
        [
            (row["kind"], row["entity"], row["time_s"])
            for row in result.events.to_pylist()
            if row["kind"] in kinds and row["time_s"] < 4.0
        ]
        for result in (emulated, simulated)
    ]
    assert len(radio[0]) > 5
    assert sorted(radio[0]) == sorted(radio[1])
    for name in ("sensings", "handoffs", "sensing_s"):
        assert emulated.rows("radios")[0][name] == simulated.rows("radios")[0][name]
    with as_in_time(emulated):
        goodput, expected = (result.rows("flows")[0]["goodput_bps"] for result in (emulated, simulated))
        assert goodput == pytest.approx(expected, rel=0.25)
        assert 5 < emulated.rows("links")[0]["queue_max_packets"] <= 20


def test_both_kinds_of_pair_can_be_emulated() -> None:
    for name in ("cr-single-hop", "cr-as-released"):
        notes = check(Scenario.from_file(ROOT / "scenarios" / f"{name}.toml"))
        assert any("cap on the sender's window" in note for note in notes)
