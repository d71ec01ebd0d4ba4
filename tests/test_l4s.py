"""L4S: Accurate ECN on both planes, and Prague beside CUBIC over DualPI2 against published measurements."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import RunError, Scenario
from cogtcp.kernel.emulation import emulate, journal
from cogtcp.model.capture import find_point
from cogtcp.model.statistics import mean_interval
from conftest import side_by_side
from test_capture import needs_tshark, tshark
from test_emulation import on_kernel

if TYPE_CHECKING:
    from pathlib import Path

#: Twice 10 ms and 0.2 ms of propagation.
PROPAGATION = 0.0202


Row = dict[str, Any]


def shares(
    first: str, second: str, rate: int, queue: str = '"dualpi2"', seeds: int = 10
) -> list[tuple[Row, Row, Row]]:
    """Return for each seed the rows of two flows over DualPI2 and of the bottleneck, RTT 20 ms."""
    scenario = Scenario.from_toml(f"""
name = "dualpi2"
run = {{ duration = "40 s", warmup = "10 s" }}
[topology.dumbbell]
pairs = 2
access = {{ rate = "1 Gbit/s", delay = "0.05 ms" }}
bottleneck = {{ rate = "{rate} Mbit/s", delay = "10 ms", queue = {queue} }}
[[flow]]
from = "s1"
to = "d1"
{first}
[[flow]]
from = "s2"
to = "d2"
start = "1 s"
{second}
""")
    found = []
    for seed in range(1, seeds + 1):
        result = cogtcp.run(scenario, seed)
        one, two = result.rows("flows")
        links = [row for row in result.rows("links") if row["link"] == "bottleneck"]
        found.append((one, two, next(row for row in links if row["direction"] == "forward")))
    return found


def ratios(rows: list[tuple[Row, Row, Row]]) -> list[float]:
    """Return the first flow's goodput over the second's."""
    return [one["goodput_bps"] / two["goodput_bps"] for one, two, _ in rows]


PRAGUE = 'transport = "prague"'
CUBIC = 'transport = "cubic"'


def test_prague_beside_cubic_over_dualpi2() -> None:
    """Heist and Morton's tests of 2020 (github.com/heistp/l4s-tests, scenario 1, both RTTs 20 ms).

    L4STeam's kernel, 50 Mbit/s, one flow each, in either order: 31.85 and 15.51, 32.39 and 14.94 Mbit/s, that
    is 2.05 and 2.17. The authors of RFC 9332 (arXiv 2209.01078, abstract) have a queue delay of 100 to 300 us
    in the median and below 2 ms at 99 %, no loss for congestion, and a link that is nearly full.
    """
    rows = shares(PRAGUE, CUBIC, 50)
    found = mean_interval(ratios(rows))
    # Within 15 % of their mean, and narrower than the difference from an even share.
    assert found.mean == pytest.approx((2.05 + 2.17) / 2, rel=0.15)
    assert found.high - found.low < 0.4
    for prague, cubic, link in rows:
        # A segment takes 0.24 ms of the link; an ACK for every second one adds some of the next.
        assert 0.0002 < prague["rtt_mean_s"] - PROPAGATION < 0.0012
        assert 0.014 < cubic["rtt_mean_s"] - PROPAGATION < 0.0165
        assert prague["retransmitted_segments"] == 0
        assert link["utilisation"] > 0.99


def test_classic_ecn_of_cubic_changes_nothing_but_its_losses() -> None:
    rows = shares(PRAGUE, CUBIC + "\ntcp = { ecn = true }", 50, seeds=3)
    assert all(1.9 < ratio < 2.5 for ratio in ratios(rows))
    assert [cubic["retransmitted_segments"] for _, cubic, _ in rows] == [0, 0, 0]


def test_a_step_below_the_time_of_a_packet_starves_prague() -> None:
    """At 10 Mbit/s a packet takes 1.2 ms: nearly every one that waits is over the step of 1 ms.

    The same tests as above have 6.01 and 3.23, 5.93 and 3.28 Mbit/s: 1.8. A step of 3 ms, the time
    of more than two packets, gives about this ratio.
    """
    assert all(ratio < 0.6 for ratio in ratios(shares(PRAGUE, CUBIC, 10, seeds=3)))
    rows = shares(PRAGUE, CUBIC, 10, '{ dualpi2 = { step = "3 ms" } }')
    found = mean_interval(ratios(rows))
    assert found.low > 1.5
    assert found.high < 2.5


def dumbbell(rate: int, rtt_ms: float, duration_s: float, transports: list[str]) -> Scenario:
    """Return flows over DualPI2, whose access links have a tenth of the RTT."""
    flows = "".join(
        f'[[flow]]\nfrom = "s{number}"\nto = "d{number}"\ntransport = "{transport}"\n'
        for number, transport in enumerate(transports, 1)
    )
    return Scenario.from_toml(f"""
