"""Compare Linux's Multipath TCP with ours: the same two paths, uncoupled CUBIC subflows.

Needs root, Linux with MPTCP, and the command `ip`. Two network namespaces are joined by two pairs of TUN
devices. This process carries the packets: rate, drop-tail queue, delay, silences. Prints a table.

    sudo .venv/bin/python benches/mptcp_linux.py
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import fcntl
import heapq
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys
import time
from collections import deque

import cogtcp

NAMES = ("cogtcp-mp-a", "cogtcp-mp-b")
MPTCP = 262
PORT = 5001
DURATION, WARMUP = 40.0, 10.0
LIBC = ctypes.CDLL(None, use_errno=True)
TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x1, 0x1000, 0x40000000


@dataclasses.dataclass(frozen=True)
class Path:
    """A path: Mbit/s, delay one way in ms, packets that wait, and seconds silent of every five."""

    rate: float
    delay: int
    queue: int
    silent: float = 0.0


CASES = {
    "equal": (Path(5, 20, 40), Path(5, 20, 40)),
    "rates": (Path(8, 20, 60), Path(2, 20, 30)),
    "delays": (Path(6, 10, 40), Path(4, 60, 60)),
    "bonded": (Path(8, 20, 60, 0.5), Path(2, 30, 30)),
}


def ours(paths: tuple[Path, ...]) -> tuple[float, float]:
    """Return goodput in Mbit/s and the share of the second path in the simulator."""
    links, radios = [], []
    for number, path in enumerate(paths):
        links += [
            f'{{ name = "in-{number}", from = "a", to = "r{number}", rate = "1 Gbit/s", delay = "1 us", '
            f'queue = "1000 packets" }}',
            f'{{ name = "path-{number}", from = "r{number}", to = "b", rate = "{path.rate} Mbit/s", '
            f'delay = "{path.delay} ms", queue = "{path.queue} packets", reverse_queue = "1000 packets" }}',
        ]
        if path.silent:
            radios.append(
                f'[[radio]]\nname = "radio"\nlinks = ["path-{number}"]\nsilence = "drop"\n'
                f'sensing = {{ off = "{path.silent} s", on = "{5 - path.silent} s" }}'
            )
    text = f"""
name = "linux"
[run]
duration = "{DURATION} s"
warmup = "{WARMUP} s"
[tcp]
segment_size = "1420 B"
delayed_ack = "linux"
receive_buffer = "6 MB"
[topology.graph]
nodes = ["a", "r0", "r1", "b"]
links = [{", ".join(links)}]
{chr(10).join(radios)}
[[flow]]
name = "flow"
from = "a"
to = "b"
transport = "mptcp-linux-cubic"
paths = ["path-0", "path-1"]
"""
    result = cogtcp.run(cogtcp.Scenario.from_toml(text), 1, "summary")
    return result.flows.to_pylist()[0]["goodput_bps"] / 1e6, result.subflows.to_pylist()[1]["share"]


@contextlib.contextmanager
def inside(name: str):
    """Work inside a network namespace."""
    with pathlib.Path("/proc/self/ns/net").open() as home, pathlib.Path("/run/netns", name).open() as there:
        enter(there.fileno())
        try:
            yield
        finally:
            enter(home.fileno())


def enter(namespace: int) -> None:
    """Enter a network namespace for good."""
    if LIBC.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "a network namespace cannot be entered")


def command(*words: str) -> None:
    """Run a command; exit with its error output if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 (our own command)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")


def devices() -> list[list[int]]:
    """Return the devices of each path: of the sender, of the receiver."""
    made: list[list[int]] = [[], []]
    for end, name in enumerate(NAMES):
        command("ip", "netns", "add", name)
        with inside(name):
            for number in (0, 1):
                device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                fcntl.ioctl(
                    device, TUNSETIFF, struct.pack("16sH", f"mp{number}".encode(), IFF_TUN | IFF_NO_PI)
                )
                command("ip", "address", "add", f"10.9.{number}.{end + 1}/24", "dev", f"mp{number}")
                command("ip", "link", "set", f"mp{number}", "up")
                made[number].append(device)
            command("ip", "mptcp", "limits", "set", "subflows", "1", "add_addr_accepted", "1")
    with inside(NAMES[1]):
        command("ip", "mptcp", "endpoint", "add", "10.9.1.2", "dev", "mp1", "signal")
    return made


