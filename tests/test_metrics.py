"""What a run comes to in single numbers, against values worked out by hand."""

import math
from typing import Any

import pytest

from cogtcp.model.headline import _name
from cogtcp.model.metrics import BY_NAME, METRICS, Metric, measure_rows, plus_minus
from cogtcp.model.statistics import Interval

NAN = math.nan


def flow(**values: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "goodput_bps": 0.0,
        "efficiency": NAN,
        "delivery_ratio": NAN,
        "rtos": 0,
        "spurious_rtos": 0,
        "fast_retransmits": 0,
        "drops": 0,
        "sent_segments": 0,
        "retransmitted_segments": 0,
        "rtt_mean_s": NAN,
        "rtt_p95_s": NAN,
        "queuing_delay_mean_s": NAN,
        "completion_s": NAN,
        "bottleneck": "link",
        "bottleneck_direction": "forward",
        "medium": "link",
    }
    return {**row, **values}


def radio(**values: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "pu_airtime_s": 1.0,
        "pu_interfered_share": 0.0,
        "pu_exposed_share": 0.0,
        "pu_collisions": 0,
        "vacate_mean_s": NAN,
        "missed_detections": 0,
        "false_alarms": 0,
        "handoffs": 0,
    }
    return {**row, **values}


def test_sums_and_means_over_flows() -> None:
    rows = [
        flow(
            goodput_bps=3e6,
            rtos=1,
            drops=2,
            fast_retransmits=3,
            spurious_rtos=1,
            rtt_mean_s=0.1,
            rtt_p95_s=0.2,
            delivery_ratio=0.9,
            queuing_delay_mean_s=0.01,
            completion_s=4.0,
        ),
        flow(
            goodput_bps=1e6,
            rtos=4,
            drops=5,
            fast_retransmits=6,
            spurious_rtos=2,
            rtt_mean_s=0.3,
            rtt_p95_s=0.6,
            delivery_ratio=0.7,
            queuing_delay_mean_s=0.03,
            completion_s=NAN,
        ),
    ]
    found = measure_rows(rows)
    assert found["goodput_bps"] == 4e6
    assert (found["rtos"], found["spurious_rtos"], found["fast_retransmits"], found["drops"]) == (5, 3, 9, 7)
    assert found["rtt_mean_s"] == pytest.approx(0.2)
    assert found["rtt_p95_s"] == pytest.approx(0.4)
    assert found["delivery_ratio"] == pytest.approx(0.8)
    assert found["queuing_delay_mean_s"] == pytest.approx(0.02)
    assert found["completion_s"] == 4.0, "of those that finished"
    # (3 + 1)^2 / (2 (9 + 1))
    assert found["fairness"] == pytest.approx(0.8)
    assert set(found) == {metric.name for metric in METRICS} == set(BY_NAME)


def test_efficiencies_add_up_at_one_bottleneck_and_are_averaged_over_several() -> None:
    shared = [flow(efficiency=0.2), flow(efficiency=0.5)]
    assert measure_rows(shared)["efficiency"] == pytest.approx(0.7)
    back = flow(efficiency=0.1, bottleneck_direction="reverse")
    assert measure_rows([*shared, back])["efficiency"] == pytest.approx(0.4)
    other = flow(efficiency=0.3, bottleneck="second", medium="second")
    assert measure_rows([*shared, other])["efficiency"] == pytest.approx(0.5)
    assert math.isnan(measure_rows([flow()])["efficiency"])
    cell = [flow(efficiency=0.4, bottleneck=name, medium="cell") for name in ("air-1", "air-2")]
    assert measure_rows(cell)["efficiency"] == pytest.approx(0.8), "users of a cell share its capacity"


def test_what_was_sent_again_is_a_share_of_all_that_was_sent() -> None:
    rows = [
        flow(sent_segments=100, retransmitted_segments=10),
        flow(sent_segments=300, retransmitted_segments=10),
    ]
    assert measure_rows(rows)["retransmitted"] == pytest.approx(0.05)
    assert math.isnan(measure_rows([flow()])["retransmitted"]), "nothing was sent"


def test_radios() -> None:
    radios = [
        radio(
            pu_interfered_share=0.1,
            pu_exposed_share=0.2,
            pu_collisions=3,
            vacate_mean_s=0.05,
            missed_detections=1,
            false_alarms=2,
            handoffs=4,
        ),
        radio(
            pu_interfered_share=0.3,
            pu_exposed_share=0.4,
            pu_collisions=5,
            missed_detections=6,
            false_alarms=7,
            handoffs=8,
        ),
        radio(pu_airtime_s=NAN, pu_interfered_share=9.0, pu_collisions=100, handoffs=16),
    ]
    found = measure_rows([flow()], radios)
    assert found["pu_interfered_share"] == pytest.approx(0.2)
    assert found["pu_exposed_share"] == pytest.approx(0.3)
    assert found["pu_collisions"] == 8, "the third meets no primary users"
    assert found["vacate_mean_s"] == 0.05
    assert (found["missed_detections"], found["false_alarms"]) == (7, 9)
    assert found["handoffs"] == 28, "of all radios"
    without = measure_rows([flow()], [radios[2]])
    assert math.isnan(without["pu_collisions"])
    assert without["handoffs"] == 16
    assert math.isnan(measure_rows([flow()])["handoffs"])


