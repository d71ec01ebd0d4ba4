"""Freeze-TCP's manager on a host: `cogtcp freeze`. Skipped, with the reason, where it cannot be."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import PATIENCE, TooBusy, side_by_side
from kernel_needs import build, soon, why_no_path, why_not
from kernel_path import FAR, NEAR, ROUTER, message, path, samples, sealed, sh, write_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel_path import EmulatedPath

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "target/bpf/cogtcp-freeze"
NEEDS_KERNEL = pytest.mark.skipif(why_not() is not None, reason=f"Freeze-TCP in the kernel: {why_not()}")
NEEDS_PATH = pytest.mark.skipif(why_no_path() is not None, reason=f"Freeze-TCP over a path: {why_no_path()}")
# 10 Mbit/s, 50 ms, and a queue of 100 ms.
RATE, ONE_WAY, QUEUE = 10e6, 0.025, 126_000
# Slow start is over and the queue is full when so many bytes have been acknowledged.
FULL = 2_000_000
# A path that held a packet for longer may have ended the least of TCP's timers (200 ms).
LATE = 0.1


def freeze(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cogtcp", "freeze", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def in_namespace(namespace: str, *words: str) -> str:
    return sh("ip", "netns", "exec", namespace, sys.executable, "-m", "cogtcp", "freeze", *words)


def trigger(way: EmulatedPath, *words: str, namespace: str | None = None) -> str:
    """Send what a router sends from the host itself, sealed with the key of the path."""
    return in_namespace(namespace or way.far, "trigger", *words, "--key", way.key)


def status() -> list[dict[str, Any]]:
    # The program itself: it is asked often, and Python takes its time to start.
    loaded: list[dict[str, Any]] = json.loads(sh(str(PROGRAM), "status"))["loaded"]
    return loaded


def on(namespace: str) -> list[dict[str, Any]]:
    """Return the managers on the interface of a namespace: one or none."""
    return [it for it in status() if it["interface"] == interface(namespace)]


def state(namespace: str) -> dict[str, Any]:
    (loaded,) = on(namespace)
    return loaded


def connection(namespace: str) -> dict[str, Any]:
    """Return the one between sender and server."""
    (found,) = [it for it in state(namespace)["connections"] if 5000 in (it["local_port"], it["remote_port"])]
    assert {found["local"], found["remote"]} == {NEAR, FAR}
    return found


def left_in_the_kernel() -> list[str]:
    """Name what is there of the manager: programs and maps."""
    found = []
    for kind in ("map", "prog"):
        listed = json.loads(sh("bpftool", "-j", kind, "show"))
        names = (entry.get("name", "") for entry in listed)
        found += [f"{kind} {name}" for name in names if name.startswith("freeze_")]
    return found


@pytest.fixture(scope="module")
def built() -> Iterator[None]:
    """Build it; nobody else on this machine loads it meanwhile, from whatever tree."""
    build()
    with (Path(tempfile.gettempdir()) / "cogtcp-freeze.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def clean(built: None) -> Iterator[None]:
    """Nothing of it is in the kernel before the tests and after them, which run side by side."""
    assert soon(lambda: not left_in_the_kernel()), left_in_the_kernel()
    yield
    assert soon(lambda: not left_in_the_kernel()), left_in_the_kernel()


def interface(namespace: str) -> str:
    """Name the device of `kernel_path` in one of its namespaces."""
    return namespace.replace("c2far", "c2f").replace("c2near", "c2n")


@contextmanager
def manager(way: EmulatedPath, *words: str, namespace: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """Hold the manager at the far end of a path, until the context ends or somebody ends it."""
    where = namespace or way.far
    key = ("--key", way.key) if way.key else ()
    # Longer than any hold here.
    load = [str(PROGRAM), "load", "--interface", interface(where), "--longest", "600", "--foreground"]
    load += [*key, *words]
    process = way.start(where, *load, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    try:
        if process.stdout.readline() != "ready\n":
            said = process.communicate()[1]
            refusals = ("without BPF", "needs root", "Function not implemented", "the kernel needs tcx")
            assert any(refusal in said for refusal in refusals), said
            pytest.skip(f"Freeze-TCP in the kernel: {said.strip()}")
        yield process
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def acked(log: Path) -> float:
    """Return the bytes that the latest sample has; asked often, it reads no more than that."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 1000))
        lines = stream.read().split(b"\n")[:-1]
    return float(json.loads(lines[-1]).get("acked", 0)) if lines else 0


