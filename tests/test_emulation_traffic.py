"""Applications that ask, IPv6 and the devices of the kernel plane."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cogtcp import Scenario, UsageError, run
from cogtcp.kernel.emulation import emulate
from cogtcp.kernel.emulation.journal import ARRIVED, OFFERED, read
from conftest import Command, command_line, side_by_side
from test_emulation import PLAIN, as_in_time, on_kernel, scenario, text

if TYPE_CHECKING:
    from pathlib import Path

    from cogtcp.kernel.emulation import Emulation

IN_VIRTUAL_TIME = True

REQUESTS = """\
traffic = { requests = { response = { fixed = "50 kB" }, pace = { think = { fixed = "100 ms" } }%s } }
"""


def requests_of(result: Emulation, *, answered: bool = True) -> list[dict[str, float]]:
    rows = result.rows("requests")
    return [row for row in rows if row["completed_s"] == row["completed_s"] or not answered]


@on_kernel
@side_by_side
def test_requests_take_as_long_as_in_the_simulation() -> None:
    """The client asks over a connection that it opens: its first answer takes a round trip more."""
    asked = scenario(duration="3 s", traffic=REQUESTS % "")
    emulated, simulated = emulate(asked), run(asked)
    flow, answered = emulated.rows("flows")[0], requests_of(emulated)
    assert {row["response_bytes"] for row in emulated.rows("requests")} == {50_000}
    assert 50_000 * len(answered) <= flow["delivered_bytes"] < 50_000 * (len(answered) + 1)
    # One after the other: never before the answer to the one before.
    for before, after in itertools.pairwise(answered):
        assert after["sent_s"] >= before["completed_s"] + 0.1 - 1e-9
    # 51.8 kB with headers at 8 Mbit/s, and a round trip of 20 ms.
    assert min(row["completion_time_s"] for row in answered) > 0.0718
    with as_in_time(emulated):
        expected = simulated.rows("request_flows")[0]
        measured = emulated.rows("request_flows")[0]
        assert measured["answered_requests"] == pytest.approx(expected["answered_requests"], abs=2)
        assert measured["completion_p50_s"] == pytest.approx(expected["completion_p50_s"], rel=0.1)
        assert answered[0]["completion_time_s"] > answered[1]["completion_time_s"] + 0.015
        assert measured["repeats"] == 0
        assert 0.0215 < flow["rtt_min_s"] < 0.1


@on_kernel
@side_by_side
def test_each_request_may_have_a_connection_of_its_own() -> None:
    asked = scenario(duration="2 s", traffic=REQUESTS % ', connection = "new"')
    result = emulate(asked)
    requests = requests_of(result, answered=False)
    opened = [row for row in result.events.to_pylist() if row["kind"] == "connected"]
    assert len(requests) >= 2
    # One that was sent as the run ended may not be open.
    assert len(opened) in (len(requests), len(requests) - 1)
    # Each begins with a handshake: 20 ms more than on a connection that is open.
    assert min(row["completion_time_s"] for row in requests_of(result)) > 0.0918
    # 35 segments of 1460 bytes each, of connections that have ended too.
    flow = result.rows("flows")[0]
    assert flow["sent_segments"] >= 35 * len(requests_of(result))


@on_kernel
@side_by_side
def test_an_open_loop_of_requests_does_not_wait() -> None:
    pace = 'pace = { every = { fixed = "50 ms" } }'
    traffic = f'traffic = {{ requests = {{ response = {{ fixed = "20 kB" }}, {pace} }} }}'
    result = emulate(scenario(duration="2 s", traffic=traffic, link=f"{PLAIN}, drops = [20]"))
    sent = [row["sent_s"] for row in requests_of(result, answered=False)]
    # 50 ms apart, whatever became of the one before: a loss holds up answers, not questions.
    with as_in_time(result):
        assert sent == pytest.approx([0.05 * number for number in range(len(sent))], abs=0.02)
        assert len(sent) == pytest.approx(40, abs=1)
    assert result.rows("flows")[0]["retransmitted_segments"] >= 1


@on_kernel
@side_by_side
def test_a_video_stalls_where_the_link_is_too_slow() -> None:
    video = 'traffic = { video = { rate = "%s", chunk = "500 ms", startup = "500 ms", buffer = "1 s" } }'
    slow, fast = (
        emulate(scenario(duration="3 s", traffic=video % rate)) for rate in ("16 Mbit/s", "2 Mbit/s")
    )
    stalled, smooth = slow.rows("videos")[0], fast.rows("videos")[0]
    # A chunk of 1 MB takes a second and plays half of one.
    with as_in_time(slow):
        assert stalled["stalls"] >= 1
    assert {row["chunk_bytes"] for row in slow.rows("chunks")} == {1_000_000}
    with as_in_time(fast):
        assert (smooth["stalls"], smooth["chunks"]) == (0, pytest.approx(7, abs=1))
        assert 0.125 < smooth["startup_s"] < 0.4


@on_kernel
@pytest.mark.parametrize("device", ["tun", "veth"])
@side_by_side
def test_flows_use_ipv6_if_they_are_to(tmp_path: Path, device: str) -> None:
    written = text(duration="1500 ms", traffic='traffic = { size = "300 kB" }') + (
        '\n[[udp]]\nname = "voice"\nfrom = "receiver"\nto = "sender"\nsize = "1000 B"\n'
        'pattern = { constant = "1 Mbit/s" }\n'
    )
    file = tmp_path / "journal"
    result = emulate(Scenario.from_toml(written), ipv6=True, device=device, journal=file, captures=True)
    packets = [record.data for record in read(file) if record.step in (OFFERED, ARRIVED)]
    assert {data[0] >> 4 for data in packets} == {6}
    assert result.timing["device"] == device
    with as_in_time(result):
        # 1460 bytes of payload, 20 of TCP, 12 of timestamps, 40 of IPv6.
        assert max(len(data) for data in packets) == 1532
        assert result.rows("flows")[0]["delivered_bytes"] == 300_000
        assert result.rows("datagrams")[0]["received_packets"] > 150


@on_kernel
@side_by_side
def test_small_segments_stay_small_over_ipv6(tmp_path: Path) -> None:
    """No interface with IPv6 has an MTU below 1280: sockets keep segments small."""
    small = (
        text(duration="1 s", traffic='traffic = { size = "50 kB" }') + 'tcp = { segment_size = "500 B" }\n'
    )
    file = tmp_path / "journal"
    emulate(Scenario.from_toml(small), ipv6=True, journal=file, captures=True)
    sizes = [record.size for record in read(file) if record.step == OFFERED]
    assert max(sizes) == 500 + 20 + 12 + 40


@on_kernel
@side_by_side
def test_programs_may_use_either_protocol(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text())
    (tmp_path / "serve.py").write_text(
        "import socket\n"
        "s = socket.create_server(('', 7000), family=socket.AF_INET6, dualstack_ipv6=True)\n"
        "while True: s.accept()[0].sendall(b'over here')\n"
    )
    (tmp_path / "ask.py").write_text(
        "import os, socket, time\n"
        "for name in ('COGTCP_PEER', 'COGTCP_PEER6'):\n"
        "    for attempt in range(100):\n"
        "        try:\n"
        "            print(name, socket.create_connection((os.environ[name], 7000)).recv(9).decode())\n"
        "            break\n"
        "        except ConnectionRefusedError:\n"
        "            time.sleep(0.2)\n"
    )
    python = shutil.which("python3") or "python3"
    done = command(
        "emulate", "link.toml", "--out", "o", "--peer", f"{python} serve.py", "--", python, "ask.py"
    )
    assert done.code == 0, done.err
    assert "COGTCP_PEER over here" in done.out
    assert "COGTCP_PEER6 over here" in done.out


def _sum(data: bytes) -> int:
    words = sum(int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big") for at in range(0, len(data), 2))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return words


@on_kernel
@side_by_side
def test_virtual_ethernet_carries_what_a_wire_would(tmp_path: Path) -> None:
    """No packet is over the MTU, and every checksum is right: offloads are off."""
    file = tmp_path / "journal"
    result = emulate(scenario(duration="2 s"), device="veth", journal=file, captures=True)
    assert result.timing["device"] == "veth"
    packets = [record.data for record in read(file) if record.step in (OFFERED, ARRIVED)]
    with as_in_time(result):
        # A packet socket that nobody reads for a while drops what does not fit.
        assert result.timing["device_drops"] == 0
        assert len(packets) > 500
    assert len(packets) > 10
    for data in packets:
        assert len(data) <= 1512
        assert _sum(data[:20]) == 0xFFFF
        pseudo = data[12:20] + bytes([0, data[9]]) + (len(data) - 20).to_bytes(2, "big")
        assert _sum(pseudo + data[20:]) == 0xFFFF
    with as_in_time(result):
        assert 6e6 < result.metrics["goodput_bps"] < 7.75e6


@on_kernel
@side_by_side
def test_virtual_ethernet_stands_in_where_there_is_no_tun(tmp_path: Path) -> None:
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("hiding /dev/net/tun takes root and unshare")
    (tmp_path / "link.toml").write_text(text(duration="1 s"))
    hidden = 'mount -t tmpfs none /dev/net && exec "$@"'
    emulated = command_line("emulate", "link.toml", "--out", "out")
    arguments = [str(shutil.which("unshare")), "-m", "sh", "-c", hidden, "sh", *emulated]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "mount" in done.stderr:
        pytest.skip(f"/dev/net cannot be hidden here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "virtual Ethernet devices in place of TUN devices: /dev/net/tun cannot be opened" in done.stderr
    # Who insists on TUN is told what is missing.
    arguments += ["--device", "tun", "--force"]
    refused = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "modprobe tun" in refused.stderr


def test_the_process_of_an_emulation_loads_nothing_that_has_threads() -> None:
    """What it forks would wait for ever for a lock that another thread had."""
    # A thread that has ended stays in /proc until the kernel clears it away.
    look = (
        "import os, sys, time, cogtcp.emulation.worker\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "any(count() == 1 or time.sleep(0.01) for _ in range(500))\n"
        "print(count(), *sys.modules)"
    )
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    shown = subprocess.run([sys.executable, "-P", "-c", look], capture_output=True, text=True, check=True)
    threads, *modules = shown.stdout.split()
    assert threads == "1"
    assert not {"numpy", "pyarrow", "pandas", "polars", "matplotlib"} & set(modules)


TRACED = """
import os, pickle, sys, threading
from cogtcp import RunError, Scenario, _core
from cogtcp.kernel.emulation.job import Job

