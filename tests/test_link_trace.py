"""Link traces: read, written, replayed, exported, drawn."""

import math
from pathlib import Path

import pytest

from cogtcp import Scenario, ScenarioError, UsageError, run
from cogtcp.data.link_trace import (
    LinkTrace,
    export,
    generate_leo,
    generate_lte,
    quantile,
    share_without,
)
from conftest import ROOT, Command

PLAIN = """
name = "plain"
[run]
duration = "20 s"
warmup = "2 s"
[topology.single_hop]
link = { rate = "12 Mbit/s", delay = "10 ms", queue = "60 packets" }
[[flow]]
from = "sender"
to = "receiver"
transport = "sack"
"""
SENSED = (
    PLAIN
    + """
[[radio]]
name = "radio"
links = ["link"]
silence = "hold"
sensing = { on = "1 s", off = "100 ms" }
"""
)


def traced(folder: Path, trace: LinkTrace, name: str = "link.trace") -> Scenario:
    trace.save(folder / name)
    text = PLAIN.replace('rate = "12 Mbit/s"', f'rate = "12 Mbit/s", trace = "{name}"')
    return Scenario.from_toml(text, file=str(folder / "traced.toml"))


def goodput(scenario: Scenario) -> float:
    return run(scenario, trace="summary").metrics["goodput_bps"]


@pytest.mark.parametrize("name", ["link.trace", "link.csv"])
def test_a_constant_trace_is_a_constant_link(tmp_path: Path, name: str) -> None:
    trace = LinkTrace.from_text("1\n")
    if name.endswith(".csv"):
        trace = LinkTrace.from_text("time_s,rate_bps\n0,12000000\n1,0\n")
    constant = goodput(Scenario.from_toml(PLAIN))
    assert goodput(traced(tmp_path, trace, name)) == pytest.approx(constant, rel=0.005)


@pytest.mark.parametrize("kind", ["trace", "csv"])
def test_an_exported_link_delivers_what_the_link_did(tmp_path: Path, kind: str) -> None:
    scenario = Scenario.from_toml(SENSED)
    trace = export(scenario, "link")
    assert trace.mean_bps == pytest.approx(12e6 / 1.1, rel=0.01)
    assert export(scenario, "link", what="carried").mean_bps < trace.mean_bps
    trace = trace.to_opportunities() if kind == "trace" else trace
    assert goodput(traced(tmp_path, trace, f"link.{kind}")) == pytest.approx(goodput(scenario), rel=0.03)


def test_a_link_under_a_mac_is_exported_as_it_carried() -> None:
    scenario = Scenario.shipped("cr-single-hop").set("run.duration", "20 s")
    carried = export(scenario, "link")
    row = run(scenario, trace="summary").rows("links")[0]
    assert row["attempts"] > 0
    assert carried.mean_bps < export(scenario, "link", what="available").mean_bps


def test_traces_convert_and_keep_what_they_carry() -> None:
    for trace in (generate_lte(10, 3), generate_leo(20, 3)):
        there = trace.to_rates(0.05)
        assert there.bits == pytest.approx(trace.bits, rel=1e-6)
        assert there.to_opportunities().bits == pytest.approx(trace.bits, abs=2 * 12000)
        assert LinkTrace.from_text(trace.to_text()).to_text() == trace.to_text()
        assert sum(rate for _, rate in trace.binned(1.0)) == pytest.approx(trace.bits, rel=1e-6)


def test_the_generators_draw_what_they_say() -> None:
    lte = generate_lte(600, 5)
    dark = sum(1 for _, rate in lte.binned(0.5) if rate == 0) / 1200
    assert 0.005 < dark < 0.4
    assert 1e6 < lte.mean_bps < 12e6
    leo = generate_leo(60, 5)
    silent = [time for time, rate in zip(leo.times, leo.rates, strict=True) if rate == 0][:-1]
    assert silent == [15, 30, 45]
    means = [rate for _, rate in leo.binned(15)]
    assert all(40e6 < mean < 170e6 for mean in means)
    assert generate_lte(10, 1) == generate_lte(10, 1) != generate_lte(10, 2)


