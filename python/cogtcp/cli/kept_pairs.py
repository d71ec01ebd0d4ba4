"""Pairs of both planes, kept as they are made: an ended comparison goes on where it stopped."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Self

from cogtcp._errors import OutputError
from cogtcp.kernel.emulation.agreement import Agreement
from cogtcp.model.output import check_link
from cogtcp.model.result import plain

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from cogtcp.kernel.emulation.pairs import Pair


class KeptPairs:
    """The pairs in a folder of results, and in the journal of a run that was killed before it wrote one.

    Only in virtual time, where a run made again is the same.

    Args:
        out: The folder of results.
        is_kept: Whether pairs are kept at all.
    """

    def __init__(self, out: Path, is_kept: bool) -> None:
        self._file = out.with_name(f".{out.name}.pairs.jsonl")
        check_link(self._file, OutputError)
        self._is_kept = is_kept
        self.known: list[Pair] = []
        if is_kept:
            documents = [_read(out / "agreement.json")]
            with contextlib.suppress(OSError):
                # The last line of a run that was killed may be half of one.
                documents += [_parsed(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
            pairs = [pair for document in documents for pair in document]
            self.known = [pair for pair in pairs if pair.key and not pair.doubt.startswith("failed")]

    def add(self, pair: Pair) -> None:
        """Keep a pair."""
        if self._is_kept and pair.key:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(plain(vars(pair))) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without an error the folder has them all.
        if kind is None:
            self._file.unlink(missing_ok=True)


def _read(file: Path) -> list[Pair]:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return Agreement.from_dict(json.loads(file.read_text(encoding="utf-8"))).pairs
    return []


def _parsed(line: str) -> list[Pair]:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return Agreement.from_dict({"runs": [json.loads(line)], "kernel": ""}).pairs
    return []
