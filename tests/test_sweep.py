"""Sweeps: what is planned, made and kept, and what a kill, a full disk or a second process leaves."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import OutputError, Scenario, UsageError, _core
from cogtcp.cli import main
from cogtcp.model.result import run
from cogtcp.model.statistics import mean_interval, quantile_interval
from cogtcp.running.runner import Journal, Keys, Outcome, Runner
from cogtcp.running.runner.case import make
from cogtcp.running.sweeping import budget as budgeting
from cogtcp.running.sweeping import dataset, ordered
from cogtcp.running.sweeping import plan as planning
from cogtcp.running.sweeping.answer import in_memory, tally
from cogtcp.running.sweeping.axes import halton
from cogtcp.running.sweeping.picked import thinned
from cogtcp.running.sweeping.query import query
from conftest import ROOT, Command, command_line, files

if TYPE_CHECKING:
    from pathlib import Path

ON = "radio.0.sensing.on"
MOUNT, UMOUNT = "/bin/mount", "/bin/umount"
LOSS = "topology.single_hop.link.loss"
SWEEP = """
scenario = "small.toml"
transports = ["newreno", "sack"]
seeds = 3
set = { "run.duration" = "5 s" }

[[axis]]
path = "radio.0.sensing.on"
values = ["1 s", "2 s"]

