"""Comparisons: what is counted, and what happens when a run fails or someone has enough."""

import math
import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cogtcp import Comparison, Outcome, RunError, Scenario, ScenarioError, UsageError, compare, run
from cogtcp.model import headline
from cogtcp.model.metrics import BY_NAME, METRICS
from cogtcp.model.statistics import mean_interval
from cogtcp.running.runner import Runner
from cogtcp.running.runner import case as runner_case
from cogtcp.running.sweeping.plan import plan
from conftest import SMALL

TRANSPORTS = ("newreno", "sack", "tahoe")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    from conftest import SMALL

    return compare(Scenario.from_toml(SMALL), TRANSPORTS, seeds=4)


def test_every_number_is_that_of_the_single_runs(comparison: Comparison, scenario: Scenario) -> None:
    single = {
        name: [run(scenario.with_transport(name), seed, "summary") for seed in range(7, 11)]
        for name in TRANSPORTS
    }
    for name, results in single.items():
        assert [o.digest for o in comparison.finished(name)] == [r.digest for r in results]
        for metric in METRICS:
            values = [r.metrics[metric.name] for r in results]
            assert repr(comparison.interval(name, metric.name)) == repr(mean_interval(values))
    pairs = [
        s.metrics["goodput_bps"] - n.metrics["goodput_bps"]
        for s, n in zip(single["sack"], single["newreno"], strict=True)
    ]
    assert comparison.difference("sack", "goodput_bps") == mean_interval(pairs)


