"""A path between two network namespaces with a rate, a queue and a delay, for tests on the kernel's TCP.

Two TUN devices, one in each namespace, and a process that carries packets between them. When a packet leaves
is worked out when it comes, so that lateness does not add up; at its end the process says how late it was.
It is the router of a train too, which warns the far end of an outage.
"""

from __future__ import annotations

import fcntl
import hmac
import itertools
import json
import os
import secrets
import select
import signal
import struct
import subprocess
import sys
import time
from collections import deque
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x1001  # IFF_TUN | IFF_NO_PI
TCP_CONGESTION = 13
NEAR, FAR, ROUTER = "10.67.0.1", "10.67.0.2", "10.67.0.254"


def sh(*words: str) -> str:
    """Run a command of the system and return what it printed."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _tun(name: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TUN_WITHOUT_HEADER))
    return device


class Ended(NamedTuple):
    """How a path went: how late its packets were, and how long after each outage the first data came."""

    late_p99_s: float
    late_max_s: float
    resumed_s: list[float]


class EmulatedPath:
    """The two ends; both namespaces are gone when the context of `path` ends."""

    def __init__(self, near: str, far: str) -> None:
        """Name the namespaces."""
        self.near, self.far = near, far
        self.processes: list[subprocess.Popen[str]] = []
        self.carrier: subprocess.Popen[str]
        #: The file of the key with which the router seals its messages; "": it does not.
        self.key = ""

    def start(self, namespace: str, *words: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command in a namespace."""
        command = ["ip", "netns", "exec", namespace, *words]
        process = subprocess.Popen(command, text=True, **options)
        self.processes.append(process)
        return process

    def listen(self, port: int = 5000) -> None:
        """Start a server at the far end that reads whatever comes, on any number of connections."""
        words = [sys.executable, __file__, "serve", str(port)]
        server = self.start(self.far, *words, stdout=subprocess.PIPE)
        assert server.stdout
        assert server.stdout.readline() == "ready\n"

    def send(self, control: str, seconds: float, log: Path, port: int = 5000) -> subprocess.Popen[str]:
        """Start a sender at the near end; `log` gets a JSON document a line: the control, then `tcp_info`.

        Terminated, it closes its connection in order; killed, it resets the connection.
        """
        words = [sys.executable, __file__, "send", control, str(seconds), str(port)]
        with log.open("w") as out:
            return self.start(self.near, *words, stdout=out)

    def connections(self, port: int = 5000) -> int:
        """Return how many connections the far end has; a connection that is closing counts too."""
        words = ("ss", "-tnH", "state", "connected", "exclude", "time-wait", "sport", "=", f":{port}")
        return len(sh("ip", "netns", "exec", self.far, *words).splitlines())

    def outage(self, length_s: float, *, warning_s: float | None = None, comes: bool = True) -> None:
        """Begin an outage, which loses what would arrive in it, after a warning of so long if there is one.

        The far end hears that it is over when it is. Of a false alarm (`comes` false) no more follows.
        """
        assert self.carrier.stdin
        self.carrier.stdin.write(json.dumps([length_s, warning_s, comes]) + "\n")
        self.carrier.stdin.flush()

    def end(self) -> Ended:
        """End the path and return how it went."""
        self.carrier.terminate()
        return Ended(*json.loads(self.carrier.communicate()[0]))

    def lateness(self) -> float:
        """End the path and return how late 99 % of its packets were at most, in s."""
        return self.end().late_p99_s


def samples(log: Path) -> list[dict[str, float]]:
    """Return the samples of a sender's log; the last line may be torn."""
    lines = log.read_text().split("\n")[1:-1]
    return [json.loads(line) for line in lines]


#: Tells the paths of a process from each other.
_NUMBERS = itertools.count()


