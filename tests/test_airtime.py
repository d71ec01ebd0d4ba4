"""The airtime around a flow's bottleneck: a case by hand, and what a run's shares must be."""

import math
from pathlib import Path
from typing import Any

import pytest

from cogtcp import Scenario, run
from cogtcp.model import airtime
from cogtcp.model.airtime import Frame, Positions, around, exchanges

#: A chain n0, n1, n2, n3, 200 m apart, and n9 far away.
PLACES = [
    {"time_s": 0.0, "node": node, "x_m": x, "y_m": 0.0, "channel": 0}
    for node, x in (("n0", 0.0), ("n1", 200.0), ("n2", 400.0), ("n3", 600.0), ("n9", 5000.0))
]


def frame(
    time: float, length: float, kind: str, transmitter: str, receiver: str, **more: Any
) -> dict[str, Any]:
    """Return a row of `frames` at 1 Mbit/s."""
    row = {"time_s": time, "end_s": time + length, "frame": kind, "channel": 0, "flow": "", "protocol": ""}
    row |= {"transmitter": transmitter, "receiver": receiver, "failed": "", "payload_bytes": 0}
    return {**row, "rate_bps": 1e6, **more}


def exchange(time: float, transmitter: str, receiver: str, **more: Any) -> list[dict[str, Any]]:
    """Return RTS, CTS, data of 1 s with 100,000 bytes of payload (0.8 s), ACK: 1.3 s together."""
    data = {"flow": "f1", "protocol": "tcp", "payload_bytes": 100_000, **more}
    return [
        frame(time, 0.1, "rts", transmitter, receiver),
        frame(time + 0.1, 0.1, "cts", receiver, transmitter),
        frame(time + 0.2, 1.0, "data", transmitter, receiver, **data),
        frame(time + 1.2, 0.1, "ack", receiver, transmitter),
    ]


def test_a_chain_by_hand() -> None:
    """Of 20 s: three hops, an ACK of TCP, another flow, routing, a failed exchange, one out of earshot."""
    rows = [
        *exchange(0, "n0", "n1"),
        *exchange(2, "n1", "n2"),
        *exchange(4, "n2", "n3"),
        *exchange(6, "n3", "n2", payload_bytes=0),
        *exchange(8, "n2", "n1", flow="f2"),
        frame(10, 0.5, "data", "n1", "", protocol="routing"),
        frame(12, 0.1, "rts", "n1", "n2", failed="collided"),
        *exchange(13, "n1", "n2"),
        # Overlaps the exchange before by 0.3 s, and that part counts once.
        *exchange(14, "n3", "n2", flow="f2"),
        *exchange(17, "n9", "n9", flow="f3"),
        frame(19, 0.4, "data", "n0", "n1", flow="f1", protocol="tcp", payload_bytes=1, failed="interfered"),
    ]
    frames = exchanges(rows)
    found = around("f1", frames, Positions(PLACES), 550.0, (0.0, 20.0), {"n1": 0.1})
    assert found is not None
    # n1 and n2 hear all four nodes of the chain, n0 does not hear n3 (600 m). n1 is silent for a tenth.
    assert found.node == "n1"
    expected = {
        "payload": 1.6,  # two exchanges of n1
        "mac": 1.0,
        "hops": 2.6,  # those of n0 and n2
        "acks": 1.3,
        "flows": 1.3 + 1.0,
        "routing": 0.5,
        "retry": 0.1,
        "interference": 0.4,
        "silent": 2.0,
    }
    expected["idle"] = 20 - math.fsum(expected.values())
    assert {name: 20 * share for name, share in found.shares.items()} == pytest.approx(expected)
    assert math.fsum(found.shares.values()) == pytest.approx(1)
    assert "around n1 8 % payload" in airtime.told(found)
    # Who senses 150 m hears only itself: of the hop before, the CTS and ACK that it sends.
    alone = around("f1", frames, Positions(PLACES), 150.0, (0.0, 20.0), {})
    assert alone is not None
    assert 20 * alone.shares["hops"] == pytest.approx(0.2)
    assert around("f9", frames, Positions(PLACES), 550.0, (0.0, 20.0), {}) is None


