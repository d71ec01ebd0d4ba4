"""Folders of results: written whole or not at all, and never over another job's.

Results are written into a hidden folder beside the target, which then takes the target's name. A reader sees
the old results or the new ones, never a half of either; a crash leaves the target as it was. The next writer
to the same place clears what a kill left behind (`_replace`).

A folder of others with a symbolic link in it is neither read nor written (`check_links`).
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cogtcp import _files, _parquet, _replace
from cogtcp._errors import OutputError, UsageError
from cogtcp.model import provenance
from cogtcp.model.results_schema import RESULTS_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    import pyarrow as pa

    from cogtcp import _core
    from cogtcp._errors import CogtcpError

#: The file that marks a folder as ours. It lists what is in it.
MARKER = "cogtcp.json"
#: What a marker says of a folder that is being written, or was when its process was killed.
UNFINISHED = "unfinished"
#: The folder in a folder of results that keeps finished runs.
RUNS = "runs"
# Rows that are written at a time where there may be many.
_GROUP_ROWS = 4_096


class OutputFolder:
    """A folder of results in the making.

    Entering checks that results can be written, so that a long computation does not fail at its end. Leaving
    without an error puts the folder in its place; leaving with one removes every trace.

        with OutputFolder(path, job={"verb": "run", "scenario": scenario.hash, "seeds": [1]}) as folder:
            folder.write_text("scenario.toml", text)

    Args:
        target: The folder.
        job: What is computed, as plain data: the verb, the scenario's hash, the seeds and whatever else
            decides it. Results of the same job are renewed; those of any other are refused. `grows` names
            lists of which more may be asked for than before.
        force: Replace whatever is there; what is not of the same job is kept beside it, in `target.old-1`.
    """

    def __init__(self, target: str | Path, *, job: Mapping[str, Any], force: bool = False) -> None:
        self.target = Path(target)
        self._job = _plain(job)
        self._force = force
        self._manifest: dict[str, Any] = {}
        self._made: list[Path] = []  # folders above the target that were not there before
        self._lock: int | None = None
        self.path = Path()  # while open: where files are to be written

    def describe(self, manifest: Mapping[str, Any]) -> None:
        """Set what the marker file says about the results besides the list of files."""
        self._manifest = dict(manifest)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file into the folder."""
        (self.path / name).write_text(text, encoding="utf-8")

    def write_pieces(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a file into the folder piece by piece."""
        _write_pieces(self.path / name, pieces)

    def write_source(self, name: str, source: _core.Table, metadata: Mapping[str, str]) -> None:
        """Write a table of a run as Parquet with key-value metadata: the same bytes for the same content."""
        if source[2] > _parquet.MOST_ROWS:
            from cogtcp.model import _arrow

            self.write_table(name, _arrow.table(source), metadata)
        else:
            self.write_columns(name, *_parquet.columns_of(source), metadata)

    def write_columns(
        self,
        name: str,
        rows: int,
        columns: Sequence[_core.ParquetColumn],
        meaning: str,
        more: Mapping[str, str],
    ) -> None:
        """Write columns as Parquet with key-value metadata: the same bytes for the same content."""
        content = _content(rows, columns, meaning, more)
        (self.path / f"{name}.parquet").write_bytes(content)

    def write_table(self, name: str, table: pa.Table, metadata: Mapping[str, str]) -> None:
        """Write an Arrow table as Parquet with key-value metadata: the same bytes for the same content."""
        _write_parquet(self.path / f"{name}.parquet", table, metadata)

    def __enter__(self) -> Self:
        real = _real(self.target)
        try:
            _replace.clear_up(real)
            self._check()
            self._made = [folder for folder in (real.parent, *real.parents[1:]) if not folder.exists()]
            real.parent.mkdir(parents=True, exist_ok=True)
            self.path, self._lock = _replace.begin_folder(real)
        except OSError as error:
            self._remove_traces()
            raise _cannot_write(self.target, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as failure:
            raise _cannot_write(self.target, failure) from failure
        finally:
            self._remove_traces()
        # The caller failed to write into the folder, as on a full disk: reported like our own failures.
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise _cannot_write(self.target, error) from error

    def _remove_traces(self) -> None:
        """Remove what is not in its place: the unfinished folder, and folders made for it that are empty."""
        if self.path.name:
            shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _finish(self) -> None:
        files = sorted(path.name for path in self.path.iterdir())
        manifest = {**made_by(), "job": self._job, **self._manifest}
        manifest["files"] = [*files, MARKER]
        (self.path / MARKER).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        for path in (each for each in self.path.rglob("*") if each.is_file()):
            with path.open("rb") as stream:  # a full disk may only show when the data are really written
                os.fsync(stream.fileno())
        self._put_in_place()

    def _check(self) -> bool:
        """Return whether what is at the target may go; raise if it must not be replaced."""
        return _check_replaceable(self.target, self._job, self._force)

    def _put_in_place(self) -> None:
        target = _real(self.target)
        # Another process may write the same target at the same time: the last one to finish stays.
        for _ in range(100):
            if not self._check():
                # Under its visible name first: what is kept is never in a folder that `clear_up` removes.
                kept = _free_name(target)
                self.path.rename(kept)
                _replace.exchange(kept, target)
                return
            if _replace.put(self.path, target):
                return
        raise OutputError(f"{self.target}: other processes keep writing this folder; name another one")


def check_links(folder: Path, error: type[CogtcpError] = UsageError, *, whole: bool = False) -> None:
    """Raise `error` if a folder of results has a symbolic link below it: it could lead to any file.

    The folder itself may be a link: its user named it.

    Args:
        folder: The folder. One that is missing has no links.
        error: What is raised.
        whole: Look into its folders even if it has no marker.
    """
    try:
        link = _link_below(folder, whole=whole)
    except OSError as failure:
        raise error(f"{folder}: cannot be read: {failure.strerror or failure}") from failure
    if link is not None:
        raise error(f"{folder}: {_about(link)}")


def check_link(path: Path, error: type[CogtcpError]) -> None:
    """Raise `error` if a file that belongs to results, and lies beside their folder, is a symbolic link."""
    if path.is_symlink():
        raise error(_about(path))


def _about(link: Path) -> str:
    return (
        f"{link}: is a symbolic link, which could lead to any file; name a folder without links, or remove it"
    )


def _link_below(folder: Path, *, whole: bool = False) -> Path | None:
    """Return a symbolic link below a folder, if there is one; what each entry is comes with its name.

    Raises:
        OSError: A folder cannot be read. Its links are not seen, and its files may open all the same.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            entries = list(os.scandir(here))
        except (FileNotFoundError, NotADirectoryError):
            continue  # whoever opens it says so
        links = [entry.path for entry in entries if entry.is_symlink()]
        if links:
            return Path(min(links))
        # Without a marker it holds no results, and may be as large as a disk: nothing deeper is opened.
        if whole or here != folder or any(entry.name == MARKER for entry in entries):
            waiting += [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return None


def write_file(path: str | Path, text: str) -> Path:
    """Write a text file whole or not at all."""
    return _write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file whole or not at all."""
    return _write_whole(path, lambda part: part.write_bytes(content))


def write_pieces(path: str | Path, pieces: Iterable[bytes]) -> Path:
    """Write a file piece by piece, whole or not at all."""
    return _write_whole(path, lambda part: _write_pieces(part, pieces))


def write_table(path: str | Path, table: pa.Table, metadata: Mapping[str, str]) -> Path:
    """Write an Arrow table as Parquet with key-value metadata, whole or not at all."""
    return _write_whole(path, lambda part: _write_parquet(part, table, metadata))


def write_tables(path: str | Path, tables: Iterable[pa.Table], metadata: Mapping[str, str]) -> Path:
    """Write tables of one schema one after the other, as `write_table` does."""
    return _write_whole(path, lambda part: _write_parts(part, tables, metadata))


def prepare_folder(
    directory: str | Path,
    job: Mapping[str, Any],
    ours: Sequence[str],
    *,
    keep: str,
    force: bool = False,
) -> Path:
    """Return a folder to which results are added while they come, made and marked as ours.

    One that holds something else than results of this job is refused, or with `force` put aside.

    Args:
        directory: The folder.
        job: What is computed, as in `OutputFolder`; its `verb` names the kind of results.
        ours: The names of all that it may hold besides its marker.
        keep: The one of them that is a folder: what was finished before.
        force: Put aside what is not ours.
    """
    folder = Path(directory)
    known = {MARKER, *ours}
    job = _plain(job)
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder}: is a file; name a folder for the results")
        folder.mkdir(parents=True, exist_ok=True)
        # Hidden ones are being written by another process, or were when it was killed.
        names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        # Put aside it is only renamed: its links lead nobody anywhere.
        if not force:
            check_links(folder, OutputError)
        foreign = bool(
            names - known or (names and MARKER not in names) or (force and _link_below(folder) is not None)
        )
        other = None if foreign or not names else _other_job(_read_manifest(folder), job)
        if foreign or other:
            if not force:
                what = other or f"holds files that are not results of `{job['verb']}`"
                raise OutputError(
                    f"{folder}: {what}; name another folder, or use --force to replace it (its content is "
                    "kept beside it)"
                )
            folder.rename(_free_name(folder))
            folder.mkdir()
        # The mark comes first: what lacks it is not known as ours when the command is repeated.
        if MARKER not in names or foreign or other:
            mark(folder, job, ours, {UNFINISHED: True})
        _replace.clear_up_in(folder)
        # What a kill had left behind, put back, may hold links.
        check_links(folder, OutputError, whole=True)
        (folder / keep).mkdir(exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return folder


class KeptFolder:
    """A folder of results whose finished runs are kept while it is computed, in `runs`.

    Entering makes and marks it (`prepare_folder`). Leaving with an error leaves the finished runs for the
    next attempt, and nothing if there are none. Each file is written whole or not at all.
    """

    def __init__(
        self, target: str | Path, files: Sequence[str], *, job: Mapping[str, Any], force: bool = False
    ) -> None:
        self.path = Path(target)
        self._files = [*files, RUNS]
        self._job = _plain(job)
        self._force = force
        self._made: list[Path] = []

    @property
    def runs(self) -> Path:
        """Where the finished runs are kept."""
        return self.path / RUNS

    def write_text(self, name: str, text: str) -> None:
        """Write a text file into the folder."""
        self._begin()
        write_file(self.path / name, text)

    def write_table(self, name: str, table: pa.Table, metadata: Mapping[str, str]) -> None:
        """Write an Arrow table as Parquet with key-value metadata: the same bytes for the same content."""
        self._begin()
        write_table(self.path / f"{name}.parquet", table, metadata)

    def write_columns(
        self,
        name: str,
        rows: int,
        columns: Sequence[_core.ParquetColumn],
        meaning: str,
        more: Mapping[str, str],
    ) -> None:
        """Write columns as Parquet with key-value metadata: the same bytes for the same content."""
        self._begin()
        write_bytes(self.path / f"{name}.parquet", _content(rows, columns, meaning, more))

    def describe(self, manifest: Mapping[str, Any]) -> None:
        """Set what the marker file says about the results besides the list of files."""
        self._begin()
        mark(self.path, self._job, self._files, manifest)

    def _begin(self) -> None:
        check_marked(self.path)
        mark_unfinished(self.path)

    def __enter__(self) -> Self:
        self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        prepare_folder(self.path, self._job, self._files, keep=RUNS, force=self._force)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A folder that was there before stays as it is.
        if kind is None or not self._made:
            return
        # Only what is empty goes: another process may have begun to keep runs here.
        with contextlib.suppress(OSError):
            self.runs.rmdir()
            if [path.name for path in self.path.iterdir()] == [MARKER]:
                (self.path / MARKER).unlink()
            for folder in self._made:
                folder.rmdir()


def mark(folder: Path, job: Mapping[str, Any], ours: Sequence[str], manifest: Mapping[str, Any]) -> None:
    """Write the marker of a folder to which results are added: its job, what it holds, and `manifest`.

    Args:
        folder: The folder, in which everything else is written already.
        job: What is computed.
        ours: The names of all that it may hold: those that are there are listed.
        manifest: What else the marker says.
    """
    marker = {**made_by(), "kind": job["verb"], "job": job, **manifest}
    marker["files"] = sorted({MARKER, *(name for name in ours if (folder / name).exists())})
    write_file(folder / MARKER, json.dumps(marker, indent=2) + "\n")


def mark_unfinished(folder: Path) -> None:
    """Write into the marker of a folder that it is about to change, so that its files may not fit together.

    `mark` takes this back once all is written.
    """
    marker = _read_manifest(folder)
    if marker and not marker.get(UNFINISHED):
        write_file(folder / MARKER, json.dumps({**marker, UNFINISHED: True}, indent=2) + "\n")


def check_marked(folder: Path) -> None:
    """Raise unless a folder that was marked still is.

    Raises:
        OutputError: It was removed or moved, or so much of it that its marker is gone.
    """
    if not (folder / MARKER).exists():
        raise OutputError(f"{folder}: was removed or moved meanwhile; repeat the command")


@contextlib.contextmanager
def rewriting(folder: Path, ours: Sequence[str]) -> Iterator[None]:
    """Say in a folder's marker that its files are being written, and what there is once they are.

    Args:
        folder: The folder, which `prepare_folder` has made.
        ours: The names of all that it may hold.
    """
    check_marked(folder)
    mark_unfinished(folder)
    yield
    marker = {name: value for name, value in _read_manifest(folder).items() if name != UNFINISHED}
    marker["files"] = sorted({MARKER, *(name for name in ours if (folder / name).exists())})
    write_file(folder / MARKER, json.dumps(marker, indent=2) + "\n")


def made_by() -> dict[str, Any]:
    """Return what every marker file says of who wrote it, and by which version of the format."""
    return {"tool": "cogtcp", "version": provenance.version(), "schema": RESULTS_SCHEMA}


def _write_whole(path: str | Path, write: Callable[[Path], object]) -> Path:
    target = Path(path)
    real = _real(target)
    part, held = None, None
    try:
        _replace.clear_up(real)
        part, held = _replace.begin_file(real)
        write(part)
        os.fsync(held)  # a full disk may only show when the data are really written
        part.replace(real)
    except OSError as error:
        raise _cannot_write(target, error) from error
    finally:
        # Where it is in its place there is nothing to remove; why it is not has been told.
        with contextlib.suppress(OSError):
            if part is not None:
                part.unlink()
        if held is not None:
            os.close(held)
    return target


def _write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb") as stream:
        stream.writelines(pieces)


def _write_parquet(path: Path, table: pa.Table, metadata: Mapping[str, str]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_described(table, metadata), path, **_parquet.WRITTEN)


def _write_parts(path: Path, tables: Iterable[pa.Table], metadata: Mapping[str, str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = iter(tables)
    first = _described(next(parts, pa.table({})), metadata)
    waiting = [first]
    with pq.ParquetWriter(path, first.schema, **_parquet.WRITTEN) as writer:
        for table in parts:
            # Small tables are gathered: a row group for each would be slow to read.
            waiting.append(table.replace_schema_metadata(first.schema.metadata))
            if sum(part.num_rows for part in waiting) >= _GROUP_ROWS:
                writer.write_table(pa.concat_tables(waiting).combine_chunks())
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting).combine_chunks())


def _described(table: pa.Table, metadata: Mapping[str, str]) -> pa.Table:
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **_prefixed(metadata)})


def _content(
    rows: int, columns: Sequence[_core.ParquetColumn], meaning: str, metadata: Mapping[str, str]
) -> bytes:
    from cogtcp import _core

    about = {"meaning": meaning} if meaning else {}
    return _core.parquet_file(rows, columns, [*about.items(), *_prefixed(metadata).items()])


def _prefixed(metadata: Mapping[str, str]) -> dict[str, str]:
    return {f"{provenance.PREFIX}{key}": value for key, value in metadata.items()}


def is_ours(folder: Path) -> bool:
    """Whether a folder holds results of cogtcp and nothing else."""
    try:
        manifest = _files.parse_json((folder / MARKER).read_text(encoding="utf-8"))
        written = set(manifest["files"])
        return manifest["tool"] == "cogtcp" and all(path.name in written for path in folder.iterdir())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _check_replaceable(target: Path, job: Mapping[str, Any], force: bool) -> bool:
    """Return whether what is at `target` is nothing or results of `job`; raise if it must not be replaced."""
    real = _real(target)
    if real == Path.cwd() or real in Path.cwd().parents:
        raise OutputError(
            f"{target}: results replace the whole folder, so it cannot be the current one; name another"
        )
    try:
        if not real.is_dir():
            if real.exists():
                raise OutputError(f"{target}: is a file; name a folder for the results")
            return True
        if not any(real.iterdir()):
            return True
        if _link_below(real) is not None:
            # Put aside it is only renamed: its links lead nobody anywhere.
            if not force:
                check_links(target, OutputError)
            return False
        other = (
            _other_job(_read_manifest(real), job)
            if is_ours(real)
            else "holds files that cogtcp did not write"
        )
        if other is None:
            return True
    except OSError as error:
        raise _cannot_write(target, error) from error
    if not force:
        raise OutputError(
            f"{target}: {other}; name another folder, or use --force to replace it (its content is kept "
            "beside it)"
        )
    return False


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = _files.parse_json((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _other_job(manifest: Mapping[str, Any], job: Mapping[str, Any]) -> str | None:
    """Return what a folder holds, if that is not of `job`."""
    found = manifest.get("job")
    if isinstance(found, dict) and _holds(job, found):
        return None
    kind = manifest.get("kind") or "another verb"
    if not isinstance(found, dict):
        return f"holds results of `{kind}` by an older version of cogtcp"
    if found.get("verb") != job.get("verb"):
        return f"holds results of `{found.get('verb')}`"
    names = [name for name in {**found, **job} if not _holds(job, found, [name])]
    return f"holds results of another `{kind}` (other {', '.join(names)})"


def _holds(job: Mapping[str, Any], found: Mapping[str, Any], names: Sequence[str] | None = None) -> bool:
    """Whether a job gives all that another gave: it is the same, or more of what it says may grow."""
    for name in names or {**found, **job}:
        ours, theirs = job.get(name), found.get(name)
        if name in job.get("grows", ()) and isinstance(ours, list) and isinstance(theirs, list):
            if not all(item in ours for item in theirs):
                return False
        elif ours != theirs:
            return False
    return True


def _plain(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job as the marker file will have it, so that both compare equal."""
    plain: dict[str, Any] = json.loads(json.dumps(job))
    return plain


def _free_name(target: Path) -> Path:
    """Return the first of `target.old-1`, `target.old-2`, ... that is not taken."""
    names = (target.with_name(f"{target.name}.old-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _cannot_write(target: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some space, or name a folder on another disk"
    else:
        remedy = "name a folder that you may write to"
    return OutputError(f"{target}: results cannot be written: {reason}; {remedy}")
