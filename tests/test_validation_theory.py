"""Families of `cogtcp validate` with a closed form: the forms by hand, and a drawn case of each family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from cogtcp.kernel.validation import fixed_points, validate
from cogtcp.kernel.validation.coupled_windows import coupled_rates
from cogtcp.kernel.validation.families import FAMILIES, one_flow
from cogtcp.kernel.validation.families.cells import nr_peak_bps
from cogtcp.kernel.validation.families.freeze import Freeze
from cogtcp.kernel.validation.families.kernel_queues import red_weight
from cogtcp.kernel.validation.families.licensed import Cbrs, Dfs, QuietPeriods, Tvws
from cogtcp.kernel.validation.families.links import CrPair, Journey, Leo, LinkTrace
from cogtcp.kernel.validation.families.players import AdaptiveVideo, Nada, Requests, Video
from cogtcp.kernel.validation.families.quic_timers import QuicOutage, QuicTimers
from cogtcp.kernel.validation.families.spectrum_users import Cooperation, idle_for, survival
from cogtcp.kernel.validation.families.waypoint import mean_distance

if TYPE_CHECKING:
    from pathlib import Path

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


def test_rounds_of_compound_by_hand() -> None:
    # Without a delay window it is AIMD: from 50 to 100 in 50 rounds of 74.5 packets, and two rounds more.
    assert fixed_points.compound_rounds(3725 + 150, alpha=0) == pytest.approx(52, rel=0.01)
    # From 100 to 200 the window grows by 4.0 to 6.6 packets a round: 19 to 20 rounds of 150.
    assert 19 + 2 < fixed_points.compound_rounds(19.5 * 150 + 300) < 20 + 2


def test_times_on_the_air_by_hand() -> None:
    spans = {"on": 100.0, "off": 300.0}
    # A radar in a quarter of the heartbeats. It begins in one of 400 s: 4 s more are on the air.
    assert Cbrs().theirs({**spans, "heartbeat": 1e-6, "stop": 0.0}, 0)["share"] == pytest.approx(0.75)
    assert Cbrs().theirs({**spans, "heartbeat": 1e-6, "stop": 4.0}, 0)["share"] == pytest.approx(0.76)
    # Radars of no length, a check of no length: on the air for 600 s between silences of 1800 s.
    short = {"on": 1e-9, "off": 600.0, "check": 1e-9, "period": 1800.0}
    assert Dfs().theirs(short, 0)["share"] == pytest.approx(0.25)
    # A radar always there at a check in a half of the time: two periods in the mean.
    assert Dfs().theirs({**short, "on": 600.0}, 0)["share"] == pytest.approx(600 / (600 + 3600))
    assert Tvws().theirs({**spans, "lead": 300.0}, 0)["share"] == pytest.approx(0.75 / math.e)
    # 5 ms of 100 ms; with a report of two, a look of 20 ms more for each in the mean.
    looks = {"within": 0.005, "every": 0.1, "between": 0.02, "false": 0.0}
    assert QuietPeriods().theirs(looks, 0)["share"] == pytest.approx(0.05)
    assert QuietPeriods().theirs({**looks, "false": 0.5}, 0)["share"] == pytest.approx(0.025 / 0.12)


def test_the_weight_of_red_by_hand() -> None:
    # Ten packets over a threshold of five: 6 <= (1 - (15/16)^10) 16 = 7.6, and not 5.9 with 1/8.
    assert red_weight(10, 5) == 1 / 16
    # Floyd and Jacobson 1993, section 5: a burst of 50 and a threshold of 5 ask for 0.0042 or less.
    # `tc` shows `ewma` 9 for these, 6 for 83 and 41, 4 for 17 and 10.
    assert [red_weight(50, 5), red_weight(83, 41), red_weight(17, 10)] == [2**-9, 2**-6, 2**-4]


def test_links_by_hand() -> None:
    leo = {
        "period": 10.0,
        "outage": 1.0,
        "least": 0.02,
        "most": 0.04,
        "spike": 0.09,
        "first": 2.0,
        "last": 1.0,
    }
    # 9 s are open, and 2 s of these have 90 ms more; 4.05 ms s where the delay falls.
    assert Leo().theirs(leo, 0) == {"dropped": 0.1, "delay_s": pytest.approx(0.03 + 0.02 + 0.00045)}
    # DIFS 50 us, backoff 310, data 192 + 8000 at 1 Mbit/s, SIFS 10, ACK 304, flight 2.
    pair = {"rate": 1e6, "payload": 944, "cw_min": 31, "slot": 2e-5, "rts": False}
    assert 1 / CrPair().theirs(pair, 0)["packets_per_s"] == pytest.approx(8868e-6)
    # RTS 352 us, CTS 304 us, two SIFS and two flights more.
    assert 1 / CrPair().theirs({**pair, "rts": True}, 0)["packets_per_s"] == pytest.approx(9546e-6)
    # 2 km of tunnel and 40 km less two reaches, of 60 km.
    assert Journey().theirs({"tunnel": 2000, "reach": 15_000}, 0)["share"] == pytest.approx(12 / 60)
    trace = {"spans": [1.0, 3.0], "rates": [8e6, 0.0], "size": 972}
    assert LinkTrace().theirs(trace, 0)["goodput_bps"] == pytest.approx(2e6 * 0.972)


def test_players_by_hand() -> None:
    # 0.85 of 2 Mbit/s lies between 1.427 and 2.056.
    assert AdaptiveVideo().theirs({"rate": 2e6, "chunk": 2.0}, 0)["goodput_bps"] == 1.427e6
    # PRIO 10 ms RMAX / r at 40 % of RMAX each.
    assert Nada().theirs({"priorities": [1.0, 1.0], "load": 0.4}, 0)["wait_s"] == pytest.approx(0.025)
    # A chunk of 2 s takes 4 s and a round trip.
    video = {"chunk": 2.0, "carried": 0.5, "rtt": 0.1}
    assert Video().theirs(video, 0)["share"] == pytest.approx(1 - 2 / 4.1)
    # 31 segments: 10, 20 and 1 leave in three rounds, after the request and the handshake.
    ask = {"law": "fixed", "mean": 31_000, "segment": 1000, "initial": 10, "rtt": 0.1}
    assert Requests().theirs(ask, 0)["delay_s"] == pytest.approx(0.4)
    assert Requests().theirs({**ask, "mean": 30_000}, 0)["delay_s"] == pytest.approx(0.3)


def test_a_true_least_rtt_empties_the_queue_of_copa(tmp_path: Path) -> None:
    """The departure copa-queue-does-not-empty: a link that is fast for 20 ms each 5 s removes its cause."""
    rate, delta = 6.06e6, 0.09
    trace = tmp_path / "trace.csv"
    trace.write_text(f"time_s,rate_bps\n0,{rate:.0f}\n4.98,{20 * rate:.0f}\n5,0\n", "utf-8")
    # 20 times the rate takes 0.95 of a packet from the least round-trip time.
    form = 1.25 / delta - 0.95
    waits = []
    for link_rate, more in ((rate, None), (20 * rate, {"trace": str(trace)})):
        link = one_flow.Link(link_rate, 0.062, more=more)
        tcp = {"parameters": {"delta": delta, "competitive": False}}
        result = one_flow.saturated("copa", link, warm_up=20, measured=31, tcp=tcp)
        waits.append(one_flow.waited_s(result) * rate / 8 / one_flow.PACKET / form)
    assert waits[0] > 1.3
    assert waits[1] == pytest.approx(1, abs=0.1)


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


def test_persistent_congestion_by_hand() -> None:
    """RTT 100 ms: three PTO of 126 ms are 378 ms. Two pairs of probes more leave 882 ms after the write."""
    outage = QuicOutage()
    assert outage.theirs({"rtt": 0.1, "writes": 5, "spacing": 0.094}, 1)["cwnd"] == 5
    assert outage.theirs({"rtt": 0.1, "writes": 5, "spacing": 0.095}, 1)["cwnd"] == 2
    assert outage.theirs({"rtt": 0.1, "probes": 1, "spacing": 2.5}, 1)["cwnd"] == 5
    assert outage.theirs({"rtt": 0.1, "probes": 3, "spacing": 2.5}, 1)["cwnd"] == 2


def test_outages_of_quic_on_both_sides_of_the_limit() -> None:
    """A span 1 % shorter than three PTO halves the window; a span 1 % longer leaves two packets."""
    for factor, window in ((0.99, 5), (1.01, 2)):
        drawn = {"rtt": 0.1, "writes": 5, "spacing": 0.378 / 4 * factor}
        assert QuicOutage().ours(drawn, 1)["cwnd"] == pytest.approx(window)


def test_windows_of_coupled_controls_by_hand() -> None:
    # One path is AIMD: 3/8 W^2 + 5/4 W packets in W / 2 + 2 round trips, W = 50.
    for coupling in ("lia", "olia", "balia"):
        (alone,) = coupled_rates(coupling, [(1000, 0.1)])
        assert alone == pytest.approx(1000 / 2.7, rel=0.02), coupling
    # LIA on equal round trips shares as packets between losses; a TCP on the better path had as much.
    first, second = coupled_rates("lia", [(2000, 0.1), (1000, 0.1)])
    assert first / (first + second) == pytest.approx(2 / 3, rel=0.02)
    # BALIA with constant windows: (1 + a) (4 + a) = 15 q, a = x_1 / x_2, q = 2: a = 3.18. A window that falls
    # by 3/4 grows back by ln 4 and not by 3/4, a half by ln 2: 20 q, 4.18.
    first, second = coupled_rates("balia", [(2000, 0.1), (1000, 0.1)])
    assert 3.18 < first / second < 4.18
    # OLIA: a segment a round trip on the path that is worse.
    _, second = coupled_rates("olia", [(2000, 0.1), (500, 0.1)])
    assert second == pytest.approx(10, rel=0.25)


def test_balia_has_no_fixed_point_on_paths_that_are_alike() -> None:
    """Less than a packet between losses moves its share by a twentieth, and on other paths by nothing."""

    def spread(second: float) -> float:
        found = (
            coupled_rates("balia", [(first, 0.0205), (second, 0.0294)], cycles=150)
            for first in (466, 466.37, 466.74)
        )
        shares = [rates[0] / sum(rates) for rates in found]
        return max(shares) / min(shares) - 1

    # Packets for each loss over RTT^2: 1.9 and 1.37 of the second path's.
    assert spread(500) < 0.01 < 0.05 < spread(702)


def test_a_freeze_by_hand() -> None:
    """1.2 Mbit/s is a packet in 10 ms: RTT 89.73 ms and a packet with its ACK are 100 ms. 48 windows of 5."""
    drawn = {"rate": 1.2e6, "rtt": 0.1 - 0.01 * 1540 / 1500, "window": 5, "tu_advance": 2.0}
    outages = {"on": 5.0001, "off": 5.0}
    goodput = Freeze().theirs({**drawn, **outages}, 1)["goodput_bps"]
    assert goodput == pytest.approx(48 * 5 * 1460 * 8 / 10, rel=1e-3)
    # Without the warning a timeout of a second and more follows each outage.
    assert Freeze().ours({**drawn, **outages}, 1)["goodput_bps"] == pytest.approx(goodput, rel=0.02)
