"""What is in a folder of results."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cogtcp import _files
from cogtcp._errors import UsageError
from cogtcp.model.output import MARKER, RUNS, UNFINISHED, check_links
from cogtcp.model.results_schema import version_of
from cogtcp.running.runner import Journal


@dataclass(frozen=True)
class Description:
    """What is in a folder, as data and as text."""

    document: dict[str, Any]
    text: str


def manifest(folder: Path) -> dict[str, Any]:
    """Return what a folder of results says about itself.

    Raises:
        UsageError: It is none, has a symbolic link in it, or a newer cogtcp wrote it.
    """
    check_links(folder)
    try:
        found = _files.parse_json((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get("tool") != "cogtcp":
        raise UsageError(f"{folder}: holds no results of cogtcp; name a folder that a command wrote")
    version_of(found, folder)
    return found


def _is_there(folder: Path, name: object) -> bool:
    """Whether a file that a marker names is in the folder."""
    return isinstance(name, str) and Path(name).name == name and os.path.lexists(folder / name)


def describe(folder: Path) -> Description:
    """Return what is in a folder of results."""
    from cogtcp.running.sweeping import dataset

    found = manifest(folder)
    kind = str(found.get("kind", "?"))
    document: dict[str, Any] = {"folder": str(folder), "kind": kind, "version": found.get("version")}
    lines = [f"{folder}: {kind}, by cogtcp {found.get('version')}"]
    if found.get(UNFINISHED):
        document[UNFINISHED] = True
        lines.append("  unfinished: a command writes it, or was ended; repeat that command")
    for name in ("scenario", "study", "seed", "transports", "command", "interrupted"):
        value = found.get(name)
        if value not in (None, "", False):
            document[name] = value
            said = ", ".join(map(str, value)) if isinstance(value, list) else value
            lines.append(f"  {name}: {said}")
    seeds = found.get("seeds")
    if isinstance(seeds, list) and seeds:
        document["seeds"] = seeds
        lines.append(f"  seeds: {len(seeds)}, from {min(seeds)} to {max(seeds)}")
    for axis in found.get("axes", []):
        lines.append(f"  axis: {axis['name']} ({axis['path']}{', ' + axis['unit'] if axis['unit'] else ''})")
    document["axes"] = found.get("axes", [])
    if dataset.tables(folder):
        data = dataset.describe(folder)
        document["data"] = data
        for name, rows in data["tables"].items():
            lines.append(f"  {name}: {rows:,} rows")
        if data.get("failed"):
            lines.append(f"  failed runs: {data['failed']}")
        lines.append(f"  {data['files']} Parquet files, {data['bytes'] / 1e6:.3g} MB")
    if (folder / RUNS).is_dir():
        kept = {outcome.key for outcome in Journal(folder / RUNS).outcomes()}
        document["kept_runs"] = len(kept)
        if kept:
            lines.append(f"  finished runs that are kept: {len(kept):,}")
    files = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != MARKER)
    document["files"] = files
    lines.append(f"  files: {', '.join(files)}")
    listed = found.get("files")
    missing = (
        [str(name) for name in listed if not _is_there(folder, name)] if isinstance(listed, list) else []
    )
    if missing:
        document["missing"] = missing
        lines.append(f"  missing: {', '.join(missing)}")
    return Description(document, "\n".join(lines))
