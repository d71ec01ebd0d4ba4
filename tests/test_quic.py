"""QUIC: controls in Python, marks (ECN), a client whose address changes, and settings that make no sense."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError
from conftest import ROOT
from test_qlog import logs, named

if TYPE_CHECKING:
    from pathlib import Path

HOP = """\
name = "hop"
[run]
duration = "6 s"
[topology.single_hop]
link = {{ rate = "4 Mbit/s", delay = "20 ms", queue = {queue} }}
[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = {{ quic = {{ {settings} }} }}
"""


def hop(settings: str = "", queue: str = '"60 packets"') -> Scenario:
    return Scenario.from_toml(HOP.format(settings=settings, queue=queue), allow_python=True)


class Still(cogtcp.CongestionControl):
    """Keeps a window of so many packets, whatever happens."""

    made = 0

    def __init__(self, packets: float = 4) -> None:
        self.packets = packets
        Still.made += 1

    def ssthresh(self, now: float, tcp: cogtcp.TcpState) -> float:
        return tcp.cwnd

    def cong_control(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> bool:
        tcp.cwnd = self.packets * tcp.mss
        return True

    def cong_avoid(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        raise AssertionError("cong_control owns the window")

    def owns_cwnd(self) -> bool:
        return True


@pytest.mark.parametrize("packets", [8, 16])
def test_a_control_in_python_runs_under_quic(packets: int) -> None:
    result = cogtcp.run(hop(f'control = "test_quic:Still", parameters = {{ packets = {packets} }}'))
    (flow,) = result.rows("flows")
    # A window of so many packets in a round trip of 40 ms; smaller windows wait for delayed acknowledgements.
    bound = packets * 1472 * 8 / 0.0462
    assert 0.8 * bound < flow["goodput_bps"] < 1.02 * bound
    windows = {round(row["cwnd_segments"], 1) for row in result.rows("flow_series")[20:]}
    assert len(windows) == 1
    assert windows.pop() == pytest.approx(packets, rel=0.05)


def test_a_control_in_python_serves_each_connection() -> None:
    scenario = hop('control = "test_quic:Still"').set(
        "flow.0.traffic.requests", {"response": {"fixed": "20 kB"}, "connection": "new"}
    )
    Still.made = 0
    (row,) = cogtcp.run(scenario).rows("quic_flows")
    assert row["connections"] > 2
    assert Still.made >= row["connections"]


def test_a_control_in_python_may_stand_in_the_name() -> None:
    text = HOP.format(settings="", queue='"60 packets"').replace("{ quic = {  } }", '"quic-test_quic:Still"')
    named = cogtcp.run(Scenario.from_toml(text, allow_python=True), 1)
    assert named.digest == cogtcp.run(hop('control = "test_quic:Still"'), 1).digest
    with pytest.raises(ScenarioError, match=r'flow\.0\.transport: "test_quic:Still" is a class in Python'):
        Scenario.from_toml(text).check()


def test_code_of_others_is_refused_until_it_is_allowed() -> None:
    text = HOP.format(settings='control = "test_quic:Still"', queue='"60 packets"')
    with pytest.raises(ScenarioError, match=r"transport\.quic\.control: .* is a class in Python"):
        Scenario.from_toml(text).check()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('control = "test_quic:Missing"', "Missing"),
        ('control = "test_quic:Still", parameters = { size = 3 }', "size"),
        ('control = "quinn-bbr"', "unknown congestion control"),
        ('control = "tfrc"', "unknown congestion control"),
        ("parameters = { beta = 0.5 }", "has no parameters here"),
        ('rebinds_after = "0 s"', "rebinds_after"),
    ],
)
def test_settings_that_make_no_sense(settings: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message) as error:
        hop(settings).check()
    assert len(error.value.more) == 0


def test_marks_reduce_the_window_without_a_loss(tmp_path: Path) -> None:
    queue = "{ codel = { limit = 200 } }"
    marked = cogtcp.run(hop('control = "quinn-newreno", ecn = true', queue), 1, "packets")
    deaf = cogtcp.run(hop('control = "quinn-newreno"', queue), 1, "packets")
    (counts,), (lossy,) = marked.rows("quic_flows"), deaf.rows("quic_flows")
    assert counts["lost_packets"] == 0
    assert lossy["lost_packets"] > 0
    # CE on data packets alone; the receiver's report reduces the window.
    assert {row["ecn"] for row in marked.rows("packets") if row["source"] == "sender"} == {2, 3}
    reductions = [row for row in marked.rows("events") if row["kind"] == "loss"]
    assert len(reductions) > 2
    both = logs(marked, tmp_path)
    assert ["CE"] in [event["data"]["ecn"] for event in named(both["server"], "udp_datagrams_received")]
    reported = [
        frame["ce"]
        for event in named(both["client"], "packet_received")
        for frame in event["data"]["frames"]
        if "ce" in frame
    ]
    assert max(reported) >= len(reductions)


def test_a_new_address_of_the_client_is_validated(tmp_path: Path) -> None:
    still = cogtcp.run(hop(), 1, "packets")
    moved = cogtcp.run(hop('rebinds_after = "3 s"'), 1, "packets")
    both = logs(moved, tmp_path)
    started, complete = named(both["server"], "migration_state_updated")
    assert (started["data"]["new"], complete["data"]["new"]) == ("migration_started", "migration_complete")
    assert started["data"]["tuple_remote"]["port_v4"] == 49_153
    # The first packet from there arrives half a round trip later; a challenge takes a whole one.
    assert 3020 <= started["time"] < 3300
    assert 40 <= complete["time"] - started["time"] < 300
    frames = {
        end: [
            frame["frame_type"]
            for event in named(both[end], "packet_sent")
            for frame in event["data"]["frames"]
        ]
        for end in both
    }
    assert frames["server"].count("path_challenge") >= 1
    assert frames["client"].count("path_response") >= 1
    # Acknowledgements to the old address are gone. The next ones say the same.
    (flow,), (before,) = moved.rows("flows"), still.rows("flows")
    assert flow["goodput_bps"] == pytest.approx(before["goodput_bps"], rel=0.05)
    assert not named(logs(still, tmp_path)["server"], "migration_state_updated")


def test_the_page_explains_the_packets_of_today() -> None:
    """The table of docs/quic-and-tcp.md is what the runs give now, packet by packet."""
    spec = importlib.util.spec_from_file_location("generate_quic", ROOT / "docs" / "generate_quic.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    stories = {transport: made.story(made.simulate(transport)) for transport in made.TRANSPORTS}
    assert made.table(stories) in made.PAGE.read_text(), "run docs/generate_quic.py, and read the page again"
    # What the text says of them.
    windows = [story["window after the reduction, in packets"] for story in stories.values()]
    assert [window.split(",")[0] for window in windows] == ["1", "34", "60"]