def fill(way: EmulatedPath, log: Path) -> None:
    """Start a server and a sender, and wait until the path is full."""
    way.listen()
    way.send("cubic", 600, log)
    assert soon(lambda: acked(log) > FULL), "the path does not fill"


def least_window(log: Path) -> float:
    """Return the least congestion window since the path was full, segments."""
    return min(sample["cwnd"] for sample in samples(log) if sample["acked"] > FULL)


def rests(log: Path) -> bool:
    """Whether nothing is acknowledged any more, for half a second."""
    last = acked(log)
    return not soon(lambda: acked(log) > last, 0.5)


def standstill(log: Path) -> float:
    """Return the longest time for which nothing was acknowledged, s."""
    seen = samples(log)
    since, longest = seen[0], 0.0
    for sample in seen:
        if sample["acked"] > since["acked"]:
            since = sample
        longest = max(longest, sample["t"] - since["t"])
    return longest


def outage(way: EmulatedPath, log: Path, warning_s: float | None) -> float:
    """Have an outage of 2 s, and return when data came after it."""
    way.outage(2, warning_s=warning_s)
    assert soon(lambda: standstill(log) > 1)
    came = acked(log)
    assert soon(lambda: acked(log) > came + FULL / 2), "the sender does not go on"
    (first,) = in_time(way)
    return first


def in_time(way: EmulatedPath) -> list[float]:
    """End a path on which timers of TCP ended only for what the test did; otherwise the test shows nothing.

    What the tests wait for has the patience of a hang: load makes none of it fail.
    """
    ended = way.end()
    if ended.late_max_s > LATE:
        raise TooBusy(f"the machine is too busy: a packet left {1e3 * ended.late_max_s:.0f} ms late")
    return ended.resumed_s


