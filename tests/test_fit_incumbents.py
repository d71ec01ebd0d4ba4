"""From a capture over a CBRS link to a decision: fit finds the incumbents, the better TCP stays better."""

from __future__ import annotations

import math
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp.data.fitting.connections import connections
from cogtcp.data.fitting.packets import ACK, Packet

if TYPE_CHECKING:
    from pathlib import Path

    from cogtcp.data.fitting.connections import Sent

#: The starter `cbrs` with incumbents of seconds, on one channel that the radio leaves.
_CHANGES: dict[str, Any] = {
    "run.duration": "120 s",
    "topology.single_hop.link.rate": "5 Mbit/s",
    "topology.single_hop.link.queue": "60 packets",
    "spectrum.bands": 1,
    "spectrum.channels.uniform": "5 Mbit/s",
    "spectrum.pu.laws.on": {"exponential": "3 s"},
    "spectrum.pu.laws.off": {"exponential": "6 s"},
    "radio.0.cr.regulation.cbrs.heartbeat": "100 ms",
    "radio.0.cr.regulation.cbrs.stop": "1 ms",
    "radio.0.cr.regulation.cbrs.answer": "1 ms",
    "radio.0.cr.regulation.cbrs.dpa": "suspend",
}


def _link(silence: str) -> cogtcp.Scenario:
    text = resources.files("cogtcp").joinpath("scenarios/cbrs.toml").read_text("utf-8")
    scenario = cogtcp.Scenario.from_toml(text, file="cbrs.toml")
    for path, value in {**_CHANGES, "radio.0.silence": silence}.items():
        scenario = scenario.set(path, value)
    return scenario


def _goodput(scenario: cogtcp.Scenario, transport: str) -> float:
    chosen = scenario.with_transport(transport).set("run.duration", "120 s")
    return math.fsum(cogtcp.run(chosen, seed, "summary").metrics["goodput_bps"] for seed in range(1, 9)) / 8


@pytest.mark.parametrize("silence", ["hold", "drop"])
def test_incumbents_are_found_and_the_better_tcp_stays_better(tmp_path: Path, silence: str) -> None:
    truth = _link(silence)
    result = cogtcp.run(truth, 1, "packets")
    file = tmp_path / "cbrs.pcapng"
    result.write_pcap(file, link="link", node="sender")
    found = cogtcp.fit(file, name="cbrs", held_out=0)
    assert found.link is not None
    silences = found.link.silences
    assert silences is not None
    assert silences.mode == silence
    # 13 incumbents came; where packets are lost TCP's timer waits through short pauses between two.
    assert 10 <= len(silences.gaps) <= 13
    assert silences.low <= 3.0 <= silences.high
    assert "pu = { laws" in found.toml
    assert "Silences of seconds at irregular times: incumbents" in found.toml
    opened = next(each for each in found.estimates if each.name == "open")
    assert opened.low <= 6.0 <= opened.high
    if silence == "drop":
        # BBR waits longest for what a silence destroyed: so it is on the true link, and on the fitted one.
        for scenario in (truth, found.scenario):
            assert _goodput(scenario, "linux-cubic") > _goodput(scenario, "linux-bbr")
    # The scenario of the whole path, held-out part and ranges included, does not name the worse one.
    checked = cogtcp.fit(file, name="cbrs")
    assert not checked.doubt
    advice = cogtcp.advise(
        checked.scenario, transports=["linux-cubic", "linux-bbr"], uncertain=checked.ranges, budget="80 runs"
    )
    assert advice.winner is not None
    assert advice.winner.transport == "linux-cubic"


def _transfer(duplicate: bool) -> list[Sent]:
    """Return the packet of 1 s and its copy of 2 s: an ACK of 3 s echoes the first stamp."""

    def packet(time: float, sends: bool, seq: int, ack: int, payload: int, *sack: tuple[int, int]) -> Packet:
        # A stamp is the time of sending in ms; the ACK of 3 s echoes the stamp of 1 s.
        mine, echo = int(time * 1000), {3.0: 1000}.get(time, int(time * 1000) - 40)
        return Packet(
            time, (1, sends), (1, not sends), seq, ack, ACK, payload, payload + 52, sack, mine, echo, 0,
            65535, None,
        )  # fmt: skip

    packets = []
    for n in range(40):
        packets += [
            packet(n / 100, True, n * 1000, 0, 1000),
            packet(n / 100 + 0.04, False, 0, n * 1000 + 1000, 0),
        ]
    packets += [packet(1.0, True, 40_000, 0, 1000), packet(2.0, True, 40_000, 0, 1000)]
    packets += [packet(3.0, False, 0, 41_000, 0, *([(40_000, 41_000)] if duplicate else []))]
    # The receiver tells duplicates elsewhere: what it does not tell did not come twice.
    packets += [packet(3.1, True, 41_000, 0, 1000), packet(3.14, False, 0, 42_000, 0, (41_000, 42_000))]
    found = connections(sorted(packets, key=lambda each: each.time), side="sender")[0]
    return [sent for sent in found.data if sent.seq == 40_000]


def test_the_echoed_stamp_tells_the_copy_that_arrived() -> None:
    first, second = _transfer(duplicate=False)
    assert first.answered == 3.0
    assert second.lost


def test_a_duplicate_in_a_sack_block_arrived_too() -> None:
    first, second = _transfer(duplicate=True)
    assert (first.answered, second.answered) == (3.0, 3.0)