scenario = Scenario.from_file("link.toml").set("topology.single_hop.link.trace", os.path.abspath("up.trace"))
job = Job(scenario, 1, 0.2, [], [], None, False, False, "any", None, None, os.getppid())
if sys.argv[1] == "2":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
try:
    _core.emulate(scenario._core, job)
except RunError as error:
    print(error)
"""


@on_kernel
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_process_of_several_threads_is_refused_and_traces_make_none(tmp_path: Path, threads: str) -> None:
    """Reading files on a thread of its own, as the API does, would leave that about for a while."""
    (tmp_path / "link.toml").write_text(text(duration="200 ms"))
    # As large as traces are: what reads it is at work for a while.
    (tmp_path / "up.trace").write_text("".join(f"{time}\n" for time in range(1, 200_000)))
    words = [sys.executable, "-P", "-c", TRACED, threads]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("this one has 2 threads" in done.stdout) == (threads == "2"), done.stdout


WITHOUT = """
import ctypes, os, sys

user, group, libc = os.getuid(), os.getgid(), ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000):  # CLONE_NEWUSER
    sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
# Somebody who is not root, in a namespace that may have no further one.
for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
    open(f"/proc/self/{name}", "w").write(text)
open("/proc/sys/user/max_user_namespaces", "w").write("0")
os.execv(sys.argv[1], sys.argv[1:])
"""


@on_kernel
def test_who_may_have_no_user_namespace_is_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text(duration="200 ms"))
    arguments = [sys.executable, "-c", WITHOUT, *command_line("emulate", "link.toml", "--out", "out")]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "PermissionError" in done.stderr:
        pytest.skip(f"a user namespace without others cannot be made: {done.stderr}")
    assert done.returncode == 1
    assert "a user namespace cannot be made: No space left on device" in done.stderr
    assert "sysctl user.max_user_namespaces=15000" in done.stderr
    assert "or run this as root" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.toml"]


def test_other_devices_are_refused() -> None:
    with pytest.raises(UsageError, match="tun"):
        emulate(scenario(), device="tap")


FLOW = """
[[flow]]
name = "it"
from = "sender"
to = "receiver"
"""
CALL = """
[[udp]]
name = "call"
from = "%s"
to = "%s"
pattern = { call = { codec = "g711" } }
"""
FILM = """transport = "linux-cubic"
[flow.traffic.adaptive_video]
rule = "%s"
ladder = ["300 kbit/s", "1 Mbit/s", "2 Mbit/s", "5 Mbit/s"]
chunk = "1 s"
startup = "1 s"
buffer = "6 s"
"""


@on_kernel
@pytest.mark.parametrize(
    ("rate", "flow", "metric"),
    [
        ("4 Mbit/s", FILM % "bola", "it.bitrate"),
        ("4 Mbit/s", FILM % "rate", "it.bitrate"),
        ("800 kbit/s", 'transport = "nada"\n', "it.bitrate"),
    ],
    ids=["bola", "rate", "nada"],
)
@side_by_side
def test_what_adapts_comes_to_the_same_on_both_planes(rate: str, flow: str, metric: str) -> None:
    """The bitrate of a video, the rate of NADA, and the score of a call the other way: within 5 %."""
    base = text(duration="15 s", link=f'rate = "{rate}", delay = "20 ms", queue = "60 packets"')
    head = base.partition("[[flow]]")[0].replace("[run]", '[run]\nwarmup = "5 s"')
    both = Scenario.from_toml(head + FLOW + flow + CALL % ("receiver", "sender"))
    emulated, simulated = emulate(both), run(both)
    with as_in_time(emulated):
        for name in (metric, "call.mos"):
            value, expected = emulated.metrics[name], simulated.metrics[name]
            assert value == pytest.approx(expected, rel=0.05), name
        assert emulated.metrics["call.delay_p50"] > 0.02
    if "nada" in flow:
        # 800 kbit/s carry 1460 of 1504 bytes.
        assert simulated.metrics[metric] == pytest.approx(800e3 * 1460 / 1504, rel=0.03)