@NEEDS_KERNEL
@NEEDS_PATH
@pytest.mark.parametrize("words", [(), ("--clsact",)])
@side_by_side
def test_a_warned_sender_rests_and_resumes_at_once(
    clean: None, tmp_path: Path, words: tuple[str, ...]
) -> None:
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way, *words) as process:
        fill(way, log)
        before = connection(way.far)
        assert before["rtt_smoothed_s"] > 2 * ONE_WAY
        assert (before["frozen"], before["closed_acks"]) == (False, 0)
        assert state(way.far)["attached_by"] == ("clsact" if words else "tcx")
        first = outage(way, log, 0.3)
        seen, after = state(way.far), connection(way.far)
        assert (seen["warnings"], seen["all_clears"], seen["frozen"]) == (1, 1, False)
        # Two ACKs with no window out and one in; on the all-clear three and one.
        assert seen["injected_acks"] == 7 * len(seen["connections"])
        # ACKs of what was under way were closed as they left.
        assert after["closed_acks"] > 0
        assert after["window"] > 0
        process.terminate()
        assert process.wait() == 0
    # The ACKs take half of the round trip to the sender, its data the other half; a timer would take longer.
    # Whether the window is what it was says nothing: a packet may be lost before, and its copy in the outage.
    assert first < 1, first


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_an_unwarned_sender_times_out(clean: None, tmp_path: Path) -> None:
    """What a warning is compared with."""
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way):
        fill(way, log)
        first = outage(way, log, None)
        assert (
            state(way.far)["injected_acks"],
            connection(way.far)["closed_acks"],
        ) == (0, 0)
    assert first > 2 * ONE_WAY
    assert least_window(log) <= 2


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_probes_are_answered_with_no_window(clean: None, tmp_path: Path) -> None:
    """A false alarm: the link is there, and the sender rests all the same, whatever it asks."""
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way):
        fill(way, log)
        trigger(way, "down", "--in", "0.3", "--for", "600")
        assert soon(lambda: connection(way.far)["probes"] >= 3), connection(way.far)
        probed = connection(way.far)
        assert probed["frozen"]
        assert rests(log)
        # The host's own TCP answers, with its true window, which is closed on its way out.
        assert probed["closed_acks"] >= probed["probes"]
        assert probed["window"] > 0
        came = acked(log)
        trigger(way, "up")
        assert soon(lambda: acked(log) > came + FULL / 2)


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_a_lost_all_clear_costs_the_wait_for_a_probe(clean: None, tmp_path: Path) -> None:
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way):
        fill(way, log)
        trigger(way, "down", "--in", "0.3", "--for", "2")
        assert soon(lambda: connection(way.far)["frozen"] or state(way.far)["let_go"])
        came = acked(log)
        assert soon(lambda: acked(log) > came + FULL / 2)
        seen = state(way.far)
        assert (seen["let_go"] >= 1, seen["all_clears"]) == (True, 0)
        assert not connection(way.far)["frozen"]
        # Another warning holds it again.
        trigger(way, "down", "--in", "0.3", "--for", "600")
        assert soon(lambda: connection(way.far)["frozen"])
        assert soon(lambda: rests(log))


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_the_hosts_own_uplink_rests_too(clean: None, tmp_path: Path) -> None:
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way, namespace=way.near):
        fill(way, log)
        trigger(way, "down", "--in", "0.3", "--for", "600", namespace=way.near)
        assert soon(lambda: connection(way.near)["held_acks"] > 0)
        assert soon(lambda: rests(log))
        came = acked(log)
        trigger(way, "up", namespace=way.near)
        assert soon(lambda: acked(log) > came + FULL / 2)


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_it_listens_to_its_router_alone(clean: None, tmp_path: Path) -> None:
    with (
        path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way,
        manager(way, "--listen", "127.0.0.1:50008", "--router", "127.0.0.1"),
    ):
        to = ("--to", "127.0.0.1:50008")
        # No connection is there to know a round-trip time.
        assert trigger(way, "request", *to).startswith("RTT_TCP is unknown")
        fill(way, tmp_path / "sender")
        known = json.loads(trigger(way, "request", *to, "--json"))
        assert known["rtt_s"] > 2 * ONE_WAY
        assert (state(way.far)["requests"], state(way.far)["ignored"]) == (2, 0)
        # On another port, and bytes that are no message.
        way.outage(0.5, warning_s=0.1, comes=False)
        send = f"socket.socket(type=socket.SOCK_DGRAM).sendto({b'x' * 36!r}, ('127.0.0.1', 50008))"
        sh("ip", "netns", "exec", way.far, sys.executable, "-c", f"import socket; {send}")
        assert soon(lambda: state(way.far)["ignored"] == 1)
        assert (state(way.far)["warnings"], state(way.far)["frozen"]) == (0, False)
    with (
        path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way,
        manager(way, "--router", "10.67.0.77"),
    ):
        way.outage(0.1, warning_s=0.1, comes=False)
        assert soon(lambda: state(way.far)["ignored"] == 2), state(way.far)
        assert state(way.far)["warnings"] == 0


def tell(way: EmulatedPath, datagrams: list[bytes], source: str = "127.0.0.1") -> None:
    """Send datagrams to the manager from its own host."""
    code = (
        "import socket, sys\nsender = socket.socket(type=socket.SOCK_DGRAM)\nsender.bind((sys.argv[1], 0))\n"
        "for line in sys.stdin: sender.sendto(bytes.fromhex(line), ('127.0.0.1', 50007))"
    )
    words = ["ip", "netns", "exec", way.far, sys.executable, "-c", code, source]
    lines = "".join(f"{datagram.hex()}\n" for datagram in datagrams)
    subprocess.run(words, input=lines, text=True, check=True)


def judged(namespace: str) -> int:
    """Return how many genuine requests a manager has answered or refused as too many."""
    seen = state(namespace)
    return int(seen["requests"] + seen["flooded"])


def has_read_all(namespace: str) -> bool:
    """Return whether a manager to which nobody sends forgeries any more has read all that wait."""
    before = state(namespace)["forged"]
    time.sleep(0.2)
    return before == state(namespace)["forged"]


def heard_a_warning(way: EmulatedPath, key: bytes) -> bool:
    """Send a warning of 10 min, and return whether the manager has heard one within a second."""
    tell(way, [sealed(key, 0, 0, 600)])
    return soon(lambda: state(way.far)["warnings"], 1)


#: For messages that are made before the process that sends them has started.
PATIENT = ("--freshness", "60")