[[axis]]
path = "topology.single_hop.link.loss"
range = "0.1 %..1 %"
steps = 3
name = "loss"
"""


@pytest.fixture
def sweep_file(small: Path) -> Path:
    path = small.with_name("sweep.toml")
    path.write_text(SWEEP)
    return path


@pytest.fixture
def short(scenario: Scenario) -> Scenario:
    return scenario.set("run.duration", "5 s")


def data(folder: Path) -> dict[str, bytes]:
    return {
        name: (folder / "data" / name).read_bytes() for name in files(folder / "data") if name.endswith("t")
    }


def told(err: str) -> list[str]:
    """Return what a command told besides its progress, which it tells where it takes long."""
    return [line for line in err.splitlines() if not re.search(r"\d of \d+ runs", line)]


# What is planned.


def test_a_file_says_what_is_made(sweep_file: Path) -> None:
    plan = planning.read(sweep_file)
    assert (plan.points, plan.total) == (6, 36)
    assert [(axis.name, axis.unit, len(axis.texts)) for axis in plan.axes] == [
        ("sensing_on", "s", 2),
        ("loss", "", 3),
    ]
    cases = list(plan.cases())
    assert len({case.key() for case in cases}) == 36
    assert [case.seed for case in cases[:13]] == [7] * 12 + [8]
    assert cases[0].prepared().to_dict()["run"]["duration"] == "5 s"


def test_samplings(short: Scenario) -> None:
    vary: dict[str, Any] = {ON: ["1 s", "2 s", "3 s"], LOSS: ["0 %", "0.1 %", "1 %"]}
    assert planning.plan(short, vary, seeds=1).points == 9
    paired = planning.plan(short, vary, seeds=1, sampling="paired")
    assert list(paired.combinations()) == [("1 s", "0 %"), ("2 s", "0.1 %"), ("3 s", "1 %")]
    listed = planning.plan(short, points=[{ON: "1 s", LOSS: "1 %"}, {ON: "9 s", LOSS: "0 %"}])
    assert list(listed.combinations()) == [("1 s", "1 %"), ("9 s", "0 %")]
    ranges = {ON: "1 s..9 s:linear", LOSS: "0 %..1 %"}
    for sampling in ("random", "halton"):
        some = list(planning.plan(short, ranges, sampling=sampling, samples=50).combinations())
        more = list(planning.plan(short, ranges, sampling=sampling, samples=80).combinations())
        assert more[:50] == some, "more samples are the same and more"
        assert len(set(some)) == 50
        assert 4 < statistics.fmean(float(on.split()[0]) for on, _ in some) < 6


def test_the_halton_sequence_is_halton() -> None:
    assert [halton(index, 0) for index in range(4)] == [1 / 2, 1 / 4, 3 / 4, 1 / 8]
    assert [halton(index, 1) for index in range(4)] == pytest.approx([1 / 3, 2 / 3, 1 / 9, 4 / 9])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour = 1", "colour: unknown key"),
        ('sampling = "grit"', "sampling 'grit': take one of"),
        ('sampling = "random"', "the number of samples"),
        ('keep = ["flow"]', "did you mean 'flows'"),
        ("seeds = 0", "at least one seed"),
        ("seeds = 99999999999", "limit of 10000000"),
        ("samples = 9", "only for sampling random and halton, not for grid"),
        ('[[axis]]\npath = "run.duration"\nvalues = ["1 s"]\nsteps = 3', "steps are for a range"),
        ("seeds = [1, 1]", "a seed is named twice"),
        ("time_limit = -1", "seconds above zero"),
        ('transports = ["sack", "sack"]', "named twice"),
        ('transports = ["sack", "newreon"]', "bad.toml:2:14: transports: unknown transport"),
        (
            'warmup = "mser5"\ntransports = ["sack", "newreon"]',
            "bad.toml:3:14: transports: unknown transport",
        ),
        ("[[axis]]\nvalues = [1]", "name its path"),
        ('[[axis]]\npath = "run.duration"', "either values or a range"),
        ('[[axis]]\npath = "run.duration"\nvalues = ["1 s"]\nstep = 3', "axis 1.step: unknown key"),
        ('[[axis]]\npath = "run.duration"\nvalues = ["1 s"]\nname = "seed"', "cannot be called 'seed'"),
        ('[[axis]]\npath = "run.duration"\nvalues = ["1 s", "1 s"]', "a value is named twice"),
        ('[[axis]]\npath = "run.duraton"\nvalues = ["1 s"]', "duraton"),
        ('[[axis]]\npath = "run.duration"\nvalues = ["1 m"]', "1 m"),
    ],
)
def test_bad_files_get_one_message(
    small: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    path = small.with_name("bad.toml")
    path.write_text(f'scenario = "small.toml"\n{text}\n')
    assert main(["sweep", str(path)]) == 2
    message = capsys.readouterr().err
    assert says in message
    # One message, and below it the line of the file with carets.
    assert message.count("\n") <= 5


def test_a_million_points_are_planned_in_seconds(short: Scenario) -> None:
    vary: dict[str, Any] = {
        ON: [f"{n} ms" for n in range(1000, 1100)],
        LOSS: [f"0.{n:02} %" for n in range(100)],
    }
    plan = planning.plan(short, vary, seeds=1, transports=["newreno"])
    keys = cogtcp.runner.Keys()
    started = time.process_time()
    count = sum(1 for case in plan.cases() if keys.of(case))
    assert count == 10_000
    assert time.process_time() - started < 0.5, "the share of ten thousand, five times over"


# What is made.


def test_results_are_those_of_single_runs_and_independent_of_where(short: Scenario, tmp_path: Path) -> None:
    vary: dict[str, Any] = {ON: ["1 s", "2 s"], LOSS: ["0 %", "1 %"]}
    found = cogtcp.sweep(short, vary, transports=["newreno", "sack"], seeds=3, out=tmp_path / "a", jobs=1)
    assert (found.progress.made, found.runs.num_rows) == (24, 24)
    one = short.set(ON, "2 s").set(LOSS, "1 %").with_transport("sack")
    values = [run(one, seed, "summary") for seed in (7, 8, 9)]
    expected = mean_interval([result.metrics["goodput_bps"] for result in values])
    measured = found.interval("sack", "goodput_bps", 2.0, 0.01)
    assert (measured.mean, measured.low, measured.n) == (
        pytest.approx(expected.mean), pytest.approx(expected.low), 3
    )  # fmt: skip
    rows = [row for row in found.runs.to_pylist() if row["sensing_on"] == 2.0 and row["seed"] == 8]
    assert values[1].digest in {row["digest"] for row in rows}
    flows = found.table("flows")
    assert flows.num_rows == 24
    assert set(flows["flow_transport"].to_pylist()) == {"newreno", "sack"}
    again = cogtcp.sweep(short, vary, transports=["newreno", "sack"], seeds=3, out=tmp_path / "b", jobs=3)
    assert data(tmp_path / "a") == data(tmp_path / "b")
    assert again.summary.equals(found.summary)


def test_the_command_line_and_what_it_leaves(sweep_file: Path, command: Command, tmp_path: Path) -> None:
    done = command("sweep", sweep_file, "--out", "out")
    assert (done.code, told(done.err)) == (0, [])
    assert "36 of 36 runs" in done.out
    # A row for each transport and point, with goodput and its interval.
    rows = [line for line in done.out.splitlines() if re.match(r" +(newreno|sack) .* ± ", line)]
    assert len(rows) >= 12
    assert all(heading in done.out for heading in ("Transport", "sensing_on", "loss", "Goodput", "Seeds"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "cogtcp.json", "data", "report.html", "runs", "scenario.toml", "summary.parquet"
    }  # fmt: skip
    assert list((tmp_path / "out" / "runs").iterdir()) == [], "what is in the data set is nowhere else"
    assert len(data(tmp_path / "out")) == 4, "two tables of two transports"
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Goodput (Mbit/s) over sensing_on (s), at loss 0" in report
    assert "What goodput costs" in report
    assert "cached" in command("sweep", sweep_file, "--out", "out").out
    said = command("results", "out").out
    assert "36 rows" in said
    assert json.loads(command("results", "out", "--json").out)["data"]["tables"] == {"flows": 36, "runs": 36}


def test_small_multiples_have_one_axis(short: Scenario, tmp_path: Path) -> None:
    # Sensing for a second after every tenth of one leaves little, in the second figure.
    vary: dict[str, Any] = {LOSS: ["0 %", "1 %"], "radio.0.sensing.off": ["100 ms", "5 s"]}
    cogtcp.sweep(short, vary, transports=["sack"], seeds=2, out=tmp_path)
    report = (tmp_path / "report.html").read_text()
    figures = [part for part in report.split("<figure")[1:] if "Mean and 95 % interval" in part]
    assert len(figures) == 2
    texts = [set(re.findall(r">([0-9.]+)</text>", part)) for part in figures]
    assert texts[0] == texts[1] != set()


def test_pandas_and_polars_read_the_data_set(short: Scenario, tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, transports=["newreno", "sack"], seeds=2, out=tmp_path / "out")
    frame = pd.read_parquet(tmp_path / "out" / "data" / "runs")
    assert sorted(frame.transport.unique()) == ["newreno", "sack"]
    assert len(frame) == 8
    lazy = pl.scan_parquet(tmp_path / "out" / "data" / "runs" / "**" / "*.parquet", hive_partitioning=True)
    assert lazy.select(pl.len()).collect().item() == 8


def test_a_query_in_sql(short: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    out = tmp_path / "out"
    found = cogtcp.sweep(
        short, {ON: ["1 s", "2 s"]}, transports=["newreno", "sack"], seeds=2, out=out,
        keep=["flows", "links", "events"],
    )  # fmt: skip
    sql = "SELECT transport, avg(goodput_bps) AS mean FROM runs WHERE sensing_on = 2 GROUP BY 1 ORDER BY 1"
    assert main(["query", str(out), sql, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["transport"] for row in rows] == ["newreno", "sack"]
    assert rows[1]["mean"] == pytest.approx(found.interval("sack", "goodput_bps", 2.0).mean)
    for view in ("flows", "links", "events", "summary"):
        assert main(["query", str(out), f"FROM {view} SELECT count(*) AS n", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["rows"][0]["n"] > 0
    assert main(["query", str(out), "SELECT nothing FROM runs"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_a_query_without_duckdb_is_one_message(short: Scenario, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"pip install 'cogtcp\[query\]'"):
        query(tmp_path, "SELECT 1")


def test_a_sweep_that_grows_makes_only_what_is_missing(short: Scenario, tmp_path: Path) -> None:
    out = tmp_path / "out"
    cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, transports=["newreno"], seeds=2, out=out)
    more = cogtcp.sweep(short, {ON: ["1 s", "2 s", "3 s"]}, transports=["newreno", "sack"], seeds=3, out=out)
    assert (more.progress.known, more.progress.made) == (4, 14)
    fresh = cogtcp.sweep(
        short, {ON: ["1 s", "2 s", "3 s"]}, transports=["newreno", "sack"], seeds=3, out=tmp_path / "fresh"
    )
    assert data(out) == data(tmp_path / "fresh"), "no trace of the order in which runs were made"
    assert fresh.summary.equals(more.summary)
    with pytest.raises(OutputError, match=r"another `sweep` \(other scenario\)"):
        cogtcp.sweep(short.set("run.duration", "6 s"), {ON: ["1 s"]}, out=out)


def test_a_folder_may_grow_by_sweeps_with_other_axes(
    short: Scenario, tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "out"
    cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, transports=["sack"], seeds=2, out=out)
    more = cogtcp.sweep(short, {LOSS: ["0 %", "1 %"]}, transports=["sack", "newreno"], seeds=2, out=out)
    assert (more.progress.known, more.progress.made, more.runs.num_rows) == (0, 8, 12)
    # The page, the answer and the points are those of what was asked for; the data set has all.
    assert more.other_axes == ["sensing_on"]
    alone = cogtcp.sweep(short, {LOSS: ["0 %", "1 %"]}, transports=["sack", "newreno"], seeds=2)
    assert more.answer == alone.answer
    assert more.points.keys() == alone.points.keys()
    for loss in (0.0, 0.01):
        assert more.interval("sack", "goodput_bps", loss) == alone.interval("sack", "goodput_bps", loss)
    both = cogtcp.sweep(
        short, {ON: ["1 s", "2 s"], LOSS: ["0 %", "1 %"]}, transports=["sack"], seeds=2, out=out
    )
    assert (both.progress.made, both.runs.num_rows, len(both.points)) == (8, 20, 4)
    assert "Goodput (Mbit/s) over sensing_on (s), at link_loss 0" in (out / "report.html").read_text()
    again = cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, transports=["sack"], seeds=2, out=out)
    assert (again.progress.made, len(again.points)) == (0, 2)
    done = command("merge", "out", "--out", "merged")
    assert (done.code, done.err) == (0, "")


def test_a_control_that_raises_is_recorded_and_a_changed_one_made_anew(
    short: Scenario, tmp_path: Path, command: Command, small: Path
) -> None:
    source = """\