def test_the_shipped_traces_are_those_of_the_generators() -> None:
    folder = ROOT / "scenarios" / "traces"
    assert (folder / "lte.trace").read_text() == generate_lte(60, 1).to_text()
    assert (folder / "leo.csv").read_text() == generate_leo(60, 1).to_text()


def test_what_is_wrong_is_told_with_file_and_line(tmp_path: Path) -> None:
    scenario = traced(tmp_path, LinkTrace.from_text("1\n"))
    (tmp_path / "link.trace").write_text("5\n4\n")
    with pytest.raises(ScenarioError, match=r"link.trace:2: 4 ms comes after a later time"):
        scenario.check()
    (tmp_path / "link.trace").unlink()
    with pytest.raises(ScenarioError, match="no such file"):
        scenario.check()
    text = SENSED.replace('rate = "12 Mbit/s"', 'rate = "12 Mbit/s", trace = "link.trace"')
    (tmp_path / "link.trace").write_text("1\n")
    with pytest.raises(ScenarioError, match="follows a trace"):
        Scenario.from_toml(text, file=str(tmp_path / "s.toml")).check()
    with pytest.raises(ScenarioError, match=r"<text>:1: the trace is empty"):
        LinkTrace.from_text("")
    with pytest.raises(UsageError, match="unknown link 'lin'"):
        export(Scenario.from_toml(PLAIN), "lin")


def test_the_hash_counts_the_trace(tmp_path: Path) -> None:
    scenario = traced(tmp_path, LinkTrace.from_text("1\n"))
    before = scenario.hash
    (tmp_path / "link.trace").write_text("2\n")
    assert scenario.hash != before


def test_the_verbs(command: Command, tmp_path: Path) -> None:
    assert command("trace", "generate", "lte", "a.trace", "--duration", "5 s").code == 0
    assert command("trace", "convert", "a.trace", "a.csv").code == 0
    shown = command("trace", "show", "a.csv", "--json").json()
    assert (shown["kind"], shown["period_s"]) == ("rates", 5)
    assert "Mbit/s" in command("trace", "show", "a.trace").out
    assert command("trace", "export", "sensed-link", "link", "b.trace", "--set", "run.duration=5 s").code == 0
    assert LinkTrace.from_file(tmp_path / "b.trace").mean_bps > 9e6
    again = command("trace", "generate", "lte", "a.trace")
    assert again.code == 1
    assert "a.trace" in again.err
    assert command("trace", "show", "missing").code == 2


def rates(*steps: tuple[float, float], end: float) -> LinkTrace:
    return LinkTrace("rates", (*(time for time, _ in steps), end), (*(rate for _, rate in steps), 0.0))


def test_bins_by_hand() -> None:
    trace = rates((0.0, 8e6), (0.25, 2e6), (0.3, 0.0), end=0.35)
    assert trace.bits == pytest.approx(2.1e6)
    assert trace.mean_bps == pytest.approx(6e6)
    found = trace.binned(0.1)
    assert [begin for begin, _ in found] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    # The third bin has both rates; the last is half as long as the others.
    assert [rate for _, rate in found] == pytest.approx([8e6, 8e6, 5e6, 0.0])
    assert rates((0.0, 8e6), end=0.25).binned(0.1)[-1][1] == pytest.approx(8e6)
    packets = LinkTrace("opportunities", (0.001, 0.010, 0.011, 0.025))
    # One at the end of a bin is what the bin could carry.
    assert [rate for _, rate in packets.binned(0.01)] == pytest.approx([2.4e6, 1.2e6, 2.4e6])
    assert packets.bits == 48_000
    for width in (0.0, -1.0, math.nan):
        with pytest.raises(UsageError, match="out of range"):
            packets.binned(width)
    with pytest.raises(UsageError, match="out of range"):
        packets.binned(0.025 / 10_000_001)


