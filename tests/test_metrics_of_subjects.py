"""Metrics of flows, UDP streams and applications, against values worked out by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import Scenario, UsageError
from cogtcp.model import headline
from cogtcp.model.metrics import (
    METRICS,
    SUBJECT_METRICS,
    Subject,
    find,
    listed,
    measure_subjects,
    noticed,
    primary,
    subjects,
)

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
schema = 1
name = "household"
[run]
duration = "12 s"
warmup = "2 s"
seed = 3
[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "2 ms", queue = "1000 packets" }
bottleneck = { rate = "4 Mbit/s", delay = "20 ms", queue = "60 packets" }
[[flow]]
name = "web"
from = "s1"
to = "d1"
transport = "linux-cubic"
traffic = { requests = { response = { exponential = "60 kB" }, pace = { think = { fixed = "500 ms" } } } }
[[flow]]
name = "film"
from = "s1"
to = "d1"
transport = "linux-cubic"
traffic = { adaptive_video = { rule = "bola", chunk = "1 s", startup = "1 s", buffer = "8 s" } }
[[flow]]
name = "copy-*"
count = 2
from = "s2"
to = "d2"
transport = "linux-cubic"
[[udp]]
name = "call"
from = "s1"
to = "d1"
pattern = { call = { codec = "g729a" } }
[[udp]]
count = 3
from = "s2"
to = "d2"
pattern = { poisson = "100 kbit/s" }
"""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.from_toml(TEXT)


def test_subjects_of_a_scenario(scenario: Scenario) -> None:
    found = {each.name: each for each in subjects(scenario)}
    assert found["web"] == Subject("web", "web", ("web",))
    assert found["film"].kind == "video"
    assert found["copy"] == Subject("copy", "flow", ("copy-1", "copy-2"))
    # Numbers count all sources, as the engine names them; the entry has no name, so its kind stands for it.
    assert found["call"] == Subject("call", "call", ("call",))
    assert found["udp"].members == ("call", "u2", "u3", "u4")
    # A kind as a whole; `web` and `call` are subjects by themselves.
    assert found["video"].members == ("film",)
    assert found["flow"].members == ("web", "film", "copy-1", "copy-2")


def test_what_users_notice_comes_first(scenario: Scenario) -> None:
    names = [metric.name for metric in noticed(scenario)]
    assert names == [
        *("web.page_time_p50", "web.page_time_p95"),
        *("film.stall_share", "film.startup", "film.bitrate"),
        *("call.delay_p95", "call.loss", "call.mos"),
        "copy.goodput",
    ]
    assert [metric.name for metric in listed(scenario)][: len(names)] == names
    assert [metric.name for metric in primary(scenario)] == [
        "web.page_time_p95",
        "film.stall_share",
        "call.delay_p95",
        "copy.goodput",
    ]
    # Flows alone have no application, and goodput of all flows leads.
    plain = Scenario.from_dict({**scenario.to_dict(), "udp": [], "flow": scenario.to_dict()["flow"][2:]})
    assert noticed(plain) == ()
    fixed = scenario.set("flow.2.fixed", True)
    assert "copy.goodput" not in [metric.name for metric in noticed(fixed)]


def test_names_are_found_and_explained(scenario: Scenario) -> None:
    assert find("goodput").name == "goodput_bps"
    assert find("call.delay-p95", scenario).name == "call.delay_p95"
    assert find("call.delay_p95_s").name == "call.delay_p95"
    assert find("stalls").name == "video.stalled"
    assert (find("call.delay_p95").unit, find("call.delay_p95").better) == ("ms", -1)
    with pytest.raises(UsageError, match=r'has no flow, stream or application "cal"; did you mean "call"'):
        find("cal.delay_p95", scenario)
    with pytest.raises(UsageError, match=r'"web" [(]web[)] has no metric "delay_p95"; known: page_time_p50'):
        find("web.delay_p95", scenario)
    with pytest.raises(UsageError, match=r'did you mean "call\.delay_p95"'):
        find("call.dely_p95", scenario)
    with pytest.raises(UsageError, match=r'unknown metric "delay_p95"; did you mean "call\.delay_p95"'):
        find("delay_p95", scenario)
    plain = Scenario.from_dict({**scenario.to_dict(), "udp": [], "flow": scenario.to_dict()["flow"][2:]})
    with pytest.raises(UsageError, match='no flow, stream or application "video"'):
        find("stalls", plain)