def test_how_numbers_are_written() -> None:
    goodput, drops, rtt = BY_NAME["goodput_bps"], BY_NAME["drops"], BY_NAME["rtt_mean_s"]
    assert goodput.text(2_345_678.0) == "2.346"
    assert goodput.text(2_345_678.0, unit=True) == "2.346 Mbit/s"
    assert goodput.text(1_234_567_890.0) == "1,234.568"
    assert goodput.text(-100.0) == "0.000", "no minus before zero"
    assert goodput.text(-2e6) == "-2.000"
    assert goodput.text(NAN) == "–"
    assert drops.text(3.25) == "3.2"
    assert drops.text(3.0, single=True) == "3"
    assert rtt.text(0.0525, single=True) == "52.5", "no count"
    assert BY_NAME["fairness"].text(0.5, unit=True) == "0.500", "without a unit"


def test_intervals_as_people_read_them() -> None:
    goodput = BY_NAME["goodput_bps"]
    assert goodput.with_half_width(Interval(2.04e6, 1.89e6, 2.19e6, 4)) == "2.04 ± 0.15"
    assert goodput.with_half_width(Interval(2e6, 1.9e6, 2.1e6, 4), sign=True) == "+2.00 ± 0.10"
    assert goodput.with_half_width(Interval(-2e6, -2.1e6, -1.9e6, 4), sign=True) == "-2.00 ± 0.10"
    vacate = BY_NAME["vacate_mean_s"]
    assert vacate.for_size([NAN, 34.233]).text(34.233, unit=True) == "34.23 s"
    assert vacate.for_size([9.9, -10.0]).unit == "s"
    assert vacate.for_size([NAN, 9.9]) is vacate
    assert goodput.for_size([1e9]) is goodput
    assert goodput.with_half_width(Interval(2e6, NAN, NAN, 1)) == "2.000"
    assert goodput.with_half_width(Interval(2e6, NAN, NAN, 1), sign=True) == "+2.000"
    assert plus_minus(1.23456, 0.0123) == "1.235 ± 0.012"
    # The digits follow the interval, zeros included: 9.96 has the two digits of 10.
    assert plus_minus(2.9, 0.2) == "2.90 ± 0.20"
    assert plus_minus(8.0, 0.83) == "8.00 ± 0.83"
    assert plus_minus(137.4, 9.96) == "137 ± 10"
    assert plus_minus(1234.5, 12.3) == "1,234 ± 12"
    assert plus_minus(-0.0001, 0.15) == "0.00 ± 0.15"
    assert plus_minus(2.34567, 0.0) == "2.346 ± 0"
    assert plus_minus(2.34567, 0.0, 1) == "2.3 ± 0"
    assert plus_minus(NAN, 1.0) == plus_minus(1.0, NAN) == "–"


@pytest.mark.parametrize(
    ("better", "names"),
    [
        (1, {"goodput_bps", "efficiency", "fairness", "delivery_ratio"}),
        (0, {"fast_retransmits", "handoffs"}),
    ],
)
def test_which_way_is_better(better: int, names: set[str]) -> None:
    assert {metric.name for metric in METRICS if metric.better == better} == names
    assert {metric.better for metric in METRICS} == {-1, 0, 1}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_units_and_scales_belong_together(metric: Metric) -> None:
    scales = {"Mbit/s": 1e-6, "%": 100, "ms": 1000, "s": 1, "packets": 1, "": 1}
    assert metric.scale == scales[metric.unit]
    counts = {"rtos", "spurious_rtos", "fast_retransmits", "drops", "pu_collisions", "missed_detections"}
    assert metric.counts is (metric.name in counts | {"false_alarms", "handoffs"})
    assert 0 <= metric.digits <= 3
    assert metric.radio is (metric.name in list(BY_NAME)[-7:])


def test_decimal_places_that_people_are_shown() -> None:
    digits = {metric.name: metric.digits for metric in METRICS}
    assert digits == {
        **dict.fromkeys(("goodput_bps", "fairness"), 3),
        **dict.fromkeys(("delivery_ratio", "retransmitted", "completion_s"), 2),
        **dict.fromkeys(("pu_interfered_share", "pu_exposed_share"), 2),
        **dict.fromkeys(("efficiency", "rtos", "spurious_rtos", "fast_retransmits", "drops"), 1),
        **dict.fromkeys(("rtt_mean_s", "rtt_p95_s", "queuing_delay_mean_s", "vacate_mean_s"), 1),
        **dict.fromkeys(("pu_collisions", "missed_detections", "false_alarms", "handoffs"), 1),
    }


def test_a_metric_within_a_sentence_keeps_the_capitals_of_an_acronym() -> None:
    names = [_name(BY_NAME[name]) for name in ("goodput_bps", "delivery_ratio", "rtt_mean_s", "rtos")]
    assert names == ["goodput", "delivery ratio", "RTT, mean", "RTOs"]