name = "l4s"
[run]
duration = "{duration_s} s"
warmup = "{duration_s / 3} s"
sample_interval = "{duration_s / 10} s"
[topology.dumbbell]
pairs = {len(transports)}
access = {{ rate = "10 Gbit/s", delay = "{rtt_ms / 40} ms", queue = "100000 packets" }}
bottleneck = {{ rate = "{rate} Mbit/s", delay = "{rtt_ms * 9 / 20} ms", queue = "dualpi2" }}
{flows}
[tcp]
segment_size = "1448 B"
receive_buffer = "200 MB"
""")


@pytest.mark.parametrize("rtt_ms", [2, 20, 80, 200])
@pytest.mark.parametrize("rate", [5, 20, 120, 400, 1000])
def test_prague_alone_fills_its_link_or_grows(rate: int, rtt_ms: int) -> None:
    """Its window never freezes: it fills the link, or grows at its rate until it does.

    The first mark halves the window. From there it grows by a segment per round trip, below 25 ms by
    (RTT / 25 ms)^2: for 5 minutes at 1 Gbit/s and 80 ms. At 5 Mbit/s a packet takes 2.4 ms; the step is 1 ms.
    """
    duration = max(20, 0.4 * rtt_ms)
    result = cogtcp.run(dumbbell(rate, rtt_ms, duration, ["prague"]), 1)
    (flow,) = result.rows("flows")
    # 52 bytes of headers.
    if flow["goodput_bps"] > 0.92 * rate * 1e6 * 1448 / 1500:
        return
    samples = result.flow_series.to_pylist()
    early, late = samples[len(samples) // 2], samples[-1]
    trips = (late["time_s"] - early["time_s"]) / flow["rtt_mean_s"]
    grown = late["cwnd_segments"] - early["cwnd_segments"]
    is_full = late["cwnd_segments"] > 0.93 * rate * 1e6 * rtt_ms * 1e-3 / 8 / 1500
    assert is_full or grown > 0.9 * trips * min(1, (rtt_ms / 25) ** 2)
    assert flow["goodput_bps"] > 0.5 * rate * 1e6


def test_prague_uses_what_its_window_allows() -> None:
    """At 120 Mbit/s and 20 ms: 115.8 Mbit/s of payload are there for one flow, or for two together."""
    (alone,) = cogtcp.run(dumbbell(120, 20, 60, ["prague"]), 1).rows("flows")
    assert alone["goodput_bps"] > 115.5e6
    prague, cubic = cogtcp.run(dumbbell(120, 20, 60, ["prague", "linux-cubic"]), 1).rows("flows")
    assert prague["goodput_bps"] + cubic["goodput_bps"] > 115.5e6
    # Published at 50 Mbit/s: 2.05 and 2.17 (above); the model has 2.5 here.
    assert 1.8 < prague["goodput_bps"] / cubic["goodput_bps"] < 3


@pytest.mark.parametrize(("rtt_ms", "window"), [(5, 0.58), (20, 2.51), (60, 2.64)])
def test_the_share_of_prague_follows_the_coupling(rtt_ms: int, window: float) -> None:
    """CUBIC waits 15 ms more, and each end takes what its law of marks or drops gives: by hand.

    CUBIC's window is 1.22 / p' segments, as Reno's at a drop probability of p'^2. Prague's is `window` / 2p':
    a loop of its rules over random marks of 2 %, apart from this code. The authors' own law, 2 / 2p', leaves
    out that a reduction waits for a mark, and a mark within 25 ms of one for the round trip after. p' is not
    constant: CUBIC is dropped from while it is high, so Prague has some more. With k = 1 it would have twice.
    """
    scenario = dumbbell(120, rtt_ms, 60, ["prague", "linux-cubic"])
    # At 60 ms a minute has few drops: single seeds have 0.8 to 1.2 of it.
    flows = [cogtcp.run(scenario, seed).rows("flows") for seed in (1, 2, 3)]
    share = statistics.fmean(prague["goodput_bps"] / cubic["goodput_bps"] for prague, cubic in flows)
    by_hand = window / 2 / 1.22 * (rtt_ms + 15) / rtt_ms
    assert 0.9 < share / by_hand < 1.7


def test_two_flows_of_prague_share() -> None:
    """Heist and Morton: 23.50 and 23.36 Mbit/s of 50."""
    ((one, two, link),) = shares(PRAGUE, PRAGUE, 40, seeds=1)
    assert one["goodput_bps"] == pytest.approx(two["goodput_bps"], rel=0.1)
    assert link["utilisation"] > 0.98
    assert one["retransmitted_segments"] == two["retransmitted_segments"] == 0


HOP = """
name = "hop"
run = {{ duration = "{duration}" }}
tcp = {{ ecn = {ecn} }}
[topology.single_hop]
link = {{ rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets", mark = "10 packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = "{transport}"
"""


def test_prague_without_accurate_ecn_is_reno_and_says_so() -> None:
    scenario = Scenario.from_toml(HOP.format(duration="5 s", ecn="false", transport="prague"))
    assert any("without Accurate ECN" in warning for warning in scenario.warnings())
    result = cogtcp.run(scenario, 1, "packets")
    # The link marks packets of any sender.
    assert {row["ecn"] for row in result.rows("packets")} == {0, 3}
    quiet = Scenario.from_toml(HOP.format(duration="5 s", ecn='"accurate"', transport="prague"))
    assert not quiet.warnings()
    sent = {row["ecn"] for row in cogtcp.run(quiet, 1, "packets").rows("packets") if row["payload_bytes"]}
    assert sent == {1, 3}


FIELDS = ("tcp.flags", "tcp.len", "ip.dsfield.ecn")


def marks_and_counts(path: Path) -> tuple[list[int], list[int], list[int]]:
    """Return AE, CWR and ECE of the handshake, and the marks that passed and those that ACKs counted."""
    packets = tshark(path, *FIELDS)
    bits = [int(packet["tcp.flags"], 16) >> 6 & 7 for packet in packets]
    marks = [int(packet["ip.dsfield.ecn"] == "3") for packet in packets]
    acks = [ace for ace, packet in zip(bits, packets, strict=True) if packet["tcp.len"] == "0"]
    # The SYN, the SYN-ACK and the ACK of it count nothing.
    counted = [(new - old) % 8 for old, new in pairwise([5, *acks[3:]])]
    return bits[:3], marks, counted


@needs_tshark
def test_tshark_reads_the_count_of_marks(tmp_path: Path) -> None:
    """The SYN offers 111, the SYN-ACK and its ACK say Not-ECT (010); then ACE counts from 5 on."""
    scenario = Scenario.from_toml(HOP.format(duration="4 s", ecn='"accurate"', transport="newreno"))
    result = cogtcp.run(scenario, 1, "packets")
    path = result.write_pcap(tmp_path / "hop.pcapng", "link", node="receiver")
    syn, *_ = tshark(path, "tcp.flags.ae")
    assert syn["tcp.flags.ae"] in ("1", "True")
    # Wireshark takes the three flags for one field once the handshake has agreed.
    assert {packet["tcp.flags.ace"] != "" for packet in tshark(path, "tcp.flags.ace")[3:]} == {True}
    handshake, marks, counted = marks_and_counts(path)
    assert handshake == [7, 2, 2]
    assert sum(marks) > 10
    # The last marks may not be acknowledged yet.
    assert sum(marks) - 2 <= sum(counted) <= sum(marks)


@on_kernel
@needs_tshark
@side_by_side
def test_the_kernel_speaks_accurate_ecn_alike_or_the_run_says_why_not(tmp_path: Path) -> None:
    """Linux 6.18 has the protocol and refuses to negotiate it. One that does counts as the model does."""
    scenario = Scenario.from_toml(HOP.format(duration="3 s", ecn='"accurate"', transport="linux-reno"))
    file = tmp_path / "journal"
    try:
        real = emulate(scenario, journal=file, captures=True)
    except RunError:
        with pytest.raises(RunError, match="does not negotiate Accurate ECN"):
            emulate(scenario)
        return
    path = tmp_path / "kernel.pcapng"
    path.write_bytes(b"".join(journal.capture(file, real, find_point(scenario, "link", "receiver"))))
    handshake, marks, counted = marks_and_counts(path)
    assert handshake == [7, 2, 2]
    assert sum(marks) > 5
    assert sum(marks) - 2 <= sum(counted) <= sum(marks)
