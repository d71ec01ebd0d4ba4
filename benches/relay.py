"""A link in user space that shares no code with cogtcp: the peer by which `cogtcp fit` is judged.

Runs as root. Three network namespaces, `sender` - `middle` - `receiver`; `middle` forwards into a TUN device
whose packets this process holds for the delay, loses or queues, and writes to the receiver's TUN device. With
`shaper = tbf` the kernel's token bucket is the bottleneck, and this process only delays.

    python benches/relay.py LINK.json FOLDER

LINK.json has the keys of `DEFAULTS`. FOLDER gets `sender.pcap`, `receiver.pcap` (headers) and `load.json`.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

_SETNS_NET, _TUNSETIFF, _IFF_TUN_NO_PI = 0x40000000, 0x400454CA, 0x1001

DEFAULTS: dict[str, Any] = {
    "rate": 10e6,  # bit/s; 0 for no bottleneck
    "rates": [],  # [[from_s, bit/s], ...] in place of rate
    "repeat": 0.0,  # s after which `rates` begins again
    "delay": 0.025,  # s each way
    "queue": 60,  # packets
    "codel": False,  # RFC 8289 with its defaults, in front of the queue's limit
    "loss": 0.0,  # of data
    "batch": 0.0,  # s between deliveries of data; 0 for none
    "outages": [],  # [[from_s, to_s], ...]: both directions lose all
    "shaper": "relay",  # or tbf
    "seed": 1,
    "control": "cubic",
    "timestamps": True,
    "offload": False,  # TSO and GRO in the hosts
    "seconds": 15,
    "load": [],  # further arguments of iperf3's client
    "window": 0,  # bytes of the receiver's buffer
    "ping": False,
}


class Direction:
    """One direction: a queue served at a rate, then a delay."""

    def __init__(self, link: dict[str, Any], out: int, *, data: bool) -> None:
        """Begin with an empty queue."""
        self.link, self.out, self.data = link, out, data
        self.waiting: deque[tuple[float, bytes]] = deque()
        self.bytes_waiting = 0
        self.free = 0.0
        self.flying: list[tuple[float, int, bytes]] = []
        self.count = 0
        self.chance = random.Random(link["seed"])  # noqa: S311 (no secret)
        self.start = time.monotonic()
        self.above: float | None = None
        self.dropping, self.drops, self.next_drop = False, 0, 0.0

    def rate(self, now: float) -> float:
        """Return the rate at a time, bit/s."""
        if not self.data or self.link["shaper"] == "tbf":
            return 0.0
        rates = self.link["rates"]
        if not rates:
            return float(self.link["rate"])
        at = now - self.start
        if self.link["repeat"]:
            at %= self.link["repeat"]
        found = rates[0][1]
        for begins, rate in rates:
            if begins > at:
                break
            found = rate
        return float(found)

    def offer(self, now: float, packet: bytes) -> None:
        """Take a packet that arrived at the link."""
        if self.rate(now) <= 0:
            self._fly(now, packet)
            return
        if len(self.waiting) >= self.link["queue"]:
            return
        self.waiting.append((now, packet))

    def _fly(self, now: float, packet: bytes) -> None:
        at = now - self.start
        if any(begins <= at < ends for begins, ends in self.link["outages"]):
            return
        if self.data and self.chance.random() < self.link["loss"]:
            return
        due = now + self.link["delay"]
        if self.data and self.link["batch"]:
            due = (due // self.link["batch"] + 1) * self.link["batch"]
        self.count += 1
        heapq.heappush(self.flying, (due, self.count, packet))

    def _codel(self, now: float, waited: float) -> bool:
        """Return whether CoDel drops the head (RFC 8289, target 5 ms, interval 100 ms)."""
        if waited < 0.005 or len(self.waiting) <= 1:
            self.above, self.dropping = None, False
            return False
        if self.above is None:
            self.above = now + 0.1
        if now < self.above:
            return False
        if not self.dropping:
            self.dropping = True
            recent = now - self.next_drop < 0.1 * 16
            self.drops = self.drops - 2 if recent and self.drops > 2 else 1
            self.next_drop = now + 0.1 / self.drops**0.5
            return True
        if now >= self.next_drop:
            self.drops += 1
            self.next_drop += 0.1 / self.drops**0.5
            return True
        return False

    def advance(self, now: float) -> float:
        """Move what is due; return the next time."""
        following = float("inf")
        while self.waiting:
            arrived, packet = self.waiting[0]
            starts = max(self.free, arrived)
            if starts > now:
                following = starts
                break
            self.waiting.popleft()
            if self.link["codel"] and self._codel(starts, starts - arrived):
                continue
            self.free = starts + len(packet) * 8 / self.rate(starts)
            self._fly(self.free, packet)
        while self.flying and self.flying[0][0] <= now:
            with contextlib.suppress(OSError):
                os.write(self.out, heapq.heappop(self.flying)[2])
        return min(following, self.flying[0][0] if self.flying else float("inf"))


def _sh(*command: str, check: bool = True) -> None:
    subprocess.run(command, check=check, capture_output=True)  # noqa: S603 (our own commands)


def _setns(descriptor: int) -> None:
    # `os.setns` came with Python 3.12.
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, _SETNS_NET):
        raise OSError(ctypes.get_errno(), "setns")


def _tun(namespace: str, name: str) -> int:
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    _setns(there)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN_NO_PI))
    _setns(home)
    os.close(home)
    os.close(there)
    return device


def _wire(link: dict[str, Any], tag: str) -> tuple[int, int]:
    s, m, r = f"s{tag}", f"m{tag}", f"r{tag}"
    for each in (s, m, r):
        _sh("ip", "netns", "add", each)
        _sh("ip", "-n", each, "link", "set", "lo", "up")
    _sh("ip", "-n", s, "link", "add", "out", "type", "veth", "peer", "name", "in", "netns", m)
    ours, theirs = _tun(m, "far"), _tun(r, "near")
    for each, device, address in (
        (s, "out", "10.9.1.1/24"),
        (m, "in", "10.9.1.2/24"),
        (m, "far", "10.9.2.1/24"),
        (r, "near", "10.9.2.2/24"),
    ):
        _sh("ip", "-n", each, "addr", "add", address, "dev", device)
        _sh("ip", "-n", each, "link", "set", device, "up", "txqueuelen", "1000")
    _sh("ip", "-n", s, "route", "add", "default", "via", "10.9.1.2")
    _sh("ip", "-n", r, "route", "add", "default", "via", "10.9.2.1")
    _sh("ip", "netns", "exec", m, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    for each in (s, r):
        stamps = int(link["timestamps"])
        _sh("ip", "netns", "exec", each, "sysctl", "-q", "-w", f"net.ipv4.tcp_timestamps={stamps}")
        _sh("ip", "netns", "exec", each, "sysctl", "-q", "-w", "net.ipv4.tcp_no_metrics_save=1")
    if not link["offload"]:
        for each, device in ((s, "out"), (m, "in")):
            _sh(
                "ip", "netns", "exec", each, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"
            )
    if link["shaper"] == "tbf":
        # One packet of burst: a larger one would pass back to back.
        limit = f"{link['queue'] * 1500}"
        shape = ["root", "tbf", "rate", f"{round(link['rate'])}bit", "burst", "1600", "limit", limit]
        _sh("ip", "netns", "exec", m, "tc", "qdisc", "replace", "dev", "far", *shape)
    return ours, theirs


def run(link: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run iperf3 over a link; capture at both ends; return what iperf3 said."""
    link = {**DEFAULTS, **link}
    folder.mkdir(parents=True, exist_ok=True)
    tag = str(os.getpid())
    s, m, r = f"s{tag}", f"m{tag}", f"r{tag}"
    started: list[subprocess.Popen[bytes]] = []
    try:
        ours, theirs = _wire(link, tag)
        for each, device, file in ((s, "out", "sender"), (r, "near", "receiver")):
            command = [
                "tcpdump",
                "-i",
                device,
                "-s",
                "128",
                "-U",
                "-w",
                str(folder / f"{file}.pcap"),
                "-Z",
                "root",
            ]
            command += ["--time-stamp-precision=nano"]
            started.append(_start(each, command))
        window = ["-w", str(link["window"])] if link["window"] else []
        started.append(_start(r, ["iperf3", "-s", "-1"]))
        time.sleep(0.7)
        command = ["iperf3", "-c", "10.9.2.2", "-C", link["control"], "-J", "-t", str(link["seconds"])]
        load = subprocess.Popen(  # noqa: S603
            ["ip", "netns", "exec", s, *command, *window, *link["load"]],  # noqa: S607
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if link["ping"]:
            started.append(_start(s, ["ping", "-q", "-n", "-i", "0.02", "10.9.2.2"]))
        late = _forward(link, ours, theirs, load)
        said, _ = load.communicate(timeout=20)
        found: dict[str, Any] = {"late_s": late}
        with contextlib.suppress(ValueError):
            document = json.loads(said)
            found["goodput"] = document["end"]["sum_received"]["bits_per_second"]
            found["resent"] = document["end"]["sum_sent"]["retransmits"]
        (folder / "load.json").write_text(json.dumps(found))
        return found
    finally:
        for each in started:
            each.terminate()
        for each in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                each.wait(3)
        for name in (s, m, r):
            _sh("ip", "netns", "del", name, check=False)


def _start(namespace: str, command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        ["ip", "netns", "exec", namespace, *command],  # noqa: S607
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _forward(link: dict[str, Any], ours: int, theirs: int, load: subprocess.Popen[bytes]) -> float:
    """Carry packets until the load ends; return the 99.9 % quantile of lateness, s."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    there, back = Direction(link, theirs, data=True), Direction(link, ours, data=False)
    late: list[float] = []
    ended = ends = float("inf")
    following = 0.0
    checked = time.monotonic()
    while True:
        now = time.monotonic()
        if now >= following:
            late.append(now - following if following > 0 else 0.0)
        following = min(there.advance(now), back.advance(now))
        if now - checked > 0.1:
            checked = now
            if load.poll() is not None and ended == float("inf"):
                ended, ends = now, now + 1.0
            if now > ends or now - there.start > link["seconds"] + 25:
                break
        wait = max(0.0, min(following - time.monotonic(), 0.1))
        ready, _, _ = select.select([ours, theirs], [], [], wait)
        now = time.monotonic()
        for device in ready:
            direction = there if device == ours else back
            with contextlib.suppress(BlockingIOError):
                while True:
                    direction.offer(now, os.read(device, 65536))
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    late.sort()
    return late[int(0.999 * (len(late) - 1))] if late else 0.0


if __name__ == "__main__":
    print(json.dumps(run(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))))
