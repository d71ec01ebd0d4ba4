"""Putting a finished file or folder in its place in one step, and clearing up what a kill left behind.

What is being written lies beside its target under `.NAME.PID-TOKEN.cogtcp.tmp`. Where the kernel can
exchange two folders (`renameat2` with `RENAME_EXCHANGE`, Linux 3.15), a target exists at every moment.
Elsewhere the old one steps aside to `.NAME.PID-TOKEN.cogtcp.old` first, and `clear_up` puts it back if
nothing took its place.

A writer holds a lock (`flock`), which ends with its process. A process that gets the lock knows that no other
process writes there. No age and no process number is needed, and the lock holds between machines that share a
disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # no file locks on this system
    fcntl = None  # type: ignore[assignment]

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# Where the file system has no locks: a file that nobody has touched for so long, of a process that is not
# on this machine, is nobody's.
_STALE_S = 60.0
# With our name in it: what looks alike is somebody else's.
_LEFT = re.compile(r"\.(.+)\.(\d+)-[0-9a-f]{8}\.cogtcp\.(tmp|old)")


class Cleared(NamedTuple):
    """What a process that is gone had left: what it was called, and where it was put back, if it was."""

    path: Path
    put_back: Path | None = None


def staging(target: Path) -> Path:
    """Return the name under which what will be `target` is written."""
    return target.with_name(f".{target.name}.{os.getpid()}-{os.urandom(4).hex()}.cogtcp.tmp")


def begin_file(target: Path, flags: int = os.O_WRONLY) -> tuple[Path, int]:
    """Make an empty file beside `target` and hold it: its path, and the descriptor that holds it."""
    while True:
        path = staging(target)
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        # Another process may have taken it for left over before it was locked: then another one.
        if _hold(descriptor, path):
            return path, descriptor
        os.close(descriptor)


def begin_folder(target: Path) -> tuple[Path, int | None]:
    """Make a folder beside `target` and hold it; no descriptor where folders cannot be opened."""
    while True:
        path = staging(target)
        path.mkdir()
        if fcntl is None:
            return path, None
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        if _hold(descriptor, path):
            return path, descriptor
        os.close(descriptor)


def _hold(descriptor: int, path: Path) -> bool:
    """Lock what was just made; false if somebody took it for left over before it was locked."""
    if fcntl is None:
        return True
    # Some network file systems have no locks. Waits for no longer than another process takes to look.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    # The lock may be on a file that has been removed meanwhile: what bears the name now must be the same.
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def put(new: Path, target: Path) -> bool:
    """Put a folder in its place and remove what was there; false if another process was quicker."""
    if target.exists():
        try:
            exchange(new, target)
        except FileNotFoundError:
            return False
        # After the exchange the old folder bears the new one's name.
        shutil.rmtree(new, ignore_errors=True)
        return True
    try:
        new.rename(target)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def exchange(one: Path, other: Path) -> None:
    """Let two folders change names."""
    swap = _renameat2()
    if swap is not None:
        code = swap(os.fsencode(one), os.fsencode(other))
        if code == 0:
            return
        # These say that kernel or file system cannot exchange; any other error is one.
        if code not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise OSError(code, os.strerror(code), str(one), None, str(other))
    aside = staging(other).with_suffix(".old")
    # The old folder is locked while it is aside, so that no process takes it for a leftover.
    held = None if fcntl is None else os.open(other, os.O_RDONLY)
    try:
        if held is not None:
            _hold(held, other)
        other.rename(aside)
        try:
            one.rename(other)
        except OSError:
            # The old one back, rather than nothing there.
            aside.rename(other)
            raise
        # As after an exchange: the caller removes what bears the name of `one`.
        aside.rename(one)
    finally:
        if held is not None:
            os.close(held)


def clear_up(target: Path) -> None:
    """Remove what processes that are gone left beside `target`, or put it back if the target is missing."""
    _clear_up(target.parent, target.name)


def clear_up_in(folder: Path) -> list[Cleared]:
    """Do so in a folder, whatever it was to become; return what there was."""
    return _clear_up(folder, None)


def _clear_up(folder: Path, name: str | None) -> list[Cleared]:
    try:
        # No writer leaves a link: one would lead to what somebody else wants removed or put back.
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.is_symlink())
    except OSError:
        return []
    cleared = []
    for each in names:
        found = _LEFT.fullmatch(each)
        if found is None or (name is not None and found[1] != name):
            continue
        path, target = folder / each, folder / found[1]
        # Another process may clear up at the same time, or the folder may not be ours to change.
        with contextlib.suppress(OSError), _claim(path, int(found[2])) as ours:
            if not ours:
                continue
            is_back = found[3] == "old" and not target.exists()
            if is_back:
                path.rename(target)
            elif path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            cleared.append(Cleared(path, target if is_back else None))
    return cleared


@contextlib.contextmanager
def _claim(path: Path, process: int) -> Iterator[bool]:
    """Hold what may be left over; false if somebody writes it, as far as can be known."""
    is_folder = path.is_dir()
    if fcntl is None:
        yield _long_gone(path, process)
        return
    # An exclusive lock wants a file that is open for writing on some network file systems.
    descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR | os.O_NONBLOCK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            ours = False
        except OSError:
            ours = _long_gone(path, process)
        else:
            ours = True
        yield ours
    finally:
        os.close(descriptor)


def _long_gone(path: Path, process: int) -> bool:
    """Whether nobody writes `path`, where there are no locks that would tell."""
    # A number may belong to another process by now: then the file stays for longer than it had to, no more.
    if _alive(process):
        return False
    if path.is_dir():
        # What is written into a folder may not touch the folder itself.
        return path.suffix == ".old"
    return time.time() - path.stat().st_mtime > _STALE_S


def _alive(process: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It is there, and belongs to somebody else.
        return True
    return True


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    """Return a function that exchanges two paths and returns an error number; None where there is none."""
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]

    def swap(one: bytes, other: bytes) -> int:
        if call(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE) == 0:
            return 0
        return ctypes.get_errno()

    return swap
