"""Links that share no code with cogtcp: the peers by which `cogtcp fit` is judged. Runs in a guest, as root.

`path = "relay"`: namespaces s (sender), m (middle), r (receiver); m forwards into a TUN device whose packets
this process holds for the delay, loses or queues, and writes to the receiver's TUN device.

`path = "kernel"`: s, m, n, r, and nothing but the kernel's queueing disciplines: tbf (under it fq_codel,
codel or pie) from m to n, and netem for the delay, losses and outages.
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
import shutil
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

_SETNS_NET, _TUNSETIFF, _IFF_TUN_NO_PI = 0x40000000, 0x400454CA, 0x1001
#: A receiver listens after this time, s.
_SOON = 0.7
#: Bytes of a full frame with Ethernet, as tbf counts them.
FRAME = 1514

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
    "path": "relay",  # or kernel
    "aqm": "",  # kernel: fq_codel, codel or pie above tbf
    "burst": 1600,  # kernel: tbf's bucket, B
    "loss_run": 1.0,  # kernel: mean run of losses, packets
    "seed": 1,
    "end": "",  # where to capture: sender or receiver; empty for nowhere
    "control": "cubic",
    "timestamps": True,
    "offload": False,  # TSO and GRO in the hosts
    "seconds": 15,
    "load": [],  # iperf3's arguments for parallel connections; else load.py sends
    "bytes": 0,  # B to send, in place of a time
    "application": 0,  # bit/s of the application at most
    "write": 0,  # B of its writes
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
        if not self.data:
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
        self._serve(now)
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

    def _serve(self, now: float) -> None:
        """Transmit the packets whose turn has come; how late this is called changes nothing."""
        while self.waiting:
            arrived, packet = self.waiting[0]
            starts = max(self.free, arrived)
            if starts > now:
                return
            self.waiting.popleft()
            if self.link["codel"] and self._codel(starts, starts - arrived):
                continue
            self.free = starts + len(packet) * 8 / self.rate(starts)
            self._fly(self.free, packet)

    def advance(self, now: float) -> float:
        """Move what is due; return the next time."""
        self._serve(now)
        while self.flying and self.flying[0][0] <= now:
            with contextlib.suppress(OSError):
                os.write(self.out, heapq.heappop(self.flying)[2])
        following = self.flying[0][0] if self.flying else float("inf")
        if self.waiting:
            # Nothing of the queue arrives before this.
            following = min(following, max(self.free, self.waiting[0][0]) + self.link["delay"])
        return following


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


def _wire(link: dict[str, Any]) -> tuple[int, int] | None:
    """Make the namespaces; return the two devices of a relay."""
    kernel = link["path"] == "kernel"
    for each in ("s", "m", "n", "r") if kernel else ("s", "m", "r"):
        _sh("ip", "netns", "add", each)
        _sh("ip", "-n", each, "link", "set", "lo", "up")
        _sh("ip", "netns", "exec", each, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    _sh("ip", "-n", "s", "link", "add", "out", "type", "veth", "peer", "name", "in", "netns", "m")
    addresses = [("s", "out", "10.9.1.1/24"), ("m", "in", "10.9.1.2/24")]
    devices = None
    if kernel:
        _sh("ip", "-n", "m", "link", "add", "far", "type", "veth", "peer", "name", "in", "netns", "n")
        _sh("ip", "-n", "n", "link", "add", "far", "type", "veth", "peer", "name", "near", "netns", "r")
        addresses += [("m", "far", "10.9.3.1/24"), ("n", "in", "10.9.3.2/24"), ("n", "far", "10.9.2.1/24")]
    else:
        devices = _tun("m", "far"), _tun("r", "near")
        addresses += [("m", "far", "10.9.2.1/24")]
    for each, device, address in (*addresses, ("r", "near", "10.9.2.2/24")):
        _sh("ip", "-n", each, "addr", "add", address, "dev", device)
        _sh("ip", "-n", each, "link", "set", device, "up", "txqueuelen", "1000")
        if not link["offload"] and not device.startswith(("far", "near") if devices else "-"):
            _sh(
                "ip", "netns", "exec", each, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"
            )
    _sh("ip", "-n", "s", "route", "add", "default", "via", "10.9.1.2")
    _sh("ip", "-n", "r", "route", "add", "default", "via", "10.9.2.1")
    for each in ("s", "r"):
        stamps = int(link["timestamps"])
        _sh("ip", "netns", "exec", each, "sysctl", "-q", "-w", f"net.ipv4.tcp_timestamps={stamps}")
        _sh("ip", "netns", "exec", each, "sysctl", "-q", "-w", "net.ipv4.tcp_no_metrics_save=1")
    if kernel:
        _sh("ip", "-n", "m", "route", "add", "10.9.2.0/24", "via", "10.9.3.2")
        _sh("ip", "-n", "n", "route", "add", "10.9.1.0/24", "via", "10.9.3.1")
        limit = f"{link['queue'] * FRAME}"
        shape = ["root", "handle", "1:", "tbf", "rate", f"{round(link['rate'])}bit"]
        _sh(
            "tc", "-n", "m", "qdisc", "add", "dev", "far", *shape, "burst", str(link["burst"]), "limit", limit
        )
        if link["aqm"]:
            _sh("tc", "-n", "m", "qdisc", "add", "dev", "far", "parent", "1:1", link["aqm"])
        _netem(link, "add", lose_all=False)
    return devices


def _netem(link: dict[str, Any], how: str, *, lose_all: bool) -> None:
    """Set the kernel's delay and losses, both ways."""
    fixed = ["root", "netem", "limit", "100000", "delay", f"{link['delay'] * 1e6:.0f}us"]
    chance: list[str] = []
    if lose_all:
        chance = ["loss", "100%"]
    elif link["loss"] and link["loss_run"] > 1:
        # Gilbert's chain: into the state that loses, and back.
        back = 1 / link["loss_run"]
        into = link["loss"] * back / (1 - link["loss"])
        chance = ["loss", "gemodel", f"{100 * into:.6f}%", f"{100 * back:.6f}%"]
    elif link["loss"]:
        chance = ["loss", f"{100 * link['loss']:.6f}%"]
    _sh("tc", "-n", "n", "qdisc", how, "dev", "far", *fixed, *chance)
    back_loss = ["loss", "100%"] if lose_all else []
    _sh("tc", "-n", "m", "qdisc", how, "dev", "in", *fixed, *back_loss)