def test_shares_and_quantiles_of_bins_by_hand() -> None:
    trace = rates(*((n / 10, 1e6 * n) for n in range(10)), end=1.0)
    assert share_without(trace) == 0.1
    assert share_without(trace, 0.2) == 0.0
    assert [quantile(trace, share) for share in (0.0, 0.05, 0.1, 0.5, 0.95, 1.0)] == pytest.approx(
        [0.0, 1e6, 1e6, 5e6, 9e6, 9e6]
    )


def test_opportunities_come_when_their_bytes_are_full() -> None:
    """1,500 bytes take 1 ms at 12 Mbit/s, and 2.5 ms at 4.8 Mbit/s."""
    assert rates((0.0, 12e6), end=0.003).to_opportunities().times == (0.001, 0.002, 0.003)
    assert rates((0.0, 4.8e6), end=0.01).to_opportunities().times == (0.003, 0.005, 0.008, 0.01)
    twice = rates((0.0, 24e6), (0.001, 0.0), (0.003, 24e6), end=0.004)
    assert twice.to_opportunities().times == (0.001, 0.001, 0.004, 0.004)
    # A step within a millisecond: half of an opportunity before, half behind.
    assert rates((0.0, 0.0), (0.0005, 12e6), end=0.002).to_opportunities().times == (0.002,)
    # The last line is when the trace repeats.
    assert rates((0.0, 12e6), (0.001, 0.0), end=0.005).to_opportunities().times == (0.001, 0.005)
    assert rates((0.0, 1.0), end=0.002).to_opportunities().times == (0.002,)


def test_equal_rates_that_follow_each_other_are_one_step() -> None:
    packets = LinkTrace("opportunities", tuple(n / 100 for n in range(1, 21)))
    assert packets.to_rates(0.1) == rates((0.0, 1.2e6), end=0.2)
    half = LinkTrace("opportunities", (*(n / 100 for n in range(1, 11)), 0.2))
    assert half.to_rates(0.1) == rates((0.0, 1.2e6), (0.1, 120e3), end=0.2)
    assert rates((0.0, 8e6), end=1.0).to_rates() == rates((0.0, 8e6), end=1.0)
    assert rates((0.0, 8e6), (0.5, 1.6), end=1.0).to_text() == (
        "time_s,rate_bps\n0.000000000,8000000\n0.500000000,2\n1.000000000,0\n"
    )


def test_an_export_has_the_times_of_the_silences() -> None:
    """Open for 1 s, silent for 0.1 s, from the beginning of the run on."""
    scenario = Scenario.from_toml(SENSED).set("run.duration", "3 s").set("run.warmup", "0 s")
    trace = export(scenario, "link")
    # A sample stands for the millisecond before it.
    silent = [
        (begin, end)
        for begin, end, rate in zip(trace.times, trace.times[1:], trace.rates, strict=False)
        if rate == 0
    ]
    assert [end - begin for begin, end in silent[:2]] == pytest.approx([0.1, 0.1], abs=0.0011)
    assert silent[1][0] - silent[0][0] == pytest.approx(1.1, abs=0.0011)
    assert set(trace.rates) == {0.0, 12e6}
    assert trace.period_s == 3


def test_an_hour_is_the_longest_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    for duration in (0.0009, 3600.1, math.nan):
        with pytest.raises(UsageError, match="out of range"):
            generate_leo(duration)
    assert generate_leo(0.001).period_s == 0.001
    assert generate_leo(3600).period_s == 3600
    monkeypatch.setattr("cogtcp.data.link_trace._LONGEST_S", 2.0)
    scenario = Scenario.from_toml(PLAIN).set("run.warmup", "0 s")
    assert export(scenario.set("run.duration", "2 s"), "link").period_s == 2
    with pytest.raises(UsageError, match=r"a run of 2\.5 s makes too long a trace; take at most 2 s"):
        export(scenario.set("run.duration", "2.5 s"), "link")
