"""The study of triggers and Freeze-TCP on a train: its mechanism by hand, and its quick version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cogtcp import Scenario, run, studies


def _study() -> studies.Study:
    (study,) = [study for study in studies.list_studies() if study.name == "trains"]
    return study


def _destroyed(advance: float) -> int:
    """Count data lost in outages of 3 s every 30 s, warned so many base RTTs ahead, over an empty queue."""
    scenario = (
        Scenario.from_file(_study().folder / "scenarios" / "train.toml")
        .set("radio.0.sensing", {"off": "3 s", "on": "27 s", "start": "20 s"})
        .set("run.duration", "200 s")
        .set("tcp.max_window", "20 segments")
        .set("train.rtt", "least")
        .set("train.tu_advance", advance)
    )
    events = run(scenario, seed=1).events.to_pylist()
    return sum(event["detail"] == "silence" and event["value"] > 100 for event in events)


def test_what_a_warning_must_outrun() -> None:
    # From the router to the client 10 ms, a zero window to the source 90 ms, the last data to Node B 50 ms,
    # and 4.2 ms to send it: 154 ms of the RTT of 184 ms.
    assert _destroyed(0.8) > 0  # 148 ms
    assert _destroyed(0.9) == 0  # 166 ms


def test_no_stack_gets_what_another_needs() -> None:
    """ICMP is there where a radio sends it; reports take the place of a freeze for the source that asks."""
    scenario = Scenario.from_file(_study().folder / "scenarios" / "train.toml").set("run.duration", "110 s")

    def kinds(changed: Scenario) -> set[Any]:
        return set(run(changed, seed=1).events.column("kind").to_pylist())

    assert "unreachable" not in kinds(scenario)
    asked = scenario.set("radio.0.unreachable", True).set("train.connection_manager", False)
    assert "zero_window" not in kinds(asked)
    assert {"unreachable", "zero_window"} <= kinds(asked.set("flow.0.transport", "atcp"))
    assert "freeze" in kinds(scenario)
    assert "freeze" not in kinds(scenario.set("flow.0.transport", "satcp"))


def test_the_journey_is_the_shipped_one() -> None:
    shipped = Path(__file__).parents[1] / "scenarios"
    own = _study().folder / "scenarios"
    name = Path("maps", "kelmere-line.toml")
    assert (own / name).read_bytes() == (shipped / name).read_bytes()
    ours, theirs = (
        Scenario.from_file(path).to_dict() for path in (own / "journey.toml", shipped / "train-journey.toml")
    )
    assert ours == theirs


def test_quick(tmp_path: Path) -> None:
    result = studies.reproduce("trains", quick=True, seeds=1, out=tmp_path / "out")
    claims = json.loads(result.to_json())["claims"]
    assert [claim["id"] for claim in claims] == [row.id for row in _study().claims]
    # One seed shows nothing.
    assert {claim["verdict"] for claim in claims} == {"unclear"}
    for claim in claims:
        assert "simulation failed" not in claim["why"], claim["id"]
        assert "nan" not in claim["measured"] + claim["why"], claim["id"]
    assert len(result.conclusions) == 2
    facts = {claim.row.id: claim.result.facts for claim in result.claims}
    assert facts["trains-f3"]["kept"] == pytest.approx(1, abs=0.1), "a frozen window comes back"
    # Without marks nothing tells ATCP of congestion.
    rivals = facts["trains-f6"]["rivals"]
    assert rivals["ATCP, without"] < rivals["ATCP, with ICMP and ECN"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "resumes using the same frozen value" in page
    again = studies.reproduce("trains", only="trains-f3", quick=True, seeds=1, out=tmp_path / "out")
    assert again.claims[0].result.measured == result.claims[0].result.measured
