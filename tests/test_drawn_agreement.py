"""Drawn scenarios on both planes: what is drawn, what counts as agreement, and what is kept."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from cogtcp.cli.kept_pairs import KeptPairs
from cogtcp.kernel.emulation import check
from cogtcp.kernel.emulation.agreement import Agreement
from cogtcp.kernel.emulation.pairs import Pair
from cogtcp.kernel.emulation.shares import averaged, exceptions, page, shares
from cogtcp.kernel.validation.families.wide import CONTROLS, KINDS, drawn_wide, kind_of
from conftest import ROOT
from test_virtual import in_virtual_time

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command


def pair(
    name: str = "drawn-plain-1",
    *,
    goodput: float = 1.0,
    rtt: float = 1.0,
    retransmitted: tuple[float, float] = (0.01, 0.01),
    rtos: tuple[float, float] = (0, 0),
    doubt: str = "",
    key: str = "k",
) -> Pair:
    """Return a pair whose Linux has these multiples of the simulator's goodput and round-trip time."""
    planes = [
        {"goodput_bps": 1e6 * g, "rtt_mean_s": 0.1 * r, "retransmitted": lost, "rtos": timeouts}
        for g, r, lost, timeouts in zip((1, goodput), (1, rtt), retransmitted, rtos, strict=True)
    ]
    return Pair(name, "linux-bbr", 1, planes[0], planes[1], doubt, 0.0, 0.0, key)


def test_all_kinds_and_controls_are_drawn_and_linux_can_carry_them() -> None:
    drawn = drawn_wide(7, 120)
    for scenario in drawn:
        check(scenario)
    kinds = Counter(kind_of(scenario.name) for scenario in drawn)
    assert set(kinds) == set(KINDS)
    controls = Counter(scenario.to_dict()["flow"][0]["transport"] for scenario in drawn)
    assert set(controls) == set(CONTROLS)
    # The seed alone decides; a longer list begins like a shorter one.
    assert [each.hash for each in drawn_wide(7, 5)] == [each.hash for each in drawn[:5]]
    assert drawn_wide(8, 1)[0].hash != drawn[0].hash


def test_shares_count_what_is_within() -> None:
    pairs = [
        pair(),
        pair(goodput=1.03, rtt=0.93),
        pair("drawn-short_queue-2", goodput=0.8, rtt=1.2, retransmitted=(0.02, 0.03), rtos=(2, 6)),
        pair(doubt="late"),
    ]
    rows = {row.kind: row for row in shares(pairs, lambda each: kind_of(each.scenario))}
    # Goodput within 2, 5, 10 %, RTT likewise, retransmitted, timeouts.
    assert (rows["plain"].runs, rows["plain"].counts) == (2, (1, 2, 2, 1, 1, 2, 2, 2))
    assert rows["short queue"].counts == (0,) * 8
    assert rows["all"].runs == 3
    said = {each.scenario: what for each, what in exceptions(pairs)}
    assert said["drawn-short_queue-2"]["retransmitted"] == "retransmitted 2.00 against 3.00 % on Linux"
    assert said["drawn-plain-1"] == {"rtt_mean_s": "RTT -7.0 %"}
    assert "- drawn-plain-1: no evidence: late" in page(pairs, lambda each: kind_of(each.scenario))
    # Wilson (1927) for 2 of 3.
    assert rows["all"].intervals()[3] == "21 to 94"


def test_means_over_seeds_are_compared_where_there_are_several() -> None:
    """8 % more and 6 % less are 1 % more; a scenario with one seed has no mean."""
    pairs = [pair(goodput=1.08, rtos=(0, 3)), pair(goodput=0.94), pair("drawn-plain-2", goodput=1.08)]
    (mean,) = averaged(pairs)
    assert mean.scenario == "drawn-plain-1"
    assert mean.emulated["goodput_bps"] == pytest.approx(1.01e6)
    assert exceptions([mean, *averaged([pair(), pair(doubt="late")])]) == [
        (mean, {"rtos": "timeouts 0 against 2 on Linux"})
    ]


def test_a_difference_is_judged_by_what_other_seeds_do() -> None:
    """Linux's RTT, 0.093 s, lies between 0.09 and 0.1 s; its goodput, 0.9 Mbit/s, below all."""
    pairs = [pair(rtt=0.93), pair("drawn-plain-2", goodput=0.9, rtt=0.93), pair("drawn-plain-3", rtt=0.93)]
    seen = {"goodput_bps": [0.95e6, 1e6], "rtt_mean_s": [0.09, 0.1]}
    text = page(pairs, lambda each: "plain", {"drawn-plain-1": seen, "drawn-plain-2": seen})
    ends = [line.split(" | ")[-1] for line in text.splitlines() if "linux-bbr" in line]
    assert ends == ["within |", "beyond |", "– |"]


@pytest.mark.parametrize(
    ("shares_of", "agrees"),
    [
        ((0.001, 0.002), True),  # 0.1 points, of few
        ((0.001, 0.0021), False),
        ((0.010, 0.012), True),  # 20 %
        ((0.010, 0.0121), False),
        ((0.0049, 0.006), False),  # one of them is not few: 22 %
    ],
)
def test_retransmissions_agree_by_share_or_by_points(shares_of: tuple[float, float], agrees: bool) -> None:
    assert (exceptions([pair(retransmitted=shares_of)]) == []) == agrees


def test_a_metric_that_one_plane_lacks_does_not_agree() -> None:
    assert exceptions([pair(goodput=math.nan)])[0][1] == {"goodput_bps": "goodput +nan %"}


def test_pairs_are_kept_until_the_folder_has_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    # Killed before it had a folder: nothing was closed.
    KeptPairs(out, True).add(pair(key="a"))
    journal = tmp_path / ".out.pairs.jsonl"
    journal.write_text(journal.read_text() + '{"scenario": "half')
    with KeptPairs(out, True) as kept:
        assert [each.key for each in kept.known] == ["a"]
        out.mkdir()
        done = Agreement([*kept.known, pair(key="b"), pair(key="c", doubt="failed: full")], "6.12")
        (out / "agreement.json").write_text(json.dumps(done.to_dict()))
    assert not journal.exists()
    # A run that failed is made again.
    assert [each.key for each in KeptPairs(out, True).known] == ["a", "b"]
    assert KeptPairs(out, False).known == []


def test_the_page_is_what_its_runs_say() -> None:
    checked = [sys.executable, str(ROOT / "docs/generate_drawn_agreement.py"), "--check"]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@in_virtual_time
def test_no_run_is_made_twice(tmp_path: Path, command: Command) -> None:
    words = (
        "agree",
        "sensed-link",
        "--virtual",
        "--seeds",
        "1",
        "--duration",
        "2 s",
        "--set",
        "run.warmup=0 s",
    )
    first = command(*words, "--transport", "linux-reno", "--out", "out")
    assert first.code == 0, first.err
    assert "linux-reno, seed 1: done" in first.err
    again = command(*words, "--transport", "linux-reno", "--out", "out")
    assert again.code == 0
    assert "done" not in again.err
    assert json.loads((tmp_path / "out/agreement.json").read_text())["runs"][0]["key"]
