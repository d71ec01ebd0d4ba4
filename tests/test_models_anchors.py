"""The classic anchors: square-root law, PFTK and Jain's index."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp import models

LOSS = st.floats(min_value=1e-6, max_value=0.5)


def test_square_root_law_by_hand() -> None:
    # p = 1.5 %: sqrt(3 / (2 * 0.015)) = 10 packets a round trip; 10 * 8000 bit / 0.1 s = 800 kb/s.
    assert models.mathis_throughput_bps(1000, 0.1, 0.015) == pytest.approx(800e3)
    # Delayed ACKs divide by sqrt 2.
    assert models.mathis_throughput_bps(1000, 0.1, 0.015, segments_per_ack=2) == pytest.approx(
        800e3 / math.sqrt(2)
    )


def test_pftk_by_hand() -> None:
    # p = 0.0067, b = 1: RTT sqrt(2p/3) = 0.1 * 0.0668331 = 0.00668331;
    # 3 sqrt(3p/8) = 0.150375; times T0 p (1 + 32 p^2) = 1 * 0.0067 * 1.00143648: 0.001008955;
    # 1/0.00769227 = 130.0 packets/s.
    first = 0.1 * math.sqrt(2 * 0.0067 / 3)
    assert first == pytest.approx(0.00668331, abs=5e-8)
    second = 0.150375 * 0.0067 * 1.00143648
    assert models.pftk_throughput_bps(1000, 0.1, 1.0, 0.0067) == pytest.approx(
        8000 / (first + second), rel=1e-4
    )


def test_pftk_is_capped_by_the_window() -> None:
    # 20 packets of 1000 bytes every 0.1 s.
    assert models.pftk_throughput_bps(1000, 0.1, 1.0, 1e-6, max_window_packets=20) == pytest.approx(1.6e6)


@given(LOSS)
def test_timeouts_only_take_away(loss: float) -> None:
    assert models.pftk_throughput_bps(1000, 0.1, 1.0, loss) < models.mathis_throughput_bps(1000, 0.1, loss)


def test_pftk_tends_to_the_square_root_law_for_rare_loss() -> None:
    ratio = models.pftk_throughput_bps(1000, 0.1, 1.0, 1e-8) / models.mathis_throughput_bps(1000, 0.1, 1e-8)
    assert ratio == pytest.approx(1, abs=1e-3)


@given(LOSS, st.floats(min_value=1.01, max_value=1.9))
def test_more_loss_means_less_throughput(loss: float, factor: float) -> None:
    assert models.pftk_throughput_bps(1000, 0.1, 1.0, loss * factor) < models.pftk_throughput_bps(
        1000, 0.1, 1.0, loss
    )


@pytest.mark.parametrize("loss", [0, -0.1, 1.1, math.nan])
def test_impossible_loss_is_refused(loss: float) -> None:
    with pytest.raises(ValueError, match="loss_probability"):
        models.mathis_throughput_bps(1000, 0.1, loss)
    with pytest.raises(ValueError, match="loss_probability"):
        models.pftk_throughput_bps(1000, 0.1, 1, loss)


def test_jain_by_hand() -> None:
    assert models.jain_index([5, 5, 5, 5]) == 1
    assert models.jain_index([1, 0, 0, 0]) == 0.25
    # (1 + 2 + 3)^2 / (3 * 14) = 36/42.
    assert models.jain_index([1, 2, 3]) == pytest.approx(36 / 42)


@given(st.lists(st.floats(min_value=0.001, max_value=1e3), min_size=1, max_size=20), st.floats(1e-100, 1e100))
def test_jain_ignores_the_unit_and_lies_between_one_nth_and_one(values: list[float], unit: float) -> None:
    index = models.jain_index(values)
    assert 1 / len(values) - 1e-12 <= index <= 1 + 1e-12
    assert models.jain_index([unit * value for value in values]) == pytest.approx(index)


@pytest.mark.parametrize("values", [[], [0, 0], [1, -1], [math.inf]])
def test_jain_refuses_what_has_no_index(values: list[float]) -> None:
    with pytest.raises(ValueError, match="allocation"):
        models.jain_index(values)