def test_all_transports_meet_the_same_primary_users(scenario: Scenario) -> None:
    found = []
    for name in TRANSPORTS:
        events = run(scenario.with_transport(name)).events.to_pylist()
        found.append([(e["time_s"], e["kind"]) for e in events if e["entity"] == "radio"])
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_the_tables_hold_it_all(comparison: Comparison) -> None:
    assert comparison.runs.num_rows == 12
    assert comparison.summary.num_rows == 3 * len(METRICS)
    assert comparison.paired.num_rows == 2 * len(METRICS)
    assert comparison.table("flows").num_rows == 12
    assert comparison.table("flows").column_names[:2] == ["transport", "seed"]
    row = next(
        r for r in comparison.summary.to_pylist() if (r["transport"], r["metric"]) == ("sack", "goodput_bps")
    )
    interval = comparison.interval("sack", "goodput_bps")
    assert (row["mean"], row["low"], row["high"], row["n"]) == (interval.mean, interval.low, interval.high, 4)
    assert comparison.to_pandas().shape == comparison.to_polars().shape == comparison.runs.shape


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_number_of_jobs_changes_no_byte(
    comparison: Comparison, scenario: Scenario, tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    comparison.save(tmp_path / "a")
    compare(scenario, TRANSPORTS, seeds=4, jobs=jobs).save(tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    assert len(names) >= 9
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_parquet_gives_back_the_tables(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path / "out")
    for name in ("runs", "summary", "paired"):
        read = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        assert repr(read.to_pylist()) == repr(getattr(comparison, name).to_pylist())
        assert read.schema.metadata[b"cogtcp.seeds"] == b"7,8,9,10"
        assert read.schema.metadata[b"cogtcp.transports"] == b"newreno,sack,tahoe"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sack fails with seed 8."""

    def fails(scenario: Scenario, seed: int, *args: Any, **options: Any) -> Any:
        if seed == 8 and scenario.to_dict()["flow"][0]["transport"] == "sack":
            raise RunError("it broke")
        return run(scenario, seed, *args, **options)

    monkeypatch.setattr(runner_case, "run", fails)


@pytest.mark.usefixtures("failing")
def test_a_run_that_fails_is_recorded_and_the_others_count(
    comparison: Comparison, scenario: Scenario, tmp_path: Path
) -> None:
    failed = compare(scenario, TRANSPORTS, seeds=4)
    assert [(o.transport, o.seed, o.error) for o in failed.failures] == [("sack", 8, "it broke")]
    assert failed.interval("sack", "rtos").n == 3
    assert failed.difference("sack", "rtos").n == 3
    assert failed.interval("tahoe", "rtos") == comparison.interval("tahoe", "rtos")
    page = failed.report(tmp_path / "report.html").read_text()
    assert "sack, seed 8: it broke" in page
    assert failed.to_dict()["runs"][4] == {
        "transport": "sack",
        "seed": 8,
        "digest": None,
        "error": "it broke",
    }


def test_when_all_runs_fail_there_is_still_a_report(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **options: Any) -> Any:
        raise RunError("it <broke>")

    monkeypatch.setattr(runner_case, "run", fails)
    failed = compare(scenario, TRANSPORTS, seeds=2)
    assert len(failed.failures) == 6
    assert headline.of_comparison(failed) == "No run was finished."
    failed.save(tmp_path / "out")
    assert "it &lt;broke&gt;" in (tmp_path / "out/report.html").read_text()


def test_transports_that_deliver_nothing_are_not_ranked(scenario: Scenario, tmp_path: Path) -> None:
    # Shorter than a round trip: no data has come to its receiver.
    short = scenario.set("run.warmup", "0 s").set("run.duration", "1 ms")
    none = compare(short, ["newreno", "sack"], seeds=1)
    assert headline.of_comparison(none).startswith("No transport delivers anything.")
    none.save(tmp_path / "out")
    assert "No transport delivers anything." in (tmp_path / "out/report.html").read_text()


def test_ctrl_c_leaves_what_is_finished(scenario: Scenario, tmp_path: Path) -> None:
    stopping = threading.Event()

    def stop_at_five(done: int, total: int) -> None:
        if done >= 5 and not stopping.is_set():
            stopping.set()
            os.kill(os.getpid(), signal.SIGINT)

    stopped = compare(scenario, TRANSPORTS, seeds=1000, jobs=1, progress=stop_at_five)
    assert stopped.interrupted
    assert 5 <= len(stopped.outcomes) < 3000
    assert not stopped.failures
    stopped.save(tmp_path / "out")
    assert pq.read_table(tmp_path / "out/runs.parquet").num_rows == len(stopped.outcomes)
    assert "was interrupted" in (tmp_path / "out/report.html").read_text()


def test_ctrl_c_before_the_first_result_is_an_interruption(scenario: Scenario) -> None:
    def stop(done: int, total: int) -> None:
        if done == 0:
            signal.setitimer(signal.ITIMER_REAL, 0.3)

    previous = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            compare(scenario.set("run.duration", "500000 s"), ["sack"], seeds=2, progress=stop)
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_progress_counts_to_the_end(scenario: Scenario) -> None:
    seen: list[tuple[int, int]] = []
    compare(scenario, ["sack"], seeds=3, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 3)
    assert seen[-1] == (3, 3)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("transports", "seeds", "message"),
    [
        ([], 3, "at least one transport"),
        ("sack", 3, "at least one transport"),
        (["sack", "sack"], 3, "named twice"),
        (["sack"], 0, "at least one seed"),
        (["sack"], [1, 2, 1], "seed is named twice"),
        (["sack"], [-1], "seed -1 is out of range"),
        (["sack"], [2**63], "out of range"),
    ],
)
def test_calls_that_make_no_sense_are_refused(
    scenario: Scenario, transports: Any, seeds: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        compare(scenario, transports, seeds=seeds)


def test_an_unknown_transport_is_refused_before_anything_runs(scenario: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r'"newreon".*"newreno"'):
        compare(scenario, ["sack", "newreon"], progress=lambda *_: pytest.fail("it ran"))


def test_the_headline_follows_the_numbers(comparison: Comparison) -> None:
    answer = headline.of_comparison(comparison)
    means = {name: comparison.interval(name, "goodput_bps").mean for name in TRANSPORTS}
    best = max(means, key=lambda name: means[name])
    assert answer.startswith(f"{best} is fastest: {means[best] / 1e6:.3f} Mbit/s")
    for name in TRANSPORTS:
        if name == best:
            continue
        gap = (means[best] - means[name]) / means[best] * 100
        certain = comparison.difference(name, "goodput_bps", best).excludes(0)
        assert (f"{gap:.1f} %" in answer) == certain
        assert name in answer


def test_one_seed_claims_nothing_about_chance(scenario: Scenario) -> None:
    one = compare(scenario, ["newreno", "sack"], seeds=1)
    assert math.isnan(one.interval("sack", "goodput_bps").low)
    assert "One seed: no confidence interval." in headline.of_comparison(one)


def test_a_comparison_tells_how_primary_users_fared() -> None:
    shipped = Path(__file__).parent.parent / "scenarios" / "cr-single-hop.toml"
    scenario = Scenario.from_file(shipped).set("run.duration", "20 s")
    compared = compare(scenario, ("newreno", "sack"), seeds=2)
    for name in ("pu_interfered_share", "pu_exposed_share", "pu_collisions", "vacate_mean_s"):
        for transport in compared.transports:
            assert compared.interval(transport, name).mean > 0, name
    interfered = compared.interval("newreno", "pu_interfered_share")
    assert interfered.mean <= compared.interval("newreno", "pu_exposed_share").mean


def made_up(goodputs: dict[str, list[float]], delays: dict[str, list[float]]) -> Comparison:
    """Return a comparison with these goodputs and queuing delays, by transport and seed."""
    names = tuple(goodputs)
    outcomes = []
    for name in names:
        pairs = zip(goodputs[name], delays[name], strict=True)
        for seed, (goodput, delay) in enumerate(pairs, start=1):
            metrics = {metric.name: math.nan for metric in METRICS}
            metrics |= {"goodput_bps": goodput, "queuing_delay_mean_s": delay}
            outcomes.append(Outcome(name, seed, metrics))
    scenario = Scenario.from_toml(SMALL)
    seeds = tuple(range(1, len(outcomes) // len(names) + 1))
    return Comparison(scenario, names, seeds, tuple(outcomes), {})


def test_what_is_said_is_corrected_for_all_that_is_compared() -> None:
    chance = random.Random(4)
    wrong = naive = 0
    for _ in range(60):
        values = {name: [chance.gauss(1e6, 1e5) for _ in range(10)] for name in "abcdef"}
        compared = made_up(values, values)
        pairs = [(one, other) for one in "abcdef" for other in "abcdef" if one != other]
        wrong += any(compared.is_better(one, other) for one, other in pairs)
        naive += any(compared.difference(one, "goodput_bps", other).excludes(0) for one, other in pairs)
    assert wrong <= 8, "5 % of 60, and two standard errors and a half"
    assert naive >= 10, "interval by interval, many a family has a false claim"


def test_every_metric_that_has_a_better_way_is_compared() -> None:
    """Also those that come before goodput in the alphabet; which way is better follows the metric."""
    other = [1.0, 1.001, 1.002, 1.003]
    for metric in METRICS:
        outcomes = [
            Outcome(name, seed, {m.name: math.nan for m in METRICS} | {metric.name: factor * value})
            for name, factor in (("small", 1.0), ("large", 2.0))
            for seed, value in enumerate(other)
        ]
        made = Comparison(Scenario.from_toml(SMALL), ("small", "large"), (0, 1, 2, 3), tuple(outcomes), {})
        # Differences 1, 1.001, 1.002, 1.003: t = 1.0015 / (0.00129 / 2) = 1552, certain with any correction.
        assert made.is_better("large", "small", metric.name) is (metric.better == 1), metric.name
        assert made.is_better("small", "large", metric.name) is (metric.better == -1), metric.name
        assert not made.interrupted
        assert not made.nothing_random


def test_plain_data_has_all_transports_and_pairs_all_but_the_first() -> None:
    # Goodputs 1 and 3 against 2 and 6: means 2 and 4, differences 1 and 3, mean 2. One degree of freedom:
    # t(0.975) = 12.706205, and the standard error of the differences is sqrt(2 / 2) = 1.
    data = made_up({"a": [1.0, 3.0], "b": [2.0, 6.0]}, {"a": [1.0, 1.0], "b": [1.0, 1.0]}).to_dict()
    assert list(data["summary"]) == ["a", "b"]
    assert [data["summary"][name]["goodput_bps"]["mean"] for name in "ab"] == [2.0, 4.0]
    assert (data["baseline"], list(data["paired"])) == ("a", ["b"])
    pair = data["paired"]["b"]["goodput_bps"]
    assert (pair["mean"], pair["n"]) == (2.0, 2)
    assert (pair["low"], pair["high"]) == pytest.approx((2 - 12.706205, 2 + 12.706205), abs=1e-5)
    assert data["summary"]["a"]["rtos"] == {"mean": None, "low": None, "high": None, "n": 0}


def test_a_transport_that_sends_little_is_not_marked_for_its_delay() -> None:
    from cogtcp.showing.report import _best

    def around(mean: float) -> list[float]:
        return [mean * (1 + 0.001 * seed) for seed in range(10)]

    little = made_up({"meek": around(1e6), "bold": around(8e6)}, {"meek": around(0.001), "bold": around(0.1)})
    delay, goodput = BY_NAME["queuing_delay_mean_s"], BY_NAME["goodput_bps"]
    assert little.is_better("meek", "bold", delay.name)
    assert _best(little, ["meek", "bold"], delay) is None
    assert _best(little, ["meek", "bold"], goodput) == "bold"
    much = made_up({"a": around(8e6), "b": around(8e6)}, {"a": around(0.001), "b": around(0.1)})
    assert _best(much, ["a", "b"], delay) == "a"


def test_a_comparison_is_a_sweep_without_axes(scenario: Scenario, tmp_path: Path) -> None:
    compared = compare(scenario, ["newreno", "sack"], 3, keep=tmp_path)
    keep = ("flows", "links", "radios", "budget")
    same = plan(scenario, transports=["newreno", "sack"], seeds=3, keep=keep)
    swept = [outcome for _, outcome in Runner(tmp_path).stream(list(same.cases()))]
    # The runs of the first seed were looked at closely, with another trace.
    assert [outcome.known for outcome in swept].count(True) == 4
    assert {outcome.record["digest"] for outcome in swept} == {
        outcome.digest for outcome in compared.outcomes
    }
