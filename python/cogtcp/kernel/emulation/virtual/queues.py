"""Queue disciplines of Linux in a guest: two hosts and a router of its kernel, and iperf3 between them.

The same program over a link of the emulator with our discipline of that name is what it is compared with
(`benches/kernel_queues.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.emulation.virtual.launch import Task, run_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.kernel.emulation.virtual.kernels import Kernel

#: Packets that wait for the round trip.
_MANY = 100_000


def measure(
    discipline: Sequence[str],
    kernel: Kernel,
    *,
    rate_bps: float = 1e7,
    rtt_s: float = 0.04,
    duration_s: int = 20,
    flows: int = 1,
    control: str = "cubic",
    seed: int = 1,
) -> dict[str, Any]:
    """Run iperf3 through a router with this discipline; return what iperf3 and `tc` say.

    Args:
        discipline: Words of `tc qdisc add ...`, such as ["codel", "limit", "1000"].
        kernel: The kernel.
        rate_bps: Rate of the router's link, bit/s.
        rtt_s: Round-trip time without queues, s.
        duration_s: Duration, s.
        flows: Number of flows.
        control: Their congestion control.
        seed: Seed of the kernel's random numbers.

    Raises:
        RunError: A program failed, or is not there.
    """
    job = {
        "discipline": list(discipline),
        "rate": rate_bps,
        "rtt": rtt_s,
        "duration": duration_s,
        "flows": flows,
        "control": control,
    }
    task = Task(__name__, json.dumps(job).encode(), seed, is_closed=True)
    document: dict[str, Any] = json.loads(run_task(task, kernel, quiet=True))
    return document


def work(asked: int, answered: int) -> None:
    """Do that in the guest."""
    with os.fdopen(asked, "rb") as stream:
        job = json.load(stream)
    for host in ("a", "r", "b"):
        _call("ip", "netns", "add", host)
        _call("ip", "-n", host, "link", "set", "lo", "up")
    for host, near, far, net in (("a", "a0", "ra", 1), ("b", "b0", "rb", 2)):
        _call("ip", "link", "add", near, "netns", host, "type", "veth", "peer", "name", far, "netns", "r")
        # One packet a segment, as on a wire.
        _call("ip", "-n", host, "link", "set", near, "gso_max_segs", "1", "up")
        _call("ip", "-n", host, "addr", "add", f"10.0.{net}.2/24", "dev", near)
        _call("ip", "-n", "r", "addr", "add", f"10.0.{net}.1/24", "dev", far)
        _call("ip", "-n", "r", "link", "set", far, "up")
        _call("ip", "-n", host, "route", "add", "default", "via", f"10.0.{net}.1")
    _call("ip", "netns", "exec", "r", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    # Ethernet's header counts in the rate of htb, and not in ours.
    rate = str(round(job["rate"] * 1514 / 1500))
    shape = ("htb", "rate", rate, "burst", "1514", "cburst", "1514")
    _call("tc", "-n", "r", "qdisc", "add", "dev", "rb", "root", "handle", "1:", "htb", "default", "1")
    _call("tc", "-n", "r", "class", "add", "dev", "rb", "parent", "1:", "classid", "1:1", *shape)
    _call("tc", "-n", "r", "qdisc", "add", "dev", "rb", "parent", "1:1", "handle", "2:", *job["discipline"])
    # All of the delay on the way of the ACKs: on the other way it would hold back the sender.
    delay = f"{job['rtt'] * 1e3:g}ms"
    _call("tc", "-n", "b", "qdisc", "add", "dev", "b0", "root", "netem", "delay", delay, "limit", str(_MANY))
    server = subprocess.Popen(
        ["ip", "netns", "exec", "b", "iperf3", "-s", "-1"],  # noqa: S607
        stdout=subprocess.DEVNULL,
    )
    flows = ("-t", str(job["duration"]), "-P", str(job["flows"]), "-C", job["control"])
    said = _call(
        "ip", "netns", "exec", "a", "sh", "-c", f"sleep 1; exec iperf3 -c 10.0.2.2 -J {' '.join(flows)}"
    )
    server.wait()
    counted = _call("tc", "-n", "r", "-s", "-d", "-j", "qdisc", "show", "dev", "rb")
    answer = {"iperf3": json.loads(said), "tc": json.loads(counted)}
    with os.fdopen(answered, "wb") as stream:
        stream.write(json.dumps(answer).encode())


def _call(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout
