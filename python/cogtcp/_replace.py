"""Putting a finished file or folder in its place in one step, and clearing up what a kill left behind.

What is being written lies beside its target under `.NAME.PID-TOKEN.tmp`. Where the kernel can exchange two
folders (`renameat2` with `RENAME_EXCHANGE`, Linux 3.15), a target exists at every moment. Elsewhere the old
one steps aside to `.NAME.PID-TOKEN.old` first, and `clear_up` puts it back if nothing took its place.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # no file locks on this system
    fcntl = None  # type: ignore[assignment]

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# A file in the making that nobody has touched for so long, by a process that is gone, is nobody's: a process
# of another machine on a shared disk cannot be asked.
_STALE_S = 60.0


def staging(target: Path) -> Path:
    """Return the name under which what will be `target` is written."""
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def lock(folder: Path) -> int | None:
    """Mark a folder as being written for as long as this process lives; None where there are no locks."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # some network file systems lock no folders
        os.close(descriptor)
        return None
    return descriptor


def put(new: Path, target: Path) -> bool:
    """Put a folder in its place and remove what was there; false if another process was quicker."""
    if target.exists():
        try:
            exchange(new, target)
        except FileNotFoundError:
            return False
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
        if code not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise OSError(code, os.strerror(code), str(one), None, str(other))
    aside = staging(other).with_suffix(".old")
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(one)


def clear_up(target: Path) -> None:
    """Remove what processes that are gone left beside `target`, or put it back if the target is missing."""
    name = re.compile(rf"\.{re.escape(target.name)}\.(\d+)-[0-9a-f]{{8}}\.(tmp|old)")
    try:
        entries = [entry for entry in os.scandir(target.parent) if entry.name.startswith(f".{target.name}.")]
    except OSError:
        return
    for entry in entries:
        found = name.fullmatch(entry.name)
        path = target.parent / entry.name
        if found is None or _alive(int(found[1])) or not _abandoned(path):
            continue
        with contextlib.suppress(OSError):
            if found[2] == "old" and not target.exists():
                path.rename(target)
            elif path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _abandoned(path: Path) -> bool:
    """Whether nobody writes `path`, as far as can be known."""
    if path.suffix == ".old":
        return True
    try:
        if not path.is_dir():
            return time.time() - path.stat().st_mtime > _STALE_S
        if fcntl is None:
            return False
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _alive(process: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    """Return a function that exchanges two paths and returns an error number; None where there is none."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]

    def swap(one: bytes, other: bytes) -> int:
        if call(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE) == 0:
            return 0
        return ctypes.get_errno()

    return swap
