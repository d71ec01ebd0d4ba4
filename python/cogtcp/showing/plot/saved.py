"""Figures of results that were saved: `cogtcp plot DIR`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _files, _parquet
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.model.of_tcp import OF_TCP, joined
from cogtcp.model.results_schema import modern, stored, version_of
from cogtcp.running.sweeping.axes import title
from cogtcp.showing.plot import accessors, compared, over_time, swept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

#: What can be drawn, and of which results.
KINDS = {
    "timeline": ("run",),
    "cdf": ("run", "compare"),
    "bars": ("compare",),
    "box": ("compare",),
    "line": ("sweep",),
    "heatmap": ("tune", "sweep"),
    "delay-throughput": ("compare",),
    "map": ("run",),
}


class Saved:
    """A folder of results: its tables, read when they are asked for."""

    def __init__(self, folder: str | Path) -> None:
        from cogtcp.model.output import MARKER, check_links

        self.folder = Path(folder)
        check_links(self.folder)
        self._tables: dict[str, Any] = {}
        try:
            self.manifest: dict[str, Any] = _files.parse_json(
                (self.folder / MARKER).read_text(encoding="utf-8")
            )
            self.kind: str = self.manifest["kind"]
        except (OSError, ValueError, KeyError, TypeError):
            raise UsageError(
                f"{self.folder}: is not a folder of results; name one of `cogtcp run` or `cogtcp compare`"
            ) from None
        self.version = version_of(self.manifest, self.folder)

    def table(self, name: str) -> Any:
        """Return a table."""
        path = self._path(name)
        table = modern(name, _parquet.table(path), self.version)
        if name not in OF_TCP:
            return table
        # cogtcp 0.2 wrote TCP's columns into the table itself.
        beside = self.folder / f"{OF_TCP[name][0]}.parquet"
        if not beside.is_file():
            return table
        with _parquet.guarded(beside):
            return joined(name, table, _parquet.table(beside))

    def _path(self, name: str) -> Path:
        return self.folder / f"{stored(name, self.version)}.parquet"

    # What `Series.of` asks of a result.

    def numbers(self, name: str, column: str) -> Any:
        """Return one column of numbers of a table."""
        return self._read(name).column(column).to_pylist()

    def texts(self, name: str, column: str) -> tuple[Any, list[str]]:
        """Return one column of texts of a table as codes, and the texts that the codes stand for."""
        chunk = self._read(name).column(column).combine_chunks()
        return chunk.indices.to_pylist(), chunk.dictionary.to_pylist()

    def _read(self, name: str) -> Any:
        if name not in self._tables:
            self._tables[name] = self._control_series() if name == "control_series" else self.table(name)
        return self._tables[name]

    def _control_series(self) -> Any:
        """Return what transports show of themselves over time: nothing of cogtcp 0.1."""
        import pyarrow as pa

        if (self.folder / "control_series.parquet").is_file():
            return self.table("control_series")
        number, text = pa.float64(), pa.dictionary(pa.uint32(), pa.string())
        columns = {"time_s": number, "flow": text, "variable": text, "value": number}
        return pa.schema(columns.items()).empty_table()

    # What `RunMap.of` asks of one.

    def count(self, name: str) -> int:
        """Return the number of rows of a table, 0 where there is none."""
        return int(self._read(name).num_rows) if self._path(name).is_file() else 0

    def columns(self, name: str) -> dict[str, list[Any]]:
        """Return a table as lists by column."""
        columns: dict[str, list[Any]] = self._read(name).to_pydict()
        return columns

    @cached_property
    def scenario(self) -> Any:
        """The scenario of the run."""
        from cogtcp.model.scenario import Scenario

        return Scenario.from_file(self.folder / "scenario.toml")

    @property
    def duration_s(self) -> float:
        """Simulated time, as far as series and events tell."""
        ends = [self.numbers(name, "time_s")[-1:] for name in ("link_series", "events")]
        return max((end[0] for end in ends if end), default=1.0)


def draw(
    folder: str | Path,
    kind: str,
    *,
    metric: str | None = None,
    span: tuple[float, float] | None = None,
    where: Mapping[str, Any] | None = None,
    at: float | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    **options: Any,
) -> Figure:
    """Return a figure of saved results.

    Args:
        folder: What `cogtcp run`, `compare` or `tune` wrote.
        kind: One of `KINDS`.
        metric: What is drawn: a metric of comparisons; `rtt`, `goodput` or `cwnd` for the `cdf` of a run; a
            delay for `delay-throughput`.
        span: From when to when, in seconds, for a `timeline`.
        where: Values of the axes of a sweep that are not drawn: numbers in base units, or texts with a unit.
        at: Of a `map`: when, in seconds.
        x_label: What the x axis is called, in place of what the figure calls it.
        y_label: What the y axis is called; a `timeline` has several.
        options: `width` and `height` in inches.

    Raises:
        UsageError: The folder holds no results, or none of which this can be drawn.
    """
    pick(kind, KINDS, "kind of figure")
    if y_label is not None and kind == "timeline":
        raise UsageError("a timeline has a y axis for each panel; leave the label of y out")
    figure = _draw(Saved(folder), kind, metric, span, where, at, options)
    # Panels have x in common, and a colour bar comes after the axes.
    if x_label is not None:
        figure.axes[-1 if kind == "timeline" else 0].set_xlabel(x_label)
    if y_label is not None:
        figure.axes[0].set_ylabel(y_label)
    return figure


def _draw(
    saved: Saved,
    kind: str,
    metric: str | None,
    span: tuple[float, float] | None,
    where: Mapping[str, Any] | None,
    at: float | None,
    options: Mapping[str, Any],
) -> Figure:
    from cogtcp.running.sweeping.columns import RUNS
    from cogtcp.running.sweeping.dataset import load

    if saved.kind not in KINDS[kind]:
        fit = [name for name, kinds in KINDS.items() if saved.kind in kinds]
        remedy = f"draw {', '.join(fit)}" if fit else "name the folder of a run, a comparison or a search"
        raise UsageError(f"{saved.folder}: no {kind} can be drawn of the results of `{saved.kind}`; {remedy}")
    if kind == "timeline":
        return over_time.timeline({"": saved}, span=span, **options)
    if kind == "map":
        return over_time.area_map(saved, at=at, **options)
    if saved.kind == "run":
        return compared.cdf(*accessors.samples_of(saved, metric or "rtt"), **options)
    if saved.kind == "sweep":
        axes = {
            axis["name"]: swept.Column(axis["unit"], title(axis.get("path", ""), axis["name"]))
            for axis in saved.manifest.get("axes", [])
        }
        figure = swept.line if kind == "line" else swept.heatmap
        return figure(load(saved.folder, RUNS), axes, metric=metric or "goodput_bps", where=where, **options)
    if kind == "heatmap":
        path = saved.folder / "tuning.json"
        with _parquet.guarded(path):
            search = _files.parse_json(path.read_text(encoding="utf-8"))
        return accessors.heatmap_of_trials(
            saved.table("trials"), search["objective"]["metric"], search["vary"], **options
        )
    runs = saved.table("runs")
    if kind == "delay-throughput":
        return compared.delay_throughput(runs, metric or "queuing_delay_mean_s", **options)
    figures: dict[str, Callable[..., Figure]] = {
        "bars": compared.bars,
        "box": compared.box,
        "cdf": compared.cdf_over_seeds,
    }
    return figures[kind](runs, metric or "goodput_bps", **options)
