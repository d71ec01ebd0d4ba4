"""The kernel plane: the same scenario on the TCP of this machine, where its kernel allows."""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent import futures
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import NoKernelPlaneError, RunError, Scenario, ScenarioError, fit
from cogtcp.kernel.emulation import check, emulate
from cogtcp.kernel.emulation.agreement import Agreement, Pair, agree, verdict
from cogtcp.kernel.emulation.launch import MARK, mark
from cogtcp.kernel.emulation.leftovers import find
from cogtcp.model.statistics import Interval
from conftest import PATIENCE, ROOT, Command, TooBusy, command_line, files, side_by_side
from kernel_needs import soon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from cogtcp import Result
    from cogtcp.kernel.emulation import Emulation

LINK = """\
name = "emulated"

[run]
duration = "{duration}"
sample_interval = "100 ms"

[topology.single_hop]
link = {{ {link} }}

{radio}

[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = "linux-cubic"
{traffic}
"""
PLAIN = 'rate = "8 Mbit/s", delay = "10 ms", queue = "50 packets"'
SENSING = """\
[[radio]]
name = "radio"
links = ["link"]
silence = "hold"
sensing = { off = "200 ms", on = "800 ms" }
"""


def text(duration: str = "3 s", link: str = PLAIN, radio: str = "", traffic: str = "") -> str:
    return LINK.format(duration=duration, link=link, radio=radio, traffic=traffic)


def scenario(**parts: str) -> Scenario:
    return Scenario.from_toml(text(**parts))


def why_not() -> str:
    """Return why this machine has no kernel plane; nothing if it has one."""
    try:
        emulate(scenario(duration="100 ms"))
    except NoKernelPlaneError as error:
        return str(error)
    return ""


WHY_NOT = why_not()
on_kernel = pytest.mark.skipif(bool(WHY_NOT), reason=f"no kernel plane here: {WHY_NOT}")


def _controls(which: str) -> list[str]:
    file = Path(f"/proc/sys/net/ipv4/tcp_{which}")
    return file.read_text().split() if file.exists() else []


#: Controls of Linux itself.
KERNELS = {"reno", "cubic", "bbr"}
#: What programs keep: CAP_NET_ADMIN over their namespaces, where some congestion controls take it.
PRIVILEGES = (
    1 << 12
    if {*_controls("available_congestion_control")} - {*_controls("allowed_congestion_control")}
    else 0
)


@contextmanager
def as_in_time(result: Emulation) -> Iterator[None]:
    """Expect what holds of a run that kept up; one that fell behind is no evidence against it.

    None does in virtual time, in which modules about behaviour run where a kernel for it is built.
    """
    try:
        yield
    except AssertionError:
        if result.is_evidence:
            raise
        raise TooBusy(f"the machine is too busy: {result.doubt}") from None


def moves(result: Emulation | Result, kinds: set[str], before_s: float) -> list[tuple[float, str, str]]:
    """Return time, kind and entity of the events of some kinds before a time: equal on both planes."""
    return sorted(
        (row["time_s"], row["kind"], row["entity"])
        for row in result.events.to_pylist()
        if row["kind"] in kinds and row["time_s"] < before_s
    )


@on_kernel
@side_by_side
def test_a_run_on_the_real_clock_says_how_late_it_was() -> None:
    result = emulate(scenario(duration="1 s"))
    assert (result.timing["plane"], result.timing["clock"]) == ("kernel", "real")
    with as_in_time(result):
        assert result.timing["departures"] > 300
        # 8 Mbit/s carry 7.71 of payload; a window grows into it in 0.2 s.
        assert 4e6 < result.metrics["goodput_bps"] < 7.75e6
    assert result.timing["floor_p99_s"] > 0


SHARED = """\
name = "shared"
[run]
duration = "4 s"
[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "2 ms" }
bottleneck = { rate = "6 Mbit/s", delay = "10 ms", queue = "40 packets" }
[[radio]]
name = "radio"
links = ["bottleneck"]
silence = "hold"
sensing = { off = "200 ms", on = "800 ms" }
[[flow]]
name = "f*"
from = "s*"
to = "d*"
count = 2
transport = "linux-cubic"
"""


