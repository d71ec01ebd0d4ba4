"""Several folders of results put together: one data set with a column `source`, and one page over all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from cogtcp import _parquet
from cogtcp._errors import UsageError
from cogtcp._views import view
from cogtcp.model.output import OutputFolder
from cogtcp.running.sweeping import answer, dataset
from cogtcp.running.sweeping.columns import RUNS, metrics_of
from cogtcp.running.sweeping.folders import manifest
from cogtcp.running.sweeping.summary import of_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SOURCE = "source"


def merge(folders: Sequence[Path], out: Path, *, force: bool = False, command: str | None = None) -> str:
    """Put folders of sweeps, comparisons and runs together; return the answer.

    Raises:
        UsageError: One of them has no runs.
        OutputError: The results cannot be written.
    """
    names = _names(folders)
    parts: list[pa.Table] = []
    axes: dict[str, tuple[str, str]] = {}
    for folder, name in zip(folders, names, strict=True):
        about = manifest(folder)
        with _parquet.of_folders(folder):
            table = _runs(folder, about)
            # Two folders may hold the same run: with the folder's name in front both stay.
            keys = [f"{name}/{key or number}" for number, key in enumerate(table["key"].to_pylist())]
            table = table.set_column(table.column_names.index("key"), "key", pa.array(keys, pa.string()))
            parts.append(table.append_column(SOURCE, pa.repeat(pa.scalar(name), table.num_rows)))
            axes |= {axis["name"]: (axis["name"], axis["unit"]) for axis in about.get("axes", [])}
    with _parquet.of_folders(*folders):
        runs = pa.concat_tables(parts, promote_options="permissive")
        several = len(set(names)) > 1
        by = [(*axis, _numeric(runs, axis[0])) for axis in axes.values()]
        if several:
            by.append((SOURCE, "", False))
        summary = of_table(runs, [axis[0] for axis in by])
        rows = summary.to_pylist()
        failures = runs.filter(pc.is_valid(runs["error"])).to_pylist()
        axes_ = sorted(axis[0] for axis in by)
        said = answer.sentence(rows, answer.in_memory(runs, axes_), axes_)
        written = [
            (transport, _rows_of(runs, transport)) for transport in sorted(set(runs["transport"].to_pylist()))
        ]
    job = {"verb": "merge", "folders": names}
    with OutputFolder(out, job=job, force=force) as target:
        for transport, own in written:
            dataset.write_sorted(target.path, RUNS, transport, own)
        target.write_table("summary", summary, {"folders": ",".join(names)})
        target.write_text(
            "report.html",
            view("merged_report")(names, folders, runs.num_rows, rows, by, said, failures, command=command),
        )
        target.describe(
            {
                "kind": "merge",
                "command": command,
                "axes": [{"path": name, "name": name, "unit": unit} for name, unit, _ in by],
            }
        )
    return said


def _names(folders: Sequence[Path]) -> list[str]:
    """Return what to call each folder: its name, or its path where two have the same."""
    short = [folder.resolve().name for folder in folders]
    return [
        str(folder) if short.count(name) > 1 else name for folder, name in zip(folders, short, strict=True)
    ]


def _runs(folder: Path, about: dict[str, Any]) -> pa.Table:
    if dataset.tables(folder):
        table = dataset.load(folder, RUNS)
    elif (folder / "runs.parquet").exists():
        table = _parquet.table(folder / "runs.parquet").replace_schema_metadata(None)
    elif about.get("kind") == "run":
        flows = _parquet.table(folder / "flows.parquet", ["transport"])["transport"].to_pylist()
        digest = {"error": None, "digest": about.get("digest")}
        row = {"transport": "+".join(sorted(set(flows))), "seed": about["seed"], **digest}
        row |= about["metrics"]
        table = pa.Table.from_pylist([row])
    else:
        raise UsageError(f"{folder}: holds no runs to combine ({about.get('kind')})")
    for name in ("key", "error", "digest"):
        if name not in table.column_names or pa.types.is_null(table[name].type):
            if name in table.column_names:
                table = table.drop_columns([name])
            table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
    for name in metrics_of(table.column_names):
        place = table.column_names.index(name)
        # Not-a-number to nothing, as a data set has it.
        values = [None if v is None or v != v else float(v) for v in table[name].to_pylist()]
        table = table.set_column(place, name, pa.array(values, pa.float64()))
    return table


def _rows_of(runs: pa.Table, transport: str) -> pa.Table:
    return runs.filter(pc.equal(runs["transport"], transport)).drop_columns(["transport"])


def _numeric(runs: pa.Table, name: str) -> bool:
    return bool(pa.types.is_floating(runs[name].type))
