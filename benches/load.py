"""One transfer over TCP, for links in virtual time: a sender, and a receiver that counts.

    python benches/load.py receive '{"port": 5300, "at": 3.5, "seconds": 12}'
    python benches/load.py send '{"port": 5300, "at": 3.5, "seconds": 12, "to": "10.9.2.2"}'

`at` is a time of the monotonic clock, which both share; without it each begins at once.
iperf3 3.12 asks for the time without a pause until its peer lets it begin. In virtual time that is 200,000
system calls, five times the rest of a run.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from typing import Any

#: Bytes of a write, as iperf3 writes them.
_BLOCK = 131_072
#: How long the receiver waits for its sender, and the sender for room, s.
_PATIENCE = 60.0


def receive(told: dict[str, Any]) -> dict[str, float]:
    """Count what arrives until `seconds` after the start, `at`; return bits a second."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if told.get("window"):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, told["window"])
        listener.bind(("", told["port"]))
        listener.listen()
        listener.settimeout(_PATIENCE)
        stream, _ = listener.accept()
        with stream:
            return {"goodput": _received(stream, told)}


def _received(stream: socket.socket, told: dict[str, Any]) -> float:
    begun = told.get("at", time.monotonic())
    # A transfer of some bytes takes as long as it takes.
    ends = float("inf") if told.get("bytes") else begun + told["seconds"]
    got, last = 0, begun
    while (now := time.monotonic()) < ends:
        stream.settimeout(min(ends - now, _PATIENCE))
        try:
            data = stream.recv(1 << 20)
        except TimeoutError:
            break
        if not data:
            break
        got, last = got + len(data), time.monotonic()
    taken: float = max(last - begun, 1e-9) if told.get("bytes") else told["seconds"]
    return got * 8 / taken


def send(told: dict[str, Any]) -> None:
    """Send from `at` for `seconds`, or `bytes`; at most `rate` bit/s in writes of `size`."""
    begun = told.get("at", time.monotonic())
    with socket.socket() as stream:
        if told.get("window"):
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, told["window"])
        if control := told.get("control"):
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        stream.settimeout(_PATIENCE)
        time.sleep(max(0.0, begun - time.monotonic()))
        stream.connect((told["to"], told["port"]))
        if told.get("bytes"):
            stream.sendall(bytes(told["bytes"]))
        else:
            _send_for(stream, told, begun + told["seconds"])
        # The peer may have closed at the same instant.
        with contextlib.suppress(OSError):
            stream.shutdown(socket.SHUT_WR)


def _send_for(stream: socket.socket, told: dict[str, Any], ends: float) -> None:
    block = bytes(told.get("size") or _BLOCK)
    due = time.monotonic()
    while (now := time.monotonic()) < ends:
        if rate := told.get("rate"):
            if now < due:
                time.sleep(due - now)
            due += len(block) * 8 / rate
        # A stream with a full buffer must not outlast the transfer; the receiver may end first.
        stream.settimeout(max(ends - time.monotonic(), 1e-6))
        try:
            stream.sendall(block)
        except OSError:
            return


if __name__ == "__main__":
    argument = json.loads(sys.argv[2])
    if sys.argv[1] == "receive":
        print(json.dumps(receive(argument)))
    else:
        send(argument)
