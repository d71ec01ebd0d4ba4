"""What a run of a sweep costs besides its simulation: rates, memory, planning, beside the engine's limit.

Arguments: how many runs (10000), how many at a time (one for each processor). Prints a table.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cogtcp
from cogtcp import _core
from cogtcp.runner import Keys, available_processors
from cogtcp.sweeping import plan as planning

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "sensed-link.toml"


def main() -> None:
    """Print what was measured."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else available_processors()
    scenario = cogtcp.Scenario.from_file(SCENARIO)
    sample = range(1, 1 + max(200, runs // 20))

    engine = clock(lambda: [_core.run(scenario._core, seed, "summary", _core.Cancel()) for seed in sample])
    one = engine[1] / len(sample)
    print(f"engine alone, one thread: {one * 1e3:.3f} ms of processor time a run")
    with ThreadPoolExecutor(jobs) as pool:
        together = clock(
            lambda: list(pool.map(lambda s: _core.run(scenario._core, s, "summary", _core.Cancel()), sample))
        )
    print(f"engine alone, {jobs} threads: {len(sample) / together[0]:.0f} runs per second")

    for count in (runs // 10, runs):
        with tempfile.TemporaryDirectory() as folder:
            wall, processor = clock(
                lambda count=count, folder=folder: cogtcp.sweep(
                    scenario, seeds=range(1, count + 1), out=Path(folder) / "out", jobs=jobs
                )
            )
            size = sum(path.stat().st_size for path in (Path(folder) / "out" / "data").rglob("*.parquet"))
            files = sum(1 for _ in (Path(folder) / "out" / "data").rglob("*.parquet"))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"sweep of {count} runs, {jobs} at a time: {wall:.1f} s, {count / wall:.0f} runs per second; "
            f"{(processor / count - one) * 1e3:.3f} ms a run besides the engine; "
            f"{size / count:.0f} B a run in {files} files; peak memory {peak:.0f} MB"
        )

    vary = {
        "radio.0.sensing.on": [f"{n} ms" for n in range(1000, 2000)],
        "topology.single_hop.link.loss": [f"0.{n:03} %" for n in range(1000)],
    }
    made, keys = planning.plan(scenario, vary, seeds=1), Keys()
    wall, processor = clock(lambda: [None for case in made.cases() if not keys.of(case)])
    print(f"planning {made.total} points, keys included: {wall:.1f} s, {processor:.1f} s of a processor")


def clock(work: object) -> tuple[float, float]:
    """Return the wall time and the processor time of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    work()  # type: ignore[operator]
    return time.perf_counter() - wall, time.process_time() - processor


if __name__ == "__main__":
    main()
