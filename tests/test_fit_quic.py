"""What `cogtcp fit` says of QUIC: captures of quinn in the simulator, at both ends, over known links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp.data.fitting.packets import Datagram
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown
from cogtcp.data.fitting.quic import connections

if TYPE_CHECKING:
    from pathlib import Path

_LINK = """\
name = "quic"
[run]
duration = "8 s"
[topology.single_hop]
link = {{ rate = "{rate} bit/s", delay = "{delay} ms", queue = "60 packets", loss = 0 }}
[[flow]]
from = "sender"
to = "receiver"
transport = "{transport}"
"""


@pytest.mark.parametrize(
    ("transport", "rate", "delay"),
    [("quic", 5_000_000, 20), ("quic-cubic", 2_000_000, 60), ("quic-cubic", 20_000_000, 10)],
)
@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_quic_tells_end_and_delay_and_no_more_than_it_can(
    tmp_path: Path, transport: str, rate: int, delay: int, end: str
) -> None:
    text = _LINK.format(rate=rate, delay=delay, transport=transport)
    result = cogtcp.run(cogtcp.Scenario.from_toml(text, file="quic.toml"), 1, "packets")
    file = tmp_path / "quic.pcapng"
    result.write_pcap(file, link="link", node=end)
    found = cogtcp.fit(file, held_out=0)
    assert found.link is not None
    assert found.link.side == end
    by_name = {each.name: each.quantity for each in found.estimates}
    seen = by_name["delay"]
    assert isinstance(seen, Measured)
    assert seen.low <= delay / 1000 <= seen.high
    capacity = by_name["capacity"]
    if end == "sender":
        assert isinstance(capacity, Unknown)
    elif isinstance(capacity, Bounded):
        assert capacity.at_least is not None
        assert capacity.at_least <= rate
    else:
        assert isinstance(capacity, Measured)
        assert capacity.low <= rate <= capacity.high
    assert all(isinstance(by_name[name], Unknown) for name in ("queue", "loss"))


def _datagrams(second: float, third: float) -> list[Datagram]:
    found = [
        Datagram(0.0, 1, True, 0xC3, 1200, 1228),
        Datagram(second, 1, False, 0xC1, 1200, 1228),
        Datagram(second + third, 1, True, 0xE1, 100, 128),
    ]
    return [*found, *(Datagram(1 + n * 0.001, 1, True, 0x41, 1200, 1228) for n in range(100))]


def test_a_slow_handshake_at_both_legs_is_a_bound() -> None:
    from cogtcp.data.fitting.link import fit_link

    fast, slow = connections(_datagrams(0.04, 0.0))[0], connections(_datagrams(0.04, 0.03))[0]
    assert (fast.side, fast.opened, fast.handshake_s) == ("sender", True, 0.04)
    assert (slow.opened, slow.handshake_s) == (False, pytest.approx(0.07))
    assert fit_link([fast]).delay.known
    bound = fit_link([slow]).delay.bound
    assert bound is not None
    assert bound.at_most == pytest.approx(0.035)
