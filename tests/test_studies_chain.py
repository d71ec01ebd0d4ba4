"""The study of Fig. 2 to 9 of Zhou, Al Ali and Chowdhury: its mechanism by hand, and its quick version."""

from __future__ import annotations

import itertools
import json
import shutil
from typing import TYPE_CHECKING

import pytest

from cogtcp import Scenario, models, run, studies
from cogtcp.studies import code

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import QuickStudy


def _sensed(off_ms: int) -> tuple[list[float], list[float], float]:
    """Return when silences start, when flow 1 times out, and its goodput, for a sensing time."""
    (study,) = [study for study in studies.list_studies() if study.name == "chain"]
    scenario = Scenario.from_file(study.folder / "scenarios" / "dumbbell.toml")
    result = run(scenario.set("radio.0.sensing.off", f"{off_ms} ms"), seed=1)
    events = result.events.to_pylist()
    silences = [event["time_s"] for event in events if event["kind"] == "sensing_start"]
    timeouts = [event["time_s"] for event in events if event["kind"] == "rto" and event["flow"] == "f1"]
    return silences, timeouts, result.flows.to_pylist()[0]["goodput_bps"]


def test_a_timeout_of_one_second_outlasts_every_sensing_time() -> None:
    goodputs = {}
    for off_ms in (200, 400):
        silences, timeouts, goodputs[off_ms] = _sensed(off_ms)
        # Longer than the round trip of 170 ms: the window is lost whole, once a cycle, and the timer of 1 s
        # runs from the last ACK, which comes at most a round trip after the silence has begun.
        for start, end in itertools.pairwise(silences[4:]):
            (timeout,) = [time for time in timeouts if start <= time < end]
            assert 0.9 < timeout - start < 1.2
    # R = 4.2 / 0.17 and 4.4 / 0.17 round trips are left of 5.2 and 5.4 s.
    model = {
        off_ms: models.aimd_cycle(
            bandwidth_bps=10e6,
            rtt_s=0.17,
            t_cc_s=5 + off_ms / 1e3,
            t_rto_s=1,
            segment_size_bytes=1000,
            header_bytes=40,
            solution="exact",
        ).throughput_bps
        for off_ms in goodputs
    }
    assert goodputs[400] > goodputs[200]
    assert goodputs[400] / goodputs[200] == pytest.approx(model[400] / model[200], rel=0.05)


def test_quick(quick_study: QuickStudy, tmp_path: Path) -> None:
    kept = shutil.copytree(quick_study("chain")[1], tmp_path / "out")
    result = studies.reproduce("chain", quick=True, seeds=1, out=kept)
    claims = json.loads(result.to_json())["claims"]
    assert [claim["id"] for claim in claims] == [row.id for row in result.study.claims]
    # One seed shows nothing.
    found = {statement["base"]["verdict"] for claim in claims for statement in claim["statements"]}
    assert found == {"inconclusive"}
    assert not [claim["id"] for claim in claims if "simulation failed" in claim["why"]]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "this trend is reversed when sensing time increases" in page
    assert "Statement by statement" in page


def test_stretches_that_would_print_the_trace_of_fig_8() -> None:
    """Of six stretches of 15 s one has a timeout and one a repair; the warm-up does not count."""
    quiet = code.function(studies.find("chain")[0], "runs", "_quiet")
    own = [
        (5.0, "rto", ""),
        (21.0, "rto", ""),
        (22.0, "rto", ""),
        (50.0, "fast_retransmit", ""),
        (52.0, "drop", ""),
    ]
    assert quiet(own, 20.0, 110.0) == pytest.approx(4 / 6)
    # The rest of a stretch at the end is none.
    assert quiet([(118.0, "rto", "")], 20.0, 119.0) == 1.0
