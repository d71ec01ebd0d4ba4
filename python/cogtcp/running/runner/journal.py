"""Finished runs on disk: one line each, in a file that only one process writes.

A line is `CRC JSON`. One call writes it, so a killed process leaves whole lines and at most a torn last one,
which readers ignore. Every process writes a file of its own, locked while it lives, and reads all files. So
two processes on one folder do not disturb each other, and see finished runs. Files of ended processes are
joined when there are many.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import zlib
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cogtcp import _replace
from cogtcp._errors import OutputError
from cogtcp.model.output import check_links
from cogtcp.running.runner.case import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

try:
    import fcntl
except ModuleNotFoundError:  # no file locks on this system
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".runs"
# More files of processes that are gone than this are brought together.
_MOST_FILES = 8
# A new file is begun after so many bytes: what reads it need not hold more.
_MOST_BYTES = 64 * 1024 * 1024


class Journal:
    """The finished runs of a folder, and a place to add to them.

    >>> with Journal(folder) as journal:
    ...     journal.append(outcome)
    ...     for outcome in journal.outcomes(): ...
    """

    def __init__(self, folder: str | Path, *, make: bool = True) -> None:
        self.folder = Path(folder)
        self._make = make  # else the folder is there, or somebody has removed it
        self._descriptor: int | None = None
        self._path = self.folder
        self._size = 0
        self._turn = (
            Lock()
        )  # of the threads that make runs: the main thread takes it only where there are none
        self._own: set[str] = set()
        self._read: dict[str, int] = {}  # how far the files of others were looked at

    def __enter__(self) -> Journal:
        try:
            if self._make:
                self.folder.mkdir(parents=True, exist_ok=True)
            elif not self.folder.is_dir():
                raise _gone()
            check_links(self.folder, OutputError)
            self._bring_together()
        except OSError as error:
            raise _cannot_keep(self.folder, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, outcome: Outcome) -> None:
        """Keep a finished run.

        Raises:
            OutputError: The disk is full, say. What was kept before is whole.
        """
        data = line(outcome)
        with self._turn:
            try:
                descriptor = (
                    self._begin()
                    if self._descriptor is None or self._size > _MOST_BYTES
                    else self._descriptor
                )
                if not self._is_there(descriptor):
                    raise _gone()
                written = os.write(descriptor, data)
                if written < len(data):
                    # Nearly full: take back what there was room for, and let the next attempt say why.
                    os.ftruncate(descriptor, self._size)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                raise _cannot_keep(self.folder, error) from error
            self._size += len(data)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield every run that is kept, in no order; one that two processes made comes twice."""
        for path in self.files():
            yield from read(path)

    def news(self) -> Iterator[Outcome]:
        """Yield what other processes have added since this was called last (at first: everything)."""
        for path in self.files():
            if path.name in self._own:
                continue
            # Another process may join files meanwhile: what was in this one comes by the new one.
            with contextlib.suppress(OSError), path.open("rb") as stream:
                # Only what is new: journals are large, and this is called twice a second.
                stream.seek(self._read.get(path.name, 0))
                for line in stream:
                    if line[-1:] != b"\n":
                        break  # torn, or still being written
                    self._read[path.name] = self._read.get(path.name, 0) + len(line)
                    outcome = _parsed(line)
                    if outcome is not None:
                        yield outcome

    def forget(self, files: Iterable[Path]) -> None:
        """Take note that files were removed."""
        for path in files:
            self._own.discard(path.name)
            self._read.pop(path.name, None)

    def files(self) -> list[Path]:
        """Return the files, by name."""
        return sorted(self.folder.glob(f"*{_SUFFIX}"))

    def idle(self) -> list[Path]:
        """Return the files that no other process writes."""
        return [path for path in self.files() if path.name in self._own or not _is_written(path)]

    def busy(self) -> bool:
        """Whether another process writes here. From now on others see that this one does."""
        with self._turn:
            if self._descriptor is None:
                try:
                    self._begin()
                except OSError as error:
                    raise _cannot_keep(self.folder, error) from error
        return any(path.name not in self._own and _is_written(path) for path in self.files())

    def close(self) -> None:
        """Finish the file that this process writes. More can be appended, to a new one."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._descriptor)
            if self._size == 0:
                # While it is locked: what is not written any more is another process's to rearrange.
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def _begin(self) -> int:
        self.close()
        # Under its name only once it is locked: a file without a lock is taken for one that was left.
        self._path = _new_path(self.folder)
        part, self._descriptor = _replace.begin_file(self._path, os.O_WRONLY | os.O_APPEND)
        part.rename(self._path)
        self._own.add(self._path.name)
        self._size = 0
        return self._descriptor

    def _is_there(self, descriptor: int) -> bool:
        """Return whether the file that this process writes still has its name; nobody finds it otherwise."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(descriptor))  # noqa: PTH116
        except FileNotFoundError:
            return False

    def _bring_together(self) -> None:
        """Join the files of ended processes into one. A kill on the way leaves runs twice."""
        with only_one(self.folder) as alone:
            if not alone:
                return
            _replace.clear_up_in(self.folder)
            small = [path for path in self.files() if not _is_written(path) and size(path) < _MOST_BYTES]
            if len(small) <= _MOST_FILES:
                return
            # First the new file, then the old ones go: a kill in between leaves runs twice, never none.
            write_all(self.folder, (outcome for path in small for outcome in read(path)))
            for path in small:
                path.unlink(missing_ok=True)


