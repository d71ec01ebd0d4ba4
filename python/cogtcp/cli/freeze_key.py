"""The key that a router and its clients share: a file of 64 hexadecimal digits, for its owner alone."""

from __future__ import annotations

import os
import re
import secrets
import stat

from cogtcp._errors import RunError, UsageError

_BYTES = 32
_DIGITS = 2 * _BYTES


def write_key(path: str) -> None:
    """Write a new random key to a file that must not exist yet."""
    try:
        # With its mode from the first moment on, whatever the umask adds.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists: take another name, or delete it") from None
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(_BYTES) + "\n")


def read_key(path: str) -> bytes:
    """Return the key that a file holds; refuses a file that others may read, as `bpf/freeze/key.c` does."""
    try:
        # A FIFO must not hold us up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise UsageError(f"--key {path}: {error.strerror}; cogtcp freeze key {path} makes one") from error
    with os.fdopen(descriptor, "rb") as file:
        its = os.fstat(descriptor)
        if not stat.S_ISREG(its.st_mode):
            raise UsageError(f"--key {path}: it is not a regular file")
        if its.st_mode & 0o077:
            mode = stat.S_IMODE(its.st_mode)
            raise UsageError(
                f"--key {path}: others may read it or write to it (mode {mode:o}); do: chmod 600 {path}"
            )
        # Another user could change the file after this look at it.
        if its.st_uid not in (0, os.geteuid()):
            raise UsageError(f"--key {path}: it belongs to another user (uid {its.st_uid})")
        # Room for the end of the line and some blanks: a longer file is no key, and is not read whole.
        text = file.read(_DIGITS + 8)
    if not re.fullmatch(rb"[0-9a-fA-F]{%d}[ \t\r\n]*" % _DIGITS, text):
        raise UsageError(
            f"--key {path}: give {_DIGITS} hexadecimal digits and nothing else; "
            "cogtcp freeze key FILE makes a key"
        )
    return bytes.fromhex(text.decode())
