"""The study of the single hop: it runs in short, and its measurements behave as the model must."""

import statistics
from collections.abc import Sequence
from pathlib import Path

import pytest

from cogtcp import Scenario, run, studies
from conftest import Command

(STUDY,) = [study for study in studies.list_studies() if study.name == "mswim09"]


def test_quick_measures_every_claim(command: Command, tmp_path: Path) -> None:
    done = command("reproduce", "mswim09", "--quick", "--out", "out", "--json")
    assert done.code == 0, done.err
    claims = done.json()["claims"]
    assert [claim["id"] for claim in claims] == [row.id for row in STUDY.claims]
    for claim in claims:
        low, high = claim["ci"]
        assert low <= high
        assert claim["verdict"] in ("holds", "differs", "unclear")
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<svg") >= 4


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
        scenario = Scenario.from_file(STUDY.folder / "scenarios" / "single-hop.toml")
        for name, value in values.items():
            scenario = scenario.set(paths[name], value)
        runs = [run(scenario, seed=seed, trace="summary") for seed in seeds]
        return statistics.fmean(flow["goodput_bps"] for r in runs for flow in r.flows.to_pylist())

    assert goodput(better) > 2 * goodput(worse)
    assert goodput(better) < 1e6  # the channel's capacity