class Way:
    """One direction of a path."""

    def __init__(self, path: Path, target: int) -> None:
        self.path, self.target = path, target
        self.free, self.waiting, self.carried = 0.0, deque(), 0

    def offer(self, now: float, packet: bytes, began: float) -> float | None:
        """Return when the packet arrives; None: it is lost."""
        while self.waiting and self.waiting[0] <= now:
            self.waiting.popleft()
        # The packet on the link does not wait.
        if len(self.waiting) > self.path.queue:
            return None
        left = max(now, self.free) + len(packet) * 8e-6 / self.path.rate
        self.waiting.append(left)
        begun, self.free = max(now, self.free), left
        silent_from = 5 - self.path.silent
        if any((at - began) % 5 >= silent_from for at in (begun, left)):
            return None
        return left + self.path.delay / 1000


def linux(paths: tuple[Path, ...]) -> tuple[float, float]:
    """Return goodput in Mbit/s and the share of the second path with Linux's sockets."""
    try:
        made = devices()
        with inside(NAMES[1]):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
            listener.bind(("", PORT))
            listener.listen()
        with inside(NAMES[0]):
            sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        sender.setblocking(False)
        return play(paths, made, listener, sender)
    finally:
        for name in NAMES:
            with contextlib.suppress(SystemExit):
                command("ip", "netns", "delete", name)


def play(
    paths: tuple[Path, ...], made: list[list[int]], listener: socket.socket, sender: socket.socket
) -> tuple[float, float]:
    """Carry packets, and play both applications in a process of their own."""
    began = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        sender.connect_ex(("10.9.0.2", PORT))
        receiver, total, at_warmup, chunk = None, 0, 0, bytes(65536)
        while (now := time.monotonic() - began) < DURATION:
            watched = [receiver or listener]
            ready, room, _ = select.select(watched, [sender], [], 0.05)
            if ready and receiver is None:
                receiver = listener.accept()[0]
                receiver.setblocking(False)
            elif ready:
                total += len(receiver.recv(1 << 20))
            if room:
                with contextlib.suppress(BlockingIOError):
                    sender.send(chunk)
            if now < WARMUP:
                at_warmup = total
        os.write(writing, struct.pack("d", (total - at_warmup) * 8e-6 / (DURATION - WARMUP)))
        os._exit(0)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
    ways = {}
    for path, (here, there) in zip(paths, made, strict=True):
        ways[here], ways[there] = Way(path, there), Way(dataclasses.replace(path, queue=1000), here)
    flight: list[tuple[float, int, int, bytes]] = []
    number, carried_at_warmup = 0, [0, 0]
    while (now := time.monotonic()) - began < DURATION:
        while flight and flight[0][0] <= now:
            _, _, target, packet = heapq.heappop(flight)
            with contextlib.suppress(OSError):
                os.write(target, packet)
        wait = max(0.0, min(flight[0][0] - now, 0.05)) if flight else 0.05
        for device in select.select(list(ways), [], [], wait)[0]:
            with contextlib.suppress(BlockingIOError):
                packet = os.read(device, 2000)
                if packet[0] >> 4 != 4:
                    continue
                way = ways[device]
                arrival = way.offer(time.monotonic(), packet, began)
                if arrival is not None:
                    number += 1
                    way.carried += len(packet)
                    heapq.heappush(flight, (arrival, number, way.target, packet))
        if now - began < WARMUP:
            carried_at_warmup = [ways[here].carried for here, _ in made]
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    (goodput,) = struct.unpack("d", os.read(reading, 8))
    os.waitpid(child, 0)
    carried = [ways[here].carried - before for (here, _), before in zip(made, carried_at_warmup, strict=True)]
    for device in ways:
        os.close(device)
    sender.close()
    listener.close()
    return goodput, carried[1] / max(1, sum(carried))


def main() -> None:
    """Print the table."""
    print("| case | paths | Linux Mbit/s | ours Mbit/s | difference | second path: Linux | ours |")
    print("|---|---|---|---|---|---|---|")
    chosen = sys.argv[1:] or list(CASES)
    for name in chosen:
        paths = CASES[name]
        (theirs, their_share), (own, own_share) = linux(paths), ours(paths)
        what = " + ".join(
            f"{path.rate:g} Mbit/s {path.delay} ms"
            + (f" silent {path.silent:g} of 5 s" if path.silent else "")
            for path in paths
        )
        print(
            f"| {name} | {what} | {theirs:.2f} | {own:.2f} | {100 * (own / theirs - 1):+.1f} % | "
            f"{100 * their_share:.0f} % | {100 * own_share:.0f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
