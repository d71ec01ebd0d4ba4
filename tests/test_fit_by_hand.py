"""Small parts of `cogtcp fit`, with values derived by hand from their doc comments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp.data.fitting.backlog import (
    Batches,
    Delivery,
    Stretch,
    at_least,
    batches,
    block_bootstrap,
    deliveries,
    queued,
    windows,
)
from cogtcp.data.fitting.capacity import fit_rates
from cogtcp.data.fitting.checking import Compared, Seen, _chance, _compare, _one_more, seen
from cogtcp.data.fitting.connections import Connection, Sent
from cogtcp.data.fitting.estimate import Estimate, bootstrap, median, quantile
from cogtcp.data.fitting.from_logs import estimates
from cogtcp.data.fitting.iperf3 import Transfer
from cogtcp.data.fitting.laws import _digamma, _root, fit_laws
from cogtcp.data.fitting.limits import limited
from cogtcp.data.fitting.losses import fit_losses
from cogtcp.data.fitting.packets import Datagram
from cogtcp.data.fitting.probes import Probe
from cogtcp.data.fitting.probing import (
    ProbeFit,
    _held,
    _least,
    _length,
    _longest_by_chance,
    _one,
    _open,
    _share,
    poisson_interval,
)
from cogtcp.data.fitting.probing import _few as probed_few
from cogtcp.data.fitting.quantity import Bounded, Measured, Quantity, Unknown, describe, text
from cogtcp.data.fitting.quic import _handshake, _spin, connections
from cogtcp.data.fitting.rate import (
    RateFit,
    _collapse,
    _edge,
    _in_trains,
    _released,
    _varies,
    late_ones,
    measure,
)
from cogtcp.data.fitting.result import Fit
from cogtcp.data.fitting.silences import (
    Gap,
    Silences,
    _against_chance,
    _few,
    _folded,
    _line,
    _loose,
    _on_line,
    _seen,
    _sharper,
    _spans,
    _timetable,
    characterise,
)
from cogtcp.data.fitting.silences import tested as unexplained
from cogtcp.data.fitting.throughput import capacity, delay, loss, steady
from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEGMENT = 1000


def test_medians_and_quantiles_of_a_sample() -> None:
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 3, 2]) == 2.5
    assert math.isnan(median([]))
    ten = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert [quantile(ten, share) for share in (0.0, 0.1, 0.25, 0.5, 0.99, 1.0)] == [1, 2, 3, 6, 10, 10]
    assert math.isnan(quantile([], 0.5))


def test_a_bootstrap_of_three_values_has_an_interval_within_them() -> None:
    assert all(map(math.isnan, bootstrap([1, 2])))
    assert bootstrap([5, 5, 5]) == (5, 5)
    low, high = bootstrap([1, 2, 3])
    # All three draws are the smallest in 1 of 27 samples, more often than in 1 of 40.
    assert (low, high) == (1, 3)
    few = bootstrap(list(range(100)))
    many = bootstrap(list(range(100)), draws=2000)
    # The standard error of the median of 100 uniform values is 5: 95 % lie within about 10.
    assert few == pytest.approx((40, 60), abs=4)
    assert many == pytest.approx((40, 60), abs=3)


def test_quantities_are_shown_in_units_that_read_well() -> None:
    assert text("s", 0.9994) == "999 ms"
    assert text("s", 1.0) == "1 s"
    assert text("bit/s", 1e5) == "0.1 Mbit/s"
    assert text("bit/s", 99e3) == "99 kbit/s"
    assert text("share", 0.0125) == "1.25 %"
    assert text("packets", 12.0) == "12 packets"
    assert describe(Measured(2e6, 1e6, 3e6, "bit/s", "")) == "2 Mbit/s (95 %: 1 to 3)"
    assert describe(Bounded("s", "", at_least=0.01, at_most=0.5)) == "at least 10 ms, at most 500 ms"
    assert describe(Bounded("s", "", at_least=0.01)) == "at least 10 ms"
    assert describe(Unknown("why")) == "unknown"


def test_a_quantity_that_contradicts_itself_is_refused() -> None:
    assert Measured(1.0, 1.0, 1.0, "s", "").value == 1
    # A rounding error is no contradiction; a millionth is.
    assert Measured(1.0, 1.0 + 1e-12, 2.0, "s", "").value == 1
    for low, high in ((1.000001, 2.0), (0.0, 0.999999), (-math.inf, 2.0), (0.0, math.inf), (0.0, math.nan)):
        with pytest.raises(ValueError, match="is not within"):
            Measured(1.0, low, high, "s", "")
    assert Bounded("s", "", at_least=1.0, at_most=1.0).at_most == 1
    with pytest.raises(ValueError, match="contradicts"):
        Bounded("s", "", at_least=1.1, at_most=1.0)
    with pytest.raises(ValueError, match="needs"):
        Bounded("s", "")


def test_an_estimate_says_what_stands_in_place_of_an_unknown() -> None:
    known = Estimate.of("delay", Measured(0.02, 0.01, 0.03, "s", "half"), "no matter")
    assert (known.value, known.low, known.high, known.how, known.known) == (0.02, 0.01, 0.03, "half", True)
    assert known.describe() == "20 ms (10 to 30)"
    assert known.quantity == Measured(0.02, 0.01, 0.03, "s", "half")
    bound = Bounded("s", "seen", at_most=0.5)
    found = Estimate.of("delay", bound, "the scenario has 0")
    assert (found.known, found.how, found.quantity) == (False, "seen; the scenario has 0", bound)
    assert (found.describe(), found.to_dict()["at_most"]) == ("at most 500 ms", 0.5)
    assert Estimate.of("delay", Unknown("no data"), "0 s").quantity == Unknown("no data; 0 s")
    assert Estimate.of("delay", Unknown("no data")).how == "no data"
    no_ends = Estimate("x", 2.0, math.nan, math.nan, "B", "")
    assert no_ends.quantity == Measured(2.0, 2.0, 2.0, "B", "")
    assert no_ends.describe() == "2 B"


def test_exponential_spans_have_the_rate_of_their_mean() -> None:
    spans = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]
    law = {law.name: law for law in fit_laws(spans)}["exponential"]
    assert law.parameters == {"rate": pytest.approx(0.4)}
    assert law.mean == pytest.approx(2.5)
    assert law.likelihood == pytest.approx(8 * math.log(0.4) - 0.4 * 20)
    # AIC with the correction for 8 values and one parameter: 2 * 1 * 2 / (8 - 1 - 1).
    assert law.aic == pytest.approx(2 - 2 * law.likelihood + 4 / 6)
    assert law.describe() == "exponential (rate 0.4; mean 2.5 s)"
    assert fit_laws(spans[:7]) == []
    assert len({law.aic for law in fit_laws(spans)}) > 1
    assert [law.aic for law in fit_laws(spans)] == sorted(law.aic for law in fit_laws(spans))
    assert fit_laws([*spans[:7], 0.0, -1.0]) == [], "a span of zero is none"


def test_log_normal_spans_have_the_median_of_their_logarithms() -> None:
    spans = [math.exp(1 + 0.5 * sign) for sign in (-1, 1) * 4]
    law = {law.name: law for law in fit_laws(spans)}["log-normal"]
    assert law.parameters == {"median": pytest.approx(math.e), "sigma": pytest.approx(0.5)}
    assert law.mean == pytest.approx(math.exp(1.125))
    density = -math.log(0.5 * math.sqrt(2 * math.pi)) - 0.5
    assert law.likelihood == pytest.approx(8 * density - 8)


def test_spans_of_two_kinds_have_two_phases() -> None:
    """A third is short, two thirds are long, far apart: each phase has the mean of its own spans."""
    short = [0.01 * -math.log((n + 0.5) / 100) for n in range(100)]
    long = [5.0 * -math.log((n + 0.5) / 200) for n in range(200)]
    best = fit_laws(short + long)[0]
    assert best.name == "hyper-exponential"
    assert best.parameters["share"] == pytest.approx(1 / 3, abs=0.02)
    assert 1 / best.parameters["rate_1"] == pytest.approx(0.01, rel=0.1)
    assert 1 / best.parameters["rate_2"] == pytest.approx(5.0, rel=0.05)
    assert best.mean == pytest.approx((sum(short) + sum(long)) / 300, rel=1e-3)


def test_a_law_of_runs_needs_five_runs_and_longer_ones_than_chance_has() -> None:
    lone = [False] * 9 + [True]
    assert fit_losses([lone * 4 + [False]]) is None
    found = fit_losses([lone * 5 + [False]])
    assert found is not None
    # No loss follows a loss: they repel each other.
    assert (found.name, found.runs, found.run) == ("bernoulli", 5, 1)
    assert (found.into, found.back) == (pytest.approx(5 / 45), 1)
    low, high = share_interval(5, 5)
    assert (found.low, found.high) == (pytest.approx(1 / high), pytest.approx(1 / low))
    never = fit_losses([[False, *[True] * 50]] * 5)
    assert never is not None
    assert never.run == 10_000, "the longest that a scenario takes"


def segments(
    *, count: int, every: float, trip: float, late: float = 0.0, first: float = 0.0
) -> tuple[list[Sent], list[float]]:
    """Return full segments `every` seconds apart, and the times of their acknowledgements."""
    sent = []
    for n in range(count):
        at = first + n * every + late
        sent.append(Sent(at, n * SEGMENT, (n + 1) * SEGMENT, SEGMENT + 52, answered=at + trip, fresh=True))
    return sent, [each.answered for each in sent]


def test_the_window_limits_a_sender_that_leaves_less_than_two_segments_free() -> None:
    # A segment every 10 ms, answered after 100 ms: eleven are on the way when the next one has left.
    data, answers = segments(count=60, every=0.01, trip=0.1001)

    def by(window: int, *, backlog: bool = False) -> str:
        windows = [(n * 0.01 - 1, window) for n in range(200)]
        main = Connection("sender", data, answers, windows=windows, mss=SEGMENT)
        found = limited(main, backlog=backlog, base=0.1)
        if found.by == "window":
            assert found.value == window
        return found.by

    assert by(11 * SEGMENT) == "window"
    assert by(13 * SEGMENT - 1) == "window"
    assert by(13 * SEGMENT) != "window"
    assert by(11 * SEGMENT, backlog=True) == "window", "a full window is seen, also with a backlog"
    assert by(13 * SEGMENT, backlog=True) == "link"


def test_a_window_that_is_full_at_two_of_five_packets_limits() -> None:
    data, answers = segments(count=100, every=0.01, trip=0.0001)

    def by(full: int) -> str:
        windows = [(n * 0.01 - 0.001, 1000 if n < full else 100_000) for n in range(100)]
        main = Connection("sender", data, answers, windows=windows, mss=SEGMENT)
        return limited(main, backlog=True, base=0.001).by

    assert by(40) == "window"
    assert by(39) == "link"


def test_few_windows_or_none_say_nothing() -> None:
    data, answers = segments(count=60, every=0.01, trip=0.1001)
    for known, by in ((10, "window"), (9, "link"), (0, "link")):
        windows = [(-1.0 + n / 100, 5 * SEGMENT) for n in range(known)]
        main = Connection("sender", data, answers, windows=windows, mss=SEGMENT)
        assert limited(main, backlog=True, base=0.1).by == by
    probes = Connection("sender", data, answers, probes=True)
    assert limited(probes, backlog=True, base=0.1).by == "unknown"
    one_way = Connection("sender", data, answers, one_way=True)
    assert limited(one_way, backlog=True, base=0.1).by == "unknown"


def test_at_a_receiver_a_window_limits_if_each_round_trip_brings_it() -> None:
    # 100 kB/s and a round trip of 0.1 s: 10 kB.
    data, _ = segments(count=400, every=0.01, trip=0.0)

    def by(window: int, *, base: float = 0.1, backlog: bool = False, grows: int = 0) -> str:
        windows = [(n * 0.01, round(window * (n / 300) ** grows)) for n in range(400)]
        main = Connection("receiver", data, [], windows=windows, mss=SEGMENT)
        return limited(main, backlog=backlog, base=base).by

    assert by(10_000) == "window"
    assert by(11_600) == "window"
    assert by(8_800) == "window"
    assert by(12_000) != "window"
    assert by(8_500) != "window"
    assert by(10_000, backlog=True) == "link", "there a backlog and a full window look alike"
    assert by(10_000, base=math.nan) != "window"
    assert by(10_000, base=0.0) != "window"
    assert by(10_000, grows=1) == "window", "it grew by less than twice"
    assert by(10_000, grows=2) != "window", "a buffer that grows with what arrives limits nothing"


def test_an_application_limits_if_half_of_the_data_leave_later_than_they_might() -> None:
    """Acknowledgements come at once; the application writes long after them."""
    data, answers = segments(count=50, every=0.1, trip=0.001)

    def found(prompt: int, base: float = 0.02) -> str:
        # The last ones leave 0.5 ms after an acknowledgement, as a sender with data does.
        some = answers + [each.time - 0.0005 for each in data[50 - prompt :]]
        main = Connection("sender", data, sorted(some), mss=SEGMENT)
        limit = limited(main, backlog=False, base=base)
        if limit.by == "application":
            # 50 segments in 4.9 s.
            assert limit.value == pytest.approx(50 * SEGMENT * 8 / 4.9)
        return limit.by

    # The first ten are the initial window: 20 of the other 40 are half.
    assert found(0) == "application"
    assert found(20) == "application"
    assert found(21) == "unknown"
    assert found(0, base=0.98) == "application"
    assert found(0, base=1.0) == "unknown", "a tenth of the round-trip time later is no pause"
    few = Connection("sender", data[:19], answers, mss=SEGMENT)
    assert limited(few, backlog=False, base=0.02).by == "unknown"
    enough = Connection("sender", data[:20], answers, mss=SEGMENT)
    assert limited(enough, backlog=False, base=0.02).by == "application"


def test_a_steady_pace_at_a_receiver_is_an_applications() -> None:
    def by(spacings: list[float], *, resent: bool = False) -> str:
        at, data = 0.0, []
        for n, spacing in enumerate([0.0, *spacings]):
            at += spacing
            data.append(Sent(at, n * SEGMENT, (n + 1) * SEGMENT, SEGMENT + 52))
        data[-1].resent = resent
        return limited(Connection("receiver", data, []), backlog=False, base=0.01).by

    assert by([0.1] * 40) == "application"
    assert by([0.1] * 40, resent=True) == "unknown"
    # Nine of ten may lie within half of the median, not more.
    assert by([0.1] * 36 + [0.149] * 10) == "application"
    assert by([0.1] * 36 + [0.151] * 10) == "unknown"
    assert by([0.1] * 36 + [0.051] * 10) == "application"
    assert by([0.1] * 36 + [0.049] * 10) == "unknown"
    assert by([0.001, 0.1] * 20) == "unknown"


def test_a_time_far_later_than_its_neighbours_follows_a_pause() -> None:
    times = [0.01 * n for n in range(40)]
    assert late_ones(times) == set()
    paused = times[:20] + [time + 1.0 for time in times[20:]]
    assert late_ones(paused) == {20}
    # A rate that falls makes all that follow as late.
    slower = times[:20] + [times[19] + 0.1 * n for n in range(1, 21)]
    assert late_ones(slower) == set()


def test_a_rate_that_never_changes_has_no_law_of_changes() -> None:
    law = fit_rates([5e6] * 30)[0]
    assert law.name == "constant"
    assert law.levels[0] == pytest.approx(5e6)


def gap(start: float, end: float, *, held: bool = False, lost: int = 0) -> Gap:
    if not lost:
        return Gap(start, end, held)
    return Gap(start, end, held, start + 0.01, end - 0.01, lost)


def test_silences_on_a_timetable_have_period_length_and_phase() -> None:
    """Silent for 0.2 s of each second; something passes 1 ms before and after each silence, in turn."""
    gaps = [gap(n - 0.001 * (n % 2), n + 0.2 + 0.001 * (1 - n % 2), lost=10) for n in range(3, 23)]
    found = characterise(gaps, 0.001)
    assert found is not None
    assert (found.mode, found.sure, found.fixed, found.on_grid) == ("drop", 1.0, True, 20)
    assert found.period == pytest.approx(1.0, abs=1e-4)
    assert found.length == pytest.approx(0.2, abs=0.011)
    assert found.low <= found.length <= found.high
    assert found.low >= 0.175
    assert found.high <= 0.205
    assert math.remainder(found.phase, 1.0) == pytest.approx(0.0, abs=0.015)
    # A silence of the timetable that no gap shows is one too.
    assert found.covers(30.05, 30.1)
    assert not found.covers(30.4, 30.8)
    assert found.covers(29.9, 30.05)


def test_the_error_of_a_period_is_that_of_a_line_through_its_beginnings() -> None:
    """Ten beginnings 1 s apart, 1 ms early and late in turn: 1.96 times the standard error of their slope."""
    off = [0.001 if n % 4 in (1, 2) else -0.001 for n in range(12)]
    found = _timetable([5 + n + late for n, late in enumerate(off)], 0.004)
    assert found is not None
    period, phase, error, keepers = found
    slope = sum((n - 5.5) * late for n, late in enumerate(off)) / 143
    assert period == pytest.approx(1 + slope)
    assert math.remainder(phase, 1.0) == pytest.approx(-5.5 * slope - 5 * slope, abs=1e-4)
    left = [late - slope * (n - 5.5) for n, late in enumerate(off)]
    # The squares of 12 numbers about their mean sum to 143; two values of 12 are fitted.
    assert error == pytest.approx(1.96 * math.sqrt(sum(r * r for r in left) / 10 / 143))
    assert keepers == 12


@pytest.mark.parametrize(("count", "begin", "end"), [(4, 0.03, 0.21), (5, 0.02, 0.22)])
def test_silences_laid_over_each_other_begin_with_the_last_and_end_with_the_first(
    count: int, begin: float, end: float
) -> None:
    """From five gaps on one may be wrong: the second counts."""
    seen = [(3, 0.03, 0.25), (4, 0.02, 0.21), (5, 0.0, 0.22), (6, 0.01, 0.24), (7, 0.0, 0.23)]
    gaps = [gap(n + begins, n + ends) for n, begins, ends in seen[:count]]
    length, low, high, at = _folded(gaps, 1.0, 0.0, "hold", 0.004)
    assert (length, at) == pytest.approx((end - begin, begin))
    assert (low, high) == pytest.approx((end - begin - 0.004, end - begin + 0.001))


def test_the_spin_bit_turns_once_a_round_trip() -> None:
    def datagrams(*turns: float) -> list[Datagram]:
        flips = [Datagram(time, 1, True, 0x40 | 0x20 * (n % 2), 100, 128) for n, time in enumerate(turns)]
        # A packet 1 ms later bears the same bit, one with a long header none.
        again = [Datagram(each.time + 0.001, 1, True, each.first, 100, 128) for each in flips]
        long = [Datagram(each.time + 0.002, 1, True, 0xC0, 100, 128) for each in flips]
        return sorted([*flips, *again, *long], key=lambda each: each.time)

    # The first packet turns nothing: of seven flips there are six turns.
    assert _spin(datagrams(0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.6)) == pytest.approx(0.05)
    assert _spin(datagrams(0.0, 0.1, 0.2, 0.25, 0.4, 0.5)) is None
    assert _spin([]) is None


def test_deliveries_close_together_are_one() -> None:
    found = [Delivery(time, 100, wait) for time, wait in ((1.0, 0.1), (1.01, 0.3), (1.03, 0.2), (1.05, 0.0))]
    merged = _collapse(found, 0.015)
    assert [(each.time, each.size, each.wait) for each in merged] == [
        (1.0, 200, 0.3), (1.03, 100, 0.2), (1.05, 100, 0.0)
    ]  # fmt: skip


def test_silences_that_hold_are_as_long_as_their_gaps() -> None:
    gaps = [gap(n, n + 0.3, held=True) for n in range(10)]
    found = characterise(gaps, 0.001)
    assert found is not None
    assert found.mode == "hold"
    assert found.lengths == pytest.approx([0.3] * 10)
    assert found.opens == pytest.approx([0.7] * 9)
    assert found.length == pytest.approx(0.3, abs=0.002)
    mixed = characterise([*gaps[:6], *(gap(n, n + 0.3, lost=5) for n in range(6, 10))], 0.001)
    assert mixed is not None
    assert (mixed.mode, mixed.sure) == ("hold", 0.6)
    assert characterise(gaps[:1], 0.001) is None


def test_a_gap_is_at_least_as_long_as_between_its_first_and_last_loss() -> None:
    assert gap(1.0, 2.0, lost=5).least == pytest.approx(0.98)
    assert gap(1.0, 2.0, lost=1).least == 0
    assert gap(1.0, 2.0).most == 1
    silences = Silences("drop", 1.0, (gap(1.0, 2.0, lost=5), gap(4.0, 5.0)))
    assert silences.lengths == pytest.approx([0.99, 0.5])
    assert silences.opens == [2.0]
    assert silences.covers(1.9, 3.0)
    assert not silences.covers(2.0, 4.0)
    assert silences.covers(3.0, 4.1)


def shown(**given: float) -> Seen:
    """Return the measurements of a part of a capture: 1 Mbit/s, 40 ms, 1 % retransmitted in 4 episodes."""
    told: dict[str, float] = {
        "goodput_bps": 1e6, "rtt_p10_s": 0.04, "rtt_p50_s": 0.04, "rtt_p93_s": 0.05, "rtt_p95_s": 0.05,
        "rtt_p97_s": 0.05, "resent": 0.01, "paused": 0.0, "longest_s": 0.0, "episodes": 4,
    }  # fmt: skip
    return Seen(**{**told, **given})  # type: ignore[arg-type]


def test_one_more_run_lies_within_the_prediction_interval() -> None:
    """1, 2, 3: t(0.975, 2) = 4.302653 times a deviation of 1 times sqrt(4 / 3)."""
    assert _one_more([1.0, 2.0, 3.0]) == pytest.approx(4.302653 * math.sqrt(4 / 3), abs=1e-5)
    assert _one_more([2.0, 2.0]) == 0


def test_a_simulation_agrees_within_a_share_and_the_spread_of_its_seeds() -> None:
    still = _compare("goodput", "bit/s", 1e6, [1e6, 1e6], 0.15, 0.0)
    assert (still.low, still.high) == pytest.approx((0.85e6, 1.15e6))
    spread = _compare("median RTT", "s", 2.0, [1.0, 2.0, 3.0], 0.2, 0.003)
    half = _one_more([1.0, 2.0, 3.0]) + 0.4 + 0.003
    assert (spread.low, spread.high) == (0.0, pytest.approx(2 + half))
    assert (spread.simulated, spread.measured) == (2, 2)
    # Retransmissions: half to twice as many, with the spread of chance.
    resent = _compare("retransmissions", "share", 0.01, [0.01, 0.01], 0.0, 0.002)
    assert (resent.low, resent.high) == pytest.approx((0.003, 0.022))
    other = _compare("pauses", "share", 0.01, [0.01, 0.01], 0.0, 0.002)
    assert (other.low, other.high) == pytest.approx((0.008, 0.012))


def test_chance_makes_a_full_queue_more_or_less() -> None:
    # 1 % in 4 episodes: 0.25 % each, one more and twice the root of four.
    assert _chance([shown(), shown()]) == pytest.approx(0.0025 * (1 + 1.96 * 2))
    assert _chance([shown(episodes=0), shown(episodes=0)]) == 0
    assert _chance([shown(episodes=2, resent=0.01), shown(episodes=0, resent=0.0)]) == pytest.approx(
        0.005 * (1 + 1.96)
    )


def test_differences_are_said_in_words() -> None:
    def says(name: str, measured: float, simulated: float) -> str:
        return Compared(name, "", measured, simulated, 0.9 * simulated, 1.1 * simulated).says

    assert says("goodput", 100.0, 125.0) == "25 % more goodput"
    assert says("goodput", 100.0, 75.0) == "25 % less goodput"
    assert says("retransmissions", 0.01, 0.02) == "100 % more retransmissions"
    assert says("retransmissions", 0.02, 0.01) == "50 % fewer retransmissions"
    assert says("median RTT", 0.04, 0.05) == "25 % higher median RTT"
    assert says("median RTT", 0.04, 0.03) == "25 % lower median RTT"
    assert says("pauses", 0.1, 0.25) == "25 % of the time in pauses in place of 10 %"
    assert says("goodput", 0.0, 1.0) == "goodput that the capture does not have"
    inside = [Compared("x", "", value, 1.0, 0.9, 1.1).holds for value in (0.89, 0.9, 1.1, 1.11)]
    assert inside == [False, True, True, False]


def test_what_a_part_of_a_capture_shows() -> None:
    """Ten packets in 1 s from 5 s on; two are retransmitted, and no packet arrives for 0.5 s."""
    data = []
    for n in range(10):
        at = 5.05 + n * 0.04 + (0.5 if n > 4 else 0.0)
        data.append(Sent(at, n * 1000, (n + 1) * 1000, 1052, answered=at + 0.02 + 0.001 * n, fresh=True))
    data[5].resent = data[9].resent = True
    before, behind = Sent(4.9, 0, 9, 61, answered=4.95), Sent(6.1, 0, 9, 61, answered=6.2)
    found = seen([Connection("sender", [before, *data, behind], [])], 5.0, 6.0, 0.02)
    assert found.goodput_bps == pytest.approx(8 * 8000)
    assert found.resent == 0.2
    assert (found.rtt_p10_s, found.rtt_p50_s, found.rtt_p95_s) == pytest.approx((0.021, 0.025, 0.029))
    # From 5.05 + 0.16 + 0.024 to 5.05 + 0.2 + 0.5 + 0.025.
    assert found.longest_s == pytest.approx(0.541)
    assert found.paused == pytest.approx(0.541)
    assert found.episodes == 2, "0.16 s apart, more than two round trips"
    data[9].resent, data[6].resent = False, True
    assert seen([Connection("sender", data, [])], 5.0, 6.0, 0.02).episodes == 1
    # A long round trip: three of them are no pause.
    assert seen([Connection("sender", data, [])], 5.0, 6.0, 0.3).longest_s == 0
    assert math.isnan(seen([Connection("receiver", data, [])], 5.0, 6.0, 0.02).rtt_p50_s)


def test_a_fit_of_probes_says_their_timetable_and_the_smallest_delay() -> None:
    silences = Silences(
        "drop", 0.75, (gap(1.0, 2.0),), period=5.0, period_error=0.1, length=1.0, low=0.9, high=1.1,
        fixed=True, on_grid=8, phase=1.0,
    )  # fmt: skip
    delay = Measured(0.02, 0.01, 0.03, "s", "half")
    length = Measured(1.0, 0.9, 1.1, "s", "length")
    share = Measured(0.1, 0.05, 0.2, "share", "lost")
    first = ProbeFit(Bounded("s", "bound", at_most=0.01), share, Unknown("no"), Unknown("no"), None)
    second = ProbeFit(delay, share, length, Unknown("no"), silences)
    found = {each.name: each for each in estimates(Fit("x", probed=[first, second]), 0.025)}
    # A measured delay before a smaller bound.
    assert found["delay"].value == 0.02
    period = found["period"]
    assert (period.value, period.low, period.high) == pytest.approx((5.0, 4.9, 5.1))
    assert "8 silences" in period.how
    assert found["silence"].value == 1.0
    assert (found["silences drop"].value, found["silences drop"].how) == (
        0.75,
        "75 % of the silences lost packets",
    )
    assert "25 ms is assumed" in estimates(Fit("x"), 0.025)[0].how
    alone = {each.name: each for each in estimates(Fit("x", probed=[first]), 0.025)}
    assert not alone["silence"].known
    assert alone["delay"].bound is not None


def test_a_short_transfer_is_bounded_over_a_third_of_it() -> None:
    """A packet each 2 ms for 0.6 s, round trips of 0.1 s: a span of 0.2 s, a third of the transfer."""
    some = [Delivery(n * 0.002, 1500, 0.0, n * 0.002 - 0.1) for n in range(301)]
    found = measure(some, [each.time for each in some], 0.1, 1500, tick=0.0, timed=True)
    assert isinstance(found.capacity, Bounded)
    # 101 packets with both ends; the first is of before, and one more may be.
    assert found.capacity.at_least == pytest.approx(99 * 1500 * 8 / 0.204)
    longer = [Delivery(n * 0.002, 1500, 0.0, n * 0.002 - 0.1) for n in range(3001)]
    found = measure(longer, [each.time for each in longer], 0.1, 1500, tick=0.0, timed=True)
    assert isinstance(found.capacity, Bounded)
    # A quarter of a second, more than two round trips: 126 packets.
    assert found.capacity.at_least == pytest.approx(124 * 1500 * 8 / 0.254)


def test_the_mean_of_a_count_has_the_exact_interval_of_poisson() -> None:
    """Garwood's table: 0, 1 and 10 events."""
    for count, ends in ((0, (0.0, 3.6889)), (1, (0.0253, 5.5716)), (10, (4.7954, 18.3904))):
        assert poisson_interval(count) == pytest.approx(ends, abs=1e-4)
    between = _open(20.0, 10)
    assert isinstance(between, Measured)
    assert (between.value, between.low, between.high) == pytest.approx(
        (2.0, 20 / 18.3904, 20 / 4.7954), abs=1e-3
    )
    assert between.how == "10 silences in 20 s without"
    assert isinstance(_open(0.0, 1), Unknown)


