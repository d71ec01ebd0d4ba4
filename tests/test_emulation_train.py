"""Freeze-TCP in the path of the kernel plane: the train's own router and managers before real senders."""

from __future__ import annotations

import sys
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import Scenario, run
from cogtcp._shipped import shipped
from cogtcp.kernel.emulation import emulate
from conftest import side_by_side
from test_emulation import as_in_time, on_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

IN_VIRTUAL_TIME = True

OUTAGE = (6.0, 8.0)
LAN = """\
name = "lan"

[run]
duration = "9 s"
sample_interval = "50 ms"

[topology.graph]
nodes = ["source", "router", "client1", "client2"]
links = [
  { name = "air", from = "source", to = "router", rate = "4 Mbit/s", delay = "20 ms", queue = "40 packets" },
  { name = "lan1", from = "router", to = "client1", rate = "20 Mbit/s", delay = "5 ms" },
  { name = "lan2", from = "router", to = "client2", rate = "20 Mbit/s", delay = "8 ms" },
]

[[radio]]
name = "cr"
links = ["air"]
silence = "drop"
sensing = { off = "1500 ms", on = "60 s", start = "4 s" }

[train]
router = "router"
radio = "cr"
tu_advance = 2.0

[[flow]]
name = "download"
from = "source"
to = "client1"
transport = "linux-cubic"

[[flow]]
name = "upload"
from = "client2"
to = "source"
transport = "linux-reno"
"""


def freeze(**changes: str) -> Scenario:
    scenario = Scenario.from_file(shipped()["freeze"])
    for path, value in changes.items():
        scenario = scenario.set_text(path.replace("__", "."), value)
    return scenario


def without_timeout() -> Any:
    """Return a run without timeout: who is retransmitting when it is frozen meets one (docs/freeze.md)."""
    for _ in range(3):
        result = emulate(freeze())
        if result.rows("flows")[0]["rtos"] == 0:
            break
    return result


RUNS: dict[str, Callable[[], Any]] = {
    "warned": cache(without_timeout),
    "unmanaged": cache(lambda: emulate(freeze(train__connection_manager="false"))),
    "lan": cache(lambda: emulate(Scenario.from_toml(LAN))),
    "lan over IPv6": cache(lambda: emulate(Scenario.from_toml(LAN), ipv6=True)),
}
LOCKS = {name: Lock() for name in RUNS}


def played(name: str) -> Any:
    """Return a run, which is made once."""
    with LOCKS[name]:
        return RUNS[name]()


@on_kernel
@side_by_side
def test_a_warned_source_of_the_kernel_rests_through_the_outage() -> None:
    result = played("warned")
    times = {row["kind"]: row["time_s"] for row in result.events.to_pylist() if row["kind"] != "drop"}
    assert times["trigger_down"] < times["sensing_start"]
    order = ["trigger_down", "freeze", "trigger_up", "thaw"]
    assert [times[kind] for kind in order] == sorted(times[kind] for kind in order)
    train, flow = result.rows("trains")[0], result.rows("train_flows")[0]
    assert (train["router"], train["clients"], train["outages"]) == ("receiver", 1, 1)
    # The client is at the router: it is told without a message.
    assert (train["down_messages"], train["up_messages"], train["overhead_bytes"]) == (1, 1, 0)
    assert flow["managed"]
    assert flow["frozen_s"] == pytest.approx(times["thaw"] - times["freeze"])
    with as_in_time(result):
        # RTT_TCP is the path with its queue: two of it are more than what a full queue takes.
        assert train["rtt_tcp_s"] > 0.05
        (said,) = result.rows("predictions")
        assert said["outcome"] == "ahead"
        # Nothing was sent into the outage but what the window of zero had not stopped.
        assert result.rows("flows")[0]["rtos"] == 0
        still = [
            row["goodput_bps"] for row in result.flow_series.to_pylist() if 6.5 < row["time_s"] < OUTAGE[1]
        ]
        assert max(still) == 0
        # And it goes on at once.
        after = [row for row in result.flow_series.to_pylist() if OUTAGE[1] + 0.3 < row["time_s"] < 9]
        assert sum(row["goodput_bps"] for row in after) / len(after) > 1e6


