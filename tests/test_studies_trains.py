"""The study of triggers and Freeze-TCP on a train: its mechanism by hand, and its quick version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import Scenario, run, runner, studies
from cogtcp.studies import code

if TYPE_CHECKING:
    from conftest import QuickStudy


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


def test_quick(quick_study: QuickStudy) -> None:
    result, folder = quick_study("trains")
    assert [claim.row.id for claim in result.claims] == [row.id for row in _study().claims]
    outcomes = {claim.row.id: claim.outcome for claim in result.claims}
    frozen = {}
    for name in ("trains-f3", "trains-f4"):
        outcome = outcomes[name]
        assert outcome is not None
        frozen[name] = {point.manager: cell for point, cell in outcome.base.grid.items()}
        assert frozen[name][True].mean("ratio") == pytest.approx(1, abs=0.1), "a frozen window comes back"
        assert frozen[name][True].mean("timeouts") < frozen[name][False].mean("timeouts")
    rivals = outcomes["trains-f6"]
    assert rivals is not None
    use = {row[0]: float(row[1].split()[0]) for table in rivals.tables for row in table.rows}
    # Without marks nothing tells ATCP of congestion.
    assert use["ATCP, without"] < use["ATCP, with ICMP and ECN"]
    page = (folder / "report.html").read_text()
    assert "resumes using the same frozen value" in page
    assert ("has not been searched yet" in page) != (_study().folder / "search.json").exists()


def test_plain_clients_acks_are_held_or_not() -> None:
    """The router holds for clients with managers always; for others by the setting."""
    study = _study()
    build = code.function(study, "runs", "scenario")
    context = studies.Context(study=study, seeds=(1,), quick=True, _runner=runner.Runner(None, 1, None))
    base = study.space.base
    for plain_acks in ("held", "as all packets"):
        for manager in (True, False):
            point = studies.Point(clients=1, manager=manager)
            made = build(context, base.but(plain_acks=plain_acks), point, 1).to_dict()
            assert made["train"].get("buffer", True) == (manager or plain_acks == "held")