def test_the_least_round_trip_lies_above_the_floor() -> None:
    """19 times the distance of the two least below the least, and the resolution."""
    found = _least([0.6, 0.51, 0.5, 0.7], 0.001)
    assert isinstance(found, Measured)
    assert (found.value, found.low, found.high) == pytest.approx((0.25, (0.31 - 0.001) / 2, 0.501 / 2))
    near = _least([0.02, 0.03], 0.001)
    assert isinstance(near, Measured)
    assert (near.value, near.low, near.high) == pytest.approx((0.01, 0.0, 0.0105))
    alone = _least([0.02], 0.001)
    assert isinstance(alone, Bounded)
    assert (alone.at_least, alone.at_most) == (None, pytest.approx(0.0105))


def test_lost_requests_count_by_their_runs() -> None:
    """6 of 100 lost in 3 runs: the interval of 3 of 100, for two requests each."""
    found = _share(6, 3, 100, "requests")
    low, high = share_interval(3, 100)
    assert isinstance(found, Measured)
    assert (found.value, found.low, found.high) == pytest.approx((0.06, 2 * low, 2 * high))
    assert found.how == "6 of 100 requests were lost, in either direction"
    none = _share(0, 0, 100, "requests")
    assert isinstance(none, Measured)
    assert (none.value, none.high) == pytest.approx((0.0, share_interval(0, 100)[1]))
    assert isinstance(_share(0, 0, 0, "requests"), Unknown)
    assert isinstance(_share(0, 0, 1, "requests"), Measured)


