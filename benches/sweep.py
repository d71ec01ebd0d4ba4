"""What a run of a sweep costs besides its simulation: rates, memory, planning, beside the engine's limit.

Every figure is measured in processes of its own. Wall time says what a user sees, processor time what the
machine's other work does not change; efficiency is of wall time, beside that of two processes that share
nothing: more than those the machine itself does not allow.

    benches/sweep.py                   the table (minutes)
    benches/sweep.py --runs 1000,10000,50000 --only memory
    benches/sweep.py --only ray        a sweep on a local Ray cluster beside the same one on threads
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "sensed-link.toml"
COMMAND = Path(sys.executable).with_name("cogtcp")
PARTS = ("engine", "efficiency", "memory", "points", "planning", "ray")


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", default="1000,10000", help="sizes of the sweeps, by commas")
    parser.add_argument("--duration", default="60 s", help="simulated time of a run (default: 60 s)")
    parser.add_argument("--pairs", type=int, default=5, help="repetitions of what is compared (default: 5)")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part (may be repeated)")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.worker[0], int(args.worker[1]), int(args.worker[2]), args.duration)
        return
    parts = args.only or PARTS
    runs = [int(text) for text in args.runs.split(",")]
    one = engine(args.duration) if set(parts) & {"engine", "memory", "points", "ray"} else 0.0
    if "efficiency" in parts:
        efficiency(args.duration, args.pairs)
    for count in runs if "memory" in parts else ():
        sweep(count, args.duration, one, points=1)
    for count in runs if "points" in parts else ():
        sweep(count, args.duration, one, points=count // 4)
    if "planning" in parts:
        planning()
    if "ray" in parts:
        ray(args.duration, one, args.pairs)


def engine(duration: str) -> float:
    """Print and return the processor time of a run in the engine alone, the median of some lots."""
    lots = [measured(duration, "engine", 1, 200) for _ in range(3)]
    one = statistics.median(lot[1] / 200 for lot in lots)
    print(f"engine alone: {one * 1e3:.2f} ms of processor time a run")
    return one


def efficiency(duration: str, pairs: int) -> None:
    """Print how much faster two are than one: processes that share nothing, threads, a sweep; in turn."""
    count = 400
    ratios: dict[str, list[float]] = {}
    for _ in range(pairs):
        for kind in ("processes", "engine", "runner"):
            one = measured(duration, kind, 1, count)[0]
            two = measured(duration, kind, 2, 2 * count)[0]
            ratios.setdefault(kind, []).append(one / two)
    said = {"processes": "two engine processes", "engine": "two engine threads", "runner": "runner, two jobs"}
    for kind, found in ratios.items():
        print(
            f"{said[kind]}, twice the work, against one: efficiency {statistics.median(found):.2f} "
            f"(from {min(found):.2f} to {max(found):.2f}, {pairs} pairs)"
        )


def measured(duration: str, kind: str, jobs: int, count: int) -> tuple[float, float]:
    """Return wall and processor time of runs in processes of their own."""
    several = jobs if kind == "processes" else 1
    share = "engine" if kind == "processes" else kind
    command = [sys.executable, __file__, "--duration", duration, "--worker", share]
    workers = [
        subprocess.Popen(  # noqa: S603
            [*command, str(jobs // several), str(count // several)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(several)
    ]
    for process in workers:
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise SystemExit(f"{kind}: a worker did not start")
    for process in workers:
        if process.stdin is not None:
            process.stdin.write("go\n")
            process.stdin.flush()
    found = [process.communicate()[0].split() for process in workers]
    return max(float(wall) for wall, _ in found), sum(float(processor) for _, processor in found)


def worker(kind: str, jobs: int, count: int, duration: str) -> None:
    """Make runs when told so, and print wall and processor time."""
    import cogtcp
    from cogtcp import _core
    from cogtcp.running.runner import Keys, Runner
    from cogtcp.running.sweeping import dataset
    from cogtcp.running.sweeping import plan as planning

    scenario = cogtcp.Scenario.from_file(SCENARIO).set("run.duration", duration)
    _core.run(scenario._core, 1, "summary", _core.Cancel())
    run = _core.run
    print("ready", flush=True)
    sys.stdin.readline()
    wall, processor = time.perf_counter(), time.process_time()
    if kind == "engine" and jobs == 1:
        for seed in range(1, count + 1):
            _core.run(scenario._core, seed, "summary", _core.Cancel())
    elif kind == "engine":
        with ThreadPoolExecutor(jobs) as pool:
            lots = [range(1 + lot, count + 1, jobs) for lot in range(jobs)]
            list(pool.map(lambda lot: [run(scenario._core, s, "summary", _core.Cancel()) for s in lot], lots))
    else:
        with tempfile.TemporaryDirectory() as folder:
            made = planning.plan(scenario, {}, seeds=count)
            runner = Runner(Path(folder) / "runs", jobs)
            known = dataset.known(Path(folder))
            for _ in runner.stream(made.cases(), made.total, known=known, keys=Keys(), recall=False):
                pass
    print(time.perf_counter() - wall, time.process_time() - processor)


def sweep(count: int, duration: str, one: float, *, points: int) -> None:
    """Print what `cogtcp sweep` takes, as a process: so many runs at so many points."""
    with tempfile.TemporaryDirectory() as folder:
        wall, processor, peak = commanded(Path(folder), count, duration, points)
        files = list((Path(folder) / "out" / "data").rglob("*.parquet"))
        size = sum(path.stat().st_size for path in files)
    print(
        f"sweep of {count} runs at {points} points: {wall:.1f} s, {count / wall:.0f} runs per second; "
        f"{(processor / count - one) * 1e3:.2f} ms a run besides the engine; {size / count:.0f} B a run in "
        f"{len(files)} files; peak memory {peak:.0f} MB"
    )


def commanded(
    folder: Path, count: int, duration: str, points: int, *options: str
) -> tuple[float, float, float]:
    """Return wall time, processor time and peak memory in MB of a sweep by the command line."""
    transports, seeds = ('["newreno", "sack"]', 2) if points > 1 else ('["newreno"]', count)
    axis = ", ".join(f'"{1000 + number} ms"' for number in range(points))
    (folder / "sweep.toml").write_text(
        f'scenario = "{SCENARIO}"\ntransports = {transports}\nseeds = {seeds}\n'
        f'set = {{ "run.duration" = "{duration}" }}\n'
        + (f'[[axis]]\npath = "radio.0.sensing.on"\nvalues = [{axis}]\n' if points > 1 else "")
    )
    began = time.perf_counter()
    command = [str(COMMAND), "sweep", str(folder / "sweep.toml"), "--out", str(folder / "out"), *options]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit((folder / "log").read_text())
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def planning() -> None:
    """Print what it takes to plan a million points."""
    import cogtcp
    from cogtcp.running.runner import Keys
    from cogtcp.running.sweeping import plan as planning

    vary: dict[str, Any] = {
        "radio.0.sensing.on": [f"{n} ms" for n in range(1000, 2000)],
        "topology.single_hop.link.loss": [f"0.{n:03} %" for n in range(1000)],
    }
    wall, processor = time.perf_counter(), time.process_time()
    made, keys = planning.plan(cogtcp.Scenario.from_file(SCENARIO), vary, seeds=1), Keys()
    for case in made.cases():
        keys.of(case)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"planning {made.total} points, keys included: {wall:.1f} s, {processor:.1f} s of a processor")


def ray(duration: str, one: float, pairs: int) -> None:
    """Print what Ray's scheduling adds to a sweep, on a cluster of this machine beside threads, in turn."""
    import ray as cluster

    import cogtcp
    from cogtcp.running.runner import Local, Runner
    from cogtcp.running.runner.on_ray import OnRay
    from cogtcp.running.sweeping import plan as planning

    scenario = cogtcp.Scenario.from_file(SCENARIO).set("run.duration", duration)
    jobs, count = 2, 2 * max(200, int(4 / one))
    cluster.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False, logging_level="error")
    made = planning.plan(scenario, {}, seeds=count)
    walls: list[float] = []
    processors: list[float] = []
    for turn in range(pairs + 1):
        found = []
        for launcher in (OnRay("auto"), Local(jobs)):
            wall, processor = time.perf_counter(), of_all_processes()
            Runner(launcher=launcher).outcomes(list(made.cases()))
            found.append((time.perf_counter() - wall, of_all_processes() - processor))
        if turn:  # in the first one Ray starts its workers
            walls.append(found[0][0] / found[1][0] - 1)
            processors.append(found[0][1] / found[1][1] - 1)
    cluster.shutdown()
    print(
        f"Ray, {count} runs on {jobs} processors, against threads: {statistics.median(processors):+.1%} of "
        f"processor time, all of Ray's processes (from {min(processors):+.1%} to {max(processors):+.1%}, "
        f"{pairs} pairs); {statistics.median(walls):+.1%} of wall time"
    )


def of_all_processes() -> float:
    """Return the processor time so far of this process and all that descend from it (Linux)."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = int(fields[11]) + int(fields[12])
    ours, before = {os.getpid()}, 0
    while before != len(ours):
        before = len(ours)
        ours |= {process for process, parent in parents.items() if parent in ours}
    return sum(ticks[process] for process in ours) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
