"""The first process of a guest: mounts what a run needs, runs the emulation unchanged, and switches off.

The host's files are the root, read-only. /tmp, /run and /dev/shm are the guest's own. What the run answers,
and what programs print, go to files of one folder of the host, which it may write.

A module costs more here than a packet: each of its system calls and first touches of memory is a stop of the
process on the host. So this file imports little (of `signal` the part without enumerations), and a lean task
is done without the package's own start.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn
else:
    import _signal as signal

_MS_RDONLY, _MS_NOSUID, _MS_NODEV = 1, 2, 4
_POWER_OFF = 0x4321FEDC
_EXCHANGE = "/run/cogtcp"
#: An emulation begins at 37.856 s of the guest's clock, when its timer wheel reads 0 (`clock.rs`).
_BEGIN_S = 37.5

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Run one job and switch off."""
    try:
        _run()
    except BaseException as error:  # whatever it is, the guest must end
        sys.stderr.write(f"cogtcp-guest: {error!r}\n")
        try:
            _write("failed", str(error))
        except OSError:
            pass
    _switch_off()


def _run() -> None:
    time.sleep(max(0.0, _BEGIN_S - time.monotonic()))
    _mount("proc", "/proc")
    _mount("sysfs", "/sys")
    _mount("tmpfs", "/run", data="mode=755")
    os.mkdir(_EXCHANGE)
    # Of the host: the guest itself is a process there.
    _mount("hostfs", _EXCHANGE, data="/proc/self/cwd/.")
    with open(f"{_EXCHANGE}/setup", "rb") as stream:
        told: dict[str, Any] = marshal.load(stream)  # noqa: S302 (the host's side wrote it)
    _mount("devtmpfs", "/dev", data="mode=755")
    # The kernel gives its first process no console: else pipes would get these numbers.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)
    for name, kind, data in (("shm", "tmpfs", "mode=1777"), ("pts", "devpts", "ptmxmode=666")):
        os.makedirs(f"/dev/{name}", exist_ok=True)
        _mount(kind, f"/dev/{name}", data=data)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        try:
            os.symlink(target, f"/dev/{name}")
        except FileExistsError:
            pass
    _mount("tmpfs", "/tmp", data="mode=1777")  # noqa: S108 (the guest's own)
    # What these mounts hide of the host and the run needs.
    for path in told["seen"]:
        os.makedirs(path, exist_ok=True)
        _mount("hostfs", path, data=path, flags=_MS_RDONLY | _MS_NOSUID)
    for path in told["written"]:
        os.makedirs(path, exist_ok=True)
        _mount("hostfs", path, data=path, flags=_MS_NOSUID | _MS_NODEV)
    _libc.sethostname(b"cogtcp", 6)
    os.environ.clear()
    os.environ.update(told["environment"])
    try:
        os.chdir(told["directory"])
    except OSError:
        pass  # hidden from the guest
    os.umask(0o022)
    started = _start(told["module"], told["package"], terminal=told["terminal"], is_lean=told["lean"])
    _attend(*started, told["tick"])


def _start(module: str, package: str, *, terminal: list[bool], is_lean: bool) -> tuple[int, dict[int, int]]:
    """Start the emulation; return its process, and for each stream of its output the file that it goes to."""
    ends = [os.openpty() if is_terminal else os.pipe() for is_terminal in terminal]
    if any(terminal):
        _raw([end[1] for end, is_terminal in zip(ends, terminal, strict=True) if is_terminal])
    process = os.fork()
    if process == 0:
        _work(module, package, [end[1] for end in ends], is_lean=is_lean)
    streams = {}
    for name, (ours, theirs) in zip(("out", "err"), ends, strict=True):
        os.close(theirs)
        streams[ours] = os.open(
            f"{_EXCHANGE}/{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
        )
    return process, streams