def probes(count: int, lost: Sequence[int] = (), rtts: dict[int, float] | None = None) -> list[Probe]:
    """Return requests 0.1 s apart, answered after 20 ms."""
    answered = rtts or {}
    return [Probe(0.1 * n, math.nan if n in lost else answered.get(n, 0.02)) for n in range(count)]


def test_requests_that_are_answered_at_once_were_held() -> None:
    """A silence ends at 1.5 s: requests that were sent from 1.1 s on are answered then."""
    held = {n: 1.5 + 0.02 - 0.1 * n for n in (11, 12, 13, 14)}
    found = _held(probes(30, rtts=held), 0.1, 0.02)
    assert [(each.start, each.end, each.held) for each in found] == [
        (pytest.approx(1.0), pytest.approx(1.5), True)
    ]
    two = {n: 1.3 + 0.02 - 0.1 * n for n in (11, 12)}
    assert _held(probes(30, rtts=two), 0.1, 0.02) == [], "two may be chance"
    three = {n: 1.36 + 0.02 - 0.1 * n for n in (11, 12, 13)}
    assert len(_held(probes(30, rtts=three), 0.1, 0.02)) == 1
    least, likely, most = _length(found[0], 0.1, probes(30))
    assert (least, likely, most) == pytest.approx((0.4, 0.45, 0.5))


