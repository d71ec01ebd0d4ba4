"""ns-2's reference outputs: what they say, and the set-ups of those that are compared.

An output (`tcl/test/test-output-SUITE/TEST.Z` of an ns-2 tree) lists points for a plot: every packet when it
enters the queue of the bottleneck and again when it leaves it, as flow + (number mod wrap) / 100, times with
six digits. ns-2 numbers packets, not bytes; number 0 stands for the SYN. The set-ups are those that
`tcl/test/test-suite-SUITE.tcl` describes.
"""

from __future__ import annotations

import subprocess
from collections import deque
from dataclasses import dataclass
from pathlib import Path as File  # noqa: TC003 - not only for types in the other modules
from typing import Any

from ours import Flow, Path
from sequences import Sent


@dataclass(frozen=True)
class Test:
    """A test of a suite: our scenario of the same set-up."""

    suite: str
    name: str
    control: str
    path: Path
    flows: tuple[Flow, ...]
    until: float
    #: Size of a segment's payload; ns-2 adds 40 bytes of headers, ns-1 none.
    segment: int = 1000
    wrap: int = 90
    #: Number of the first data packet: 1 after a SYN, 0 without one.
    first: int = 1
    fid: tuple[int, ...] = (1,)

    def output(self, tree: File) -> File:
        """Return the file in an ns-2 tree."""
        return tree / "tcl/test" / f"test-output-{self.suite}" / f"{self.name}.Z"


#: What ns-2's TCP agents do and RFCs leave open or say otherwise; every suite builds on it.
NS2 = {
    "initial_window": "2 segments",
    "delayed_ack": "off",
    "min_rto": "1 s",
    "initial_rto": "6 s",
    "max_rto": "1000 s",
    "clock_granularity": "10 ms",
    "window_validation": False,
    "full_ack_window": "ssthresh",
    "newreno_variant": "slow_but_steady",
    "receive_buffer": "10 MB",
    "fast_retransmit_guard": "window",
}
RECOVERIES = ("tahoe", "reno", "newreno", "sack")


def _tcp(window: int, limited: bool, **changes: Any) -> dict[str, Any]:
    settings = {**NS2, "max_window": f"{window} segments", "limited_transmit": limited}
    return {**settings, "parameters": {"byte_counting": False, "whole_segments": True}, **changes}


def _numbers(dropped: str) -> tuple[int, ...]:
    """Turn ns-2's numbers, from 0 with the SYN, into ours: from 1, SYN and ACK ahead of the data."""
    return tuple(int(number) + 2 for number in dropped.split())


def _variants() -> list[Test]:
    """tcpVariants: Fall and Floyd's comparison with one to eight packets of a window lost."""
    cases = {
        "onedrop": "14",
        "twodrops": "14 28",
        "threedrops": "14 26 28",
        "fourdrops": "14 24 26 28",
        "multiple": "11 12 13 14 16 17 18 19",
        "multiple2": "11 12 13 14 16",
    }
    tests = []
    for case, dropped in cases.items():
        for limited in (False, True):
            for recovery in RECOVERIES:
                name = f"{case}{'_SA' if limited else ''}_{recovery}"
                path = Path(drops=_numbers(dropped))
                flow = Flow(recovery, tcp=_tcp(28, limited))
                tests.append(Test("tcpVariants", name, recovery, path, (flow,), 6.0))
    return tests


def _newreno() -> list[Test]:
    """newreno: NewReno's options. Those with a suffix B have what RFC 6582 says."""
    nine, many = "14 15 16 17 18 19 20 21 25", "24 25 26 28 31 35 40 45 46 47 48"
    rfc = {"newreno_variant": "impatient", "full_ack_window": "flight_size"}
    impatient = {"newreno_variant": "impatient"}
    off = {"fast_retransmit_guard": "off"}
    tests = []

    def add(
        name: str, recovery: str, dropped: str, limited: bool, changes: dict[str, Any], **path: Any
    ) -> None:
        window, until = path.pop("window", 28), path.pop("until", 6.0)
        flow = Flow(recovery, tcp=_tcp(window, limited, **changes))
        place = Path(drops=_numbers(dropped), **path)
        tests.append(Test("newreno", name, recovery, place, (flow,), until))

    add("reno", "reno", "14 26 28", True, off)
    add("reno_noLT", "reno", "14 26 28", False, off)
    add("reno1", "reno", nine, True, off)
    add("reno2", "reno", many, True, off)
    add("reno2_noLT", "reno", many, False, off)
    add("reno2_bugfix", "reno", many, True, {})
    add("reno2_bugfix_noLT", "reno", many, False, {})
    add("newreno_B", "newreno", "14 26 28", True, rfc)
    add("newreno_B_noLT", "newreno", "14 26 28", False, rfc)
    add("newreno1_B_BF", "newreno", nine, True, rfc)
    add("newreno2_B_bugfix", "newreno", many, True, rfc)
    # Before RFC 6582 ns-2 did not deflate the window by what a partial ACK acknowledges.
    add("newreno1_BF", "newreno", nine, True, {})
    add("newreno1_A_BF", "newreno", nine, True, impatient)
    add("newreno2_A_bugfix", "newreno", many, True, impatient)
    for number, (dropped, until, window) in {
        1: ("15 16 17 18 19 20 21 22 23 24 25 26 27", 10.0, 16),
        2: ("15 16 17 18 19", 10.0, 16),
        3: ("15 16 17 18 19 22 27", 10.0, 16),
        4: (" ".join(map(str, range(30, 56))), 20.0, 32),
    }.items():
        for name, variant in (("impatient", "impatient"), ("slow", "slow_but_steady")):
            settings = {"newreno_variant": variant}
            place = {"delay": "200 ms", "window": window, "until": until}
            add(f"{name}{number}", "newreno", dropped, True, settings, **place)
    return tests


