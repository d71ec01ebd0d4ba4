"""Which messages `cogtcp freeze` obeys: its guard under a clock made by hand, its key files, `trigger`."""

from __future__ import annotations

import ctypes
import hmac
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import _core
from kernel_path import message, sealed, write_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
KEY = bytes(range(32))
OBEYED, IGNORED, UNSEALED, REPLAYED, STALE, FLOODED = range(6)
DOWN, UP, REQUEST, REPLY = range(4)
ROUTER = bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 1))
OTHER = bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 2))
SECOND = 10**9
#: When the daemon of these tests began, s since 1970, and how far sending times may be off.
BEGUN, FRESHNESS = 1_700_000_000, 2


class Guard(ctypes.Structure):
    """`struct guard` of bpf/freeze/guard.h."""

    _fields_ = (
        ("key", ctypes.c_ubyte * 32),
        ("has_key", ctypes.c_int),
        ("router", ctypes.c_uint32 * 4),
        ("freshness_us", ctypes.c_uint64),
        ("begun_us", ctypes.c_uint64),
        ("counter", ctypes.c_uint64),
        ("counted_ns", ctypes.c_uint64),
        ("obeyed_ns", ctypes.c_uint64),
    )


class Message(ctypes.Structure):
    """`struct message` of bpf/freeze/message.h."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("prediction", ctypes.c_uint32),
        ("start_us", ctypes.c_int64),
        ("until_us", ctypes.c_int64),
        ("rtt_us", ctypes.c_uint64),
        ("counter", ctypes.c_uint64),
        ("sent_us", ctypes.c_uint64),
    )


class Allowance(ctypes.Structure):
    """`struct allowance` of bpf/freeze/guard.h."""

    _fields_ = (
        ("longest", ctypes.c_uint64),
        ("credit", ctypes.c_uint64),
        ("since", ctypes.c_uint64),
        ("is_held", ctypes.c_int),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Compile the parts of the daemon that need no kernel."""
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or not compiler:
        pytest.skip("needs Linux and a C compiler")
    if not Path("/usr/include/openssl/hmac.h").exists():
        pytest.skip("not installed: libssl-dev")
    folder = ROOT / "bpf/freeze"
    sources = [str(folder / f"{name}.c") for name in ("guard", "message", "key")]
    sources += [str(ROOT / "bpf/user/say.c")]
    built = tmp_path_factory.mktemp("guard") / "guard.so"
    own = built.with_name("own.c")
    own.write_text('const char CAPABILITIES[] = "";\n')
    words = ["-D_GNU_SOURCE", "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(built)]
    done = subprocess.run(
        [compiler, *words, *sources, str(own), "-lcrypto"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = ctypes.CDLL(str(built), mode=os.RTLD_LAZY)
    loaded.begin_hold.restype = ctypes.c_uint64
    loaded.write_reply.restype = ctypes.c_size_t
    return loaded


class Daemon:
    """A guard, and a clock that the test moves; `at` is s since the daemon began."""

    def __init__(self, library: ctypes.CDLL, key: bytes | None = KEY, router: bytes = bytes(16)) -> None:
        self.library, self.at = library, 1.0
        self.guard = Guard(freshness_us=FRESHNESS * 1_000_000, begun_us=BEGUN * 1_000_000)
        self.guard.has_key = key is not None
        ctypes.memmove(self.guard.key, key or bytes(32), 32)
        ctypes.memmove(self.guard.router, router, 16)
        self.read = Message()

    def judge(self, datagram: bytes, source: bytes = ROUTER) -> int:
        return int(
            self.library.judge(
                ctypes.byref(self.guard),
                datagram,
                ctypes.c_size_t(len(datagram)),
                source,
                ctypes.c_uint64(round((BEGUN + self.at) * 1e6)),
                ctypes.c_uint64(round((1000 + self.at) * SECOND)),
                ctypes.byref(self.read),
            )
        )

    def says(self, kind: int, counter: int, sent_at: float | None = None, key: bytes = KEY) -> bytes:
        """Return a message sent now, or at another time."""
        sent = BEGUN + (self.at if sent_at is None else sent_at)
        return sealed(key, kind, 0.3, 2.3, counter=counter, sent_s=sent)


@pytest.fixture
def daemon(library: ctypes.CDLL) -> Daemon:
    return Daemon(library)


def test_a_sealed_message_is_obeyed(daemon: Daemon) -> None:
    assert daemon.judge(daemon.says(DOWN, 5)) == OBEYED
    its = daemon.read
    assert (its.kind, its.start_us, its.until_us, its.counter) == (DOWN, 300_000, 2_300_000, 5)


def test_forged(daemon: Daemon) -> None:
    good = daemon.says(DOWN, 5)
    assert daemon.judge(daemon.says(DOWN, 5, key=bytes(32))) == UNSEALED
    # Not sealed at all: what everybody could send before there were keys.
    assert daemon.judge(message(DOWN, 0.3, 2.3)) == UNSEALED
    # Whatever bit is changed, of message, stamp or hash.
    for bit in range(8 * len(good)):
        forged = bytearray(good)
        forged[bit // 8] ^= 1 << bit % 8
        assert daemon.judge(bytes(forged)) in (UNSEALED, IGNORED), bit
    assert daemon.judge(good) == OBEYED


def test_truncated(daemon: Daemon) -> None:
    good = daemon.says(DOWN, 5)
    assert {daemon.judge(good[:size]) for size in range(len(good))} == {IGNORED}
    assert daemon.judge(good + b"\0") == IGNORED
    # What is left of it says that it is of version 1.
    assert daemon.judge(good[:4] + b"\1" + good[5:36]) == UNSEALED


def test_any_bytes(daemon: Daemon) -> None:
    drawn = random.Random(1)
    for _ in range(20_000):
        size = drawn.choice((0, 1, 35, 36, 37, 83, 84, 85))
        head = b"CGTF" + bytes((drawn.choice((0, 1, 2, 3)), drawn.choice((0, 1, 2, 3, 4, 255))))
        datagram = (head + drawn.randbytes(size))[:size]
        assert daemon.judge(datagram) in (IGNORED, UNSEALED), datagram


def test_replayed(daemon: Daemon) -> None:
    down, up = daemon.says(DOWN, 5), daemon.says(UP, 6)
    assert [daemon.judge(it) for it in (down, down, up, down, up)] == [
        OBEYED,
        REPLAYED,
        OBEYED,
        REPLAYED,
        REPLAYED,
    ]
    # One overtaken on its way is out of date too.
    late, early = daemon.says(DOWN, 8), daemon.says(UP, 7)
    assert [daemon.judge(late), daemon.judge(early)] == [OBEYED, REPLAYED]


def test_a_forgery_moves_no_counter(daemon: Daemon) -> None:
    assert daemon.judge(daemon.says(DOWN, 2**64 - 1, key=bytes(32))) == UNSEALED
    assert daemon.judge(daemon.says(DOWN, 2**64 - 1, sent_at=-0.5)) == STALE
    assert daemon.judge(daemon.says(DOWN, 5)) == OBEYED


def test_late_and_early(daemon: Daemon) -> None:
    daemon.at = 100
    for counter, (sent_at, verdict) in enumerate(
        [(97.999, STALE), (98, OBEYED), (102, OBEYED), (102.001, STALE), (1e9, STALE)], start=1
    ):
        assert daemon.judge(daemon.says(DOWN, counter, sent_at=sent_at)) == verdict, sent_at


def test_what_was_sent_before_the_daemon_began_may_be_a_replay(daemon: Daemon) -> None:
    daemon.at = 0.5
    assert daemon.judge(daemon.says(DOWN, 5, sent_at=-0.000001)) == STALE
    assert daemon.judge(daemon.says(DOWN, 5, sent_at=0)) == OBEYED


def test_without_a_key_one_address_counts(library: ctypes.CDLL) -> None:
    daemon = Daemon(library, key=None, router=ROUTER)
    down = message(DOWN, 0.3, 2.3)
    assert [daemon.judge(down, source) for source in (OTHER, ROUTER)] == [IGNORED, OBEYED]
    # Nobody there could verify it.
    assert daemon.judge(daemon.says(DOWN, 5)) == IGNORED


def test_a_key_and_an_address(library: ctypes.CDLL) -> None:
    daemon = Daemon(library, router=ROUTER)
    down = daemon.says(DOWN, 5)
    assert [daemon.judge(down, source) for source in (OTHER, ROUTER)] == [IGNORED, OBEYED]


def test_a_reply_is_no_message_to_the_daemon(daemon: Daemon) -> None:
    assert daemon.judge(daemon.says(REPLY, 5)) == IGNORED
    assert daemon.judge(daemon.says(REQUEST, 5)) == OBEYED


def test_a_kind_of_another_version_is_no_message(library: ctypes.CDLL, daemon: Daemon) -> None:
    assert daemon.judge(daemon.says(4, 5)) == IGNORED
    assert Daemon(library, key=None, router=ROUTER).judge(message(255)) == IGNORED


def test_flooded(daemon: Daemon) -> None:
    """20 messages a second at most cost ACKs, of those that are genuine."""
    flood = [daemon.judge(daemon.says(DOWN, counter)) for counter in range(1, 1001)]
    assert (flood[:20], set(flood[20:])) == ([OBEYED] * 20, {FLOODED})
    daemon.at += 0.05
    assert [daemon.judge(daemon.says(UP, 2000 + more)) for more in range(2)] == [OBEYED, FLOODED]
    daemon.at += 3600
    assert [daemon.judge(daemon.says(UP, 3000 + more)) for more in range(21)] == [OBEYED] * 20 + [FLOODED]


def test_forgeries_use_nothing_up(daemon: Daemon) -> None:
    for _ in range(1000):
        assert daemon.judge(daemon.says(DOWN, 5, key=bytes(32))) == UNSEALED
    assert [daemon.judge(daemon.says(DOWN, counter)) for counter in range(1, 21)] == [OBEYED] * 20


@pytest.fixture
def allowance(library: ctypes.CDLL) -> Callable[[str, float], float | None]:
    """Return `begin` and `end` of holds of 60 s at most, in s."""
    its = Allowance(longest=60 * SECOND, credit=60 * SECOND, since=1000 * SECOND)

    def call(verb: str, at: float) -> float | None:
        function = getattr(library, f"{verb}_hold")
        result = function(ctypes.byref(its), ctypes.c_uint64(round((1000 + at) * SECOND)))
        return result / SECOND - 1000 if verb == "begin" and result else None

    return call


def test_a_hold_ends_after_the_bound(allowance: Callable[[str, float], float | None]) -> None:
    assert allowance("begin", 10) == 70
    # More warnings do not prolong it beyond.
    assert allowance("begin", 50) == 70
    allowance("end", 70)
    # Used up: a tenth of it has to be regained.
    assert allowance("begin", 70) is None
    assert allowance("begin", 75.9) is None
    assert allowance("begin", 76) == 82


def test_outages_with_time_between_them_are_held_in_full(
    allowance: Callable[[str, float], float | None],
) -> None:
    for at in range(0, 1000, 100):
        assert allowance("begin", at) == at + 60
        allowance("end", at + 40)


def test_who_warns_all_the_time_holds_half_of_it(allowance: Callable[[str, float], float | None]) -> None:
    """Whatever the pattern: here a warning every 100 ms, and all-clears that reset nothing."""
    held, at = 0.0, 0.0
    while at < 6000:
        bound = allowance("begin", at)
        if bound is not None:
            until = min(bound, at + 3)
            held += until - at
            at = until
            allowance("end", at)
        at += 0.1
    # The first hold of 60 s was not earned.
    assert 2500 < held <= 3000 + 60


# Messages of three writers: Rust, C and these tests by Python's standard library.


def test_trigger_seals_as_written_by_hand() -> None:
    for kind, times in (("down", (300_000, 2_300_000)), ("up", (0, 0)), ("request", (0, 0))):
        number = ("down", "up", "request").index(kind)
        sent_us = BEGUN * 1_000_000 + 1
        by_hand = struct.pack(">4sBBHIqqQQQ", b"CGTF", 2, number, 0, 0, *times, 0, 7, sent_us)
        by_hand += hmac.new(KEY, by_hand, "sha256").digest()
        assert _core.write_freeze_message(kind, *times, (KEY, 7, sent_us)) == by_hand
        assert len(by_hand) == 84


def test_replies(library: ctypes.CDLL) -> None:
    request, room = Message(kind=REQUEST, counter=77), ctypes.create_string_buffer(84)

    def reply(key: bytes | None) -> bytes:
        rtt, sent = ctypes.c_uint64(54_321), ctypes.c_uint64(BEGUN * 1_000_000)
        size = library.write_reply(rtt, ctypes.byref(request), sent, key, room)
        return room.raw[:size]

    assert _core.read_freeze_reply(reply(None), None) == 54_321
    assert _core.read_freeze_reply(reply(KEY), (KEY, 77)) == 54_321
    # Of another request, by another key, not sealed.
    assert _core.read_freeze_reply(reply(KEY), (KEY, 78)) is None
    assert _core.read_freeze_reply(reply(bytes(32)), (KEY, 77)) is None
    assert _core.read_freeze_reply(reply(None), (KEY, 77)) is None
    # The request itself, sent back.
    assert _core.read_freeze_reply(sealed(KEY, REQUEST, counter=77), (KEY, 77)) is None


def freeze(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cogtcp", "freeze", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def host() -> Iterator[tuple[socket.socket, str]]:
    with socket.socket(type=socket.SOCK_DGRAM) as its:
        its.bind(("127.0.0.1", 0))
        its.settimeout(60)
        yield its, f"127.0.0.1:{its.getsockname()[1]}"


def test_trigger_sends_what_the_guard_obeys(
    daemon: Daemon, tmp_path: Path, host: tuple[socket.socket, str]
) -> None:
    socket_, to = host
    key = write_key(tmp_path / "key")
    ctypes.memmove(daemon.guard.key, bytes.fromhex(key.read_text()), 32)
    for number in range(2):
        assert freeze("trigger", "down", "--to", to, "--key", str(key)).returncode == 0
        sent = socket_.recv(100)
        daemon.at = struct.unpack_from(">Q", sent, 44)[0] / 1e6 - BEGUN
        assert daemon.judge(sent) == OBEYED, number
    assert daemon.judge(sent) == REPLAYED


def test_a_forged_reply_is_not_believed(tmp_path: Path, host: tuple[socket.socket, str]) -> None:
    socket_, to = host
    key = write_key(tmp_path / "key")

    def answer() -> None:
        request, asker = socket_.recvfrom(100)
        counter = struct.unpack_from(">Q", request, 36)[0]
        for forged in (message(REPLY), sealed(bytes(32), REPLY, counter=counter), request, b""):
            socket_.sendto(forged, asker)
        body = bytearray(sealed(KEY, REPLY, counter=counter)[:52])
        body[28:36] = (123_000).to_bytes(8, "big")
        true = bytes(body) + hmac.digest(bytes.fromhex(key.read_text()), bytes(body), "sha256")
        socket_.sendto(true, asker)

    other = threading.Thread(target=answer)
    other.start()
    done = freeze("trigger", "request", "--to", to, "--key", str(key), "--json")
    other.join()
    assert json.loads(done.stdout)["rtt_s"] == 0.123, done.stderr


# Key files.


def test_a_key_file_is_of_mode_600(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        done = freeze("key", str(path))
        assert (done.returncode, str(path) in done.stdout) == (0, True), done.stderr
        assert path.stat().st_mode & 0o7777 == 0o600
        assert len(bytes.fromhex(path.read_text())) == 32
    assert one.read_text() != other.read_text()
    kept = one.read_text()
    done = freeze("key", str(one))
    assert (done.returncode, "exists" in done.stderr, one.read_text()) == (2, True, kept)


def _by_python(key: Path) -> tuple[int, str]:
    done = freeze("trigger", "up", "--to", "127.0.0.1:9", "--key", str(key))
    return done.returncode, done.stderr


@pytest.fixture(params=["C", "Python"])
def reader(request: Any, library: ctypes.CDLL, capfd: pytest.CaptureFixture[str]) -> Any:
    """Return who reads a key file: the daemon, or `trigger`. Both return an exit code and what they said."""
    if request.param == "Python":
        return _by_python

    def by_c(key: Path) -> tuple[int, str]:
        code = library.read_key(str(key).encode(), ctypes.create_string_buffer(32))
        ctypes.CDLL(None).fflush(None)
        return code, capfd.readouterr().err

    return by_c


def test_keys_that_are_refused(tmp_path: Path, reader: Callable[[Path], tuple[int, str]]) -> None:
    key = write_key(tmp_path / "key")
    assert reader(key)[0] == 0
    for mode in (0o640, 0o604, 0o620, 0o644):
        key.chmod(mode)
        code, said = reader(key)
        assert (code, f"mode {mode:o}" in said, f"chmod 600 {key}" in said) == (2, True, True), said
    key.chmod(0o600)
    for text in ("", "0" * 63, "0" * 65, "g" * 64, "0" * 64 + "x", "0" * 64 + "\0"):
        key.write_text(text)
        code, said = reader(key)
        assert (code, "64 hexadecimal digits" in said) == (2, True), (text, said)
    key.write_text("aB" * 32 + "\r\n")
    assert reader(key)[0] == 0
    code, said = reader(tmp_path / "none")
    assert (code, "cogtcp freeze key" in said) == (2, True), said
    os.mkfifo(tmp_path / "fifo", 0o600)
    code, said = reader(tmp_path / "fifo")
    assert (code, "not a regular file" in said) == (2, True), said