def test_a_silence_at_an_end_of_the_log_may_be_longer() -> None:
    requests = probes(30)
    inside = Gap(1.0, 2.0, False, 1.1, 1.9, 9)
    assert _length(inside, 0.1, requests) == pytest.approx((0.8, 0.9, 1.0))
    for end in (Gap(1.0, 1.9, False, 1.1, 1.9, 9), Gap(1.1, 2.0, False, 1.1, 1.9, 9)):
        assert _length(end, 0.1, requests) == (pytest.approx(0.8), pytest.approx(0.9), math.inf)
    few = probed_few([inside, gap(4.0, 4.5, held=True)], [(0.8, 0.9, 1.0), (0.4, 0.45, 0.5)])
    assert (few.mode, few.sure, few.length, few.low, few.high) == ("drop", 0.5, 0.675, 0.4, 1.0)
    both = _one([(0.8, 0.9, 1.0), (0.4, 0.45, 0.5)], few)
    assert isinstance(both, Measured)
    assert (both.value, both.how) == (0.675, "2 silences: 9 requests were lost in them")
    alone = _one([(0.8, 0.9, math.inf)], probed_few([inside], [(0.8, 0.9, math.inf)]))
    assert isinstance(alone, Bounded)
    assert (alone.at_least, alone.how) == (
        0.8,
        "1 silence: 9 requests in a row were lost, to an end of the log",
    )