def test_definitions_of_one_name_agree_in_what_is_shown() -> None:
    seen: dict[str, Any] = {}
    for metrics in SUBJECT_METRICS.values():
        for metric in metrics:
            shown = (metric.unit, metric.scale, metric.better, metric.digits)
            assert seen.setdefault(metric.name, shown) == shown, metric.name
            assert "." not in metric.name


def test_values_are_those_of_the_tables(scenario: Scenario) -> None:
    result = cogtcp.run(scenario)
    found = measure_subjects(result)
    (web,) = result.rows("request_flows")
    (film,) = result.rows("videos")
    datagrams = {row["source"]: row for row in result.rows("datagrams")}
    (call,) = result.rows("calls")
    flows = {row["flow"]: row for row in result.rows("flows")}
    assert found["web.page_time_p95"] == web["completion_p95_s"] > 0
    assert found["film.stall_share"] == film["stall_share"]
    assert found["video.bitrate"] == found["film.bitrate"] == film["bitrate_bps"] > 200e3
    assert found["call.delay_p95"] == datagrams["call"]["delay_p95_s"] > 0.024
    assert found["call.mos"] == call["mos"]
    assert 1 <= call["mos"] <= 4.41
    assert call["codec"] == "g729a"
    # The listener's buffer ends the delay of the codec, 25 ms, and of the network.
    assert 0.025 + 0.024 < call["mouth_to_ear_s"] <= 0.025 + datagrams["call"]["delay_max_s"] * 1.02
    pair = [flows["copy-1"]["goodput_bps"], flows["copy-2"]["goodput_bps"]]
    assert found["copy.goodput"] == pytest.approx(sum(pair))
    assert found["copy.fairness"] == pytest.approx(sum(pair) ** 2 / (2 * sum(x * x for x in pair)))
    delays = [datagrams[name]["delay_mean_s"] for name in ("call", "u2", "u3", "u4")]
    assert found["udp.delay_mean"] == pytest.approx(sum(delays) / 4)
    assert result.metrics["call.delay_p95"] == found["call.delay_p95"]
    assert set(result.metrics) == {metric.name for metric in METRICS} | set(found)


def test_the_opinion_of_a_call_follows_from_its_row(scenario: Scenario) -> None:
    """G.107 by hand: Idd of the delay, Ie,eff of G.729A (Ie 11, Bpl 19) at the missing share."""
    (call,) = cogtcp.run(scenario).rows("calls")
    delay, missing = 1000 * call["mouth_to_ear_s"], 100 * call["missing_ratio"]
    x = math.log2(delay / 100) if delay > 100 else 0.0
    idd = 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2) if delay > 100 else 0.0
    rating = 93.2 - idd - (11 + 84 * missing / (missing + 19))
    assert call["rating"] == pytest.approx(rating)
    score = 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6
    assert call["mos"] == pytest.approx(score)


def test_a_comparison_answers_by_applications_first(scenario: Scenario, tmp_path: Path) -> None:
    compared = cogtcp.compare(scenario, ["linux-cubic", "linux-bbr"], seeds=3)
    values = {name: compared.interval(name, "call.delay_p95").mean for name in compared.transports}
    by_hand = [
        row["delay_p95_s"]
        for row in compared.table("datagrams").to_pylist()
        if row["transport"] == "linux-bbr" and row["source"] == "call"
    ]
    assert values["linux-bbr"] == pytest.approx(sum(by_hand) / 3)
    answer = headline.of_comparison(compared)
    assert answer.startswith("The page time at the 95th percentile of web is ")
    assert answer.index("The delay at the 95th percentile of call is ") < answer.index("is fastest")
    assert f"{1000 * min(values.values()):,.1f} ms" in answer
    folder = compared.save(tmp_path / "compared")
    runs = pq.read_table(folder / "runs.parquet")
    assert runs["call.delay_p95"].to_pylist() == [o.metrics["call.delay_p95"] for o in compared.outcomes]
    assert pq.read_table(folder / "calls.parquet").num_rows == 6
    page = (folder / "report.html").read_text()
    assert page.index("What users notice") < page.index("<h2>Goodput</h2>")
    assert "call: delay, 95th percentile" in page


