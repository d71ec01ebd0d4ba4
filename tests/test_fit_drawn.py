"""Logs that hypothesis draws: each program's log gives back what was lost, and no bytes do harm."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogtcp import CogtcpError
from cogtcp.data.fitting import iperf3, irtt, logs, pings, sigmf, sweeps, throughput
from cogtcp.data.fitting.probes import Counts, Probe, Probes
from cogtcp.data.fitting.probing import of_probes
from cogtcp.data.fitting.quantity import Bounded, Measured
from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Examples of each test: each log is read in a millisecond.
EXAMPLES = 60

#: A request that was answered has its round-trip time in ms.
REQUESTS = st.lists(st.none() | st.integers(2, 900), min_size=3, max_size=80).filter(
    lambda each: any(rtt is not None for rtt in each)
)


def unix(first: int, key: str, head: str, received: str) -> Callable[[list[int | None]], str]:
    """Return how a Unix ping writes requests: number of the first, key, header, word after replies."""

    def written(requests: list[int | None]) -> str:
        lines = [head]
        for number, rtt in enumerate(requests, start=first):
            if rtt is not None:
                lines.append(f"64 bytes from 192.0.2.1: {key}={number} ttl=54 time={rtt}.0 ms")
        sent, got = len(requests), sum(rtt is not None for rtt in requests)
        lines += ["", "--- 192.0.2.1 ping statistics ---"]
        return "\n".join([*lines, f"{sent} packets transmitted, {got} {received}, 3% packet loss", ""])

    return written


def windows(requests: list[int | None]) -> str:
    lines = ["", "Pinging 192.0.2.1 with 32 bytes of data:"]
    for rtt in requests:
        lines.append(
            "Request timed out." if rtt is None else f"Reply from 192.0.2.1: bytes=32 time={rtt}ms TTL=54"
        )
    sent, got = len(requests), sum(rtt is not None for rtt in requests)
    lines += ["", "Ping statistics for 192.0.2.1:"]
    lines += [f"    Packets: Sent = {sent}, Received = {got}, Lost = {sent - got} (1% loss),"]
    return "\r\n".join([*lines, "Approximate round trip times in milli-seconds:", "    Minimum = 1ms", ""])


def fping(requests: list[int | None]) -> str:
    return "".join(
        f"192.0.2.1 : [{number}], timed out (1.0 avg, 2% loss)\n"
        if rtt is None
        else f"192.0.2.1 : [{number}], 64 bytes, {rtt}.0 ms (1.0 avg, 2% loss)\n"
        for number, rtt in enumerate(requests)
    )


PROGRAMS = {
    "iputils": unix(1, "icmp_seq", "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.", "received"),
    "busybox": unix(0, "seq", "PING 192.0.2.1 (192.0.2.1): 56 data bytes", "packets received"),
    "BSD": unix(0, "icmp_seq", "PING 192.0.2.1 (192.0.2.1): 56 data bytes", "packets received"),
    "Windows": windows,
    "fping": fping,
}


@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(requests=REQUESTS)
def test_every_request_keeps_its_fate(program: str, requests: list[int | None]) -> None:
    found = pings.read(PROGRAMS[program](requests), program)
    assert isinstance(found, Probes)
    read = [None if probe.lost else round(probe.rtt * 1000) for probe in found.requests]
    # The last request alone may still have been on its way.
    if requests[-1] is None and requests[-2] is not None:
        requests = requests[:-1]
    assert read == requests


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests=REQUESTS)
def test_irtt_gives_back_what_was_lost(requests: list[int | None]) -> None:
    trips = [
        {
            "lost": "true" if rtt is None else "false",
            "timestamps": {"client": {"send": {"monotonic": number * 20_000_000}}},
            "delay": {} if rtt is None else {"rtt": rtt * 1_000_000},
        }
        for number, rtt in enumerate(requests)
    ]
    found = irtt.read({"round_trips": trips}, "irtt.json")
    assert [None if probe.lost else round(probe.rtt * 1000) for probe in found.requests] == requests
    assert found.interval == pytest.approx(0.02)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    before=st.integers(5, 60),
    lost=st.integers(0, 60),
    after=st.integers(0, 60),
    interval=st.sampled_from([0.01, 0.2, 1.0]),
)
def test_a_silence_has_its_length_and_the_rest_no_loss(
    before: int, lost: int, after: int, interval: float
) -> None:
    requests = [
        Probe(n * interval, math.nan if before <= n < before + lost else 0.04)
        for n in range(before + lost + after)
    ]
    said = of_probes(Probes(requests, interval, 1e-4))
    assert isinstance(said.loss, Measured)
    assert 0 <= said.loss.low <= said.loss.value <= said.loss.high <= 1
    if said.silences is None:
        # Too short to be no chance: then it counts as loss.
        assert said.loss.value == pytest.approx(lost / len(requests))
        assert lost < 8
        return
    assert said.loss.value == 0
    if after:
        assert isinstance(said.silence, Measured)
        assert said.silence.low == pytest.approx((lost - 1) * interval)
        assert said.silence.high == pytest.approx((lost + 1) * interval)
    else:
        assert isinstance(said.silence, Bounded)
        assert said.silence.at_least == pytest.approx((lost - 1) * interval)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    received=st.floats(1e3, 1e10),
    least=st.floats(1e-4, 1.0),
    inflated=st.floats(1.0, 20.0),
    target=st.sampled_from([0.0, 1e6]),
)
def test_a_capacity_is_never_below_what_arrived(
    received: float, least: float, inflated: float, target: float
) -> None:
    test = iperf3.Transfer(udp=False, received=received, rtts=[least, least * inflated, least * inflated])
    test.rates, test.limit = [received] * 6, target
    said = throughput.capacity(test)
    low = said.low if isinstance(said, Measured) else said.at_least if isinstance(said, Bounded) else None
    assert low is not None
    assert low == pytest.approx(received * 1500 / 1448)
    if inflated < 1.2 or (target and received >= target):
        assert isinstance(said, Bounded)


@settings(max_examples=EXAMPLES, deadline=None)
@given(text=st.text(max_size=200))
@pytest.mark.parametrize(
    "head", ["", "PING 192.0.2.1", '{"event":"start"}\n', "64 bytes from a: icmp_seq=1 "]
)
def test_no_text_does_harm(head: str, text: str) -> None:
    with suppress(CogtcpError):
        logs.text_log(head + text, "some.log")


def edited(value: object, draw: Callable[[st.SearchStrategy[object]], object]) -> object:
    """Return a JSON value with one part replaced by something else."""
    odd: st.SearchStrategy[object] = (
        st.none() | st.integers(-5, 5) | st.text(max_size=3) | st.just([]) | st.just({})
    )
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: edited(value[key], draw)}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        place = draw(st.integers(0, len(value) - 1))
        return [edited(each, draw) if n == place else each for n, each in enumerate(value)]
    return draw(odd)


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize(
    "name",
    [
        "logs/iperf3-bidir.json",
        "logs/iperf3-udp-server.json",
        "logs/irtt.json",
        "cases/sigmf-offset.sigmf-meta",
    ],
)
def test_a_document_with_one_part_wrong_does_no_harm(name: str, data: st.DataObject) -> None:
    file: Path = ROOT / "tests" / "data" / name
    changed = edited(json.loads(file.read_text()), data.draw)
    try:
        if sigmf.is_meta(changed):
            sigmf.occupancy(changed, file)  # type: ignore[arg-type]
            return
        found = logs.document(changed, file.name)
        if isinstance(found, Probes):
            of_probes(found)
        elif not isinstance(found, Counts):
            throughput.capacity(found)
            throughput.loss(found)
            throughput.delay([found])
    except CogtcpError:
        pass


@settings(max_examples=EXAMPLES, deadline=None)
@given(text=st.text(alphabet="0123456789-:., na\n", max_size=300))
def test_no_sweep_does_harm(text: str) -> None:
    line = "2024-01-01, 00:00:00, 24000000, 25000000, 500000.00, 1, -54.10, -74.20\n"
    with suppress(CogtcpError):
        sweeps.occupancy(line + text, "sweep.csv", -60)
