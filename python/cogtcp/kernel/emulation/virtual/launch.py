"""Running an emulation in a guest: what the guest gets, how far it is, what it answers, why it failed."""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import NoKernelPlaneError, RunError
from cogtcp.kernel.emulation.job import answer_of
from cogtcp.kernel.emulation.marked import end, marked
from cogtcp.kernel.emulation.virtual import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cogtcp.kernel.emulation.job import Job
    from cogtcp.kernel.emulation.virtual.kernels import Kernel

#: Memory of a guest, MiB. It is one number: Linux sizes its tables and the limits of TCP by it.
MEMORY_MB = 1024
#: When the clock of every guest starts, s since 1970: 2026-01-01, 00:00 UTC.
STARTS_S = 1_767_225_600
#: So long a program may run, s of virtual time, where nobody says how long.
LONGEST_S = 3600.0
#: So much may be computed while the clock stands, or is moved by programs that read it, s of CPU.
STANDSTILL_S = 120.0
#: How often the guest says how far the clock is, s of virtual time.
TICK_S = 0.5
#: Programs of unlimited duration wait for at least this share of each tick. Computing takes no virtual time,
#: however heavy it is; reading the clock over and over does.
_WAITED = 0.5
#: What the guest has of its own: what of the host lies there is not seen.
_OWN = tuple(map(Path, ("/tmp", "/run", "/var/run", "/dev", "/proc", "/sys")))  # noqa: S108
_MARK = "cogtcp-guest-"
_POLL_S = 0.02
_LOOK_S = 2.0
#: With less left than this the file system of a guest's memory is full, bytes.
_FULL = 1 << 20
_NO_ROOM = "the file system of the guest's memory is full (/dev/shm, TMPDIR or /tmp); free some of it"
_TOO_LITTLE = (
    f"the guest's {MEMORY_MB} MiB of memory are too little for this run: shorten it, or write a longer "
    "run.sample_interval"
)
#: What a kernel says at its end, and what that means.
_FAILURES = (
    (
        r"ptrace|PTRACE|SYSEMU",
        "tracing of processes (ptrace) is forbidden here, which the guest needs; in a container: "
        "--cap-add SYS_PTRACE, or --security-opt seccomp=unconfined",
    ),
    (
        r"setup_physmem",
        f"{MEMORY_MB} MiB of memory for the guest cannot be mapped: raise the limit of the address space "
        "(ulimit -v)",
    ),
    (r"PROT_EXEC|noexec", "the guest's memory lies on a file system that is mounted noexec"),
    (
        r"Out of memory|invoked oom-killer|Cannot allocate memory|report_enomem",
        _TOO_LITTLE,
    ),
    (
        r"Bus error|SIGBUS|No space left|lseek64|pwrite",
        _NO_ROOM,
    ),
)


@dataclass(frozen=True)
class Task:
    """What a guest does.

    Attributes:
        module: The module whose function `work` does it, given descriptors of the job and of the answer.
        job: What that reads.
        seed: Seed of all randomness in the guest.
        needed: Folders of the host that it reads.
        written: Folders of the host that it may write.
        is_program: Whether somebody else's programs run: they have the user's environment.
        is_endless: Whether nothing says how long it lasts.
        is_lean: Whether the module needs neither other packages nor what the start of ours imports.
        is_closed: Whether the run reads only `needed`: a mount of the working folder would move its bytes.
    """

    module: str
    job: bytes
    seed: int
    needed: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()
    is_program: bool = False
    is_endless: bool = False
    is_lean: bool = False
    is_closed: bool = False


def run(
    job: Job,
    kernel: Kernel,
    *,
    quiet: bool = False,
    told: Callable[[float], None] | None = None,
    ended: Callable[[], bool] | None = None,
) -> Any:
    """Run a job in a guest, and return its answer: a result as plain data, or an exception.

    Args:
        job: The job; it starts and ends with the guest.
        kernel: The kernel.
        quiet: Whether what programs print goes to standard error.
        told: Called with the time of the run so far, s of virtual time.
        ended: Asked again and again; True ends the guest.

    Raises:
        NoKernelPlaneError: This machine does not let the guest run; the message says why.
        RunError: The guest failed, or was ended.
    """
    # The first process of the guest is the parent of the emulation.
    inside = replace(job, parent=1, virtual=True, states=None, links=None)
    core = job.scenario._core
    # Controls in Python may import anything.
    is_closed = not (job.command or core.allowed)
    task = Task(
        "cogtcp.kernel.emulation.worker",
        inside.to_bytes(),
        job.seed,
        tuple(Path(file).parent for file in core.files()) if is_closed else _surroundings(job),
        (Path(job.journal).resolve().parent,) if job.journal else (),
        bool(job.command),
        bool(job.command) and job.duration_s is None,
        not core.allowed,
        is_closed,
    )
    return answer_of(run_task(task, kernel, quiet=quiet, told=told, ended=ended))