def test_significance_of_what_users_notice_is_a_family_of_its_own(scenario: Scenario) -> None:
    """The same delays in every seed: sure, whatever the other metrics do."""
    from cogtcp.running.compare import Comparison, Outcome

    outcomes = tuple(
        Outcome(name, seed, {"call.delay_p95": delay + seed * 1e-3, "goodput_bps": 1e6})
        for name, delay in (("linux-cubic", 0.2), ("linux-bbr", 0.1))
        for seed in (1, 2, 3, 4)
    )
    compared = Comparison(scenario, ("linux-cubic", "linux-bbr"), (1, 2, 3, 4), outcomes, {})
    assert compared.is_better("linux-bbr", "linux-cubic", "call.delay_p95")
    assert not compared.is_better("linux-cubic", "linux-bbr", "call.delay_p95")
    assert not compared.is_better("linux-bbr", "linux-cubic", "goodput")
    assert math.isnan(compared.interval("linux-bbr", "web.page_time_p95").mean)
    with pytest.raises(UsageError, match="no flow, stream"):
        compared.interval("linux-bbr", "nobody.delay_p95")


def test_a_sweep_has_the_metrics_as_columns(scenario: Scenario, tmp_path: Path) -> None:
    swept = cogtcp.sweep(
        scenario,
        {"topology.dumbbell.bottleneck.queue": ["10 packets", "200 packets"]},
        seeds=2,
        out=tmp_path / "swept",
    )
    rows = swept.summary.to_pylist()
    delays = [row["call.delay_p95"] for row in rows]
    assert len(rows) == 2
    assert max(delays) > 2 * min(delays)
    (axis,) = swept.axes
    (first, second) = (swept.interval(None, "call.delay_p95", row[axis]).mean for row in rows)
    assert [first, second] == delays


def test_the_two_shares_of_a_cell() -> None:
    """W = 1 + 2 + 5 = 8 s, D = 1 - 2 / 8 = 0.75; alone 1 / (10 x 0.75), beside 1 / (7.5 - 5) = 0.4."""
    from cogtcp.model.metrics import with_cell_shares
    from cogtcp.model.metrics.cells import _BUSY

    times = {
        "link": "air", "direction": "forward", "measured_s": 11.0, "silent_s": 1.0,
        **dict.fromkeys(_BUSY, 0.0), "delivered_s": 1.0, "pattern_s": 2.0, "users_s": 5.0,
    }  # fmt: skip
    flow = {"bottleneck": "air", "bottleneck_direction": "forward", "medium": "cell", "goodput_bps": 3e6}
    (row,) = with_cell_shares([flow], [times])
    assert row["share_alone"] == pytest.approx(1 / 7.5)
    assert row["share_beside_others"] == pytest.approx(0.4)
    first, second = with_cell_shares([flow, {**flow, "goodput_bps": 1e6}], [times])
    assert (first["share_beside_others"], second["share_beside_others"]) == pytest.approx((0.3, 0.1))
    (wired,) = with_cell_shares([{**flow, "medium": "air"}], [times])
    assert math.isnan(wired["share_alone"])


@pytest.mark.parametrize("options", [{"objective": "nobody.delay_p95"}, {"constraints": ["nobody.loss<=1%"]}])
def test_advice_and_search_refuse_a_subject_that_is_not_there(
    scenario: Scenario, options: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match='no flow, stream or application "nobody"'):
        cogtcp.advise(scenario, **options, transports=["sack"], budget="4 runs", out=tmp_path / "advice")
    with pytest.raises(UsageError, match='no flow, stream or application "nobody"'):
        cogtcp.tune(scenario, {"flow.2.start": "0 s..1 s"}, **options, trials=1, out=tmp_path / "tuned")
