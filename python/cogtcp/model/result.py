"""One run: its scenario and its result."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp._views import view
from cogtcp.model import provenance
from cogtcp.model.of_tcp import OF_TCP, beside, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas
    import polars
    import pyarrow as pa

    from cogtcp.model.capture import Point
    from cogtcp.model.output import OutputFolder
    from cogtcp.model.scenario import Scenario
    from cogtcp.showing.plot import RunPlots

#: How much of a run is kept: totals; also time series; also every event; also every packet on every link.
Trace = Literal["summary", "series", "full", "packets"]

#: The most seeds of a comparison: more are a slip of the pen.
MOST_SEEDS = 100_000

_LARGEST_SEED = 2**63 - 1  # the largest integer of TOML, in which scenarios are written

#: The tables that a run can have, as the simulator defines them.
TABLES = tuple(name for name, _, _ in _core.columns())


def run(
    scenario: Scenario,
    seed: int | None = None,
    trace: Trace = "full",
    *,
    cancel: _core.Cancel | None = None,
) -> Result:
    """Simulate a scenario once.

    Other threads go on meanwhile, and Ctrl-C stops the simulation. The same scenario and seed give the same
    result, whatever is traced.

    Args:
        scenario: What to simulate.
        seed: Seed of every random draw, 0 to 2^63 - 1; by default the scenario's own.
        trace: How much to keep: `summary` (flows, links, radios), `series` (also the time series), `full`
            (also the events), `packets` (also every packet on every link or frame on air, for short runs).
        cancel: Stops the run from another thread.

    Returns:
        Tables and metrics of the run.

    Raises:
        ScenarioError: The scenario cannot be simulated.
        RunError: The simulation failed, or was cancelled.
    """
    if seed is not None:
        check_seed(seed)
    return Result(scenario, _core.run(scenario._core, seed, trace, cancel))


class Result:
    """What one run left behind: Arrow tables, with the unit and meaning of each column in its metadata.

    Some tables exist only where there is what they are about, a train say: `tables` and folders of results
    leave them out, and their attributes are empty tables.
    """

    def __init__(self, scenario: Scenario, core: _core.Run) -> None:
        self.scenario = scenario
        self._core = core
        self._sources = {source[0]: source for source in core.tables}

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._core.seed

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return self._core.duration_s

    @property
    def digest(self) -> str:
        """Hash of the run's events: equal digests mean equal runs."""
        return f"{self._core.digest:016x}"

    @property
    def fairness(self) -> float:
        """Jain's fairness index of the flows' goodputs."""
        return self._core.fairness

    @cached_property
    def flows(self) -> pa.Table:
        """One row per flow, with the columns that TCP alone has (`tcp_flows`) where a flow is TCP."""
        return self.table("flows")

    @cached_property
    def quic_flows(self) -> pa.Table:
        """One row per QUIC flow: what QUIC alone has."""
        return self.table("quic_flows")

    @cached_property
    def subflows(self) -> pa.Table:
        """One row per path of each MPTCP flow: its subflow."""
        return self.table("subflows")

    @cached_property
    def quic_log(self) -> pa.Table:
        """One row per event in the logs of QUIC's ends, in the events of qlog."""
        return self.table("quic_log")

    @cached_property
    def payloads(self) -> pa.Table:
        """One row per packet of a transport other than TCP: what it carries."""
        return self.table("payloads")

    @cached_property
    def tcp_flows(self) -> pa.Table:
        """One row per TCP flow: what TCP alone has."""
        return self.table("tcp_flows")

    @cached_property
    def links(self) -> pa.Table:
        """One row per link direction."""
        return self.table("links")

    @cached_property
    def radios(self) -> pa.Table:
        """One row per cognitive radio."""
        return self.table("radios")

    @cached_property
    def trains(self) -> pa.Table:
        """One row for the mobile router of a train, where there is one."""
        return self.table("trains")

    @cached_property
    def train_flows(self) -> pa.Table:
        """One row per flow, where there is a train: what its authors measured."""
        return self.table("train_flows")

    @cached_property
    def predictions(self) -> pa.Table:
        """One row per outage of a train's radio, and per prediction that belongs to none."""
        return self.table("predictions")

    @cached_property
    def datagrams(self) -> pa.Table:
        """One row for each UDP source, where there are some."""
        return self.table("datagrams")

    @cached_property
    def calls(self) -> pa.Table:
        """One row for each call, where there are some: its rating and opinion score (ITU-T G.107)."""
        return self.table("calls")

    @cached_property
    def budget(self) -> pa.Table:
        """Where the time of the flows' bottlenecks went: one row per link direction that is one."""
        return self.table("budget")

    @cached_property
    def requests(self) -> pa.Table:
        """One row per request of an application that asks, with its flow completion time."""
        return self.table("requests")

    @cached_property
    def request_flows(self) -> pa.Table:
        """One row per flow with requests: those sent after the warm-up together."""
        return self.table("request_flows")

    @cached_property
    def chunks(self) -> pa.Table:
        """One row per chunk of a video."""
        return self.table("chunks")

    @cached_property
    def videos(self) -> pa.Table:
        """One row per video, with its stalls."""
        return self.table("videos")

    @cached_property
    def routing(self) -> pa.Table:
        """One row for the routing of an ad hoc network: searches, overhead, changes of routes."""
        return self.table("routing")

    @cached_property
    def streams(self) -> pa.Table:
        """One row per stream of packets over an ad hoc network: hops, rerouted packets, drops by layer."""
        return self.table("streams")

    @cached_property
    def drops(self) -> pa.Table:
        """One row per stream of packets over an ad hoc network and cause of drops."""
        return self.table("drops")

    @cached_property
    def nodes(self) -> pa.Table:
        """One row per node of an ad hoc network."""
        return self.table("nodes")

    @cached_property
    def searches(self) -> pa.Table:
        """One row per search for a route in an ad hoc network."""
        return self.table("searches")

    @cached_property
    def positions(self) -> pa.Table:
        """Where the nodes of an ad hoc network are, second by second. Empty unless traced."""
        return self.table("positions")

    @cached_property
    def routes(self) -> pa.Table:
        """The routes that packets took over an ad hoc network, and from when on. Empty unless traced."""
        return self.table("routes")

    @cached_property
    def frames(self) -> pa.Table:
        """Every frame over the air of an ad hoc network. Empty unless packets are traced."""
        return self.table("frames")

    @cached_property
    def primary_users(self) -> pa.Table:
        """One row per primary user of an ad hoc network: its place, its range, how long it was ON."""
        return self.table("primary_users")

    @cached_property
    def flow_series(self) -> pa.Table:
        """The flows over time: one row per flow and sampling instant."""
        return self.table("flow_series")

    @cached_property
    def control_series(self) -> pa.Table:
        """What congestion controls show of their state over time: one row per flow, instant and variable."""
        return self.table("control_series")

    @cached_property
    def link_series(self) -> pa.Table:
        """The links over time: one row per link direction and sampling instant."""
        return self.table("link_series")

    @cached_property
    def events(self) -> pa.Table:
        """What happened when: one row per event."""
        return self.table("events")

    @cached_property
    def packets(self) -> pa.Table:
        """Every packet: one row per packet and thing that happened to it on a link. Empty unless traced.

        With the columns of `tcp_segments`, which are zero for packets that are not TCP.
        """
        return self.table("packets")

    @cached_property
    def tcp_segments(self) -> pa.Table:
        """What TCP's header says in each packet of TCP. Empty unless packets are traced."""
        return self.table("tcp_segments")

    @cached_property
    def emulation(self) -> pa.Table:
        """One row for a run on the TCP of a Linux kernel: how true its timing was."""
        return self.table("emulation")

    @property
    def about_plane(self) -> str:
        """What carried the packets, for pages; nothing for a simulation."""
        return ""

    @property
    def doubt(self) -> str:
        """Why the run is no evidence; nothing for a simulation."""
        return ""

    def columns(self, name: str) -> dict[str, list[Any]]:
        """Return one table as lists by column: for a few rows quicker than Arrow."""
        _, _, rows, columns = self._source(name)
        return {column[0]: _values(column, rows) for column in columns}

    def numbers(self, name: str, column: str) -> Sequence[Any]:
        """Return one column of numbers of a table, on the memory of the run: without Arrow.

        Args:
            name: Name of the table.
            column: Name of the column.

        Returns:
            A number for each row.
        """
        _, _, rows, columns = self._source(name)
        *_, kind, values, _ = _column(columns, column)
        return numbers(kind, values, rows)

    def texts(self, name: str, column: str) -> tuple[Sequence[int], Sequence[str]]:
        """Return one column of texts of a table as codes.

        Args:
            name: Name of the table.
            column: Name of the column.

        Returns:
            A code for each row, and the texts that the codes stand for.
        """
        _, _, rows, columns = self._source(name)
        *_, kind, codes, dictionary = _column(columns, column)
        return numbers(kind, codes, rows), dictionary or []

    def count(self, name: str) -> int:
        """Return the number of rows of a table.

        Args:
            name: Name of the table.

        Returns:
            The number, 0 for a table that this run has not.
        """
        return self._source(name)[2]

    def each(self, name: str, columns: Iterable[str] | None = None) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a table one after another, as tuples of all columns or some.

        Args:
            name: Name of the table.
            columns: Columns to take; by default all.

        Returns:
            An iterator over the rows.
        """
        _, _, rows, known = self._source(name)
        sources = {column[0]: column for column in known}
        what = f"column of {name}"
        wanted = [
            sources[pick(column, sources, what)] for column in (sources if columns is None else columns)
        ]
        for first in range(0, rows, _ROWS_AT_A_TIME):
            part = slice(first, min(first + _ROWS_AT_A_TIME, rows))
            yield from zip(*(_values(column, rows, part) for column in wanted), strict=True)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return one table as dictionaries, one a row."""
        columns = self.columns(name)
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    @cached_property
    def metrics(self) -> dict[str, float]:
        """The run in single numbers, see `cogtcp.metrics.METRICS`."""
        from cogtcp.model.metrics import measure

        return measure(self)

    def table(self, name: str) -> pa.Table:
        """Return one table by its name (`cogtcp schema --results`).

        Raises:
            UsageError: There is none of this name.
        """
        from cogtcp.model import _arrow

        return _arrow.table(self._source(name))

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables that this run has, by name, as folders hold them."""
        from cogtcp.model import _arrow

        return {
            name: _arrow.table(self._sources[name]) if name in OF_TCP else getattr(self, name)
            for name in self._sources
        }

    def to_pandas(self) -> dict[str, pandas.DataFrame]:
        """Return its tables as pandas data frames (needs pandas)."""
        return {name: table.to_pandas() for name, table in self.tables().items()}

    def to_polars(self) -> dict[str, polars.DataFrame]:
        """Return its tables as polars data frames (needs polars)."""
        import polars

        frames = {}
        for name, table in self.tables().items():
            frames[name] = polars.DataFrame(table)
        return frames

    def to_dict(self) -> dict[str, Any]:
        """Return the summary tables and metrics as plain data; None stands for "no value"."""
        return self._plain_data(self._totals())

    def _totals(self) -> list[str]:
        """Return the names of the summary tables."""
        return [
            "flows",
            "links",
            "radios",
            "budget",
            *(name for name in _EXTENSION_TOTALS if name in self._sources),
        ]

    def _plain_data(self, totals: Sequence[str]) -> dict[str, Any]:
        """Return metrics and the named tables as plain data."""
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "digest": self.digest,
            "metrics": plain(self.metrics),
            **{name: plain(self.rows(name)) for name in totals},
        }

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from, as the Parquet files carry it."""
        return {**provenance.describe(self.scenario, [self.seed]), "digest": self.digest}

    def save(self, directory: str | Path, *, force: bool = False, command: str | None = None) -> Path:
        """Write the tables as Parquet, the scenario and the report into a folder, whole or not at all.

        A folder of earlier results of the same run is replaced; any other only with `force`, its content kept
        beside it.

        Args:
            directory: The folder.
            force: Write although the folder holds something else, which is kept beside it.
            command: The command line, for the report.

        Returns:
            The folder.

        Raises:
            OutputError: The files cannot be written.
        """
        from cogtcp.model.output import OutputFolder

        packets = self.count("packets") > 0 or "frames" in self._sources
        job = run_job(self.scenario, self.seed, packets=packets)
        with OutputFolder(directory, job=job, force=force) as folder:
            self.write(folder, command=command)
        return Path(directory)

    def write(
        self,
        folder: OutputFolder,
        *,
        command: str | None = None,
        captures: Mapping[str, Point] | None = None,
        logs: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        """Write everything into an open folder, and captures: where they are taken, by name of file.

        Args:
            folder: The open folder.
            command: The command line, for the report.
            captures: Captures to write: where they are taken, by file name.
            logs: Logs of QUIC to write: flow and end, by file name.

        Raises:
            OutputError: The files cannot be written.
        """
        if captures:
            from cogtcp.model import capture

            for name, point in captures.items():
                folder.write_pieces(name, capture.blocks(self, point))
        if logs:
            from cogtcp.model.capture import qlog

            for name, (flow, end) in logs.items():
                folder.write_pieces(name, qlog.lines(self, flow, end))
        made = self.provenance
        for name, source in self._sources.items():
            if name != "packets" or self.count(name) > 0:
                folder.write_source(name, source, made)
        folder.write_text("scenario.toml", self.scenario.to_toml())
        folder.write_text("report.html", view("run_report")(self, command=command))
        # The marker is read whole whenever somebody looks at the folder: long tables stay in their files.
        totals = self._totals()
        short = [name for name in totals if self._source(name)[2] <= _MOST_ROWS_IN_MARKER]
        long = [f"{name}.parquet" for name in totals if name not in short]
        said = {"kind": "run", "command": command, **self._plain_data(short)}
        folder.describe({**said, "only_in_files": long} if long else said)

    def report(self, path: str | Path, *, command: str | None = None) -> Path:
        """Write the report of the run: one HTML file that needs nothing else.

        Args:
            path: The file, replaced if it exists.
            command: The command line, for the report.

        Returns:
            The file.

        Raises:
            OutputError: The files cannot be written.
        """
        from cogtcp.model.output import write_file

        return write_file(path, view("run_report")(self, command=command))

    def write_pcap(self, path: str | Path, link: str, *, node: str | None = None) -> Path:
        """Write the packets on a link as a pcapng capture, which Wireshark, tshark and tcpdump open.

        Needs a run with `trace="packets"`. What a node at an end of the link sees there: what it sends when
        it hands it to the link, what it receives when it has arrived. Headers are captured, payloads are not
        (docs/captures.md). A packet that is dropped after the node saw it has a comment that says why.
        Of an ad hoc network `air` is every frame of IEEE 802.11 on every channel, as it begins.

        Args:
            path: The file, replaced if it exists; written whole or not at all.
            link: Name of the link, or `LINK@NODE`; of an ad hoc network `air`.
            node: Node at one of its ends; by default the one from which `forward` leads.

        Returns:
            The file.

        Raises:
            UsageError: There is no such link or node, or no packets were recorded.
            OutputError: The file cannot be written.
        """
        from cogtcp.model import capture
        from cogtcp.model.output import write_pieces

        return write_pieces(path, capture.blocks(self, capture.find_point(self.scenario, link, node)))

    def write_qlog(self, path: str | Path, flow: str, *, end: str = "client") -> Path:
        """Write the log of one end of a QUIC flow as qlog, which qvis opens.

        Needs a run with `trace="packets"`. The file is a JSON text sequence (`.sqlog`), see docs/captures.md.

        Args:
            path: The file, replaced if it exists; written whole or not at all.
            flow: Name of the flow.
            end: `client`, which sends the flow's data, or `server`.

        Returns:
            The file.

        Raises:
            UsageError: There is no such QUIC flow or end, or no packets were recorded.
            OutputError: The file cannot be written.
        """
        from cogtcp.model.capture import qlog
        from cogtcp.model.output import write_pieces

        return write_pieces(path, qlog.lines(self, flow, end))

    @property
    def plot(self) -> RunPlots:
        """Figures for paper, by matplotlib: `result.plot.timeline()`, `.cdf()`, `.map()`."""
        plots: RunPlots = view("run_plots")(self)
        return plots

    def _repr_html_(self) -> str:
        html: str = view("run_in_notebook")(self)
        return html

    def _source(self, name: str) -> _core.Table:
        """Return a table as the core has it: without rows where this run has no such table."""
        known = self._sources.get(name) or _empty(pick(name, TABLES, "table"))
        if name not in OF_TCP:
            return known
        other, _ = OF_TCP[name]
        if other in self._sources:
            return beside(known, self._sources[other])
        # Without TCP a flow has no column of TCP; packets have all, so that captures read one kind of row.
        return known if name == "flows" else beside(known, _empty(other))

    def __repr__(self) -> str:
        return f"<cogtcp.Result {self.scenario.name!r}, seed {self.seed}, digest {self.digest}>"


# Rows of a summary table that `cogtcp.json` repeats.
_MOST_ROWS_IN_MARKER = 1_000
_ROWS_AT_A_TIME = 8192

# Tables of what only some runs have that are among the totals of `Result.to_dict`.
_EXTENSION_TOTALS = (
    "quic_flows", "subflows", "trains", "train_flows", "datagrams", "calls", "request_flows", "videos",
    "routing", "streams", "drops", "nodes",
)  # fmt: skip


def _empty(name: str) -> _core.Table:
    """Return a table of the core's schema without rows."""
    meaning, described = next(table[1:] for table in _core.columns() if table[0] == name)
    nothing: Any = b""
    columns: list[_core.Column] = [
        (column, unit, text, kind, nothing, [] if kind == "text" else None)
        for column, kind, unit, text in described
    ]
    return name, meaning, 0, columns


def _column(columns: Sequence[_core.Column], name: str) -> _core.Column:
    return next(column for column in columns if column[0] == name)


def _values(column: _core.Column, rows: int, part: slice = slice(None)) -> list[Any]:
    _, _, _, kind, buffer, dictionary = column
    values: list[Any] = numbers(kind, buffer, rows)[part].tolist()
    return values if dictionary is None else [dictionary[code] for code in values]


def run_job(
    scenario: Scenario,
    seed: int,
    *,
    packets: bool = False,
    captures: Sequence[str] = (),
    qlog: bool = False,
) -> dict[str, Any]:
    """Return what a folder of results of a run is the result of, see `cogtcp.model.output.OutputFolder`."""
    job: dict[str, Any] = {"verb": "run", "scenario": scenario.hash, "seeds": [seed]}
    if packets:
        job["packets"] = True
    if qlog:
        job["qlog"] = True
    return {**job, "captures": list(captures)} if captures else job


def check_seed(seed: int) -> None:
    """Raise unless `seed` can seed a run."""
    if not 0 <= seed <= _LARGEST_SEED:
        raise UsageError(
            f"seed {seed} is out of range; take a whole number from 0 to {_LARGEST_SEED} (2^63 - 1)"
        )


def plain(value: Any) -> Any:
    """Return nested data as JSON knows them: None instead of NaN, which stands for "no value"."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