class Mine:
    def ssthresh(self, now, tcp):
        return max(tcp.flight_size // 2, 2 * tcp.mss)

    def cong_avoid(self, now, tcp, ack):
        """
    (tmp_path / "mine.py").write_text(source + "raise ValueError('no idea')\n")
    (tmp_path / "sweep.toml").write_text(
        'scenario = "small.toml"\ntransports = ["mine:Mine", "sack"]\nseeds = 2\n'
        'set = { "run.duration" = "5 s" }\n'
    )
    done = command("sweep", "sweep.toml", "--allow-python", "--out", "out")
    assert done.code == 1
    assert "no idea" in done.err
    assert "2 failed" in done.out
    assert "2 runs failed" in (tmp_path / "out" / "report.html").read_text()
    rows = dataset.load(tmp_path / "out", "runs").to_pylist()
    assert [bool(row["error"]) for row in rows] == [True, True, False, False]
    (tmp_path / "mine.py").write_text(source + "tcp.cwnd += tcp.mss * ack.acked // tcp.cwnd\n")
    done = command("sweep", "sweep.toml", "--allow-python", "--out", "out", "--json")
    counts = done.json()["runs"]
    assert (counts["made"], counts["cached"]) == (2, 2)
    (tmp_path / "mine.py").write_text(source + "tcp.cwnd += tcp.mss\n")
    counts = command("sweep", "sweep.toml", "--allow-python", "--out", "out", "--json").json()["runs"]
    assert (counts["made"], counts["cached"]) == (2, 2)
    rows = dataset.load(tmp_path / "out", "runs").to_pylist()
    assert len(rows) == 4, "runs of the code that is gone are gone"
    assert not any(row["error"] for row in rows)
    flows = dataset.load(tmp_path / "out", "flows").to_pylist()
    assert {row["key"] for row in flows} == {row["key"] for row in rows}


def test_a_folder_of_an_older_version_is_brought_up_to_date(short: Scenario, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"transports": ["newreno", "sack"], "seeds": 3}
    cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, **asked, out=tmp_path / "fresh")
    out = tmp_path / "out"
    cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, **asked, out=out)
    # Its runs had other keys, and it knew fewer metrics.
    for path in (out / "data").rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        keys = [key[::-1] for key in table["key"].to_pylist()]
        table = table.set_column(table.column_names.index("key"), "key", [keys])
        gone = [name for name in ("handoffs", "rtt_p95_s") if name in table.column_names]
        pq.write_table(table.drop_columns(gone), path)
    again = cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, **asked, out=out)
    assert (again.progress.made, again.progress.known) == (12, 0)
    assert data(out) == data(tmp_path / "fresh"), "the new runs took the place of the old ones"
    kept_ = cogtcp.sweep(short, {ON: ["1 s", "2 s"]}, **asked, out=out)
    assert kept_.progress.known == 12


# What goes wrong.


def begin(sweep_file: Path, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line("sweep", sweep_file, "--out", folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kept(folder: Path) -> list[str]:
    """Every key in a folder, in the data set and beside it."""
    beside = (
        [outcome.key for outcome in Journal(folder / "runs").outcomes()] if (folder / "runs").exists() else []
    )
    table = dataset.load(folder, "runs", ["key"])
    return beside + (table["key"].to_pylist() if table.num_rows else [])


KILLS = int(os.environ.get("COGTCP_KILLS", "20"))


def test_kills_at_any_moment_lose_nothing_that_was_finished(sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(SWEEP.replace("seeds = 3", "seeds = 400"))
    whole = subprocess.run(
        command_line("sweep", sweep_file, "--out", tmp_path / "whole"), capture_output=True, check=True
    )
    assert b"4800 of 4800 runs" in whole.stdout
    chance, done = random.Random(1), 0
    # Some twenty kills in each folder, while it is made: what comes after its last run is no sweep any more.
    for number in range(0, KILLS, 20):
        done += killed_again_and_again(
            sweep_file, tmp_path / f"out-{number}", min(20, KILLS - number), chance
        )
        assert data(tmp_path / f"out-{number}") == data(tmp_path / "whole")
        shutil.rmtree(tmp_path / f"out-{number}")
    assert done >= 0.9 * KILLS, "most of them met a process that was at work"


def killed_again_and_again(sweep_file: Path, out: Path, kills: int, chance: random.Random) -> int:
    """Kill a sweep again and again and let it end; return how many kills met a process."""
    before: set[str] = set()
    met = 0
    for _ in range(kills):
        process = begin(sweep_file, out)
        began, deadline = len(before), time.monotonic() + 60
        # From the first new run on, or in every fourth case from the beginning on.
        waits = chance.random() < 0.75
        while waits and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
            if (out / "runs").exists() and len(kept(out)) > began:
                break
        time.sleep(chance.random() * 0.2)
        met += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for path in (out / "data").rglob("*.parquet"):
            pq.read_metadata(path)  # no file is half written
        after = set(kept(out))
        assert before <= after, "none lost"
        before = after
    done = subprocess.run(
        command_line("sweep", sweep_file, "--out", out), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "4800 of 4800 runs" in done.stdout
    rows = dataset.load(out, "runs")
    assert rows.num_rows == len(set(rows["key"].to_pylist())) == 4800, "none doubled"
    left = [path for path in out.rglob("*") if path.name.startswith(".") or path.parent == out / "runs"]
    assert left == [], "nothing of what was killed is left"
    return met


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from cogtcp.cli import main
real, place = Path.replace, sys.argv.pop(1)
def replace(self, to):
    if Path(to).name == place:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, to)
Path.replace = replace
main(sys.argv[1:])
"""


@pytest.mark.parametrize("place", ["cogtcp.json", "summary.parquet", "quantiles.parquet", "report.html"])
def test_a_kill_while_results_are_written_leaves_nothing(
    sweep_file: Path, command: Command, tmp_path: Path, place: str
) -> None:
    out = tmp_path / "out"
    asked = [sys.executable, "-c", KILLED_AT, place, "sweep", sweep_file, "--out", out, "--quantiles", "50"]
    killed = subprocess.run(asked, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(out.glob(f".{place}.*"))) == 1
    done = command("sweep", sweep_file, "--out", "out")
    assert "36 of 36 runs" in done.out
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


def test_what_another_process_has_finished_is_in_the_results_at_once(short: Scenario, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked: dict[str, Any] = {"vary": {ON: ["1 s", "2 s"]}, "transports": ["sack"]}
    cogtcp.sweep(short, **asked, seeds=1, out=out)
    cases = list(planning.plan(short, **asked, seeds=3).cases())
    with Journal(out / "runs") as other:
        other.busy()  # from now on it is seen to be at work
        for _, outcome in Runner().stream(cases[2:4]):
            other.append(outcome)
        found = cogtcp.sweep(short, **asked, seeds=3, out=out)
        assert (found.progress.known, found.progress.made) == (4, 2)
        assert found.runs.num_rows == 6, "although the other is still at work"
        assert len(other.files()) == 1
    fresh = tmp_path / "fresh"
    cogtcp.sweep(short, **asked, seeds=3, out=fresh)
    cogtcp.sweep(short, **asked, seeds=3, out=out)
    assert data(out) == data(fresh)
    assert list((out / "runs").iterdir()) == []


def test_two_at_once_on_one_folder(sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(SWEEP.replace("seeds = 3", "seeds = 30"))
    both = [begin(sweep_file, tmp_path / "out") for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=300)
        assert (process.returncode, told(err)) == (0, [])
    done = subprocess.run(
        command_line("sweep", sweep_file, "--out", tmp_path / "out"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "360 cached" in done.stdout
    rows = dataset.load(tmp_path / "out", "runs")
    assert rows.num_rows == len(set(rows["key"].to_pylist())) == 360


def test_ctrl_c_leaves_a_page_of_what_is_finished(sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(SWEEP.replace("seeds = 3", "seeds = 3000"))
    process = begin(sweep_file, tmp_path / "out")
    deadline = time.monotonic() + 60
    while not ((tmp_path / "out" / "runs").exists() and len(kept(tmp_path / "out")) > 50):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "repeat the command to go on" in err
    assert "was interrupted" in (tmp_path / "out" / "report.html").read_text()
    assert dataset.load(tmp_path / "out", "runs").num_rows > 50


def test_a_folder_that_cannot_be_written(sweep_file: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command("sweep", sweep_file, "--out", "file/out")
    assert done.code == 1
    assert "cannot be written" in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_reported_and_the_sweep_goes_on_with_room(sweep_file: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run([MOUNT, "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("no small disk can be mounted here")
    try:
        sweep_file.write_text(SWEEP.replace("seeds = 3", "seeds = 40"))
        full = subprocess.run(
            command_line("sweep", sweep_file, "--out", disk / "out"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert full.returncode == 1
        assert "No space left" in full.stderr
        assert "Traceback" not in full.stderr
        some = set(kept(disk / "out"))
        assert some
        subprocess.run([MOUNT, "-o", "remount,size=64m", disk], check=True)
        done = subprocess.run(
            command_line("sweep", sweep_file, "--out", disk / "out"),
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"{len(some)} cached" in done.stdout
        assert some <= set(kept(disk / "out"))
    finally:
        subprocess.run([UMOUNT, disk], check=True)


# What is said.


def test_the_winner_is_who_wins_beyond_chance_in_all_that_is_compared(short: Scenario) -> None:
    import pyarrow as pa

    def rows(point: float, gap: float) -> list[dict[str, Any]]:
        chance = random.Random(point)
        return [
            {
                "x": point,
                "transport": name,
                "seed": seed,
                "goodput_bps": 10 + (name == "b") * gap + chance.gauss(0, 1),
            }
            for seed in range(10)
            for name in ("a", "b")
        ]

    table = pa.Table.from_pylist([*rows(1.0, 20.0), *rows(2.0, 0.0), *rows(3.0, 1.2)])
    of_each = [tally(in_memory(table.slice(first, 20), ["x"]), ["x"]) for first in (0, 20, 40)]
    assert [(dict(it.sure), it.open, it.points) for it in of_each] == [
        ({"b": 1}, 0, 1),
        ({}, 1, 1),
        ({"b": 1}, 0, 1),
    ]
    found = tally(in_memory(table, ["x"]), ["x"])
    assert (dict(found.sure), found.open, found.points, found.best) == ({"b": 2}, 1, 3, "b")


def test_precision_adds_seeds_where_they_are_needed(short: Scenario, tmp_path: Path) -> None:
    found = cogtcp.sweep(
        short,
        {LOSS: ["0 %", "1 %"]},
        transports=["sack"],
        seeds=4,
        out=tmp_path,
        precision=0.02,
        max_seeds=40,
    )
    ns = [row["goodput_bps_n"] for row in found.summary.to_pylist()]
    assert min(ns) >= 10
    for row in found.summary.to_pylist():
        half = (row["goodput_bps_high"] - row["goodput_bps_low"]) / 2
        assert half <= 0.02 * row["goodput_bps"] or row["goodput_bps_n"] == 40
    assert not math.isnan(found.interval("sack", "goodput_bps", found.summary["link_loss"][0].as_py()).low)


def test_quantiles_are_shown_with_their_intervals(
    sweep_file: Path, command: Command, tmp_path: Path, small: Path
) -> None:
    done = command("sweep", sweep_file, "--seeds", 20, "--out", "out", "--quantiles", "50,95")
    assert (done.code, told(done.err)) == (0, [])
    found = pq.read_table(tmp_path / "out" / "quantiles.parquet").to_pylist()
    assert len({(row["transport"], row["sensing_on"], row["loss"]) for row in found}) == 12
    runs = dataset.load(tmp_path / "out", "runs").to_pylist()
    place = {"transport": "sack", "sensing_on": 2.0, "loss": min(row["loss"] for row in runs)}
    values = [row["goodput_bps"] for row in runs if all(row[name] == place[name] for name in place)]
    wanted = {**place, "metric": "goodput_bps"}
    own = [row for row in found if all(row[name] == value for name, value in wanted.items())]
    assert [row["quantile"] for row in own] == [0.5, 0.95]
    for row in own:
        expected = quantile_interval(values, row["quantile"])
        assert (row["value"], row["low"], row["n"]) == (expected.mean, expected.low, 20)
        assert row["high"] == (expected.high if math.isfinite(expected.high) else None)
    assert own[1]["high"] is None, "twenty seeds do not bound a 95 % quantile"
    assert "95 % quantile" in (tmp_path / "out" / "report.html").read_text()
    assert command("sweep", sweep_file, "--seeds", 20, "--out", "out").code == 0
    assert not (tmp_path / "out" / "quantiles.parquet").exists(), "not asked for: gone"
    asked = ("--transport", "newreno,sack", "--seeds", 8, "--quantiles", 50)
    assert "Quantiles over the seeds" in command("compare", small, *asked, "--out", "c").out
    assert "median" in (tmp_path / "c" / "report.html").read_text()
    assert command("sweep", sweep_file, "--quantiles", "0").code == 2


def test_more_points_than_a_page_shows_are_thinned(short: Scenario, tmp_path: Path) -> None:
    assert thinned([[1, 2, 3, 4, 5], [1, 2]], 6) == [[1, 3, 5], [1, 2]]
    assert thinned([list(range(1000)), list(range(1000))], 1600)[0][-1] == 999
    kept = thinned([list(range(100)), ["a", "b"], list(range(300))], 1000)
    assert math.prod(map(len, kept)) <= 1000
    assert kept[1] == ["a", "b"]
    vary = {ON: [f"{1000 + n} ms" for n in range(4000)]}
    tiny = short.set("run.duration", "1 ms")
    found = cogtcp.sweep(tiny, vary, transports=["sack"], seeds=1, keep=[], out=tmp_path)
    assert found.summary.num_rows == 4000
    report = (tmp_path / "report.html").read_text()
    assert "show 3,200 of 4,000 rows, evenly spread" in report


def test_pieces_are_merged_some_rows_at_a_time(tmp_path: Path) -> None:
    import pyarrow as pa

    chance = random.Random(3)
    values = [chance.randrange(10_000) for _ in range(30_000)]
    names = (tmp_path / f"{number}" for number in range(1000))
    order = ordered.ascending(["x"])
    pieces = [
        ordered.write_piece(next(names), [ordered.sort(pa.table({"x": values[start : start + 700]}), order)])
        for start in range(0, len(values), 700)
    ]
    few = ordered.fewer(pieces, order, lambda table: table, lambda: next(names))
    assert len(few) <= 8
    parts = list(ordered.merged([ordered.read_piece(path) for path in few], order))
    assert [x for part in parts for x in part["x"].to_pylist()] == sorted(values)
    assert max(part.num_rows for part in parts) <= 10_000
    whole = list(ordered.whole_groups(parts, ["x"]))
    assert [x for part in whole for x in part["x"].to_pylist()] == sorted(values)
    ends = [part["x"][-1].as_py() for part in whole]
    assert all(part["x"][0].as_py() != end for part, end in zip(whole[1:], ends, strict=False))
    assert list(tmp_path.iterdir()) == [], "pieces are gone once they are read"


def test_the_summary_does_not_depend_on_how_rows_come(short: Scenario) -> None:
    import pyarrow as pa

    from cogtcp.running.sweeping.summary import summarise

    chance = random.Random(5)
    rows = [
        {
            "x": float(n // 700),
            "seed": n,
            "error": None,
            "goodput_bps": 1e6 + chance.gauss(0, 3),
            "drops": 0.1,
        }
        for n in range(2000)
    ]
    kinds = {"x": pa.float64()}
    table = pa.Table.from_pylist(rows, pa.schema([("x", pa.float64()), ("seed", pa.int64()),
        ("error", pa.string()), ("goodput_bps", pa.float64()), ("drops", pa.float64())]))  # fmt: skip
    for size in (1, 3, 699, 700, 5000):
        parts = [table.slice(start, size) for start in range(0, 2000, size)]
        found = pa.concat_tables(summarise("sack", parts, kinds, ["goodput_bps", "drops"])).to_pylist()
        assert [(row["x"], row["goodput_bps_n"]) for row in found] == [(0, 700), (1, 700), (2, 600)]
        for row in found:
            own = mean_interval([each["goodput_bps"] for each in rows if each["x"] == row["x"]])
            assert row["goodput_bps"] == pytest.approx(own.mean, rel=1e-12)
            assert row["goodput_bps_low"] == pytest.approx(own.low, rel=1e-9)
            assert row["drops"] == row["drops_low"] == row["drops_high"] == 0.1, "nothing varies"


def test_a_point_that_goes_on_in_the_next_rows_is_one_row_of_the_summary() -> None:
    """Arrow gives groups in an order of its own: the last group need not be the last point."""
    import pyarrow as pa

    from cogtcp.running.sweeping.summary import summarise

    points = [(queue, on) for queue in ("100 packets", "20 kB", "9 packets") for on in (0.2, 1.0, 5.0)]
    schema = pa.schema([("queue", pa.string()), ("on", pa.float64()), ("seed", pa.int64()),
        ("error", pa.string()), ("goodput_bps", pa.float64())])  # fmt: skip
    rows = [
        {"queue": queue, "on": on, "seed": seed, "error": None, "goodput_bps": on * seed}
        for queue, on in points
        for seed in (1, 2, 3)
    ]
    table = pa.Table.from_pylist(rows, schema)
    kinds = {"queue": pa.string(), "on": pa.float64()}
    for size in (4, 5, 7, 100):
        parts = [table.slice(start, size) for start in range(0, len(rows), size)]
        found = pa.concat_tables(summarise("sack", parts, kinds, ["goodput_bps"])).to_pylist()
        assert [(row["queue"], row["on"]) for row in found] == points
        assert all(row["goodput_bps_n"] == 3 for row in found)


def test_the_table_is_in_the_order_of_values(tmp_path: Path, short: Scenario) -> None:
    from cogtcp.showing.report.sweep import rows_in_words

    axes = {
        "radio.0.sensing.on": ["5 s", "200 ms", "1 s"],
        "topology.single_hop.link.queue": ["100 packets", "9 packets", "20 packets"],
    }
    found = cogtcp.sweep(short, axes, transports=["sack", "newreno"], seeds=1, out=tmp_path / "out")
    rows = [tuple(row[:3]) for row in rows_in_words(found, 100).rows]
    queues = ("9", "20", "100")
    assert [(name, on, queue.split()[0]) for name, on, queue in rows] == [
        (name, on, queue) for name in ("newreno", "sack") for on in ("0.2", "1", "5") for queue in queues
    ]


def test_an_answer_too_wide_for_the_terminal_is_printed_by_record(
    short: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    cogtcp.sweep(short, {}, transports=["sack"], seeds=2, out=out)
    monkeypatch.setattr("cogtcp.cli.sweep._PIPE", 80)
    assert main(["query", str(out), "SELECT * FROM runs ORDER BY seed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("-[ record 1 ]--")
    assert sum(line.startswith("-[ record ") for line in lines) == 2
    assert any(re.fullmatch(r"transport +\| sack", line) for line in lines)
    digests = [line for line in lines if line.startswith("digest ")]
    assert all("…" not in line and len(line.split("| ")[1]) == 16 for line in digests), "nothing is cut"
    long = "SELECT repeat('word ', 40) AS text, chr(27) || '[31m' AS escape"
    assert main(["query", str(out), long]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.count("word") == 40
    assert "\x1b" not in printed
    assert main(["query", str(out), "SELECT seed, transport FROM runs"]) == 0
    assert "record" not in capsys.readouterr().out, "what fits is a table"


def test_a_dry_run_says_what_it_would_cost(sweep_file: Path, command: Command, tmp_path: Path) -> None:
    before = files(tmp_path)
    done = command("sweep", sweep_file, "--dry-run", "--json")
    budget = done.json()
    assert (done.code, budget["runs"]) == (0, 36)
    assert budget["core_seconds"] == pytest.approx(36 * budget["seconds_per_run"])
    assert 0 < budget["data_bytes"] < budget["journal_bytes"]
    assert files(tmp_path) == before
    assert "core-hours" in command("sweep", sweep_file, "--dry-run").out


def test_a_dry_run_counts_what_is_finished(sweep_file: Path, command: Command, tmp_path: Path) -> None:
    assert command("sweep", sweep_file, "--seeds", 1, "--out", "out").code == 0
    # A run that a killed process left in a journal, and one of another sweep.
    seconds = planning.read(sweep_file, seeds=3)
    left = next(case for case in seconds.cases() if case.seed == 9)
    journal = Journal(tmp_path / "out" / "runs")
    with journal:
        journal.append(make(Keys().of(left), left, _core.Cancel()))
        journal.append(Outcome("f" * 32, "{}"))
    before = files(tmp_path)
    found = command("sweep", sweep_file, "--dry-run", "--json", "--out", "out").json()
    assert (found["runs"], found["finished"]) == (36, 13)
    assert found["core_seconds_left"] == pytest.approx(23 * found["seconds_per_run"])
    shown = command("sweep", sweep_file, "--dry-run", "--out", "out").out
    assert "13 are finished, 23 to be made" in shown
    assert files(tmp_path) == before


def test_merged_folders_are_overlaid(short: Scenario, small: Path, command: Command, tmp_path: Path) -> None:
    for name, queue in (("deep", "60 packets"), ("flat", "5 packets")):
        cogtcp.sweep(
            short.set("topology.single_hop.link.queue", queue),
            {ON: ["1 s", "2 s"]},
            transports=["sack"],
            seeds=2,
            out=tmp_path / name,
        )
    done = command("merge", "deep", "flat", "--out", "both")
    assert (done.code, done.err) == (0, "")
    rows = dataset.load(tmp_path / "both", "runs").to_pylist()
    assert len(rows) == 8
    assert {row["source"] for row in rows} == {"deep", "flat"}
    report = (tmp_path / "both" / "report.html").read_text()
    assert "source deep" in report
    assert "source flat" in report
    assert command("compare", small, "--transport", "newreno,sack", "--seeds", 2, "--out", "c").code == 0
    done = command("merge", "deep", "c", "--out", "third", "--json")
    assert done.code == 0
    assert dataset.load(tmp_path / "third", "runs").num_rows == 8
    assert command("merge", "small.toml", "c", "--out", "x").code == 2


def test_shipped_example_can_be_run(command: Command) -> None:
    done = command("sweep", ROOT / "examples" / "sweep.toml", "--dry-run")
    assert (done.code, done.err) == (0, "")


def test_a_warm_up_is_given_or_found(small: Path, scenario: Scenario) -> None:
    from cogtcp.running.warmup import suggest

    path = small.with_name("warm.toml")
    path.write_text('scenario = "small.toml"\nwarmup = "3 s"\n')
    assert planning.read(path).scenario.to_dict()["run"]["warmup"] == "3 s"
    path.write_text(
        'scenario = "small.toml"\nwarmup = "mser5"\n'
        'set = { "run.duration" = "200 s", "flow.0.start" = "10 s" }\n'
    )
    # What is before the flow starts is no part of what it delivers.
    late = scenario.set("run.duration", "200 s").set("flow.0.start", "10 s")
    found = suggest(late)
    assert 9 <= found <= 60
    assert planning.read(path).scenario == late.set("run.warmup", f"{found:.9g} s")
    with pytest.raises(UsageError, match="too short"):
        suggest(scenario.set("run.duration", "1 s"))


def test_a_dry_run_of_long_runs_is_estimated_from_a_part(
    short: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgeting, "PROBE_S", 4.0)  # for a busy machine
    long = short.set("run.duration", "900000 s").set("run.sample_interval", "9 s")
    before = time.process_time()
    found = budgeting.budget(planning.plan(long, seeds=3))
    assert time.process_time() - before < 8, "a whole run takes minutes"
    assert found.runs == 3
    assert 0 < found.simulated_share < 1
    assert found.seconds_per_run is not None
    assert found.seconds_per_run > 1
    assert found.core_seconds == pytest.approx(3 * found.seconds_per_run)
    assert "of its time" in found.describe()


def test_a_dry_run_that_cannot_tell_says_so(short: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgeting, "PROBE_S", 0.0)
    found = budgeting.budget(planning.plan(short.set("run.duration", "20000 s")))
    assert found.seconds_per_run is None
    assert found.to_dict()["core_seconds"] is None
    assert "cost is unknown" in found.describe()
