"""docs/how-to/accesses.md: the same link through each access delivers what the page says."""

from __future__ import annotations

import re
import statistics
from functools import cache

import cogtcp
from conftest import ROOT

PAGE = ROOT / "docs" / "how-to" / "accesses.md"
SEEDS = range(1, 6)

#: What stands beside `access = "scheduled"`: TDD of 10 MHz, about 20 Mbit/s down.
CELL = 'cell = { bandwidth = "10 MHz", duplex = { tdd = 2 }, sinr = "9 dB" }'

#: What stands in place of the times of sensing and the detector under CBRS.
CBRS = 'regulation = { cbrs = { heartbeat = "10 s" } }'

#: What stands in place of [spectrum] and [[radio]] for a cycle.
CYCLE = """[[radio]]
name = "radio"
links = ["air"]
silence = "hold"
sensing = { off = "50 ms", on = "950 ms" }
pu = { interarrival = "20 s", switching = "51 ms" }
"""


def variants() -> dict[str, str]:
    """Return the page's scenario, and what its rows make of it."""
    found = re.search(r"^```toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    none = found[1]
    cycle = re.sub(r"\[spectrum\].*?(?=\[\[flow\]\])", CYCLE, none, flags=re.DOTALL)
    links = 'links = ["air"]\n'
    sensing = 'detector = "perfect"\nsensing_time = "50 ms"\ntransmission_time = "950 ms"\n'
    assert sensing in none
    return {
        "`none`, hold": none,
        "`none`, drop": none.replace(links, f'{links}silence = "drop"\n'),
        "`none`, CBRS": none.replace(sensing, f"{CBRS}\n"),
        "`scheduled`, CBRS": none.replace(sensing, f"{CBRS}\n").replace(
            'access = "none"', f'access = "scheduled"\n{CELL}'
        ),
        "`scheduled`": none.replace('access = "none"', f'access = "scheduled"\n{CELL}'),
        "`dcf`": none.replace('access = "none"', 'access = "dcf"'),
        "cycle, hold": cycle,
        "cycle, drop": cycle.replace('"hold"', '"drop"'),
    }


@cache
def row(name: str) -> str:
    """Return the row of the page's table, as measured."""
    scenario = cogtcp.Scenario.from_toml(variants()[name])
    runs = [cogtcp.run(scenario, seed=seed, trace="summary") for seed in SEEDS]
    goodput = statistics.fmean(run.flows.to_pylist()[0]["goodput_bps"] for run in runs) / 1e6
    budgets = [cogtcp.budget.of_run(run) for run in runs]

    def share(*states: str) -> str:
        return f"{100 * statistics.fmean(sum(budget[state] for state in states) for budget in budgets):.1f}"

    of_cell = share("pattern", "grant", "harq", "users")
    of_mac = share("mac", "contention", "retry")
    single = ("delivered", "headers", "silent", "growing", "timeout", "interference")
    return " | ".join([f"| {name}", f"{goodput:.2f}", *map(share, single), of_cell, f"{of_mac} |"])


def test_the_page_says_what_each_access_delivers() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in variants():
        assert row(name) in text, row(name)


def test_the_scenario_has_at_most_forty_lines() -> None:
    for name in ("`none`, hold", "`none`, CBRS", "`scheduled`", "`dcf`"):
        assert len(variants()[name].splitlines()) <= 40, name


def test_the_page_names_the_cell() -> None:
    assert CELL in PAGE.read_text(encoding="utf-8")
    assert CBRS in PAGE.read_text(encoding="utf-8")


def test_a_regulated_link_disturbs_incumbents_no_longer_than_it_may() -> None:
    for name in ("`none`, CBRS", "`scheduled`, CBRS"):
        run = cogtcp.run(cogtcp.Scenario.from_toml(variants()[name]), seed=1, trace="summary")
        (radio,) = run.radios.to_pylist()
        assert radio["pu_overdue_s"] == 0
        assert radio["pu_interfered_s"] > 0