@on_kernel
@side_by_side
def test_programs_reach_each_other_over_several_links(command: Command, tmp_path: Path) -> None:
    (tmp_path / "shared.toml").write_text(
        SHARED.split("[[radio]]")[0] + "[[flow]]" + SHARED.split("[[flow]]")[1]
    )
    (tmp_path / "serve.py").write_text(
        "import socket\nsocket.create_server(('', 7000)).accept()[0].sendall(b'over here')\n"
    )
    (tmp_path / "ask.py").write_text(
        "import os, socket, time\n"
        "for attempt in range(200):\n"
        "    try:\n"
        "        print(socket.create_connection((os.environ['COGTCP_PEER'], 7000)).recv(9).decode())\n"
        "        break\n"
        "    except ConnectionRefusedError:\n"
        "        time.sleep(0.2)\n"
    )
    programs = ["--peer", f"{sys.executable} serve.py", "--", sys.executable, "ask.py"]
    done = command("emulate", "shared.toml", "--out", "out", "--log", *programs)
    assert done.code == 0, done.err
    assert "over here" in done.out
    # Rates are those of a link that is named.
    said = re.search(r"headers included, (.*)\.\n", done.out)
    assert said is not None, done.out
    told = re.findall(r"([\w-]+) carried [\d.,]+ \w+/s forward and [\d.,]+ \w+/s reverse", said[1])
    assert set(told) == {"access-s1", "access-s2", "bottleneck", "access-d1", "access-d2"}
    assert len(told) == 5
    assert "[bottleneck]" in (tmp_path / "out/uplink.log").read_text()


#: Those that a program of Python has, with the one by which it looks.
DESCRIPTORS = "sorted(map(int, os.listdir('/proc/self/fd')))"


@on_kernel
@side_by_side
def test_a_program_runs_in_place_of_the_flows(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text())
    look = "ip -brief address; echo $COGTCP_ADDRESS $COGTCP_PEER; grep CapEff /proc/self/status; exit 7"
    done = command("emulate", "link.toml", "--out", "out", "--", "sh", "-c", look)
    assert done.code == 7
    assert "100.64.0.1 100.64.0.2" in done.out
    # What it runs has no other privileges, whoever runs it.
    assert f"CapEff:\t{PRIVILEGES:016x}" in done.out
    if shutil.which("ip"):
        assert "100.64.0.1/24" in done.out
        assert "eth" not in done.out
    manifest = json.loads((tmp_path / "out/cogtcp.json").read_text())
    assert manifest["emulation"]["exit_code"] == 7


@on_kernel
@side_by_side
@pytest.mark.skipif(shutil.which("ping") is None, reason="no ping here")
def test_ping_runs_inside_and_has_no_other_privilege(command: Command, tmp_path: Path) -> None:
    """Debian's has a file capability, with which it is not started where the bounding set lacks that."""
    (tmp_path / "link.toml").write_text(text())
    look = "ping -c1 $COGTCP_PEER; code=$?; grep -E 'Cap(Prm|Eff)' /proc/self/status; exit $code"
    done = command("emulate", "link.toml", "--out", "out", "--", "sh", "-c", look)
    assert done.code == 0, done.err
    assert "1 received" in done.out
    assert f"CapPrm:\t{PRIVILEGES:016x}" in done.out
    assert f"CapEff:\t{PRIVILEGES:016x}" in done.out


#: Prints the control of a socket, by default and with each of the arguments chosen, once it is connected.
CONTROLS = """
import os, socket, sys

def control(choice=None):
    with socket.create_server((os.environ["COGTCP_ADDRESS"], 0)) as server, socket.socket() as client:
        if choice:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, choice.encode())
        client.connect(server.getsockname())
        return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode()

print("default", control())
for choice in sys.argv[1:]:
    print(choice, control(choice))
"""


