"""Multipath TCP: what scenarios say, RFC 6356's three goals over seeds, and errors."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import Result, Scenario, ScenarioError, budget
from cogtcp.cli import main
from cogtcp.model import headline
from cogtcp.model.statistics import mean_interval
from cogtcp.showing import report

if TYPE_CHECKING:
    from pathlib import Path

COUPLED = ("mptcp", "mptcp-olia", "mptcp-balia")
SEEDS = range(1, 9)

TWO_PATHS = """\
name = "two paths"
[run]
duration = "60 s"
warmup = "20 s"
[topology.graph]
nodes = ["s", "a", "b", "d"]
links = [
  {{ name = "s-a", from = "s", to = "a", rate = "100 Mbit/s", delay = "5 ms" }},
  {{ name = "a-d", from = "a", to = "d", rate = "8 Mbit/s", delay = "15 ms", queue = "40 packets" }},
  {{ name = "s-b", from = "s", to = "b", rate = "100 Mbit/s", delay = "5 ms" }},
  {{ name = "b-d", from = "b", to = "d", rate = "{second}", delay = "15 ms", queue = "40 packets" }},
]
[[flow]]
name = "mp"
from = "s"
to = "d"
transport = "mptcp"
paths = ["a-d", "b-d"]
start_jitter = "1 s"
[[flow]]
name = "on-a-*"
count = {on_a}
from = "a"
to = "d"
transport = "sack"
fixed = true
start_jitter = "1 s"
paths = ["a-d"]
[[flow]]
name = "on-b-*"
count = {on_b}
from = "b"
to = "d"
transport = "sack"
fixed = true
start_jitter = "1 s"
paths = ["b-d"]
"""

SHARED = """\
name = "shared bottleneck"
[run]
duration = "60 s"
warmup = "20 s"
[topology.graph]
nodes = ["s", "a", "b", "r", "d"]
links = [
  { name = "s-a", from = "s", to = "a", rate = "100 Mbit/s", delay = "5 ms" },
  { name = "a-r", from = "a", to = "r", rate = "100 Mbit/s", delay = "5 ms" },
  { name = "s-b", from = "s", to = "b", rate = "100 Mbit/s", delay = "5 ms" },
  { name = "b-r", from = "b", to = "r", rate = "100 Mbit/s", delay = "5 ms" },
  { name = "bottleneck", from = "r", to = "d", rate = "8 Mbit/s", delay = "10 ms", queue = "40 packets" },
]
[[flow]]
name = "mp"
from = "s"
to = "d"
transport = "mptcp"
paths = ["a-r", "b-r"]
start_jitter = "1 s"
[[flow]]
name = "tcp"
from = "s"
to = "d"
transport = "sack"
fixed = true
start_jitter = "1 s"
"""


@functools.cache
def play(text: str, transport: str, seed: int) -> Result:
    return cogtcp.run(Scenario.from_toml(text).with_transport(transport), seed, "summary")


def goodput(result: Result, flow: str) -> float:
    rows = result.flows.to_pylist()
    return next(row["goodput_bps"] for row in rows if row["flow"] == flow) / 1e6


def shares(result: Result) -> list[dict[str, Any]]:
    return [row for row in result.subflows.to_pylist() if row["flow"] == "mp"]


def interval(values: list[float]) -> tuple[float, float]:
    """Return the ends of the 95 % interval of the mean."""
    found = mean_interval(values)
    return found.low, found.high


@pytest.mark.parametrize("transport", COUPLED)
def test_goal_1_a_connection_gets_what_tcp_gets_on_its_best_path(transport: str) -> None:
    text = TWO_PATHS.format(second="4 Mbit/s", on_a=1, on_b=1)
    ratio = [
        goodput(play(text, transport, seed), "mp") / goodput(play(text, "sack", seed), "mp") for seed in SEEDS
    ]
    assert interval(ratio)[0] > 0.95, ratio


@pytest.mark.parametrize("transport", COUPLED)
def test_goal_2_a_shared_bottleneck_is_shared_as_with_tcp(transport: str) -> None:
    def taken(transport: str) -> list[float]:
        runs = [play(SHARED, transport, seed) for seed in SEEDS]
        return [goodput(run, "mp") / (goodput(run, "mp") + goodput(run, "tcp")) for run in runs]

    coupled, uncoupled = taken(transport), taken("mptcp-sack")
    # SACK beside SACK is the measure of what one TCP takes.
    least, most = interval(taken("sack"))
    assert interval(coupled)[0] < max(most, 0.5) + 0.05, coupled
    assert interval(uncoupled)[0] > interval(coupled)[1], "two uncoupled subflows take more"
    assert least < 0.5 < most + 0.1


@pytest.mark.parametrize("transport", COUPLED)
def test_goal_3_traffic_moves_to_the_less_congested_path(transport: str) -> None:
    text = TWO_PATHS.format(second="8 Mbit/s", on_a=5, on_b=1)

    def on_b(transport: str) -> list[float]:
        return [shares(play(text, transport, seed))[1]["share"] for seed in SEEDS]

    coupled, uncoupled = on_b(transport), on_b("mptcp-sack")
    assert interval(coupled)[0] > interval(uncoupled)[1], (coupled, uncoupled)


def test_a_bonded_link_carries_what_both_channels_can() -> None:
    scenario = Scenario.from_file("scenarios/bonded.toml")
    both = cogtcp.run(scenario, 1, "series")
    one = cogtcp.run(scenario.with_transport("sack"), 1, "series")
    rows = both.subflows.to_pylist()
    assert [row["link"] for row in rows] == ["cr-channel", "licensed-channel"]
    total = both.flows.to_pylist()[0]
    assert sum(row["goodput_bps"] for row in rows) == pytest.approx(total["goodput_bps"], rel=0.01)
    assert total["goodput_bps"] > one.flows.to_pylist()[0]["goodput_bps"] + 1e6, (
        "half of the licensed channel at least"
    )
    assert 0 < total["efficiency"] <= 1
    names = set(both.control_series.column("variable").to_pylist())
    assert {"path0_cwnd_segments", "path1_cwnd_segments", "path1_srtt_s"} <= names


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        (('paths = ["a-d", "b-d"]', 'paths = ["a-d", "b-c"]'), "flow.0.paths.1", 'there is no link "b-c"'),
        (('paths = ["a-d", "b-d"]', 'paths = ["a-d", "s-a"]'), "flow.0.paths.1", "is the path over"),
        (
            ('"mptcp"', '{ mptcp = { coupling = "lia", control = "cubic" } }'),
            "flow.0.transport.mptcp.control",
            'coupling "lia" is a control itself and cannot use "cubic"',
        ),
        (
            ('"mptcp"', '{ mptcp = { control = "cubik" } }'),
            "flow.0.transport.mptcp.control",
            "unknown TCP transport",
        ),
        (('"mptcp"', '{ mptcp = { scheduler = "best" } }'), "scheduler", "best"),
        (
            ("[topology.graph]", '[tcp]\ncongestion = "westwood"\n[topology.graph]'),
            "tcp.congestion",
            'coupling "lia" is a control itself',
        ),
    ],
)
def test_what_cannot_work_is_one_clear_error(change: tuple[str, str], field: str, words: str) -> None:
    text = TWO_PATHS.format(second="4 Mbit/s", on_a=1, on_b=1).replace(*change, 1)
    with pytest.raises(ScenarioError) as caught:
        cogtcp.run(Scenario.from_toml(text), 1)
    assert words in str(caught.value)
    assert field in str(caught.value)


def test_a_link_off_the_way_is_refused() -> None:
    text = TWO_PATHS.format(second="4 Mbit/s", on_a=1, on_b=1)
    text = text.replace('nodes = ["s",', 'nodes = ["s", "stub",').replace(
        "links = [",
        'links = [\n{ name = "dead-end", from = "a", to = "stub", rate = "1 Mbit/s", delay = "1 ms" },',
    )
    with pytest.raises(ScenarioError, match='no route from "s" to "d" leads over the link "dead-end"'):
        cogtcp.run(Scenario.from_toml(text.replace('"b-d"]', '"dead-end"]', 1)), 1)


@pytest.fixture(scope="module")
def bonded() -> Result:
    return cogtcp.run(Scenario.from_file("scenarios/bonded.toml"), 1, "packets")


def test_events_name_the_subflow(bonded: Result) -> None:
    events = bonded.rows("events")
    (joined,) = [row for row in events if row["kind"] == "joined"]
    assert (joined["entity"], joined["detail"]) == ("download", "licensed-channel")
    of_subflows = [row for row in events if row["kind"] in ("timeout", "loss", "reinjected")]
    assert {row["detail"] for row in of_subflows} == {"cr-channel", "licensed-channel"}
    # The silences of the CR channel cost timeouts of its subflow, and its data goes out on the other.
    silent = [row for row in of_subflows if row["kind"] == "reinjected" and row["detail"] == "cr-channel"]
    assert silent
    assert all(row["value"] >= 1000 for row in silent)
    measured = [row for row in of_subflows if row["time_s"] >= 10 and row["kind"] == "timeout"]
    for row in bonded.rows("subflows"):
        assert sum(event["detail"] == row["link"] for event in measured) == row["rtos"]


def test_the_capacity_of_each_path_has_an_account(bonded: Result) -> None:
    paths = {row["link"]: row for row in bonded.rows("budget")}
    assert list(paths) == ["cr-channel", "licensed-channel"]
    for row in paths.values():
        assert row["flows"] == 1
        assert sum(row[state.column] for state in budget.STATES) == pytest.approx(row["measured_s"])
    # 0.5 s of 5, for 50 s.
    assert paths["cr-channel"]["silent_s"] == pytest.approx(5.0, abs=0.02)
    assert paths["licensed-channel"]["silent_s"] == 0
    # What a link delivered is what its path brought first.
    for row, rate in zip(bonded.rows("subflows"), (8e6, 2e6), strict=True):
        brought = row["goodput_bps"] / rate * 50
        assert paths[row["link"]]["delivered_s"] == pytest.approx(brought, rel=0.01)
    assert budget.by_path(bonded)["licensed-channel"]["silent"] == 0
    assert "on cr-channel" in headline.of_run(bonded)
    assert "on licensed-channel" in headline.of_run(bonded)


def test_subflows_have_their_own_round_trip_times_and_radios(bonded: Result) -> None:
    first, second = bonded.rows("subflows")
    assert (first["radios"], second["radios"]) == ("cr", "")
    # 40 and 60 ms of propagation, and queues of 60 packets at 8 Mbit/s, 30 at 2.
    assert 0.04 < first["rtt_mean_s"] < 0.04 + 0.1
    assert 0.06 < second["rtt_mean_s"] < 0.06 + 0.2
    assert first["reinjected_bytes"] > 0
    assert second["repeated_bytes"] > 0


def test_the_page_shows_subflows(bonded: Result) -> None:
    page = report.run_report(bonded)
    section = page.partition("<h2>Subflows")[2].partition("<h2>All numbers")[0]
    for words in ("cr-channel", "licensed-channel", "Share of the data", "RTT, mean", "Reinjected elsewhere"):
        assert words in section, words
    # Ten silences are measured, each of 0.5 s; the other path has none.
    assert re.search(r"Silent, s</t[hd]>\s*<td[^>]*>5\.00</td>\s*<td[^>]*>0\.00", section)
    assert "data reinjected" in section
    assert 'fill="var(--sensing)"' in section
    one = cogtcp.run(Scenario.from_file("scenarios/bonded.toml").with_transport("sack"), 1, "series")
    assert "<h2>Subflows" not in report.run_report(one)


def test_a_capture_tells_subflows_apart(bonded: Result, tmp_path: Path) -> None:
    rows = [row for row in bonded.rows("packets") if row["event"] == "queued" and row["source"] == "sender"]
    by_link = {row["link"]: row["stream"] for row in rows if row["link"].endswith("-channel")}
    assert len(set(by_link.values())) == 2, "a path has streams of its own"
    assert bonded.write_pcap(tmp_path / "cr.pcapng", "cr-channel").stat().st_size > 10_000


def test_the_starter_bonds_a_cr_channel_with_a_licensed_one(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    assert main(["new", str(file), "--kind", "bonded"]) == 0
    result = cogtcp.run(Scenario.from_file(file), 1, "full")
    cr, licensed = result.rows("subflows")
    assert (cr["link"], licensed["link"]) == ("cr-channel", "licensed-channel")
    assert cr["goodput_bps"] > 2e6
    assert licensed["goodput_bps"] > 1e6
    assert [row["silent_s"] > 1 for row in result.rows("budget")] == [True, False]