def refused(namespace: str) -> dict[str, int]:
    """Return how many messages were refused, by reason, without those that are zero."""
    seen = state(namespace)
    reasons = ("ignored", "forged", "replayed", "stale", "flooded", "bounded")
    return {reason: seen[reason] for reason in reasons if seen[reason]}


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_only_the_key_holds_connections(clean: None, tmp_path: Path) -> None:
    """Forged, replayed, late, early and truncated messages do nothing; in between, true ones are obeyed."""
    log = tmp_path / "sender"
    file = write_key(tmp_path / "key")
    key, other = bytes.fromhex(file.read_text()), bytes(32)
    with path(RATE, ONE_WAY, QUEUE, key=file) as way, manager(way, *PATIENT):
        fill(way, log)
        assert state(way.far)["authenticated"]
        forged = [message(0, 0, 600), sealed(other, 0, 0, 600)]
        true = sealed(key, 0, 0, 600)
        forged += [true[:-1] + bytes([true[-1] ^ 1])]
        late = [sealed(key, 0, 0, 600, sent_s=time.time() + by) for by in (-70, 600)]
        truncated = [true[:size] for size in (0, 1, 36, 83)] + [true + b"x"]
        tell(way, forged + late + truncated)
        assert soon(lambda: refused(way.far) == {"forged": 3, "stale": 2, "ignored": 5}), refused(way.far)
        seen = state(way.far)
        assert (seen["warnings"], seen["frozen"], seen["injected_acks"]) == (0, False, 0)
        # None of the forgeries has used up the counter of the true one.
        down, up = sealed(key, 0, 0, 600), sealed(key, 1)
        tell(way, [down, up])
        assert soon(lambda: state(way.far)["all_clears"] == 1), refused(way.far)
        assert state(way.far)["warnings"] == 1
        tell(way, [down, up, down])
        assert soon(lambda: state(way.far)["replayed"] == 3), refused(way.far)
        seen = state(way.far)
        assert (seen["warnings"], seen["all_clears"], seen["frozen"]) == (1, 1, False)
        came = acked(log)
        assert soon(lambda: acked(log) > came + FULL / 2)


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_a_flood_of_forgeries_keeps_no_true_message_out(clean: None, tmp_path: Path) -> None:
    log = tmp_path / "sender"
    file = write_key(tmp_path / "key")
    key = bytes.fromhex(file.read_text())
    flood = (
        "import socket, sys\nsender = socket.socket(type=socket.SOCK_DGRAM)\n"
        "sender.connect(('127.0.0.1', 50007))\nforged = bytes.fromhex(sys.argv[1])\n"
        "while True: sender.send(forged)"
    )
    with path(RATE, ONE_WAY, QUEUE, key=file) as way, manager(way, *PATIENT) as process:
        fill(way, log)
        forged = sealed(bytes(32), 0, 0, 600).hex()
        flooding = way.start(way.far, sys.executable, "-c", flood, forged)
        assert soon(lambda: state(way.far)["forged"] > 10_000)
        # A full queue may lose a message; a router says it again until it is heard.
        assert soon(lambda: heard_a_warning(way, key))
        assert state(way.far)["frozen"]
        assert soon(lambda: rests(log))
        # Genuine ones are bounded in number. The flood rests meanwhile, as its queue would lose most of them.
        flooding.send_signal(signal.SIGSTOP)
        assert soon(lambda: has_read_all(way.far))
        tell(way, [sealed(key, 2, counter=time.time_ns() + number) for number in range(200)])
        assert soon(lambda: judged(way.far) == 200), refused(way.far)
        assert state(way.far)["requests"] < 150
        seen = state(way.far)["forged"]
        flooding.send_signal(signal.SIGCONT)
        assert soon(lambda: state(way.far)["forged"] > seen + 10_000)
        # The daemon ends when it is told to, in the midst of the flood.
        process.terminate()
        assert process.wait(PATIENCE) == 0
        flooding.kill()


