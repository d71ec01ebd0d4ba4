"""The study of the single hop: it runs in short, and its measurements behave as the model must."""

import itertools
import math
import shutil
import statistics
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from cogtcp import Scenario, run, spectrum, studies
from cogtcp.running.runner import Runner
from cogtcp.studies import code, power
from conftest import Command, QuickStudy

(STUDY,) = [study for study in studies.list_studies() if study.name == "mswim09"]


@cache
def modules() -> dict[str, ModuleType]:
    """Return the files of the study as modules, loaded once: their classes are one and the same."""
    for name in ("runs", "tests", "exhibits"):
        code.load(STUDY, name)
    prefix = "cogtcp_study_mswim09."
    return {name.removeprefix(prefix): loaded for name, loaded in sys.modules.items() if prefix in name}


def single_hop() -> Scenario:
    return Scenario.from_file(STUDY.folder / "scenarios" / "single-hop.toml")


def test_quick_measures_every_claim(command: Command, quick_study: QuickStudy, tmp_path: Path) -> None:
    shutil.copytree(quick_study("mswim09")[1], tmp_path / "out")
    done = command("reproduce", "mswim09", "--quick", "--out", "out", "--json")
    assert done.code == 0, done.err
    claims = done.json()["claims"]
    assert [claim["id"] for claim in claims] == [row.id for row in STUDY.claims]
    for claim in claims:
        assert claim["base"] in ("holds", "fails", "inconclusive")
        assert claim["statements"], claim["id"]
    page = (tmp_path / "out" / "report.html").read_text()
    for figure in ("Fig. 2", "Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 8"):
        assert f"<h4>{figure}: " in page
    assert "the maximum throughput is reached when t_s and T_p are equal to 0.2s and 1s" in page


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # No PU to speak of against PUs that are almost always there.
        ({"alpha": 10, "beta": 0.05}, {"alpha": 0.05, "beta": 10}),
        # Silent for a sixth of the time against five sixths.
        ({"t_s": "200 ms"}, {"t_s": "5 s"}),
    ],
)
def test_scenario_answers_to_what_the_study_varies(
    better: dict[str, object], worse: dict[str, object]
) -> None:
    paths = {
        "alpha": "spectrum.pu.exponential.alpha",
        "beta": "spectrum.pu.exponential.beta",
        "t_s": "radio.0.cr.sensing_time",
    }

    def goodput(values: dict[str, object], seeds: Sequence[int] = range(1, 6)) -> float:
        scenario = single_hop()
        for name, value in values.items():
            scenario = scenario.set(paths[name], value)
        runs = [run(scenario, seed=seed, trace="summary") for seed in seeds]
        return statistics.fmean(flow["goodput_bps"] for r in runs for flow in r.flows.to_pylist())

    assert goodput(better) > 2 * goodput(worse)
    assert goodput(better) < 1e6  # the channel's capacity


@pytest.mark.parametrize(
    ("reached", "hears"),
    [("both ends", [True, True]), ("the sender", [True, False]), ("the receiver", [False, True])],
)
def test_primary_users_reach_the_ends_that_the_point_names(reached: str, hears: list[bool]) -> None:
    point = studies.Point({"t_s": 0.2, "t_p": 1.0, "reached": reached, "channels": 4})
    context = studies.Context(STUDY, (1,), False, Runner(None, 1))
    data = modules()["runs"].scenario(context, STUDY.space.base, point, 1).to_dict()
    users = data["spectrum"]["pu"]["exponential"]

    def metres(text: str) -> float:
        return float(text.split()[0])

    place = [metres(text) for text in users["position"]]
    ends = data["radio"][0]["cr"]["positions"]
    reach = metres(users["reach"]["range"])
    assert [math.dist(place, [metres(text) for text in end]) <= reach for end in ends] == hears
    assert data["spectrum"]["channels_per_band"] == 4