def test_runs_of_lost_requests_that_chance_does_not_make() -> None:
    """One run of each length; without losses none is an outage, and a run that all others explain is none."""
    assert _longest_by_chance(probes(50)) == 51
    # Nothing else is lost in 100: the share is at most 0.0362 (share_interval), and 100 p^3 is below 0.01.
    most = share_interval(0, 97)[1]
    assert 100 * most**2 > 0.01 > 100 * most**3
    assert _longest_by_chance(probes(100, lost=range(40, 43))) == 3
    assert _longest_by_chance(probes(100, lost=range(40, 42))) == 101


def tcp(**given: Any) -> Transfer:
    """Return a test of TCP: 90 Mbit/s of payload in five seconds, 1448 B and 52 B of headers."""
    usual: dict[str, Any] = {
        "udp": False, "received": 90e6, "rates": [90e6] * 5, "arrived": True, "payload": 1448, "headers": 52,
        "rtts": [0.02, 0.02, 0.03, 0.03, 0.03],
    }  # fmt: skip
    return Transfer(**{**usual, **given})


def test_a_transfer_shows_the_capacity_where_a_queue_stood() -> None:
    carried = 90e6 * 1500 / 1448

    def says(floor: float = math.nan, **given: Any) -> tuple[bool, str]:
        found = capacity(tcp(**given), floor)
        assert isinstance(found, Measured | Bounded)
        value = found.value if isinstance(found, Measured) else found.at_least
        assert value == pytest.approx(carried * given.get("received", 90e6) / 90e6)
        return isinstance(found, Measured), found.how.split("; ", 1)[1]

    assert says() == (True, "round-trip times of 20 to 30 ms show a queue")
    assert says(rtts=[0.02, 0.02, 0.025, 0.025, 0.025])[0], "1.25 times the floor"
    assert says(rtts=[0.02, 0.02, 0.0249, 0.03, 0.04]) == (
        False,
        "round-trip times of 20 to 40 ms show no queue",
    )
    # Two round-trip times have no median: the greatest counts, 1.5 times.
    assert says(rtts=[0.02, 0.03])[0]
    assert not says(rtts=[0.02, 0.0299])[0]
    # The floor may be known from elsewhere.
    assert not says(rtts=[0.03] * 5)[0]
    assert says(rtts=[0.03] * 5, floor=0.02)[0]
    assert says(rtts=[0.03] * 5, idle_rtt=0.02)[0]
    # Ten packets of 1500 B waited: 10 ms at 12 Mbit/s on the link.
    assert says(received=12.01e6 * 1448 / 1500)[0]
    assert not says(received=11.99e6 * 1448 / 1500)[0]
    assert says(limit=100e6) == (False, "the sender was told to keep to this rate")
    assert says(limit=100.1e6)[0]
    assert says(rtts=[]) == (False, "the log has no round-trip times that show a queue")
    # 90 Mbit/s over 30 ms are 337.5 kB: 0.85 of 397 kB.
    assert says(window=397e3) == (False, "the receive window of 397 kB limits the transfer")
    assert says(window=397.1e3)[0]


def test_a_capacity_has_the_spread_of_its_intervals() -> None:
    scale = 1500 / 1448
    two = capacity(tcp(rates=[1e6, 91e6, 95e6]))
    assert isinstance(two, Measured)
    assert two.high == pytest.approx(95e6 * scale), "two have no spread: the fastest"
    many = capacity(tcp(rates=[1e6, 80e6, 90e6, 100e6]))
    assert isinstance(many, Measured)
    # All three draws are the greatest in 1 of 27 samples, more often than in 1 of 40.
    assert many.high == pytest.approx(100e6 * scale)
    # What the sender wrote, without the first second, in which it fills its buffer.
    wrote = capacity(tcp(received=math.nan, arrived=False, rates=[99e6, 2e6, 4e6]))
    assert isinstance(wrote, Bounded)
    assert wrote.at_least == pytest.approx(3e6 * scale)
    assert isinstance(capacity(tcp(received=math.nan, arrived=False, rates=[])), Unknown)
    assert isinstance(capacity(tcp(udp=True, received=math.nan, arrived=False)), Unknown)
    mean = capacity(tcp(received=math.nan, rates=[80e6, 100e6], rtts=[]))
    assert isinstance(mean, Bounded)
    assert mean.at_least == pytest.approx(90e6 * scale)


def test_lost_datagrams_show_a_queue_where_as_many_arrive() -> None:
    def udp(**given: Any) -> Quantity:
        usual: dict[str, Any] = {"udp": True, "received": 1e6, "payload": 1000, "headers": 28, "packets": 100}
        return capacity(Transfer(**{**usual, **given}))

    none = udp(lost=0)
    assert isinstance(none, Bounded)
    assert none.at_least == pytest.approx(1.028e6)
    # More than a fifth lost: the sender was faster; the receiver's clock ran longer than the sender's.
    fast = udp(lost=21, rates=[1e6, 1.5e6], span=1.2, sent_span=1.0)
    assert isinstance(fast, Measured)
    assert (fast.value, fast.low, fast.high) == pytest.approx((1.028e6, 1.028e6, 1.2336e6))
    unknown = udp(lost=21, rates=[1e6, 1.5e6])
    assert isinstance(unknown, Measured)
    assert unknown.high == pytest.approx(1.542e6)
    slow = udp(lost=20, rates=[1e6, 1.5e6])
    assert isinstance(slow, Bounded)
    assert "at a full queue or on the way" in slow.how
    # As many in each of four intervals, each of two seconds; the first fills the queue.
    even = [(0, 100), *[(20, 100)] * 4]
    full = udp(lost=80, counts=even, second=2.0, received=320e3)
    assert isinstance(full, Measured)
    assert (full.value, full.how.endswith("a full queue")) == (pytest.approx(80 * 1028 * 4), True)
    chance = udp(lost=80, counts=[(0, 100), (10, 100), (30, 100), (25, 100), (15, 100)])
    assert isinstance(chance, Bounded)
    assert "as independent losses do" in chance.how
    # 400 sent, a fifth lost: independent losses vary by 100 x 0.2 x 0.8 = 16, a twentieth of it is 0.8.
    assert steady(even)
    assert steady([(9, 100), (21, 100), (19, 100), (20, 100), (20, 100)]), "2 / 3"
    assert not steady([(9, 100), (21, 100), (19, 100), (21, 100), (19, 100)]), "4 / 3"
    assert not steady(even[:4])
    assert not steady([*even[:4], (0, 0)]), "an interval without datagrams says nothing"


def test_what_iperf3_says_of_loss_and_delay() -> None:
    def udp(**given: Any) -> Quantity:
        return loss(Transfer(True, **given))

    assert isinstance(loss(tcp()), Unknown)
    assert isinstance(udp(), Unknown)
    assert isinstance(udp(packets=500, lost=80, counts=[(0, 100), *[(20, 100)] * 4]), Unknown)
    none = udp(packets=500)
    assert none == Measured(0.0, 0.0, share_interval(0, 500)[1], "share", "0 of 500 datagrams were lost")
    some = udp(packets=500, lost=5)
    assert isinstance(some, Bounded)
    assert (some.at_least, some.at_most) == (None, share_interval(5, 500)[1])
    for tests, most in (([tcp()], 0.01), ([tcp(idle_rtt=0.018), tcp(idle_rtt=0.016)], 0.008)):
        found = delay(tests)
        assert isinstance(found, Bounded)
        assert (found.at_least, found.at_most) == (None, most)
    assert isinstance(delay([tcp(rtts=[])]), Unknown)


