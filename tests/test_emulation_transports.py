"""Transports that are not TCP on real UDP sockets."""

from __future__ import annotations

import math

import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError, run
from cogtcp.kernel.emulation import check, emulate
from conftest import side_by_side
from test_emulation import as_in_time, on_kernel

IN_VIRTUAL_TIME = True

TEXT = """
name = "tfrc"
run = { duration = "8 s", warmup = "2 s" }
tcp = { segment_size = "1000 B" }
[topology.single_hop]
link = { rate = "4 Mbit/s", delay = "20 ms", queue = "30 packets" }
[[flow]]
from = "sender"
to = "receiver"
transport = "tfrc"
"""
LINUX = '[[flow]]\nfrom = "sender"\nto = "receiver"\ntransport = "linux-cubic"\n'


@on_kernel
@side_by_side
def test_tfrc_delivers_what_it_delivers_in_the_simulation() -> None:
    scenario = Scenario.from_toml(TEXT)
    emulated, simulated = emulate(scenario), run(scenario)
    (flow,), (expected,) = emulated.rows("flows"), simulated.rows("flows")
    assert "tcp_flows" not in emulated.tables()
    assert flow["sent_segments"] > 1000
    assert flow["retransmitted_segments"] == 0
    # Packets on the wire have the size that they have in the simulation: 1000 bytes of 1053 at most.
    assert flow["goodput_bps"] <= 4e6 * 1000 / 1053 * 1.01
    assert flow["rtt_min_s"] > 0.04
    kinds = emulated.events.column("kind").to_pylist()
    assert kinds.count("flow_start") == kinds.count("connected") == 1
    # The transport shows of itself what it shows in the simulation, at each sample.
    shown, wanted = (
        {row["variable"] for row in result.rows("control_series")} for result in (emulated, simulated)
    )
    assert shown == wanted == {
        "allowed_rate_bps", "equation_rate_bps", "receive_limit_bps", "loss_event_rate", "smoothed_rtt_s",
    }  # fmt: skip
    assert emulated.control_series.num_rows == 5 * emulated.flow_series.num_rows > 300
    rates = [row["value"] for row in emulated.rows("control_series") if row["variable"] == "allowed_rate_bps"]
    assert max(rates) > 1e6
    assert all(math.isnan(row["cwnd_segments"]) for row in emulated.rows("flow_series"))
    assert all(row["srtt_s"] > 0.04 for row in emulated.rows("flow_series")[-20:])
    kinds_of_loss = {row["kind"] for row in simulated.rows("events")} & {"loss", "timeout"}
    assert kinds_of_loss <= set(kinds)
    with as_in_time(emulated):
        assert flow["goodput_bps"] == pytest.approx(expected["goodput_bps"], rel=0.1)
        assert flow["rtt_mean_s"] == pytest.approx(expected["rtt_mean_s"], rel=0.3)


@on_kernel
@side_by_side
def test_tfrc_at_a_rate_gets_its_rate() -> None:
    scenario = Scenario.from_toml(TEXT + 'traffic = { rate = "800 kbit/s" }\n')
    result = emulate(scenario)
    (flow,) = result.rows("flows")
    with as_in_time(result):
        assert flow["goodput_bps"] == pytest.approx(8e5, rel=0.05)


@on_kernel
@side_by_side
def test_tfrc_and_the_kernels_tcp_share_a_link() -> None:
    result = emulate(Scenario.from_toml(TEXT + LINUX))
    tfrc, tcp = result.rows("flows")
    assert [row["flow"] for row in result.tcp_flows.to_pylist()] == ["f2"]
    assert tfrc["delivered_bytes"] > 100_000
    assert tcp["delivered_bytes"] > 100_000
    with as_in_time(result):
        assert tfrc["goodput_bps"] + tcp["goodput_bps"] == pytest.approx(4e6 * 0.94, rel=0.1)