def test_shares_of_a_run_sum_to_one_and_are_on_its_page(tmp_path: Path) -> None:
    scenario = Scenario.shipped("adhoc-mobile").set("run.duration", "8 s").set("run.warmup", "3 s")
    assert airtime.of_run(run(scenario, 1, "summary")) == []
    result = run(scenario, 1, "packets")
    found = airtime.of_run(result)
    assert {each.flow for each in found} <= {row["flow"] for row in result.rows("flows")}
    assert found
    for each in found:
        assert math.fsum(each.shares.values()) == pytest.approx(1)
        assert all(share >= 0 for share in each.shares.values())
        assert each.shares["payload"] > 0
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Where the airtime went" in page
    assert f"{found[0].flow}, {found[0].node}" in page


def aired(start: float, end: float, transmitter: str = "a", **given: object) -> Frame:
    told: dict[str, object] = {
        "receiver": "b", "kind": "data", "channel": 1, "flow": "f", "protocol": "tcp", "carries": True,
        "payload": (end - start) / 2 if transmitter == "a" else 0.0, "failed": "",
    }  # fmt: skip
    return Frame(start, end, transmitter, **{**told, **given})  # type: ignore[arg-type]


def placed(**of: tuple[float, int]) -> Positions:
    return Positions(
        {"node": node, "time_s": 0.0, "x_m": x, "y_m": 0.0, "channel": channel}
        for node, (x, channel) in of.items()
    )


def test_the_time_around_a_relay_by_hand() -> None:
    """Ten seconds, each second's frame of another kind; what overlaps counts to the first."""
    places = placed(a=(0.0, 1), b=(100.0, 1), near=(550.0, 1), far=(550.1, 1), other=(10.0, 2))
    frames = [
        aired(0.0, 1.0),
        aired(1.0, 2.0, kind="rts", payload=0.0),
        aired(2.0, 3.0, "b", receiver="a", kind="ack"),
        aired(3.0, 4.0, "near", flow="g"),
        aired(3.5, 4.5, "near", flow="g"),
        aired(4.5, 5.0, "far", flow="g"),
        aired(5.0, 5.5, "other", flow="g", channel=2),
        aired(5.5, 6.0, failed="collision"),
        aired(6.0, 6.5, failed="interfered"),
        aired(6.5, 7.0, "near", protocol="routing", flow=""),
        aired(7.0, 7.5, carries=False, payload=0.0),
        aired(7.5, 8.0, "b", receiver="c"),
        aired(9.5, 11.0, "near", flow="g"),
        aired(12.0, 13.0),
    ]
    found = around("f", frames, places, 550.0, (0.0, 10.0), {"a": 0.05})
    assert found is not None
    assert (found.flow, found.node) == ("f", "a")
    # Half of a data frame is payload; the rest, RTS and ACK are the MAC's.
    seconds = {name: 10 * share for name, share in found.shares.items() if share}
    assert seconds == pytest.approx(
        {
            "payload": 0.5, "mac": 2.5, "flows": 2.0, "retry": 0.5, "interference": 0.5, "routing": 0.5,
            "acks": 0.5, "hops": 0.5, "silent": 0.5, "idle": 2.0,
        }
    )  # fmt: skip
    assert around("none", frames, places, 550.0, (0.0, 10.0), {}) is None


def test_a_node_is_where_its_last_record_says() -> None:
    rows = [
        {"node": "a", "time_s": t, "x_m": 10.0 * t, "y_m": 1.0, "channel": int(t)} for t in (1.0, 2.0, 3.0)
    ]
    places = Positions(rows)
    assert [places.at("a", time)[0] for time in (0.5, 1.0, 1.9, 2.0, 9.0)] == [10, 10, 10, 20, 30]
    assert places.at("a", 2.5) == (20.0, 1.0, 2)