def test_a_delivery_waited_if_its_wait_is_longer_than_the_time_before() -> None:
    """Deliveries 10 ms apart; half a millisecond is the exactness of hosts."""
    nan = math.nan
    waits = [nan, 0.0106, 0.0104, nan, 0.02, nan, nan, nan, 0.02]
    found = [Delivery(0.01 * n, 100, wait) for n, wait in enumerate(waits)]
    # Two without news repeat what was known, a third does not.
    assert queued(found) == [False, True, False, False, True, True, True, False, True]
    assert queued(found, tick=0.001) == [False, False, False, False, True, True, True, False, True]
    assert queued([]) == []


def test_a_stretch_is_of_deliveries_that_all_waited() -> None:
    found = [Delivery(float(n), 10 + n) for n in range(9)]
    waited = [False, True, False, True, True, True, True, True, True]
    # From the second on, which did not wait itself: 3 to 5; then 6 to 8.
    assert windows(found, waited, 3) == [Stretch(2.0, 5.0, 42), Stretch(5.0, 8.0, 51)]
    assert windows(found[:8], waited[:8], 3) == [Stretch(2.0, 5.0, 42)]
    assert Stretch(2.0, 5.0, 42).rate == 112
    assert block_bootstrap([Stretch(0, 1, 10), Stretch(1, 2, 20)]) == (80, 160)
    assert all(map(math.isnan, block_bootstrap([])))


def test_what_arrived_in_a_span_surely_passed() -> None:
    """Less the first and one more, which may be of before, over 4 ms more, by which a host may be late."""
    found = [Delivery(float(n), 1000) for n in range(4)]
    assert at_least(found, 1.0, 400) == pytest.approx(600 * 8 / 1.004)
    assert at_least(found, 2.0, 400) == pytest.approx(1600 * 8 / 2.004)
    assert at_least(found, 0.9, 400) == 0
    assert at_least(found, 1.0, 5000) == 0


def test_batches_come_apart_and_together() -> None:
    def arrivals(count: int, size: int, apart: float = 0.02) -> list[float]:
        return [apart * n + 0.0003 * k * 0.99 for n in range(count) for k in range(size)]

    found = batches(arrivals(6, 3), 0.1, 0.02 / 3, receiver=False)
    assert found is not None
    assert (found.spacing, found.most, found.size) == pytest.approx((0.02, 0.02, 3), abs=1e-3)
    assert batches(arrivals(5, 3), 0.1, 0.02 / 3, receiver=False) is None, "too few"
    assert batches(arrivals(6, 3), 0.032, 0.02 / 3, receiver=False) is None, (
        "a sender's bursts, once a round trip"
    )
    # Pairs are batches at a receiver alone, if they are two packets apart.
    pairs = arrivals(9, 2)
    assert batches(pairs, 0.1, 0.01, receiver=True) is not None
    assert batches(pairs, 0.1, 0.01, receiver=False) is None
    assert batches(pairs, 0.1, 0.011, receiver=True) is None
    assert batches(arrivals(9, 2, 0.001), 0.1, 0.0006, receiver=True) is None, "near by themselves"
    # Seven of ten are in batches, or there are none.
    singles = [1.0 + 0.02 * n for n in range(8)]
    assert batches([*arrivals(6, 3), *singles[:7]], 0.1, 0.01, receiver=False) is not None
    assert batches([*arrivals(6, 3), *singles], 0.1, 0.01, receiver=False) is None


def test_a_batch_is_what_comes_within_half_of_their_distance() -> None:
    """Four packets each 20 ms; the last of every fifth batch is 5 ms late."""
    times = [
        0.02 * n + 0.0002 * k + (0.005 if k == 3 and n % 5 == 0 else 0.0)
        for n in range(120)
        for k in range(4)
    ]
    some = [Delivery(time, 1500, 0.05, time - 0.15) for time in times]
    found = measure(some, times, 0.1, 1500, tick=0.0, timed=True)
    assert found.batches is not None
    assert found.batches.spacing == pytest.approx(0.0194, abs=1e-3)
    assert [len(found.deliveries), {each.size for each in found.deliveries}] == [120, {6000}]
    assert isinstance(found.capacity, Measured)
    assert found.capacity.value == pytest.approx(6000 * 8 / 0.02, rel=0.01)


def test_trains_that_begin_a_transfer_show_the_pace() -> None:
    """Five packets each round trip of 0.1 s, a millisecond apart."""

    def waits(trains: int, size: int = 5, pace: float = 0.001) -> list[bool]:
        times = [0.1 * n + pace * k for n in range(trains) for k in range(size)]
        return _in_trains([Delivery(time, 1500) for time in times], 0.1)

    assert waits(3) == [False, True, True, True, True] * 3
    assert not any(waits(2, size=7)), "two trains may be chance"
    assert not any(waits(4, size=3)), "three packets are no train"
    assert any(waits(3, pace=2.1e-5))
    assert not any(waits(3, pace=1.9e-5)), "the pace of a host"
    # A lost packet leaves a hole of two paces; more is a pause.
    times = [0.1 * n + 0.001 * k for n in range(3) for k in range(5)]
    holes = [*times, 0.3, 0.3024, 0.305]
    assert _in_trains([Delivery(time, 1500) for time in holes], 0.1)[-3:] == [False, True, False]
    # A train of another pace leaves too few that agree.
    other = [*times[:10], *(0.2 + 0.0012 * k for k in range(5))]
    assert not any(_in_trains([Delivery(time, 1500) for time in other], 0.1))


def test_what_a_silence_releases_at_once_shows_no_pace() -> None:
    """10 ms apart; after a silence of a second five come 2.4 ms apart, then all as before."""
    times = [0.01 * n for n in range(20)]
    times += [1.2 + 0.0024 * n for n in range(5)]
    times += [1.2096 + 0.01 * n for n in range(1, 30)]
    found = [Delivery(time, 1500) for time in times]
    assert [number for number, flag in enumerate(_released(found, [True] * 54)) if not flag] == [
        20,
        21,
        22,
        23,
        24,
    ]
    slower = [time + 0.0002 * max(0, min(number, 24) - 20) for number, time in enumerate(times)]
    found = [Delivery(time, 1500) for time in slower]
    assert [number for number, flag in enumerate(_released(found, [True] * 54)) if not flag] == [20]


def test_a_rate_that_varies_has_a_trace_and_the_least_error() -> None:
    """A megabit each second: the interval of one rate is the floor, half a per cent."""
    found = [Delivery(float(n), 125_000) for n in range(41)]
    result = _varies(RateFit(Unknown(""), 0.0, 0.0, 1.0), found, [True] * 41, 8)
    assert isinstance(result.capacity, Measured)
    value, low, high = result.capacity.value, result.capacity.low, result.capacity.high
    assert (value, low, high) == pytest.approx((1e6, 0.995e6, 1.005e6))
    assert (result.rate, result.low_rate) == pytest.approx((1e6, 1e6))
    assert result.trace == [(0.0, 40.0, pytest.approx(1e6))]
    # Four times as fast from 20 s on, then a hundredth of that: no rate is below a fiftieth of the highest.
    times = [*range(21), *(20 + n / 4 for n in range(1, 41)), *(30 + 25 * n for n in range(1, 21))]
    found = [Delivery(float(time), 125_000) for time in times]
    result = _varies(RateFit(Unknown(""), 0.0, 0.0, 1.0), found, [True] * 81, 8)
    assert [rate for _, _, rate in result.trace] == pytest.approx([1e6, 4e6, 0.04e6])
    assert (result.rate, result.low_rate) == pytest.approx((80e6 / 530, 0.08e6))


def test_the_ends_of_runs_leave_an_error() -> None:
    runs = [Stretch(0, 1, 10), Stretch(1, 2, 10), Stretch(3, 4, 10)]
    assert _edge(runs, Batches(0.02, 0.03, 3)) == pytest.approx(0.02 * math.sqrt(2) / 3)
    assert _edge(runs, None) == 0


