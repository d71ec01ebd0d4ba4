"""One run: tables, formats, the API's promises."""

import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cogtcp import Result, RunError, Scenario, UsageError, _core, run
from cogtcp.model.result import TABLES


@pytest.fixture(scope="module")
def result() -> Result:
    from conftest import SMALL

    return run(Scenario.from_toml(SMALL))


def same(a: pa.Table, b: pa.Table) -> bool:
    """Equal in every value, where NaN is equal to NaN."""
    return repr(a.to_pylist()) == repr(b.to_pylist())


def test_tables_have_the_columns_that_the_schema_announces(result: Result) -> None:
    announced = {name: columns for name, _, columns in _core.columns()}
    assert tuple(announced) == TABLES
    types = {
        "u64": pa.uint64(),
        "i64": pa.int64(),
        "f64": pa.float64(),
        "bool": pa.bool_(),
        "text": pa.dictionary(pa.int32(), pa.string()),
    }
    for name, table in result.tables().items():
        table.validate(full=True)
        described = [
            (f.name, f.type, f.metadata[b"unit"].decode(), f.metadata[b"meaning"].decode())
            for f in table.schema
        ]
        assert described == [(n, types[kind], unit, meaning) for n, kind, unit, meaning in announced[name]]


def test_a_run_fills_every_table_of_what_it_has(result: Result) -> None:
    filled = {name: table.num_rows > 0 for name, table in result.tables().items()}
    # The congestion control has nothing to show, packets are traced on demand.
    empty = ("control_series", "packets")
    core = (*TABLES[: TABLES.index("packets") + 1], "tcp_flows")
    assert filled == {name: name not in empty for name in core}
    kinds = set(result.events.column("kind").to_pylist())
    assert {
        "sensing_start",
        "sensing_end",
        "pu_arrival",
        "switching_start",
        "handoff",
        "drop",
        "rto",
    } <= kinds


def test_what_a_run_does_not_have_are_empty_tables(result: Result) -> None:
    columns = {name: [column for column, *_ in columns] for name, _, columns in _core.columns()}
    missing = [name for name in TABLES if name not in result.tables()]
    assert {"trains", "train_flows", "predictions", "datagrams"} <= set(missing)
    for name in missing:
        table = getattr(result, name)
        table.validate(full=True)
        assert (table.num_rows, table.column_names) == (0, columns[name])
        assert result.columns(name) == {column: [] for column in columns[name]}
        assert list(result.each(name)) == []
    assert "trains" not in result.to_dict()


def test_the_tables_agree_with_each_other(result: Result) -> None:
    flow = result.flows.to_pylist()[0]
    kinds = result.events.column("kind").to_pylist()
    assert flow["rtos"] == kinds.count("rto")
    assert flow["fast_retransmits"] == kinds.count("fast_retransmit")
    assert flow["goodput_bps"] == pytest.approx(8 * flow["delivered_bytes"] / flow["measured_s"])
    samples = result.flow_series.column("goodput_bps").to_pylist()
    assert sum(samples) * 0.1 / 8 == pytest.approx(flow["delivered_bytes"], rel=0.01)
    assert result.metrics["goodput_bps"] == flow["goodput_bps"]


def test_flows_that_go_both_ways_have_a_capacity_each() -> None:
    from conftest import SMALL

    there = SMALL.replace('name = "flow"', 'name = "there"')
    back = """
[[flow]]
name = "back"
from = "receiver"
to = "sender"
transport = "newreno"
"""
    both = run(Scenario.from_toml(there + back))
    rows = both.flows.to_pylist()
    assert [row["bottleneck_direction"] for row in rows] == ["forward", "reverse"]
    assert both.metrics["efficiency"] == pytest.approx(sum(row["efficiency"] for row in rows) / 2)