@on_kernel
@side_by_side
@pytest.mark.parametrize("named", ["reno", "cubic"])
def test_programs_have_the_scenarios_control_and_may_choose_others(
    command: Command, tmp_path: Path, named: str
) -> None:
    """Where a namespace cannot have the scenario's as default the run says so; the machine's stay."""
    (tmp_path / "link.toml").write_text(text().replace("linux-cubic", f"linux-{named}"))
    (tmp_path / "controls.py").write_text(CONTROLS)
    machine = _controls("congestion_control")[0]
    allowed = _controls("allowed_congestion_control")
    # Those of this project come and go with other tests.
    available = [name for name in _controls("available_congestion_control") if name in KERNELS]
    done = command("emulate", "link.toml", "--out", "out", "--", sys.executable, "controls.py", *available)
    assert done.code == 0, done.err
    expected = named if named in allowed else machine
    lines = [f"default {expected}", *(f"{choice} {choice}" for choice in available)]
    assert done.out.splitlines()[: len(lines)] == lines
    said = json.loads((tmp_path / "out/cogtcp.json").read_text())["emulation"]
    assert said["default_control"] == expected
    assert {*available} - {expected} <= {*said["other_controls"].split()}
    assert expected not in said["other_controls"].split()
    whose = f"{expected}, the scenario's" if named == expected else f"{machine}, the machine's default"
    assert f"note: programs get the congestion control {whose}" in done.err
    assert _controls("congestion_control")[0] == machine
    assert {*_controls("allowed_congestion_control")} & KERNELS == {*allowed} & KERNELS


@on_kernel
@side_by_side
@pytest.mark.skipif(not os.access("/proc/sys/kernel/hostname", os.W_OK), reason="only root has more to lose")
def test_programs_govern_nothing_beyond_their_namespaces(command: Command, tmp_path: Path) -> None:
    """They may set up the network that they are in: none other, no mount, no name of the machine."""
    (tmp_path / "link.toml").write_text(text())
    others = f"/proc/{os.getpid()}/ns/net"
    tries = (
        f"nsenter --net={others} true",
        "unshare --net true",
        "mount -t tmpfs none /mnt",
        "hostname other",
        "echo reno > /proc/sys/net/ipv4/tcp_allowed_congestion_control",
        "echo 1 > /proc/sys/kernel/sysrq",
    )
    script = "\n".join(f"({what}) 2>/dev/null && echo did: '{what}'" for what in tries)
    done = command("emulate", "link.toml", "--out", "out", "--", "sh", "-c", f"{script}\nexit 3")
    assert done.code == 3, done.err
    assert "did:" not in done.out


@on_kernel
@side_by_side
def test_programs_inherit_no_descriptor(command: Command, tmp_path: Path) -> None:
    """But the three of a shell, and the folder's own: none of a device, of a pipe, of what hears radios."""
    (tmp_path / "link.toml").write_text(text(radio=SENSING))
    listed = f"import os; found = str({DESCRIPTORS}); open('peer', 'w').write(found)"
    peer = ["--peer", f'{sys.executable} -c "{listed}"']
    wait = "while not (os.path.exists('peer') and os.path.getsize('peer')): time.sleep(0.1)"
    look = f"import os, time; print({DESCRIPTORS})\n{wait}"
    done = command("emulate", "link.toml", "--out", "out", *peer, "--", sys.executable, "-c", look)
    assert done.code == 0, done.err
    expected = "[0, 1, 2, 3]"
    assert done.out.splitlines()[0] == expected
    assert (tmp_path / "peer").read_text() == expected