def _sack() -> list[Test]:
    """sack: a queue that overflows, one flow and two."""
    tests = []
    for name, window, start in (
        ("sack1", 14, 1.0),
        ("sack1a", 20, 0.0),
        ("sack1b", 26, 0.0),
        ("sack1c", 27, 0.0),
    ):
        tcp = {**_tcp(window, True), "initial_rto": "3 s", "parameters": {"byte_counting": False}}
        flow = Flow("sack", start=start, tcp=tcp)
        path = Path(access_delay=("5 ms",), queue=5)
        tests.append(Test("sack", name, "sack", path, (flow,), 5.0, fid=(0,)))
    return tests


def _vegas() -> list[Test]:
    """vegas-v1: Vegas of ns-1, to the first loss, from where its maxcwnd_ has no counterpart here.

    The hop between its two routers is left out, so a round trip is 1.04 ms shorter here.
    """
    path = Path(access_delay=("0.1 ms",), queue=5)
    tcp = {**_tcp(28, False), "initial_window": "1 segment", "parameters": {}}
    del tcp["full_ack_window"], tcp["newreno_variant"]
    flow = Flow("vegas-ns2", tcp={**tcp, "max_window": "14 segments"})
    return [
        Test("vegas-v1", "one_14", "vegas-ns2", path, (flow,), 3.1, segment=960, wrap=100, first=0, fid=(0,))
    ]


TESTS = [*_variants(), *_newreno(), *_sack(), *_vegas()]


def read(test: Test, tree: File) -> list[list[Sent]]:
    """Read the data packets of each flow as they entered the bottleneck's queue."""
    text = subprocess.run(  # noqa: S603 - a file of the caller's tree
        ["gzip", "-dc", str(test.output(tree))],  # noqa: S607 - it reads what compress wrote
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    points, drops = _points(text)
    arrivals = _arrivals(points, drops, test)
    return [_numbered([(t, n) for t, flow, n in arrivals if flow == fid], test) for fid in test.fid]


def _points(text: str) -> tuple[list[tuple[float, float]], set[tuple[float, float]]]:
    """Return the points of the first list of packets and of the first list of drops."""
    lists: dict[str, list[tuple[float, float]]] = {}
    current: list[tuple[float, float]] | None = None
    for line in text.splitlines():
        if line.startswith('"'):
            name = line[1:]
            current = None if name in lists else lists.setdefault(name, [])
        elif current is not None and line:
            time, value = line.split()
            current.append((float(time), float(value)))
    return lists.get("packets", []), set(lists.get("drops", []))


def _arrivals(
    points: list[tuple[float, float]], drops: set[tuple[float, float]], test: Test
) -> list[tuple[float, int, int]]:
    """Tell the points at which packets enter from those at which they leave, by playing the queue."""
    per_byte = 8 / _bits_per_second(test.path.rate)
    waiting: deque[tuple[float, float, int]] = deque()  # entered, value, number
    free, found = 0.0, []
    for time, value in points:
        digits = 6e-6 if time < 10 else 6e-5
        flow, number = _split(value, test)
        if waiting:
            entered, head, _ = waiting[0]
            if head == value and abs(max(entered, free) - time) < 4 * digits:
                waiting.popleft()
                syn = test.first == 1 and len(found) <= len(test.fid) and number == 0
                free = time + per_byte * (40 if syn else test.segment + 40)
                continue
        found.append((time, flow, number))
        if (time, value) not in drops:
            waiting.append((time, value, number))
    return found


def _split(value: float, test: Test) -> tuple[int, int]:
    if test.suite == "vegas-v1":
        step = test.wrap + 10
        return int(value) // step, int(value) % step
    flow = int(value + 1e-9)
    return flow, round((value - flow) * 100)


def _numbered(arrivals: list[tuple[float, int]], test: Test) -> list[Sent]:
    """Undoes the wrap of the numbers; the first data packet is 1."""
    sent, highest = [], 0
    for time, wrapped in arrivals:
        number = highest + (wrapped - highest + test.wrap // 2) % test.wrap - test.wrap // 2
        highest = max(highest, number)
        if number >= test.first:
            sent.append(Sent(time, number + 1 - test.first))
    return sent


def _bits_per_second(rate: str) -> float:
    number, unit = rate.split()
    return float(number) * {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6}[unit]
