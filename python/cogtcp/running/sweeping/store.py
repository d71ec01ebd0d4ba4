"""A second place for a data set: a shared folder or an S3-like store, by pyarrow's file systems.

The runs are kept on the local disk while they are made: an object store cannot add a line to a file. What
is finished goes to the store when the sweep ends or is interrupted, the marker last: who sees it sees all
of what it lists.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow import ArrowException
from pyarrow import fs as filesystems

from cogtcp import _files
from cogtcp._errors import OutputError, UsageError
from cogtcp.model.output import MARKER, check_links, made_by
from cogtcp.model.results_schema import version_of
from cogtcp.running.sweeping.dataset import DATA

if TYPE_CHECKING:
    from collections.abc import Mapping

_STORED = re.compile(rf"{DATA}/\w+/transport=[\w%.~-]+/part-[0-9]+\.parquet")
_ALSO = ("scenario.toml", "summary.parquet", "quantiles.parquet", "report.html")


class Store:
    """A folder somewhere.

    Args:
        uri: `s3://bucket/folder` (a server that is not Amazon's with
            `?endpoint_override=HOST:PORT&scheme=http`; keys from the environment, as for other S3 tools),
            `gs://`, `hdfs://`, or a local folder.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        try:
            if "://" in uri:
                self._system, self._root = filesystems.FileSystem.from_uri(uri)
            else:
                self._system, self._root = filesystems.LocalFileSystem(), str(Path(uri).resolve())
        except (ArrowException, OSError, ValueError) as error:
            raise UsageError(f"--store {uri}: {error}") from None

    def pull(self, folder: Path) -> bool:
        """Bring the data set to a folder that has none; return whether there was one."""
        if (folder / DATA).exists():
            return False
        self._check_links()
        try:
            listed = self._marker()
            for name in listed:
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with (
                    self._system.open_input_stream(f"{self._root}/{name}") as source,
                    target.open("wb") as sink,
                ):
                    while block := source.read(1 << 20):
                        sink.write(block)
        except (ArrowException, OSError) as error:
            raise OutputError(f"{self.uri}: cannot be read: {error}") from error
        return bool(listed)

    def push(self, folder: Path) -> None:
        """Bring what a folder has to the store, and remove what it no longer has."""
        data = [path.relative_to(folder) for path in sorted((folder / DATA).rglob("*.parquet"))]
        names = [path.as_posix() for path in data] + [name for name in _ALSO if (folder / name).exists()]
        self._check_links()
        try:
            # Also so that a store of a newer version is refused before anything is written.
            before = self._marker(all_of_it=True)
            self._system.create_dir(self._root, recursive=True)
            for name in names:
                path = f"{self._root}/{name}"
                self._system.create_dir(path.rpartition("/")[0], recursive=True)
                with (folder / name).open("rb") as source, self._system.open_output_stream(path) as sink:
                    while block := source.read(1 << 20):
                        sink.write(block)
            with self._system.open_output_stream(f"{self._root}/{MARKER}") as sink:
                marker = {**made_by(), "kind": "sweep", "stored": names}
                sink.write(json.dumps(marker, indent=2).encode())
            # After the marker, which no longer names these files.
            for name in set(before) - set(names):
                self._system.delete_file(f"{self._root}/{name}")
        except (ArrowException, OSError) as error:
            raise OutputError(
                f"{self.uri}: results cannot be stored: {error}; they are in {folder}"
            ) from error

    def _check_links(self) -> None:
        if isinstance(self._system, filesystems.LocalFileSystem):
            # Beside the data set a store may hold whatever else its users keep there.
            check_links(Path(self._root))
            check_links(Path(self._root, DATA), whole=True)

    def _marker(self, *, all_of_it: bool = False) -> list[str]:
        info = self._system.get_file_info(f"{self._root}/{MARKER}")
        if info.type != filesystems.FileType.File:
            return []
        with self._system.open_input_stream(f"{self._root}/{MARKER}") as stream:
            try:
                found: Mapping[str, Any] = _files.parse_json(stream.read())
                names = [str(name) for name in found.get("stored", [])]
            except (ValueError, TypeError, AttributeError):
                raise UsageError(f"{self.uri}: its {MARKER} is damaged; name another store") from None
        # The names of files that will be written here, or deleted there: a marker must not name others.
        for name in names:
            if name not in _ALSO and not _STORED.fullmatch(name):
                raise UsageError(f"{self.uri}: its {MARKER} names {name!r}, which is no file of a sweep")
        # What a newer cogtcp stored is refused, above all before it is written over. Stores that do not say
        # their version have the columns of today.
        version_of(found, self.uri)
        return names if all_of_it else [name for name in names if name not in _ALSO]