@on_kernel
@side_by_side
def test_messages_and_managers_use_ipv6_if_flows_do() -> None:
    """Messages cross the LAN, and managers rewrite windows: both are of IPv6."""
    result = played("lan over IPv6")
    train, flows = result.rows("trains")[0], result.rows("train_flows")
    assert (train["down_messages"], train["up_messages"]) == (2, 2)
    # 36 bytes and headers of 48; requests and replies come on top.
    assert train["overhead_bytes"] >= 4 * 84
    assert train["overhead_bytes"] % 84 == 0
    with as_in_time(result):
        assert min(flow["frozen_s"] for flow in flows) > 0.3


@on_kernel
@side_by_side
def test_without_managers_it_meets_a_timeout() -> None:
    result = played("unmanaged")
    train, flow = result.rows("trains")[0], result.rows("flows")[0]
    # The warnings are sent, and ignored.
    assert (train["down_messages"], train["frozen_s"]) == (1, 0)
    if result.timing["counts_timeouts"]:
        assert flow["rtos"] > 0


@on_kernel
@side_by_side
def test_both_planes_predict_alike() -> None:
    """The predictor draws from the seed: errors and false alarms are those of the simulation."""
    alarms = freeze(
        run__duration="3 s",
        radio__0__sensing__start="2500 ms",
        train__prediction='{ itinerary = { error = "100 ms", missed = "0 %", false_interval = "500 ms" } }',
    )
    simulated = run(alarms, 3).predictions.to_pylist()
    emulated = emulate(alarms, seed=3).rows("predictions")
    said = ("predicted_start_s", "predicted_end_s")
    assert len(simulated) > 1
    assert [[row[name] for name in said] for row in emulated] == [
        [row[name] for name in said] for row in simulated
    ]


@on_kernel
@side_by_side
def test_messages_cross_the_lan_and_uplinks_rest_too() -> None:
    result = played("lan")
    train = result.rows("trains")[0]
    assert (train["clients"], train["down_messages"], train["up_messages"]) == (2, 2, 2)
    # Two clients are warned, and asked more than once.
    assert train["overhead_bytes"] >= 64 * (4 + 2 * train["polls"] - 2)
    # The farther client: 8 ms each way.
    assert train["rtt_local_s"] > 0.016
    flows = {row["flow"]: row for row in result.rows("train_flows")}
    assert [flow for flow, row in flows.items() if row["managed"]] == ["download", "upload"]
    with as_in_time(result):
        assert all(row["frozen_s"] > 0.7 for row in flows.values()), flows
        goodputs = {row["flow"]: row for row in result.rows("flows")}
        assert goodputs["upload"]["goodput_bps"] > 1e6
    frozen = [row["entity"] for row in result.events.to_pylist() if row["kind"] == "freeze"]
    assert sorted(frozen) == ["download", "upload"]


SERVER = """\
import socket
connection = socket.create_server(("", 7000)).accept()[0]
while connection.recv(1 << 20):
    pass
"""
# tcpi_snd_wnd, the window that the sender believes in, stands at 228 of tcp_info (Linux 5.4). A program in a
# guest writes no file of the host: its exit code says what it saw.
CLIENT = """\
import os, socket, struct, time
until, least = time.monotonic() + 9, 1 << 30
connection = None
while connection is None:
    try:
        connection = socket.create_connection((os.environ["COGTCP_PEER"], 7000))
    except ConnectionRefusedError:
        time.sleep(0.1)
connection.setblocking(False)
while time.monotonic() < until:
    try:
        connection.send(bytes(1 << 16))
    except BlockingIOError:
        pass
    window = struct.unpack_from("I", connection.getsockopt(6, 11, 240), 228)[0]
    least = min(least, window)
    time.sleep(0.02)
raise SystemExit(3 if least == 0 else 4)
"""


@on_kernel
@pytest.mark.parametrize("managed", ["true", "false"])
@side_by_side
def test_a_programs_connection_is_held_too(managed: str) -> None:
    result = emulate(
        freeze(train__connection_manager=managed),
        command=[sys.executable, "-c", CLIENT],
        peer=[sys.executable, "-c", SERVER],
    )
    assert result.rows("trains")[0]["down_messages"] == 1
    with as_in_time(result):
        assert result.exit_code == (3 if managed == "true" else 4)
