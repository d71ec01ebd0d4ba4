"""The AIMD model over cognitive cycles: hand-computed values, limits and properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp import models
from cogtcp.model.models import Regime

# Fig. 3 of the paper: BW = 15 Mb/s, RTT = 150 ms. With 1000-byte packets, BDP = 15e6 * 0.15 / 8000 = 281.25.
FIGURE_3 = {"bandwidth_bps": 15e6, "rtt_s": 0.150, "segment_size_bytes": 1000.0, "t_rto_s": 1.0}

ROUNDS = st.floats(min_value=2.0, max_value=1e4)


def test_windows_halve_their_distance_to_twice_delta_w() -> None:
    # W0 = 100, dW = 10: 100 -> 100/2 + 10 = 60 -> 60/2 + 10 = 40 -> 30 -> 25.
    assert models.cwnd_sequence(4, initial_cwnd=100, delta_w=10) == [100, 60, 40, 30, 25]
    assert models.cwnd_after_cycles(60, 100, 10) == pytest.approx(20, abs=1e-12)


def test_a_window_below_the_limit_grows_to_it() -> None:
    # W0 = 0, dW = 8: 8, 12, 14.
    assert models.cwnd_sequence(3, 0, 8) == [0, 8, 12, 14]


def test_exact_delta_w_where_it_is_a_power_of_two() -> None:
    # dW + log2 dW = R: 1 + 0 = 1, 2 + 1 = 3, 4 + 2 = 6, 8 + 3 = 11, 16 + 4 = 20, 256 + 8 = 264.
    for delta_w, rounds in [(1, 1), (2, 3), (4, 6), (8, 11), (16, 20), (256, 264)]:
        assert models.delta_w_exact(rounds) == pytest.approx(delta_w, rel=1e-14)


def test_approximate_delta_w() -> None:
    # R - log2 R: 8 - 3 = 5, 16 - 4 = 12, 64 - 6 = 58.
    for rounds, delta_w in [(8, 5), (16, 12), (64, 58)]:
        assert models.delta_w_approximate(rounds) == pytest.approx(delta_w, rel=1e-14)


def test_the_paper_s_bounds_have_their_signs_the_wrong_way_round() -> None:
    # R = 11: exactly dW = 8. R - log2 R = 7.54, so that 8 lies above it, not below as printed.
    lower, upper = models.delta_w_bounds(11)
    assert lower == pytest.approx(7.5405683814, abs=1e-9)
    assert lower < 8 < upper


@given(st.floats(min_value=1.0, max_value=1e9))
def test_exact_delta_w_solves_equation_2(rounds: float) -> None:
    delta_w = models.delta_w_exact(rounds)
    assert delta_w + math.log2(delta_w) == pytest.approx(rounds, rel=1e-13)


@given(ROUNDS)
def test_equation_3_is_a_lower_bound_within_one_packet(rounds: float) -> None:
    lower, upper = models.delta_w_bounds(rounds)
    exact = models.delta_w_exact(rounds)
    assert models.delta_w_approximate(rounds) == lower
    assert lower < exact < upper
    assert exact - lower == pytest.approx(math.log2(rounds / exact), abs=1e-9)


@given(ROUNDS, st.floats(min_value=1e-3, max_value=10.0))
def test_delta_w_grows_with_the_rounds(rounds: float, more: float) -> None:
    assert models.delta_w_exact(rounds + more) > models.delta_w_exact(rounds)
    assert models.delta_w_approximate(rounds + more) > models.delta_w_approximate(rounds)


@given(st.floats(min_value=4.0, max_value=500.0), st.floats(min_value=2.0, max_value=1000.0))
def test_windows_without_the_constant_gain_converge_to_the_same_limit(rounds: float, cwnd: float) -> None:
    for _ in range(200):
        cwnd = models.next_cwnd(cwnd, rounds)
    assert cwnd == pytest.approx(2 * models.delta_w_exact(rounds), rel=1e-9)


def test_next_cwnd_in_a_cycle_too_short_for_slow_start() -> None:
    # ssthresh 32 needs five doublings; three rounds end at 2^3.
    assert models.next_cwnd(64, 3) == 8


def test_unsaturated_cycle_by_hand() -> None:
    # T_cc = 1 + 8 * 0.15 = 2.2 s: R = 8, dW = 5, BDP = 281.25 > 10: case 3.
    # 5 - 1 + 1.5 * 25 = 41.5 packets; 41.5 * 8000 / 2.2 = 150,909 bit/s.
    cycle = models.aimd_cycle(t_cc_s=2.2, **FIGURE_3)
    assert cycle.rounds == pytest.approx(8)
    assert cycle.delta_w == pytest.approx(5)
    assert cycle.converged_cwnd == pytest.approx(10)
    assert cycle.bdp == pytest.approx(281.25)
    assert cycle.regime is Regime.UNSATURATED
    assert cycle.packets == pytest.approx(41.5)
    assert cycle.throughput_bps == pytest.approx(41.5 * 8000 / 2.2)


def test_cycle_saturated_in_congestion_avoidance_by_hand() -> None:
    # R = 64, dW = 58; a BDP of 100 packets lies between 58 and 116: case 2.
    # 58 - 1 - (100^2 - 4*100*58 + 58^2)/2 = 57 - (10000 - 23200 + 3364)/2 = 57 + 4918 = 4975.
    assert models.packets_per_cycle(delta_w=58, bdp=100, rounds=64) == pytest.approx(4975)
    # The parts: 57 in slow start, (100^2 - 58^2)/2 = 3318 growing, 100 * 16 = 1600 at the link's rate.
    assert 57 + 3318 + 1600 == 4975


def test_cycle_saturated_in_slow_start_by_hand() -> None:
    # R = 64, dW = 58, BDP = 32: 32 - 1 + 32 * (64 - 5) = 1919 packets.
    assert models.packets_per_cycle(delta_w=58, bdp=32, rounds=64) == pytest.approx(1919)


def test_regime_borders() -> None:
    assert models.classify_regime(delta_w=10, bdp=10) is Regime.SLOW_START
    assert models.classify_regime(delta_w=10, bdp=10.001) is Regime.CONGESTION_AVOIDANCE
    assert models.classify_regime(delta_w=10, bdp=20) is Regime.CONGESTION_AVOIDANCE
    assert models.classify_regime(delta_w=10, bdp=20.001) is Regime.UNSATURATED


@given(ROUNDS)
def test_exact_cases_join_without_a_step(rounds: float) -> None:
    delta_w = models.delta_w_exact(rounds)
    for border in (delta_w, 2 * delta_w):
        below = models.packets_per_cycle(delta_w, border, rounds)
        above = models.packets_per_cycle(delta_w, border * (1 + 1e-12), rounds)
        assert above == pytest.approx(below, rel=1e-9)


@given(ROUNDS)
def test_approximate_cases_1_and_2_differ_by_the_time_equation_6_leaves_out(rounds: float) -> None:
    delta_w = models.delta_w_approximate(rounds)
    step = models.packets_per_cycle(delta_w, delta_w, rounds) - models.packets_per_cycle(
        delta_w, delta_w * (1 + 1e-12), rounds
    )
    assert step == pytest.approx(delta_w * (rounds - math.log2(delta_w) - delta_w), rel=1e-4)
    assert step > 0


@given(st.floats(min_value=3.0, max_value=1000.0), st.floats(min_value=1.5, max_value=2000.0))
def test_packets_equal_a_numerical_integral_of_equation_4(rounds: float, bdp: float) -> None:
    """With the integral count of slow start, the three cases are equation (4): check against brute force."""
    delta_w = models.delta_w_exact(rounds)
    steps = 4000
    width = rounds / steps
    slow_start = math.log2(delta_w)
    total = 0.0
    for index in range(steps):
        t = (index + 0.5) * width
        window = 2.0**t if t < slow_start else delta_w + (t - slow_start)
        total += min(window, bdp) * width
    assert models.packets_per_cycle(delta_w, bdp, rounds, slow_start="integral") == pytest.approx(
        total, rel=2e-3
    )


@given(st.floats(min_value=1.5, max_value=60.0), st.floats(min_value=1.01, max_value=2.0))
def test_exact_throughput_grows_with_the_cycle(t_cc_s: float, factor: float) -> None:
    shorter = models.aimd_cycle(t_cc_s=t_cc_s, solution="exact", **FIGURE_3)
    longer = models.aimd_cycle(t_cc_s=t_cc_s * factor, solution="exact", **FIGURE_3)
    assert longer.throughput_bps > shorter.throughput_bps


@given(st.floats(min_value=2.0, max_value=30.0), st.floats(min_value=1.05, max_value=8.0))
def test_unsaturated_throughput_ignores_the_capacity(t_cc_s: float, factor: float) -> None:
    """Case 3: "unrelated to the channel capacity"."""
    cycle = models.aimd_cycle(t_cc_s=t_cc_s, **FIGURE_3)
    faster = models.aimd_cycle(t_cc_s=t_cc_s, **{**FIGURE_3, "bandwidth_bps": 15e6 * factor})
    if cycle.regime is Regime.UNSATURATED:
        assert faster.throughput_bps == cycle.throughput_bps


def test_endless_cycle_reaches_the_link_rate() -> None:
    cycle = models.aimd_cycle(t_cc_s=1e6, **FIGURE_3)
    assert cycle.regime is Regime.SLOW_START
    assert cycle.throughput_bps == pytest.approx(15e6, rel=1e-5)


def test_headers_lower_the_goodput_of_a_saturated_link_by_their_share() -> None:
    cycle = models.aimd_cycle(t_cc_s=1e6, header_bytes=40, **FIGURE_3)
    assert cycle.throughput_bps == pytest.approx(15e6 * 1000 / 1040, rel=1e-5)


def test_throughput_never_exceeds_the_link() -> None:
    for t_cc_s in (2, 5, 10, 20, 30, 45, 60, 120, 1000):
        for solution in ("approximate", "exact"):
            cycle = models.aimd_cycle(t_cc_s=t_cc_s, solution=solution, **FIGURE_3)
            assert cycle.throughput_bps < 15e6


def test_last_round_is_a_window_or_a_pipe_full() -> None:
    # Case 3: R = 8, dW = 5 loses 2 dW = 10 of 41.5 packets. Case 1 loses the BDP.
    short = models.aimd_cycle(t_cc_s=2.2, lost_last_round=True, **FIGURE_3)
    assert short.packets == pytest.approx(31.5)
    long = models.aimd_cycle(t_cc_s=100, **FIGURE_3)
    assert long.regime is Regime.SLOW_START
    lost = models.aimd_cycle(t_cc_s=100, lost_last_round=True, **FIGURE_3)
    assert long.packets - lost.packets == pytest.approx(281.25)


@pytest.mark.parametrize("t_cc_s", [2.2, 26.0, 60.0])
def test_printed_equations_in_packets_are_the_derived_ones(t_cc_s: float) -> None:
    """One cycle in each regime: (5), (6), (7) hold once BW is in packets per second and BDP in packets."""
    derived = models.aimd_cycle(t_cc_s=t_cc_s, **FIGURE_3)
    printed = models.aimd_cycle_as_printed(t_cc_s=t_cc_s, reading="packets", **FIGURE_3)
    assert printed == pytest.approx(derived.throughput_bps, rel=1e-12)


def test_the_three_cycles_above_cover_the_three_regimes() -> None:
    regimes = [models.aimd_cycle(t_cc_s=t_cc_s, **FIGURE_3).regime for t_cc_s in (2.2, 26.0, 60.0)]
    assert regimes == [Regime.UNSATURATED, Regime.CONGESTION_AVOIDANCE, Regime.SLOW_START]


def test_printed_equations_in_bits_promise_more_than_the_link_has() -> None:
    # BDP = 2.25e6 "bits" against a window of some hundreds: (7) always, and at 60 s 1.5 dW^2 packets a cycle.
    printed = models.aimd_cycle_as_printed(t_cc_s=60, reading="bits", **FIGURE_3)
    delta_w = models.delta_w_approximate(59 / 0.15)
    assert printed == pytest.approx(8000 * (delta_w - 1 + 1.5 * delta_w**2) / 60)
    assert printed > 1.9 * 15e6


def test_mixed_units_lose_the_packets_of_slow_start() -> None:
    derived = models.aimd_cycle(t_cc_s=60, **FIGURE_3).throughput_bps
    mixed = models.aimd_cycle_as_printed(t_cc_s=60, reading="mixed", **FIGURE_3)
    # 280.25 packets of 8000 bits count as 280.25 bits.
    assert derived - mixed == pytest.approx(280.25 * (8000 - 1) / 60)


@pytest.mark.parametrize(
    ("silence_s", "rto_s", "expected_s"),
    [
        (0.1, 1.0, 1.0),
        (0.99, 1.0, 1.0),
        (1.0, 1.0, 3.0),
        (2.0, 1.0, 3.0),
        (3.5, 1.0, 7.0),
        (0.5, 0.2, 0.6),
        (0, 1, 1),
    ],
)
def test_timeouts_double_until_one_outlasts_the_silence(
    silence_s: float, rto_s: float, expected_s: float
) -> None:
    assert models.rto_outage_s(silence_s, rto_s) == pytest.approx(expected_s)


def test_backed_off_timeouts_stop_at_the_maximum() -> None:
    # 1 + 2 + 4 + 4 + 4 = 15 s is the first sum above 12 s.
    assert models.rto_outage_s(12, 1, max_rto_s=4) == 15


@pytest.mark.parametrize(
    "call",
    [
        lambda: models.delta_w_exact(0.99),
        lambda: models.delta_w_exact(math.inf),
        lambda: models.delta_w_approximate(1.4),
        lambda: models.delta_w_bounds(0.5),
        lambda: models.available_rounds(0, 1, 0.1),
        lambda: models.available_rounds(5, -1, 0.1),
        lambda: models.bdp_packets(0, 0.1, 1000),
        lambda: models.packets_per_cycle(5, 0.5, 8),
        lambda: models.cwnd_after_cycles(-1, 10, 5),
        lambda: models.rto_outage_s(1, 0),
        lambda: models.aimd_cycle(t_cc_s=0.9, **FIGURE_3),
    ],
)
def test_arguments_outside_the_model_are_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"need|must"):
        call()  # type: ignore[operator]
