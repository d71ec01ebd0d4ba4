"""Linux in virtual time: equal seeds give equal bytes on any machine; nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cogtcp import NoKernelPlaneError, RunError, Scenario, ScenarioError, UsageError, run
from cogtcp.kernel.emulation import emulate, worker
from cogtcp.kernel.emulation.job import answer_of
from cogtcp.kernel.emulation.virtual import build, edits, kernels, launch, queues
from conftest import PATIENCE, command_line
from kernel_needs import soon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Command

# Losses and sensing, so that the kernel's timers and random numbers matter.
TEXT = """\
name = "virtual"

[run]
duration = "{duration}"
sample_interval = "100 ms"

[topology.single_hop]
link = {{ rate = "{rate}", delay = "10 ms", queue = "50 packets", loss = "0.5 %" }}

[[radio]]
name = "radio"
links = ["link"]
silence = "hold"
sensing = {{ off = "200 ms", on = "800 ms" }}

[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = "{transport}"
"""


def text(duration: str = "2 s", rate: str = "8 Mbit/s", transport: str = "linux-bbr") -> str:
    return TEXT.format(duration=duration, rate=rate, transport=transport)


def scenario(**parts: str) -> Scenario:
    return Scenario.from_toml(text(**parts))


def why_not() -> str:
    """Return why nothing runs in virtual time here; nothing if it does."""
    try:
        emulate(scenario(duration="50 ms"), virtual=True)
    except (NoKernelPlaneError, UsageError) as error:
        return str(error)
    return ""


WHY_NOT = why_not()
in_virtual_time = pytest.mark.skipif(bool(WHY_NOT), reason=f"no Linux in virtual time: {WHY_NOT}")


#: Where the memory of guests may be, of which tests write nothing.
PLACES = (Path("/dev/shm"), Path("/tmp"))  # noqa: S108


def processes() -> Iterator[tuple[Path, list[str]]]:
    """Yield each process, and the fields of its `stat` behind its name: state, parent, group, session, ..."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield process, (process / "stat").read_text().rpartition(")")[2].split()


def guests(parent: int) -> tuple[int, list[Path]]:
    """Return the guard that a process started (0: none), and what its guest has: a folder and processes.

    Others on this machine may have guests too.
    """
    guard, session = 0, []
    for process, fields in processes():
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"emulation/virtual/guard.py" in line and int(fields[1]) == parent:
            guard = int(process.name)
        session.append((int(fields[3]), process, line))
    ours = [(process, line) for number, process, line in session if number == guard and guard]
    folders = [folder for place in PLACES for folder in place.glob("cogtcp-guest-*")]
    named = [folder for folder in folders if any(os.fsencode(folder) in line for _, line in ours)]
    return guard, [*named, *(process for process, _ in ours)]