def _work(module: str, package: str, outputs: list[int], *, is_lean: bool) -> NoReturn:
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, output in enumerate(outputs, 1):
            os.dup2(output, number)
        os.closerange(3, 256)
        _find(module, package, is_lean=is_lean)
        __import__(module)
        worker = sys.modules[module]
        asked = os.open(f"{_EXCHANGE}/job", os.O_RDONLY)
        answered = os.open(f"{_EXCHANGE}/answer", os.O_WRONLY | os.O_CREAT, 0o600)
        worker.work(asked, answered)
        code = 0
    except BaseException as error:  # told to the host, by its end
        sys.stderr.write(f"cogtcp-guest: {error!r}\n")
    finally:
        os._exit(code)


def _find(module: str, package: str, *, is_lean: bool) -> None:
    """Make the package importable: for a lean task without what its own start and its rooms' import."""
    if not is_lean:
        import site

        site.main()
        # Behind the others: the package may be where only its caller looks.
        sys.path.append(os.path.dirname(package))
        return
    names = module.split(".")[:-1]
    for depth in range(1, len(names) + 1):
        room = type(sys)(".".join(names[:depth]))
        room.__path__ = [os.path.join(package, *names[1:depth])]
        sys.modules[room.__name__] = room


def _attend(process: int, streams: dict[int, int], tick_s: float) -> None:
    """Pass on what is printed, how far the clock is and how much of that all waited, until the run ends."""
    clock = os.open(f"{_EXCHANGE}/clock", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    idle = os.open("/proc/uptime", os.O_RDONLY | os.O_CLOEXEC)
    begun, begun_idle = time.monotonic(), _idle_s(idle)
    tick = begun
    poll = select.poll()
    for descriptor in (*streams, woken):
        poll.register(descriptor, select.POLLIN)
    status = None
    while status is None:
        for descriptor, _ in poll.poll(max(0.0, (tick + tick_s - time.monotonic()) * 1e3)):
            if descriptor == woken:
                os.read(woken, 512)
            elif not _copy(descriptor, streams[descriptor]):
                poll.unregister(descriptor)
        # What has lost its parent comes here too.
        status = _reap(process)
        if time.monotonic() >= tick + tick_s:
            tick += tick_s
            waited = _idle_s(idle) - begun_idle
            os.write(clock, f"{time.monotonic() - begun:.3f} {waited:.2f}\n".encode())
            os.fdatasync(clock)
    for descriptor in streams:
        os.set_blocking(descriptor, False)
        while _copy(descriptor, streams[descriptor]):
            pass
    _write("ended", str(status))


def _idle_s(uptime: int) -> float:
    """Return how long all processes have waited, s of virtual time."""
    return float(os.pread(uptime, 64, 0).split()[1])


def _reap(process: int) -> int | None:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 1
        if child == process:
            return os.waitstatus_to_exitcode(status)
        if child == 0:
            return None


def _write(name: str, text: str) -> None:
    with open(f"{_EXCHANGE}/{name}", "w", encoding="utf-8") as stream:
        stream.write(text)


def _copy(source: int, target: int) -> bool:
    """Copy what is there; return False at its end."""
    try:
        data = os.read(source, 1 << 16)
    except OSError:  # the last writer of a terminal has gone, or there is nothing now
        return False
    left = data
    while left:
        left = left[os.write(target, left) :]
    # hostfs keeps what is written until it is told: output is to come out live.
    os.fdatasync(target)
    return bool(data)


def _raw(terminals: list[int]) -> None:
    import termios

    for terminal in terminals:
        mode = termios.tcgetattr(terminal)
        mode[1] &= ~termios.OPOST
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(terminal, termios.TCSANOW, mode)


def _mount(kind: str, where: str, *, data: str = "", flags: int = 0) -> None:
    if _libc.mount(b"none", os.fsencode(where), kind.encode(), ctypes.c_ulong(flags), os.fsencode(data)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{kind} cannot be mounted at {where}: {os.strerror(error)}")


def _switch_off() -> NoReturn:
    _libc.sync()
    _libc.reboot(ctypes.c_int(_POWER_OFF))
    os._exit(1)


if __name__ == "__main__":
    main()