def test_columns_lie_on_the_memory_of_the_core(result: Result) -> None:
    """No copy: the Arrow buffer starts where the core's buffer starts, and keeps it alive."""
    core = next(source for source in result._core.tables if source[0] == "flow_series")
    column, *_ = [c for c in core[3] if c[0] == "cwnd_segments"]
    values = result.flow_series.column("cwnd_segments").chunk(0)
    assert values.buffers()[1].address == pa.py_buffer(column[4]).address
    with pytest.raises(TypeError):
        memoryview(column[4])[0] = 1


def test_arrow_outlives_the_run(scenario: Scenario) -> None:
    import gc

    series = run(scenario).flow_series
    expected = run(scenario).flow_series
    gc.collect()
    assert same(series, expected)


def test_traces_differ_in_what_is_kept_and_in_nothing_else(scenario: Scenario, result: Result) -> None:
    series, summary = run(scenario, trace="series"), run(scenario, trace="summary")
    assert series.digest == summary.digest == result.digest
    assert same(series.flows, result.flows)
    assert (series.events.num_rows, summary.flow_series.num_rows) == (0, 0)
    assert same(series.flow_series, result.flow_series)
    with pytest.raises(ValueError, match=r'trace "all" is unknown; take "summary"'):
        run(scenario, trace="all")  # type: ignore[arg-type]


def test_the_seed_decides(scenario: Scenario, result: Result) -> None:
    assert run(scenario).digest == result.digest
    assert run(scenario, 7).digest == result.digest
    assert run(scenario, 8).digest != result.digest


@pytest.mark.parametrize("seed", [-1, 2**63, 10**30])
def test_a_seed_out_of_range_is_refused(scenario: Scenario, seed: int) -> None:
    with pytest.raises(UsageError, match=f"seed {seed} is out of range"):
        run(scenario, seed)
    assert run(scenario, 2**63 - 1, "summary").seed == 2**63 - 1


def test_pandas_and_polars_see_the_same(result: Result) -> None:
    frames, polars = result.to_pandas(), result.to_polars()
    for name, table in result.tables().items():
        assert frames[name].shape == polars[name].shape == table.shape
    assert frames["flows"]["transport"].tolist() == polars["flows"]["transport"].to_list() == ["newreno"]
    assert frames["flow_series"]["cwnd_segments"].sum() == pytest.approx(
        polars["flow_series"]["cwnd_segments"].sum()
    )


def test_parquet_gives_back_the_tables_and_where_they_come_from(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    assert not (tmp_path / "out/packets.parquet").exists(), "packets are written where they were traced"
    for name, table in result.tables().items():
        if name == "packets":
            continue
        read = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        assert same(read, table)
        assert [f.type for f in read.schema] == [f.type for f in table.schema]
        assert [f.metadata[b"meaning"] for f in read.schema] == [f.metadata[b"meaning"] for f in table.schema]
        metadata = {k.decode(): v.decode() for k, v in read.schema.metadata.items()}
        assert metadata["cogtcp.seeds"] == "7"
        assert metadata["cogtcp.version"] == _core.version
        assert metadata["cogtcp.digest"] == result.digest
        again = Scenario.from_toml(metadata["cogtcp.scenario_toml"])
        assert again == result.scenario
        assert again.hash == metadata["cogtcp.scenario_sha256"]


def test_other_threads_go_on_meanwhile(scenario: Scenario) -> None:
    long = scenario.set("run.duration", "2000 s")
    ticks, stop = 0, threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    counter = threading.Thread(target=count)
    counter.start()
    run(long, trace="summary", cancel=_core.Cancel())
    stop.set()
    counter.join()
    assert ticks > 10


def test_a_run_can_be_cancelled(scenario: Scenario) -> None:
    cancel = _core.Cancel()
    threading.Timer(0.2, cancel.cancel).start()
    with pytest.raises(RunError, match="cancelled"):
        run(scenario.set("run.duration", "500000 s"), trace="summary", cancel=cancel)
    assert cancel.cancelled


def test_importing_loads_none_of_the_heavy_packages() -> None:
    heavy = "{'pandas', 'polars', 'matplotlib', 'jinja2', 'rich', 'numpy', 'pyarrow'}"
    code = f"import sys, cogtcp; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