@pytest.mark.parametrize("snr_db", [-15.0, -20.0, -25.0])
def test_detector_of_the_theory_is_that_of_the_simulator(snr_db: float) -> None:
    detector = modules()["theory"].Detector(snr_db)
    for t_s, found in zip((0.025, 0.2), spectrum.sensing([0.025, 0.2], snr_db=snr_db), strict=True):
        assert detector.report(t_s, 1.0) == pytest.approx(found.detection, abs=1e-6)
        assert detector.report(t_s, 0.0) == pytest.approx(found.false_alarm, abs=1e-6)


def test_free_time_by_hand() -> None:
    theory = modules()["theory"]
    sure = theory.Detector(0.0)  # no errors to speak of
    # PUs that hardly ever come: the duty cycle of the sensing.
    assert theory.free_share(sure, 0.2, 0.6, 1.0, 1e-6, 1e-3) == pytest.approx(0.75, abs=1e-3)
    # Channels that keep their state, OFF in half of the cases: those that are OFF are kept for good.
    assert theory.free_share(sure, 0.2, 0.6, 1e-6, 1e-6, 1e-3) == pytest.approx(0.75, abs=1e-3)
    # PUs that change in no time: half of the open time, which follows on hardly any sensing.
    assert theory.free_share(sure, 1e-5, 10.0, 1e3, 1e3, 0.0) == pytest.approx(0.5, abs=1e-2)


def test_free_time_is_that_of_the_simulator() -> None:
    """The chain of the theory against the radio itself, over both axes of Figure 2."""
    theory, measuring = modules()["theory"], modules()["measuring"]
    for t_s, t_p in itertools.product((0.025, 0.3), (0.2, 2.0)):
        scenario = (
            single_hop()
            .set("radio.0.cr.sensing_time", f"{t_s * 1e3:g} ms")
            .set("radio.0.cr.transmission_time", f"{t_p * 1e3:g} ms")
        )
        found = [measuring.measure(run(scenario, seed=seed, trace="summary")) for seed in range(1, 9)]
        share = statistics.fmean(record["clean"] for record in found)
        expected = theory.free_share(theory.Detector(-20.0), t_s, t_p, 0.5, 0.5, 1e-3)
        # Eight runs of 50 cycles of ON and OFF: a standard error of about 0.01.
        assert share == pytest.approx(expected, abs=0.05)


def test_timeline_is_that_of_the_totals() -> None:
    """Over channels of unequal rate, as in Fig. 8."""
    channels = {"alternating": {"rate": "1 Mbit/s", "m": 1.6}}
    scenario = (
        single_hop()
        .set("spectrum.channels", channels)
        .set("radio.0.cr.sensing_time", "25 ms")
        .set("radio.0.cr.transmission_time", "1 s")
    )
    result = run(scenario, seed=1)
    measuring = modules()["measuring"]
    timeline = measuring.Timeline.of(result)
    (flow,), (radio,) = result.flows.to_pylist(), result.radios.to_pylist()
    assert len(timeline.timeouts) == flow["rtos"]
    # One ACK may show several timeouts in a row to be spurious: one event, and the timeline marks the last.
    events = result.events.column("kind").to_pylist().count("spurious_rto")
    assert 0 < len(timeline.spurious) == events <= flow["spurious_rtos"]
    assert {slot.rate_bps for slot in timeline.slots} == {1.8e6, 0.2e6}
    assert sum(slot.end - slot.start for slot in timeline.slots) == pytest.approx(
        radio["transmitting_s"], abs=1.0
    )
    for slot, following in itertools.pairwise(timeline.slots):
        assert slot.start < slot.end < following.start
    hit = [any(slot.start <= time <= slot.end for time in timeline.destroyed) for slot in timeline.slots]
    assert 0.1 < statistics.fmean(hit) < 0.6
    causes = {timeline.cause(timeout) for timeout in timeline.timeouts}
    assert causes <= set(measuring.CAUSES)