@on_kernel
@side_by_side
def test_quic_delivers_what_it_delivers_in_the_simulation() -> None:
    scenario = Scenario.from_toml(TEXT).set("flow.0.transport", "quic-quinn-newreno")
    emulated, simulated = emulate(scenario), run(scenario)
    (flow,), (expected,) = emulated.rows("flows"), simulated.rows("flows")
    (counts,) = emulated.quic_flows.to_pylist()
    assert counts["connections"] == 1
    with as_in_time(emulated):
        assert flow["goodput_bps"] == pytest.approx(expected["goodput_bps"], rel=0.05)
        assert counts["handshake_s"] == pytest.approx(
            simulated.quic_flows.to_pylist()[0]["handshake_s"], rel=0.1
        )


@on_kernel
@side_by_side
def test_a_file_over_quic_completes() -> None:
    scenario = Scenario.from_toml(TEXT + 'traffic = { size = "500 kB" }\n').set("flow.0.transport", "quic")
    emulated, simulated = emulate(scenario), run(scenario)
    with as_in_time(emulated):
        expected = simulated.rows("flows")[0]["completion_s"]
        assert emulated.rows("flows")[0]["completion_s"] == pytest.approx(expected, rel=0.1)


@on_kernel
@side_by_side
def test_marks_reach_quic_through_the_kernels_sockets() -> None:
    text = TEXT.replace('"30 packets"', "{ codel = { limit = 200 } }")
    losses, reductions = [], []
    for settings in ({"control": "quinn-newreno", "ecn": True}, {"control": "quinn-newreno"}):
        result = emulate(Scenario.from_toml(text).set("flow.0.transport", {"quic": settings}))
        (counts,) = result.rows("quic_flows")
        losses.append(counts["lost_packets"])
        reductions.append(result.events.column("kind").to_pylist().count("loss"))
    # With ECN the queue marks what it drops otherwise.
    assert losses[0] == 0 < losses[1]
    assert min(reductions) > 1


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({"rebinds_after": "2 s"}, "rebinds_after"),
        ({"control": "test_quic:Still"}, "a control written in Python"),
    ],
)
def test_what_only_the_simulator_has_is_refused(settings: dict[str, str], setting: str) -> None:
    scenario = Scenario.from_toml(TEXT, allow_python=True).set("flow.0.transport", {"quic": settings})
    with pytest.raises(ScenarioError, match=setting):
        check(scenario)


@on_kernel
@side_by_side
def test_tfrc_cr_pauses_for_the_primary_users_of_the_simulation() -> None:
    # One band, so that it falls silent while a primary user is there.
    scenario = Scenario.from_file("scenarios/cr-single-hop.toml").set("flow.0.transport", "tfrc-cr")
    users = {"alpha": 0.25, "beta": 0.25}
    scenario = scenario.set("spectrum.bands", 1).set("spectrum.pu.exponential", users)
    scenario = scenario.set("run.duration", "16 s").set("run.warmup", "2 s")
    emulated, simulated = emulate(scenario), run(scenario)
    (flow,), (expected,) = emulated.rows("flows"), simulated.rows("flows")

    def restarts(result: cogtcp.Result) -> int:
        """Return at how many samples the sender allows itself 300 B/s: it has just restarted."""
        rates = result.rows("control_series")
        return sum(row["variable"] == "allowed_rate_bps" and row["value"] == 2400 for row in rates)

    def timeouts(result: cogtcp.Result) -> list[float]:
        return [row["time_s"] for row in result.rows("events") if row["kind"] == "timeout"]

    assert restarts(simulated) > 5
    assert len(timeouts(simulated)) >= 4
    with as_in_time(emulated):
        assert restarts(emulated) == pytest.approx(restarts(simulated), abs=5)
        assert timeouts(emulated) == pytest.approx(timeouts(simulated), abs=0.1)
        assert flow["goodput_bps"] == pytest.approx(expected["goodput_bps"], rel=0.2)