@NEEDS_KERNEL
@NEEDS_PATH
@pytest.mark.parametrize("gone", [False, True])
@side_by_side
def test_a_hold_ends_by_itself(clean: None, tmp_path: Path, gone: bool) -> None:
    """Whoever warned, and if the daemon is gone: the bound is the kernel's too."""
    log = tmp_path / "sender"
    words = ("--longest", "5", *(["--clsact"] if gone else []))
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way, *words) as process:
        fill(way, log)
        assert state(way.far)["longest_s"] == 5
        trigger(way, "down", "--for", "600")
        begun = time.monotonic()
        assert soon(lambda: state(way.far)["frozen"])
        assert 0 < state(way.far)["bound_s"] <= 5
        if gone:
            process.kill()
        else:
            # What prolongs it does so within the bound.
            trigger(way, "down", "--for", "600")
        assert soon(lambda: rests(log), 4)
        came = acked(log)
        assert soon(lambda: acked(log) > came)
        assert time.monotonic() - begun > 4
        assert soon(lambda: acked(log) > came + FULL / 2)
        # By the bound, and not since a segment came after the announced end.
        assert state(way.far)["let_go"] == 0
        if gone:
            in_namespace(way.far, "clean")
        else:
            assert refused(way.far) == {"bounded": 1}
            assert not connection(way.far)["frozen"]


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_without_a_key_one_routers_address_counts_and_that_is_said(clean: None, tmp_path: Path) -> None:
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE) as way:
        device = interface(way.far)
        # All of 127/8 is this host's.
        words = ["load", "--interface", device, "--router", "127.0.0.7", "--json"]
        try:
            done = subprocess.run(
                [
                    "/usr/bin/env",
                    "ip",
                    "netns",
                    "exec",
                    way.far,
                    sys.executable,
                    "-m",
                    "cogtcp",
                    "freeze",
                    *words,
                ],
                capture_output=True,
                text=True,
                check=True,
            )
            assert "not authenticated: anyone who can send from 127.0.0.7" in done.stderr
            assert json.loads(done.stdout)["authenticated"] is False
            assert "not authenticated" in freeze("status").stdout
            fill(way, log)
            tell(way, [message(0, 0, 600)])
            assert soon(lambda: refused(way.far) == {"ignored": 1})
            assert not state(way.far)["frozen"]
            tell(way, [message(0, 0, 600)], source="127.0.0.7")
            assert soon(lambda: rests(log))
        finally:
            in_namespace(way.far, "unload")
    with path(RATE, ONE_WAY, QUEUE) as way, manager(way, "--router", ROUTER):
        way.outage(0.1, warning_s=0.1, comes=False)
        assert soon(lambda: state(way.far)["all_clears"] == 1), refused(way.far)


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_whoever_holds_it_is_frozen_no_more_when_it_ends(clean: None, tmp_path: Path) -> None:
    log = tmp_path / "sender"
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way, manager(way) as process:
        fill(way, log)
        trigger(way, "down", "--for", "600")
        assert soon(lambda: rests(log))
        came = acked(log)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        assert soon(lambda: acked(log) > came + FULL / 2)


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_a_kill_leaves_nothing_or_what_clean_removes(clean: None, tmp_path: Path) -> None:
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way:

        def qdiscs() -> str:
            return sh("ip", "netns", "exec", way.far, "tc", "qdisc", "show", "dev", interface(way.far))

        with manager(way) as process:
            if state(way.far)["attached_by"] == "tcx":
                process.kill()
                assert soon(lambda: not on(way.far)), "links end with their process"
        with manager(way, "--clsact") as process:
            assert "clsact" in qdiscs()
            process.kill()
            process.wait()
            (left,) = on(way.far)
            assert not left["alive"]
            assert "left behind" in freeze("status").stdout
        # Not of this namespace.
        assert json.loads(freeze("clean", "--json").stdout) == {"cleaned": []}
        said = in_namespace(way.far, "clean")
        assert said == f"{interface(way.far)}: removed the filters and the qdisc of a killed manager\n"
        assert "clsact" not in qdiscs()
        assert soon(lambda: not on(way.far))


@NEEDS_KERNEL
@NEEDS_PATH
@side_by_side
def test_load_and_unload(clean: None, tmp_path: Path) -> None:
    with path(RATE, ONE_WAY, QUEUE, key=write_key(tmp_path / "key")) as way:
        device = interface(way.far)
        try:
            said = json.loads(
                in_namespace(way.far, "load", "--interface", device, "--key", way.key, "--json")
            )
            assert (said["interface"], said["port"], said["connections"]) == (device, 50007, [])
            assert device in freeze("status").stdout
            # Of another namespace nothing is ended.
            done = freeze("unload")
            assert (done.returncode, "in this network namespace" in done.stderr) == (1, True)
        finally:
            assert json.loads(in_namespace(way.far, "unload", "--json")) == {"unloaded": 1}
        # The process that held the manager ends after the answer.
        for _ in range(50):
            if not on(way.far):
                break
            time.sleep(0.1)
        assert on(way.far) == []


