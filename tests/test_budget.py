"""Where the capacity went: shares, sentences, and where they are shown."""

import math
from pathlib import Path

import pytest

from cogtcp import Scenario, budget, compare, run
from cogtcp.model import headline
from cogtcp.showing.report import budget as report_budget
from conftest import SMALL, Command


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.from_toml(SMALL)


def test_the_states_are_the_columns_and_sum_to_the_time(scenario: Scenario) -> None:
    result = run(scenario)
    columns = [name for name in result.budget.column_names if name.endswith("_s") and name != "measured_s"]
    assert columns == sorted(columns, key=result.budget.column_names.index)
    assert set(columns) == {state.column for state in budget.STATES}
    for row in result.budget.to_pylist():
        assert math.fsum(row[name] for name in columns) == pytest.approx(row["measured_s"], rel=1e-12)
    assert math.fsum(budget.of_run(result).values()) == pytest.approx(1, rel=1e-12)
    assert result.to_dict()["budget"] == result.budget.to_pylist()


def test_the_answer_tells_the_largest_parts() -> None:
    shares = dict.fromkeys(budget.BY_NAME, 0.0)
    shares |= {"delivered": 0.36, "timeout": 0.31, "growing": 0.27, "silent": 0.02, "headers": 0.004}
    assert budget.told(shares) == (
        "36 % delivered, 31 % waiting for timeouts, 27 % sending held back, 2 % silence"
    )


def test_a_comparison_has_the_means_over_its_seeds(scenario: Scenario) -> None:
    compared = compare(scenario, ["newreno", "sack"], seeds=2)
    for name in compared.transports:
        singles = [run(scenario.with_transport(name), seed, "summary") for seed in compared.seeds]
        mean = math.fsum(budget.of_run(each)["timeout"] for each in singles) / 2
        assert budget.of_comparison(compared, name)["timeout"] == pytest.approx(mean, rel=1e-12)
        assert compared.to_dict()["budget"][name]["timeout"] == pytest.approx(mean, rel=1e-12)
    assert "The link's time: with " in headline.of_comparison(compared)
    assert compared.table("budget").column("transport").to_pylist() == ["newreno", "sack"] * 2


#: Each pair has an access link of its own, at most as fast as what the link of all can give it.
PAIRS = """\
name = "pairs"
[run]
duration = "4 s"
[topology.dumbbell]
pairs = 8
access = { rate = "1 Mbit/s", delay = "1 ms", queue = "50 packets" }
bottleneck = { rate = "RATE", delay = "10 ms", queue = "50 packets" }
[[flow]]
count = 8
from = "s*"
to = "d*"
transport = "newreno"
traffic = "saturated"
"""


def test_the_answer_of_many_flows_names_the_link_that_bounds_their_sum() -> None:
    """Eight links of 1 Mbit/s lead to one of 4 Mbit/s: 4 Mbit/s are all that can arrive."""
    scenario = Scenario.from_toml(PAIRS.replace("RATE", "4 Mbit/s"))
    result = run(scenario)
    assert {row["bottleneck"] for row in result.rows("flows")} == {f"access-s{k}" for k in range(1, 9)}
    share = result.metrics["goodput_bps"] / 4e6
    assert 0.5 < share < 1
    answer = headline.of_run(result)
    assert f" Mbit/s, {share * 100:.0f} % of the shared link bottleneck. " in answer
    assert "The flows' narrowest links' time: " in answer
    compared = compare(scenario, ["newreno"], seeds=1)
    assert f", {share * 100:.0f} % of the shared link bottleneck." in headline.of_comparison(compared)
    # A link as fast as all access links together bounds nothing; nor does one that a pair does not cross.
    for rate in ("8 Mbit/s", "100 Mbit/s"):
        answer = headline.of_run(run(Scenario.from_toml(PAIRS.replace("RATE", rate))))
        assert "of the link. The link's time: " in answer
    ends = '[[flow]]\nfrom = "s1"\nto = "s2"\ntransport = "newreno"\ntraffic = "saturated"\n'
    beside = run(Scenario.from_toml(PAIRS.replace("RATE", "4 Mbit/s") + ends))
    assert budget.shared_link(beside.columns("flows"), beside.columns("links")) is None


def test_the_legend_leaves_out_what_no_bar_shows() -> None:
    shares = {state.name: 0.0 for state in budget.STATES} | {
        "delivered": 0.998,
        "lost": 0.001,
        "silent": 0.001,
    }
    shown = report_budget.of_runs({"a": shares, "b": shares | {"delivered": 0.979, "silent": 0.02}})
    assert shown is not None
    assert [entry.text for entry in shown["figure"].legend] == ["delivered", "silent"]
    assert [row[0] for row in shown["table"].rows] == ["Delivered", "Lost in transit", "Silent"]


def test_it_is_shown_in_terminal_page_and_json(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "--out", "out")
    assert "Where the capacity went" in done.out
    assert "The link's time: " in done.out
    bar = next(line for line in done.out.splitlines() if line.startswith("█"))
    assert len(bar.strip()) == 80
    page = (tmp_path / "out/report.html").read_text()
    assert "Where the capacity went" in page
    assert 'aria-label="Where the link&#x27;s time went: ' in page
    found = command("compare", small, "--transport", "newreno,sack", "--seeds", 1, "--json")
    assert found.json()["budget"]["newreno"]["delivered"] > 0