@on_kernel
@pytest.mark.skipif(not (shutil.which("iperf3") and shutil.which("ping")), reason="no iperf3, or no ping")
@side_by_side
def test_iperf3_sees_the_link(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text())
    # The server may take its time to start, and its word on the result may be late: the client goes without.
    client = (
        "ping -D -i 0.05 -c 20 -n $COGTCP_PEER > ping.log; "
        "for attempt in $(seq 40); do report=$(iperf3 --json -t 3 -c $COGTCP_PEER) && "
        'case $report in *sum_received*) echo "$report"; exit;; esac; sleep 0.5; done; exit 1'
    )
    done = command("emulate", "link.toml", "--out", "out", "--peer", "iperf3 -s", "--", "sh", "-c", client)
    assert done.code == 0, done.err
    report = json.loads(done.out[done.out.index("{") : done.out.rindex("}") + 1])
    measured = report["end"]["sum_received"]["bits_per_second"]
    timing = json.loads((tmp_path / "out/cogtcp.json").read_text())["emulation"]
    # Headers take 4.5 % of 8 Mbit/s: 7.64. Slow start from 10 segments at a round trip of 20 ms ends within
    # 0.1 s of the 3; what is left, 28 %, is more than a run that kept up loses.
    if not 5.5e6 < measured < 8e6:
        assert not timing["evidence"], measured
        raise TooBusy(f"the machine is too busy: {timing['reasons']}")
    # What a fit makes of the logs is the link, with ping as the floor.
    (tmp_path / "iperf3.json").write_text(json.dumps(report))
    found = fit([tmp_path / "iperf3.json", tmp_path / "ping.log"])
    by_name = {estimate.name: estimate for estimate in found.estimates}
    # The plane and both hosts add some 0.1 ms to each round trip.
    assert by_name["delay"].value == pytest.approx(0.010, abs=0.0003)
    capacity = by_name["capacity"]
    if capacity.bound is not None:
        # Linux may keep only some packets in the queue: no proof of a backlog, and a bound near the rate.
        assert 7.6e6 <= capacity.bound.at_least <= 8.05e6
    else:
        assert capacity.low <= 8.05e6
        assert capacity.high >= 7.95e6


@on_kernel
@side_by_side
def test_a_trace_takes_the_place_of_the_rate(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text())
    # 1504 bytes every 4 ms: 3.008 Mbit/s.
    (tmp_path / "up.trace").write_text("".join(f"{time}\n" for time in range(4, 1001, 4)))
    done = command("emulate", "link.toml", "--up", "up.trace", "--duration", "2 s", "--json")
    document = done.json()
    assert done.code == 0
    forward, reverse = document["links"]
    assert forward["capacity_bytes"] == pytest.approx(2 * 3.008e6 / 8, rel=0.02)
    assert reverse["capacity_bytes"] == pytest.approx(2e6, rel=0.02)