def size(path: Path) -> int:
    """Return the size of a file, 0 of one that its process has removed meanwhile: nothing was in it."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def read(path: Path) -> Iterator[Outcome]:
    """Yield the runs of one file; what is torn or damaged is left out."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as stream:
        for line in stream:
            outcome = _parsed(line)
            if outcome is not None:
                yield outcome


def write_all(folder: Path, outcomes: Iterable[Outcome]) -> None:
    """Write runs into a new file of a folder, each once, whole or not at all."""
    path = _new_path(folder)
    part, held = _replace.begin_file(path)
    seen: set[str] = set()
    try:
        with part.open("wb") as stream:
            for outcome in outcomes:
                if outcome.key not in seen:
                    seen.add(outcome.key)
                    stream.write(line(outcome))
            stream.flush()
            os.fsync(stream.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
        os.close(held)


def _new_path(folder: Path) -> Path:
    # The number alone is not unique: an earlier process, or one on another machine, may have it too.
    return folder / f"{os.getpid()}-{os.urandom(4).hex()}{_SUFFIX}"


def line(outcome: Outcome) -> bytes:
    """Return a finished run as a journal has it."""
    head: dict[str, Any] = {"key": outcome.key, "s": round(outcome.seconds, 6)}
    if outcome.error:
        head["error"] = outcome.error
    if outcome.label:
        head["label"] = outcome.label
    if outcome.limit_s:
        head["limit_s"] = outcome.limit_s
    body = f"{json.dumps(head)}\t{outcome.text}".encode()
    # JSON escapes line ends: the only one ends the line.
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _parsed(line: bytes) -> Outcome | None:
    if line[-1:] != b"\n" or line[8:9] != b" ":
        return None
    body = line[9:-1]
    try:
        if int(line[:8], 16) != zlib.crc32(body):
            return None
        head, _, text = body.decode().partition("\t")
        found = json.loads(head)
        return Outcome(
            found["key"],
            text,
            found.get("error", ""),
            found.get("limit_s", 0.0),
            found["s"],
            known=True,
            label=tuple(found.get("label", ())),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _is_written(path: Path) -> bool:
    """Whether a process may be writing a file."""
    if fcntl is None:
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        # A shared lock: two that look at the same file at once do not take each other for its writer.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True  # locked, or there are no locks here: then nothing is known
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def only_one(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Let one process at a time rearrange a folder; the others wait, or get false."""
    if fcntl is None:
        yield True
        return
    # The folder itself is locked: no file of its own that could be left behind.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            # Without locks whoever waits goes on: it touches no file but its own.
            yield wait and not isinstance(error, BlockingIOError)
            return
        yield True
    finally:
        os.close(descriptor)


def _gone() -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "the folder was removed or moved meanwhile")


def _cannot_keep(folder: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some space and repeat the command: finished runs are not repeated"
    elif error.errno == errno.ENOENT:
        remedy = "repeat the command"
    else:
        remedy = "name a folder that you may write to"
    return OutputError(f"{folder}: finished runs cannot be saved: {reason}; {remedy}")
