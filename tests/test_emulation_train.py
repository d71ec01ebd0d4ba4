"""Freeze-TCP in the path of the kernel plane: the train's own router and managers before real senders."""

from __future__ import annotations

import pytest

from cogtcp import Scenario
from cogtcp._shipped import shipped
from cogtcp.emulation import emulate
from test_emulation import as_in_time, on_kernel

OUTAGE = (6.0, 8.0)


def freeze(**changes: str) -> Scenario:
    scenario = Scenario.from_file(shipped()["freeze"])
    for path, value in changes.items():
        scenario = scenario.set_text(path.replace("__", "."), value)
    return scenario


@on_kernel
def test_a_warned_source_of_the_kernel_rests_through_the_outage() -> None:
    result = emulate(freeze())
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
def test_without_managers_it_meets_a_timeout() -> None:
    result = emulate(freeze(train__connection_manager="false"))
    train, flow = result.rows("trains")[0], result.rows("flows")[0]
    # The warnings are sent, and ignored.
    assert (train["down_messages"], train["frozen_s"]) == (1, 0)
    if result.timing["counts_timeouts"]:
        assert flow["rtos"] > 0