def guest(told: dict[str, Any]) -> dict[str, Any]:
    """Run a transfer over a link; leave a capture in a folder; return what the receiver counted."""
    link, folder = {**DEFAULTS, **told["link"]}, Path(told["folder"])
    started: list[subprocess.Popen[bytes]] = []
    captures = []
    devices = _wire(link)
    if link["end"]:
        each, device = {"sender": ("s", "out"), "receiver": ("r", "near")}[link["end"]]
        command = ["tcpdump", "-i", device, "-s", "114", "-w", "/tmp/captured.pcap", "-Z", "root"]  # noqa: S108
        captures.append(_start(each, [*command, "--time-stamp-precision=nano"]))
    receiver, sender = _programs(link)
    counting = _start("r", receiver, subprocess.PIPE)
    started.append(counting)
    time.sleep(_SOON)
    load = _start("s", sender, subprocess.PIPE)
    if link["ping"]:
        started.append(_start("s", ["ping", "-q", "-n", "-i", "0.02", "10.9.2.2"]))
    late = 0.0
    if devices is not None:
        late = _forward(link, *devices, load)
    else:
        _interrupt(link)
    said, _ = load.communicate(timeout=60)
    # What is under way still arrives.
    time.sleep(1)
    counted = b""
    with contextlib.suppress(subprocess.TimeoutExpired):
        counted, _ = counting.communicate(timeout=5)
    for program in (*captures, *started):
        program.terminate()
    for program in (*captures, *started):
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(3)
    if link["end"]:
        shutil.copy("/tmp/captured.pcap", folder)  # noqa: S108 (the guest's own)
    found: dict[str, Any] = {"late_s": late}
    with contextlib.suppress(ValueError, KeyError):
        if sender[0] == "iperf3":
            found["goodput"] = json.loads(said)["end"]["sum_received"]["bits_per_second"]
        else:
            found |= json.loads(counted)
    return found


def _programs(link: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the commands of receiver and sender: iperf3 for parallel connections, else `load.py`."""
    if "-P" in link["load"]:
        last = ["-t", str(link["seconds"]), *link["load"]]
        return ["iperf3", "-s", "-1"], ["iperf3", "-c", "10.9.2.2", "-C", link["control"], "-J", *last]
    told = {"port": 5300, "to": "10.9.2.2", "at": time.monotonic() + _SOON}
    told |= {key: link[key] for key in ("seconds", "window", "control")}
    told |= {"bytes": link["bytes"], "rate": link["application"], "size": link["write"]}
    program = [sys.executable, "-B", str(Path(__file__).resolve().with_name("load.py"))]
    return [*program, "receive", json.dumps(told)], [*program, "send", json.dumps(told)]


def _interrupt(link: dict[str, Any]) -> None:
    """Lose all packets during the outages of a kernel's link."""
    begun = time.monotonic()
    for begins, ends in link["outages"]:
        time.sleep(max(0.0, begun + begins - time.monotonic()))
        _netem(link, "change", lose_all=True)
        time.sleep(max(0.0, begun + ends - time.monotonic()))
        _netem(link, "replace", lose_all=False)


def _start(namespace: str, command: list[str], output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        ["ip", "netns", "exec", namespace, *command],  # noqa: S607
        stdout=output,
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
    now = checked = time.monotonic()
    while True:
        if now >= following:
            late.append(now - following if following > 0 else 0.0)
        following = min(there.advance(now), back.advance(now))
        if now - checked > 0.1:
            checked = now
            if load.poll() is not None and ended == float("inf"):
                ended, ends = now, now + 1.0
            if now > ends or now - there.start > link["seconds"] + 25:
                break
        wait = max(0.0, min(following - now, 0.1))
        ready, _, _ = select.select([ours, theirs], [], [], wait)
        # Once a turn: in virtual time, to read the clock is a system call.
        now = time.monotonic()
        for device in ready:
            direction = there if device == ours else back
            with contextlib.suppress(BlockingIOError):
                direction.offer(now, os.read(device, 65536))
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    late.sort()
    return late[int(0.999 * (len(late) - 1))] if late else 0.0
