"""Helpers of `cogtcp fit` that judge one thing each, with values derived by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from cogtcp import UsageError
from cogtcp.data.fitting import from_logs, probing, sigmf, sweeps
from cogtcp.data.fitting.laws import Law, fit_laws
from cogtcp.data.fitting.packets import Packet, _tick
from cogtcp.data.fitting.probes import Probe
from cogtcp.data.fitting.silences import Gap

SPANS = [0.2, 0.5, 0.5, 0.9, 1.4, 2.0, 2.1, 3.7, 5.0, 8.8]


def _log_density(law: Law, span: float) -> float:
    shape, scale = law.parameters["shape"], law.parameters["scale"]
    if law.name == "gamma":
        density = span ** (shape - 1) * math.exp(-span / scale) / (math.gamma(shape) * scale**shape)
    else:
        density = shape / scale * (span / scale) ** (shape - 1) * math.exp(-((span / scale) ** shape))
    return math.log(density)


@pytest.mark.parametrize("name", ["gamma", "weibull"])
def test_a_law_of_two_parameters_has_the_greatest_likelihood_of_its_kind(name: str) -> None:
    law = {law.name: law for law in fit_laws(SPANS)}[name]

    def likelihood(**changed: float) -> float:
        other = Law(name, law.parameters | changed, 0.0, 0.0, 0.0)
        return math.fsum(_log_density(other, span) for span in SPANS)

    assert law.likelihood == pytest.approx(likelihood(), rel=1e-9)
    for parameter, value in law.parameters.items():
        for factor in (0.98, 1.02):
            assert likelihood(**{parameter: factor * value}) < law.likelihood
    shape, scale = law.parameters["shape"], law.parameters["scale"]
    mean = shape * scale if name == "gamma" else scale * math.gamma(1 + 1 / shape)
    assert law.mean == pytest.approx(mean)
    # Akaike's criterion with the correction of Hurvich and Tsai for k = 2 and n = 10: 2 k (k + 1) / 7.
    assert law.aic == pytest.approx(4 - 2 * law.likelihood + 12 / 7)


def test_two_bands_are_one_channel_if_half_of_the_narrower_is_common() -> None:
    for other, same in [
        ((0.0, 10.0), True),
        ((5.0, 15.0), True),  # half
        ((5.1, 15.1), False),
        ((2.0, 4.0), True),  # within
        ((9.0, 11.0), True),  # half of the narrower
        ((9.2, 11.2), False),
        ((20.0, 30.0), False),
    ]:
        assert sigmf._same((0.0, 10.0), other) is sigmf._same(other, (0.0, 10.0)) is same, other
    # Without an edge only the same is the same.
    assert sigmf._same((0.0, math.inf), (0.0, math.inf))
    assert not sigmf._same((0.0, math.inf), (0.0, 10.0))
    assert not sigmf._same((-math.inf, 10.0), (0.0, 10.0))


@pytest.mark.parametrize(
    "line",
    [
        "2024-01-01, 00:00:00, 1000, 2000, 0, 1, -50",
        "2024-01-01, 00:00:00, 1000, 2000, -500, 1, -50",
        "2024-01-01, 00:00:00, 2000, 2000, 500, 1, -50",
        "2024-01-01, 00:00:00, 2000, 1000, 500, 1, -50",
        "2024-01-01, 00:00:00, 1000, 2000, 500, 1,",
        "2024-01-01, 00:00:00, 1000, 2000, 500, 1, x",
        "2024-01-01, 00:00:00, 1000, 2000, 500",
        "2024-13-01, 00:00:00, 1000, 2000, 500, 1, -50",
    ],
)
def test_a_sweep_has_a_step_a_span_and_powers(line: str) -> None:
    right = "2024-01-01, 00:00:00, 1000, 2000, 500, 1, -50, -60"
    assert sweeps._powers(right + "\n\n", "a.csv")[1] == 500
    with pytest.raises(UsageError, match=r"a\.csv:2: is no line of rtl_power"):
        sweeps._powers(f"{right}\n{line}\n", "a.csv")


def _stamped(span: float, ticks: int, number: int = 10) -> list[Packet]:
    ends: Any = (("a", 1), ("b", 2))
    return [
        Packet(
            span * n / (number - 1), *ends, 0, 0, 0, 0, 40, tsval=(5 + ticks * n // (number - 1)) % (1 << 32)
        )
        for n in range(number)
    ]


def test_a_tick_is_a_usual_one_if_it_is_near() -> None:
    """Usual ticks are 1, 4 and 10 ms. In the time of a queue they seem up to a fifth longer or shorter."""
    assert _tick(_stamped(1.0, 1000)) == 0.001
    assert _tick(_stamped(1.19, 1000)) == 0.001
    assert _tick(_stamped(0.81, 1000)) == 0.001
    assert _tick(_stamped(1.21, 1000)) == pytest.approx(0.00121)
    assert _tick(_stamped(4.0, 1000)) == 0.004
    assert _tick(_stamped(10.0, 1000)) == 0.01
    assert _tick(_stamped(2.0, 1000)) == pytest.approx(0.002)
    assert _tick(_stamped(1.0, 1000, number=9)) == 0, "too few packets"
    assert _tick(_stamped(0.019, 19)) == 0, "too few ticks"
    assert _tick(_stamped(0.02, 20)) == 0.001


def test_a_duration_of_a_scenario_is_whole_nanoseconds_and_above_zero() -> None:
    assert [from_logs._ns(seconds) for seconds in (0.0, 4e-10, 1.6e-9, 0.25, 3.0)] == [
        "1 ns", "1 ns", "2 ns", "250000000 ns", "3000000000 ns",
    ]  # fmt: skip


def test_requests_that_a_silence_held_are_answered_together() -> None:
    """One each 100 ms, answered in 20 ms; those sent from 1.0 to 1.4 s are answered at 1.5 s."""
    requests = [Probe(0.1 * n, 0.02) for n in range(10)]
    requests += [Probe(1.0 + 0.1 * n, 0.5 - 0.1 * n) for n in range(5)]
    requests += [Probe(1.5 + 0.1 * n, 0.02) for n in range(10)]
    (gap,) = probing._held(requests, 0.1, 0.02)
    # It began after the last request that passed, and ended when the answers' requests passed.
    assert (gap.start, gap.end, gap.held) == (pytest.approx(0.9), pytest.approx(1.48), True)
    # It is up to an interval shorter than that: the middle is the likely length.
    assert probing._length(gap, 0.1, requests) == pytest.approx((0.48, 0.53, 0.58))
    # One late answer is no silence.
    assert probing._held([*requests[:10], Probe(1.0, 0.5), *requests[15:]], 0.1, 0.02) == []


def test_few_silences_are_of_the_kind_of_most() -> None:
    held, lost = Gap(1.0, 2.0, True), Gap(3.0, 4.0, False, 3.1, 3.9, 9, 9)
    lengths = [(0.8, 0.9, 1.0), (0.6, 0.7, 1.4), (0.7, 0.8, 1.2)]
    for gaps, mode, share in [
        ([held, held, lost], "hold", 2 / 3),
        ([held, lost, lost], "drop", 2 / 3),
        ([held, lost], "drop", 1 / 2),
    ]:
        found = probing._few(gaps, lengths[: len(gaps)])
        assert (found.mode, found.sure) == (mode, pytest.approx(share))
    assert (found.length, found.low, found.high) == pytest.approx((0.8, 0.6, 1.4))
