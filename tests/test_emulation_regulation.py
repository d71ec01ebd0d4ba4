"""Radios under regulation on the kernel plane: they go silent and move when the simulated ones do."""

from __future__ import annotations

import pytest

from cogtcp import Scenario, run
from cogtcp.kernel.emulation import emulate
from conftest import ROOT, side_by_side
from test_emulation import as_in_time, moves, on_kernel

IN_VIRTUAL_TIME = True

#: Incumbents that come within seconds, as a run on the kernel plane takes as long as it simulates.
QUICK = {
    "cbrs": {
        "spectrum.pu.laws.on.deterministic": "2 s",
        "spectrum.pu.laws.off.exponential": "3 s",
        "radio.0.cr.regulation.cbrs.heartbeat": "2 s",
        "radio.0.cr.regulation.cbrs.stop": "300 ms",
    },
    "wifi-dfs": {
        "spectrum.pu.laws.on.deterministic": "1 s",
        "spectrum.pu.laws.off.exponential": "4 s",
    },
    "tvws": {
        "spectrum.pu.laws.on.deterministic": "2 s",
        "spectrum.pu.laws.off.exponential": "4 s",
        "radio.0.cr.regulation.tvws.answer": "100 ms",
    },
}
DURATION_S = 6.0
KINDS = {"handoff", "pu_arrival", "pu_on", "pu_off", "sensing_start", "silence_start", "switching_start"}


@on_kernel
@side_by_side
@pytest.mark.parametrize("name", QUICK)
def test_a_regulated_radio_obeys_on_both_planes(name: str) -> None:
    scenario = Scenario.from_file(ROOT / "scenarios" / f"{name}.toml").set("run.duration", f"{DURATION_S} s")
    for path, value in QUICK[name].items():
        scenario = scenario.set(path, value)
    emulated, simulated = emulate(scenario), run(scenario)
    # The regulation hears incumbents and its own timers, not packets: the same moves at the same times.
    assert moves(emulated, KINDS, DURATION_S) == moves(simulated, KINDS, DURATION_S)
    # An incumbent came to the radio's channel, and the radio left or fell silent.
    radio, its_model = (result.rows("radios")[0] for result in (emulated, simulated))
    assert radio["transmitting_s"] == its_model["transmitting_s"] < DURATION_S
    assert radio["handoffs"] == its_model["handoffs"]
    # Nothing is sent where an incumbent may no longer be disturbed, also by a real clock.
    assert radio["pu_overdue_s"] == its_model["pu_overdue_s"] == 0.0
    with as_in_time(emulated):
        goodput, wanted = (result.rows("flows")[0]["goodput_bps"] for result in (emulated, simulated))
        assert goodput == pytest.approx(wanted, rel=0.2)
