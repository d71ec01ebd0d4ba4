"""Starting the process of an emulation, and waiting for its result."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import RunError, ScenarioError, UsageError
from cogtcp.kernel.emulation.job import Job, answer_of
from cogtcp.kernel.emulation.result import Emulation
from cogtcp.kernel.emulation.states import OWN_CONTROLS, attended
from cogtcp.model.result import check_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cogtcp.model.scenario import Scenario

#: Variable by which `--clean` knows our processes: the one that started them, and its namespace.
MARK = "COGTCP_EMULATION"


def mark(process: int) -> str:
    """Return what stands in the variable: a number of a process says something in its own namespace alone."""
    return f"{process}@{process_namespace()}"


def process_namespace() -> int:
    """Return the number of the process namespace that we are in."""
    return Path("/proc/self/ns/pid").stat().st_ino


#: What the nodes' devices may be.
DEVICES = ("any", "tun", "veth")


def check(scenario: Scenario, *, command: bool = False, ipv6: bool = False) -> list[str]:
    """Check that a scenario can be emulated, and return what will be unlike it.

    Args:
        scenario: The scenario.
        command: Whether a program runs in place of its flows.
        ipv6: Whether its flows use IPv6.

    Raises:
        ScenarioError: It has something that this plane does not have.
        NoKernelPlaneError: This is not Linux.
    """
    return _core.check_emulation(scenario._core, command, ipv6)


def emulate(
    scenario: Scenario,
    seed: int | None = None,
    *,
    command: Sequence[str] = (),
    peer: Sequence[str] = (),
    duration_s: float | None = None,
    journal: str | Path | None = None,
    captures: bool = False,
    ipv6: bool = False,
    device: str = "any",
    announce: bool = True,
    quiet: bool = False,
    virtual: str | bool = False,
    told: Callable[[float], None] | None = None,
    ended: Callable[[], bool] | None = None,
) -> Emulation:
    """Run a scenario on this machine's Linux, for as long as it lasts, or on one in virtual time.

    Args:
        scenario: What to emulate: links between hosts, with or without radios, or an ad hoc network.
        seed: Seed of the link's losses and of the radio, 0 to 2^63 - 1; by default the scenario's own. As in
            a simulation with it: same losses by number, same primary users.
        command: A program and its arguments, run at the link's first node in place of the scenario's flows.
            Its environment has the addresses of both ends, `COGTCP_ADDRESS` and `COGTCP_PEER`.
        peer: A program and its arguments for the other node, ended when `command` ends.
        duration_s: How long, in place of the scenario's duration. Without it a command runs until it ends.
        journal: File in which every packet is recorded, see `cogtcp.emulation.journal`.
        captures: Whether the journal has the bytes of packets.
        ipv6: Whether the scenario's own flows use IPv6; programs may use either.
        device: What the nodes' devices are to be: "tun"; "veth", pairs of virtual Ethernet devices with
            packet sockets; or "any": the former, and the latter where there can be none and in virtual time.
        announce: Whether TCP C2 in the kernel hears what the hosts' own radios do, where it is loaded and may
            be told (root). The simulator's does not.
        quiet: Whether what programs print goes to standard error.
        virtual: Run on a Linux in virtual time, of `make kernel`: its name, or True for the kernel in use.
            The same seed gives the same tables, whatever else the machine does.
        told: In virtual time: called with the time of the run so far, s.
        ended: In virtual time: asked again and again; True ends the run.

    Raises:
        ScenarioError: The scenario has something that this plane does not have.
        NoKernelPlaneError: This machine lacks something; the message says what.
        RunError: The run failed, or was ended.
    """
    if seed is not None:
        check_seed(seed)
    if peer and not command:
        raise UsageError("--peer needs a program (-- CMD) at the first node")
    if duration_s is not None and not 0 < duration_s < 1e9:
        raise UsageError(f"a duration of {duration_s} s is out of range; use one above zero")
    if device not in DEVICES:
        raise UsageError(f'unknown devices "{device}"; use one of {", ".join(DEVICES)}')
    check(scenario, command=bool(command), ipv6=ipv6)
    if virtual is not False:
        return _in_virtual_time(
            Job(
                scenario,
                scenario.seed if seed is None else seed,
                duration_s,
                list(command),
                list(peer),
                None if journal is None else str(Path(journal).absolute()),
                captures,
                ipv6,
                device,
                None,
                None,
                os.getpid(),
            ),
            None if virtual is True else virtual,
            quiet,
            told,
            ended,
        )
    with attended(scenario, command=bool(command), announce=announce) as kernel:
        job = Job(
            scenario,
            scenario.seed if seed is None else seed,
            duration_s,
            list(command),
            list(peer),
            None if journal is None else str(journal),
            captures,
            ipv6,
            device,
            kernel.states,
            kernel.links,
            os.getpid(),
        )
        answer = _start(job, quiet, kernel.descriptors)
    if isinstance(answer, Exception):
        raise answer
    return Emulation(scenario, SimpleNamespace(**answer))


def check_virtual(scenario: Scenario) -> None:
    """Check that a scenario's own flows can run in virtual time.

    Raises:
        ScenarioError: A control is a BPF program.
    """
    for flow in scenario.to_dict().get("flow", []):
        if str(flow["transport"]) in OWN_CONTROLS:
            raise ScenarioError(
                f'{scenario.name}: flow "{flow["name"]}": {flow["transport"]} in the kernel is '
                "a BPF program, which Linux in virtual time cannot load; run it on the real clock"
            )


def _in_virtual_time(
    job: Job,
    name: str | None,
    quiet: bool,
    told: Callable[[float], None] | None,
    ended: Callable[[], bool] | None,
) -> Emulation:
    from cogtcp.kernel.emulation.virtual import find, launch

    kernel = find(name)
    if not job.command:
        check_virtual(job.scenario)
    answer = launch.run(job, kernel, quiet=quiet, told=told, ended=ended)
    if isinstance(answer, Exception):
        raise answer
    return Emulation(job.scenario, SimpleNamespace(**answer), kernel)


def _start(job: Job, quiet: bool, descriptors: tuple[int, ...]) -> Any:
    ours, asked = os.pipe()
    answered, theirs = os.pipe()
    with os.fdopen(answered, "rb") as answers, os.fdopen(asked, "wb") as questions:
        try:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-m", "cogtcp.kernel.emulation.worker", str(ours), str(theirs)],
                pass_fds=(ours, theirs, *descriptors),
                env={**os.environ, MARK: mark(os.getpid())},
                stdin=None if job.command else subprocess.DEVNULL,
                stdout=sys.stderr.fileno() if quiet else None,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        with _left_to(process, bool(job.command)):
            with contextlib.suppress(BrokenPipeError):  # its end says more
                questions.write(job.to_bytes())
                questions.close()
            answer = answers.read()
            code = process.wait()
    if not answer:
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        raise RunError(f"the process of the emulation ended {how}, without a result")
    return answer_of(answer)


@contextlib.contextmanager
def _left_to(process: subprocess.Popen[bytes], is_command: bool) -> Iterator[None]:
    """Leave Ctrl-C to a program that runs; end the process whatever ends us."""
    # Only the main thread is asked what signals do, and only there Python raises what they say.
    is_left = is_command and threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_left else None
    try:
        yield
    finally:
        if is_left:
            signal.signal(signal.SIGINT, before)
        if process.poll() is None:
            process.kill()
            process.wait()
