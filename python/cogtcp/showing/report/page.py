"""Pages: templates filled, one self-contained HTML file each.

A page carries its style and its script, and its policy forbids it to load anything else.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import jinja2

from cogtcp.model import provenance
from cogtcp.model.metrics import PAD
from cogtcp.showing.report import svg
from cogtcp.showing.report.tables import STEPS, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2.bccache import Bucket

# Paths, not `importlib.resources`, which takes time to load.
_HERE = Path(__file__).parent
_TEMPLATES = _HERE / "templates"
#: Options on which compiled templates depend, beside escaping.
_SYNTAX: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True}


class _CompiledTemplates(jinja2.BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules: `__pycache__` beside the source.

    A bucket has a checksum and the version of Python, so a changed template is compiled again.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the name of a template's file."""
        return name

    def get_source_checksum(self, source: str) -> str:
        """Return the hash of what decides the byte code."""
        return hashlib.sha256(f"{jinja2.__version__} {_SYNTAX} {source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template, if it is there and whole."""
        with suppress(OSError, EOFError, UnpicklingError), self._path(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a compiled template, where one may write."""
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(bucket.bytecode_to_string())
            part.replace(path)

    def _path(self, bucket: Bucket) -> Path:
        return Path(importlib.util.cache_from_source(str(_TEMPLATES / f"{bucket.key}.py")))


@cache
def environment() -> jinja2.Environment:
    """Return the templates. `page.html.j2` is the frame of every page."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_CompiledTemplates(),
        **_SYNTAX,
    )
    found.globals.update(
        scripts=scripts,
        script_policy=script_policy,
        table_steps=STEPS,
        static=static,
        as_table=as_table,
    )
    found.filters["data"] = data
    found.filters["svg"] = svg.drawn
    found.filters["sign"] = svg.sign
    # What sets the ± of a column one below the other is of no use where its rows are laid as blocks.
    found.filters["unpadded"] = lambda cell: cell.rstrip(PAD)
    found.filters["padding"] = lambda cell: cell[len(cell.rstrip(PAD)) :]
    return found


def render(template: str, **values: Any) -> str:
    """Return a page."""
    return environment().get_template(template).render(**values)


@cache
def static(name: str) -> str:
    """Return a file of `static/`."""
    return (_HERE / "static" / name).read_text(encoding="utf-8").strip()


@cache
def template_text(name: str) -> str:
    """Return a file of `templates/` as it is."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def scripts(*, with_map: bool = False) -> tuple[str, ...]:
    """Return the scripts of a page with time lines: the chart library, ours, and what plays a map."""
    return static("uPlot.iife.min.js"), static("page.js"), *([static("map.js")] if with_map else [])


@cache
def script_policy(*, with_map: bool = False) -> str:
    """Return the scripts' hashes as a content security policy names them: no other script runs."""
    digests = [hashlib.sha256(f"\n{script}\n".encode()).digest() for script in scripts(with_map=with_map)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def data(value: Any) -> str:
    """Return data for a script element, in which no text can end the element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def as_table(headings: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Return a table of texts for the templates."""
    return Table(headings, rows, left)


def origin(
    command: str | None, made: Mapping[str, str | None] | None = None, **more: str
) -> list[tuple[str, str | None]]:
    """Return where a page comes from, for its last part.

    Args:
        command: The command line.
        made: Provenance of the result; without it the version is today's.
        more: Further lines by their titles.
    """
    made = made or {"version": provenance.version()}
    found: list[tuple[str, str | None]] = [("Command", command or ""), *more.items()]
    if "scenario_sha256" in made:
        found.append(("Scenario hash", f"sha256:{made['scenario_sha256']}"))
    found.append(("cogtcp", made["version"]))
    if "commit" in made:
        found.append(("Commit", made["commit"]))
    return [*found, ("Written", date())]


def date() -> str:
    """Return the date of writing, or the date of `SOURCE_DATE_EPOCH` for reproducible pages."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")
