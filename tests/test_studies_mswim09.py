"""The study of the single hop: it runs in short, and its measurements behave as the model must."""

import itertools
import statistics
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from cogtcp import Scenario, run, spectrum, studies
from cogtcp.studies import code
from conftest import Command

(STUDY,) = [study for study in studies.list_studies() if study.name == "mswim09"]


@cache
def modules() -> dict[str, ModuleType]:
    """Return the files of the study as modules, loaded once: their classes are one and the same."""
    code.load(STUDY, "claims")
    prefix = "cogtcp_study_mswim09."
    return {name.removeprefix(prefix): loaded for name, loaded in sys.modules.items() if prefix in name}


def single_hop() -> Scenario:
    return Scenario.from_file(STUDY.folder / "scenarios" / "single-hop.toml")


def test_quick_measures_every_claim(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "mswim09", "--quick", "--out", "out", "--json")
    assert done.code == 0, done.err
    claims = done.json()["claims"]
    assert [claim["id"] for claim in claims] == [row.id for row in STUDY.claims]
    for claim in claims:
        assert claim["verdict"] in ("holds", "differs", "unclear")
        assert "simulation failed" not in claim["why"]
        assert " nan" not in claim["measured"] + claim["why"], claim["id"]
        if claim["ci"] is not None:
            low, high = claim["ci"]
            assert low <= high
    page = (tmp_path / "out" / "report.html").read_text()
    for figure in ("Fig. 2", "Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 8"):
        assert f"<h3>{figure}: " in page
    assert page.count('<p class="conclusion">') == 2
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
        found = [measuring.totals(run(scenario, seed=seed, trace="summary")) for seed in range(1, 9)]
        share = statistics.fmean(record["clean"] for record in found)
        expected = theory.free_share(theory.Detector(-20.0), t_s, t_p, 0.5, 0.5, 1e-3)
        # Eight runs of 50 cycles of ON and OFF: a standard error of about 0.01.
        assert share == pytest.approx(expected, abs=0.05)


def test_timeline_is_that_of_the_totals() -> None:
    result = run(Scenario.from_file(STUDY.folder / "scenarios" / "heterogeneous.toml"), seed=1)
    timeline = modules()["tracing"].Timeline.of(result)
    (flow,), (radio,) = result.flows.to_pylist(), result.radios.to_pylist()
    assert len(timeline.timeouts) == flow["rtos"]
    assert len(timeline.spurious) == flow["spurious_rtos"]
    assert {slot.rate_bps for slot in timeline.slots} == {1.8e6, 0.2e6}
    assert sum(slot.end - slot.start for slot in timeline.slots) == pytest.approx(
        radio["transmitting_s"], abs=1.0
    )
    for slot, following in itertools.pairwise(timeline.slots):
        assert slot.start < slot.end < following.start
    hit = [any(slot.start <= time <= slot.end for time in timeline.destroyed) for slot in timeline.slots]
    assert 0.1 < statistics.fmean(hit) < 0.6
    causes = {timeline.cause(timeout) for timeout in timeline.timeouts}
    assert causes <= set(modules()["tracing"].CAUSES)


def test_best_of_a_surface_comes_with_its_uncertainty() -> None:
    surface, settings, measuring = modules()["surface"], modules()["settings"], modules()["measuring"]
    near, far, stated = (settings.Point(t_s=t_s) for t_s in (0.1, 1.0, 0.2))
    noise = (-3.0, 1.0, 4.0, -2.0)

    def cell(mean: float, scale: float) -> object:
        return measuring.Cell([{"goodput_kbps": mean + scale * value} for value in noise])

    best = surface._best({near: cell(400, 1), far: cell(100, 1.5), stated: cell(399.9, 2)})
    assert best.point == near
    assert list(best.near) == [near, stated], "what differs by less than chance stays in the running"
    assert statistics.fmean(best.loss) == pytest.approx(0, abs=0.02)