@NEEDS_KERNEL
def test_who_is_not_root_is_told(built: None) -> None:
    nobody = 65534
    done = subprocess.run(
        [PROGRAM, "load", "--interface", "lo", "--router", "127.0.0.1"],
        capture_output=True,
        text=True,
        check=False,
        user=nobody,
        group=nobody,
    )
    assert done.returncode == 1
    assert done.stderr.endswith(
        "cogtcp freeze load needs root (CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW)\n"
    )


@NEEDS_KERNEL
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--interface", "lo"], "give --key FILE"),
        (["--interface", "lo", "--key", "/nowhere"], "cogtcp freeze key /nowhere makes one"),
        (["--interface", "lo", "--router", "127.0.0.1", "--longest", "0"], "from 0.001 to 86400"),
        (["--interface", "lo", "--router", "127.0.0.1", "--freshness", "2 h"], "from 0.001 to 3600"),
        (["--interface", "nowhere", "--router", "127.0.0.1"], 'there is no interface "nowhere"'),
        (["--interface", "lo", "--listen", "lots"], "give a UDP port"),
        (["--interface", "lo", "--listen", "10.0.0.300:5"], "give a UDP port"),
        (["--interface", "lo", "--router", "here"], "give an IPv4 or IPv6 address"),
    ],
)
def test_wrong_words_are_told(built: None, words: list[str], says: str) -> None:
    done = freeze("load", *words)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


@NEEDS_KERNEL
def test_the_verifiers_reason_is_shown(built: None, tmp_path: Path) -> None:
    # A program that reads an entry which may not be there.
    (tmp_path / "freeze").mkdir()
    for file in ("freeze.bpf.c", "freeze.h"):
        shutil.copy(ROOT / "bpf/freeze" / file, tmp_path / "freeze")
    text = (tmp_path / "freeze/freeze.bpf.c").read_text()
    broken_text = text.replace("\tif (!its)\n\t\treturn PASS;\n", "")
    assert broken_text != text
    (tmp_path / "freeze/freeze.bpf.c").write_text(broken_text)
    machine = {"x86_64": "x86", "aarch64": "arm64"}[os.uname().machine]
    options = ["-O2", "-g", "-target", "bpf", f"-D__TARGET_ARCH_{machine}", f"-I{PROGRAM.parent}"]
    broken = str(tmp_path / "broken.o")
    sh("clang", *options, "-c", str(tmp_path / "freeze/freeze.bpf.c"), "-o", broken)
    done = freeze("load", "--interface", "lo", "--router", "127.0.0.1", "--object", broken)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the kernel's verifier refuses a program of" in done.stderr
    assert "map_value_or_null" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) < 11
    # Others may run beside this one.
    assert not [it for it in status() if it["interface"] == "lo"]


SERVER = """\
import socket
server = socket.create_server(("", 5000), family=socket.AF_INET6, dualstack_ipv6=True)
print("ready", flush=True)
connection = server.accept()[0]
while connection.recv(1 << 20):
    pass
"""
PACED = """\
import socket, struct, sys, time
address, log = sys.argv[1], open(sys.argv[2], "w")
connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
connection.setsockopt(socket.SOL_SOCKET, 47, 1 << 20)  # SO_MAX_PACING_RATE, B/s
connection.setsockopt(socket.IPPROTO_TCP, 13, b"cubic")
until = time.monotonic() + 60
while connection.connect_ex((address, 5000)) and time.monotonic() < until:
    time.sleep(0.1)
connection.setblocking(False)
while True:
    try:
        connection.send(bytes(1 << 14))
    except BlockingIOError:
        pass
    acked = struct.unpack_from("Q", connection.getsockopt(6, socket.TCP_INFO, 128), 120)[0]
    print(acked, file=log, flush=True)
    time.sleep(0.02)
"""