def test_silences_without_a_timetable_have_one_length_or_a_spread() -> None:
    """Held: known but for a third of a packet time. Lost: between the greatest least and the least most."""
    held = [gap(3.0 * n * n, 3.0 * n * n + 0.3, held=True) for n in range(1, 9)]
    found = _loose(held, held, "hold", 1.0, 0.003)
    assert (found.length, found.low, found.high, found.fixed) == pytest.approx((0.299, 0.293, 0.305, True))
    wide = [gap(9.0 * n, 9.0 * n + 0.3 + 0.03 * n, held=True) for n in range(1, 11)]
    found = _loose(wide, wide, "hold", 1.0, 0.003)
    assert not found.fixed
    assert found.low < found.length < found.high
    assert found.length == pytest.approx(0.464)
    lost = [Gap(9.0 * n, 9.0 * n + 0.4, False, 9.0 * n + 0.05, 9.0 * n + 0.35, 9) for n in range(4)]
    found = _loose(lost, lost, "drop", 1.0, 0.003)
    assert (found.length, found.low, found.high, found.fixed) == pytest.approx((0.35, 0.3, 0.4, True))
    # From five on one bound of each kind may be wrong.
    five = [*lost, Gap(50.0, 50.2, False, 50.05, 50.1, 9)]
    assert _loose(five, five, "drop", 1.0, 0.003).high == pytest.approx(0.4)
    # One is surely longer than another can be, by more than a tenth.
    other = [*lost[:3], Gap(50.0, 50.2, False, 50.05, 50.15, 9)]
    assert not _loose(other, other, "drop", 1.0, 0.003).fixed
    near = [*lost[:3], Gap(50.0, 50.28, False, 50.05, 50.15, 9)]
    assert _loose(near, near, "drop", 1.0, 0.003).fixed


def test_single_outages_have_their_own_lengths() -> None:
    few = _few([gap(1.0, 2.0, lost=5), gap(4.0, 4.5, held=True), gap(7.0, 7.7, held=True)], 0.01)
    assert (few.mode, few.sure, few.fixed) == ("hold", 1.0, False)
    assert (few.length, few.low, few.high) == pytest.approx((0.7, 0.49, 1.0))
    one = _few([gap(1.0, 2.0, lost=5)], 0.01)
    assert (one.mode, one.fixed) == ("drop", True)
    assert (one.length, one.low, one.high) == pytest.approx((0.99, 0.98, 1.0))


def test_chance_explains_short_runs_of_losses() -> None:
    def against(lost: int, data: int, elsewhere: int = 0, **given: Any) -> bool:
        sent = [Sent(0.0, 0, 9, 61, answered=math.nan if n < lost + elsewhere else 1.0) for n in range(data)]
        found = Gap(1.0, 2.0, given.pop("held", False), 1.1, 1.9, lost, **given)
        return _against_chance(found, [found], sent)

    assert against(0, 100, held=True)
    assert against(0, 100, probes=3)
    assert not against(2, 10_000, probes=2)
    # 1000 packets, one lost elsewhere or none: 1000 x 0.001^3. With 50 elsewhere 1000 x 0.05^3 = 0.125.
    assert against(3, 1000)
    assert not against(3, 1000, elsewhere=50)
    assert against(4, 1000, elsewhere=50), "0.00625"


def test_the_line_through_points_is_that_of_least_squares() -> None:
    assert _line([(0, 1.0), (1, 3.0), (2, 5.0)]) == pytest.approx((2.0, 1.0))
    assert _line([(0, 0.0), (1, 1.0), (2, 5.0)]) == pytest.approx((2.5, -0.5))
    assert _line([(3, 4.0), (3, 6.0)]) == (0.0, 5.0)
    # Ends nearer to a line than beginnings tell the period; not those of three silences.
    gaps = [gap(n + 0.01 * (n % 2), 1.001 * n + 0.3) for n in range(6)]
    assert _sharper(gaps, 1.0, 0.0, 0.002) == pytest.approx((1.001, 0.0), abs=1e-9)
    assert _sharper(gaps[:3], 1.0, 0.0, 0.002) == (1.0, 0.002)
    late = [gap(float(n), n + 0.3 + 0.01 * (n % 2)) for n in range(6)]
    assert _sharper(late, 1.0, 0.0, 0.001) == (1.0, 0.001)
    # Late by 0 and 10 ms in turn: 1.96 times the standard error of the slope, 6 numbers with squares of 17.5.
    slope = 0.01 * sum((n - 2.5) * (n % 2) for n in range(6)) / 17.5
    left = sum((0.01 * (n % 2) - 0.005 - slope * (n - 2.5)) ** 2 for n in range(6))
    found = _sharper(late, 1.0, 0.0, 1.0)
    assert found == pytest.approx((1 + slope, 1.96 * math.sqrt(left / 4 / 17.5)))


def test_the_timetable_with_another_period_than_a_second() -> None:
    """Silences each 2 s from 5 s on: where beginnings lie on it, and which gaps hold one."""
    assert _on_line([5.0, 7.004, 8.9, 13.005, 13.006], 2.0, 5.0, 0.0055) == [
        (0, 5.0),
        (1, 7.004),
        (4, 13.005),
    ]
    for start, end, is_held, lost, spans in (
        (6.5, 7.5, True, 0, True),
        (6.5, 7.5, False, 3, True),
        (6.5, 7.5, False, 0, False),
        (7.1, 8.9, True, 0, False),
        (7.0, 8.9, True, 0, False),
        (6.9, 7.0, True, 0, False),
    ):
        assert _spans(gap(start, end, held=is_held, lost=lost), 2.0, 5.0) == spans, (start, end)
    silent = [gap(5 + 2 * n, 5.3 + 2 * n, lost=10) for n in range(12)]
    # A sender that waited for its timer, off the timetable, and one that began early into a silence.
    some = sorted(
        [*silent[:6], gap(18.2, 18.9), gap(16.5, 17.3, lost=9), *silent[7:]], key=lambda each: each.start
    )
    found = characterise(some, 0.001)
    assert found is not None
    assert (found.period, found.on_grid) == (pytest.approx(2.0, abs=1e-3), 12)
    assert gap(18.2, 18.9) not in found.gaps
    assert found.length == pytest.approx(0.3, abs=0.02)
    # The error is that of clocks at least, and a packet time shared by the silences.
    assert found.period_error >= max(2e-4 * 2.0, 0.001 / 12)


def test_gaps_of_few_losses_are_no_silences() -> None:
    """A fifth of the usual losses may be chance, unless three probes were lost in a row."""
    silent = [gap(10.0 * n * n, 10.0 * n * n + 0.5, lost=50) for n in range(1, 6)]

    def gaps_with(lost: int, probes: int = 0) -> int:
        one = Gap(500.0, 500.5, False, 500.01, 500.49, lost, probes)
        found = characterise([*silent, one], 0.001)
        assert found is not None
        return len(found.gaps)

    assert [gaps_with(9), gaps_with(10), gaps_with(3, 3), gaps_with(3, 2)] == [5, 6, 6, 5]
    assert characterise(silent[:2], 0.001) is None, "two without a timetable"


def test_a_silence_of_the_other_kind_has_the_usual_length() -> None:
    held = [gap(10.0 * n * n, 10.0 * n * n + 0.5, held=True) for n in range(1, 6)]

    def kept(*others: Gap) -> int:
        return len(_seen([*held, *others], held, 0.001)) - 5

    assert kept(gap(400.0, 400.9, lost=5), gap(500.0, 501.0, lost=5), gap(600.0, 601.1, lost=5)) == 2
    assert (
        kept(gap(400.0, 400.24, held=True), gap(500.0, 500.25, held=True), gap(600.0, 602.0, held=True)) == 2
    )
    # Three of four lengths are alike within a quarter, or each gap stands for itself.
    mixed = [*held[:3], gap(300.0, 300.9, held=True)]
    assert len(_seen([*mixed, gap(400.0, 400.1, held=True)], mixed, 0.001)) == 4
    apart = [*held[:2], gap(300.0, 300.9, held=True), gap(350.0, 350.1, held=True)]
    assert _seen([*apart, gap(400.0, 400.5, lost=5)], apart, 0.001) == apart