def _surroundings(job: Job) -> tuple[Path, ...]:
    """Return the folders of the host that programs or modules of a user may read."""
    source = job.scenario._core.source
    beside = [Path(source).resolve().parent] if source and Path(source).exists() else []
    programs = [Path(word).parent for word in (*job.command, *job.peer) if Path(word).is_absolute()]
    return (Path.cwd(), *beside, *programs)


def run_task(
    task: Task,
    kernel: Kernel,
    *,
    quiet: bool = False,
    told: Callable[[float], None] | None = None,
    ended: Callable[[], bool] | None = None,
) -> bytes:
    """Run a task in a guest, and return its answer. See `run`."""
    memory = _room_for_memory()
    exchange = Path(tempfile.mkdtemp(prefix=_MARK, dir=memory))
    try:
        _write_setup(exchange, task)
        with _guest(exchange, memory, task.seed, kernel) as process:
            attendance = _Attendance(exchange, process, task, quiet, told, ended)
            code = attendance.wait()
            return _answer(exchange, kernel, code, is_full=attendance.least_free < _FULL)
    except OSError as error:
        raise RunError(f"{error.filename or exchange}: {error.strerror}") from error
    finally:
        shutil.rmtree(exchange, ignore_errors=True)


def _room_for_memory() -> Path:
    """Return a folder for the guest's memory: not on a disk if possible, where runs take longer."""
    needed = MEMORY_MB << 20
    given = os.environ.get("TMPDIR")
    places = [Path(folder) for folder in ("/dev/shm", given, "/tmp") if folder]  # noqa: S108
    free = {}
    for each in places:
        with contextlib.suppress(OSError):
            if os.access(each, os.W_OK | os.X_OK):
                free[each] = shutil.disk_usage(each).free
    place = next((place for place, size in free.items() if size >= needed), None)
    if place is None:
        said = (
            ", ".join(f"{place} has {size >> 20} MiB" for place, size in free.items()) or "none is writable"
        )
        raise NoKernelPlaneError(
            f"a guest needs {MEMORY_MB} MiB in /dev/shm, TMPDIR or /tmp: {said} "
            "(in a container: --shm-size=2g)"
        )
    available = re.search(r"^MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    if available and int(available[1]) < MEMORY_MB << 8:
        raise NoKernelPlaneError(
            f"a guest may use {MEMORY_MB} MiB of memory; this machine has {int(available[1]) >> 10} MiB left"
        )
    return place


def _write_setup(exchange: Path, task: Task) -> None:
    from cogtcp import _core

    (exchange / "job").write_bytes(task.job)
    for name in ("answer", "clock", "out", "err"):
        (exchange / name).touch(mode=0o600)
    package = Path(_core.__file__).parent
    needed = [Path(sys.prefix), Path(sys.base_prefix), package.parent, *task.needed]
    setup = {
        "module": task.module,
        "package": str(package),
        "lean": task.is_lean,
        "seen": sorted({str(path) for each in needed for path in _hidden(each)}),
        "written": sorted(map(str, task.written)),
        "directory": "/" if task.is_closed else str(Path.cwd()),
        "environment": _environment(is_program=task.is_program),
        "tick": TICK_S,
        "terminal": [task.is_program and stream.isatty() for stream in (sys.stdout, sys.stderr)],
    }
    (exchange / "setup").write_bytes(marshal.dumps(setup))


def _hidden(path: Path) -> Iterator[Path]:
    """Yield a folder, if the guest's own would hide it."""
    for each in {path.absolute(), path.resolve()}:
        if each.is_dir() and any(own in each.parents for own in _OWN):
            yield each


def _environment(*, is_program: bool) -> dict[str, str]:
    """Return the environment of the run: the user's for programs, else always the same."""
    fixed = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": "/tmp",  # noqa: S108
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {**os.environ, "TMPDIR": "/tmp"} if is_program else fixed  # noqa: S108


@contextlib.contextmanager
def _guest(exchange: Path, memory: Path, seed: int, kernel: Kernel) -> Iterator[subprocess.Popen[bytes]]:
    """Start the guest, and end it with this block or with us."""
    # No name of the folder: the kernel mixes its command line into its random numbers.
    # As `-I`, but with the user's own packages where they are asked for.
    first = [sys.executable, "-E", "-P", "-S", "-B", str(Path(guard.__file__).with_name("guest.py"))]
    words = [
        str(kernel.program),
        f"mem={MEMORY_MB}M",
        "umid=guest",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "time-travel=inf-cpu",
        f"time-travel-start={STARTS_S * 10**9}",
        "random.trust_cpu=on",
        "con=null",
        "con0=null",
        "stderr=1",
        "panic=-1",
        "quiet",
        f"init={_quoted(first[0])}",
        "--",
        *map(_quoted, first[1:]),
    ]
    if sum(len(word) + 1 for word in words) > 4000:
        raise RunError(f"the path of the interpreter is too long for the kernel's command line: {first[0]}")
    told = {
        "folder": str(exchange),
        "log": str(exchange / "kernel.log"),
        "arguments": words,
        # Nothing of ours: the size of the environment moves the stack.
        "environment": {"TMPDIR": str(memory), "COGTCP_SEED": str(seed), "HOME": str(exchange)},
    }
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-S", str(guard.__file__), json.dumps(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        # The end of the pipe ends the guest.
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if process.wait() != 0:
            # A guard that was killed ended none. The guest's kernel ends with it, a child of that may not.
            end(f"HOME={exchange}")


def _quoted(word: str) -> str:
    """Return a word of the kernel's command line."""
    if '"' in word or "\n" in word:
        raise RunError(f"a path with a quotation mark cannot be given to the guest: {word}")
    return f'"{word}"' if re.search(r"\s", word) else word


class _Attendance:
    """Passes on what a guest prints and how far it is, until it ends."""

    def __init__(
        self,
        exchange: Path,
        process: subprocess.Popen[bytes],
        task: Task,
        quiet: bool,
        told: Callable[[float], None] | None,
        ended: Callable[[], bool] | None,
    ) -> None:
        self._exchange, self._process, self._told, self._ended = exchange, process, told, ended
        self._outputs = [
            ((exchange / "out").open("rb"), (sys.stderr if quiet else sys.stdout)),
            ((exchange / "err").open("rb"), sys.stderr),
        ]
        self._clock = (exchange / "clock").open("rb")
        self._at, self._waited = 0.0, 0.0
        self._is_endless, self._is_spun = task.is_endless, False
        self._moved_at = 0.0
        self._looked = time.monotonic()
        #: The least room that the file system of its memory had, bytes.
        self.least_free = shutil.disk_usage(exchange).free

    def wait(self) -> int:
        """Wait for the end of the guest; return its exit code, or the negative of the signal that ended it.

        Raises:
            RunError: It does not end, or was ended.
        """
        pipe = self._process.stdout
        if pipe is None:
            return 0
        os.set_blocking(pipe.fileno(), False)
        try:
            while True:
                # Nothing yet is None; the end of a guard that was killed is empty.
                said = pipe.read()
                self._pass_on()
                self.least_free = min(self.least_free, shutil.disk_usage(self._exchange).free)
                if said == b"":
                    code = self._process.wait()
                    how = f"was killed (signal {-code})" if code < 0 else f"ended with exit code {code}"
                    raise RunError(
                        f"the guest's guard, process {self._process.pid}, {how}: the run ended too"
                    )
                if said is not None:
                    return int(said)
                self._look()
                time.sleep(_POLL_S)
        finally:
            for stream, _ in self._outputs:
                stream.close()
            self._clock.close()

    def _pass_on(self) -> None:
        for source, target in self._outputs:
            while data := source.read(1 << 16):
                target.flush()
                target.buffer.write(data)
                target.buffer.flush()
        if lines := self._clock.read().splitlines():
            at, waited = map(float, lines[-1].split())
            self._is_spun = self._is_endless and waited - self._waited < _WAITED * (at - self._at)
            if not self._is_spun:
                self._moved_at = -1.0
            self._at, self._waited = at, waited
            if self._told:
                self._told(self._at)

    def _look(self) -> None:
        """Raise if the run is to end, or will not end by itself."""
        if self._ended and self._ended():
            raise RunError("interrupted")
        if self._is_endless and self._at >= LONGEST_S:
            raise RunError(
                f"the program has not ended after {self._at:,.0f} s of virtual time; limit it with --duration"
            )
        if time.monotonic() - self._looked < _LOOK_S:
            return
        self._looked = time.monotonic()
        spent = _cpu_s(self._process.pid)
        if self._moved_at < 0:
            self._moved_at = spent
        if spent - self._moved_at > STANDSTILL_S:
            if self._is_spun:
                raise RunError(
                    f"a program reads the clock over and over: {spent - self._moved_at:,.0f} s of CPU moved "
                    f"it to {self._at:,.1f} s of virtual time; let it sleep, or limit it with --duration"
                )
            raise RunError(
                f"the clock of the guest stands at {self._at:,.0f} s for {spent - self._moved_at:,.0f} s of "
                "CPU: a program that computes without end, or asks the clock over and over? Time passes only "
                "while all programs wait"
            )


def _cpu_s(guard_process: int) -> float:
    """Return the CPU that the guest of this guard has used, of its processes that live."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # Behind the name, which may have anything in it: state, parent, group, session, ...
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == guard_process:
                    total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def _answer(exchange: Path, kernel: Kernel, code: int, *, is_full: bool) -> bytes:
    # Written whole: the worker has ended before the guest says so.
    ended = exchange / "ended"
    status = ended.read_text() if ended.exists() else ""
    if status == "0" and (answer := (exchange / "answer").read_bytes()):
        return answer
    # Nobody else kills it: a kernel whose memory is used up does.
    if status == str(-signal.SIGKILL):
        raise RunError(_TOO_LITTLE)
    log = (exchange / "kernel.log").read_text(errors="replace") if (exchange / "kernel.log").exists() else ""
    errors = (exchange / "err").read_text(errors="replace")
    if (exchange / "failed").exists():
        raise RunError(f"the guest failed: {(exchange / 'failed').read_text()}")
    is_begun = (exchange / "clock").stat().st_size > 0 or (exchange / ".uml").exists()
    for pattern, meaning in _FAILURES:
        if re.search(pattern, log) or (is_full and meaning == _NO_ROOM):
            raise (RunError if is_begun and pattern != _FAILURES[0][0] else NoKernelPlaneError)(meaning)
    last = [line for line in (log + errors).splitlines() if line.strip()][-3:]
    how = " / ".join(last) or (f"signal {-code}" if code < 0 else f"exit code {code}, no message")
    raise RunError(f"the guest ({kernel.name}) ended without a result: {how}")


def leftovers() -> list[Path]:
    """Return folders of guests that nobody runs any more: guard and command were killed at once."""
    found = []
    for place in {"/dev/shm", os.environ.get("TMPDIR", "/tmp"), "/tmp"}:  # noqa: S108
        for folder in Path(place).glob(f"{_MARK}*"):
            with contextlib.suppress(OSError):
                if folder.stat().st_uid == os.getuid() and not _is_guarded(folder):
                    found.append(folder)
    return sorted(found)


def _unguarded() -> set[Path]:
    """Return the folders, which may be gone, of guests whose processes go on without a guard."""
    mark = re.compile(rb"HOME=(/.*/" + _MARK.encode() + rb"[^/]*)")
    folders = {Path(os.fsdecode(found[1])) for _, found in marked(mark)}
    return {folder for folder in folders if not _is_guarded(folder)}


def _is_guarded(folder: Path) -> bool:
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                if os.fsencode(folder) in (process / "cmdline").read_bytes():
                    return True
    # It may be about to be: its maker has just made it.
    with contextlib.suppress(FileNotFoundError):
        return time.time() - folder.stat().st_mtime < 10.0
    return False


def end_leftovers() -> list[Path]:
    """End what is left of guests, and remove their folders; return these folders."""
    found = sorted({*leftovers(), *_unguarded()})
    for folder in found:
        end(f"HOME={folder}")
        shutil.rmtree(folder, ignore_errors=True)
    return found