def _cell(*values: float) -> studies.Cell:
    return studies.Cell([{"goodput_kbps": value} for value in values])


NOISE = (-3.0, 1.0, 4.0, -2.0)


def test_what_is_in_the_running_for_the_best() -> None:
    """What differs from the best by less than chance stays in the running, here with an edge of the grid."""
    tests, base = modules()["tests"], STUDY.space.base
    (claim,) = [row for row in STUDY.claims if row.id == "mswim09-f2"]
    by_name = {statement.function: statement for statement in claim.statements}
    grid = {
        studies.Point(t_s=t_s, t_p=t_p): _cell(*(mean + scale * value for value in NOISE))
        for t_s, t_p, mean, scale in (
            (0.1, 0.2, 100, 1.5),
            (0.1, 1.0, 100, 1.0),
            (0.2, 0.2, 100, 0.5),
            (0.2, 1.0, 400, 1.0),
            (0.4, 1.0, 100, 1.2),
            (0.2, 2.0, 100, 0.7),
        )
    }
    assert tests.interior(by_name["interior"], grid, base).verdict == "holds"
    assert tests.stated_is_best(by_name["stated_is_best"], grid, base).estimate == pytest.approx(1)
    edge = grid | {studies.Point(t_s=0.1, t_p=1.0): _cell(*(400.2 - 2 * value for value in NOISE))}
    assert tests.interior(by_name["interior"], edge, base).verdict == "inconclusive"
    # The difference of 0.2 to the best inside, against a standard error of 3 x stdev(NOISE) / 2.
    found, spread = tests.interior(by_name["interior"], edge, base), 3 * statistics.stdev(NOISE)
    assert found.clearance == pytest.approx(-0.2 / (spread / 2), rel=1e-6)
    # So the study says how many seeds such a test needs, too.
    assert found.spread == pytest.approx(spread / 400, rel=1e-6)
    assert power.seeds_needed(by_name["interior"], found, 6) is not None
    best_on_edge = grid | {studies.Point(t_s=0.1, t_p=1.0): _cell(*(500 + value for value in NOISE))}
    assert tests.interior(by_name["interior"], best_on_edge, base).verdict == "fails"
    assert tests.stated_is_best(by_name["stated_is_best"], best_on_edge, base).verdict == "fails"


def test_what_sensing_costs() -> None:
    tests, base = modules()["tests"], STUDY.space.base
    (claim,) = [row for row in STUDY.claims if row.id == "mswim09-x1"]
    (statement,) = claim.statements

    def verdict(perfect: float, real: float) -> str:
        grid = {
            studies.Point(t_s=0.001, t_p=0.6, perfect=True): _cell(*(100 + value for value in NOISE)),
            studies.Point(t_s=0.1, t_p=0.6, perfect=True): _cell(*(perfect + value for value in NOISE)),
            studies.Point(t_s=0.1, t_p=0.6, perfect=False): _cell(*(real + 0.5 * value for value in NOISE)),
        }
        found: str = tests.time_costs_more(statement, grid, base).verdict
        return found

    assert verdict(perfect=70, real=60) == "holds"  # time takes 30, errors 10
    assert verdict(perfect=90, real=60) == "fails"  # 10 and 30


def test_a_table_of_errors_is_what_the_setting_says() -> None:
    """Half of the PUs are missed by no sensing at all, and a 1/e of that after tau."""
    modules()
    runs = code.load(STUDY, "runs")
    assert runs is not None
    setting = STUDY.space.base.but(errors="exponential, as many false alarms", errors_ms=100.0)
    table = runs._detector(setting)["table"]
    at = {float(text.split()[0]) / 1e6: (detected, alarm) for text, detected, alarm in table}
    t_s = min(at, key=lambda value: abs(value - 0.1))
    assert 1 - at[t_s][0] == pytest.approx(0.5 * math.exp(-t_s / 0.1), rel=1e-3)
    assert at[t_s][1] == pytest.approx(1 - at[t_s][0])
