"""ns-2 itself, for set-ups of our own: its trace of the bottleneck, packet by packet."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from ours import Flow, Path
from sequences import Sent

LIVE = File(__file__).with_name("live.tcl")


@dataclass(frozen=True)
class Test:
    """A set-up: ns-2's agent and ours over the same path."""

    name: str
    agent: str
    sink: str
    path: Path
    flow: Flow
    window: int
    until: float
    #: Numbers from 0 of packets lost before the queue of the bottleneck.
    drops: tuple[int, ...] = ()
    control: str = "-"
    settings: tuple[str, ...] = ()
    #: Number of ns-2's first packet that is data, and the payload of a segment.
    first: int = 1
    segment: int = 1000


def run(test: Test, ns: str) -> tuple[list[Sent], int]:
    """Run ns-2: the data packets as they enter the bottleneck's queue, and the timeouts."""
    with tempfile.TemporaryDirectory() as folder:
        trace = File(folder) / "trace"
        path = test.path
        command = [ns, str(LIVE), test.agent, test.sink, test.control]
        command += [_ns(path.access_rate), _ns(path.access_delay[0]), _ns(path.rate), _ns(path.delay)]
        command += [str(path.queue + 1), str(test.window), " ".join(map(str, test.drops))]
        command += [str(test.until), str(trace), *test.settings]
        done = subprocess.run(  # noqa: S603 - what the caller named
            command, capture_output=True, check=True, text=True, timeout=120
        )
        lines = [line.split() for line in trace.read_text().splitlines()]
        # A packet lost by its number is traced as it would enter the queue; ours never comes that far.
        listed = {line[11] for line in lines if line[0] == "d"} if test.drops else set()
        sent = [
            Sent(float(time), int(number) + 1 - test.first)
            for event, time, _, _, kind, _, _, _, _, _, number, identity in lines
            if event == "+" and kind == "tcp" and int(number) >= test.first and identity not in listed
        ]
    timeouts = next(line for line in done.stdout.splitlines() if line.startswith("timeouts"))
    return sent, int(float(timeouts.split()[1]))


def _ns(quantity: str) -> str:
    number, unit = quantity.split()
    return number + {"bit/s": "b", "kbit/s": "kb", "Mbit/s": "Mb", "ms": "ms", "us": "us"}[unit]


def _tcp(window: int, **changes: Any) -> dict[str, Any]:
    settings = {
        "initial_window": "2 segments",
        "delayed_ack": "off",
        "min_rto": "1 s",
        "initial_rto": "3 s",
        "max_rto": "1000 s",
        "clock_granularity": "10 ms",
        "window_validation": False,
        "receive_buffer": "100 MB",
        "fast_retransmit_guard": "window",
        "max_window": f"{window} segments",
        "parameters": {"byte_counting": False, "whole_segments": True},
    }
    return {**settings, **changes}


def _classic() -> list[Test]:
    """List the set-ups of the Reno family: lists of drops, then a queue that overflows."""
    agents = {
        "tahoe": ("TCP", "TCPSink", ()),
        "reno": ("TCP/Reno", "TCPSink", ()),
        "newreno": ("TCP/Newreno", "TCPSink", ("exit_recovery_fix_=1", "newreno_changes1_=0")),
        "sack": ("TCP/Sack1", "TCPSink/Sack1", ()),
    }
    cases = {
        "no drop": ((), 99, 28, 20.0, False),
        "1 drop": ((14,), 99, 28, 20.0, False),
        "2 drops": ((14, 28), 99, 28, 20.0, False),
        "4 drops": ((14, 24, 26, 28), 99, 28, 20.0, False),
        "8 drops": ((11, 12, 13, 14, 16, 17, 18, 19), 99, 28, 20.0, False),
        "overflow": ((), 19, 1000, 60.0, False),
        "4 drops, LT": ((14, 24, 26, 28), 99, 28, 20.0, True),
        "overflow, LT": ((), 19, 1000, 60.0, True),
    }
    tests = []
    for case, (drops, queue, window, until, limited) in cases.items():
        for transport, (agent, sink, settings) in agents.items():
            path = Path(queue=queue, drops=tuple(number + 2 for number in drops))
            changes = {"recovery_rules": "ns2", "timeout_rules": "ns2"}
            changes |= {"newreno_variant": "slow_but_steady"} if transport == "newreno" else {}
            flow = Flow(transport, tcp=_tcp(window, limited_transmit=limited, **changes))
            both = ("minrto_=1", f"singledup_={int(limited)}")
            name = f"{transport}, {case}"
            tests.append(
                Test(name, agent, sink, path, flow, window, until, drops, settings=(*settings, *both))
            )
    return tests


def _vegas() -> list[Test]:
    """List those of Vegas.

    ns-2 gives its packets no headers, and its SYN is as large as data and counts as the first of it.
    """
    tests = []
    for case, (drops, queue, window, until) in {
        "no drop": ((), 99, 28, 20.0),
        "1 drop": ((14,), 99, 28, 20.0),
        "2 drops": ((14, 28), 99, 28, 20.0),
        "4 drops": ((14, 24, 26, 28), 99, 28, 20.0),
        "8 drops": ((11, 12, 13, 14, 16, 17, 18, 19), 99, 28, 20.0),
        "queue of 20": ((), 19, 1000, 60.0),
        "queue of 3": ((), 2, 1000, 60.0),
    }.items():
        path = Path(queue=queue, drops=tuple(number + 3 for number in drops))
        tcp = {key: value for key, value in _tcp(window).items() if key != "parameters"}
        flow = Flow(
            "vegas-ns2",
            tcp={
                **tcp,
                "initial_window": "1 segment",
                "full_ack_window": "ssthresh",
                "limited_transmit": False,
            },
        )
        tests.append(
            Test(
                f"vegas-ns2, {case}",
                "TCP/Vegas",
                "TCPSink",
                path,
                flow,
                window,
                until,
                drops,
                settings=("minrto_=1", "windowInit_=1"),
                first=0,
                segment=960,
            )
        )
    return tests


def _linux() -> list[Test]:
    """List those of the modules of Linux 2.6 in ns-2's TCP/Linux.

    Their timestamps take 10 bytes (ours: 12), and the SYN is the first of the window of 2.
    """
    tests = []
    for module, transport in {
        "reno": "sack",
        "cubic": "cubic",
        "westwood": "westwood",
        "vegas": "vegas",
        "compound": "compound",
    }.items():
        tcp = {key: value for key, value in _tcp(1000).items() if key != "parameters"}
        tcp |= {"timestamps": True, "rtt_sampling": "every_ack", "min_rto": "200 ms", "recovery": "sack"}
        flow = Flow(transport, tcp=tcp)
        tests.append(
            Test(
                f"linux {module}, overflow",
                "TCP/Linux",
                "TCPSink/Sack1",
                Path(queue=19),
                flow,
                1000,
                60.0,
                control=module,
                first=0,
                segment=998,
            )
        )
    return tests


TESTS = [*_classic(), *_vegas(), *_linux()]
