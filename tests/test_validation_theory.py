"""Families of `cogtcp validate` with a closed form: the forms by hand, and a drawn case of each family."""

from __future__ import annotations

import math

import pytest

from cogtcp.kernel.validation import fixed_points, validate
from cogtcp.kernel.validation.families import FAMILIES
from cogtcp.kernel.validation.families.cells import nr_peak_bps
from cogtcp.kernel.validation.families.quic_timers import QuicTimers
from cogtcp.kernel.validation.families.spectrum_users import Cooperation, idle_for, survival
from cogtcp.kernel.validation.families.waypoint import mean_distance

#: Bianchi, M/D/1, PFTK and the saw-tooth have a test of their own (test_validation.py).
OWN = {"bianchi", "queue", "loss", "sawtooth"}
THEORY = [family.name for family in FAMILIES if family.peer == "theory" and family.name not in OWN]


@pytest.mark.parametrize("name", THEORY)
def test_a_drawn_case_agrees(name: str) -> None:
    result = validate(5, cases=1, runs=2, families=[name])
    assert result.lines
    assert result.failed == []
    for line in result.lines:
        # Two runs: the interval of a ratio is wide, its middle is not.
        assert abs(line.ratio.mean - 1) < 1.5 * line.band or line.causes, (
            line.case.told,
            line.measure,
            line.ratio,
        )


def test_marks_by_hand() -> None:
    """A window of W = 2 (N - 1) (1 - (1 - g)^N) / (g (1 - g)^(N - 1)) has a cycle of N round trips."""
    gain, cycle = 1 / 16, 10
    kept = (1 - gain) ** (cycle - 1)
    window = 2 * (cycle - 1) * (1 - kept * (1 - gain)) / (gain * kept)
    # alpha is 0.0735 at the first mark, and takes off 9 of 244.8 packets.
    assert window == pytest.approx(244.8, abs=0.1)
    assert fixed_points.scalable_marks(window) == pytest.approx(0.1)
    # Alizadeh et al. have sqrt(2 / W) = 0.0904 with a constant alpha.
    assert fixed_points.scalable_marks(window) == pytest.approx(math.sqrt(2 / window), rel=0.15)
    # With growth in 8 of 10 round trips 8/9 of that window has the same cycle.
    assert fixed_points.scalable_marks(window * 8 / 9, held=1) == pytest.approx(0.1)


def test_distances_and_reports_by_hand() -> None:
    # The unit square: (2 + sqrt(2) + 5 ln(1 + sqrt(2))) / 15.
    assert mean_distance(1, 1) == pytest.approx(0.521405, abs=1e-6)
    # A line: a third of its length.
    assert mean_distance(1000, 0.1) == pytest.approx(1000 / 3, rel=1e-3)
    # Majority of three: 3 p^2 (1 - p) + p^3 of what one reports.
    drawn = {"detector": "map", "snr": -20.0, "sensing": 0.05, "target": 0.1}
    p = Cooperation().theirs(drawn, 0)["detected"]
    three = Cooperation().theirs({**drawn, "sensors": 3, "rule": "majority"}, 0)["detected"]
    assert three == pytest.approx(3 * p * p * (1 - p) + p**3)


def test_responses_by_hand() -> None:
    # RFC 9438 section 5.1: 1.054 RTT^0.75 / p^0.75.
    assert fixed_points.cubic_window(10_000, 0.1) == pytest.approx(1.054 * 0.1**0.75 * 1000, rel=1e-3)
    # p = 0.01, R = 1 s: sqrt(0.02 / 3) = 0.08165, and 12 sqrt(0.00375) 0.01 1.0032 = 0.007372.
    assert fixed_points.tfrc_rate_bps(1000, 1, 0.01) == pytest.approx(8000 / 0.08902, rel=1e-3)
    # 100 packets each: the integral of (W - 100) W is 833,333, that of W is 15,000.
    assert fixed_points.westwood_queue(100, 100) == pytest.approx(833_333 / 15_000, rel=1e-4)
    # 0.3 s of 10.3 s.
    assert fixed_points.bbr1_utilisation(0.1) == pytest.approx(1 - 0.3 / 10.3)


def test_the_window_under_random_loss_approaches_the_stationary_one() -> None:
    """1.31 / sqrt(p) for ever smaller losses (Ott, Kemperman and Mathis)."""
    assert fixed_points.random_loss_window(1e-7) == pytest.approx(1.31 / math.sqrt(1e-7), rel=0.01)


def test_the_rest_of_an_idle_time_by_hand() -> None:
    assert idle_for("exponential", 2.0, 0.0, 1.0) == pytest.approx(math.exp(-0.5), rel=1e-4)
    # A deterministic span of 2 s lasts for another second in half of its time.
    assert idle_for("deterministic", 2.0, 0.0, 1.0) == pytest.approx(0.5, rel=1e-3)
    # Pareto from 1 s with tail index 2: mean 2 s; beyond 1 s the integral of (1/t)^2 to 2 s is 1/2.
    assert idle_for("pareto", 2.0, 2.0, 2.0) == pytest.approx(1 - 1.5 / 2, rel=1e-3)
    # Erlang of two steps with mean 2 s: exp(-t) (1 + t).
    assert survival("gamma", 2.0, 2.0, 1.0) == pytest.approx(2 * math.exp(-1))
    # The median of a log-normal span is mean exp(-sigma^2 / 2).
    assert survival("log_normal", 2.0, 1.0, 2 * math.exp(-0.5)) == pytest.approx(0.5)


def test_the_loss_for_a_window_is_the_inverse() -> None:
    loss = fixed_points.random_loss_for(30)
    assert fixed_points.random_loss_window(loss) == pytest.approx(30, rel=0.02)
    # 1.31 / sqrt(p) without recovery and whole packets: a larger loss.
    assert loss < (1.31 / 30) ** 2


def test_nr_peaks_by_hand() -> None:
    """6 bit, 948/1024, 273 blocks of 12 subcarriers, 28,000 symbols/s, 14 % overhead: 438 Mbit/s a layer."""
    assert nr_peak_bps("nr_30khz", 100, 4, "down") == pytest.approx(4 * 438.19e6, rel=1e-4)
    # 106 blocks, 14,000 symbols/s, 8 %.
    assert nr_peak_bps("nr_15khz", 20, 1, "up") == pytest.approx(91.0e6, rel=1e-3)


def test_probe_timeouts_by_hand() -> None:
    """RTT 100 ms: PTO 100 + 1 + 25 ms; the third probes leave after 1 + 2 + 4 of them."""
    timers = QuicTimers()
    assert timers.theirs({"rtt": 0.1, "lost": "last", "probes": 2}, 1)["wait_s"] == pytest.approx(0.882)
    assert timers.theirs({"rtt": 0.1, "lost": "before", "probes": 2}, 1)["wait_s"] == pytest.approx(0.1125)