@NEEDS_KERNEL
@NEEDS_PATH
@pytest.mark.parametrize("address", ["10.68.0.2", "fd00::2"])
@side_by_side
def test_ethernet_and_ipv6(clean: None, tmp_path: Path, address: str) -> None:
    """A pair of Ethernet devices, with the offloads that they have: segments of many packets."""
    version = 6 if ":" in address else 4
    near, far = (f"{name}{version}x{os.getpid()}" for name in ("frn", "frf"))
    log = tmp_path / "acked"
    key = write_key(tmp_path / "key")
    processes: list[subprocess.Popen[bytes]] = []

    def start(namespace: str, *words: str) -> subprocess.Popen[bytes]:
        command = ["ip", "netns", "exec", namespace, *words]
        started = subprocess.Popen(command, stdout=subprocess.PIPE)
        processes.append(started)
        return started

    def acknowledged() -> int:
        lines = log.read_text().split("\n")[:-1] if log.exists() else []
        return int(lines[-1]) if lines else 0

    def goes_on() -> bool:
        last = acknowledged()
        return soon(lambda: acknowledged() > last + 100_000)

    def stops() -> bool:
        last = acknowledged()
        return not soon(lambda: acknowledged() > last, 0.5)

    try:
        for namespace in (near, far):
            sh("ip", "netns", "add", namespace)
            sh("ip", "-n", namespace, "link", "set", "lo", "up")
        sh("ip", "link", "add", near, "netns", near, "type", "veth", "peer", "name", far, "netns", far)
        for namespace, number in ((near, 1), (far, 2)):
            sh("ip", "-n", namespace, "addr", "add", f"10.68.0.{number}/24", "dev", namespace)
            sh("ip", "-n", namespace, "addr", "add", f"fd00::{number}/64", "dev", namespace, "nodad")
            sh("ip", "-n", namespace, "link", "set", namespace, "up")
        listening = start(far, sys.executable, "-c", SERVER)
        assert listening.stdout
        assert listening.stdout.readline() == b"ready\n"
        start(near, sys.executable, "-c", PACED, address, str(log))
        # Far and near: the receiving end of the data, then the sending one.
        for namespace in (far, near):
            in_namespace(namespace, "load", "--interface", namespace, "--key", str(key))
            assert goes_on()
            in_namespace(namespace, "trigger", "down", "--for", "600", "--key", str(key))
            assert soon(stops), state(namespace)
            (found,) = [
                it for it in state(namespace)["connections"] if 5000 in (it["local_port"], it["remote_port"])
            ]
            assert {found["local"], found["remote"]} == {address, address[:-1] + "1"}
            in_namespace(namespace, "trigger", "up", "--key", str(key))
            assert goes_on()
            in_namespace(namespace, "unload")
            assert goes_on()
    finally:
        for process in processes:
            process.kill()
            process.communicate()
        for namespace in (near, far):
            with suppress(subprocess.CalledProcessError):
                in_namespace(namespace, "unload")
            sh("ip", "netns", "del", namespace)


# Without the kernel.


def test_the_message_is_the_routers() -> None:
    """The bytes by hand of `crates/train/src/wire.rs`, but for the number of the prediction."""
    going_down = bytes.fromhex(
        "43475446 01 00 0000 00000000 00000000000493e0 0000000000231860 0000000000000000"
    )
    assert message(0, 0.3, 2.3) == going_down
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        client.settimeout(60)
        to = f"127.0.0.1:{client.getsockname()[1]}"
        assert freeze("trigger", "down", "--to", to, "--in", "300 ms", "--for", "2 s").returncode == 0
        assert client.recv(100) == going_down
        done = freeze("trigger", "up", "--to", to, "--json")
        said = {"sent": "up", "to": "127.0.0.1", "port": client.getsockname()[1], "rtt_s": None}
        assert json.loads(done.stdout) == said
        assert client.recv(100) == message(1)


def test_a_wrong_destination_is_told() -> None:
    for wrong in ("nowhere", "127.0.0.1:0", "127.0.0.1:70000", "[::1"):
        done = freeze("trigger", "up", "--to", wrong)
        assert (done.returncode, "give ADDRESS or ADDRESS:PORT" in done.stderr) == (2, True), done.stderr


def test_nobody_replies() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        to = f"127.0.0.1:{gone.getsockname()[1]}"
    done = freeze("trigger", "request", "--to", to, env=os.environ | {"PYTHONWARNINGS": "error"})
    assert (done.returncode, "is the manager loaded there" in done.stderr) == (1, True), done.stderr