@in_virtual_time
def test_equal_seeds_give_equal_bytes_whatever_the_machine_does(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(text())
    base = {**os.environ, "NO_COLOR": "1"}
    variants: dict[str, tuple[list[str], dict[str, str]]] = {
        "plain": ([], base),
        # Not 19: on a busy machine that is minutes.
        "nice": (["nice", "-n", "5"], base),
        "pinned": (["taskset", "-c", "0"], base),
        "home": ([], {**base, "HOME": str(tmp_path), "PYTHONHASHSEED": "77", "FILL": "x" * 20_000}),
    }
    if (
        subprocess.run(["/usr/bin/env", "unshare", "-u", "true"], capture_output=True, check=False).returncode
        == 0
    ):
        variants["host"] = (["unshare", "-u", "sh", "-c", 'hostname other && exec "$@"', "sh"], base)
    kept = os.environ.get("COGTCP_KERNELS") or str(kernels.folder())
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        running = {
            name: subprocess.Popen(
                [*words, *command_line("emulate", "scenario.toml", "--virtual", "--out", name, "--seed", 5)],
                cwd=tmp_path,
                env={**environment, "COGTCP_KERNELS": kept},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name, (words, environment) in variants.items()
        }
        said = {name: running[name].communicate(timeout=PATIENCE)[1] for name in variants if name != "nice"}
    finally:
        for process in load:
            process.kill()
            process.wait()
    # Beside the load it had least of the processor, and would go on having it for minutes.
    said["nice"] = running["nice"].communicate(timeout=PATIENCE)[1]
    assert {name: process.returncode for name, process in running.items()} == dict.fromkeys(variants, 0), said
    tables = {name: _tables(tmp_path / name) for name in variants}
    assert len(tables["plain"]) >= 8
    for name in variants:
        assert {
            file for file in tables["plain"] if tables["plain"][file] != tables[name].get(file)
        } == set(), name
    assert not (tmp_path / ".uml").exists()


SEND = """\
import os, socket, time
sender = socket.create_connection((os.environ["COGTCP_PEER"], 7000))
for size in range(1, 40):
    sender.sendall(os.urandom(200 * size))
    time.sleep(os.urandom(1)[0] / 1e4)
"""
TAKE = """\
import socket
receiver, _ = socket.create_server(("", 7000)).accept()
while receiver.recv(65536):
    pass
"""


@in_virtual_time
def test_programs_give_equal_bytes_in_any_environment(tmp_path: Path) -> None:
    """They have the user's environment: what they do not read of it changes nothing."""
    (tmp_path / "scenario.toml").write_text(text())
    for name, program in (("send.py", SEND), ("take.py", TAKE)):
        (tmp_path / name).write_text(program)
    kept = os.environ.get("COGTCP_KERNELS") or str(kernels.folder())
    base = {**os.environ, "NO_COLOR": "1", "COGTCP_KERNELS": kept}
    other = {"HOME": str(tmp_path), "PYTHONHASHSEED": "77", "FILL": "x" * 20_000}
    client = ["sh", "-c", 'sleep 1; exec "$0" -I send.py', sys.executable]
    programs = ["--peer", f"{sys.executable} -I take.py", "--", *client]
    running = [
        subprocess.Popen(
            command_line("emulate", "scenario.toml", "--virtual", "--out", name, "--seed", 5, *programs),
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, environment in (("one", base), ("other", base | other))
    ]
    said = [process.communicate(timeout=PATIENCE)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    one, two = _tables(tmp_path / "one"), _tables(tmp_path / "other")
    assert len(one) >= 8
    assert [name for name in one if one[name] != two.get(name)] == []


def _tables(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


@in_virtual_time
def test_bytes_do_not_depend_on_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest hides the host's /tmp, so a folder there needs a mount that another does not."""
    shipped = Path(__file__).parents[1] / "python/cogtcp/scenarios"
    digests = []
    (tmp_path / "b/c").mkdir(parents=True)
    (tmp_path / "b/c/sensed-link.toml").write_bytes((shipped / "sensed-link.toml").read_bytes())
    for folder, file in ((shipped, "sensed-link.toml"), (tmp_path / "b", "c/sensed-link.toml")):
        monkeypatch.chdir(folder)
        digests.append(emulate(Scenario.from_file(file).set("run.duration", "3 s"), 5, virtual=True).digest)
    assert digests[0] == digests[1]


@in_virtual_time
def test_files_of_a_scenario_are_found_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = Path(__file__).parents[1] / "python/cogtcp/scenarios"
    shutil.copytree(shipped / "traces", tmp_path / "b/traces")
    (tmp_path / "b/lte-trace.toml").write_bytes((shipped / "lte-trace.toml").read_bytes())
    monkeypatch.chdir(tmp_path)
    short = Scenario.from_file("b/lte-trace.toml").set("run.duration", "3 s")
    assert emulate(short, 5, virtual=True).metrics["goodput_bps"] > 1e6


@in_virtual_time
def test_a_packet_takes_few_switches_to_the_guests_kernel() -> None:
    # One wait and one write: each is two switches of processes on the host. Read, timed and written one by
    # one, a packet took over 20.
    steady = scenario(rate="20 Mbit/s", transport="linux-cubic").set("radio", [])

    def spent(duration: str) -> tuple[int, int]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
        result = emulate(steady.set("run.duration", duration), virtual=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before, result.timing["departures"]

    (short, few), (long, many) = spent("2 s"), spent("6 s")
    assert many - few > 4_000
    assert (long - short) / (many - few) < 8


@in_virtual_time
def test_a_guest_starts_with_few_switches() -> None:
    # Some 15,000 for the kernel, Python and the engine. With the package's own imports it took 35,000, twice
    # the time.
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    emulate(scenario(duration="10 ms"), virtual=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before < 22_000


def test_errors_of_the_worker_are_the_errors_of_the_run() -> None:
    error = ScenarioError("it is none", remedy="write one", file="scenario.toml", line=3)
    read = answer_of(marshal.dumps(("error", worker._told(error))))
    assert (type(read), str(read), read.file, read.line) == (ScenarioError, str(error), "scenario.toml", 3)
    with pytest.raises(TypeError, match="a defect"):
        worker._told(TypeError("a defect"))


@in_virtual_time
def test_a_run_says_what_its_bytes_hang_on() -> None:
    one, other = emulate(scenario(), seed=1, virtual=True), emulate(scenario(), seed=2, virtual=True)
    assert one.is_evidence, one.doubt
    assert one.digest != other.digest
    assert one.timing["clock"] == "virtual"
    kernel = kernels.find()
    assert one.timing["kernel"].startswith(kernel.release)
    provenance = one.provenance
    assert provenance["kernel_program"] == kernel.program_hash[:16]
    assert provenance["kernel_config"] == kernel.config_hash[:16]
    # 1 us is what an instant takes: no machine makes a packet late.
    assert one.timing["lateness_p50_s"] < 10e-6


@in_virtual_time
def test_the_kernel_agrees_with_the_simulator() -> None:
    # A plain link: 8 Mbit/s carry 7.7 of payload on both planes.
    plain = Scenario.from_toml(text(duration="4 s", transport="linux-cubic").replace(', loss = "0.5 %"', ""))
    real, model = emulate(plain, seed=1, virtual=True), run(plain, 1)
    assert real.rows("flows")[0]["goodput_bps"] == pytest.approx(
        model.rows("flows")[0]["goodput_bps"], rel=0.05
    )


@in_virtual_time
def test_programs_run_inside(tmp_path: Path, command: Command) -> None:
    (tmp_path / "scenario.toml").write_text(text(duration="5 s", rate="50 Mbit/s"))
    (tmp_path / "five").write_bytes(os.urandom(5_000_000))
    server = f"{sys.executable} -m http.server 8000 --directory {tmp_path}"
    ping = 'ping -c 3 -i 0.2 "$COGTCP_PEER" || exit 3; ' if shutil.which("ping") else ""
    script = (
        f"sleep 2; {ping}"
        f'"{sys.executable}" -c "import urllib.request as u, os; '
        "print(len(u.urlopen('http://' + os.environ['COGTCP_PEER'] + ':8000/five').read()))\" || exit 4; "
        "echo to the error stream >&2; ls /root/nothing /tmp; exit 7"
    )
    done = command("emulate", "scenario.toml", "--virtual", "--peer", server, "--", "sh", "-c", script)
    assert done.code == 7, done.err
    assert "5000000" in done.out
    if ping:
        assert "3 received" in done.out
    assert "to the error stream" in done.err


@in_virtual_time
@pytest.mark.skipif(not shutil.which("iperf3"), reason="not installed: iperf3")
def test_iperf3_measures_what_the_link_carries(tmp_path: Path, command: Command) -> None:
    link = text(duration="5 s").replace(', loss = "0.5 %"', "").replace('off = "200 ms"', 'off = "1 ms"')
    (tmp_path / "scenario.toml").write_text(link)
    words = ["sh", "-c", "sleep 1; exec iperf3 -c $COGTCP_PEER -t 3 -J"]
    done = command("emulate", "scenario.toml", "--virtual", "--peer", "iperf3 -s -1", "--", *words)
    assert done.code == 0, done.err
    said = json.loads(done.out[: done.out.rindex("\n}") + 2])
    # 8 Mbit/s less headers.
    assert 6.5e6 < said["end"]["sum_received"]["bits_per_second"] < 7.9e6


@in_virtual_time
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_remains_of_a_run_that_was_ended(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "scenario.toml").write_text(text(duration="1000 s"))
    with subprocess.Popen(
        command_line("emulate", "scenario.toml", "--virtual"),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        # The guest, its guard and its folder.
        assert soon(lambda: len(guests(process.pid)[1]) >= 3)
        time.sleep(0.5)
        _, made = guests(process.pid)
        os.kill(process.pid, number)
        code = process.wait()
    assert code == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert soon(lambda: not any(path.exists() for path in made)), made


@in_virtual_time
def test_a_guard_that_was_killed_is_named(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(text(duration="1000 s"))
    with subprocess.Popen(
        command_line("emulate", "scenario.toml", "--virtual"),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert soon(lambda: len(guests(process.pid)[1]) >= 3)
        time.sleep(0.5)
        guard, made = guests(process.pid)
        os.kill(guard, signal.SIGKILL)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    assert f"the guest's guard, process {guard}, was killed (signal 9)" in said
    assert soon(lambda: not any(path.exists() for path in made)), made
    # Processes that the guest was starting end, too. Those that wait to be reaped have ended.
    assert soon(lambda: guard not in {int(of) for _, (state, _, _, of, *_) in processes() if state != "Z"})


@in_virtual_time
def test_a_limit_of_the_address_space_is_named(tmp_path: Path) -> None:
    """Linux says this where 1 GiB cannot be mapped."""
    for name in ("err", "clock"):
        (tmp_path / name).touch()
    (tmp_path / "kernel.log").write_text("setup_physmem - mapping 1061158912 bytes failed")
    with pytest.raises(NoKernelPlaneError, match=r"limit of the address space \(ulimit -v\)"):
        launch._answer(tmp_path, kernels.find(), 1, is_full=False)


def test_clean_ends_what_a_guest_without_a_guard_left() -> None:
    """A process that the guest was starting as its guard was killed goes on, though the folder has gone."""
    folder = Path(tempfile.gettempdir()) / "cogtcp-guest-orphan"
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, env={"HOME": str(folder)}) as process:
        assert soon(lambda: b"HOME" in Path(f"/proc/{process.pid}/environ").read_bytes())
        assert folder in launch.end_leftovers()
        assert process.wait(timeout=PATIENCE) == -signal.SIGKILL


@in_virtual_time
@pytest.mark.parametrize(("words", "code"), [(["true"], 0), (["false"], 1), (["nosuchprogram"], 127)])
def test_a_program_that_uses_no_time_has_an_answer(tmp_path: Path, words: list[str], code: int) -> None:
    (tmp_path / "scenario.toml").write_text(text())
    done = subprocess.run(
        [*command_line("emulate", "scenario.toml", "--virtual"), "--", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "The program used no virtual time: the links carried nothing." in done.stdout + done.stderr


@in_virtual_time
def test_a_program_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LONGEST_S", 5.0)
    with pytest.raises(RunError, match=r"not ended after \d+ s of virtual time; limit it with --duration"):
        emulate(scenario(), virtual=True, command=["sleep", "infinity"])
    monkeypatch.setattr(launch, "STANDSTILL_S", 3.0)
    with pytest.raises(RunError, match="computes without end"):
        emulate(scenario(), virtual=True, command=["sh", "-c", "while :; do :; done"])


@in_virtual_time
def test_a_program_that_spins_on_the_clock_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reading moves the clock a little, so it never stands: a virtual second takes 100 s of CPU."""
    monkeypatch.setattr(launch, "STANDSTILL_S", 2.0)
    monkeypatch.setattr(launch, "TICK_S", 0.005)
    monkeypatch.setattr(launch, "LONGEST_S", 0.6)
    spin = "import time\nwhile True: time.monotonic()"
    with pytest.raises(RunError, match=r"reads the clock over and over: \d+ s of CPU .* --duration"):
        emulate(scenario(), virtual=True, command=[sys.executable, "-c", spin])


@in_virtual_time
def test_a_program_that_computes_much_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "STANDSTILL_S", 2.5)
    monkeypatch.setattr(launch, "TICK_S", 0.1)
    heavy = "import time\nfor _ in range(12): sum(i * i for i in range(3_000_000)); time.sleep(0.1)"
    result = emulate(scenario(), virtual=True, command=[sys.executable, "-c", heavy])
    assert result.exit_code == 0


@in_virtual_time
def test_files_of_the_host_are_not_written(tmp_path: Path) -> None:
    there = tmp_path / "there"
    script = f"echo 1 > {there} ; echo 2 > /usr/cogtcp-there; echo 3 > /tmp/own && cat /tmp/own; exit 0"
    result = emulate(scenario(), virtual=True, command=["sh", "-c", script])
    assert result.exit_code == 0
    assert not there.exists()
    assert not Path("/usr/cogtcp-there").exists()
    assert not (PLACES[1] / "own").exists()


def test_without_a_kernel_the_message_says_how_to_build_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path / "none"))
    with pytest.raises(NoKernelPlaneError, match="make kernel"):
        emulate(scenario(), virtual=True)
    done = command("emulate", "sensed-link", "--virtual")
    assert done.code == 1
    assert "no kernel for virtual time is built" in done.err
    assert command("kernel", "list").code == 0
    assert command("kernel", "list", "--json").json() == {"kernels": [], "used": None}


def _made(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "linux").write_text("")
    said: dict[str, object] = dict.fromkeys(kernels.Kernel.__dataclass_fields__, "")
    said |= {"hz": 1000, "edits": ["ticks"], "size": 1, "cpu_s": 1.0, "wall_s": 1.0, "disk": 1}
    (folder / name / "kernel.json").write_text(json.dumps(said))


def test_kernels_are_listed_chosen_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path / "kernels"))
    for name in ("linux-6.1", "linux-6.12"):
        _made(tmp_path / "kernels", name)
    assert command("kernel", "list", "--json").json()["used"] == "linux-6.1"
    assert command("kernel", "use", "linux-6.12").code == 0
    assert "linux-6.12 *" in command("kernel", "list").out
    wrong = command("kernel", "use", "linux-6.11")
    assert wrong.code == 2
    assert 'no kernel is called "linux-6.11"; ' in wrong.err
    assert command("kernel", "remove", "linux-6.12").code == 0
    assert command("kernel", "show", "--json").json()["name"] == "linux-6.1"
    (tmp_path / "kernels/linux-6.1/kernel.json").write_text("{")
    assert "kernel.json: cannot be read" in command("kernel", "list").err


def test_the_simulator_is_told_what_the_kernel_is() -> None:
    """The presets have Debian's 250 Hz, and `window_tuning` the rules of Linux 6.16."""
    said: dict[str, object] = dict.fromkeys(kernels.Kernel.__dataclass_fields__, "")

    def told(hz: int, release: str, transport: str = "linux-cubic") -> dict[str, object]:
        kernel = kernels.Kernel(**(said | {"hz": hz, "release": release}))  # type: ignore[arg-type]
        tcp = kernel.modelled(scenario(transport=transport)).to_dict().get("tcp", {})
        return {key: tcp[key] for key in ("timer_tick", "window_margin") if key in tcp}

    assert told(1000, "6.12.117") == {"timer_tick": "1 ms", "window_margin": True}
    assert told(250, "6.1.158") == {"timer_tick": "4 ms", "window_margin": True}
    assert told(250, "6.16.0-rc1") == {"timer_tick": "4 ms"}
    assert told(1000, "6.12.117", "newreno") == {}, "no Linux in the model"


@in_virtual_time
@pytest.mark.skipif(not shutil.which("iperf3"), reason="not installed: iperf3")
@pytest.mark.skipif(not shutil.which("tc"), reason="not installed: iproute2")
def test_disciplines_of_linux_run_in_a_guest() -> None:
    """CoDel keeps its 5 ms where drop-tail fills its queue of 60 packets, 72 ms at 10 Mbit/s."""
    rtts = []
    for words in (["pfifo", "limit", "60"], ["codel", "limit", "1000"]):
        said = queues.measure(words, kernels.find(), duration_s=6)
        end = said["iperf3"]["end"]
        assert end["sum_received"]["bits_per_second"] > 8e6
        rtts.append(end["streams"][0]["sender"]["mean_rtt"] / 1e3)
    assert 70 < rtts[0] < 115
    assert 40 < rtts[1] < 60


@pytest.mark.parametrize("transport", ["c2", "c2-author"])
def test_controls_that_are_bpf_programs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path))
    _made(tmp_path, "linux-6.12")
    with pytest.raises(ScenarioError, match="BPF"):
        emulate(scenario(transport=transport), virtual=True)


def test_too_little_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path))
    _made(tmp_path, "linux-6.12")
    monkeypatch.setattr(launch, "MEMORY_MB", 1 << 30)
    with pytest.raises(NoKernelPlaneError, match=r"a guest needs \d+ MiB in /dev/shm.* has \d+ MiB"):
        emulate(scenario(), virtual=True)


def test_a_guest_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path))
    _made(tmp_path, "linux-6.12")
    program = tmp_path / "linux-6.12/linux"
    program.write_text("#!/bin/sh\necho 'check_ptrace : ptrace failed: Operation not permitted'\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(NoKernelPlaneError, match="ptrace"):
        emulate(scenario(), virtual=True)
    program.write_text("#!/bin/sh\necho something else; exit 1\n")
    with pytest.raises(RunError, match="without a result: something else"):
        emulate(scenario(), virtual=True)


def test_a_guest_whose_memory_finds_no_room_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path))
    _made(tmp_path, "linux-6.12")
    program = tmp_path / "linux-6.12/linux"
    # User-mode Linux ends without a word.
    program.write_text("#!/bin/sh\nkill -ABRT $$\n")
    program.chmod(0o755)
    with pytest.raises(RunError, match="without a result: signal 6"):
        emulate(scenario(), virtual=True)
    monkeypatch.setattr(launch, "_FULL", 1 << 60)
    with pytest.raises(RunError, match="the file system of the guest's memory is full"):
        emulate(scenario(), virtual=True)


# Trees of ours: of Linux they have the identifiers by which edits and checks find their place.
RANDOM = "long os_getrandom(where, size, how)\n{\n\tthe_host_answers();\n}\n"
HEADROOM = "link LL_MAX_HEADER 32\nall MAX_HEADER LL_MAX_HEADER\ntunnels MAX_HEADER 99\n"
# By versions: the time is told as a point, or as a step.
READ = {
    "6.1": "time_travel_update_time(after(TIMER_MULTIPLIER), 0);\n",
    "6.12": "time_travel_update_time_rel(1 * TIMER_MULTIPLIER);\n",
}


def _clock(read: str) -> str:
    return (
        "\ttime_travel_add_event(&time_travel_timer_event, soon + delta);\n"
        f"long timer_read(void)\n{{\n\tif (!time_travel_ext_waiting)\n\t\t{READ[read]}}}\n"
    )


def _tree(folder: Path, *, travels: bool = True) -> Path:
    for name in ("arch/um/os-Linux", "arch/x86/um/os-Linux"):
        (folder / name).mkdir(parents=True)
    (folder / "Kbuild").write_text("")
    (folder / "Makefile").write_text("VERSION=5\nPATCHLEVEL=2\nSUBLEVEL=1\n")
    option = "and UML_TIME_TRAVEL_SUPPORT\n" if travels else ""
    (folder / "arch/um/Kconfig").write_text(f"config HZ int default 100\n{option}")
    (folder / "arch/um/os-Linux/util.c").write_text(RANDOM)
    (folder / "include/linux").mkdir(parents=True)
    (folder / "include/linux/netdevice.h").write_text(HEADROOM)
    return folder


def test_edits_change_what_a_tree_needs(tmp_path: Path) -> None:
    tree = _tree(tmp_path / "tree")
    assert edits.apply(tree, 250) == ["ticks", "random", "headroom"]
    header = (tree / "include/linux/netdevice.h").read_text()
    assert header == "link LL_MAX_HEADER 128\nall MAX_HEADER (48 + LL_MAX_HEADER)\ntunnels MAX_HEADER 99\n"
    assert "default 250\n" in (tree / "arch/um/Kconfig").read_text()
    changed = (tree / "arch/um/os-Linux/util.c").read_text()
    assert "COGTCP_SEED" in changed
    assert changed.endswith("\tthe_host_answers();\n}\n")
    (tree / "arch/um/os-Linux/util.c").write_text("int nothing;\n")
    with pytest.raises(RunError, match="random"):
        edits.apply(tree, 1000)


@pytest.mark.parametrize("version", ["6.1", "6.12"])
def test_the_clock_costs_nothing(tmp_path: Path, version: str) -> None:
    tree = _tree(tmp_path / "tree")
    # Without the place for the first change the others are not made.
    for folder, name, text in (
        (
            "arch/um/kernel/skas",
            "syscall.c",
            "any thing;\nvoid handle_syscall(what)\n{\n\tum_udelay(5);\n}\n",
        ),
        (
            "arch/um/include/linux",
            "time-internal.h",
            "unit TIMER_MULTIPLIER 256\nleast TIMER_MIN_DELTA  500\n",
        ),
    ):
        (tree / folder).mkdir(parents=True)
        (tree / folder / name).write_text(text)
    assert edits.apply(tree, 1000) == ["ticks", "random", "headroom"]
    clock = tree / "arch/um/kernel/time.c"
    clock.write_text(_clock(version))
    (tree / "include/linux/netdevice.h").write_text(HEADROOM)
    assert edits.apply(tree, 1000) == ["ticks", "random", "clock", "refusals", "clock-unit", "headroom"]
    text = clock.read_text()
    assert "soon + delta - 1);" in text
    assert text.index("int cogtcp_spins(") < text.index("long timer_read(")
    assert "!time_travel_ext_waiting && cogtcp_spins(256))" in text
    assert "TIMER_MULTIPLIER" not in text
    call = (tree / "arch/um/kernel/skas/syscall.c").read_text()
    assert "if (cogtcp_spins(1000))\n\t\tum_udelay(5);" in call
    assert call.index("int cogtcp_spins(unsigned") < call.index("void handle_syscall(")
    unit = (tree / "arch/um/include/linux/time-internal.h").read_text()
    assert unit == "unit TIMER_MULTIPLIER 1\nleast TIMER_MIN_DELTA  1\n"


def test_the_floating_point_state_of_any_processor_fits(tmp_path: Path) -> None:
    tree = _tree(tmp_path / "tree")
    sizes, registers = tree / "arch/x86/um/user-offsets.c", tree / "arch/x86/um/os-Linux/registers.c"
    sizes.write_text("of(HOST_FP_SIZE, 2696);\nof(HOST_FP_SIZE, known);\n")
    registers.write_text(
        "own have_xstate_support;\nread: iov_len = most; if (get(PTRACE_GETREGSET))\n"
        "write: iov_len = most; if (set(PTRACE_SETREGSET))\nif (found) have_xstate_support = 1;\n"
    )
    assert edits.apply(tree, 1000)[-2:] == ["state-size", "state-length"]
    assert sizes.read_text() == "of(HOST_FP_SIZE, 12288);\nof(HOST_FP_SIZE, known);\n"
    declared, _, read, write, found = registers.read_text().splitlines()
    assert declared == "static unsigned long cogtcp_state_length;"
    assert ("cogtcp" in read, "iov_len = cogtcp_state_length;" in write) == (False, True)
    assert "{ cogtcp_state_length = iov.iov_len; have_xstate_support = 1; }" in found


def test_trees_that_cannot_be_used_are_refused(tmp_path: Path, command: Command) -> None:
    old = _tree(tmp_path / "old", travels=False)
    with pytest.raises(UsageError, match=r"Linux 5\.2\.1 has no time travel"):
        build.build(source=old)
    for words, said in (
        (("--source", tmp_path), "no tree of Linux"),
        (("--source", tmp_path / "no"), "no such folder"),
        (("--hz", 300), "use 1000, 250 or 100"),
        (("--name", "a/b"), "cannot be a name"),
    ):
        done = command("kernel", "build", *words)
        assert (done.code, said in done.err) == (2, True), done.err


def test_missing_tools_of_a_build_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root installs them: a build is told from what apt is asked for, and nothing is built."""
    there = {"gcc", "make", "bc", "xz", "perl"}
    asked: list[list[str]] = []
    code = 0

    def which(tool: str) -> str | None:
        return f"/usr/bin/{tool}" if tool in there else None

    def start(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(words)
        return subprocess.CompletedProcess(words, code)

    monkeypatch.setattr(build.shutil, "which", which)
    monkeypatch.setattr(build.subprocess, "run", start)
    monkeypatch.setattr(build.os, "geteuid", lambda: 1000)
    named = "needs flex bison; on Debian: apt install flex bison"
    there.add("apt-get")
    with pytest.raises(RunError, match=named):
        build._find_tools(lambda _: None)
    assert asked == []
    monkeypatch.setattr(build.os, "geteuid", lambda: 0)
    told: list[str] = []
    build._find_tools(told.append)
    assert told == ["installing flex bison"]
    assert [words[:2] + words[-2:] for words in asked] == [["apt-get", "install", "flex", "bison"]]
    code = 100
    with pytest.raises(RunError, match=named):
        build._find_tools(told.append)
    there |= {"flex", "bison"}
    build._find_tools(told.append)
    assert len(asked) == 2


def test_clean_removes_what_a_killed_build_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path / "kernels"))
    # A process that has gone, and its compiler that goes on.
    with subprocess.Popen(["/bin/true"]) as gone:
        pass
    left, going = (tmp_path / f"kernels/.build-{process}-x" for process in (gone.pid, os.getpid()))
    for folder in (left, going):
        (folder / "tree").mkdir(parents=True)
    sleep = ["/bin/sleep", str(PATIENCE)]
    looking = subprocess.Popen(sleep, cwd=left)
    compiler = subprocess.Popen(sleep, cwd=left / "tree", env={build.MARK: str(left)})
    assert f"removed the unfinished build of a kernel: {left}\n" in command("emulate", "--clean").out
    assert compiler.wait(PATIENCE) == -signal.SIGKILL
    assert (left.exists(), going.exists(), looking.poll()) == (False, True, None)
    looking.kill()
    looking.wait()
    assert command("emulate", "--clean", "--json").json()["builds"] == []