@contextmanager
def path(
    rate_bps: float,
    one_way_s: float,
    queue_bytes: int,
    departures: Path | None = None,
    *,
    key: Path | None = None,
) -> Iterator[EmulatedPath]:
    """Make a path; data flow from the near end to the far one, and only there the rate and the queue bind.

    The router seals its messages with the key in the file `key`, if there is one.

    `departures` gets, when the path ends, the times at which large packets left the near end, in s.
    """
    suffix = f"{os.getpid()}x{next(_NUMBERS)}"
    made = EmulatedPath(f"c2near{suffix}", f"c2far{suffix}")
    made.key = str(key or "")
    devices = []
    try:
        for namespace, name, address in ((made.near, f"c2n{suffix}", NEAR), (made.far, f"c2f{suffix}", FAR)):
            sh("ip", "netns", "add", namespace)
            devices.append(_tun(name))
            sh("ip", "link", "set", name, "netns", namespace)
            sh("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", name)
            sh("ip", "-n", namespace, "link", "set", name, "mtu", "1500", "txqueuelen", "5000", "up")
            sh("ip", "-n", namespace, "link", "set", "lo", "up")
        rules = map(str, (*devices, rate_bps, one_way_s, queue_bytes, departures or "", made.key))
        made.carrier = subprocess.Popen(
            [sys.executable, __file__, "carry", *rules],
            pass_fds=devices,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        made.processes.append(made.carrier)
        yield made
    finally:
        for process in made.processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with suppress(BrokenPipeError):
                        pipe.close()
        for device in devices:
            os.close(device)
        for namespace in (made.near, made.far):
            with suppress(subprocess.CalledProcessError):
                sh("ip", "netns", "del", namespace)


def message(kind: int, start_s: float = 0, until_s: float = 0) -> bytes:
    """Return what a router says (`crates/train/src/wire.rs`): 0 going down, 1 going up."""
    times = (round(start_s * 1e6), round(until_s * 1e6))
    return struct.pack(">4sBBHIqqQ", b"CGTF", 1, kind, 0, 0, *times, 0)


def write_key(path: Path) -> Path:
    """Write a new key to a file and return it."""
    path.touch(0o600)
    path.write_text(secrets.token_hex(32))
    return path


def sealed(
    key: bytes, kind: int, start_s: float = 0, until_s: float = 0, *, counter: int = 0, sent_s: float = 0
) -> bytes:
    """Return the same with counter, sending time and HMAC (`wire/sealed.rs`), by default those of now."""
    body = bytearray(message(kind, start_s, until_s))
    body[4] = 2
    now = time.time_ns()
    covered = bytes(body) + struct.pack(">QQ", counter or now, round(sent_s * 1e6) or now // 1000)
    return covered + hmac.digest(key, covered, "sha256")


def _datagram(payload: bytes) -> bytes:
    """Return an IPv4 packet from the router to the far end, for the port on which a manager listens."""
    addresses = b"".join(bytes(map(int, address.split("."))) for address in (ROUTER, FAR))
    udp = struct.pack(">4H", 50007, 50007, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + addresses
    whole = sum(struct.unpack(">10H", head))
    whole = (whole & 0xFFFF) + (whole >> 16)
    return head[:10] + struct.pack(">H", ~(whole + (whole >> 16)) & 0xFFFF) + head[12:] + udp


def _carry(near: int, far: int, rate: float, delay: float, limit: int, departures: str, key: str) -> None:
    secret = bytes.fromhex(Path(key).read_text()) if key else b""

    def from_the_router(*words: float) -> bytes:
        kind, *times = words
        return _datagram(sealed(secret, int(kind), *times) if key else message(int(kind), *times))

    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    forward: deque[tuple[float, bytes]] = deque()
    back: deque[tuple[float, bytes]] = deque()
    free = 0.0
    late: list[float] = []
    # What the router does, and when: it says something to the far end, or the link closes or opens.
    agenda: list[tuple[float, tuple[float, ...] | bool]] = []
    is_open, opened, resumed = True, None, []

    left: list[float] = []

    def end(number: int, frame: object) -> None:
        if departures:
            Path(departures).write_text("".join(f"{at:.6f}\n" for at in left))
        all_late = sorted(late) or [0.0]
        print(json.dumps([all_late[len(all_late) * 99 // 100], all_late[-1], resumed]), flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    while True:
        due = min(
            [queue[0][0] for queue in (forward, back) if queue] + [at for at, _ in agenda], default=None
        )
        wait = None if due is None else max(0.0, due - time.monotonic())
        readable, _, _ = select.select([near, far, 0], [], [], wait)
        now = time.monotonic()
        if 0 in readable:
            line = sys.stdin.readline()
            if not line:
                end(0, None)
            length, warning, comes = json.loads(line)
            begins = now + (warning or 0)
            said = warning is not None
            agenda += [(now, (0, warning, warning + length))] if said else []
            agenda += [(begins, False), (begins + length, True)] if comes else []
            agenda += [(begins + length, (1,))] if said else []
        for device in set(readable) & {near, far}:
            with suppress(BlockingIOError):
                while True:
                    packet = os.read(device, 2048)
                    if device == near and departures and len(packet) > 1000:
                        left.append(time.monotonic())
                    if device == far:
                        back.append((now + delay, packet))
                    elif (free - now) * rate / 8 <= limit:
                        free = max(free, now) + len(packet) * 8 / rate
                        forward.append((free + delay, packet))
        while agenda and agenda[0][0] <= now:
            _, what = agenda.pop(0)
            if isinstance(what, tuple):
                os.write(far, from_the_router(*what))
                continue
            is_open, opened = what, now if what else None
        for queue, device in ((forward, far), (back, near)):
            while queue and queue[0][0] <= now:
                at, packet = queue.popleft()
                late.append(time.monotonic() - at)
                if not is_open:
                    continue
                # More than headers: data.
                if device == far and opened is not None and len(packet) > 100:
                    resumed.append(time.monotonic() - opened)
                    opened = None
                with suppress(OSError):
                    os.write(device, packet)


def _serve(port: int) -> None:
    import socket

    server = socket.create_server(("", port), backlog=16)
    print("ready", flush=True)
    connections: list[socket.socket] = []
    while True:
        for ready in select.select([server, *connections], [], [])[0]:
            if ready is server:
                connections.append(server.accept()[0])
                continue
            try:
                more = ready.recv(1 << 20)
            except ConnectionResetError:
                more = b""
            if not more:
                connections.remove(ready)
                ready.close()


def _send(control: str, seconds: float, port: int) -> None:
    import socket

    connection = socket.socket()
    # Killed, it leaves no socket that waits for ACKs from a namespace that is gone.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def leave(number: int, frame: object) -> None:
        # A reset is sent once, and a full queue may lose it. A FIN is retransmitted until it is acknowledged.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
        sys.exit()

    signal.signal(signal.SIGTERM, leave)
    connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, control.encode())
    connection.connect((FAR, port))
    chosen = connection.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0").decode()
    print(json.dumps({"control": chosen}), flush=True)
    connection.setblocking(False)
    began = time.monotonic()
    data = bytes(1 << 16)
    while (at := time.monotonic() - began) < seconds:
        with suppress(BlockingIOError):
            while True:
                connection.send(data)
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
        retransmitted = struct.unpack_from("I", info, 100)[0]
        rtt, _, ssthresh, cwnd = struct.unpack_from("4I", info, 68)
        acked = struct.unpack_from("Q", info, 120)[0]
        sample = {"t": at, "cwnd": cwnd, "ssthresh": ssthresh, "rtt_s": rtt / 1e6, "acked": acked}
        print(json.dumps({**sample, "retransmitted": retransmitted}), flush=True)
        select.select([], [connection], [], 0.02)
        time.sleep(0.02)


def _bursts(control: str, count: int, port: int) -> None:
    """Send for 2 s, then so many bursts of 20 segments, each to an empty path."""
    import socket

    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, control.encode())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 1 << 14)
    connection.connect((FAR, port))
    began = time.monotonic()
    while time.monotonic() - began < 2:
        select.select([], [connection], [], 0.1)
        connection.send(bytes(1 << 13))
    for _ in range(count):
        # An idle time above the retransmission timeout, 250 ms here, would begin slow start over.
        while struct.unpack_from("I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128), 24)[0]:
            time.sleep(0.005)
        time.sleep(0.1)
        connection.send(bytes(20 * 1448))
    time.sleep(0.5)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work, *given = sys.argv[1:]
    if work == "carry":
        _carry(int(given[0]), int(given[1]), float(given[2]), float(given[3]), int(given[4]), *given[5:])
    elif work == "serve":
        _serve(int(given[0]))
    elif work == "bursts":
        _bursts(given[0], int(given[1]), int(given[2]))
    else:
        _send(given[0], float(given[1]), int(given[2]))