@on_kernel
@side_by_side
def test_packets_become_captures_and_logs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text(duration="1500 ms", link=f"{PLAIN}, drops = [10]"))
    done = command("emulate", "link.toml", "--out", "out", "--pcap", "link@receiver,link", "--log")
    assert done.code == 0, done.err
    written = files(tmp_path / "out")
    assert {"link.pcapng", "link@receiver.pcapng", "uplink.log", "downlink.log"} <= set(written)
    assert "packets.journal" not in written
    lines = (tmp_path / "out/uplink.log").read_text().splitlines()
    assert "# base timestamp: 0" in lines
    came = [line for line in lines if " + " in line]
    left = [line for line in lines if " - " in line]
    dropped = [line for line in lines if " d " in line]
    assert len(dropped) >= 1
    assert len(left) <= len(came) - len(dropped)
    # What is between its last line and the end of the run, of which a busy machine may not tell, is missing.
    timing = json.loads((tmp_path / "out/cogtcp.json").read_text())["emulation"]
    capacity = sum(int(line.split()[2]) for line in lines if " # " in line)
    assert capacity <= 1.5e6
    assert capacity > (1.42e6 if timing["evidence"] else 0.5e6)
    if shutil.which("tshark"):
        counted = {}
        for name in ("link", "link@receiver"):
            file = str(tmp_path / f"out/{name}.pcapng")
            shown = subprocess.run(
                [str(shutil.which("tshark")), "-r", file, "-o", "ip.check_checksum:TRUE",
                 "-o", "tcp.check_checksum:TRUE", "-T", "fields", "-e", "tcp.flags.syn",
                 "-e", "ip.checksum.status", "-e", "tcp.checksum.status",
                 "-Y", "ip.src == 100.64.0.1"],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            rows = [line.split("\t") for line in shown.stdout.splitlines()]
            counted[name] = len(rows)
            # Status 1: good. Real packets, with checksums that are right.
            assert {(ip, tcp) for _, ip, tcp in rows} == {("1", "1")}
        assert counted["link"] == len(came)
        assert counted["link@receiver"] == len(left)


def _start(tmp_path: Path, *more: str) -> subprocess.Popen[str]:
    if not (tmp_path / "link.toml").exists():
        (tmp_path / "link.toml").write_text(text(duration="60 s"))
    return subprocess.Popen(
        command_line("emulate", "link.toml", "--out", "out", *more),
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def _processes_of(process: int) -> list[int]:
    """Return the processes of an emulation that a command started."""
    marked = f"{MARK}={mark(process)}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and marked in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def _until(condition: Any) -> None:
    assert soon(condition), "it did not happen in time"


def nothing_is_left() -> None:
    """Expect that no process of an emulation stays; others test on this machine too, and clear up."""
    _until(lambda: find() == [])


@on_kernel
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind(command: Command, tmp_path: Path, how: signal.Signals) -> None:
    """Two levels of children that leave their session: they end with their process namespace."""
    escape = "setsid sh -c 'setsid sleep 60 & sleep 60' & sleep 60"
    more = [] if how == signal.SIGINT else ["--", "sh", "-c", escape]
    process = _start(tmp_path, *more)
    _until(lambda: len(_processes_of(process.pid)) >= (5 if more else 1))
    time.sleep(0.3)
    process.send_signal(how)
    if how == signal.SIGINT:
        # As a terminal does: the whole group.
        os.killpg(process.pid, how)
    process.communicate(timeout=PATIENCE)
    assert process.returncode in (-how, 128 + how)
    _until(lambda: not _processes_of(process.pid))
    nothing_is_left()
    if how == signal.SIGKILL:
        # It had no time to remove what it had begun to write.
        begun = [name for name in files(tmp_path) if name.endswith(".tmp")]
        assert len(begun) == 1
        being_written = tmp_path / ".other.1-01234567.cogtcp.tmp"
        with being_written.open("w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            others = tmp_path / ".looks.1-01234567.tmp"
            others.mkdir()
            assert command("emulate", "--clean").out == f"removed unfinished results: {begun[0]}\n"
        being_written.unlink()
        others.rmdir()
        assert command("emulate", "--clean").out == "nothing was left behind\n"
    assert files(tmp_path) == ["link.toml"]


def _connections() -> int:
    """Return how many connections of TCP the kernel has, those of all namespaces and of nobody included."""
    words = Path("/proc/net/sockstat").read_text().split()
    return int(words[words.index("alloc") + 1])


SEND = """\
import os, socket, time
for attempt in range(200):
    try:
        sender = socket.create_connection((os.environ["COGTCP_PEER"], 7000))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
open("sending", "w").close()
while True:
    sender.send(bytes(65536))
"""
# On a socket of IPv6, as many servers have it.
TAKE = """\
import socket
server = socket.create_server(("::", 7000), family=socket.AF_INET6, dualstack_ipv6=True)
receiver, _ = server.accept()
while receiver.recv(65536):
    pass
"""


@on_kernel
@pytest.mark.parametrize("whose", ["flow", "program"])
def test_no_connection_outlives_a_kill(tmp_path: Path, whose: str, begun: dict[str, Future[None]]) -> None:
    """With data on the way one would stay for minutes, and keep its namespace."""
    futures.wait(begun.values())  # their connections would be counted
    # Those of other programs of this machine come and go: one that stays for once may be theirs.
    assert any(_none_outlives_a_kill(tmp_path, whose) for _ in range(3))


def _none_outlives_a_kill(tmp_path: Path, whose: str) -> bool:
    (tmp_path / "sending").unlink(missing_ok=True)
    (tmp_path / "link.toml").write_text(text(duration="60 s", link=PLAIN.replace("10 ms", "300 ms")))
    for name, program in (("send.py", SEND), ("take.py", TAKE)):
        (tmp_path / name).write_text(program)
    programs = ["--peer", f"{sys.executable} take.py", "--", sys.executable, "send.py"]
    before = _connections()
    emulation = _start(tmp_path, *(programs if whose == "program" else []))
    _until(lambda: whose == "flow" or (tmp_path / "sending").exists())
    _until(lambda: len(_processes_of(emulation.pid)) == (1 if whose == "flow" else 5))
    connected = soon(lambda: _connections() > before, 10)
    # Time for a window of data on the way.
    time.sleep(1.5)
    made = _processes_of(emulation.pid)
    for process in made:
        # Of all that the emulation made nobody has a privilege any more, but a program over its own network.
        lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
        fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        kept = PRIVILEGES if whose == "program" and fields["Name"].startswith("python") else 0
        effective, permitted = int(fields["CapEff"], 16), int(fields["CapPrm"], 16)
        assert effective == permitted, fields
        assert effective in {0, kept}, fields
        assert fields["NoNewPrivs"] == "1"
    os.kill(min(made), signal.SIGKILL)
    emulation.communicate(timeout=PATIENCE)
    assert emulation.returncode == 1
    _until(lambda: not any((Path("/proc") / str(process)).exists() for process in made))
    # The kernel gives such a connection up after 100 s and more.
    return connected and soon(lambda: _connections() <= before, 30)


@on_kernel
def test_a_run_that_stood_still_is_no_evidence(tmp_path: Path) -> None:
    """Few packets are late, as their senders stand still too: no percentile shows it."""
    emulation = _start(tmp_path, "--duration", "6 s", "--json")
    with futures.ThreadPoolExecutor(1) as pool:
        said = pool.submit(emulation.communicate, timeout=PATIENCE)
        # Every 3 s: on a busy machine the first time may be before the first packet.
        while not futures.wait([said], 2.6).done:
            made = _processes_of(emulation.pid)
            for how in (signal.SIGSTOP, signal.SIGCONT):
                for process in made:
                    with suppress(ProcessLookupError):
                        os.kill(process, how)
                time.sleep(0.4)
        out, err = said.result()
    timing = json.loads(out)["emulation"]
    assert (timing["evidence"], timing["lateness_max_s"] > 0.3) == (False, True), err
    assert "may expire a timer of 200 ms" in timing["reasons"]


@on_kernel
def test_two_at_once_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text(duration="1500 ms"))
    runs = [
        subprocess.Popen(
            command_line("emulate", "link.toml", "--out", f"out{number}", "--json"),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    for each in runs:
        out, err = each.communicate(timeout=PATIENCE)
        assert each.returncode == 0, err
        assert json.loads(out)["metrics"]["goodput_bps"] > 0


@on_kernel
@side_by_side
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="record of packets cannot be written"):
        emulate(scenario(duration="30 s"), journal=Path("/dev/full"), captures=True)
    nothing_is_left()


@on_kernel
@side_by_side
def test_the_page_names_the_plane(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text(duration="1 s"))
    done = command("emulate", "link.toml", "--out", "out")
    assert done.code == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "Linux " in page
    assert "under a real clock" in page
    assert "a bare timer" in page
    assert "report: out/report.html" in done.out
    evidence = json.loads((tmp_path / "out/cogtcp.json").read_text())["emulation"]["evidence"]
    assert ("No evidence" in page) == (not evidence)
    assert ("no evidence" in done.err) == (not evidence)


def test_what_cannot_be_emulated_is_refused(command: Command, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the plane needs Linux")
    silenced = SENSING.replace('"hold"', '"drop"\nunreachable = true')
    (tmp_path / "icmp.toml").write_text(text(radio=silenced))
    done = command("emulate", "icmp.toml", "--ipv6")
    assert done.code == 2
    assert "ICMP of IPv4" in done.err
    assert "kernel plane emulates" in done.err
    check(Scenario.from_file(tmp_path / "icmp.toml"))
    (tmp_path / "copa.toml").write_text(text().replace("linux-cubic", "copa"))
    done = command("emulate", "copa.toml")
    assert (done.code, "the kernel has no transport" in done.err) == (2, True)
    with pytest.raises(ScenarioError):
        check(Scenario.from_file(tmp_path / "copa.toml"))
    assert check(Scenario.from_file(tmp_path / "copa.toml"), command=True) == []
    assert command("emulate").code == 2


def test_clean_finds_what_outlived_its_command(command: Command) -> None:
    if sys.platform != "linux":
        pytest.skip("the plane needs Linux")
    # A number that no process has; in another namespace one may have it.
    sleep = [shutil.which("sleep") or "sleep", str(PATIENCE)]
    orphan = subprocess.Popen(sleep, env={**os.environ, MARK: mark(4194305)})
    elsewhere = subprocess.Popen(sleep, env={**os.environ, MARK: "4194305@1"})
    _until(lambda: any(each.process == orphan.pid for each in find()))
    done = command("emulate", "--clean", "--json")
    assert orphan.pid in [each["process"] for each in done.json()["removed"]]
    assert orphan.wait(PATIENCE) == -signal.SIGKILL
    assert elsewhere.poll() is None
    elsewhere.kill()
    elsewhere.wait()


def test_clean_says_what_it_put_back(command: Command, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the plane needs Linux")
    aside = tmp_path / ".out.1-01234567.cogtcp.old"
    aside.mkdir()
    assert command("emulate", "--clean").out == "restored: out\n"
    assert files(tmp_path) == ["out"]


@on_kernel
def test_clean_lets_connections_be_ended(tmp_path: Path, command: Command) -> None:
    """What ends them is about for a while after a kill, and no leftover then."""
    process = _start(tmp_path, "--", "sleep", "60")
    _until(lambda: len(_processes_of(process.pid)) >= 3)
    (first,) = [each for each in _processes_of(process.pid) if _is_first(each)]
    # As if it took its time.
    os.kill(first, signal.SIGSTOP)
    try:
        process.kill()
        process.wait()
        _until(lambda: first in [each.process for each in find() if each.is_first])
        with futures.ThreadPoolExecutor(1) as pool:
            cleaning = pool.submit(command, "emulate", "--clean", "--json")
            time.sleep(3)
            assert _is_first(first)
            os.kill(first, signal.SIGCONT)
            assert first not in [each["process"] for each in cleaning.result().json()["removed"]]
    finally:
        with suppress(ProcessLookupError):
            os.kill(first, signal.SIGCONT)
        process.communicate()


def _is_first(process: int) -> bool:
    """Whether it is the first of a process namespace below ours."""
    status = (Path("/proc") / str(process) / "status").read_text()
    (numbers,) = [line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")]
    return len(numbers) > 1 and numbers[-1] == "1"


def _pair(simulated: float, emulated: float, doubt: str = "", seed: int = 1) -> Pair:
    def of(value: float) -> dict[str, float]:
        return {"goodput_bps": value, "rtt_mean_s": 0.1, "retransmitted": 0.0, "rtos": 0.0}

    return Pair("s", "linux-reno", seed, of(simulated), of(emulated), doubt, 0.0, 0.0)


def test_agreement_is_told_by_the_interval_of_the_difference() -> None:
    # Differences of 1, 2 and 3 % of the mean of 100: 2 +- 4.303 * 1 / sqrt(3) = 2.48 %, within 5.
    close = Agreement([_pair(100, 101), _pair(100, 102), _pair(100, 103)])
    line = close.lines()[0]
    assert line.difference.mean == pytest.approx(0.02)
    assert line.difference.high == pytest.approx(0.02 + 0.024843, abs=1e-5)
    assert line.verdict == "within"
    assert [each.verdict for each in close.lines()] == ["within"] * 4
    far = Agreement([_pair(100, 120), _pair(100, 121), _pair(100, 122)])
    assert far.lines()[0].verdict == "beyond"
    # What fell behind is not compared.
    doubted = Agreement([_pair(100, 200, "late"), _pair(100, 101), _pair(100, 102)])
    assert doubted.lines()[0].emulated.mean == pytest.approx(101.5)
    assert "| s | `linux-reno` | Goodput" in close.to_markdown()
    assert json.dumps(close.to_dict())


def test_an_agreement_outlives_its_file() -> None:
    before = Agreement([_pair(100, 101), _pair(100, math.nan, "late", 2), _pair(90, 95, "", 3)], "6.1")
    after = Agreement.from_dict(json.loads(json.dumps(before.to_dict())))
    assert repr(after.pairs) == repr(before.pairs)
    assert after.to_markdown() == before.to_markdown()
    page = after.report(command="cogtcp agree")
    assert before.answer in page
    assert "seed 2: late" in page
    assert "Linux 6.1" in page


def test_the_page_of_the_agreement_is_that_of_its_runs() -> None:
    """docs/agreement.md is written of docs/agreement.json."""
    checked = [sys.executable, str(ROOT / "docs/generate_agreement.py"), "--check"]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_scenarios_of_the_agreement_can_be_emulated() -> None:
    if sys.platform != "linux":
        pytest.skip("the plane needs Linux")
    for file in sorted((ROOT / "tests/agreement").glob("*.toml")):
        for transport in ("linux-reno", "linux-cubic", "linux-bbr"):
            assert check(Scenario.from_file(file).with_transport(transport)) == [], file.name


@on_kernel
@side_by_side
def test_planes_are_compared_side_by_side(command: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(text(duration="1 s"))
    compare = ["compare", "link.toml", "--transport", "linux-reno", "--out", "out"]
    done = command(*compare, "--plane", "sim,kernel", "--seeds", "1", "--json")
    assert done.code == 0, done.err
    document = done.json()
    (pair,) = document["runs"]
    assert pair["emulated"]["goodput_bps"] > (0 if pair["doubt"] else 3e6)
    assert pair["simulated"]["goodput_bps"] > 3e6
    page = (tmp_path / "out/report.html").read_text()
    assert "linux-reno: kernel" in page
    assert "linux-reno: simulator" in page
    # What cannot be compared is said before anything runs.
    copa = [*compare[:2], "--transport", "copa", "--plane", "sim,kernel"]
    for arguments, word in (
        (copa, "the kernel has no transport"),
        ([*compare, "--plane", "kernel"], "sim,kernel"),
        ([*compare, "--plane", "sim,kernal"], "kernel"),
        ([*compare, "--plane", "sim,kernel", "--jobs", "2"], "--jobs"),
    ):
        done = command(*arguments)
        assert (done.code, word in done.err) == (2, True), done.err


def test_verdicts() -> None:
    for low, high, expected in (
        (-0.04, 0.05, "within"), (0.03, 0.08, "unclear"), (0.06, 0.08, "beyond"), (-0.2, -0.06, "beyond"),
        (-1.0, 1.0, "unclear"), (float("nan"), float("nan"), ""),
    ):  # fmt: skip
        assert verdict(Interval((low + high) / 2, low, high, 3)) == expected


@on_kernel
@side_by_side
def test_both_planes_run_the_same_seeds() -> None:
    seen: list[Pair] = []
    agreement = agree([scenario(duration="1 s")], ["linux-reno"], [3, 4], tries=1, told=seen.append)
    assert [(pair.seed, pair.transport) for pair in seen] == [(3, "linux-reno"), (4, "linux-reno")]
    assert all(pair.emulated["goodput_bps"] > (0 if pair.doubt else 3e6) for pair in agreement.pairs)
    assert {line.measure for line in agreement.lines()} >= {"goodput_bps", "rtos"}
    assert agreement.kernel
