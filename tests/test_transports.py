"""Transports that are not TCP: what runs, folders, captures and comparisons show of them."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError
from cogtcp.cli import main
from cogtcp.model.of_tcp import OF_TCP, columns_of_tcp
from cogtcp.showing.plot.saved import Saved

TEXT = """
name = "both"
run = { duration = "20 s", warmup = "2 s" }
[tcp]
segment_size = "1000 B"
[topology.single_hop]
link = { rate = "8 Mbit/s", delay = "20 ms", queue = "40 packets" }
[[flow]]
from = "sender"
to = "receiver"
transport = "tfrc"
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"""
SHIPPED = Path(__file__).parent.parent / "scenarios" / "cr-single-hop.toml"
OF_FLOWS = [name for name, *_ in columns_of_tcp("flows")]


@pytest.fixture(scope="module")
def both() -> cogtcp.Result:
    return cogtcp.run(Scenario.from_toml(TEXT), trace="packets")


@pytest.fixture(scope="module")
def alone() -> cogtcp.Result:
    return cogtcp.run(Scenario.from_toml(TEXT).set("flow.1.transport", "tfrc"), trace="packets")


def test_rows_have_the_columns_of_their_transport(both: cogtcp.Result, alone: cogtcp.Result) -> None:
    assert [name for name in both.tables() if name.startswith("tcp_")] == ["tcp_flows", "tcp_segments"]
    assert not set(OF_FLOWS) & set(both.tables()["flows"].column_names)
    tfrc, tcp = both.rows("flows")
    assert all(math.isnan(tfrc[name]) for name in OF_FLOWS if name != "congestion")
    assert (tfrc["congestion"], tcp["congestion"]) == ("", "aimd")
    assert {name: tcp[name] for name in OF_FLOWS} == {
        name: both.tcp_flows.to_pylist()[0][name] for name in OF_FLOWS
    }
    assert str(both.flows.to_pylist()[1]) == str(tcp)
    # A run without TCP has no column of TCP, and no metric.
    assert not set(OF_FLOWS) & set(alone.flows.column_names)
    assert not any(name.startswith("tcp_") for name in alone.tables())
    assert math.isnan(alone.metrics["rtos"])
    assert both.metrics["rtos"] == tcp["rtos"]


def test_packets_have_the_columns_of_their_transport(both: cogtcp.Result) -> None:
    rows = both.rows("packets")
    kinds = {row["protocol"] for row in rows}
    assert kinds == {"tcp", "udp"}
    assert sum(row["protocol"] == "tcp" for row in rows) == both.tcp_segments.num_rows
    assert all(row["seq"] == 0 and row["flags"] == "" for row in rows if row["protocol"] == "udp")
    first = next(row for row in rows if row["protocol"] == "tcp")
    assert (first["flags"], first["source"]) == ("S", "sender")
    # 1000 bytes of data, 25 of TFRC; its feedback comes from the receiver.
    assert {row["payload_bytes"] for row in rows if row["flow"] == "f1" and row["source"] == "sender"} == {
        1025
    }
    assert any(row["flow"] == "f1" and row["source"] == "receiver" for row in rows)


def test_captures_have_packets_of_every_transport(both: cogtcp.Result, tmp_path: Path) -> None:
    file = both.write_pcap(tmp_path / "link.pcapng", "link")
    assert file.stat().st_size > 100_000


def test_pages_and_tables_leave_out_what_a_transport_has_not(
    alone: cogtcp.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "alone.toml"
    file.write_text(TEXT.replace("newreno", "tfrc"))
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "tfrc" in said
    assert "RTOs" not in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "tfrc" in page
    assert "Fast retransmits" not in page
    # A rate in place of a window, and the events of the transport.
    assert "Allowed rate, Mbit/s" in page
    assert "cwnd, segments" not in page
    assert "ssthresh" not in page
    assert "loss event" in page
    assert json.loads((tmp_path / "out" / "cogtcp.json").read_text())["metrics"]["rtos"] is None


def test_comparisons_have_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = Scenario.from_toml(
        TEXT.partition('[[flow]]\nfrom = "sender"\nto = "receiver"\ntransport = "new')[0]
    )
    made = cogtcp.compare(scenario, ["newreno", "tfrc"], seeds=1)
    flows = made.table("flows").to_pylist()
    assert [row["rtos"] is None for row in flows] == [False, True]
    made.save(tmp_path / "made")
    assert not set(OF_FLOWS) & set(pq.read_schema(tmp_path / "made" / "flows.parquet").names)
    (of_tcp,) = pq.read_table(tmp_path / "made" / "tcp_flows.parquet").to_pylist()
    assert (of_tcp["transport"], of_tcp["congestion"]) == ("newreno", "aimd")
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    assert (
        main(["compare", str(file), "--transport", "tfrc", "--seeds", "1", "--out", str(tmp_path / "c")]) == 0
    )
    assert "RTOs" not in capsys.readouterr().out


def _as_before(result: cogtcp.Result, folder: Path, old: Path) -> None:
    """Write a folder as cogtcp 0.2 did: all columns in one table."""
    shutil.copytree(folder, old)
    for name, (other, _) in OF_TCP.items():
        pq.write_table(result.table(name), old / f"{name}.parquet")
        (old / f"{other}.parquet").unlink()
    marker = json.loads((old / "cogtcp.json").read_text())
    (old / "cogtcp.json").write_text(json.dumps({**marker, "schema": 2}))


def test_folders_of_0_2_are_read_as_those_of_today(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from cogtcp.running.sweeping.query import query

    result = cogtcp.run(Scenario.from_toml(TEXT).set("flow.0.transport", "sack"), trace="packets")
    result.save(tmp_path / "new")
    assert "rtos" not in pq.read_schema(tmp_path / "new" / "flows.parquet").names
    _as_before(result, tmp_path / "new", tmp_path / "old")
    new, old = Saved(tmp_path / "new"), Saved(tmp_path / "old")
    for name in OF_TCP:
        # As texts: NaN is not equal to itself.
        texts = [str(of.table(name).to_pylist()) for of in (new, old, result)]
        assert texts[0] == texts[1] == texts[2], name
    for folder in ("new", "old"):
        found = query(tmp_path / folder, "SELECT flow, congestion, rtos FROM tcp_flows").to_pylist()
        assert [(row["flow"], row["congestion"]) for row in found] == [("f1", "aimd"), ("f2", "aimd")]
        segments = query(tmp_path / folder, "SELECT count(seq) AS n FROM tcp_segments").to_pylist()
        assert segments[0]["n"] == result.tcp_segments.num_rows


def test_folders_have_no_value_where_a_flow_is_not_tcp(both: cogtcp.Result, tmp_path: Path) -> None:
    both.save(tmp_path / "both")
    saved = Saved(tmp_path / "both")
    assert saved.columns("flows")["congestion"] == [None, "aimd"]
    assert saved.table("packets").column("seq").null_count > 0


def test_sweeps_have_the_columns_of_each_transport(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(TEXT).set("run.duration", "4 s")
    made = cogtcp.sweep(
        scenario,
        {"topology.single_hop.link.delay": ["10 ms", "20 ms"]},
        transports=["newreno", "tfrc"],
        seeds=1,
        out=tmp_path / "out",
    )
    rows = made.table("flows").to_pylist()
    assert len(rows) == 8
    assert {(row["transport"], row.get("rtos") is None) for row in rows} == {
        ("newreno", False),
        ("tfrc", True),
    }


def test_what_tfrc_cannot_do_is_said() -> None:
    with pytest.raises(ScenarioError, match="does not retransmit lost data"):
        Scenario.from_toml(TEXT).set("flow.0.traffic.size", "1 MB").check()
    with pytest.raises(ScenarioError, match="settings of TCP"):
        Scenario.from_toml(TEXT).set("flow.0.tcp.recovery", "sack").check()


@pytest.mark.parametrize("transport", ["tfrc-cr", "atp", "tp-crahn"])
def test_transports_of_cognitive_radio_run_where_tcp_runs(transport: str) -> None:
    scenario = Scenario.from_file(SHIPPED).set("run.duration", "30 s").set("flow.0.transport", transport)
    result = cogtcp.run(scenario)
    (flow,) = result.rows("flows")
    assert flow["transport"] == transport
    assert flow["delivered_bytes"] > 10_000


def test_settings_of_transports_are_checked_where_they_are() -> None:
    for transport, setting, words in [
        ("tfrc-cr", 'wait_after_departure = "2 h"', "out of range"),
        ("atp", 'epoch = "0 s"', "1 ms"),
        ("atp", "increase_divisor = 0.5", "1 to 100"),
        ("tp-crahn", "utilisation = 2.0", "0.1 to 1"),
        ("tp-crahn", 'control = "cubic"', "control"),
    ]:
        text = TEXT.replace('transport = "tfrc"', f"transport = {{ {transport} = {{ {setting} }} }}")
        with pytest.raises(ScenarioError, match=re.escape(words)):
            Scenario.from_toml(text).check()


def test_quic_has_a_table_of_its_own_and_takes_the_controls_of_tcp() -> None:
    quic = cogtcp.run(Scenario.from_toml(TEXT).set("flow.0.transport", "quic-c2"))
    (row,) = quic.quic_flows.to_pylist()
    assert (row["flow"], row["connections"]) == ("f1", 1)
    assert 0.04 < row["handshake_s"] < 0.1
    assert quic.rows("flows")[0]["transport"] == "quic-c2"
    assert quic.rows("flows")[0]["goodput_bps"] > 1e5
    with pytest.raises(ScenarioError, match="unknown congestion control"):
        Scenario.from_toml(TEXT).set("flow.0.transport", {"quic": {"control": "newrno"}}).check()
    with pytest.raises(ScenarioError, match="out of range"):
        Scenario.from_toml(TEXT).set("flow.0.transport", {"quic": {"max_datagram_size": "1000 B"}}).check()
