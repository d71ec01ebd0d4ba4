"""What studies read of a run, by hand: probes of TCP C2, rises of the bandwidth."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from cogtcp import run
from cogtcp.running.runner import Runner
from cogtcp.studies import Context, Point, code, folder
from cogtcp.studies.quantities import bits_per_second

C2, _ = folder.find("c2")
MSWIM, _ = folder.find("mswim09")


def test_rates() -> None:
    assert bits_per_second("15 Mbit/s") == 15e6
    assert bits_per_second("20 bit/s") == 20


def test_a_rise_is_lost_where_the_window_stays_below_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean RTT 80 ms, 1000 B: 1 Mbit/s supports 10 segments, 1.8 Mbit/s 18, of which half are 9."""
    measuring = code.load(MSWIM, "measuring")
    assert measuring is not None
    slot = measuring.Slot
    slots = [
        slot(0, 1, 1.0e6),
        slot(1, 2, 1.8e6),  # a rise of two slots: the window reaches 9 in the second
        slot(2, 3, 1.8e6),
        slot(3, 4, 0.2e6),
        slot(4, 5, 1.8e6),  # a rise of one slot: 8.9 at most
        slot(5, 6, 0.2e6),
        slot(6, 7, 1.0e6),  # half is 5: there from the first
    ]
    monkeypatch.setattr(measuring.Timeline, "of", lambda _: SimpleNamespace(slots=slots))
    windows = {0.5: 3.0, 1.5: 6.0, 2.5: 9.0, 3.5: 2.0, 4.5: 8.9, 5.5: 3.0, 6.5: 6.0}
    result = SimpleNamespace(
        flows=pa.table({"rtt_mean_s": [0.08]}),
        flow_series=pa.table({"time_s": list(windows), "cwnd_segments": list(windows.values())}),
        scenario=SimpleNamespace(to_dict=lambda: {"tcp": {"segment_size": "1000 B"}}),
    )
    assert measuring.measure_opportunities(result) == {"lost_before_half": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("senders", "per_sender", "least"),
    [
        # Packets of a probe stay together: what the radio link carries of data.
        (2, 1.0, 1.0),
        (8, 0.5, 1.0),
        # A wire as fast as the radio link: the packets of another host come between.
        (2, 0.5, 0.5),
    ],
)
def test_the_least_estimate_of_probes(senders: int, per_sender: float, least: float) -> None:
    context = Context(study=C2, seeds=(1,), quick=False, _runner=Runner(None, 1, None))
    point = Point(run="probe", senders=senders, wire_per_sender=per_sender)
    make: Any = code.function(C2, "runs", "scenario")
    scenario = make(context, C2.space.base, point, 1)
    measured = code.function(C2, "runs", "measure_probe")(run(scenario, 1, "series"))
    assert measured["estimates"] == senders
    assert measured["least_estimate"] == pytest.approx(least, rel=0.01)