def test_what_chance_explains_is_no_silence() -> None:
    data = [Sent(0.01 * n, 0, 9, 61, answered=1.0) for n in range(1000)]
    sure = [gap(10.0 * n * n, 10.0 * n * n + 0.2, lost=50) for n in range(1, 5)]
    single = [gap(500.0 + 9 * n, 500.01 + 9 * n, lost=2) for n in range(4)]
    loose = Silences("drop", 1.0, tuple(sure), length=0.2)
    assert unexplained(loose, sure, data, 0.02, 0.001) is loose
    # Three without a timetable are too few, unless one is an outage of 250 ms.
    three = Silences("drop", 1.0, tuple(sure[:3]), length=0.2)
    assert unexplained(three, sure[:3], data, 0.02, 0.001) is None
    outage = gap(300.0, 300.25, lost=50)
    found = unexplained(Silences("drop", 1.0, (*sure[:2], outage)), [*sure[:2], outage], data, 0.02, 0.001)
    assert found is not None
    assert (found.gaps, found.high) == ((outage,), pytest.approx(0.25))
    # A timetable that less than half of its silences prove is a coincidence; half prove it.
    grid = Silences("drop", 1.0, (*sure, *single), period=1.0, phase=0.0, high=0.2)
    assert unexplained(grid, [*sure, *single], data, 0.02, 0.001) is grid
    few = Silences("drop", 1.0, (*sure[:3], *single), period=1.0, phase=0.0, high=0.2)
    assert unexplained(few, [*sure[:3], *single], data, 0.02, 0.001) is None
    # Nothing in common: an outage alone, longer than two round trips.
    assert unexplained(None, [outage, *single], data, 0.02, 0.001) is not None
    assert unexplained(None, [outage, *single], data, 0.13, 0.001) is None
    assert unexplained(None, single, data, 0.02, 0.001) is None


def test_deliveries_know_the_waits_of_their_packets() -> None:
    """At a sender an answer is of all its packets; at a receiver timestamps tell how late each is."""

    def sent(time: float, answered: float, *, fresh: bool = True) -> Sent:
        return Sent(time, 0, 9, 1000, answered=answered, fresh=fresh)

    data = [sent(1.0, 1.05), sent(1.01, 1.05), sent(1.02, 1.05, fresh=False), sent(1.03, 1.2, fresh=False)]
    main = Connection("sender", [*data, sent(1.04, math.nan)], [])
    first, second = deliveries([main], 0.02, None)
    assert (first.time, first.size, first.wait, first.sent) == pytest.approx((1.05, 3000, 0.03, 1.0))
    assert (second.time, second.size) == (1.2, 1000)
    assert math.isnan(second.wait)
    assert math.isnan(second.sent)
    other = Connection("receiver", data[:1], [], others=[(1.01, 77)])
    early, late = deliveries([other], 0.02, {id(data[0]): 0.004})
    assert (early.time, early.size, late.wait, late.sent) == pytest.approx((1.01, 77, 0.004, 1.026))
    assert math.isnan(deliveries([other], 0.02, None)[1].wait)


def test_what_arrives_of_each_interval_counts_not_what_was_sent() -> None:
    assert steady([(0, 100), (10, 90), (20, 100), (30, 110), (20, 100)])
    assert not steady([(0, 100), (10, 110), (20, 100), (30, 90), (20, 100)])


def test_the_functions_behind_the_laws() -> None:
    # Abramowitz and Stegun, tables 6.1 and 6.3.
    for x, value in ((0.5, -1.9635100260), (1.0, -0.5772156649), (6.0, 1.7061176684), (10.0, 2.2517525890)):
        assert _digamma(x) == pytest.approx(value, abs=1e-8)
    assert _root(lambda x: 2 - x, 0.1, 10) == pytest.approx(2)
    assert _root(lambda x: x - 3, 0.1, 10) == pytest.approx(3)


def test_each_law_is_the_likeliest_of_its_kind() -> None:
    """The likelihood is the sum of the logarithms of the density, and no parameter near by has a greater."""
    spans = [0.2, 0.3, 0.5, 0.9, 1.4, 2.0, 3.1, 7.0, 0.1, 0.6]

    def gamma(x: float, shape: float, scale: float) -> float:
        return x ** (shape - 1) * math.exp(-x / scale) / (math.gamma(shape) * scale**shape)

    def weibull(x: float, shape: float, scale: float) -> float:
        return shape / scale * (x / scale) ** (shape - 1) * math.exp(-((x / scale) ** shape))

    def hyper(x: float, share: float, rate_1: float, rate_2: float) -> float:
        return share * rate_1 * math.exp(-rate_1 * x) + (1 - share) * rate_2 * math.exp(-rate_2 * x)

    laws = {law.name: law for law in fit_laws(spans)}
    for name, density in (("gamma", gamma), ("weibull", weibull), ("hyper-exponential", hyper)):
        law = laws[name]

        def likelihood(density: Callable[..., float] = density, **parameters: float) -> float:
            return sum(math.log(density(x, **parameters)) for x in spans)

        assert law.likelihood == pytest.approx(likelihood(**law.parameters))
        for parameter, value in law.parameters.items():
            for factor in (0.9, 1.1):
                assert likelihood(**{**law.parameters, parameter: factor * value}) < law.likelihood, name
        # AIC with the correction for ten values.
        k = len(law.parameters)
        assert law.aic == pytest.approx(2 * k - 2 * law.likelihood + 2 * k * (k + 1) / (10 - k - 1))
    assert laws["gamma"].mean == pytest.approx(1.61)
    shape, scale = laws["weibull"].parameters["shape"], laws["weibull"].parameters["scale"]
    assert laws["weibull"].mean == pytest.approx(scale * math.gamma(1 + 1 / shape))
    share, fast, slow = laws["hyper-exponential"].parameters.values()
    assert laws["hyper-exponential"].mean == pytest.approx(share / fast + (1 - share) / slow)
    # Spans of one length have no shape.
    assert {law.name for law in fit_laws([2.0] * 10)} <= {"exponential", "hyper-exponential"}


def test_runs_of_losses_gain_by_their_likelihood() -> None:
    """Two in a row are lost after eight that arrive, six times over."""
    found = fit_losses([([False] * 8 + [True] * 2) * 6 + [False]])
    assert found is not None
    assert (found.name, found.runs, found.run) == ("gilbert-elliott", 6, 2)
    # 60 steps: 48 after an arrival, 6 of them to a loss; 12 after a loss, 6 of them back.
    chain = 6 * math.log(6 / 48) + 42 * math.log(42 / 48) + 12 * math.log(0.5)
    single = 12 * math.log(0.2) + 48 * math.log(0.8)
    assert found.gain == pytest.approx(2 * chain - 2 * single - 2)
    low, high = share_interval(6, 12)
    assert (found.low, found.high) == pytest.approx((1 / high, 1 / low))


def test_a_handshake_of_quic_tells_the_end() -> None:
    """The longer leg leads to the far end; who sends the data opened the connection, or answers."""

    def side(second: float, third: float, *, opens: bool) -> tuple[str, float, int, bool]:
        group = [
            Datagram(0.0, 1, True, 0xC3, 1200, 1228),
            Datagram(second, 1, False, 0xC1, 1300, 1328),
            Datagram(second + third, 1, True, 0xE1, 100, 128),
        ]
        end, _, handshake, size, sure = _handshake(group, sends_first=opens)
        return end, handshake, size, sure

    assert side(0.04, 0.001, opens=True) == ("sender", 0.04, 2556, True)
    assert side(0.04, 0.001, opens=False) == ("receiver", 0.04, 2556, True)
    assert side(0.001, 0.04, opens=True) == ("receiver", pytest.approx(0.04), 1456, True)
    assert side(0.001, 0.04, opens=False) == ("sender", pytest.approx(0.04), 1456, True)
    # Both take long: their sum is a bound.
    assert side(0.04, 0.03, opens=True) == ("sender", pytest.approx(0.07), 2556, False)


def test_a_connection_of_quic_has_what_is_in_the_clear() -> None:
    """From the middle of a connection: the spin bit alone, which turns every 50 ms, tells a round trip."""
    data = [Datagram(0.01 * n, 1, True, 0x40 | 0x20 * (n // 5 % 2), 100 + n % 2, 130) for n in range(100)]
    answers = [Datagram(0.01 * n + 0.005, 1, False, 0x40, 30, 60) for n in range(40)]
    assert connections([*data, *answers]) == [], "UDP of any kind looks alike"
    again = Datagram(1.5, 1, True, 0xC3, 1200, 1228)
    found = connections([*sorted([*data, *answers], key=lambda each: each.time), again])[0]
    assert (found.side, found.mss, found.opened, found.one_way) == ("receiver", 1200, True, False)
    assert found.handshake_s == pytest.approx(0.05)
    assert found.handshake_bytes == 0
    assert [(each.seq, each.end) for each in found.data[:3]] == [(0, 100), (100, 201), (201, 301)]
    assert (len(found.data), len(found.answers)) == (101, 40)
